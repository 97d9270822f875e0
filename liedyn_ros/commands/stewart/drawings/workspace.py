# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Map where a Stewart platform can go at one orientation or many, and draw it.

`liedyn platform workspace --pitch 15`.
"""

import argparse
from collections.abc import Sequence
import itertools
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
import time
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from liedyn_ros.commands.stewart.drawing_options import workspace_parser
from liedyn_ros.commands.work import all_results
from liedyn_ros.common.checks import Array, as_array, as_number
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.pictures import new_figure, PAGE, save
from liedyn_ros.stewart import load_geometry, StewartGeometry
from liedyn_ros.stewart.home import geometry_home
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail, Stage
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.platform.workspace import map_workspace, WorkspaceMap

COARSE_GRID = 25  # positions along each axis, of the search for the box that is mapped
DRAWN_SECTIONS = 5  # horizontal sections that are drawn
SUBDIVISIONS = 6  # positions of a picture from one of the grid to the next
# m or rad; a margin is infinite where there is no limit, or where no rod reaches
MAX_MARGIN = 1.0
REACHABLE: dict[str, Any] = {'color': '0.1', 'linestyle': '--', 'linewidth': 0.8}
USABLE: dict[str, Any] = {'color': 'tab:red', 'linestyle': '-', 'linewidth': 2.0}
HOME_STYLE: dict[str, Any] = {'color': 'white', 'marker': '*', 'markersize': 8,
                              'markeredgecolor': 'black', 'linestyle': 'none'}


class Orientation(NamedTuple):
    """One map: of this platform, at roll, pitch and yaw, degrees, as the options say."""

    geometry: StewartGeometry
    degrees: tuple[float, float, float]
    options: argparse.Namespace


class WorkspaceFiles(NamedTuple):
    """
    Outcome of a map: the rows of its table, and its picture's files by suffix.

    error is why there is nothing.
    """

    rows: list[tuple[str, float, float]]  # what, volume (m^3), smallest singular value
    files: dict[str, bytes]
    positions: int
    error: str = ''


def main(arguments: Sequence[str] | None = None) -> int:
    """Map, print the volumes, write pictures; return 1 where some of several maps failed."""
    options, begin = workspace_parser().parse_args(arguments), time.perf_counter()
    try:
        geometry = load_geometry(options.geometry)
        if options.home is None:
            options.home = tuple(geometry_home(geometry)[:3, 3].tolist())
        wanted = [Orientation(geometry, each, options) for each in itertools.product(
            options.roll, options.pitch, options.yaw)]
        found = all_results(mapped, wanted, options)
        failed = sum(bool(each.error) for each in found)
        for asked, each in zip(wanted, found):
            write(asked, each)
        print(f'  {sum(each.positions for each in found)} positions in '
              f'{time.perf_counter() - begin:.1f} s')
        if len(found) > 1:
            path = options.folder / f'{options.geometry.stem}_volumes.csv'
            write_whole(path, table_of(wanted, found))
            print(f'volumes of {len(found) - failed} of {len(found)} orientations in {path}')
    except (LiedynError, OSError) as error:
        print(f'liedyn platform workspace: {error}', file=sys.stderr)
        return 2
    return 0 if not failed else 2 if failed == len(found) else 1


def mapped(asked: Orientation) -> WorkspaceFiles:
    """Return the map of one orientation with its picture; errors are in the result."""
    geometry, options = asked.geometry, asked.options
    try:
        rotation = SO3.from_rpy(*np.radians(asked.degrees))
        axes = axes_of(geometry, rotation, options)
        require_usable_home(geometry, rotation, axes, options)
        grid = map_workspace(geometry, rotation, options.home, axes, options.threshold, show)
    except LiedynError as error:
        return WorkspaceFiles([], {}, 0, str(error))
    with TemporaryDirectory() as folder:
        path = Path(folder) / f'map.{options.format}'
        save(draw(geometry, rotation, grid, asked), path)
        files = {each.suffix: each.read_bytes() for each in sorted(path.parent.iterdir())}
    return WorkspaceFiles(volumes(grid), files, grid.reachable.size)


def write(asked: Orientation, found: WorkspaceFiles) -> None:
    """Print the volumes of a map and write its picture, or say why there is none."""
    roll, pitch, yaw = asked.degrees
    name = f'roll_{roll:g}_pitch_{pitch:g}_yaw_{yaw:g}'
    if found.error:
        print(f'liedyn platform workspace: {name}: {found.error}', file=sys.stderr)
        return
    print_table(['positions', 'volume, l', 'smallest singular value'], [
        (what, f'{1e3 * volume:.2f}', f'{lowest:.3f}') for what, volume, lowest in found.rows])
    path = asked.options.folder / f'{asked.options.geometry.stem}_{name}.{asked.options.format}'
    for suffix, content in found.files.items():
        write_whole(path.with_name(f'{path.name.removesuffix(path.suffix)}{suffix}'), content)
    print(f'picture in {path}')


def table_of(wanted: Sequence[Orientation], found: Sequence[WorkspaceFiles]) -> str:
    """Return the volumes of all orientations as CSV."""
    lines = ['roll [deg],pitch [deg],yaw [deg],reachable [m^3],usable [m^3],'
             'smallest singular value of the usable ones']
    for asked, each in zip(wanted, found):
        numbers = [each.rows[0][1], *each.rows[1][1:]] if each.rows else []
        lines.append(','.join([*(repr(float(value)) for value in (*asked.degrees, *numbers)),
                               *[''] * (3 - len(numbers))]))
    return '\n'.join([*lines, ''])


def axes_of(
        geometry: StewartGeometry, rotation: SO3,
        options: argparse.Namespace) -> tuple[Array, Array, Array]:
    """Return a grid over the box of the positions that keep the limits, found on a coarse one."""
    if options.steps < 3:
        raise LiedynError(f'--steps: expected 3 or more, got {options.steps}')
    far, middle = reach(geometry, options.home), float(geometry.base_outline[:, 2].mean())
    # A platform stands on its base or hangs from it: home tells.
    lower, upper = (middle, far) if options.home[2] >= middle else (-far, middle)
    box = [(-far, far), (-far, far), (lower, upper)]
    x, y, z = (np.linspace(*span, COARSE_GRID) for span in box)
    poses = np.tile(np.eye(4), (COARSE_GRID ** 3, 1, 1))
    poses[:, :3, :3] = rotation.matrix
    poses[:, :3, 3] = np.stack(np.meshgrid(x, y, z, indexing='ij'), axis=-1).reshape(-1, 3)
    kept = poses[PlatformMeter(geometry).margins(poses).within_limits, :3, 3]
    if len(kept):
        steps = np.array([x[1] - x[0], y[1] - y[0], z[1] - z[0]])
        box = list(zip(np.maximum(kept.min(axis=0) - steps, (-far, -far, lower)),
                       np.minimum(kept.max(axis=0) + steps, (far, far, upper))))
    x, y, z = (np.linspace(low, high, options.steps) for low, high in box)
    return np.asarray(x), np.asarray(y), np.asarray(z)


def reach(geometry: StewartGeometry, home: Sequence[float]) -> float:
    """Return how far from the base's origin any position of the platform can be, m."""
    far = []
    for leg_type, limits, joint in zip(
            geometry.leg_types, geometry.length_limits, geometry.base_joints):
        furthest = float(np.abs(limits).max())
        if isinstance(leg_type, Rail):
            furthest += leg_type.rod
        elif isinstance(leg_type, Crank):
            furthest = leg_type.radius + leg_type.rod
        elif isinstance(leg_type, Stage):
            furthest = np.inf  # a guide has no end
        far.append(furthest + float(np.linalg.norm(joint)))
    if not np.isfinite(max(far)):
        return 2.0 * float(np.linalg.norm(home)) + geometry.characteristic_length
    return max(far) + float(np.linalg.norm(geometry.platform_joints, axis=1).max())


def require_usable_home(
        geometry: StewartGeometry, rotation: SO3, axes: tuple[Array, Array, Array],
        options: argparse.Namespace) -> None:
    """Raise LiedynError where the grid position next to home is not usable."""
    home = as_array('--home', options.home, (3,))
    nearest = [axis[np.abs(axis - coordinate).argmin()] for axis, coordinate in zip(axes, home)]
    pose = SE3.from_rotation_translation(rotation, nearest)
    state = PlatformMeter(geometry).measure(pose)
    smallest = state.smallest_singular_value
    reached = np.isfinite(state.margins.travel).all()
    faults = (state.margins.exceeded(geometry.leg_names) if reached else
              ['not every rod reaches it'])
    if reached and not smallest > as_number('--threshold', options.threshold):
        faults.append(f'smallest singular value {smallest:.3g}')
    if faults:
        raise LimitError(
            '--home: expected a position that keeps all limits and has a smallest singular value '
            f'above {options.threshold:g}, got {home.tolist()}, where the grid has '
            f'{np.round(nearest, 3).tolist()}: {"; ".join(faults)}')


def show(share: float) -> None:
    """Print the share that is done, on one line of a terminal; a log is not filled with it."""
    if sys.__stdout__ is not None and sys.__stdout__.isatty():
        print(f'\r  {100.0 * share:3.0f} %', end='\r' if share == 1.0 else '', flush=True)


def volumes(grid: WorkspaceMap) -> list[tuple[str, float, float]]:
    """Return the reachable volume, and that joined to home without a singularity."""
    return [(name, grid.volume(inside), float(
        np.abs(grid.signed_values[inside]).min() if inside.any() else np.nan))
        for name, inside in (('within all limits', grid.reachable),
                             ('and joined to home without a singularity', grid.usable))]


def draw(geometry: StewartGeometry, rotation: SO3, grid: WorkspaceMap, asked: Orientation
         ) -> Figure:
    """Return horizontal sections and a vertical one, coloured by the smallest singular value."""
    figure, options = new_figure(125.0, PAGE), asked.options
    panels = figure.subplots(2, 3).ravel()
    levels = np.flatnonzero(grid.reachable.any(axis=(0, 1)))
    chosen = np.unique(levels[np.linspace(0, len(levels) - 1, DRAWN_SECTIONS).round().astype(int)])
    middle = int(np.abs(grid.axes[1] - options.home[1]).argmin())
    cuts = [(2, int(k)) for k in chosen] + [(1, middle)]
    inside = grid.usable if grid.usable.any() else grid.reachable
    sizes = np.abs(grid.signed_values[inside])
    colours = Normalize(float(sizes.min()), float(sizes.max()))
    nearest = chosen[np.abs(grid.axes[2][chosen] - options.home[2]).argmin()]
    for axes, (across, at) in zip(panels, cuts):
        image = section(axes, geometry, rotation, grid, across, at, colours, options)
        shown = [k for k in range(3) if k != across]
        if (across, at) in ((2, nearest), (1, middle)):
            axes.plot(*([options.home[k]] for k in shown), **HOME_STYLE)
        axes.set(xlabel=f'{"xyz"[shown[0]]}, m', ylabel=f'{"xyz"[shown[1]]}, m',
                 xlim=extent(grid, shown[0]), ylim=extent(grid, shown[1]), aspect='equal',
                 title=f'{"xyz"[across]} = {grid.axes[across][at].round(3) + 0.0:.3f} m')
    for axes in panels[len(cuts):]:
        axes.remove()
    figure.colorbar(image, ax=panels[:len(cuts)], extend='both',
                    label='smallest singular value of dL/d(twist)')
    figure.legend(handles=[Line2D([], [], label=label, **style) for label, style in (
        ('within all limits', REACHABLE), ('and joined to home without a singularity', USABLE),
        ('home, in the vertical section and the nearest horizontal one', HOME_STYLE))],
        ncols=3, loc='outside lower center')
    figure.suptitle(f'{geometry.name}: ' + ', '.join(f'{name} {value:g}' for name, value in zip(
        ('roll', 'pitch', 'yaw'), asked.degrees)) + ' degrees')
    return figure


def extent(grid: WorkspaceMap, k: int) -> tuple[float, float]:
    """Return from where to where an axis shows the reachable part, one scale for all panels."""
    others = tuple(j for j in range(3) if j != k)
    inside = np.flatnonzero(grid.reachable.any(axis=others))
    axis = grid.axes[k]
    step = axis[1] - axis[0]
    return float(axis[inside[0]] - 1.5 * step), float(axis[inside[-1]] + 1.5 * step)


def section(
        axes: Axes, geometry: StewartGeometry, rotation: SO3, grid: WorkspaceMap, across: int,
        at: int, colours: Normalize, options: argparse.Namespace) -> QuadMesh:
    """Draw one section of the map, of which more positions are taken; return its image."""
    planes = [np.linspace(axis[0], axis[-1], SUBDIVISIONS * (len(axis) - 1) + 1)
              for axis in grid.axes]
    planes[across] = grid.axes[across][at:at + 1]
    x, y, z = planes
    fine = map_workspace(geometry, rotation.matrix, options.home, (x, y, z), options.threshold)
    margins, values = (field.squeeze(axis=across).clip(-MAX_MARGIN, MAX_MARGIN)
                       for field in (fine.margins, fine.signed_values))
    shown = [planes[k] for k in range(3) if k != across]
    image = axes.pcolormesh(*shown, np.where(margins >= 0.0, np.abs(values), np.nan).T,
                            norm=colours, shading='nearest', rasterized=True)
    outlines = []
    if grid.usable.any():
        side = np.sign(grid.signed_values[grid.usable][0])
        depths = np.minimum(
            margins, np.nan_to_num(side * values - options.threshold, nan=-MAX_MARGIN))
        outlines.append((np.where(joined(grid, across, at), depths, -np.abs(depths)), USABLE))
    outlines.append((margins, REACHABLE))  # last: thin and dashed on the wide line
    for field, style in outlines:
        if field.min() < 0.0 < field.max():
            axes.contour(*shown, field.T, levels=[0.0], colors=style['color'],
                         linestyles=style['linestyle'], linewidths=style['linewidth'])
    return image


def joined(grid: WorkspaceMap, across: int, at: int) -> NDArray[np.bool_]:
    """Return whether positions of a section are next to one that is joined to home."""
    near = ndimage.binary_dilation(grid.usable.take(at, axis=across)).astype(float)
    sizes = [SUBDIVISIONS * (n - 1) + 1 for n in near.shape]
    zoom = [size / n for size, n in zip(sizes, near.shape)]
    return np.asarray(ndimage.zoom(near, zoom, order=1) > 0.0)


if __name__ == '__main__':
    sys.exit(main())
