# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Terms of offset joints, screws and wires in the proof of a pose (14.45, 14.51).

Half a squared length is the least over the turns of its two first axes. So its second derivative
is that of the joints' distance, and a part that is small as the offsets are. All bounds hold
within a radius that keeps the legs far from both axes.

Terms of wires over pulleys in the proof of a pose (14.51). A wire's length has the gradient of a
distance, a unit vector along the free wire. Its second derivative is that of a distance but for a
part that is small as the pulley is.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.stewart.platform.kernels.leg_rows import (
    BASE, ENDS, FIRST_UNIT, KIND, LENGTH, OFFSET, OTHER, PLATFORM, ROW, SCREW_PITCH, SECOND_UNIT,
    WIRE)

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
def of_joints(table, i):
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
