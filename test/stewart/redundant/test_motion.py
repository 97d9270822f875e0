# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of seven legs and more: twists and predictions as good as their covariances say."""

import numpy as np
import pytest
from support.platforms.leg_types import home, mixed, NOISE, redundant

from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, leg_rates, load_geometry, MonitoredTracker, MotionEstimator,
    SmoothTrajectory)

CABLE_ROBOT = load_geometry(config_file('stewart_cable_robot.yaml'))
HIGH = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 1.2])
SKIPPED = 100  # samples, until the motion is known


class Follow:
    """A tracker that follows a motion in all coordinates, with the noise of the geometry."""

    def __init__(self, geometry, start, rate, count, *, repeats=1, factor=None):
        """Track count samples; repeats: of each set; factor: of measured rates."""
        self.motion = SmoothTrajectory(
            start, [0.15, 0.15, 0.2, 0.05, 0.05, 0.05], [0.4, 0.5, 0.3, 0.45, 0.35, 0.6],
            np.arange(6.0), 0.1)
        self.times = 2.0 + np.arange(count) / rate
        rng = np.random.default_rng(1)
        lengths = leg_lengths(geometry, self.motion.pose(self.times))
        lengths += geometry.leg_noise * rng.normal(size=lengths.shape)
        lengths = lengths[np.arange(count) // repeats * repeats]
        rates = [None] * count if factor is None else [
            factor * leg_rates(geometry, *each)
            for each in zip(self.motion.pose(self.times), self.motion.twist(self.times))]
        self.tracker, self.estimator = (
            MonitoredTracker(geometry, start), MotionEstimator(geometry))
        self.poses = [self.tracker.track(10**9 + round(1e9 * time), reading, rate)
                      for time, reading, rate in zip(self.times, lengths, rates)]

    def twist_errors(self):
        """Return the twists' errors (n, 6), rad/s and m/s, once the motion is known."""
        return np.array([pose.twist for pose in self.poses[SKIPPED:]]) - self.motion.twist(
            self.times[SKIPPED:])

    def squares(self):
        """Return the normalized squares of the twists; their mean should be 6."""
        covariances = [self.estimator.of(pose).twist_covariance for pose in self.poses[SKIPPED:]]
        errors = self.twist_errors()
        return (errors * np.linalg.solve(
            np.array(covariances), errors[..., None])[..., 0]).sum(axis=1)


@pytest.mark.full
@pytest.mark.parametrize(('geometry', 'start', 'rate'), [
    (redundant(7), home(), 20), (mixed(), home(), 1000), (CABLE_ROBOT, HIGH, 100)],
    ids=['7', 'all leg types', 'cable robot'])
def test_twists_and_predictions_are_honest(geometry, start, rate):
    run, ahead = Follow(geometry, start, rate, 700), []
    assert 2.5 < np.mean(run.squares()) < 9.0
    then = run.motion.pose(run.times[SKIPPED::10] + 0.01)
    for truth, pose in zip(then, run.poses[SKIPPED::10]):
        later = run.estimator.predict(pose, 0.01)
        error = se3.log(se3.compose(se3.inverse(truth), later.pose))
        ahead.append(error @ np.linalg.solve(later.pose_covariance, error))
    assert 2.0 < np.mean(ahead) < 11.0


def test_the_twist_is_that_of_its_stamp():
    """The mean since the last pose lags by half a period and has the noise of two poses."""
    run = Follow(redundant(8), home(), 100, 300)
    means = np.array([se3.log(se3.compose(se3.inverse(before.pose), pose.pose)) / 0.01
                      for before, pose in zip(run.poses[SKIPPED - 1:], run.poses[SKIPPED:])])
    truth = run.motion.twist(run.times)[SKIPPED:]
    assert np.abs(run.twist_errors()).mean() < 0.3 * np.abs(means - truth).mean()


def test_a_bus_that_repeats_its_sets_leaves_the_twist_honest():
    assert np.mean(Follow(CABLE_ROBOT, HIGH, 1000, 1500, repeats=20).squares()) < 9.0


def test_measured_rates_give_the_twist_and_wrong_ones_do_not():
    right = Follow(CABLE_ROBOT, HIGH, 100, 300, factor=1.0)
    assert right.poses[-1].rates is not None and not any(pose.flags for pose in right.poses)
    assert np.abs(right.twist_errors()).max() < 0.01
    zero = Follow(CABLE_ROBOT, HIGH, 100, 300, factor=0.0)
    assert zero.poses[-1].rates is None
    thousand = Follow(CABLE_ROBOT, HIGH, 100, 300, factor=1000.0)  # mm/s for m/s
    assert all(pose.flags & Flag.RATES_CONTRADICT for pose in thousand.poses[SKIPPED:])
    by_lengths = Follow(CABLE_ROBOT, HIGH, 100, 300).twist_errors()
    for run in (zero, thousand):
        np.testing.assert_allclose(run.twist_errors(), by_lengths, atol=1e-9)
    assert np.mean(Follow(CABLE_ROBOT, HIGH, 100, 300, factor=-1.0).squares()) < 9.0


def test_without_a_motion_or_over_too_long_a_time_there_is_no_prediction():
    run = Follow(redundant(7, noise=100.0 * NOISE), home(), 100, 200)
    with pytest.raises(LimitError):
        run.estimator.predict(run.poses[0], 0.01)
    with pytest.raises(LimitError):
        run.estimator.of(run.poses[0])
    with pytest.raises(LimitError):
        run.estimator.predict(run.poses[-1], 5.0)
