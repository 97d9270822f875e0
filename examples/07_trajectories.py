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
from liedyn_ros.pictures import BOUND, new_figure, save
from liedyn_ros.retiming import MotionLimits, retime, SplinePath

arm = ld.load(config_file('linkage_leg.urdf'))  # or the path of your URDF
path = SplinePath(arm.model, [[0.0, 0.2, 0.1, 0.0], [0.5, 0.9, 0.4, 0.3], [0.8, 0.4, 0.9, 0.6],
                              [0.3, 0.6, 0.2, 0.1]])
TORQUE = np.array([30.0, 8.0, 3.0, 1.5])  # N m
RATE = 20.0 * TORQUE  # N m/s
runs = {'torques limited': None, 'rates limited too': RATE}

figure = new_figure(110.0)
panels = figure.subplots(2, 2, sharex='col', sharey='row')
for column, (name, rate) in zip(panels.T, runs.items()):
    run = retime(arm, path, MotionLimits(torque=TORQUE, torque_rate=rate))
    at = run.at(np.arange(0.0, run.duration, 2e-3))
    print(f'{name}: {run.duration:.3f} s; slowed uniformly {run.uniform_duration:.3f} s')
    print(f'  rates of torques are {np.abs(at.torque_rate / RATE).max():.2g} of their limits')
    for axes, values in zip(column, (at.torque / TORQUE, at.torque_rate / RATE)):
        for joint, line in zip(arm.model.coordinate_names, values.T):
            axes.plot(at.t, line, label=joint)
        axes.axhline(1.0, color=BOUND, linestyle='--')
        axes.axhline(-1.0, color=BOUND, linestyle='--')
    column[0].set_title(name)
    column[1].set_xlabel('time, s')
panels[0, 0].set_ylabel('torque / limit')
panels[1, 0].set(ylabel='rate of torque / limit', ylim=(-2.0, 2.0))
figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=4, loc='outside lower center')
save(figure, Path('07_trajectories.png'))
