# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tracking of seven lengths and more: biased legs by name, noise, covariance."""

import numpy as np
import pytest
from support.platforms.leg_types import home, mixed, motion, NOISE, redundant

from liedyn_ros.common.errors import LimitError, StampError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    BranchSource, Flag, leg_lengths, load_geometry, MonitorConfig, MonitoredTracker,
    MotionEstimator, PoseSolver, SmoothTrajectory, Status)
from liedyn_ros.stewart.tracking.start_modes import StartModes

BIAS = 50.0 * NOISE
BEGIN = 2.0  # s, of a fault
NAMED = Flag.LEG_BIASED | Flag.SENSOR_DISAGREES


class Run:
    """The samples of a motion, and a tracker that goes through them."""

    def __init__(self, geometry, seconds=10.0, rate=100, seed=0, *, still=False, noise=1.0):
        self.geometry = geometry
        self.times, self.poses = motion(home(), seconds, rate)
        if still:
            self.poses[:] = home()
        rng = np.random.default_rng(seed)
        self.readings = leg_lengths(geometry, self.poses)
        scales = noise * (geometry.leg_noise if geometry.leg_noise.any() else NOISE)
        self.readings += scales * rng.normal(size=self.readings.shape)

    def track(self, config=MonitorConfig()):
        """Return the outcomes."""
        tracker = MonitoredTracker(self.geometry, home(), config=config)
        return [tracker.track(10 ** 9 + round(1e9 * time), readings)
                for time, readings in zip(self.times, self.readings)]

    def errors(self, outcomes):
        """Return the distances (n,) of poses from the true ones, rad and m together."""
        return np.linalg.norm(se3.log(se3.compose(
            se3.inverse(self.poses), np.array([each.pose for each in outcomes]))), axis=1)


@pytest.mark.full
@pytest.mark.parametrize('geometry', [
    redundant(7), redundant(8), redundant(10, 2), mixed()], ids=['7', '8', '10', 'all leg types'])
@pytest.mark.parametrize('rate', [50, 1000])
def test_a_motion_is_followed_without_a_flag_and_with_an_honest_covariance(geometry, rate):
    run = Run(geometry, 1000 / rate, rate)
    outcomes = run.track()
    assert not any(each.flags for each in outcomes)
    assert all(each.converged and not each.left_out for each in outcomes)
    assert {each.branch_source for each in outcomes} == {BranchSource.SENSOR}
    twists = se3.log(se3.compose(
        se3.inverse(run.poses), np.array([each.pose for each in outcomes])))[1:]
    estimator = MotionEstimator(geometry)
    covariances = np.array([estimator.pose_covariance(each) for each in outcomes[1:]])
    squares = twists[:, None] @ np.linalg.solve(covariances, twists[..., None])
    assert 5.0 < squares.mean() < 7.0


@pytest.mark.parametrize('count', [8, 9, 10])
@pytest.mark.parametrize('leg', [0, 3, 6])
@pytest.mark.full
def test_a_biased_leg_is_named_with_its_bias_and_left_out(count, leg):
    run = Run(redundant(count, 2), 10.0)
    run.readings[run.times > BEGIN, leg] += BIAS
    outcomes = run.track()
    named = [each for each in outcomes if each.legs]
    assert {each.legs for each in named} == {(leg,)}
    assert named[0].stamp_ns > 10 ** 9 * (1.0 + BEGIN)
    last = outcomes[-1]
    assert last.flags & NAMED == NAMED and last.left_out == (leg,)
    assert abs(last.bias_fit.bias - BIAS) < 3.0 * NOISE
    solver = PoseSolver(run.geometry)
    run.poses, late = run.poses[-200:], run.readings[-200:]
    bare = [solver.solve(readings, pose) for pose, readings in zip(run.poses, late)]
    assert run.errors(outcomes[-200:]).mean() < 0.5 * run.errors(bare).mean()


@pytest.mark.parametrize(('seed', 'seconds'), [
    (2, 8.0), *(pytest.param(*each, marks=pytest.mark.full) for each in ((0, 11.0), (6, 20.0)))])
def test_with_seven_legs_a_path_names_the_leg_and_a_pose_does_not(seed, seconds):
    leg = seed % 7
    run = Run(redundant(7, seed), seconds)
    run.readings[run.times > BEGIN, leg] += BIAS
    outcomes = run.track()
    assert {each.legs for each in outcomes} == {(), (leg,)}
    assert not any(each.left_out for each in outcomes)  # six would agree on anything
    still = Run(redundant(7, seed), 10.0, still=True)
    still.readings[still.times > BEGIN, leg] += BIAS
    outcomes = still.track()
    assert not any(each.legs for each in outcomes)
    assert outcomes[-1].flags == Flag.SENSOR_DISAGREES


def test_a_biased_leg_is_named_while_the_platform_stands():
    run = Run(redundant(9, 2), 10.0, still=True)
    run.readings[run.times > BEGIN, 4] += BIAS
    outcomes = run.track()
    assert {each.legs for each in outcomes} == {(), (4,)}
    assert outcomes[-1].flags & NAMED == NAMED


def test_an_outlier_is_named_in_its_sample_alone_and_left_out():
    run = Run(redundant(9, 2), 5.0)
    run.readings[200, 3] += 2e-3
    outcomes = run.track()
    flagged = [k for k, each in enumerate(outcomes) if each.flags]
    assert flagged == [200, 201]  # the next one confirms it
    assert Flag.LEG_OUTLIER in outcomes[200].flags and outcomes[200].legs == (3,)
    assert run.errors(outcomes)[200] < 5.0 * run.errors(outcomes)[:200].max()


def test_a_leg_that_is_right_again_is_used_again():
    run = Run(redundant(8, 2), 12.0)
    run.readings[(run.times > BEGIN) & (run.times < 8.0), 2] += BIAS
    outcomes = run.track()
    assert outcomes[790].flags & NAMED == NAMED
    assert not any(each.flags for each in outcomes[900:])


def test_two_biased_legs_are_told_but_not_named_for_one():
    run = Run(redundant(9, 5), 10.0)
    run.readings[run.times > BEGIN, 1] += BIAS
    run.readings[run.times > BEGIN, 5] -= BIAS
    outcomes = run.track()
    assert {each.flags for each in outcomes[300:]} == {Flag.SENSOR_DISAGREES}
    assert not any(each.legs for each in outcomes)


def test_without_a_noise_a_leg_is_named_but_never_left_out():
    geometry = redundant(8, 2, noise=0.0)
    run = Run(geometry, 10.0)
    run.readings[run.times > BEGIN, 2] += BIAS
    outcomes, solver = run.track(), PoseSolver(geometry)
    assert {each.legs for each in outcomes} == {(), (2,)}
    assert not any(each.left_out for each in outcomes)
    for readings, each in list(zip(run.readings, outcomes))[::100]:
        np.testing.assert_allclose(
            each.pose, solver.solve(readings, each.pose).pose, rtol=0.0, atol=1e-12)
    assert abs(outcomes[150].bias_fit.noise / NOISE - 1.0) < 0.2


def test_more_noise_than_was_told_widens_the_covariance():
    run = Run(redundant(8), 10.0, noise=3.0)
    last = run.track()[-1]
    assert abs(last.bias_fit.noise - 3.0) < 0.3 and last.flags == Flag.PARAMETER_TOO_SMALL


@pytest.mark.parametrize('count', [7, 8])
@pytest.mark.parametrize('repeats', [10, 20])
def test_a_bus_that_is_slower_than_the_topic_raises_no_flag(count, repeats):
    run = Run(redundant(count, 2), 10.0)
    run.readings = run.readings[np.arange(len(run.times)) // repeats * repeats]
    assert not any(each.flags for each in run.track())


def test_measured_rates_give_the_twist():
    run = Run(redundant(9, 2), 0.5, noise=0.0)
    rates = np.gradient(run.readings, run.times, axis=0)
    tracker = MonitoredTracker(run.geometry, home())
    stamps = [10 ** 9 + round(1e9 * time) for time in run.times]
    for k in range(1, len(stamps) - 1):
        outcome = tracker.track(stamps[k], run.readings[k], rates[k])
        expected = se3.log(se3.inverse(run.poses[k - 1]) @ run.poses[k + 1]) / 0.02
        np.testing.assert_allclose(outcome.twist, expected, atol=0.02)


def test_stamps_and_limits_are_judged():
    geometry = redundant(8)
    tracker, lengths = MonitoredTracker(geometry, home()), leg_lengths(geometry, home())
    tracker.track(10 ** 9, lengths)
    with pytest.raises(StampError):
        tracker.track(10 ** 9, lengths)
    with pytest.raises(LimitError) as caught:
        tracker.track(2 * 10 ** 9, np.where(np.arange(8) == 2, -1.0, lengths))
    assert caught.value.indices == (2,)
    assert tracker.last.stamp_ns == 10 ** 9
    tracker.reset()
    assert tracker.last is None and tracker.track(5, lengths).twist is None


def test_a_wire_that_reads_wrong_puts_no_other_wire_to_blame():
    """Without a wire the others may have two poses; the wrong one made wire_1 an outlier."""
    robot = load_geometry(config_file('stewart_cable_robot.yaml'))
    start = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 1.2])
    times = 2.0 + 0.01 * np.arange(1500, 1620)
    poses = SmoothTrajectory(
        start, [0.15, 0.15, 0.2, 0.05, 0.05, 0.05], [0.4, 0.5, 0.3, 0.45, 0.35, 0.6],
        np.arange(6.0), 0.1).pose(times)
    readings = leg_lengths(robot, poses)
    readings[:, 2] += 0.02
    tracker, solver = MonitoredTracker(robot, start), PoseSolver(robot)
    for time, pose, lengths in zip(times, poses, readings):
        found = tracker.track(round(1e9 * time), lengths)
        bare = solver.solve(lengths, pose)
        assert set(found.legs) <= {2}
        errors = [np.linalg.norm(se3.log(se3.inverse(pose) @ each)) for each in (
            found.pose, bare.pose)]
        assert errors[0] < 1.2 * errors[1] + 1e-9


@pytest.mark.parametrize('noise', [0.0, 1e-5])
def test_a_start_far_from_home_is_never_wrong_in_silence(noise):
    """A solve from home ends where the residual is least nearby, which need not be the least."""
    geometry, rng, wrong = redundant(7, 2, noise), np.random.default_rng(2), 0
    for _ in range(20):
        true = se3.compose(home(), se3.exp(rng.uniform(-1.0, 1.0, 6) * ([1.5] * 3 + [0.5] * 3)))
        tracker = MonitoredTracker(geometry, home())
        for k in range(60):
            tracked = tracker.track(
                10 ** 9 + k * 10 ** 7, leg_lengths(geometry, true) + 1e-5 * rng.normal(size=7))
            far = np.abs(tracked.pose - true).max() > 0.01
            wrong += far
            assert not far or tracked.status is not Status.CONVERGED or tracked.flags
        if not far:
            assert tracked.branch_source is BranchSource.SENSOR and not tracked.flags
    assert wrong


def test_all_poses_of_a_start_tell_the_right_one():
    """The lengths of seven legs contradict a wrong pose; of all poses they fit one."""
    geometry, rng, wrong, found = redundant(7, 2, 0.0), np.random.default_rng(2), 0, 0
    for _ in range(12):
        true = se3.compose(home(), se3.exp(rng.uniform(-1.0, 1.0, 6) * ([1.5] * 3 + [0.5] * 3)))
        tracker, modes = MonitoredTracker(geometry, home()), StartModes(geometry)
        for k in range(120):
            tracked = tracker.track(
                10 ** 9 + k * 10 ** 7, leg_lengths(geometry, true) + 1e-5 * rng.normal(size=7))
            modes.weigh(tracker)
            wrong += k == 40 and np.abs(tracked.pose - true).max() > 0.01
        if tracked.status is Status.CONVERGED:  # else home leads to no pose at all
            found += 1
            assert np.abs(tracked.pose - true).max() < 1e-3
            assert tracked.branch_source is BranchSource.SENSOR and not tracked.flags
    assert wrong > 1 and found > 9


@pytest.mark.parametrize('count', [7, 8])
def test_exchanged_legs_contradict_each_other_at_every_pose(count):
    """Their residual goes through zero as the platform moves."""
    run = Run(redundant(count, 2), 8.0)
    run.readings[:, [1, 4]] = run.readings[:, [4, 1]]
    flagged = np.array([bool(each.flags) for each in run.track()])
    assert flagged[run.times >= 1.0].all()


def test_a_confirmed_pose_crosses_nothing():
    """There are no two branches, of which a confirmation could choose the other one."""
    run = Run(redundant(8), 2.0)
    tracker, flags = MonitoredTracker(run.geometry, home()), set()
    for k, reading in enumerate(run.readings):
        flags.add(tracker.track(round(1e9 * run.times[k]), reading).flags)
        assert tracker.confirm()
    assert not [each for each in flags if each & (Flag.BRANCH_CROSSED | Flag.BRANCH_WRONG)]
