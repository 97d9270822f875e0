# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The commands liedyn platform workspace and path: output, pictures, refusals."""

import itertools
import re

import numpy as np
import pytest
from scipy.linalg import expm, logm
import yaml

from liedyn_ros.commands.inputs import pose_of
from liedyn_ros.commands.stewart import path
from liedyn_ros.commands.stewart.drawings import workspace
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, load_geometry, PathProver

POSES = [(0.0, 0.0, 0.5, 0.0, 0.0, 0.0), (0.05, 0.02, 0.48, 5.0, -8.0, 12.0),
         (-0.04, 0.06, 0.53, -7.0, 4.0, -15.0)]


@pytest.mark.full
def test_the_command_writes_a_picture_of_each_orientation(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for pitch in ('10', '-7.5'):
        assert workspace.main(
            ['--steps', '9', '--pitch', pitch, '--folder', 'made/here']) == 0
        path = tmp_path / f'made/here/stewart_geometry_roll_0_pitch_{pitch}_yaw_0.png'
        assert path.stat().st_size > 10_000
    out = capsys.readouterr().out
    assert 'joined to home' in out and '\r' not in out  # which would fill a log
    assert workspace.main(['--geometry', 'nowhere.yaml']) == 2
    assert 'nowhere.yaml' in capsys.readouterr().err


@pytest.mark.full
def test_a_platform_that_hangs_has_the_map_of_the_one_that_stands(tmp_path, capsys):
    text = config_file('stewart_geometry.yaml').read_text()
    data, volumes = yaml.safe_load(text), []
    for turned in (False, True):
        for leg in data['legs'].values() if turned else ():
            for key in ('base', 'platform'):  # half a turn about x
                leg[key] = [leg[key][0], -leg[key][1], -leg[key][2]]
        data.pop('masses', None)
        geometry = tmp_path / 'hanging.yaml'
        geometry.write_text(yaml.safe_dump(data))
        options = f'--home 0 0 {-0.5 if turned else 0.5} --steps 9 --format ' + (
            'svg' if turned else 'pdf')  # which is drawn anyway
        assert workspace.main(['--geometry', str(geometry), '--folder', str(tmp_path),
                               *options.split()]) == 0
        volumes.append(re.findall(r'  ([0-9.]+)  ', capsys.readouterr().out))
    assert len(volumes[0]) == 2 and volumes[0] == volumes[1]
    assert '<svg' in (tmp_path / 'hanging_roll_0_pitch_0_yaw_0.svg').read_text()


def test_a_home_out_of_reach_is_said_in_a_few_words(tmp_path, capsys):
    geometry = config_file('stewart_servos.yaml')
    assert workspace.main(['--geometry', str(geometry), '--folder', str(tmp_path), '--steps', '5',
                           '--home', '0', '0', '0.3']) == 2
    said = capsys.readouterr().err
    assert 'not every rod reaches' in said and 'nan' not in said and ';' not in said


@pytest.mark.parametrize(('options', 'message'), [
    ('--home 0 0 9', '--home: expected a position that keeps all limits .*travel of leg_1'),
    ('--home 0 0 0', '--home: expected .*travel of leg_1'),
    ('--home 0 0 nan', r'--home\[2\]: expected a finite number'),
    ('--yaw 90', '--home: expected .*: smallest singular value'),
    ('--threshold nan', '--threshold: expected a finite number'),
    ('--threshold -1', 'threshold: expected 0 or more, got -1'),
    ('--steps 2', '--steps: expected 3 or more')])
def test_the_command_refuses_nonsense(options, message, capsys, tmp_path):
    assert workspace.main(['--folder', str(tmp_path), *options.split()]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_full_disk_names_the_file(capsys, tmp_path):
    picture = tmp_path / 'stewart_geometry_roll_0_pitch_0_yaw_0.png'
    picture.symlink_to('/dev/full')
    assert workspace.main(['--folder', str(tmp_path), '--steps', '5']) == 2
    assert f"not written: '{picture}'" in capsys.readouterr().err


def test_a_path_is_proved_or_the_piece_is_named(tmp_path, capsys):
    file = tmp_path / 'path.txt'
    np.savetxt(file, POSES)
    assert path.main([str(file)]) == 0
    printed = capsys.readouterr().out
    assert 'proved: no singularity' in printed and 'geometry: ' in printed
    np.savetxt(file, np.array(POSES) * ([1e3] * 3 + [1.0] * 3))
    assert path.main([str(file)]) == 1 and 'in mm: write m' in capsys.readouterr().out
    np.savetxt(file, [*POSES, (0.0, 0.0, 0.5, 0.0, 0.0, 120.0)])
    assert path.main([str(file), '--tube-radius', '1e-3', '--tube-angle', '0.1']) == 1
    assert 'not proved from 3.' in capsys.readouterr().out
    assert path.main([str(tmp_path / 'none.txt')]) == 2
    assert 'expected a readable text file' in capsys.readouterr().err


def test_the_sampled_singular_value_is_that_of_differences_along_the_screws():
    geometry, step = load_geometry(config_file('stewart_geometry.yaml')), 1e-4
    poses = np.array([pose_of(row) for row in POSES])
    size, centre = geometry.characteristic_length, np.eye(4)
    centre[:3, 3] = geometry.platform_joints.mean(axis=0)

    def value(pose):
        turns = [centre @ expm(se3.hat(row)) @ np.linalg.inv(centre)
                 for row in np.diag([step] * 3 + [step * size] * 3)]
        return np.linalg.svd([leg_lengths(geometry, pose @ turn) - leg_lengths(
            geometry, pose @ np.linalg.inv(turn)) for turn in turns], compute_uv=False)[-1]
    least = min(value(begin @ expm(s * logm(np.linalg.inv(begin) @ end).real))
                for begin, end in itertools.pairwise(poses) for s in np.linspace(0.0, 1.0, 50))
    prover = PathProver(geometry)
    assert abs(path.least_of(prover, poses) - least / (2.0 * step * size)) < 1e-6
    assert path.least_of(prover, poses) > prover.prove(poses).smallest_singular_value > 0.0


def test_speeds_and_forces_are_proved_or_their_leg_is_named(tmp_path, capsys):
    file = tmp_path / 'path.txt'
    np.savetxt(file, POSES)
    load = ['--force-limit', '150', '--force', '0', '0', '-200', '--point', '0', '0', '0.05']
    assert path.main([str(file), '--speed-limit', '0.2', '--duration', '2', *load]) == 0
    printed = capsys.readouterr().out
    assert 'greatest speed, upper bounds: leg_1' in printed and 'greatest force' in printed
    assert path.main([str(file), '--speed-limit', '0.2', '--duration', '0.1']) == 1
    assert 'the speed of leg_' in capsys.readouterr().out
    assert path.main([str(file), '--force-limit', '20', '--further-force', '100']) == 1
    assert 'the force of leg_' in capsys.readouterr().out
    assert path.main([str(file), '--speed-limit', '0.2', '--duration', '-1']) == 2
    assert 'durations: expected' in capsys.readouterr().err


@pytest.mark.parametrize(('given', 'missing'), [
    (['--force', '0', '0', '-90000'], '--force-limit'),
    (['--point', '0', '0', '1'], '--force-limit'),
    (['--further-force', '1'], '--force-limit'), (['--further-moment', '1'], '--force-limit'),
    (['--duration', '1e-6'], '--speed-limit')])
def test_a_load_without_a_limit_is_refused(tmp_path, capsys, given, missing):
    np.savetxt(tmp_path / 'path.txt', POSES)
    assert path.main([str(tmp_path / 'path.txt'), *given]) == 2
    assert f'{missing}: expected one with ' in capsys.readouterr().err
