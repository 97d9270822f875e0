# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command retime: its files, its picture and its errors."""

import csv
from pathlib import Path

import numpy as np
import pytest
from support.comparison import assert_same
import yaml

import liedyn_ros as ld
from liedyn_ros.commands.retiming import retime as command
from liedyn_ros.commands.retiming.drawings import picture
from liedyn_ros.common.resources import config_file
from liedyn_ros.retiming import (
    ClosureLimits, FrameLimits, LoopPath, MotionLimits, retime, SplinePath)

ARM = """<robot name="arm"><link name="base"/><link name="upper">
<inertial><origin xyz="0 0 0.2"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="2"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
<origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="8" velocity="2"/></joint></robot>"""
CSV = """# elbow first
elbow, shoulder
0.0, 0.0
0.5, 0.2
0.2, 0.9
"""
LIMITS = """torque: {shoulder: 9.0, elbow: 7.0}
torque_rate: [90.0, .inf]
velocity: 1.5
"""


@pytest.fixture(name='files')
def fixture_files(tmp_path: Path) -> Path:
    (tmp_path / 'arm.urdf').write_text(ARM)
    (tmp_path / 'points.csv').write_text(CSV)
    (tmp_path / 'limits.yaml').write_text(LIMITS)
    return tmp_path


def run(files: Path, model: str | Path = 'arm.urdf', points: str = 'points.csv',
        *options: str) -> int:
    """Run the command; its files are in out."""
    return command.main([str(files / model), str(files / points), '--folder', str(files / 'out'),
                         *options])


def table(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of a CSV file."""
    with path.open(encoding='utf-8') as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, np.array(rows, dtype=float).T))


def test_an_arm_follows_its_waypoints_within_the_limits(files: Path, capsys) -> None:
    assert run(files, 'arm.urdf', 'points.csv', '--limits', str(files / 'limits.yaml')) == 0
    printed = capsys.readouterr().out
    assert 's along the path' in printed
    assert 'trajectory.yaml, retimed.png, retimed.pdf, retimed.csv\n' in printed
    arm = ld.load(ARM)
    path = SplinePath(arm.model, [[0.0, 0.0], [0.2, 0.5], [0.9, 0.2]])
    wanted = retime(arm, path, MotionLimits(
        torque=[9.0, 7.0], torque_rate=[90.0, np.inf], velocity=1.5))
    columns = table(files / 'out/trajectory.csv')
    at = wanted.at(columns['time'])
    for kind, values in (('position', at.q), ('velocity', at.v), ('acceleration', at.a),
                         ('effort', at.torque)):
        assert_same([columns[f'{kind}.{joint}'] for joint in ('shoulder', 'elbow')],
                    values.T, 1e-12)
    assert_same(columns['time'][-1], wanted.duration, 1e-12)
    message = yaml.load((files / 'out/trajectory.yaml').read_text(), Loader=yaml.CSafeLoader)
    assert message['joint_names'] == ['shoulder', 'elbow']
    assert_same([point['effort'] for point in message['points']], at.torque, 1e-12)
    times = [point['time_from_start'] for point in message['points']]
    assert_same([each['sec'] + 1e-9 * each['nanosec'] for each in times], at.t, 1e-9)
    assert (files / 'out/retimed.png').read_bytes().startswith(b'\x89PNG')
    assert (files / 'out/retimed.pdf').read_bytes().startswith(b'%PDF')
    with (files / 'out/retimed.csv').open(encoding='utf-8') as file:
        rows = [row for row in csv.DictReader(file) if row['panel'].startswith('2')]
    at_limits = {row['series']: float(row['x']) for row in rows}  # s at the limit used most
    assert {name.split(', ')[1] for name in at_limits} <= {'shoulder', 'elbow'}
    assert sum(at_limits.values()) == pytest.approx(wanted.duration)


def test_limits_that_stay_and_those_above_the_model_are_told(files: Path, capsys) -> None:
    (files / 'limits.yaml').write_text('torque: {elbow: 7}\nvelocity: {elbow: 180}')
    assert run(files, 'arm.urdf', 'points.csv', '--limits', str(files / 'limits.yaml'),
               '--no-picture', '--intervals', '10') == 0
    printed = capsys.readouterr().out
    assert "velocity 180 of elbow is above the model's 2 rad/s" in printed
    for name in 'torque', 'velocity':
        assert f'{name} of shoulder: the limit of the model holds' in printed


@pytest.mark.parametrize('name', ['elbow', 'elbow_joint_of_the_left_arm'])
def test_names_of_joints_fit_into_the_picture(name: str, monkeypatch, recwarn) -> None:
    figures = []
    arm = ld.load(ARM.replace('shoulder', 's' + name[1:]).replace('elbow', name))
    monkeypatch.setattr(picture, 'save', lambda figure, _: figures.append(figure))
    picture.draw(retime(arm, SplinePath(arm.model, [[0.0, 0.0], [0.9, 0.2]]), intervals=10),
                 Path())
    figures[0].draw_without_rendering()
    assert not [each for each in recwarn if 'layout' in str(each.message)]
    for axes in figures[0].axes:
        box = axes.get_tightbbox()
        assert figures[0].bbox.x0 <= box.x0 and box.x1 <= figures[0].bbox.x1
        assert 4.0 * axes.bbox.width > figures[0].bbox.width


def test_limits_of_frames_and_signs_come_from_the_file(files: Path) -> None:
    (files / 'limits.yaml').write_text(
        'least_torque: {elbow: -5}\ntorque_curves: {elbow: [[0, 20], [1, 20], [2, 5]]}\n'
        'frames: {lower: {velocity: 0.3, point: [0, 0, 0.4]}, upper: {angular_acceleration: 2}}\n')
    assert run(files, 'arm.urdf', 'points.csv', '--limits', str(files / 'limits.yaml'),
               '--no-picture') == 0
    arm = ld.load(ARM)
    wanted = retime(arm, SplinePath(arm.model, [[0.0, 0.0], [0.2, 0.5], [0.9, 0.2]]), MotionLimits(
        least_torque={'elbow': -5.0}, torque_curves={'elbow': [[0, 20], [1, 20], [2, 5]]}, frames=[
            FrameLimits('lower', velocity=0.3, point=[0.0, 0.0, 0.4]),
            FrameLimits('upper', angular_acceleration=2.0)]))
    assert_same(table(files / 'out/trajectory.csv')['time'][-1], wanted.duration, 1e-12)


def test_what_is_written_is_read_again(files: Path) -> None:
    assert run(files, 'arm.urdf', 'points.csv', '--no-picture') == 0
    first = table(files / 'out/trajectory.csv')
    (files / 'again.yaml').write_text((files / 'out/trajectory.yaml').read_text())
    assert run(files, 'arm.urdf', 'again.yaml', '--no-picture', '--blend', '0.01') == 0
    again = table(files / 'out/trajectory.csv')
    assert_same(again['position.elbow'][[0, -1]], first['position.elbow'][[0, -1]], 1e-12, 1.0)
    assert not (files / 'out/retimed.png').exists()


@pytest.mark.full
def test_a_five_bar_is_given_by_its_cranks(files: Path) -> None:
    (files / 'cranks.yaml').write_text(
        'joint_names: [right_crank_joint, left_crank_joint]\n'
        'waypoints: [[2.0, 0.3], [2.4, 0.8], [1.8, 0.6]]\n')
    (files / 'limits.yaml').write_text(
        'torque: {left_crank_joint: 10, right_crank_joint: 10}\n'
        'closures: {tip: {along: [0, 0, 0, 0.6, 0.8, 0], least: -8, most: .inf, rate: 400}}\n')
    assert run(files, config_file('five_bar.yaml'), 'cranks.yaml', '--limits',
               str(files / 'limits.yaml'), '--intervals', '20') == 0
    machine = ld.load(config_file('five_bar.yaml'))
    wanted = retime(machine, LoopPath(machine, [[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]]), MotionLimits(
        torque=10.0, closures=[ClosureLimits(
            'tip', least=-8.0, rate=400.0, along=[0.0, 0.0, 0.0, 0.6, 0.8, 0.0])]), intervals=20)
    assert_same(table(files / 'out/trajectory.csv')['time'][-1], wanted.duration, 1e-12)
    message = yaml.load((files / 'out/trajectory.yaml').read_text(), Loader=yaml.CSafeLoader)
    assert message['joint_names'] == ['left_crank_joint', 'right_crank_joint']
    assert_same(message['points'][-1]['positions'], [0.6, 1.8], 1e-9)
    assert 'position.left_coupler_joint' in table(files / 'out/trajectory.csv')


def test_a_platform_is_given_by_its_poses(files: Path, capsys) -> None:
    (files / 'poses.csv').write_text(
        'x,y,z,roll,pitch,yaw\n0,0,0.5,0,0,0\n0.05,0,0.5,0,5,0\n0,0.05,0.55,5,0,10\n')
    (files / 'limits.yaml').write_text('torque: 1500\nvelocity: {leg1: 0.5}')
    assert run(files, config_file('stewart_geometry.yaml'), 'poses.csv', '--limits',
               str(files / 'limits.yaml'), '--intervals', '10', '--no-picture') == 2
    assert "did you mean 'leg_1'?" in capsys.readouterr().err
    names = [f'leg_{k}' for k in range(1, 7)]
    (files / 'limits.yaml').write_text(f'torque: {dict.fromkeys(names, 1500)}')
    assert run(files, config_file('stewart_geometry.yaml'), 'poses.csv', '--limits',
               str(files / 'limits.yaml'), '--intervals', '10', '--no-picture') == 0
    message = yaml.load((files / 'out/trajectory.yaml').read_text(), Loader=yaml.CSafeLoader)
    assert message['joint_trajectory']['joint_names'] == names
    first = message['multi_dof_joint_trajectory']['points'][0]['transforms'][0]
    assert first['translation'] == {'x': 0.0, 'y': 0.0, 'z': 0.5}


@pytest.mark.parametrize(('changed', 'words'), [
    ({'points.csv': ''}, 'expected a line of names and lines of numbers, got none'),
    ({'points.csv': 'elbow,shoulder\n0,0,0\n'}, "points.csv:2: expected 2 numbers for ['elbow'"),
    ({'points.csv': 'elbow,shoulder\n0,a\n'}, "points.csv:2: expected numbers, got ['0', 'a']"),
    ({'points.csv': 'elbow,shoulder\n0,nan\n'}, 'points.csv:2: expected numbers'),
    ({'points.csv': 'elbow,shoulder\n0,0\n'}, 'waypoints: expected at least 2, got 1'),
    ({'points.csv': 'elbow,shoulder\n0,0\n1,1\n1,1\n'}, 'got 1 and 2 equal'),
    ({'points.csv': 'elbow\n0\n1\n'}, "expected every joint of the model, got none for ['sh"),
    ({'points.csv': 'elbow,tail\n0,0\n1,1\n'}, "got 'tail'"),
    ({'limits.yaml': 'torqe: 3'}, "limits.yaml: expected keys of ['acceleration'"),
    ({'limits.yaml': 'torque: {tail: 3}'}, "got 'tail'"),
    ({'limits.yaml': 'torque: 0'}, 'torque: expected a limit above 0, got 0.0 for shoulder'),
    ({'limits.yaml': 'torque: .nan'}, 'limits.yaml/torque: expected a number'),
    ({'limits.yaml': 'torque: [1, 2, 3]'}, 'torque: expected a number, shape (2,)'),
    ({'limits.yaml': 'torque: 0.5'}, 'torque: expected less than 0.5 to hold shoulder still'),
    ({'arm.urdf': '<robot'}, 'arm.urdf'),
])
def test_wrong_files_are_named(files: Path, changed: dict[str, str], words: str,
                               capsys) -> None:
    for name, text in changed.items():
        (files / name).write_text(text)
    assert run(files, 'arm.urdf', 'points.csv', '--no-picture', '--limits',
               str(files / 'limits.yaml')) == 2
    error = capsys.readouterr().err
    assert error.startswith('liedyn retime: ')
    assert words in error


@pytest.mark.parametrize(('rows', 'words'), [
    ('0,0\n3.2,1\n', 'expected elbow within -3 to 3, the limits of the model, got 3.2'),
    ('0,0\n90,4\n', 'elbow: expected rad within -3 to 3, got 0 to 90, which are degrees')])
def test_waypoints_beyond_limits_are_refused_unless_taken(files: Path, rows: str, words: str,
                                                          capsys) -> None:
    (files / 'points.csv').write_text('elbow,shoulder\n' + rows)
    (files / 'limits.yaml').write_text('torque: 1000')
    options = '--no-picture', '--intervals', '10', '--limits', str(files / 'limits.yaml')
    assert run(files, 'arm.urdf', 'points.csv', *options) == 2
    assert words in capsys.readouterr().err
    assert run(files, 'arm.urdf', 'points.csv', *options, '--beyond-limits') == 0
    assert 'the path takes elbow to' in capsys.readouterr().out


def test_waypoints_at_a_limit_that_the_file_rounds_are_taken(files: Path, capsys) -> None:
    """As pi beside 3.14159: 3.14159 was expected within -3.14159 to 3.14159."""
    (files / 'points.csv').write_text('elbow,shoulder\n0,0\n3.000003,0.1\n')
    assert run(files, 'arm.urdf', 'points.csv', '--no-picture', '--intervals', '10') == 0
    assert 'the path takes' not in capsys.readouterr().out


def test_a_curve_beyond_limits_between_waypoints_is_told(files: Path, capsys) -> None:
    (files / 'points.csv').write_text('elbow,shoulder\n0,0\n2.99,0.1\n2.99,1.5\n0,1.6\n')
    for options, told in ((['--blend', '0.01'], False), ([], True)):
        assert run(files, 'arm.urdf', 'points.csv', '--no-picture', '--intervals', '10',
                   *options) == 0
        assert ('the path takes elbow to 3' in capsys.readouterr().out) == told


def test_a_joint_that_stands_still_is_held(files: Path, capsys) -> None:
    (files / 'points.csv').write_text('shoulder\n0\n1\n')
    options = '--no-picture', '--intervals', '10', '--hold', 'elbow=0.3'
    assert run(files, 'arm.urdf', 'points.csv', *options[:-1], 'elbow=3.0') == 0  # on its limit
    assert 'the path takes' not in capsys.readouterr().out
    assert run(files, 'arm.urdf', 'points.csv', *options) == 0
    at = table(files / 'out/trajectory.csv')
    assert_same(at['position.elbow'], np.full_like(at['time'], 0.3), 1e-12)
    assert_same(at['position.shoulder'][-1], 1.0, 1e-12)
    assert run(files, 'arm.urdf', 'points.csv', *options[:-2]) == 2
    assert '--hold elbow=0.0' in capsys.readouterr().err
    (files / 'points.csv').write_text('shoulder,elbow\n0,0\n1,1\n')
    assert run(files, 'arm.urdf', 'points.csv', *options) == 2
    assert '--hold elbow: expected a joint that' in capsys.readouterr().err


def test_the_finger_that_a_hand_lacks_is_named(files: Path, capsys) -> None:
    finger = ARM.replace('</robot>', """<link name="left"/><link name="right"/>
<joint name="finger" type="prismatic"><parent link="lower"/><child link="left"/>
<axis xyz="1 0 0"/><limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint>
<joint name="other" type="prismatic"><parent link="lower"/><child link="right"/>
<axis xyz="-1 0 0"/><mimic joint="finger"/>
<limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint></robot>""")
    for name in 'left', 'right':
        finger = finger.replace(f'<link name="{name}"/>', f"""<link name="{name}"><inertial>
<mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
</link>""")
    (files / 'arm.urdf').write_text(finger)
    assert run(files, 'arm.urdf', 'points.csv', '--no-picture', '--intervals', '10') == 2
    assert "none for ['finger']: add a column" in capsys.readouterr().err
    assert run(files, 'arm.urdf', 'points.csv', '--no-picture', '--intervals', '10',
               '--hold', 'finger=0.02') == 0


def test_a_file_that_is_missing_is_named(files: Path, capsys) -> None:
    assert run(files, 'arm.urdf', 'none.csv', '--no-picture') == 2
    assert 'none.csv: expected a CSV file, got expected a readable file' in capsys.readouterr().err


@pytest.mark.parametrize(('options', 'words'), [
    (['--step', '0'], '--step: expected'), (['--step', '1e-9'], '--step: expected'),
    (['--blend', '-1'], 'blend: expected a number above 0'),
    (['--intervals', '3'], 'intervals: expected an integer of 10 or more')])
def test_wrong_options_are_named(files: Path, options: list[str], words: str, capsys) -> None:
    assert run(files, 'arm.urdf', 'points.csv', '--no-picture', *options) == 2
    assert words in capsys.readouterr().err
