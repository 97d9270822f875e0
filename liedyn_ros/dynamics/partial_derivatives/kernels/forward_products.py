# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""JVP and VJP of forward dynamics, O(n) (13.23)."""

from liedyn_ros.dynamics.algorithms.kernels import aba, articulated
from liedyn_ros.dynamics.mass_matrix.kernels.factorization import solve_mass
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import sum_of
from liedyn_ros.dynamics.partial_derivatives.kernels.products import multiply, multiply_transposed
from liedyn_ros.dynamics.tree.kernels.tables import State, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR, WHOLE
from liedyn_ros.model.kernels.configuration import finite


@kernel
def forward_product(
        model: MATRIX, data: MATRIX, table: MATRIX, q: VECTOR, v: VECTOR, tau: VECTOR,
        external: MATRIX, xq: VECTOR, xv: VECTOR, xtau: VECTOR, a: VECTOR, out: VECTOR) -> WHOLE:
    """
    Write a, and out = da/dq xq + da/dv xv + M^-1 xtau, each (nv,).

    Returns what forward returns.
    """
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if not len(v) == len(xq) == len(xv) == len(xtau):
        return aba.REFUSED
    store_wrenches(model, data)
    multiply(model, data, table, None, False, q, v, a, xq, xv, None, out)
    for k in range(len(out)):
        out[k] = xtau[k] - out[k]
    solve_mass(model, data, out, out)
    return aba.DONE if finite(out) else aba.REFUSED


@kernel
def forward_product_transposed(
        model: MATRIX, data: MATRIX, table: MATRIX, q: VECTOR, v: VECTOR, tau: VECTOR,
        external: MATRIX, y: VECTOR, a: VECTOR, by_q: VECTOR, by_v: VECTOR, by_tau: VECTOR
        ) -> WHOLE:
    """
    Write a, and y^T da/dq, y^T da/dv, y^T da/dtau = M^-1 y, each (nv,).

    Returns what forward returns.
    """
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if len(y) != len(v):
        return aba.REFUSED
    solve_mass(model, data, y, by_tau)  # and the twists of links at these rates
    store_wrenches(model, data)
    excess = multiply_transposed(
        model, data, table, None, False, q, v, a, by_tau, by_q, by_v, None)
    for k in range(len(by_q)):
        by_q[k] = -by_q[k]
        by_v[k] = -by_v[k]
    return aba.DONE if excess == 0.0 and finite(by_tau) else aba.REFUSED


@inlined
def store_wrenches(model, data):
    """Write the wrenches from the parents, F = Ihat V' + Bhat (3.13), after a call of forward."""
    for i in range(1, Tree(model, 0).links):
        state = State(data, i)
        own = articulated.apply(articulated.load(data, i), *state.acceleration)
        m, f = sum_of(own, state.bias_wrench)
        state.wrench = m, f
