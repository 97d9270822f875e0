# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Home belongs to the geometry: where it comes from, and what is refused."""

from dataclasses import replace
import warnings

import numpy as np
import pytest
from support.refusals import refused
import yaml

from liedyn_ros.common.errors import DescriptionWarning, LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, load_geometry, MonitoredTracker, OffsetStrut, PoseSolver, with_tool)
from liedyn_ros.stewart.home import home_of, mirror_of_home, NO_TURN, NOT_GIVEN, require_home
from liedyn_ros.stewart.platform.state import PlatformMeter

FILES = sorted(path.name for path in config_file('stewart_geometry.yaml').parent.glob(
    'stewart_*.yaml') if not path.name.endswith('_nodes.yaml'))


def settings(position=NOT_GIVEN, orientation=NO_TURN):
    return {'home_position': position, 'home_orientation': orientation}


@pytest.mark.parametrize('file', FILES)
def test_machines_of_the_package_have_a_home_that_their_legs_reach(file):
    geometry = load_geometry(config_file(file))
    geometry.require_within_limits(leg_lengths(geometry, home_of(geometry, settings())))


def test_a_geometry_without_home_needs_one(geometry, home):
    assert (home_of(geometry, settings()) == home).all()
    bare = replace(geometry, home=None)
    assert np.allclose(home_of(bare, settings([0.0, 0.0, 0.5])), home)
    with pytest.raises(LiedynError) as caught:
        home_of(bare, settings())
    assert caught.value.names == ('home',)
    with pytest.raises(LiedynError) as caught:
        home_of(geometry, settings(orientation=[1.0, 0.0, 0.0, 0.0]))
    assert caught.value.names == ('home_position',)


@pytest.mark.parametrize('height', [0.3, 117.0])
def test_a_home_out_of_reach_warns_where_its_file_is_read(tmp_path, height):
    text = config_file('stewart_servos.yaml').read_text(encoding='utf-8')
    path = tmp_path / 'servos.yaml'
    path.write_text(text.replace('position: [0.0, 0.0, 0.117]', f'position: [0.0, 0.0, {height}]'))
    with pytest.warns(DescriptionWarning, match='out of reach'):
        load_geometry(path)


def test_a_quaternion_in_another_order_is_named(geometry):
    given = settings([0.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0])
    with pytest.raises(LiedynError) as caught:
        require_home(geometry, given, home_of(geometry, given), PoseSolver(geometry).solve)
    assert caught.value.names == ('home_orientation',)


def test_a_home_out_of_reach_is_refused(geometry):
    given = settings([0.0, 0.0, 3.0])
    with pytest.raises(LiedynError) as caught:
        require_home(geometry, given, home_of(geometry, given), PoseSolver(geometry).solve)
    assert caught.value.names == ('home_position',)


def test_a_home_in_mm_is_named():
    geometry = load_geometry(config_file('stewart_servos.yaml'))
    given = settings((1e3 * geometry.home[:3, 3]).tolist())
    with refused(LiedynError, 'home_position', expected='m', got='mm') as caught:
        require_home(geometry, given, home_of(geometry, given), PoseSolver(geometry).solve)
    assert '\n' not in str(caught.value)


def test_a_home_in_mm_with_a_quaternion_from_w_is_named():
    geometry = load_geometry(config_file('stewart_servos.yaml'))
    given = settings((1e3 * geometry.home[:3, 3]).tolist(), [1.0, 0.0, 0.0, 0.0])
    with refused(LiedynError, 'home_position', 'home_orientation', expected='m', got='mm'):
        require_home(geometry, given, home_of(geometry, given), PoseSolver(geometry).solve)


def test_the_mirror_of_home_has_its_lengths():
    geometry = load_geometry(config_file('stewart_hanging.yaml'))
    mirror = mirror_of_home(geometry, geometry.home)
    assert mirror[2, 3] > 0.0 > geometry.home[2, 3]
    assert np.allclose(leg_lengths(geometry, mirror), leg_lengths(geometry, geometry.home))


def test_home_is_of_the_tool(geometry, home):
    tool = se3.exp([0.1, 0.2, 0.3, 0.01, 0.02, 0.03])
    seen = with_tool(geometry, tool)
    assert np.allclose(seen.home, home @ tool)
    assert np.allclose(leg_lengths(seen, seen.home), leg_lengths(geometry, home))


def test_the_length_of_a_spindle_does_not_jump_near_home():
    geometry = load_geometry(config_file('stewart_spindles.yaml'))
    for sign in (1.0, -1.0):
        turned = replace(geometry, leg_types=tuple(replace(
            leg, base_axis=tuple(sign * np.array(leg.base_axis))) if isinstance(
                leg, OffsetStrut) else leg for leg in geometry.leg_types))
        poses = geometry.home @ se3.exp(np.multiply.outer(
            np.linspace(-0.1, 0.1, 201), [0.3, 0.3, 1.0, 0.01, 0.01, 0.01]))
        assert np.abs(np.diff(leg_lengths(turned, poses), axis=0)).max() < 5e-4


@pytest.mark.parametrize('change', [
    lambda d: d.update(tool={'rpy': [0.0, 0.0, 45.0]}),
    lambda d: d['legs']['leg_1'].update(lead=2.0)])
def test_degrees_and_millimetres_are_asked_about(tmp_path, change):
    content = yaml.safe_load(config_file('stewart_spindles.yaml').read_text())
    path = tmp_path / 'geometry.yaml'
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        path.write_text(yaml.safe_dump(content))
        load_geometry(path)
    change(content)
    path.write_text(yaml.safe_dump(content))
    with pytest.warns(DescriptionWarning):
        load_geometry(path)


def test_a_start_near_a_singularity_is_unsure_not_wrong(geometry, home):
    ways = np.linspace(1.5, 2.3, 4000)
    values = PlatformMeter(geometry).signed_values(home @ se3.exp(
        np.multiply.outer(ways, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])))
    begin, end = (ways[np.argmin(abs(values - each * np.sign(values[0])))]
                  for each in (0.05, 0.005))
    t = np.arange(300) / 100
    poses = home @ se3.exp(np.multiply.outer(
        begin + (end - begin) * np.sin(2.5 * t), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    tracker = MonitoredTracker(geometry, poses[0])
    for k, pose in enumerate(poses):
        tracked = tracker.track(10**9 + 10**7 * k, leg_lengths(geometry, pose))
        assert np.abs(se3.log(se3.inverse(pose) @ tracked.pose)).max() < 1e-3
        assert Flag.BRANCH_WRONG not in tracked.flags
