# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the tables of a machine with closed loops hold together: kernels check no index."""

from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.export.kernels.arrays import are_starts, has_shape, lie_in, padded
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model.kernels.kinds import ALONG_ROD, NQ_OF_KIND, NV_OF_KIND, ROD_CLOSURE


@kernel
def is_machine(workspace, nq, nv, bodies, constraints, closures):
    """Return whether the constants of a workspace are those of a machine of these sizes."""
    machine = workspace_of(workspace).machine
    return (are_links(machine, nq, nv) and are_coordinates(machine, nq, nv)
            and are_frames(machine, bodies, closures)
            and are_closures(machine, nv, constraints, closures)
            and are_groups(machine, nv, constraints))


@kernel
def are_links(machine, nq, nv):
    """Return whether links follow each other from the ground on."""
    count, qi, vi = len(machine.kind), 0, 0
    if not (len(machine.parent) == count and len(machine.qi) == count
            and len(machine.vi) == count and len(machine.nq) == 1 and len(machine.link) == nv
            and machine.nq[0] == nq):
        return False
    for i in range(count):
        kind, parent = machine.kind[i], machine.parent[i]
        if not (0 <= kind < len(NV_OF_KIND) and (0 <= parent < i or parent == count)
                and machine.qi[i] == qi and machine.vi[i] == vi and vi + NV_OF_KIND[kind] <= nv):
            return False
        for k in range(NV_OF_KIND[kind]):
            if machine.link[vi + k] != i:
                return False
        qi, vi = qi + NQ_OF_KIND[kind], vi + NV_OF_KIND[kind]
    if qi != nq or vi != nv or len(machine.heavy_links) != 1:
        return False
    heavy = machine.heavy_links[0]
    return (0 <= heavy <= count and has_shape(machine.placement, count, 12)
            and has_shape(machine.inertia, count, 10) and len(machine.pitch) == count
            and has_shape(machine.heavy_inertia, 10, padded(heavy + 1))
            and has_shape(machine.mass, 1, padded(heavy + 1)) and len(machine.heavy) == count
            and lie_in(machine.heavy, 0, heavy + 1)
            and is_index(machine.heavy_link, heavy, count))


@kernel
def is_index(rows, things, count):
    """Return whether rows of links are those of things, and further ones."""
    return len(rows) == things + 2 * LANES and lie_in(rows, 0, count + 2)


@kernel
def are_coordinates(machine, nq, nv):
    """Return whether each coordinate has its constants, and those before it on its way."""
    typical, before, starts = machine.typical_inertia, machine.ancestor, machine.ancestor_start
    if not (len(machine.damping) == padded(nv) and len(machine.friction) == nv
            and len(machine.stiffness) == padded(nv) and len(machine.rest) == padded(nv)
            and len(machine.armature) == padded(nv) and has_shape(machine.stops, nv, 4)
            and len(machine.position_at) == nv
            and lie_in(machine.position_at, 0, nq) and len(machine.gravity) == 3
            and (len(typical) == 0 or len(typical) == nv)
            and are_starts(machine.chained_start, padded(nv) // LANES, len(machine.chained))
            and lie_in(machine.chained, 0, nv)
            and is_index(machine.coordinate_row, nv, len(machine.kind))
            and are_starts(starts, nv, len(before))):
        return False
    for k in range(nv):
        for t in range(starts[k + 1] - starts[k]):
            j = before[starts[k] + t]
            if not (0 <= j < k and starts[j + 1] - starts[j] == t):
                return False
    return True


@kernel
def are_frames(machine, bodies, closures):
    """Return whether the frames of closures and bodies are on links."""
    count, frames = len(machine.kind), 2 * closures + bodies
    return (len(machine.frame_link) == frames and lie_in(machine.frame_link, 0, count + 1)
            and has_shape(machine.frame_placement, frames, 12)
            and is_index(machine.frame_row, frames, count) and len(machine.moving_frames) == 1
            and closures <= machine.moving_frames[0] <= 2 * closures)


@kernel
def are_closures(machine, nv, constraints, closures):
    """Return whether closures, couplings and their rows are within the machine."""
    rows, couplings, ends = len(machine.row_kind), len(machine.coupling), padded(nv) + 1
    return (rows + couplings == constraints and len(machine.closure_kind) == closures
            and lie_in(machine.closure_kind, 0, ROD_CLOSURE + 1)
            and has_shape(machine.closure_size, closures, 2)
            and are_starts(machine.closure_row, closures, rows)
            and lie_in(machine.row_kind, 0, ALONG_ROD + 1)
            and len(machine.row_size) == constraints and len(machine.row_parts) == 2
            and are_starts(machine.path_start, closures, len(machine.path))
            and lie_in(machine.path, 0, nv)
            and has_shape(machine.path_sign, closures, padded(nv))
            and is_hull(machine.path_hull, closures, ends)
            and machine.coupling.shape[1] == nv and len(machine.coupling_offset) == couplings
            and len(machine.coupling_bias) == couplings and len(machine.functions) == 1
            and machine.functions[0] == 0
            and are_starts(machine.support_start, constraints, len(machine.support))
            and lie_in(machine.support, 0, nv) and is_hull(
                machine.reach, nv, padded(constraints) + 1)
            and are_starts(machine.reached_start, padded(constraints) // LANES,
                           len(machine.reached))
            and lie_in(machine.reached, 0, nv)
            and is_hull(machine.span, constraints, padded(constraints) + 1)
            and len(machine.met) == padded(constraints) // LANES
            and lie_in(machine.met, 0, padded(constraints) + 1))


@kernel
def is_hull(ends, things, end):
    """Return whether first and last of things are steps of LANES below an end."""
    if len(ends) != 2 * things or not lie_in(ends, 0, end):
        return False
    for value in ends:
        if value % LANES != 0:
            return False
    return True


@kernel
def are_groups(machine, nv, constraints):
    """Return whether each coordinate and constraint is in one group."""
    count, group = len(machine.group_rows) - 1, machine.group
    if not (count >= 0 and are_starts(machine.group_coordinates, count, nv)
            and are_starts(machine.group_rows, count, constraints)
            and is_order(machine.coordinate_at, nv) and is_order(machine.row_at, constraints)
            and len(group) == nv and lie_in(group, 0, count)):
        return False
    for k in range(nv):
        before = machine.ancestor_start[k + 1] - machine.ancestor_start[k]
        if len(machine.typical_inertia) and machine.group_coordinates[group[k]] + before >= nv:
            return False
    return True


@kernel
def is_order(order, count):
    """Return whether each of some numbers stands once in a list."""
    if len(order) != count or not lie_in(order, 0, count):
        return False
    for i in range(count):
        for k in range(i):
            if order[i] == order[k]:
                return False
    return True
