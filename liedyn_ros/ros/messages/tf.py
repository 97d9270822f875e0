# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""TF, where tf2 is installed."""

from typing import Any, Protocol

from geometry_msgs.msg import TransformStamped
from rclpy.publisher import Publisher

from liedyn_ros.ros.node.lifecycle import ManagedNode


class Broadcaster(Protocol):
    """What sends transforms: tf2_ros.TransformBroadcaster."""

    pub_tf: Publisher

    def sendTransform(self, transform: TransformStamped | list[TransformStamped]) -> None:
        """Broadcast one transform, or several in one message."""


def open_broadcaster(node: ManagedNode) -> Broadcaster | None:
    """Return a broadcaster on /tf, or None, logged with the reason, where tf2_ros is missing."""
    try:
        import tf2_ros
    except ImportError as error:
        node.get_logger().info(f'no TF is broadcast: {error}')
        return None
    broadcaster: Any = tf2_ros.TransformBroadcaster(node)
    node.on_close(lambda: node.destroy_publisher(broadcaster.pub_tf))  # it cannot do that itself
    return broadcaster


def has_listeners(broadcaster: Broadcaster) -> bool:
    """Return whether anything listens to /tf."""
    return broadcaster.pub_tf.get_subscription_count() > 0
