# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tutorials run from an empty folder, and leave the pictures of their pages."""

from itertools import zip_longest
from pathlib import Path
import re
import shlex
import subprocess
import sys

import pytest
from support.c_library.c_library import built, HOST
from support.scripts import run_command, run_script

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted(path.stem for path in (ROOT / 'examples').glob('[0-9][0-9]_*.py'))
NEEDS = {'04_a_bag_to_parameters': ('clarabel', 'rosbags', 'mcap'),
         '07_trajectories': ('clarabel',)}
NUMBER = re.compile(r'[+-]?\d[\d.]*(e[+-]\d+)?')
RULE = re.compile('--+')  # below the head of a table
FILES = {'02_your_hexapod': {'strut_hexapod.yaml', 'my_hexapod_nodes.yaml'},
         '04_a_bag_to_parameters': {'my_bag', 'robot.urdf', 'identified'}}  # beside the picture's


def page_of(name):
    """Return the section of the one page that has the command of a tutorial."""
    command = f'python examples/{name}.py\n```'
    text, = [text for page in (ROOT / 'docs').rglob('*.md')
             if command in (text := page.read_text(encoding='utf-8'))]
    return command + text.partition(command)[2].partition('\n## ')[0]


def words_of(line):
    """Split a line, with its numbers as such; what only rules a table is left out."""
    words = re.sub(r'[,;:]', ' ', line).split()
    return [float(word) if NUMBER.fullmatch(word) else word for word in words
            if not RULE.fullmatch(word)]


@pytest.mark.parametrize('name', TUTORIALS)
def test_a_page_has_the_command_and_the_picture(name):
    assert f'images/tutorials/{name}.png)' in page_of(name)


@pytest.fixture
def commands_here(monkeypatch, tmp_path):
    """Run the commands that a script starts in this process, where imports and kernels are."""
    def run(words, *, check):
        assert words[:3] == [sys.executable, '-m', 'liedyn_ros'] and check
        assert not run_command(shlex.join(['liedyn', *words[3:]]), tmp_path)

    monkeypatch.setattr(subprocess, 'run', run)


@pytest.mark.parametrize('name', TUTORIALS)
@pytest.mark.usefixtures('commands_here')
def test_a_script_prints_what_its_page_shows(name, tmp_path, capfd):
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    run_script(ROOT / 'examples' / f'{name}.py', folder=tmp_path)
    shown = re.search(r'```text\n(.*?)```', page_of(name), re.DOTALL)[1]
    for printed, expected in zip_longest(capfd.readouterr().out.splitlines(), shown.splitlines()):
        printed, expected = words_of(printed or ''), words_of(expected or '')
        assert [word for word in printed if isinstance(word, str)] == [
            word for word in expected if isinstance(word, str)]
        assert [word for word in printed if isinstance(word, float)] == pytest.approx(
            [word for word in expected if isinstance(word, float)], rel=0.05)
    assert {path.name for path in tmp_path.iterdir()} == FILES.get(name, set()) | {
        f'{name}.{suffix}' for suffix in ('png', 'pdf', 'csv')}
    assert (tmp_path / f'{name}.png').stat().st_size > 10_000


@HOST
def test_the_controller_runs_in_c_where_the_library_is(tmp_path, capfd):
    library = built([], '-shared', '-fPIC')
    run_script(ROOT / 'examples' / '05_a_controller.py', library, folder=tmp_path)
    *_, python, in_c = capfd.readouterr().out.splitlines()
    assert python.split(': ')[1] == in_c.split(': ')[1]
