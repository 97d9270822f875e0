# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""README's figures come from the tables of figures, by a command; it marks those beyond a goal."""

import csv
from pathlib import Path
import re

import pytest

from benchmarks import document
from benchmarks.readme import sentence

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
ORIGIN = {'date': '2026-11-27', 'commit': 'abc', 'cores': 2, 'processor': 'one', 'load': [1.0],
          'python': '3.11', 'numba': '0.68'}


def goals(folder):
    """Provide each figure of a folder's tables that has a goal, the goal, and what follows it."""
    for path in sorted(folder.glob('*.csv')):
        head, *rows = csv.reader(path.read_text().splitlines())
        for at in (k for k, name in enumerate(head) if name == 'wanted'):
            for figure, goal in ((row[at - 1], row[at]) for row in rows if row[at]):
                most, mark = re.fullmatch(r'<= ([\d.]+)(.*)', goal).groups()
                yield float(figure), float(most), mark


def test_the_ratios_of_readme_are_those_of_the_figures():
    assert sentence() in (ROOT / 'README.md').read_text(), 'python -m benchmarks.readme'


def test_figures_beyond_their_goal_are_marked_and_no_others():
    found = list(goals(ROOT / 'docs' / 'tables'))
    assert len(found) > 80
    assert [mark for *_, mark in found] == [', missed' * (figure > most)
                                            for figure, most, _ in found]


def test_the_command_marks_a_figure_beyond_its_goal(tmp_path, monkeypatch):
    monkeypatch.setattr(document, 'TABLES', tmp_path)
    row = {'closure': 'revolute', 'algorithm': 'forward', 'linkages': 8, 'one': 1.0, 'all': 8.0}
    rows = [{**row, 'ratio': 0.99}, {**row, 'ratio': 1.01}]
    text = ''.join(document.SECTIONS['independent_loops'](
        {'measured': ORIGIN, 'target': 1, 'rows': rows}))
    assert 'goal missed in 1' in text
    assert list(goals(tmp_path)) == [(0.99, 1.0, ''), (1.01, 1.0, ', missed')]


def test_a_table_keeps_the_ratios_of_other_makes(tmp_path, monkeypatch):
    monkeypatch.setattr(document, 'TABLES', tmp_path)
    row = {'closure': 'revolute', 'algorithm': 'forward', 'linkages': 8, 'one': 1.0, 'all': 8.0}
    for make, ratio in (('AMD EPYC', 0.9), ('Intel(R) Xeon(R)', 0.8), ('AMD Ryzen', 0.7)):
        document.SECTIONS['independent_loops']({
            'measured': {**ORIGIN, 'processor': make}, 'target': 1,
            'rows': [{**row, 'ratio': ratio}]})
    with (tmp_path / 'independent_loops.csv').open() as file:
        only, = csv.DictReader(file)
    assert (only['ratio, AMD'], only['ratio, Intel']) == ('0.70', '0.80')
