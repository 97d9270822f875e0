# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Closures open by rounded numbers alone: their gaps, types that fit, and the deciding rows.

Where constraints are redundant, as in planar loops, numbers such as 1.5708 for a right angle make
them contradict each other. No configuration satisfies all of them then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.dynamics.constrained.configurations.closing import close
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.function import ConstraintFunction
from liedyn_ros.dynamics.constrained.constraints.size import (
    is_angle, machine_size, translates)
from liedyn_ros.dynamics.constrained.kernels.tolerances import STALLED_RESIDUAL
from liedyn_ros.model import Closure, Model

MAX_ROUNDING_GAP = 1e-2  # largest gap that rounding may leave, over the size of the machine
SMALLEST_EXPONENT, LARGEST_EXPONENT = -6, -1  # of tolerances that are tried, by tens
ROW_TOLERANCE = 100.0  # of such a gap: smaller parts of a row do not count as independent
LOOSEST_TOLERANCE, TIGHTEST_TOLERANCE = 1e-2, 1e-6
PARALLEL_SINE = 1e-6  # sine of the angle between two axes that are
TURNING = 'revolute', 'continuous', 'helical', 'cylindrical'
SLIDING_JOINTS = 'prismatic', 'fixed'
MISFIT_STARTS = 20  # of an assembly within tolerances
NEAR_DISTANCE = 0.1  # rad or m between configurations that are near

# Types that leave free what each type does, and more; the strictest first.
_WEAKER_TYPES = {
    'weld': ('revolute', 'prismatic', 'cylindrical', 'planar', 'spherical', 'point_on_line'),
    'revolute': ('cylindrical', 'planar', 'spherical', 'point_on_line'),
    'prismatic': ('cylindrical', 'point_on_line'), 'helical': ('cylindrical',),
    'cylindrical': ('point_on_line',), 'planar': ('point_on_plane',),
    'universal': ('spherical', 'point_on_line', 'point_on_plane'),
    'spherical': ('point_on_line', 'point_on_plane')}
_AXES = {'z': np.eye(3), 'x': np.eye(3)[:, [1, 2, 0]], 'y': np.eye(3)[:, [2, 0, 1]]}  # as new z


class ClosureGap(NamedTuple):
    """
    How far a closure is open: length in m, angle in rad, the largest of its constraints.

    >>> linkage.gaps(closed)['tip'].length < 1e-9
    True
    """

    length: float
    angle: float


def closure_gaps(constraints: Constraints, q: Array) -> dict[str, ClosureGap]:
    """Return how far each closure is open at q (nq,), also in the rows that are not held."""
    model = constraints.model
    whole = Constraints(replace(model, closures=tuple(
        replace(closure, held=None) for closure in model.closures)))
    return _gaps(whole, whole.residual(q))


def crossed_axes(constraints: Constraints, q: Array) -> str:
    """
    Return a text that names closures whose axis is not along that of all joints of their loop.

    Joints that all turn about one direction, as in a plane, cannot make such axes meet.
    """
    model, said = constraints.model, ''
    joints = {joint.child: joint for joint in model.joint_list}
    turns = {body: constraints.tree.frames.pose(q, body)[:3, :3] for body in model.bodies}
    for closure in model.closures:
        paths = list[set[str]]()
        for body in (closure.body_a, closure.body_b):
            paths.append(set())
            while body is not None:
                paths[-1].add(body)
                body = joints[body].parent
        loop = [joints[body] for body in sorted(paths[0] ^ paths[1])]
        if closure.type_name not in TURNING or any(
                each.type_name not in (*TURNING, *SLIDING_JOINTS) for each in loop):
            continue
        axes = np.array([turns[each.child] @ each.axis for each in loop
                         if each.type_name in TURNING]).reshape(-1, 3)
        if not len(axes) or np.abs(np.cross(axes, axes[0])).max() > PARALLEL_SINE:
            continue
        for body, frame in ((closure.body_a, closure.frame_a), (closure.body_b, closure.frame_b)):
            turn = np.eye(3) if body is None else turns[body]
            sine = float(np.linalg.norm(np.cross(turn @ frame[:3, 2], axes[0])))
            if sine > PARALLEL_SINE:
                angle = np.degrees(np.arcsin(min(1.0, sine)))
                said += (f'. The axis of closure {closure.name} on {body or "the ground"} is '
                         f'{angle:.3g} deg off the common direction of the joint axes of its '
                         f'loop: no motion aligns them')
                break
    return said


def suggestion(constraints: Constraints, q: Array, free: NDArray[np.bool_]) -> str:
    """Return a remedy where the nearest configuration q is open by little; else an empty text."""
    f, model = constraints.residual(q), constraints.model
    gap = constraints.largest(f)
    names = [name for name, each in _gaps(constraints, f).items() if max(each) > 0.0]
    if not names or gap > MAX_ROUNDING_GAP:
        return ''
    for exponent in range(SMALLEST_EXPONENT, LARGEST_EXPONENT):
        tolerance = 10.0**exponent * min(1.0, machine_size(model))
        try:
            answer = relaxed(replace(model, closures=tuple(
                replace(each, tolerance=tolerance) if each.name in names else each
                for each in model.closures)), constraints.functions)
        except ConvergenceError:
            continue
        meant, left = close(Constraints(answer, functions=constraints.functions), q, free)
        if left > STALLED_RESIDUAL:
            return ''
        most = ClosureGap(*(max(each) for each in zip(*closure_gaps(
            Constraints(answer, functions=constraints.functions), meant).values())))
        rank = sum(closure.rows for closure in answer.closures) + len(model.couplings) + sum(
            each.rows for each in constraints.functions)
        fitting = next(_fitting(constraints, q, free, names, rank, _loose(10.0**exponent)), '')
        return (f'. Rounded numbers leave such a gap, here of {most.length:.2g} m and '
                f'{most.angle:.2g} rad{fitting}. A tolerance of {tolerance:.2g} m on closures '
                f'{names} accepts it')
    return ''


def relaxed(model: Model, functions: Sequence[ConstraintFunction]) -> Model:
    """
    Return the model with the rows of closures that decide the motion, where tolerances allow it.

    Closures with a tolerance may be open by it where their rows contradict each other. Only rows
    that are independent beyond such a gap are held. Raises ConvergenceError where the gap is
    larger.
    """
    if not any(closure.tolerance for closure in model.closures):
        return model
    whole = Constraints(model, functions=functions)
    limits = _limits(whole)
    found = list(_within(whole, limits))
    loose = _loose(max(closure.tolerance for closure in model.closures) / min(
        1.0, machine_size(model)))
    kept = max((independent_rows(whole, q, loose) for q in found), key=len)
    result, first = [], 0
    for closure in model.closures:
        kinds = closure.row_kinds
        held = tuple(kind for row, kind in enumerate(kinds, first) if row in kept)
        first += len(kinds)
        result.append(replace(closure, held=held) if closure.tolerance else closure)
    answer = replace(model, closures=tuple(result))
    q, _ = close(Constraints(answer, functions=functions), found[0], np.ones(model.nv, bool))
    _require(whole, q, limits)
    return answer


def independent_rows(constraints: Constraints, q: Array, loose: float) -> list[int]:
    """
    Return the rows that are independent at q by more than a part loose of the largest one.

    Lengths are compared with the size of the machine. Rows without a tolerance come first.
    """
    size, model = machine_size(constraints.model), constraints.model
    angle = np.array([is_angle(kind) for closure in model.closures for kind in closure.row_kinds]
                     + [False] * (constraints.m - sum(c.rows for c in model.closures)))
    exact = np.array([not closure.tolerance for closure in model.closures
                      for _ in closure.row_kinds] + [True] * (len(angle) - sum(
                          c.rows for c in model.closures)), dtype=np.bool_)
    moves = np.where(translates(model), 1.0, 1.0 / size)
    rows = constraints.jacobian(q) * moves * np.where(angle, size, 1.0)[:, None]
    kept: list[int] = []
    largest = np.linalg.norm(rows, axis=1).max(initial=0.0)
    for among in (exact, ~exact):
        while True:
            lengths = np.where(among, np.linalg.norm(rows, axis=1), 0.0)
            best = int(np.argmax(lengths)) if len(lengths) else 0
            if not len(lengths) or lengths[best] <= loose * largest:
                break
            along = rows[best] / lengths[best]
            rows = rows - np.outer(rows @ along, along)
            kept.append(best)
    return kept


def _fitting(constraints: Constraints, q: Array, free: NDArray[np.bool_], names: Sequence[str],
             rank: int, loose: float) -> Iterator[str]:
    """Return in words the types of closure that close, with the rank that is meant."""
    model = constraints.model
    for chosen in (*([name] for name in names), list(names)):
        kinds = {c.type_name for c in model.closures if c.name in chosen}
        for type_name in _WEAKER_TYPES.get(kinds.pop(), ()) if len(kinds) == 1 else ():
            for axis in _AXES:
                other = Constraints(replace(model, closures=tuple(
                    _weakened(c, type_name, axis) if c.name in chosen else c
                    for c in model.closures)), functions=constraints.functions)
                at, left = close(other, q, free)
                if left <= STALLED_RESIDUAL and len(independent_rows(other, at, loose)) == rank:
                    yield (f'. {chosen} closed by {type_name}, along {axis} of its frames, would '
                           f'fit and leave mobility {model.nv - rank}')


def _weakened(closure: Closure, type_name: str, axis: str) -> Closure:
    """Return a closure of another type, along an axis of the frames."""
    turned = np.eye(4)
    turned[:3, :3] = _AXES[axis]
    return replace(closure, type_name=type_name, frame_a=closure.frame_a @ turned,
                   frame_b=closure.frame_b @ turned, pitch=0.0, length=0.0, held=None)


def _loose(gap: float) -> float:
    return min(max(ROW_TOLERANCE * gap, TIGHTEST_TOLERANCE), LOOSEST_TOLERANCE)


def _gaps(constraints: Constraints, f: Array) -> dict[str, ClosureGap]:
    """Return the largest residuals of each closure."""
    found, first = {}, 0
    for closure in constraints.model.closures:
        most = [0.0, 0.0]
        for row, kind in enumerate(closure.row_kinds, first):
            most[is_angle(kind)] = max(most[is_angle(kind)], abs(float(f[row])))
        first += closure.rows
        found[closure.name] = ClosureGap(*most)
    return found


def _limits(constraints: Constraints) -> Array:
    """Return the largest residual (m,) that is accepted of each row."""
    size = min(1.0, machine_size(constraints.model))
    limits, first = STALLED_RESIDUAL * constraints.row_sizes, 0
    for closure in constraints.model.closures:
        for row, kind in enumerate(closure.row_kinds, first):
            own = closure.tolerance / size if is_angle(kind) else closure.tolerance
            limits[row] = max(limits[row], own)
        first += closure.rows
    return limits


def _within(constraints: Constraints, limits: Array) -> Iterator[Array]:
    """Return configurations near each other that are open by the limits at most."""
    model, rng, everything = constraints.model, np.random.default_rng(1), np.ones(
        constraints.model.nv, dtype=np.bool_)
    starts = [model.neutral(), *(model.random(rng) for _ in range(MISFIT_STARTS - 1))]
    closed = [close(constraints, q, everything) for q in starts[:1]]
    for q in starts[1:]:
        if (np.abs(constraints.residual(closed[-1][0])) <= limits).all():
            break
        closed.append(close(constraints, q, everything))
    first = min(closed, key=lambda each: float(
        (np.abs(constraints.residual(each[0])) / limits).max(initial=0.0)))[0]
    _require(constraints, first, limits)
    yield first
    for _ in range(4):
        near, _ = close(constraints, model.integrate(
            first, rng.uniform(-NEAR_DISTANCE, NEAR_DISTANCE, model.nv)), everything)
        if (np.abs(constraints.residual(near)) <= limits).all():
            yield near


def _require(constraints: Constraints, q: Array, limits: Array) -> None:
    """Raise ConvergenceError naming the rows that are open by more than the limits."""
    f = np.abs(constraints.residual(q))
    names = [f'{name} by {value:.3g}, above {limit:.3g}' for name, value, limit in zip(
        constraints.constraint_names, f, limits) if value > limit]
    if names:
        raise ConvergenceError(f'{constraints.model.name}: expected an assembly within the '
                               f'tolerances of its closures, got one that leaves open {names}')
