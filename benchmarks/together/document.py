# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Write docs/soak.md from the results of the soak: python -m benchmarks.together.document."""

from collections import Counter
import json
from pathlib import Path
from typing import Any

from benchmarks.document import origin_line, table
from benchmarks.neighbours import MUCH
from benchmarks.nodes.memory import FIRST, MAX_GROWTH
from benchmarks.record import FOLDER
from benchmarks.together.causes import CAUSES
from benchmarks.together.soak import NAME, PERCENTS

PAGE = Path('docs/soak.md')
DISTROS = 'kilted', 'jazzy'
TITLE = f"""# Soak

Written by `python -m benchmarks.together.document` from the results of
`python -m benchmarks.soak --all --minutes 60`; both work on your machine too. All nodes of the
package run on one machine, each in a process, in five namespaces. `moved` is a platform whose leg
lengths are simulated, with a view of it at 10 pictures a second. `controlled` is one under leg
forces. Then come the aerial manipulator, the leg linkage, and joints that follow one path after
another at 20 Hz. Recorders, a driver and a client of the services run on the same processors.
What a fault costs a node alone is in [faults](faults.md).

- **Ages** are those of an output when it arrives, from the stamp of the sample that it answers.
  Commands come two or three nodes after that sample. Answers are round trips.
- **Losses** are samples without an output. Some are counted by the node, on `/diagnostics` or in
  its status. Others were lost on the way to the recorder, or while the machine stood still. Beside
  other programs are those of a second in which these had {100 * MUCH:g} % of a processor, or of
  the second before.
- **growth** is the greatest memory after the first {FIRST} minutes, or a third of a shorter run,
  beyond the greatest before.

A run fails where a sample is lost without a cause, or a request has no right answer. It also fails
where a node ends, or grows by more than {MAX_GROWTH:g} MB.
"""


def main() -> None:
    """Write the page of the releases that were run."""
    results = {distro: json.loads(path.read_text()) for distro in DISTROS
               if (path := FOLDER / f'{NAME}_{distro}.json').is_file()}
    if not results:
        raise SystemExit(f'{FOLDER}: expected the figures of python -m benchmarks.soak --all, '
                         'got no file')
    PAGE.write_text(''.join([TITLE, *(
        part for distro, data in results.items() for part in _section(distro, data))]))
    print(f'in {PAGE}')


def _section(distro: str, data: dict[str, Any]) -> list[str]:
    rows = data['rows']
    return [
        f'\n## {distro.title()}\n\n{_about(rows, data["rates"])} ' + (
            f'The run failed: {"; ".join(data["faults"])}.' if data['faults'] else
            'Nothing grew, and nothing was lost without a cause.') + '\n',
        table(('age, ms', *(f'{percent:g} %' for percent in PERCENTS)), [
            (name, *(f'{value:.2f}' for value in values.values()))
            for name, values in data['latency'].items()]),
        table(('stream', 'samples', 'passed over', *CAUSES), [
            _losses(name, [row['flows'][name] for row in rows]) for name in rows[0]['flows']]),
        table(('node', 'memory, MB', 'growth, MB', 'a processor, %', 'warnings'), [
            (name, f'{rows[0]["memory MB"][name]:.0f}', f'{more:.2f}',
             f'{sum(row["CPU %"][name] for row in rows) / len(rows):.0f}',
             sum(len(row['trouble'].get(name, ())) for row in rows))
            for name, more in data['growth MB'].items()]),
        origin_line(data)]


def _about(rows: list[dict[str, Any]], rates: dict[str, float]) -> str:
    return (
        f'{len(rows)} minutes, poses of `moved` at {rates["pose"]:g} Hz, all else at '
        f'{rates["others"]:g} Hz, {rates["calls"]:g} calls a second. The machine stood still '
        f'{sum(row["machine still"] for row in rows)} times, for at most '
        f'{max(row["machine still longest"] for row in rows):.0f} ms; its load was '
        f'{min(row["load"] for row in rows):.1f} to {max(row["load"] for row in rows):.1f}. Other '
        f'programs had {sum(row["others %"] for row in rows) / len(rows):.1f} % of a processor, '
        f'{max(row["others greatest %"] for row in rows):.0f} % in their greatest second. In '
        f'{sum(bool(row["reset"]) for row in rows)} minutes a machine under control was lost, and '
        'put back to its start.')


def _losses(name: str, flows: list[dict[str, Any]]) -> tuple[Any, ...]:
    lost: Counter[str] = Counter()
    for flow in flows:
        lost.update(flow['lost'])
    return (name, round(60 * sum(flow['sent a second'] for flow in flows)),
            sum(flow['passed over'] for flow in flows),
            *(lost[cause] for cause in CAUSES))


if __name__ == '__main__':
    main()
