# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Write the soak of docs/results.md from its results: python -m benchmarks.together.document."""

import json
from pathlib import Path
from typing import Any

from benchmarks.document import origin_line, renew, table
from benchmarks.record import FOLDER
from benchmarks.together.soak import NAME, PERCENTS

PAGE = Path('docs/results.md')
DISTROS = 'kilted', 'jazzy'


def main() -> None:
    """Renew the tables of the releases that were run."""
    results = {distro: json.loads(path.read_text()) for distro in DISTROS
               if (path := FOLDER / f'{NAME}_{distro}.json').is_file()}
    if not results:
        raise SystemExit(f'{FOLDER}: expected the figures of python -m benchmarks.together.soak, '
                         'got no file')
    renew(PAGE, 'soak', '\n'.join(
        part for distro, data in results.items() for part in _section(distro, data)))


def _section(distro: str, data: dict[str, Any]) -> list[str]:
    return [
        f'\n{distro.title()}: {_about(data["rows"], data["rates"])}',
        table(('verdict', 'on'), [
            (str(each).strip().replace('\n', '<br>'), name)
            for name, each in data['verdicts'].items()]),
        table(('age, ms', *(f'{percent:g} %' for percent in PERCENTS)), [
            (name, *(f'{value:.2f}' for value in values.values()))
            for name, values in data['latency'].items()]),
        origin_line(data)]


def _about(rows: list[dict[str, Any]], rates: dict[str, float]) -> str:
    memory = [sum(row['memory MB'].values()) for row in rows]
    return (
        f'{len(rows)} minutes, poses of `moved` at {rates["pose"]:g} Hz, all else at '
        f'{rates["others"]:g} Hz, {rates["calls"]:g} calls a second, {rows[-1]["attacks"]} '
        f'attacks. All nodes held {memory[0]:.0f} MB in the first minute, {memory[-1]:.0f} in the '
        f'last. The machine was late for '
        f'{sum(row["machine late %"] for row in rows) / len(rows):.0f} % of the time, at most by '
        f'{max(row["machine late longest"] for row in rows):.0f} ms; its load was '
        f'{min(row["load"] for row in rows):.1f} to {max(row["load"] for row in rows):.1f}. A '
        'machine under control was lost, and put back to its start, in '
        f'{sum(bool(row["reset"]) for row in rows)} of {len(rows)} minutes.')


if __name__ == '__main__':
    main()
