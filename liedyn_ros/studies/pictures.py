# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Pictures of a Stewart platform in space, for every study."""

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart import leg_ends, StewartGeometry

matplotlib.use('Agg')


def draw_platform(axes: Axes, geometry: StewartGeometry, pose: Array, title: str) -> None:
    """Draw base, platform and legs into axes in space; pose (4, 4), platform in base, m."""
    base, tips = leg_ends(geometry, pose)
    for a, b in zip(base, tips):
        axes.plot(*np.stack((a, b)).T, color='tab:orange', linewidth=1.5)
    for joints, color in ((base, '0.3'), (tips, 'tab:blue')):
        axes.plot(*outline(joints).T, color=color, linewidth=1.5)
        axes.plot(*joints.T, 'o', color=color, markersize=2.5)
    normal = np.stack((pose[:3, 3], pose[:3, 3] + 0.3 * reach(base) * pose[:3, 2]))
    axes.plot(*normal.T, color='tab:green', linewidth=1.5)  # the platform's z axis
    axes.set_title(title, fontsize=9)
    axes.tick_params(labelsize=6, pad=-2)
    axes.set_aspect('equal')


def outline(joints: Array) -> Array:
    """Return joints (6, 3) in order around their centre, closed by the first."""
    offsets = joints - joints.mean(axis=0)
    _, _, axes = np.linalg.svd(offsets)
    order = np.argsort(np.arctan2(offsets @ axes[1], offsets @ axes[0]))
    return joints[np.append(order, order[0])]


def reach(joints: Array) -> float:
    """Return the largest distance of joints (6, 3) from their centre, m."""
    return float(np.linalg.norm(joints - joints.mean(axis=0), axis=1).max())


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG."""
    figure.savefig(path, dpi=120)
