# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The service and the action retime: trajectories in, faster ones within the limits out."""

from contextlib import closing

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import (
    Inertia, InertiaStamped, Point, Quaternion, Transform, Vector3, Wrench)
from liedyn_interfaces.action import RetimeTrajectory as RetimeAction
from liedyn_interfaces.msg import BodyWrench, RetimingFrameLimits, RetimingLimits
from liedyn_interfaces.srv import DescribeModel, RetimeTrajectory
import numpy as np
import pytest
from rclpy.action import ActionClient
from support.bench.dynamics_bench import AERIAL, SERVER, ServerBench
from support.comparison import assert_same
from trajectory_msgs.msg import (
    JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint)

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.nodes.dynamics.retiming import request as retiming
from liedyn_ros.retiming import (
    FrameLimits, LoopPath, MotionLimits, PlatformPath, retime, SplinePath)
from liedyn_ros.stewart import load_geometry

pytestmark = pytest.mark.ros
LEG = ['rod_joint', 'hip', 'crank_joint', 'knee']
POINTS = np.array([[0.1, 0.3, 0.2, -0.6], [0.3, 0.6, 0.0, -0.9], [0.0, 0.1, 0.4, -0.2]])


def trajectory(names, points):
    """Return waypoints as a message."""
    return JointTrajectory(joint_names=names, points=[
        JointTrajectoryPoint(positions=list(map(float, point))) for point in points])


def poses_of(body, rows):
    """Return poses (K, 7), position and quaternion, as a message."""
    return MultiDOFJointTrajectory(joint_names=[body], points=[
        MultiDOFJointTrajectoryPoint(transforms=[Transform(
            translation=Vector3(**dict(zip('xyz', map(float, row[:3])))),
            rotation=Quaternion(**dict(zip('xyzw', map(float, row[3:])))))]) for row in rows])


def times(message):
    """Return the times of the points, s."""
    return np.array([point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
                     for point in message.points])


def assert_joints(message, at, joints):
    """Positions, velocities, accelerations and efforts are those of a run."""
    for field, values, places in (
            ('positions', at.q, [joint.qi for joint in joints]),
            ('velocities', at.v, [joint.vi for joint in joints]),
            ('accelerations', at.a, [joint.vi for joint in joints]),
            ('effort', at.torque, [joint.vi for joint in joints])):
        found = [getattr(point, field) for point in message.points]
        assert_same(found, values[:, places], 1e-6, floor=1.0)
    assert message.joint_names == [joint.name for joint in joints]


def test_a_tree_in_the_order_of_the_request(bench):
    server = ServerBench(bench, model_file='linkage_leg.urdf')
    effort, rate = [4.0, 20.0, 3.0, 9.0], [40.0, 200.0, 30.0, 90.0]
    found = server.call(
        RetimeTrajectory, 'retime', trajectory=trajectory(LEG, POINTS), sample_period=0.02,
        limits=RetimingLimits(joint_names=LEG, effort=effort, effort_rate=rate))
    assert (found.success, found.message) == (True, '')
    model = ld.load(config_file('linkage_leg.urdf')).model
    dynamics = ld.Dynamics(model)
    joints = [model.joint(name) for name in LEG]
    waypoints = np.empty((3, 4))
    waypoints[:, [joint.qi for joint in joints]] = POINTS
    run = retime(dynamics, SplinePath(model, waypoints), MotionLimits(
        torque=dict(zip(LEG, effort)), torque_rate=dict(zip(LEG, rate))))
    assert_same(found.duration, run.duration, 1e-9)
    assert_same(found.uniform_duration, run.uniform_duration, 1e-9)
    assert_same(found.lower_bound, run.lower_bound, 1e-6)
    t = times(found.trajectory)
    assert_same(t[:-1], 0.02 * np.arange(len(t) - 1), 1e-9)
    assert_same(t[-1], run.duration, 1e-8)
    assert_joints(found.trajectory, run.at(np.minimum(t, run.duration)), joints)
    assert_same(sum(found.binding_shares), 1.0)
    assert not found.multi_dof_trajectory.points


def test_a_floating_base_with_its_arm(bench):
    server = ServerBench(bench, model_file=AERIAL.name)
    machine = ld.load(AERIAL)
    model, rng = machine.model, np.random.default_rng(0)
    points = np.array([model.integrate(model.neutral(), x)
                       for x in rng.uniform(-0.4, 0.4, (3, model.nv))])
    joints = list(model.joint_list[1:])
    names = [joint.name for joint in joints]
    base = model.joint_list[0]
    limits = RetimingLimits(
        joint_names=[*base.coordinate_names, *names], effort=[60.0] * model.nv)
    found = server.call(
        RetimeTrajectory, 'retime', limits=limits, intervals=20,
        trajectory=trajectory(names, points[:, [joint.qi for joint in joints]]),
        multi_dof_trajectory=poses_of(base.child, points[:, base.q_slice]))
    assert (found.success, found.message) == (True, '')
    run = retime(machine, SplinePath(model, points), MotionLimits(torque=60.0), intervals=20)
    assert_same(found.duration, run.duration, 1e-9)
    message = found.multi_dof_trajectory
    at = run.at(np.minimum(times(message), run.duration))
    assert_joints(found.trajectory, at, joints)
    assert message.joint_names == [base.child]
    twists = [(p.velocities[0], p.accelerations[0]) for p in message.points]
    for k, values in enumerate((at.v, at.a)):
        assert_same([[each[k].angular.x, each[k].linear.z] for each in twists],
                    values[:, [0, 5]], 1e-6, floor=1.0)
    places = [p.transforms[0] for p in message.points]
    assert_same([[p.translation.y, abs(p.rotation.w)] for p in places],
                np.column_stack([at.q[:, 1], np.abs(at.q[:, 6])]), 1e-6)


def test_a_five_bar_by_its_cranks(bench):
    server = ServerBench(bench, model_file='five_bar.yaml')
    bench.until(lambda: server.call(DescribeModel, 'describe_model').success, 'warm kernels')
    names, points = ['right_crank_joint', 'left_crank_joint'], [[2.0, 0.3], [2.4, 0.8], [1.8, 0.6]]
    found = server.call(
        RetimeTrajectory, 'retime', trajectory=trajectory(names, points), intervals=20,
        limits=RetimingLimits(joint_names=names, effort=[10.0, 12.0]))
    assert (found.success, found.message) == (True, '')
    machine = ld.load(config_file('five_bar.yaml'))
    run = retime(machine, LoopPath(machine, points, names), MotionLimits(
        torque=dict(zip(names, [10.0, 12.0]))), intervals=20)
    assert_same(found.duration, run.duration, 1e-6)
    assert found.trajectory.joint_names == names[::-1]  # the actuated ones


def test_a_platform_by_its_poses(bench):
    server = ServerBench(bench, model_file='stewart_geometry.yaml')
    bench.until(lambda: server.call(DescribeModel, 'describe_model').success, 'warm kernels')
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    rows = [[0.0, 0.0, 0.5, 0, 0, 0, 1], [0.05, 0, 0.5, 0, 0, 0, 1], [0, 0.05, 0.55, 0, 0, 0, 1]]
    found = server.call(
        RetimeTrajectory, 'retime', multi_dof_trajectory=poses_of('platform', rows), intervals=10,
        limits=RetimingLimits(joint_names=geometry.leg_names, effort=[1500.0] * 6))
    assert (found.success, found.message) == (True, '')
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[:, :3, 3] = np.array(rows)[:, :3]
    path = PlatformPath(geometry, poses)
    run = retime(path.dynamics, path, MotionLimits(
        torque=dict.fromkeys(geometry.leg_names, 1500.0)), intervals=10)
    assert_same(found.duration, run.duration, 1e-6)
    assert found.trajectory.joint_names == list(geometry.leg_names)
    assert len(found.multi_dof_trajectory.points) == len(found.trajectory.points)


def test_frames_payloads_wrenches_and_signs(bench):
    server = ServerBench(bench, model_file='linkage_leg.urdf')
    box = InertiaStamped(inertia=Inertia(m=0.5, com=Vector3(z=-0.1), ixx=1e-3, iyy=1e-3, izz=1e-3))
    box.header.frame_id = 'knee'
    model = ld.load(config_file('linkage_leg.urdf')).model
    body = model.joint('knee').child
    found = server.call(
        RetimeTrajectory, 'retime', trajectory=trajectory(LEG, POINTS), intervals=20,
        payloads=[box], external=[BodyWrench(body=body, wrench=Wrench(force=Vector3(z=-2.0)))],
        limits=RetimingLimits(
            joint_names=LEG, effort=[np.inf] * 4, least_effort=[-9.0, -25.0, -9.0, -np.inf],
            effort_per_velocity=[0.1] * 4, frames=[RetimingFrameLimits(
                frame=body, point=Point(z=-0.1), velocity=0.4, angular_acceleration=9.0)]))
    assert (found.success, found.message) == (True, '')
    builder = ModelBuilder.of(model)
    builder.add_payload('box', body, SpatialInertia(0.5, [0, 0, -0.1], 1e-3 * np.eye(3)))
    loaded = ld.Dynamics(builder.build())
    waypoints = np.empty((3, 4))
    waypoints[:, [model.joint(name).qi for name in LEG]] = POINTS
    wrenches = np.zeros((len(loaded.model.bodies), 6))
    wrenches[loaded.model.body_index(body), 5] = -2.0
    run = retime(loaded, SplinePath(model, waypoints), MotionLimits(
        torque=np.inf, torque_per_speed=0.1,
        least_torque=dict(zip(LEG[:3], [-9.0, -25.0, -9.0])),
        frames=[FrameLimits(body, 0.4, angular_acceleration=9.0, point=[0, 0, -0.1])]),
        intervals=20, external=wrenches)
    assert_same(found.duration, run.duration, 1e-9)
    assert any(name.startswith('frame_velocity') for name in found.binding_limits)


def test_a_machine_that_moves_goes_on_or_stops(bench):
    server = ServerBench(bench, model_file='linkage_leg.urdf')
    given = trajectory(LEG, POINTS)
    given.points[0].velocities = [0.2, 0.4, -0.3, -0.5]
    given.points[0].accelerations = [0.5, -1.0, 0.3, 0.2]
    limits = RetimingLimits(joint_names=LEG, effort_rate=[300.0] * 4)
    durations = []
    for stop in (False, True):
        found = server.call(RetimeTrajectory, 'retime', trajectory=given, stop=stop,
                            limits=limits, intervals=20)
        assert (found.success, found.message) == (True, '')
        first, last = found.trajectory.points[0], found.trajectory.points[-1]
        assert_same(first.velocities, given.points[0].velocities, 1e-9)
        assert_same(first.accelerations, given.points[0].accelerations, 1e-9)
        assert_same(last.velocities, np.zeros(4), 1e-6, floor=1.0)
        assert found.uniform_duration == 0.0
        durations.append(found.duration)
    assert durations[1] < 0.7 * durations[0]
    given = trajectory(LEG, POINTS[::-1])
    given.points[-1].velocities = [-0.2, -0.4, 0.3, 0.5]
    found = server.call(RetimeTrajectory, 'retime', trajectory=given, limits=limits, intervals=20)
    assert_same(found.trajectory.points[-1].velocities, given.points[-1].velocities, 1e-9)


def moving(velocities):
    """Return waypoints, the first of which is passed."""
    given = trajectory(LEG, POINTS)
    given.points[0].velocities = velocities
    return given


REFUSED = {
    'a stop from rest': ({'stop': True}, 'stop: expected velocities of the first point'),
    'few velocities': ({'trajectory': moving([1.0])},
                       'trajectory.points[0].velocities: expected 4 numbers'),
    'a velocity that is none': ({'trajectory': moving([np.nan] * 4)},
                                'trajectory.points[0][0, 0]: expected a finite number, got nan'),
    'a blend on the move': ({'trajectory': moving([1.0] * 4), 'blend': 0.1},
                            'blend: expected 0 where the first point has velocities'),
    'a payload of nothing': ({'payloads': [InertiaStamped()]}, 'payloads[0]: mass: expected'),
    'a wrench on nothing': ({'external': [BodyWrench(body='tail')]}, 'external[0]'),
    'a frame of another': ({'limits': RetimingLimits(frames=[RetimingFrameLimits(frame='tail')])},
                           'limits.frames[0]: '),
    'a frame that stands': ({'limits': RetimingLimits(frames=[RetimingFrameLimits(
        frame='hip', velocity=-1.0)])},
                            'limits.frames[0]: frames[hip].velocity: expected'),
    'efforts without room': ({'limits': RetimingLimits(
        joint_names=['hip'], effort=[1.0], least_effort=[2.0])},
        'least_torque: expected less than the torque, 1 of hip, got 2'),

    'no points': ({'trajectory': trajectory(LEG, [])}, 'waypoints: expected at least 2, got 0'),
    'another joint': ({'trajectory': trajectory(['tail', *LEG[1:]], POINTS)}, 'tail'),
    'a joint is missing': ({'trajectory': trajectory(LEG[1:], POINTS[:, 1:])}, 'rod_joint'),
    'a position is missing': ({'trajectory': trajectory(LEG, POINTS[:, 1:])},
                              'trajectory.points[0].positions: expected 4 numbers'),
    'a point that repeats': ({'trajectory': trajectory(LEG, POINTS[[0, 0, 1]])}, '0 and 1 equal'),
    'no number': ({'trajectory': trajectory(LEG, POINTS * np.nan)},
                  'trajectory.points[0, 0]: expected a finite number, got nan'),
    'poses': ({'multi_dof_trajectory': poses_of('hip', [[0, 0, 0, 0, 0, 0, 1]])},
              'expected none, as the base is fixed'),
    'a limit of zero': ({'limits': RetimingLimits(joint_names=['hip'], effort=[0.0])},
                        'limits.effort: expected numbers above 0, got 0.0 for hip'),
    'limits of others': ({'limits': RetimingLimits(joint_names=['tail'], effort=[1.0])},
                         'limits.joint_names: expected coordinates of'),
    'too few limits': ({'limits': RetimingLimits(joint_names=['hip'], jerk=[1.0, 2.0])},
                       'limits.jerk: expected 1 numbers'),
    'gravity': ({'limits': RetimingLimits(joint_names=['hip'], effort=[1e-3])},
                'torque: expected less than 0.001 to hold hip still'),
    'a blend': ({'blend': -1.0}, 'blend: expected 0 or more'),
    'a period': ({'sample_period': np.nan}, 'sample_period: expected 0 or more, got nan'),
    'too many points': ({'sample_period': 1e-7}, 'sample_period: expected at most 10000 points'),
    'intervals': ({'intervals': 9}, 'intervals: expected an integer of 10 or more, got 9'),
    'more intervals': ({'intervals': 1001}, 'intervals: expected at most 1000'),
}


def test_refusals(bench, monkeypatch):
    server = ServerBench(bench, model_file='linkage_leg.urdf')
    for given, words in REFUSED.values():
        found = server.call(RetimeTrajectory, 'retime', **{
            'trajectory': trajectory(LEG, POINTS), **given})
        assert not found.success
        assert words in found.message
        assert not found.trajectory.points
    monkeypatch.setattr(retiming, 'MAX_RUN_SECONDS', 1e-6)
    message = server.call(
        RetimeTrajectory, 'retime', trajectory=trajectory(LEG, POINTS)).message
    assert 'expected at most 1e-06 s of work' in message
    assert message.endswith('; a goal of the action retime may take more')


def test_a_goal_tells_its_progress_and_can_be_cancelled(bench):
    server, heard = ServerBench(bench, model_file='linkage_leg.urdf'), []
    with closing(_Client(server)) as client:
        names, goal = LEG, {'trajectory': trajectory(LEG, POINTS)}
        long = {**goal, 'intervals': 1000, 'limits': RetimingLimits(
            joint_names=names, effort_rate=[100.0] * 4)}
        handle = client.send(heard.append, **long)
        bench.until(lambda: heard, 'feedback')
        client.wait(handle.cancel_goal_async())
        ended = client.wait(handle.get_result_async())
        assert (ended.status, ended.result.message) == (GoalStatus.STATUS_CANCELED, 'cancelled')
        ended = client.wait(client.send(heard.append, **goal).get_result_async())
        assert (ended.status, ended.result.success) == (GoalStatus.STATUS_SUCCEEDED, True)
        ended = client.wait(client.send(
            heard.append, **goal, time_limit=-1.0).get_result_async())
        assert ended.status == GoalStatus.STATUS_ABORTED
        assert 'time_limit: expected 0 to 86400 s, got -1.0' in ended.result.message


class _Client:
    """An action client of the server's partner."""

    def __init__(self, server):
        """Find the action."""
        self._bench = server.bench
        self._client = ActionClient(self._bench.partner, RetimeAction, f'{SERVER}/retime')
        self._bench.until(self._client.server_is_ready, 'the action')

    def close(self):
        """Leave."""
        self._client.destroy()

    def send(self, listener, **goal):
        """Return the handle of a goal."""
        return self.wait(self._client.send_goal_async(RetimeAction.Goal(**goal), listener))

    def wait(self, future):
        """Return the result of a future."""
        self._bench.until(future.done, 'an answer of the action')
        return future.result()
