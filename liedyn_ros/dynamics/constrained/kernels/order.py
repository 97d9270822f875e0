# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parts common to all tasks: the state, the step from one order to the next, the results."""

from liedyn_ros.dynamics.constrained.kernels import closures, series
from liedyn_ros.dynamics.constrained.kernels.tables import (
    add3_lanes, add_row, DEFECT, dot6, FIRST_MOMENT, gather_rows, get_row, get_rows, load3_lanes,
    ROTATIONAL_INERTIA, scatter_rows, START)
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import broadcast, get_lanes, LANES, put_lanes
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.linear_algebra.kernels.rows import copy_scaled


@kernel
def begin_state(machine, motion, hybrid, free, frames, q, v, a, tau):
    """
    Write the quantities of a state, and the given motion and forces.

    A hybrid task reads accelerations of prescribed and forces of free coordinates; other tasks
    read both of all. frames is the number of frames to compute.
    """
    begin_motion(machine, motion, frames, q, v, len(a) == 1)
    scale = 1.0
    for k in range(len(a)):
        for j in range(len(v)):
            motion.rate[k + 1, j] = 0.0 if hybrid and free[j] else scale / (k + 1.0) * a[k, j]
            motion.effort[k, j] = 0.0 if hybrid and not free[j] else scale * tau[k, j]
        scale /= k + 1.0


@kernel
def begin_motion(machine, motion, frames, q, v, kept):
    """
    Write the quantities of a configuration and of velocities, with so many frames.

    kept: derivatives of order zero follow, which read twists and wrenches of all links.
    """
    series.write_configuration(machine, motion, q, frames)
    for j in range(len(v)):
        motion.rate[0, j] = v[j]
    closures.write_rows(machine, motion, START)
    closures.write_jacobian(machine, motion, START)
    series.write_twists(machine, motion, START, kept)
    closures.write_relative_twists(machine, motion, START)


@kernel
def advance_order(machine, motion, scratch, external, frames, with_multipliers, k, out, kept):
    """
    Write the forces (nv,) that the motion needs at order k, with lam_k = 0, and gamma (12.14).

    with_multipliers: add the contribution of the multipliers of lower orders. kept is as for
    begin_motion, and true at order zero alone.
    """
    advance_motion(machine, motion, frames, k, scratch.gamma, kept)
    series.write_link_wrenches(machine, motion, k)
    if len(external) > 0:
        series.subtract_applied_wrenches(machine, motion, external, k)
    if with_multipliers:
        closures.subtract_closure_wrenches(machine, motion, k)
    series.sum_wrenches(machine, motion, k, kept)
    series.write_joint_forces(machine, motion, k, out)
    if with_multipliers:
        closures.subtract_function_forces(machine, motion, k, out)


@kernel
def advance_motion(machine, motion, frames, k, gamma, kept):
    """Write the series of links and the motion at order k + 1, and gamma (12.14)."""
    series.extend(machine, motion, k, frames)
    closures.write_rows(machine, motion, k + 1)
    write_motion(machine, motion, k, gamma, kept)


@kernel
def write_motion(machine, motion, k, gamma, kept):
    """Write twists at order k + 1, and what of the constraints they leave open, gamma."""
    series.write_twists(machine, motion, k + 1, kept)
    closures.write_relative_twists(machine, motion, k + 1)
    closures.write_rates(machine, motion, k + 1, k + 1.0, gamma)


@kernel
def note_defect(machine, motion, scratch, k):
    """Note how much of coefficient k of the velocity residual the motion leaves open."""
    for r in range(len(scratch.gamma)):
        size = 0.0  # of the terms that cancel
        for at in range(machine.support_start[r], machine.support_start[r + 1]):
            j = machine.support[at]
            size += abs(motion.jacobian[0, r, j] * motion.rate[k, j])
            if k > 0:
                size += abs(motion.jacobian[0, r, j]) * motion.rate[0, j]**2
        open_part = abs(scratch.gamma[r]) / max(k, 1)
        scratch.report[DEFECT] = max(scratch.report[DEFECT], open_part / (1.0 + size))


@kernel
def complete_order(machine, motion, free, k, kept):
    """
    Add to twists, wrenches and forces what the solution of order k adds.

    kept is as for advance_order.
    """
    count, twists = len(machine.kind), motion.twist_change
    put_lanes(twists, count, START, broadcast(0.0))
    for i in range(count):
        twist = get_lanes(twists, machine.parent[i], START)
        for j in range(machine.vi[i], machine.vi[i] + joints.degrees(machine.kind[i])):
            if free[j]:
                twist = twist + motion.rate[k + 1, j] * get_lanes(motion.screw_row, j, START)
        put_lanes(twists, i, START, twist)
        add_row(motion.twist_row, i, twist)
    write_wrench_changes(machine, motion, k, kept)
    wrenches = motion.wrench_change
    closures.subtract_wrench_changes(machine, motion, k)
    for i in range(count - 1, -1, -1):
        add_row(wrenches, machine.parent[i], get_lanes(wrenches, i, START))
    if kept:
        for i in range(0, count + 1, LANES):
            m, f = get_rows(wrenches, i)
            add3_lanes(motion.wrench[k], i, START, m)
            add3_lanes(motion.wrench[k], i, START + 3, f)
    for j in range(0, len(free), LANES):
        m, f = gather_rows(wrenches, machine.coordinate_row, j)
        add3_lanes(motion.load[k], j, START, m)
        add3_lanes(motion.load[k], j, START + 3, f)
    closures.add_twist_changes(machine, motion, k + 1)
    first = len(machine.row_kind)
    for j in range(len(free)):
        if not free[j]:
            i = machine.link[j]
            total = dot6(get_row(motion.screw_row, j), get_row(wrenches, i))
            for r in range(len(machine.coupling)):
                total -= machine.coupling[r, j] * motion.multiplier[k, first + r]
            motion.effort[k, j] += total


@kernel
def write_wrench_changes(machine, motion, k, kept):
    """Write the wrenches that links need for a change of their twists, and add that to these."""
    twists, moments, scale = motion.heavy_twist[k + 1], motion.moments[0], k + 1.0
    series.clear_rows(motion.wrench_change, len(machine.kind) + 1)
    for i in range(0, machine.heavy_links[0], LANES):
        w, v = gather_rows(motion.twist_change, machine.heavy_link, i)
        add3_lanes(twists, i, START, w)
        add3_lanes(twists, i, START + 3, v)
        body = (load3_lanes(moments, i, FIRST_MOMENT), load3_lanes(moments, i, ROTATIONAL_INERTIA),
                load3_lanes(moments, i, ROTATIONAL_INERTIA + 3))
        m, f = series.inertia_times(body, w, v)
        f = vec3.add(f, vec3.scale(get_lanes(machine.mass, 0, i), v))
        scatter_rows(motion.wrench_change, machine.heavy_link, i, vec3.scale(scale, m),
                     vec3.scale(scale, f))
    if kept:
        for i in range(0, len(machine.kind) + 1, LANES):
            w, v = get_rows(motion.twist_change, i)
            add3_lanes(motion.twist[1], i, START, w)
            add3_lanes(motion.twist[1], i, START + 3, v)


@kernel
def write_order(machine, motion, hybrid, k, scale, given, a, tau, multipliers, wrenches):
    """Write order k of forces, multipliers, wrenches and accelerations."""
    if hybrid:
        copy_scaled(motion.rate, k + 1, 0, a, k, 0, a.shape[1], scale * (k + 1.0))
    else:
        copy_scaled(given, k, 0, a, k, 0, a.shape[1], 1.0)
    for j in range(len(machine.link)):
        tau[k, j] = scale * motion.effort[k, j]
    for r in range(multipliers.shape[1]):
        multipliers[k, r] = scale * motion.multiplier[k, r]
    closures.write_closure_wrenches(machine, motion, k, scale, wrenches[k])
