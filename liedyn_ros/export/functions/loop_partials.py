# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of machines with closed loops for the C library, as in loops.py.

They follow a solution of order zero, of inverse dynamics or of hybrid dynamics.
"""

from liedyn_ros.dynamics.constrained.kernels.tables import task_of
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.gradients import (
    constrained_gradient)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.jacobians import (
    hybrid_loop_jacobians, inverse_loop_jacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.products import (
    constrained_product, product_of)
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.dynamics.constrained.solver.kernels.forward import all_set
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import inverse_jacobians
from liedyn_ros.dynamics.tree.kernels.tables import MODEL_WIDTH
from liedyn_ros.export.kernels import loops as area
from liedyn_ros.export.kernels import work as trees
from liedyn_ros.jit.pointers import COUNT, given, NUMBERS, table, vector

DONE, REFUSED = solver.DONE, solver.REFUSED


def loops_differentiable(work: NUMBERS, inverse: COUNT, found: NUMBERS) -> COUNT:
    """Return DONE where the last solution, whose report is found, has derivatives."""
    loops, report = area.loops_of(vector(work, 1)), vector(found, 5)
    if inverse:
        good = (task_of(loops.inverse).kind[0] != solver.LEAST_TORQUE
                or report[0] >= loops.sizes[area.USUAL_RANK])
    else:
        good = report[4] != area.SINGULAR and report[4] != area.INCONSISTENT
    return DONE if good else area.DEPENDENT


def loops_product(work: NUMBERS, inverse: COUNT, dq: NUMBERS, dv: NUMBERS, change: NUMBERS,
                  a: NUMBERS, tau: NUMBERS) -> COUNT:
    """Write how a and tau (nv,) change, unless NULL; change is that of what is given."""
    loops = area.loops_of(vector(work, 1))
    nv, task = area.count_coordinates(loops), loops.inverse if inverse else loops.hybrid
    free, known, xa, xtau = task_of(task).free, vector(change, nv), loops.a[:nv], loops.tau[:nv]
    for j in range(nv):
        moved = inverse != 0 or free[j] == 0
        xa[j] = known[j] if moved else 0.0
        xtau[j] = 0.0 if moved else known[j]
    found = loops.change
    if not constrained_product(loops.workspace, task, loops.product, None, None, vector(dq, nv),
                               vector(dv, nv), xa, xtau, found):
        return REFUSED
    for j in range(nv):
        if given(a):
            vector(a, nv)[j] = found[j]
        if given(tau):
            vector(tau, nv)[j] = found[nv + j]
    return DONE


def loops_gradient(work: NUMBERS, inverse: COUNT, y: NUMBERS, by_q: NUMBERS, by_v: NUMBERS,
                   by_given: NUMBERS) -> COUNT:
    """Write the gradient of y . x by q, v and what is given, each (nv,); x are the unknowns."""
    loops = area.loops_of(vector(work, 1))
    nv, task = area.count_coordinates(loops), loops.inverse if inverse else loops.hybrid
    free, by = task_of(task).free, loops.gradient.reshape((4, nv))
    if not constrained_gradient(loops.workspace, task, loops.product, None, None, vector(y, nv),
                                loops.still, by):
        return REFUSED
    for j in range(nv):
        vector(by_q, nv)[j], vector(by_v, nv)[j] = by[0, j], by[1, j]
        vector(by_given, nv)[j] = by[2, j] if inverse != 0 or free[j] == 0 else by[3, j]
    return DONE


def loops_jacobians(constants: NUMBERS, work: NUMBERS, inverse: COUNT, q: NUMBERS, v: NUMBERS,
                    a: NUMBERS, external: NUMBERS, by_q: NUMBERS, by_v: NUMBERS,
                    by_given: NUMBERS) -> COUNT:
    """Write how the unknowns vary with q, v and what is given (nv, nv); a is the whole motion."""
    model, loops = table(constants, 1, MODEL_WIDTH), area.loops_of(vector(work, 1))
    nv, m, bodies = trees.nv(model), loops.sizes[area.CONSTRAINTS], trees.bodies(model)
    of_tree = loops.of_tree
    if not inverse_jacobians(
            model, loops.links, loops.columns, vector(q, trees.nq(model)), vector(v, nv),
            vector(a, nv), table(external, trees.loaded(external, bodies), 6), of_tree[:nv],
            of_tree[nv:2 * nv], of_tree[2 * nv:], loops.gravity):
        return REFUSED
    task = loops.inverse if inverse else loops.hybrid
    free, prescribed = task_of(task).free, inverse == 0 and not all_set(task_of(task).free)
    found = loops.found[:(4 * (nv + m) if inverse else 3 * ((1 + prescribed) * nv + m)) * nv]
    variations = product_of(loops.product).variations
    partials = loops.partials.reshape((1, 3, nv + m, nv))
    reactions = loops.reactions.reshape((1, 3, m, nv))
    if inverse:
        good = inverse_loop_jacobians(
            variations, partials, loops.slopes.reshape((1, 3, m, nv)), reactions, loops.lanes,
            loops.changes, loops.workspace, task, of_tree[:nv], of_tree[nv:2 * nv],
            of_tree[2 * nv:], found)
    else:
        good = hybrid_loop_jacobians(
            variations, partials, reactions, loops.lanes, loops.changes, loops.workspace, task,
            of_tree[:nv], of_tree[nv:2 * nv], of_tree[2 * nv:], found)
    if not good:
        return REFUSED
    for i in range(nv):
        forces = 3 * nv * nv if prescribed and not free[i] else 0  # behind accelerations
        for j in range(nv):
            at = i * nv + j
            vector(by_q, at + 1)[at] = found[forces + at]
            vector(by_v, at + 1)[at] = found[forces + nv * nv + at]
            vector(by_given, at + 1)[at] = found[forces + 2 * nv * nv + at]
    return DONE
