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

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_numbers, as_positive
from liedyn_ros.common.errors import ConvergenceError, LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics.constrained.configurations.kernels import velocity
from liedyn_ros.dynamics.constrained.inverse_kinematics import (
    FrameTargets, ORIENTATION, POINT, Robot, Targets, TOOL)
from liedyn_ros.dynamics.constrained.minimal_coordinates import MinimalCoordinates
from liedyn_ros.dynamics.frames import LOCAL
from liedyn_ros.lie import se3, so3


class DifferentialKinematics:
    """
    The velocity with which frames approach targets, called from sample to sample.

    robot, frames, weights, locked and limits are those of InverseKinematics; velocity limits are
    those of the model. Of MinimalCoordinates v and acceleration are (f,). acceleration is a limit
    (nv,) or one number, rad/s^2 and m/s^2, none by default. It holds where others cannot: a joint
    too fast for its limit brakes as hard as it may. A joint beyond a limit of position goes back
    by gain, if loops let it. Loops alone go first: where they need more, velocities change as
    little as they can, and exceeded has these accelerations by coordinate. gain (1/s) says how
    fast errors vanish, gaps of loops too. damping is the price of the squares of velocities beside
    the squares of twists that frames miss. The C library's velocity_within and
    loops_velocity_within have the same bits.

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
            robot: a Dynamics, a ConstrainedDynamics or its MinimalCoordinates.
            frames: names, or a kind of target by name: POSE, POINT, ORIENTATION or TOOL.
            weights: by frame, of an error of angles and of one of lengths.
            within_limits: whether position and velocity limits of the model hold.
            locked: joints or coordinates that stay.
            acceleration: limit (nv,) or one number, rad/s^2 and m/s^2.
            gain: 1/s, of errors and of gaps of loops.
            damping: weight of squared velocities relative to squared twists.

        Raises:
            LimitError: for an acceleration that is not above 0; LiedynError: unknown names.
        """
        self._targets = FrameTargets(robot, frames, weights)
        self._loops, self.frames = self._targets.loops, self._targets.kinds
        self.model, nv = self._loops.model, self._loops.model.nv
        least = self._least = robot if isinstance(robot, MinimalCoordinates) else None
        self._known = np.ones(nv, dtype=np.bool_) if least is None else least.known
        most = as_numbers('acceleration', acceleration)
        if not (most > 0.0).all():
            raise LimitError(f'acceleration: expected numbers above 0, got {most.min()}',
                             names=['acceleration'], expected=0.0, got=float(most.min()))
        self._most = np.full(nv, np.inf)
        self._most[self._known] = most
        self._gain, self._damping = as_positive('gain', gain), as_positive('damping', damping)
        self._within = within_limits
        still = self._loops.names.mask('locked', list(locked))
        if least is not None:
            still = still | least.held
        self._fastest = np.where(still, 0.0, self.model.limits.velocity)
        self.exceeded: dict[str, float] = {}

    def __call__(self, q: ArrayLike, targets: Targets, dt: float, v: ArrayLike | None = None, *,
                 rest: ArrayLike | None = None, twists: Mapping[str, ArrayLike] | None = None
                 ) -> Array:
        """
        Return the velocity with which frames approach their targets.

        Args:
            q: configuration (nq,); rad and m.
            targets: poses (4, 4) by frame; m.
            dt: duration of the velocity; s.
            v: velocity before (nv,), which acceleration limits count from; by default zero.
            rest: configuration (nq,), approached where the targets leave it free.
            twists: (6,) by frame, in its axes, of moving targets; rad/s and m/s.

        Returns:
            v (nv,); rad/s and m/s.

        Raises:
            ConvergenceError: where the loops allow none within the limits of position and
                velocity, or would open.
            NameSetError: for other frames.

        >>> approach = DifferentialKinematics(robot, 'tool')
        >>> approach(q, {'tool': robot.frames.pose(q + 0.1, 'tool')}, 0.01).shape
        (6,)
        """
        model, q, dt = self.model, self.model.check_configuration(q), as_positive('dt', dt)
        before = np.zeros(model.nv)
        if v is not None:
            before[self._known] = as_array('v', v, (int(self._known.sum()),))
        back = self._gain * (np.zeros(0) if rest is None else model.difference(
            q, model.check_configuration(rest)))
        self.exceeded = {}
        tasks = *self._tasks(q, targets, dict(twists or {})), back
        code, found = self._lead(q, dt, *tasks, *self._bounds(q, dt, before, self._most, True))
        if code != velocity.FOUND:  # loops may not let a joint beyond its limit go back
            code, found = self._lead(q, dt, *tasks, *self._bounds(q, dt, before, self._most))
        least = np.isfinite(self._most)
        if code != velocity.FOUND and least.any():  # what changes least, as the loops go first
            rows = np.diag(1.0 / np.where(least, self._most, np.inf))
            code, found = self._lead(q, dt, rows, rows @ before, np.zeros(0),
                                     *self._bounds(q, dt, before, np.inf))
            rise = (found - before) / dt
            self.exceeded = {
                name: float(each) for name, each, most in zip(
                    model.coordinate_names, rise, self._most) if abs(each) > most}
        if code == velocity.FOUND:
            return found[self._known]
        raise ConvergenceError(
            'velocity: expected one that keeps loops closed within the limits of position and '
            'velocity, got none' + (': take a shorter dt' if code == velocity.OPENS else ''))

    def batch(self, q: ArrayLike, targets: Targets, dt: float, v: ArrayLike | None = None, *,
              rest: ArrayLike | None = None, twists: Mapping[str, ArrayLike] | None = None
              ) -> Array:
        """
        Return the velocities of K states; exceeded then has the largest accelerations of all.

        Args:
            q: configurations (K, nq); rad and m.
            targets: poses (K, 4, 4) by frame; m.
            dt: duration of the velocities; s.
            v: velocities before (K, nv); by default zero.
            rest: configuration (nq,), as in a call.
            twists: (K, 6) by frame, in its axes, of moving targets; rad/s and m/s.

        Returns:
            v (K, nv); rad/s and m/s.

        Raises:
            LiedynError: as a call, naming the state.

        >>> approach = DifferentialKinematics(robot, 'tool')
        >>> wanted = robot.frames.pose(q + 0.1, 'tool')
        >>> approach.batch([q, q], {'tool': np.array([wanted, wanted])}, 0.01).shape
        (2, 6)
        """
        q = as_array('q', q, (-1, self.model.nq))
        before = (len(q), int(self._known.sum()))
        result = np.zeros(before) if v is None else as_array('v', v, before).copy()
        given, moving, exceeded = (_rows_of('targets', targets, len(q)), _rows_of(
            'twists', twists or {}, len(q)), dict[str, float]())
        for k, at in enumerate(q):
            try:
                result[k] = self(at, given[k], dt, result[k], rest=rest, twists=moving[k])
            except LiedynError as error:
                error.args = (f'[{k}] {error}',)
                raise
            exceeded |= {name: each for name, each in self.exceeded.items()
                         if abs(each) > abs(exceeded.get(name, 0.0))}
        self.exceeded = exceeded
        return result

    def _lead(self, q: Array, dt: float, rows: Array, wanted: Array, back: Array, lower: Array,
              upper: Array) -> tuple[int, Array]:
        """Return the code of velocity.lead, and the velocity (nv,) that it has for tasks."""
        loops, (m, n), v = self._loops, (self._loops.m, self.model.nv), np.zeros(self.model.nv)
        size = velocity.scratch_size(m, len(wanted), n)
        given = (loops.row_sizes, q, dt, self._gain, rows, wanted, 0, np.full(n, self._damping),
                 lower, upper, back, q.copy(), np.empty(m), np.empty((m, n)),
                 np.empty((size, size)), v)
        workspace = loops.data.workspace
        with loops.lock.inner:
            if not loops.functions:
                turns = np.empty(len(self.model.closures))
                return velocity.lead(workspace, turns, *given), v
            trial, f, jacobian = given[-5:-2]
            for attempt in range(velocity.STEP_TRIALS + 1):
                f[:], jacobian[:] = loops.residual_and_jacobian_at(trial)
                code = velocity.continue_leading(workspace, attempt, *given)
                if code != velocity.EVALUATE:
                    break
        return code, v

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

    def _bounds(self, q: Array, dt: float, before: Array, acceleration: ArrayLike,
                back: bool = False) -> tuple[Array, Array]:
        """Return the lowest and highest velocities (nv,); back: from beyond a limit, by gain."""
        least, most = (before + sign * dt * np.asarray(acceleration) for sign in (-1.0, 1.0))
        lower, upper = np.maximum(-self._fastest, least), np.minimum(self._fastest, most)
        if self._within:
            limits = self.model.limits
            at = np.flatnonzero(np.isfinite(limits.lower) | np.isfinite(limits.upper))
            here = q[self.model.link_table.position_at[at]]
            down, up = limits.lower[at] - here, limits.upper[at] - here
            beyond = min(self._gain, 1.0 / dt) if back else 0.0
            down *= np.where(down > 0.0, beyond, 1.0 / dt)
            up *= np.where(up < 0.0, beyond, 1.0 / dt)
            speed = self._fastest[at]
            lower[at] = np.maximum(lower[at], np.minimum(down, speed))
            upper[at] = np.minimum(upper[at], np.maximum(up, -speed))
        # Where no acceleration keeps the other limits, the joint brakes as hard as it may.
        return np.clip(lower, least, most), np.clip(upper, least, most)


def _rows_of(name: str, given: Mapping[str, ArrayLike], count: int) -> list[dict[str, Array]]:
    """Return arrays by frame (K, ...) as a dict for each of K states."""
    arrays = {frame: as_numbers(f'{name} {frame}', each) for frame, each in given.items()}
    for frame, each in arrays.items():
        if len(each) != count:
            raise ShapeError(f'{name} {frame}: expected {count} as q, got {len(each)}',
                             names=[frame], expected=count, got=len(each))
    return [{frame: each[k] for frame, each in arrays.items()} for k in range(count)]
