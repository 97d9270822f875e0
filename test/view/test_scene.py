# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The scenes of the view, without a browser: names, poses and colours of what viser is given."""

from dataclasses import replace
import math
from unittest.mock import Mock

import numpy as np
import pytest
from support.scripts import free_port
import yaml

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import load_model
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver
from liedyn_ros.stewart.platform.kinematics import leg_ends
from liedyn_ros.stewart.platform.picture import BEYOND_COLOR, MIDDLE_COLOR

viser = pytest.importorskip('viser', reason='the view is not installed here')

from liedyn_ros.view.page import describe, LivePage, write_recording  # noqa: E402
from liedyn_ros.view.platforms.scene import ELLIPSOID_SIGMAS, MAGNIFIED  # noqa: E402
from liedyn_ros.view.platforms.what_if import PlatformWhatIf  # noqa: E402
from liedyn_ros.view.plots import add_slider, fitted, Plots  # noqa: E402
from liedyn_ros.view.recording import MAX_DURATION, ViewRecording  # noqa: E402
from liedyn_ros.view.shapes import AXIS_COLORS, PATH, PURPLE, rgb, solid_box  # noqa: E402
from liedyn_ros.view.trees.scene import CENTER, EFFORT_COLOR, LOOP, THRUST  # noqa: E402
from liedyn_ros.view_state import seen_of as seen_of_model, SolvedPose, ViewInput  # noqa: E402

GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))
HOME = np.eye(4) + np.array([[0.0] * 4, [0.0] * 4, [0.0, 0.0, 0.0, 0.5], [0.0] * 4])
MOVED = np.array([[0.96, -0.28, 0.0, 0.02], [0.28, 0.96, 0.0, -0.01], [0.0, 0.0, 1.0, 0.53],
                  [0.0, 0.0, 0.0, 1.0]])
COVARIANCE = np.diag([1e-10, 4e-10, 9e-10])


def seen_of(pose, lengths=None):
    lengths = leg_lengths(GEOMETRY, pose) if lengths is None else lengths
    return ViewInput(pose=pose, reference=HOME, true_pose=pose, covariance=COVARIANCE,
                     solved=SolvedPose(lengths, 0.4, 1e-12, 2, 4e-4, 0.0),
                     warnings=('near a singularity',))


def contrast(one, other):
    """Return the ratio of the brightnesses of two colours, by WCAG 2."""
    linear = (np.array([one, other]) / 255.0 + 0.055) / 1.055
    dark, bright = np.sort(linear ** 2.4 @ [0.2126, 0.7152, 0.0722])
    return (bright + 0.05) / (dark + 0.05)


@pytest.fixture
def page():
    """Return a page on a free port of this computer."""
    page = LivePage('127.0.0.1', free_port(), 60.0, 10.0)
    yield page
    page.close()


def node(page, name):
    """Return a node of the scene by its name."""
    found = page.server.scene.get_handle_by_name(name)
    assert found is not None, name
    return found


def rotation_of(handle):
    return so3.from_quaternion(np.roll(handle.wxyz, -1))


def ends_of(cylinder):
    """Return the ends (2, 3) of a cylinder, which stands along z with height 1 before scaling."""
    half = 0.5 * rotation_of(cylinder)[:, 2] * cylinder.scale[2]
    return np.stack((cylinder.position - half, cylinder.position + half))


def test_names_and_colours_are_those_of_rviz(page):
    page.adopt(GEOMETRY, HOME)
    page.show(seen_of(MOVED))
    displays = {each['Name']: each for each in yaml.safe_load(
        config_file('stewart.rviz').read_text())['Visualization Manager']['Displays']}
    for name in set(displays) - {'TF', 'Platform'}:
        assert node(page, f'/{name}').visible
    for name in ('base', 'platform', *(f'{part}/{leg}' for part in ('tubes', 'rods')
                                       for leg in range(1, 7))):
        node(page, f'/Platform/{name}')
    of_covariance = displays['Covariance (with leg_noise)']['Covariance']['Position']
    assert of_covariance['Color'] == '; '.join(map(str, PURPLE))
    assert of_covariance['Scale'] == MAGNIFIED


def test_the_platform_stands_where_its_pose_is(page):
    page.adopt(GEOMETRY, HOME)
    page.show(seen_of(MOVED))
    plate = node(page, '/Platform/platform')
    np.testing.assert_allclose(plate.position, MOVED[:3, 3], atol=1e-12)
    np.testing.assert_allclose(rotation_of(plate), MOVED[:3, :3], atol=1e-12)
    for leg, (begin, end) in enumerate(zip(*leg_ends(GEOMETRY, MOVED)), 1):
        tube, rod = (node(page, f'/Platform/{part}/{leg}') for part in ('tubes', 'rods'))
        np.testing.assert_allclose(ends_of(tube)[0], begin, atol=1e-9)
        np.testing.assert_allclose(ends_of(rod)[0], ends_of(tube)[1], atol=1e-9)
        np.testing.assert_allclose(ends_of(rod)[1], end, atol=1e-9)


def test_a_leg_beyond_its_travel_is_red_and_one_in_the_middle_green(page):
    page.adopt(GEOMETRY, HOME)
    low, high = GEOMETRY.length_limits.T
    lengths = 0.5 * (low + high)
    lengths[2] = 1.01 * high[2]
    page.show(seen_of(MOVED, lengths))
    assert node(page, '/Platform/rods/1').color == rgb(MIDDLE_COLOR)
    assert node(page, '/Platform/rods/3').color == rgb(BEYOND_COLOR)


def test_the_ellipsoid_has_the_deviations_of_the_position(page):
    page.adopt(GEOMETRY, HOME)
    page.show(seen_of(MOVED))
    ball = node(page, '/Covariance (with leg_noise)')
    shape = rotation_of(ball) @ np.diag(np.square(ball.scale)) @ rotation_of(ball).T
    np.testing.assert_allclose(shape, (ELLIPSOID_SIGMAS * MAGNIFIED) ** 2 * COVARIANCE, atol=1e-12)


def test_axes_grow_with_the_machine(page):
    lengths = []
    for scale in (1.0, 0.25):
        small = replace(GEOMETRY, masses=None, base_joints=scale * GEOMETRY.base_joints,
                        platform_joints=scale * GEOMETRY.platform_joints)
        page.adopt(small, HOME)
        lengths.append(node(page, '/Pose/x').height)
    np.testing.assert_allclose(lengths, [0.1, 0.025], rtol=1e-5)  # m; 0.1 is that of RViz


def test_sliders_have_numbers_that_are_read_and_round_no_length(page):
    page.adopt(GEOMETRY, HOME)
    what_if = page.what_if
    first = what_if.sliders[0]
    assert (first.min, first.max, first.step, first.value) == (0.25, 0.95, 1e-4, 0.5254)
    lengths = what_if.lengths.copy()
    first.value = 0.53
    what_if._set_legs(Mock(client=Mock()))
    assert what_if.lengths[0] == 0.53
    np.testing.assert_array_equal(what_if.lengths[1:], lengths[1:])


@pytest.mark.parametrize(('least', 'most', 'value', 'expected'), [
    (-math.pi, math.pi, 0.12345, (-3.141, 3.141, 0.001, 0.123)),
    (0.25, 0.95, 2.0, (0.25, 0.95, 1e-4, 0.95)),
    (-2000.0, 3000.0, 17.0, (-2000.0, 3000.0, 1.0, 17.0))])
def test_a_slider_is_rounded_inwards(page, least, most, value, expected):
    slider = add_slider(page.server.gui, 'leg', least, most, value)
    assert (slider.min, slider.max, slider.step, slider.value) == expected


def test_a_screen_that_stands_sees_the_whole_machine(page):
    """Its camera as it connects is not yet the first one."""
    page.adopt(GEOMETRY, HOME)
    first, elsewhere = page.server.initial_camera, np.array([30.0, 30.0, 30.0])
    near = np.asarray(first.position) - first.look_at
    for aspect, away in ((1.6, elsewhere), (0.375, first.look_at + 2.0 * near)):
        camera = Mock(aspect=aspect, position=elsewhere, look_at=np.zeros(3))
        page._stand_back(Mock(camera=camera))
        np.testing.assert_allclose(camera.position, away)


def test_what_if_moves_a_ghost_and_not_the_platform(page):
    page.adopt(GEOMETRY, HOME)
    page.show(seen_of(MOVED))
    what_if = page.what_if
    what_if.show(visible=True)
    what_if.drag(HOME[:3, 3] + (0.0, 0.03, 0.0), np.array([1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(what_if.lengths, leg_lengths(GEOMETRY, what_if.pose))
    np.testing.assert_allclose(
        node(page, '/What if/ghost/platform').position, [0.0, 0.03, 0.5], atol=1e-12)
    np.testing.assert_allclose(node(page, '/Platform/platform').position, MOVED[:3, 3], atol=1e-12)
    lengths = leg_lengths(GEOMETRY, MOVED)
    what_if.set_legs(lengths)
    np.testing.assert_allclose(
        what_if.pose, PoseSolver(GEOMETRY).solve(lengths, HOME).pose, atol=1e-9)
    assert all(f'| {name} |' in what_if.describe() for name in GEOMETRY.leg_names)
    what_if.set_legs(10.0 * lengths)  # no pose has these: the ghost stays
    np.testing.assert_allclose(what_if.pose, MOVED, atol=1e-9)


def test_eight_wires_are_shown_and_what_if_holds_them_by_least_squares(page):
    robot = load_geometry(config_file('stewart_cable_robot.yaml'))
    home, moved = (se3.exp([0.0, 0.0, angle, 0.1 * angle, 0.0, 1.2]) for angle in (0.0, 0.2))
    page.adopt(robot, home)
    page.show(seen_of(moved, leg_lengths(robot, moved)))
    for leg, (begin, end) in enumerate(zip(*leg_ends(robot, moved)), 1):
        tube, rod = (node(page, f'/Platform/{part}/{leg}') for part in ('tubes', 'rods'))
        assert np.abs(ends_of(tube) - begin).max(axis=1).min() < 1e-9
        assert np.abs(ends_of(rod) - end).max(axis=1).min() < 1e-9
    what_if = page.what_if
    lengths = leg_lengths(robot, moved)
    what_if.set_legs(lengths + 1e-3 * np.eye(8)[0])  # which no pose has
    solution = PoseSolver(robot).solve(lengths + 1e-3 * np.eye(8)[0], home)
    np.testing.assert_allclose(what_if.pose, solution.pose, atol=1e-9)
    np.testing.assert_allclose(what_if.lengths, leg_lengths(robot, solution.pose), atol=1e-12)
    assert all(f'| {name} |' in what_if.describe() for name in robot.leg_names)
    assert f'{solution.smallest_singular_value:.4f}' in what_if.describe()
    what_if.drag(np.array([0.0, 0.0, 9.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    assert 'beyond its limit: travel of wire_1' in what_if.describe()


def test_every_assembly_mode_is_a_ghost_with_the_same_lengths(page):
    page.adopt(GEOMETRY, HOME)
    what_if = page.what_if
    what_if.show(visible=True)
    what_if.find_modes()
    assert len(what_if._modes) > 1
    for k in range(len(what_if._modes)):
        plate = node(page, f'/What if/assembly modes/{k + 1}/platform')
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rotation_of(plate), plate.position
        np.testing.assert_allclose(leg_lengths(GEOMETRY, pose), what_if.lengths, atol=1e-8)


def test_a_box_has_the_inertia_of_its_body():
    rng = np.random.default_rng(34)
    for _ in range(20):
        sizes, turn = rng.uniform(0.1, 1.0, 3), so3.exp(rng.normal(size=3))
        squares = np.square(sizes)
        inertia = turn @ np.diag(2.5 / 12.0 * (squares.sum() - squares)) @ turn.T
        found, axes = solid_box(2.5, inertia)
        np.testing.assert_allclose(np.sort(found), np.sort(sizes), rtol=1e-9)
        np.testing.assert_allclose(
            axes @ np.diag(np.square(found)) @ axes.T, turn @ np.diag(squares) @ turn.T, atol=1e-9)


def test_a_tree_stands_where_its_joints_are(page):
    model = load_model(config_file('linkage_leg.urdf'))
    page.adopt(model, HOME)
    joint = next(each for each in model.joint_list if each.type_name == 'revolute')
    page.show(ViewInput(positions={'unknown': 9.0}, efforts={'unknown': 9.0}))
    page.show(ViewInput(positions={joint.name: 0.3, 'unknown': 9.0}, efforts={joint.name: -2.0}))
    q = model.neutral()
    q[joint.qi] = 0.3
    scene = page._scene
    for name, pose in zip(model.bodies, scene.figure.dynamics.kinematics(q).poses):
        body = node(page, f'/{model.name}/{name}')
        np.testing.assert_allclose(body.position, pose[:3, 3], atol=1e-12)
        np.testing.assert_allclose(rotation_of(body), pose[:3, :3], atol=1e-9)
    np.testing.assert_allclose(
        node(page, '/Centre of mass').position, scene.figure.dynamics.center_of_mass(q))
    (begin, end), = node(page, '/Joint efforts').points
    child = scene.figure.poses[model.body_index(joint.child)]
    np.testing.assert_allclose(begin, child[:3, 3], atol=1e-6)
    assert (end - begin) @ (child[:3, :3] @ joint.axis) < 0.0


def test_a_camera_looks_where_a_floating_machine_is_first_heard(page):
    page.adopt(load_model(config_file('aerial_manipulator.yaml')), HOME)
    far = np.eye(4)
    far[:3, 3] = 5.0, -3.0, 40.0
    camera = page.server.initial_camera
    page.show(ViewInput())
    assert np.linalg.norm(camera.look_at - far[:3, 3]) > 10.0
    page.show(ViewInput(pose=far))
    assert np.linalg.norm(camera.look_at - far[:3, 3]) < page._scene.size


def test_loops_follow_the_joints_that_are_moved(page):
    model = load_model(config_file('four_bar.yaml'))
    page.adopt(model, HOME)
    what_if = page.what_if
    what_if.show(visible=True)
    before = what_if.q.copy()
    what_if.set_joints({name: slider.value + 0.05 for name, slider in what_if.sliders.items()})
    moved = np.flatnonzero(np.abs(what_if.q - before) > 1e-6)
    assert len(moved) > len(what_if.sliders)
    assert 'effort at rest' in what_if.describe()


def test_a_person_reads_sentences():
    assert describe(ViewInput()) == '*nothing heard yet*'
    assert '**near a singularity**' in describe(seen_of(HOME))
    assert describe(ViewInput(fault='no samples')).startswith('**No pose:** no samples')


def test_what_is_old_is_not_told_or_drawn_as_of_now(page):
    page.adopt(GEOMETRY, HOME)
    seen = replace(seen_of(HOME), warnings=())
    page.show(seen, 1.0)
    assert describe(seen).startswith('Tracking, no warning.')
    old = replace(seen, quiet={'pose': 6.2, 'status': 6.4})
    page.show(old, 2.0)
    assert 'Tracking' not in describe(old)
    assert '*no message on pose for 6 s, on status for 6 s; the last are shown*' in describe(old)
    assert 'Position 0.00, 0.00, 500.00 mm.' in describe(old)
    drawn = page._plots.columns(2.0)[1:]
    assert np.isfinite(drawn[:, 0]).all() and np.isnan(drawn[:, 1]).all()


def test_a_reference_that_is_not_sent_again_does_not_end_the_tracking():
    told = describe(replace(seen_of(HOME), warnings=(), quiet={'reference': 400.0}))
    assert told.startswith('Tracking, no warning.')
    assert '*no message on reference for 400 s; the last is shown*' in told


@pytest.mark.parametrize(('largest', 'number', 'unit'), [
    (2.0, 2.0, 'm'), (3e-3, 3.0, 'mm'), (4e-4, 400.0, 'µm'), (2.5e-9, 2.5, 'nm'),
    (7e-14, 70.0, 'fm'), (2e-16, 0.2, 'fm'), (0.0, 0.0, 'm')])
def test_a_plot_has_the_unit_in_which_its_numbers_are_read(largest, number, unit):
    values, found = fitted(np.array([0.25 * largest, np.nan, -largest]), 'm')
    assert found == unit
    np.testing.assert_allclose(values, [0.25 * number, np.nan, -number])


def test_numbers_without_a_unit_stay_in_a_plot():
    for unit in ('', '-'):
        values, found = fitted(np.array([1e-6, 2e-6]), unit)
        assert (found, values.tolist()) == (unit, [1e-6, 2e-6])


def test_the_title_of_a_plot_follows_its_unit(page):
    plots = Plots(page.server.gui, (('residual', 'm'), ('iterations', '')), 10.0)
    residual, iterations = plots._handles
    for now, value, unit in ((1.0, 3e-13, 'fm'), (2.0, 4e-13, 'fm'), (3.0, 5e-6, 'µm')):
        plots.add(now, (value, 3))
        plots.add(now + 0.5, (value, 3))
        assert residual.title == residual.series[1]['label'] == f'residual [{unit}]'
        assert residual.scales['x']['range'] == (-10.0, 0.0)  # also of a new title
    np.testing.assert_allclose(residual.data[1], [3e-7, 3e-7, 4e-7, 4e-7, 5.0, 5.0])
    assert iterations.title == 'iterations'
    np.testing.assert_array_equal(iterations.data[1], np.full(6, 3.0))


def test_a_recording_is_one_page(page):
    page.adopt(GEOMETRY, HOME)
    page._recording.start()
    for _ in range(3):
        page.show(seen_of(MOVED))
    html = page._recording.html()
    assert html.lstrip().lower().startswith('<!doctype html>')
    assert '__VISER_EMBED_DATA__' in html


def test_a_recording_that_is_forgotten_ends_and_is_kept(page):
    page.adopt(GEOMETRY, HOME)
    page._recording.start()
    for now in (1.0, 2.0, 2.0 + MAX_DURATION):
        page.show(seen_of(MOVED), now)
    assert page._recording._serializer is None
    assert '__VISER_EMBED_DATA__' in page._recording.html()


def test_what_was_computed_is_written_as_a_page_of_its_length(tmp_path, monkeypatch):
    slept = []
    step = ViewRecording.step
    monkeypatch.setattr(ViewRecording, 'step', lambda self,
                        now: (slept.append(now), step(self, now)))
    model = load_model(config_file('aerial_manipulator.yaml'))
    states = [(0.01 * k, seen_of_model(model, model.neutral())) for k in range(200)]
    write_recording(tmp_path / 'seen.html', model, states)
    assert '__VISER_EMBED_DATA__' in (tmp_path / 'seen.html').read_text()
    pictures = sorted(set(slept))
    assert pictures[0] == 0.0
    assert 50 <= len(pictures) <= 61
    assert pictures[-1] == pytest.approx(1.99, abs=0.04)


def test_lines_and_arrows_stand_out_from_a_white_and_from_a_dark_background():
    colors = (*AXIS_COLORS, PURPLE, PATH, EFFORT_COLOR, CENTER, THRUST, LOOP)
    for background in ((255, 255, 255), (20, 20, 20)):
        assert min(contrast(color, background) for color in colors) > 2.9


def test_a_machine_without_what_if_is_shown_all_the_same(page, monkeypatch):
    monkeypatch.setattr(PlatformWhatIf, '_tell', Mock(side_effect=LiedynError('no such pose')))
    page.adopt(GEOMETRY, HOME)
    assert page.what_if is None
    page.show(seen_of(MOVED))
    np.testing.assert_allclose(node(page, '/Platform/platform').position, MOVED[:3, 3], atol=1e-12)
