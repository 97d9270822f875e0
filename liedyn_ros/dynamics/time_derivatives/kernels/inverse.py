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

"""Inverse dynamics and its derivatives up to an order: Newton and Euler on series (7.22-7.25)."""

from liedyn_ros.dynamics.kernels import joints
from liedyn_ros.dynamics.kernels.rows import PARENT, VI
from liedyn_ros.dynamics.time_derivatives.kernels import border
from liedyn_ros.dynamics.time_derivatives.kernels.motion import begin
from liedyn_ros.dynamics.time_derivatives.kernels.table import EFFORT, RATE
from liedyn_ros.dynamics.time_derivatives.kernels.wrench import accelerate, felt, hand_on
from liedyn_ros.jit.decorators import inlined, kernel


@kernel
def inverse_series(topology, links, coordinates, series, rates, q, motion, tau):
    """
    Write the joint forces (order + 1, nv) of a motion (order + 2, nv), and their derivatives.

    Returns whether the motion is acceptable and the forces are finite.
    """
    if (len(motion) != len(tau) + 1 or motion.shape[1] != topology[0, VI]
            or not (joints.acceptable(topology, q) and joints.finite(motion.reshape(-1)))):
        return False
    border.pose(topology, links, series, q, 0, len(motion))
    border.begin(motion, rates, RATE, 0)
    solve(topology, links, coordinates, series, rates, len(motion), motion.shape[1])
    border.end(tau, rates, EFFORT, 0)
    border.add_friction(coordinates, motion, tau)
    return joints.finite(tau.reshape(-1))


@inlined
def solve(topology, links, coordinates, series, rates, size, count):
    """Write all forces of the joints, the pose and all rates being known."""
    border.ground(links, series, size)
    for i in range(1, len(links)):
        begin(topology, links, series, rates, i, size)
        for k in range(size - 1):
            accelerate(topology, links, series, rates, i, k, size, count)
    for i in range(len(links) - 1, 0, -1):
        for k in range(size - 1):
            felt(topology, links, coordinates, series, rates, i, k, size, count)
        if topology[i, PARENT] > 0:
            for k in range(size - 1):
                hand_on(topology, links, series, i, k, size)
