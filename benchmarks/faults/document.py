# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Write docs/faults.md from the results of `make faults`: python -m benchmarks.faults.document."""

import json
from pathlib import Path
from typing import Any

from benchmarks.document import origin_line, table
from benchmarks.faults.__main__ import KEPT
from benchmarks.faults.faults import DELAY, FAULTS, HOLD, LOSS
from benchmarks.faults.scene import TIMEOUT
from benchmarks.faults.subjects import SUBJECTS
from benchmarks.record import FOLDER

PAGE = Path('docs/faults.md')
DISTROS = 'kilted', 'jazzy'
TITLE = f"""# Faults

Written by `python -m benchmarks.faults.document` from the results of `make faults` and
`make faults DISTRO=jazzy`; all work on your machine too. A fault is done to a node that works at
100 Hz. A listener beside the node
hears its input and output, and calls a service five times a second. The `view` has no output but
its report on `/diagnostics`: once a second, so its times are no finer.
[Operations](operations.md) has what a failure looks like, and the way back.
A run fails where a node publishes a wrong number, or is not back within {TIMEOUT:g} s.

- **lost**: inputs that the listener heard and that no good output answers, of all from the
  fault until good outputs were back. A node that is behind publishes the newest sample only, so
  samples that it passed over count here too.
- **gap**: the longest time without a good output, s. Good are right numbers, at most 1 s old. It
  holds the time in which the publisher or the network was away. A publisher is a new process
  after that, which takes 1 to 10 s to import its libraries and to be discovered.
- **back**: from the first input after the fault to good outputs, s. Simulators need no input:
  theirs is from the end of the fault. Of a node that is started again it is the start, with
  kernels from the cache.
- **served**: from the end of the fault to a right answer of the service, s.

Publishers, nodes, networks and clocks are away for {HOLD:g} s. The poor link drops
{100 * LOSS:.0f} % of the messages and delays each by up to {1e3 * DELAY:.0f} ms.
[benchmarks/faults/faults.py](../benchmarks/faults/faults.py) has the table of faults.
"""
HEADER = 'fault', *(f'{distro.title()}: {what}' if what == 'lost' else what
                    for distro in DISTROS for what in ('lost', 'gap', 'back', 'served'))


def main() -> None:
    """Write the page."""
    parts = [TITLE]
    for node in SUBJECTS:
        results = {distro: _read(distro, node) for distro in DISTROS}
        found = {distro: {row['fault']: row for row in results[distro]['rows']}
                 for distro in DISTROS}
        rows = [(fault.name, *(cell for distro in DISTROS
                               for cell in _cells(found[distro].get(fault.name))))
                for fault in FAULTS if any(fault.name in rows for rows in found.values())]
        parts += [f'\n## {node}\n', table(HEADER, rows), *(
            f'\n{distro.title()}. {origin_line(results[distro]).strip()}\n'
            for distro in DISTROS)]
    PAGE.write_text(''.join(parts))
    print(f'in {PAGE}')


def _cells(row: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the cells of a fault on one release."""
    if row is None:
        return 'not run', '', '', ''
    for kind, text in (('impossible', 'not possible there'), ('failed', 'FAILED')):
        if kind in row:
            return f'{text}: {row[kind]}', '', '', ''
    lost = '-' if row['lost'] is None else f'{row["lost"]} of {row["inputs"]}'
    return lost, *(f'{row[name]:.2f}' for name in ('gap', 'back', 'served'))


def _read(distro: str, node: str) -> dict[str, Any]:
    path = FOLDER / f'{KEPT}/{distro}/{node}.json'
    if not path.is_file():
        raise SystemExit(f'{path}: expected the figures of make faults DISTRO={distro}, got no '
                         'file')
    data: dict[str, Any] = json.loads(path.read_text())
    return data


if __name__ == '__main__':
    main()
