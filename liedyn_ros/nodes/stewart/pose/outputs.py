# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The publishers of the pose node: pose, twist, status, markers, TF."""

from collections.abc import Mapping
from typing import Any

from geometry_msgs.msg import PoseStamped, TransformStamped, TwistStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
from std_msgs.msg import Header
from visualization_msgs.msg import MarkerArray

from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.pose.markers import StewartMarkers
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.packed import PackedPublisher, STAMP_FIELDS
from liedyn_ros.ros.messages.tf import Transforms
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart import MonitoredPose, PoseCertifier
from liedyn_ros.stewart.reports.health import (
    certificate_of, LIMIT_FLAGS, refusal_fields, status_fields)
from liedyn_ros.stewart.reports.kernels import messages as kernels

POSE_PATHS = tuple(f'pose.{field}' for field in conversions.POSE_FIELDS)
TWIST_PATHS = tuple(f'twist.{part}.{axis}' for part in ('linear', 'angular') for axis in 'xyz')
EXTRA_OUTPUTS = ('further_lengths',)  # of more legs than six


class StewartOutputs:
    """
    The publishers and the messages they reuse.

    Pose, twist and TF are published for converged samples only, stamped as their lengths. The
    usual messages, of which only numbers change, are written as bytes.
    """

    def __init__(
            self, node: ManagedNode, platform: Platform, certifier: PoseCertifier | None) -> None:
        """Open the publishers; certifier: None for a platform without certificates."""
        base, body = platform.base_frame, platform.platform_frame
        self._status_publisher = node.open_publisher(StewartStatus, 'status')
        self._markers = node.open_publisher(MarkerArray, 'markers')
        self._pose = PackedPublisher(
            node.open_publisher(PoseStamped, 'pose'),
            PoseStamped(header=Header(frame_id=base)), (*STAMP_FIELDS, *POSE_PATHS))
        self._twist = PackedPublisher(
            node.open_publisher(TwistStamped, 'twist'),
            TwistStamped(header=Header(frame_id=body)), (*STAMP_FIELDS, *TWIST_PATHS))
        self._status = StewartStatus(header=Header(frame_id=base))
        self._refusal = StewartStatus(header=Header(frame_id=base))
        fill(self._refusal, refusal_fields(''))
        self._transform = TransformStamped(header=Header(frame_id=base), child_frame_id=body)
        self._leg_names = platform.geometry.leg_names
        self._picture = StewartMarkers(platform)
        self.transforms = Transforms(node)
        further = [0.0] * (len(self._leg_names) - 6)
        self._usual_status = {certified: PackedPublisher(
            self._status_publisher,
            StewartStatus(header=Header(frame_id=base), certified=certified,
                          further_lengths=further),
            (*STAMP_FIELDS, *kernels.STATUS, *EXTRA_OUTPUTS[:len(further)]))
            for certified in (True, False)}
        self._certifier = certifier
        self._write_pose = BoundKernel(kernels.write_pose, self._pose.values).call
        self._write_twist = BoundKernel(kernels.write_twist, self._twist.values).call
        self._status_values = np.empty_like(self._usual_status[True].values)
        self._write_status = BoundKernel(kernels.write_status, self._status_values, *(
            (np.empty(0), np.empty(0)) if certifier is None else certifier.tables)).call

    def publish_pose(self, tracked: MonitoredPose) -> None:
        """Publish the pose of one sample, if it converged and anyone listens."""
        if tracked.converged and self._pose.heard:
            self._write_pose(tracked.stamp_ns, tracked.pose)
            self._pose.publish(self._pose.values)

    def publish_rest(
            self, tracked: MonitoredPose, flags: int, *, age: float, passed_over: int) -> None:
        """
        Publish the rest of one sample: TF and twist if it converged, and its status.

        flags: its own, and those of samples passed over. age: s. A message without a listener is
        not filled in.
        """
        stamp_ns, converged = tracked.stamp_ns, tracked.converged
        if converged and self.transforms.are_due(stamp_ns):
            self._transform.header.stamp = conversions.stamp_of(stamp_ns)
            conversions.to_transform(tracked.pose, self._transform.transform)
            self.transforms.send(self._transform)
        if self._twist.heard and self._write_twist(stamp_ns, tracked.numbers):
            self._twist.publish(self._twist.values)
        if not self._status_publisher.handle.get_subscription_count():
            return
        if converged and not (tracked.legs or flags & LIMIT_FLAGS):
            certified = self._write_status(
                stamp_ns, tracked.lengths, tracked.pose, tracked.numbers, flags, age, passed_over)
            self._usual_status[certified].publish(self._status_values)
            return
        status = self._status  # with names in it, or a message
        bounds = certificate_of(self._certifier, tracked, tracked.lengths)
        fill(status, status_fields(tracked, flags, bounds, self._leg_names))
        status.header.stamp = conversions.stamp_of(stamp_ns)
        status.age, status.passed_over = age, passed_over
        self._status_publisher.publish(status)

    def reject(self, stamp_ns: int, reason: str, *, age: float, passed_over: int) -> None:
        """Publish the status of input that was refused, where someone listens."""
        if not self._status_publisher.handle.get_subscription_count():
            return
        status = self._refusal
        status.header.stamp, status.message = conversions.stamp_of(stamp_ns), reason
        status.age, status.passed_over = age, passed_over
        self._status_publisher.publish(status)

    def publish_markers(self, tracked: MonitoredPose) -> None:
        """Publish the picture of a sample where someone looks at it."""
        if self._markers.get_subscription_count():
            self._markers.publish(self._picture.at(
                conversions.stamp_of(tracked.stamp_ns), tracked.pose, tracked.lengths))


def fill(status: StewartStatus, fields: Mapping[str, Any]) -> None:
    """Write fields, as functions of stewart.reports.health return them, into a status."""
    for name, value in fields.items():
        setattr(status, name, value)
