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

"""The services of the pose node: solve once, all poses, inverse kinematics, reset to home."""

from collections.abc import Callable
import time

from geometry_msgs.msg import Pose
from liedyn_interfaces.srv import AssemblyModes, SolveStewartPose, StewartInverseKinematics
import numpy as np
from rclpy.node import Node
from std_srvs.srv import Trigger

from liedyn_ros import checks
from liedyn_ros.checks import Array
from liedyn_ros.errors import LiedynError, NotFiniteError
from liedyn_ros.nodes import conversions
from liedyn_ros.nodes.stewart_outputs import describe, fill_status
from liedyn_ros.nodes.stewart_platform import Platform
from liedyn_ros.stewart import AssemblyModeSolver, leg_lengths, Method, PoseSolver, Start


class StewartServices:
    """Answers every request: success, or a message that names the fault."""

    def __init__(
            self, node: Node, platform: Platform, method: Method,
            reset: Callable[[], None]) -> None:
        """Open the services; `reset` makes the tracking start from home."""
        self._node, self._platform, self._reset = node, platform, reset
        self._solver = PoseSolver(platform.geometry, method)
        self._mode_solver = AssemblyModeSolver(platform.geometry)
        self._mode_solver.solve(leg_lengths(platform.geometry, platform.home))  # compiles
        self._services = [
            node.create_service(SolveStewartPose, '~/solve', self._solve),
            node.create_service(AssemblyModes, '~/assembly_modes', self._find_modes),
            node.create_service(StewartInverseKinematics, '~/inverse_kinematics', self._invert),
            node.create_service(Trigger, '~/reset', self._start_anew)]

    def destroy(self) -> None:
        """Close the services."""
        for service in self._services:
            self._node.destroy_service(service)

    def _solve(
            self, request: SolveStewartPose.Request,
            response: SolveStewartPose.Response) -> SolveStewartPose.Response:
        start = Start.HOME
        try:
            lengths = self._lengths_of(request)
            guess = self._platform.home
            if request.use_guess:
                guess, start = conversions.from_pose(request.guess), Start.GUESS
            begin = time.perf_counter()
            solution = self._solver.solve(lengths, guess)
            seconds = time.perf_counter() - begin
        except LiedynError as error:
            response.message = str(error)
            response.status.status = response.status.REJECTED
            response.status.message = response.message
            return response
        fill_status(response.status, solution, int(start), seconds)
        response.status.length = lengths
        response.success, response.message = solution.converged, describe(solution)
        response.pose.header.frame_id = self._platform.base_frame
        response.pose.header.stamp = self._node.get_clock().now().to_msg()
        response.status.header = response.pose.header
        if solution.converged:
            conversions.to_pose(solution.pose, response.pose.pose)
        return response

    def _find_modes(
            self, request: AssemblyModes.Request,
            response: AssemblyModes.Response) -> AssemblyModes.Response:
        try:
            lengths = self._lengths_of(request)
            begin = time.perf_counter()
            found = self._mode_solver.solve(lengths)
            response.solve_time = time.perf_counter() - begin
        except LiedynError as error:
            response.message = str(error)
            return response
        response.success, response.complete = True, found.complete
        response.message, response.complex_solutions = found.defect, found.complex_solutions
        response.poses.header.frame_id = self._platform.base_frame
        response.poses.header.stamp = self._node.get_clock().now().to_msg()
        response.poses.poses = [Pose() for _ in found.modes]
        for mode, pose in zip(found.modes, response.poses.poses):
            conversions.to_pose(mode.pose, pose)
        response.height = [mode.height for mode in found.modes]
        response.determinant_sign = [mode.determinant_sign for mode in found.modes]
        response.smallest_singular_value = [
            mode.smallest_singular_value for mode in found.modes]
        return response

    def _lengths_of(self, request: SolveStewartPose.Request | AssemblyModes.Request) -> Array:
        """Return the requested lengths in leg order; raise LiedynError where they are wrong."""
        geometry = self._platform.geometry
        order = checks.order_of('leg_names', geometry.leg_names, request.leg_names)
        lengths = checks.as_array('lengths', request.lengths, (6,))[order]
        geometry.require_within_limits(lengths)
        return lengths

    def _invert(
            self, request: StewartInverseKinematics.Request,
            response: StewartInverseKinematics.Response) -> StewartInverseKinematics.Response:
        geometry = self._platform.geometry
        try:
            lengths = leg_lengths(geometry, conversions.from_pose(request.pose))
            if not np.isfinite(lengths).all():
                raise NotFiniteError('pose: expected leg lengths that are numbers, '
                                     f'got {lengths.tolist()}')
        except LiedynError as error:
            response.message = str(error)
            return response
        response.success = True
        response.leg_names = list(geometry.leg_names)
        response.lengths = lengths.tolist()
        response.within_limits = geometry.within_limits(lengths).tolist()
        return response

    def _start_anew(
            self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._reset()
        response.success, response.message = True, 'the next sample starts from home'
        return response
