# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of one state of a machine with loops over many, one after the other (13.19)."""

from liedyn_ros.dynamics.constrained.kernels.tolerances import CLOSED_STATE
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.gradients import (
    constrained_gradient)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.jacobians import (
    hybrid_loop_jacobians, inverse_loop_jacobians)
from liedyn_ros.dynamics.constrained.solver.kernels.solver import DONE, solve_state
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import inverse_jacobians
from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, TRUTHS, VECTOR


@kernel
def solve_with_tree_jacobians(workspace, task, model, links, columns, by_q, by_v, by_a, by_gravity,
                              external, pushes, q, v, a, tau, multipliers, wrenches, report):
    """Solve a state and write the Jacobians of its tree (13.34); return whether both are good."""
    done = solve_state(workspace, task, CLOSED_STATE, external, q, v, a, tau, a, tau, multipliers,
                       wrenches, report)
    return done == DONE and inverse_jacobians(
        model, links, columns, q, v, a[0], pushes, by_q, by_v, by_a, by_gravity)


@long_kernel
def hybrid_jacobians_of_states(
        workspace: VECTOR, task: VECTOR, model: MATRIX, links: MATRIX, columns: MATRIX,
        table: MATRIX, partials: ARRAY4, reactions: ARRAY4, lanes: MATRIX, changes: CUBE,
        by_q: MATRIX, by_v: MATRIX, by_a: MATRIX, by_gravity: MATRIX, external: ARRAY4,
        pushes: CUBE, q: MATRIX, v: MATRIX, a: CUBE, tau: CUBE, multipliers: CUBE,
        wrenches: ARRAY4, report: MATRIX, good: TRUTHS, found: MATRIX):
    """Write solutions, and the Jacobians of hybrid dynamics where a state is good."""
    for s in range(len(q)):
        good[s] = solve_with_tree_jacobians(
            workspace, task, model, links, columns, by_q, by_v, by_a, by_gravity, external[s],
            pushes[s], q[s], v[s], a[s], tau[s], multipliers[s], wrenches[s], report[s])
        good[s] = good[s] and hybrid_loop_jacobians(
            table, partials, reactions, lanes, changes, workspace, task, by_q, by_v, by_a,
            found[s])
    return len(q), DONE


@long_kernel
def inverse_jacobians_of_loops(
        workspace: VECTOR, task: VECTOR, model: MATRIX, links: MATRIX, columns: MATRIX,
        table: MATRIX, partials: ARRAY4, slopes: ARRAY4, reactions: ARRAY4, lanes: MATRIX,
        changes: CUBE, by_q: MATRIX, by_v: MATRIX, by_a: MATRIX, by_gravity: MATRIX,
        external: ARRAY4, pushes: CUBE, q: MATRIX, v: MATRIX, a: CUBE, tau: CUBE,
        multipliers: CUBE, wrenches: ARRAY4, report: MATRIX, good: TRUTHS, found: MATRIX):
    """Write solutions, and the Jacobians of inverse dynamics where a state is good."""
    for s in range(len(q)):
        good[s] = solve_with_tree_jacobians(
            workspace, task, model, links, columns, by_q, by_v, by_a, by_gravity, external[s],
            pushes[s], q[s], v[s], a[s], tau[s], multipliers[s], wrenches[s], report[s])
        good[s] = good[s] and inverse_loop_jacobians(
            table, partials, slopes, reactions, lanes, changes, workspace, task, by_q, by_v, by_a,
            found[s])
    return len(q), DONE


@long_kernel
def gradients_of_loops(
        workspace: VECTOR, task: VECTOR, product: VECTOR, external: ARRAY4, q: MATRIX, v: MATRIX,
        a: CUBE, tau: CUBE, multipliers: CUBE, wrenches: ARRAY4, report: MATRIX, good: TRUTHS,
        y: MATRIX, z: VECTOR, found: CUBE):
    """Write solutions, and gradients (K, 4, nv) where a state is good."""
    for s in range(len(q)):
        good[s] = DONE == solve_state(
            workspace, task, CLOSED_STATE, external[s], q[s], v[s], a[s], tau[s], a[s], tau[s],
            multipliers[s], wrenches[s], report[s])
        good[s] = good[s] and constrained_gradient(
            workspace, task, product, None, None, y[s], z, found[s])
    return len(q), DONE
