# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loops of the SO(3) and SE(3) kernels (1.9 to 1.16) over flat arrays, element by element."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import VECTOR
from liedyn_ros.lie.kernels import mat3, se3, so3, vec3


@kernel
def so3_exp(w: VECTOR, out: VECTOR):
    """Turn rotation vectors (3) into rotations (9)."""
    for i in range(len(w) // 3):
        mat3.store(out, 9 * i, so3.exp(vec3.load(w, 3 * i)))


@kernel
def so3_log(r: VECTOR, out: VECTOR):
    """Turn rotations (9) into rotation vectors (3)."""
    for i in range(len(r) // 9):
        vec3.store(out, 3 * i, so3.log(mat3.load(r, 9 * i)))


@kernel
def so3_left_jacobian(w: VECTOR, out: VECTOR):
    """Turn rotation vectors (3) into left Jacobians (9)."""
    for i in range(len(w) // 3):
        mat3.store(out, 9 * i, so3.left_jacobian(vec3.load(w, 3 * i)))


@kernel
def so3_left_jacobian_inverse(w: VECTOR, out: VECTOR):
    """Turn rotation vectors (3) into inverse left Jacobians (9)."""
    for i in range(len(w) // 3):
        mat3.store(out, 9 * i, so3.left_jacobian_inverse(vec3.load(w, 3 * i)))


@kernel
def so3_to_quaternion(r: VECTOR, out: VECTOR):
    """Turn rotations (9) into quaternions x, y, z, w (4)."""
    for i in range(len(r) // 9):
        q = so3.to_quaternion(mat3.load(r, 9 * i))
        for k in range(4):
            out[4 * i + k] = q[k]


@kernel
def so3_from_quaternion(q: VECTOR, out: VECTOR):
    """Turn unit quaternions x, y, z, w (4) into rotations (9)."""
    for i in range(len(q) // 4):
        k = 4 * i
        mat3.store(out, 9 * i, so3.from_quaternion((q[k], q[k + 1], q[k + 2], q[k + 3])))


@kernel
def se3_exp(xi: VECTOR, out: VECTOR):
    """Turn exponential coordinates (6) into poses (16)."""
    for i in range(len(xi) // 6):
        r, p = se3.exp(vec3.load(xi, 6 * i), vec3.load(xi, 6 * i + 3))
        se3.store(out, 16 * i, r, p)


@kernel
def se3_log(pose: VECTOR, out: VECTOR):
    """Turn poses (16) into exponential coordinates (6)."""
    for i in range(len(pose) // 16):
        r, p = se3.load(pose, 16 * i)
        w, v = se3.log(r, p)
        vec3.store(out, 6 * i, w)
        vec3.store(out, 6 * i + 3, v)


@kernel
def se3_left_jacobian(xi: VECTOR, out: VECTOR):
    """Turn exponential coordinates (6) into the blocks J, Q of left Jacobians (9 + 9)."""
    for i in range(len(xi) // 6):
        j, q = se3.left_jacobian(vec3.load(xi, 6 * i), vec3.load(xi, 6 * i + 3))
        mat3.store(out, 18 * i, j)
        mat3.store(out, 18 * i + 9, q)


@kernel
def se3_left_jacobian_inverse(xi: VECTOR, out: VECTOR):
    """Turn exponential coordinates (6) into the blocks J, Q of their inverses (9 + 9)."""
    for i in range(len(xi) // 6):
        j, q = se3.left_jacobian_inverse(vec3.load(xi, 6 * i), vec3.load(xi, 6 * i + 3))
        mat3.store(out, 18 * i, j)
        mat3.store(out, 18 * i + 9, q)
