# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Odometry, and pose and twist with covariance, for those who fuse them with other sensors."""

from typing import Any

from geometry_msgs.msg import PoseWithCovarianceStamped, TwistWithCovarianceStamped
from nav_msgs.msg import Odometry
import numpy as np

from liedyn_ros.common.stamps import Pace
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart import linear_first, MonitoredPose, MotionEstimator
from liedyn_ros.stewart.tracking.prediction import in_fixed_axes

UNKNOWN_COVARIANCE = np.zeros(36)  # a covariance, as messages say it


class StewartEstimates:
    """
    Publishes odometry, and pose and twist with covariance, at a limited rate.

    Odometry begins with the first twist. Near a singularity, where no covariance of the twist is
    known, that of odometry is zero, and the twist with covariance is left out.
    """

    def __init__(
            self, node: ManagedNode, platform: Platform,
            estimator: MotionEstimator, rate: float) -> None:
        """Open the publishers; rate: Hz at most, 0 for all samples."""
        self._estimator = estimator
        self._pace = Pace(rate)
        self._newest: MonitoredPose | None = None
        self._pose, self._twist = PoseWithCovarianceStamped(), TwistWithCovarianceStamped()
        self._odometry = Odometry(child_frame_id=platform.platform_frame)
        self._odometry.pose, self._odometry.twist = self._pose.pose, self._twist.twist
        self._odometry.header.frame_id = self._pose.header.frame_id = platform.base_frame
        self._twist.header.frame_id = platform.platform_frame
        self._publishers = {message_type: node.open_publisher(message_type, topic)
                            for message_type, topic in (
                                (Odometry, 'odometry'),
                                (PoseWithCovarianceStamped, 'pose_with_covariance'),
                                (TwistWithCovarianceStamped, 'twist_with_covariance'))}

    def keep(self, tracked: MonitoredPose) -> None:
        """Take a good pose to be published, unless it comes too soon after the last."""
        if self._pace.is_due(tracked.stamp_ns):
            self._newest = tracked

    def publish(self) -> None:
        """Publish the newest pose taken, if there is one and someone listens."""
        tracked, self._newest = self._newest, None
        if tracked is None or not any(
                publisher.get_subscription_count() for publisher in self._publishers.values()):
            return
        conversions.to_pose(tracked.pose, self._pose.pose.pose)
        covariance = self._estimator.pose_covariance(tracked)
        self._pose.pose.covariance = (
            UNKNOWN_COVARIANCE if covariance is None
            else in_fixed_axes(covariance, tracked.pose).ravel())
        messages: list[Any] = [] if covariance is None else [self._pose]
        if tracked.twist is not None:
            conversions.to_twist(tracked.twist, self._twist.twist.twist)
            covariance = self._estimator.of(tracked).twist_covariance
            self._twist.twist.covariance = (
                UNKNOWN_COVARIANCE if covariance is None else linear_first(covariance).ravel())
            messages += [self._odometry] if covariance is None else [self._odometry, self._twist]
        stamp = conversions.stamp_of(tracked.stamp_ns)
        for message in messages:
            message.header.stamp = stamp
            self._publishers[type(message)].publish(message)
