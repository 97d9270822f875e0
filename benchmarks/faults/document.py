# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Write the faults of docs/results.md from `make faults`: python -m benchmarks.faults.document."""

import json
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.document import linked, origin_line, renew
from benchmarks.faults.__main__ import KEPT
from benchmarks.faults.faults import FAULTS
from benchmarks.faults.subjects import SUBJECTS
from benchmarks.record import FOLDER

PAGE = Path('docs/results.md')
DISTROS = 'kilted', 'jazzy'
VIEW = 'view'  # reports once a second, and is a page for people: a column of its own
HEADER = ('fault', 'gap, s: median', 'most', 'back after, s: median', 'most', 'slowest node',
          'view back, s')


def main() -> None:
    """Renew the table, of all nodes and releases together."""
    results = {(distro, node): _read(distro, node) for distro in DISTROS for node in SUBJECTS}
    rows = []
    for fault in FAULTS:
        found = [(node, row) for (_, node), result in results.items() for row in result['rows']
                 if row['fault'] == fault.name and 'gap' in row]
        if nodes := [(row['gap'], row['back'], node) for node, row in found if node != VIEW]:
            slowest = max(nodes, key=lambda each: float(each[1]))
            gaps, backs = ([float(each[k]) for each in nodes] for k in (0, 1))
            seen = [row['back'] for node, row in found if node == VIEW]
            rows.append((fault.name, f'{median(gaps):.2f}', f'{max(gaps):.2f}',
                         f'{median(backs):.2f}', f'{max(backs):.2f}', slowest[2],
                         f'{max(seen):.1f}' if seen else ''))
    failed = [f'{node} on {distro}: {row["fault"]}' for (distro, node), result in results.items()
              for row in result['rows'] if 'failed' in row]
    renew(PAGE, 'faults', linked('faults', HEADER, rows) + (
        f'\nFailed: {"; ".join(failed)}.\n' if failed else '') + origin_line(
            results[DISTROS[0], next(iter(SUBJECTS))]))


def _read(distro: str, node: str) -> dict[str, Any]:
    path = FOLDER / f'{KEPT}/{distro}/{node}.json'
    if not path.is_file():
        raise SystemExit(f'{path}: expected the figures of make faults DISTRO={distro}, got no '
                         'file')
    data: dict[str, Any] = json.loads(path.read_text())
    return data


if __name__ == '__main__':
    main()
