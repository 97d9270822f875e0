# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command `liedyn`: its verbs, their help without extras, and completion in a shell."""

from importlib import import_module
import json
import os
import re
import subprocess
import sys

import pytest

from liedyn_ros.commands.liedyn import GROUPS, main, overview, PIPE_CLOSED, VERBS
from liedyn_ros.common.extras import EXTRAS

# Shows the help of each verb where neither ROS nor any extra can be imported.
WITHOUT_EXTRAS = """
import contextlib, io, json, sys


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in MISSING:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)


sys.meta_path.insert(0, Missing())
from liedyn_ros.commands.liedyn import VERBS
helps = {}
for words, verb in VERBS.items():
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            verb.run(['--help'])
    except SystemExit as end:
        helps[words] = [end.code, out.getvalue()]
json.dump(helps, sys.stdout)
"""
IMPORTED = {'pycollada': 'collada'}  # names of import that are not those of pip


def test_a_command_prints_the_text_of_a_warning_alone(tmp_path, capsys):
    path = tmp_path / 'r.urdf'
    path.write_text('<robot name="r"><link name="a"/><link name="b"/><joint name="j" '
                    'type="continuous"><parent link="a"/><child link="b"/></joint></robot>')
    main(['export', str(path), '-o', str(tmp_path / 'r.liedyn')])
    lines = [line for line in capsys.readouterr().err.splitlines() if line]
    assert len(lines) == 1 and lines[0].startswith(f'warning: {path}: no link has a mass')


def test_a_reader_that_has_read_enough_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, '-m', 'liedyn_ros', '--help'], stdout=writing,
                          stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (PIPE_CLOSED, '')


def test_every_verb_has_help_without_extras():
    packages = {part.split('>')[0] for parts in EXTRAS.values() for part in parts}
    missing = {IMPORTED.get(each, each) for each in packages} | {'rclpy', 'liedyn_interfaces'}
    done = subprocess.run(
        [sys.executable, '-c', f'MISSING = {missing!r}\n{WITHOUT_EXTRAS}'],
        capture_output=True, text=True, check=True)
    helps = json.loads(done.stdout)
    assert helps.keys() == VERBS.keys()
    for words, (code, text) in helps.items():
        assert code == 0, words
        assert text.startswith('usage: '), words
        assert not re.search(r'\(default:\s+(None|False|\[|\(|\d\.\d{7})', text), words


def test_verbs_keep_threads_of_blas_from_waiting_for_each_other():
    """The number must be set before numpy is imported; a user's own stays."""
    code = ('import os, sys; from liedyn_ros.commands.liedyn import main; '
            'assert "numpy" not in sys.modules; main(["--help"]); '
            'print(os.environ["OPENBLAS_NUM_THREADS"])')
    bare = {key: text for key, text in os.environ.items() if key != 'OPENBLAS_NUM_THREADS'}
    for env, expected in ((bare, '1'), (bare | {'OPENBLAS_NUM_THREADS': '3'}, '3')):
        done = subprocess.run([sys.executable, '-c', code], env=env, capture_output=True,
                              text=True, check=True)
        assert done.stdout.split()[-1] == expected


@pytest.mark.parametrize('verb', VERBS.values(), ids=lambda verb: verb.words)
def test_its_options_are_a_parser_of_an_existing_module(verb):
    assert verb.parser().prog
    assert verb.purpose in overview()
    assert import_module(verb.options.partition(':')[0])


@pytest.mark.parametrize('arguments', [[], ['--help'], ['-h'], ['platform', '--help']])
def test_the_verbs_are_shown_where_they_are_asked_for(arguments, capsys):
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert 'platform check' in out + err
    assert ('identify' in out) == (not arguments or arguments[0] != 'platform')


@pytest.mark.parametrize('arguments', [['indentify'], ['platform'], ['platform', 'chek'], ['bag']])
def test_what_is_no_verb_is_refused(arguments, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ''
    assert repr(' '.join(arguments)) in err


def test_no_word_begins_two_groups():
    first = [{verb.words.split()[0] for verb in verbs} for verbs in GROUPS.values()]
    assert sum(map(len, first)) == len(set().union(*first))
    assert all(len(words.split()) <= 2 for words in VERBS)


@pytest.mark.parametrize(('line', 'expected', 'others'), [
    ('liedyn ident', {'identify'}, {'excite'}),
    ('liedyn platform ch', {'check'}, {'calibrate'}),
    ('liedyn retime --bl', {'--blend'}, {'--limits'})])
def test_a_shell_completes(line, expected, others, tmp_path):
    pytest.importorskip('argcomplete')
    answer = tmp_path / 'answer'
    subprocess.run(
        [sys.executable, '-m', 'liedyn_ros'], check=True, timeout=600,
        env={**os.environ, '_ARGCOMPLETE': '1', 'COMP_LINE': line, 'COMP_POINT': str(len(line)),
             '_ARGCOMPLETE_STDOUT_FILENAME': str(answer), '_ARGCOMPLETE_IFS': '\n'})
    words = {each.strip() for each in answer.read_text().split('\n')}
    assert expected <= words
    assert not others & words
