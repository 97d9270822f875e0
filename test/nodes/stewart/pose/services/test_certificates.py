# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Certificates in the status and proofs of paths by the service, of platforms of any form."""

from geometry_msgs.msg import Point, Pose, PoseArray, Quaternion, Vector3
from liedyn_interfaces.msg import StewartStatus
from liedyn_interfaces.srv import ProveStewartPath, SolveStewartPose
import numpy as np
import pytest
from std_msgs.msg import Header
from support.bench.pose_bench import FAR, GEOMETRY, LEGS, NEAR
from support.platforms.stewart_motion import pose_of
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.ros.messages.conversions import to_pose
from liedyn_ros.stewart import (
    ForceLimits, leg_lengths, load_geometry, PathProver, PoseCertifier, SpeedLimits)

pytestmark = pytest.mark.ros


def solve(node, geometry, pose):
    """Return the answer to the lengths of a pose."""
    return node.bench.call(
        SolveStewartPose, 'stewart_pose/solve', leg_names=list(geometry.leg_names),
        lengths=leg_lengths(geometry, pose).tolist())


def prove(node, *poses, frame='', **options):
    """Return the answer about a path."""
    path = PoseArray(header=Header(frame_id=frame), poses=[Pose() for _ in poses])
    for message, pose in zip(path.poses, poses):
        to_pose(pose, message)
    return node.bench.call(ProveStewartPath, 'stewart_pose/prove_path', path=path, **options)


def test_a_solve_is_certified_with_the_bounds_of_the_parameters(tracking):
    status = solve(tracking(length_bound=1e-4, joint_bound=1e-5), GEOMETRY, FAR).status
    expected = PoseCertifier(GEOMETRY, 1e-4, 1e-5).certify(FAR, leg_lengths(GEOMETRY, FAR))
    assert expected.certified and status.certified and list(GEOMETRY.leg_names) == list(LEGS)
    assert status.error_radius == pytest.approx(expected.error_radius, rel=1e-6)
    assert status.uniqueness_radius == pytest.approx(expected.uniqueness_radius, rel=1e-6)
    np.testing.assert_allclose(status.error_bound, expected.bounds, rtol=1e-6)


def test_the_status_of_a_tracked_pose_has_its_certificate(tracking):
    node = tracking(length_bound=1e-4)
    status = node.status_at(node.send_pose(NEAR))
    assert status.certified
    expected = PoseCertifier(GEOMETRY, 1e-4).certify(NEAR, leg_lengths(GEOMETRY, NEAR))
    assert status.error_radius == pytest.approx(expected.error_radius, rel=1e-6)
    assert status.uniqueness_radius == pytest.approx(expected.uniqueness_radius, rel=1e-6)
    np.testing.assert_allclose(status.error_bound, expected.bounds, rtol=1e-6)


def test_wires_are_certified_too(tracking, tmp_path):
    content = yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))
    for leg in content['legs'].values():
        leg['wire'] = {'axis': [0.0, 0.0, 1.0], 'radius': 1e-3}
    path, home = tmp_path / 'wires.yaml', pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 0.0))
    path.write_text(yaml.safe_dump(content), encoding='utf-8')
    node, geometry = tracking(geometry_file=str(path), length_bound=1e-4), load_geometry(path)
    response = solve(node, geometry, home)
    assert response.success and response.status.status == StewartStatus.CONVERGED
    expected = PoseCertifier(geometry, 1e-4).certify(home, leg_lengths(geometry, home))
    assert response.status.certified
    assert response.status.error_radius == pytest.approx(expected.error_radius, rel=1e-6)
    assert node.status_at(node.send(leg_lengths(geometry, home))).certified


def test_a_path_is_proved_or_its_piece_told(tracking):
    node, home = tracking(), pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 0.0))
    response = prove(node, home, FAR, tube_angle=1e-3, tube_radius=1e-3)
    assert response.success and response.proved and response.message == ''
    assert 0.0 < response.smallest_singular_value < 1.0
    assert (response.begin, response.end) == (0.0, 0.0)
    response = prove(node, home, pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 120.0)))
    assert response.success and not response.proved and 'singularity' in response.message
    assert response.begin <= 0.75 <= response.end
    response = prove(node, home, FAR, tube_radius=1.0)
    assert response.success and not response.proved and response.smallest_singular_value == 0.0
    response = prove(node, home, FAR, frame='map')
    assert not response.success and 'path.header.frame_id: expected' in response.message


def test_a_path_within_limits_of_speeds_and_forces(tracking):
    node, home, weight = tracking(), pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 0.0)), 981.0
    speeds, forces = SpeedLimits(limits=1.0, durations=2.0), ForceLimits(
        limits=[2e3] * 6, force=(0.0, 0.0, -weight), point=(0.0, 0.0, 0.05), further_force=5.0)
    expected = PathProver(GEOMETRY).prove([home, FAR], speeds=speeds, forces=forces)
    load = {'force': Vector3(z=-weight), 'force_point': Point(z=0.05), 'force_bound': 5.0}
    response = prove(node, home, FAR, speed_limits=[1.0], durations=[2.0],
                     force_limits=[2e3] * 6, **load)
    assert response.success and response.proved and expected.proved, response.message
    np.testing.assert_allclose(response.speeds, expected.speeds, rtol=1e-9)
    np.testing.assert_allclose(response.forces, expected.forces, rtol=1e-9)
    response = prove(node, home, FAR, speed_limits=[0.9 * max(expected.speeds) / 2] * 6,
                     durations=[2.0])
    assert response.success and not response.proved and 'the speed of leg_' in response.message
    response = prove(node, home, FAR, force_limits=[1.0], **load)
    assert response.success and not response.proved and 'the force of leg_' in response.message
    plain = prove(node, home, FAR)
    assert plain.proved and not len(plain.speeds) and not len(plain.forces)


@pytest.mark.parametrize('fields, said', [
    ({'durations': [1.0]}, 'speed_limits: expected one or six'),
    ({'linear_speed_bound': 0.1}, 'speed_limits: expected one or six'),
    ({'moment_bound': 1.0}, 'force_limits: expected one or six'),
    ({'force': Vector3(z=-1.0)}, 'force_limits: expected one or six'),
    ({'speed_limits': [1.0, 2.0]}, 'limits of speeds: expected one number from 0 on or six'),
    ({'force_limits': [np.nan]}, 'limits of forces: expected one number from 0 on or six'),
    ({'speed_limits': [1.0], 'durations': [1.0, 1.0]}, 'durations: expected one number'),
    ({'speed_limits': [1.0], 'durations': [-1.0]}, 'durations: expected one number'),
    ({'speed_limits': [1.0], 'angular_speed_bound': np.inf}, 'angular: expected'),
    ({'force_limits': [1.0], 'force': Vector3(z=np.nan)}, 'force[2]: expected'),
    ({'force_limits': [1.0], 'force_bound': -1.0}, 'further_force: expected')])
def test_limits_that_are_none_are_refused(tracking, fields, said):
    response = prove(tracking(), NEAR, FAR, **fields)
    assert not response.success and said in response.message, response.message


def test_a_path_that_is_none_is_refused(tracking):
    node = tracking()
    for poses in ((), (FAR,)):
        response = prove(node, *poses)
        assert not response.success and 'expected two poses or more' in response.message
    path = PoseArray(poses=[Pose(), Pose(orientation=Quaternion(w=2.0))])
    response = node.bench.call(ProveStewartPath, 'stewart_pose/prove_path', path=path)
    assert not response.success and 'quaternion[1]: expected' in response.message
