# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A looped robot: a leg whose push rod a URDF cannot close, from its encoders to its motors."""

from pathlib import Path

import numpy as np

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import complete_trajectory
from liedyn_ros.pictures import draw_machine, legend_above, new_figure, PAGE, save

machine = ld.load(config_file('linkage_leg.urdf'),  # or the paths of your files
                  loops=config_file('linkage_leg_loops.yaml'))
leg = machine.model
print(f'degrees of freedom: {machine.mobility.degrees_of_freedom} of {leg.nv} joints')

# What the encoders of hip and crank read, s and rad; the loop decides knee and rod.
time = np.arange(0.0, 1.0, 2e-3)
sizes, rates = np.array([0.3, 0.25]), 2.0 * np.pi * np.array([1.0, 2.0])
phases = rates * time[:, None]
motion = complete_trajectory(machine, sizes * np.sin(phases), sizes * rates * np.cos(phases),
                             -sizes * rates**2 * np.sin(phases))
gap = max(np.abs(machine.residual(q)).max() for q in motion.q)
print(f'the loop is open by less than 1e-9: {gap < 1e-9}')
needed = [machine.inverse(*state) for state in zip(motion.q, motion.v, motion.a)]
torques = np.array([each.tau for each in needed])
for name, driven, torque in zip(leg.coordinate_names, leg.actuated, torques.T):
    print(f'{name}: {f"{np.abs(torque).max():.2f} N m at most" if driven else "no motor"}')
pull = np.linalg.norm([each.wrenches[0, 3:] for each in needed], axis=1)
print(f'the rod pulls with {pull.max():.0f} N at most')

figure = new_figure(80.0, PAGE)
parts = figure.add_gridspec(2, 2, width_ratios=(1, 2))
space = figure.add_subplot(parts[:, 0], projection='3d')
draw_machine(space, leg, motion.q[100])
space.view_init(8, -90)
space.set_box_aspect((1, 1, 1), zoom=1.5)
space.axis('equal')
space.set_axis_off()
angles, motors = (figure.add_subplot(parts[k, 1]) for k in range(2))
for k, name in enumerate(leg.coordinate_names):
    style = '-' if leg.actuated[k] else '--'
    color = angles.plot(time, motion.q[:, k], style, label=name)[0].get_color()
    if leg.actuated[k]:
        motors.plot(time, torques[:, k], color=color, label=name)
angles.set_ylabel('angle, rad')
legend_above(angles, 2)
motors.set(xlabel='time, s', ylabel='torque of motors, N m')
save(figure, Path('03_a_looped_robot.png'))
