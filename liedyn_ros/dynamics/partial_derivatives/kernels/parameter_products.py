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

"""Products of the Jacobians of inverse dynamics by all parameters with vectors, O(n)."""

from liedyn_ros.dynamics.kernels import joints
from liedyn_ros.dynamics.kernels.rnea import rnea
from liedyn_ros.dynamics.partial_derivatives.kernels import parameters
from liedyn_ros.dynamics.partial_derivatives.kernels.products import (
    multiply, multiply_transposed, spread)
from liedyn_ros.jit.decorators import kernel


@kernel
def inverse_product(model, data, table, parts, shifts, joints_of, bodies, dissipation, q, v, a,
                    external, xq, xv, xa, ground, of_coordinates, of_bodies, out):
    """
    Write what products.inverse_product writes, with changes of the parameters.

    parts, shifts, joints_of and bodies are as in kernels.parameters; dissipation is 1, or 0 where
    damping and friction do not count.
    """
    if not (rnea(model, data, q, v, a, external, out) and joints.complete(model, xq)
            and joints.complete(model, xv) and joints.complete(model, xa)):
        return False
    parameters.to_links(model, joints_of, bodies, external, ground, of_bodies, shifts, parts)
    vary_forces(model, data, table, parts, q, v, a, xq, xv, xa, dissipation, of_coordinates, out)
    return joints.finite(out)


@kernel
def inverse_product_transposed(
        model, data, table, parts, shifts, joints_of, bodies, dissipation, q, v, a, external, y,
        by_q, by_v, by_a, ground, of_coordinates, of_bodies):
    """Write what products.inverse_product_transposed writes, and y^T dtau/d(parameters)."""
    if not (rnea(model, data, q, v, a, external, by_a) and joints.complete(model, y)):
        return False
    weigh_forces(model, data, table, parts, shifts, joints_of, bodies, dissipation, q, v, a,
                 external, y, 1.0, by_q, by_v, by_a, ground, of_coordinates, of_bodies)
    return (joints.finite(by_q) and joints.finite(by_v) and joints.finite(by_a)
            and joints.finite(of_bodies.reshape(-1)))


@kernel
def vary_forces(model, data, table, parts, q, v, a, xq, xv, xa, dissipation, of_coordinates, out):
    """Write how the forces of the motion in data vary."""
    multiply(model, data, table, parts, q, v, a, xq, xv, xa, out)
    parameters.resist(v, a, dissipation, of_coordinates, out)


@kernel
def weigh_forces(model, data, table, parts, shifts, joints_of, bodies, dissipation, q, v, a,
                 external, y, sign, by_q, by_v, by_a, ground, of_coordinates, of_bodies):
    """Write the gradient of y . tau at the motion in data; sign times it, of the parameters."""
    spread(model, data, y)
    multiply_transposed(model, data, table, parts, q, v, a, y, by_q, by_v, by_a)
    shifts[:] = 0.0
    parameters.from_links(model, data, joints_of, bodies, external, sign, shifts, parts, ground,
                          of_bodies)
    parameters.weigh_coordinates(v, a, y, sign, dissipation, of_coordinates)
