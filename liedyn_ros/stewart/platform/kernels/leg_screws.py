# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The screw of a leg between two universal joints turns with the platform (14.42).

The nut is held by the joint on the base, the spindle by that on the platform. So the length is the
reading plus the lead times the turn of one against the other.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.stewart.platform.kernels import legs
from liedyn_ros.stewart.platform.kernels.leg_rows import (
    count_legs, END_SHIFT, FIRST_UNIT, has_rows, LENGTH, OTHER, ROW, row_at, SCREW_PHASE,
    SCREW_PITCH, SCREW_TURN, SECOND_UNIT)


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
