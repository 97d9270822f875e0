# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How far legs go while the platform stays in a ball: struts, rods on rails and on cranks.

A ball is |w| <= hw, |v| <= hv in the chart of curvature, units of rho. The driven end of a rod
follows the platform by its drive's cosine, which the ball may change (14.47).

Speeds and forces of the drives over all poses of a ball (14.48, 14.49): the platform moves at a
twist that is constant in its own axes, and at any further one within bounds. A force that is
constant in the base acts on a point of the platform, with any further wrench within bounds.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.stewart.certificate.kernels import curvature
from liedyn_ros.stewart.certificate.kernels.curvature import (
    A, CENTRE_PART, COLUMN_PART, DG, LEG_PARTS, LENGTH_PART, PLATFORM_PART)
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, legs

# Of a leg: change of its value (m or rad), turns of its direction seen from base and platform
# (rad). Then the way of either end, the change of its unit vector, and the least and the greatest
# of the drive's transmission.
(VALUE_CHANGE, DIRECTION_TURN, OTHER_TURN, END_WAY, BENT, LEAST_TRANSMISSION,
 LARGEST_TRANSMISSION) = 0, 1, 2, 3, 4, 5, 6
SWEEP = 7  # numbers of a leg


@kernel
def write_sweeps(table, r, p, scale, hw, hv, work, sweeps):
    """
    Write SWEEP of each leg in a ball; return whether no drive can reach its dead centre.

    The legs' numbers of the middle are in the workspace, and the ends of the rods in the table.
    The value of a leg that can is infinite.
    """
    bounded = True
    for i in range(6):
        length, b, c = (work[LEG_PARTS + LENGTH_PART + i], work[LEG_PARTS + PLATFORM_PART + i],
                        work[LEG_PARTS + CENTRE_PART + i])
        out = sweeps[SWEEP * i:SWEEP * (i + 1)]
        tip, kind = hw * b + hv, leg_rows.STRUT
        if len(table) > leg_rows.ENDS:
            kind = table[leg_rows.ENDS + leg_rows.ROW * i + leg_rows.KIND]
        if kind == leg_rows.RAIL or kind == leg_rows.CRANK:
            bounded &= write_driven_sweep(table, i, r, p, scale, length, tip, hw, out)
        else:
            out[VALUE_CHANGE], out[END_WAY] = scale * tip, tip
            out[LEAST_TRANSMISSION], out[LARGEST_TRANSMISSION] = 1.0, 1.0
            out[DIRECTION_TURN] = math.asin(tip / length) if tip < length else math.pi
            across = hw * c + hv
            out[OTHER_TURN] = math.asin(across / length) if across < length else math.pi
            out[BENT] = 2.0 * math.sin(0.5 * out[DIRECTION_TURN])
    return bounded


@kernel
def write_driven_sweep(table, i, r, p, scale, length, tip, hw, out):
    """Write SWEEP of a rod on a rail or a crank whose tip moves; return whether it is bounded."""
    row = table[leg_rows.ENDS + leg_rows.ROW * i:leg_rows.ENDS + leg_rows.ROW * (i + 1)]
    cosine = leg_types.transmission(table, i, r, p)
    is_crank = row[leg_rows.KIND] == leg_rows.CRANK
    curvatures = 1.0 / length + (1.0 / row[leg_rows.OTHER] if is_crank else 0.0)
    lost = tip * curvatures / (cosine * cosine)  # theta (1 - theta) of (14.47)
    if not (cosine > 0.0 and lost < 0.25):
        out[VALUE_CHANGE] = math.inf
        return False
    out[LEAST_TRANSMISSION] = cosine * (0.5 + (0.25 - lost) ** 0.5)
    way = tip / out[LEAST_TRANSMISSION]
    out[LARGEST_TRANSMISSION] = min(cosine + way * curvatures, 1.0)
    out[VALUE_CHANGE] = way / row[leg_rows.OTHER] if is_crank else scale * way
    out[END_WAY], out[BENT] = max(tip, way), way / length
    out[DIRECTION_TURN] = 2.0 * math.asin(min(0.5 * out[BENT], 1.0))
    out[OTHER_TURN] = out[DIRECTION_TURN] + hw
    return True


@kernel
def least_singular_value(hw, work, sweeps):
    """
    Return a lower bound of the smallest singular value of J in a ball, of swept legs (14.10).

    The rows of J are of forces along the rods, their axes those of the base, moments those of the
    platform. They change by at most what the legs' unit vectors do.
    """
    size = 0.0
    for i in range(36):
        size += work[A + i] * work[A + i]
    change = swept_jacobian_change(hw, work, sweeps)
    return (1.0 - curvature.inverse_error(work)) / size ** 0.5 - change


@kernel
def swept_jacobian_change(hw, work, sweeps):
    """Return a bound of the change of J in a ball, of swept legs, in these axes (14.10)."""
    turned, change = 2.0 * math.sin(0.5 * min(hw, math.pi)), 0.0
    for i in range(6):
        bent, b = sweeps[SWEEP * i + BENT], work[LEG_PARTS + PLATFORM_PART + i]
        change += bent * bent + (b * (turned + bent)) ** 2
    return change ** 0.5


# Parts of the demands: the limits of each drive's speed and force, in m or rad. Then the force, N,
# in the base's axes and its point; what the twist (rad/s, 1/s) and the wrench (N, N) may have
# besides. Then the bounds of each drive's speed and force in a ball, and the greatest so far.
SPEEDS, FORCES, PLATFORM_FORCE, FORCE_POINT, TURNS, MOVES, PULLS, MOMENTS = (
    0, 6, 12, 15, 18, 19, 20, 21)
DRIVE_BOUNDS, GREATEST_DEMANDS, DEMANDS = 22, 34, 46


@kernel
def first_exceeded(table, r, scale, w, v, hw, smallest, demands, work, sweeps):
    """
    Return the first speed (0 to 5) or force (6 to 11) that may exceed its limit, or -1.

    r: rotation of the ball's middle, whose numbers are in the workspace and in sweeps. w, v: twist
    there. smallest: a lower bound of the smallest singular value in the ball.
    """
    bound_speeds(table, scale, w, v, hw, demands, work, sweeps)
    bound_forces(table, r, scale, hw, smallest, demands, work, sweeps)
    for k in range(12):
        if not demands[DRIVE_BOUNDS + k] <= demands[k]:
            return k
    for k in range(12):
        demands[GREATEST_DEMANDS + k] = max(
            demands[GREATEST_DEMANDS + k], demands[DRIVE_BOUNDS + k])
    return -1


@kernel
def bound_speeds(table, scale, w, v, hw, demands, work, sweeps):
    """Write the bounds of the drives' speeds (14.48)."""
    turned = 2.0 * math.sin(0.5 * min(hw, math.pi))
    for i in range(6):
        tip = vec3.add(v, vec3.cross(w, legs.platform_joint(table, i)))
        along = (vec3.dot(vec3.load(work, DG + 6 * i), w)
                 + vec3.dot(vec3.load(work, DG + 6 * i + 3), v))
        bent, least = sweeps[SWEEP * i + BENT], sweeps[SWEEP * i + LEAST_TRANSMISSION]
        rod = (abs(along) + vec3.dot(tip, tip) ** 0.5 * (bent + turned)
               + demands[MOVES] + demands[TURNS] * work[LEG_PARTS + PLATFORM_PART + i])
        arm = crank_of(table, i)
        demands[DRIVE_BOUNDS + i] = rod / (least * arm) if arm > 0.0 else scale * rod / least


@kernel
def bound_forces(table, r, scale, hw, smallest, demands, work, sweeps):
    """Write the bounds of the drives' forces (14.49)."""
    turned = 2.0 * math.sin(0.5 * min(hw, math.pi))
    force = mat3.apply_t(r, vec3.load(demands, PLATFORM_FORCE))
    point = vec3.load(demands, FORCE_POINT)
    moment = vec3.cross(point, force)
    size = vec3.dot(force, force) ** 0.5
    lever = size * vec3.dot(point, point) ** 0.5
    pulls, moments = demands[PULLS], demands[MOMENTS]
    most = ((lever + moments) ** 2 + (size + pulls) ** 2) ** 0.5
    beta = curvature.inverse_error(work)
    change = ((lever * turned + moments) ** 2 + pulls * pulls) ** 0.5 + beta * most
    squares, inverse = 0.0, 0.0
    for i in range(6):
        rod = 0.0
        for k in range(3):
            rod += work[A + 6 * k + i] * moment[k] + work[A + 6 * (3 + k) + i] * force[k]
        demands[DRIVE_BOUNDS + 6 + i] = abs(rod)
        squares += rod * rod
        inverse += work[LEG_PARTS + COLUMN_PART + i] ** 2
    inverse = inverse ** 0.5 / (1.0 - beta)
    turn = swept_jacobian_change(hw, work, sweeps)
    rods = most / smallest  # a bound of all six forces together
    if inverse * turn < 1.0:
        rods = min(rods, (squares ** 0.5 + inverse * change) / (1.0 - inverse * turn))
    change = (change + turn * rods) / (1.0 - beta)
    for i in range(6):
        rod = demands[DRIVE_BOUNDS + 6 + i]
        transmission = sweeps[SWEEP * i + LARGEST_TRANSMISSION]
        bound = (rod + work[LEG_PARTS + COLUMN_PART + i] * change) * transmission
        arm = crank_of(table, i)
        demands[DRIVE_BOUNDS + 6 + i] = bound * arm * scale if arm > 0.0 else bound


@kernel
def crank_of(table, i):
    """Return the radius of a leg's crank, 0 of other legs."""
    at = leg_rows.ENDS + leg_rows.ROW * i
    if len(table) == leg_rows.ENDS or table[at + leg_rows.KIND] != leg_rows.CRANK:
        return 0.0
    return table[at + leg_rows.OTHER]
