# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A machine at rest that is moved from its output: friction, inertia and damping there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.statics import independent_coordinates, unit_motions

ROUNDED = 1e-9  # of the forces in balance: less is none


class Backdrive(NamedTuple):
    """
    Resistance that a hand or a load at f coordinates has to overcome; `by` names them.

    forces (f, 2), N or N m, are for a force along one of them and none along the others. Between
    the two the machine stands still, by the friction of all its joints. Both are NaN where
    no such force holds it. holds says whether none is needed: friction holds it alone, or nothing
    pushes. inertia and damping (f, f) are those of the whole machine, armatures included. motions
    (nv, f) are the rates of all coordinates for a unit rate of each.
    """

    by: tuple[str, ...]
    forces: Array
    holds: bool
    inertia: Array
    damping: Array
    motions: Array


def backdrive(dynamics: ConstrainedDynamics, q: ArrayLike, external: ArrayLike | None = None, *,
              by: Sequence[str] | None = None, tau: ArrayLike | None = None) -> Backdrive:
    """
    Return the forces that move a standing machine at a closed q (nq,) from outside (12.60).

    by names joints or coordinates that decide the motion, by default independent ones, passive
    ones first. tau (nv,) are the forces of motors, by default none. Weight, springs and external
    (B, 6) count. Friction is Coulomb's, of the model's joints. Raises the errors of
    dynamics.inverse and of complete_velocity.
    """
    model, rest = dynamics.model, np.zeros(dynamics.model.nv)
    known = (independent_coordinates(dynamics, q, ~model.actuated) if by is None
             else dynamics.names.mask('by', list(by)))
    motions, table = unit_motions(dynamics, q, known), model.link_table
    options: dict[str, Any] = {'actuated': np.ones(model.nv, dtype=bool)}
    holding = dynamics.inverse(q, rest, rest, external, **options).tau
    applied = rest if tau is None else as_array('tau', tau, (model.nv,))
    friction = np.asarray(table.friction, dtype=float)
    load, dampers = motions.T @ (holding - applied), np.asarray(table.damping, dtype=float)
    forces = np.array([_standing(motions, friction, load, k) for k in range(len(load))]).reshape(
        -1, 2)
    slack = ROUNDED * (np.abs(motions.T) @ (np.abs(holding) + np.abs(applied)))
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
