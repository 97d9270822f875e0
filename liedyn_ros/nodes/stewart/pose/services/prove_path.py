# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The service that proves paths: no singularity, no limit exceeded between their poses."""

import math
import time

from liedyn_interfaces.srv import ProveStewartPath

from liedyn_ros.common.errors import LimitError
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.nodes.stewart.warm_up import warm_up_services
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.stream import Stream
from liedyn_ros.stewart import PathProver

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
        self._node.await_kernels(warm_up_services)
        prover = PathProver(self._platform.geometry, request.threshold)
        begin = time.perf_counter()
        proof = prover.prove(poses, request.tube_angle, request.tube_radius)
        response.solve_time, response.message = time.perf_counter() - begin, proof.reason
        if not proof.proved:
            response.begin, response.end = proof.begin, proof.end
        if math.isfinite(proof.smallest_singular_value):  # else nothing was proved
            response.smallest_singular_value = proof.smallest_singular_value
        response.proved, response.success = proof.proved, True
