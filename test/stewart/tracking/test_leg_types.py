# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Platforms of every form tracked at 1 kHz, by values that root finders give along a motion."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from support.platforms.leg_types import ALL, example, HOMES, reference_values

from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, leg_rates, MonitorConfig, MonitoredTracker, MotionEstimator, PoseTracker,
    SmoothTrajectory, Start, Strut)
from liedyn_ros.stewart.platform.kinematics import leg_ends

SAMPLES = 200
PERIOD_NS = 1_000_000
SIZES = {'cranks': 0.4, 'stages': 0.3, 'carried_guides': 0.3}  # of a motion


@pytest.fixture(scope='module', params=list(ALL))
def motion(request):
    """Return a platform, its home, and stamps, poses, twists and values of a motion at 1 kHz."""
    return motion_of(request.param)


@cache
def motion_of(name):
    """Return a platform, its home, and poses, twists and values of a motion at 1 kHz."""
    geometry, home = example(name)
    size = SIZES.get(name, 1.0)
    trajectory = SmoothTrajectory(
        home, size * np.array([0.1, 0.1, 0.15, 0.03, 0.03, 0.03]), np.array(
            [0.8, 1.0, 0.6, 0.9, 0.7, 1.2]), np.arange(6.0), 0.4)
    times = np.arange(SAMPLES) * 1e-9 * PERIOD_NS
    poses = trajectory.pose(times)
    values = np.array([reference_values(geometry, pose) for pose in poses])
    return geometry, home, poses, trajectory.twist(times), values


def test_every_sample_gives_its_pose(motion):
    geometry, home, poses, _, values = motion
    tracker = PoseTracker(geometry, home)
    for k, (pose, value) in enumerate(zip(poses, values)):
        tracked = tracker.track(k * PERIOD_NS, value)
        assert tracked.converged
        assert tracked.start is (Start.PREDICTED if k else Start.HOME)
        assert np.abs(tracked.pose - pose).max() < 1e-11


def test_measured_rates_give_the_twist(motion):
    geometry, home, poses, twists, values = motion
    tracker = PoseTracker(geometry, home)
    for k in range(1, SAMPLES - 1, 10):
        # The rates are those of the rods' ends, from which differences of references are taken.
        rates = leg_rates(geometry, poses[k], twists[k])
        difference = (values[k + 1] - values[k - 1]) / (2e-9 * PERIOD_NS)
        assert rates == pytest.approx(difference, abs=2e-3 * max(1.0, np.abs(rates).max()))
        tracked = tracker.track(k * PERIOD_NS, values[k], rates)
        assert tracked.twist == pytest.approx(twists[k], abs=1e-9)


def test_a_watched_motion_raises_no_flag(motion):
    geometry, home, poses, _, values = motion
    tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_acceleration=50.0))
    for k, value in enumerate(values[:200]):
        safe = tracker.track(k * PERIOD_NS, value)
        assert safe.converged and not safe.flags
        assert np.abs(safe.pose - poses[k]).max() < 1e-11


@pytest.mark.parametrize('name', list(HOMES))
def test_rods_keep_their_length_along_the_motion(name):
    geometry, _, poses, _, values = motion_of(name)
    for pose, value in zip(poses[::40], values[::40]):
        foot, tip = leg_ends(geometry, pose)
        lengths = np.linalg.norm(tip - foot, axis=1)
        rods = [getattr(form, 'rod', length) for form, length in zip(geometry.leg_types, value)]
        assert lengths == pytest.approx(rods, abs=1e-12)


@pytest.fixture(scope='module')
def mixed():
    """Return a platform of three cranks and three struts and its home."""
    cranks, home = example('cranks')
    leg_types = tuple(form if k % 2 else Strut() for k, form in enumerate(cranks.leg_types))
    limits = np.array([[-np.inf if k % 2 else 0.0, np.inf] for k in range(6)])
    return dataclasses.replace(cranks, leg_types=leg_types, length_limits=limits), home


@pytest.mark.parametrize('noise', [1e-6, 1e-5])
def test_cranks_among_struts_need_no_noise_told(mixed, noise):
    geometry, home = mixed
    trajectory = SmoothTrajectory(
        home, np.array([0.05, 0.05, 0.08, 0.01, 0.01, 0.01]),
        np.array([0.8, 1.0, 0.6, 0.9, 0.7, 1.2]), np.arange(6.0), 0.4)
    rng, times = np.random.default_rng(5), 2e-9 * PERIOD_NS * np.arange(1000)
    poses, spikes = trajectory.pose(times), {600: 1, 700: 2, 800: 5}
    values = leg_lengths(geometry, poses)
    values += noise / geometry.drive_scales * rng.normal(size=values.shape)
    for k, leg in spikes.items():
        values[k, leg] += 5e-3 / geometry.drive_scales[leg]
    tracker, estimator, squares = MonitoredTracker(geometry, home), MotionEstimator(geometry), []
    for k, value in enumerate(values):
        safe = tracker.track(2 * k * PERIOD_NS, value)
        assert safe.flags == (Flag.LEG_OUTLIER if k in spikes else Flag(0))
        assert safe.legs == ((spikes[k],) if k in spikes else ())
        error = se3.log(se3.compose(se3.inverse(poses[k]), safe.pose))
        assert np.abs(error).max() < 1e3 * noise
        covariance = estimator.pose_covariance(safe)
        if covariance is not None:
            squares.append(error @ np.linalg.solve(covariance, error))
    assert tracker.noise.noise == pytest.approx(noise, rel=0.1)
    assert len(squares) > 300 and 4.5 < np.mean(squares) < 7.5
