# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Show every pose that six leg lengths allow: a table, and a picture of each.

`liedyn platform modes`;
--help lists the options. Without arguments it takes the lengths of the Stewart paper's example.
"""

from collections.abc import Sequence
import math
import sys
import time

from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.commands.inputs import pose_of
from liedyn_ros.commands.stewart.drawing_options import modes_parser
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.markup import print_table
from liedyn_ros.lie import SE3
from liedyn_ros.pictures import draw_platform, legend_of, new_figure, PAGE, save, share_scale
from liedyn_ros.stewart import (
    AssemblyMode, AssemblyModes, AssemblyModeSolver, leg_lengths, load_geometry, StewartGeometry)
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail

MAX_DRAWN_COLUMNS = 4
PANEL_HEIGHT, MARGIN, LABEL = 44.0, 22.0, 5.0  # mm: a pose, legend and title in height, a label


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the assembly modes and draw them; return 0 if they are proved complete."""
    options = modes_parser().parse_args(arguments)
    try:
        geometry = load_geometry(options.geometry)
        lengths = (np.array(options.lengths) if options.lengths
                   else leg_lengths(geometry, pose_of(options.pose)))
        if fits := geometry.fitting_unit(lengths):
            raise LimitError(f'lengths: expected {geometry.reading_unit[1]}, got {fits[0]}')
        geometry.require_within_limits(lengths)
        print(f'{asked(geometry)}:', *(f'{length:.6f}' for length in lengths))
        begin = time.perf_counter()
        solver = AssemblyModeSolver(geometry, options.seed)
        solver.solve(lengths)
        print(f'compiled, and the start system of seed {options.seed} found, in '
              f'{time.perf_counter() - begin:.1f} s', flush=True)
        begin = time.perf_counter()
        modes = solver.solve(lengths)
        seconds = time.perf_counter() - begin
    except LiedynError as error:
        print(error, file=sys.stderr)
        return 2
    report(geometry, modes, seconds)
    if modes.modes:
        save(picture(geometry, modes, lengths), options.picture)
        print(f'picture in {options.picture}')
    return 0 if modes.complete else 1


def asked(geometry: StewartGeometry) -> str:
    """Return the names of the given numbers, with their units."""
    kinds = {Crank: 'crank angles in rad', Rail: 'positions of carriages in m'}
    names = [kinds.get(type(leg), 'leg lengths in m') for leg in geometry.leg_types]
    return ', '.join(dict.fromkeys(names))


def report(geometry: StewartGeometry, modes: AssemblyModes, seconds: float) -> None:
    """Print the modes, and whether the list is complete."""
    if modes.reason:
        print(f'0 poses; {modes.reason}')
        return
    rows = []
    for k, mode in enumerate(modes.modes):
        pose = SE3(mode.pose)
        rows.append([k + 1, *(f'{value:.4f}' for value in pose.translation),
                     *(f'{value:.2f}' for value in np.degrees(pose.rotation.rpy)),
                     'above' if mode.above else 'below', f'{mode.determinant_sign:+d}',
                     f'{mode.smallest_singular_value:.4f}', f'{mode.residual:.1e}'])
        if geometry.driven:
            rows[-1] += [' '.join('-+'[cosine >= 0.0] for cosine in mode.dead_centres),
                         'yes' if mode.of_machine else 'no']
    print_table(['', 'x m', 'y m', 'z m', 'roll deg', 'pitch deg', 'yaw deg', 'base',
                 'det sign', 'singular value', 'residual m', *(
                     ['dead centres', "this machine's"] if geometry.driven else [])], rows)
    if geometry.driven:
        print(f'dead centres, of {", ".join(geometry.leg_names)}: + is the side of `pushes` in '
              'the geometry file, - the other')
    if modes.of_other_machines:
        print(modes.of_other_machines)
    followed = (f'{modes.complex_solutions} complex solutions; of {modes.paths} paths '
                f'{modes.at_infinity} ended at infinity, {modes.singular} at singular solutions, '
                f'{modes.lost} lost; ') if modes.paths else ''
    print(f'{len(modes.modes)} poses; {followed}{1e3 * seconds:.0f} ms')
    print('complete' if modes.complete else f'NOT PROVED COMPLETE: {modes.defect}')


def picture(geometry: StewartGeometry, modes: AssemblyModes, values: Array) -> Figure:
    """Return a picture of all modes, a panel for each; values (6,), m or rad, of the drives."""
    columns = min(MAX_DRAWN_COLUMNS, len(modes.modes))
    rows = math.ceil(len(modes.modes) / columns)
    figure = new_figure(1.25 * PANEL_HEIGHT * rows + MARGIN, PAGE, below=0.5 * MARGIN, right=LABEL)
    for k, mode in enumerate(modes.modes):
        axes = figure.add_subplot(rows, columns, k + 1, projection='3d')
        draw_platform(axes, geometry, mode.pose,
                      f'{k + 1}: {"above" if mode.above else "below"}, '
                      f'det {mode.determinant_sign:+d},\n'
                      f'singular value {mode.smallest_singular_value:.3f}{behind(geometry, mode)}',
                      values=values)
    share_scale(figure.axes)
    figure.legend(handles=legend_of(geometry), loc='lower center', ncols=5)
    figure.suptitle(f'{geometry.name}: {len(modes.modes)} assembly modes of the same '
                    f'{asked(geometry)}'.rpartition(' in ')[0])
    return figure


def behind(geometry: StewartGeometry, mode: AssemblyMode) -> str:
    """Return a line of a title of the legs behind their dead centres, where there are any."""
    if not geometry.driven:
        return ''
    legs = 'all' if len(mode.behind) == 6 else ', '.join(str(k + 1) for k in mode.behind)
    return f'\nbehind dead centre: {legs}' if legs else "\nthis machine's"


if __name__ == '__main__':
    sys.exit(main())
