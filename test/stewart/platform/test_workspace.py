# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The map of the workspace against its parts."""

import numpy as np
import pytest
from support.platforms.stewart_motion import pose_of

from liedyn_ros.stewart import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.platform.workspace import map_workspace


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
