# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The aerial manipulator's simulator: what it publishes, commands good and bad, time, reset."""

from importlib.util import find_spec

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from support.bench.pose_bench import ns, stamp_of
from support.bench.ros_bench import Broadcaster

from liedyn_ros.aerial import AerialManipulator, Reference
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives
from liedyn_ros.model import load_model, load_urdf
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode

pytestmark = pytest.mark.ros
MACHINE = AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))
ROTORS, JOINTS = list(MACHINE.rotors), list(MACHINE.joints)
START = Reference().at(0.0).q


class Simulator:
    """The node with all its outputs and inputs; commands are stamped now."""

    def __init__(self, bench, **parameters):
        """Start the node and wait for its first state."""
        self.bench = bench
        self.odometry = bench.collect(Odometry, 'odometry')
        self.joints = bench.collect(JointState, 'joint_states')
        self.rotor_speeds = bench.publisher(JointState, 'rotor_speeds')
        self.base_wrench = bench.publisher(WrenchStamped, 'base_wrench')
        self.joint_torques = bench.publisher(JointState, 'joint_torques')
        self.node = bench.start(
            AerialManipulatorSimulatorNode, **{'publish_rate': 100.0, **parameters})
        self.until(lambda: self.joints and self.odometry, 'a state')

    def until(self, condition, what, act=lambda: None):
        return self.bench.until(condition, what, act)

    def stamped(self, message):
        message.header.stamp = self.bench.partner.get_clock().now().to_msg()
        return message

    def send_speeds(self, speeds=(0.0,) * 6, names=ROTORS):
        self.rotor_speeds.publish(self.stamped(
            JointState(name=list(names), velocity=list(speeds))))

    def send_torques(self, torques=(0.0,) * 6, names=JOINTS):
        self.joint_torques.publish(self.stamped(
            JointState(name=list(names), effort=list(torques))))

    def send_wrench(self, force=0.0, frame='base'):
        message = self.stamped(WrenchStamped(wrench=Wrench(force=Vector3(z=force))))
        message.header.frame_id = frame
        self.base_wrench.publish(message)

    def height(self):
        return self.odometry[-1].pose.pose.position.z

    def complains(self, text):
        self.bench.until_logged(self.node, text)


@pytest.mark.smoke
def test_stands_at_the_start(bench):
    simulator = Simulator(bench)
    simulator.until(lambda: len(simulator.joints) > 5, 'more states')
    for odometry, joints in zip(simulator.odometry, simulator.joints):
        assert ns(odometry) == ns(joints)
        assert (odometry.header.frame_id, odometry.child_frame_id) == ('world', 'base')
        p, q = odometry.pose.pose.position, odometry.pose.pose.orientation
        np.testing.assert_allclose([p.x, p.y, p.z, q.x, q.y, q.z, q.w], START[:7], atol=1e-12)
        assert list(joints.name) == JOINTS
        np.testing.assert_allclose(joints.position, START[7:], atol=1e-12)
        np.testing.assert_array_equal(joints.velocity, np.zeros(6))
    periods = np.diff([ns(joints) for joints in simulator.joints])
    assert (periods > 0).all() and (periods % 1_000_000 == 0).all()


def test_robot_description_is_the_model(bench):
    bench.start(AerialManipulatorSimulatorNode)
    heard = bench.collect(String, 'robot_description', QoSProfile(
        depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    bench.until(lambda: heard, 'the robot model, published before')
    model = load_urdf(heard[0].data, floating=True)
    assert model.bodies == MACHINE.model.bodies
    assert model.mass == pytest.approx(4.68)


@pytest.mark.parametrize('base_command', ['rotor_speeds', 'base_wrench'])
def test_falls_without_force_once_commanded(bench, base_command):
    simulator = Simulator(bench, base_command=base_command, command_timeout=0.0)
    send = simulator.send_speeds if base_command == 'rotor_speeds' else simulator.send_wrench
    simulator.until(lambda: simulator.height() < 1.4, 'a fall',
                    lambda: (send(), simulator.send_torques()))
    twist = simulator.odometry[-1].twist.twist
    assert twist.linear.z == pytest.approx(-np.sqrt(2 * 9.81 * (1.5 - simulator.height())), rel=.1)


def test_wind_a_payload_and_a_box_act_in_mujoco(bench):
    pytest.importorskip('mujoco')
    simulator = Simulator(
        bench, simulator='mujoco', base_command='base_wrench', command_timeout=0.0,
        wind=[3.0, 0.0, 0.0], gusts=0.1, payload_body='base', payload_mass=1.0,
        box=[0.0, 0.0, 0.0, 40.0, 40.0, 1.0])
    touches = bench.collect(WrenchStamped, 'aerial_manipulator_simulator/touches')
    simulator.until(lambda: touches, 'the box', lambda: (
        simulator.send_wrench(), simulator.send_torques()))
    assert touches[0].header.frame_id in MACHINE.model.bodies
    moved = simulator.odometry[-1].pose.pose.position
    assert 0.4 < moved.z < START[2] and moved.x > START[0]
    assert simulator.node.simulation.machine.model.mass == pytest.approx(4.68 + 1.0)


def test_messages_of_others_displace_no_command(bench):
    """With room for one message, what another publisher sent last was all that was heard."""
    simulator = Simulator(bench, command_timeout=0.0)
    others, heard = bench.publisher(JointState, 'rotor_speeds'), bench.collect(
        JointState, 'rotor_speeds')
    topic = simulator.rotor_speeds.topic_name
    bench.until(lambda: bench.partner.count_subscribers(topic) == 2, 'all who hear')
    with simulator.node.lock:
        bench.until(lambda: heard, 'a message with which the node waits',
                    lambda: others.publish(JointState()))
        simulator.send_torques()
        simulator.send_speeds()
        for _ in range(5):
            others.publish(JointState(name=['x']))
        bench.until(lambda: len([each for each in heard if each.name]) >= 6, 'all messages')
    simulator.until(lambda: simulator.node.simulation.moves, 'a command that is in force')


def test_names_in_any_order(bench):
    simulator = Simulator(bench, base_command='base_wrench', command_timeout=0.0)
    names = JOINTS[::-1]
    simulator.until(
        lambda: np.abs(simulator.joints[-1].velocity).max() > 0.5, 'a joint to move', lambda: (
            simulator.send_wrench(4.68 * 9.81),
            simulator.send_torques([0.5 * (name == 'left_elbow') for name in names], names)))
    moved = simulator.joints[-1]
    assert moved.name[np.argmax(moved.velocity)] == 'left_elbow'


@pytest.mark.parametrize(('send', 'reason'), [
    (lambda s: s.send_speeds(names=[*ROTORS[:5], 'fan']),
     'rotor_speeds: name: expected each of'),
    (lambda s: s.send_speeds([0.0] * 5), 'rotor_speeds: velocity: expected shape (6,), got (5,)'),
    (lambda s: s.send_speeds([0.0] * 5 + [np.nan]),
     'rotor_speeds: velocity[5]: expected a finite number, got nan'),
    (lambda s: s.send_speeds([-1.0] + [0.0] * 5),
     'speed of rotor rotor_0: expected 0.0 to 1400.0 rad/s, got -1.0'),
    (lambda s: s.send_torques(names=JOINTS[:5]), "missing ['right_elbow']"),
    (lambda s: s.send_torques([8.5] + [0.0] * 5), 'effort of left_shoulder_roll: expected -8 to'),
    (lambda s: s.joint_torques.publish(JointState(name=JOINTS, effort=[0.0] * 6)),
     'joint_torques: stamp: expected within 0.5 s of now'),
])
def test_bad_commands_are_refused_with_the_reason(bench, send, reason):
    """And change nothing: with the other command given, the machine would fly."""
    simulator = Simulator(bench)
    other = simulator.send_torques if 'speed' in reason else simulator.send_speeds
    simulator.until(lambda: any(reason in line for line in bench.logged(simulator.node)),
                    f'{reason!r} in the log', lambda: (send(simulator), other()))
    assert simulator.height() == pytest.approx(1.5, abs=1e-12)


def test_wrench_of_another_frame(bench):
    simulator = Simulator(bench, base_command='base_wrench')
    logged = simulator.until(lambda: bench.logged(simulator.node), 'a complaint',
                             lambda: simulator.send_wrench(frame='world'))
    assert ("base_wrench: frame_id: expected 'base', the body the wrench is on, got 'world'"
            in logged[0])


def test_silence_is_reported_and_reset_ends_the_flight(bench):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    simulator = Simulator(bench, command_timeout=0.05)
    simulator.until(lambda: simulator.height() < 1.5, 'a fall',
                    lambda: (simulator.send_speeds(), simulator.send_torques()))
    simulator.complains('commands: expected every 0.05 s, got none; the drives hover level')
    bench.until(lambda: any(
        status.name == simulator.node.status_name('drives') and status.message
        == Drives.HOVERING.value and status.level == DiagnosticStatus.ERROR
        for report in reports for status in report.status), 'an error of the drives')
    reply = bench.call(Trigger, 'aerial_manipulator_simulator/reset')
    assert (reply.success, reply.message) == (True, 'at rest at the start')
    simulator.until(lambda: simulator.height() == pytest.approx(1.5, abs=1e-12), 'the stand')


def test_a_command_from_before_the_reset_is_refused(bench):
    simulator = Simulator(bench, max_age=10.0)
    late = simulator.stamped(JointState(name=ROTORS, velocity=[500.0] * len(ROTORS)))
    assert bench.call(Trigger, 'aerial_manipulator_simulator/reset').success
    simulator.rotor_speeds.publish(late)
    simulator.complains('rotor_speeds: stamp: expected a time of this flight, which began at')


def test_clock_runs_at_its_factor(bench):
    clock = bench.collect(Clock, '/clock')
    simulator = Simulator(bench, publish_clock=True, time_factor=0.1)
    now = bench.partner.get_clock().now
    first, begin = ns(simulator.odometry[-1]), now().nanoseconds
    simulator.until(lambda: ns(simulator.odometry[-1]) > first + 50_000_000, '0.05 s')
    assert now().nanoseconds - begin > 9 * (ns(simulator.odometry[-1]) - first - 20_000_000)
    stamps = {ns(odometry) for odometry in simulator.odometry}
    simulator.until(lambda: stamps <= {
        c.clock.sec * 10**9 + c.clock.nanosec for c in clock}, 'the clock of every state')


def test_time_waits_for_commands_and_that_is_reported(bench):
    """As long as they answer a state of long ago; then it goes on."""
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    simulator = Simulator(bench, publish_clock=True, max_command_age=0.05)
    name = simulator.node.status_name('pace')

    def factors():
        return [float(status.values[0].value) for report in reports for status in report.status
                if status.name == name]

    simulator.stamped = lambda message: stamp_with(
        message, stamp_of(ns(simulator.odometry[-1]) - 60_000_000))
    simulator.until(lambda: 0.0 in factors(), 'a second in which no time passed',
                    lambda: (simulator.send_speeds(), simulator.send_torques()))
    assert 'slower than 1 times the clock' in [
        status.message for report in reports for status in report.status]
    stood = ns(simulator.odometry[-1])
    simulator.stamped = lambda message: stamp_with(message, simulator.odometry[-1].header.stamp)
    simulator.until(lambda: ns(simulator.odometry[-1]) > stood + 200_000_000, 'time to go on',
                    lambda: (simulator.send_speeds(), simulator.send_torques()))


def stamp_with(message, stamp):
    """Return a message with a stamp."""
    message.header.stamp = stamp
    return message


@pytest.mark.parametrize(('parameters', 'reason'), [
    ({'time_factor': 2.0}, 'time_factor: expected 1 without publish_clock'),
    ({'publish_clock': True, 'use_sim_time': True}, 'publish_clock: expected use_sim_time false'),
    ({'start_joints': [0.0]}, 'start_joints: expected 6 numbers'),
    ({'start_joints': [9.0] * 6}, 'start_joints: left_shoulder_roll: expected -1.6 to 1.6, got 9'),
    ({'start_orientation': [0.0, 0.0, 0.0, 0.5]}, 'expected a quaternion x, y, z, w of norm 1'),
    ({'model_file': 'stewart_geometry.yaml'}, 'stewart_geometry.yaml'),
])
def test_bad_parameters_keep_it_unconfigured(bench, parameters, reason):
    node = bench.start(AerialManipulatorSimulatorNode, **parameters)
    bench.until_logged(node, 'not configured')
    bench.until_logged(node, reason)
    assert not node.active


def test_a_machine_that_urdf_cannot_tell_is_refused(bench, tmp_path):
    text, screw = config_file('aerial_manipulator.yaml').read_text(), tmp_path / 'screw.yaml'
    before, right_elbow = text.split('  right_elbow:\n', 1)
    screw.write_text(before + '  right_elbow:\n' + right_elbow.replace(
        'type: revolute', 'type: helical\n    pitch: 0.01', 1))
    node = bench.start(AerialManipulatorSimulatorNode, model_file=str(screw))
    bench.until_logged(
        node, 'not configured: joint right_elbow: expected one of the types of URDF')
    assert not node.active


def test_deactivated_it_is_silent(bench):
    simulator = Simulator(bench)
    simulator.node.trigger_deactivate()
    simulator.send_speeds()
    reply = bench.call(Trigger, 'aerial_manipulator_simulator/reset')
    assert not reply.success
    simulator.node.trigger_cleanup()
    simulator.node.trigger_configure()
    simulator.node.trigger_activate()
    seen = len(simulator.joints)
    simulator.until(lambda: len(simulator.joints) > seen, 'states again')


def test_two_machines_share_the_ground_and_no_other_frame(bench, monkeypatch):
    broadcaster, edges = Broadcaster(monkeypatch), {}
    for side in ('left', 'right'):
        simulator = Simulator(bench, frame_prefix=f'{side}/')
        broadcaster.sent.clear()
        bench.until(lambda: broadcaster.sent, 'transforms')
        edges[side] = {(frame.header.frame_id, frame.child_frame_id)
                       for frame in broadcaster.sent[-1]}
        simulator.node.trigger_deactivate()
        assert simulator.odometry[-1].header.frame_id == 'world'
        assert simulator.odometry[-1].child_frame_id == f'{side}/base'
        assert edges[side] == {
            (f'{side}/{joint.parent}' if joint.parent else 'world', f'{side}/{joint.child}')
            for joint in MACHINE.model.joint_list}
    assert not edges['left'] & edges['right']


@pytest.mark.skipif(find_spec('tf2_ros') is None, reason='tf2_ros is not installed here')
def test_tf(bench):
    from tf2_msgs.msg import TFMessage

    heard = bench.collect(TFMessage, '/tf')
    Simulator(bench)
    bench.until(lambda: heard, 'transforms')
    frames = {t.child_frame_id: t.header.frame_id for t in heard[0].transforms}
    assert frames == {joint.child: joint.parent or 'world'
                      for joint in MACHINE.model.joint_list}


@pytest.mark.skipif(find_spec('tf2_ros') is not None, reason='tf2_ros is installed here')
def test_missing_tf_is_reported(bench):
    simulator = Simulator(bench)
    assert bench.until(
        lambda: [line for line in bench.logged(simulator.node, LoggingSeverity.INFO)
                 if 'no TF is broadcast' in line], 'what is missing')
