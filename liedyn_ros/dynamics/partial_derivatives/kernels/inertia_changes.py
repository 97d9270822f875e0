# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How an inertia changes with a displacement of its body, and derivatives by inertias.

by_displacement transposes displaced, and transported_back transposes rigid.transport. An inertia
has nine entries besides the mass: h, and J as six that stand for a symmetric matrix.
"""

from liedyn_ros.dynamics.tree.kernels import symmetric
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.lie.kernels import mat3, vec3


@inlined
def displaced(body, x):
    """Return how an inertia changes with a displacement of the body (1.5)."""
    (m, h, j), (w, u) = body, x
    a, b, c = (vec3.cross(w, (j[0], j[1], j[2])), vec3.cross(w, (j[1], j[3], j[4])),
               vec3.cross(w, (j[2], j[4], j[5])))  # columns of [w] J
    x, y, z = h[0] * u[0], h[1] * u[1], h[2] * u[2]  # of 2 (h.u) 1 - h u^T - u h^T
    moved = (2.0 * (a[0] + (y + z)), (a[1] + b[0]) - (h[0] * u[1] + u[0] * h[1]),
             (a[2] + c[0]) - (h[0] * u[2] + u[0] * h[2]), 2.0 * (b[1] + (x + z)),
             (b[2] + c[1]) - (h[1] * u[2] + u[1] * h[2]), 2.0 * (c[2] + (x + y)))
    return 0.0, vec3.add(vec3.cross(w, h), vec3.scale(m, u)), moved


@inlined
def by_displacement(body, by_h, by_j):
    """Return the derivatives by a displacement of the body from those by its h and J."""
    (m, h, j), x = body, symmetric.apply(by_j, body[1])
    a, b, c = (symmetric.apply(j, (by_j[0], by_j[1], by_j[2])),
               symmetric.apply(j, (by_j[1], by_j[3], by_j[4])),
               symmetric.apply(j, (by_j[2], by_j[4], by_j[5])))  # columns of J by_J
    turned = c[1] - b[2], a[2] - c[0], b[0] - a[1]
    return (vec3.axpy(2.0, turned, vec3.cross(h, by_h)), vec3.axpy(
        2.0, vec3.sub(vec3.scale(symmetric.trace(by_j), h), x), vec3.scale(m, by_h)))


@inlined
def transported_back(r, p, by_m, by_h, by_j):
    """Return the derivatives by an inertia from those by the result of rigid.transport."""
    z = vec3.sub(vec3.scale(symmetric.trace(by_j), p), symmetric.apply(by_j, p))
    return (by_m + vec3.dot(p, vec3.add(by_h, z)), mat3.apply_t(r, vec3.axpy(2.0, z, by_h)),
            symmetric.rotate(mat3.transpose(r), by_j))


@inlined
def by_inertia(xw, xu, yw, yu):
    """Return the derivatives of x . I y by m, h and J (6.22)."""
    return (vec3.dot(xu, yu), vec3.sub(vec3.cross(yu, xw), vec3.cross(yw, xu)),
            (xw[0] * yw[0], xw[0] * yw[1] + xw[1] * yw[0], xw[0] * yw[2] + xw[2] * yw[0],
             xw[1] * yw[1], xw[1] * yw[2] + xw[2] * yw[1], xw[2] * yw[2]))
