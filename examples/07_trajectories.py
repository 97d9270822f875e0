# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Trajectories: the fastest run through waypoints within what motors give, and how fast."""

from pathlib import Path

import numpy as np

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file
from liedyn_ros.pictures import (
    beside_machine, BOUND, draw_machine, legend_above, RIGHT_COLOR, save, WRONG_COLOR)
from liedyn_ros.retiming import MotionLimits, retime, SplinePath

arm = ld.load(config_file('arm.urdf'))  # or the path of your URDF
WAYPOINTS = np.array([[-0.9, -0.6, 1.2, 0.4, 0.9, 0.0], [-0.2, -1.2, 1.6, 0.2, 0.9, 0.4],
                      [0.5, -0.9, 1.0, 0.5, 1.2, 0.8], [1.1, -0.5, 1.3, 0.4, 0.9, 1.2]])  # rad
TORQUE = 0.8 * arm.model.limits.effort  # N m; speeds are those of the URDF
RATE = 8.0 * TORQUE  # N m/s

figure, space, axes = beside_machine(arm.model, WAYPOINTS[0])
for q in WAYPOINTS[1:]:
    draw_machine(space, arm.model, q, 0.25)
path = SplinePath(arm.model, WAYPOINTS)
for name, rate, color in (('torques limited', None, WRONG_COLOR),
                          ('rates limited too', RATE, RIGHT_COLOR)):
    run = retime(arm, path, MotionLimits(torque=TORQUE, torque_rate=rate))
    at = run.at(np.arange(0.0, run.duration, 2e-3))
    print(f'{name}: {run.duration:.3f} s; slowed uniformly {run.uniform_duration:.3f} s')
    used = np.abs(at.torque_rate / RATE).max(axis=1)
    print(f'  rates of torques are {used.max():.2g} of their limits')
    axes.semilogy(at.t, used, color=color, label=name)
space.plot(*arm.frames.poses_batch(at.q)[:, arm.model.frame_index('tool'), :3, 3].T,
           color=RIGHT_COLOR)
space.axis('equal')
axes.axhline(1.0, color=BOUND, linestyle='--')
axes.set(xlabel='time, s', ylabel='largest rate of torque / limit', ylim=(1e-2, 1e2))
legend_above(axes, 2)
save(figure, Path('07_trajectories.png'))
