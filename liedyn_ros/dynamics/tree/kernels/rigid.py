# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rigid-body inertia as ten numbers: mass m, h = m c and the symmetric J about the origin."""

from liedyn_ros.dynamics.tree.kernels import joints, symmetric
from liedyn_ros.dynamics.tree.kernels.tables import load3, load6, store3, store6
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, put
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import REVOLUTE


@inlined
def load(table, i, at):
    """Return the inertia (m, h, J) in ten columns of row i."""
    return get(table, i, at), load3(table, i, at + 1), load6(table, i, at + 4)


@inlined
def apply(body, w, v):
    """Return I V, with I = [J [h]; -[h] m 1]."""
    m, h, j = body
    return (vec3.add(symmetric.apply(j, w), vec3.cross(h, v)),
            vec3.sub(vec3.scale(m, v), vec3.cross(h, w)))  # (1.17), (1.18)


@inlined
def of_screw(body, kind, pitch, k):
    """Return I S_k, the momentum of a body at the unit rate of a coordinate of its joint."""
    if kind == REVOLUTE:  # a column of I
        _, h, j = body
        return (j[2], j[4], j[5]), (-h[1], h[0], 0.0)
    w, v = joints.screw(kind, pitch, k)
    return apply(body, w, v)


@inlined
def bias(body, w, v):
    """Return -ad_V^T I V, the wrench of a body with a constant body twist."""
    m, f = apply(body, w, v)
    return vec3.add(vec3.cross(w, m), vec3.cross(v, f)), vec3.cross(w, f)  # (1.19)


@inlined
def net_wrench(body, w, v, dw, dv):
    """Return I V' - ad_V^T I V by the acceleration s = v' + w x v of the origin (3.4)."""
    m, h, j = body
    s = vec3.add(dv, vec3.cross(w, v))
    moment = vec3.add(vec3.add(vec3.cross(h, s), symmetric.apply(j, dw)),
                      vec3.cross(w, symmetric.apply(j, w)))
    turned = vec3.add(vec3.cross(dw, h), vec3.cross(w, vec3.cross(w, h)))
    return moment, vec3.axpy(m, s, turned)


@inlined
def store(table, i, at, body):
    """Write an inertia into ten columns of row i."""
    m, h, j = body
    put(table, i, at, m)
    store3(table, i, at + 1, h)
    store6(table, i, at + 4, j)


@inlined
def add(x, y):
    """Return the sum of two inertias."""
    return x[0] + y[0], vec3.add(x[1], y[1]), symmetric.add(x[2], y[2])


@inlined
def transport(r, p, body):
    """Return the inertia of link frame T = (r, p) seen by its parent."""
    m, h, j = body
    h = mat3.apply(r, h)
    moved = vec3.axpy(m, p, h)
    g = vec3.axpy(0.5 * m, p, h)
    # -[h][p] - [p][h] - m [p]^2 = 2 (g.p) 1 - g p^T - p g^T with g = h + m p / 2
    s = 2.0 * vec3.dot(g, p)
    shift = (s - 2.0 * g[0] * p[0], -g[0] * p[1] - p[0] * g[1], -g[0] * p[2] - p[0] * g[2],
             s - 2.0 * g[1] * p[1], -g[1] * p[2] - p[1] * g[2], s - 2.0 * g[2] * p[2])
    return m, moved, symmetric.add(symmetric.rotate(r, j), shift)  # (1.5)
