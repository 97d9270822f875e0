# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The help of the studies' commands, and how they refuse options."""

import pytest

from liedyn_ros.studies import assembly_modes, outputs, stewart_workspace
from liedyn_ros.studies.actuator_lag import study as actuator_lag
from liedyn_ros.studies.stewart_pose import study as stewart
from liedyn_ros.studies.time_derivatives import study as higher_order

COMMANDS = {
    'actuator_lag': actuator_lag, 'assembly_modes': assembly_modes,
    'reproduce_higher_order': higher_order, 'reproduce_stewart': stewart,
    'stewart_workspace': stewart_workspace}


BLOCKED = {
    'file': 'expected a folder, got', 'file/folder': 'expected a folder, got',
    'locked': 'expected a path that can be written, got'}


@pytest.mark.parametrize(('name', 'study'), COMMANDS.items(), ids=COMMANDS)
def test_help_and_unknown_options(name, study, capsys):
    with pytest.raises(SystemExit, match=r'^0$'):
        study.main(['--help'])
    assert capsys.readouterr().out.startswith(f'usage: {name} ')
    with pytest.raises(SystemExit, match=r'^2$'):
        study.main(['--no-such-option'])
    assert 'unrecognized arguments: --no-such-option' in capsys.readouterr().err


@pytest.mark.parametrize(('path', 'message'), BLOCKED.items(), ids=BLOCKED)
@pytest.mark.parametrize('study', COMMANDS.values(), ids=COMMANDS)
def test_where_nothing_can_be_written_no_work_is_done(study, path, message, tmp_path, capsys,
                                                      monkeypatch):
    (tmp_path / 'file').touch()
    (tmp_path / 'locked').mkdir()
    monkeypatch.setattr(outputs.os, 'access', lambda path, _: path.name != 'locked')
    target = str(tmp_path / path)
    arguments = (['--picture', f'{target}/modes.png'] if study is assembly_modes
                 else ['--folder', target])
    with pytest.raises(SystemExit, match=r'^2$'):
        study.main(arguments)
    shown = capsys.readouterr()
    assert shown.out == ''
    assert f'error: argument {arguments[0]}: {message}' in shown.err


@pytest.mark.parametrize('name', ['modes', 'modes.foo', 'folder.png'])
def test_a_picture_of_no_format_is_refused(name, tmp_path, capsys):
    (tmp_path / 'folder.png').mkdir()
    with pytest.raises(SystemExit, match=r'^2$'):
        assembly_modes.main(['--picture', str(tmp_path / name)])
    assert 'expected a file .png or .pdf or .svg, got' in capsys.readouterr().err
