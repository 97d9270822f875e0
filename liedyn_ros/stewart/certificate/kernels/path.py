# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Proofs over all poses of a ball, and of a path by balls along it (14.8 to 14.12).

A ball is |w| <= hw, |v| <= hv in the chart of curvature, units of rho. A piece of a path is a
motion at constant body twist from a start, whose poses lie in the ball about its middle.
"""

import math

from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, NUMBER, VECTOR
from liedyn_ros.lie.kernels import mat3, motion, vec3
from liedyn_ros.stewart.certificate.kernels import curvature, sweeps as of_legs
from liedyn_ros.stewart.certificate.kernels.curvature import (
    A, CENTRE_PART, COLUMN_PART, CURVATURE_WORK, LEG_PARTS, LENGTH_PART, PLATFORM_PART)
from liedyn_ros.stewart.certificate.kernels.pose import SKEW
from liedyn_ros.stewart.certificate.kernels.sweeps import (
    DIRECTION_TURN, END_WAY, OTHER_TURN, SWEEP, VALUE_CHANGE)
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, legs, limits

PROVED = -1
# Faults: the index of a margin, or these; the last three are of each of six legs.
ANGLE_FAULTS, CLEARANCE_FAULTS, BASE_CONE_FAULTS, PLATFORM_CONE_FAULTS, DISTANCE_FAULTS = (
    6 * each for each in (limits.ANGLES, limits.CLEARANCES, limits.BASE_CONES,
                          limits.PLATFORM_CONES, limits.DISTANCES))
SINGULAR_FAULT, DEAD_CENTRE_FAULTS, DEMAND_FAULTS = (
    limits.MARGIN_COUNT, limits.MARGIN_COUNT + 1, limits.MARGIN_COUNT + 7)
TWIST_AT = CURVATURE_WORK + 6 + limits.MARGIN_COUNT
SWEEPS_AT = TWIST_AT + 6
WORKSPACE_SIZE = SWEEPS_AT + 6 * SWEEP  # numbers in a workspace
MIN_MARGIN = 1e-12  # of a margin, m and rad: a pose nearer to a limit is not proved


@kernel
def smallest_singular_value(table, r, p, scale, hw, hv, work):
    """
    Return a lower bound of the smallest singular value of J in a ball; 0 where there is none.

    J is regular, with one sign of the determinant, where the bound is above 0. Writes how far the
    legs go too.
    """
    sweeps = work[SWEEPS_AT:WORKSPACE_SIZE]
    if len(table) > leg_rows.ENDS and not leg_types.write_leg_ends(table, r, p):
        for i in range(6):  # a rod that does not reach is beyond its dead centre
            reaches = leg_types.leg_value(table, i, r, p) < math.inf
            sweeps[SWEEP * i + VALUE_CHANGE] = 0.0 if reaches else math.inf
        return 0.0
    squared = work[CURVATURE_WORK:CURVATURE_WORK + 6]
    for i in range(6):
        leg = legs.leg_vector(table, i, r, p)
        squared[i] = vec3.dot(leg, leg)
    if not curvature.write_curvature(table, r, p, squared, work):
        return 0.0
    bounded = of_legs.write_sweeps(table, r, p, scale, hw, hv, work, sweeps)
    if len(table) > leg_rows.ENDS:
        return of_legs.least_singular_value(hw, work, sweeps) if bounded else 0.0
    beta = curvature.inverse_error(work)
    turning, mixed, moving = curvature.squares(work)
    k3, k4, shrink = 0.0, 0.0, 1.0
    for i in range(6):
        length, b = work[LEG_PARTS + LENGTH_PART + i], work[LEG_PARTS + PLATFORM_PART + i]
        share = work[LEG_PARTS + COLUMN_PART + i] / length
        k3 += share * b * (work[LEG_PARTS + CENTRE_PART + i] + SKEW)
        k4 += share * b
        shrink = min(shrink, length / (length + hw * b + hv))
    radius = (hw * hw + hv * hv) ** 0.5
    k = ((turning + mixed) ** 0.5 * hw + (mixed + moving) ** 0.5 * hv
         + 0.5 * (k3 + k4 * radius) * radius * radius)  # (14.8)
    if not k + beta < 1.0:
        return 0.0
    size = 0.0
    for i in range(36):
        size += work[A + i] * work[A + i]
    return (1.0 - beta - k) * shrink / size ** 0.5  # (14.9), sigma_min being 1 / |A| at least


@kernel
def first_limit(real_table, bounds, pose, scale, margins, sweeps):
    """
    Return the first limit that is not proved to be kept in a ball (14.11), or PROVED.

    pose: 4 by 4, m, the middle, from which the legs go as far as sweeps have it.
    """
    limits.margins(real_table, bounds, pose, margins)
    for i in range(6):
        leg = sweeps[SWEEP * i:SWEEP * (i + 1)]
        if not margins[i] > leg[VALUE_CHANGE] + MIN_MARGIN:
            return i
        for k, turn in ((ANGLE_FAULTS + i, leg[DIRECTION_TURN]),
                        (ANGLE_FAULTS + 6 + i, leg[OTHER_TURN])):
            if not margins[k] > turn + MIN_MARGIN:
                # A cone that is open all round is no limit.
                free = bounds[(BASE_CONE_FAULTS if k < ANGLE_FAULTS + 6 else
                               PLATFORM_CONE_FAULTS) + 4 * i + 3] >= math.pi
                if not free:
                    return k
    k = CLEARANCE_FAULTS
    for i in range(6):
        for j in range(i + 1, 6):
            both = sweeps[SWEEP * i + END_WAY] + sweeps[SWEEP * j + END_WAY]
            if bounds[DISTANCE_FAULTS + k - CLEARANCE_FAULTS] > 0.0 and not (
                    margins[k] > scale * both + MIN_MARGIN):
                return k
            k += 1
    return PROVED


@long_kernel
def prove_path(
        table: VECTOR, real_table: VECTOR, bounds: VECTOR, scale: NUMBER, centre: VECTOR,
        poses: CUBE, tube: VECTOR, threshold: NUMBER, shortest: NUMBER, durations: VECTOR,
        demands: VECTOR, pose: MATRIX, ends: VECTOR, work: VECTOR):
    """
    Prove the screws between poses (n, 4, 4), one after the other, until one is not proved.

    All in one call: between short ones no other thread comes to run. durations: (n - 1,), s of
    each screw, which takes it at a constant twist. The rest as for prove_screw; ends are counted
    from the first pose.
    """
    twist, least, tests = work[TWIST_AT:WORKSPACE_SIZE], math.inf, 0
    for k in range(poses.shape[0] - 1):
        motion.mean_twist(poses[k], poses[k + 1], 1.0, twist)
        fault, smallest, tried = prove_screw(
            table, real_table, bounds, scale, centre, poses[k], twist, tube, threshold, shortest,
            durations[k], demands, pose, ends, work)
        least = min(least, smallest)
        tests += tried
        if fault != PROVED:
            ends[0] += k
            ends[1] += k
            return fault, least, tests
    return PROVED, least, tests


@kernel
def prove_screw(
        table, real_table, bounds, scale, centre, start, twist, tube, threshold, shortest,
        duration, demands, pose, ends, work):
    """
    Prove the poses start exp(s twist), s from 0 to 1, and all within a tube about them.

    twist: (6,), of the platform frame's origin, rad and m. tube: (2,), rad and m. threshold: that
    the smallest singular value is to exceed. shortest: the piece, of 1, that is halved no more.
    duration: s. demands: on the drives, as in demands; empty for none. pose: (4, 4), space. ends:
    (2,), where the first piece begins and ends that is not proved. Returns (what is not proved
    there, or PROVED; the least bound of the smallest singular value; tests).
    """
    margins = work[CURVATURE_WORK + 6:TWIST_AT]
    w = vec3.load(twist, 0)
    v = vec3.add(vec3.load(twist, 3), vec3.cross(w, vec3.load(centre, 0)))
    speed_w, speed_v = vec3.dot(w, w) ** 0.5, vec3.dot(v, v) ** 0.5 / scale
    begin, size, least, tests = 0.0, 1.0, math.inf, 0
    while begin < 1.0:
        half = 0.5 * size
        r, p = pose_at(start, twist, begin + half, pose)
        hw, hv = speed_w * half + tube[0], speed_v * half + tube[1] / scale
        p = vec3.scale(1.0 / scale, vec3.add(mat3.apply(r, vec3.load(centre, 0)), p))
        smallest, fault = smallest_singular_value(table, r, p, scale, hw, hv, work), SINGULAR_FAULT
        tests += 1
        if smallest > threshold:
            fault = first_limit(real_table, bounds, pose, scale, margins,
                                work[SWEEPS_AT:WORKSPACE_SIZE])
        if fault == PROVED and len(demands) > 0:
            fault = first_demand(
                table, r, scale, vec3.scale(1.0 / duration, w),
                vec3.scale(1.0 / (duration * scale), v), hw, smallest, demands, work)
        if fault == PROVED:
            least = min(least, smallest)
            begin += size
            # Twice as long, where that ends on the grid of its length.
            if begin < 1.0 and begin / (2.0 * size) == math.floor(begin / (2.0 * size)):
                size *= 2.0
        elif half < shortest:
            ends[0], ends[1] = begin, begin + size
            return near_dead_centre(work[SWEEPS_AT:WORKSPACE_SIZE], fault), least, tests
        else:
            size = half
    return PROVED, least, tests


@kernel
def first_demand(table, r, scale, w, v, hw, smallest, demands, work):
    """Return the first of DEMAND_FAULTS that a ball is not proved to be free of, or PROVED."""
    k = of_legs.first_exceeded(
        table, r, scale, w, v, hw, smallest, demands, work, work[SWEEPS_AT:WORKSPACE_SIZE])
    return PROVED if k < 0 else DEMAND_FAULTS + k


@kernel
def near_dead_centre(sweeps, fault):
    """Return the first of DEAD_CENTRE_FAULTS that a leg may have in a ball, or the given fault."""
    for i in range(6):
        if fault == SINGULAR_FAULT and sweeps[SWEEP * i + VALUE_CHANGE] == math.inf:
            return DEAD_CENTRE_FAULTS + i
    return fault


@kernel
def pose_at(start, twist, share, pose):
    """Write start exp(share twist), 4 by 4, and return its rotation and position."""
    motion.move_pose(start, twist, share, pose)
    return motion.split(pose)
