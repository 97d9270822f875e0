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

from liedyn_ros.common.stamps import Pace
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.parameters.parameter_set import Parameter

TF_RATE_PARAMETER = Parameter(
    'tf_rate', 50.0, 'rate of the transforms on /tf, by their stamps, where tf2_ros is installed; '
    '0 for none', 'Hz', least=0.0, most=1000.0, run_time=True)


class Broadcaster(Protocol):
    """A sender of transforms: tf2_ros.TransformBroadcaster."""

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


class Transforms:
    """Sends transforms at a limited rate, while something listens to /tf."""

    def __init__(self, node: ManagedNode) -> None:
        """Open the broadcaster; nothing is sent before `set_rate`."""
        self._broadcaster, self._pace, self._on = open_broadcaster(node), Pace(0.0), False

    def set_rate(self, rate: float) -> None:
        """Send at a rate, Hz of their stamps; 0 for never."""
        self._on, self._pace = rate > 0.0, Pace(rate)

    def are_due(self, stamp_ns: int) -> bool:
        """Return whether transforms of a stamp, ns, are to be sent."""
        return (self._broadcaster is not None and self._on
                and self._broadcaster.pub_tf.get_subscription_count() > 0
                and self._pace.is_due(stamp_ns))

    def send(self, transforms: TransformStamped | list[TransformStamped]) -> None:
        """Send transforms that are due."""
        if self._broadcaster is not None:
            self._broadcaster.sendTransform(transforms)
