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

"""
Map where a Stewart platform can go at one orientation, and draw it.

`ros2 run liedyn_ros stewart_workspace --pitch 15`, or
`python -m liedyn_ros.studies.stewart_workspace --pitch 15`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys
import time

from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.common.checks import Array, as_array, as_number
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.tables import print_table
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.stewart import PlatformMeter, StewartGeometry
from liedyn_ros.stewart.platform.workspace import map_workspace, WorkspaceMap
from liedyn_ros.studies import outputs
from liedyn_ros.studies.pictures import save

FOLDER = 'out/stewart_workspace'
LEVELS = 5  # horizontal sections that are drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """Map, print the volumes, write the picture."""
    options = parser().parse_args(arguments)
    begin = time.perf_counter()
    try:
        geometry = StewartGeometry.from_yaml(options.geometry)
        rotation = SO3.from_rpy(*np.radians((options.roll, options.pitch, options.yaw)))
        axes = axes_of(geometry, options)
        require_usable_home(geometry, rotation, axes, options)
        grid = map_workspace(
            geometry, rotation, options.home, axes, options.threshold, show)
    except LiedynError as error:
        print(f'stewart_workspace: {error}', file=sys.stderr)
        return 2
    print(f'\r  {grid.reachable.size} positions in {time.perf_counter() - begin:.1f} s')
    print_volumes(grid)
    path = options.folder / (f'{options.geometry.stem}_roll_{options.roll:g}'
                             f'_pitch_{options.pitch:g}_yaw_{options.yaw:g}.png')
    save(draw(grid, options), path)
    print(f'picture in {path}')
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='stewart_workspace', description='Map the workspace of a Stewart platform.',
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    result.add_argument('--geometry', type=Path, default=config_file('stewart_geometry.yaml'),
                        help='geometry file')
    for name in ('roll', 'pitch', 'yaw'):
        result.add_argument(f'--{name}', type=float, default=0.0, help='degrees')
    result.add_argument('--home', type=float, nargs=3, default=(0.0, 0.0, 0.5), metavar='M',
                        help='position x y z where the usable part begins, m')
    result.add_argument('--threshold', type=float, default=0.05,
                        help='smallest singular value that counts as regular')
    result.add_argument('--steps', type=int, default=41, help='positions along each axis')
    result.add_argument('--folder', type=outputs.folder, default=FOLDER,
                        help='where to draw the picture')
    return result


def axes_of(geometry: StewartGeometry, options: argparse.Namespace) -> tuple[Array, Array, Array]:
    """Return a grid that contains every position within the travel of the legs."""
    if options.steps < 3:
        raise LiedynError(f'--steps: expected 3 or more, got {options.steps}')
    longest = geometry.length_limits[:, 1].max()
    if not np.isfinite(longest):
        longest = 2.0 * np.linalg.norm(options.home) + geometry.characteristic_length
    x = y = np.linspace(-longest, longest, options.steps)
    return x, y, np.linspace(0.0, longest, options.steps)


def require_usable_home(
        geometry: StewartGeometry, rotation: SO3, axes: tuple[Array, Array, Array],
        options: argparse.Namespace) -> None:
    """Raise LiedynError where the grid position next to home is not usable."""
    home = as_array('--home', options.home, (3,))
    nearest = [axis[np.abs(axis - coordinate).argmin()] for axis, coordinate in zip(axes, home)]
    pose = SE3.from_rotation_translation(rotation, nearest)
    state = PlatformMeter(geometry).measure(pose)
    faults, smallest = state.margins.exceeded(geometry.leg_names), state.smallest_singular_value
    if not smallest > as_number('--threshold', options.threshold):
        faults.append(f'smallest singular value {smallest:.3g}')
    if faults:
        raise LimitError(
            '--home: expected a position that keeps all limits and has a smallest singular value '
            f'above {options.threshold:g}, got {home.tolist()}, where the grid has '
            f'{np.round(nearest, 3).tolist()}: {"; ".join(faults)}')


def show(share: float) -> None:
    """Print the share that is done."""
    print(f'\r  {100.0 * share:3.0f} %', end='', flush=True)


def print_volumes(grid: WorkspaceMap) -> None:
    """Print the reachable volume, and the volume joined to home without a singularity."""
    rows = []
    for name, inside in (('all limits kept', grid.reachable),
                         ('and joined to home without a singularity', grid.usable)):
        lowest = np.abs(grid.signed_values[inside]).min() if inside.any() else np.nan
        rows.append([name, f'{1e3 * grid.volume(inside):.2f}', f'{lowest:.3f}'])
    print_table(['positions', 'volume, l', 'smallest singular value'], rows)


def draw(grid: WorkspaceMap, options: argparse.Namespace) -> Figure:
    """Return horizontal sections and a vertical one, coloured by the smallest singular value."""
    figure = Figure(figsize=(13, 8), layout='constrained')
    panels = figure.subplots(2, 3).ravel()
    inside = np.flatnonzero(grid.reachable.any(axis=(0, 1)))
    chosen = inside[np.linspace(0, len(inside) - 1, LEVELS).round().astype(int)] if len(
        inside) else []
    for axes, k in zip(panels, chosen):
        section(axes, grid, (slice(None), slice(None), int(k)), (0, 1),
                f'z = {grid.axes[2][k]:.3f} m')
    middle = int(np.abs(grid.axes[1] - options.home[1]).argmin())
    image = section(panels[-1], grid, (slice(None), middle, slice(None)), (0, 2),
                    f'y = {grid.axes[1][middle]:.3f} m')
    figure.colorbar(image, ax=panels, label='smallest singular value of dL/d(twist)')
    figure.suptitle(
        f'roll {options.roll:g}, pitch {options.pitch:g}, yaw {options.yaw:g} degrees. Coloured: '
        'reachable. Line: usable from home, never singular')
    return figure


def section(
        axes: Axes, grid: WorkspaceMap, cut: tuple[slice | int, ...], shown: tuple[int, int],
        title: str) -> QuadMesh:
    """Draw one section of the grid; return its image."""
    across, up = (grid.axes[k] for k in shown)
    values = np.where(grid.reachable[cut], np.abs(grid.signed_values[cut]), np.nan)
    image = axes.pcolormesh(across, up, values.T, vmin=0.0, vmax=0.7, shading='nearest')
    usable = grid.usable[cut]
    if usable.any() and not usable.all():
        axes.contour(across, up, usable.T, levels=[0.5], colors='tab:red', linewidths=1.5)
    axes.set(xlabel=f'{"xyz"[shown[0]]}, m', ylabel=f'{"xyz"[shown[1]]}, m', title=title,
             aspect='equal')
    return image


if __name__ == '__main__':
    sys.exit(main())
