# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What the simulators of a platform publish: leg states in the form asked for, the true pose."""

from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from liedyn_ros.common.checks import Array
from liedyn_ros.nodes.stewart.parameters import FLOAT64_TOPICS, JOINT_STATE
from liedyn_ros.nodes.stewart.platform import actuator_topic, LEG_STATES, Platform
from liedyn_ros.ros import conversions
from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.stewart import LegSample


class LegOutputs:
    """The publishers; lengths and pose of one sample have one stamp."""

    def __init__(self, node: ManagedNode, platform: Platform, form: str, with_rates: bool) -> None:
        """Open the publishers; form is one of the choices of `actuators`."""
        self._actuators, self._form = platform.actuators, form
        self._with_rates = with_rates and form != FLOAT64_TOPICS
        self._truth = PoseStamped()
        self._truth.header.frame_id = platform.base_frame
        self._truth_publisher = node.open_publisher(PoseStamped, 'true_pose')
        names = self._actuators.names
        topics = [LEG_STATES] if form == JOINT_STATE else [actuator_topic(n) for n in names]
        message_type = Float64 if form == FLOAT64_TOPICS else JointState
        self._leg_publishers = [
            node.open_publisher(message_type, topic, sensor_data()) for topic in topics]

    @property
    def have_subscribers(self) -> bool:
        """Return whether someone listens to every topic."""
        return all(publisher.get_subscription_count()
                   for publisher in (self._truth_publisher, *self._leg_publishers))

    def publish_truth(self, stamp_ns: int, pose: Array) -> None:
        """Publish the true pose."""
        self._truth.header.stamp = conversions.stamp_of(stamp_ns)
        conversions.to_pose(pose, self._truth.pose)
        self._truth_publisher.publish(self._truth)

    def publish_legs(self, stamp_ns: int, sample: LegSample) -> None:
        """Publish what the actuators report."""
        actuators = self._actuators
        positions = actuators.positions(sample.lengths).tolist()
        velocities = (sample.leg_rates / actuators.scales).tolist() if self._with_rates else []
        if self._form == FLOAT64_TOPICS:
            for publisher, position in zip(self._leg_publishers, positions):
                publisher.publish(Float64(data=position))
            return
        message = JointState()
        message.header.stamp = conversions.stamp_of(stamp_ns)
        if self._form == JOINT_STATE:
            message.name = list(actuators.names)
            message.position, message.velocity = positions, velocities
            self._leg_publishers[0].publish(message)
            return
        for k, publisher in enumerate(self._leg_publishers):
            message.name = [actuators.names[k]]
            message.position, message.velocity = positions[k:k + 1], velocities[k:k + 1]
            publisher.publish(message)
