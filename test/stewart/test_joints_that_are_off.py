# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The check of joints that are off the file: geometry first, offsets of legs where decided."""

import dataclasses

import numpy as np
import pytest
from scipy import optimize, stats
from support.platforms.leg_types import example, poses_about

from liedyn_ros.stewart import leg_lengths
from liedyn_ros.stewart.commissioning.check import check
from liedyn_ros.stewart.commissioning.joints import evidence, joint_columns

EVERY = tuple(range(6))
NOISE = 5e-5  # m, of readings


def off_by(geometry, deviation, seed):
    """Return a platform whose joints are all off by some metres."""
    moves = np.random.default_rng(seed).normal(0.0, deviation, (2, 6, 3))
    return dataclasses.replace(
        geometry, base_joints=geometry.base_joints + moves[0],
        platform_joints=geometry.platform_joints + moves[1])


def read(geometry, poses, seed, offsets=0.0):
    """Return readings with noise."""
    noise = np.random.default_rng((seed, len(poses))).normal(0.0, NOISE, (len(poses), 6))
    return leg_lengths(geometry, poses) + noise + offsets


def kinds(found):
    """Return the kinds of faults that were found."""
    return [finding.kind for finding in found.findings]


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_joints_one_millimetre_off_are_the_geometry(geometry, home, seed):
    poses = poses_about(home, 45, seed, 0.3, 0.08)
    found = check(geometry, poses, read(off_by(geometry, 1e-3, seed), poses, seed), home)
    assert [(finding.kind, finding.legs) for finding in found.findings] == [('geometry', EVERY)]
    assert 'joints are off the geometry file, by about 0.00' in found.findings[0].text
    assert np.abs(found.remaining).max() > 1e-3  # and it is printed
    assert not found.offsets.any() and (found.scales == 1.0).all()


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_an_offset_of_its_own_for_each_leg_is_not_the_geometry(geometry, home, seed):
    offsets = np.array([3.0, -4.0, 5.0, -3.0, 6.0, -5.0]) * 1e-3
    poses = poses_about(home, 12, seed, 0.3, 0.08)
    found = check(geometry, poses, read(geometry, poses, seed, offsets), home)
    assert set(kinds(found)) <= {'offset', 'offset_or_scale'} and len(found.findings) == 6
    assert found.offsets == pytest.approx(-offsets, abs=7.0 * NOISE / np.sqrt(12))  # of means


def test_few_poses_do_not_decide_and_the_pose_that_does_is_printed(geometry, home):
    # Close to home an offset and a joint's error look the same.
    poses = poses_about(home, 4, 5, 0.02, 0.005)
    offsets = np.array([3.0, -4.0, 5.0, -3.0, 6.0, -5.0]) * 1e-3
    for machine, added, names in ((off_by(geometry, 4e-3, 5), 0.0, {'geometry'}),
                                  (geometry, offsets, {'offset', 'offset_or_scale'})):
        found = check(geometry, poses, read(machine, poses, 5, added), home)
        assert kinds(found) == ['geometry_or_legs']
        text = found.findings[0].text
        assert text.index('Joints that are off') < text.index(' reads ')
        assert found.next_pose.text in found.remarks and found.next_pose.separation >= 1.0
        more = np.concatenate((poses, found.next_pose.pose[None]))
        assert set(kinds(check(geometry, more, read(machine, more, 5, added), home))) <= names


def test_a_dead_leg_is_named_beside_joints_that_are_off(geometry, home):
    poses = poses_about(home, 20, 4, 0.3, 0.08)
    readings = read(off_by(geometry, 1e-3, 4), poses, 4)
    readings[:, 3] = 0.4
    found = check(geometry, poses, readings, home)
    assert [(finding.kind, finding.legs) for finding in found.findings] == [
        ('dead', (3,)), ('geometry', EVERY)]


def test_one_pose_does_not_blame_legs_for_joints(geometry, home):
    found = check(geometry, home[None], read(off_by(geometry, 4e-3, 2), home[None], 2), home)
    assert kinds(found) == ['geometry_or_legs'] and found.next_pose is not None


def test_joints_of_stages_are_no_dead_sensors():
    geometry, home = example('stages')
    poses = poses_about(home, 5, 3, 0.02, 0.002)
    for seed in range(2):
        off = off_by(geometry, 1e-3, seed)
        found = check(geometry, poses, leg_lengths(off, poses), home)
        assert 'dead' not in kinds(found) and kinds(found)


def test_columns_are_the_directions_of_legs(geometry, home):
    poses = poses_about(home, 3, 4, 0.3, 0.08)
    columns = joint_columns(geometry, poses)
    for k, pose in enumerate(poses):
        tips = geometry.platform_joints @ pose[:3, :3].T + pose[:3, 3] - geometry.base_joints
        along = tips / np.linalg.norm(tips, axis=1, keepdims=True)
        assert columns[:, k] == pytest.approx(np.hstack((-along, along @ pose[:3, :3])), abs=1e-8)


def test_evidence_is_the_greatest_density_of_normal_numbers():
    rng = np.random.default_rng(6)
    columns = [rng.normal(size=(5, 6)), rng.normal(size=(5, 1)), np.zeros((5, 0))]
    errors = [column @ rng.normal(0.0, 2.0, column.shape[1]) + rng.normal(0.0, 0.1, 5)
              for column in columns]

    def cost(x):
        noise, size = np.exp(x)
        return -sum(stats.multivariate_normal(
            np.zeros(5), noise ** 2 * np.eye(5) + size ** 2 * column @ column.T).logpdf(error)
            for error, column in zip(errors, columns))
    best = optimize.minimize(cost, np.log([0.1, 1.0]), method='Nelder-Mead')
    found = evidence(errors, columns, 1e-6)
    assert found.log - 7.5 * np.log(2.0 * np.pi) == pytest.approx(-best.fun, abs=1e-2)
    assert (found.noise, found.size) == pytest.approx(tuple(np.exp(best.x)), rel=0.1)
