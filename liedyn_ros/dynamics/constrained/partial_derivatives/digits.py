# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The estimated error of each order of Jacobians near singular configurations of closed loops.

Jacobians lose digits before the values do. What counts is how a solution varies from one state on
the constraints to another. There the large derivatives of states off the constraints cancel, and
their errors stay.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.rank import rank_of
from liedyn_ros.dynamics.constrained.partial_derivatives.equations import (
    EquationMotion, VariedEquations)
from liedyn_ros.dynamics.constrained.solver.refusals import at_risk, require_order_digits
from liedyn_ros.dynamics.constrained.solver.solution import ConstrainedSolution
from liedyn_ros.dynamics.constrained.solver.solver import Solver

# Powers of the condition number that a Jacobian by q multiplies errors by, more
CONDITION_POWERS = 2

Jacobians = list[list[Array]]


def require_derivative_digits(
        solver: Solver, motion: tuple[Array, Array], found: ConstrainedSolution,
        blocks: Jacobians, again: Callable[[Array], Jacobians], max_error: float,
        moving: bool = False) -> None:
    """
    Raise LimitError for the first order whose Jacobians have a relative error above max_error.

    blocks have the Jacobians by q, by v (r + 1, ...) and by series (r + 1, r + 1, ...) at a motion
    q, v; again returns them at another q. moving: the first series is that of accelerations,
    which keep the constraints too.
    """
    q, v = motion
    if not at_risk(found.inverse_condition_number, len(found.a) - 1 + CONDITION_POWERS, max_error):
        return
    constraints = solver.constraints
    changes = _changes(constraints, q, np.vstack([v, found.a]), len(found.a) if moving else 0)

    def judged(at: Jacobians) -> tuple[Array, ...]:
        """Return the Jacobians between motions on the constraints, a row (r + 1, ...) each."""
        rows = []
        for by_q, by_v, *given in at:
            levels = np.stack([by_q, by_v, *(np.moveaxis(given[0], 1, 0) if moving else ())])
            rows += [np.einsum('jkxn,jnf->kxf', levels[level:], each)
                     for level, each in enumerate(changes)]
            rows += given[moving:]
        return tuple(each.reshape(len(each), -1) for each in rows)

    def solved(moved: Array) -> tuple[Array, ...] | None:
        try:
            return judged(again(moved))
        except LiedynError:
            return None

    require_order_digits(constraints.model, solved, q, judged(blocks),
                         constraints.largest(constraints.residual(q)), max_error, '')


def _changes(constraints: Constraints, q: Array, rates: Array, further: int) -> list[Array]:
    """
    Return changes of q, v and so many further rates that keep a motion on the constraints.

    Entry [j] (levels - j, nv, f) begins with the free motions in level j, q being level 0. What is
    below stays, and higher levels follow (12.33).
    """
    size, levels = constraints.row_sizes[:, None], 2 + further
    varied = VariedEquations(constraints, EquationMotion(
        q, rates, np.zeros((len(rates) - 1, constraints.m)), None))
    by = varied.kkt_partials()[:, :, constraints.model.nv:] / size  # of A a + A' v and its rates
    left, values, right = np.linalg.svd(varied.jacobian[0] / size)
    rank = rank_of(values)
    inverse = (right[:rank].T / values[:rank]) @ left[:, :rank].T
    result = []
    for level in range(levels):
        change = [right[rank:].T]
        for i in range(level + 1, levels):
            of = [varied.velocity_by_q() / size] if i == 1 else by[i - 2, :i]
            change.append(-inverse @ sum(each @ x for each, x in zip(of[level:], change)))
        result.append(np.array(change))
    return result
