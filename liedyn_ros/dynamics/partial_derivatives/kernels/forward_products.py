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

"""Products of the Jacobians of forward dynamics with vectors from either side, O(n) (13.23)."""

from liedyn_ros.dynamics.kernels import aba, joints
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    inverse_product, inverse_product_transposed)
from liedyn_ros.dynamics.partial_derivatives.kernels.solve import solve_mass
from liedyn_ros.jit.decorators import kernel


@kernel
def forward_product(model, data, links, columns, zero, q, v, tau, external, xq, xv, xtau, a, out):
    """
    Write a, and out = da/dq xq + da/dv xv + M^-1 xtau, each (nv,); zero (nv,) is zero.

    Returns what forward returns.
    """
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if not (joints.complete(model, xtau) and inverse_product(
            model, links, columns, q, v, a, external, xq, xv, zero, out)):
        return aba.REFUSED
    for k in range(len(out)):
        out[k] = xtau[k] - out[k]
    solve_mass(model, data, out, out)
    return aba.DONE if joints.finite(out) else aba.REFUSED


@kernel
def forward_product_transposed(model, data, links, columns, q, v, tau, external, y, a,
                               by_q, by_v, by_tau, room):
    """
    Write a, and y^T da/dq, y^T da/dv, y^T da/dtau = M^-1 y, each (nv,).

    Returns what forward returns.
    """
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if not joints.complete(model, y):
        return aba.REFUSED
    solve_mass(model, data, y, by_tau)
    if not (joints.finite(by_tau) and inverse_product_transposed(
            model, links, columns, q, v, a, external, by_tau, by_q, by_v, room)):
        return aba.REFUSED
    for k in range(len(by_q)):
        by_q[k] = -by_q[k]
        by_v[k] = -by_v[k]
    return aba.DONE
