# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Two driven axes a leg: a point on a plane carries a guide, or slides along one (14.44).

Either the guide is fixed to the moving point, and the platform joint slides along it. Or it is
fixed to the platform, and the moving point slides along it. A platform has three such legs, each
with two coordinates.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.stewart.platform.kernels.leg_rows import (
    BASE, CARRIED_STAGE, count_legs, DRIVE_VALUE, FIRST_UNIT, GUIDE, KIND, PLATFORM, RATIO,
    SECOND_UNIT, TARGET)

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
