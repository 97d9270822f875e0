# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The picture of a passage through a singularity: distance to it, yaw, errors, warnings."""

from pathlib import Path
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.demo.stewart.crossing import Crossing
from liedyn_ros.lie import so3
from liedyn_ros.pictures import BOUND, legend_above, new_figure, PALETTE, RIGHT, save, WRONG

MIN_SHOWN_ERROR = 1e-5  # rad or m, error that is shown


def draw(crossing: Crossing, folder: Path) -> None:
    """Write stewart_singularity."""
    figure = new_figure(125.0)
    panels = figure.subplots(4, 1, sharex=True, height_ratios=(2.0, 3.0, 3.0, 1.8))
    panels[0].plot(crossing.times, crossing.distances, color='0.2')
    panels[0].axhline(0.0, color=BOUND, linewidth=0.8)
    panels[0].set_ylabel('signed\ndistance')
    panels[0].set_title('through a singularity', loc='left')
    panels[1].plot(crossing.times, _yaw(crossing.truth), color='0.75', linewidth=4.0,
                   label='truth')
    panels[1].plot(crossing.times, _yaw(crossing.plain), color=WRONG, label='plain solver')
    panels[1].plot(crossing.ours_times, _yaw(crossing.ours), '--', color=RIGHT, label='pose node')
    panels[1].set_ylabel('yaw, degree')
    legend_above(panels[1], 3)
    for times, errors, color in (
            (crossing.times, crossing.plain_errors, WRONG),
            (crossing.ours_times, crossing.our_errors, RIGHT)):
        panels[2].semilogy(times, np.maximum(errors, MIN_SHOWN_ERROR), color=color)
    panels[2].set_ylabel('error, rad or m')
    _warnings(panels[3], crossing)
    for axes in panels:
        axes.axvline(crossing.crossed_at, color=BOUND, linestyle=':', linewidth=0.8)
    panels[3].set_xlabel('time, s')
    save(figure, folder / 'stewart_singularity.png')


def _warnings(axes: Any, crossing: Crossing) -> None:
    """Draw when the node warned of what."""
    names = []
    for row, (sentence, first, last) in enumerate(crossing.warnings()):
        axes.plot((first, last), (row, row), linewidth=4.0, solid_capstyle='projecting',
                  color=PALETTE[4], label=sentence)
        names.append(sentence.partition(';')[0].rpartition('noise leaves ')[2])
        axes.text(max(last, crossing.crossed_at) + 0.1, row,
                  names[-1].removeprefix('the motion has '), va='center')
    axes.set(ylim=(len(names) - 0.4, -0.6), yticks=[], ylabel='warned')
    axes.grid(False)


def _yaw(poses: Array) -> Array:
    """Return the angles (n,) about the vertical, degree, without jumps."""
    turned = so3.log(poses[:1, :3, :3].swapaxes(1, 2) @ poses[:, :3, :3])
    return np.degrees(turned[:, 2])
