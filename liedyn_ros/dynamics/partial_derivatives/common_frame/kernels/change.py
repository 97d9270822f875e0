# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The matrix B of a body in motion: how its wrench changes with its twist (13.9).

B = -(I ad_V + ad_V^T I + N(I V)) = [T 0; [b] 0] is twelve numbers, T row by row and b. The form
survives sums, and transports into the common frame.
"""

from liedyn_ros.dynamics.tree.kernels import symmetric
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.lie.kernels import mat3, vec3


@inlined
def of_rigid(body, w, v):
    """Return B of a rigid body (m, h, J) of a twist, with Sigma = tr(J)/2 1 - J."""
    m, h, j = body
    w, v, half = vec3.scale(-2.0, w), vec3.scale(-2.0, v), 0.5 * symmetric.trace(j)
    x, y, z = (vec3.cross(w, (half - j[0], -j[1], -j[2])),
               vec3.cross(w, (-j[1], half - j[3], -j[4])),
               vec3.cross(w, (-j[2], -j[4], half - j[5])))  # columns of [w] Sigma
    a, b, c = h[0] * v[0], h[1] * v[1], h[2] * v[2]  # [h] [v] = v h^T - (h.v) 1
    t = (x[0] - b - c, y[0] + v[0] * h[1], z[0] + v[0] * h[2],
         x[1] + v[1] * h[0], y[1] - a - c, z[1] + v[1] * h[2],
         x[2] + v[2] * h[0], y[2] + v[2] * h[1], z[2] - a - b)
    return t, vec3.axpy(m, v, vec3.cross(w, h))


@inlined
def wrench(body, w, v, x, y, z):
    """Return I X + B P of a rigid body of a twist, X = (x, y), P with the angular part z."""
    m, h, j = body
    z = vec3.scale(-2.0, z)
    y = vec3.add(y, vec3.cross(v, z))
    t = vec3.add(symmetric.apply(j, x), vec3.cross(w, sigma_times(j, z)))
    f = vec3.sub(vec3.cross(vec3.cross(w, h), z), vec3.cross(h, x))
    return vec3.add(t, vec3.cross(h, y)), vec3.axpy(m, y, f)


@inlined
def times_t(body, w, v, x, y, f):
    """
    Return the moment of B^T S of a rigid body of a twist, S = (x, y); its force is zero.

    f is the force m y - h x x of I S.
    """
    _, h, j = body
    t = vec3.add(vec3.cross(v, f), vec3.cross(vec3.cross(w, h), y))
    return vec3.scale(2.0, vec3.add(t, sigma_times(j, vec3.cross(w, x))))


@inlined
def sigma_times(j, x):
    """Return Sigma x, with Sigma = tr(J)/2 1 - J."""
    return vec3.sub(vec3.scale(0.5 * symmetric.trace(j), x), symmetric.apply(j, x))


@inlined
def apply(t, b, w):
    """Return B P, of a twist P with the angular part w."""
    return mat3.apply(t, w), vec3.cross(b, w)


@inlined
def apply_t(t, b, w, v):
    """Return the moment of B^T S, whose force is zero."""
    return vec3.sub(mat3.apply_t(t, w), vec3.cross(b, v))
