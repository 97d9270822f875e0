# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
JVP and VJP of hybrid dynamics, O(n) (13.18), (13.23).

F are the coordinates with a given force, U those with a given acceleration. A change of the
inverse dynamics by d changes a_F by -M_FF^-1 d_F. The factors of M_FF are those of hybrid
dynamics. The direction includes changes of all parameters.
"""

from liedyn_ros.dynamics.algorithms.kernels import aba
from liedyn_ros.dynamics.mass_matrix.kernels.solve import solve_mass
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    add_pair, load_pair, store_pair)
from liedyn_ros.dynamics.partial_derivatives.kernels import parameters
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_products import store_wrenches
from liedyn_ros.dynamics.partial_derivatives.kernels.parameter_products import (
    jvp_inverse, tables_of, vjp_forces)
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    D_LINK_WRENCH, propagate_twists)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.tables import (
    ARMATURE, coordinate_row, INERTIA, INVERSE_PIVOT, KIND, LINKS, load3, load9, ORDER_CHANGE,
    PARENT, PITCH, POSITION, ROTATION, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTHS, VECTOR
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import se3


@kernel
def hybrid_product(
        model: MATRIX, scratch: VECTOR, q: VECTOR, v: VECTOR, prescribed: TRUTHS, a: VECTOR,
        tau: VECTOR, external: MATRIX, xq: VECTOR, xv: VECTOR, given: VECTOR, vector: VECTOR,
        out: MATRIX):
    """
    Write a, tau and their derivatives out (2, nv) along a direction.

    given (nv,): change of the prescribed acceleration or of the applied force. Other arguments are
    those of parameter_products. Returns the code of hybrid.
    """
    _, table, data, _ = tables_of(model, scratch)
    code = factor_hybrid(model, data, q, v, prescribed, a, tau, external)
    if code != aba.DONE:
        return code
    if not (joints.is_velocity(model, xq) and joints.is_velocity(model, xv)
            and joints.is_velocity(model, given)):
        return aba.REFUSED
    da, dtau = out[0], out[1]
    for k in range(len(v)):
        da[k] = given[k] if prescribed[k] else 0.0
    jvp_inverse(model, scratch, False, q, v, a, external, xq, xv, da, vector, dtau)
    for k in range(len(v)):
        da[k] = 0.0 if prescribed[k] else given[k] - dtau[k]
    solve_mass(model, data, da, da)  # and the twists of links at these rates
    if prescribed.any():
        add_mass(model, data, table, da, dtau)
    for k in range(len(v)):
        if prescribed[k]:
            da[k] = given[k]
        else:
            dtau[k] = given[k]
    return aba.DONE if parameters.all_finite(out) else aba.REFUSED


@kernel
def hybrid_product_transposed(
        model: MATRIX, scratch: VECTOR, q: VECTOR, v: VECTOR, prescribed: TRUTHS, a: VECTOR,
        tau: VECTOR, external: MATRIX, y: VECTOR, by: MATRIX, vector: VECTOR):
    """
    Write a, tau and the gradient of y . x, x being tau where a is prescribed, else a.

    The first rows of by (5, nv) are by q, v and the given accelerations and forces; the others are
    scratch. Returns the code of hybrid.
    """
    _, table, data, _ = tables_of(model, scratch)
    code = factor_hybrid(model, data, q, v, prescribed, a, tau, external)
    if code != aba.DONE:
        return code
    if not joints.is_velocity(model, y):
        return aba.REFUSED
    by_given, weights, by_a = by[2], by[3], by[4]
    for k in range(len(y)):
        weights[k], by_given[k] = (y[k] if prescribed[k] else 0.0), 0.0
    if prescribed.any():
        propagate_twists(model, data, weights)
        add_mass(model, data, table, weights, by_given)
    for k in range(len(y)):
        by_given[k] = 0.0 if prescribed[k] else y[k] + by_given[k]
    solve_mass(model, data, by_given, by_given)
    for k in range(len(y)):
        weights[k] -= by_given[k]
    good = vjp_forces(
        model, scratch, q, v, a, external, weights, 1.0, by[0], by[1], by_a, vector)
    for k in range(len(y)):
        if prescribed[k]:
            by_given[k] = by_a[k]
    return aba.DONE if parameters.all_finite(by) and good else aba.REFUSED


@inlined
def factor_hybrid(model, data, q, v, prescribed, a, tau, external):
    """Run hybrid dynamics, and leave factors of M_FF and the wrenches from the parents."""
    code = aba.hybrid(model, data, q, v, prescribed, a, tau, external)
    if code == aba.DONE:
        for k in range(len(v)):
            if prescribed[k]:  # solve_mass leaves it at rest
                put(data, coordinate_row(model, k), INVERSE_PIVOT, 0.0)
        store_wrenches(model, data)
    return code


@inlined
def add_mass(model, data, table, x, out):
    """Add M x to out (nv,), ORDER_CHANGE of data being the twists of links at the rates x."""
    count = get_int(model, 0, LINKS)
    for i in range(1, count):
        store_pair(table, i, D_LINK_WRENCH, *rigid.apply(
            rigid.load(model, i, INERTIA), *load_pair(data, i, ORDER_CHANGE)))
    for i in range(count - 1, 0, -1):
        kind, pitch, vi = get_int(model, i, KIND), get(model, i, PITCH), get_int(model, i, VI)
        parent, (m, f) = get_int(model, i, PARENT), load_pair(table, i, D_LINK_WRENCH)
        for k in range(joints.degrees(kind)):
            armature = get(model, coordinate_row(model, vi + k), ARMATURE)
            out[vi + k] += joints.along(kind, pitch, k, m, f) + armature * x[vi + k]
        if parent > 0:
            add_pair(table, parent, D_LINK_WRENCH, *se3.adjoint_inverse_dual(
                load9(data, i, ROTATION), load3(data, i, POSITION), m, f))
