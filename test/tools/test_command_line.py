# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A tool answers --help and refuses what it does not know, before it writes anything."""

from importlib.util import find_spec
from pathlib import Path
import runpy

import pytest
from tools.command_line import names_or_all

ROOT = Path(__file__).parents[2]
TOOLS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / 'tools').rglob('*.py'))
         if "__name__ == '__main__'" in path.read_text()]


@pytest.fixture(autouse=True)
def _nothing_is_written(monkeypatch):
    monkeypatch.setattr(Path, 'write_text', None)


def code_of(monkeypatch, tool, argument):
    """Return the code with which a tool ends."""
    monkeypatch.setattr('sys.argv', [tool, argument])
    with pytest.raises((SystemExit, ModuleNotFoundError)) as ended:
        runpy.run_path(str(ROOT / tool), run_name='__main__')
    if isinstance(ended.value, ModuleNotFoundError):
        if find_spec('rclpy') is None:
            pytest.skip(f'{tool} needs ROS 2')
        raise ended.value
    return ended.value.code


@pytest.mark.parametrize('tool', TOOLS)
def test_a_tool_answers_help(tool, monkeypatch, capsys):
    assert code_of(monkeypatch, tool, '--help') == 0
    assert capsys.readouterr().out.startswith(f'usage: {Path(tool).stem}')


@pytest.mark.parametrize('tool', TOOLS)
def test_a_tool_refuses_an_unknown_option(tool, monkeypatch, capsys):
    assert code_of(monkeypatch, tool, '--unknown') == 2
    assert ': error: ' in capsys.readouterr().err


@pytest.mark.parametrize(('given', 'names'), [([], ['a', 'b', 'c']), (['c', 'a'], ['c', 'a'])])
def test_names_are_those_given_or_all(given, names, monkeypatch):
    monkeypatch.setattr('sys.argv', ['tool', *given])
    assert names_or_all('About it.', ('a', 'b', 'c')) == names


def test_a_name_that_is_unknown_is_refused(monkeypatch, capsys):
    monkeypatch.setattr('sys.argv', ['tool', 'a', 'd'])
    with pytest.raises(SystemExit):
        names_or_all('About it.', ('a', 'b', 'c'))
    assert "expected some of ['a', 'b', 'c'], got ['d']" in capsys.readouterr().err
