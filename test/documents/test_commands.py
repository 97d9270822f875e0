# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Command lines of README and docs name programs that are there, and options that these take."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
import re
import shlex
import sys

import pytest

from liedyn_ros.commands.liedyn import VERBS

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
BLOCK = re.compile(r'^ *```sh\n(.*?)^ *```', re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"(?<= )'[^']*\n[^']*'")  # messages in YAML of several lines
SCRIPTS = dict(re.findall(r"'(\w+)': '(liedyn_ros[\w.]+)'", (
    ROOT / 'liedyn_ros/nodes/__init__.py').read_text(encoding='utf-8')))
OPTION = re.compile(r'(?<![\w-])--?[a-z][\w-]*')
VERB = re.compile(r'(?<!commands\.)(?<=\bliedyn )(?!import\b)[a-z]{2,}(?: [a-z][a-z-]+)?')
FORMER = re.compile(  # commands before there were verbs, whose names mean nothing else
    r'(?<!out/)\b(?:stewart_(?:check|path|workspace)|calibrate_stewart|liedyn_export|'
    r'reproduce_(?:stewart|higher_order))\b')
ARGUMENT = re.compile(r'(\w+):=')


@cache
def lines():
    """Return the page of each command line, and its parts."""
    return list(each_line())


def each_line():
    """Yield the page of each command line, and its parts."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding='utf-8')):
            for line in re.sub(r'\\\n', ' ', QUOTED.sub("''", block)).splitlines():
                words = shlex.split(line, comments=True)
                while words:
                    end = next((k for k, each in enumerate(words) if each in ('&&', '&')), 99)
                    if words[:end]:
                        yield page, words[:end]
                    words = words[end + 1:]


def program(words):
    """Return the module and the arguments of a command of this package, else None."""
    if words[:2] == ['python', '-m'] and words[2].startswith('liedyn_ros'):
        return words[2], words[3:]
    if words[:3] == ['ros2', 'run', 'liedyn_ros']:
        return SCRIPTS.get(words[3], words[3]), words[4:]
    if words[0] == 'liedyn':
        verb = next((' '.join(words[1:n]) for n in (3, 2) if ' '.join(words[1:n]) in VERBS), '')
        return f'liedyn {verb}', words[1 + len(verb.split()):]
    if words[0] in SCRIPTS:
        return SCRIPTS[words[0]], words[1:]
    return None


def written():
    """Yield the texts of files whose messages may name a command."""
    for folder in ('liedyn_ros', 'config', 'launch', 'examples', 'docs'):
        for path in (ROOT / folder).rglob('*.*'):
            if path.suffix in ('.py', '.yaml', '.xml', '.md'):
                yield path, path.read_text(encoding='utf-8')


def test_no_message_names_a_command_that_is_not_there():
    for path, text in written():
        joined = re.sub(r"'\n *f?'|\n# *|\n *", lambda end: '' if "'" in end[0] else ' ', text)
        assert not FORMER.findall(joined), path
        for words in () if path.suffix == '.md' else VERB.findall(joined):  # pages: below
            assert words.split()[0] in VERBS or words in VERBS, (path, words)


def runs_of(module):
    """Return the module that `python -m` runs: of a package its __main__."""
    package = find_spec(module).submodule_search_locations
    return f'{module}.__main__' if package else module


PROGRAMS = sorted({(page, *found[:1], tuple(found[1])) for page, words in lines()
                   if (found := program(words))})
COMMANDS = [(page, module.removeprefix('liedyn '), arguments)
            for page, module, arguments in PROGRAMS if module.startswith('liedyn ')]
MODULES = [each for each in PROGRAMS if not each[1].startswith('liedyn ')]


def name(value):
    """Return how a test names a page, a module and arguments."""
    return value.stem if isinstance(value, Path) else '_'.join(value)[:30] if isinstance(
        value, tuple) else value.rpartition('.')[2]


def test_lines_are_found():
    assert len(PROGRAMS) > 40
    assert {module for _, module, _ in PROGRAMS} >= {
        'liedyn identify', 'liedyn bag process', 'liedyn view', SCRIPTS['stewart_pose']}


def options_of(arguments):
    """Return the options among the arguments of a program, without those of ROS."""
    own = arguments[:arguments.index('--ros-args')] if '--ros-args' in arguments else arguments
    return [each for each in own if OPTION.fullmatch(each)]


@pytest.mark.parametrize(('page', 'verb', 'arguments'), COMMANDS, ids=name)
def test_a_command_takes_its_options(page, verb, arguments):
    text = VERBS[verb].parser().format_help()
    assert set(options_of(arguments)) <= set(OPTION.findall(text)), page


@pytest.mark.parametrize(('page', 'module', 'arguments'), MODULES, ids=name)
def test_a_program_is_there_and_takes_its_options(page, module, arguments, capsys, monkeypatch):
    options = options_of(arguments)
    assert find_spec(module), f'{page}: no module {module}'
    if not options:
        return
    for needed in ('rosbags', 'clarabel', 'rclpy'):
        if f'import {needed}' in Path(find_spec(module).origin).read_text(encoding='utf-8'):
            pytest.importorskip(needed)
    monkeypatch.setattr(sys, 'argv', [module])
    with pytest.raises(SystemExit, match=r'^0$'):
        import_module(runs_of(module)).main(['--help'])
    known = set(OPTION.findall(capsys.readouterr().out))
    assert set(options) <= known


@pytest.mark.parametrize('page', PAGES, ids=name)
def test_scripts_and_arguments_of_launch_files_are_there(page):
    for words in (each for source, each in lines() if source == page):
        if words[0] == 'python' and words[1].endswith('.py'):
            assert (ROOT / words[1]).is_file(), words
        if words[:3] == ['ros2', 'launch', 'liedyn_ros']:
            text = (ROOT / 'launch' / words[3]).read_text(encoding='utf-8') + (
                ROOT / 'liedyn_ros' / 'ros' / 'launch.py').read_text(encoding='utf-8')
            for argument in ARGUMENT.findall(' '.join(words[4:])):
                assert f"'{argument}'" in text, (words, argument)
