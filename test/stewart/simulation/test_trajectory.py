# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The smooth motion about home: its twist and the derivatives of it."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from liedyn_ros.common.errors import LimitError
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import load_geometry, SmoothTrajectory
from liedyn_ros.stewart.home import geometry_home
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.simulation.trajectory import check_times, travel_share

CONFIG = config_file('stewart.yaml').parent
HOME = np.eye(4)
TIMES = [0.3, 0.999, 2.0, 5.0]
SIZES = [0.3, 1.5]  # rad; the second turns the platform by more than a right angle


def trajectory(size=0.3):
    """Return a motion with all six coordinates of a size."""
    rng = np.random.default_rng(2)
    return SmoothTrajectory(
        HOME, np.array([size] * 3 + [0.06] * 3), rng.uniform(0.2, 0.6, 6),
        rng.uniform(-3.0, 3.0, 6), 1.0)


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('t', TIMES)
def test_the_first_is_the_twist(t, size):
    motion = trajectory(size)
    np.testing.assert_allclose(motion.derivatives(t)[0], motion.twist(t), atol=1e-13)


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('t', TIMES)
def test_derivatives_against_differences(t, size):
    """Of the envelope, too, on the one side of its end where a difference is."""
    motion, h = trajectory(size), 1e-4
    before, at, after = (motion.derivatives(t + d) for d in (-h, 0.0, h))
    np.testing.assert_allclose((after[:2] - before[:2]) / (2.0 * h), at[1:], rtol=1e-4, atol=1e-3)


def test_derivatives_against_forty_digits():
    """V = (T^-1 T')^vee, T the exponential of mpmath, differentiated by mpmath."""
    motion, t = trajectory(1.5), 2.3
    with mpmath.workdps(40):
        def pose(time):
            xi = [a * mpmath.sin(2 * mpmath.pi * f * time + p) for a, f, p in zip(
                motion.amplitudes, motion.frequencies, motion.phases)]
            return mpmath.expm(mpmath.matrix([
                [0, -xi[2], xi[1], xi[3]], [xi[2], 0, -xi[0], xi[4]],
                [-xi[1], xi[0], 0, xi[5]], [0, 0, 0, 0]]))

        h = mpmath.mpf('1e-9')  # off by h^2, and by 1e-40 / h^3
        poses = [pose(t + k * h) for k in (-2, -1, 0, 1, 2)]
        rate, rate2, rate3 = (
            sum((c * m for c, m in zip(weights, poses)), mpmath.zeros(4)) / (scale * h**k)
            for k, scale, weights in (
                (1, 12, (1, -8, 0, 8, -1)), (2, 12, (-1, 16, -30, 16, -1)),
                (3, 2, (-1, 2, 0, -2, 1))))
        inverse = poses[2]**-1
        v = inverse * rate
        dv = inverse * rate2 - v * v
        ddv = inverse * rate3 - v * (inverse * rate2) - dv * v - v * dv
        expected = [[m[2, 1], m[0, 2], m[1, 0], m[0, 3], m[1, 3], m[2, 3]] for m in (v, dv, ddv)]
    np.testing.assert_allclose(
        motion.derivatives(t), np.array(expected, dtype=float), rtol=1e-12, atol=1e-11)


def test_it_begins_at_rest():
    motion = trajectory()
    np.testing.assert_array_equal(motion.derivatives(0.0)[:2], 0.0)
    np.testing.assert_array_equal(motion.derivatives(-1.0), 0.0)


@pytest.mark.parametrize('name', [path.name for path in sorted(CONFIG.glob('stewart_*.yaml'))
                                  if '\nlegs:' in path.read_text()])
def test_amplitudes_are_scaled_to_the_travel_of_every_platform(name):
    """A little more than the share, which is one of 64 parts, is beyond it."""
    geometry = load_geometry(config_file(name))
    motion = SmoothTrajectory(geometry_home(geometry), [0.2, 0.2, 0.3, 0.06, 0.06, 0.06],
                              [0.23, 0.31, 0.17, 0.29, 0.19, 0.37], np.arange(6.0))
    times = check_times(motion)
    share = travel_share(geometry, motion, times)
    assert 0.0 < share <= 1.0
    assert travel_share(geometry, replace(motion, amplitudes=share * motion.amplitudes),
                        times) == 1.0
    assert share == 1.0 or travel_share(
        geometry, replace(motion, amplitudes=(share + 1 / 32) * motion.amplitudes), times) < 1.0


def test_a_home_that_no_rod_reaches_is_refused():
    geometry = load_geometry(config_file('stewart_servos.yaml'))
    motion = SmoothTrajectory(np.eye(4), np.zeros(6), np.ones(6), np.zeros(6))
    with pytest.raises(LimitError):
        travel_share(geometry, motion, check_times(motion, 1.0))


def test_a_share_keeps_the_smallest_singular_value_that_home_has():
    geometry = load_geometry(config_file('stewart_servos.yaml'))
    motion = SmoothTrajectory(geometry.home, np.array([0.2] * 3 + [0.06] * 3),
                              np.array([0.23, 0.31, 0.17, 0.29, 0.19, 0.37]), np.arange(6.0))
    times, meter = check_times(motion), PlatformMeter(geometry)
    shares = [travel_share(geometry, motion, times, least) for least in (0.0, 0.05, 0.5)]
    values = [meter.signed_values(replace(motion, amplitudes=share * motion.amplitudes).pose(
        times)) for share in shares]
    assert np.abs(values[0]).min() < 0.05 <= np.abs(values[1]).min()
    assert shares[2] == shares[0]  # home is nearer
