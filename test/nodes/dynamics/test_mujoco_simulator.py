# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The simulator of any robot: efforts in, states and what touches out, by MuJoCo."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from liedyn_interfaces.msg import DynamicsQuery, TreeAcceleration, TreeState
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.bench.dynamics_bench import AERIAL, ServerBench
from support.bench.pose_bench import ns

from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Drives
from liedyn_ros.model import load_model
from liedyn_ros.nodes.dynamics.mujoco_simulator import MujocoSimulatorNode, start_of

pytest.importorskip('mujoco')
pytestmark = pytest.mark.ros
NODE = 'mujoco_simulator'


class Simulator:
    """The node with its outputs and its input."""

    def __init__(self, bench, model_file, **parameters):
        """Start the node and wait for its first state."""
        self.bench, self.joints = bench, bench.collect(JointState, 'joint_states')
        self.torques = bench.publisher(JointState, 'joint_torques')
        self.node = bench.start(MujocoSimulatorNode, **{
            'publish_rate': 100.0, 'model_file': model_file, **parameters})
        bench.until(lambda: self.joints, 'a state')

    def send(self, names, efforts):
        message = JointState(name=list(names), effort=list(efforts))
        message.header.stamp = self.joints[-1].header.stamp
        self.torques.publish(message)


def test_an_arm_is_held_by_the_torques_that_the_server_answers(bench):
    """Of a start that is asked for; without torques it brakes, and says so as an error."""
    server = ServerBench(bench, model_file='arm.urdf')
    simulator = Simulator(bench, 'arm.urdf', start='elbow:=0.5')
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    first = simulator.joints[0]
    assert first.position[list(first.name).index('elbow')] == 0.5

    def answer():
        state = simulator.joints[-1]
        names, count = list(state.name), len(state.name)
        error = np.array(first.position) - state.position
        wanted = 100.0 * error - 20.0 * np.array(state.velocity)
        told = server.ask('inverse_dynamics', DynamicsQuery(
            state=TreeState(joint_names=names, positions=state.position,
                            velocities=state.velocity),
            accelerations=[TreeAcceleration(joints=wanted.tolist())]))
        assert told.success and count == len(told.efforts[0].joints)
        simulator.send([*names, 'of_others'], [*told.efforts[0].joints, 0.0])

    bench.until(lambda: simulator.node.simulation.moves
                and ns(simulator.joints[-1]) > ns(first) + 2 * 10**9, 'two seconds', answer)
    assert np.abs(np.array(first.position) - simulator.joints[-1].position).max() < 0.1
    assert any(simulator.joints[-1].effort)
    bench.until(lambda: any(
        each.name.endswith(f'{NODE}: drives') and each.level == DiagnosticStatus.ERROR
        and each.message == Drives.BRAKED.value for report in reports for each in report.status),
        'brakes among the diagnostics')
    bench.until(lambda: simulator.node.simulation.drives is Drives.BRAKED, 'brakes')
    simulator.send(first.name[:2], [0.0, 0.0])
    bench.until_logged(simulator.node, 'joint_torques: name: expected each of')
    assert bench.call(Trigger, f'{NODE}/reset').success
    assert not simulator.node.simulation.moves


def test_a_free_base_stands_on_the_ground_and_feels_it(bench):
    simulator = Simulator(bench, str(AERIAL), payload_body='base', payload_mass=1.0,
                          start_height=0.01, command_timeout=0.1)
    odometry = bench.collect(Odometry, 'odometry')
    touches = bench.collect(WrenchStamped, f'{NODE}/touches')
    bench.until(lambda: odometry, 'the base')
    start = odometry[0].pose.pose.position.z
    bench.until(lambda: touches, 'the ground', lambda: simulator.send(
        simulator.node.simulation.driven, [0.0] * len(simulator.node.simulation.driven)))
    assert odometry[-1].pose.pose.position.z < start
    model = load_model(AERIAL)
    assert touches[0].header.frame_id in model.bodies
    assert simulator.node.simulation.model.mass == pytest.approx(model.mass + 1.0)


def test_loops_start_closed_near_what_is_asked_for():
    model = load_model(config_file('five_bar.yaml'))
    one, other = (start_of(model, text) for text in ('', 'left_crank_joint:=1.3'))
    assert np.abs(one - other).max() > 0.1


@pytest.mark.parametrize('parameters', [
    {}, {'model_file': 'stewart_geometry.yaml'},
    {'model_file': 'arm.urdf', 'payload_body': 'nobody'},
    {'model_file': 'arm.urdf', 'box': [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]},
    {'model_file': 'arm.urdf', 'start': 'nobody:=1'}])
def test_what_does_not_fit_leaves_the_node_unconfigured(bench, parameters):
    node = bench.start(MujocoSimulatorNode, **parameters)
    bench.until_logged(node, 'not configured: ')
    assert not node.configured
