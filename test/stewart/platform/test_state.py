# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The state at a pose: its passage of a singularity, the pair of poses, what has no inverse."""

import math

import numpy as np
import pytest
from support.platforms.stewart_motion import GEOMETRY
from support.refusals import refused

from liedyn_ros.common.errors import LimitError, ShapeError, SingularError
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, length_jacobian, PlatformState, PoseSolver, StewartGeometry)
from liedyn_ros.stewart.platform.kernels.state import STATE_SIZE
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.kernels.sample import time_until


def scaled_jacobian(geometry, pose):
    """Return dL/d(body twist) with the angular part in units of the characteristic length."""
    return length_jacobian(geometry, pose) / ([geometry.characteristic_length] * 3 + [1.0] * 3)


def test_both_signs_and_a_smooth_passage(geometry, home):
    meter, quarter = PlatformMeter(geometry), np.pi / 2.0
    turns = se3.exp([[0.0, 0.0, quarter + yaw, 0.0, 0.0, 0.0]
                     for yaw in np.linspace(-0.2, 0.2, 41)])
    values = [meter.measure(pose).signed_value for pose in se3.compose(home, turns)]
    assert values[0] < 0.0 < values[-1]
    assert np.abs(np.diff(values, 2)).max() < 0.1 * np.diff(values).min()  # twice it at a kink
    exact = PlatformMeter(GEOMETRY)  # whose hexagons no file has rounded to a micrometre
    # Fichter 1986: a quarter turn of similar hexagons is singular, as far as eps tells.
    assert abs(exact.measure(se3.compose(home, turns[20])).signed_value) < 1e-14


def test_the_null_twist_is_exact_at_a_singularity(geometry, home):
    pose = se3.compose(home, se3.exp([0.0, 0.0, np.pi / 2.0, 0.0, 0.0, 0.0]))
    null = PlatformMeter(geometry).measure(pose).null_twist
    assert np.linalg.norm(null) == pytest.approx(1.0, abs=1e-14)
    assert np.abs(scaled_jacobian(geometry, pose) @ null).max() < 1e-6


def test_the_reflected_pose_has_the_same_lengths(geometry, home):
    meter, solver = PlatformMeter(geometry), PoseSolver(geometry)
    for yaw in (1.45, 1.52, 1.62):
        pose = se3.compose(home, se3.exp([0.05, 0.02, yaw, 0.01, 0.0, 0.0]))
        measured, lengths = meter.measure(pose), leg_lengths(geometry, pose)
        solution = solver.solve(lengths, meter.reflected(measured))
        assert solution.converged and np.abs(solution.pose - pose).max() > 1e-3
        other = meter.measure(solution.pose)
        assert other.determinant_sign == -measured.determinant_sign
        between = se3.log(se3.compose(se3.inverse(pose), solution.pose))
        between[3:] /= geometry.characteristic_length
        assert np.linalg.norm(between) == pytest.approx(
            abs(2.0 * measured.signed_value / measured.slope), rel=0.1)


def test_the_measure_has_no_unit(geometry, paper_pose):
    enlarged = StewartGeometry(
        geometry.leg_names, 100.0 * geometry.base_joints, 100.0 * geometry.platform_joints,
        100.0 * geometry.length_limits)
    pose = paper_pose.copy()
    pose[:3, 3] *= 100.0
    small, large = (PlatformMeter(g).measure(p)
                    for g, p in ((geometry, paper_pose), (enlarged, pose)))
    assert large.signed_value == pytest.approx(small.signed_value, rel=1e-12)
    assert large.slope == pytest.approx(small.slope, rel=1e-6)


@pytest.mark.parametrize(('value', 'rate', 'expected'), [
    (-0.3, 0.1, 2.5), (0.3, -0.1, 2.5), (-0.3, -0.1, math.inf), (0.3, 0.0, math.inf),
    (0.04, 5.0, 0.0)])
def test_time_until_the_threshold(value, rate, expected):
    assert time_until(value, rate, 0.05) == pytest.approx(expected)


def test_a_solve_leaves_the_state_that_the_meter_measures(geometry, home, random_poses):
    meter, values = PlatformMeter(geometry), np.empty(STATE_SIZE)
    for pose in random_poses[:20]:
        solution = PoseSolver(geometry).solve(leg_lengths(geometry, pose), pose, values)
        state = PlatformState(meter, solution.pose, values.copy())
        measured = meter.measure(solution.pose)
        assert state.signed_value == pytest.approx(measured.signed_value, rel=1e-9)
        assert state.slope == pytest.approx(measured.slope, rel=1e-6, abs=1e-9)
        assert solution.smallest_singular_value == state.smallest_singular_value


def test_a_singular_state_has_no_inverse(geometry):
    state = PlatformMeter(geometry).measure(np.eye(4))  # all legs in one plane
    with refused(SingularError, 'pose'):
        state.inverse.sum()


@pytest.mark.parametrize('warning', [-0.1, math.nan, math.inf])
def test_a_warning_threshold_out_of_range_is_refused(geometry, warning):
    with refused(LimitError, 'singularity_warning'):
        PlatformMeter(geometry, warning)


def test_a_pose_of_another_shape_is_refused(geometry):
    with refused(ShapeError, 'pose_base_platform', got=(3, 3), expected=(4, 4)):
        PlatformMeter(geometry).measure(np.eye(3))
