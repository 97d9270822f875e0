# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Twist at its stamp and predictions, whose errors are as large as their covariances say."""

import numpy as np
import pytest

from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, leg_rates, MonitorConfig, MonitoredTracker, MotionEstimator, SmoothTrajectory)
from liedyn_ros.stewart.tracking.kernels import motion_bank

FIRST_NS, SKIPPED = 1_000_000_000, 100


@pytest.fixture(scope='module')
def motion(home):
    """Return a motion in all coordinates."""
    return SmoothTrajectory(
        home, amplitudes=[0.2, 0.2, 0.3, 0.06, 0.06, 0.06],
        frequencies=[0.23, 0.31, 0.17, 0.29, 0.19, 0.37], phases=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])


def follow(geometry, home, motion, rate, noise, count, jitter=0.0, **config):
    """Return the time and the monitored pose of each sample."""
    rng, times = np.random.default_rng(3), 2.0 + np.arange(count) / rate
    lengths = leg_lengths(geometry, motion.pose(times))
    lengths += noise * rng.normal(size=lengths.shape)
    stamps = FIRST_NS + np.round(1e9 * (times + jitter * rng.normal(size=count))).astype(int)
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(**config))
    return [(1e-9 * (stamp - FIRST_NS), tracker.update(stamp, reading))
            for stamp, reading in zip(stamps.tolist(), lengths)]


def square(error, covariance):
    """Return the normalized square of an error."""
    return error @ np.linalg.solve(covariance, error)


@pytest.mark.parametrize(('rate', 'noise'), [
    (20, 1e-5), (50, 1e-4), (200, 1e-5), (1000, 1e-6), (1000, 1e-4)])
def test_twist_at_its_stamp_and_prediction_are_honest(geometry, home, motion, rate, noise):
    estimator = MotionEstimator(geometry)
    twists, ahead = [], []
    for time, pose in follow(geometry, home, motion, rate, noise, 900, leg_noise=noise)[SKIPPED:]:
        estimate = estimator.of(pose)
        twists.append(square(estimate.twist - motion.twist(time), estimate.twist_covariance))
        if len(twists) % 10 == 0:
            later = estimator.predict(pose, 0.01)
            error = se3.log(se3.compose(se3.inverse(motion.pose(time + 0.01)), later.pose))
            ahead.append(square(error, later.pose_covariance))
    assert 2.5 < np.mean(twists) < 9.0
    assert 2.0 < np.mean(ahead) < 11.0


def test_jitter_of_stamps_is_in_the_covariance(geometry, home, motion):
    estimator, squares = MotionEstimator(geometry), []
    for time, pose in follow(
            geometry, home, motion, 500, 1e-5, 4000, jitter=3e-4)[2000::5]:
        error = se3.log(se3.compose(se3.inverse(motion.pose(time)), pose.pose))
        squares.append(square(error, estimator.pose_covariance(pose)))
    assert 3.0 < np.mean(squares) < 9.0  # 200 and more without it


def test_twist_of_exact_lengths_is_exact(geometry, home, motion):
    for time, pose in follow(geometry, home, motion, 1000, 0.0, 400)[200:]:
        assert np.abs(pose.twist - motion.twist(time)).max() < 3e-4
        assert pose.twist_span == 0.0


def test_measured_rates_give_the_twist(geometry, home, motion):
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_noise=1e-5))
    for time in 2.0 + 1e-3 * np.arange(3):
        pose, twist = motion.pose(time), motion.twist(time)
        monitored = tracker.update(
            round(1e9 * time), leg_lengths(geometry, pose), leg_rates(geometry, pose, twist))
        assert monitored.rates_measured and np.allclose(monitored.twist, twist, atol=1e-9)
    assert MotionEstimator(geometry).of(monitored).covariance is None
    estimate = MotionEstimator(geometry, 1e-3).of(monitored)
    jacobian = np.linalg.inv(monitored.state.jacobian)
    assert np.allclose(estimate.twist_covariance, 1e-6 * jacobian @ jacobian.T, rtol=1e-2)


def test_noise_that_is_not_known_yet_gives_no_covariance(geometry, home, motion):
    (_, first), (_, second) = follow(geometry, home, motion, 100, 1e-5, 2)
    estimator = MotionEstimator(geometry)
    assert estimator.of(second).covariance is None and estimator.pose_covariance(second) is None
    for refused in (estimator.of, lambda pose: estimator.predict(pose, 0.1)):
        with pytest.raises(LimitError, match='expected a pose with a'):
            refused(first)


def test_a_prediction_over_too_long_a_time_is_refused(geometry, home, motion):
    _, pose = follow(geometry, home, motion, 100, 1e-4, 300, leg_noise=1e-4)[-1]
    with pytest.raises(LimitError, match='characteristic lengths'):
        MotionEstimator(geometry).predict(pose, 5.0)


def test_a_member_of_the_bank_is_a_kalman_filter():
    """Against the textbook form with full matrices."""
    rng, dt, spectrum, noise = np.random.default_rng(1), 0.01, 3.0, 1e-4
    factorial = [1.0, 1.0, 2.0, 6.0]
    forward = np.array([[dt ** (j - i) / factorial[j - i] if j >= i else 0.0
                         for j in range(4)] for i in range(4)])
    grid = dt * (np.arange(20_000) + 0.5) / 20_000
    effect = np.array([grid ** (3 - i) / factorial[3 - i] for i in range(4)])
    drift = spectrum * effect @ effect.T * (dt / 20_000)
    row = np.zeros(motion_bank.ROW)
    row[:24] = rng.normal(size=24)
    half = rng.normal(size=(4, 4))
    covariance, legs = half @ half.T, row[:24].reshape(6, 4).copy()
    row[motion_bank.COVARIANCE:motion_bank.EVIDENCE] = covariance.ravel()
    lengths = rng.normal(size=6)
    motion_bank.predict(row, dt, spectrum)
    motion_bank.correct(row, lengths, noise ** 2, 0.0, 1.0, 1.0)
    legs, covariance = legs @ forward.T, forward @ covariance @ forward.T + drift
    gain = covariance[:, 0] / (covariance[0, 0] + noise ** 2)
    legs += np.outer(lengths - legs[:, 0], gain)
    covariance -= np.outer(gain, covariance[0])
    assert np.allclose(row[:24].reshape(6, 4), legs, atol=1e-9)
    assert np.allclose(row[motion_bank.COVARIANCE:motion_bank.EVIDENCE].reshape(4, 4),
                       covariance, rtol=1e-5, atol=1e-8)
