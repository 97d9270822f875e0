# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Configurations and velocities made to satisfy the constraints of a model.

Positions are found by Levenberg-Marquardt on the configuration manifold with the residuals of
theory 12.2. These have no false zero and jump only where an angle is exactly pi (12.31).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
import math
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_number, as_numbers, require_kind
from liedyn_ros.common.errors import (
    ConvergenceError, ModelError, ProjectionWarning, ShapeError, warn)
from liedyn_ros.common.on_demand import weak_cache
from liedyn_ros.dynamics.constrained.configurations.closing import bounds_of, Closing
from liedyn_ros.dynamics.constrained.configurations.kernels.closing import MAX_TRIALS
from liedyn_ros.dynamics.constrained.configurations.misfit import crossed_axes, suggestion
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.rank import solve_passive
from liedyn_ros.dynamics.constrained.constraints.singular_mass import mass_factor
from liedyn_ros.dynamics.constrained.constraints.size import translates
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_CONFIGURATION, RANK_TOLERANCE, STALLED_RESIDUAL)
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.model import Closure, JOINT_TYPES, Model, pose
from liedyn_ros.model.followers import Followers
from liedyn_ros.model.parts.geometry import checked_pose

ASSEMBLY_STARTS = 50  # starts
SAME_CONFIGURATION = 1e-6  # distance below which configurations are the same
ASSEMBLY_SEED = 1
# A step towards the constraints, rad or m: longer ones lead elsewhere. It may grow from step to
# step, as large machines have far to go.
MAX_PROJECTION_STEP, STEP_GROWTH = 0.3, 1.1
PROJECTION_STEPS = 20  # steps along the constraints
PROJECTION_DISTANCE = 0.05  # rad or m: a projection from nearer is not looked at again
# A step of Newton from a start that is near, beside the one before: at most this, and then all
# steps add up to the first / (1 - MAX_CONTRACTION) at most (Kantorovich).
MAX_CONTRACTION = 0.5
# rad: the first order of exp(i x) is off by x / 2 of it (Taylor)
FURTHEST_TURN = 2.0 * MAX_CONTRACTION
# Of a distance: the part along the constraints, above which another state is nearer
MAX_TANGENT_SHARE = 0.5

Held: TypeAlias = Mapping[str, ArrayLike]


def assemble(constraints: Constraints | Dynamics, start: ArrayLike | None = None, *,
             held: Held | None = None, attempts: int = ASSEMBLY_STARTS,
             within_limits: bool = False) -> Array:
    """
    Return a configuration on the constraints.

    An assembly near the start is found if there is one; else random starts follow. Where loops
    close in several ways, only a start says which is meant: assemblies has them all.

    Args:
        constraints: a ConstrainedDynamics or a Dynamics.
        start: (nq,), a rough configuration, whose mimic joints follow; by default random ones.
        held: joints of one coordinate at a value (rad or m) by name; frames at a pose (4, 4) in
            the ground, or their origin at a point (3,), m. Others are free.
        attempts: how many starts at most.
        within_limits: whether joints that are not held keep their position limits.

    Returns:
        q (nq,).

    Raises:
        ConvergenceError: naming what stays open.
        ModelError: for an unknown joint or frame.
        LiedynError: for a wrong pose or configuration.

    >>> linkage = ld.load(config_file('four_bar.yaml'))
    >>> ld.assemble(linkage).shape == (linkage.model.nq,)
    True
    """
    constraints, held = _with_frames_held(constraints, held)
    free = _free(constraints.model, held)
    best, least = constraints.model.neutral(), np.inf
    for q, left in _closed(constraints, start, held, attempts, within_limits):
        if left <= STALLED_RESIDUAL:
            return q
        if left < least:
            best, least = q, left
    _fail(constraints, best, attempts, free, within_limits)


def assemblies(constraints: Constraints | Dynamics, start: ArrayLike | None = None, *,
               held: Held | None = None, attempts: int = ASSEMBLY_STARTS,
               within_limits: bool = False) -> list[Array]:
    """
    Return the distinct configurations that assemble finds.

    If as many joints as degrees of freedom are held, these are the assembly modes.

    Args:
        constraints: a ConstrainedDynamics, or a Dynamics whose frames are fixed.
        start: rough configuration (nq,); rad and m. The first result is the one near it.
        held: positions by joint, rad or m, and poses (4, 4) by frame, m.
        attempts: number of starts.
        within_limits: whether joints keep their position limits.

    Returns:
        configurations (nq,).

    Raises:
        ConvergenceError: where none is found.
        ModelError: for an unknown name.

    >>> len(assemblies(linkage, held={linkage.model.joints[0]: 1.0}))
    2
    """
    constraints, held = _with_frames_held(constraints, held)
    found: list[Array] = []
    for q, left in _closed(constraints, start, held, attempts, within_limits):
        if left <= STALLED_RESIDUAL and all(
                _apart(constraints.model, q, other) > SAME_CONFIGURATION for other in found):
            found.append(q)
    if not found:
        assemble(constraints, start, held=held, attempts=1, within_limits=within_limits)
    return found


def other_assembly(constraints: Constraints, q: ArrayLike, *,
                   attempts: int = ASSEMBLY_STARTS) -> Array:
    """
    Return the nearest other configuration with the same actuated coordinates.

    Args:
        constraints: a ConstrainedDynamics.
        q: closed configuration (nq,); rad and m.
        attempts: number of starts.

    Returns:
        q (nq,), closed.

    Raises:
        ConvergenceError: where so many starts found none.

    >>> other = other_assembly(linkage, closed)
    >>> bool(np.isclose(other[0], closed[0]))
    True
    """
    model = constraints.model
    q = model.check_configuration(q)
    held: Held = {joint.name: float(q[joint.qi]) for joint in model.joint_list
                  if joint.actuated and JOINT_TYPES[joint.type_name].nv == 1}
    found = [other for other in assemblies(constraints, q, held=held, attempts=attempts)
             if _apart(model, q, other) > SAME_CONFIGURATION]
    if not found:
        raise ConvergenceError(
            f'q: expected another assembly with {sorted(held)} held, got none in {attempts} '
            'starts')
    return min(found, key=lambda other: _apart(model, q, other))


def project(constraints: Constraints, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """
    Return the state on the constraints that is nearest to a given one (12.36).

    Nearest is by kinetic energy. A ProjectionWarning tells the distance where Newton's steps say
    nothing about it: then another configuration may be nearer.

    Args:
        constraints: a ConstrainedDynamics.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.

    Returns:
        q (nq,) and v (nv,).

    Raises:
        ConvergenceError: where q is so far off that none is found to which q is off across the
            constraints, not along them.

    >>> near, rate = project(linkage, closed + 1e-6, rest)
    >>> bool(np.abs(linkage.residual(near)).max() < 1e-10)
    True
    """
    require_kind('constraints', constraints, Constraints, 'as a ConstrainedDynamics is')
    model = constraints.model
    start = model.check_configuration(q)
    q = _corrected(constraints, start)
    for _ in range(PROJECTION_STEPS):
        along = _distance_along(constraints, q, start)
        if not along.any():
            break
        q = _corrected(constraints, model.integrate(q, along))
    else:
        raise ConvergenceError('q: expected a configuration near the constraints, got one from '
                               f'which no nearest on them was found in {PROJECTION_STEPS} steps: '
                               'assemble finds one from afar')
    _tell_far(constraints, start, q)
    return q, projected_velocity(constraints, q, as_array('v', v, (model.nv,)))


def projected_velocity(constraints: Constraints, q: Array, v: Array) -> Array:
    """Return the velocity (nv,) on the constraints nearest to v, as after a plastic impact."""
    rows = constraints.jacobian(q)
    return v + least(constraints, q, rows, -rows @ v)


def _tell_far(constraints: Constraints, start: Array, q: Array) -> None:
    """Warn where Newton's first steps say nothing of where they end, or q is beyond that."""
    model = constraints.model
    away = model.difference(start, q)
    if np.abs(away).max(initial=0.0) < PROJECTION_DISTANCE:
        return
    mass, at, sizes = constraints.tree.mass_matrix(start), start, []
    for _ in range(2):
        f, rows = constraints.residual_and_jacobian(at)
        step = least(constraints, at, rows, -f)
        at = model.integrate(at, step)
        sizes.append(math.sqrt(step @ mass @ step))
    turned = float(np.abs(away[~translates(model)]).max(initial=0.0))
    if (sizes[1] > MAX_CONTRACTION * sizes[0] or turned > FURTHEST_TURN
            or math.sqrt(away @ mass @ away) > sizes[0] / (1.0 - MAX_CONTRACTION)):
        name = model.coordinate_names[int(np.argmax(np.abs(away)))]
        warn(
            f'project: expected a configuration near the constraints, got one from which {name} '
            f'moved by {np.abs(away).max():.3g}: another may be nearer; assemble takes a start '
            'from afar', ProjectionWarning)


def _distance_along(constraints: Constraints, q: Array, start: Array) -> Array:
    """Return how far start is along the motions free at q; zero (nv,) where that is little."""
    away = constraints.model.difference(q, start)
    if np.abs(away).max(initial=0.0) < PROJECTION_DISTANCE:
        return np.zeros_like(away)
    rows, mass = constraints.jacobian(q), constraints.tree.mass_matrix(q)
    along = away - least(constraints, q, rows, rows @ away)
    little = along @ mass @ along <= MAX_TANGENT_SHARE**2 * (away @ mass @ away)
    return np.zeros_like(away) if little else along


def _corrected(constraints: Constraints, q: Array) -> Array:
    """Return where Newton's steps of least kinetic energy lead, or raise ConvergenceError."""
    for each in corrections(constraints, q):
        q = each.ended
    return q


class Correction(NamedTuple):
    """A step (nv,) from q to where it ended (nq,), of residuals (m,) and rows (m, nv) at q."""

    q: Array
    residual: Array
    rows: Array
    step: Array
    ended: Array


def corrections(constraints: Constraints, q: Array) -> Iterator[Correction]:
    """Return Newton's steps of least kinetic energy to the constraints, which project takes."""
    model = constraints.model
    for k in range(MAX_TRIALS):
        f, rows = constraints.residual_and_jacobian(q)
        size = constraints.largest(f)
        if size <= CLOSED_CONFIGURATION:
            break
        step = least(constraints, q, rows, -f)
        step /= max(1.0, np.abs(step).max(initial=0.0) / (MAX_PROJECTION_STEP * STEP_GROWTH**k))
        start, q = q, model.integrate(q, step)
        yield Correction(start, f, rows, step, q)
        if size <= STALLED_RESIDUAL and constraints.largest(constraints.residual(q)) >= 0.5 * size:
            break
    else:
        _fail(constraints, q, 1, np.ones(model.nv, dtype=np.bool_))


def complete_velocity(constraints: Constraints, q: ArrayLike, v: ArrayLike,
                      known: ArrayLike | None = None) -> Array:
    """
    Return a velocity whose known coordinates stay and whose others follow (12.33).

    Spins of rods that are not known are zero.

    Args:
        constraints: a ConstrainedDynamics.
        q: closed configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        known: names, or a mask (nv,), of the known coordinates; by default the actuated ones.

    Returns:
        v (nv,) on the constraints.

    Raises:
        ModelError: naming coordinates that the known ones do not decide, and where they break a
            loop.

    >>> moved = complete_velocity(linkage, closed, [1.0, 0.0, 0.0])
    >>> bool(np.abs(linkage.jacobian(closed) @ moved).max() < 1e-12)
    True
    """
    model = constraints.model
    given = model.leading if known is None else constraints.names.mask('known', known)
    rows = constraints.jacobian(q)
    v = np.where(given, as_array('v', np.where(given, v, 0.0), (model.nv,)), 0.0)
    given = given | idle_spins(constraints, given)
    passive = ~given
    inverse, free = solve_passive(rows, passive)
    if len(free):
        refuse_free(constraints, passive, free)
    need = -rows @ v
    v[passive] = inverse @ need
    left = float(np.abs(rows @ v).max(initial=0.0))
    if left > SAME_CONFIGURATION * (1.0 + np.abs(need).max(initial=0.0)):
        raise ModelError(f'v: expected known rates that the loops allow, got ones that leave '
                         f'{left:.3g} open')
    return v


def refuse_free(constraints: Constraints, passive: NDArray[np.bool_], free: Array) -> NoReturn:
    """Raise the error for known coordinates that leave motions (f, p) of passive ones free."""
    moving = np.abs(free).max(axis=0, initial=0.0) > SAME_CONFIGURATION
    names = np.array(constraints.model.coordinate_names)[passive][moving].tolist()
    raise ModelError(f'known: expected coordinates that decide the motion, got ones that '
                     f'leave {names} free')


@weak_cache
def of_tree(dynamics: Dynamics) -> Constraints:
    """Return the constraints of a machine without loops, none."""
    return Constraints(dynamics.model)


def _with_frames_held(constraints: Constraints | Dynamics, held: Held | None
                      ) -> tuple[Constraints, dict[str, float]]:
    """Return constraints that hold frames too, and the joints that stay to be held."""
    if isinstance(constraints, Dynamics):
        constraints = of_tree(constraints)
    require_kind('constraints', constraints, Constraints, 'as a ConstrainedDynamics is')
    joints, closures, model = dict[str, float](), list[Closure](), constraints.model
    for name, value in (held or {}).items():
        array = as_numbers(f'held {name}', value)
        if array.ndim == 0:
            joints[name] = as_number(f'held {name}', value)
        elif array.shape in ((3,), (4, 4)):
            at = (pose(as_array(f'held {name}', array, (3,))) if array.ndim == 1
                  else checked_pose(f'held {name}', array))
            body, placement = model.place(name)
            if body is None:
                raise ModelError(f'held {name}: expected a moving frame, got a fixed one')
            closures.append(Closure(
                f'held {name}', 'spherical' if array.ndim == 1 else 'weld', None, body, at,
                placement))
        else:
            raise ShapeError(f'held {name}: expected the value of a joint, a pose (4, 4) of a '
                             f'frame, or a point (3,), got shape {array.shape}')
    if closures:
        constraints = Constraints(replace(model, closures=(*model.closures, *closures)),
                                  functions=constraints.functions)
    return constraints, joints


def _closed(constraints: Constraints, start: ArrayLike | None, held: Mapping[str, float],
            attempts: int, within_limits: bool) -> Iterator[tuple[Array, float]]:
    """Return where each start leads, and the largest residual there."""
    free = _free(constraints.model, held)
    bounds = bounds_of(constraints.model, free) if within_limits else None
    closing = Closing(constraints, free, bounds)
    for q in _starts(constraints, start, held, attempts):
        yield closing.close(q)


def _starts(constraints: Constraints, start: ArrayLike | None,
            held: Mapping[str, float], attempts: int) -> Iterator[Array]:
    """Return configurations to start from; those of random are the same at every call."""
    model, rng = constraints.model, np.random.default_rng(ASSEMBLY_SEED)
    values = {model.joint(name).qi: value for name, value in held.items()}
    for attempt in range(attempts):
        if attempt == 0:
            q = (model.neutral() if start is None
                 else Followers(model).positions(model.check_configuration(start)))
        else:
            q = model.random(rng)
        for at, value in values.items():
            q[at] = value
        yield q


def _free(model: Model, held: Mapping[str, float]) -> NDArray[np.bool_]:
    """Return whether coordinates (nv,) are free of held joints, or raise ModelError."""
    free = np.ones(model.nv, dtype=bool)
    for name in held:
        joint = model.joint(name)
        if JOINT_TYPES[joint.type_name].nv != 1:
            raise ModelError(f'held: expected joints of one coordinate, got {name}, which is '
                             f'{joint.type_name}')
        free[joint.vi] = False
    return free


def least(constraints: Constraints, q: Array, rows: Array, need: Array) -> Array:
    """Return the dv of least kinetic energy with rows dv = need, (m,) or (m, k)."""
    factor = mass_factor(constraints.tree.mass_matrix(q))
    columns = np.linalg.solve(factor, rows.T)  # L^-1 A^T
    move = np.linalg.lstsq(columns.T, need, rcond=RANK_TOLERANCE)[0]
    return np.asarray(np.linalg.solve(factor.T, move), dtype=np.float64)


def _apart(model: Model, q0: Array, q1: Array) -> float:
    """Return the largest difference of two configurations, whole turns of revolutes aside."""
    apart = model.difference(q0, q1)
    for joint in model.joint_list:
        if joint.type_name in ('revolute', 'continuous'):
            apart[joint.vi] = np.remainder(apart[joint.vi] + np.pi, 2.0 * np.pi) - np.pi
    return float(np.abs(apart).max(initial=0.0))


def _fail(constraints: Constraints, q: Array, attempts: int, free: NDArray[np.bool_],
          within_limits: bool = False) -> NoReturn:
    f = constraints.residual(q)
    names = [f'{name} by {abs(value):.3g}' for name, value, size in zip(
        constraints.constraint_names, f, constraints.row_sizes)
        if abs(value) > STALLED_RESIDUAL * size]
    limits = ' within the limits of joints' if within_limits else ''
    raise ConvergenceError(f'{constraints.model.name}: expected an assembly{limits}, got none in '
                           f'{attempts} starts; nearest one leaves open {names}'
                           f'{suggestion(constraints, q, free) or crossed_axes(constraints, q)}')
