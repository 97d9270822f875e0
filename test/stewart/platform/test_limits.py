# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits and workspace of a platform, against brute force, their parts and hand-made cases."""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from support.platforms.stewart_motion import pose_of
from support.refusals import refused
import yaml

from liedyn_ros.common.errors import GeometryError, LiedynError, NotFiniteError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import Flag, geometry_of, leg_lengths, MonitoredTracker
from liedyn_ros.stewart.platform.kernels.limits import distance
from liedyn_ros.stewart.platform.limits import pairs_of
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.platform.workspace import map_workspace


def with_limits(geometry, diameter=0.0, angle=np.pi):
    """Return the platform with cones about vertical axes and legs of a diameter."""
    return dataclasses.replace(
        geometry, leg_diameter=diameter,
        base_cones=np.tile([0.0, 0.0, 2.0, angle], (6, 1)),
        platform_cones=np.tile([0.0, 0.0, -1.0, angle], (6, 1)))


def nearest(p, u, q, v):
    """Return the distance of two segments by minimising over both parameters."""
    def square(x):
        gap = p + x[0] * u - q - x[1] * v
        return gap @ gap
    starts = itertools.product((0.1, 0.9), repeat=2)
    return min(minimize(square, start, bounds=[(0, 1), (0, 1)], tol=1e-14).fun
               for start in starts) ** 0.5


@pytest.mark.full
def test_distances_of_segments_by_minimisation():
    for p, u, q, v in np.random.default_rng(12).normal(size=(60, 4, 3)):
        for other in (v, u, 0.01 * v):  # askew, parallel, short
            assert distance(tuple(p), tuple(u), tuple(q), tuple(other)) == pytest.approx(
                nearest(p, u, q, other), abs=1e-6)


def test_crossing_segments_touch():
    assert distance((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (-2.0, 0.0, 1.0)) == (
        pytest.approx(0.0, abs=1e-15))


def test_travel_and_angles_of_legs(geometry, random_poses):
    limited = with_limits(geometry, 0.02, 0.9)
    poses = random_poses[:50]
    left = PlatformMeter(limited).margins(poses)
    lengths = leg_lengths(geometry, poses)
    assert np.allclose(left.travel, np.minimum(lengths - 0.25, 0.95 - lengths), atol=1e-15)
    tips = poses[:, None, :3, 3] + np.einsum(
        'nij,kj->nki', poses[:, :3, :3], geometry.platform_joints)
    vertical = (tips - geometry.base_joints)[..., 2] / lengths
    assert np.allclose(left.joint_angles[:, :6], 0.9 - np.arccos(vertical), atol=1e-7)
    along = np.einsum('nki,ni->nk', tips - geometry.base_joints, poses[:, :3, 2]) / lengths
    assert np.allclose(left.joint_angles[:, 6:], 0.9 - np.arccos(along), atol=1e-7)
    for n, (i, j) in itertools.product(range(3), pairs_of(6)):
        a, b = geometry.base_joints[[i, j]]
        expected = nearest(a, tips[n, i] - a, b, tips[n, j] - b) - 0.02
        assert left.clearance[n, pairs_of(6).index((i, j))] == pytest.approx(expected, abs=1e-6)
    one = PlatformMeter(limited).measure(poses[0]).margins
    assert np.array_equal(one.values, left.values[0])
    assert one.within_limits == left.within_limits[0]


def test_what_is_exceeded_is_named(geometry, home):
    names = geometry.leg_names
    left = PlatformMeter(geometry).measure(home).margins
    assert left.within_limits and left.exceeded(names) == []
    tight = PlatformMeter(with_limits(geometry, 0.4, 0.2)).measure(home).margins
    assert not tight.within_limits
    assert {'base joint of leg_1', 'platform joint of leg_6', 'clearance of leg_1 and leg_6'} <= (
        set(tight.exceeded(names)))
    low = PlatformMeter(geometry).measure(pose_of((0.0, 0.0, 0.05), (0, 0, 0)))
    assert 'travel of leg_3' in low.margins.exceeded(names)


def test_a_pose_of_nan_is_refused_and_keeps_no_limit(geometry, home):
    bad = home.copy()
    bad[0, 3] = np.nan
    meter = PlatformMeter(geometry)
    with refused(NotFiniteError, 'pose_base_platform', indices=(0, 3)):
        meter.measure(bad)
    assert np.isnan(meter.limits_at(bad, 1.0)[0]).any()


def test_the_tracker_flags_every_sample_beyond_a_limit(geometry, home):
    cone = 0.5 * (np.arccos((home[2, 3]) / leg_lengths(geometry, home)).max() + 0.9)
    limited = with_limits(geometry, 0.02, cone)
    meter, tracker = PlatformMeter(limited), MonitoredTracker(limited, home)
    seen = []
    for k, pitch in enumerate(np.linspace(0.0, 0.9, 200)):
        pose = se3.compose(home, se3.exp([0.0, pitch, 0.0, 0.0, 0.0, 0.0]))
        safe = tracker.track(k * 1_000_000, leg_lengths(limited, pose))
        left = meter.measure(pose).margins
        assert np.allclose(safe.state.margins.values, left.values, atol=1e-9)
        for flag, part in ((Flag.LEG_TRAVEL, left.travel), (Flag.JOINT_ANGLE, left.joint_angles),
                           (Flag.LEG_CLEARANCE, left.clearance)):
            assert (flag in safe.flags) == (part.min() < 0.0)
        seen.append(Flag.JOINT_ANGLE in safe.flags)
    assert not seen[0] and seen[-1]


def document(**leg):
    """Return the paper's geometry file with more keys for its second leg."""
    content = yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))
    content['legs']['leg_2'].update(leg)
    return content


def test_cones_and_diameter_come_from_the_file():
    content = document(base_cone={'axis': [0, 3, 4], 'angle': 0.7})
    content['leg_diameter'] = 0.03
    geometry = geometry_of(content)
    assert np.allclose(geometry.base_cones[1], [0.0, 0.6, 0.8, 0.7])
    assert np.allclose(geometry.base_cones[0], [0.0, 0.0, 1.0, np.pi])
    assert np.allclose(geometry.platform_cones[1], [0.0, 0.0, -1.0, np.pi])
    assert geometry.leg_diameter == 0.03


@pytest.mark.parametrize(('leg', 'name'), [
    ({'base_cone': {'axis': [0, 0, 1]}}, 'geometry/legs/leg_2/base_cone'),
    ({'base_cone': {'axis': [0, 0, 0], 'angle': 1.0}}, 'base_cones of leg_2'),
    ({'platform_cone': {'axis': [0, 0, 1], 'angle': 4.0}}, 'platform_cones of leg_2'),
    ({'platform_cone': {'axis': [0, 1], 'angle': 1.0}}, 'geometry/legs/leg_2/platform_cone/axis'),
    ({'platform_cone': {'axis': [0, 0, 1], 'angle': 'wide'}},
     'geometry/legs/leg_2/platform_cone/angle')])
def test_wrong_cones_are_named(leg, name):
    with refused(LiedynError, name):
        geometry_of(document(**leg))


def test_a_negative_diameter_is_refused(geometry):
    with refused(GeometryError, 'leg_diameter'):
        dataclasses.replace(geometry, leg_diameter=-0.01)


def test_the_map_agrees_with_its_parts(geometry, home):
    axes = (np.linspace(-0.5, 0.5, 11), np.linspace(-0.5, 0.5, 9), np.linspace(0.0, 0.9, 10))
    shares = []
    grid = map_workspace(geometry, home[:3, :3], home[:3, 3], axes, 0.05, shares.append)
    meter, rng = PlatformMeter(geometry), np.random.default_rng(2)
    for i, j, k in rng.integers(0, (11, 9, 10), (40, 3)):
        pose = pose_of((axes[0][i], axes[1][j], axes[2][k]), (0, 0, 0))
        assert grid.reachable[i, j, k] == geometry.within_limits(leg_lengths(geometry, pose)).all()
        assert grid.signed_values[i, j, k] == pytest.approx(meter.measure(pose).signed_value)
    assert shares[-1] == 1.0 and len(shares) == 11
    assert (grid.reachable | ~grid.usable).all()
    assert np.abs(grid.signed_values[grid.usable]).min() > 0.05
    assert 0.0 < grid.volume(grid.usable) < grid.volume(grid.reachable)


def test_nothing_is_usable_where_home_is_singular(geometry, home):
    turned = pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 90.0))
    axes = tuple(np.linspace(-0.2, 0.2, 5) + centre for centre in (0.0, 0.0, 0.5))
    grid = map_workspace(geometry, turned[:3, :3], home[:3, 3], axes, 0.05)
    assert grid.reachable.any() and not grid.usable.any()
