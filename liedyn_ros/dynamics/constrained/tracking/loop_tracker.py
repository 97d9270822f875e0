# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
All joints of a machine with closed loops from those that are measured, sample after sample.

The others follow by continuation from the last configuration: see kernels.tracking.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_positive, listed, require_kind
from liedyn_ros.common.errors import ConvergenceError, LiedynError, ModelError, SingularError
from liedyn_ros.dynamics.constrained.configurations.assembly import assemble
from liedyn_ros.dynamics.constrained.configurations.closing import bounds_of
from liedyn_ros.dynamics.constrained.constraints.rank import independent_columns, rank_of
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.constraints.tables import ConstrainedData
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE, REDUNDANT
from liedyn_ros.dynamics.constrained.minimal_motions import Completion
from liedyn_ros.dynamics.constrained.tracking.kernels import tracking
from liedyn_ros.dynamics.constrained.tracking.kernels.tracking import (
    CONDITION_OF_OTHERS, IS_REDUNDANT, MEASURED_ERROR, PATH_FRACTION, TIME_TO_SINGULARITY, TRACKER,
    TRACKING_REPORT_WIDTH, TRACKING_STATE, WORST_MEASURED)
from liedyn_ros.dynamics.constrained.tracking.start import require_selection, TRACKER_STARTS
from liedyn_ros.dynamics.tree.floating_base import base_joint
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import JOINT_TYPES

AGREEMENT = 0.05  # rad or m by which redundant measurements may be off; noise is far below it
_NO_RATES = np.zeros(0)


class LoopState(NamedTuple):
    """
    The state of all joints at a sample.

    q (nq,); v and a (nv,), None if they are unknown. inverse_condition_number is the smallest
    singular value of the Jacobian of the other joints over the largest: 0 in a singular
    configuration, 1 if all joints are measured. time_to_singularity (s) is the time until it is 0
    at its present rate. It is infinite if the number does not fall, or without rates.
    redundant says whether more joints are measured than needed: q then fits the measurements, but
    not exactly. beyond_limits names the joints beyond their position limits, measured ones too.

    >>> ld.LoopTracker(linkage).update([0.5]).beyond_limits
    ()
    """

    q: Array
    v: Array | None
    a: Array | None
    inverse_condition_number: float
    time_to_singularity: float
    redundant: bool = False
    beyond_limits: tuple[str, ...] = ()


class LoopTracker:
    """
    Completes samples of the measured joints, on the branch of the first one.

    measured are names of joints of one coordinate, by default the actuated ones. start (nq,) is a
    rough configuration that selects the assembly; by default zeros. within_limits keeps the other
    joints within their position limits there. A floating base that is not measured stays where
    start has it.

    Where more joints are measured than needed, the state is a least-squares fit on the loops.
    agreement (rad or m) is the largest error that is not a fault.

    Raises ModelError for a name that is not such a joint, LimitError, and SingularError for a
    start where assemblies meet. An object is for one thread.

    >>> tracker = ld.LoopTracker(linkage, ['crank_joint'])
    >>> tracker.update([0.5], [1.0]).v.shape
    (3,)
    """

    def __init__(self, dynamics: ConstrainedDynamics, measured: Sequence[str] | None = None, *,
                 start: ArrayLike | None = None, agreement: float = AGREEMENT,
                 within_limits: bool = False) -> None:
        """
        Take a machine.

        Args:
            dynamics: of the machine.
            measured: joints of one coordinate, actuated ones by default.
            start: rough configuration (nq,) of the assembly; zeros by default.
            agreement: rad or m, the largest error of redundant joints that is no fault.
            within_limits: whether the other joints start within their limits.

        Raises:
            ModelError: other joints; LimitError; SingularError: assemblies meet at the start.
        """
        self._dynamics = require_kind(
            'dynamics', dynamics, ConstrainedDynamics, 'as load returns where loops close')
        self._completion = Completion(dynamics)
        model = dynamics.model
        if measured is None:
            measured = [joint.name for joint in model.joint_list if joint.actuated
                        and JOINT_TYPES[joint.type_name].nv == 1]
        joints = [model.joint(name) for name in measured]
        for joint in joints:
            if JOINT_TYPES[joint.type_name].nv != 1:
                raise ModelError(f'measured: expected joints of one coordinate, got {joint.name}, '
                                 f'which is {joint.type_name}')
        if len(set(measured)) < len(joints):
            raise ModelError(f'measured: expected each joint once, got {listed(measured)}')
        self.measured = tuple(measured)
        self._at_v = np.array([joint.vi for joint in joints], dtype=np.int64)
        self._known = np.zeros(model.nv, dtype=bool)
        self._known[self._at_v] = True
        self._agreement, self._within_limits = as_positive('agreement', agreement), within_limits
        self._bounds = bounds_of(model, np.ones(model.nv, dtype=np.bool_))
        base = base_joint(model)
        if base is not None:
            self._known[base.v_slice] = True
        self._free = dynamics.mobility.degrees_of_freedom - (0 if base is None else 6)
        spins = idle_spins(dynamics, self._known) & ~self._known
        if len(joints) < self._free:  # rods do not spin where no joint says so
            self._known |= spins
            self._free -= np.count_nonzero(spins)
        self._others = np.flatnonzero(~self._known)
        self._start = model.neutral() if start is None else model.check_configuration(start)
        require_selection(dynamics, self._start, self._known)
        self._at_q = np.array([joint.qi for joint in joints], dtype=np.int64)
        self._lay_out([joint.type_name == 'continuous' for joint in joints])
        self.reset()

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return the mask (nv,) of the known coordinates: measured, of the base, rods' spins."""
        return self._known.copy()

    @property
    def tables(self) -> tuple[Array, ...]:
        """Return the TRACKER and the three POINTs of kernels.tracking, with the last state."""
        return self._tables, *self._points

    def reset(self) -> None:
        """
        Forget the branch: the next sample is assembled from the start again.

        >>> ld.LoopTracker(linkage).reset()
        """
        self._begun = False

    def update(self, positions: ArrayLike, velocities: ArrayLike | None = None,
               accelerations: ArrayLike | None = None, *, ahead: bool = True) -> LoopState:
        """
        Return the state of all joints from the measured ones.

        A sample that is refused changes nothing: the next one is reached from the last good one.

        Args:
            positions: (n,), rad or m, in the order of measured.
            velocities: (n,), rad/s or m/s; by default none.
            accelerations: (n,), rad/s^2 or m/s^2; by default none.
            ahead: whether to look ahead for a singularity; if not, the time to it is infinite, and
                `time_to_singularity` gives it later.

        Returns:
            a LoopState.

        Raises:
            ConvergenceError: if no motion that the loops allow leads there.
            SingularError: if the measured joints do not determine the others.
            LiedynError: for other shapes or numbers.

        >>> tracker = ld.LoopTracker(linkage)
        >>> tracker.update([0.5]).q.shape == (linkage.model.nq,)
        True
        """
        positions = self._checked('positions', positions)
        rates = None if velocities is None else self._checked('velocities', velocities)
        if accelerations is not None and rates is None:
            raise LiedynError('accelerations: expected velocities with them, got none')
        self._follow_closures()
        q, v = np.empty(self._dynamics.model.nq), np.empty(self._dynamics.model.nv)
        if not self._begun:
            q[:] = self._assemble(positions)
        code = self._run(tracking.NEXT if self._begun else tracking.FIRST, positions,
                         _NO_RATES if rates is None else rates, q, v)
        if code != tracking.DONE:
            self._refuse(code)
        self._begun = True
        condition = float(self._report[CONDITION_OF_OTHERS])
        redundant = bool(self._report[IS_REDUNDANT])
        if rates is None:
            return LoopState(q, None, None, condition, math.inf, redundant, self._beyond(q))
        a = None
        if accelerations is not None:
            given, known = np.zeros(len(v)), self._known
            given[self._at_v] = self._checked('accelerations', accelerations)
            if redundant:  # of as many joints as can move
                known = known.copy()
                known[self._at_v] = False
                known[self._at_v[self._deciding(TRACKING_STATE.array(self._good, 'rows'))]] = True
            a = self._completion.complete('accelerations', q, v, given[None], known)[0]
        left = self._look(rates) if ahead else math.inf
        return LoopState(q, v, a, condition, left, redundant, self._beyond(q))

    def _beyond(self, q: Array) -> tuple[str, ...]:
        """Return the names of the coordinates of q (nq,) beyond their limits."""
        beyond = self._bounds.beyond(q)
        return tuple(self._dynamics.model.coordinate_names[i] for i in beyond)

    def time_to_singularity(self, velocities: ArrayLike) -> float:
        """
        Return the time from the last sample to a singularity.

        Args:
            velocities: of the measured joints (n,); rad/s and m/s.

        Returns:
            s; infinite where there is none ahead, and before the first sample.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.LoopTracker(linkage).time_to_singularity([1.0])
        inf
        """
        if not self._begun:
            return math.inf
        return self._look(self._checked('velocities', velocities))

    def _checked(self, name: str, values: ArrayLike) -> Array:
        """Return numbers of the measured joints, which a kernel may be given."""
        return np.array(as_array(name, values, (len(self.measured),)))

    def _lay_out(self, turns: Sequence[bool]) -> None:
        """Make the tables of the kernel."""
        dynamics, n, others = self._dynamics, len(self.measured), len(self._others)
        model, m = dynamics.model, dynamics.m
        self._data = data = ConstrainedData(
            model, functions=sum(f.rows for f in dynamics.functions))
        self._tables = TRACKER.pack(
            scale=np.ones(m), at_q=self._at_q, at_v=self._at_v, turns=turns, others=self._others,
            agreement=[self._agreement], nearest=np.zeros(len(model.closures)),
            progress=np.zeros(tracking.PROGRESS_WIDTH), way=np.zeros(n), rates=np.zeros(n),
            change=np.zeros(n), f=np.zeros(m), left=np.zeros(m), step=np.zeros(model.nv),
            q=np.zeros(model.nq))
        points = [TRACKING_STATE.pack(
            q=np.zeros(model.nq), rows=np.zeros((m, model.nv)), slope=np.zeros((others, m)),
            mix=np.zeros((others, others)), size=np.zeros(others), excess=np.zeros((n, m)),
            excess_mix=np.zeros((n, n)), excess_size=np.zeros(n),
            report=np.zeros(TRACKING_REPORT_WIDTH)) for _ in range(3)]
        self._good, _, self._trial = self._points = points
        self._report, self._scratch = np.zeros(TRACKING_REPORT_WIDTH), np.zeros(model.nv)
        self._kernel = BoundKernel(
            tracking.complete_sample, data.workspace, self._tables, *points)

    def _follow_closures(self) -> None:
        """Begin anew near the last state where the ground frames of closures have moved."""
        model = self._dynamics.model
        if self._data.model is not model:
            self._data.follow_closures(model)
            if self._begun:
                self._start, self._begun = TRACKING_STATE.array(self._good, 'q').copy(), False

    def _run(self, command: int, positions: Array, rates: Array, q: Array, v: Array) -> int:
        """Run the kernel; functions are Python's and are evaluated where it stops for them."""
        dynamics = self._dynamics
        code = int(self._kernel.call(command, positions, rates, q, v, self._report))
        while code == tracking.EVALUATE:
            f, rows = dynamics.residual_and_jacobian(TRACKING_STATE.array(self._trial, 'q'))
            TRACKER.array(self._tables, 'f')[:] = f
            TRACKING_STATE.array(self._trial, 'rows')[:] = rows
            code = int(self._kernel.call(tracking.RESUME, positions, rates, q, v, self._report))
        return code

    def _look(self, rates: Array) -> float:
        """Return the time to a singularity at rates of the measured joints (12.35)."""
        self._run(tracking.LOOK, rates, rates, self._scratch, self._scratch)
        return float(self._report[TIME_TO_SINGULARITY])

    def _assemble(self, positions: Array) -> Array:
        """Return a closed configuration near the start, and write the scales of the rows there."""
        start, dynamics = self._start.copy(), self._dynamics
        start[self._at_q] = positions
        held: NDArray[np.int64] = np.arange(len(positions))
        if 1 < len(held) > self._free:  # more joints are measured than can move
            held = self._deciding(
                dynamics.jacobian(assemble(dynamics, start, attempts=TRACKER_STARTS)))
        q = assemble(dynamics, start, attempts=TRACKER_STARTS, within_limits=self._within_limits,
                     held={self.measured[i]: float(positions[i]) for i in held})
        sizes = np.linalg.norm(dynamics.jacobian(q), axis=1)
        long = sizes > RANK_TOLERANCE * sizes.max(initial=0.0)  # others can be rounding errors
        TRACKER.array(self._tables, 'scale')[:] = 1.0 / np.where(long, sizes, 1.0)
        return q

    def _deciding(self, rows: Array) -> NDArray[np.int64]:
        """Return the measured joints that decide the others, the rest left out."""
        left, sizes, _ = np.linalg.svd(rows[:, self._others])
        among = left[:, rank_of(sizes):].T @ rows[:, self._at_v]
        if not (np.abs(among) > REDUNDANT).any():
            return np.arange(len(self._at_v))
        _, sizes, right = np.linalg.svd(among)
        free = right[rank_of(sizes):]
        _, order = independent_columns(free)
        chosen: NDArray[np.int64] = np.sort(order[:len(free)])
        return chosen

    def _refuse(self, code: int) -> NoReturn:
        """Raise the error for a sample that has no state."""
        report = self._report
        if code == tracking.DISAGREEING:
            raise ConvergenceError(
                f'expected measured joints that agree within {self._agreement:g}, got '
                f'{self.measured[int(report[WORST_MEASURED])]} off by '
                f'{report[MEASURED_ERROR]:.3g} from the value that fits them all',
                names=(self.measured[int(report[WORST_MEASURED])],),
                expected=self._agreement, got=float(report[MEASURED_ERROR]))
        if code == tracking.UNDECIDED:
            raise SingularError(
                f'expected measured joints {listed(self.measured)} that determine the others, got '
                f'an inverse condition number of {report[CONDITION_OF_OTHERS]:.2g}',
                names=self.measured, got=float(report[CONDITION_OF_OTHERS]))
        raise ConvergenceError(
            f'expected positions of {listed(self.measured)} that the loops allow, got ones that '
            'no motion reaches from the last; inverse condition number '
            f'{report[CONDITION_OF_OTHERS]:.2g}, '
            f'{100.0 * report[PATH_FRACTION]:.0f} % of the way is free', names=self.measured,
            got=float(report[CONDITION_OF_OTHERS]))


class LoopTrajectory(NamedTuple):
    """
    The states of all joints along a trajectory of T samples, as in LoopState.

    q (T, nq); v and a (T, nv) or None; inverse_condition_number (T,).

    >>> complete_trajectory(linkage, [[1.0], [1.1]]).inverse_condition_number.shape
    (2,)
    """

    q: Array
    v: Array | None
    a: Array | None
    inverse_condition_number: Array


def complete_trajectory(
        dynamics: ConstrainedDynamics, positions: ArrayLike, velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None, *, measured: Sequence[str] | None = None,
        start: ArrayLike | None = None) -> LoopTrajectory:
    """
    Return the motion of all joints from the motion of some.

    Args:
        dynamics: a ConstrainedDynamics.
        positions: (T, n) of the measured joints; rad and m.
        velocities: (T, n); by default unknown.
        accelerations: (T, n); by default unknown.
        measured: names of joints of one coordinate; by default the actuated ones.
        start: rough configuration (nq,) that selects the assembly.

    Returns:
        the states of all joints, with an axis of T samples.

    Raises:
        LiedynError: naming the sample that no closed configuration has.

    >>> complete_trajectory(linkage, [[1.0], [1.1]]).q.shape
    (2, 3)
    """
    tracker = LoopTracker(dynamics, measured, start=start)
    shape = (-1, len(tracker.measured))
    rows = as_array('positions', positions, shape)
    shape = (len(rows), shape[1])
    given = [None if each is None else as_array(name, each, shape) for name, each in (
        ('velocities', velocities), ('accelerations', accelerations))]
    states = []
    for k, row in enumerate(rows):
        try:
            states.append(tracker.update(row, *(None if each is None else each[k]
                                                for each in given)))
        except LiedynError as error:
            raise type(error)(f'sample {k}: {error}') from error
    v, a = (None if each is None else np.array([state[i] for state in states]).reshape(
        -1, dynamics.model.nv) for i, each in enumerate(given, 1))
    return LoopTrajectory(
        np.array([state.q for state in states]).reshape(-1, dynamics.model.nq), v, a,
        np.array([state.inverse_condition_number for state in states]))
