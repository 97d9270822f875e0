# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pose and twist with covariance, for those who fuse them with other sensors."""

from geometry_msgs.msg import PoseWithCovarianceStamped, TwistWithCovarianceStamped

from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart import in_fixed_axes, linear_first, MonitoredPose, MotionEstimator


class StewartCovariances:
    """
    Publishes pose and twist with covariance, at a limited rate.

    A twist whose noise is not known is left out.
    """

    def __init__(
            self, node: ManagedNode, platform: Platform, estimator: MotionEstimator,
            rate: float) -> None:
        """Open the publishers; rate: Hz at most, 0 for every sample."""
        self._estimator = estimator
        self._period_ns = round(1e9 / rate) if rate else 0
        self._next_ns = 0
        self._newest: MonitoredPose | None = None
        self._pose_publisher = node.open_publisher(
            PoseWithCovarianceStamped, 'pose_with_covariance')
        self._twist_publisher = node.open_publisher(
            TwistWithCovarianceStamped, 'twist_with_covariance')
        self._pose, self._twist = PoseWithCovarianceStamped(), TwistWithCovarianceStamped()
        self._pose.header.frame_id = platform.base_frame
        self._twist.header.frame_id = platform.platform_frame

    def keep(self, tracked: MonitoredPose) -> None:
        """Take a good pose to be published, unless it comes too soon after the last."""
        if not self._next_ns - self._period_ns <= tracked.stamp_ns < self._next_ns:
            self._next_ns = tracked.stamp_ns + self._period_ns
            self._newest = tracked

    def publish(self) -> None:
        """Publish the newest pose taken, if there is one and someone listens."""
        tracked, self._newest = self._newest, None
        if tracked is None or not any(publisher.get_subscription_count() for publisher in (
                self._pose_publisher, self._twist_publisher)):
            return
        stamp = conversions.stamp_of(tracked.stamp_ns)
        covariance = self._estimator.pose_covariance(tracked)
        if covariance is None:
            return
        conversions.to_pose(tracked.pose, self._pose.pose.pose)
        self._pose.pose.covariance = in_fixed_axes(covariance, tracked.pose).ravel()
        self._pose.header.stamp = stamp
        self._pose_publisher.publish(self._pose)
        if tracked.twist is None:
            return
        covariance = self._estimator.of(tracked).twist_covariance
        if covariance is not None:
            conversions.to_twist(tracked.twist, self._twist.twist.twist)
            self._twist.twist.covariance = linear_first(covariance).ravel()
            self._twist.header.stamp = stamp
            self._twist_publisher.publish(self._twist)
