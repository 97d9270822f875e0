# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What goes into nodes and comes out of them: losses with their cause, and ages."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from liedyn_interfaces.msg import LoopStatus, StewartStatus
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from benchmarks.nodes.accounts import account, Loss
from benchmarks.nodes.streams import CAPACITY, feed, loop_traffic, Traffic
from benchmarks.processes import Beside
from benchmarks.recorder import Record, Recorder
from benchmarks.together.causes import causes, Count
from liedyn_ros.ros.messages.conversions import nanoseconds

TAIL = 4_000_000_000  # ns, that records reach back: an answer may come after its minute
PERIOD = 1_000_000_000  # ns, of reports on /diagnostics
# What nodes report as missing: of their input since the report before, and of their calls in all.
SINCE = 'lost', 'passed over', 'not solved'  # not refused: attacks are, too
CALLS, IN_ALL = ': calls of ', ('states passed over', 'given up', 'refused', 'failed')

Stamps = Callable[[], np.ndarray]


class Figures(NamedTuple):
    """Those of a stream in some time; ages in s."""

    sent: int
    passed_over: int
    lost: dict[str, int]
    without_cause: list[Loss]
    ages: np.ndarray


class Topic:
    """A topic that is recorded, with the status beside it, if any."""

    def __init__(self, stack: ExitStack, kind: Any, name: str, status: Any = None,
                 status_name: str = '') -> None:
        """Start the recorder."""
        self._status = status
        answers = ((kind, name), (status, status_name)) if status else ((kind, name),)
        self._recorder, self.record = Recorder(stack, answers), Record()
        self.unheard: list[Count] = []  # lost on the way to the recorder

    def take(self, begin: int) -> None:
        """Add what was recorded since the last time; forget what is older than a time, ns."""
        new, old = self._recorder.take(), self.record
        first = int(np.searchsorted(old.arrivals, begin - TAIL))
        self.record = Record(
            [*old.stamps[first:], *new.stamps], [*old.arrivals[first:], *new.arrivals],
            [*old.statuses, *new.statuses])
        self.unheard = [each for each in self.unheard if each.end >= begin] + [
            Count(at, at, samples) for at, samples in new.gaps]

    def stamps(self) -> np.ndarray:
        """Return the stamps that were heard."""
        return np.array(self.record.stamps, np.int64)

    def passed_over(self, begin: int) -> list[tuple[int, int]]:
        """Return stamps of statuses, and what each tells as passed over."""
        if self._status is None:
            return []
        self.record.statuses = [
            raw for raw in self.record.statuses if _stamp_of(raw) >= begin - TAIL]
        found = [deserialize_message(raw, self._status) for raw in self.record.statuses]
        return [(nanoseconds(each.header.stamp), each.passed_over) for each in found]


def _stamp_of(raw: bytes) -> int:
    sec, nanosec = np.frombuffer(raw, np.uint32, 2, 4).tolist()
    return sec * 1_000_000_000 + nanosec


class Reports:
    """What nodes count as missing on /diagnostics."""

    def __init__(self) -> None:
        """Begin without any."""
        self._counts: dict[str, list[Count]] = {}
        self._last: dict[str, int] = {}  # of calls, in all
        self._heard: dict[str, int] = {}  # the stamp of a part that was heard last, ns

    def hear(self, message: DiagnosticArray) -> None:
        """Take the counts of a message, which may be heard late: its stamp tells of when."""
        now = nanoseconds(message.header.stamp)
        for status in message.status:
            since = self._heard.get(status.name, now - PERIOD)
            self._heard[status.name] = now
            values = {each.key: each.value for each in status.values}
            if CALLS in status.name:
                total = sum(int(float(values[key])) for key in IN_ALL)
                missing = total - self._last.get(status.name, total)
                self._last[status.name] = total
            else:
                missing = sum(int(values.get(key, 0)) for key in SINCE)
            if missing:
                self._counts.setdefault(status.name, []).append(
                    Count(since, now, missing))

    def of(self, names: Sequence[str], begin: int) -> list[Count]:
        """Return the counts of parts of nodes since a time, ns; older ones are forgotten."""
        for name in names:
            self._counts[name] = [
                each for each in self._counts.get(name, []) if each.end >= begin]
        return [each for name in names for each in self._counts[name]]


@dataclass
class Flow:
    """
    A stream from input to output.

    sent: returns the stamps of the input. parts: of the node, by their names
    on /diagnostics, which count missing samples. counted: stamp, ns, to which losses are counted.
    """

    name: str
    rate: float
    sent: Stamps
    output: Topic
    parts: Sequence[str]
    counted: int = 0

    def figures(self, begin: int, end: int, reports: Reports, late: np.ndarray) -> Figures:
        """
        Return what was sent between two times, ns, and what became of it.

        late: times in which the machine was. The gap across the end belongs to the time before it,
        and is not counted again later.
        """
        record = self.output.record
        sent, passed_over, losses = account(
            self.sent(), record.stamps, self.output.passed_over(begin), begin, end)
        losses = [loss for loss in losses if loss.before > self.counted]
        self.counted = min((stamp for stamp in record.stamps if stamp >= end), default=end)
        lost, without = causes(
            losses, reports.of(self.parts, begin), self.output.unheard, late, self.rate)
        return Figures(sent, passed_over, dict(lost), without, record.ages(begin, end))


class Driver:
    """The encoders of the leg linkage, in a process of their own."""

    def __init__(self, stack: ExitStack, rate: float) -> None:
        """Start to send."""
        context, plain = get_context('spawn'), loop_traffic()
        self._sent = context.Array('q', CAPACITY, lock=False)
        self._count, self._raised = context.Value('q', 0), context.Value('b', 0)
        self._stop = context.Event()
        process = Beside(target=feed, args=(
            Traffic(f'/linkage/{plain.given}', plain.joints, plain.positions, plain.answers),
            rate, self._sent, self._count, self._raised, self._stop))
        process.start()
        stack.callback(process.join)
        stack.callback(self._stop.set)

    def stamps(self) -> np.ndarray:
        """Return all stamps that were sent."""
        stamps = np.frombuffer(self._sent, np.int64)
        return stamps[stamps > 0]


class Flows:
    """Every flow that is watched."""

    def __init__(self, stack: ExitStack, pose_rate: float, rate: float) -> None:
        """Start the recorders and the driver."""
        self.driver = Driver(stack, rate)
        moved, controlled = (Topic(stack, JointState, f'/{place}/leg_states')
                             for place in ('moved', 'controlled'))
        poses = {place: Topic(stack, PoseStamped, f'/{place}/pose', StewartStatus,
                              f'/{place}/status') for place in ('moved', 'controlled')}
        forces = Topic(stack, JointState, '/controlled/leg_forces')
        odometry = Topic(stack, Odometry, '/aerial/odometry')
        speeds = Topic(stack, JointState, '/aerial/rotor_speeds')
        joints = Topic(stack, JointState, '/linkage/joint_states', LoopStatus,
                       '/linkage/loop_state_publisher/status')
        self._topics = moved, controlled, *poses.values(), forces, odometry, speeds, joints
        aerial = 'aerial/aerial_manipulator_controller: '
        self.flows = (
            Flow('moved pose', pose_rate, moved.stamps, poses['moved'],
                 ('moved/stewart_pose: input',)),
            Flow('controlled pose', rate, controlled.stamps, poses['controlled'],
                 ('controlled/stewart_pose: input',)),
            Flow('leg forces', rate, poses['controlled'].stamps, forces,
                 ('controlled/stewart_controller: states',)),
            Flow('rotor speeds', rate, odometry.stamps, speeds,
                 (f'{aerial}states', f'{aerial}calls of dynamics_server/inverse_dynamics')),
            Flow('linkage joints', rate, self.driver.stamps, joints,
                 ('linkage/loop_state_publisher: measured joints',)))

    def take(self, begin: int) -> None:
        """Take over what was recorded; forget what is older than a time, ns."""
        for topic in self._topics:
            topic.take(begin)
