# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The simulator under leg forces: held, moved, refused commands, end of travel, reset."""

import time
from types import SimpleNamespace

from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.bench.pose_bench import GEOMETRY, HOME, LEGS, matrix, ns, stamp_of

from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives
from liedyn_ros.nodes.simulator_node import SimulatorNode
from liedyn_ros.nodes.stewart.dynamics_simulator import StewartDynamicsSimulatorNode
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.stewart import (
    leg_lengths, load_geometry, PlatformSimulation, StewartDynamics)

pytestmark = pytest.mark.ros
SCALES = [0.5, -0.5, 2.0, 0.1, 1.0, -3.0]  # m per unit


class Simulator:
    """The node with what it publishes; commands are stamped now."""

    def __init__(self, bench, **parameters):
        """Start the node and wait for its first state."""
        self.bench = bench
        self.legs = bench.collect(JointState, 'leg_states', sensor_data(100))
        self.truths = bench.collect(PoseStamped, 'true_pose')
        self.forces = bench.publisher(JointState, 'leg_forces')
        self.node = bench.start(
            StewartDynamicsSimulatorNode, **{'rate': 100.0, 'max_age': 0.0, **parameters})
        self.until(lambda: self.legs and self.truths, 'a state')

    def until(self, condition, what, act=lambda: None):
        return self.bench.until(condition, what, act)

    def send(self, forces, names=LEGS):
        message = JointState(name=list(names), effort=[float(force) for force in forces])
        message.header.stamp = self.bench.partner.get_clock().now().to_msg()
        self.forces.publish(message)

    def refuses(self, reason, *command):
        """Send a command until the node says why it is none."""
        self.until(lambda: any(reason in line for line in self.bench.logged(self.node)), reason,
                   lambda: self.send(*command))

    def height(self):
        return self.truths[-1].pose.position.z


def test_the_platform_is_held_until_commanded(bench):
    simulator = Simulator(bench)
    simulator.until(lambda: len(simulator.legs) > 5 and len(simulator.truths) > 5, 'more states')
    for truth, legs in zip(simulator.truths, simulator.legs):
        np.testing.assert_allclose(matrix(truth.pose), HOME, atol=1e-12)
        assert (list(legs.name), truth.header.frame_id) == (LEGS, 'stewart_base')
        np.testing.assert_allclose(legs.position, leg_lengths(GEOMETRY, HOME), atol=1e-12)
        np.testing.assert_array_equal(legs.velocity, np.zeros(6))


def test_forces_move_it_in_the_actuators_own_units(bench, held):
    """Named in reverse; legs that push a tenth more than its weight lift it straight up."""
    names = [f'motor_{k}' for k in range(6)]
    simulator = Simulator(bench, actuator_names=names, actuator_scale=SCALES)
    efforts = 1.1 * held * SCALES

    def risen():
        """Return what the legs reported of a pose somewhat above home, and that pose."""
        poses = {ns(truth): matrix(truth.pose) for truth in simulator.truths}
        return next(((legs, poses[ns(legs)]) for legs in simulator.legs
                     if ns(legs) in poses and 0.502 < poses[ns(legs)][2, 3] < 0.6), None)

    legs, pose = simulator.until(
        risen, 'a rise', lambda: simulator.send(efforts[::-1], names[::-1]))
    np.testing.assert_allclose(pose[:3, :3], np.eye(3), atol=1e-2)
    np.testing.assert_allclose(
        np.multiply(legs.position, SCALES), leg_lengths(GEOMETRY, pose), atol=1e-12)
    assert (np.multiply(legs.velocity, SCALES) > 0.0).all()


def test_refused_commands_change_nothing(bench, held):
    simulator = Simulator(bench, max_age=0.5)
    simulator.refuses('leg_forces: actuator names: ', held, [*LEGS[:5], 'leg_9'])
    simulator.refuses('leg_forces: actuator efforts: expected shape (6,), got (5,)', held[:5])
    simulator.refuses('leg_forces: actuator efforts[0]: expected a finite number', [np.nan] * 6)
    old = JointState(name=LEGS, effort=[0.0] * 6)
    old.header.stamp.sec = 1
    simulator.until(lambda: any('leg_forces: stamp: expected within 0.5 s' in line
                                for line in bench.logged(simulator.node)), 'a complaint',
                    lambda: simulator.forces.publish(old))
    np.testing.assert_allclose(matrix(simulator.truths[-1].pose), HOME, atol=1e-12)


def test_a_leg_at_the_end_of_its_travel_ends_the_motion(bench):
    simulator = Simulator(bench, command_timeout=0.0)
    simulator.until(lambda: bench.logged(simulator.node), 'a complaint',
                    lambda: simulator.send([500.0] * 6))
    bench.until_logged(simulator.node, 'the motion restarts: length of leg_')
    simulator.until(lambda: abs(simulator.height() - 0.5) < 1e-12, 'the platform at home')
    np.testing.assert_allclose(matrix(simulator.truths[-1].pose), HOME, atol=1e-12)


def test_silence_is_reported_and_reset_puts_it_back(bench, held):
    simulator = Simulator(bench, command_timeout=0.1)
    simulator.until(lambda: simulator.height() != 0.5, 'motion',
                    lambda: simulator.send(1.0001 * held))
    bench.until_logged(simulator.node, 'commands: expected every 0.1 s, got none; the drives '
                       f'{Drives.BRAKED.value}')
    answer = bench.call(Trigger, 'stewart_dynamics_simulator/reset')
    assert (answer.success, answer.message) == (True, 'at rest at the start')
    simulator.until(lambda: simulator.height() == 0.5, 'the platform at home')


def test_its_time_may_be_that_of_others(bench):
    clocks = bench.collect(Clock, '/clock')
    simulator = Simulator(bench, publish_clock=True, time_factor=0.5)
    clocks.clear()  # of these the states may have been missed
    simulator.until(lambda: len(clocks) > 3, 'times')
    times = [1_000_000_000 * each.clock.sec + each.clock.nanosec for each in clocks]
    simulator.until(lambda: ns(simulator.truths[-1]) >= times[-1], 'the state of the last time')
    assert times == sorted(set(times))
    assert set(times) <= set(map(ns, simulator.truths))


def test_it_reaches_every_time_that_is_a_multiple_of_its_step(bench):
    """Though sums of seven steps of 1 ms are rounded."""
    clock, begin_ns = bench.publisher(Clock, '/clock'), 1_000_000_000
    now_ns = begin_ns
    truths = bench.collect(PoseStamped, 'true_pose')
    node = bench.start(StewartDynamicsSimulatorNode, use_sim_time=True, rate=250.0)
    bench.until(lambda: node.get_clock().now().nanoseconds == now_ns, 'the clock',
                lambda: clock.publish(Clock(clock=stamp_of(now_ns))))
    for _ in range(60):
        now_ns += 7_000_000
        clock.publish(Clock(clock=stamp_of(now_ns)))
        bench.until(lambda: truths and ns(truths[-1]) > now_ns - 7_000_000, 'a state')
        assert ns(truths[-1]) == now_ns


def test_a_machine_too_slow_is_reported_and_states_go_on(bench, monkeypatch):
    """Each step costs five times the time that it simulates."""
    simulator = Simulator(bench)
    step = PlatformSimulation.step

    def slow_step(self):
        time.sleep(0.005)
        step(self)

    monkeypatch.setattr(PlatformSimulation, 'step', slow_step)
    bench.until_logged(simulator.node, 'too slow for steps of 0.001 s: the motion is ',
                       LoggingSeverity.WARN)
    seen = len(simulator.truths)
    simulator.until(lambda: len(simulator.truths) > seen + 2, 'more states')
    periods = np.diff([ns(truth) for truth in simulator.truths[seen:]])
    assert periods.max() <= 41_000_000  # four periods, and a step
    assert bench.call(Trigger, 'stewart_dynamics_simulator/reset').success


@pytest.mark.parametrize(('parameters', 'age'), [
    ({'publish_clock': True}, 0.02), ({'publish_clock': True, 'rate': 20.0}, 0.05),
    ({'publish_clock': True, 'max_command_age': 0.0}, 0.0), ({'max_command_age': 0.1}, 0.0)])
def test_simulated_time_waits_for_commands_where_it_is_the_clock_of_others(
        bench, parameters, age):
    node = bench.start(StewartDynamicsSimulatorNode, **parameters)
    assert node._time._max_age == age


def test_a_geometry_without_masses_is_refused(bench):
    node = bench.start(StewartDynamicsSimulatorNode,
                       geometry_file=str(config_file('stewart_octahedron.yaml')))
    bench.until_logged(node, 'not configured: ', LoggingSeverity.ERROR)
    assert 'expected masses, got none' in bench.logged(node)[0]


@pytest.mark.parametrize(('due', 'lines'), [
    (2.0, ['too slow for steps of 0.001 s: the motion is 500 ms late']), (1.5, [])])
def test_lateness_is_how_far_the_simulation_is_behind(due, lines):
    logged = []
    node = SimpleNamespace(
        _time=SimpleNamespace(due=due), simulation=SimpleNamespace(time=1.5, dt=1e-3), _rate=100.0,
        motion='motion',
        get_logger=lambda: SimpleNamespace(warning=lambda text, **_: logged.append(text)))
    SimulatorNode._report_lateness(node)
    assert logged == lines


def test_wires_pull_a_cable_robot(bench):
    file = config_file('stewart_cable_robot.yaml')
    robot, home = load_geometry(file), matrix_at(1.2)
    simulator = Simulator(
        bench, geometry_file=str(file), home_position=[0.0, 0.0, 1.2], integration_rate=200.0)
    assert list(simulator.legs[-1].name) == list(robot.leg_names)
    np.testing.assert_allclose(simulator.legs[-1].position, leg_lengths(robot, home), atol=1e-12)
    lifting = StewartDynamics(robot).inverse(
        home, np.zeros(6), [0.0, 0.0, 0.0, 0.0, 0.0, 0.5]).forces
    assert lifting.max() < -10.0
    simulator.until(lambda: 1.21 < simulator.height() < 1.5, 'a rise',
                    lambda: simulator.send(lifting, robot.leg_names))


def matrix_at(height):
    """Return the pose (4, 4) of a platform above the base's origin, m."""
    pose = np.eye(4)
    pose[2, 3] = height
    return pose
