# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Your arm: hold it against gravity, follow a path by computed torque, and know its payload."""

from pathlib import Path

import numpy as np

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import runge_kutta_munthe_kaas
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.pictures import beside_machine, legend_above, RIGHT_COLOR, save, WRONG_COLOR

STEP, STEPS, PAYLOAD = 1e-3, 1500, 5.0  # s; kg
STIFFNESS, DAMPING = 100.0, 20.0  # 1/s^2, 1/s

arm = ld.load(config_file('arm.urdf'))  # or the path of your URDF
rest = np.array([0.3, -0.7, 1.5, 0.4, 0.9, 0.0])  # rad
holding = arm.gravity_vector(rest).round(2) + 0.0  # no -0.00
print('holds it:', ' '.join(f'{effort:.2f}' for effort in holding), 'N m')
builder = ModelBuilder.of(arm.model)
builder.add_payload('payload', 'tool', SpatialInertia(PAYLOAD, [0.0, 0.05, 0.0], 0.02 * np.eye(3)))
loaded = ld.Dynamics(builder.build())


def reference(time):
    """Return positions, velocities and accelerations at a time, s."""
    return (rest + 0.2 * np.sin(3.0 * time), np.full(arm.model.nv, 0.6 * np.cos(3.0 * time)),
            np.full(arm.model.nv, -1.8 * np.sin(3.0 * time)))


def largest_errors(known):
    """Return the largest error of the joints, mrad, at each step with a payload."""
    q, v = reference(0.0)[:2]
    errors = []
    for k in range(STEPS):
        wanted_q, wanted_v, wanted_a = reference(k * STEP)
        errors.append(1e3 * np.abs(wanted_q - q).max())
        effort = known.inverse(q, v, wanted_a + STIFFNESS * (wanted_q - q)
                               + DAMPING * (wanted_v - v))
        q, v = runge_kutta_munthe_kaas.step(loaded, q, v, STEP, effort)
    return errors


figure, space, axes = beside_machine(arm.model, rest)
space.plot(*loaded.frames.pose(rest, 'payload')[:3, 3:], 'o', color=WRONG_COLOR, markersize=12)
space.axis('equal')
for label, known, color in (('payload not known', arm, WRONG_COLOR),
                            ('payload known', loaded, RIGHT_COLOR)):
    errors = largest_errors(known)
    axes.semilogy(STEP * np.arange(STEPS), np.maximum(errors, 1e-6), color=color, label=label)
    print(f'{label}: {max(errors):.3g} mrad off at most')
axes.set(xlabel='time, s', ylabel='largest joint error, mrad', ylim=(1e-3, 1e4))
legend_above(axes, 2)
save(figure, Path('01_your_arm.png'))
