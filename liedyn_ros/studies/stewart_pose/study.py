# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Repeat the Stewart paper's study: Tables 2 and 3 next to the published figures, Figures 4 to 9.

`liedyn reproduce stewart`.
"""

from collections.abc import Iterator, Sequence
from itertools import count
import sys
import time

from liedyn_ros.commands import outputs
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import load_geometry, PoseSolver
from liedyn_ros.studies.options import stewart_parser
from liedyn_ros.studies.stewart_pose import figures
from liedyn_ros.studies.stewart_pose.figures import Cells
from liedyn_ros.studies.stewart_pose.paper import (
    PAPER_STATES, PAPER_TABLES, pose_of, Study, Table, UNEXPLAINED_CELLS)
from liedyn_ros.view_state import ViewInput

MAX_DIFFERENCE = 4.0  # percentage points: two solves of fifty


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study, print its tables, write its figures."""
    folder = stewart_parser().parse_args(arguments).folder
    begin = time.perf_counter()
    study = Study(load_geometry(config_file('stewart_geometry.yaml')))
    cells: Cells = {}
    for table in PAPER_TABLES:
        cells |= run(study, table)
    print(f'  {sum(len(cell.ends) for cell in cells.values())} solves, '
          f'{time.perf_counter() - begin:.1f} s with compilation')
    for table in PAPER_TABLES:
        print_beside_published(table, cells)
    print_differences(cells)
    figures.draw(study, cells, folder)
    outputs.recording(folder / 'starts.html', study.geometry, seen(study), study.true_pose)
    print(f'Figures 4 to 9 in {folder}/; {time.perf_counter() - begin:.1f} s in all')
    return 0


def seen(study: Study) -> Iterator[tuple[float, ViewInput]]:
    """Yield each state beside the true pose, then where our solver ends, a second each."""
    solver = PoseSolver(study.geometry)
    times = count()
    for state in PAPER_STATES:
        start = pose_of(*state)
        for pose in (start, solver.solve(study.lengths, start).pose):
            yield float(next(times)), ViewInput(pose=pose, true_pose=study.true_pose)
    yield float(next(times)), ViewInput(pose=study.true_pose, true_pose=study.true_pose)


def run(study: Study, table: Table) -> Cells:
    """Return the cells of a table, with progress."""
    print(f'{table.title}, {len(table.values)} values of the {table.parameter}', flush=True)
    cells: Cells = {}
    for method in table.methods:
        print(f'  {method}:', end='', flush=True)
        for state in range(len(PAPER_STATES)):
            cells[method, state] = study.cell(table, method, state)
            print(f' state {state + 1}', end='', flush=True)
        print()
    return cells


def print_beside_published(table: Table, cells: Cells) -> None:
    """Print one table: for each form the percentage found here and the published one."""
    print(f'\n{table.title}: percentage of solves that reach the true pose, here | published')
    rows = []
    for state, values in enumerate(PAPER_STATES):
        pairs = [f'{cells[method, state].percentage:.0f} | {published}'
                 for method, published in zip(table.methods, table.published[state])]
        rows.append([f'{state + 1}', *(f'{value:g}' for value in values), *pairs])
    print_table(['state', 'x cm', 'y cm', 'z cm', 'roll deg', 'pitch deg', 'yaw deg',
                 *table.methods], rows)


def print_differences(cells: Cells) -> None:
    """Print how many cells agree, and name those that do not."""
    differences = {
        (method, state): (cells[method, state].percentage, float(table.published[state, k]))
        for table in PAPER_TABLES for k, method in enumerate(table.methods)
        for state in range(len(PAPER_STATES))}
    unequal = {key: pair for key, pair in differences.items() if pair[0] != pair[1]}
    near = sum(abs(ours - published) <= MAX_DIFFERENCE for ours, published in differences.values())
    print(f'\n{len(differences) - len(unequal)} of {len(differences)} cells are equal, '
          f'{near} within {MAX_DIFFERENCE:g} points; those that differ:')
    for (method, state), (ours, published) in unequal.items():
        note = ', by no reading of the paper' if (method, state) in UNEXPLAINED_CELLS else ''
        print(f'  {method}, state {state + 1}: {ours:.0f} here, {published:.0f} published{note}')


if __name__ == '__main__':
    sys.exit(main())
