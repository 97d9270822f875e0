# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The picture of a platform under leg forces: errors before and after the lag is known, forces."""

from pathlib import Path

import numpy as np

from liedyn_ros.demo.stewart.controlled_motion import ControlledMotion
from liedyn_ros.pictures import legend_above, new_figure, RIGHT, save, WRONG

MIN_SHOWN_ERROR = 0.05  # of the largest error, shown: the start at rest is without error


def draw(motion: ControlledMotion, folder: Path) -> None:
    """Write stewart_control."""
    figure = new_figure(120.0)
    panels = figure.subplots(3, 1, sharex=True)
    known_at = float(motion.times[np.argmax(motion.known)])
    for axes, errors, label in (
            (panels[0], motion.position_errors, 'position error, mm'),
            (panels[1], motion.attitude_errors, 'attitude error, degree')):
        axes.semilogy(motion.times, errors, color=RIGHT)
        for known in (False, True):
            rows = motion.counts & (motion.known == known)
            span = motion.times[rows][[0, -1]]
            axes.plot(span, [errors[rows].max()] * 2, color=WRONG, linestyle='--',
                      label='' if known else 'largest, once settled')
        least = min(errors[motion.counts & (motion.known == known)].max()
                    for known in (False, True))
        axes.set_ylim(bottom=MIN_SHOWN_ERROR * least)
        axes.set_ylabel(label)
    for k, forces in enumerate(motion.forces.T):
        panels[2].plot(motion.command_times, forces, label=f'leg {k + 1}')
    panels[2].set(ylabel='commanded force, N', xlabel='time, s')
    for axes in panels:
        axes.axvline(known_at, color='0.4', linewidth=0.8)
    panels[0].annotate(' lag made up for', (known_at, 1.0), xycoords=('data', 'axes fraction'),
                       va='bottom')
    panels[0].annotate('lag not known ', (known_at, 1.0), xycoords=('data', 'axes fraction'),
                       va='bottom', ha='right')
    legend_above(panels[1], 1)
    legend_above(panels[2], 3)
    save(figure, folder / 'stewart_control.png')
