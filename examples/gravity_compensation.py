# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Hold an arm against gravity by dynamics_server: joint states in, efforts for ros2_control out.

Each sensor_msgs/JointState becomes a query of the server's topic pair for inverse dynamics, at
rest and without acceleration. The answer goes to an effort controller's commands. Their order is
that of the parameter joints, which has to be the controller's, or else of the first joint state.

The program starts a server for itself, sends one joint state, and prints the commands. On a robot
the node alone is needed, beside `ros2 launch liedyn_ros dynamics_server.launch.py`. The argument
is a model file of config/.
"""

import sys
import time

from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery, TreeAcceleration, TreeState
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Names
from liedyn_ros.model import load_model
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode

FILE = sys.argv[1] if len(sys.argv) > 1 else 'linkage_leg.urdf'
LIMIT = 30.0  # s, for the first commands of a server that runs


class GravityCompensation(Node):
    """Publishes the efforts that hold an arm where its joint states say it is."""

    def __init__(self, server: str = 'dynamics_server') -> None:
        """Subscribe to joint states and to answers of a server."""
        super().__init__('gravity_compensation')
        topic = f'{server}/inverse_dynamics'
        self.queries = self.create_publisher(DynamicsQuery, f'{topic}/query', 10)
        self._commands = self.create_publisher(
            Float64MultiArray, 'effort_controller/commands', 10)
        self.create_subscription(DynamicsAnswer, f'{topic}/answer', self._command, 10)
        self.create_subscription(
            JointState, 'joint_states', self._ask, qos_profile_sensor_data)
        self._joints = [name for name in self.declare_parameter('joints', ['']).value if name]
        self.sent: Float64MultiArray | None = None

    def _ask(self, joints: JointState) -> None:
        """Ask for the efforts at rest, for the joints in the order of the joint states."""
        count = len(joints.name)
        self._joints = self._joints or list(joints.name)
        self.queries.publish(DynamicsQuery(
            header=joints.header,
            state=TreeState(joint_names=joints.name, positions=joints.position,
                            velocities=[0.0] * count),
            accelerations=[TreeAcceleration(joints=[0.0] * count)]))

    def _command(self, answer: DynamicsAnswer) -> None:
        """Pass the efforts on; where the server refuses, its message says why."""
        if not answer.success:
            self.get_logger().warning(answer.message, throttle_duration_sec=1.0)
            return
        efforts = dict(zip(answer.joint_names, answer.efforts[0].joints))
        missing = [name for name in self._joints if name not in efforts]
        if missing:
            self.get_logger().warning(f'no effort for {missing}', throttle_duration_sec=1.0)
            return
        self.sent = Float64MultiArray(data=[efforts[name] for name in self._joints])
        self._commands.publish(self.sent)


def main() -> None:
    """Start a server and the node, send one joint state, and print the commands."""
    rclpy.init()
    server = DynamicsServerNode(parameter_overrides=[Parameter('model_file', value=FILE)])
    node, robot = GravityCompensation(), Node('robot')
    sensor = robot.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)
    executor = SingleThreadedExecutor()
    for each in (server, node, robot):
        executor.add_node(each)
    while server.starting:
        executor.spin_once(timeout_sec=0.1)
    names = list(Names(load_model(config_file(FILE))).others)
    state = JointState(name=names, position=[0.3] * len(names))
    end = time.monotonic() + LIMIT
    while node.sent is None and time.monotonic() < end:
        sensor.publish(state)
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    for each in (robot, node, server):
        each.destroy_node()
    rclpy.shutdown()
    if node.sent is None:
        raise SystemExit(f'expected commands within {LIMIT:g} s, got none; the log says why')
    for name, effort in zip(names, node.sent.data):
        print(f'{name}: {effort:.4f} N m')


if __name__ == '__main__':
    main()
