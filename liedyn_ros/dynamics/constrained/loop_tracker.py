# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
All joints of a machine with closed loops from those that are measured, sample after sample.

The others follow by continuation (12.32): from the last configuration along the motion that the
loops allow, then to the loops by Newton's method. A step whose correction is not small against
its motion is halved, so that the configuration stays on the branch that it started on.
"""

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
import scipy.linalg

from liedyn_ros.common.checks import Array, as_array, as_positive, listed
from liedyn_ros.common.errors import ConvergenceError, LiedynError, ModelError, SingularError
from liedyn_ros.dynamics.constrained.assembly import assemble
from liedyn_ros.dynamics.constrained.completion import complete_acceleration
from liedyn_ros.dynamics.constrained.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.position import largest
from liedyn_ros.dynamics.floating_base import base_joint
from liedyn_ros.model import JOINT_TYPES
from liedyn_ros.model.configuration import integrate_checked

ATTEMPTS = 10  # starts of the first assembly
MIN_QUALITY = 1e-6  # of a configuration whose other joints are decided at all
MAX_STEP = 0.5  # rad or m that an unmeasured joint may move in one step
MAX_CORRECTION = 0.3  # of that motion
MIN_STEP = 1.0 / 1024  # of the motion between two samples
NEGLIGIBLE = 1e-6  # correction that leads to no other branch, rad or m
CLOSED = 1e-13  # rad or m, correction that counts as zero
ROUNDING = 1e-9  # residual that counts as zero where steps no longer reduce it
ITERATIONS = 50
DIFFERENCE = 1e-6  # s, of the rate of the quality
AGREEMENT = 0.05  # rad or m by which redundant measurements may be off; noise is far below it
REDUNDANT = 1e-6  # part of a closure that measured joints alone move, rows of length one
INDEPENDENT = 1e-9  # smallest singular value, over the largest, of what is decided at all


class LoopState(NamedTuple):
    """
    The state of all joints at a sample.

    q (nq,); v and a (nv,), None where they are not known. quality says how well the measured
    joints determine the others: the smallest singular value of their Jacobian over the largest. It
    is 0 in a singular configuration, 1 if all joints are measured. time_to_singularity (s) is the
    time until quality is 0 at its present rate. It is infinite where quality does not fall or no
    rates are known. redundant says whether more joints are measured than needed: q then fits the
    measurements, but not exactly.
    """

    q: Array
    v: Array | None
    a: Array | None
    quality: float
    time_to_singularity: float
    redundant: bool = False


class LoopTracker:
    """
    Completes samples of the measured joints, on the branch of the first one.

    measured are names of joints of one coordinate, by default the actuated ones. start (nq,) is a
    rough configuration that selects the assembly; by default that of zeros. A floating base that
    is not measured stays where start has it.

    Where more joints are measured than needed, the state is a least-squares fit on the loops.
    agreement (rad or m) is the largest error that is not a fault.

    Raises ModelError for a name that is not such a joint, LimitError. An object is for one thread.
    """

    def __init__(self, dynamics: ConstrainedDynamics, measured: Sequence[str] | None = None, *,
                 start: ArrayLike | None = None, agreement: float = AGREEMENT) -> None:
        """Take a machine."""
        self._dynamics = dynamics
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
        self._at_q = np.array([joint.qi for joint in joints], dtype=np.int64)
        self._at_v = np.array([joint.vi for joint in joints], dtype=np.int64)
        self._turns = np.array([joint.type_name == 'continuous' for joint in joints], dtype=bool)
        self._turning = bool(self._turns.any())
        self._known = np.zeros(model.nv, dtype=bool)
        self._known[self._at_v] = True
        self._agreement = as_positive('agreement', agreement)
        base = base_joint(model)
        if base is not None:
            self._known[base.v_slice] = True
        self._others = np.flatnonzero(~self._known)
        self._start = model.neutral() if start is None else model.check_configuration(start)
        self._near: _Linearized | None = None
        self._scale: Array = np.ones(dynamics.m)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return which coordinates (nv,) are given: those measured, and those of the base."""
        return self._known.copy()

    def reset(self) -> None:
        """Forget the branch: the next sample is assembled from the start again."""
        self._near = None

    def update(self, positions: ArrayLike, velocities: ArrayLike | None = None,
               accelerations: ArrayLike | None = None, *, ahead: bool = True) -> LoopState:
        """
        Return the state of all joints, given those of the measured ones in their order.

        ahead: whether to look ahead for a singularity; if not, the time to it is infinite, and
        `time_to_singularity` gives it later.
        A sample that is refused changes nothing: the next one is reached from the last good one.
        Raises ShapeError, NotFiniteError; ConvergenceError where no motion that the loops allow
        leads there; SingularError where the measured joints do not decide the others; and
        LiedynError for accelerations without velocities.
        """
        size = (len(self.measured),)
        positions = as_array('positions', positions, size)
        rates = None if velocities is None else as_array('velocities', velocities, size)
        if accelerations is not None and rates is None:
            raise LiedynError('accelerations: expected velocities with them, got none')
        near = (self._assemble(positions) if self._near is None
                else self._follow(self._near, positions))
        self._require_agreement(near, positions)
        if near.quality < MIN_QUALITY:
            raise SingularError(
                f'expected measured joints {listed(self.measured)} that decide the others, got a '
                f'configuration of quality {near.quality:.2g}')
        self._near = near
        if rates is None:
            return LoopState(near.q.copy(), None, None, near.quality, math.inf, near.redundant)
        v = near.motion(rates)
        a = None
        if accelerations is not None:
            given, known = np.zeros(self._dynamics.model.nv), self._known
            given[self._at_v] = as_array('accelerations', accelerations, size)
            if near.redundant:  # of as many joints as can move
                known = known.copy()
                known[self._at_v] = False
                known[self._at_v[near.deciding]] = True
            a = complete_acceleration(self._dynamics, near.q, v, given, known)
        left = self._time_left(near, v) if ahead else math.inf
        return LoopState(near.q.copy(), v, a, near.quality, left, near.redundant)

    def time_to_singularity(self, velocities: ArrayLike) -> float:
        """Return that of the last sample, by velocities of the measured joints."""
        if self._near is None:
            return math.inf
        rates = as_array('velocities', velocities, (len(self.measured),))
        return self._time_left(self._near, self._near.motion(rates))

    def _assemble(self, positions: Array) -> '_Linearized':
        start = self._start.copy()
        start[self._at_q] = positions
        dynamics = self._dynamics
        held: NDArray[np.int64] = np.arange(len(positions))
        if len(held) > 1 and self._redundant():
            q = assemble(dynamics, start, attempts=ATTEMPTS)
            held = self._linearize(q, dynamics.jacobian(q)).deciding
        q = assemble(dynamics, start, attempts=ATTEMPTS, held={
            self.measured[i]: float(positions[i]) for i in held})
        rows = dynamics.jacobian(q)
        sizes = np.linalg.norm(rows, axis=1)
        self._scale = 1.0 / np.where(sizes > 1e-9, sizes, 1.0)
        near = self._linearize(q, rows)
        return self._follow(near, positions) if near.redundant else near

    def _redundant(self) -> bool:
        """Return whether more joints are measured than can move."""
        return len(self.measured) > self._dynamics.mobility.freedom - (
            0 if base_joint(self._dynamics.model) is None else 6)

    def _require_agreement(self, near: '_Linearized', positions: Array) -> None:
        """Raise ConvergenceError where redundant measurements are too far from the loops."""
        if not near.redundant:
            return
        errors = self._way(near, positions)
        if np.abs(errors).max() > self._agreement:
            worst = int(np.abs(errors).argmax())
            raise ConvergenceError(
                f'expected measured joints that agree within {self._agreement:g}, got '
                f'{self.measured[worst]} off by {abs(errors[worst]):.3g} from what all of them '
                'say together')

    def _way(self, near: '_Linearized', positions: Array) -> Array:
        """Return how far the measured joints are from the positions."""
        way: Array = positions - near.q[self._at_q]
        if not self._turning:
            return way
        turns = np.remainder(way + math.pi, 2.0 * math.pi) - math.pi
        return np.where(self._turns, turns, way)  # whose encoders may start again

    def _follow(self, near: '_Linearized', positions: Array) -> '_Linearized':
        """Return where the motion of the measured joints leads, by steps as long as they can."""
        way = self._way(near, positions)
        done, step = 0.0, 1.0
        while done < 1.0:
            step = min(step, 1.0 - done)
            reached = self._advance(near, step * way)
            if reached is not None:
                near, done, step = reached, done + step, 2.0 * step
            elif step > MIN_STEP:
                step *= 0.5
            else:
                raise ConvergenceError(
                    f'expected positions of {listed(self.measured)} that the loops allow, got '
                    f'ones that no motion leads to from the last, of quality {near.quality:.2g}: '
                    f'{100.0 * done:.0f} % of the way is free')
        return near

    def _advance(self, near: '_Linearized', way: Array) -> '_Linearized | None':
        """Return the closed configuration after a motion, None where that is too far away."""
        dynamics, motion = self._dynamics, near.motion(way)
        size = largest(motion[self._others])
        if not size <= MAX_STEP:
            return None
        q, last = self._integrate(near.q, motion), max(MAX_CORRECTION * size, NEGLIGIBLE)
        for _ in range(ITERATIONS):
            f, rows = dynamics.residual_and_jacobian(q)
            correction = near.correction(f)
            left = largest(correction)
            if left <= CLOSED:
                break
            if not left <= last:  # no contraction
                if left <= ROUNDING:
                    break
                return None
            q, last = self._integrate(q, correction), 0.5 * left
        else:
            return None
        if not largest(f) <= ROUNDING:
            return None
        return self._linearize(q, rows)

    def _integrate(self, q: Array, dv: Array) -> Array:
        return integrate_checked(self._dynamics.model.link_table, q, dv)

    def _linearize(self, q: Array, rows: Array) -> '_Linearized':
        return _Linearized(
            q, self._scale[:, None] * rows, self._at_v, self._others, self._scale)

    def _time_left(self, near: '_Linearized', v: Array) -> float:
        """Return the time in which the smallest singular value reaches zero (12.35)."""
        if not len(self._others) or not v.any():
            return math.inf
        ahead = self._dynamics.jacobian(self._integrate(near.q, DIFFERENCE * v))
        rate = near.quality_rate(
            (self._scale[:, None] * ahead - near.rows) / DIFFERENCE)
        return -near.quality / rate if rate < 0.0 else math.inf


class _Linearized:
    """A closed configuration and how the measured joints move the others there (12.33)."""

    def __init__(self, q: Array, rows: Array, at: NDArray[np.int64], others: NDArray[np.int64],
                 scale: Array) -> None:
        self.q, self.rows = q, rows
        self._at, self._others, self._scale = at, others, scale
        left, sizes, right = np.linalg.svd(rows[:, others])
        self._largest = float(sizes[0]) if len(sizes) else 0.0
        rank = int(np.count_nonzero(sizes > INDEPENDENT * self._largest))
        decided = len(others) <= len(rows)
        self._left, self._right = left[:, len(sizes) - 1:len(sizes)], right[len(sizes) - 1:][:1]
        self.quality = (1.0 if not len(others) else float(sizes[-1] / self._largest)
                        if decided and self._largest else 0.0)
        self._inverse = (right[:rank].T / sizes[:rank]) @ left[:, :rank].T
        self.redundant = False
        if rank < len(rows):
            # What no motion of the others closes, the measured joints have to, by least squares.
            unclosed = left[:, rank:].T
            self._among = unclosed @ rows[:, at]
            self.redundant = bool((np.abs(self._among) > REDUNDANT).any())
        if self.redundant:
            self._repair = np.linalg.pinv(self._among, rcond=INDEPENDENT) @ unclosed

    @property
    def deciding(self) -> NDArray[np.int64]:
        """Return which of the measured joints decide the others, the rest left out."""
        if not self.redundant:
            return np.arange(len(self._at))
        _, sizes, right = np.linalg.svd(self._among)
        free = right[int((sizes > INDEPENDENT * sizes.max()).sum()):]
        _, _, order = scipy.linalg.qr(free, pivoting=True)
        chosen: NDArray[np.int64] = np.sort(order[:len(free)])
        return chosen

    def motion(self, rates: Array) -> Array:
        """Return how all coordinates (nv,) move with the measured ones, on the loops."""
        return self._closing(rates, self.rows[:, self._at] @ rates)

    def correction(self, f: Array) -> Array:
        """Return how all (nv,) move to close a residual, the measured ones where they must."""
        return self._closing(np.zeros(len(self._at)), self._scale * f)

    def _closing(self, rates: Array, left: Array) -> Array:
        v = np.zeros(self.rows.shape[1])
        if self.redundant:
            change = -self._repair @ left
            rates, left = rates + change, left + self.rows[:, self._at] @ change
        v[self._at] = rates
        v[self._others] = -self._inverse @ left
        return v

    def quality_rate(self, rates: Array) -> float:
        """Return the rate of the quality, given that of the rows."""
        change = self._left[:, 0] @ rates[:, self._others] @ self._right[0]
        return float(change / self._largest)


class LoopTrajectory(NamedTuple):
    """The states of all joints along a trajectory: as LoopState, with an axis of T samples."""

    q: Array
    v: Array | None
    a: Array | None
    quality: Array


def complete_trajectory(
        dynamics: ConstrainedDynamics, positions: ArrayLike, velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None, *, measured: Sequence[str] | None = None,
        start: ArrayLike | None = None) -> LoopTrajectory:
    """
    Return the motion of all joints, given that of some.

    positions, velocities and accelerations are (T, n) of the n measured joints; the other
    arguments are those of LoopTracker. Raises what it raises, naming the sample.
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
        np.array([state.quality for state in states]))
