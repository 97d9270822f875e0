# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Feed-forward of order r: efforts and their rates, for actuators that take time.

Each actuator has two lags, as of an amplifier and of a gear. Its efforts follow the commands as
(1 + LAG d/dt)^2 effort = command, so the command that gives an effort has two time derivatives.
"""

from pathlib import Path

import numpy as np

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import LaggedActuators, lead
from liedyn_ros.dynamics import runge_kutta_munthe_kaas
from liedyn_ros.pictures import beside_machine, legend_above, PALETTE, save

LAG, STEP, STEPS = 0.02, 1e-3, 2000  # s
SIZE, RATE = 0.2, 5.0  # rad, rad/s
STIFFNESS, DAMPING = 40.0, 8.0  # 1/s^2, 1/s
WEIGHTS = np.array([1.0, 2.0 * LAG, LAG**2])  # of the effort and its two time derivatives

arm = ld.load(config_file('linkage_leg.urdf'))  # or the path of your URDF
joints = np.ones(arm.model.nv)


def reference(time):
    """Return q, v, a, and two time derivatives of a."""
    swing = [joints * SIZE * RATE**k * np.sin(RATE * time + 0.5 * np.pi * k) for k in range(5)]
    return [0.3 + swing[0], *swing[1:]]


def follow(order):
    """Return the largest error of the joints, mrad, at each step."""
    q, v, *motion = reference(0.0)
    start = arm.inverse.time_derivatives(q, v, motion[:2])
    actuators = LaggedActuators(lead(start, LAG), LAG, STEP), LaggedActuators(start[0], LAG, STEP)
    errors = []
    for k in range(STEPS):
        wanted_q, wanted_v, *motion = reference((k + 0.5) * STEP)
        efforts = arm.inverse.time_derivatives(wanted_q, wanted_v, motion[:order + 1])
        effort = WEIGHTS[:order + 1] @ efforts + arm.mass_matrix(q) @ (
            STIFFNESS * (wanted_q - q) + DAMPING * (wanted_v - v))
        for each in actuators:
            effort = each.step(effort)
        q, v = runge_kutta_munthe_kaas.step(arm, q, v, STEP, effort)
        errors.append(1e3 * np.abs(reference((k + 1) * STEP)[0] - q).max())
    return errors


figure, _, axes = beside_machine(arm.model, reference(0.0)[0])
for order, color in enumerate(PALETTE[:3]):
    errors = follow(order)
    print(f'order {order}: {max(errors):.3g} mrad off at most')
    axes.semilogy(STEP * np.arange(1, STEPS + 1), np.maximum(errors, 1e-4), color=color,
                  label=f'order {order}')
axes.set(xlabel='time, s', ylabel='largest joint error, mrad', ylim=(1e-2, 2e4))
legend_above(axes, 3)
save(figure, Path('06_feed_forward.png'))
