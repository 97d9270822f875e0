# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Terms of wires over pulleys in the proof of a pose (14.51).

A wire's length has the gradient of a distance, a unit vector along the free wire. Its second
derivative is that of a distance but for a part that is small as the pulley is.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.stewart.platform.kernels.leg_rows import BASE, FIRST_UNIT, LENGTH, PLATFORM

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
