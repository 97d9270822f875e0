# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Speeds and forces of the drives over all poses of a ball (14.48, 14.49).

The platform moves at a twist that is constant in its own axes, and at any further one within
bounds. A force that is constant in the base acts on a point of the platform, with any further
wrench within bounds. Lengths are in units of rho, about the platform joints' centre.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.stewart.certificate.kernels import curvature, sweeps as of_legs
from liedyn_ros.stewart.certificate.kernels.curvature import (
    A, COLUMN_PART, DG, LEG_PARTS, PLATFORM_PART)
from liedyn_ros.stewart.certificate.kernels.sweeps import (
    BENT, LARGEST_TRANSMISSION, LEAST_TRANSMISSION, SWEEP)
from liedyn_ros.stewart.platform.kernels import leg_rows, legs

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
    turn = of_legs.swept_jacobian_change(hw, work, sweeps)
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
