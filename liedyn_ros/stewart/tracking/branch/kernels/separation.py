# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How far two poses of a platform lie apart, in the measure of its singular values."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, TRIPLE
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.lie.kernels.motion import split


@kernel
def separation(first: MATRIX, second: MATRIX, centre: TRIPLE, scale: NUMBER):
    """
    Return the norm of the screw between two poses (4, 4), rad and characteristic lengths (11.13).

    centre: of the platform joints, where displacements are measured. scale: m, the characteristic
    length.
    """
    r, p = split(first)
    w, v = se3.log(*se3.compose(*se3.inverse(r, p), *split(second)))
    moved = vec3.scale(1.0 / scale, vec3.add(v, vec3.cross(w, centre)))
    return (vec3.dot(w, w) + vec3.dot(moved, moved)) ** 0.5
