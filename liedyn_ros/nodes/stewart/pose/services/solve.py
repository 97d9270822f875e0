# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The quick services of the pose node: solve once, inverse kinematics, reset to home."""

from collections.abc import Callable
import time

from geometry_msgs.msg import PoseStamped
from liedyn_interfaces.msg import StewartStatus
from liedyn_interfaces.srv import SolveStewartPose, StewartInverseKinematics
import numpy as np
from std_srvs.srv import Trigger

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, NotFiniteError
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.status import fill
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import (
    leg_lengths, LevenbergMarquardt, PlatformMeter, PoseCertifier, PoseSolver, Solution, Start)
from liedyn_ros.stewart.reports.health import (
    certificate_fields, certificate_of, describe, length_fields, outcome_fields, refusal_fields)


class StewartServices:
    """Answers every request: success, or a message that names the fault."""

    def __init__(
            self, node: ManagedNode, stream: Stream, platform: Platform,
            method: LevenbergMarquardt, singularity_warning: float,
            certifier: PoseCertifier | None, reset: Callable[[], None],
            confirm: Callable[[], None]) -> None:
        """
        Open the services on a stream.

        A pose whose smallest singular value is at most singularity_warning is near a singularity.
        certifier: another object than that of `status`, since services run beside the stream.
        reset restarts the tracking from home. confirm takes the last pose for the right one; it
        raises LiedynError where there is none.
        """
        self._solver = PoseSolver(platform.geometry, method)
        self._certifier = certifier
        self._meter = PlatformMeter(platform.geometry, singularity_warning)
        self._node, self._platform, self._reset, self._confirm = node, platform, reset, confirm
        stream.open_service(Trigger, '~/confirm', self._take_for_right)
        stream.open_service(SolveStewartPose, '~/solve', self._solve)
        stream.open_service(StewartInverseKinematics, '~/inverse_kinematics', self._invert)
        stream.open_service(Trigger, '~/reset', self._start_over)

    def _solve(
            self, request: SolveStewartPose.Request,
            response: SolveStewartPose.Response) -> None:
        fill(response.status, refusal_fields(''))  # unless it is solved
        lengths, guess, start = self._lengths(request), self._platform.home, Start.HOME
        if request.use_guess:
            guess, start = self._pose('guess', request.guess), Start.GUESS
        begin = time.perf_counter()
        solution = self._solver.solve(lengths, guess)
        seconds = time.perf_counter() - begin
        fill(response.status, outcome_fields(solution, int(start), seconds))
        fill(response.status, length_fields(lengths))
        fill(response.status, certificate_fields(
            certificate_of(self._certifier, solution, lengths)))
        response.pose.header.frame_id = self._platform.base_frame
        response.pose.header.stamp = self._node.get_clock().now().to_msg()
        response.status.header = response.pose.header
        if solution.converged:
            conversions.to_pose(solution.pose, response.pose.pose)
            self._judge(response.status, solution)
        response.success, response.message = solution.converged, describe(solution)

    def _judge(self, status: StewartStatus, solution: Solution) -> None:
        """Write the warnings of a pose without a motion before it."""
        state = self._meter.measure(solution.pose)
        status.flags = int(state.flags)
        status.determinant_sign = 0 if solution.fit is not None else state.determinant_sign
        status.exceeded_limits = state.exceeded_limits()

    def _invert(
            self, request: StewartInverseKinematics.Request,
            response: StewartInverseKinematics.Response) -> None:
        geometry = self._platform.geometry
        lengths = leg_lengths(geometry, self._pose('pose', request.pose))
        if not np.isfinite(lengths).all():
            raise NotFiniteError('pose: expected leg lengths that are numbers, '
                                 f'got {lengths.tolist()}')
        response.leg_names = list(geometry.leg_names)
        response.lengths = lengths.tolist()
        response.within_limits = geometry.within_limits(lengths).tolist()
        response.actuator_names = list(self._platform.actuators.names)
        response.actuator_positions = self._platform.actuators.positions(lengths).tolist()
        response.success = True

    def _lengths(self, request: SolveStewartPose.Request) -> Array:
        """Return the lengths of a request, given by the legs or by their actuators."""
        by_legs = bool(request.leg_names or request.lengths)
        by_actuators = bool(request.actuator_names or request.actuator_positions)
        if by_legs and by_actuators:
            raise LiedynError('request: expected leg lengths or actuator positions, got both')
        if by_actuators:
            return self._platform.lengths_of_actuators(
                request.actuator_names, request.actuator_positions)
        return self._platform.lengths_of(request.leg_names, request.lengths)

    def _pose(self, name: str, message: PoseStamped) -> Array:
        """Return a pose (4, 4) in the base frame; an empty frame id stands for it."""
        self._platform.require_base_frame(name, message.header)
        return conversions.from_pose(message.pose)

    def _start_over(self, _: Trigger.Request, response: Trigger.Response) -> None:
        self._reset()
        response.success, response.message = True, 'the next sample starts from home'

    def _take_for_right(self, _: Trigger.Request, response: Trigger.Response) -> None:
        self._confirm()
        response.success, response.message = True, 'the last pose is taken for the right one'
