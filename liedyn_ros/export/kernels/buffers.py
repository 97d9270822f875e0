# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the scratch buffers of closed loops in a file have the sizes that kernels rely on."""

from liedyn_ros.dynamics.constrained.configurations.kernels.closing import (
    closing_of, CLOSING_WIDTH)
from liedyn_ros.dynamics.constrained.kernels.tables import REPORT_WIDTH, task_of, workspace_of
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    VARIATION_WIDTH)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.products import (
    product_of, WORK_ROWS)
from liedyn_ros.dynamics.constrained.solver.kernels.solver import (
    HYBRID_TASK, LEAST_FORCE_TASK, LEAST_TORQUE_TASK)
from liedyn_ros.dynamics.constrained.tracking.kernels import tracking
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    COLUMN_WIDTH, LINK_WIDTH)
from liedyn_ros.dynamics.tree.kernels.tables import DATA_WIDTH
from liedyn_ros.export.kernels.arrays import are_apart, has_shape, is_cube, lie_in, padded
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import LANES


@kernel
def are_buffers(workspace, orders, bodies):
    """Return whether the buffers of a workspace fit its machine, for series of K orders."""
    tables = workspace_of(workspace)
    machine, motion = tables.machine, tables.motion
    nv, m, deepest = len(machine.link), len(machine.row_size), 0
    for k in range(nv):
        deepest = max(deepest, machine.ancestor_start[k + 1] - machine.ancestor_start[k] + 1)
    coordinates, rows = machine.group_coordinates, machine.group_rows
    return (is_motion(machine, motion, orders, bodies) and are_closure_series(
                machine, motion, orders)
            and is_scratch(tables.by_row, nv, m, deepest, rows, coordinates, rows)
            and is_scratch(tables.by_column, nv, m, deepest, coordinates, rows, rows)
            and is_space(tables.space, nv, orders, coordinates))


@kernel
def is_motion(machine, motion, orders, bodies):
    """Return whether the series of links and coordinates have their sizes."""
    n, nv, m = len(machine.kind), len(machine.link), len(machine.row_size)
    heavy, frames = machine.heavy_links[0] + 1, len(machine.frame_link)
    return (has_shape(motion.pose, n + 2, padded(12)) and len(motion.reference) == 3
            and has_shape(motion.rate, orders, padded(nv)) and has_shape(motion.effort, orders, nv)
            and len(motion.position) == padded(nv)
            and has_shape(motion.angle, 2, padded(nv))
            and has_shape(motion.stop, orders, 4 * nv) and is_cube(motion.screw, orders, 6, nv)
            and has_shape(motion.screw_row, padded(nv), LANES)
            and is_cube(motion.carrier, orders, 6, nv) and has_shape(motion.step, 1, padded(nv))
            and has_shape(motion.step_row, padded(nv), LANES)
            and is_cube(motion.twist, 2, 6, n + 1)
            and is_cube(motion.heavy_twist, orders, 6, heavy)
            and is_cube(motion.wrench, 1, 6, n + 1) and is_cube(motion.load, orders, 6, nv)
            and is_cube(motion.moments, orders, 9, heavy)
            and is_cube(motion.frame, orders, 12, frames)
            and is_cube(motion.frame_twist, orders, 6, frames)
            and has_shape(motion.multiplier, orders, m)
            and has_shape(motion.potential, orders, nv) and is_cube(motion.jacobian, orders, m, nv)
            and has_shape(motion.composite, n, padded(10))
            and has_shape(motion.twist_row, padded(n + 2), LANES)
            and has_shape(motion.wrench_row, padded(n + 2), LANES)
            and has_shape(motion.twist_change, padded(n + 2), LANES)
            and has_shape(motion.wrench_change, padded(n + 2), LANES))


@kernel
def are_closure_series(machine, motion, orders):
    """Return whether the series of closures have their sizes."""
    closures, rows = len(machine.closure_kind), len(machine.row_kind)
    return (is_cube(motion.arm, orders, 9, closures) and is_cube(motion.row, orders, 6, rows)
            and is_cube(motion.relative, orders, 6, closures)
            and has_shape(motion.residual, 6, padded(closures))
            and is_cube(motion.local_wrench, orders, 6, closures)
            and is_cube(motion.pull, orders, 6, closures)
            and has_shape(motion.pull_row, padded(closures), LANES)
            and has_shape(motion.closure_wrench, 6, padded(closures)))


@kernel
def is_scratch(scratch, nv, m, deepest, columns, numbers, rows):
    """Return whether buffers are those of one factorization, by groups of columns and numbers."""
    width, groups, most = padded(m), len(columns) - 1, max(nv, m)
    return (scratch.mass.shape[0] == nv and scratch.mass.shape[1] >= deepest
            and scratch.mass.shape[1] % LANES == 0 and len(scratch.root) == nv
            and has_shape(scratch.factor_inverse, nv, padded(nv))
            and has_shape(scratch.sums, 1, padded(nv))
            and has_shape(scratch.response, nv, width) and has_shape(scratch.upper, m, width)
            and has_shape(scratch.unit, m, width) and has_shape(scratch.lower, m, width)
            and len(scratch.inverse) == m
            and has_shape(scratch.line, 2, width) and is_qr(scratch.qr, columns, numbers)
            and len(scratch.scale) == most and len(scratch.stiffness) == m
            and is_qr(scratch.basis, rows, rows) and len(scratch.local) == numbers[groups]
            and len(scratch.x) == nv and len(scratch.y) == nv
            and len(scratch.z) == columns[groups] and len(scratch.gamma) == m
            and has_shape(scratch.lanes, max(most, 1), LANES)
            and has_shape(scratch.steps, nv, LANES) and len(scratch.report) == REPORT_WIDTH)


@kernel
def is_qr(qr, columns, numbers):
    """Return whether buffers are those of orthogonal factors by groups."""
    groups, widest = len(columns) - 1, 1
    count = columns[groups]
    if not (len(qr.slot) == groups and len(qr.count) == groups and len(qr.size) == groups
            and len(qr.rank) == groups and lie_in(qr.rank, 0, count + 1)):
        return False
    for g in range(groups):
        size = numbers[g + 1] - numbers[g]
        if not (qr.slot[g] == columns[g] and qr.count[g] == columns[g + 1] - columns[g]
                and qr.size[g] == size):
            return False
        widest = max(widest, size)
    return (has_shape(qr.rows, count, widest + LANES) and len(qr.order) == count
            and lie_in(qr.order, 0, max(count, 1)) and len(qr.head) == count
            and len(qr.beta) == count and len(qr.norm) == count)


@kernel
def is_space(space, nv, orders, coordinates):
    """Return whether buffers are those of free motions."""
    return (space.basis.shape == (orders, nv, nv) and is_qr(space.qr, coordinates, coordinates)
            and len(space.active) == nv and lie_in(space.active, 0, max(nv, 1))
            and len(space.s) == nv and has_shape(space.size, nv, orders)
            and has_shape(space.need, orders, nv))


@kernel
def are_tasks(hybrid, inverse, product, nv, m, links):
    """Return whether tasks and buffers of products are those of a machine."""
    free, task = task_of(hybrid), task_of(inverse)
    if not (len(free.kind) == 1 and free.kind[0] == HYBRID_TASK and len(free.free) == nv
            and len(free.most) == 1 and len(free.chosen) == 0
            and len(free.limit) == 0 and len(task.limit) == 0
            and len(task.kind) == 1 and len(task.free) == nv and len(task.most) == 1
            and are_apart(task.chosen, nv)):
        return False
    kind, parts = task.kind[0], product_of(product)
    whole = 0 if kind == LEAST_FORCE_TASK else 1
    for j in range(nv):
        if task.free[j] != whole:
            return False
    return (((kind == LEAST_FORCE_TASK and len(task.weight) == m)
             or (kind == LEAST_TORQUE_TASK and len(task.weight) == nv))
            and has_shape(parts.variations, links + 1, VARIATION_WIDTH)
            and has_shape(parts.work, WORK_ROWS, max(nv, m)))


@kernel
def is_tracker(tracker, nq, nv, m, closures):
    """Return whether the tables of a tracker are those of a machine."""
    t = tracking.tracker_of(tracker)
    n = len(t.at_v)
    return (len(t.scale) == m and len(t.at_q) == n and n <= nv and lie_in(t.at_q, 0, nq)
            and lie_in(t.at_v, 0, nv) and len(t.turns) == n and are_apart(t.others, nv)
            and len(t.agreement) == 1 and len(t.nearest) == closures
            and len(t.progress) == tracking.PROGRESS_WIDTH and len(t.way) == n
            and len(t.rates) == n and len(t.change) == n and len(t.f) == m and len(t.left) == m
            and len(t.step) == nv and len(t.q) == nq)


@kernel
def is_point(flat, tracker, nq, nv, m):
    """Return whether tables are those of a point of a tracker."""
    t, point = tracking.tracker_of(tracker), tracking.point_of(flat)
    n, others = len(t.at_v), len(t.others)
    return (len(point.q) == nq and has_shape(point.rows, m, nv)
            and has_shape(point.slope, others, m) and has_shape(point.mix, others, others)
            and len(point.size) == others and has_shape(point.excess, n, m)
            and has_shape(point.excess_mix, n, n) and len(point.excess_size) == n
            and len(point.report) == tracking.TRACKING_REPORT_WIDTH)


@kernel
def is_closing(closing, nq, nv, m):
    """Return whether tables are those of an assembly of a machine."""
    t = closing_of(closing)
    return (len(t.numbers) == CLOSING_WIDTH and len(t.free) == nv and len(t.lower) == nv
            and len(t.upper) == nv and len(t.size) == m and len(t.q) == nq and len(t.f) == m
            and has_shape(t.rows, m, nv) and len(t.trial) == nq and len(t.trial_f) == m
            and has_shape(t.trial_rows, m, nv) and len(t.normal) == nv * nv
            and len(t.right) == nv and len(t.step) == nv and len(t.moving) == nv)


@kernel
def are_of_jacobians(loops, nv, m):
    """Return whether buffers are those of all Jacobians of a machine."""
    links = len(workspace_of(loops.workspace).machine.kind) + 1
    return (has_shape(loops.links, links, LINK_WIDTH)
            and has_shape(loops.columns, nv, COLUMN_WIDTH) and has_shape(loops.gravity, nv, 3)
            and has_shape(loops.of_tree, 3 * nv, nv)
            and len(loops.partials) == 3 * (nv + m) * nv and len(loops.slopes) == 3 * m * nv
            and len(loops.reactions) == 3 * m * nv and has_shape(loops.lanes, nv + m, LANES)
            and loops.changes.shape == (1, 3 * nv + 2 * m, padded(4 * nv))
            and len(loops.found) == max(6 * nv + 3 * m, 4 * nv + 4 * m) * nv
            and has_shape(loops.data, links + nv, DATA_WIDTH))
