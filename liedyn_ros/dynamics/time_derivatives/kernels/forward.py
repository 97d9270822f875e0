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
Forward and hybrid dynamics and their derivatives up to an order, one order after the other.

Order zero is the articulated-body algorithm of hybrid.py. Its articulated inertias, gains and
pivots serve every order (Lemma 2): an order costs what its inverse dynamics without the unknown
accelerations costs, and one solution of the system that is already factored. (7.5, i to iii)
"""

from liedyn_ros.dynamics.kernels import hybrid, joints
from liedyn_ros.dynamics.kernels.rows import PARENT
from liedyn_ros.dynamics.time_derivatives.kernels import border, order
from liedyn_ros.dynamics.time_derivatives.kernels.motion import begin
from liedyn_ros.dynamics.time_derivatives.kernels.wrench import accelerate, felt, hand_on
from liedyn_ros.jit.decorators import inlined, kernel


@kernel
def hybrid_series(topology, links, coordinates, series, rates, q, v, a, tau):
    """
    Write the derivatives (order + 1, nv) of accelerations not prescribed and forces not given.

    Returns what hybrid.hybrid returns.
    """
    if a.shape != tau.shape:
        return hybrid.REFUSED
    code = hybrid.hybrid(topology, links, coordinates, q, v, a[0], tau[0])
    if code != hybrid.DONE or len(a) == 1:
        return code
    for k in range(1, len(a)):
        if not hybrid.given(coordinates, a[k], tau[k]):
            return hybrid.REFUSED
    border.pose(topology, links, series, q, 0, len(a) + 1)
    border.begin_hybrid(coordinates, v, a, tau, rates, 0, 1)
    solve(topology, links, coordinates, links, coordinates, series, rates, len(a) + 1, len(v), 1)
    border.end_hybrid(coordinates, v, rates, a, tau, 0, 1)
    good = joints.finite(a.reshape(-1)) and joints.finite(tau.reshape(-1))
    return hybrid.DONE if good else hybrid.REFUSED


@inlined
def solve(topology, links, coordinates, state, pivots, series, rates, size, count, first):
    """Write rates and efforts of all orders from a first on, those before being known."""
    border.ground(links, series, size)
    for i in range(1, len(links)):
        begin(topology, links, series, rates, i, size)
    for k in range(size - 1):
        for i in range(1, len(links)):
            accelerate(topology, links, series, rates, i, k, size, count)
        for i in range(len(links) - 1, 0, -1):
            if k >= first:
                order.eliminate(topology, links, coordinates, state, pivots, series, rates,
                                i, k, size, count)
            if topology[i, PARENT] > 0:
                hand_on(topology, links, series, i, k, size)
        for i in range(1, len(links) if k >= first else 0):
            order.solve(topology, links, coordinates, state, pivots, series, rates,
                        i, k, size, count)
            felt(topology, links, coordinates, series, rates, i, k, size, count)
