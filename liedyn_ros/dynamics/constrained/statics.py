# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Statics: forces that hold a machine at rest, and its stiffness; trees and closed loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.dynamics.constrained.configurations.assembly import assemble, complete_velocity
from liedyn_ros.dynamics.constrained.constraints.rank import independent_columns
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.solver.solution import ConstrainedSolution
from liedyn_ros.dynamics.constrained.solver.tasks import LEAST_TORQUE

STEPS, HALVINGS = 300, 8  # of the search for an equilibrium
MAX_STEP, REST_STEP = 0.3, 1e-9  # its longest step, and the one that counts as none, rad or m
MIN_STIFFNESS_SHARE = 1e-3  # of the largest stiffness: less counts as this in a step
_FOLLOW = 1e3  # passive coordinates follow, unless a driven one decides so much less


class Statics(NamedTuple):
    """
    The forces that hold a machine at rest, and its stiffness against f of its coordinates.

    efforts has the joint force of each actuated coordinate by name, N m or N. solution has all
    joint forces, the multipliers and the closures' wrenches. by names the f coordinates. motions N
    (nv, f) are the rates of all coordinates for a unit rate of each of these. stiffness K (f, f),
    N m/rad or N/m, is what they resist with per displacement while the joint forces stay: springs,
    weight, loads and the forces of the loops. With an eigenvalue below zero the machine falls.
    """

    efforts: dict[str, float]
    solution: ConstrainedSolution
    by: tuple[str, ...]
    motions: Array
    stiffness: Array


def statics(dynamics: ConstrainedDynamics, q: ArrayLike, external: ArrayLike | None = None, *,
            by: Sequence[str] | None = None, tau: ArrayLike | None = None,
            actuated: ArrayLike | None = None, redundancy: str = LEAST_TORQUE,
            weights: ArrayLike | None = None) -> Statics:
    """
    Return forces and stiffness of a machine at rest at a closed q (nq,), external (B, 6) held.

    A machine without loops is one of ConstrainedDynamics too. by names joints or coordinates that
    decide the motion, by default independent ones, actuated ones first; rods do not spin. The
    other arguments and
    the errors are those of dynamics.inverse and of complete_velocity. The stiffness is
    K = N^T dtau/dq N, of the forces that keep it at rest where it is displaced (12.55).
    """
    model, rest = dynamics.model, np.zeros(dynamics.model.nv)
    options: dict[str, Any] = {
        'tau': tau, 'actuated': actuated, 'redundancy': redundancy, 'weights': weights}
    solution = dynamics.inverse(q, rest, rest, external, **options).solution
    driven = (model.actuated if actuated is None
              else dynamics.names.mask('actuated', actuated))
    spins = idle_spins(dynamics)
    known = (independent_coordinates(dynamics, q, driven | spins) if by is None
             else dynamics.names.mask('by', list(by)) | spins)
    known, motions = known & ~spins, unit_motions(dynamics, q, known)[:, ~spins[known]]
    by_q = dynamics.inverse.partial_derivatives(q, rest, rest, external, **options).by_q
    names = np.array(model.coordinate_names, dtype=object)
    return Statics(
        dict(zip(names[driven].tolist(), solution.tau[driven].tolist())), solution,
        tuple(names[known].tolist()), motions, motions.T @ by_q @ motions)


def equilibrium(dynamics: ConstrainedDynamics, start: ArrayLike | None = None,
                external: ArrayLike | None = None, *, held: Mapping[str, float] | None = None,
                tau: ArrayLike | None = None) -> Array:
    """
    Return the configuration (nq,) near start in which a machine let go comes to rest.

    There weight, springs, external wrenches (B, 6) and the joint forces tau (nv,), zero by
    default, balance (12.55). held are positions of joints that are kept, rad or m. It is stable
    where a step along the falling energy finds it; the stiffness of statics tells. Friction is
    left out. Raises ConvergenceError where none is found, and the errors of assemble and statics.
    """
    model, kept = dynamics.model, dict(held or {})
    forces = np.zeros(model.nv) if tau is None else as_array('tau', tau, (model.nv,))
    fixed = dynamics.names.mask('held', list(kept))
    q = assemble(dynamics, start, held=kept)

    def standing(at: Array, by: NDArray[np.bool_]) -> tuple[Array, Statics]:
        """Return the forces in excess of those given, and the statics, of coordinates by."""
        names = np.array(model.coordinate_names, dtype=object)[by].tolist()
        found = statics(dynamics, at, external, by=names, tau=forces, actuated=by)
        return np.where(fixed, 0.0, found.solution.tau - forces)[by], found

    for _ in range(STEPS):
        known = independent_coordinates(dynamics, q, fixed)
        excess, found = standing(q, known)
        step = _towards_rest(found.stiffness, excess, ~fixed[known])
        size = float(np.abs(found.motions @ step).max(initial=0.0))
        if size < REST_STEP:
            return q
        step *= min(1.0, MAX_STEP / size)
        for _ in range(HALVINGS):  # until the machine would not be driven back as hard
            ahead = assemble(dynamics, model.integrate(q, found.motions @ step), held=kept)
            if standing(ahead, known)[0] @ step <= 0.5 * abs(excess @ step):
                break
            step *= 0.5
        q = ahead
    raise ConvergenceError(f'q: expected a machine that comes to rest, got one that still moves '
                           f'by {size:.3g} after {STEPS} steps')


def _towards_rest(stiffness: Array, excess: Array, moving: NDArray[np.bool_]) -> Array:
    """Return the step (f,) of those that move to where forces vanish, or down towards it."""
    step, excess = np.zeros(len(excess)), excess[moving]
    stiffness = stiffness[np.ix_(moving, moving)]
    values, vectors = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
    size = np.maximum(np.abs(values), MIN_STIFFNESS_SHARE * np.abs(values).max(initial=0.0))
    stiff = len(values) and values[0] > MIN_STIFFNESS_SHARE * values[-1]
    step[moving] = -(np.linalg.solve(stiffness, excess) if stiff
                     else vectors @ (vectors.T @ excess / size))
    return step


def unit_motions(dynamics: ConstrainedDynamics, q: ArrayLike, known: NDArray[np.bool_]) -> Array:
    """Return the rates (nv, f) of all coordinates for a unit rate of each of those known."""
    nv = dynamics.model.nv
    return np.array([complete_velocity(dynamics, q, rate, known)
                     for rate in (np.zeros(nv), *np.eye(nv)[known])])[1:].T


def independent_coordinates(
        dynamics: ConstrainedDynamics, q: ArrayLike, driven: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return a mask (nv,) of coordinates that decide the motion, driven ones first."""
    rows = dynamics.jacobian(q) / dynamics.row_sizes[:, None]
    rank, _ = independent_columns(rows)
    _, order = independent_columns(np.where(driven, rows, _FOLLOW * rows))
    known = np.ones(len(driven), dtype=np.bool_)
    known[order[:rank]] = False
    return known
