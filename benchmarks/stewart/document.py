# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the measured tables of the tracker in docs/results.md: python -m benchmarks.stewart.document.

They stand between markers, and come from the results of these benchmarks:

    python -m benchmarks.stewart.bounds
    python -m benchmarks.stewart.defaults --samples 3000
    python -m benchmarks.stewart.onsets --seeds 60
"""

from collections.abc import Callable, Mapping
import json
from pathlib import Path
import re
from typing import Any

from benchmarks.document import linked, origin_line
from benchmarks.record import FOLDER
from benchmarks.stewart.bounds import bound_cell
from benchmarks.stewart.defaults import MAX_RATIO

PAGE = Path('docs/results.md')
RATES = 100, 500, 1000  # of the page; the results have more
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


def _bounds(rows: list[dict[str, Any]]) -> str:
    """Return what share of faults the tracker, the best test and the smoother name."""
    rates = [rate for rate in sorted({row['rate'] for row in rows}) if rate in RATES]
    cells = {(row['kind'], row['size'], row['acceleration'], row['rate']): row for row in rows}
    lines = [(kind + (f', {1e3 * size:g} mm' if size else ''), f'{told:g} m/s^2' if told else
              'not set', *(bound_cell(cells[kind, size, told, rate]) for rate in rates))
             for kind, size, told in dict.fromkeys(key[:3] for key in cells)]
    return linked('leg_faults', ('fault', 'leg_acceleration', *(f'{rate} Hz' for rate in rates)),
                  lines)


def _defaults(runs: list[dict[str, Any]]) -> str:
    """Return how many runs with nothing set were worse than the solver, raised alarms or else."""
    hours = sum(run['seconds'] for run in runs) / 3600.0
    kinds = len({run['disturbance'] for run in runs})
    also = ', '.join(f'{count} {text}' for key, text in (
        ('latched', 'with a flag that stays'), ('silent', 'wrong without a flag'),
        ('untold', 'with a fault not named'), ('unsolved', 'where the solver has no pose either'))
        if (count := sum(bool(run[key]) for run in runs)))
    return (f'\n{kinds} disturbances at {len({run["rate"] for run in runs})} rates: '
            f'{len(runs)} runs, {hours:.1f} h, {sum(run["alarms"] for run in runs)} false alarms; '
            f'the worst pose was {max(run["ratio"] for run in runs):.2f} times as wrong as the '
            f"solver's"
            f'{f" ({also})" if also else ""}.\n')


def _onsets(runs: list[dict[str, Any]]) -> str:
    """Return how many poses were worse than the solver's where noise changes."""
    worse = sum(run['ratio'] > MAX_RATIO for run in runs)
    return (f'\n{len(runs)} runs, {worse} with a pose worse than {MAX_RATIO} times that of the '
            'solver.\n')


SOURCES = {'bounds': 'stewart_bounds', 'defaults': 'stewart_defaults',
           'onsets': 'stewart_onsets'}
TABLES: Mapping[str, Callable[[list[dict[str, Any]]], str]] = {
    'bounds': _bounds, 'defaults': _defaults, 'onsets': _onsets}


if __name__ == '__main__':
    main()
