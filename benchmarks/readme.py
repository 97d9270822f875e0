# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""README's sentence on speed, from docs/tables: `python -m benchmarks.readme` renews it."""

import csv
from pathlib import Path
import re

ROOT = Path(__file__).parents[1]
TABLE, README = ROOT / 'docs' / 'tables' / 'dynamics.csv', ROOT / 'README.md'
BETWEEN = re.compile(r'Called from Python.*?(?=\n\[All figures\])', re.DOTALL)
SENTENCE = (
    'Called from Python on {makes}, inverse dynamics of a humanoid takes {humanoid} of '
    "Pinocchio's time, of arms with\nsix and seven joints {arms}.")


def sentence() -> str:
    """Return the sentence by the table of inverse and forward dynamics, of each make measured."""
    with TABLE.open(encoding='utf-8', newline='') as file:
        rows = [row for row in csv.DictReader(file) if row['algorithm'] == 'inverse']
    title = 'ratio of the call, '
    makes = sorted(name.removeprefix(title) for name in rows[0] if name.startswith(title))
    ratios = {kind: [float(row[title + make]) for row in rows for make in makes
                     if row['machine'].startswith(kind)] for kind in ('humanoid', 'arm')}
    humanoid, arms = (f'{min(each):.2f} to {max(each):.2f}' for each in ratios.values())
    return SENTENCE.format(makes=' and '.join(makes), humanoid=humanoid, arms=arms)


def main() -> None:
    """Renew README."""
    README.write_text(BETWEEN.sub(lambda _: sentence(), README.read_text()))


if __name__ == '__main__':
    main()
