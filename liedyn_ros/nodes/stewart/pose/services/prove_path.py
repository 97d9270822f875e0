# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The service that proves paths: no singularity, no limit exceeded between their poses."""

from collections.abc import Sequence
import math
import time

from geometry_msgs.msg import Point, Vector3
from liedyn_interfaces.srv import ProveStewartPath

from liedyn_ros.common.errors import LimitError
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import ForceLimits, PathProver, SpeedLimits

MAX_POSES = 10_000  # of a path


class StewartPaths:
    """Answers `~/prove_path`."""

    def __init__(self, node: ManagedNode, stream: Stream, platform: Platform) -> None:
        """Open the service on a stream of those that take long."""
        self._node, self._platform = node, platform
        stream.open_service(ProveStewartPath, '~/prove_path', self._prove)

    def _prove(
            self, request: ProveStewartPath.Request,
            response: ProveStewartPath.Response) -> None:
        self._platform.require_base_frame('path', request.path.header)
        if len(request.path.poses) > MAX_POSES:
            raise LimitError(f'path: expected at most {MAX_POSES} poses, got '
                             f'{len(request.path.poses)}')
        poses = conversions.from_poses(request.path.poses)
        prover = PathProver(self._platform.geometry, request.threshold)
        begin = time.perf_counter()
        proof = prover.prove(poses, request.tube_angle, request.tube_radius,
                             speeds_of(request), forces_of(request))
        response.solve_time, response.message = time.perf_counter() - begin, proof.reason
        if not proof.proved:
            response.begin, response.end = proof.begin, proof.end
        if math.isfinite(proof.smallest_singular_value):  # else nothing was proved
            response.smallest_singular_value = proof.smallest_singular_value
        response.speeds, response.forces = proof.speeds, proof.forces
        response.proved, response.success = proof.proved, True


def speeds_of(request: ProveStewartPath.Request) -> SpeedLimits | None:
    """Return the limits of speeds; None where there are none. Raises LimitError."""
    if not len(request.speed_limits):
        if len(request.durations) or request.angular_speed_bound or request.linear_speed_bound:
            raise LimitError('speed_limits: expected one or six beside durations and bounds of '
                             'speeds, got none')
        return None
    return SpeedLimits(
        limits=one_or_all(request.speed_limits),
        durations=one_or_all(request.durations) if len(request.durations) else math.inf,
        angular=request.angular_speed_bound, linear=request.linear_speed_bound)


def forces_of(request: ProveStewartPath.Request) -> ForceLimits | None:
    """Return the limits of forces; None where there are none. Raises LimitError."""
    if not len(request.force_limits):
        if (request.force != Vector3() or request.force_point != Point()
                or request.force_bound or request.moment_bound):
            raise LimitError('force_limits: expected one or six beside a load, got none')
        return None
    force, point = request.force, request.force_point
    return ForceLimits(
        limits=one_or_all(request.force_limits), force=(force.x, force.y, force.z),
        point=(point.x, point.y, point.z), further_force=request.force_bound,
        further_moment=request.moment_bound)


def one_or_all(numbers: Sequence[float]) -> float | list[float]:
    """Return the one number that a list has, which is for all, or the list."""
    return float(numbers[0]) if len(numbers) == 1 else list(numbers)
