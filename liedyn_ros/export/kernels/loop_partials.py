# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Partial derivatives of machines with closed loops, which follow a solution of a work area."""

from liedyn_ros.dynamics.constrained.kernels.tables import task_of
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.gradients import (
    constrained_gradient)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.jacobians import (
    hybrid_loop_jacobians, inverse_loop_jacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.products import (
    constrained_product, product_of)
from liedyn_ros.dynamics.constrained.solver.kernels.solver import all_set, DONE, REFUSED
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import inverse_jacobians
from liedyn_ros.export.kernels.loops import CONSTRAINT_COUNT, loops_of
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.pointers import part


@kernel
def loop_product(work, inverse, dq, dv, change, da, dtau):
    """Write how a and tau change, those with entries; change is that of what is given."""
    loops, nv = loops_of(work), len(dv)
    task = loops.inverse if inverse else loops.hybrid
    free, xa, xtau = task_of(task).free, loops.a[:nv], loops.tau[:nv]
    for j in range(nv):
        moved = inverse or free[j] == 0
        xa[j] = change[j] if moved else 0.0
        xtau[j] = 0.0 if moved else change[j]
    found = loops.change
    if not constrained_product(
            loops.workspace, task, loops.product, None, None, dq, dv, xa, xtau, found):
        return REFUSED
    for j in range(len(da)):
        da[j] = found[j]
    for j in range(len(dtau)):
        dtau[j] = found[nv + j]
    return DONE


@kernel
def loop_gradient(work, inverse, y, by_q, by_v, by_given):
    """Write the gradient of y . x by q, v and what is given, each (nv,); x are the unknowns."""
    loops, nv = loops_of(work), len(y)
    task = loops.inverse if inverse else loops.hybrid
    free, by = task_of(task).free, loops.gradient.reshape((4, nv))
    if not constrained_gradient(
            loops.workspace, task, loops.product, None, None, y, loops.still, by):
        return REFUSED
    for j in range(nv):
        by_q[j], by_v[j] = by[0, j], by[1, j]
        by_given[j] = by[2, j] if inverse or free[j] == 0 else by[3, j]
    return DONE


@kernel
def loop_jacobians(model, work, inverse, q, v, a, external, by_q, by_v, by_given):
    """Write how the unknowns vary with q, v and what is given (nv, nv), of a motion a (1, nv)."""
    loops, nv = loops_of(work), len(v)
    m, of_tree = loops.sizes[CONSTRAINT_COUNT], loops.of_tree
    if not inverse_jacobians(
            model, loops.links, loops.columns, q, v, a[0],
            part(external, 0, len(external) * external.shape[1], 6), of_tree[:nv],
            of_tree[nv:2 * nv], of_tree[2 * nv:], loops.gravity):
        return REFUSED
    task = loops.inverse if inverse else loops.hybrid
    free, prescribed = task_of(task).free, not inverse and not all_set(task_of(task).free)
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
            by_q[i, j] = found[forces + at]
            by_v[i, j] = found[forces + nv * nv + at]
            by_given[i, j] = found[forces + 2 * nv * nv + at]
    return DONE
