# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Leg types as plain legs: at a pose, each is a strut between two points (14.34 to 14.44).

The table and its rows are described in `leg_rows`. For plain struts the ends are the joints and
the whole table. Else they move: `write_leg_ends` writes the ends at a pose, `write_driven_ends`
those at given drive coordinates. A rod from end to end has the length and rates of a plain leg
(14.34), so results for plain legs hold for all. Only a screw that turns with the platform adds to
its rates (14.42). The ratio is u . A', the rod's unit vector times the motion of its end by the
drive coordinate: 1 for struts, 0 at a dead centre.

The screw of a leg between two universal joints turns with the platform (14.42). The nut is held by
the joint on the base, the spindle by that on the platform. So the length is the reading plus the
lead times the turn of one against the other.

A wire over a pulley that swivels: its length on the drum's side grows with its wrap (14.43).

Two driven axes a leg: a point on a plane carries a guide, or slides along one (14.44). Either the
guide is fixed to the moving point, and the platform joint slides along it. Or it is fixed to the
platform, and the moving point slides along it. A platform has three such legs, each with two
coordinates.
"""

import math

import numpy as np

from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, ROTATION, TRIPLE, VECTOR, WHOLE
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.kernels import legs
from liedyn_ros.stewart.platform.kernels.leg_rows import (
    BASE, CARRIED_STAGE, count_legs, CRANK, DRIVE_VALUE, END_SHIFT, FIRST_UNIT, GUIDE, has_rows,
    KIND, LENGTH, OFFSET, OTHER, PLATFORM, RAIL, RATIO, ROW, row_at, SCREW_PHASE, SCREW_PITCH,
    SCREW_TURN, SECOND_UNIT, SIDE, SIZE, STAGE, TARGET, UNIT, WIRE)


@kernel
def wind_wire(table, row, i, r, p):
    """
    Write the base end of a rod along the free wire, as long as all of it (14.43).

    The wire arrives along the axis at the base joint, on the far side of the pulley. Returns
    whether the platform joint is outside the pulley, else NaN.
    """
    a, s, radius = vec3.load(row, BASE), vec3.load(row, FIRST_UNIT), row[LENGTH]
    tip = vec3.add(mat3.apply(r, vec3.load(row, PLATFORM)), p)
    w = vec3.sub(tip, a)
    height = vec3.dot(w, s)
    side = vec3.axpy(-height, s, w)
    far = vec3.dot(side, side) ** 0.5
    beyond = far - radius
    square = beyond * beyond + height * height
    outside = square > radius * radius and far > 0.0
    free = (square - radius * radius) ** 0.5 if outside else math.nan
    angle = math.atan2(height, beyond) + math.acos(min(radius / square ** 0.5, 1.0))
    wound = radius * (math.pi - angle)
    touch = vec3.axpy(radius * (1.0 + math.cos(angle)) / far, side,
                      vec3.axpy(radius * math.sin(angle), s, a))
    along = vec3.scale(1.0 / free, vec3.sub(tip, touch))
    vec3.store(table, 3 * i, vec3.axpy(-free - wound, along, tip))
    row[END_SHIFT] = wound
    return outside


@kernel
def turn_screw(table, row, i, r, p):
    """Move the base end of a leg along it, so that the ends are the reading apart (14.42)."""
    leg = legs.leg_vector(table, i, r, p)
    size = vec3.dot(leg, leg) ** 0.5
    u = vec3.scale(1.0 / size, leg)
    n = vec3.cross(vec3.load(row, FIRST_UNIT), u)
    m = vec3.cross(mat3.apply(r, vec3.load(row, SECOND_UNIT)), u)
    angle = math.atan2(vec3.dot(u, vec3.cross(n, m)), vec3.dot(n, m)) - row[SCREW_PHASE]
    angle -= 2.0 * math.pi * math.floor((angle - row[SCREW_TURN]) / (2.0 * math.pi) + 0.5)
    row[END_SHIFT] = -row[SCREW_PITCH] * angle
    vec3.store(table, 3 * i, vec3.axpy(-row[END_SHIFT], u, legs.base_joint(table, i)))


@kernel
def turn_wrench(table, row, i, r, p):
    """
    Return (moment, force) of the reading's change by the turn, in the platform frame (14.42).

    The rates of the two first axes come from the motion of the leg's direction across each of
    them. The ends move about these axes too.
    """
    leg = legs.leg_vector(table, i, r, p)
    size = vec3.dot(leg, leg) ** 0.5
    u, length = mat3.apply_t(r, vec3.scale(1.0 / size, leg)), size - row[END_SHIFT]
    s, t = mat3.apply_t(r, vec3.load(row, FIRST_UNIT)), vec3.load(row, SECOND_UNIT)
    n, m = vec3.cross(s, u), vec3.cross(t, u)
    sine, other_sine = vec3.dot(n, n) ** 0.5, vec3.dot(m, m) ** 0.5
    n, m = vec3.scale(1.0 / sine, n), vec3.scale(1.0 / other_sine, m)
    cosine, e, other_e = vec3.dot(n, m), row[LENGTH], row[OTHER]
    across, other_across = sine * length + e, other_sine * length + other_e
    determinant = across * other_across - e * other_e * cosine * cosine
    us, ut = vec3.dot(u, s) / determinant, vec3.dot(u, t) / determinant
    by_n = -ut * e * cosine - us * other_across
    by_m = ut * across + us * other_e * cosine
    force = vec3.axpy(by_n, n, vec3.scale(by_m, m))
    moment = vec3.add(vec3.cross(legs.platform_joint(table, i), force),
                      vec3.axpy(-by_m * length, vec3.cross(u, m), u))
    return vec3.scale(-row[SCREW_PITCH], moment), vec3.scale(-row[SCREW_PITCH], force)


@kernel
def add_turns(table, r, p, trivialization, squared, out):
    """Add the turns of screws to d(rod)/d(twist), n by 6, or to that of squared rods."""
    if not has_rows(table):
        return
    for i in range(count_legs(table)):
        at = row_at(table, i)
        row = table[at:at + ROW]
        if row[SCREW_PITCH] != 0.0:
            m, f = turn_wrench(table, row, i, r, p)
            if trivialization == legs.BY_SPATIAL_TWIST:
                f = mat3.apply(r, f)
                m = vec3.add(mat3.apply(r, m), vec3.cross(p, f))
            scale = twice_length(table, i, r, p) if squared else 1.0
            vec3.store(out, 6 * i, vec3.axpy(scale, m, vec3.load(out, 6 * i)))
            vec3.store(out, 6 * i + 3, vec3.axpy(scale, f, vec3.load(out, 6 * i + 3)))


@kernel
def twice_length(table, i, r, p):
    """Return d(rod^2)/d(rod)."""
    leg = legs.leg_vector(table, i, r, p)
    return 2.0 * vec3.dot(leg, leg) ** 0.5


STAGE_ROD = 8.0  # of the rod that stands for a stage, in units of the table


@kernel
def place_stage(table, row, i, r, p, solving):
    """
    Write the ends of a rod along the force of a stage's drive (14.44).

    Where values are given (solving), the rod is longer than STAGE_ROD by their error, else it is
    STAGE_ROD. Returns whether there are such ends, else they are NaN.
    """
    a, b = vec3.load(row, BASE), vec3.load(row, PLATFORM)
    dual, normal = vec3.load(row, FIRST_UNIT), vec3.load(row, SECOND_UNIT)
    guide = vec3.load(row, GUIDE)
    tip = vec3.add(mat3.apply(r, b), p)
    if row[KIND] == CARRIED_STAGE:
        along = mat3.apply(r, guide)
        slide = vec3.dot(normal, vec3.sub(a, tip)) / vec3.dot(normal, along)
        vec3.store(table, 3 * (count_legs(table) + i), vec3.axpy(slide, guide, b))
        tip, guide = vec3.axpy(slide, along, tip), along
    n = vec3.axpy(-vec3.dot(dual, guide) / vec3.dot(normal, guide), normal, dual)
    size = vec3.dot(n, n) ** 0.5
    value, length = vec3.dot(n, vec3.sub(tip, a)), STAGE_ROD
    if solving:
        length = rod_length((value - row[TARGET]) / size)
    else:
        row[DRIVE_VALUE], row[RATIO] = value, 1.0 / size
    vec3.store(table, 3 * i, vec3.axpy(-length / size, n, tip))
    return size > 0.0


@kernel
def rod_length(error):
    """Return STAGE_ROD plus an error, limited so that a rod of another length stays above zero."""
    half = 0.5 * STAGE_ROD
    if error > -half:
        return STAGE_ROD + error
    return half * half / -error


MAX_TURNS = 40  # of the iteration for offset joints, whose error falls by e e' / l^2 each
# Of the square of a leg's length, by which its ends move in the last
SQUARED_STEP_TOLERANCE = 1e-32


@kernel
def write_leg_ends(table: VECTOR, r: ROTATION, p: TRIPLE):
    """Write the ends of the legs at a pose. Returns whether every rod reaches; else NaN."""
    if not has_rows(table):
        return True
    reached = True
    for i in range(count_legs(table)):
        at = row_at(table, i)
        row = table[at:at + ROW]
        if row[KIND] == RAIL:
            reached &= place_carriage(table, row, i, r, p)
        elif row[KIND] == CRANK:
            reached &= turn_crank(table, row, i, r, p)
        elif row[KIND] >= STAGE:
            reached &= place_stage(table, row, i, r, p, False)
        else:
            reached &= write_strut_ends(table, row, i, r, p)
            leg = legs.leg_vector(table, i, r, p)
            row[DRIVE_VALUE], row[RATIO] = vec3.dot(leg, leg) ** 0.5, 1.0
    return reached


@kernel
def write_strut_ends(table, row, i, r, p):
    """Write the ends that a pose gives a strut of any kind; return whether it has some."""
    if row[KIND] == WIRE:
        return wind_wire(table, row, i, r, p)
    if row[KIND] == OFFSET:
        write_offset_axes(table, row, i, r, p)
        if row[SCREW_PITCH] != 0.0:
            turn_screw(table, row, i, r, p)
    return True


@kernel
def write_offset_axes(table, row, i, r, p):
    """Write the second axes of offset joints (14.38): each lies towards the other one."""
    a, b = vec3.load(row, BASE), vec3.load(row, PLATFORM)
    s, t = vec3.load(row, FIRST_UNIT), vec3.load(row, SECOND_UNIT)
    foot, tip = a, vec3.add(mat3.apply(r, b), p)
    for _ in range(MAX_TURNS):
        m = perpendicular_unit(vec3.sub(tip, a), s)
        new_foot = vec3.axpy(row[LENGTH], m, a)
        seen = mat3.apply_t(r, vec3.sub(new_foot, p))
        end = vec3.axpy(row[OTHER], perpendicular_unit(vec3.sub(seen, b), t), b)
        new_tip = vec3.add(mat3.apply(r, end), p)
        step, side, leg = (vec3.sub(new_foot, foot), vec3.sub(new_tip, tip),
                           vec3.sub(new_tip, new_foot))
        foot, tip = new_foot, new_tip
        vec3.store(table, 3 * i, foot)
        vec3.store(table, 3 * (count_legs(table) + i), end)
        moved = vec3.dot(step, step) + vec3.dot(side, side)
        if moved <= SQUARED_STEP_TOLERANCE * vec3.dot(leg, leg):
            break


@kernel
def perpendicular_unit(d, axis):
    """Return the unit vector along the part of a vector that is perpendicular to a unit axis."""
    part = vec3.axpy(-vec3.dot(d, axis), axis, d)
    return vec3.scale(1.0 / vec3.dot(part, part) ** 0.5, part)


@kernel
def place_carriage(table, row, i, r, p):
    """Write where a pose puts the carriage of a rail (14.36)."""
    a, s, rod = vec3.load(row, BASE), vec3.load(row, FIRST_UNIT), row[LENGTH]
    w = vec3.sub(vec3.add(mat3.apply(r, vec3.load(row, PLATFORM)), p), a)
    along = vec3.dot(w, s)
    square = rod * rod - vec3.dot(w, w) + along * along
    ahead = row[SIDE] * (square ** 0.5 if square >= 0.0 else math.nan)
    vec3.store(table, 3 * i, vec3.axpy(along - ahead, s, a))
    row[DRIVE_VALUE], row[RATIO] = along - ahead, ahead / rod
    return square >= 0.0


@kernel
def turn_crank(table, row, i, r, p):
    """Write where a pose turns a crank (14.37), within half a turn of its zero."""
    rod, radius = row[LENGTH], row[OTHER]
    e1, e2 = vec3.load(row, FIRST_UNIT), vec3.load(row, SECOND_UNIT)
    w = vec3.sub(vec3.add(mat3.apply(r, vec3.load(row, PLATFORM)), p), vec3.load(row, BASE))
    x, y = 2.0 * radius * vec3.dot(w, e1), 2.0 * radius * vec3.dot(w, e2)
    cosine = (vec3.dot(w, w) + radius * radius - rod * rod) / (x * x + y * y) ** 0.5
    if not abs(cosine) <= 1.0:
        cosine = math.nan
    angle = math.atan2(y, x) - row[SIDE] * math.acos(cosine)
    angle -= 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)
    row[DRIVE_VALUE] = angle
    put_pin(table, row, i, angle)
    leg = vec3.sub(w, vec3.sub(legs.base_joint(table, i), vec3.load(row, BASE)))
    tangent = vec3.axpy(math.cos(angle), e2, vec3.scale(-math.sin(angle), e1))
    row[RATIO] = row[SIZE] * radius * vec3.dot(leg, tangent) / rod
    return abs(cosine) <= 1.0


@kernel
def put_pin(table, row, i, angle):
    """Write the end of a crank."""
    e1, e2, radius = vec3.load(row, FIRST_UNIT), vec3.load(row, SECOND_UNIT), row[OTHER]
    vec3.store(table, 3 * i, vec3.axpy(
        radius * math.cos(angle), e1,
        vec3.axpy(radius * math.sin(angle), e2, vec3.load(row, BASE))))


@kernel
def write_driven_ends(table: VECTOR, values: VECTOR, squared: VECTOR):
    """Write the ends that the values of all legs give, and the squared lengths between them."""
    for i in range(count_legs(table)):
        at = row_at(table, i)
        row = table[at:at + ROW]
        value = values[i] / row[UNIT]
        if row[KIND] == RAIL:
            vec3.store(table, 3 * i, vec3.axpy(
                value, vec3.load(row, FIRST_UNIT), vec3.load(row, BASE)))
        elif row[KIND] == CRANK:
            put_pin(table, row, i, value)
        if row[KIND] == RAIL or row[KIND] == CRANK:
            squared[i] = row[LENGTH] * row[LENGTH] if abs(value) < np.inf else math.nan
        elif row[KIND] >= STAGE:
            row[TARGET] = value
            squared[i] = STAGE_ROD * STAGE_ROD if abs(value) < np.inf else math.nan
        else:
            squared[i] = value * value if value > 0.0 else math.nan


@kernel
def write_all_ends(table, r, p):
    """Write the ends that follow a pose at given values; others stay where drives put them."""
    if not has_rows(table):
        return
    for i in range(count_legs(table)):
        at = row_at(table, i)
        row = table[at:at + ROW]
        if row[KIND] >= STAGE:
            place_stage(table, row, i, r, p, True)
        elif row[KIND] == OFFSET or row[KIND] == WIRE:
            write_strut_ends(table, row, i, r, p)


@kernel
def least_drive(table, r, p):
    """Return the least of the drives' transmissions at driven ends, infinite for struts alone."""
    least = np.inf
    if not has_rows(table):
        return least
    for i in range(count_legs(table)):
        kind = table[row_at(table, i) + KIND]
        if kind == RAIL or kind == CRANK:
            least = min(least, transmission(table, i, r, p))
    return least


@kernel
def transmissions(table: VECTOR, pose: MATRIX, out: VECTOR):
    """
    Write the cosine of each leg (n,) at a pose (4 by 4), as `transmission` has it.

    One kernel follows the pose and reads the ends: threads that share a table do not mix poses.
    """
    r, p = split(pose)
    write_leg_ends(table, r, p)
    for i in range(count_legs(table)):
        out[i] = transmission(table, i, r, p)


@kernel
def fixed_drive_transmissions(table: VECTOR, values: VECTOR, pose: MATRIX, out: VECTOR):
    """Write the cosine of each leg (n,) where the drives hold their values, as `transmission`."""
    r, p = split(pose)
    write_driven_ends(table, values, out)
    for i in range(count_legs(table)):
        out[i] = transmission(table, i, r, p)


@kernel
def transmission(table, i, r, p):
    """
    Return the cosine of the angle between the rod of a rail or a crank and its driven end's way.

    It is negative where the drive has gone through its dead centre, and 1 for struts.
    """
    if not has_rows(table):
        return 1.0
    at = row_at(table, i)
    row = table[at:at + ROW]
    if row[KIND] != RAIL and row[KIND] != CRANK:
        return 1.0
    leg = legs.leg_vector(table, i, r, p)
    return vec3.dot(leg, drive_direction(table, i)) / vec3.dot(leg, leg) ** 0.5


@kernel
def drive_direction(table, i):
    """Return the unit vector along which the drive of a rail or a crank moves its end now."""
    at = row_at(table, i)
    row = table[at:at + ROW]
    e1, side = vec3.load(row, FIRST_UNIT), row[SIDE]
    if row[KIND] == RAIL:
        return vec3.scale(side, e1)
    e2, arm = vec3.load(row, SECOND_UNIT), vec3.sub(
        legs.base_joint(table, i), vec3.load(row, BASE))
    side /= row[OTHER]
    return vec3.axpy(side * vec3.dot(arm, e1), e2, vec3.scale(-side * vec3.dot(arm, e2), e1))


@kernel
def leg_value(table, i, r, p):
    """Return the value of a leg at the pose that was followed."""
    if not has_rows(table):
        leg = legs.leg_vector(table, i, r, p)
        return vec3.dot(leg, leg) ** 0.5
    return table[row_at(table, i) + DRIVE_VALUE]


@kernel
def ratio(table: VECTOR, i: WHOLE):
    """Return the ratio of a leg at the pose that was followed."""
    return table[row_at(table, i) + RATIO] if has_rows(table) else 1.0


@kernel
def leg_origin(table: VECTOR, i: WHOLE, r: ROTATION, p: TRIPLE):
    """Return where a leg begins on the base, beside the end of a rod as long as its reading."""
    end = legs.base_joint(table, i)
    if not has_rows(table) or table[row_at(table, i) + END_SHIFT] == 0.0:
        return end
    leg = legs.leg_vector(table, i, r, p)
    return vec3.axpy(table[row_at(table, i) + END_SHIFT] / vec3.dot(leg, leg) ** 0.5, leg, end)


@kernel
def rod_jacobian(table, r, p, trivialization, out):
    """Write d(rod)/d(twist), n by 6, row by row, for the ends that were written."""
    legs.length_jacobian(table, r, p, trivialization, out)
    add_turns(table, r, p, trivialization, False, out)


@kernel
def value_jacobian(table: VECTOR, r: ROTATION, p: TRIPLE, trivialization: WHOLE, out: VECTOR):
    """Write d(value)/d(twist), n by 6, row by row, at a pose: J V = ratio q' (14.34)."""
    write_leg_ends(table, r, p)
    rod_jacobian(table, r, p, trivialization, out)
    for i in range(count_legs(table)):
        scale = 1.0 / ratio(table, i)
        for k in range(6):
            out[6 * i + k] *= scale


@kernel
def values_batch(table: VECTOR, poses: CUBE, out: MATRIX):
    """Write the values (m, n) of m poses (4 by 4); NaN where a rod does not reach."""
    for m in range(poses.shape[0]):
        r, p = split(poses[m])
        write_leg_ends(table, r, p)
        for i in range(count_legs(table)):
            out[m, i] = leg_value(table, i, r, p)


@long_kernel
def values_and_jacobians(table: VECTOR, poses: CUBE, values: MATRIX, jacobians: MATRIX):
    """
    Write the values of k legs at n poses (4 by 4), (n, k), and J (n, 6 k), row by row (14.34).

    Values are NaN where a rod does not reach.
    """
    for n in range(poses.shape[0]):
        r, p = split(poses[n])
        value_jacobian(table, r, p, legs.BY_BODY_TWIST, jacobians[n])
        for i in range(values.shape[1]):
            values[n, i] = leg_value(table, i, r, p)
