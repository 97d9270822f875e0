# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Faults of single legs are found and named, and nothing is where nothing is wrong."""

import numpy as np
import pytest
from support.platforms.stewart_motion import unit_wrenches
from support.refusals import ANY, refused

from liedyn_ros.common.errors import LimitError, NotFiniteError, StampError
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, MonitorConfig, MonitoredTracker, PoseSolver, PoseTracker)
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.kernels.follower import FOUND_TWIST, TWIST_SPAN
from liedyn_ros.stewart.tracking.legs.monitor import LegMonitor
from liedyn_ros.stewart.tracking.sensor_monitor import (
    LengthSensor, OrientationSensor, SensorMonitor)

NOISE = 1e-5  # m
PERIOD_NS = 1_000_000
BEGIN = 900  # the sample of the fault
COUNT = 1400
TIMES = 0.6 + 1e-3 * np.arange(COUNT)  # s: the platform moves from the first sample on


@pytest.fixture(scope='module')
def poses(motion):
    """Return 1.4 seconds of it at 1 kHz."""
    return motion.pose(TIMES)


@pytest.fixture
def readings(geometry, poses):
    """Return noisy lengths, to be spoilt by the test."""
    return (leg_lengths(geometry, poses)
            + NOISE * np.random.default_rng(8).normal(size=(COUNT, 6)))


@pytest.fixture(scope='module')
def true_rates(geometry, motion, poses):
    """Return the rates of the legs."""
    return (unit_wrenches(geometry, poses) @ motion.twist(TIMES)[..., None])[..., 0]


def track(geometry, home, readings, **options):
    """Return the results of a MonitoredTracker; the sensor reads at every third sample."""
    watch = {key: options.pop(key) for key in ('replace_outliers', 'sensor', 'frozen_time',
                                               'sensor_time') if key in options}
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_noise=NOISE, **watch))
    rates = options.get('rates', [None] * COUNT)
    sensed = options.get('sensed', [None] * COUNT)
    return [tracker.track(k * PERIOD_NS + 1, readings[k], rates[k],
                          sensed[k] if k % 3 == (COUNT - 1) % 3 else None)
            for k in range(len(readings))]


def largest_error(tracked, poses):
    """Return the largest entry of the twists between tracked poses and the true ones."""
    return np.abs(se3.log(se3.compose(
        se3.inverse(poses), np.array([safe.pose for safe in tracked])))).max()


@pytest.mark.parametrize('with_rates', [False, True])
@pytest.mark.parametrize('size', [5e-4, -5e-3, 3e-2])
@pytest.mark.parametrize('length', [1, 8])
def test_outliers_are_named_and_do_no_harm(
        geometry, home, true_rates, poses, readings, with_rates, size, length):
    readings[BEGIN:BEGIN + length, 3] += size
    tracked = track(geometry, home, readings, **({'rates': true_rates} if with_rates else {}))
    flagged = [k for k, safe in enumerate(tracked) if safe.flags]
    assert flagged == list(range(BEGIN, BEGIN + length))
    assert all(tracked[k].legs == (3,) and tracked[k].flags == Flag.LEG_OUTLIER for k in flagged)
    assert largest_error(tracked, poses) < 2e-3
    assert tracked[BEGIN].start == 0


def test_an_outlier_may_be_kept_and_is_still_named(geometry, home, poses, readings):
    readings[BEGIN, 1] += 5e-3
    tracked = track(geometry, home, readings, replace_outliers=False)
    assert Flag.LEG_OUTLIER in tracked[BEGIN].flags and tracked[BEGIN].legs == (1,)
    assert largest_error(tracked[BEGIN:BEGIN + 1], poses[BEGIN]) > 2e-3


@pytest.mark.parametrize('size', [5e-4, 5e-3])
def test_a_bias_that_comes_at_once_is_a_step_until_it_goes(geometry, home, readings, size):
    readings[BEGIN:BEGIN + 200, 4] += size
    tracked = track(geometry, home, readings)
    during, after = tracked[BEGIN + 25:BEGIN + 200], tracked[BEGIN + 230:]
    assert all(safe.flags == Flag.LEG_STEPPED and safe.legs == (4,) for safe in during)
    assert not any(safe.flags for safe in after)


def test_a_frozen_leg_is_named_until_it_moves(geometry, home, readings):
    readings[BEGIN:BEGIN + 300, 2] = readings[BEGIN, 2]
    tracked = track(geometry, home, readings)
    first = next(k for k, safe in enumerate(tracked) if Flag.LEG_FROZEN in safe.flags)
    assert BEGIN < first <= BEGIN + 51
    assert all(safe.legs == (2,) for safe in tracked[first:BEGIN + 300])
    assert Flag.LEG_FROZEN not in tracked[BEGIN + 300].flags
    quiet = track(geometry, home, readings, frozen_time=0.0)
    assert not any(safe.flags & Flag.LEG_FROZEN for safe in quiet)


@pytest.mark.parametrize(('quantum', 'speed'), [
    (1e-6, 0.1), (1e-5, 0.1), (1e-4, 0.1), (1e-4, 1.0), (1e-3, 1.0)])
def test_a_coarse_reading_that_turns_round_is_not_frozen(geometry, motion, quantum, speed):
    lengths = leg_lengths(geometry, motion.pose(2.0 + speed * 1e-3 * np.arange(10_000)))
    monitor = LegMonitor(geometry, 0.29 * quantum, 5.0, 0.05)
    readings = quantum * np.round(lengths / quantum)
    longest = max(np.diff(np.flatnonzero(np.diff(leg))).max() for leg in readings.T)
    assert longest > 50  # ms: there is something to be misled by
    for k, reading in enumerate(readings):
        assert not monitor.examine(k * PERIOD_NS + 1, reading).faults.frozen


@pytest.mark.parametrize('resolution', [0.0, 1e-5])
def test_a_coarse_reading_that_freezes_is_named(geometry, poses, resolution):
    readings = 1e-5 * np.round(leg_lengths(geometry, poses) / 1e-5)
    readings[BEGIN:BEGIN + 300, 2] = readings[BEGIN, 2]
    monitor = LegMonitor(geometry, 3e-6, 5.0, 0.05, resolution)
    frozen = [monitor.examine(k * PERIOD_NS + 1, reading).faults.frozen
              for k, reading in enumerate(readings)]
    first = frozen.index((2,))
    others = np.median(np.abs(readings[first] - readings[BEGIN])[[0, 1, 3, 4, 5]])
    assert BEGIN + 50 <= first < BEGIN + 300 and 16e-3 < others < 20e-3
    assert set(frozen[first:BEGIN + 300]) == {(2,)}
    assert not any(frozen[:first]) and not any(frozen[BEGIN + 300:])


def test_a_platform_at_rest_is_not_frozen(geometry, home):
    readings = np.repeat(leg_lengths(geometry, home)[None], 300, axis=0)
    assert not any(safe.flags for safe in track(geometry, home, readings))


def test_a_jump_of_the_platform_is_no_leg_fault(geometry, home, readings, poses):
    readings[BEGIN:] = leg_lengths(geometry, poses[BEGIN:] @ se3.exp([0.1, 0, 0, 0.02, 0, 0]))
    tracked = track(geometry, home, readings)
    assert not any(safe.legs for safe in tracked)
    assert [k for k, safe in enumerate(tracked) if Flag.LEGS_JUMPED in safe.flags] == [BEGIN]


def test_what_six_lengths_cannot_show(geometry, home, poses, readings):
    """A slow bias moves the pose and raises no flag: docs/stewart.md says so."""
    readings[:, 0] += np.linspace(0.0, 5e-3, COUNT)
    tracked = track(geometry, home, readings)
    assert not any(safe.flags for safe in tracked)
    assert tracked[-1].residual < 1e-12
    assert largest_error(tracked[-1:], poses[-1]) > 3e-3


@pytest.mark.parametrize('leg', range(6))
def test_an_orientation_names_the_biased_leg(geometry, home, poses, readings, leg):
    rng = np.random.default_rng(leg)
    readings[:, leg] += np.linspace(0.0, 5e-3, COUNT)
    turns = se3.exp(np.hstack((1e-3 * rng.normal(size=(COUNT, 3)), np.zeros((COUNT, 3)))))
    sensed = poses[:, :3, :3] @ turns[:, :3, :3]
    tracked = track(geometry, home, readings, sensor=OrientationSensor(1e-3), sensed=sensed,
                    sensor_time=0.1)
    assert not any(safe.flags for safe in tracked[:300])
    assert Flag.LEG_BIASED in tracked[-1].flags and tracked[-1].legs == (leg,)
    assert all(safe.legs in ((), (leg,)) for safe in tracked)


@pytest.mark.parametrize('lag', [-8, -3, 2, 8])
@pytest.mark.parametrize('with_rates', [False, True])
def test_a_reading_is_compared_with_the_pose_of_its_time(
        geometry, home, true_rates, poses, readings, lag, with_rates):
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(
        leg_noise=NOISE, sensor=OrientationSensor(5e-4), sensor_time=0.1))
    bias = 0.0
    for k in range(10, COUNT - 10):
        rates = true_rates[k] if with_rates else None
        reading = poses[k - lag, :3, :3] if k % 10 == 0 else None
        bias += 1e-5 * (k >= BEGIN)
        safe = tracker.track(k * PERIOD_NS, readings[k] + [0, 0, bias, 0, 0, 0], rates, reading,
                             (k - lag) * PERIOD_NS)
        assert k > BEGIN or not safe.flags
        if reading is not None:
            last = safe
    assert Flag.LEG_BIASED in last.flags and last.legs == (2,)


@pytest.mark.parametrize('lag', [0.0, 0.008])
def test_two_poses_are_told_apart_once_they_are_further_apart_than_they_move(
        geometry, home, lag):
    """They part at 2 rad/s: the second, which is true, is moved with the twist of the first."""
    monitor = SensorMonitor(OrientationSensor(5e-4), 1.0)
    tracker = PoseTracker(geometry, home)
    told = []
    for time in 1e-3 * np.arange(1, 60):
        first, second, then = (home @ se3.exp([0.0, 0.0, rate * at, 0.0, 0.0, 0.0]) for rate, at
                               in ((1.0, time), (-1.0, time), (-1.0, time - lag)))
        tracked = tracker.track(round(1e9 * time), leg_lengths(geometry, first))
        tracked.numbers[FOUND_TWIST:TWIST_SPAN] = 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
        told.append(monitor.preference(tracked, then[:3, :3], round(1e9 * (time - lag)))(
            first, second))
    assert set(told) == {None, True} and told[-1]
    assert told.index(True) == pytest.approx(1000 * 2 * lag, abs=2)


def test_a_seventh_length_shows_a_bias_but_not_where(geometry, home, poses, readings):
    sensor = LengthSensor([0.0, 0.0, 0.0], [0.1, 0.05, 0.0], 1e-4)
    sensed = np.linalg.norm(
        np.einsum('kij,j->ki', poses[:, :3, :3], sensor.platform) + poses[:, :3, 3], axis=1)
    watched = {'sensor': sensor, 'sensed': sensed, 'sensor_time': 0.5}
    sound = track(geometry, home, readings.copy(), **watched)
    assert not any(safe.flags for safe in sound)
    readings[:, 2] += np.linspace(0.0, 8e-3, COUNT)
    tracked = track(geometry, home, readings, **watched)
    assert tracked[-1].flags == Flag.SENSOR_DISAGREES and tracked[-1].legs == ()


def test_the_bias_is_measured(geometry, random_poses):
    named = 0
    for pose in random_poses[:20]:
        lengths = leg_lengths(geometry, pose)
        lengths[5] -= 2e-3
        biased = PoseSolver(geometry).solve(lengths, pose).pose
        monitor = SensorMonitor(OrientationSensor(1e-5), 1.0)
        fit = monitor.judge_pose(
            0, biased, pose[:3, :3], PlatformMeter(geometry).measure(biased), 1e-6)
        assert not fit.consistent
        named += fit.leg is not None
        assert fit.leg is None or (
            fit.leg == 5 and fit.bias == pytest.approx(-2e-3, rel=0.1))
    assert named >= 10


@pytest.mark.parametrize('sensor', [
    OrientationSensor(1e-3), LengthSensor([0.1, 0.0, 0.0], [0.0, 0.1, 0.02], 1e-3)])
def test_sensor_derivatives(random_poses, sensor):
    for pose in random_poses[:10]:
        reading = pose[:3, :3] if isinstance(sensor, OrientationSensor) else 0.6
        steps = 1e-6 * np.eye(6)
        columns = [(sensor.residual(se3.compose(pose, se3.exp(step)), reading)
                    - sensor.residual(se3.compose(pose, se3.exp(-step)), reading)) / 2e-6
                   for step in steps]
        assert np.allclose(sensor.derivative(pose), np.transpose(columns), atol=1e-8)


def test_time_going_back_forgets_the_faults(geometry, home, readings):
    readings[BEGIN:, 4] += 5e-3
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_noise=NOISE))
    for k in range(COUNT):
        safe = tracker.track(k * PERIOD_NS + 1, readings[k])
    assert Flag.LEG_STEPPED in safe.flags
    with pytest.raises(StampError):
        tracker.track(5, readings[0])
    assert tracker.track(6, readings[0]).flags == Flag.RESTARTED
    assert tracker.track(7, readings[0]).flags == Flag.RESTARTED
    assert tracker.confirm() and not tracker.track(8, readings[0]).flags


@pytest.mark.parametrize('settings', [
    (-1e-5, 5.0, 0.1), (1e-5, float('nan'), 0.1), (1e-5, 5.0, float('inf')),
    (1e-5, 5.0, 0.1, -1e-6)])
def test_settings_out_of_range_are_refused(geometry, settings):
    with refused(LimitError, ANY, expected=0):
        LegMonitor(geometry, *settings)


@pytest.mark.parametrize(('make', 'error', 'named', 'got'), [
    (lambda: MonitorConfig(singularity_warning=-1.0), LimitError, 'singularity_warning', -1.0),
    (lambda: MonitorConfig(leg_noise=float('inf')), NotFiniteError, 'leg_noise', ANY),
    (lambda: OrientationSensor(0.0), LimitError, ANY, 0.0),
    (lambda: LengthSensor([0, 0, 0], [0, 0, 0], -1.0), LimitError, ANY, -1.0)])
def test_config_and_sensors_refuse_what_cannot_be(make, error, named, got):
    with refused(error, named, got=got):
        make()


def test_stale_readings_change_no_estimate(geometry):
    monitor, rng = LegMonitor(geometry), np.random.default_rng(1)
    for k in range(1000):
        reading = 0.5 + 1e-5 * rng.normal(size=6)
        monitor.examine(k * 1_000_000, reading)
    monitor.noise.learn(100.0)
    before, report = monitor.noise.acceleration, monitor.report()
    for k in range(1000, 4000):
        faults = monitor.examine(k * 1_000_000, reading).faults
    assert faults.frozen == tuple(range(6))
    assert monitor.noise.acceleration > 0.999 * before
    assert monitor.report().noise == pytest.approx(report.noise, rel=0.02)
