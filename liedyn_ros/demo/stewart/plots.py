# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Stewart demo's pictures: trajectory, error beside its prediction, latency, the platform."""

from pathlib import Path

from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.demo.stewart.real_time import MeasuredPace
from liedyn_ros.demo.stewart.tracking import SIGMAS, Tracking
from liedyn_ros.lie import se3
from liedyn_ros.pictures import (
    draw_platform, fill, legend_above, new_figure, PAGE, PALETTE, RIGHT, save)
from liedyn_ros.stewart import StewartGeometry

MAX_POINTS = 2000  # points of a line that is drawn; more cannot be seen
PICTURE_HEIGHT = 78.0  # mm, a picture of a platform


def draw(tracking: Tracking, pace: MeasuredPace, geometry: StewartGeometry, folder: Path) -> None:
    """Write stewart_trajectory, stewart_error, stewart_latency and stewart_platform."""
    farthest = np.argmax(np.linalg.norm(
        se3.log(se3.compose(se3.inverse(tracking.truth[0]), tracking.truth)), axis=1))
    for name, figure in (
            ('trajectory', _trajectory(tracking)), ('error', _error(tracking)),
            ('latency', _latency(pace)),
            ('platform', _platform(tracking.estimate[farthest], geometry, tracking))):
        save(figure, folder / f'stewart_{name}.png')


def _trajectory(tracking: Tracking) -> Figure:
    figure = new_figure(95.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    every = max(1, len(tracking.times) // MAX_POINTS)
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
    bounds = SIGMAS * tracking.deviations
    every = max(1, len(times) // MAX_POINTS)
    for k, axes in enumerate(panels.ravel()):
        unit = 1e3 if k < 3 else np.degrees(1.0)
        for sign in (1.0, -1.0):
            axes.plot(times[::every], sign * unit * bounds[::every, k], color='0.2',
                      linewidth=0.8, label='predicted three sigma' if sign > 0.0 else '')
        axes.plot(times[::every], unit * errors[::every, k], '.', color=RIGHT, markersize=1.5,
                  label='error of the published pose')
        axes.set_title(f'{"position" if k < 3 else "rotation"} {"xyz"[k % 3]}')
    panels[0, 0].set_ylabel('error, mm')
    panels[1, 0].set_ylabel('error, degree')
    for axes in panels[1]:
        axes.set_xlabel('time, s')
    figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=2, markerscale=4.0,
                  loc='outside lower center')
    return figure


def _latency(pace: MeasuredPace) -> Figure:
    figure = new_figure(50.0)
    axes = figure.subplots()
    latencies = 1e3 * np.sort(pace.latencies)
    axes.plot(latencies, np.linspace(0.0, 100.0, len(latencies)), color=RIGHT)
    axes.set(xscale='log', xlabel='latency from sample to published pose, ms',
             ylabel='share of poses, %')
    return figure


def _platform(pose: Array, geometry: StewartGeometry, tracking: Tracking) -> Figure:
    figure = new_figure(PICTURE_HEIGHT)
    axes = figure.add_subplot(projection='3d')
    draw_platform(axes, geometry, pose, 'the farthest pose, and the path of the centre')
    path = tracking.estimate[::max(1, len(tracking.times) // MAX_POINTS), :3, 3]
    axes.plot(*path.T, color=PALETTE[3], linewidth=0.8, label='path')
    fill(axes, above=5.0)
    return figure
