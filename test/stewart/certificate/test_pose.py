# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Certificates of poses: the true pose lies within, no other one, and hardly more is claimed."""

import dataclasses

import numpy as np
import pytest
from support.platforms.leg_types import example, poses_about
from support.refusals import refused

from liedyn_ros.common.errors import GeometryError, LimitError, ShapeError
from liedyn_ros.lie import se3
from liedyn_ros.stewart import AssemblyModeSolver, leg_lengths, PoseCertifier, PoseSolver, Status
from liedyn_ros.stewart.platform.kinematics import leg_ends
from liedyn_ros.stewart.platform.state import PlatformMeter

SOLVED = 1e-13  # m, within which a solve meets a pose


def distances(geometry, poses, others):
    """Return rho-scaled distances of poses, and the errors of each coordinate, at the centre."""
    centre, rho = geometry.platform_joints.mean(axis=0), geometry.characteristic_length
    poses, others = np.array(poses), np.array(others)
    turn, apart = se3.log(np.linalg.inv(poses) @ others)[:, :3], (others - poses)[:, :3]
    moved = ((apart[..., 3] + apart[..., :3] @ centre)[:, None] @ poses[:, :3, :3])[:, 0]
    return np.sqrt(rho ** 2 * (turn ** 2).sum(axis=1) + (moved ** 2).sum(axis=1)), np.hstack(
        (turn, moved))


@pytest.mark.parametrize(('bound', 'share'), [(1e-9, 1.0), (1e-5, 1.0), (1e-3, 0.8)])
def test_true_poses_lie_within_their_radius_and_their_box(geometry, random_poses, bound, share):
    rng = np.random.default_rng(7)
    poses = random_poses[:2000]
    noisy = leg_lengths(geometry, poses) + rng.uniform(-bound, bound, (len(poses), 6))
    solver, certifier = PoseSolver(geometry), PoseCertifier(geometry, bound)
    found = solver.solve_batch(noisy, poses).poses
    certificates = [certifier.certify(pose, row) for pose, row in zip(found, noisy)]
    certified = np.array([certificate.certified for certificate in certificates])
    assert certified.mean() >= share
    apart, errors = distances(geometry, found, poses)
    radii = np.array([certificate.error_radius for certificate in certificates])
    assert (apart <= radii)[certified].all()
    assert (np.abs(errors) <= np.array([c.bounds for c in certificates]))[certified].all()


def test_boxes_are_reached_by_the_worst_noise(geometry, random_poses):
    bound, solver = 1e-6, PoseSolver(geometry)
    certifier = PoseCertifier(geometry, bound)
    for pose in random_poses[:30]:
        lengths = leg_lengths(geometry, pose)
        inverse = np.linalg.inv(jacobian_at_centre(geometry, pose))
        certificate = certifier.certify(pose, lengths)
        for k in range(6):
            worst = lengths + bound * np.sign(inverse[k])
            _, error = distances(geometry, [pose], [solver.solve(worst, pose).pose])
            assert 0.97 * certificate.bounds[k] < abs(error[0, k]) <= certificate.bounds[k]


@pytest.mark.parametrize('name', ['geometry', 'hexaglide', 'cranks'])
def test_radii_are_at_most_twice_the_least_possible(name, request, random_poses):
    geometry, poses = request.getfixturevalue('geometry'), random_poses
    if name != 'geometry':
        geometry, home = example(name)
        poses = poses_about(home, 20, 3, 0.15, 0.02)
    bound, solver = 1e-5, PoseSolver(geometry)
    certifier, corners = PoseCertifier(geometry, bound), np.array(
        np.meshgrid(*[[-1.0, 1.0]] * 6)).reshape(6, -1).T
    for pose in poses[:20]:
        lengths = leg_lengths(geometry, pose)
        found = solver.solve_batch(lengths + bound * corners, pose).poses
        apart, _ = distances(geometry, [pose] * len(found), found)
        radius = certifier.certify(pose, lengths).error_radius
        assert apart.max() <= radius < 2.0 * apart.max()


def jacobian_at_centre(geometry, pose):
    """Return dL/d(w, v of the joints' centre), by the lines of the legs."""
    foot, tip = leg_ends(geometry, pose)
    centre = pose[:3, :3] @ geometry.platform_joints.mean(axis=0) + pose[:3, 3]
    lines = (tip - foot) / np.linalg.norm(tip - foot, axis=1, keepdims=True)
    return np.hstack((np.cross(tip - centre, lines) @ pose[:3, :3], lines @ pose[:3, :3]))


def test_joints_within_their_bound_leave_the_pose_within_its_radius(geometry, random_poses):
    rng, bound = np.random.default_rng(8), 5e-5
    certifier = PoseCertifier(geometry, 1e-5, bound)
    for pose in random_poses[:200]:
        off = [rng.normal(size=(6, 3)) for _ in range(2)]
        off = [bound * x / np.linalg.norm(x, axis=1, keepdims=True) for x in off]
        true = dataclasses.replace(
            geometry, base_joints=geometry.base_joints + off[0],
            platform_joints=geometry.platform_joints + off[1])
        lengths = leg_lengths(true, pose) + rng.choice([-1e-5, 1e-5], 6)
        found = PoseSolver(geometry).solve(lengths, pose).pose
        certificate = certifier.certify(found, lengths)
        apart, error = distances(geometry, [found], [pose])
        assert apart[0] <= certificate.error_radius
        assert (np.abs(error[0]) <= certificate.bounds).all()


def test_the_distance_of_an_unsolved_pose_is_certified(geometry, random_poses):
    rng, certifier, certified = np.random.default_rng(9), PoseCertifier(geometry), 0
    for pose in random_poses[:500]:
        size = 10.0 ** rng.uniform(-12.0, -1.0)
        off = se3.compose(pose, se3.exp(size * rng.normal(size=6)))
        certificate = certifier.certify(off, leg_lengths(geometry, pose))
        apart, _ = distances(geometry, [off], [pose])
        if certificate.certified:
            certified += 1
            assert apart[0] <= certificate.error_radius < certificate.uniqueness_radius
            # Rounding is the last digits' share.
            assert certificate.error_radius < 2.0 * apart[0] + 1e-13
    assert certified > 300


def test_no_other_pose_of_the_lengths_is_near(geometry, random_poses):
    certifier, modes = PoseCertifier(geometry), AssemblyModeSolver(geometry)
    others = 0
    for pose in random_poses[:8]:
        lengths = leg_lengths(geometry, pose)
        radius = certifier.certify(pose, lengths).uniqueness_radius
        for mode in modes.solve(lengths).modes:
            apart, _ = distances(geometry, [pose], [mode.pose])
            if apart[0] > 1e-6:
                others += 1
                assert apart[0] > radius
    assert others >= 8


def test_no_singularity_is_within_the_regular_radius(geometry, random_poses):
    rng, certifier = np.random.default_rng(10), PoseCertifier(geometry)
    meter, rho = PlatformMeter(geometry), geometry.characteristic_length
    for pose in random_poses[:50]:
        radius = certifier.certify(pose, leg_lengths(geometry, pose)).regular_radius
        steps = rng.normal(size=(40, 6))
        steps *= radius / np.linalg.norm(steps, axis=1, keepdims=True)
        steps[:, :3] /= rho
        values = meter.signed_values(se3.compose(pose, se3.exp(0.99 * steps)))
        assert (values * meter.measure(pose).signed_value > 0.0).all()


def test_nothing_is_certified_at_a_singularity_or_of_nan(geometry, home):
    certifier = PoseCertifier(geometry, 1e-5)
    quarter = home.copy()
    quarter[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]  # Fichter's singularity
    for pose, lengths in ((quarter, leg_lengths(geometry, quarter)),
                          (home, np.full(6, np.nan)), (np.full((4, 4), np.nan), np.ones(6))):
        certificate = certifier.certify(pose, lengths)
        assert not certificate.certified and np.isnan(certificate.error_radius)


@pytest.mark.parametrize('name', [
    '6_3', 'octahedron', 'hexaglide', 'cranks', 'circular_rail', 'offset', 'spindles', 'wires'])
def test_every_form_with_a_bound_is_certified(name):
    geometry, home = example(name)
    rng, bound = np.random.default_rng(11), 1e-5
    certifier, solver = PoseCertifier(geometry, bound), PoseSolver(geometry)
    for pose in poses_about(home, 100, 12, 0.15, 0.02):
        values = leg_lengths(geometry, pose) + rng.uniform(-bound, bound, 6)
        found = solver.solve(values, pose).pose
        certificate = certifier.certify(found, values)
        apart, error = distances(geometry, [found], [pose])
        assert apart[0] <= certificate.error_radius < 0.01
        assert (np.abs(error[0]) <= certificate.bounds).all()


@pytest.mark.parametrize(('length_bound', 'joint_bound'), [(1e-9, 0.0), (1e-4, 0.0), (1e-5, 5e-5)])
@pytest.mark.parametrize('lead', [0.0, 0.01])
@pytest.mark.parametrize('name', ['offset', 'spindles'])
def test_offsets_and_screws_are_proved(name, lead, length_bound, joint_bound):
    geometry, home = example(name)
    geometry = dataclasses.replace(geometry, leg_types=tuple(
        dataclasses.replace(leg, lead=lead) for leg in geometry.leg_types))
    require_proofs_of_true_poses(geometry, home, length_bound, joint_bound)


@pytest.mark.parametrize(('length_bound', 'joint_bound'), [(1e-9, 0.0), (1e-4, 0.0), (1e-5, 5e-5)])
@pytest.mark.parametrize('radius', [0.02, 0.1])
def test_wires_are_proved(radius, length_bound, joint_bound):
    geometry, home = example('wires')
    geometry = dataclasses.replace(geometry, leg_types=tuple(
        dataclasses.replace(leg, radius=radius) for leg in geometry.leg_types))
    require_proofs_of_true_poses(geometry, home, length_bound, joint_bound)


def require_proofs_of_true_poses(geometry, home, length_bound, joint_bound):
    """Fail unless poses about home are proved, and true poses lie within what is proved."""
    rng, solver = np.random.default_rng(13), PoseSolver(geometry)
    certifier = PoseCertifier(geometry, length_bound, joint_bound)
    for pose in poses_about(home, 100, 14, 0.3, 0.03):
        off = [rng.normal(size=(6, 3)) for _ in range(2)]
        off = [joint_bound * x / np.linalg.norm(x, axis=1, keepdims=True) for x in off]
        true = dataclasses.replace(
            geometry, base_joints=geometry.base_joints + off[0],
            platform_joints=geometry.platform_joints + off[1])
        values = leg_lengths(true, pose) + length_bound * rng.choice([-1.0, 1.0], 6)
        found = solver.solve(values, pose).pose
        certificate = certifier.certify(found, values)
        assert certificate.certified
        apart, error = distances(geometry, [found], [pose])
        assert apart[0] <= certificate.error_radius
        assert (np.abs(error[0]) <= certificate.bounds).all()


@pytest.mark.parametrize('name', ['offset', 'spindles', 'wires'])
def test_an_unsolved_pose_with_offsets_is_proved_alone_and_regular(name):
    geometry, home = example(name)
    rng, certifier, solver = np.random.default_rng(15), PoseCertifier(geometry), PoseSolver(
        geometry)
    meter, rho, seen = PlatformMeter(geometry), geometry.characteristic_length, 0
    for pose in poses_about(home, 60, 16, 0.3, 0.03):
        values = leg_lengths(geometry, pose)
        off = se3.compose(pose, se3.exp(10.0 ** rng.uniform(-12.0, -1.5) * rng.normal(size=6)))
        certificate = certifier.certify(off, values)
        apart, _ = distances(geometry, [off], [pose])
        seen += certificate.certified
        assert not certificate.certified or apart[0] <= certificate.error_radius
        there = certifier.certify(pose, values)
        steps = rng.normal(size=(20, 6))
        steps /= np.linalg.norm(steps, axis=1, keepdims=True)
        steps[:, :3] /= rho
        around = se3.compose(pose, se3.exp(0.99 * there.regular_radius * steps))
        assert (meter.signed_values(around) * meter.measure(pose).signed_value > 0.0).all()
        found = solver.solve_batch(
            np.tile(values, (20, 1)), se3.compose(pose, se3.exp(2.0 * rho * steps)))
        others = found.poses[found.statuses == Status.CONVERGED]
        apart, _ = distances(geometry, np.tile(pose, (len(others), 1, 1)), others)
        assert ((apart < 1e-9) | (apart > there.uniqueness_radius)).all()
    assert seen > 30


def test_a_frame_far_from_the_joints_changes_nothing(geometry, paper_pose):
    shift = np.array([0.3, -0.2, 0.5])
    moved = dataclasses.replace(geometry, platform_joints=geometry.platform_joints + shift)
    pose = paper_pose.copy()
    pose[:3, 3] -= pose[:3, :3] @ shift
    first, second = (PoseCertifier(platform, 1e-5).certify(at, leg_lengths(platform, at))
                     for platform, at in ((geometry, paper_pose), (moved, pose)))
    assert second.error_radius == pytest.approx(first.error_radius, rel=1e-6)
    assert second.bounds == pytest.approx(first.bounds, rel=1e-6)


def test_what_cannot_be_certified_is_refused(geometry):
    for name in ('stages', 'carried_guides'):
        with refused(GeometryError, 'certificate'):
            PoseCertifier(example(name)[0])
    with refused(LimitError, 'length_bound, joint_bound'):
        PoseCertifier(geometry, -1e-5)
    with refused(ShapeError, 'pose_base_platform, lengths'):
        PoseCertifier(geometry).certify(np.eye(3), np.ones(6))
