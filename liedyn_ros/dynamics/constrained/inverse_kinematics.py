# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Inverse kinematics: the configuration at which frames reach poses, points or directions.

Targets are closures with the ground that move. So joints of all types, limits and closed loops
are those of assembly, by the same Levenberg-Marquardt steps (12.31).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array, as_array, as_numbers, require_kind, unknown_name
from liedyn_ros.common.errors import LimitError, ModelError, NameSetError, ShapeError
from liedyn_ros.dynamics.constrained.configurations.assembly import assemble
from liedyn_ros.dynamics.constrained.configurations.closing import bounds_of, closing_tables
from liedyn_ros.dynamics.constrained.configurations.kernels import closing
from liedyn_ros.dynamics.constrained.configurations.kernels.closing import (
    CLOSING, COST, TRIAL_COUNT)
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.kernels.tolerances import STALLED_RESIDUAL
from liedyn_ros.dynamics.constrained.minimal_coordinates import MinimalCoordinates
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.lie import so3
from liedyn_ros.model import Closure, Model, pose
from liedyn_ros.model.kernels.kinds import MOMENT_X, MOMENT_Y, MOMENT_Z
from liedyn_ros.model.parts.geometry import checked_pose

POSE, POINT, ORIENTATION, TOOL = 'pose', 'point', 'orientation', 'tool'
_CLOSURES = {POSE: 'weld', POINT: 'spherical', ORIENTATION: 'weld', TOOL: 'revolute'}
_TURNS = (MOMENT_X, MOMENT_Y, MOMENT_Z)
REACH_STARTS = 50  # the given one, then random ones within the limits
POSE_TOLERANCE = 1e-6  # rad and m: what counts as reached
REACH_SEED = 1

Robot: TypeAlias = Dynamics | Constraints | MinimalCoordinates
Targets: TypeAlias = Mapping[str, ArrayLike]


class Reached(NamedTuple):
    """
    A configuration q (nq,); reached: at all targets, else it is the nearest one found.

    angles and distances are the errors by frame, rad and m; zero where the target leaves it free.
    starts and steps are what was tried.

    >>> found = ld.reach(robot, {'tool': robot.frames.pose(q + 0.2, 'tool')}, q)
    >>> found.reached, found.distances['tool'] < 1e-9
    (True, True)
    """

    q: Array
    reached: bool
    angles: dict[str, float]
    distances: dict[str, float]
    starts: int
    steps: int


class ReachedMany(NamedTuple):
    """
    The configurations q (K, nq) of K targets, whether each is reached (K,), and the errors.

    angles and distances (K, frames) are the errors of each frame, rad and m.

    >>> wanted = robot.frames.pose(q + 0.2, 'tool')
    >>> many = ld.InverseKinematics(robot, 'tool').batch({'tool': np.array([wanted] * 2)}, q)
    >>> many.q.shape, many.reached.tolist()
    ((2, 6), [True, True])
    """

    q: Array
    reached: NDArray[np.bool_]
    angles: Array
    distances: Array


class FrameTargets:
    """Targets of a robot's frames: poses, points, orientations, or tools that may spin."""

    def __init__(self, robot: Robot, frames: Mapping[str, str] | Sequence[str] | str,
                 weights: Mapping[str, tuple[float, float]] | None) -> None:
        """Take the arguments of InverseKinematics."""
        self.loops = _constraints_of(robot)
        model = self.loops.model
        self.kinds = ({frames: POSE} if isinstance(frames, str) else dict(frames) if isinstance(
            frames, Mapping) else dict.fromkeys(frames, POSE))
        if not self.kinds:
            raise ModelError('frames: expected one or more, got none', names=['frames'])
        self.closures = [_closure(model, name, kind) for name, kind in self.kinds.items()]
        self.weights: dict[str, Array] = {}
        for name in weights or {}:
            if name not in self.kinds:
                raise unknown_name(ModelError, 'weights', self.kinds, name, 'a frame')
        for name in self.kinds:
            own = as_array(f'weights {name}', (weights or {}).get(name, (1.0, 1.0)), (2,))
            if not (own > 0.0).all():
                raise LimitError(f'weights {name}: expected numbers above 0, got {own.tolist()}',
                                 names=[name], expected=0.0, got=own.tolist())
            self.weights[name] = own

    def poses(self, targets: Targets) -> list[Array]:
        """Return the poses of targets, (4, 4), or raise NameSetError for other frames."""
        _require_targets(targets)
        if set(targets) != set(self.kinds):
            raise NameSetError(f'targets: expected one for each of {sorted(self.kinds)}, got '
                               f'{sorted(targets)}', expected=sorted(self.kinds),
                               got=sorted(targets))
        return [_pose(name, kind, targets[name]) for name, kind in self.kinds.items()]


class InverseKinematics:
    """
    The configurations at which frames of a robot reach targets; laid out once, then called.

    robot is a Dynamics, a ConstrainedDynamics, whose loops stay closed, or its MinimalCoordinates,
    whose configurations are the same. frames are names of bodies or frames, or say what is held of
    each: POSE, POINT, ORIENTATION or TOOL. A point is the origin; a tool may turn about its z
    axis. weights by frame scale the errors, of angles and of lengths, where targets cannot be
    reached together. Coordinates of locked joints stay those of the start; locked has names of
    joints or coordinates. An object is for one thread at a time. Raises ModelError for an unknown
    frame, NameSetError for another unknown name, and LimitError for a weight that is not above 0.

    >>> solver = ld.InverseKinematics(robot, {'tool': 'point'})
    >>> solver({'tool': [0.4, 0.2, 0.5]}, q + 0.2).reached
    True
    """

    def __init__(self, robot: Robot, frames: Mapping[str, str] | Sequence[str] | str, *,
                 weights: Mapping[str, tuple[float, float]] | None = None,
                 within_limits: bool = True, locked: Sequence[str] = ()) -> None:
        """
        Lay out the tables.

        Args:
            robot: a Dynamics, a ConstrainedDynamics or its MinimalCoordinates.
            frames: names, or a kind of target by name: POSE, POINT, ORIENTATION or TOOL.
            weights: by frame, of an error of angles and of one of lengths.
            within_limits: whether position limits of the model hold.
            locked: joints or coordinates that stay as at the start.

        Raises:
            ModelError, NameSetError: unknown frames, names; LimitError: a weight not above 0.
        """
        self._targets = FrameTargets(robot, frames, weights)
        loops, self.frames = self._targets.loops, self._targets.kinds
        model = self.model = loops.model
        if loops.functions:
            raise ModelError('robot: expected closures and couplings alone, got functions '
                             f'{[each.name for each in loops.functions]}: assemble takes them')
        self._constraints = Constraints(
            replace(model, closures=(*model.closures, *self._targets.closures)))
        free = ~loops.names.mask('locked', list(locked))
        self._tables = closing_tables(self._constraints, free, bounds_of(model, free)
                                      if within_limits else None)
        self._size, self._numbers, self._q, self._f = (
            CLOSING.array(self._tables, name) for name in ('size', 'numbers', 'q', 'f'))
        self._first = len(model.closures)
        begin = sum(each.rows for each in model.closures)
        self._target_rows = begin, begin + sum(each.rows for each in self._targets.closures)
        self._weigh(begin)
        workspace = self._constraints.data.workspace
        self._descent = BoundKernel(closing.descend, workspace, self._tables)
        self._rest = BoundKernel(closing.approach_rest, workspace, self._tables)
        self._loops_first = BoundKernel(closing.close_loops_first, workspace, self._tables)
        self._turns = np.full(len(self._constraints.model.closures), np.nan)
        self._scratch = np.zeros((2, model.nv)), np.zeros(model.nq)
        self._stays = np.zeros(model.nq, dtype=np.bool_)
        for joint in model.joint_list:
            self._stays[joint.q_slice] = not free[joint.v_slice].all()
        self._rng, self._others = np.random.default_rng(REACH_SEED), list[Array]()
        self._loops = loops if loops.m else None

    def __call__(self, targets: Targets, start: ArrayLike | None = None, *,
                 rest: ArrayLike | None = None, starts: int = REACH_STARTS,
                 budget: Budget | None = None) -> Reached:
        """
        Return the configuration nearest to start that reaches targets, or the nearest to them.

        Args:
            targets: by frame: a pose (4, 4) in the ground, m, a point (3,), or a rotation (3, 3).
            start: (nq,); by default the neutral one.
            rest: (nq,), a posture that is approached as far as the targets leave it free.
            starts: how many starts at most: random ones within limits follow the first.
            budget: bound of the work, which counts starts; by default none.

        Returns:
            q (nq,), reached, and by frame distances (m) and angles (rad) that are left.

        Raises:
            NameSetError: for other frames.
            BudgetError: beyond the budget.
            LiedynError: for a wrong pose or configuration.

        >>> solver, wanted = ld.InverseKinematics(robot, 'tool'), robot.frames.pose(q, 'tool')
        >>> solver({'tool': wanted}, q).reached
        True
        """
        if starts < 1:
            raise LimitError(f'starts: expected 1 or more, got {starts}', names=['starts'],
                             expected=1, got=starts)
        return self._solve(self._targets.poses(targets), start, rest, starts, budget or Budget())

    def batch(self, targets: Targets, start: ArrayLike | None = None, *,
              rest: ArrayLike | None = None, starts: int = REACH_STARTS,
              budget: Budget | None = None) -> ReachedMany:
        """
        Return the configurations of K targets.

        Args:
            targets: by frame: (K, 4, 4), (K, 3) or (K, 3, 3).
            start: (nq,) for all, or (K, nq); by default each starts where the one before has
                ended, as along a path.
            rest: (nq,), as in a call.
            starts: how many starts of each at most.
            budget: bound of the work; by default none.

        Returns:
            q (K, nq), reached (K,), and errors (K, frames).

        Raises:
            LiedynError: as a call.

        >>> solver, wanted = ld.InverseKinematics(robot, 'tool'), robot.frames.pose(q, 'tool')
        >>> solver.batch({'tool': np.array([wanted, wanted])}, q).q.shape
        (2, 6)
        """
        count = {len(as_numbers(f'targets {name}', each)) for name, each in targets.items()}
        if len(count) != 1:
            raise ShapeError(f'targets: expected as many of each frame, got {sorted(count)}')
        given, most = None if start is None else as_numbers('start', start), count.pop()
        budget, found = budget or Budget(), list[Reached]()
        for k in range(most):
            budget.begin(k, most)
            begin = (given if given.ndim == 1 else given[k]) if given is not None else (
                found[-1].q if found else None)
            found.append(self({name: np.asarray(each)[k] for name, each in targets.items()},
                              begin, rest=rest, starts=starts, budget=budget))
        names = list(self.frames)
        return ReachedMany(
            np.array([each.q for each in found]).reshape(-1, self.model.nq),
            np.array([each.reached for each in found], dtype=np.bool_),
            np.array([[each.angles[name] for name in names] for each in found]).reshape(
                -1, len(names)),
            np.array([[each.distances[name] for name in names] for each in found]).reshape(
                -1, len(names)))

    def _solve(self, poses: list[Array], start: ArrayLike | None, rest: ArrayLike | None,
               starts: int, budget: Budget) -> Reached:
        tried, steps, least = 0, 0, np.inf
        self._follow_closures()
        model = self.model
        for i, at in enumerate(poses, 2 * self._first + len(poses)):  # frames a, on the ground
            self._constraints.data.move_frame(i, at)
        q = model.neutral() if start is None else model.check_configuration(start).copy()
        for tried, begin in enumerate(self._begins(q, starts), 1):
            done, cost = self._descend(begin), self._numbers[COST]
            steps += int(self._numbers[TRIAL_COUNT])
            if done or cost < least:
                q, least = self._q.copy(), cost
            if done:
                break
            budget.spend(tried / starts)
        if not done and self._loops is not None:
            q = self._with_loops_closed(q)
        if rest is not None and done:
            self._rest.call(model.check_configuration(rest), self._turns, STALLED_RESIDUAL,
                            *self._scratch[0], self._scratch[1], q)
        angles, distances = self._errors(q, poses)
        reached = max((*angles.values(), *distances.values())) <= POSE_TOLERANCE
        return Reached(q, reached, angles, distances, tried, steps)

    def _follow_closures(self) -> None:
        """Hold loops to the ground where the robot has them now."""
        if self._loops is not None and self._loops.model is not self.model:
            self.model = self._loops.model
            self._constraints.data.follow_closures(replace(
                self.model, closures=(*self.model.closures, *self._targets.closures)))

    def _descend(self, start: Array) -> bool:
        """Go from a start (nq,) to the least residuals near it; return whether they are none."""
        self._descent.call(start, self._turns)
        return bool(np.abs(self._f).max() <= STALLED_RESIDUAL)

    def _with_loops_closed(self, q: Array) -> Array:
        """Return the configuration near q that closes all loops, and is near the targets."""
        self._q[:] = q
        self._loops_first.call(
            *self._target_rows, self._turns, np.empty_like(self._size), np.empty_like(q))
        return self._q.copy()

    def _begins(self, start: Array, count: int) -> Iterator[Array]:
        """Return a start and random ones, the same for all objects but for joints that stay."""
        yield start
        for k in range(count - 1):
            if k == len(self._others):
                self._others.append(self.model.random(self._rng))
            yield np.where(self._stays, start, self._others[k])

    def _errors(self, q: Array, poses: list[Array]) -> tuple[dict[str, float], dict[str, float]]:
        """Return by frame how far it is off its target, rad and m."""
        angles, distances = {}, {}
        at = self._constraints.frames.pose(q, list(self.frames))
        for (name, kind), found, wanted in zip(self.frames.items(), at, poses):
            turned = so3.log(wanted[:3, :3].T @ found[:3, :3])
            if kind == TOOL:
                cosine = float(np.clip(wanted[:3, 2] @ found[:3, 2], -1.0, 1.0))
                across = float(np.linalg.norm(np.cross(wanted[:3, 2], found[:3, 2])))
                angle = float(np.arctan2(across, cosine))
            else:
                angle = float(np.linalg.norm(turned))
            angles[name] = 0.0 if kind == POINT else angle
            distances[name] = 0.0 if kind == ORIENTATION else float(
                np.linalg.norm(found[:3, 3] - wanted[:3, 3]))
        return angles, distances

    def _weigh(self, at: int) -> None:
        """Divide the sizes of rows, the first of them at one, by the weights of their frames."""
        for closure, own in zip(self._targets.closures, self._targets.weights.values()):
            for kind in closure.row_kinds:
                self._size[at] /= own[int(kind > MOMENT_Z)]
                at += 1


def reach(robot: Robot, targets: Targets, start: ArrayLike | None = None, *,
          rest: ArrayLike | None = None, starts: int = REACH_STARTS) -> Reached:
    """
    Return the configuration at which frames of a robot reach targets, or the nearest to them.

    The solver is cached for each set of frames. InverseKinematics has weights, locked joints and
    tools that spin, too.

    Args:
        robot: a Dynamics, a ConstrainedDynamics, whose loops stay closed, or its
            MinimalCoordinates.
        targets: by frame: a pose (4, 4) in the ground, m, a point (3,) for its origin, or a
            rotation (3, 3).
        start: (nq,), where the search begins; by default the neutral one.
        rest: (nq,), a posture that is approached as far as the targets leave it free.
        starts: how many starts at most: random ones within limits follow the first.

    Returns:
        q (nq,), reached, and by frame distances (m) and angles (rad) that are left.

    Raises:
        NameSetError: for an unknown frame.
        LiedynError: for a wrong pose or configuration.

    >>> wanted = robot.frames.pose(q, 'tool')
    >>> ld.reach(robot, {'tool': wanted}, q).reached
    True
    """
    _require_targets(targets)
    kinds = tuple((name, _kind(name, each)) for name, each in targets.items())
    kept = _KEPT.setdefault(robot, {}) if isinstance(robot, Robot) else {}
    if kinds not in kept:
        kept[kinds] = InverseKinematics(robot, dict(kinds))
    return kept[kinds](targets, start, rest=rest, starts=starts)


def with_targets(robot: Robot, frames: Mapping[str, str] | Sequence[str] | str) -> Model:
    """
    Return a robot's model with a closure for each target, at which its frame is as assembled.

    Such a model is for files: C moves the targets and assembles the machine at them. frames are
    those of InverseKinematics, whose errors it raises, and those of assemble.
    """
    targets = FrameTargets(robot, frames, None)
    loops = targets.loops
    q = assemble(loops) if loops.m else loops.model.neutral()
    placed = [replace(each, frame_a=at) for each, at in zip(
        targets.closures, loops.frames.pose(q, list(targets.kinds)))]
    return replace(loops.model, closures=(*loops.model.closures, *placed))


_KEPT: WeakKeyDictionary[Robot, dict[tuple[tuple[str, str], ...], InverseKinematics]] = (
    WeakKeyDictionary())


def _require_targets(targets: Targets) -> None:
    require_kind('targets', targets, Mapping,  # type: ignore[type-abstract]
                 "a dict of poses by frame such as {'tool': pose}")


def _constraints_of(robot: Robot) -> Constraints:
    if isinstance(robot, Dynamics):
        return Constraints(robot.model)
    machine = robot.dynamics if isinstance(robot, MinimalCoordinates) else robot
    return require_kind('robot', machine, Constraints, 'or a Dynamics, as load returns')


def _closure(model: Model, frame: str, kind: str) -> Closure:
    """Return the closure that holds a frame to the ground, somewhere."""
    if kind not in _CLOSURES:
        raise unknown_name(ModelError, f'frame {frame}', _CLOSURES, kind, 'a kind')
    body, placement = model.place(frame)
    if body is None:
        raise ModelError(f'frame {frame}: expected one that moves, got one of the ground',
                         names=[frame])
    return Closure(f'reach {frame}', _CLOSURES[kind], None, body, np.eye(4), placement,
                   held=_TURNS if kind == ORIENTATION else None)


def _kind(name: str, value: ArrayLike) -> str:
    shape = as_numbers(f'target {name}', value).shape
    kinds = {(4, 4): POSE, (3,): POINT, (3, 3): ORIENTATION}
    if shape not in kinds:
        raise ShapeError(f'target {name}: expected a pose (4, 4), a point (3,) or a rotation '
                         f'(3, 3), got shape {shape}', names=[name], got=shape)
    return kinds[shape]


def _pose(name: str, kind: str, value: ArrayLike) -> Array:
    """Return a target as a pose (4, 4)."""
    array = as_numbers(f'target {name}', value)
    if kind == POINT and array.shape != (4, 4):
        return pose(as_array(f'target {name}', array, (3,)))
    if kind == ORIENTATION and array.shape != (4, 4):
        whole: Array = np.eye(4)
        whole[:3, :3] = as_array(f'target {name}', array, (3, 3))
        return checked_pose(f'target {name}', whole)
    return checked_pose(f'target {name}', array)
