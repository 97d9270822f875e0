# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The picture of a platform under leg forces: errors before and after the lag is known, forces."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.demo.stewart.controlled_motion import ControlledMotion

matplotlib.use('Agg')


def draw(motion: ControlledMotion, folder: Path) -> None:
    """Write stewart_control.png."""
    figure = Figure(figsize=(9, 8), layout='constrained')
    panels = figure.subplots(3, 1, sharex=True)
    known_at = float(motion.times[np.argmax(motion.known)])
    for axes, errors, label in (
            (panels[0], motion.position_errors, 'position error, mm'),
            (panels[1], motion.attitude_errors, 'attitude error, degree')):
        axes.semilogy(motion.times, np.maximum(errors, 1e-5), color='C0', linewidth=1)
        for known in (False, True):
            rows = motion.counts & (motion.known == known)
            span = motion.times[rows][[0, -1]]
            axes.plot(span, [errors[rows].max()] * 2, color='C3', linestyle='--',
                      label='' if known else 'largest, once settled')
        axes.set_ylabel(label)
        axes.legend(fontsize=8, loc='upper right')
    for k, forces in enumerate(motion.forces.T):
        panels[2].plot(motion.command_times, forces, linewidth=1, label=f'leg {k + 1}')
    panels[2].set_ylabel('commanded force, N')
    panels[2].set_xlabel('time, s')
    panels[2].legend(fontsize=8, ncols=6, loc='upper right')
    for axes in panels:
        axes.axvline(known_at, color='0.4')
        axes.grid(alpha=0.3)
    panels[0].set_title('Stewart platform under leg forces that lag; from the vertical line on '
                        'the lag is known')
    figure.savefig(folder / 'stewart_control.png', dpi=120)
