# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motion at constant body twist between two poses, 4 by 4."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, VECTOR
from liedyn_ros.lie.kernels import se3, so3, vec3


@kernel
def move_pose(pose: MATRIX, twist: VECTOR, seconds: NUMBER, moved: MATRIX):
    """Write pose exp(twist seconds) (1.10), made orthonormal so that long products never drift."""
    r, p = split(pose)
    dr, dp = se3.exp(vec3.scale(seconds, vec3.load(twist, 0)),
                     vec3.scale(seconds, vec3.load(twist, 3)))
    r, p = se3.compose(r, p, dr, dp)
    r = so3.normalize(r)
    for i in range(3):
        for j in range(3):
            moved[i, j] = r[3 * i + j]
        moved[i, 3] = p[i]
        moved[3, i] = 0.0
    moved[3, 3] = 1.0


@kernel
def mean_twist(before: MATRIX, after: MATRIX, seconds: NUMBER, twist: VECTOR):
    """Write the constant body twist that takes one pose to another: log(T_1^-1 T_2) / t (1.13)."""
    r, p = split(before)
    w, v = se3.log(*se3.compose(*se3.inverse(r, p), *split(after)))
    vec3.store(twist, 0, vec3.scale(1.0 / seconds, w))
    vec3.store(twist, 3, vec3.scale(1.0 / seconds, v))


@kernel
def position_quaternion(pose: MATRIX):
    """Return position and quaternion (x, y, z, w) of a 4 by 4 pose, seven numbers."""
    r, p = split(pose)
    return p + so3.to_quaternion(r)


@kernel
def split(pose: MATRIX):
    """Return the rotation and the position of a 4 by 4 pose."""
    return ((pose[0, 0], pose[0, 1], pose[0, 2],
             pose[1, 0], pose[1, 1], pose[1, 2],
             pose[2, 0], pose[2, 1], pose[2, 2]), (pose[0, 3], pose[1, 3], pose[2, 3]))
