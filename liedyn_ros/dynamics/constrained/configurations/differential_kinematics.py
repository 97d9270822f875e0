# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Differential inverse kinematics: the velocity that leads frames to targets, by one convex program.

It is the least sum of squares of what frames miss (12.65). Velocities are within the limits of
position, velocity and acceleration, and close loops: gaps that steps open are fed back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_numbers, as_positive
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.dynamics.constrained.configurations.inverse_kinematics import (
    FrameTargets, ORIENTATION, POINT, Robot, Targets, TOOL)
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.dynamics.frames import LOCAL
from liedyn_ros.lie import se3, so3
from liedyn_ros.linear_algebra.bounded_least_squares import within_constraints

MAX_OPENING, MAX_OPENING_SHARE = 1e-5, 0.01  # of a step: of sizes of rows, of gaps left
SHORTENED_STEPS = 20  # to find a step that opens them by less
OPEN_LOOP_PRICE = 1e3  # of what frames miss, where limits do not let loops close at once


class DifferentialKinematics:
    """
    The velocity with which frames approach targets, called from sample to sample.

    frames, weights, locked and limits are those of InverseKinematics; velocity limits are those of
    the model. acceleration is a limit (nv,) or one number, rad/s^2 and m/s^2, none by default. It
    holds where others cannot: a joint too fast for its limit brakes as hard as it may. gain (1/s)
    says how fast errors vanish, gaps of loops too. damping is the price of the squares of
    velocities beside the squares of twists that frames miss. The C library's velocity_within has
    the same bits.

    >>> approach = DifferentialKinematics(robot, 'tool', gain=2.0)
    >>> approach(q, {'tool': robot.frames.pose(q + 0.1, 'tool')}, 0.01).shape
    (6,)
    """

    def __init__(self, robot: Robot, frames: Mapping[str, str] | Sequence[str] | str, *,
                 weights: Mapping[str, tuple[float, float]] | None = None,
                 within_limits: bool = True, locked: Sequence[str] = (),
                 acceleration: ArrayLike = np.inf, gain: float = 5.0, damping: float = 1e-6
                 ) -> None:
        """
        Lay out the tables.

        Args:
            robot: a Dynamics or a ConstrainedDynamics.
            frames: names, or what is held by name: POSE, POINT, ORIENTATION or TOOL.
            weights: by frame, of an error of angles and of one of lengths.
            within_limits: whether position and velocity limits of the model hold.
            locked: joints or coordinates that stay.
            acceleration: limit (nv,) or one number, rad/s^2 and m/s^2.
            gain: 1/s, of errors and of gaps of loops.
            damping: price of squared velocities beside squared twists.

        Raises:
            LimitError: for an acceleration that is not above 0; LiedynError: unknown names.
        """
        self._targets = FrameTargets(robot, frames, weights)
        self._loops, self.frames = self._targets.loops, self._targets.kinds
        self.model, nv = self._loops.model, self._loops.model.nv
        self._most = np.broadcast_to(as_numbers('acceleration', acceleration), (nv,))
        if not (self._most > 0.0).all():
            raise LimitError('acceleration: expected numbers above 0, got '
                             f'{self._most.min()}', names=['acceleration'], expected=0.0,
                             got=float(self._most.min()))
        self._gain, self._damping = as_positive('gain', gain), as_positive('damping', damping)
        self._within = within_limits
        self._fastest = np.where(
            self._loops.names.mask('locked', list(locked)), 0.0, self.model.limits.velocity)

    def __call__(self, q: ArrayLike, targets: Targets, dt: float, v: ArrayLike | None = None, *,
                 rest: ArrayLike | None = None, twists: Mapping[str, ArrayLike] | None = None
                 ) -> Array:
        """
        Return the velocity with which frames approach their targets.

        Args:
            q: configuration (nq,); rad and m.
            targets: poses (4, 4) by frame; m.
            dt: how long the velocity is held; s.
            v: velocity before (nv,), which acceleration limits count from; by default zero.
            rest: configuration (nq,), approached where the targets leave it free.
            twists: (6,) by frame, in its axes, of moving targets; rad/s and m/s.

        Returns:
            v (nv,); rad/s and m/s.

        Raises:
            ConvergenceError: where the loops allow none within the limits of acceleration, or
                would open.
            NameSetError: for other frames.

        >>> approach = DifferentialKinematics(robot, 'tool')
        >>> approach(q, {'tool': robot.frames.pose(q + 0.1, 'tool')}, 0.01).shape
        (6,)
        """
        model, q, dt = self.model, self.model.check_configuration(q), as_positive('dt', dt)
        before = np.zeros(model.nv) if v is None else as_array('v', v, (model.nv,))
        rows, wanted = self._tasks(q, targets, dict(twists or {}))
        lower, upper = self._bounds(q, dt, before)
        found = self._closing(q, dt, lambda part, loops, speeds: _nearest(
            rows, part * wanted, self._damping, lower, upper, loops, speeds))
        if rest is None:
            return found
        # Of the velocities that are as good for the frames, the nearest one to rest.
        loops = self._loops.jacobian(q) / self._loops.row_sizes[:, None]
        kept, _ = _independent(np.vstack((rows, loops)))
        back = self._gain * model.difference(q, model.check_configuration(rest))
        return _solve(np.eye(model.nv), back, 0.0, lower, upper, kept, kept @ found)

    def _closing(self, q: Array, dt: float, solve: Callable[[float, Array, Array], Array]
                 ) -> Array:
        """
        Return a velocity held for dt that leaves the loops open by what the gain leaves.

        solve returns one for a part of what frames miss, and speeds (r,) of rows (r, nv) of loops.
        A step that opens them by its length is corrected, then shortened.
        """
        gaps, rows = self._loops.residual_and_jacobian(q)
        sizes, part = self._loops.row_sizes, 1.0
        rows, speeds_of = _independent(rows / sizes[:, None])
        left = max(1.0 - self._gain * dt, 0.0) * gaps / sizes
        speeds = speeds_of @ (left - gaps / sizes) / dt
        for attempt in range(SHORTENED_STEPS):
            v = solve(part, rows, speeds)
            after = self._loops.residual(self.model.integrate(q, dt * v)) / sizes
            opened = np.abs(after - left).max(initial=0.0)
            if opened <= MAX_OPENING + MAX_OPENING_SHARE * np.abs(left).max(initial=0.0):
                return v
            speeds = speeds - speeds_of @ (after - left) / dt
            if attempt:
                part *= 0.5
        raise ConvergenceError('velocity: expected one that keeps loops closed, got none that '
                               f'opens them by less than {opened:.3g}')

    def _tasks(self, q: Array, targets: Targets, twists: Mapping[str, ArrayLike]
               ) -> tuple[Array, Array]:
        """Return rows and what they are to be: twists towards the targets, with weights."""
        rows, wanted, frames = [], [], self._loops.frames
        for (name, kind), at, goal in zip(self.frames.items(), frames.pose(
                q, list(self.frames)), self._targets.poses(targets)):
            moving = as_array(f'twists {name}', twists.get(name, np.zeros(6)), (6,))
            apart = se3.compose(se3.inverse(at), goal)
            twist = np.concatenate((so3.log(apart[:3, :3]), apart[:3, 3]))
            jacobian = frames.jacobian(q, name, LOCAL)
            kept = {POINT: [3, 4, 5], ORIENTATION: [0, 1, 2], TOOL: [0, 1, 3, 4, 5]}.get(
                kind, list(range(6)))
            scale = np.repeat(self._targets.weights[name], 3)[kept]
            rows.append(scale[:, None] * jacobian[kept])
            wanted.append(scale * (self._gain * twist + moving)[kept])
        return np.vstack(rows), np.concatenate(wanted)

    def _bounds(self, q: Array, dt: float, before: Array) -> tuple[Array, Array]:
        """Return the lowest and highest velocities (nv,)."""
        lower = np.maximum(-self._fastest, before - dt * self._most)
        upper = np.minimum(self._fastest, before + dt * self._most)
        if self._within:
            limits = self.model.limits
            at = np.flatnonzero(np.isfinite(limits.lower) | np.isfinite(limits.upper))
            here = q[self.model.link_table.position_at[at]]
            lower[at] = np.maximum(lower[at], np.minimum((limits.lower[at] - here) / dt, 0.0))
            upper[at] = np.minimum(upper[at], np.maximum((limits.upper[at] - here) / dt, 0.0))
        # Where no acceleration keeps the other limits, the joint brakes as hard as it may.
        least, most = before - dt * self._most, before + dt * self._most
        return np.clip(lower, least, most), np.clip(upper, least, most)


def _independent(rows: Array) -> tuple[Array, Array]:
    """Return orthonormal rows (r, n), and the matrix (r, m) from values of rows to theirs."""
    left, sizes, right = np.linalg.svd(rows, full_matrices=False)
    rank = np.count_nonzero(sizes > RANK_TOLERANCE * sizes.max(initial=0.0))
    return right[:rank], left.T[:rank] / sizes[:rank, None]


def _nearest(rows: Array, wanted: Array, damping: float, lower: Array, upper: Array, held: Array,
             at: Array) -> Array:
    """Return the x that misses least of wanted, held x being as much of at as can be."""
    try:
        return _solve(rows, wanted, damping, lower, upper, held, at)
    except ConvergenceError:
        if not at.any():
            raise
    (m, n), price = rows.shape, OPEN_LOOP_PRICE * max(
        np.abs(rows.T @ rows).max(), np.abs(rows.T @ wanted).max(), damping)
    whole = np.zeros((m + 1, n + 1))
    whole[:m, :n], whole[m, n] = rows, np.sqrt(price)
    return _solve(whole, np.append(wanted, whole[m, n]), damping, np.append(lower, 0.0), np.append(
        upper, 1.0), np.hstack((held, -at[:, None])), np.zeros(len(at)))[:n]


def _solve(rows: Array, wanted: Array, damping: float, lower: Array, upper: Array, held: Array,
           at: Array) -> Array:
    """Return the x that misses least of wanted within bounds, with held x = at."""
    found = within_constraints(np.vstack((held, rows)), np.append(at, wanted), len(held),
                               np.full(len(lower), damping), lower, upper)
    if found is None:
        raise ConvergenceError('velocity: expected one within the limits of position, velocity '
                               'and acceleration, got none')
    return found
