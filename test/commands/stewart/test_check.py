# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command liedyn platform check: its output and exit codes."""

import math

import numpy as np
import pytest

from liedyn_ros.commands.inputs import pose_of
from liedyn_ros.commands.stewart import check
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import leg_lengths, load_geometry

POSES = [(0.0, 0.0, 0.5, 0.0, 0.0, 0.0), (0.05, 0.02, 0.48, 5.0, -8.0, 12.0),
         (-0.04, 0.06, 0.53, -7.0, 4.0, -15.0)]


def samples(change=lambda lengths: lengths):
    """Return a file's text of poses and their readings."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    lines = ['# x y z roll pitch yaw, readings']
    for pose in POSES:
        lengths = change(leg_lengths(geometry, pose_of(pose)))
        lines.append(' '.join(f'{value:.7f}' for value in (*pose, *lengths)))
    return '\n'.join(lines)


def test_right_readings_end_with_0(tmp_path, capsys):
    path = tmp_path / 'samples.txt'
    path.write_text(samples())
    assert check.main([str(path)]) == 0
    out = capsys.readouterr().out
    assert 'nothing is wrong with these readings' in out
    assert out.startswith(f'geometry: {config_file("stewart_geometry.yaml")}\n')


def test_the_report_begins_with_the_geometry(tmp_path, capsys):
    path, geometry = tmp_path / 'samples.txt', tmp_path / 'my.yaml'
    path.write_text(samples())
    geometry.write_text(config_file('stewart_geometry.yaml').read_text())
    assert check.main([str(path), '--geometry', str(geometry)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f'geometry: {geometry}'


def test_faults_are_printed_with_the_parameters_that_undo_them(tmp_path, capsys):
    path = tmp_path / 'samples.txt'
    path.write_text(samples(lambda lengths: 1e3 * lengths[[1, 0, 2, 3, 4, 5]]))
    assert check.main([str(path)]) == 1
    out = capsys.readouterr().out
    assert 'the readings are in millimetres' in out and 'leg_1 reads as leg_2' in out
    assert 'actuator_scale: [0.001, 0.001,' in out
    assert 'actuator_names: [leg_2, leg_1, leg_3, leg_4, leg_5, leg_6]' in out


@pytest.mark.parametrize('geometry, home', [
    ('stewart_geometry', (0.0, 0.0, 0.5)), ('stewart_servos', None)])
@pytest.mark.parametrize('factors, unit', [([1e3] * 3 + [1.0] * 3, 'positions in mm'), (
    [1.0] * 3 + [math.pi / 180.0] * 3, 'angles in rad')])
def test_poses_in_another_unit_are_named(geometry, home, factors, unit, tmp_path, capsys):
    machine = load_geometry(config_file(f'{geometry}.yaml'))
    path, middle = tmp_path / 'samples.txt', machine.home[:3, 3] if home is None else home
    shift = np.array([0.01, -0.005, 0.005])
    poses = [(*middle, 0.0, 0.0, 0.0), (*middle + shift, 4.0, -5.0, 3.0),
             (*middle - shift, -5.0, 4.0, -2.0)]
    np.savetxt(path, [[*np.multiply(pose, factors), *leg_lengths(machine, pose_of(pose))]
                      for pose in poses])
    assert check.main([str(path), '--geometry', str(config_file(f'{geometry}.yaml'))]) == 2
    assert unit in capsys.readouterr().err


def test_yaw_pitch_roll_are_told_from_roll_pitch_yaw(tmp_path, capsys):
    path = tmp_path / 'samples.txt'
    path.write_text(samples())
    np.savetxt(path, np.loadtxt(path)[:, [0, 1, 2, 5, 4, 3, *range(6, 12)]])
    assert check.main([str(path)]) == 2
    assert 'in the order yaw, pitch, roll (write roll, pitch, yaw)' in capsys.readouterr().err


def test_few_poses_give_no_parameters_and_say_what_they_do_not_tell(tmp_path, capsys):
    path, lines = tmp_path / 'samples.txt', samples(lambda lengths: -lengths).splitlines()
    path.write_text('\n'.join(lines[:3]))
    assert check.main([str(path)]) == 1
    out = capsys.readouterr().out
    assert 'runs backwards' in out or 'run backwards' in out
    assert 'actuator_names' not in out and '3 poses or more' in out
    servos = load_geometry(config_file('stewart_servos.yaml'))
    np.savetxt(path, [[*servos.home[:3, 3], 0.0, 0.0, 0.0, *leg_lengths(servos, servos.home)]])
    assert check.main([str(path), '--geometry', str(config_file('stewart_servos.yaml'))]) == 0
    out = capsys.readouterr().out
    assert 'these poses do not tell all' in out.splitlines()[2] and 'no units' in out


def test_the_verdict_stands_before_the_table_whose_units_are_true(tmp_path, capsys):
    path = tmp_path / 'samples.txt'
    path.write_text(samples(lambda lengths: 1e3 * lengths))
    assert check.main([str(path)]) == 1
    out = capsys.readouterr().out
    assert out.index('in millimetres') < out.index('actuator_scale:') < out.index('expected')
    rows = [line for line in out.splitlines() if 'leg_1' in line and line.split()[0].isdecimal()]
    assert len(rows) == 3 and all('in another unit' in row for row in rows)


@pytest.mark.parametrize(('text', 'message'), [
    ('', 'expected a row'), ('1 2 3', ':1: expected 12 numbers, got 3'),
    ('# x\n1 2 x', ':2: expected numbers'), (' '.join(['nan'] * 12), 'finite')])
def test_bad_samples_end_with_2(tmp_path, capsys, text, message):
    path = tmp_path / 'samples.txt'
    path.write_text(text)
    assert check.main([str(path)]) == 2
    assert message in capsys.readouterr().err
