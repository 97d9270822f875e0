# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Stewart demo's pictures: trajectory, error beside its prediction, the platform."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.demo.stewart.crossing import Crossing
from liedyn_ros.demo.stewart.tracking import ERROR_SIGMAS, Tracking
from liedyn_ros.lie import se3, so3
from liedyn_ros.pictures import (
    BOUND, draw_platform, fill, legend_above, new_figure, PAGE, PALETTE, RIGHT_COLOR, save,
    WRONG_COLOR)
from liedyn_ros.stewart import StewartGeometry

MAX_LINE_POINTS = 2000  # points of a line that is drawn; more cannot be seen
PICTURE_HEIGHT = 78.0  # mm, a picture of a platform
MIN_SHOWN_ERROR = 1e-5  # rad or m, error that is shown


def draw_tracking(tracking: Tracking, geometry: StewartGeometry, folder: Path) -> None:
    """Write stewart_trajectory, stewart_error and stewart_platform."""
    farthest = np.argmax(np.linalg.norm(
        se3.log(se3.compose(se3.inverse(tracking.truth[0]), tracking.truth)), axis=1))
    for name, figure in (
            ('trajectory', _trajectory(tracking)), ('error', _error(tracking)),
            ('platform', _platform(tracking.estimate[farthest], geometry, tracking))):
        save(figure, folder / f'stewart_{name}.png')


def _trajectory(tracking: Tracking) -> Figure:
    figure = new_figure(95.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    every = max(1, len(tracking.times) // MAX_LINE_POINTS)
    times = tracking.times[::every]
    relative = [se3.log(se3.compose(se3.inverse(tracking.truth[0]), poses[::every]))
                for poses in (tracking.truth, tracking.estimate)]
    for axes, first, unit, label in ((upper, 3, 1e3, 'from home, mm'),
                                     (lower, 0, 180.0 / np.pi, 'rotation vector, degree')):
        for k, name in enumerate('xyz'):
            true, estimated = (unit * xi[:, first + k] for xi in relative)
            axes.plot(times, true, color=PALETTE[k], linewidth=3.5, alpha=0.35,
                      label=f'{name} true')
            axes.plot(times, estimated, color=PALETTE[k], label=f'{name} published')
        axes.set_ylabel(label)
    legend_above(upper, 3)
    lower.set_xlabel('time, s')
    return figure


def _error(tracking: Tracking) -> Figure:
    """Return the error of each coordinate, in the band that the covariance predicts."""
    figure = new_figure(90.0, PAGE)
    panels = figure.subplots(2, 3, sharex=True, sharey='row')
    times, errors = tracking.judged_times, tracking.judged_errors
    bounds = ERROR_SIGMAS * tracking.deviations
    every = max(1, len(times) // MAX_LINE_POINTS)
    for k, axes in enumerate(panels.ravel()):
        unit = 1e3 if k < 3 else np.degrees(1.0)
        for sign in (1.0, -1.0):
            axes.plot(times[::every], sign * unit * bounds[::every, k], color='0.2',
                      linewidth=0.8, label='predicted three sigma' if sign > 0.0 else '')
        axes.plot(times[::every], unit * errors[::every, k], '.', color=RIGHT_COLOR,
                  markersize=1.5, label='error of the published pose')
        axes.set_title(f'{"position" if k < 3 else "rotation"} {"xyz"[k % 3]}')
    panels[0, 0].set_ylabel('error, mm')
    panels[1, 0].set_ylabel('error, degree')
    for axes in panels[1]:
        axes.set_xlabel('time, s')
    figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=2, markerscale=4.0,
                  loc='outside lower center')
    return figure


def _platform(pose: Array, geometry: StewartGeometry, tracking: Tracking) -> Figure:
    figure = new_figure(PICTURE_HEIGHT)
    axes = figure.add_subplot(projection='3d')
    draw_platform(axes, geometry, pose, 'the farthest pose, and the path of the centre')
    path = tracking.estimate[::max(1, len(tracking.times) // MAX_LINE_POINTS), :3, 3]
    axes.plot(*path.T, color=PALETTE[3], linewidth=0.8, label='path')
    fill(axes, above=5.0)
    return figure


def draw_crossing(crossing: Crossing, folder: Path) -> None:
    """Write stewart_singularity."""
    figure = new_figure(125.0)
    panels = figure.subplots(4, 1, sharex=True, height_ratios=(2.0, 3.0, 3.0, 1.8))
    panels[0].plot(crossing.times, crossing.distances, color='0.2')
    panels[0].axhline(0.0, color=BOUND, linewidth=0.8)
    panels[0].set_ylabel('signed\ndistance')
    panels[0].set_title('through a singularity', loc='left')
    panels[1].plot(crossing.times, _yaw(crossing.truth), color='0.75', linewidth=4.0,
                   label='truth')
    panels[1].plot(crossing.times, _yaw(crossing.plain), color=WRONG_COLOR, label='plain solver')
    panels[1].plot(crossing.ours_times, _yaw(crossing.ours), '--', color=RIGHT_COLOR,
                   label='pose node')
    panels[1].set_ylabel('yaw, degree')
    legend_above(panels[1], 3)
    for times, errors, color in (
            (crossing.times, crossing.plain_errors, WRONG_COLOR),
            (crossing.ours_times, crossing.our_errors, RIGHT_COLOR)):
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
