# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The controller of a platform: in a loop with pose node and simulator, and bad states."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header
from support.bench.pose_bench import GEOMETRY, HOME, LEGS, matrix, ns, stamp_of

from liedyn_ros.common.resources import config_file
from liedyn_ros.control.follower import Phase
from liedyn_ros.nodes.stewart.controller import StewartControllerNode
from liedyn_ros.nodes.stewart.dynamics_simulator import StewartDynamicsSimulatorNode
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.stewart import leg_lengths, load_geometry, StewartDynamics

pytestmark = pytest.mark.ros
PERIOD_NS = 10_000_000


class Controller:
    """The node, and a partner that plays the pose node; stamps start at 1 s."""

    def __init__(self, bench, legs=True, **parameters):
        """Start the node; `max_age` and `state_timeout` are off. legs: subscribe to forces."""
        self.bench, self.stamp_ns = bench, 1_000_000_000
        self.forces = bench.collect(JointState, 'leg_forces') if legs else []
        self.errors = bench.collect(JointState, 'tracking_error')
        self.references = bench.collect(PoseStamped, 'reference')
        self.poses = bench.publisher(PoseStamped, 'pose')
        self.twists = bench.publisher(TwistStamped, 'twist')
        self.node = bench.start(StewartControllerNode, **{
            'max_age': 0.0, 'state_timeout': 0.0, **parameters})

    def send(
            self, x=0.0, frame='stewart_base', rate=0.0, late_ns=0, step_ns=PERIOD_NS, z=0.5):
        """Publish a state at home, displaced along x, a step later than the last."""
        self.stamp_ns += step_ns
        pose, twist = PoseStamped(), TwistStamped()
        pose.header.frame_id, twist.header.frame_id = frame, 'stewart_platform'
        pose.header.stamp, twist.header.stamp = map(
            stamp_of, (self.stamp_ns, self.stamp_ns - late_ns))
        pose.pose.position.x, pose.pose.position.z = x, z
        twist.twist.linear.x = rate
        self.poses.publish(pose)
        self.twists.publish(twist)

    def until(self, condition, what, **state):
        """Send states until a condition holds."""
        return self.bench.until(condition, what, lambda: self.send(**state))


def test_the_first_command_holds_the_platform(bench, held):
    controller = Controller(bench, actuator_scale=[2.0] * 6)
    controller.until(lambda: controller.forces, 'a command')
    forces = controller.forces[0]
    assert list(forces.name) == LEGS
    assert (ns(forces) - 1_000_000_000) % PERIOD_NS == 0
    np.testing.assert_allclose(forces.effort, 2.0 * held, rtol=1e-9)


@pytest.mark.parametrize('topic', ['leg_forces/commands', 'leg_positions/commands'])
def test_ros2_control_gets_commands_without_names_in_the_order_of_actuators(bench, held, topic):
    """Alone it counts as a subscriber, and the motion begins."""
    partner = bench.collect(Float64MultiArray, topic)
    controller = Controller(
        bench, legs=False, actuator_names=['f', 'e', 'd', 'c', 'b', 'a'],
        actuator_scale=[2.0, 1.0, 1.0, 1.0, 1.0, 0.5], actuator_offset=[0.1] * 6)
    controller.until(lambda: partner, topic)
    scale = np.array([2.0, 1.0, 1.0, 1.0, 1.0, 0.5])
    base, tips = GEOMETRY.base_joints, GEOMETRY.platform_joints + [0.0, 0.0, 0.5]
    wanted = {'leg_forces/commands': scale * held,
              'leg_positions/commands': (np.linalg.norm(tips - base, axis=1) - 0.1) / scale}
    np.testing.assert_allclose(partner[0].data, wanted[topic], rtol=1e-9)
    controller.until(lambda: np.abs(matrix(controller.references[-1].pose) - HOME).max() > 1e-3
                     if controller.references else False, 'motion')


def test_displacements_are_pushed_back_and_published(bench, held):
    controller = Controller(bench, amplitudes=[0.0] * 6)
    controller.until(lambda: len(controller.forces) > 5 and controller.errors
                     and controller.references, 'commands', x=0.01)
    np.testing.assert_allclose(controller.errors[-1].position, [0, 0, 0, 0.01, 0, 0], atol=1e-12)
    np.testing.assert_allclose(matrix(controller.references[-1].pose), HOME, atol=1e-12)
    pushed = np.array(controller.forces[-1].effort) - held
    acceleration = StewartDynamics(GEOMETRY).forward(
        matrix(controller.references[-1].pose), np.zeros(6), held + pushed).acceleration
    assert acceleration[3] < -0.01


@pytest.mark.parametrize(('state', 'reason'), [
    ({'frame': 'floor'}, "frame_id: expected 'stewart_base', got 'floor'; no motion yet"),
    ({'x': np.nan}, 'expected a finite number'), ({'rate': np.inf}, 'expected a finite number')])
def test_bad_states_are_refused_with_the_reason(bench, state, reason):
    controller = Controller(bench)
    controller.until(lambda: any(reason in line for line in bench.logged(controller.node)),
                     reason, **state)
    assert controller.forces == []


def test_a_state_of_the_same_stamp_is_refused_with_the_reason(bench):
    controller = Controller(bench)
    controller.until(lambda: controller.forces, 'a command')
    controller.until(lambda: any('stamp' in line for line in bench.logged(controller.node)),
                     'stamp', step_ns=0)


def test_the_time_of_refused_states_is_not_integrated(bench, held):
    """Five seconds of an error of 10 mm would add the force of integral_limit."""
    controller = Controller(bench, amplitudes=[0.0] * 6)
    controller.until(lambda: len(controller.forces) > 40, 'a steady command', x=0.01)
    before = np.array(controller.forces[-1].effort)
    controller.send(x=0.01, frame='floor', step_ns=5_000_000_000)
    bench.until_logged(controller.node, "expected 'stewart_base', got 'floor'")
    refused_ns = controller.stamp_ns
    controller.until(lambda: ns(controller.forces[-1]) > refused_ns + 10 * PERIOD_NS,
                     'commands after that', x=0.01)
    limit = 3.0 * np.eye(6)[3]  # m/s^2 along x
    saturated = StewartDynamics(GEOMETRY).inverse(HOME, np.zeros(6), limit).forces - held
    change = np.abs(np.subtract(controller.forces[-1].effort, before))
    assert change.max() < 0.5 * np.abs(saturated).max()


def restarts_after(controller, step):
    """Move the platform by a step (m) along x; return whether the reference is at home again."""
    step_ns = 1_000_000
    controller.until(lambda: len(controller.references) > 20, 'motion', step_ns=step_ns)
    before_ns = controller.stamp_ns
    controller.until(lambda: ns(controller.references[-1]) > before_ns + 5 * step_ns,
                     'references after that', x=step, step_ns=step_ns)
    return any(np.abs(matrix(reference.pose) - HOME).max() < 1e-9
               for reference in controller.references if ns(reference) > before_ns)


def test_after_a_jump_the_reference_starts_again(bench):
    controller = Controller(bench, rise_time=0.01)
    assert restarts_after(controller, 0.2)
    bench.until_logged(controller.node, 'the platform was moved elsewhere: the reference '
                       'starts again', LoggingSeverity.WARN)


def test_without_a_jump_the_reference_goes_on(bench):
    assert not restarts_after(Controller(bench, rise_time=0.01), 0.0)


def test_where_the_listener_is_lost_the_reference_starts_again_with_the_next(bench):
    controller = Controller(bench, rise_time=0.1)
    controller.until(lambda: len(controller.forces) > 20, 'motion')
    subscription = next(s for s in bench.partner.subscriptions
                        if s.topic_name.endswith('/leg_forces'))
    bench.partner.destroy_subscription(subscription)
    warning = 'the commands have lost their subscriber: the reference starts again'
    controller.until(lambda: any(warning in line for line in bench.logged(
        controller.node, LoggingSeverity.WARN)), warning)
    lost_ns = controller.stamp_ns
    controller.until(lambda: ns(controller.references[-1]) > lost_ns + 5 * PERIOD_NS, 'states')
    for reference in controller.references:
        if ns(reference) > lost_ns:
            np.testing.assert_allclose(matrix(reference.pose), HOME, atol=1e-12)
    bench.collect(JointState, 'leg_forces')
    controller.until(lambda: np.abs(matrix(controller.references[-1].pose) - HOME).max() > 1e-3,
                     'motion again')


def test_a_motion_beyond_the_travel_of_a_leg_is_refused(bench):
    node = bench.start(StewartControllerNode, amplitudes=[0.0] * 5 + [0.5])
    bench.until_logged(node, 'not configured: amplitudes: after ')
    assert 'length of leg_' in bench.logged(node)[0]


def test_a_pose_without_its_twist_is_no_state(bench):
    controller = Controller(bench, state_timeout=0.1)
    controller.until(lambda: bench.logged(controller.node, 30), 'a warning', late_ns=1)
    assert 'expected pose and twist of one stamp' in bench.logged(controller.node, 30)[0]
    assert controller.forces == []


@pytest.mark.full
def test_the_loop_tracks_and_force_rates_make_up_for_lag(bench):
    """
    Legs lag by 30 ms, which the controller knows after 0.9 s.

    The clock of all nodes is this test's, and stands still until each state has its command.
    """
    clock, now_ns = bench.publisher(Clock, '/clock'), 1_000_000_000
    forces, errors = (bench.collect(JointState, name) for name in ('leg_forces', 'tracking_error'))
    poses, truths = (bench.collect(PoseStamped, name) for name in ('pose', 'true_pose'))
    bench.start(StewartPoseNode, use_sim_time=True)
    controller = bench.start(
        StewartControllerNode, use_sim_time=True, rise_time=0.5, frequencies=[0.6] * 6)
    bench.start(StewartDynamicsSimulatorNode, use_sim_time=True, rate=100.0, leg_lag=0.03)

    def go_on():
        nonlocal now_ns
        now_ns += PERIOD_NS
        clock.publish(Clock(clock=stamp_of(now_ns)))

    def answered():
        return ns(forces[-1]) > now_ns - PERIOD_NS // 2

    def run(seconds):
        """Return the largest error of position of the last half of a time, m."""
        errors.clear()
        end_ns = now_ns + round(1e9 * seconds)
        while now_ns < end_ns:
            go_on()
            bench.until(answered, 'the command of a state')
        half = [e.position[3:] for e in errors if ns(e) > end_ns - 5e8 * seconds]
        return np.linalg.norm(half, axis=1).max()

    bench.until(lambda: forces, 'the first command', go_on)
    bench.until(answered, 'the command of a state')
    unknown = run(0.9)
    result, = bench.set_parameters(controller, leg_lag=0.03)
    assert result.successful
    assert run(1.1) < 0.25 * unknown
    true = {ns(truth): matrix(truth.pose) for truth in truths}
    for pose in poses[-50:]:
        np.testing.assert_allclose(matrix(pose.pose), true[ns(pose)], atol=1e-9)


def test_eight_wires_hold_a_cable_robot(bench):
    file = config_file('stewart_cable_robot.yaml')
    controller = Controller(
        bench, geometry_file=str(file), home_position=[0.0, 0.0, 1.2], amplitudes=[0.0] * 6)
    controller.until(lambda: controller.forces, 'a command', z=1.2)
    efforts = np.array(controller.forces[0].effort)
    assert len(controller.forces[0].name) == 8
    assert (efforts <= -10.0).all() and (efforts >= -400.0).all()
    robot = StewartDynamics(load_geometry(file))
    home = HOME.copy()
    home[2, 3] = 1.2
    np.testing.assert_allclose(
        robot.forward(home, np.zeros(6), efforts).acceleration, 0.0, atol=1e-9)


def test_without_poses_it_rests_by_its_legs_and_reports_an_error(bench):
    """Forces go on with the stamps of legs that stand at home while the reference moves."""
    told = bench.collect(DiagnosticArray, '/diagnostics')
    legs = bench.publisher(JointState, 'leg_states')
    controller = Controller(bench, state_timeout=0.2)
    controller.until(lambda: len(controller.forces) > 5, 'commands')
    begin = controller.stamp_ns
    lengths = leg_lengths(GEOMETRY, HOME).tolist()

    def feel():
        controller.stamp_ns += PERIOD_NS
        legs.publish(JointState(header=Header(stamp=stamp_of(controller.stamp_ns)), name=LEGS,
                                position=lengths))

    def error():
        return {status.name.split(': ')[-1] for array in told for status in array.status
                if status.level == DiagnosticStatus.ERROR
                and status.message.startswith((Phase.FEELING.value, 'no messages for'))}

    bench.until(lambda: error() >= {'motion', 'states'}, 'both errors', feel)
    assert any(begin < ns(forces) <= controller.stamp_ns for forces in controller.forces)
    back = {Phase.FOLLOWING.value, Phase.WAITING.value}  # its platform stands at home
    controller.until(lambda: any(
        status.message in back for status in told[-1].status), 'poses again')
