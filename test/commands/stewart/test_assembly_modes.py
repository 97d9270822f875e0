# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command that shows assembly modes: its table, picture, exit code and refusals."""

from matplotlib.figure import Figure
import numpy as np
import pytest
from transforms3d.axangles import axangle2mat

from liedyn_ros.commands.inputs import pose_of
from liedyn_ros.commands.stewart.drawings import assembly_modes
from liedyn_ros.common.resources import config_file
from liedyn_ros.pictures import draw_platform
from liedyn_ros.pictures.platform import towards_viewer
from liedyn_ros.stewart import leg_lengths, load_geometry


@pytest.mark.full
def test_the_papers_modes_are_shown_and_drawn(capsys, tmp_path):
    picture = tmp_path / 'made' / 'modes.png'
    assert assembly_modes.main(['--picture', str(picture)]) == 0
    shown = capsys.readouterr().out
    assert '4 poses; 28 complex solutions' in shown
    assert '89.28     -67.82  -142.00' in shown  # q_S2 of the paper
    assert shown.count('above') == shown.count('below') == 2
    assert picture.stat().st_size > 10_000


@pytest.mark.full
def test_modes_of_cranks_tell_which_are_of_this_machine(capsys, tmp_path):
    picture = tmp_path / 'modes.pdf'
    pose = '0 0 0.24 3 2 5'.split()
    assert assembly_modes.main(['--picture', str(picture), '--pose', *pose, '--geometry', str(
        config_file('stewart_cranks.yaml'))]) == 0
    shown = capsys.readouterr().out
    assert 'crank angles in rad: 0.09' in shown and 'lengths in m' not in shown
    assert shown.count('+ + + + + +             yes') == 4
    assert 'behind a dead centre, so of a machine assembled otherwise: poses 5, 6, 7, 8' in shown
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize('lengths', [(10, -5, 8, 12, 0, -7), (1.8, -0.5, 0.8, 0.1, 0.0, -0.7)])
def test_lengths_beyond_the_travel_are_of_no_mode(capsys, lengths):
    assert assembly_modes.main(['--geometry', str(config_file('stewart_servos.yaml')),
                                '--lengths', *map(str, lengths)]) == 2
    shown = capsys.readouterr()
    assert not shown.out and ('degrees' in shown.err) == (max(lengths) > 2.0 * np.pi)


@pytest.mark.parametrize(('name', 'height'), [('cranks', 0.24), ('hexaglide', 0.55)])
def test_pictures_draw_the_drives_at_their_values(name, height):
    geometry, pose = load_geometry(config_file(f'stewart_{name}.yaml')), np.eye(4)
    pose[2, 3] = height
    values = leg_lengths(geometry, pose) + 0.1  # not those of the pose: the picture must not care
    axes = Figure().add_subplot(projection='3d')
    draw_platform(axes, geometry, pose, '', values=values)
    places = [np.ravel(line.get_data_3d()) for line in axes.lines if line.get_marker() == 's']
    for leg, joint, value, place in zip(
            geometry.leg_types, geometry.base_joints, values, places, strict=True):
        if name == 'cranks':
            arm = leg.radius * axangle2mat(leg.axis, value) @ leg.zero
        else:
            arm = value * np.array(leg.direction)
        assert place == pytest.approx(joint + arm, abs=1e-12)


def test_numbers_and_labels_of_a_mode_are_not_covered():
    """Of the paper's second mode, whose legs cross; axes to the right hid the z axis' label."""
    axes = Figure().add_subplot(projection='3d')
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    draw_platform(axes, geometry, pose_of((0.1758, 0.1034, 0.3671, 89.28, -67.82, -142.0)), '')
    viewer = towards_viewer(axes)
    places = np.array([text.get_position_3d() for text in axes.texts])
    away = places[:, None] - places
    seen = np.linalg.norm(away - (away @ viewer)[..., None] * viewer, axis=-1)
    assert seen[np.triu_indices(6, 1)].min() > 0.09 and not axes.patch.get_visible()


def test_lengths_of_no_pose_leave_nothing_to_draw(capsys, tmp_path):
    picture = tmp_path / 'modes.png'
    lengths = '0.3 0.9 0.3 0.9 0.3 0.9'.split()
    assert assembly_modes.main(['--picture', str(picture), '--lengths', *lengths]) == 0
    assert '0 poses; lengths of leg_2 and leg_3: expected to differ by' in capsys.readouterr().out
    assert not picture.exists()


@pytest.mark.parametrize(('arguments', 'message'), [
    (['--lengths', '1', '1', '1', '1', '1', '0'], 'length of leg_1: expected 0.25 to 0.95 m'),
    (['--geometry', 'missing.yaml'], 'missing.yaml: expected a readable file'),
])
def test_options_that_cannot_be_used_are_refused(capsys, arguments, message):
    assert assembly_modes.main(arguments) == 2
    assert message in capsys.readouterr().err
