# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Stewart demo's pictures: trajectory, error, iterations, and the platform in space."""

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.demo.stewart.tracking import Tracking
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, StewartGeometry

matplotlib.use('Agg')

SHOWN = 2000  # points of a line that is drawn; more cannot be seen
COLORS = ('tab:blue', 'tab:orange', 'tab:green')
STYLES = ('-', '--', ':')


def draw(tracking: Tracking, geometry: StewartGeometry, folder: Path) -> None:
    """Write stewart_trajectory.png, stewart_error.png and stewart_platform.png."""
    _save(_trajectory(tracking), folder / 'stewart_trajectory.png')
    _save(_error(tracking), folder / 'stewart_error.png')
    farthest = np.argmax(np.linalg.norm(
        se3.log(se3.compose(se3.inverse(tracking.truth[0]), tracking.truth)), axis=1))
    _save(_platform(tracking.estimate[farthest], geometry, tracking),
          folder / 'stewart_platform.png')


def _trajectory(tracking: Tracking) -> Figure:
    figure = Figure(figsize=(10, 6), layout='constrained')
    upper, lower = figure.subplots(2, 1, sharex=True)
    every = max(1, len(tracking.times) // SHOWN)
    times = tracking.times[::every]
    relative = [se3.log(se3.compose(se3.inverse(tracking.truth[0]), poses[::every]))
                for poses in (tracking.truth, tracking.estimate)]
    panels = ((upper, 3, 1e3, 'position from home, mm', 'xyz'),
              (lower, 0, 180.0 / np.pi, 'rotation vector from home, degree', 'xyz'))
    for axes, first, unit, label, names in panels:
        for k, name in enumerate(names):
            true, estimated = (unit * xi[:, first + k] for xi in relative)
            axes.plot(times, true, color=COLORS[k], linewidth=4, alpha=0.35, label=f'{name} true')
            axes.plot(times, estimated, color=COLORS[k], linestyle=STYLES[k], linewidth=1.2,
                      label=f'{name} estimated')
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc='center left', bbox_to_anchor=(1.0, 0.5))
    upper.set_title('Stewart platform: the true trajectory and the published pose')
    lower.set_xlabel('time, s')
    return figure


def _error(tracking: Tracking) -> Figure:
    figure = Figure(figsize=(9, 7), layout='constrained')
    upper, middle, lower = figure.subplots(3, 1)
    rotation, position = tracking.errors
    for errors, label, marker in (
            (position, 'position, m', '.'), (rotation, 'rotation, rad', 'x')):
        upper.semilogy(tracking.times, np.maximum(errors, 1e-18), marker, markersize=1.5,
                       label=label)
    upper.set_title('Error of the published pose against the truth')
    upper.legend(markerscale=6)
    _label(upper, 'time, s', 'error')
    values, counts = np.unique(tracking.iterations, return_counts=True)
    middle.bar(values, counts, width=0.6)
    middle.set_xticks(np.arange(0, max(values.max(), 3) + 1))
    _label(middle, 'iterations of a solve', 'solves')
    latencies = 1e3 * np.sort(tracking.latencies)
    lower.plot(latencies, np.linspace(0.0, 100.0, len(latencies)))
    lower.set_xscale('log')
    _label(lower, 'latency from sample to published pose, ms', 'share of poses, %')
    return figure


def _platform(pose: Array, geometry: StewartGeometry, tracking: Tracking) -> Figure:
    figure = Figure(figsize=(7, 7), layout='constrained')
    axes = figure.add_subplot(projection='3d')
    base = geometry.base_joints
    tips = geometry.platform_joints @ pose[:3, :3].T + pose[:3, 3]
    for joints, color, label in ((base, '0.3', 'base'), (tips, 'tab:blue', 'platform')):
        axes.plot(*np.concatenate((joints, joints[:1])).T, color=color, linewidth=2, label=label)
        axes.scatter(*joints.T, color=color, s=20)
    for k, length in enumerate(leg_lengths(geometry, pose)):
        axes.plot(*np.stack((base[k], tips[k])).T, color='tab:orange', linewidth=3)
        axes.text(*(0.5 * (base[k] + tips[k])), f'{k + 1}: {length:.3f}', fontsize=8)
    path = tracking.estimate[::max(1, len(tracking.times) // SHOWN), :3, 3]
    axes.plot(*path.T, color='tab:green', linewidth=0.8, label="path of the platform's centre")
    axes.set_title('The platform at the farthest pose of the run; legs and their lengths in m')
    axes.set_xlabel('x, m')
    axes.set_ylabel('y, m')
    axes.set_zlabel('z, m')
    axes.set_box_aspect(np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1),
                        zoom=0.9)  # else the labels of the lower edge are cut off
    axes.legend(loc='upper left')
    return figure


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=120)
