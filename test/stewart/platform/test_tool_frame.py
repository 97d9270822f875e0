# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A tool's frame changes who is asked for, not the machine."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.platforms.leg_types import ALL, example, poses_about
from support.refusals import refused
import yaml

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    geometry_of, leg_lengths, length_jacobian, MonitoredTracker, PoseSolver, StewartDynamics,
    with_tool)
from liedyn_ros.stewart.platform.state import PlatformMeter

TOOL = np.eye(4)
TOOL[:3, :3] = Rotation.from_euler('xyz', [0.4, -0.3, 1.1]).as_matrix()
TOOL[:3, 3] = 0.05, -0.03, 0.12


@pytest.mark.parametrize('name', list(ALL))
def test_values_limits_and_poses_are_those_of_the_machine(name):
    geometry, home = example(name)
    cones = geometry.platform_cones.copy()
    cones[:] = [0.1, 0.2, -1.0, 0.7]
    geometry = dataclasses.replace(geometry, platform_cones=cones)
    seen, solver = with_tool(geometry, TOOL), PoseSolver(with_tool(geometry, TOOL))
    assert seen.characteristic_length == pytest.approx(geometry.characteristic_length)
    for pose in poses_about(home, 5, 1, 0.15, 0.02):
        tool, values = pose @ TOOL, leg_lengths(geometry, pose)
        assert leg_lengths(seen, tool) == pytest.approx(values, abs=1e-12)
        assert np.abs(solver.solve(values, home @ TOOL).pose - tool).max() < 1e-12
        assert PlatformMeter(seen).measure(tool).margins.values == pytest.approx(
            PlatformMeter(geometry).measure(pose).margins.values, abs=1e-11)
        adjoint = se3.adjoint(TOOL)  # of the tool's twist, seen in the platform's frame
        assert length_jacobian(seen, tool) == pytest.approx(
            length_jacobian(geometry, pose) @ adjoint, abs=1e-11)


@pytest.mark.parametrize('name', ['cranks', 'table_1'])
def test_forces_of_a_motion_do_not_depend_on_the_frame(name, request):
    geometry, home = ((request.getfixturevalue('geometry'), request.getfixturevalue('home'))
                      if name == 'table_1' else example(name))
    twist, acceleration = np.array([[0.3, -0.2, 0.5, 0.1, 0.2, -0.1], [1, 2, -1, 0.5, -0.3, 0.4]])
    back = np.linalg.inv(se3.adjoint(TOOL))
    force = StewartDynamics(geometry).inverse(home, twist, acceleration).forces
    assert StewartDynamics(with_tool(geometry, TOOL)).inverse(
        home @ TOOL, back @ twist, back @ acceleration).forces == pytest.approx(force, rel=1e-9)


def test_a_tracked_twist_is_the_tools(geometry, home):
    seen, velocity = with_tool(geometry, TOOL), np.array([0.2, 0.1, -0.3, 0.05, 0.02, 0.04])
    tracker = MonitoredTracker(seen, home @ TOOL)
    for k in range(300):
        pose = se3.compose(home, se3.exp(1e-3 * k * velocity))
        tracked = tracker.track(1_000_000 * k, leg_lengths(geometry, pose))
        assert np.abs(tracked.pose - pose @ TOOL).max() < 1e-11
    assert tracked.twist == pytest.approx(np.linalg.inv(se3.adjoint(TOOL)) @ velocity, abs=1e-5)


def test_a_file_holds_its_tool(geometry):
    content = yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))
    content['tool'] = {'position': [0.05, -0.03, 0.12], 'rpy': [0.4, '-30 deg', 1.1]}
    pose = TOOL.copy()
    pose[:3, :3] = Rotation.from_euler('xyz', [0.4, -np.pi / 6.0, 1.1]).as_matrix()
    expected = with_tool(geometry, pose)
    for field in ('base_joints', 'platform_joints', 'platform_cones'):
        np.testing.assert_allclose(
            getattr(geometry_of(content), field), getattr(expected, field), atol=1e-15)
    content['tool'] = {'offset': [0.0, 0.0, 0.1]}
    with refused(LiedynError, 'geometry/tool', got="['offset']"):
        geometry_of(content)
