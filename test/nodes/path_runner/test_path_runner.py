# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths are run within their limits: commands, lag, stops, limits and refusals of the node."""

from action_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Transform, Vector3
from liedyn_interfaces.action import RetimeTrajectory as RetimeAction
from liedyn_interfaces.msg import RetimingLimits, RetimingStatus
from liedyn_interfaces.srv import RetimeTrajectory
import numpy as np
import pytest
from rclpy.action import ActionClient
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from support.comparison import assert_same
from trajectory_msgs.msg import (
    JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint)

from liedyn_ros.nodes.path_runner.node import PathRunnerNode

pytestmark = pytest.mark.ros
LEG = ['hip', 'knee', 'crank_joint', 'rod_joint']
POINTS = [[0.3, -0.6, 0.2, 0.1], [0.6, -0.9, 0.0, 0.3], [0.1, -0.2, 0.4, 0.0]]
LIMITS = RetimingLimits(joint_names=LEG, velocity=[1.0] * 4, effort=[20.0, 9.0, 3.0, 4.0],
                        effort_rate=[200.0, 90.0, 30.0, 40.0])


class RunnerBench:
    """A node under test, what it publishes, and what it hears."""

    def __init__(self, bench, **parameters):
        """Start the node with the model of a leg; fewer commands are as good, and less work."""
        self.bench = bench
        self.commands = bench.collect(JointTrajectory, 'joint_trajectory', 1000)
        self.statuses = bench.collect(RetimingStatus, 'path_runner/status', 1000)
        self.speed = bench.publisher(Float64, 'path_runner/speed')
        self.limits = bench.publisher(RetimingLimits, 'path_runner/limits')
        self.joints = bench.publisher(JointState, 'joint_states')
        self.node = bench.start(
            PathRunnerNode, **{'model_file': 'linkage_leg.urdf', 'rate': 40.0, **parameters})

    def run(self, **request):
        """Ask for a run."""
        given = JointTrajectory(joint_names=LEG, points=[
            JointTrajectoryPoint(positions=point) for point in POINTS])
        return self.bench.call(RetimeTrajectory, 'path_runner/run', **{
            'trajectory': given, 'limits': LIMITS, 'intervals': 20, **request})

    def until(self, *wanted, act=lambda: None):
        """Wait for a status."""
        return self.bench.until(lambda: next(
            (each for each in self.statuses[::-1] if each.status in wanted), None),
            'a status', act=act)

    def hear(self, positions):
        """Publish joint states."""
        self.joints.publish(JointState(name=LEG, position=[float(x) for x in positions]))


def test_a_path_is_run_to_its_end(bench):
    runner = RunnerBench(bench)
    planned = runner.run()
    assert (planned.success, planned.message) == (True, '')
    last = runner.until(RetimingStatus.ENDED)
    bench.until(lambda: runner.node._run is None, 'rest')
    bench.until(lambda: len(runner.commands) >= len(runner.statuses), 'all commands')
    assert_same(last.planned_time, planned.duration, 1e-9)
    assert runner.commands[0].joint_names == LEG
    points = [command.points[0] for command in runner.commands]
    assert_same(points[-1].positions, POINTS[-1], 1e-6)
    assert_same(points[-1].velocities, np.zeros(4), 1e-9, floor=1.0)
    velocities = np.array([point.velocities for point in points])
    efforts = np.array([point.effort for point in points])
    assert (np.abs(velocities) <= 1.005).all()
    assert (np.abs(efforts) <= 1.005 * np.array(LIMITS.effort)).all()
    assert max(each.used for each in runner.statuses) <= 1.005
    assert not any(each.status == RetimingStatus.EXCEEDS for each in runner.statuses)
    assert runner.run().success  # the next one


def test_a_run_stops_on_its_path_and_goes_on(bench):
    runner = RunnerBench(bench, input_timeout=0.0)
    runner.node._heard_ns = 1  # long ago, which nobody minds
    assert not runner.node._silence(runner.node.now_ns())
    assert runner.run().success
    runner.until(RetimingStatus.FOLLOWS)
    runner.speed.publish(Float64(data=0.0))
    standing = runner.until(RetimingStatus.STANDS)
    assert (standing.speed, standing.speed_asked) == (0.0, 0.0)
    runner.speed.publish(Float64(data=np.nan))
    bench.until_logged(runner.node, 'speed: expected a share from 0 to 1, got nan')
    runner.node._take_speed(Float64(data=-0.5))
    assert runner.node._speed == 0.0
    runner.speed.publish(Float64(data=1.0))
    runner.until(RetimingStatus.ENDED)


def goal(points=POINTS):
    """Return a goal of slow motion along points."""
    return RetimeAction.Goal(
        trajectory=JointTrajectory(joint_names=LEG, points=[
            JointTrajectoryPoint(positions=point) for point in points]), intervals=20,
        limits=RetimingLimits(joint_names=LEG, velocity=[0.3] * 4, effort=LIMITS.effort))


def in_motion(runner):
    """Wait until a run is well on its way."""
    return runner.bench.until(lambda: next(
        (each for each in runner.statuses[::-1] if each.planned_time > 0.3 * each.duration), None),
        'motion')


def require_rest_within_limits(commands):
    """Require the last of some commands to stand, and none to exceed its limits."""
    points = [command.points[0] for command in commands]
    assert_same(points[-1].velocities, np.zeros(4), 1e-9, floor=1.0)
    assert (np.abs([point.velocities for point in points]) <= 0.302).all()
    assert (np.abs([point.effort for point in points]) <= 1.005 * np.array(LIMITS.effort)).all()


def test_a_goal_is_run_to_its_end_and_tells_how_it_goes_on(bench):
    runner, feedback = RunnerBench(bench), []
    client = ActionClient(bench.partner, RetimeAction, 'path_runner/run')
    sent = client.send_goal_async(goal(), lambda each: feedback.append(each.feedback))
    bench.until(sent.done, 'a goal')
    result = sent.result().get_result_async()
    bench.until(result.done, 'a result')
    assert (result.result().result.success, result.result().result.message) == (True, '')
    assert feedback[-1].run.planned_time > 0.0
    assert_same(runner.commands[-1].points[0].positions, POINTS[-1], 1e-6)


def test_a_cancelled_goal_comes_to_rest_on_its_path(bench):
    runner = RunnerBench(bench)
    client = ActionClient(bench.partner, RetimeAction, 'path_runner/run')
    sent = client.send_goal_async(goal(), lambda each: None)
    in_motion(runner)
    cancelled, result = sent.result().cancel_goal_async(), sent.result().get_result_async()
    bench.until(lambda: cancelled.done() and result.done(), 'a result')
    assert result.result().status == GoalStatus.STATUS_CANCELED
    assert not result.result().result.success
    bench.until(lambda: len(runner.commands) >= len(runner.statuses), 'all commands')
    require_rest_within_limits(runner.commands)
    assert np.abs(np.subtract(runner.commands[-1].points[0].positions, POINTS[-1])).max() > 0.01


def test_a_new_path_begins_where_the_old_one_comes_to_rest(bench):
    runner = RunnerBench(bench)
    client = ActionClient(bench.partner, RetimeAction, 'path_runner/run')
    first = client.send_goal_async(goal(), lambda each: None)
    in_motion(runner)
    second = client.send_goal_async(goal(POINTS[:1]), lambda each: None)
    bench.until(second.done, 'a second goal')
    results = [sent.result().get_result_async() for sent in (first, second)]
    bench.until(lambda: all(each.done() for each in results), 'results')
    assert [each.result().status for each in results] == [
        GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_SUCCEEDED]
    bench.until(lambda: len(runner.commands) >= len(runner.statuses), 'all commands')
    require_rest_within_limits(runner.commands)
    positions = np.array([command.points[0].positions for command in runner.commands])
    assert np.abs(np.diff(positions, axis=0)).max() < 0.03  # at 0.3 rad/s and 40 Hz
    assert_same(positions[-1], POINTS[0], 1e-6)


def test_after_a_refused_replacement_a_path_begins_where_the_machine_stands(bench):
    """It was refused from then on, as its begin is where the machine no longer is."""
    runner = RunnerBench(bench)
    slow = RetimingLimits(joint_names=LEG, velocity=[0.3] * 4, effort=LIMITS.effort)
    assert runner.run(limits=slow).success
    in_motion(runner)

    def follow():
        runner.hear(runner.commands[-1].points[0].positions)

    assert not runner.run(limits=RetimingLimits(joint_names=LEG, velocity=[-1.0] * 4)).success
    assert not any(runner.commands[-1].points[0].velocities)
    bench.until(lambda: runner.node._heard, 'joints', act=follow)
    standing, seen = runner.commands[-1].points[0].positions, len(runner.commands)
    assert np.abs(np.subtract(standing, POINTS[0])).max() > 0.2
    again = runner.run()
    assert (again.success, again.message) == (True, '')
    begun = bench.until(lambda: runner.commands[seen:], 'commands')[0].points[0].positions
    assert np.abs(np.subtract(begun, standing)).max() < 0.03


def test_its_status_has_the_last_command_and_joints_of_others_are_not_heard(bench):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    runner = RunnerBench(bench, input_timeout=0.2)

    def status(level):
        return next((each for report in reports[::-1] for each in report.status
                     if each.name == runner.node.status_name('run') and each.level == level), None)

    bench.until(lambda: status(DiagnosticStatus.OK), 'a status')
    runner.hear(POINTS[0])
    bench.until(lambda: runner.node._heard, 'joints')
    assert runner.run().success
    others = JointState(name=['tail', 'hip'], position=[0.0, np.nan])
    stopped = bench.until(lambda: status(DiagnosticStatus.ERROR), 'an error',
                          act=lambda: runner.joints.publish(others))
    assert set(runner.node._heard) == set(LEG)
    values = {each.key: each.value for each in stopped.values}
    assert values['last command'].startswith('hip ') and float(values['bound of its age, s']) > 0.0
    assert float(values['age of the last command, s']) >= 0.0


def test_deactivated_in_motion_it_comes_to_rest_first(bench):
    runner = RunnerBench(bench)
    client = ActionClient(bench.partner, RetimeAction, 'path_runner/run')
    sent = client.send_goal_async(goal(), lambda each: None)
    in_motion(runner)
    assert runner.node.trigger_deactivate() is TransitionCallbackReturn.SUCCESS
    result = sent.result().get_result_async()
    bench.until(result.done, 'a result')
    assert not result.result().result.success
    bench.until(lambda: not any(runner.commands[-1].points[0].velocities), 'rest')
    require_rest_within_limits(runner.commands)


def test_joints_that_lag_or_fall_silent_are_waited_for(bench):
    runner = RunnerBench(bench, input_timeout=1.0)
    heard = POINTS[0]
    runner.hear([np.nan, *heard[1:]])
    bench.until_logged(runner.node, 'joint_states: expected a finite position of each joint')
    runner.hear(heard)
    bench.until(lambda: len(runner.node._heard) == len(LEG), 'joints')
    away = RunnerBench.run(runner, trajectory=JointTrajectory(joint_names=LEG, points=[
        JointTrajectoryPoint(positions=point) for point in POINTS[::-1]]))
    assert 'trajectory.points[0]: expected the joints within 0.2 of it, got knee' in away.message
    assert runner.run().success
    lagging = bench.until(  # the joints stay where they are
        lambda: next((each for each in runner.statuses if each.lag > 0.1), None),
        'a lag', act=lambda: runner.hear(heard))
    assert lagging.speed_asked < 0.7
    bench.until_logged(runner.node, 'joint_states: expected every 1 s')
    assert bench.set_parameters(runner.node, tolerated_lag=1.0)[0].successful  # above the largest

    def follow():
        runner.hear(runner.commands[-1].points[0].positions)

    runner.until(RetimingStatus.ENDED, act=follow)


def test_limits_fall_while_a_run_goes_on(bench):
    runner = RunnerBench(bench)
    assert runner.run(limits=RetimingLimits(
        joint_names=LEG, velocity=[0.3] * 4, effort=LIMITS.effort)).success
    runner.until(RetimingStatus.FOLLOWS)
    lower = RetimingLimits(joint_names=LEG, velocity=[0.15] * 4, effort=LIMITS.effort)
    runner.limits.publish(RetimingLimits(joint_names=['tail'], velocity=[1.0]))
    bench.until_logged(runner.node, 'limits: limits.joint_names: expected coordinates of')
    runner.limits.publish(lower)
    held = bench.until(lambda: next(
        (each for each in runner.statuses if each.held_by.startswith('velocity')), None),
        'the limit')
    assert held.held_by.split()[1] in LEG
    assert runner.until(RetimingStatus.ENDED)
    assert max(np.abs(command.points[0].velocities).max()
               for command in runner.commands[-30:]) < 0.152


def test_a_floating_base_has_poses_too(bench):
    runner = RunnerBench(bench, model_file='aerial_manipulator.yaml')
    poses = bench.collect(MultiDOFJointTrajectory, 'multi_dof_joint_trajectory', 1000)
    names = [f'{side}_{part}' for side in ('left', 'right')
             for part in ('shoulder_roll', 'shoulder_pitch', 'elbow')]
    found = runner.run(
        limits=RetimingLimits(),
        trajectory=JointTrajectory(joint_names=names, points=[
            JointTrajectoryPoint(positions=[x] * 6) for x in (0.0, 0.4)]),
        multi_dof_trajectory=MultiDOFJointTrajectory(joint_names=['base'], points=[
            MultiDOFJointTrajectoryPoint(transforms=[Transform(translation=Vector3(x=x))])
            for x in (0.0, 0.3)]))
    assert (found.success, found.message) == (True, '')
    runner.until(RetimingStatus.ENDED)
    bench.until(lambda: poses and abs(
        poses[-1].points[0].transforms[0].translation.x - 0.3) < 1e-6, 'the end')


def test_without_a_model_or_active_no_run_begins(bench):
    runner = RunnerBench(bench, model_file='')
    assert 'expected a model, got none yet' in runner.run().message
