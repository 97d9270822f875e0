# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Limits and workspace, against brute force, the other functions and hand-made cases."""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from support.stewart_cases import pose_of
import yaml

from liedyn_ros.errors import GeometryError, LiedynError
from liedyn_ros.resources import config_file
from liedyn_ros.stewart import leg_lengths, SingularityMeter, StewartGeometry
from liedyn_ros.stewart.workspace import clearances, map_workspace, margins
from liedyn_ros.studies import stewart_workspace


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


def test_clearances_by_minimisation():
    rng = np.random.default_rng(12)
    bases, tips = rng.normal(size=(6, 3)), rng.normal(size=(4, 6, 3))
    tips[0] = bases + [0.1, 0.2, 1.0]  # all parallel
    tips[1, 1] = bases[1] + 0.3 * (bases[0] - bases[1])  # short
    got = clearances(bases, tips)
    for n in range(4):
        expected = [nearest(bases[i], tips[n, i] - bases[i], bases[j], tips[n, j] - bases[j])
                    for i, j in itertools.combinations(range(6), 2)]
        assert np.allclose(got[n], expected, atol=1e-6)


def test_crossing_legs_touch():
    bases = np.zeros((6, 3))
    bases[:, 0] = range(6)
    tips = bases + [0.0, 0.0, 1.0]
    tips[1] = [-1.0, 0.0, 1.0]  # from (1, 0, 0) through leg 1's middle
    assert clearances(bases, tips[None])[0, 0] == pytest.approx(0.0, abs=1e-15)


def test_travel_and_angles_of_legs(geometry, random_poses):
    limited = with_limits(geometry, 0.02, 0.9)
    poses = random_poses[:50]
    left = margins(limited, poses)
    lengths = leg_lengths(geometry, poses)
    assert np.allclose(left.travel, np.minimum(lengths - 0.25, 0.95 - lengths), atol=1e-15)
    tips = poses[:, None, :3, 3] + np.einsum(
        'nij,kj->nki', poses[:, :3, :3], geometry.platform_joints)
    vertical = (tips - geometry.base_joints)[..., 2] / lengths
    assert np.allclose(left.base_angles, 0.9 - np.arccos(vertical), atol=1e-7)
    along = np.einsum('nki,ni->nk', tips - geometry.base_joints, poses[:, :3, 2]) / lengths
    assert np.allclose(left.platform_angles, 0.9 - np.arccos(along), atol=1e-7)
    assert np.allclose(left.clearance, clearances(geometry.base_joints, tips) - 0.02)


def test_what_is_exceeded_is_named(geometry, home):
    names = geometry.leg_names
    assert margins(geometry, home[None]).exceeded(names) == []
    assert margins(geometry, home[None]).reachable.tolist() == [True]
    tight = margins(with_limits(geometry, 0.4, 0.2), home[None])
    text = '; '.join(tight.exceeded(names))
    assert 'base joint of leg_1' in text and 'platform joint of leg_6' in text
    assert 'leg_1 and leg_6' in text and not tight.reachable.any()
    low = margins(geometry, pose_of((0.0, 0.0, 0.05), (0, 0, 0))[None])
    assert any('travel of leg_3' in line for line in low.exceeded(names))


def test_the_map_agrees_with_its_parts(geometry, home):
    axes = (np.linspace(-0.5, 0.5, 11), np.linspace(-0.5, 0.5, 9), np.linspace(0.0, 0.9, 10))
    shares = []
    grid = map_workspace(geometry, home[:3, :3], home[:3, 3], axes, 0.05, shares.append)
    meter, rng = SingularityMeter(geometry), np.random.default_rng(2)
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


def test_the_command_writes_a_picture(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert stewart_workspace.main(['--steps', '9', '--pitch', '10']) == 0
    assert (tmp_path / 'out/stewart_workspace/table_1.png').stat().st_size > 10_000
    assert 'joined to home' in capsys.readouterr().out
    assert stewart_workspace.main(['--geometry', 'nowhere.yaml']) == 1
    assert 'nowhere.yaml' in capsys.readouterr().err


def document(**leg):
    """Return the paper's geometry file with more keys for its second leg."""
    content = yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))
    content['legs']['leg_2'].update(leg)
    return content


def test_cones_and_diameter_come_from_the_file():
    content = document(base_cone={'axis': [0, 3, 4], 'angle': 0.7})
    content['leg_diameter'] = 0.03
    geometry = StewartGeometry.from_mapping(content)
    assert np.allclose(geometry.base_cones[1], [0.0, 0.6, 0.8, 0.7])
    assert np.allclose(geometry.base_cones[0], [0.0, 0.0, 1.0, np.pi])
    assert np.allclose(geometry.platform_cones[1], [0.0, 0.0, -1.0, np.pi])
    assert geometry.leg_diameter == 0.03


@pytest.mark.parametrize(('leg', 'message'), [
    ({'base_cone': {'axis': [0, 0, 1]}}, "leg leg_2: base_cone.*missing.*'angle'"),
    ({'base_cone': {'axis': [0, 0, 0], 'angle': 1.0}}, 'base_cones of leg_2'),
    ({'platform_cone': {'axis': [0, 0, 1], 'angle': 4.0}}, 'platform_cones of leg_2'),
    ({'platform_cone': {'axis': [0, 1], 'angle': 1.0}}, r'leg_2: platform_cone: axis.*\(3,\)'),
    ({'platform_cone': {'axis': [0, 0, 1], 'angle': 'wide'}}, 'leg_2: platform_cone: angle')])
def test_wrong_cones_are_named(leg, message):
    with pytest.raises(LiedynError, match=message):
        StewartGeometry.from_mapping(document(**leg))


def test_a_negative_diameter_is_refused(geometry):
    with pytest.raises(GeometryError, match='leg_diameter'):
        dataclasses.replace(geometry, leg_diameter=-0.01)
