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

from liedyn_ros.compile import inlined, kernel
from liedyn_ros.dynamics.kernels import hybrid, joints
from liedyn_ros.dynamics.kernels.bodies import apply_wrenches
from liedyn_ros.dynamics.kernels.hybrid import DONE, REFUSED
from liedyn_ros.dynamics.kernels.rows import ARTICULATED, GAIN, INVERSE_PIVOT
from liedyn_ros.dynamics.kernels.series import border, forward, inverse
from liedyn_ros.dynamics.kernels.series.lanes import LANES, put_lane
from liedyn_ros.dynamics.kernels.series.table import EFFORT, RATE


@kernel
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


@kernel
def hybrid_lanes(topology, links, coordinates, body_row, body_placement, series, rates,
                 state, pivots, q, v, a, tau, external):
    """Run hybrid_series on each state, external may have none; return the first to fail."""
    states, size = len(q), a.shape[1] + 1
    for first in range(0, states, LANES):
        for lane in range(LANES):
            s = min(first + lane, states - 1)
            if len(external) and not (
                    apply_wrenches(links, body_row, body_placement, external[s, 0])
                    and border.press_bodies(
                        series, body_row, body_placement, external[s], lane, size)):
                return s, REFUSED
            code = hybrid.hybrid(
                topology, links, coordinates, q[s], v[s], a[s, 0], tau[s, 0])
            for k in range(1, a.shape[1]):
                if code == DONE and not hybrid.given(coordinates, a[s, k], tau[s, k]):
                    code = REFUSED
            if code != DONE:
                return s, code
            if size > 2:
                take_factors(links, coordinates, state, pivots, lane)
                border.pose(topology, links, series, q[s], lane, size)
                border.begin_hybrid(coordinates, v[s], a[s], tau[s], rates, lane)
        if size > 2:
            forward.solve(topology, links, coordinates, state, pivots, series, rates,
                          size, v.shape[1])
        for lane in range(min(LANES, states - first)):
            s = first + lane
            border.end_hybrid(coordinates, rates, a[s], tau[s], lane)
            if not (joints.finite(a[s].reshape(-1)) and joints.finite(tau[s].reshape(-1))):
                return s, REFUSED
    return states, DONE


@inlined
def take_factors(links, coordinates, state, pivots, lane):
    """Copy the articulated inertias, gains and pivots of one state into its lane."""
    for i in range(1, len(links)):
        for column in range(ARTICULATED, ARTICULATED + 21):
            put_lane(state, i, column, lane, links[i, column])
    for j in range(len(coordinates)):
        for column in range(INVERSE_PIVOT, GAIN + 6):
            put_lane(pivots, j, column, lane, coordinates[j, column])
