# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg lengths of the paper, of batches and of pose objects, rates, and what is no pose."""

import numpy as np
import pytest
from support.refusals import ANY, refused

from liedyn_ros.common.errors import NotFiniteError, NotInGroupError, ShapeError
from liedyn_ros.lie import SE3
from liedyn_ros.stewart import leg_lengths, leg_rates, length_jacobian, PoseTracker, Trivialization
from liedyn_ros.stewart.platform.kinematics import leg_ends
from liedyn_ros.stewart.platform.state import PlatformMeter


def test_lengths_of_the_papers_pose(geometry, paper_pose):
    # (Stewart 16, 29), the last length corrected.
    expected = [55.855835, 62.531300, 52.743637, 55.145693, 44.797213, 51.991032]
    assert 100.0 * leg_lengths(geometry, paper_pose) == pytest.approx(expected, abs=2e-6)


def test_batch_equals_single(geometry, random_poses):
    poses = random_poses[:12].reshape(3, 4, 4, 4)
    batch = leg_lengths(geometry, poses)
    assert batch.shape == (3, 4, 6)
    for index in np.ndindex(3, 4):
        assert np.array_equal(batch[index], leg_lengths(geometry, poses[index]))


@pytest.mark.parametrize('frame', list(Trivialization))
def test_rates_keep_power(geometry, random_poses, frame):
    rng = np.random.default_rng(1)
    for pose in random_poses[:20]:
        twist, forces = rng.normal(size=6), rng.normal(size=6)
        rates = leg_rates(geometry, pose, twist, frame)
        wrench = length_jacobian(geometry, pose, frame).T @ forces
        assert forces @ rates == pytest.approx(wrench @ twist, abs=1e-12)


@pytest.mark.parametrize('answer', [
    leg_lengths, length_jacobian,
    lambda geometry, pose: leg_rates(geometry, pose, np.ones(6)),
    lambda geometry, pose: PlatformMeter(geometry).measure(pose).null_twist,
    lambda geometry, pose: PlatformMeter(geometry).signed_values([pose]),
    lambda geometry, pose: PlatformMeter(geometry).measure(pose).margins.values,
    lambda geometry, pose: PoseTracker(geometry, pose).home])
def test_a_pose_may_be_a_matrix_or_a_pose_object(geometry, paper_pose, answer):
    assert np.array_equal(answer(geometry, SE3(paper_pose)),
                          answer(geometry, paper_pose))


def test_wrong_input_is_named(geometry, home):
    with refused(ShapeError, 'pose_base_platform', got=(3, 3), expected=(4, 4)):
        length_jacobian(geometry, np.eye(3))
    with refused(ShapeError, 'twist', got=(5,), expected=(6,)):
        leg_rates(geometry, home, np.zeros(5))
    with refused(NotFiniteError, 'twist', indices=(2,)):
        leg_rates(geometry, home, [0, 0, np.inf, 0, 0, 0])


@pytest.mark.parametrize('none', [
    np.diag([1.0, 1.0, -1.0, 1.0]), 2.0 * np.eye(4), np.zeros((4, 4))], ids=[
        'mirror', 'scaling', 'zeros'])
@pytest.mark.parametrize('answer', [
    leg_lengths, length_jacobian, leg_ends,
    lambda geometry, pose: PlatformMeter(geometry).measure(pose),
    lambda geometry, pose: PlatformMeter(geometry).margins([pose]),
    lambda geometry, pose: PlatformMeter(geometry).signed_values([pose])])
def test_matrices_that_are_no_poses_are_refused(geometry, none, answer):
    with refused(NotInGroupError, ANY) as caught:
        answer(geometry, none)
    assert caught.value.names[0] in ('pose_base_platform', 'poses_base_platform')
