# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The aerial manipulator's nodes with actuators that lag: what is asked, commanded and gained."""

from itertools import count

from geometry_msgs.msg import Vector3, Wrench
from liedyn_interfaces.msg import TreeEffort
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.bench.aerial_bench import Controller, HOVER, JOINTS, MACHINE, PERIOD_NS
from support.bench.pose_bench import ns, stamp_of
from support.bench.ros_bench import Bench

from liedyn_ros.nodes.aerial.controller import AerialManipulatorControllerNode
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode

pytestmark = pytest.mark.ros
LAGS = {'rotor_lag': 0.08, 'joint_lag': 0.08}  # s


def changing(answer):
    """Fill in an answer: forces that hover, and their rates."""
    answer.success = True
    answer.efforts = [
        TreeEffort(base=Wrench(force=Vector3(z=HOVER)), joints=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        TreeEffort(base=Wrench(force=Vector3(z=20.0)), joints=[1.0] * 6)]


def test_accelerations_are_asked_about_with_their_derivative(bench):
    """At the start of the reference: 4 p^3 times the error in x, with p = 4^(1/3) pole."""
    controller = Controller(bench, mode='effort_rates')
    controller.serve(changing)
    controller.until(lambda: controller.queries, 'a query', x=1.01)
    first, second = controller.queries[0].accelerations
    assert first.base.linear.x == pytest.approx(0.0, abs=1e-12)
    assert second.base.linear.x == pytest.approx(-16.0 * 5.0**3 * 0.01)
    np.testing.assert_allclose([first.joints, second.joints], 0.0, atol=1e-12)


def test_commands_are_ahead_of_the_forces(bench):
    controller = Controller(bench, mode='effort_rates', rotor_lag=0.5, joint_lag=0.2)
    controller.serve(changing)
    controller.until(lambda: controller.speeds and controller.torques, 'a command')
    np.testing.assert_allclose(
        MACHINE.allocation.wrench(controller.speeds[0].velocity), [0, 0, 0, 0, 0, HOVER + 10.0],
        atol=1e-9)
    np.testing.assert_allclose(controller.torques[0].effort, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    result, = bench.set_parameters(controller.node, rotor_lag=0.0)
    assert result.successful
    controller.speeds.clear()
    controller.until(lambda: controller.speeds and abs(MACHINE.allocation.wrench(
        controller.speeds[-1].velocity)[5] - HOVER) < 1e-9, 'a command without lag')


def test_rates_that_lead_beyond_a_limit_are_refused(bench):
    controller = Controller(bench, mode='effort_rates', joint_lag=0.2)

    def answer(message):
        changing(message)
        message.efforts[1].joints[5] = 100.0

    controller.serve(answer)
    controller.until(lambda: bench.logged(controller.node), 'a complaint')
    assert 'right_elbow' in bench.logged(controller.node)[0]
    assert controller.torques == []


def test_an_answer_without_rates_is_refused(bench):
    controller = Controller(bench, mode='effort_rates')

    def answer(message):
        changing(message)
        message.efforts.pop()

    controller.serve(answer)
    controller.until(lambda: bench.logged(controller.node), 'a complaint')
    assert 'efforts: expected 2 entries, got 1; no flight yet' in bench.logged(controller.node)[0]
    assert controller.speeds == []


def test_rotors_and_joints_lag(bench):
    """Without commands for the rotors but zero, the machine starts to fall slowly."""
    bench.start(AerialManipulatorSimulatorNode, rotor_lag=10.0, joint_lag=10.0)
    odometry = bench.collect(Odometry, 'odometry')
    publishers = [bench.publisher(JointState, name) for name in ('rotor_speeds', 'joint_torques')]

    def send():
        stamp = bench.partner.get_clock().now().to_msg()
        for publisher, message in zip(publishers, (
                JointState(name=list(MACHINE.rotors), velocity=[0.0] * 6),
                JointState(name=JOINTS, effort=[0.0] * 6))):
            message.header.stamp = stamp
            publisher.publish(message)

    bench.until(lambda: odometry and odometry[-1].pose.pose.position.z < 1.49, 'a fall', send)
    fallen, speed = (1.5 - odometry[-1].pose.pose.position.z, odometry[-1].twist.twist.linear.z)
    # The jerk is -g / 10 s at first: v = -g t^2 / 20, z = -g t^3 / 60.
    assert speed == pytest.approx(-9.81 / 20.0 * (60.0 * fallen / 9.81)**(2.0 / 3.0), rel=0.05)


@pytest.mark.full
def test_effort_rates_make_up_for_lag(context, namespace):
    errors = {mode: flown(context, f'{namespace}/{mode}', mode)
              for mode in ('efforts', 'effort_rates')}
    assert (errors['effort_rates'] < 0.2 * errors['efforts']).all()


def flown(context, namespace, mode):
    """
    Return the largest errors of position and joints in the beginning of a flight.

    The clock of all nodes is this one's, and stands still until each state has had its command.
    """
    bench = Bench(context, namespace)
    try:
        server = bench.start(DynamicsServerNode, model_file='aerial_manipulator.yaml')
        bench.until(lambda: server.active, 'the server')
        clock, looks, now_ns = bench.publisher(Clock, '/clock'), count(), 1_000_000_000
        errors, torques = (
            bench.collect(JointState, topic) for topic in ('tracking_error', 'joint_torques'))
        bench.start(AerialManipulatorSimulatorNode, use_sim_time=True, publish_rate=100.0, **LAGS)
        bench.start(AerialManipulatorControllerNode, use_sim_time=True, mode=mode, period=7.0,
                    rise_time=1.0, **LAGS)

        def go_on():
            nonlocal now_ns
            now_ns += PERIOD_NS
            clock.publish(Clock(clock=stamp_of(now_ns)))

        bench.until(lambda: torques, 'the first command',
                    lambda: next(looks) % 10 == 0 and go_on())
        while ns(torques[-1]) < ns(torques[0]) + 1_500_000_000:
            go_on()
            bench.until(lambda: ns(torques[-1]) == now_ns, 'the command of a state')
        moving = np.array([error.position for error in errors])
        return np.array([np.linalg.norm(moving[:, 3:6], axis=1).max(),
                         np.abs(moving[:, 6:]).max()])
    finally:
        bench.close()
