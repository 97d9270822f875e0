# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pictures of a Stewart platform in space."""

from collections.abc import Sequence
import math
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail
from liedyn_ros.stewart.platform.kinematics import driven_platform, leg_ends

NUMBERS_AT = np.linspace(0.2, 0.7, 11)  # of a leg, from its base joint: where its number may stand
PLACEMENT_ROUNDS = 4  # in which the numbers are placed, each far from the others
LEG_COLOR, BASE_COLOR, TIPS, NORMAL, DRIVE = '#e69f00', '0.3', '#0072b2', '#009e73', '#cc79a7'
FRONT, BACK = '#a8cdf0', '#f2b8a8'  # of the platform, seen from its +z and its -z side
MM_BELOW = 0.1  # m; smaller platforms are labelled in mm
ZOOM = 0.78  # of axes in space, so that labels at their edges are not cut


def draw_platform(
        axes: Any, geometry: StewartGeometry, pose: Array, title: str,
        numbered: bool = True, values: ArrayLike | None = None) -> None:
    """
    Draw base, platform and legs into axes in space.

        >>> axes = new_figure(80.0).add_subplot(projection='3d')
        >>> draw_platform(axes, geometry, geometry.home, 'home')

    Args:
        axes: Of matplotlib, three-dimensional.
        geometry: Of the platform.
        pose: (4, 4), platform in base, m.
        title: Above the axes.
        numbered: Whether the number of each leg stands beside it.
        values: (6,), m or rad, of the drives; inverse kinematics of the pose if None.
    """
    base, tips = leg_ends(geometry, pose)
    if values is not None and geometry.driven:
        base = driven_platform(geometry, values)[0].base_joints
    draw_drives(axes, geometry, base)
    for a, b in zip(base, tips):
        axes.plot(*np.stack((a, b)).T, color=LEG_COLOR, linewidth=1.5)
    for k, place in enumerate(places_of_numbers(axes, base, tips) if numbered else ()):
        axes.text(*place, f'{k + 1}', fontsize=7, ha='center', va='center',
                  bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.8})
    around = outline(tips)
    for points, color, style in (
            (outline(geometry.base_outline), BASE_COLOR, '-'), (around, TIPS, '--')):
        axes.plot(*points.T, color=color, linestyle=style, linewidth=1.5)
        axes.plot(*points.T, 'o', color=color, markersize=2.5)
    front = pose[:3, 2] @ towards_viewer(axes) > 0.0
    axes.add_collection3d(Poly3DCollection(
        [around], facecolors=FRONT if front else BACK, edgecolors='none', alpha=0.4))
    centre = tips.mean(axis=0)
    axes.quiver(*centre, *(0.7 * reach(tips) * pose[:3, 2]), color=NORMAL, linewidth=2.0)
    axes.set_title(title)
    scale_equally(axes)
    label_axes(axes, 0.5 * float(np.ptp(np.concatenate((base, tips)), axis=0).max()) < MM_BELOW)


def places_of_numbers(axes: Any, base: Array, tips: Array) -> list[Array]:
    """Return where on its leg the number of each stands, far from the others as they are seen."""
    viewer = towards_viewer(axes)
    choices = base[:, None] + NUMBERS_AT[:, None] * (tips - base)[:, None]
    places = [each[len(each) // 2] for each in choices]
    for k in list(range(len(places))) * PLACEMENT_ROUNDS:
        away = choices[k][:, None] - np.array((*base, *places[:k], *places[k + 1:]))
        seen = away - (away @ viewer)[..., None] * viewer
        places[k] = choices[k][np.argmax(np.linalg.norm(seen, axis=2).min(axis=1))]
    return places


def draw_drives(axes: Any, geometry: StewartGeometry, ends: Array) -> None:
    """Draw the arm of each crank, and of each rail what its carriage may travel."""
    span = reach(ends)
    for leg, joint, end, limits in zip(
            geometry.leg_types, geometry.base_joints, ends, geometry.length_limits):
        if isinstance(leg, Crank):
            part = np.stack((joint, end))
        elif isinstance(leg, Rail):
            at = (end - joint) @ leg.direction
            least, most = np.clip(limits, at - span, at + span)
            part = joint + np.outer((least, most), leg.direction)
        else:
            continue
        axes.plot(*part.T, color=DRIVE, linewidth=2.5, solid_capstyle='round')
        axes.plot(*end[:, None], 's', color=DRIVE, markersize=4)


def towards_viewer(axes: Any) -> Array:
    """Return the unit vector from what axes in space show to the viewer."""
    turn, lift = math.radians(axes.azim), math.radians(axes.elev)
    return np.array([math.cos(lift) * math.cos(turn), math.cos(lift) * math.sin(turn),
                     math.sin(lift)])


def label_axes(axes: Any, small: bool) -> None:
    """Label axes in space in m, or in mm, with a few numbers; their own label is of the data."""
    axes.set_label('x, y, z in m')
    axes.tick_params(labelsize=6, pad=-2)
    axes.patch.set_visible(False)  # or it covers the label of axes to its left
    for name in 'xyz':
        axis = getattr(axes, f'{name}axis')
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(lambda value, _: f'{1e3 * value if small else value:g}')
        getattr(axes, f'set_{name}label')(
            f'{name}, {"mm" if small else "m"}', fontsize=7, labelpad=-3)


def legend_of(geometry: StewartGeometry) -> list[Line2D | Patch]:
    """
    Name the parts that `draw_platform` draws, for a legend.

        >>> figure.legend(handles=legend_of(geometry))

    Args:
        geometry: Of the platform; cranks and rails have entries of their own.

    Returns:
        Handles for matplotlib's legend.
    """
    parts: list[Line2D | Patch] = [
        Line2D([], [], color=BASE_COLOR, label='base'),
        Patch(facecolor=FRONT, edgecolor=TIPS, linestyle='--', label='platform from its +z side'),
        Patch(facecolor=BACK, edgecolor=TIPS, linestyle='--', label='from its -z side'),
        Line2D([], [], color=NORMAL, marker='>', label="platform's +z"),
        Line2D([], [], color=LEG_COLOR, label='rods' if geometry.driven else 'legs')]
    for kind, name in ((Crank, 'crank arms'), (Rail, 'rails, carriages')):
        if any(isinstance(leg, kind) for leg in geometry.leg_types):
            parts.append(Line2D([], [], color=DRIVE, linewidth=2.5, marker='s', label=name))
    return parts


def share_scale(panels: Sequence[Any]) -> None:
    """
    Give small axes in space the same limits and unit, so that their contents can be compared.

        >>> share_scale(figure.axes)

    Args:
        panels: Three-dimensional axes of matplotlib.
    """
    spans = []
    for name in 'xyz':
        limits = np.array([getattr(axes, f'get_{name}lim')() for axes in panels])
        spans.append((limits[:, 0].min(), limits[:, 1].max()))
    small = max(high - low for low, high in spans) < 2.0 * MM_BELOW
    for axes in panels:
        label_axes(axes, small)
        for name, span in zip('xyz', spans):
            getattr(axes, f'set_{name}lim')(span)
        for axis, span in zip((axes.xaxis, axes.yaxis), spans):
            ticks = axis.get_major_locator().tick_values(*span)
            inside = ticks[(ticks >= span[0]) & (ticks <= span[1])]
            axis.set_ticks([inside[0], inside[-1]])  # more would lie on each other
        axes.yaxis.labelpad = axes.zaxis.labelpad = 1.0
        scale_equally(axes)


def scale_equally(axes: Any) -> None:
    """Give axes in space one scale for all three, with space for the labels at their edges."""
    spans = [float(np.ptp(getattr(axes, f'get_{name}lim')())) for name in 'xyz']
    axes.set_box_aspect(spans, zoom=ZOOM)


def outline(joints: Array) -> Array:
    """Return joints (6, 3) in order around their centre, closed by the first."""
    offsets = joints - joints.mean(axis=0)
    _, _, axes = np.linalg.svd(offsets)
    order = np.argsort(np.arctan2(offsets @ axes[1], offsets @ axes[0]))
    return joints[np.append(order, order[0])]


def reach(joints: Array) -> float:
    """Return the largest distance of joints (6, 3) from their centre, m."""
    return float(np.linalg.norm(joints - joints.mean(axis=0), axis=1).max())
