# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A wire over a pulley that swivels: its length on the drum's side grows with its wrap (14.43)."""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.stewart.platform.kernels.leg_rows import (
    BASE, END_SHIFT, FIRST_UNIT, LENGTH, PLATFORM)


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
