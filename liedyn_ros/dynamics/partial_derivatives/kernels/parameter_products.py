# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
JVP and VJP of dynamics by state and all parameters, O(n) (13.18), (13.21 to 13.23).

The parameters are one vector: gravity, coordinates, bodies, closures. All scratch buffers are one
array, since each argument takes time to pass.

JVP and VJP of hybrid dynamics, O(n) (13.18), (13.23). F are the coordinates with a given force, U
those with a given acceleration. A change of the inverse dynamics by d changes a_F by -M_FF^-1 d_F.
The factors of M_FF are those of hybrid dynamics. The direction includes changes of all parameters.
"""

from liedyn_ros.dynamics.algorithms.kernels import aba
from liedyn_ros.dynamics.algorithms.kernels.rnea import rnea
from liedyn_ros.dynamics.mass_matrix.kernels.factorization import solve_mass
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    add_pair, load_pair, store_pair)
from liedyn_ros.dynamics.partial_derivatives.kernels import parameters
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_products import store_wrenches
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import shares_memory
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    BODY_WIDTH, COORDINATE_WIDTH, PRODUCT_WIDTH, TABLE_ROWS)
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    D_LINK_WRENCH, move_links, multiply, multiply_transposed, propagate_twists)
from liedyn_ros.dynamics.tree.kernels import joints, rigid
from liedyn_ros.dynamics.tree.kernels.tables import (
    coordinate_of, coordinate_row, DATA_WIDTH, Link, MODEL_WIDTH, Pivot, State, Tree)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, TRUTHS, VECTOR, WHOLE
from liedyn_ros.jit.pointers import rows_of
from liedyn_ros.jit.simd import LANES, of_width
from liedyn_ros.lie.kernels import se3
from liedyn_ros.linear_algebra.kernels.rows import copy_scaled
from liedyn_ros.model.kernels.configuration import finite


@kernel
def inverse_parameter_product(
        model: MATRIX, scratch: VECTOR, q: VECTOR, v: VECTOR, a: VECTOR, external: MATRIX,
        xq: VECTOR, xv: VECTOR, xa: VECTOR, vector: VECTOR, out: VECTOR):
    """Write the JVP of products.inverse_product, with changes of the parameters."""
    model, (_, _, data, _) = of_width(model, MODEL_WIDTH), tables_of(model, scratch)
    if shares_memory(out, q, v, a, external) or not (
            len(xq) == len(xv) == len(xa) == Tree(model, 0).nv
            and move_links(model, data, q, v, a, external, None)):
        return False
    return jvp_inverse(
        model, scratch, True, q, v, a, external, xq, xv, xa, vector, out) == 0.0


@kernel
def inverse_parameter_product_transposed(
        model: MATRIX, scratch: VECTOR, q: VECTOR, v: VECTOR, a: VECTOR, external: MATRIX,
        y: VECTOR, by: MATRIX, vector: VECTOR):
    """Write the VJP by q, v and a into by (3, nv), that by parameters into vector."""
    model, (_, _, data, _) = of_width(model, MODEL_WIDTH), tables_of(model, scratch)
    if shares_memory(by, q, v, a, external) or not (
            len(y) == Tree(model, 0).nv and move_links(model, data, q, v, a, external, y)):
        return False
    return vjp_link_motions(
        model, scratch, True, q, v, a, external, y, 1.0, by[0], by[1], by[2], vector)


@kernel
def inverse_parameter_rows(
        model: MATRIX, scratch: VECTOR, q: VECTOR, v: VECTOR, a: VECTOR, external: MATRIX,
        y: VECTOR, by: MATRIX, vector: VECTOR, first: WHOLE, out: CUBE):
    """
    Write the VJP of each unit vector by placements, axes and pitches into out (nv, B, 10).

    Those of bodies begin at `first` in vector. It, y and by are scratch buffers. Returns what
    inverse_parameter_product_transposed returns.
    """
    _, _, data, _ = tables_of(model, scratch)
    good = rnea(model, data, q, v, a, external, by[2])
    for k in range(len(out)):
        write_unit(y, k)
        good = good and vjp_forces(
            model, scratch, q, v, a, external, y, 1.0, by[0], by[1], by[2], vector)
        keep_kinematics(vector, first, out[k])
    return good


@kernel
def keep_kinematics(vector, first, out):
    """Write a gradient's part of placements, axes and pitches (B, 10)."""
    row = rows_of(vector, 0, 1, len(vector))
    for b in range(len(out)):
        at = first + b * parameters.BODY_WIDTH + parameters.JOINT_PLACEMENT
        copy_scaled(row, 0, at, out, b, 0, out.shape[1], 1.0)


@kernel
def write_unit(y, k):
    """Write the unit vector of coordinate k."""
    for j in range(len(y)):
        y[j] = 0.0
    y[k] = 1.0


@kernel
def forward_parameter_product(
        model: MATRIX, scratch: VECTOR, q: VECTOR, v: VECTOR, tau: VECTOR, external: MATRIX,
        xq: VECTOR, xv: VECTOR, xtau: VECTOR, vector: VECTOR, out: MATRIX):
    """
    Write a and the JVP of forward_products.forward_product, with changes of the parameters.

    They are the rows of out (2, nv). Returns the code of forward.
    """
    a, da, (_, _, data, _) = out[0], out[1], tables_of(model, scratch)
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if not len(v) == len(xq) == len(xv) == len(xtau):
        return aba.REFUSED
    store_wrenches(model, data)
    jvp_inverse(model, scratch, False, q, v, a, external, xq, xv, None, vector, da)
    for k in range(len(da)):
        da[k] = xtau[k] - da[k]
    solve_mass(model, data, da, da)
    return aba.DONE if finite(da) else aba.REFUSED


@kernel
def forward_parameter_product_transposed(
        model: MATRIX, scratch: VECTOR, q: VECTOR, v: VECTOR, tau: VECTOR, external: MATRIX,
        y: VECTOR, by: MATRIX, vector: VECTOR):
    """
    Write a and the VJP by q, v and tau into by (4, nv), that by parameters into vector.

    Returns the code of forward.
    """
    _, _, data, _ = tables_of(model, scratch)
    code = aba.forward(model, data, q, v, tau, external, by[0])
    if code != aba.DONE:
        return code
    if len(y) != len(v):
        return aba.REFUSED
    store_wrenches(model, data)
    good = vjp_accelerations(model, scratch, q, v, external, y, by, vector)
    return aba.DONE if good else aba.REFUSED


@inlined
def vjp_accelerations(model, scratch, q, v, external, y, by, vector):
    """
    Write all but a of forward_parameter_product_transposed at the motion in the scratch buffers.

    Returns whether the gradient is finite.
    """
    a, by_q, by_v, by_tau = by[0], by[1], by[2], by[3]
    _, _, data, _ = tables_of(model, scratch)
    solve_mass(model, data, y, by_tau)  # and the twists of links at these rates
    good = vjp_link_motions(
        model, scratch, False, q, v, a, external, by_tau, -1.0, by_q, by_v, None, vector)
    for k in range(len(by_q)):
        by_q[k], by_v[k] = -by_q[k], -by_v[k]
    return good and finite(by_tau)


@inlined
def tables_of(model, scratch):
    """Return the tables of bodies, products and dynamics, and 1 if damping counts."""
    tree = Tree(model, 0)
    links, count = tree.links, tree.bodies
    width = (max(count, 1) + LANES - 1) // LANES * LANES
    first = TABLE_ROWS * width
    second = first + PRODUCT_WIDTH * links
    return (rows_of(scratch, 0, TABLE_ROWS, width), rows_of(scratch, first, links, PRODUCT_WIDTH),
            rows_of(scratch, second, links + tree.nv, DATA_WIDTH), scratch[len(scratch) - 1])


@inlined
def parts_of(model, vector):
    """Return the parts of gravity, coordinates, bodies and closures."""
    tree = Tree(model, 0)
    n, count = tree.nv, tree.bodies
    first = 3 + COORDINATE_WIDTH * n
    end = first + BODY_WIDTH * count
    return (rows_of(vector, 0, 1, 3), rows_of(vector, 3, n, COORDINATE_WIDTH),
            rows_of(vector, first, count, BODY_WIDTH), vector[end:])


@inlined
def jvp_inverse(model, scratch, net, q, v, a, external, xq, xv, xa, vector, out):
    """
    Write the JVP of inverse dynamics at the motion in the scratch buffers, as multiply does.

    Returns zero, or NaN where the JVP is not finite.
    """
    bodies, table, data, dissipation = tables_of(model, scratch)
    ground, of_coordinates, of_bodies, _ = parts_of(model, vector)
    parameters.to_links(data, bodies, external, ground, of_bodies, table)
    multiply(model, data, table, table, net, q, v, a, xq, xv, xa, out)
    return parameters.add_dissipation_changes(v, a, dissipation, of_coordinates, out)


@inlined
def vjp_forces(model, scratch, q, v, a, external, y, sign, by_q, by_v, by_a, vector):
    """
    Write the gradient of y . tau at the motion in the scratch buffers; times sign by parameters.

    Returns whether the gradient is finite.
    """
    _, _, data, _ = tables_of(model, scratch)
    propagate_twists(model, data, y)
    return vjp_link_motions(
        model, scratch, False, q, v, a, external, y, sign, by_q, by_v, by_a, vector)


@inlined
def vjp_link_motions(model, scratch, net, q, v, a, external, y, sign, by_q, by_v, by_a, vector):
    """Weigh a motion whose ORDER_CHANGE has the links' twists at rates y; net: as in multiply."""
    bodies, table, data, dissipation = tables_of(model, scratch)
    ground, of_coordinates, of_bodies, of_closures = parts_of(model, vector)
    excess = multiply_transposed(model, data, table, table, net, q, v, a, y, by_q, by_v, by_a)
    excess += parameters.vjp_coordinates(v, a, y, sign, dissipation, of_coordinates)
    for k in range(len(of_closures)):
        of_closures[k] = 0.0
    good = parameters.vjp_shifts(data, bodies, external, sign, of_bodies)
    good = parameters.from_links(bodies, sign, table, ground, of_bodies) and good
    return good and excess == 0.0


@kernel
def forward_parameter_rows(
        model: MATRIX, scratch: VECTOR, q: VECTOR, v: VECTOR, tau: VECTOR, external: MATRIX,
        y: VECTOR, by: MATRIX, vector: VECTOR, first: WHOLE, out: CUBE):
    """Write rows of parameters for forward dynamics; return its code."""
    _, _, data, _ = tables_of(model, scratch)
    code = aba.forward(model, data, q, v, tau, external, by[0])
    if code != aba.DONE:
        return code
    store_wrenches(model, data)
    good = True
    for k in range(len(out)):
        write_unit(y, k)
        good = good and vjp_accelerations(model, scratch, q, v, external, y, by, vector)
        keep_kinematics(vector, first, out[k])
    return aba.DONE if good else aba.REFUSED


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
                Pivot(data, coordinate_row(model, k)).inverse = 0.0
        store_wrenches(model, data)
    return code


@inlined
def add_mass(model, data, table, x, out):
    """Add M x to out (nv,), ORDER_CHANGE of data being the twists of links at the rates x."""
    count = Tree(model, 0).links
    for i in range(1, count):
        store_pair(table, i, D_LINK_WRENCH, *rigid.apply(
            Link(model, i).inertia, *State(data, i).order_change))
    for i in range(count - 1, 0, -1):
        link = Link(model, i)
        kind, pitch, vi = link.kind, link.pitch, link.vi
        parent, (m, f) = link.parent, load_pair(table, i, D_LINK_WRENCH)
        for k in range(joints.degrees(kind)):
            armature = coordinate_of(model, vi + k).armature
            out[vi + k] += joints.along(kind, pitch, k, m, f) + armature * x[vi + k]
        if parent > 0:
            add_pair(table, parent, D_LINK_WRENCH,
                     *se3.adjoint_inverse_dual(*State(data, i).pose, m, f))
