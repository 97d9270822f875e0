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

"""
Products of the Jacobians of inverse and forward dynamics by all parameters with vectors, O(n).

The parameters are one vector: gravity, coordinates, bodies, closures. bodies is the table of
kernels.parameters; dissipation is 1, or 0 where damping and friction do not count.
"""

from liedyn_ros.dynamics.kernels import aba, joints
from liedyn_ros.dynamics.kernels.rnea import rnea
from liedyn_ros.dynamics.kernels.tables import BODIES, NV
from liedyn_ros.dynamics.partial_derivatives.kernels import parameters
from liedyn_ros.dynamics.partial_derivatives.kernels.forward_products import store_wrenches
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    BODY_WIDTH, COORDINATE_WIDTH)
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    multiply, multiply_transposed, spread)
from liedyn_ros.dynamics.partial_derivatives.kernels.solve import solve_mass
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get_int


@kernel
def inverse_product(model, data, table, bodies, dissipation, q, v, a, external, xq, xv, xa,
                    vector, out):
    """Write what products.inverse_product writes, with changes of the parameters."""
    if not (rnea(model, data, q, v, a, external, out) and joints.complete(model, xq)
            and joints.complete(model, xv) and joints.complete(model, xa)):
        return False
    vary_forces(model, data, table, bodies, dissipation, q, v, a, external, xq, xv, xa, vector,
                out)
    return joints.finite(out)


@kernel
def inverse_product_transposed(
        model, data, table, bodies, dissipation, q, v, a, external, y, by, vector):
    """Write by (3, nv), what products.inverse_product_transposed does, and that by vector."""
    if not (rnea(model, data, q, v, a, external, by[2]) and joints.complete(model, y)):
        return False
    weigh_forces(model, data, table, bodies, dissipation, q, v, a, external, y, 1.0, by[0], by[1],
                 by[2], vector)
    return parameters.finite(by.reshape(-1)) and parameters.finite(vector)


@kernel
def forward_product(model, data, table, bodies, dissipation, q, v, tau, external, xq, xv, xtau,
                    vector, out):
    """
    Write a and what forward_products.forward_product writes, with changes of the parameters.

    They are the rows of out (2, nv). Returns what forward returns.
    """
    a, da = out[0], out[1]
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if not (joints.complete(model, xq) and joints.complete(model, xv)
            and joints.complete(model, xtau)):
        return aba.REFUSED
    store_wrenches(model, data)
    vary_forces(model, data, table, bodies, dissipation, q, v, a, external, xq, xv, None, vector,
                da)
    for k in range(len(da)):
        da[k] = xtau[k] - da[k]
    solve_mass(model, data, da, da)
    return aba.DONE if joints.finite(da) else aba.REFUSED


@kernel
def forward_product_transposed(
        model, data, table, bodies, dissipation, q, v, tau, external, y, by, vector):
    """
    Write a and what forward_product_transposed does as rows of by (4, nv), and that by vector.

    Returns what forward returns.
    """
    a, by_q, by_v, by_tau = by[0], by[1], by[2], by[3]
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if not joints.complete(model, y):
        return aba.REFUSED
    solve_mass(model, data, y, by_tau)  # and the twists of links at these rates
    store_wrenches(model, data)
    weigh_motion(model, data, table, bodies, dissipation, q, v, a, external, by_tau, -1.0, by_q,
                 by_v, None, vector)
    for k in range(len(by_q)):
        by_q[k], by_v[k] = -by_q[k], -by_v[k]
    good = parameters.finite(by.reshape(-1)) and parameters.finite(vector)
    return aba.DONE if good else aba.REFUSED


@inlined
def parts_of(model, vector):
    """Return the parts of gravity, coordinates and bodies."""
    n, count = get_int(model, 0, NV), get_int(model, 0, BODIES)
    first = 3 + COORDINATE_WIDTH * n
    end = first + BODY_WIDTH * count
    return (vector[:3].reshape(1, 3), vector[3:first].reshape(n, COORDINATE_WIDTH),
            vector[first:end].reshape(count, BODY_WIDTH), vector[end:])


@kernel
def vary_forces(model, data, table, bodies, dissipation, q, v, a, external, xq, xv, xa, vector,
                out):
    """Write how the forces of the motion in data vary."""
    ground, of_coordinates, of_bodies, _ = parts_of(model, vector)
    parameters.to_links(data, bodies, external, ground, of_bodies, table)
    multiply(model, data, table, table, q, v, a, xq, xv, xa, out)
    parameters.resist(v, a, dissipation, of_coordinates, out)


@kernel
def weigh_forces(model, data, table, bodies, dissipation, q, v, a, external, y, sign, by_q, by_v,
                 by_a, vector):
    """Write the gradient of y . tau at the motion in data; sign times it, of the parameters."""
    spread(model, data, y)
    weigh_motion(model, data, table, bodies, dissipation, q, v, a, external, y, sign, by_q, by_v,
                 by_a, vector)


@inlined
def weigh_motion(model, data, table, bodies, dissipation, q, v, a, external, y, sign, by_q, by_v,
                 by_a, vector):
    """Write the same where ORDER_CHANGE of data is the twist of each link at the rates y."""
    ground, of_coordinates, of_bodies, of_closures = parts_of(model, vector)
    multiply_transposed(model, data, table, table, q, v, a, y, by_q, by_v, by_a)
    parameters.clear_shifts(bodies)
    parameters.from_links(data, bodies, external, sign, table, ground, of_bodies)
    parameters.weigh_coordinates(v, a, y, sign, dissipation, of_coordinates)
    for k in range(len(of_closures)):
        of_closures[k] = 0.0
