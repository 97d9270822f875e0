# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of steps of machines with closed loops: of the projection (13.58), and Verlet."""

from __future__ import annotations

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.configurations.assembly import (
    corrections, least, project, PROJECTION_DISTANCE)
from liedyn_ros.dynamics.constrained.configurations.mobility import independent_constraints
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.constrained.partial_derivatives.equations import (
    EquationMotion, VariedEquations)
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.linearization.variational_steps import pull_variational_step, Step


def projection(dynamics: ConstrainedDynamics, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """
    Return q, v after the projection of a step, and its derivatives (2 nv, 2 nv).

    Raises ConvergenceError where the stages end far from the constraints.
    """
    _require_near(dynamics, q, v)
    q, moved = _closed(dynamics, q)
    rows = dynamics.jacobian(q)
    open_by = rows @ v
    change = least(dynamics, q, rows, -open_by)
    v = v + change
    spread, by_q = _response(dynamics, q, rows, change, v, open_by)
    return q, v, np.block([[moved, np.zeros_like(moved)],
                           [by_q @ moved, np.eye(len(v)) - spread @ rows]])


def pull_verlet(dynamics: Dynamics | ConstrainedDynamics, taken: Step, by: Array
                ) -> tuple[Array, Array]:
    """Return by A (k, 2 nv) and by B (k, nv) of a step of STORMER_VERLET, by (k, 2 nv) (13.59)."""
    if isinstance(dynamics, Dynamics):
        n = dynamics.model.nv
        none = np.zeros((0, n))
        return pull_variational_step(
            dynamics, taken, none, none, lambda q, v, y: (np.zeros((n, n)), none), by)
    rows = independent_constraints(dynamics, taken.q)

    def constraint_partials(q: Array, v: Array, y: Array) -> tuple[Array, Array]:
        rates = ConstraintRates(dynamics, q, np.zeros((2, len(v))))
        whole = np.zeros(dynamics.m)
        whole[rows] = y
        return rates.vary_forces(whole[None])[0], rates.vary_rows(v[None])[0][rows]

    return pull_variational_step(
        dynamics.tree, taken, dynamics.jacobian(taken.q)[rows],
        dynamics.jacobian(taken.q1)[rows], constraint_partials, by)


def _require_near(dynamics: ConstrainedDynamics, q: Array, v: Array) -> None:
    """Raise ConvergenceError for stages that ended so far off that project looks again."""
    ended, _ = project(dynamics, q, v)
    far = np.abs(dynamics.model.difference(ended, q)).max(initial=0.0)
    if far >= PROJECTION_DISTANCE:
        raise ConvergenceError(f'dt: expected stages that end within {PROJECTION_DISTANCE} rad or '
                               f'm of the constraints, got ones {far:.3g} off; shorten the step')


def _closed(dynamics: ConstrainedDynamics, q: Array) -> tuple[Array, Array]:
    """Return the configuration on the constraints, and its derivatives (nv, nv)."""
    moved: Array = np.eye(dynamics.model.nv)
    for each in corrections(dynamics, q):
        # M s = A^T y, A s = -f, and f moves by A (13.58)
        spread, by_q = _response(
            dynamics, each.q, each.rows, each.step, each.step, each.residual)
        turn = dynamics.model.integrate_derivatives(each.q, each.step)
        q, moved = each.ended, (turn.by_q + turn.by_dv @ (by_q - spread @ each.rows)) @ moved
    rows = dynamics.jacobian(q)  # the start of Newton's next step: it moves with what is left
    return q, moved - least(dynamics, q, rows, rows @ moved)


def _response(dynamics: ConstrainedDynamics, q: Array, rows: Array, step: Array, whole: Array,
              open_by: Array) -> tuple[Array, Array]:
    """
    Return how a step s (nv,) of least kinetic energy changes by gaps (nv, m), and by q (nv, nv).

    M s = A^T y, and A s closes open_by (m,). Gaps are the changes of A s at constant A whole,
    whole (nv,) being what A has to keep (13.58).
    """
    mass, spread = dynamics.tree.mass_matrix(q), least(dynamics, q, rows, np.eye(len(rows)))
    multipliers = -spread.T @ mass @ spread @ open_by
    n, rest = len(step), np.zeros_like(step)
    weight = dynamics.tree.inverse.partial_derivatives(q, rest, rest).by_q
    free = np.linalg.solve(mass, _varied(dynamics, q, step, multipliers)[:n] - weight)
    return spread, spread @ (
        rows @ free - _varied(dynamics, q, whole, multipliers)[n:]) - free


def _varied(dynamics: ConstrainedDynamics, q: Array, a: Array, multipliers: Array) -> Array:
    """Return the derivatives by q of M a + g - A^T y, and of A a, at rest (nv + m, nv)."""
    rates = np.stack([np.zeros_like(a), a])
    return np.asarray(VariedEquations(
        dynamics, EquationMotion(q, rates, multipliers[None], None)).kkt_partials()[0, 0])
