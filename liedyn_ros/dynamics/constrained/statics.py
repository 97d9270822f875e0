# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Statics: forces that hold a machine at rest, its stiffness, what moves it from its output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, require_kind
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.dynamics.constrained.configurations.assembly import assemble
from liedyn_ros.dynamics.constrained.constraints.rank import independent_coordinates
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.minimal_coordinates import MinimalCoordinates
from liedyn_ros.dynamics.constrained.minimal_motions import spread
from liedyn_ros.dynamics.constrained.solver.inputs import LEAST_TORQUE
from liedyn_ros.dynamics.constrained.solver.solution import ConstrainedSolution

SEARCH_STEPS, SEARCH_HALVINGS = 300, 8  # of the search for an equilibrium
# Its longest step, and the one that counts as none, rad or m
MAX_SEARCH_STEP, REST_STEP = 0.3, 1e-9
MIN_STIFFNESS_SHARE = 1e-3  # of the largest stiffness: less counts as this in a step
Machine: TypeAlias = ConstrainedDynamics | MinimalCoordinates


class Statics(NamedTuple):
    """
    The forces that hold a machine at rest, and its stiffness against f of its coordinates.

    efforts has the joint force of each actuated coordinate by name, N m or N. solution has all
    joint forces, the multipliers and the closures' wrenches. by names the f coordinates. motions N
    (nv, f) are the rates of all coordinates for a unit rate of each of these. stiffness K (f, f),
    N m/rad or N/m, is what they resist with per displacement while the joint forces stay: springs,
    weight, loads and the forces of the loops. With an eigenvalue below zero the machine falls.

    >>> statics(linkage, closed).stiffness.shape
    (1, 1)
    """

    efforts: dict[str, float]
    solution: ConstrainedSolution
    by: tuple[str, ...]
    motions: Array
    stiffness: Array


def statics(dynamics: Machine, q: ArrayLike, external: ArrayLike | None = None, *,
            by: Sequence[str] | None = None, tau: ArrayLike | None = None,
            actuated: ArrayLike | None = None, redundancy: str = LEAST_TORQUE,
            weights: ArrayLike | None = None) -> Statics:
    """
    Return forces and stiffness of a machine at rest (12.55).

    A machine without loops is one of ConstrainedDynamics too. Coordinates of MinimalCoordinates
    are those that decide the motion, and that bear forces.

    Args:
        dynamics: a ConstrainedDynamics, or its MinimalCoordinates.
        q: closed configuration (nq,); rad and m.
        external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame of
            its body; by default none.
        by: names of joints or coordinates that decide the motion; by default independent ones,
            actuated ones first; rods do not spin.
        tau: forces of passive joints (nv,); N m and N.
        actuated: names of joints, or a mask (nv,); by default the actuated ones of the model.
        redundancy: LEAST_TORQUE or LEAST_FORCE.
        weights: (nv,) of the squares of joint forces.

    Returns:
        forces by actuated coordinate, and the stiffness K = N^T dtau/dq N (f, f) of the forces
        that keep it at rest where it is displaced.

    Raises:
        ModelError: where the coordinates do not decide the motion.
        LiedynError: for a state that is wrong or open.

    >>> list(statics(linkage, closed).efforts)
    ['crank_joint']
    """
    dynamics, least, tau = _parted(dynamics, tau)
    model, rest = dynamics.model, np.zeros(dynamics.model.nv)
    if least is not None:
        by, actuated = by or least.by, least.known if actuated is None else actuated
    options: dict[str, Any] = {
        'tau': tau, 'actuated': actuated, 'redundancy': redundancy, 'weights': weights}
    solution = dynamics.inverse(q, rest, rest, external, **options).solution
    driven = (model.leading if actuated is None
              else dynamics.names.mask('actuated', actuated))
    spins = idle_spins(dynamics, driven)
    known = ~spins & (independent_coordinates(dynamics, q, driven | spins) if by is None
                      else dynamics.names.mask('by', list(by)))
    motions = MinimalCoordinates(dynamics, known).motions(q)
    by_q = dynamics.inverse.partial_derivatives(q, rest, rest, external, **options).by_q
    names = np.array(model.coordinate_names, dtype=object)
    return Statics(
        dict(zip(names[driven].tolist(), solution.tau[driven].tolist())), solution,
        tuple(names[known].tolist()), motions, motions.T @ by_q @ motions)


def equilibrium(dynamics: Machine, start: ArrayLike | None = None,
                external: ArrayLike | None = None, *, held: Mapping[str, float] | None = None,
                tau: ArrayLike | None = None) -> Array:
    """
    Return the configuration in which a machine that is let go comes to rest (12.55).

    There weight, springs, external wrenches and joint forces balance. It is stable where a step
    along the falling energy finds it; the stiffness of statics shows which. Friction is left out.

    Args:
        dynamics: a ConstrainedDynamics, or its MinimalCoordinates.
        start: rough configuration (nq,); rad and m.
        external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame of
            its body; by default none.
        held: fixed positions of joints; rad or m.
        tau: joint forces (nv,), by default zero; N m and N.

    Returns:
        q (nq,), closed.

    Raises:
        ConvergenceError: where none is found.

    >>> equilibrium(linkage).shape
    (3,)
    """
    dynamics, _, tau = _parted(dynamics, tau)
    model, kept = dynamics.model, dict(held or {})
    forces = np.zeros(model.nv) if tau is None else as_array('tau', tau, (model.nv,))
    fixed = dynamics.names.mask('held', list(kept))
    q = assemble(dynamics, start, held=kept)

    def standing(at: Array, by: NDArray[np.bool_]) -> tuple[Array, Statics]:
        """Return the forces in excess of those given, and the statics, of coordinates by."""
        names = np.array(model.coordinate_names, dtype=object)[by].tolist()
        found = statics(dynamics, at, external, by=names, tau=forces, actuated=by)
        return np.where(fixed, 0.0, found.solution.tau - forces)[by], found

    for _ in range(SEARCH_STEPS):
        known = independent_coordinates(dynamics, q, fixed)
        excess, found = standing(q, known)
        step = _towards_rest(found.stiffness, excess, ~fixed[known])
        size = float(np.abs(found.motions @ step).max(initial=0.0))
        if size < REST_STEP:
            return q
        step *= min(1.0, MAX_SEARCH_STEP / size)
        for _ in range(SEARCH_HALVINGS):  # until the machine would not be driven back as hard
            ahead = assemble(dynamics, model.integrate(q, found.motions @ step), held=kept)
            if standing(ahead, known)[0] @ step <= 0.5 * abs(excess @ step):
                break
            step *= 0.5
        q = ahead
    raise ConvergenceError(f'q: expected a machine that comes to rest, got one that still moves '
                           f'by {size:.3g} after {SEARCH_STEPS} steps')


def _parted(machine: Machine, tau: ArrayLike | None
            ) -> tuple[ConstrainedDynamics, MinimalCoordinates | None, ArrayLike | None]:
    """Return a machine, its minimal coordinates if it is given by them, and all joint forces."""
    if isinstance(machine, MinimalCoordinates):
        return machine.dynamics, machine, None if tau is None else spread(machine, as_array(
            'tau', tau, (machine.model.nv,)))
    require_kind('dynamics', machine, ConstrainedDynamics, 'or its MinimalCoordinates')
    return machine, None, tau


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


BALANCE_TOLERANCE = 1e-9  # of the forces in balance: less is none


class Backdrive(NamedTuple):
    """
    Resistance that a hand or a load at f coordinates has to overcome; `by` names them.

    forces (f, 2), N or N m, are for a force along one of them and none along the others. Between
    the two the machine stands still, by the friction of all its joints. Both are NaN where
    no such force holds it. holds says whether none is needed: friction holds it alone, or nothing
    pushes. inertia and damping (f, f) are those of the whole machine, armatures included. motions
    (nv, f) are the rates of all coordinates for a unit rate of each.

    >>> backdrive(linkage, closed).by
    ('coupler_joint',)
    """

    by: tuple[str, ...]
    forces: Array
    holds: bool
    inertia: Array
    damping: Array
    motions: Array


def backdrive(dynamics: Machine, q: ArrayLike, external: ArrayLike | None = None, *,
              by: Sequence[str] | None = None, tau: ArrayLike | None = None) -> Backdrive:
    """
    Return the forces that move a standing machine from outside (12.60).

    Weight, springs and external wrenches count. Friction is Coulomb's, of the model's joints.

    Args:
        dynamics: a ConstrainedDynamics, or its MinimalCoordinates.
        q: closed configuration (nq,); rad and m.
        external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame of
            its body; by default none.
        by: names of joints or coordinates that decide the motion; by default independent ones,
            passive ones first.
        tau: forces of motors (nv,), by default none; N m and N.

    Returns:
        the forces by coordinate.

    Raises:
        ModelError: where the coordinates do not decide the motion.
        LiedynError: for a state that is wrong or open.

    >>> backdrive(linkage, closed).forces.shape
    (1, 2)
    """
    dynamics, least, tau = _parted(dynamics, tau)
    by = least.by if least is not None and by is None else by
    model, rest = dynamics.model, np.zeros(dynamics.model.nv)
    known = (independent_coordinates(dynamics, q, ~model.leading) if by is None
             else dynamics.names.mask('by', list(by)))
    motions, table = MinimalCoordinates(dynamics, known).motions(q), model.link_table
    options: dict[str, Any] = {'actuated': np.ones(model.nv, dtype=bool)}
    holding = dynamics.inverse(q, rest, rest, external, **options).tau
    applied = rest if tau is None else as_array('tau', tau, (model.nv,))
    friction = np.asarray(table.friction, dtype=float)
    load, dampers = motions.T @ (holding - applied), np.asarray(table.damping, dtype=float)
    forces = np.array([_standing(motions, friction, load, k) for k in range(len(load))]).reshape(
        -1, 2)
    slack = BALANCE_TOLERANCE * (np.abs(motions.T) @ (np.abs(holding) + np.abs(applied)))
    return Backdrive(
        tuple(np.array(model.coordinate_names, dtype=object)[known].tolist()), forces,
        bool(np.all((forces[:, 0] <= slack) & (forces[:, 1] >= -slack))),
        motions.T @ dynamics.tree.mass_matrix(q) @ motions,
        motions.T @ (dampers[:, None] * motions), motions)


def _standing(motions: Array, friction: Array, load: Array, k: int) -> tuple[float, float]:
    """Return the least and the greatest force along k that friction balances, NaN if none."""
    from scipy.optimize import linprog  # which takes long to import, and no node needs it

    rows = np.column_stack((motions.T, np.eye(len(load))[:, k]))
    bounds = [*((-each, each) for each in friction.tolist()), (None, None)]
    cost = np.append(np.zeros(len(friction)), 1.0)
    ends = [linprog(sign * cost, A_eq=rows, b_eq=load, bounds=bounds) for sign in (1.0, -1.0)]
    return (ends[0].fun, -ends[1].fun) if all(each.success for each in ends) else (np.nan, np.nan)
