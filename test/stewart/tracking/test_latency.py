# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Legs whose readings are older than their stamps: poses as if they were not."""

import dataclasses

import numpy as np
import pytest
from support.platforms.leg_types import home as redundant_home, redundant
from support.platforms.stewart_motion import unit_wrenches
from support.refusals import refused
import yaml

from liedyn_ros.common.errors import GeometryError, LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, load_geometry, MonitorConfig, MonitoredTracker, MotionEstimator,
    PoseTracker, SmoothTrajectory)

DELAYS = np.array([0.0, 0.004, 0.01, 0.0, 0.02, 0.004, 0.015])  # s
SKIPPED = 150  # samples, until the motion is known


def motion_about(home):
    """Return a quick motion in all coordinates."""
    return SmoothTrajectory(
        home, [0.2, 0.2, 0.3, 0.06, 0.06, 0.06],
        2.0 * np.array([0.23, 0.31, 0.17, 0.29, 0.19, 0.37]), np.arange(6.0))


def late_readings(geometry, motion, times, noise=0.0, measured=False):
    """Return readings and rates (n, legs), or None, of a platform, each as old as its latency."""
    delays = DELAYS[:len(geometry.leg_names)]
    rng, readings = np.random.default_rng(1), np.empty((len(times), len(delays)))
    rates = np.empty_like(readings) if measured else None
    for delay in set(delays.tolist()):
        legs, poses = delays == delay, motion.pose(times - delay)
        readings[:, legs] = leg_lengths(geometry, poses)[:, legs]
        if measured:
            twists = motion.twist(times - delay)[..., None]
            rates[:, legs] = (unit_wrenches(geometry, poses) @ twists)[:, legs, 0]
    return readings + noise * rng.normal(size=readings.shape), rates


def errors(tracker, motion, times, readings, rates=None):
    """Return the outcomes, and the largest errors of poses and of twists once all is known."""
    found = [tracker.track(round(1e9 * time), row, None if rates is None else rates[k])
             for k, (time, row) in enumerate(zip(times, readings))]
    used, known = found[SKIPPED:], times[SKIPPED:]
    poses = np.array([each.pose for each in used])
    return (found, np.abs(se3.log(se3.compose(se3.inverse(motion.pose(known)), poses))).max(),
            np.abs([each.twist for each in used] - motion.twist(known)).max())


@pytest.mark.parametrize(('rate', 'noise', 'pose', 'twist'), [
    (50, 0.0, 3e-4, 2e-2), (200, 0.0, 3e-4, 2e-2), (1000, 0.0, 3e-4, 2e-2),
    (200, 1e-5, 6e-4, 0.04), (1000, 1e-5, 6e-4, 0.04)])
def test_poses_are_those_of_the_stamps(geometry, home, rate, noise, pose, twist):
    late, motion = dataclasses.replace(geometry, leg_latency=DELAYS[:6]), motion_about(home)
    times = 1.0 + np.arange(2 * SKIPPED + rate // 2) / rate
    readings, _ = late_readings(geometry, motion, times, noise)
    found, of_pose, of_twist = errors(MonitoredTracker(late, home), motion, times, readings)
    assert of_pose < pose and of_twist < twist
    assert not any(each.flags for each in found)
    _, untold, _ = errors(MonitoredTracker(geometry, home), motion, times, readings)
    assert untold > 20.0 * of_pose and untold > 0.015, 'mm of error without the latency'


@pytest.mark.full
def test_covariances_hold_the_errors(geometry, home):
    late, motion = dataclasses.replace(geometry, leg_latency=DELAYS[:6]), motion_about(home)
    times = 1.0 + np.arange(900) / 200
    readings, _ = late_readings(geometry, motion, times, 1e-5)
    found, _, _ = errors(MonitoredTracker(late, home, config=MonitorConfig(leg_noise=1e-5)),
                         motion, times, readings)
    estimator, squares, predicted = MotionEstimator(late), [], []
    poses, twists, later = motion.pose(times), motion.twist(times), motion.pose(times + 0.01)
    for k in range(SKIPPED, len(times), 5):
        now, then = estimator.of(found[k]), estimator.predict(found[k], 0.01)
        error = se3.log(se3.inverse(now.pose) @ poses[k])
        off = now.twist - twists[k]
        squares.append((error @ np.linalg.solve(now.pose_covariance, error),
                        off @ np.linalg.solve(now.twist_covariance, off)))
        predicted.append(np.abs(se3.log(se3.inverse(then.pose) @ later[k])).max())
    # Below 6 on average: the oldest leg's variance counts for all of them.
    assert 1.0 < np.mean(squares, axis=0)[0] < 7.0 and 1.0 < np.mean(squares, axis=0)[1] < 7.0
    assert max(predicted) < 1e-3


def test_measured_rates_move_readings_and_twist_to_the_stamp(geometry, home):
    late, motion = dataclasses.replace(geometry, leg_latency=DELAYS[:6]), motion_about(home)
    times = 1.0 + np.arange(2 * SKIPPED) / 200
    readings, rates = late_readings(geometry, motion, times, measured=True)
    _, pose, twist = errors(MonitoredTracker(late, home), motion, times, readings, rates)
    assert pose < 3e-4 and twist < 2e-2
    # Without a filter the change of the rates is not known.
    _, pose, twist = errors(PoseTracker(late, home), motion, times, readings, rates)
    assert pose < 2e-3 and twist < 0.3
    _, pose, _ = errors(PoseTracker(late, home), motion, times, readings)
    assert pose < 2e-3


def test_redundant_legs_are_late_too():
    known = redundant(7, noise=1e-6)
    late, home = dataclasses.replace(known, leg_latency=DELAYS), redundant_home()
    motion, times = motion_about(home), 1.0 + np.arange(2 * SKIPPED) / 200
    readings, rates = late_readings(known, motion, times, 1e-6, measured=True)
    found, pose, twist = errors(MonitoredTracker(late, home), motion, times, readings)
    assert pose < 1e-3 and twist < 0.05
    _, untold, _ = errors(MonitoredTracker(known, home), motion, times, readings)
    assert untold > 10.0 * pose
    _, pose, twist = errors(MonitoredTracker(late, home), motion, times, readings, rates)
    assert pose < 1e-3 and twist < 0.05
    assert found[-1].motion.latency is not None and not MonitoredTracker(known, home).track(
        1, leg_lengths(known, home)).motion


def test_none_changes_no_bit(geometry, home):
    motion, times = motion_about(home), 1.0 + np.arange(200) / 200
    readings, _ = late_readings(geometry, motion, times, 1e-5)
    none = dataclasses.replace(geometry, leg_latency=np.zeros(6), leg_noise=np.zeros(6))
    first, second = (errors(MonitoredTracker(each, home), motion, times, readings)[0]
                     for each in (geometry, none))
    for one, other in zip(first, second):
        assert np.array_equal(one.pose, other.pose) and np.array_equal(
            one.lengths, other.lengths)
    assert all(np.array_equal(each.lengths, row) for each, row in zip(first, readings))


def test_a_file_has_latency_and_noise_of_each_leg(tmp_path):
    content = yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))
    for leg, delay in zip(content['legs'].values(), DELAYS.tolist()):
        leg.update(latency=delay, noise=2e-5 + 1e-3 * delay)
    path = tmp_path / 'late.yaml'
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding='utf-8')
    geometry = load_geometry(path)
    assert np.array_equal(geometry.leg_latency, DELAYS[:6])
    home = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    of_file, of_config = (MonitoredTracker(each, home, config=config) for each, config in (
        (geometry, MonitorConfig()), (load_geometry(config_file('stewart_geometry.yaml')),
                                      MonitorConfig(leg_noise=tuple(2e-5 + 1e-3 * DELAYS[:6])))))
    assert of_file.noise.noises == of_config.noise.noises
    for key, value in (('latency', -1.0), ('latency', 2.0), ('noise', 0.0)):
        wrong = {**content, 'legs': {**content['legs'], 'leg_2': {
            **content['legs']['leg_2'], key: value}}}
        path.write_text(yaml.safe_dump(wrong, sort_keys=False), encoding='utf-8')
        with refused(GeometryError, f'leg_{key}'):
            load_geometry(path)
    with refused(LimitError, 'leg_latency'):
        dataclasses.replace(geometry, leg_latency=-DELAYS[:6])
