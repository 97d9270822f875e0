# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The publishers of the platform's simulators: leg states in the requested form, the true pose."""

from collections.abc import Sequence

from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray, Header

from liedyn_ros.common.checks import Array
from liedyn_ros.nodes.stewart.parameters import (
    FLOAT64_ARRAY, FLOAT64_TOPICS, JOINT_STATE_INPUT, UNSTAMPED)
from liedyn_ros.nodes.stewart.platform import actuator_topic, LEG_STATES, Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.packed import NANOSECONDS, PackedPublisher, STAMP_FIELDS
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.qos import sensor_data
from liedyn_ros.stewart.simulation.leg_simulation import LegSample


class LegOutputs:
    """
    The publishers; lengths and pose of one sample have one stamp.

    Messages are written as bytes, and those that nobody listens to not at all.
    """

    def __init__(
            self, node: ManagedNode, platform: Platform, form: str, with_rates: bool,
            with_efforts: bool = False) -> None:
        """Open the publishers; form is one of the choices of `actuators`."""
        self._node, self._actuators, self._form = node, platform.actuators, form
        self._with_rates = with_rates and form not in UNSTAMPED
        self._with_efforts = with_efforts and form not in UNSTAMPED
        self._truth = PackedPublisher(
            node.open_publisher(PoseStamped, 'true_pose'),
            PoseStamped(header=Header(frame_id=platform.base_frame)),
            (*STAMP_FIELDS, *(f'pose.{field}' for field in conversions.POSE_FIELDS)))
        names = self._actuators.names
        self._legs = ([self._open(LEG_STATES, names)] if form in (JOINT_STATE_INPUT, FLOAT64_ARRAY)
                      else [self._open(actuator_topic(name), [name]) for name in names])

    def _open(self, topic: str, names: Sequence[str]) -> PackedPublisher:
        """Open the publisher of some legs."""
        if self._form == FLOAT64_TOPICS:
            return PackedPublisher(
                self._node.open_publisher(Float64, topic, sensor_data()), Float64(), ['data'])
        zeros = [0.0] * len(names)
        if self._form == FLOAT64_ARRAY:
            return PackedPublisher(self._node.open_publisher(
                Float64MultiArray, topic, sensor_data()), Float64MultiArray(data=zeros), ['data'])
        message = JointState(name=list(names), position=zeros)
        fields = [*STAMP_FIELDS, 'position']
        if self._with_rates:
            message.velocity = zeros
            fields.append('velocity')
        if self._with_efforts:
            message.effort = zeros
            fields.append('effort')
        return PackedPublisher(
            self._node.open_publisher(JointState, topic, sensor_data()), message, fields)

    def missing(self, nodes: Sequence[str]) -> list[str]:
        """Return the nodes of these names that hear neither the truth nor all legs, sorted."""
        wanted = set(filter(None, nodes))
        if not wanted:
            return []
        legs = set.intersection(*(publisher.listeners(self._node) for publisher in self._legs))
        return sorted(wanted - legs - self._truth.listeners(self._node))

    def publish_truth(self, stamp_ns: int, pose: Array) -> None:
        """Publish the true pose."""
        if self._truth.heard:
            self._truth.publish((*divmod(stamp_ns, NANOSECONDS), *conversions.pose_numbers(pose)))

    def publish_legs(self, stamp_ns: int, sample: LegSample) -> None:
        """Publish the readings of the actuators."""
        if not any(publisher.heard for publisher in self._legs):
            return
        actuators = self._actuators
        positions = actuators.positions(sample.lengths).tolist()
        velocities = (actuators.velocities(sample.leg_rates, sample.lengths).tolist()
                      if self._with_rates else [])
        efforts = (actuators.efforts(sample.forces).tolist()
                   if self._with_efforts and sample.forces is not None else [])
        stamp = () if self._form in UNSTAMPED else divmod(stamp_ns, NANOSECONDS)
        each = len(positions) // len(self._legs)  # legs in a message
        for k, publisher in zip(range(0, len(positions), each), self._legs):
            publisher.publish((*stamp, *positions[k:k + each], *velocities[k:k + each],
                               *efforts[k:k + each]))
