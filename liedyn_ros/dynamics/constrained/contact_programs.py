# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Forces of contacts that only push, and slip beyond their friction, by cone programs.

Each contact has a cone of forces: the tangential one is at most friction times the normal one.
Forces that hold are multipliers within the cones (12.61). An impact that may slide is the fixed
point of programs, whose normal speeds are shifted by the friction times the sliding speed (12.62).
Restitution is Poisson's: part of each normal impulse comes back, which gains no energy (12.63).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.dynamics.constrained.constraints.singular_mass import mass_factor
from liedyn_ros.dynamics.constrained.kernels.tolerances import CONSISTENT, RANK_TOLERANCE
from liedyn_ros.model.parts.geometry import axis_frame, perpendicular

CONTACT_TOLERANCE = 1e-10  # of programs whose numbers are near 1
MAX_FIXED_POINT_ROUNDS = 100  # of the fixed point
SLIDING_TOLERANCE = 1e-9  # of the largest speed: a change of sliding speeds that ends the rounds
STALLED_STEP = 1e-6  # accepted where changes fall no more: of many contacts programs end near 1e-7


class ContactForce(NamedTuple):
    """
    Force of the ground on a machine at a contact, in the axes of the ground.

    force (3,) and moment (3,) about the origin of the frame, N and N m. normal is the force along
    the normal: below zero the contact would pull. slip is the tangential force over friction times
    the normal one: above 1 it would slip. holds says that neither is so. unique is False where
    other forces of the contacts have the same effect. A contact that does not hold then means
    little: see Contacts.forces.

    >>> contacts, bent = Contacts(model, {'tip': Contact('tool')}), q + 0.5
    >>> held = contacts.holding(['tip'], bent)
    >>> contacts.forces(held, bent, held.forward(bent, 0.0 * v, tau))['tip'].moment
    array([0., 0., 0.])
    """

    force: Array
    moment: Array
    normal: float
    slip: float
    holds: bool
    unique: bool = True


class Cone(NamedTuple):
    """
    Forces (3,) of a contact, in the axes of the ground: matrix (3, k) times multipliers of rows.

    normal (3,) is unit. The same matrix takes the speeds A v of these rows to the velocity of the
    contact. Of surfaces, axes (3, 3) times the multipliers of turning, before rows, are moments.
    """

    rows: slice
    matrix: Array
    normal: Array
    friction: float
    turning: slice
    axes: Array


def normal_and_tangential(of: Array, normal: Array) -> tuple[float, float]:
    """Return the part of a vector (3,) along a unit normal, and the size of the rest."""
    along = float(of @ normal)
    return along, float(np.linalg.norm(of - along * normal))


def admissible_multipliers(rows: Array, rank: int, multipliers: Array, cones: Sequence[Cone]
                           ) -> Array | None:
    """
    Return multipliers (m,) within the cones that act on the machine as those given; least ones.

    rows are A (m, nv) of a rank. None: there are none, so that some contact lets go or slips.
    """
    idle = np.linalg.svd(rows)[0][:, rank:]  # A^T idle = 0
    size = max(float(np.abs(multipliers).max(initial=0.0)), 1e-300)
    found = _solve(np.eye(idle.shape[1]), idle.T @ multipliers / size,
                   [(cone, cone.matrix @ idle[cone.rows],
                     cone.matrix @ multipliers[cone.rows] / size)
                    for cone in cones], np.zeros(len(cones)))
    return None if found is None else multipliers + size * (idle @ found)


def carried_forces(rows: Array, driven: NDArray[np.bool_], tau: Array, names: Sequence[str]
                   ) -> Array:
    """
    Return the least multipliers (m,) that take forces tau (nv,) off joints without a motor.

    rows are A (m, nv); names are those of coordinates. Raises LimitError where more is left than
    CONSISTENT of tau.
    """
    passive = rows[:, ~driven].T
    found: Array = np.asarray(np.linalg.lstsq(passive, tau[~driven], rcond=RANK_TOLERANCE)[0])
    left = {name: f'{each:.3g}' for name, each in zip(
        np.array(names)[~driven].tolist(), tau[~driven] - passive @ found)
        if abs(each) > CONSISTENT * np.abs(tau).max()}
    if left:
        raise LimitError('a: expected a motion that motors and contacts can have, got one that '
                         f'takes forces at joints without a motor (N m, N): {left}',
                         names=list(left))
    return found


def least_efforts(rows: Array, driven: NDArray[np.bool_], multipliers: Array, tau: Array,
                  cones: Sequence[Cone]) -> Array | None:
    """
    Return the multipliers (m,) within the cones with the least squares of joint forces.

    rows are A (m, nv); multipliers and tau (nv,) are one solution of the motion, and only driven
    coordinates (nv,) may take other forces. None where no forces within the cones do it.
    """
    left, sizes, _ = np.linalg.svd(rows[:, ~driven])
    idle = left[:, np.count_nonzero(sizes > RANK_TOLERANCE * sizes.max(initial=0.0)):]
    change = rows[:, driven].T @ idle  # tau falls by it
    change[np.abs(change) <= RANK_TOLERANCE * np.abs(rows).max(initial=0.0)] = 0.0  # of none
    if not cones:
        least = np.linalg.lstsq(change, tau[driven], rcond=RANK_TOLERANCE)[0]
        return np.asarray(multipliers + idle @ least)
    arm = float(np.abs(change).max(initial=0.0)) or 1.0
    force = float(max(np.abs(multipliers).max(initial=0.0),
                      np.abs(tau[driven]).max(initial=0.0) / arm)) or 1.0
    found = _solve(
        change.T @ change / arm**2 + CONTACT_TOLERANCE * np.eye(idle.shape[1]),
        -change.T @ tau[driven] / (arm**2 * force),
        [(cone, cone.matrix @ idle[cone.rows], cone.matrix @ multipliers[cone.rows] / force)
         for cone in cones], np.zeros(len(cones)))
    return None if found is None else multipliers + force * (idle @ found)


def restored_impulses(mass: Array, rows: Array, impulses: Array, cones: Sequence[Cone],
                      part: float) -> Array:
    """
    Return the impulses (m,) of an impact in which a part of each normal impulse comes back.

    impulses (m,) are those of rows A (m, nv) in the plastic impact. What else the rows hold
    stays at rest.
    """
    given, free, held = np.zeros(len(rows)), np.ones(len(rows), dtype=np.bool_), []
    for cone in cones:
        normal = cone.matrix.T @ cone.normal  # in the rows
        given[cone.rows] = part * (normal @ impulses[cone.rows]) * normal
        free[cone.rows] = False
        if cone.matrix.shape[1] > 1:
            held.append(_frame(cone)[1:] @ _columns(cone, len(rows)))  # the tangents
    across = np.vstack([np.eye(len(rows))[free], *held]).T
    response = np.linalg.solve(mass_factor(mass), rows.T)
    reaction = np.linalg.lstsq(response @ across, -response @ given, rcond=RANK_TOLERANCE)[0]
    return np.asarray(impulses + given + across @ reaction)


def sliding_impulses(mass: Array, rows: Array, v: Array, by_name: Mapping[str, Cone],
                     part: float) -> Array:
    """
    Return the impulses (m,) of rows A (m, nv) in an impact where contacts leave, slide or stick.

    Raises LimitError for contacts that nothing lets slide, and ConvergenceError where friction
    and sliding do not settle.
    """
    endless = [name for name, cone in by_name.items() if math.isinf(cone.friction)]
    if endless:
        raise LimitError('friction: expected a finite one of contacts that may slide, got inf for '
                         f'{endless}', names=endless, got=math.inf)
    cones = list(by_name.values())
    response = np.linalg.solve(mass_factor(mass), rows.T)
    matrix, before = response.T @ response, rows @ v
    pressed = _pressed_impulses(matrix, before, cones, np.zeros(len(cones)))
    if not part:
        return pressed
    least = np.array([part * max(0.0, float(each.normal @ each.matrix @ pressed[each.rows]))
                      for each in cones])
    return pressed + _pressed_impulses(matrix, before + matrix @ pressed, cones, least)


def _pressed_impulses(matrix: Array, before: Array, cones: Sequence[Cone], least: Array) -> Array:
    """Return the impulses of a phase from speeds A v before it; normal ones are least or more."""
    size = max(float(np.abs(np.diag(matrix)).max(initial=0.0)), 1e-300)
    speed = max(float(np.abs(before).max(initial=0.0)), float(least.max(initial=0.0)) * size,
                1e-300)
    sliding: Array = np.zeros(len(cones))
    last = math.inf
    for _ in range(MAX_FIXED_POINT_ROUNDS):
        linear = before / speed
        for cone, slid in zip(cones, sliding):
            linear[cone.rows] += cone.matrix.T @ cone.normal * cone.friction * slid / speed
        found = _solve(matrix / size, linear, [
            (cone, _columns(cone, len(before)), np.zeros(3)) for cone in cones],
            least * size / speed)
        if found is None:
            break
        impulses = found * speed / size
        after = before + matrix @ impulses
        along = [cone.matrix @ after[cone.rows] for cone in cones]
        slides = np.array([normal_and_tangential(u, cone.normal)[1]
                           for u, cone in zip(along, cones)])
        change = np.abs(slides - sliding).max(initial=0.0) / speed
        if change <= SLIDING_TOLERANCE or last <= change <= STALLED_STEP:
            return impulses
        sliding, last = slides, change
    if last <= STALLED_STEP:
        return impulses
    raise ConvergenceError('impact: expected contacts of which each leaves, slides or sticks, got '
                           f'none that settled in {MAX_FIXED_POINT_ROUNDS} rounds')


def _frame(cone: Cone) -> Array:
    """Return the normal and two tangents, unit vectors by rows."""
    return axis_frame(cone.normal, perpendicular(cone.normal)).T[[2, 0, 1]]


def _columns(cone: Cone, count: int) -> Array:
    columns: Array = np.zeros((3, count))
    columns[:, cone.rows] = cone.matrix
    return columns


def _solve(quadratic: Array, linear: Array, forces: Sequence[tuple[Cone, Array, Array]],
           least: Array) -> Array | None:
    """
    Return the least x^T P x / 2 + c^T x with each force, matrix (3, n) x + offset, in its cone.

    least are lower limits of normal forces. None where no x is. Numbers are to be near 1.
    """
    require_extra('contacts', 'clarabel', reason='what contacts can apply is a conic program')
    import clarabel  # here, as only this module needs it
    from scipy import sparse
    rows: list[Array] = []
    sides: list[Array] = []
    cones: list[Any] = []
    for (cone, matrix, offset), lowest in zip(forces, least):
        turn = _frame(cone)
        matrix, offset = turn @ matrix, turn @ offset
        if lowest > 0.0:
            cones.append(clarabel.NonnegativeConeT(1))
            rows.append(-matrix[:1])
            sides.append(offset[:1] - lowest)
        if math.isinf(cone.friction):
            matrix, offset = matrix[:1], offset[:1]
            cones.append(clarabel.NonnegativeConeT(1))
        elif cone.friction > 0.0:
            scale = np.array([cone.friction, 1.0, 1.0])
            matrix, offset = scale[:, None] * matrix, scale * offset
            cones.append(clarabel.SecondOrderConeT(3))
        else:
            cones += [clarabel.NonnegativeConeT(1), clarabel.ZeroConeT(2)]
        rows.append(-matrix)
        sides.append(offset)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = CONTACT_TOLERANCE
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(quadratic)), linear, sparse.csc_matrix(np.vstack(rows)),
        np.concatenate(sides), cones, settings).solve()
    return np.array(found.x) if str(found.status) in ('Solved', 'AlmostSolved') else None
