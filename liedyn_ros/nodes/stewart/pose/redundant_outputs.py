# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Outputs of the pose node for a platform of seven legs or more."""

from liedyn_interfaces.msg import StewartStatus
from std_msgs.msg import Header

from liedyn_ros.nodes.stewart.platform import RedundantPlatform
from liedyn_ros.nodes.stewart.pose.outputs import PoseOutputs
from liedyn_ros.nodes.stewart.status import fill
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.packed import PackedPublisher, STAMP
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart import RedundantPose
from liedyn_ros.stewart.reports.status import outcome_fields

STATUS = ('start', 'iterations', 'residual', 'smallest_singular_value', 'solve_time', 'length',
          'flags', 'age', 'passed_over', 'further_lengths')


class RedundantOutputs(PoseOutputs):
    """
    The outputs of a platform of seven legs or more.

    Its status has neither certificates nor the signs of a determinant: another assembly mode does
    not have the lengths of the seventh leg. Lengths beyond the limits are refused.
    """

    def __init__(self, node: ManagedNode, platform: RedundantPlatform) -> None:
        """Open the publishers."""
        super().__init__(node, platform)
        further = [0.0] * (len(self._leg_names) - 6)
        self._good_status = PackedPublisher(self._status_publisher, StewartStatus(
            header=Header(frame_id=platform.base_frame), further_lengths=further,
            branch_source=StewartStatus.BRANCH_SOURCE_SENSOR),
            (*STAMP, *STATUS))

    def _publish_status(
            self, stamp: tuple[int, int], tracked: RedundantPose, flags: int, age: float,
            passed_over: int) -> None:
        if tracked.converged and not tracked.legs:
            lengths = tracked.lengths.tolist()
            self._good_status.publish((
                *stamp, tracked.start, tracked.iterations, tracked.residual,
                tracked.smallest_singular_value, tracked.solve_time, *lengths[:6], flags, age,
                passed_over, *lengths[6:]))
            return
        status = self._status
        status.header.stamp = conversions.stamp_of(tracked.stamp_ns)
        fill(status, outcome_fields(tracked, int(tracked.start), tracked.solve_time))
        status.length, status.further_lengths = tracked.lengths[:6], tracked.lengths[6:]
        status.flags, status.age, status.passed_over = flags, age, passed_over
        status.branch_source = (StewartStatus.BRANCH_SOURCE_SENSOR if tracked.converged else
                                StewartStatus.BRANCH_SOURCE_UNSURE)
        status.suspected_legs = [self._leg_names[leg] for leg in tracked.legs]
        self._status_publisher.publish(status)
