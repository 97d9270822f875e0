# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the measured tables of docs/stewart_figures.md: python -m benchmarks.stewart.document.

They stand between markers, and come from the results of these benchmarks:

    python -m benchmarks.stewart.faults --only detection
    python -m benchmarks.stewart.bounds
    python -m benchmarks.stewart.defaults --samples 3000
    python -m benchmarks.stewart.onsets --seeds 60
"""

from collections.abc import Callable, Mapping
import json
from pathlib import Path
import re
from typing import Any

from benchmarks.document import origin_line, table
from benchmarks.record import FOLDER
from benchmarks.stewart.bounds import bound_cell
from benchmarks.stewart.defaults import MAX_RATIO
from benchmarks.stewart.onsets import onset_cell

PAGE = Path('docs/stewart_figures.md')
MARKED = re.compile(r'(<!-- figures: (\w+) -->\n).*?(<!-- end -->)', re.DOTALL)


def main() -> None:
    """Write the tables whose benchmarks have run."""
    PAGE.write_text(with_tables(PAGE.read_text(), FOLDER))
    print(f'in {PAGE}')


def with_tables(text: str, folder: Path) -> str:
    """Return a text with each table between its markers as the results in a folder have it."""
    return MARKED.sub(lambda found: _written(found, folder), text)


def _written(found: re.Match[str], folder: Path) -> str:
    """Return a table with its markers, as measured; as it stands where it was not."""
    path, write = folder / f'{SOURCES[found[2]]}.json', TABLES[found[2]]
    data = json.loads(path.read_text()) if path.is_file() else {}
    if found[2] not in data:
        print(f'{found[2]}: left as it is; {path} has no such figures')
        return found[0]
    return f'{found[1]}{write(data[found[2]])}{origin_line(data)}\n{found[3]}'


def _detection(rows: list[dict[str, Any]]) -> str:
    """Return the runs that name the leg, another leg, and nothing, of each fault and rate."""
    rates = sorted({row['rate'] for row in rows})
    cells = {(row['kind'], row['size'], row['told'], row['rate']): row for row in rows}
    lines = []
    for kind, size, told in dict.fromkeys(key[:3] for key in cells):
        found = [cells[kind, size, told, rate] for rate in rates]
        lines.append((
            kind + (f', {1e3 * size:g} mm' if size else ''),
            f'{1e6 * told:g} um' if told else 'not set', *(_cell(each) for each in found)))
    return table(('fault', '`leg_noise`', *(f'{rate} Hz' for rate in rates)), lines)


def _cell(row: Mapping[str, Any]) -> str:
    """Return a cell: the leg named in %, and another leg or a flag without a leg where it was."""
    share = {key: round(100.0 * row[key] / row['runs']) for key in ('named', 'others', 'silent')}
    other = f', another {share["others"]} %' if share['others'] else ''
    return f'{share["named"]} %{other}; {1e3 * row["error"]:.2g}'


def _bounds(rows: list[dict[str, Any]]) -> str:
    """Return what share of faults the tracker, the best test and the smoother name."""
    rates = sorted({row['rate'] for row in rows})
    cells = {(row['kind'], row['size'], row['acceleration'], row['rate']): row for row in rows}
    lines = [(kind + (f', {1e3 * size:g} mm' if size else ''), f'{told:g} m/s^2' if told else
              'not set', *(bound_cell(cells[kind, size, told, rate]) for rate in rates))
             for kind, size, told in dict.fromkeys(key[:3] for key in cells)]
    return table(('fault', '`leg_acceleration`', *(f'{rate} Hz' for rate in rates)), lines)


def _defaults(runs: list[dict[str, Any]]) -> str:
    """Return the worst pose over the solver's, and alarms, of each disturbance and rate."""
    rates = sorted({run['rate'] for run in runs})
    lines = []
    for name in dict.fromkeys(run['disturbance'] for run in runs):
        cells = [[run for run in runs if (run['disturbance'], run['rate']) == (name, rate)]
                 for rate in rates]
        lines.append((name, *map(_default, cells)))
    hours = sum(run['seconds'] for run in runs) / 3600.0
    alarms = sum(run['alarms'] for run in runs)
    return table(('nothing set', *(f'{rate} Hz' for rate in rates)), lines) + (
        f'\n{len(runs)} runs, {hours:.1f} h, {alarms} false alarms.\n')


def _default(runs: list[dict[str, Any]]) -> str:
    """Return a cell: worst ratio, false alarms if any, and what else was found."""
    alarms = sum(run['alarms'] for run in runs)
    also = [text for key, text in (('latched', 'a flag stays'), ('silent', 'wrong, no flag'),
                                   ('untold', 'not named'), ('unsolved', 'no pose'))
            if any(run[key] for run in runs)]
    return '; '.join((f'{max(run["ratio"] for run in runs):.2f}',
                      *([f'{alarms} alarms'] if alarms else []), *also))


def _onsets(runs: list[dict[str, Any]]) -> str:
    """Return the worst pose over the solver's where noise changes, of each kind and rate."""
    rates, kinds = (list(dict.fromkeys(found)) for found in (
        (run['rate'] for run in runs), ((run['legs'], run['factor']) for run in runs)))
    lines = [(f'{legs}, {factor:g} times', *(onset_cell(
        [run for run in runs if (run['legs'], run['factor'], run['rate']) == (legs, factor, rate)])
        for rate in rates)) for legs, factor in kinds]
    return table(('noise of', *(f'{rate} Hz' for rate in rates)), lines) + (
        f'\n{len(runs)} runs, {sum(run["ratio"] > MAX_RATIO for run in runs)} with a pose worse '
        f'than {MAX_RATIO} times that of the solver.\n')


SOURCES = {'detection': 'stewart_faults', 'bounds': 'stewart_bounds',
           'defaults': 'stewart_defaults', 'onsets': 'stewart_onsets'}
TABLES: Mapping[str, Callable[[list[dict[str, Any]]], str]] = {
    'detection': _detection, 'bounds': _bounds, 'defaults': _defaults, 'onsets': _onsets}


if __name__ == '__main__':
    main()
