# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pictures of a Stewart platform in space, for commands and studies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart import leg_ends, StewartGeometry

matplotlib.use('Agg')

NUMBERS_AT = (0.28, 0.42)  # of a leg, from its base joint, where its number stands, in turns


def draw_platform(
        axes: Any, geometry: StewartGeometry, pose: Array, title: str,
        numbered: bool = True) -> None:
    """
    Draw base, platform and legs into axes in space; pose (4, 4), platform in base, m.

    numbered: whether the legs' numbers stand beside them.
    """
    base, tips = leg_ends(geometry, pose)
    for k, (a, b) in enumerate(zip(base, tips)):
        axes.plot(*np.stack((a, b)).T, color='tab:orange', linewidth=1.5)
        if numbered:
            axes.text(*(a + NUMBERS_AT[k % 2] * (b - a)), f'{k + 1}', fontsize=7, ha='center',
                      va='center', bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.8})
    for joints, color, style in ((base, '0.3', '-'), (tips, 'tab:blue', '--')):
        axes.plot(*outline(joints).T, color=color, linestyle=style, linewidth=1.5)
        axes.plot(*joints.T, 'o', color=color, markersize=2.5)
    normal = np.stack((pose[:3, 3], pose[:3, 3] + 0.3 * reach(base) * pose[:3, 2]))
    axes.plot(*normal.T, color='tab:green', linewidth=1.5)  # the platform's z axis
    axes.set_title(title, fontsize=9)
    axes.tick_params(labelsize=6, pad=-2)
    for name in 'xyz':
        getattr(axes, f'set_{name}label')(f'{name}, m', fontsize=7, labelpad=-5)
    axes.set_aspect('equal')


def share_scale(panels: Sequence[Axes]) -> None:
    """Give axes in space the same limits, so that what they show can be compared."""
    spans = []
    for name in 'xyz':
        limits = np.array([getattr(axes, f'get_{name}lim')() for axes in panels])
        spans.append((limits[:, 0].min(), limits[:, 1].max()))
    for axes in panels:
        for name, span in zip('xyz', spans):
            getattr(axes, f'set_{name}lim')(span)
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
