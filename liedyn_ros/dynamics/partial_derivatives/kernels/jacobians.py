# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Jacobians of inverse dynamics, O(n depth) (13.10) to (13.12)."""

from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels import change
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.motion import compute_motion
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    CHANGE, FORCE, INERTIA, load_pair, P, Q, R, S)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.motion import spring_rate
from liedyn_ros.dynamics.tree.kernels.tables import (
    add12, ARMATURE, coordinate_row, DAMPING, KIND, LINKS, load12, PARENT, store3, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def inverse_jacobians(model, links, columns, q, v, a, external,
                      by_q, by_v, by_a, by_gravity):
    """
    Write dtau/dq, dtau/dv and dtau/da = M, each (nv, nv), and dtau/d(gravity) (nv, 3).

    Returns False for unacceptable input, a result that is not finite, has another shape, or shares
    memory.
    """
    n = len(v)
    if not (is_square(by_q, n) and is_square(by_v, n) and is_square(by_a, n)
            and by_gravity.shape == (n, 3)):
        return False
    if (shared(by_q, q, v, a, external) or shared(by_v, q, v, a, external)
            or shared(by_a, q, v, a, external) or shared(by_gravity, q, v, a, external)
            or overlap(by_q, by_v) or overlap(by_q, by_a) or overlap(by_v, by_a)):
        return False
    by_q[:] = 0.0
    by_v[:] = 0.0
    by_a[:] = 0.0
    if not write_jacobians(model, links, columns, q, v, a, external, by_q, by_v, by_a, by_gravity,
                           0, 0):
        return False
    return (finite(by_q.reshape(-1)) and finite(by_v.reshape(-1))
            and finite(by_a.reshape(-1)))


@kernel
def write_jacobians(model, links, columns, q, v, a, external, by_q, by_v, by_a, by_gravity, at_v,
                    at_gravity):
    """
    Write the Jacobians into columns of zero matrices: dtau/dv from column at_v on.

    dtau/d(gravity) begins at column at_gravity. Returns whether the input is acceptable.
    """
    if not compute_motion(model, links, columns, q, v, a, external):
        return False
    for i in range(get_int(model, 0, LINKS) - 1, 0, -1):
        for k in range(joints.degrees(get_int(model, i, KIND))):
            fill_jacobians(model, links, columns, i, get_int(model, i, VI) + k,
                           by_q, by_v, by_a, by_gravity, at_v, at_gravity)
        parent = get_int(model, i, PARENT)
        if parent > 0:  # (13.10)
            rigid.store(links, parent, INERTIA, rigid.add(
                rigid.load(links, parent, INERTIA), rigid.load(links, i, INERTIA)))
            t, b = load12(links, i, CHANGE)
            add12(links, parent, CHANGE, t, b)
    for k in range(len(v)):  # (13.13), (3.19), (3.20)
        row = coordinate_row(model, k)
        put(by_q, k, k, get(by_q, k, k) + spring_rate(model, k, q))
        put(by_v, k, at_v + k, get(by_v, k, at_v + k) + get(model, row, DAMPING))
        put(by_a, k, k, get(by_a, k, k) + get(model, row, ARMATURE))
    return True


@inlined
def is_square(x, n):
    """Return whether a matrix is (n, n)."""
    return x.shape[0] == n and x.shape[1] == n


@inlined
def shared(x, q, v, a, external):
    """Return whether a result shares memory with an input."""
    return overlap(x, q) or overlap(x, v) or overlap(x, a) or overlap(x, external)


@inlined
def fill_jacobians(model, links, columns, i, k, by_q, by_v, by_a, by_gravity, at_v, at_gravity):
    """Write the rows and columns of coordinate k of link i, with those before it (13.11)."""
    body = rigid.load(links, i, INERTIA)
    t, b = load12(links, i, CHANGE)
    (sw, sv), (pw, _) = load_pair(columns, k, S), load_pair(columns, k, P)
    (qw, qv), (rw, rv) = load_pair(columns, k, Q), load_pair(columns, k, R)
    um, uf = rigid.apply(body, qw, qv)
    xm, xf = change.apply(t, b, pw)
    um, uf = vec3.add(um, xm), vec3.add(uf, xf)
    zm, zf = rigid.apply(body, rw, rv)
    xm, xf = change.apply(t, b, sw)
    zm, zf = vec3.add(zm, xm), vec3.add(zf, xf)
    gm, gf = rigid.apply(body, sw, sv)
    km = change.apply_t(t, b, sw, sv)
    store3(by_gravity, k, at_gravity, vec3.neg(gf))  # (13.29)
    first = get_int(model, i, VI)
    for j in range(first, first + joints.degrees(get_int(model, i, KIND))):
        w, u = load_pair(columns, j, S)
        put(by_q, j, k, vec3.dot(w, um) + vec3.dot(u, uf))
        put(by_v, j, at_v + k, vec3.dot(w, zm) + vec3.dot(u, zf))
        put(by_a, j, k, vec3.dot(w, gm) + vec3.dot(u, gf))
    fm, ff = load_pair(links, i, FORCE)
    xm, xf = se3.ad_dual(sw, sv, fm, ff)  # N(F) S
    um, uf = vec3.sub(um, xm), vec3.sub(uf, xf)
    i = get_int(model, i, PARENT)
    while i > 0:
        first = get_int(model, i, VI)
        for j in range(first, first + joints.degrees(get_int(model, i, KIND))):
            w, u = load_pair(columns, j, S)
            inertia = vec3.dot(w, gm) + vec3.dot(u, gf)
            put(by_q, j, k, vec3.dot(w, um) + vec3.dot(u, uf))
            put(by_v, j, at_v + k, vec3.dot(w, zm) + vec3.dot(u, zf))
            put(by_a, j, k, inertia)
            put(by_a, k, j, inertia)
            (qw, qv), (rw, rv) = load_pair(columns, j, Q), load_pair(columns, j, R)
            (pw, _) = load_pair(columns, j, P)
            put(by_q, k, j, vec3.dot(gm, qw) + vec3.dot(gf, qv) + vec3.dot(km, pw))
            put(by_v, k, at_v + j, vec3.dot(gm, rw) + vec3.dot(gf, rv) + vec3.dot(km, w))
        i = get_int(model, i, PARENT)
