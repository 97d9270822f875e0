# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The platform as a robot model with joint states, for what shows or plans with any robot."""

from sensor_msgs.msg import JointState
from std_msgs.msg import String

from liedyn_ros.common.errors import NameSetError
from liedyn_ros.model import to_urdf
from liedyn_ros.nodes.stewart.platform import LEG_STATES, Platform
from liedyn_ros.ros.messages.packed import PackedPublisher, SECOND, STAMP
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import LATCHED
from liedyn_ros.stewart import PlatformTree, TrackedPose

JOINT_STATES = 'joint_states'


class StewartDescription:
    """Publishes the URDF once, latched, and the joint states of poses where someone listens."""

    def __init__(self, node: ManagedNode, platform: Platform, prefix: str) -> None:
        """Open the publishers. Raises NameSetError where the node would read its own states."""
        if node.resolve_topic_name(LEG_STATES) == node.resolve_topic_name(JOINT_STATES):
            raise NameSetError(
                f'{JOINT_STATES}: expected another topic than that of {LEG_STATES}, got '
                f'{node.resolve_topic_name(JOINT_STATES)} for both: remap one of them')
        self._tree = PlatformTree(
            platform.geometry, platform.home, base=platform.base_frame,
            platform=platform.platform_frame, prefix=prefix)
        self._description = String(data=to_urdf(self._tree.model))
        self._descriptions = node.open_publisher(String, 'robot_description', LATCHED)
        names = list(self._tree.joints)
        self._joints = PackedPublisher(
            node.open_publisher(JointState, JOINT_STATES),
            JointState(name=names, position=[0.0] * len(names)), (*STAMP, 'position'))

    def describe(self) -> None:
        """Publish the URDF; the node is active."""
        self._descriptions.publish(self._description)

    def publish(self, tracked: TrackedPose) -> None:
        """Publish the joint states of a pose."""
        if self._joints.heard:
            self._joints.publish((*divmod(tracked.stamp_ns, SECOND),
                                  *self._tree.joint_values(tracked.pose).tolist()))
