# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The certificate of a pose by Newton and Kantorovich (14.1 to 14.7), units as in curvature.

Terms of offset joints, screws and wires (14.45, 14.51): half a squared length is the least over
the turns of its two first axes. So its second derivative is that of the joints' distance, and a
part that is small as the offsets are. All bounds hold within a radius that keeps the legs far from
both axes. A wire's length has the gradient of a distance, a unit vector along the free wire. Its
second derivative is that of a distance but for a part that is small as the pulley is.
"""

import math

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR
from liedyn_ros.lie.kernels import mat3, motion, vec3
from liedyn_ros.stewart.certificate.kernels import curvature
from liedyn_ros.stewart.certificate.kernels.curvature import (
    A, BASE_PART, CENTRE_PART, COLUMN_PART, CURVATURE_WORK, DG, G, INVERSE_PART, LEG_PARTS,
    LENGTH_PART, MEASURED_PART, PLATFORM_PART, UNIT_ROUNDOFF)
from liedyn_ros.stewart.platform.kernels import leg_types
from liedyn_ros.stewart.platform.kernels.leg_rows import (
    BASE, ENDS, FIRST_UNIT, KIND, LENGTH, OFFSET, OTHER, PLATFORM, ROW, SCREW_PITCH, SECOND_UNIT,
    WIRE)

SKEW = 2.0 / 3.0 ** 0.5

# Parts of the constants of a platform: rho, m; centre of its joints in its frame, m; bounds in
# units of rho; centred table. The bounds are those of lengths, joint centres on base and
# platform, travel of driven ends and its curvature.
SCALE, MIDDLE, LEG_BOUNDS, CENTRED_TABLE = 0, 1, 4, 34
# Parts of a workspace besides those of curvature. Proved are the radii r_minus, r_plus, r_reg, m,
# and the half widths of the box, rad and m.
SQUARED, LENGTH_ERRORS, OFFSETS, PROVED_RADII, CERTIFICATE_WORK = (
    CURVATURE_WORK + k for k in (0, 6, 12, 30, 39))


@kernel
def certify(known: VECTOR, values: VECTOR, pose: MATRIX, work: VECTOR) -> None:
    """Certify a pose (4 by 4, m) for drive coordinates (14.6, 14.7); NaN if it is not proved."""
    proved, scale = work[PROVED_RADII:CERTIFICATE_WORK], known[SCALE]
    if prove(known, values, pose, work):
        for k in (0, 1, 2, 6, 7, 8):
            proved[k] *= scale
    else:
        for k in range(CERTIFICATE_WORK - PROVED_RADII):
            proved[k] = math.nan


@kernel
def prove(known, values, pose, work):
    """Certify a pose in units of rho; return whether anything is proved."""
    scale, centre, bounds = known[SCALE], vec3.load(known, MIDDLE), known[LEG_BOUNDS:CENTRED_TABLE]
    table = known[CENTRED_TABLE:]
    squared, error = work[SQUARED:LENGTH_ERRORS], work[LENGTH_ERRORS:OFFSETS]
    write_squared_lengths(table, values, scale, squared)
    r, p = motion.split(pose)
    p = vec3.scale(1.0 / scale, vec3.add(p, mat3.apply(r, centre)))
    leg_types.write_all_ends(table, r, p)
    if not curvature.write_curvature(table, r, p, squared, work):
        return False
    leg, terms, trusted = work[LEG_PARTS:CURVATURE_WORK], work[OFFSETS:PROVED_RADII], 1e300
    if len(table) > ENDS:
        trusted = trusted_radius(table, r, p)
        if not write_terms(table, r, p, leg[LENGTH_PART:], bounds, trusted, terms):
            return False
    uneven = curvature.not_orthonormal(r)
    position = vec3.dot(p, p) ** 0.5
    beta = curvature.inverse_error(work)
    eta, plain, extra, k3, k4, curved = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(6):
        length, share, inverse = leg[LENGTH_PART + i], leg[COLUMN_PART + i], leg[INVERSE_PART + i]
        b, c, delta = leg[PLATFORM_PART + i], leg[CENTRE_PART + i], bounds[i]
        along, of_base, of_platform = displacements(table, work, bounds, r, i)
        of_joints, turn = of_base + of_platform, 1.0 + b * b
        size = leg[BASE_PART + i] + b + position
        bent, further = 0.0, 0.0
        if len(table) > ENDS:
            bent, delta = terms[TERMS * i], delta + terms[TERMS * i + 2]
            beta += share * inverse * terms[TERMS * i + 1]
            further = joints_beyond(table, i)
        error[i] = residual_bound(leg, i, delta, along, of_joints, uneven, size)
        eta += share * error[i]
        share *= inverse
        beta += share * (of_joints * turn ** 0.5 + (length + of_joints) * of_platform
                         + 2.0 * uneven * b * length + 12.0 * UNIT_ROUNDOFF * size * turn ** 0.5)
        far_b, far_l = b + of_platform, length + of_joints + further
        curved += share * bent
        plain += share * (1.0 + far_b * far_b + far_l * far_b)
        extra += share * (of_platform + of_platform * (c + of_base) + b * of_base)  # (14.5)
        k3 += share * far_b * (c + of_joints + SKEW)
        k4 += share * far_b
    turning, mixed, moving = curvature.squares(work)
    k0 = min((turning + 2.0 * mixed + moving) ** 0.5, plain) + extra + curved
    r0 = min(4.0 / (k0 + (k0 * k0 + 4.0 * k3) ** 0.5), trusted)
    return conclude(eta, beta, k0 + 0.5 * (k3 + k4 * r0) * r0, r0, error, work)


WIRE_ROUNDING = 2.0 ** -48  # of the length of a wire, by its angles


@kernel
def place_at_pulley(row, r, p):
    """Return how far a wire's platform joint is from the axis and from the pulley's middle."""
    tip = vec3.add(mat3.apply(r, vec3.load(row, PLATFORM)), p)
    w = vec3.sub(tip, vec3.load(row, BASE))
    height = vec3.dot(w, vec3.load(row, FIRST_UNIT))
    far = max(vec3.dot(w, w) - height * height, 0.0) ** 0.5
    return far, ((far - row[LENGTH]) ** 2 + height * height) ** 0.5


@kernel
def distance_from_pulley(row, r, p):
    """Return how far a pose is from those at which a wire's joint is at its axis or its rim."""
    b = vec3.load(row, PLATFORM)
    far, middle = place_at_pulley(row, r, p)
    return min(far, middle - row[LENGTH]) / (1.0 + vec3.dot(b, b)) ** 0.5


@kernel
def write_wire_terms(row, r, p, length, error, radius, out):
    """Write the terms of a wire within a radius (14.51), as offsets; return whether they hold."""
    b = vec3.load(row, PLATFORM)
    far, middle = place_at_pulley(row, r, p)
    square = vec3.dot(b, b)
    arm, pulley = (1.0 + square) ** 0.5, row[LENGTH]
    moved = arm * radius + error
    nearest = middle - moved
    if not (nearest > pulley and far > moved):
        return False
    free, most = (nearest * nearest - pulley * pulley) ** 0.5, length + moved
    bent = max(most / free - 1.0, 2.0 * pulley * most / (free * (far - moved)))
    out[0] = bent * arm * (arm + square ** 0.5 * radius)
    out[1] = bent * error * arm
    out[2] = 0.5 * bent * error * error / length + WIRE_ROUNDING * length
    return True


SHARE = 0.15  # of the distances of joints from axes, which the legs may move
TERMS = 3  # of a leg: its curvature, change of its derivative, error of its length


@kernel
def trusted_radius(table, r, p):
    """Return a radius within which all legs with offsets stay far from their axes."""
    radius = 1e300
    for i in range(6):
        row = table[ENDS + ROW * i:ENDS + ROW * (i + 1)]
        if row[KIND] == OFFSET:
            b, c, far, other_far = distances(row, r, p)
            radius = min(radius, SHARE * min(
                far / (1.0 + b * b) ** 0.5, other_far / (1.0 + c * c) ** 0.5))
        elif row[KIND] == WIRE:
            radius = min(radius, SHARE * distance_from_pulley(row, r, p))
    return radius


@kernel
def joints_beyond(table, i):
    """Return by how much the joints of a leg may be further apart than it is long."""
    row = table[ENDS + ROW * i:ENDS + ROW * (i + 1)]
    return row[LENGTH] + row[OTHER] if row[KIND] == OFFSET else 0.0


@kernel
def distances(row, r, p):
    """Return |b|, |c|, and how far each joint is from the first axis of the other one."""
    a, b = vec3.load(row, BASE), vec3.load(row, PLATFORM)
    c = mat3.apply_t(r, vec3.sub(p, a))
    w = vec3.add(b, c)
    far = vec3.cross(w, mat3.apply_t(r, vec3.load(row, FIRST_UNIT)))
    other = vec3.cross(w, vec3.load(row, SECOND_UNIT))
    return (vec3.dot(b, b) ** 0.5, vec3.dot(c, c) ** 0.5, vec3.dot(far, far) ** 0.5,
            vec3.dot(other, other) ** 0.5)


@kernel
def write_terms(table, r, p, lengths, bounds, radius, out):
    """
    Write the terms of each leg within a radius; return whether there are such bounds.

    lengths: (6,), of the legs. bounds: of base joints and platform joints from 6 and 12 on.
    """
    usable = True
    for i in range(6):
        at = TERMS * i
        out[at] = out[at + 1] = out[at + 2] = 0.0
        row = table[ENDS + ROW * i:ENDS + ROW * (i + 1)]
        if row[KIND] == OFFSET:
            usable &= write_leg_terms(
                row, r, p, lengths[i], bounds[6 + i] + bounds[12 + i], radius,
                out[at:at + TERMS])
        elif row[KIND] == WIRE:
            usable &= write_wire_terms(
                row, r, p, lengths[i], bounds[6 + i] + bounds[12 + i], radius,
                out[at:at + TERMS])
    return usable


@kernel
def write_leg_terms(row, r, p, length, error, radius, out):
    """Write the terms of a leg with offsets e and e' (14.45); return whether they hold."""
    e, other_e = row[LENGTH], row[OTHER]
    b, c, far, other_far = distances(row, r, p)
    arm, end_arm = (1.0 + b * b) ** 0.5, (1.0 + (b + other_e) ** 2) ** 0.5
    least = far - other_e - arm * radius - error
    other_least = other_far - e - (1.0 + (c + radius) ** 2) ** 0.5 * radius - error
    most = length + end_arm * radius + error
    if not (least > e and other_least > other_e):
        return False
    first, second, x = e / least, other_e / other_least, end_arm + most
    both = first * second
    out[0] = (end_arm * end_arm * first + 2.0 * end_arm * x * both + x * x * second) / (1.0 - both)
    out[0] += b * (e + other_e) + other_e * (2.0 * arm + most + other_e + 2.0 * e)
    out[1] = error * (end_arm * first + (end_arm + x) * both + x * second) / (1.0 - both)
    across, other_across = least - e, other_least - other_e  # of the length, to each axis
    determinant = across * other_across + across * other_e + other_across * e
    along = max(1.0 - (across / most) ** 2, 0.0) ** 0.5
    other_along = max(1.0 - (other_across / most) ** 2, 0.0) ** 0.5
    by_n = (along / (across + e - e * other_e / (other_across + other_e))
            + other_along * e / determinant)
    by_m = (other_along / (other_across + other_e - e * other_e / (across + e))
            + along * other_e / determinant)
    pitch = abs(row[SCREW_PITCH])
    slope = pitch * (1.0 + by_m * most + (by_n + by_m) * end_arm)
    out[1] += slope * (length + slope * radius)
    out[2] = pitch * (by_n + by_m) * error
    return True


@inlined
def displacements(table, work, bounds, r, i):
    """Return bounds of leg i: along it, and of its ends on the base and on the platform."""
    of_platform, travel = bounds[12 + i], bounds[18 + i]
    of_base, along = bounds[6 + i] + travel, bounds[6 + i] + of_platform
    if travel > 0.0:
        along += travel_along_leg(table, work, r, i, travel) + bounds[24 + i]
    return along, of_base, of_platform


@inlined
def residual_bound(leg, i, delta, along, of_joints, uneven, size):
    """Return the bound of residual i (14.2), |l_i| eps_i being the way along the leg."""
    length, measured, inverse = leg[LENGTH_PART + i], leg[MEASURED_PART + i], leg[INVERSE_PART + i]
    rounding = (length * inverse * (uneven * leg[PLATFORM_PART + i] + 6.0 * UNIT_ROUNDOFF * size)
                + 4.0 * UNIT_ROUNDOFF * (length * length + measured * measured) * inverse)
    return (delta + 0.5 * delta * delta * inverse
            + (along * length + 0.5 * of_joints * of_joints) * inverse
            + rounding)


@inlined
def write_squared_lengths(table, values, scale, squared):
    """Write the squared lengths (6,) of the rods in units of rho, for drive coordinates."""
    if len(table) == ENDS:
        for i in range(6):
            squared[i] = (values[i] / scale) ** 2
    else:
        leg_types.write_driven_ends(table, values, squared)


@inlined
def travel_along_leg(table, work, r, i, travel):
    """Return the part along a leg of its driven end's travel, which is along its way alone."""
    leg = work[LEG_PARTS:CURVATURE_WORK]
    way = mat3.apply_t(r, leg_types.drive_direction(table, i))
    cosine = vec3.dot(vec3.load(work, DG + 6 * i + 3), way) * (
        leg[MEASURED_PART + i]) / leg[LENGTH_PART + i]
    return abs(cosine) * travel


@kernel
def conclude(eta, beta, k, r0, error, work):
    """Write radii and box, where the test (14.6) holds; return whether it does."""
    proved, shift = work[PROVED_RADII:CERTIFICATE_WORK], 0.0
    for j in range(6):
        total, width = 0.0, 0.0
        for i in range(6):
            total += work[A + 6 * j + i] * work[LEG_PARTS + G + i]
            width += abs(work[A + 6 * j + i]) * error[i]
        shift += total * total
        proved[3 + j] = abs(total) + width
    eta += shift ** 0.5
    left = 1.0 - beta
    square = left * left - 2.0 * k * eta
    if not (left > 0.0 and square >= 0.0):
        return False
    root = square ** 0.5
    proved[0] = 2.0 * eta / (left + root)
    proved[1] = min(r0, (left + root) / k)
    proved[2] = left / k
    if not proved[0] < r0:
        return False
    for j in range(6):
        proved[3 + j] += beta * proved[0] + 0.5 * k * proved[0] * proved[0]  # (14.7)
    return True
