# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Velocities in the exponential coordinates of the configuration, for integrators."""

from liedyn_ros.dynamics.tree.kernels.tables import KIND, LINKS, VI
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR
from liedyn_ros.jit.simd import get_int
from liedyn_ros.lie.kernels import mat3, se3, so3, vec3
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL


@kernel
def exponential_rate(model: MATRIX, x: VECTOR, v: VECTOR, out: VECTOR):
    """Write the dx/dt that moves q0 (+) x with the velocity v: dexp(-x)^-1 v on each group."""
    for k in range(len(v)):
        out[k] = v[k]
    for i in range(1, get_int(model, 0, LINKS)):
        kind, vi = get_int(model, i, KIND), get_int(model, i, VI)
        if kind == SPHERICAL:
            jacobian = so3.left_jacobian_inverse(vec3.neg(vec3.load(x, vi)))
            vec3.store(out, vi, mat3.apply(jacobian, vec3.load(v, vi)))  # (1.14)
        elif kind == FREE:
            j, q = se3.left_jacobian_inverse(
                vec3.neg(vec3.load(x, vi)), vec3.neg(vec3.load(x, vi + 3)))
            w, u = vec3.load(v, vi), vec3.load(v, vi + 3)
            vec3.store(out, vi, mat3.apply(j, w))  # (1.14)
            vec3.store(out, vi + 3, vec3.add(mat3.apply(q, w), mat3.apply(j, u)))
