# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node's services: solve once, all poses, inverse kinematics, reset; bad requests."""

from threading import enumerate as enumerate_threads, Event

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from liedyn_interfaces.msg import StewartStatus
from liedyn_interfaces.srv import AssemblyModes, SolveStewartPose, StewartInverseKinematics
import numpy as np
import pytest
from std_srvs.srv import Trigger
from support.bench.pose_bench import FAR, GEOMETRY, HOME, LEGS, matrix, NEAR, PoseBench
from transforms3d.quaternions import mat2quat
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.stewart import AssemblyModeSolver, leg_lengths, length_jacobian

pytestmark = pytest.mark.ros
LENGTHS = leg_lengths(GEOMETRY, FAR).tolist()


def message_of(pose, frame=''):
    """Return a pose (4, 4) as a message."""
    w, x, y, z = mat2quat(pose[:3, :3])
    px, py, pz = pose[:3, 3].tolist()
    return stamped(Pose(
        position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w)), frame)


def stamped(pose, frame=''):
    """Return a PoseStamped in a frame."""
    message = PoseStamped(pose=pose)
    message.header.frame_id = frame
    return message


def solve(node, lengths=LENGTHS, names=LEGS, **guess):
    return node.bench.call(SolveStewartPose, 'stewart_pose/solve', leg_names=names,
                           lengths=lengths, **guess)


def invert(node, pose):
    return node.bench.call(
        StewartInverseKinematics, 'stewart_pose/inverse_kinematics', pose=pose)


@pytest.mark.smoke
def test_solve_from_home(tracking):
    response = solve(tracking())
    assert (response.success, response.message) == (True, '')
    assert response.pose.header.frame_id == 'stewart_base'
    assert response.status.start == StewartStatus.START_HOME
    np.testing.assert_allclose(matrix(response.pose.pose), FAR, atol=1e-9)
    np.testing.assert_allclose(response.status.length, LENGTHS, atol=1e-15)


def test_solve_tells_what_one_pose_shows_and_no_more(tracking, tmp_path):
    content = yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))
    content['legs']['leg_2']['base_cone'] = {'axis': [0.0, 0.0, 1.0], 'angle': 0.01}
    path = tmp_path / 'geometry.yaml'
    path.write_text(yaml.safe_dump(content), encoding='utf-8')
    status = solve(tracking(geometry_file=str(path), singularity_warning=0.9)).status
    assert status.flags == (
        StewartStatus.FLAG_NEAR_SINGULARITY | StewartStatus.FLAG_JOINT_ANGLE)
    assert status.exceeded_limits == ['base joint of leg_2']
    assert 0.05 < status.smallest_singular_value < 0.9
    assert status.determinant_sign == np.sign(np.linalg.det(length_jacobian(GEOMETRY, FAR)))
    assert status.expected_determinant_sign == 0
    assert (status.prediction_gap, status.time_to_singularity) == (0.0, 0.0)


def test_solve_from_a_guess_with_names_in_another_order(tracking):
    node = tracking()
    response = solve(node, LENGTHS[::-1], LEGS[::-1], use_guess=True, guess=message_of(FAR))
    assert response.status.start == StewartStatus.START_GUESS
    assert response.status.iterations < solve(node).status.iterations
    np.testing.assert_allclose(matrix(response.pose.pose), FAR, atol=1e-9)


def test_without_names_numbers_are_in_the_order_of_the_legs(bench):
    names = [f'motor_{k}' for k in range(6)]
    node = PoseBench(bench, actuator_names=names, actuator_scale=[-0.5] * 6)
    np.testing.assert_allclose(matrix(solve(node, names=[]).pose.pose), FAR, atol=1e-9)
    response = node.bench.call(SolveStewartPose, 'stewart_pose/solve',
                               actuator_positions=[-2.0 * length for length in LENGTHS])
    np.testing.assert_allclose(matrix(response.pose.pose), FAR, atol=1e-9)
    named, unnamed = (node.bench.call(
        AssemblyModes, 'stewart_pose/assembly_modes', leg_names=names, lengths=LENGTHS)
        for names in (LEGS, []))
    assert unnamed.success and unnamed.poses.poses == named.poses.poses


def test_solve_takes_actuator_positions_and_inverse_kinematics_gives_them(bench):
    names = [f'motor_{k}' for k in range(6)]
    node = PoseBench(bench, actuator_names=names, actuator_scale=[-0.5] * 6,
                     actuator_offset=[0.2] * 6)
    found = invert(node, message_of(FAR, 'stewart_base'))
    assert found.actuator_names == names
    np.testing.assert_allclose(0.2 - 0.5 * np.array(found.actuator_positions), LENGTHS)
    response = node.bench.call(
        SolveStewartPose, 'stewart_pose/solve', actuator_names=names[::-1],
        actuator_positions=found.actuator_positions[::-1])
    np.testing.assert_allclose(matrix(response.pose.pose), FAR, atol=1e-9)
    both = solve(node, actuator_names=names, actuator_positions=found.actuator_positions)
    assert both.message == 'request: expected leg lengths or actuator positions, got both'


def test_solve_leaves_the_tracking_alone(tracking):
    node = tracking()
    node.status_at(node.send_pose(NEAR, velocities=[0.0] * 6))
    solve(node)
    status = node.status_at(node.send_pose(NEAR))
    assert status.start == StewartStatus.START_PREDICTED
    assert status.iterations <= 1


@pytest.mark.parametrize(('request_', 'reason'), [
    ({'names': [*LEGS[:5], 'wheel']}, "missing ['leg_6'], unknown ['wheel']"),
    ({'names': [*LEGS[:5], 'leg_1']}, "repeated ['leg_1']"),
    ({'names': LEGS[:5]}, "missing ['leg_6']"),
    ({'names': [], 'lengths': LENGTHS[:5]}, 'lengths: expected shape (6,), got (5,)'),
    ({'names': [f'joint_{k}' for k in range(10_000)]},
     'leg_names: expected 6 names, got 10000'),
    ({'lengths': LENGTHS[:5]}, 'lengths: expected shape (6,), got (5,)'),
    ({'lengths': []}, 'lengths: expected shape (6,), got (0,)'),
    ({'lengths': [*LENGTHS[:5], np.nan]}, 'lengths[5]: expected a finite number, got nan'),
    ({'lengths': [*LENGTHS[:5], 1.2]}, 'length of leg_6: expected 0.25 to 0.95 m, got 1.2'),
    ({'use_guess': True, 'guess': stamped(Pose(orientation=Quaternion(w=2.0)))},
     'quaternion: expected norm 1'),
    ({'use_guess': True, 'guess': stamped(Pose(), 'world')},
     "guess.header.frame_id: expected 'stewart_base', the base frame, or none, got 'world'"),
    ({'use_guess': True, 'guess': stamped(
        Pose(position=Point(x=np.nan), orientation=Quaternion(w=1.0)))},
     'position[0]: expected a finite number, got nan'),
])
def test_bad_solve(tracking, request_, reason):
    response = solve(tracking(), **request_)
    assert not response.success
    assert reason in response.message
    assert response.status.status == StewartStatus.REJECTED
    assert response.status.message == response.message
    status = response.status
    assert not status.certified
    assert not np.any([status.residual, status.smallest_singular_value, status.solve_time,
                       status.prediction_gap, status.time_to_singularity, *status.length])
    assert (status.flags, status.determinant_sign) == (0, 0)


def test_solve_of_lengths_that_no_pose_has(tracking):
    response = solve(tracking(), [0.3, 0.9, 0.3, 0.9, 0.3, 0.9])
    assert not response.success
    assert 'expected lengths of a regular pose' in response.message
    assert response.status.status not in (StewartStatus.CONVERGED, StewartStatus.REJECTED)
    assert response.status.residual > 1e-3
    assert (response.status.flags, response.status.determinant_sign) == (0, 0)
    assert response.status.time_to_singularity == 0.0


def test_assembly_modes(tracking):
    node = tracking()
    response = node.bench.call(AssemblyModes, 'stewart_pose/assembly_modes',
                               leg_names=LEGS[::-1], lengths=LENGTHS[::-1])
    assert (response.success, response.complete, response.message) == (True, True, '')
    assert response.poses.header.frame_id == 'stewart_base'
    poses = [matrix(pose) for pose in response.poses.poses]
    assert any(np.allclose(pose, FAR, atol=1e-9) for pose in poses)
    for pose, height in zip(poses, response.height):
        np.testing.assert_allclose(leg_lengths(GEOMETRY, pose), LENGTHS, atol=1e-9)
        assert (height > 0.0) == (pose[2, 3] > 0.0)
    assert set(response.determinant_sign) <= {1, -1}
    assert len(poses) == len(response.determinant_sign) == len(response.smallest_singular_value)
    assert response.solve_time > 0.0
    assert response.complex_solutions == 28


def test_why_there_is_no_assembly_mode(tracking):
    response = tracking().bench.call(AssemblyModes, 'stewart_pose/assembly_modes',
                                     leg_names=LEGS, lengths=[0.3, 0.9, 0.3, 0.9, 0.3, 0.9])
    assert response.success and response.complete and not response.poses.poses
    assert 'lengths of leg_2 and leg_3: expected to differ by' in response.message


@pytest.mark.parametrize(('request_', 'reason'), [
    ({'leg_names': LEGS[:5], 'lengths': LENGTHS[:5]}, "missing ['leg_6']"),
    ({'leg_names': LEGS, 'lengths': LENGTHS[:5]}, 'lengths: expected shape (6,), got (5,)'),
    ({'leg_names': LEGS, 'lengths': [*LENGTHS[:5], np.nan]},
     'lengths[5]: expected a finite number, got nan'),
    ({'leg_names': LEGS, 'lengths': [*LENGTHS[:5], 1.2]},
     'length of leg_6: expected 0.25 to 0.95 m, got 1.2'),
])
def test_bad_assembly_modes(tracking, request_, reason):
    response = tracking().bench.call(AssemblyModes, 'stewart_pose/assembly_modes', **request_)
    assert not response.success and not response.complete
    assert reason in response.message


def test_inverse_kinematics(tracking):
    response = invert(tracking(), message_of(FAR))
    assert (response.success, response.message) == (True, '')
    assert response.leg_names == LEGS
    assert list(response.within_limits) == [True] * 6
    np.testing.assert_allclose(response.lengths, LENGTHS, atol=1e-12)


def test_inverse_kinematics_of_a_pose_out_of_reach(tracking):
    """This is no fault of the request: the answer has the lengths, and those out of reach."""
    response = invert(tracking(), stamped(Pose(position=Point(x=0.75, z=0.5))))
    assert response.success
    within = [0.25 <= length <= 0.95 for length in response.lengths]
    assert list(response.within_limits) == within
    assert set(within) == {True, False}


@pytest.mark.parametrize(('pose', 'reason'), [
    (Pose(orientation=Quaternion(x=0.5)), 'quaternion: expected norm 1'),
    (Pose(orientation=Quaternion(w=0.0)), 'quaternion: expected norm 1'),
    (Pose(orientation=Quaternion(w=np.nan)), 'quaternion[3]: expected a finite number, got nan'),
    (Pose(position=Point(z=np.inf)), 'position[2]: expected a finite number, got inf'),
    (Pose(position=Point(z=1e200)), 'expected a position near the platform'),
    (Pose(position=Point(z=500.0)), 'in mm'),
])
def test_bad_inverse_kinematics(tracking, pose, reason):
    response = invert(tracking(), stamped(pose))
    assert not response.success
    assert reason in response.message
    assert list(response.lengths) == []


def test_reset_starts_from_home(tracking):
    node = tracking()
    assert node.status_at(node.send_pose(NEAR)).start == StewartStatus.START_PREDICTED
    assert node.bench.call(Trigger, 'stewart_pose/reset').success
    assert node.status_at(node.send_pose(NEAR)).start == StewartStatus.START_HOME


def test_tracking_goes_on_while_modes_are_searched(tracking, monkeypatch):
    node, begun, go_on = tracking(), Event(), Event()
    search = AssemblyModeSolver.solve

    def slow(solver, lengths):
        begun.set()
        assert go_on.wait(600.0)
        return search(solver, lengths)
    monkeypatch.setattr(AssemblyModeSolver, 'solve', slow)
    client = node.bench.partner.create_client(AssemblyModes, 'stewart_pose/assembly_modes')
    node.bench.until(client.service_is_ready, 'the service')
    future = client.call_async(AssemblyModes.Request(
        leg_names=LEGS, lengths=leg_lengths(GEOMETRY, HOME).tolist()))
    node.bench.until(begun.is_set, 'the search')
    assert np.abs(node.pose_at(node.send_pose(NEAR)) - NEAR).max() < 1e-9
    assert not future.done()
    go_on.set()
    node.bench.until(future.done, 'the modes')
    assert future.result().success


def test_a_fault_in_the_node_is_answered_and_the_next_request_too(tracking, monkeypatch):
    node = tracking()

    def fail(solver, lengths):
        raise RuntimeError('an internal fault')

    def find():
        return node.bench.call(AssemblyModes, 'stewart_pose/assembly_modes',
                               leg_names=LEGS, lengths=LENGTHS)
    with monkeypatch.context() as context:
        context.setattr(AssemblyModeSolver, 'solve', fail)
        response = find()
    assert not response.success
    assert response.message == "internal fault: RuntimeError('an internal fault')"
    node.bench.until_logged(node.node, 'Traceback')
    assert find().success


@pytest.mark.smoke
def test_the_end_comes_while_modes_are_searched(bench, other_context, namespace, monkeypatch):
    """Wherever the thread of the search is when the context ends, it ends without a word."""
    node = StewartPoseNode(context=other_context, namespace=namespace)
    thread, = (thread for thread in enumerate_threads()
               if thread.name == 'stewart_pose_slow_services')
    search, failures = AssemblyModeSolver.solve, []

    def interrupted(solver, lengths):
        other_context.handle.shutdown()  # as a signal does
        return search(solver, lengths)
    monkeypatch.setattr(AssemblyModeSolver, 'solve', interrupted)
    monkeypatch.setattr('threading.excepthook', failures.append)
    client = bench.partner.create_client(AssemblyModes, 'stewart_pose/assembly_modes')
    bench.until(client.service_is_ready, 'the service')
    client.call_async(AssemblyModes.Request(leg_names=LEGS, lengths=LENGTHS))
    bench.until(lambda: not thread.is_alive(), 'the end')
    node.destroy_node()
    assert not failures
