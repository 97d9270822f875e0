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

"""The Jacobians of forward dynamics, from those of inverse dynamics at its solution (13.15)."""

from liedyn_ros.dynamics.kernels import aba, joints
from liedyn_ros.dynamics.partial_derivatives.kernels.factorization import factorize, invert, solve
from liedyn_ros.dynamics.partial_derivatives.kernels.jacobians import inverse_jacobians
from liedyn_ros.jit.decorators import kernel


@kernel
def forward_jacobians(model, data, links, columns, before, factors, q, v, tau, external, a,
                      by_q, by_v, by_tau, by_gravity):
    """
    Write a, da/dq, da/dv, da/dtau = M^-1 and da/d(gravity); factors (nv, nv) is room.

    Returns what forward returns.
    """
    code = aba.forward(model, data, q, v, tau, external, a)
    if code != aba.DONE:
        return code
    if not inverse_jacobians(model, links, columns, q, v, a, external,
                             by_q, by_v, factors, by_gravity):
        return aba.REFUSED
    code = factorize(before, factors)
    if code > 0:
        return code
    solve(before, factors, -1.0, by_q)
    solve(before, factors, -1.0, by_v)
    solve(before, factors, -1.0, by_gravity)
    invert(before, factors, by_tau)
    finite = (joints.finite(by_q.reshape(-1)) and joints.finite(by_v.reshape(-1))
              and joints.finite(by_tau.reshape(-1)))
    return aba.DONE if finite else aba.REFUSED
