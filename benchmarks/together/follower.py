# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Joints that follow commands at once: python -m benchmarks.together.follower --ros-args -r __ns:=/X.

It has nothing of the package and hears every stream that is attacked: the witness of what a node
grows by through the middleware. Fast DDS keeps the buffers of messages of many sizes, which grow
to the largest one by one. It ends with its standard input.
"""

import sys
from threading import Thread

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from benchmarks.faults.subjects import standing_joints
from benchmarks.together.fleet import FOLLOWED_RATE, STREAMS


class Follower(Node):
    """The joints of the leg linkage; they stand where its path begins until a command comes."""

    def __init__(self) -> None:
        """Begin to publish."""
        super().__init__('follower')
        (topic, self._joints), = standing_joints()
        self._publisher = self.create_publisher(JointState, topic, 10)
        self.create_subscription(JointTrajectory, 'joint_trajectory', self._follow, 10)
        for kind, names in STREAMS.items():
            for name in names:
                self.create_subscription(kind, f'/{name}', lambda _: None, 1, raw=True)
        self.create_timer(1.0 / FOLLOWED_RATE, self._publish)

    def _follow(self, command: JointTrajectory) -> None:
        self._joints.name = command.joint_names
        self._joints.position = command.points[0].positions

    def _publish(self) -> None:
        self._joints.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(self._joints)


def main() -> None:
    """Follow until the standard input ends."""
    rclpy.init()
    node = Follower()

    def end_with_input() -> None:
        sys.stdin.read()
        rclpy.try_shutdown()

    Thread(target=end_with_input, daemon=True).start()
    try:
        rclpy.spin(node)
    except ExternalShutdownException:
        pass


if __name__ == '__main__':
    main()
