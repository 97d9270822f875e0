# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Twist at its stamp and predictions, whose errors are as large as their covariances say."""

import dataclasses

import numpy as np
import pytest
from support.platforms.leg_types import example
from support.refusals import refused

from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, leg_rates, load_geometry, MonitorConfig, MonitoredTracker, MotionEstimator,
    PoseSolver, SmoothTrajectory)
from liedyn_ros.stewart.platform.description.leg_types import Crank, Strut
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank
from liedyn_ros.stewart.tracking.legs.monitor import LegMotion
from liedyn_ros.stewart.tracking.prediction import GeometryNoise

FIRST_NS, SKIPPED = 1_000_000_000, 100


def follow(geometry, home, motion, rate, noise, count, jitter=0.0, **config):
    """Return the times and the monitored poses of samples."""
    rng, times = np.random.default_rng(3), 2.0 + np.arange(count) / rate
    lengths = leg_lengths(geometry, motion.pose(times))
    lengths += noise * rng.normal(size=lengths.shape)
    stamps = FIRST_NS + np.round(1e9 * (times + jitter * rng.normal(size=count))).astype(int)
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(**config))
    return 1e-9 * (stamps - FIRST_NS), [
        tracker.track(stamp, reading) for stamp, reading in zip(stamps.tolist(), lengths)]


def pose_errors(motion, times, found):
    """Return the twists (n, 6) from true poses to those that were found."""
    return se3.log(se3.compose(
        se3.inverse(motion.pose(times)), np.array([each.pose for each in found])))


def twist_errors(motion, times, found):
    """Return the errors (n, 6) of the twists that were found."""
    return np.array([each.twist for each in found]) - motion.twist(times)


def squares(errors, covariances):
    """Return the normalized square of each error (n, 6)."""
    weighted = np.linalg.solve(np.array(covariances), errors[..., None])[..., 0]
    return (errors * weighted).sum(axis=1)


@pytest.mark.full
@pytest.mark.parametrize(('rate', 'noise'), [
    (20, 1e-5), (50, 1e-4), (200, 1e-5), (1000, 1e-6), (1000, 1e-4)])
def test_twist_at_its_stamp_and_prediction_are_honest(geometry, home, motion, rate, noise):
    times, poses = follow(geometry, home, motion, rate, noise, 900, leg_noise=noise)
    require_honest(motion, MotionEstimator(geometry), times, poses)


def require_honest(motion, estimator, times, poses):
    """Return estimates; errors of twists and of poses ahead are as large as covariances."""
    times, poses = times[SKIPPED:], poses[SKIPPED:]
    found = [estimator.of(pose) for pose in poses]
    ahead = [estimator.predict(pose, 0.01) for pose in poses[9::10]]
    assert 2.5 < squares(twist_errors(motion, times, found), [
        each.twist_covariance for each in found]).mean() < 9.0
    assert 2.0 < squares(pose_errors(motion, times[9::10] + 0.01, ahead), [
        each.pose_covariance for each in ahead]).mean() < 11.0
    return found


def test_jitter_of_stamps_is_in_the_covariance(geometry, home, motion):
    times, poses = follow(geometry, home, motion, 500, 1e-5, 4000, jitter=3e-4)
    estimator, times, poses = MotionEstimator(geometry), times[2000::5], poses[2000::5]
    assert 3.0 < squares(pose_errors(motion, times, poses), [
        estimator.pose_covariance(pose) for pose in poses]).mean() < 9.0  # 200 and more without


def test_twist_of_exact_lengths_is_exact(geometry, home, motion):
    times, poses = follow(geometry, home, motion, 1000, 0.0, 400)
    assert np.abs(twist_errors(motion, times[200:], poses[200:])).max() < 3e-4
    assert all(pose.twist_span == 0.0 for pose in poses[200:])


def test_measured_rates_give_the_twist(geometry, home, motion):
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_noise=1e-5))
    for time in 2.0 + 1e-3 * np.arange(3):
        pose, twist = motion.pose(time), motion.twist(time)
        monitored = tracker.track(
            round(1e9 * time), leg_lengths(geometry, pose), leg_rates(geometry, pose, twist))
        assert monitored.rates is not None and np.allclose(monitored.twist, twist, atol=1e-9)
    estimate = MotionEstimator(geometry, 1e-3).of(monitored)
    jacobian = np.linalg.inv(monitored.state.jacobian)
    untold, legs = MotionEstimator(geometry).of(monitored), monitored.motion.at()
    variances = (monitored.rates - legs.rates) ** 2 + legs.rate_variance
    assert np.allclose(untold.twist_covariance, jacobian * variances @ jacobian.T, rtol=1e-2)
    assert np.allclose(estimate.twist_covariance, 1e-6 * jacobian @ jacobian.T, rtol=1e-2)


@pytest.mark.parametrize('noise', [1e-6, 1e-5, 1e-4])
@pytest.mark.parametrize('rate', [20, 100, 1000])
def test_covariances_hold_from_the_second_sample_on(geometry, home, motion, rate, noise):
    """First those of an assumed noise, then of few samples."""
    times, poses = follow(geometry, home, motion, rate, noise, 200)
    estimator, times, poses = MotionEstimator(geometry), times[1:], poses[1:]
    of_poses = squares(pose_errors(motion, times, poses), [
        estimator.pose_covariance(pose) for pose in poses])
    assert of_poses.mean() < 8.0 and squares(twist_errors(motion, times, poses), [
        estimator.of(pose).twist_covariance for pose in poses]).mean() < 12.0
    assert of_poses[-50:].mean() > 2.0, 'soon they are not too large'


def test_the_first_pose_has_no_covariance(geometry, home, motion):
    _, (first, _) = follow(geometry, home, motion, 100, 1e-5, 2)
    estimator = MotionEstimator(geometry)
    assert estimator.pose_covariance(first) is None
    for predict in (estimator.of, lambda pose: estimator.predict(pose, 0.1)):
        with refused(LimitError, 'monitored'):
            predict(first)


def test_a_prediction_over_too_long_a_time_is_refused(geometry, home, motion):
    _, poses = follow(geometry, home, motion, 100, 1e-4, 300, leg_noise=1e-4)
    with refused(LimitError, 'prediction 5 s after the last sample'):
        MotionEstimator(geometry).predict(poses[-1], 5.0)


@pytest.mark.full
def test_a_member_of_the_bank_is_a_kalman_filter():
    """Against the textbook form with full matrices."""
    rng, dt, spectrum, noise = np.random.default_rng(1), 0.01, 3.0, 1e-4
    factorial = [1.0, 1.0, 2.0, 6.0]
    forward = np.array([[dt ** (j - i) / factorial[j - i] if j >= i else 0.0
                         for j in range(4)] for i in range(4)])
    grid = dt * (np.arange(20_000) + 0.5) / 20_000
    effect = np.array([grid ** (3 - i) / factorial[3 - i] for i in range(4)])
    drift = spectrum * effect @ effect.T * (dt / 20_000)
    row = np.zeros(motion_bank.row_size(6))
    means = row[motion_bank.MEMBER_LEGS:]
    means[:] = rng.normal(size=24)
    half = rng.normal(size=(4, 4))
    covariance, legs = half @ half.T, means.reshape(6, 4).copy()
    row[motion_bank.COVARIANCE:motion_bank.MEMBER_EVIDENCE] = covariance.ravel()
    lengths = rng.normal(size=6)
    motion_bank.predict_member(row, dt, spectrum)
    motion_bank.correct_member(row, lengths, noise ** 2, 0.0, 1.0, 1.0)
    legs, covariance = legs @ forward.T, forward @ covariance @ forward.T + drift
    gain = covariance[:, 0] / (covariance[0, 0] + noise ** 2)
    legs += np.outer(lengths - legs[:, 0], gain)
    covariance -= np.outer(gain, covariance[0])
    assert np.allclose(means.reshape(6, 4), legs, atol=1e-9)
    assert np.allclose(row[motion_bank.COVARIANCE:motion_bank.MEMBER_EVIDENCE].reshape(4, 4),
                       covariance, rtol=1e-5, atol=1e-8)


def platform_of(kind):
    """Return a platform of cranks, of cranks of two sizes, or of cranks and struts, and home."""
    geometry, home = example('cranks')
    own = list(geometry.leg_types)
    for i in (1, 4):
        if kind == 'two sizes':
            own[i] = dataclasses.replace(own[i], radius=0.03)
        elif kind == 'mixed':
            own[i] = Strut()
    limits = [[-1.2, 1.2] if isinstance(form, Crank) else [0.0, 1.0] for form in own]
    return dataclasses.replace(geometry, leg_types=tuple(own), length_limits=limits), home


@pytest.mark.parametrize('kind', ['cranks', 'two sizes', 'mixed'])
def test_cranks_have_honest_twists_and_predictions(kind):
    geometry, home = platform_of(kind)
    motion = SmoothTrajectory(
        home, 0.4 * np.array([0.2, 0.2, 0.3, 0.03, 0.03, 0.03]),
        [0.23, 0.31, 0.17, 0.29, 0.19, 0.37], np.arange(6.0))
    metres, deviation = geometry.drive_scales, 6e-6  # m, of the ends of the drives
    unit, _ = geometry.reading_unit
    assert unit == pytest.approx({'cranks': 0.06, 'two sizes': 0.05, 'mixed': 1.0}[kind])
    rng, times = np.random.default_rng(3), 2.0 + 0.01 * np.arange(500)
    readings = leg_lengths(geometry, motion.pose(times))
    readings += deviation / metres * rng.normal(size=readings.shape)
    tracker = MonitoredTracker(
        geometry, home, config=MonitorConfig(leg_noise=deviation / unit))
    poses = [tracker.track(round(1e9 * time), reading) for time, reading in zip(times, readings)]
    assert not any(pose.flags for pose in poses)
    found = require_honest(motion, MotionEstimator(geometry), times, poses)
    assert 5.0 < squares(pose_errors(motion, times[SKIPPED:], poses[SKIPPED:]), [
        each.pose_covariance for each in found]).mean() < 7.0


def test_an_angle_that_is_not_known_is_no_length():
    """A prediction is refused by the way of the cranks' pins, not by their angles in rad."""
    geometry, home = platform_of('cranks')
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_noise=1e-3))
    rng, readings = np.random.default_rng(1), leg_lengths(geometry, home)
    for k in range(300):
        monitored = tracker.track(k * 10_000_000, readings + 1e-3 * rng.normal(size=6))
    estimator = MotionEstimator(geometry)
    estimator.predict(monitored, 1.0)  # 13 mm, 0.2 rad; 0.1 characteristic lengths are 15 mm
    with refused(LimitError, 'prediction 2 s after the last sample'):
        estimator.predict(monitored, 2.0)


@pytest.mark.parametrize('noise', [0.0, 1e-5])  # 0: not known yet, so nothing is replaced
def test_an_outlier_that_is_not_replaced_does_not_bend_the_twist(geometry, home, motion, noise):
    times = 2.0 + 1e-3 * np.arange(170)
    readings = leg_lengths(geometry, motion.pose(times))
    readings += 1e-5 * np.random.default_rng(2).normal(size=readings.shape)
    hit, config = readings.copy(), MonitorConfig(leg_noise=noise, replace_outliers=noise == 0.0)
    hit[150, 2] += 5e-3
    clean, bent = (MonitoredTracker(geometry, home, config=config) for _ in range(2))
    for k, time in enumerate(times):
        stamp = round(1e9 * time)
        one, other = clean.track(stamp, readings[k]), bent.track(stamp, hit[k])
        assert bool(other.legs) == (k == 150)
        if k == 150:
            assert np.abs(other.pose - one.pose).max() > 1e-3, 'it is not replaced'
        elif k > 150:
            assert other.twist == pytest.approx(one.twist, abs=2e-3)


@pytest.mark.full
def test_noise_beyond_all_members_widens_their_covariance():
    """Readings a hundred times as noisy as given: the errors are as reported, within 2."""
    rng, squares, noise, dt = np.random.default_rng(1), [], 1e-6, 1e-3
    moved = np.zeros(motion_bank.motion_size(6))
    bank = moved[6:].reshape(motion_bank.SPECTRA, motion_bank.row_size(6))
    motion_bank.start_bank(bank, 0.5 + 1e-4 * rng.normal(size=6), noise ** 2)
    for count in range(2, 601):
        motion_bank.update_bank(
            bank, dt, dt, 0.5 + 1e-4 * rng.normal(size=6), noise ** 2, 0.0, count)
        if count > 101:
            assert (bank[:, motion_bank.MEMBER_MISFIT] > 2.0).all()
            legs = LegMotion(noise, 0.0, dt, count, np.ones(6), moved).at()
            squares.append((legs.rates ** 2).mean() / legs.rate_variance)
    assert 0.25 < np.mean(squares) < 4.0


def test_what_calibration_left_unknown_is_in_every_covariance(geometry, home, motion):
    factor = 1e-4 * np.random.default_rng(5).normal(size=(48, 48))
    unsure = dataclasses.replace(geometry, calibration_covariance=factor @ factor.T)
    legs, both = MotionEstimator(geometry), MotionEstimator(unsure)
    pose = follow(geometry, home, motion, 200, 1e-5, 60, leg_noise=1e-5)[1][-1]
    unknown = GeometryNoise(unsure).covariance(pose.pose, pose.twist)
    np.testing.assert_allclose(both.pose_covariance(pose), legs.pose_covariance(pose)
                               + unknown[:6, :6])
    np.testing.assert_allclose(both.of(pose).covariance, legs.of(pose).covariance + unknown)
    later, sure = both.predict(pose, 0.01), legs.predict(pose, 0.01)
    np.testing.assert_allclose(later.covariance, sure.covariance + GeometryNoise(
        unsure).covariance(later.pose, later.twist))


@pytest.mark.parametrize('name', ['stewart_geometry', 'stewart_offset', 'stewart_cable_robot'])
def test_errors_of_a_geometry_move_pose_and_twist_as_differences_say(name):
    """A machine of other joints, zeros and scales, solved by the file's geometry."""
    file = load_geometry(config_file(f'{name}.yaml'))
    rng, n, h = np.random.default_rng(6), len(file.leg_names), 1e-6
    twist, moved, errors = rng.normal(size=6), 0.05 * rng.normal(size=6), rng.normal(size=(n, 8))
    pose, solver, meter = file.home @ se3.exp(moved), PoseSolver(file), PlatformMeter(file)
    seen = []
    for way in (h, -h):
        machine = dataclasses.replace(
            file, base_joints=file.base_joints + way * errors[:, :3],
            platform_joints=file.platform_joints + way * errors[:, 3:6])
        scale = 1.0 + way * errors[:, 7]
        found = solver.solve(
            (leg_lengths(machine, pose) - way * errors[:, 6]) / scale, pose).pose
        seen.append(np.concatenate((se3.log(se3.inverse(pose) @ found), meter.measure(
            found).inverse @ (leg_rates(machine, pose, twist) / scale))))
    change = (seen[0] - seen[1]) / (2.0 * h)
    unsure = dataclasses.replace(
        file, calibration_covariance=np.outer(errors.ravel(), errors.ravel()))
    covariance = GeometryNoise(unsure).covariance(pose, twist)
    np.testing.assert_allclose(
        covariance, np.outer(change, change), atol=1e-4 * np.abs(change).max()**2)
