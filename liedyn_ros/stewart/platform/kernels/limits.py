# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Margins of a pose to the platform's limits: travel, joint cones, clearance between legs.

The limits of n legs are one flat array: least and greatest value of each leg, 2 n cones, least
distance of each pair of axes; 75 numbers of six legs. A cone is a unit vector and an angle; n are
of the base, then n of the platform. Margins are n of travel, n of base and n of platform angles,
and those of clearance between two legs: 33 of six legs.
"""

import math

import numpy as np

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, NUMBER, TRUTH, VECTOR, WHOLE
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, legs

MARGIN_COUNT = 33  # of margins of one pose of six legs
ANGLES, CLEARANCES = 1, 3  # where their margins begin, in numbers of legs
BASE_CONES, PLATFORM_CONES, DISTANCES = 2, 6, 10  # where these limits begin, likewise
PLAUSIBLE = 10.0 ** 2.5  # times a platform's sizes in m: readings beyond are nearer to mm
# Flags of a pose, as in Flag
NEAR_SINGULARITY, LEG_TRAVEL, JOINT_ANGLE, LEG_CLEARANCE, NEAR_DEAD_CENTRE = (
    1, 2048, 4096, 8192, 65536)
PARALLEL = 1e-12  # of sin^2 between two legs, below which they count as parallel


@kernel
def margins(joints: VECTOR, limits: VECTOR, pose: MATRIX, out: VECTOR) -> NUMBER:
    """
    Write the margins of all limits at a pose (4 by 4), m and rad, negative where exceeded.

    Returns the least of them, NaN where one is.
    """
    r, p = split(pose)
    n, least = leg_rows.count_legs(joints), np.inf
    if not leg_types.write_leg_ends(joints, r, p):
        for k in range(len(out)):
            out[k] = -np.inf
        return -np.inf
    for i in range(n):
        leg, value = legs.leg_vector(joints, i, r, p), leg_types.leg_value(joints, i, r, p)
        out[i] = min(value - limits[2 * i], limits[2 * i + 1] - value)
        out[ANGLES * n + i] = to_rim(limits, BASE_CONES * n + 4 * i, leg)
        out[(ANGLES + 1) * n + i] = to_rim(
            limits, PLATFORM_CONES * n + 4 * i, vec3.neg(mat3.apply_t(r, leg)))
    write_clearances(joints, limits, r, p, out)
    for k in range(len(out)):
        if math.isnan(out[k]):
            return math.nan
        least = min(least, out[k])
    return least


@kernel
def limit_flags(
        joints: VECTOR, limits: VECTOR, pose: MATRIX, driven: TRUTH, value: NUMBER,
        warning: NUMBER, out: VECTOR) -> WHOLE:
    """
    Write the margins of all limits at a pose; return the flags of those exceeded, as bits.

    driven: whether drives have dead centres. value: the smallest singular value, which is near a
    singularity up to a warning, as the cosine of a drive is near its dead centre.
    """
    n, least = leg_rows.count_legs(joints), margins(joints, limits, pose, out)
    flags = NEAR_SINGULARITY if abs(value) <= warning else 0
    if driven:
        r, p = split(pose)
        for i in range(n):
            if leg_types.transmission(joints, i, r, p) <= warning:
                flags |= NEAR_DEAD_CENTRE
    if not least >= 0.0:
        flags |= LEG_TRAVEL if least_margin(out, 0, ANGLES * n) < 0.0 else 0
        flags |= JOINT_ANGLE if least_margin(out, ANGLES * n, CLEARANCES * n) < 0.0 else 0
        flags |= LEG_CLEARANCE if least_margin(out, CLEARANCES * n, len(out)) < 0.0 else 0
    return flags


@kernel
def least_margin(values, begin, end):
    """Return the least of some margins, NaN where one is."""
    least = np.inf
    for k in range(begin, end):
        if math.isnan(values[k]):
            return math.nan
        least = min(least, values[k])
    return least


@kernel
def bound_readings(joints: VECTOR, size: NUMBER, readings: VECTOR, limits: VECTOR):
    """
    Write limits (2 n) of readings where there are none, so that other units are refused.

    Cranks turn once to either side. Others stay below PLAUSIBLE times their readings at home, or
    the size of the platform (m).
    """
    for i in range(leg_rows.count_legs(joints)):
        most = PLAUSIBLE * max(abs(readings[i]), size)
        if leg_rows.has_rows(joints) and (
                joints[leg_rows.row_at(joints, i) + leg_rows.KIND] == leg_rows.CRANK):
            most = 2.0 * math.pi
        if math.isinf(limits[2 * i]):
            limits[2 * i] = -most
        if math.isinf(limits[2 * i + 1]):
            limits[2 * i + 1] = most


@kernel
def write_clearances(joints, limits, r, p, out):
    """Write the clearances of legs from end to end."""
    n = leg_rows.count_legs(joints)
    k = CLEARANCES * n
    for i in range(n):
        for j in range(i + 1, n):
            out[k] = distance(*leg_segment(joints, i, r, p), *leg_segment(joints, j, r, p))
            out[k] -= limits[DISTANCES * n + k - CLEARANCES * n]
            k += 1


@kernel
def leg_segment(joints, i, r, p):
    """Return where a leg begins on the base, and the vector from there to its other end."""
    foot = leg_types.leg_origin(joints, i, r, p)
    return foot, vec3.sub(vec3.add(mat3.apply(r, legs.platform_joint(joints, i)), p), foot)


@kernel
def margins_batch(joints: VECTOR, limits: VECTOR, poses: CUBE, out: MATRIX):
    """Write the margins of n poses, a row each."""
    for n in range(poses.shape[0]):
        margins(joints, limits, poses[n], out[n])


@kernel
def to_rim(limits, at, direction):
    """Return the angle from a direction to the rim of the cone that begins at an index."""
    axis = vec3.load(limits, at)
    across = vec3.cross(axis, direction)
    return limits[at + 3] - math.atan2(
        vec3.dot(across, across) ** 0.5, vec3.dot(axis, direction))


@kernel
def distance(p, u, q, v):
    """
    Return the distance of two segments, from p along u and from q along v.

    Their nearest points lie inside both or at an end of one (Lumelsky 1985).
    """
    offset = vec3.sub(p, q)
    uu, uv, vv = vec3.dot(u, u), vec3.dot(u, v), vec3.dot(v, v)
    uo, vo = vec3.dot(u, offset), vec3.dot(v, offset)
    determinant = uu * vv - uv * uv
    if determinant > PARALLEL * uu * vv:
        s, t = (uv * vo - vv * uo) / determinant, (uu * vo - uv * uo) / determinant
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            return size(vec3.axpy(s, u, vec3.axpy(-t, v, offset)))
    back = vec3.neg(offset)
    return min(min(to_segment(offset, v), to_segment(vec3.add(offset, u), v)),
               min(to_segment(back, u), to_segment(vec3.add(back, v), u)))


@kernel
def to_segment(point, along):
    """Return the distance of a point from a segment that begins at the origin."""
    share = min(max(vec3.dot(point, along) / vec3.dot(along, along), 0.0), 1.0)
    return size(vec3.axpy(-share, along, point))


@kernel
def size(a):
    """Return |a|."""
    return vec3.dot(a, a) ** 0.5
