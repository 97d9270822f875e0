# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The commissioning check: each fault that is put into readings is named, by legs and remedy."""

import dataclasses

import numpy as np
import pytest
from support.platforms.leg_types import example, poses_about
from support.refusals import refused
from transforms3d.axangles import axangle2mat
import yaml

from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import geometry_of, leg_lengths, load_geometry
from liedyn_ros.stewart.commissioning.check import check
from liedyn_ros.stewart.commissioning.explanations import COSTS, FAULT_KINDS, OTHER_LEG_COST

UNKNOWN_BY = 2e-4  # m, of the readings, well within the tolerance


@pytest.fixture(scope='module')
def poses(home):
    """Return five poses that are turned and moved."""
    return poses_about(home, 5, 1, 0.3, 0.08)


@pytest.fixture(scope='module')
def readings(geometry, poses):
    """Return right readings with a little noise."""
    noise = np.random.default_rng(2).uniform(-UNKNOWN_BY, UNKNOWN_BY, (5, 6))
    return leg_lengths(geometry, poses) + noise


@pytest.fixture(scope='session')
def home():
    """Return the home pose."""
    pose = np.eye(4)
    pose[2, 3] = 0.5
    return pose


def kinds(found):
    """Return the kinds of faults that were found, with their legs."""
    return [(finding.kind, finding.legs) for finding in found.findings]


def undone(found, readings):
    """Return the readings with the faults undone as the check says."""
    return found.scales * readings[:, found.order] + found.offsets


def test_right_readings_are_right(geometry, home, poses, readings):
    found = check(geometry, poses, readings, home)
    assert found.right and not found.remarks


@pytest.mark.parametrize(('name', 'unit'), [
    ('millimetres', 1e3), ('centimetres', 1e2), ('inches', 1.0 / 0.0254)])
def test_units(geometry, home, poses, readings, name, unit):
    for count in (1, 5):
        found = check(geometry, poses[:count], unit * readings[:count], home)
        assert kinds(found) == [('unit', (0, 1, 2, 3, 4, 5))]
        assert name in found.findings[0].text
        assert undone(found, unit * readings) == pytest.approx(
            leg_lengths(geometry, poses), abs=1e-3)


@pytest.mark.parametrize('legs', [(0, 1), (2, 5), (1, 4)])
def test_swapped_legs(geometry, home, poses, readings, legs):
    swapped = readings.copy()
    swapped[:, legs] = readings[:, legs[::-1]]
    found = check(geometry, poses, swapped, home)
    assert kinds(found) == [('order', legs)]
    assert undone(found, swapped) == pytest.approx(readings, abs=1e-12)
    assert f'leg_{legs[0] + 1} reads as leg_{legs[1] + 1}' in found.findings[0].text


def test_swapped_legs_in_millimetres(geometry, home, poses, readings):
    found = check(geometry, poses, 1e3 * readings[:, [1, 0, 2, 3, 4, 5]], home)
    assert kinds(found) == [('unit', (0, 1, 2, 3, 4, 5)), ('order', (0, 1))]


def test_an_offset(geometry, home, poses, readings):
    off = readings.copy()
    off[:, 3] += 0.012
    found = check(geometry, poses, off, home)
    assert kinds(found) == [('offset', (3,))]
    assert found.offsets[3] == pytest.approx(-0.012, abs=3e-4)
    off[:, 0] -= 0.03
    assert kinds(check(geometry, poses, off, home)) == [('offset', (0,)), ('offset', (3,))]


def test_one_pose_does_not_tell_an_offset_from_a_scale(geometry, home, poses, readings):
    off = readings.copy()
    off[:, 3] += 0.012
    found = check(geometry, poses[:1], off[:1], home)
    assert kinds(found) == [('offset_or_scale', (3,))]
    assert found.next_pose.separation >= 1.0 and found.next_pose.text in found.remarks
    both = np.stack((poses[0], found.next_pose.pose))
    right = leg_lengths(geometry, both)
    for wrong, kind in ((right + 0.012 * (np.arange(6) == 3), 'offset'),
                        (right * np.where(np.arange(6) == 3, off[0, 3] / readings[0, 3], 1.0),
                         'scale')):
        assert kinds(check(geometry, both, wrong, home, 1e-3)) == [(kind, (3,))]


def test_a_scale(geometry, home, poses, readings):
    scaled = readings.copy()
    scaled[:, 2] *= 1.1
    found = check(geometry, poses, scaled, home)
    assert kinds(found) == [('scale', (2,))]
    assert found.scales[2] == pytest.approx(1.0 / 1.1, abs=2e-3)


@pytest.mark.parametrize('counts', [8192 / 0.004, -8192 / 0.004, 204800.0])
@pytest.mark.parametrize('own', [0.0, 0.05], ids=['one zero', 'own zeros'])
def test_counts_of_encoders_have_one_scale(geometry, home, poses, readings, counts, own):
    zeros = 0.47 + own * np.array([0.1, -0.3, 0.7, 0.2, -0.9, 0.5])
    counted = np.round((readings - zeros) * counts)
    found = check(geometry, poses, counted, home)
    assert kinds(found)[0][0] == 'all_scaled'
    away = readings - readings.mean(axis=0 if own else None)
    by_noise = UNKNOWN_BY * np.abs(away).sum() / (away**2).sum()  # of the slope, at the very most
    assert found.scales == pytest.approx(1.0 / counts, rel=by_noise)
    assert np.abs(undone(found, counted) - readings).max() < 2e-3
    assert len(found.findings) == 1 or own


def test_a_leg_that_runs_backwards(geometry, home, poses, readings):
    backwards = readings.copy()
    backwards[:, 4] = 1.2 - readings[:, 4]
    found = check(geometry, poses, backwards, home)
    assert kinds(found) == [('sense', (4,))]
    assert undone(found, backwards) == pytest.approx(leg_lengths(geometry, poses), abs=2e-3)


@pytest.mark.parametrize('stuck', [0.0, 0.4])
def test_a_leg_that_always_reads_the_same(geometry, home, poses, readings, stuck):
    dead = readings.copy()
    dead[:, 3] = stuck
    found = check(geometry, poses, dead, home)
    assert kinds(found) == [('dead', (3,))] and 'connected' in found.findings[0].text


def test_a_leg_of_the_wrong_sense_alone(geometry, home, poses, readings):
    negated = readings.copy()
    negated[:, 2] *= -1.0
    found = check(geometry, poses, negated, home)
    assert kinds(found) == [('sense', (2,))] and found.scales[2] == pytest.approx(-1.0, abs=1e-2)


def test_a_mirrored_frame(geometry, home, poses, readings):
    # The paper's platform is its own mirror image but for the order of the legs.
    bent = dataclasses.replace(geometry, base_joints=geometry.base_joints + np.random.default_rng(
        3).normal(0.0, 0.03, (6, 3)))
    mirror = np.diag([1.0, -1.0, 1.0])
    mirrored = dataclasses.replace(
        bent, base_joints=bent.base_joints @ mirror, platform_joints=bent.platform_joints @ mirror)
    found = check(bent, poses, leg_lengths(mirrored, poses), home)
    assert kinds(found) == [('mirrored', (0, 1, 2, 3, 4, 5))]
    assert 'the y axis is mirrored' in found.findings[0].text


def test_a_mirrored_frame_of_a_platform_that_is_its_own_mirror_image(
        geometry, home, poses, readings):
    flip = np.diag([1.0, -1.0, 1.0, 1.0])
    found = check(geometry, flip @ poses @ flip, readings, home)
    assert [finding.kind for finding in found.findings] == ['mirrored', 'order']
    assert 'the y axis is mirrored' in found.findings[0].text
    assert 'or no axis is mirrored, and legs are swapped' in found.findings[1].text


def test_several_faults_together(geometry, home, poses, readings):
    wrong = 1e3 * readings[:, [0, 2, 1, 3, 4, 5]]
    wrong[:, 4] += 12.0
    found = check(geometry, poses, wrong, home)
    assert kinds(found) == [('unit', tuple(range(6))), ('order', (1, 2)), ('offset', (4,))]
    assert 'add -0.012' in found.findings[2].text
    assert undone(found, wrong) == pytest.approx(leg_lengths(geometry, poses), abs=1e-3)


def test_a_home_on_another_assembly_mode(geometry, home, poses, readings):
    below = home.copy()
    below[2, 3] = -0.5
    found = check(geometry, poses, readings, below)
    assert [finding.kind for finding in found.findings] == ['home']
    assert 'another assembly mode' in found.findings[0].text


@pytest.mark.parametrize(('height', 'text'), [
    (-0.117, 'another assembly mode'), (0.3, 'out of reach'), (117.0, 'in mm')])
def test_a_home_that_no_known_pose_shares_is_named_alone(height, text):
    """The file's cranks are on the side of its home, or on that of the machine."""
    content = yaml.safe_load(config_file('stewart_servos.yaml').read_text(encoding='utf-8'))
    servos = geometry_of(content)
    poses = poses_about(servos.home, 6, 3, turn=0.1, shift=0.005)
    readings, home = leg_lengths(servos, poses), np.eye(4)
    content['home']['position'] = [0.0, 0.0, height]
    home[2, 3] = height
    for geometry in servos, geometry_of(content):
        found = check(geometry, poses, readings, home)
        assert [finding.kind for finding in found.findings] == ['home']
        assert text in found.findings[0].text


def test_a_home_beyond_limits_is_named(geometry, home, poses, readings):
    most = readings.max(axis=0)
    short = dataclasses.replace(geometry, length_limits=np.column_stack((0.5 * most, most)))
    far = home.copy()
    far[2, 3] *= 2.0
    found = check(short, poses, readings, far)
    assert [finding.kind for finding in found.findings] == ['home']
    assert 'exceeds limits of leg_1' in found.findings[0].text


def test_an_unexplained_reading_is_reported_as_such(geometry, home, poses, readings):
    wrong = readings.copy()
    wrong[:, 1] += np.array([0.0, 0.05, -0.02, 0.08, -0.06])
    found = check(geometry, poses, wrong, home)
    assert kinds(found) == [('unexplained', (1,))]


def test_legs_that_a_pose_does_not_tell_apart_are_remarked(geometry, home):
    found = check(geometry, [home], leg_lengths(geometry, home)[None], home)
    assert found.right and 'do not distinguish all legs' in found.remarks[0]


def test_cranks_in_degrees():
    geometry, home = example('cranks')
    poses = poses_about(home, 4, 4, 0.1, 0.01)
    found = check(geometry, poses, np.degrees(leg_lengths(geometry, poses)), home)
    assert [finding.kind for finding in found.findings] == ['unit']
    assert 'degrees' in found.findings[0].text


@pytest.fixture(scope='module')
def servos():
    """Return a platform of cranks, six poses, and right angles there with a little noise."""
    geometry, home = example('cranks')
    poses = poses_about(home, 6, 4, 0.1, 0.01)
    noise = np.random.default_rng(2).normal(0.0, 1e-5, (6, 6))
    return geometry, home, poses, leg_lengths(geometry, poses) + noise


@pytest.mark.parametrize('unit', [1.0, 180.0 / np.pi, -1.0, -180.0 / np.pi])
@pytest.mark.parametrize('zero', [0.0, 0.5 * np.pi])
def test_servos_of_another_unit_sense_and_zero(servos, unit, zero):
    geometry, home, poses, readings = servos
    given = unit * (readings + zero)
    found = check(geometry, poses, given, home)
    assert [finding.kind for finding in found.findings] == [
        *['unit'] * (abs(unit) > 1.0), *['all_backwards'] * (unit < 0.0),
        *['all_offset'] * (zero > 0.0 and unit > 0.0)]
    assert found.scales == pytest.approx(1.0 / unit, rel=1e-12)
    assert np.abs(undone(found, given) - readings).max() < 1e-4
    assert not zero or abs(unit) == 1.0 or f'zero is at {np.sign(unit) * 90:.0f}:' in (
        found.findings[-1].text)


@pytest.mark.parametrize('kind, part, factor', [
    ('horn_length', 'radius', 1.08), ('horn_length', 'radius', 0.9),
    ('rod_length', 'rod', 1.04), ('rod_length', 'rod', 0.97)])
def test_wrong_lengths_of_horns_and_rods_are_found(servos, kind, part, factor):
    geometry, home, poses, _ = servos
    machine = dataclasses.replace(geometry, leg_types=tuple(dataclasses.replace(
        leg, **{part: factor * getattr(leg, part)}) for leg in geometry.leg_types))
    noise = np.random.default_rng(2).normal(0.0, 1e-5, (6, 6))
    found = check(geometry, poses, leg_lengths(machine, poses) + noise, home)
    assert kinds(found) == [(kind, tuple(range(6)))]
    assert f'{factor * getattr(geometry.leg_types[0], part):.4g}' in found.findings[0].text
    assert (found.scales == 1.0).all() and not found.offsets.any()


def test_rods_of_a_hexaglide_are_found():
    geometry, home = example('hexaglide')
    poses = poses_about(home, 5, 4, 0.1, 0.01)
    machine = dataclasses.replace(geometry, leg_types=tuple(
        dataclasses.replace(leg, rod=1.03 * leg.rod) for leg in geometry.leg_types))
    found = check(geometry, poses, leg_lengths(machine, poses), home)
    assert kinds(found) == [('rod_length', tuple(range(6)))]


def test_an_angle_beyond_the_travel_is_no_length(servos):
    geometry, home, poses, readings = servos
    geometry = dataclasses.replace(geometry, length_limits=np.tile([-1.5, 1.5], (6, 1)))
    for angle, kind in ((readings[0, 2] - 0.4, 'offset_or_scale'), (-2.0, 'offset_or_sense')):
        one = readings[:1].copy()
        one[0, 2] = angle
        found = check(geometry, poses[:1], one, home)
        assert kind in [finding.kind for finding in found.findings], found.findings


def test_an_invalid_sample_is_refused(geometry, home):
    with refused(ShapeError, 'readings'):
        check(geometry, [home], np.ones((2, 6)), home)
    with refused(LimitError, 'poses_base_platform'):
        check(geometry, np.empty((0, 4, 4)), np.empty((0, 6)), home)
    with refused(LimitError, 'tolerance'):
        check(geometry, [home], np.ones((1, 6)), home, 0.0)


def built(geometry, base=np.eye(3), platform=np.eye(3), lift=0.0):
    """Return a platform whose joints are moved from those of its file."""
    return dataclasses.replace(
        geometry, base_joints=geometry.base_joints @ np.transpose(base) + [0.0, 0.0, lift],
        platform_joints=geometry.platform_joints @ np.transpose(platform))


def uneven(geometry):
    """Return a platform that is not its own mirror image."""
    rng = np.random.default_rng(3)
    return dataclasses.replace(geometry, base_joints=geometry.base_joints + rng.normal(
        0.0, 0.03, (6, 3)), platform_joints=geometry.platform_joints + rng.normal(
        0.0, 0.01, (6, 3)))


FLIP, WIDE = np.diag([1.0, -1.0, 1.0]), np.diag([1.1, 1.1, 1.0])
TURN = axangle2mat((0.0, 0.0, 1.0), np.radians(30.0))


@pytest.mark.parametrize(('kind', 'text', 'moved'), [
    ('base_turned', 'turned by +30 degrees', {'base': TURN}),
    ('platform_turned', 'turned by -30 degrees', {'platform': TURN.T}),
    ('base_radius', '1.1 times', {'base': WIDE}),
    ('platform_radius', '1.1 times', {'platform': WIDE}),
    ('base_height', '-0.02 m along z', {'lift': -0.02}),
    ('base_mirrored', 'the base is mirrored', {'base': FLIP}),
    ('platform_mirrored', 'the platform is mirrored', {'platform': FLIP}),
    ('mirrored', 'y axis is mirrored', {'base': FLIP, 'platform': FLIP})])
def test_a_wrong_geometry_is_no_fault_of_sensors(geometry, home, poses, kind, text, moved):
    geometry = uneven(geometry)
    found = check(geometry, poses, leg_lengths(built(geometry, **moved), poses), home)
    assert kinds(found) == [(kind, tuple(range(6)))] and text in found.findings[0].text
    assert np.abs(found.remaining).max() < 1e-9


def test_exchanged_frames_and_joints_in_another_unit(geometry, home, poses):
    readings = leg_lengths(geometry, poses)
    swapped = dataclasses.replace(geometry, base_joints=geometry.platform_joints,
                                  platform_joints=geometry.base_joints)
    assert kinds(check(swapped, poses, readings, home)) == [('exchanged', tuple(range(6)))]
    large = dataclasses.replace(geometry, base_joints=geometry.base_joints / 0.0254,
                                platform_joints=geometry.platform_joints / 0.0254)
    found = check(large, poses, readings, home)
    assert kinds(found) == [('joints_unit', tuple(range(6)))]
    assert 'inches: divide them by 39.37' in found.findings[0].text


@pytest.mark.parametrize('name', ['hexaglide', 'cranks', 'offset', 'stages'])
def test_noisy_readings_of_each_leg_type_are_right(name):
    geometry, home = example(name)
    size = geometry.characteristic_length
    poses = poses_about(home, 5, 4, 0.15, 0.15 * size)
    noise = np.random.default_rng(2).normal(size=(5, 6)) * 5e-4 * size / geometry.reading_unit[0]
    assert check(geometry, poses, leg_lengths(geometry, poses) + noise, home).right


def test_faults_of_eight_legs():
    geometry = load_geometry(config_file('stewart_cable_robot.yaml'))
    poses = poses_about(geometry.home, 5, 4, 0.15, 0.05)
    right = leg_lengths(geometry, poses) + np.random.default_rng(2).normal(size=(5, 8)) * 1e-4
    assert check(geometry, poses, right, geometry.home).right
    every = tuple(range(8))
    assert kinds(check(geometry, poses, right * 1e3, geometry.home)) == [('unit', every)]
    wrong = right[:, [0, 7, 2, 3, 4, 5, 6, 1]]
    wrong[:, 3] *= 1.1
    found = check(geometry, poses, wrong, geometry.home)
    assert kinds(found) == [('order', (1, 7)), ('scale', (3,))]
    np.testing.assert_allclose(undone(found, wrong), right, atol=1e-3)
    wider = dataclasses.replace(geometry, base_joints=geometry.base_joints * [1.1, 1.1, 1.0])
    found = check(wider, poses, right, geometry.home)
    assert kinds(found) == [('base_radius', every)]


@pytest.mark.parametrize('name', ['hexaglide', 'cranks', 'offset'])
def test_a_turned_base_of_each_leg_type(name):
    geometry, home = example(name)
    poses = poses_about(home, 5, 4, 0.1, 0.01)
    turn = np.eye(4)
    turn[:3, :3] = axangle2mat((0.0, 0.0, 1.0), np.radians(-4.0))
    found = check(geometry, poses, leg_lengths(geometry, turn @ poses), home)
    assert kinds(found) == [('base_turned', tuple(range(6)))]
    assert 'turned by +4 degrees' in found.findings[0].text


def test_a_wrong_geometry_and_a_wrong_leg_together(geometry, home, poses):
    geometry = uneven(geometry)
    readings = leg_lengths(built(geometry, base=TURN), poses) + 0.01 * (np.arange(6) == 3)
    assert kinds(check(geometry, poses, readings, home)) == [
        ('base_turned', tuple(range(6))), ('offset', (3,))]


def test_the_tolerance_is_that_of_the_platform_and_of_its_readings(geometry, home, poses):
    small = dataclasses.replace(
        geometry, base_joints=0.02 * geometry.base_joints,
        platform_joints=0.02 * geometry.platform_joints, length_limits=0.02 * np.array(
            geometry.length_limits))
    near = poses.copy()
    near[:, :3, 3] *= 0.02
    start = home.copy()
    start[:3, 3] *= 0.02
    readings = leg_lengths(small, near)
    assert check(small, near, readings, start).right
    assert kinds(check(small, near, readings[:, [1, 0, 2, 3, 4, 5]], start)) == [('order', (0, 1))]
    off = readings + 5e-4 * (np.arange(6) == 2)
    assert kinds(check(small, near, off, start)) == [('offset', (2,))]
    noise = np.random.default_rng(5).normal(0.0, 2e-5, (5, 6))
    for size, findings in ((0.0, []), (4e-4, [('offset_or_scale', (2,))])):  # tolerance: 1e-3
        wrong = leg_lengths(geometry, poses) + noise + size * (np.arange(6) == 2)
        assert kinds(check(geometry, poses, wrong, home)) == findings


def test_one_pose_and_a_negative_length(geometry, home, poses):
    one = leg_lengths(geometry, poses[:1])
    one[0, 2] *= -1.0
    found = check(geometry, poses[:1], one, home)
    assert kinds(found) == [('sense', (2,))] and 'runs backwards' in found.findings[0].text
    one[0, 2] = -0.1
    found = check(geometry, poses[:1], one, home)
    assert kinds(found) == [('offset_or_sense', (2,))]
    assert 'reads -0.1, which no length is' in found.findings[0].text


def test_an_explanation_of_every_leg_is_simpler_than_one_that_leaves_a_leg(geometry, home, poses):
    # Faults of all legs and of five more, against one leg that nothing explains.
    costs = dict(zip(FAULT_KINDS, COSTS))
    assert costs['unexplained'] > 6.0 * (costs['dead'] + OTHER_LEG_COST)
    geometry = uneven(geometry)
    offsets = np.array([0.02, -0.03, 0.05, -0.04, 0.03, -0.02])
    found = check(
        geometry, poses, leg_lengths(built(geometry, base=FLIP), poses) + offsets, home)
    assert kinds(found) == [('base_mirrored', tuple(range(6))), *(
        ('offset', (k,)) for k in range(6))]


@pytest.mark.full
def test_every_random_geometry_is_judged(geometry, home, poses):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        off = dataclasses.replace(geometry, base_joints=geometry.base_joints + rng.normal(
            0.0, 0.01 * (1 + seed % 3), (6, 3)))
        found = check(geometry, poses, leg_lengths(off, poses), home)
        named = [finding.kind for finding in found.findings]
        assert named and 'unit' not in named
        assert 'geometry' not in named or np.abs(found.remaining).max() > found.tolerance.most
