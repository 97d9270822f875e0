# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Products of the Jacobians of inverse dynamics with vectors from either side, O(n)."""

from liedyn_ros.dynamics.kernels import joints, rigid
from liedyn_ros.dynamics.kernels.tables import (
    add3, coordinate_row, DAMPING, KIND, LINKS, load3, PARENT, store3, VI)
from liedyn_ros.dynamics.partial_derivatives.kernels import change
from liedyn_ros.dynamics.partial_derivatives.kernels.motion import compute_motion
from liedyn_ros.dynamics.partial_derivatives.kernels.table import (
    ACCELERATION, CHANGE, FIRST, FORCE, INERTIA, load_pair, S, SECOND, store_pair, THIRD, TWIST)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, get_int
from liedyn_ros.lie.kernels import se3, vec3


@kernel
def inverse_product(model, links, columns, q, v, a, external, xq, xv, xa, out):
    """
    Write out = dtau/dq xq + dtau/dv xv + M xa (nv,).

    Returns whether the input is acceptable and the result is finite.
    """
    if not (compute_motion(model, links, columns, q, v, a, external, True)
            and joints.complete(model, xq) and joints.complete(model, xv)
            and joints.complete(model, xa)):
        return False
    store_pair(links, 0, FIRST, vec3.ZERO, vec3.ZERO)
    store_pair(links, 0, SECOND, vec3.ZERO, vec3.ZERO)
    count = get_int(model, 0, LINKS)
    for i in range(1, count):
        vary(model, links, columns, i, xq, xv, xa)
    for i in range(count - 1, 0, -1):
        gather(model, links, columns, i, xq, out)
    for k in range(len(v)):
        out[k] += get(model, coordinate_row(model, k), DAMPING) * xv[k]
    return joints.finite(out)


@inlined
def vary(model, links, columns, i, xq, xv, xa):
    """Write how twist and acceleration of link i vary, as in (13.8) and (13.9)."""
    parent, vi = get_int(model, i, PARENT), get_int(model, i, VI)
    (pw, pv), (qw, qv) = load_pair(links, parent, FIRST), load_pair(links, parent, SECOND)
    hw, hv, gw, gv = vec3.ZERO, vec3.ZERO, vec3.ZERO, vec3.ZERO  # S xq, S xv
    for k in range(vi, vi + joints.degrees(get_int(model, i, KIND))):
        sw, sv = load_pair(columns, k, S)
        hw, hv = vec3.axpy(xq[k], sw, hw), vec3.axpy(xq[k], sv, hv)
        gw, gv = vec3.axpy(xv[k], sw, gw), vec3.axpy(xv[k], sv, gv)
        qw, qv = vec3.axpy(xa[k], sw, qw), vec3.axpy(xa[k], sv, qv)
    (w0, u0), (w, u) = load_pair(links, parent, TWIST), load_pair(links, i, TWIST)
    dw, du = load_pair(links, parent, ACCELERATION)
    # P xq + S xv, and Q xq + R xv + S xa = [A0, h] + [V0, P xq + S xv] + [V, g] + S xa (13.6)
    xw, xu = se3.ad(w0, u0, hw, hv)
    cw, cv = vec3.add(xw, gw), vec3.add(xu, gv)
    pw, pv = vec3.add(pw, cw), vec3.add(pv, cv)
    xw, xu = se3.ad(dw, du, hw, hv)
    qw, qv = vec3.add(qw, xw), vec3.add(qv, xu)
    xw, xu = se3.ad(w0, u0, cw, cv)
    qw, qv = vec3.add(qw, xw), vec3.add(qv, xu)
    xw, xu = se3.ad(w, u, gw, gv)
    qw, qv = vec3.add(qw, xw), vec3.add(qv, xu)
    store_pair(links, i, FIRST, pw, pv)
    store_pair(links, i, SECOND, qw, qv)
    store_pair(links, i, THIRD, vec3.ZERO, vec3.ZERO)


@inlined
def gather(model, links, columns, i, xq, out):
    """Write how the forces of the joint of link i vary, and add its wrench to the parent's."""
    parent, vi = get_int(model, i, PARENT), get_int(model, i, VI)
    (pw, _), (qw, qv) = load_pair(links, i, FIRST), load_pair(links, i, SECOND)
    (m, f), (fm, ff) = load_pair(links, i, THIRD), load_pair(links, i, FORCE)
    xm, xf = rigid.apply(rigid.load(links, i, INERTIA), qw, qv)
    m, f = vec3.add(m, xm), vec3.add(f, xf)
    t, b = change.load(links, i, CHANGE)
    xm, xf = change.apply(t, b, pw)
    m, f = vec3.add(m, xm), vec3.add(f, xf)
    hw, hv = vec3.ZERO, vec3.ZERO
    for k in range(vi, vi + joints.degrees(get_int(model, i, KIND))):
        sw, sv = load_pair(columns, k, S)
        out[k] = vec3.dot(sw, m) + vec3.dot(sv, f)
        hw, hv = vec3.axpy(xq[k], sw, hw), vec3.axpy(xq[k], sv, hv)
    xm, xf = se3.ad_dual(hw, hv, fm, ff)  # N(F) S
    add3(links, parent, THIRD, vec3.sub(m, xm))
    add3(links, parent, THIRD + 3, vec3.sub(f, xf))


@kernel
def inverse_product_transposed(model, links, columns, q, v, a, external, y, by_q, by_v, by_a):
    """
    Write y^T dtau/dq, y^T dtau/dv and y^T M = M y, each (nv,) (13.22).

    Returns whether the input is acceptable and the result is finite.
    """
    if not (compute_motion(model, links, columns, q, v, a, external, True)
            and joints.complete(model, y)):
        return False
    store_pair(links, 0, FIRST, vec3.ZERO, vec3.ZERO)
    count = get_int(model, 0, LINKS)
    for i in range(1, count):
        w, u = load_pair(links, get_int(model, i, PARENT), FIRST)
        vi = get_int(model, i, VI)
        for k in range(vi, vi + joints.degrees(get_int(model, i, KIND))):
            sw, sv = load_pair(columns, k, S)
            w, u = vec3.axpy(y[k], sw, w), vec3.axpy(y[k], sv, u)
        store_pair(links, i, FIRST, w, u)
        t, b = change.load(links, i, CHANGE)
        m, f = rigid.apply(rigid.load(links, i, INERTIA), w, u)
        store_pair(links, i, SECOND, m, f)  # al
        store3(links, i, THIRD, change.apply_t(t, b, w, u))  # be
    for i in range(count - 1, 0, -1):
        scatter(model, links, columns, i, by_q, by_v, by_a)
    for k in range(len(v)):
        by_v[k] += get(model, coordinate_row(model, k), DAMPING) * y[k]
    return joints.finite(by_q) and joints.finite(by_v) and joints.finite(by_a)


@inlined
def scatter(model, links, columns, i, by_q, by_v, by_a):
    """Write the products of the coordinates of link i, and add its sums to the parent's."""
    parent, vi = get_int(model, i, PARENT), get_int(model, i, VI)
    (yw, yv), (fm, ff) = load_pair(links, parent, FIRST), load_pair(links, i, FORCE)
    (m, f), moment = load_pair(links, i, SECOND), load3(links, i, THIRD)
    (w0, u0), (w, u) = load_pair(links, parent, TWIST), load_pair(links, i, TWIST)
    dw, du = load_pair(links, parent, ACCELERATION)
    # Q^T al + P^T be = S^T (ad_{A0}^T al + ad_{V0}^T c), R^T al + S^T be = S^T (c + ad_V^T al),
    # with c = ad_{V0}^T al + be (13.6).
    cm, cf = se3.ad_dual(w0, u0, m, f)
    cm = vec3.add(cm, moment)
    zm, zf = se3.ad_dual(w, u, m, f)
    zm, zf = vec3.add(zm, cm), vec3.add(zf, cf)
    um, uf = se3.ad_dual(dw, du, m, f)
    xm, xf = se3.ad_dual(w0, u0, cm, cf)
    um, uf = vec3.add(um, xm), vec3.add(uf, xf)
    xm, xf = se3.ad_dual(yw, yv, fm, ff)
    um, uf = vec3.add(um, xm), vec3.add(uf, xf)
    for k in range(vi, vi + joints.degrees(get_int(model, i, KIND))):
        sw, sv = load_pair(columns, k, S)
        by_q[k] = vec3.dot(sw, um) + vec3.dot(sv, uf)
        by_v[k] = vec3.dot(sw, zm) + vec3.dot(sv, zf)
        by_a[k] = vec3.dot(sw, m) + vec3.dot(sv, f)
    add3(links, parent, SECOND, m)
    add3(links, parent, SECOND + 3, f)
    add3(links, parent, THIRD, moment)
