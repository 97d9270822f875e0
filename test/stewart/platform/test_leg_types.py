# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Legs of every type, against root finders, differences and each other."""

from concurrent.futures import ThreadPoolExecutor
import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from support.platforms.leg_types import (
    ALL, example, HOMES, OF_MORE_LEGS, OTHERS, poses_about, reference_values)
from support.refusals import ANY, refused
import yaml

from liedyn_ros.common.errors import DescriptionWarning, GeometryError, LiedynError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, geometry_of, leg_lengths, length_jacobian, PlatformMasses, PoseSolver, Stage, Status,
    StewartDynamics, Trivialization, Wire)
from liedyn_ros.stewart.description import PlatformTree
from liedyn_ros.stewart.platform.description.leg_types import Crank, OffsetStrut, Rail, Strut
from liedyn_ros.stewart.platform.kinematics import leg_ends
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.prediction import of_measured

EXAMPLES = list(ALL)
ALL_COUNTS = [*EXAMPLES, *OF_MORE_LEGS, 'mixed']
NEAR = {'turn': 0.15, 'shift': 0.02}  # within reach of every example


@pytest.mark.parametrize('name', ALL_COUNTS)
def test_jacobians_are_differences_of_references(name):  # (Stewart 22, 24)
    geometry, home = example(name)
    meter, step = PlatformMeter(geometry), 1e-5
    for pose in poses_about(home, 3, 2, **NEAR):
        ahead, behind = (np.array([
            reference_values(geometry, se3.compose(pose, se3.exp(sign * step * e)))
            for e in np.eye(6)]) for sign in (1.0, -1.0))
        difference = (ahead - behind).T / (2.0 * step)
        jacobian = length_jacobian(geometry, pose)
        assert jacobian == pytest.approx(difference, abs=1e-7 * np.abs(jacobian).max())
        state = meter.measure(pose)
        assert state.jacobian == pytest.approx(jacobian, abs=1e-12 * np.abs(jacobian).max())
        assert state.inverse @ jacobian == pytest.approx(np.eye(6), abs=1e-9)


@pytest.mark.parametrize('name', ALL_COUNTS)
def test_poses_of_reference_values_are_found_from_home(name):
    geometry, home = example(name)
    solver = PoseSolver(geometry)
    for pose in poses_about(home, 20, 3, **NEAR):
        solution = solver.solve(reference_values(geometry, pose), home)
        assert solution.converged and solution.residual < 1e-14
        assert np.abs(solution.pose - pose).max() < 1e-12


def test_near_a_dead_centre_a_solve_tells_the_least_transmission():
    geometry, pose = example('hexaglide')
    endless = dataclasses.replace(geometry, length_limits=np.tile([-np.inf, np.inf], (6, 1)))
    pose = pose.copy()
    pose[0, 3] += 0.38
    found = PoseSolver(endless).solve(leg_lengths(endless, pose), pose)
    meter = PlatformMeter(endless)
    least = np.abs(meter.transmissions(pose)).min()
    assert least < 0.5 * meter.measure(pose).smallest_singular_value
    assert found.smallest_singular_value == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize('name', EXAMPLES)
def test_a_pose_is_that_of_scipys_least_squares(name):  # (Stewart Algorithm 2)
    geometry, home = example(name)
    pose = poses_about(home, 1, 4, **NEAR)[0]
    values = leg_lengths(geometry, pose)

    def at(x):
        moved = np.eye(4)
        moved[:3, :3], moved[:3, 3] = Rotation.from_rotvec(x[:3]).as_matrix(), x[3:]
        return moved
    found = least_squares(
        lambda x: reference_values(geometry, at(x)) - values, np.append(np.zeros(3), home[:3, 3]),
        xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(at(found.x) - PoseSolver(geometry).solve(values, home).pose).max() < 1e-9


@pytest.mark.parametrize('name', EXAMPLES)
def test_covariances_are_those_of_solves_with_noise(name):
    geometry, home = example(name)
    pose, solver, sigma = poses_about(home, 1, 5, **NEAR)[0], PoseSolver(geometry), 1e-6
    jacobian = length_jacobian(geometry, pose)
    expected = sigma ** 2 * np.linalg.inv(jacobian.T @ jacobian)
    values = leg_lengths(geometry, pose)
    noisy = values + np.random.default_rng(5).normal(0.0, sigma, (4000, 6))
    errors = se3.log(se3.compose(se3.inverse(pose), solver.solve_batch(noisy, pose).poses))
    whitened = np.linalg.solve(np.linalg.cholesky(expected), errors.T)
    assert np.abs(whitened @ whitened.T / 4000.0 - np.eye(6)).max() < 0.12


@pytest.mark.parametrize('name', EXAMPLES)
def test_a_measured_twist_changes_with_its_pose_as_differences_say(name):
    geometry, home = example(name)
    pose, twist = poses_about(home, 1, 6, **NEAR)[0], np.array([0.3, -0.2, 0.1, 0.05, 0.1, -0.2])
    rates, step = length_jacobian(geometry, pose) @ twist, 1e-5

    def twist_at(change):
        moved = se3.compose(pose, se3.exp(change))
        return np.linalg.solve(length_jacobian(geometry, moved), rates)
    change = np.array([twist_at(step * e) - twist_at(-step * e) for e in np.eye(6)]).T / (2 * step)
    covariance, cross = of_measured(
        geometry, PlatformMeter(geometry).measure(pose), twist, np.eye(6), np.zeros((6, 6)))
    assert cross == pytest.approx(change.T, abs=1e-5)
    assert covariance == pytest.approx(change @ change.T, abs=1e-4)


@pytest.mark.parametrize('name', list(HOMES))
def test_null_twists_and_signs_are_those_of_the_ends(name):
    geometry, home = example(name)
    meter = PlatformMeter(geometry)
    for pose in poses_about(home, 5, 7, **NEAR):
        foot, tip = leg_ends(geometry, pose)
        lines = (tip - foot) / np.linalg.norm(tip - foot, axis=1, keepdims=True)
        turned = lines @ pose[:3, :3]
        arms = (tip - pose[:3, 3]) @ pose[:3, :3] / geometry.characteristic_length
        jacobian = np.hstack((np.cross(arms, turned), turned))
        singularity = meter.measure(pose)
        assert singularity.smallest_singular_value == pytest.approx(
            np.linalg.svd(jacobian)[1][-1], rel=1e-9)
        assert singularity.determinant_sign == np.sign(np.linalg.det(jacobian))


@pytest.mark.parametrize('name', EXAMPLES)
def test_states_have_the_slope_of_differences(name):
    geometry, home = example(name)
    meter, step = PlatformMeter(geometry), 1e-5
    for pose in poses_about(home, 5, 10, **NEAR):
        state = meter.measure(pose)
        twist = state.null_twist * ([1.0] * 3 + [geometry.characteristic_length] * 3)
        ahead, behind = meter.signed_values([
            se3.compose(pose, se3.exp(sign * step * twist)) for sign in (1.0, -1.0)])
        assert state.slope == pytest.approx((ahead - behind) / (2.0 * step), abs=2e-5)


def test_no_offset_is_a_plain_strut(geometry, random_poses):
    bent = dataclasses.replace(geometry, leg_types=(OffsetStrut((0.0, 1.0, 0.0)),) * 6)
    for pose in random_poses[:20]:
        assert leg_lengths(bent, pose) == pytest.approx(leg_lengths(geometry, pose), abs=1e-15)
        assert length_jacobian(bent, pose) == pytest.approx(
            length_jacobian(geometry, pose), abs=1e-14)


def test_offset_of_the_base_alone_has_a_closed_form(geometry, random_poses):
    axis, e = np.array([0.0, 0.6, 0.8]), 0.03
    bent = dataclasses.replace(geometry, leg_types=(OffsetStrut(tuple(axis), e),) * 6)
    for pose in random_poses[:20]:
        w = geometry.platform_joints @ pose[:3, :3].T + pose[:3, 3] - geometry.base_joints
        along = w @ axis
        across = np.linalg.norm(w - along[:, None] * axis, axis=1)
        assert leg_lengths(bent, pose) == pytest.approx(np.hypot(across - e, along), abs=1e-14)


@pytest.mark.parametrize('name', ['geometry', 'spindles', 'wires', 'carried_guides'])
def test_jacobians_of_both_frames_belong_to_each_other(name):  # (Stewart 23)
    geometry, home = example(name)
    for pose in poses_about(home, 5, 11, **NEAR):
        body = length_jacobian(geometry, pose)
        spatial = length_jacobian(geometry, pose, Trivialization.SPATIAL)
        assert spatial @ se3.adjoint(pose) == pytest.approx(body, abs=1e-12)


def test_a_turn_of_the_platform_is_a_turn_of_an_upright_screw(geometry):
    lead, turn = 0.01, 0.7
    screws = dataclasses.replace(
        geometry, platform_joints=geometry.base_joints,
        leg_types=(OffsetStrut(lead=lead),) * 6)
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler('z', turn).as_matrix()
    pose[2, 3] = 0.5
    for leg, joint in enumerate(geometry.base_joints):  # the platform turns about this leg
        pose[:3, 3] = joint - pose[:3, :3] @ joint + [0.0, 0.0, 0.5]
        assert leg_lengths(screws, pose)[leg] == pytest.approx(
            0.5 - lead * turn / (2.0 * np.pi), abs=1e-15)


def test_a_screw_that_is_forgotten_costs_micrometres():
    geometry, home = example('spindles')
    still = dataclasses.replace(geometry, leg_types=tuple(
        dataclasses.replace(leg, lead=0.0) for leg in geometry.leg_types))
    turned = home.copy()
    turned[:3, :3] = Rotation.from_euler('z', 0.1).as_matrix()
    change = leg_lengths(geometry, turned) - leg_lengths(geometry, home)
    without = leg_lengths(still, turned) - leg_lengths(still, home)
    turns = np.abs(change - without) / (2e-3 / (2.0 * np.pi) * 0.1)  # leads times 0.1 rad
    assert (1.0 < turns).all() and (turns < np.cos(0.4) ** -2).all()  # as rods lean by up to 0.4


def test_ends_of_wires_and_stages_are_where_they_are():
    geometry, home = example('wires')
    feet, tips = leg_ends(geometry, home)
    free = np.linalg.norm(tips - feet, axis=1)
    arms = feet - geometry.base_joints
    lean = np.einsum('ij,ij->i', tips - feet, np.column_stack((
        arms[:, :2] * (1.0 - 0.04 / np.linalg.norm(arms[:, :2], axis=1, keepdims=True)),
        arms[:, 2])))
    assert lean == pytest.approx(np.zeros(6), abs=1e-12)  # across the pulley's radius
    assert (free < leg_lengths(geometry, home)).all()
    for name in ('stages', 'carried_guides'):
        geometry, home = example(name)
        feet, tips = leg_ends(geometry, poses_about(home, 1, 13, **NEAR)[0])
        ways = leg_lengths(geometry, poses_about(home, 1, 13, **NEAR)[0])
        expected = geometry.base_joints + [
            ways[i // 2 * 2] * np.array(geometry.leg_types[i // 2 * 2].direction)
            + ways[i // 2 * 2 + 1] * np.array(geometry.leg_types[i // 2 * 2].other)
            for i in range(6)]
        assert feet == pytest.approx(expected, abs=1e-12)


def test_what_has_no_tree_and_no_dynamics_says_so():
    for name in OTHERS:
        geometry, _ = example(name)
        massive = dataclasses.replace(
            geometry, masses=PlatformMasses(1.0, (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)))
        with refused(GeometryError, geometry.leg_names[0]):
            StewartDynamics(massive)
    for name in ('wires', 'stages'):
        with refused(GeometryError, 'tree'):
            PlatformTree(*example(name))


def test_types_can_be_mixed():
    geometry, home = example('hexaglide')
    mixed = dataclasses.replace(
        geometry, leg_types=(Strut(), OffsetStrut(base_offset=0.02), *geometry.leg_types[2:]),
        length_limits=np.tile([0.0, np.inf], (6, 1)))
    for pose in poses_about(home, 10, 8, **NEAR):
        values = reference_values(mixed, pose)
        assert leg_lengths(mixed, pose) == pytest.approx(values, abs=1e-12)
        assert np.abs(PoseSolver(mixed).solve(values, home).pose - pose).max() < 1e-12


@pytest.mark.parametrize('name', ['hexaglide', 'cranks'])
def test_a_drive_pulls_where_it_does_not_push(name):
    geometry, home = example(name)
    pulled = dataclasses.replace(
        geometry, leg_types=tuple(
            dataclasses.replace(leg, pushes=False) for leg in geometry.leg_types),
        length_limits=np.tile([-np.inf, np.inf], (6, 1)))
    for pose in poses_about(home, 5, 9, **NEAR):
        values = reference_values(pulled, pose)
        assert leg_lengths(pulled, pose) == pytest.approx(values, abs=1e-11)
        solution = PoseSolver(pulled).solve(values, home)
        assert solution.converged and np.abs(solution.pose - pose).max() < 1e-12


def test_a_drive_beyond_its_dead_centre_is_singular():
    geometry, home = example('hexaglide')
    other_side = dataclasses.replace(
        geometry, leg_types=tuple(
            dataclasses.replace(leg, pushes=False) for leg in geometry.leg_types))
    solution = PoseSolver(other_side).solve(leg_lengths(geometry, home), home)
    assert solution.status is Status.SINGULAR and solution.smallest_singular_value < 0.0
    assert np.abs(solution.pose - home).max() < 1e-12


def test_a_drive_near_its_dead_centre_is_flagged_and_named():
    geometry, home = example('hexaglide')
    meter = PlatformMeter(geometry)
    poses = np.tile(home, (6000, 1, 1))
    poses[:, 0, 3] += np.arange(6000) * 1e-4  # sideways, until a rod does not reach
    reached = np.isfinite([leg_ends(geometry, pose) for pose in poses]).all(axis=(1, 2, 3))
    last = meter.measure(poses[np.argmin(reached) - 1])
    cosines = meter.transmissions(last.pose)
    ends, tips = leg_ends(geometry, last.pose)
    assert cosines == pytest.approx([
        rod @ leg.direction / leg.rod for rod, leg in zip(tips - ends, geometry.leg_types)])
    leg = int(np.argmin(cosines))
    assert 0.0 < cosines[leg] < 0.05 and Flag.NEAR_DEAD_CENTRE in last.flags
    assert f'dead centre of {geometry.leg_names[leg]}' in last.exceeded_limits()
    state = meter.measure(home)
    assert not state.flags and not state.exceeded_limits()


def test_what_a_rod_does_not_reach_is_named():
    geometry, home = example('hexaglide')
    far = home.copy()
    far[0, 3] = 2.0
    with refused(LimitError, 'pose_base_platform'):
        leg_lengths(geometry, far)
    margins = PlatformMeter(geometry).measure(far).margins
    assert not margins.within_limits and (margins.values < 0.0).all()


@pytest.mark.parametrize('name', EXAMPLES)
def test_limits_of_examples_are_kept_at_home(name):
    geometry, home = example(name)
    margins = PlatformMeter(geometry).measure(home).margins
    assert margins.within_limits
    values = leg_lengths(geometry, home)
    assert margins.travel == pytest.approx(
        np.minimum(values - geometry.length_limits[:, 0], geometry.length_limits[:, 1] - values))


def test_legs_that_share_a_joint_do_not_collide():
    geometry, home = example('octahedron')
    thick = dataclasses.replace(geometry, leg_diameter=0.03)
    margins = PlatformMeter(thick).measure(home).margins
    assert margins.within_limits and np.isinf(margins.clearance).sum() == 6
    assert np.isfinite(margins.clearance).sum() == 9


def test_limits_are_named_in_their_units():
    geometry, _ = example('cranks')
    with refused(LimitError, 'leg_2', indices=(1,), got=2.0):
        geometry.require_within_limits(np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0]))


def servos_document(**crank):
    """Return the servos' file as a mapping, each of its cranks updated."""
    content = yaml.safe_load(config_file('stewart_servos.yaml').read_text(encoding='utf-8'))
    for leg in content['legs'].values():
        leg['crank'].update(crank)
    return content


def reversed_cranks(**crank):
    """Return the servos' file with servos that turn the other way, by their other side."""
    content = servos_document(**crank)
    for leg in content['legs'].values():
        leg['crank']['axis'] = [-x for x in leg['crank']['axis']]
    return content


@pytest.mark.parametrize('content', [servos_document(axis='lowers'), reversed_cranks()])
def test_a_reversed_crank_is_on_the_side_of_its_travel_at_home(content):
    """Angles are those of the machine that turns the other way, with the sign changed."""
    geometry, (known, home) = geometry_of(content), (geometry_of(servos_document()), np.eye(4))
    home[:3, 3] = [0.004, -0.003, 0.119]
    assert [leg.pushes for leg in geometry.leg_types] == [False] * 6
    np.testing.assert_allclose(leg_lengths(geometry, home), -leg_lengths(known, home), atol=1e-12)


def test_a_crank_without_travel_is_nearest_to_zero_at_home_with_a_warning():
    with pytest.warns(DescriptionWarning, match='servo_6'):
        geometry = geometry_of(reversed_cranks(travel=[-np.pi, np.pi]))
    assert np.abs(leg_lengths(geometry, geometry.home)).max() < 0.1


@pytest.mark.parametrize(('content', 'got'), [
    (reversed_cranks(pushes=True), math.radians(-173.2)),
    (servos_document(travel=[0.5, 1.4]), math.radians(1.7)),
    (servos_document(pushes=False), math.radians(173.2))])
def test_a_crank_outside_its_travel_at_home_is_refused(content, got):
    with refused(LimitError, 'servo_1', got=pytest.approx(got, abs=1e-3), indices=(0,)):
        geometry_of(content)


def hexaglide_document():
    """Return the hexaglide's file as a mapping."""
    return yaml.safe_load(config_file('stewart_hexaglide.yaml').read_text(encoding='utf-8'))


@pytest.mark.parametrize(('change', 'named', 'got'), [
    (lambda leg: leg['rail'].pop('rod'), 'geometry/legs/leg_1/rail', "['direction', 'travel']"),
    (lambda leg: leg['rail'].update(rod=-1.0), 'rod', -1.0),
    (lambda leg: leg['rail'].update(direction=[0, 0, 0]), 'direction', [0.0, 0.0, 0.0]),
    (lambda leg: leg['rail'].update(pushes='yes'), 'geometry/legs/leg_1/rail/pushes', 'yes'),
    (lambda leg: leg['rail'].update(speed=1.0), 'geometry/legs/leg_1/rail', "['speed']"),
    (lambda leg: leg.update(crank={}), 'geometry/legs/leg_1', ANY),
    (lambda leg: leg.update(base_universal={'axis': [1, 0, 0], 'offset': 0.1}),
     'geometry/legs/leg_1', ANY),
    (lambda leg: leg.update(length=[0.1, 0.2]), 'geometry/legs/leg_1', "['length']"),
    (lambda leg: leg['rail'].update(travel=[0.4, 0.1]), 'length limits of leg_1', '0.4, 0.1'),
    (lambda leg: leg.update(wire={'axis': [0, 0, 1], 'radius': 0.1}), 'geometry/legs/leg_1', ANY),
    (lambda leg: leg.update(lead=0.01), 'geometry/legs/leg_1', 0.01),
    (lambda leg: (leg.pop('rail'), leg.update(lead=0.01)), 'geometry/legs/leg_1', 0.01),
    (lambda leg: (leg.pop('rail'), leg.update(lead_zero=0.01)), 'geometry/legs/leg_1', 0.01),
    (lambda leg: (leg.pop('rail'), leg.update(wire={'axis': [0, 0, 1], 'radius': 0})),
     'radius', 0.0),
    (lambda leg: (leg.pop('rail'), leg.update(stage={'direction': [1, 0, 0], 'other': [0, 1, 0]})),
     'geometry/legs/leg_1/stage', "['direction', 'other']"),
])
def test_bad_drives_are_named(change, named, got):
    content = hexaglide_document()
    change(content['legs']['leg_1'])
    with refused(LiedynError, named, got=got):
        geometry_of(content)


@pytest.mark.parametrize(('make', 'name'), [
    (lambda: OffsetStrut(base_offset=-0.1), 'base_offset'),
    (lambda: Crank((0, 0, 1), (0, 0, 1), 0.1, 0.2), 'crank'),
    (lambda: Crank((0, 0, 1), (1, 0, 0), 0.0, 0.2), 'radius'),
    (lambda: OffsetStrut(lead=np.inf), 'lead'),
    (lambda: Wire((0, 0, 1), -0.1), 'radius'),
    (lambda: Stage((1, 0, 0), (-1, 0, 0), (0, 0, 1)), 'stage'),
    (lambda: Stage((1, 0, 0), (0, 1, 0), (1, 1, 0)), 'stage'),
    (lambda: Rail((0, 0, np.nan), 0.1), 'direction'),
])
def test_bad_forms_are_named(make, name):
    with refused(LiedynError, name):
        make()


def test_a_form_is_needed_for_each_leg(geometry):
    with refused(GeometryError, 'leg_types'):
        dataclasses.replace(geometry, leg_types=(Strut(),) * 5)


def test_threads_that_share_a_meter_do_not_mix_poses(switching):
    geometry, home = example('cranks')
    meter, poses = PlatformMeter(geometry), [home.copy(), home.copy()]
    poses[1][:3, 3] += [0.02, 0.01, -0.01]
    states = [meter.measure(pose) for pose in poses]
    wanted = [(meter.transmissions(pose), meter.margins(pose[None]).travel[0]) for pose in poses]

    def ask(k):
        return all(
            meter.transmissions(states[k].pose) == wanted[k][0]
            and np.array_equal(meter.limits_at(states[k].pose, 1.0)[0][:6], wanted[k][1])
            for _ in range(5000))
    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(ask, range(2)))
