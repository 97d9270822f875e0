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

"""What the pose node publishes: pose, twist, status, markers, TF."""

from geometry_msgs.msg import PoseStamped, TransformStamped, TwistStamped
from liedyn_interfaces.msg import StewartStatus
from visualization_msgs.msg import MarkerArray

from liedyn_ros.nodes.stewart.markers import StewartMarkers
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros import conversions
from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.ros.tf import open_broadcaster
from liedyn_ros.stewart import Flag, MonitoredPose, Solution, TrackedPose

LIMITS = Flag.LEG_TRAVEL | Flag.JOINT_ANGLE | Flag.LEG_CLEARANCE
UNKNOWN = float('nan')  # of numbers in the status of a sample that was not solved


class StewartOutputs:
    """
    The publishers and the messages they reuse.

    Pose, twist and TF are published for converged samples only, stamped as their lengths.
    """

    def __init__(self, node: ManagedNode, platform: Platform) -> None:
        """Open the publishers."""
        self._publish_pose, self._publish_twist, self._publish_status, self._publish_markers = (
            node.open_publisher(message_type, topic).publish for message_type, topic in (
                (PoseStamped, 'pose'), (TwistStamped, 'twist'), (StewartStatus, 'status'),
                (MarkerArray, 'markers')))
        self._pose, self._twist = PoseStamped(), TwistStamped()
        self._status, self._transform = StewartStatus(), TransformStamped()
        for message in (self._pose, self._status, self._transform):
            message.header.frame_id = platform.base_frame
        self._twist.header.frame_id = platform.platform_frame  # a body twist
        self._transform.child_frame_id = platform.platform_frame
        self._leg_names = platform.geometry.leg_names
        self._markers = StewartMarkers(platform)
        self._broadcaster = open_broadcaster(node)

    def publish(self, monitored: MonitoredPose, with_tf: bool) -> None:
        """Publish one sample: its status, and the rest if it converged."""
        stamp = conversions.stamp_of(monitored.stamp_ns)
        if monitored.converged:
            self._pose.header.stamp = stamp
            conversions.to_pose(monitored.pose, self._pose.pose)
            self._publish_pose(self._pose)
            if with_tf and self._broadcaster is not None:
                self._transform.header.stamp = stamp
                conversions.to_transform(monitored.pose, self._transform.transform)
                self._broadcaster.sendTransform(self._transform)
        if monitored.twist is not None:
            self._twist.header.stamp = stamp
            conversions.to_twist(monitored.twist, self._twist.twist)
            self._publish_twist(self._twist)
        self._status.header.stamp = stamp
        fill_status(self._status, monitored, int(monitored.start), monitored.solve_time)
        self._status.length = monitored.lengths
        self._fill_judgement(monitored)
        self._publish_status(self._status)

    def _fill_judgement(self, monitored: MonitoredPose) -> None:
        status, state, branch = self._status, monitored.state, monitored.branch
        status.flags = int(monitored.flags)
        status.suspected_legs = [self._leg_names[leg] for leg in monitored.legs]
        status.exceeded_limits = []
        if monitored.flags & LIMITS:
            status.exceeded_limits = state.margins.exceeded(self._leg_names)
        if branch is None:
            status.determinant_sign = status.expected_determinant_sign = 0
            status.prediction_gap = status.time_to_singularity = UNKNOWN
            return
        status.determinant_sign = state.determinant_sign
        status.expected_determinant_sign = branch.expected_sign
        status.prediction_gap = branch.prediction_gap
        status.time_to_singularity = monitored.time_to_singularity

    def reject(self, stamp_ns: int, reason: str) -> None:
        """Publish the status of input that was refused."""
        status = StewartStatus()
        status.header.stamp = conversions.stamp_of(stamp_ns)
        status.header.frame_id = self._status.header.frame_id
        fill_refusal(status, reason)
        self._publish_status(status)

    def publish_markers(self, tracked: TrackedPose) -> None:
        """Publish the picture of a sample."""
        self._publish_markers(self._markers.at(
            conversions.stamp_of(tracked.stamp_ns), tracked.pose, tracked.lengths))


def fill_status(
        status: StewartStatus, solution: Solution | TrackedPose, start: int,
        solve_time: float) -> None:
    """Write how a solve went."""
    status.status = int(solution.status)
    status.message = describe(solution)
    status.start = start
    status.iterations = solution.iterations
    status.residual = solution.residual
    status.smallest_singular_value = solution.smallest_singular_value
    status.solve_time = solve_time


def fill_refusal(status: StewartStatus, reason: str) -> None:
    """Write why nothing was solved."""
    status.status, status.message = StewartStatus.REJECTED, reason
    status.residual = status.smallest_singular_value = status.solve_time = UNKNOWN
    status.prediction_gap = status.time_to_singularity = UNKNOWN
    status.length = [UNKNOWN] * 6


def describe(solution: Solution | TrackedPose) -> str:
    """Return what went wrong, empty if nothing did."""
    if solution.converged:
        return ''
    return (f'expected lengths of a regular pose, got {solution.status.name.lower()} after '
            f'{solution.iterations} iterations: largest length error {solution.residual:.3g} m, '
            f'smallest singular value {solution.smallest_singular_value:.3g}')
