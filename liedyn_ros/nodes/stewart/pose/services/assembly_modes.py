# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The service that finds all poses of leg lengths."""

import time

from geometry_msgs.msg import Pose
from liedyn_interfaces.srv import AssemblyModes

from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import MonitoredTracker
from liedyn_ros.stewart.tracking.start_modes import StartModes

START_RATE = 2.0  # Hz, of looking whether a start is to be weighed


class StewartModes:
    """Answers `~/assembly_modes`, and weighs each start of the tracking by all its poses."""

    def __init__(
            self, node: ManagedNode, stream: Stream, platform: Platform,
            tracker: MonitoredTracker) -> None:
        """Open the service on a stream of those that take long."""
        self._node, self._platform, self._tracker = node, platform, tracker
        self._modes = StartModes(platform.geometry)
        stream.open_timer(START_RATE, self._weigh)
        stream.open_service(AssemblyModes, '~/assembly_modes', self._find)

    def _weigh(self) -> None:
        self._modes.weigh(self._tracker, self._node.lock)

    def _find(self, request: AssemblyModes.Request, response: AssemblyModes.Response) -> None:
        lengths = self._platform.lengths_of(request.leg_names, request.lengths)
        begin = time.perf_counter()
        found = self._modes.solver.solve(lengths)
        response.solve_time, response.complete = time.perf_counter() - begin, found.complete
        response.message = '; '.join(filter(None, (
            found.defect or found.reason, found.of_other_machines)))
        response.complex_solutions = found.complex_solutions
        response.poses.header.frame_id = self._platform.base_frame
        response.poses.header.stamp = self._node.get_clock().now().to_msg()
        response.poses.poses = [Pose() for _ in found.modes]
        for mode, pose in zip(found.modes, response.poses.poses):
            conversions.to_pose(mode.pose, pose)
        response.height = [mode.height for mode in found.modes]
        response.determinant_sign = [mode.determinant_sign for mode in found.modes]
        response.smallest_singular_value = [
            mode.smallest_singular_value for mode in found.modes]
        response.success = True
