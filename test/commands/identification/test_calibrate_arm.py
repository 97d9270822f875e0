# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""calibrate_arm: a URDF and a table in, a better URDF and a report out."""

import csv
import re

import numpy as np
import pytest
from support.earlier_results import earlier_results, require_set_aside
from support.recordings.recorded_motion import JOINTS, true_arm

from liedyn_ros.commands.identification import calibrate_arm as command
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.lie import se3, SO3
from liedyn_ros.model import load_model, to_urdf, with_placements


@pytest.fixture
def measured(tmp_path):
    """Return the files of a wrong URDF and of a table, and the arm as it is."""
    rng = np.random.default_rng(1)
    true = with_placements(true_arm(), {
        name: true_arm().joint(name).placement @ se3.exp(
            np.array([2e-3] * 3 + [1e-3] * 3) * rng.normal(size=6)) for name in JOINTS})
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()).replace(
        '<link name="fore">', '<link name="fore"><!-- the workshop built it -->'))
    q = rng.uniform(-1.5, 1.5, (40, 3))
    with (tmp_path / 'samples.csv').open('w', newline='') as stream:
        rows = csv.writer(stream)
        rows.writerow([*(f'{name} [deg]' for name in JOINTS), 'x [mm]', 'y [mm]', 'z [mm]',
                       'roll', 'pitch', 'yaw'])
        for each in q:
            pose = Dynamics(true).kinematics(each).poses[-1]
            rows.writerow([*np.degrees(each), *(1e3 * pose[:3, 3] + 0.01 * rng.normal(size=3)),
                           *SO3(pose[:3, :3]).rpy])
    return tmp_path / 'arm.urdf', tmp_path / 'samples.csv', true


def test_a_better_urdf_and_a_report(measured, tmp_path, capsys):
    urdf, table, true = measured
    out = tmp_path / 'out'
    frames = ['--instrument', *'000000', '--target', *'000000']
    assert command.main([str(urdf), str(table), '--body', 'fore', '--folder', str(out),
                         *frames]) == 0
    said = capsys.readouterr().out
    assert 'is offered' in said and 'position, mm' in said
    text = (out / 'arm_calibrated.urdf').read_text()
    assert 'the workshop built it' in text and 'offset' in (out / 'report.html').read_text()
    better, q = load_model(out / 'arm_calibrated.urdf'), np.array([0.3, -0.5, 0.8])
    places = [Dynamics(each).kinematics(q).poses[-1][:3, 3] for each in (
        true, better, load_model(urdf))]
    assert np.linalg.norm(places[1] - places[0]) < 3e-5
    assert np.linalg.norm(places[2] - places[0]) > 5e-4
    assert 'arm_calibrated.urdf' in (out / 'dynamics_server.yaml').read_text()


def test_a_machine_with_loops(tmp_path, capsys):
    """Its cranks are read, its file of YAML has new frames of the closure."""
    rng, at = np.random.default_rng(2), np.array([2.0, -1.4, 1.2, 1.4])
    tip = se3.exp([0.0, 0.0, 0.0, 0.4, 0.0, 0.0])
    source, table = tmp_path / 'five_bar.yaml', tmp_path / 'samples.csv'
    source.write_text(config_file('five_bar.yaml').read_text())
    drawn = load_model(source)
    true = with_placements(drawn, {'right_crank_joint': se3.exp([0.0, 2e-3, 0.0, 0.251, 0, 0])})
    closed, lines = ConstrainedDynamics(true), ['left_crank_joint,right_crank_joint,x,y,z']
    for read in np.array([2.0, 1.2]) + rng.uniform(-0.3, 0.3, (20, 2)):
        at = assemble(closed, at, held={'left_crank_joint': read[0], 'right_crank_joint': read[1]})
        place = (closed.frames.pose(at, 'left_coupler') @ tip)[:3, 3]
        lines.append(','.join(map(repr, [*read.tolist(), *(
            place + 1e-5 * rng.normal(size=3)).tolist()])))
    table.write_text('\n'.join(lines))
    assert command.main([
        str(source), str(table), '--body', 'left_coupler', '--folder', str(tmp_path / 'out'),
        '--instrument', *'000000', '--target', '0.4', *'00000', '--start', 'left_crank_joint=2',
        '--start', 'left_coupler_joint=-1.4', '--start', 'right_crank_joint=1.2', '--start',
        'right_coupler_joint=1.4']) == 0
    assert 'is offered' in capsys.readouterr().out
    better = ConstrainedDynamics(load_model(tmp_path / 'out' / 'five_bar_calibrated.yaml'))
    held = {'left_crank_joint': 1.9, 'right_crank_joint': 1.3}
    places = [(machine.frames.pose(assemble(machine, at, held=held), 'left_coupler') @ tip)[:3, 3]
              for machine in (closed, better)]
    assert np.linalg.norm(places[0] - places[1]) < 5e-5


def test_a_model_that_is_not_offered_leaves_none_of_an_earlier_run(measured, tmp_path, capsys):
    """The table is of an arm that is as its file says."""
    urdf, table, true = measured
    urdf.write_text(to_urdf(true))
    older = earlier_results(tmp_path / 'out', 'arm_calibrated.urdf', 'dynamics_server.yaml')
    assert command.main([str(urdf), str(table), '--body', 'fore', '--folder',
                         str(tmp_path / 'out')]) == 1
    require_set_aside(older, capsys.readouterr().out)


def test_a_coupling_of_the_controller_is_named_and_taken(measured, tmp_path, capsys):
    urdf, table, _ = measured
    head, *lines = table.read_text().splitlines()
    rows = np.array([line.split(',') for line in lines], dtype=float)
    rows[:, 2] += rows[:, 1]  # the elbow counts from the horizon
    np.savetxt(table, rows, delimiter=',', comments='', header=head)
    given = [str(urdf), str(table), '--body', 'fore', '--folder', str(tmp_path / 'out')]
    assert command.main(given) in (1, 2)
    shown = capsys.readouterr()
    option = re.search(r'--reads [^ )]+', shown.out + shown.err).group()
    assert option == '--reads elbow=elbow-shoulder'
    assert command.main([*given, *option.split()]) == 0
    assert command.main([*given, '--reads', 'elbow=elbow*shoulder']) == 2
    assert 'expected a sum of joints' in capsys.readouterr().err


def test_poses_that_are_left_out_keep_their_numbers_in_the_table(measured, tmp_path, capsys):
    """The numbers of a second run were other ones, and its advice forgot the first poses."""
    urdf, table, _ = measured
    head, *lines = table.read_text().splitlines()
    rows = np.array([line.split(',') for line in lines], dtype=float)
    rows[[7, 19], 3] += 20.0
    np.savetxt(table, rows, delimiter=',', comments='', header=head)
    given = [str(urdf), str(table), '--body', 'fore', '--folder', str(tmp_path / 'out')]
    for known in ([], ['--leave-out', '8']):
        assert command.main([*given, *known]) == 1
        advice = re.search(r'--leave-out [\d ]+', capsys.readouterr().out).group().split()
        assert {'8', '20'} <= {*advice}  # and maybe a pose that noise puts apart
    assert command.main([*given, *advice]) == 0
    for wrong in ('0', '41'):
        assert command.main([*given, '--leave-out', wrong]) == 2


@pytest.mark.parametrize('joint, degrees', [(1, 10.0), (2, -37.5), (0, 100.3), (1, -161.0)])
def test_a_joint_that_counts_from_any_other_angle_is_named(
        joint, degrees, measured, tmp_path, capsys):
    urdf, table, _ = measured
    head, *lines = table.read_text().splitlines()
    rows = np.array([line.split(',') for line in lines], dtype=float)
    rows[:, joint] -= degrees
    np.savetxt(table, rows, delimiter=',', comments='', header=head)
    given = [str(urdf), str(table), '--body', 'fore', '--folder', str(tmp_path / 'out'),
             '--instrument', *'000000', '--target', *'000000']
    if command.main(given):  # a few degrees are found by the calibration itself
        shown = capsys.readouterr()
        option = re.search(r'--reads [^ )]+', shown.out + shown.err).group()
        found = float(re.search(r'([+-][0-9.]+)deg', option).group(1))
        assert abs(found - degrees) < 0.5 and option.startswith(f'--reads {JOINTS[joint]}=')
        assert command.main([*given, *option.split()]) == 0
    after = re.search(r'position, mm +\S+ +(\S+)', capsys.readouterr().out).group(1)
    assert float(after) < 0.03


def test_errors_are_named(measured, tmp_path, capsys):
    urdf, table, _ = measured
    given = [str(urdf), str(table), '--folder', str(tmp_path / 'out')]
    assert command.main([*given, '--body', 'hand']) == 2
    assert "'fore'" in capsys.readouterr().err
    assert command.main([*given, '--body', 'fore', '--joints', 'wrist']) == 2
    assert 'wrist' in capsys.readouterr().err
    for one, other in (('position', 'rotation'), ('rotation', 'position')):
        assert command.main([*given, '--body', 'fore', f'--{one}-noise', '1e-5']) == 2
        assert f'--{other}-noise: expected with the noise' in capsys.readouterr().err


def changed(row, column, change):
    """Return what changes a number of a table's row, or of all rows where it is None."""
    def change_rows(rows):
        for k in range(len(rows)) if row is None else [row]:
            rows[k][column] = change(rows[k][column])
        return rows
    return change_rows


FAULTS = {
    'NaN': (changed(3, 0, lambda x: np.nan), 0, '1 of 40 samples left out, NaN or infinite: 4'),
    'a wild pose': (changed(4, 5, lambda x: 1e6), 1, '1 poses left out.*: 5; they are .*'),
    'metres for mm': (changed(None, slice(3, 6), lambda x: 1e-3 * x), 2, 'Check units'),
    'degrees twice': (changed(None, 1, np.degrees), 2, 'degrees?'),
    'twice': (lambda rows: np.vstack([rows, rows[:2]]), 2, 'each once, got the same.*1, 41'),
    'none': (lambda rows: rows[:0], 2, 'expected samples, got none')}


@pytest.mark.parametrize('fault', FAULTS)
def test_damaged_tables(fault, measured, tmp_path, capsys):
    """An error, or a result that says what it is without."""
    urdf, table, _ = measured
    change, status, text = FAULTS[fault]
    head, *lines = table.read_text().splitlines()
    rows = change(np.array([line.split(',')[:6] for line in lines], dtype=float))
    np.savetxt(table, rows, delimiter=',', comments='', header=','.join(head.split(',')[:6]))
    assert command.main([str(urdf), str(table), '--body', 'fore', '--folder', str(tmp_path / 'o'),
                         '--offsets']) == status
    said = capsys.readouterr()
    assert re.search(text, said.out + said.err), said
