# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The help of commands and studies, and how they refuse options."""

import pytest

from liedyn_ros.commands import outputs
from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.identification import excite, identify, payload
from liedyn_ros.commands.operation import doctor, security_policy
from liedyn_ros.commands.retiming import retime
from liedyn_ros.commands.stewart import calibrate, check, path
from liedyn_ros.commands.stewart.drawings import assembly_modes, workspace
from liedyn_ros.studies.stewart_pose import study as stewart
from liedyn_ros.studies.time_derivatives import study as higher_order

WRITERS = {
    'platform modes': assembly_modes, 'platform calibrate': calibrate, 'excite': excite,
    'reproduce higher-order': higher_order, 'reproduce stewart': stewart,
    'retime': retime, 'platform workspace': workspace}
COMMANDS = {**WRITERS, 'doctor': doctor, 'identify': identify, 'payload': payload,
            'bag process': process_bag, 'policy': security_policy,
            'platform check': check, 'platform path': path}

BLOCKED = {
    'file': 'expected a folder, got', 'file/folder': 'expected a folder, got',
    'locked': 'expected a path that can be written, got'}


def required(command):
    """Return arguments that a command cannot do without."""
    if command is retime:
        return ['robot.urdf', 'waypoints.csv']
    if command is calibrate:
        return ['geometry.yaml', 'samples.csv']
    if command is payload:
        return ['arm.urdf', 'bag', '--body', 'hand']
    if command is excite:
        return ['arm.urdf']
    if command is identify:
        return ['arm.urdf', 'bag']
    return ['file.txt'] if command in (
        check, path, process_bag, security_policy) else []


@pytest.mark.parametrize(('name', 'command'), COMMANDS.items(), ids=COMMANDS)
def test_help_and_unknown_options(name, command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a default folder is made
    with pytest.raises(SystemExit, match=r'^0$'):
        command.main(['--help'])
    assert capsys.readouterr().out.startswith(f'usage: liedyn {name} ')
    with pytest.raises(SystemExit, match=r'^2$'):
        command.main([*required(command), '--no-such-option'])
    assert 'unrecognized arguments: --no-such-option' in capsys.readouterr().err


@pytest.mark.parametrize(('name', 'message'), BLOCKED.items(), ids=BLOCKED)
@pytest.mark.parametrize('command', WRITERS.values(), ids=WRITERS)
def test_where_nothing_can_be_written_no_work_is_done(command, name, message, tmp_path,
                                                      capsys, monkeypatch):
    (tmp_path / 'file').touch()
    (tmp_path / 'locked').mkdir()
    monkeypatch.setattr(outputs.os, 'access', lambda path, _: path.name != 'locked')
    target = str(tmp_path / name)
    arguments = (['--picture', f'{target}/modes.png'] if command is assembly_modes
                 else [*required(command), '--folder', target])
    with pytest.raises(SystemExit, match=r'^2$'):
        command.main(arguments)
    shown = capsys.readouterr()
    assert shown.out == ''
    assert f'error: argument {arguments[-2]}: {message}' in shown.err


@pytest.mark.parametrize('name', ['modes', 'modes.foo', 'folder.png'])
def test_a_picture_of_no_format_is_refused(name, tmp_path, capsys):
    (tmp_path / 'folder.png').mkdir()
    with pytest.raises(SystemExit, match=r'^2$'):
        assembly_modes.main(['--picture', str(tmp_path / name)])
    assert 'expected a file .png or .pdf or .svg, got' in capsys.readouterr().err
