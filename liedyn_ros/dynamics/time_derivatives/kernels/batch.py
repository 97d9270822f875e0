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

"""The recursions at every order over many states, LANES of them side by side."""

from liedyn_ros.dynamics.kernels import hybrid, joints
from liedyn_ros.dynamics.kernels.hybrid import DONE, REFUSED
from liedyn_ros.dynamics.time_derivatives.kernels import border, factors, forward, inverse
from liedyn_ros.dynamics.time_derivatives.kernels.table import EFFORT, RATE
from liedyn_ros.jit.decorators import long_kernel
from liedyn_ros.jit.simd import LANES


@long_kernel
def inverse_lanes(topology, links, coordinates, body_row, body_placement, series, rates,
                  q, motion, tau, external):
    """Run inverse_series on each state, external may have none; return the first to fail."""
    states, size = len(q), motion.shape[1]
    for first in range(0, states, LANES):
        for lane in range(LANES):
            s = min(first + lane, states - 1)  # lanes left over do the last state again
            if not (joints.acceptable(topology, q[s]) and joints.finite(motion[s].reshape(-1))):
                return s, REFUSED
            if len(external) and not border.press_bodies(
                    series, body_row, body_placement, external[s], lane, size):
                return s, REFUSED
            border.pose(topology, links, series, q[s], lane, size)
            border.begin(motion[s], rates, RATE, lane)
        inverse.solve(topology, links, coordinates, series, rates, size, motion.shape[2])
        for lane in range(min(LANES, states - first)):
            s = first + lane
            border.end(tau[s], rates, EFFORT, lane)
            border.add_friction(coordinates, motion[s], tau[s])
            if not joints.finite(tau[s].reshape(-1)):
                return s, REFUSED
    return states, DONE


@long_kernel
def hybrid_lanes(topology, links, coordinates, body_row, body_placement, series, rates,
                 state, pivots, q, v, a, tau, external):
    """Run hybrid_series on each state, external may have none; return the first to fail."""
    states, size = len(q), a.shape[1] + 1
    for first in range(0, states, LANES):
        for lane in range(LANES):
            s = min(first + lane, states - 1)
            if not (joints.acceptable(topology, q[s]) and joints.complete(topology, v[s])):
                return s, REFUSED
            for k in range(a.shape[1]):
                if not hybrid.given(coordinates, a[s, k], tau[s, k]):
                    return s, REFUSED
            if len(external) and not border.press_bodies(
                    series, body_row, body_placement, external[s], lane, size):
                return s, REFUSED
            border.pose(topology, links, series, q[s], lane, size)
            border.begin_hybrid(coordinates, v[s], a[s], tau[s], rates, lane, 0)
        factors.factor(topology, links, coordinates, state, pivots, series, size)
        for lane in range(LANES):
            code = factors.singular(coordinates, pivots, lane)
            if code != DONE:
                return min(first + lane, states - 1), code
        forward.solve(topology, links, coordinates, state, pivots, series, rates,
                      size, v.shape[1], 0)
        for lane in range(min(LANES, states - first)):
            s = first + lane
            border.end_hybrid(coordinates, v[s], rates, a[s], tau[s], lane, 0)
            if not (joints.finite(a[s].reshape(-1)) and joints.finite(tau[s].reshape(-1))):
                return s, REFUSED
    return states, DONE
