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

"""The map of the workspace against its parts, and the command that draws it."""

import re

import numpy as np
import pytest
from support.stewart_cases import pose_of

from liedyn_ros.stewart import leg_lengths, PlatformMeter
from liedyn_ros.stewart.platform.workspace import map_workspace
from liedyn_ros.studies import stewart_workspace


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


def test_the_command_writes_a_picture_of_each_orientation(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for pitch in ('10', '-7.5'):
        assert stewart_workspace.main(
            ['--steps', '9', '--pitch', pitch, '--folder', 'made/here']) == 0
        path = tmp_path / f'made/here/stewart_geometry_roll_0_pitch_{pitch}_yaw_0.png'
        assert path.stat().st_size > 10_000
    out = capsys.readouterr().out
    assert 'joined to home' in out and '\r' not in out  # which would fill a log
    assert stewart_workspace.main(['--geometry', 'nowhere.yaml']) == 2
    assert 'nowhere.yaml' in capsys.readouterr().err


@pytest.mark.parametrize(('options', 'message'), [
    ('--home 0 0 9', '--home: expected a position that keeps all limits .*travel of leg_1'),
    ('--home 0 0 0', '--home: expected .*travel of leg_1'),
    ('--home 0 0 nan', r'--home\[2\]: expected a finite number'),
    ('--yaw 90', '--home: expected .*: smallest singular value'),
    ('--threshold nan', '--threshold: expected a finite number'),
    ('--threshold -1', 'threshold: expected 0 or more, got -1'),
    ('--steps 2', '--steps: expected 3 or more')])
def test_the_command_refuses_nonsense(options, message, capsys, tmp_path):
    assert stewart_workspace.main(['--folder', str(tmp_path), *options.split()]) == 2
    assert re.search(message, capsys.readouterr().err)
