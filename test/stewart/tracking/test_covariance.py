# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Covariance from leg noise, against Monte Carlo, numpy and REP 103 spelt out."""

from dataclasses import replace

import numpy as np
import pytest
from support.comparison import assert_same
from support.platforms.stewart_motion import noise_covariance
from support.refusals import refused

from liedyn_ros.common.errors import LimitError, ShapeError, SingularError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, leg_rates, length_jacobian, linear_first, load_geometry, MonitoredTracker,
    MotionEstimator, pose_covariance, PoseSolver)
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.prediction import in_fixed_axes, joint_covariance, of_measured

DRAWS = 40_000
DEVIATIONS = np.array([1.0, 2.0, 1.5, 0.5, 1.0, 3.0]) * 1e-5  # m


def spread(samples, expected):
    """Return the largest difference of two covariances in units of the expected deviations."""
    deviations = np.sqrt(np.diag(expected))
    return np.abs((np.cov(samples.T) - expected) / np.outer(deviations, deviations)).max()


def noisy_poses(geometry, pose, seed):
    """Return poses solved from lengths with noise."""
    rng = np.random.default_rng(seed)
    lengths = leg_lengths(geometry, pose) + DEVIATIONS * rng.normal(size=(DRAWS, 6))
    solutions = PoseSolver(geometry).solve_batch(lengths, pose)
    assert not solutions.statuses.any()
    return solutions.poses


def errors(pose, poses):
    """Return the body twists from a pose to many."""
    return se3.log(se3.compose(se3.inverse(pose), poses))


@pytest.mark.parametrize('index', range(3))
def test_pose_covariance_is_that_of_solved_noise(geometry, random_poses, index):
    pose = random_poses[index]
    covariance = noise_covariance(geometry, DEVIATIONS, pose)
    assert spread(errors(pose, noisy_poses(geometry, pose, index)), covariance) < 0.05


@pytest.mark.parametrize('file', ['stewart_geometry', 'stewart_servos', 'stewart_hexaglide'])
def test_the_covariance_of_one_pose(file):
    geometry = load_geometry(config_file(f'{file}.yaml'))
    home = geometry.home
    assert_same(pose_covariance(geometry, home, DEVIATIONS),
                noise_covariance(geometry, DEVIATIONS, home), 1e-12)
    alike = pose_covariance(geometry, home, 1e-5)
    assert_same(alike, noise_covariance(geometry, np.full(6, 1e-5), home), 1e-12)
    noisy = replace(geometry, leg_noise=DEVIATIONS)
    assert_same(pose_covariance(noisy, home), pose_covariance(geometry, home, DEVIATIONS), 1e-15)
    for noise, kind in ((0.0, LimitError), (-1.0, LimitError), (np.ones(5), ShapeError)):
        with refused(kind, 'leg_noise'):
            pose_covariance(geometry, home, noise)


def test_published_order_is_position_then_rotation_about_fixed_axes(geometry, random_poses):
    pose = random_poses[7]
    poses = noisy_poses(geometry, pose, 7)
    turned = poses[:, :3, :3] @ pose[:3, :3].T  # so little that the angles are its entries
    samples = np.hstack((
        poses[:, :3, 3] - pose[:3, 3],
        np.stack((turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]), axis=1)))
    covariance = in_fixed_axes(noise_covariance(geometry, DEVIATIONS, pose), pose)
    assert spread(samples, covariance) < 0.05


@pytest.fixture(scope='module')
def measured(geometry, random_poses):
    """Return a pose and twist with the (12, 12) of both, and both from noisy legs."""
    pose, twist = random_poses[5], np.array([0.5, -0.4, 0.8, 0.2, -0.1, 0.1])
    poses = noisy_poses(geometry, pose, 5)[:20_000]
    rates = leg_rates(geometry, pose, twist)
    noise = 1e-5 * np.random.default_rng(6).normal(size=(len(poses), 6))
    jacobians = np.stack([length_jacobian(geometry, noisy) for noisy in poses])
    twists = np.linalg.solve(jacobians, (rates + noise)[..., None])[..., 0]
    of_pose = noise_covariance(geometry, DEVIATIONS, pose)
    of_rates = noise_covariance(geometry, np.full(6, 1e-5), pose)
    covariance, cross = of_measured(
        geometry, PlatformMeter(geometry).measure(pose), twist, of_pose, of_rates)
    assert np.diag(covariance).min() > 1.2 * np.diag(of_rates).min(), 'the pose was to matter'
    return pose, twist, joint_covariance(of_pose, covariance, cross), poses, twists


def test_twist_from_rates_shares_the_error_of_its_pose(measured):
    pose, _, covariance, poses, twists = measured
    assert spread(np.hstack((errors(pose, poses), twists)), covariance) < 0.05


def test_twist_from_rates(geometry, random_poses):
    pose, rng = random_poses[3], np.random.default_rng(3)
    rates = 0.1 + 1e-3 * rng.normal(size=(DRAWS, 6))
    twists = np.linalg.solve(length_jacobian(geometry, pose), rates.T).T
    covariance = noise_covariance(geometry, np.full(6, 1e-3), pose)
    assert spread(twists, covariance) < 0.05
    assert spread(np.roll(twists, 3, axis=1), linear_first(covariance)) < 0.05


def test_what_has_no_covariance_is_refused(geometry):
    flat = np.eye(4)  # all legs in one plane
    with refused(SingularError, 'pose'):
        of_measured(geometry, PlatformMeter(geometry).measure(flat), np.ones(6), np.eye(6),
                    np.eye(6))


def test_a_leg_whose_readings_have_no_noise_adds_nothing(geometry, home):
    tracker, estimator = MonitoredTracker(geometry, home), MotionEstimator(geometry)
    for k in range(50):
        found = tracker.track(k * 1_000_000, leg_lengths(
            geometry, home) + 1e-5 * np.sin(np.arange(6) + 7.0 * k))
    shares = np.sqrt([0.0, 1.2, 1.2, 1.2, 1.2, 1.2])
    found.motion = found.motion._replace(shares=shares, jitter=0.0, caution=1.0, excess=0.0)
    with np.errstate(all='raise'):
        covariance = estimator.pose_covariance(found)
    effects = np.linalg.inv(length_jacobian(geometry, found.pose)) * (found.motion.noise * shares)
    np.testing.assert_allclose(covariance, effects @ effects.T, rtol=1e-9, atol=1e-9 * np.abs(
        covariance).max())
