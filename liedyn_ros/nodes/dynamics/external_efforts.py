# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""External efforts of a machine, from joint states with efforts: estimates, levels, contact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from numpy.typing import ArrayLike
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from liedyn_ros.common.checks import Array, as_array, require_known
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, NameSetError, StampError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import alarm_levels, ConstrainedDynamics, MomentumObserver
from liedyn_ros.model import JOINT_TYPES
from liedyn_ros.model.followers import Followers
from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.messages.tree_messages import doubles, HOLD_COUPLINGS
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.ros.streams.diagnostics import Report, StreamDiagnostics
from liedyn_ros.ros.streams.stream import Stream

MAX_ESTIMATES = 1_000_000  # numbers of estimates from which levels are learned, 8 MB


class EffortReport(NamedTuple):
    """External efforts (f,), N m or N, and the names beyond their levels; None without levels."""

    efforts: Array
    beyond: tuple[str, ...] | None


class ExternalEfforts:
    """
    Estimates external efforts from named positions, velocities and efforts with stamps.

    SI units. robot and gain (1/s) are those of MomentumObserver, levels (N m or N) by the names of
    its estimates, or empty. All joints are needed, of closed loops as loop_state_publisher
    completes them, and of held couplings the leaders; others are ignored. Where measured names
    joints, these are enough: complete returns q and v of their positions and velocities. Raises
    ModelError for joints of several numbers, which joint states do not have, and NameSetError or
    LimitError for wrong levels.
    """

    def __init__(self, robot: Dynamics | ConstrainedDynamics, *, gain: float,
                 levels: Mapping[str, str], measured: Sequence[str] = (),
                 complete: Callable[[Array, Array], tuple[Array, Array]] | None = None) -> None:
        """Lay out the observer."""
        moving = [robot.model.joint(name) for name in measured] or [
            each for each in robot.model.joint_list if JOINT_TYPES[each.type_name].nv]
        self._complete, self._nv = complete, robot.model.nv
        self._followers = Followers(robot.model, '' if isinstance(
            robot, ConstrainedDynamics) else HOLD_COUPLINGS)
        self._places = [each.vi for each in moving]
        several = tuple(each.name for each in moving if JOINT_TYPES[each.type_name].nv > 1)
        if several:
            raise ModelError('model: expected joints of one number, as joint states have them, '
                             f'got {list(several)}', names=several)
        self._observer, self._longest = MomentumObserver(robot, gain=gain), 1.0 / gain
        self.names = self._observer.names
        self._order = NameOrder('name', [each.name for each in moving], ignore_others=True)
        self.levels = self._read(levels) if levels else None
        self._last_ns: int | None = None
        self._free: list[Array] | None = None  # estimates, while levels are learned
        self._seconds = 0.0  # that these took

    def take(self, stamp_ns: int, names: Sequence[str], positions: ArrayLike,
             velocities: ArrayLike, efforts: ArrayLike) -> EffortReport:
        """
        Return the external efforts at a sample, and the names that are beyond their levels.

        Beyond a time constant without a sample, and where the clock was set back by as much, the
        estimate begins again at zero. Raises StampError, NameSetError, ShapeError or
        NotFiniteError.
        """
        names, positions, velocities, efforts = self._followers.extend(
            names, positions, velocities, efforts)
        places = self._order.of(names)
        q, v, tau = (as_array(what, each, (len(names),))[places] for what, each in (
            ('position', positions), ('velocity', velocities), ('effort', efforts)))
        passed = np.inf if self._last_ns is None else 1e-9 * (stamp_ns - self._last_ns)
        if abs(passed) > self._longest:
            self._observer.reset()
            passed = self._longest
        elif passed <= 0.0:
            raise StampError(f'stamp: expected one after {self._last_ns} ns, got {stamp_ns}')
        if self._complete is not None:
            q, v = self._complete(q, v)
            given, tau = tau, np.zeros(self._nv)
            tau[self._places] = given
        found = self._observer(q, v, tau, passed)
        self._last_ns = stamp_ns
        if self._free is not None and (len(self._free) + 1) * len(found) <= MAX_ESTIMATES:
            self._free.append(found)
            self._seconds += passed
        if self.levels is None:
            return EffortReport(found, None)
        beyond = np.array(self.names)[np.abs(found) > self.levels]
        return EffortReport(found, tuple(beyond.tolist()))

    def learn(self, begins: bool) -> str:
        """Collect estimates from now on, or take levels from them; return them as text."""
        if begins:
            self._free, self._seconds = [], 0.0
            return 'moves without contact are listened to'
        if self._free is None:
            raise LiedynError('data: expected true first, which begins to listen, got false')
        free = np.array(self._free).reshape(-1, len(self.names))
        self.levels = alarm_levels(free, self._seconds / max(len(free), 1))
        self._free = None
        return ' '.join(f'{name}:={level:.6g}' for name, level in zip(self.names, self.levels))

    def _read(self, levels: Mapping[str, str]) -> Array:
        """Return levels (f,) by their names."""
        require_known(NameSetError, 'external_effort_levels', self.names, levels)
        missing = [name for name in self.names if name not in levels]
        if missing:
            raise NameSetError('external_effort_levels: expected each of '
                               f'{list(self.names)}, got none of {missing}', names=missing)
        try:
            found = np.array([float(levels[name]) for name in self.names])
        except ValueError as error:
            raise LimitError(f'external_effort_levels: expected numbers, got {error}') from error
        if not (found > 0.0).all():  # nor a NaN
            raise LimitError(f'external_effort_levels: expected numbers above 0, got {found}',
                             names=['external_effort_levels'], expected=0.0)
        return found


class ExternalEffortTopics:
    """
    Joint states in, external efforts and contact out, each from the newest sample.

    source returns what estimates, or None without a model.
    """

    def __init__(self, node: ManagedNode, source: Callable[[], ExternalEfforts | None]) -> None:
        """Open the topics."""
        self._node, self._source = node, source
        self.refused, self.beyond = '', set[str]()  # since the last report
        stream = Stream(node, name='external_efforts')
        _Diagnostics(node, stream, self)
        stream.subscribe(JointState, 'joint_states', self._take, sensor_data(1), newest_only=True)
        self._efforts = node.open_publisher(JointState, '~/external_efforts')
        self._contact = node.open_publisher(Bool, '~/contact')
        stream.start()

    def _take(self, message: JointState) -> None:
        estimator = self._source()
        if estimator is None or not self._node.active:
            return
        try:
            estimate = estimator.take(nanoseconds(message.header.stamp), message.name,
                                      message.position, message.velocity, message.effort)
        except LiedynError as error:
            self.refused = f'joint_states: {error}'
            self._node.complain(self.refused)
            return
        self._efforts.publish(JointState(
            header=message.header, name=list(estimator.names), effort=doubles(estimate.efforts)))
        if estimate.beyond is not None:
            self.beyond.update(estimate.beyond)
            self._contact.publish(Bool(data=bool(estimate.beyond)))


class _Diagnostics(StreamDiagnostics):
    """Reports contact and refused samples beside how the stream keeps up."""

    def __init__(self, node: ManagedNode, stream: Stream, topics: ExternalEffortTopics) -> None:
        self._topics = topics
        super().__init__(node, stream, 'external efforts', lambda: True)

    def _report(self, counted: Sequence[int], seconds: float) -> Report:
        report, topics = super()._report(counted, seconds), self._topics
        (refused, beyond), topics.refused, topics.beyond = (
            (topics.refused, sorted(topics.beyond)), '', set())
        text = refused or (f'contact: beyond the levels of {", ".join(beyond)}' if beyond else '')
        return report._replace(message=text, level=DiagnosticStatus.WARN) if text else report
