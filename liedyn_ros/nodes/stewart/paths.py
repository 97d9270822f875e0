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

"""The service that proves paths: no singularity, no limit exceeded between their poses."""

import time
import traceback

from liedyn_interfaces.srv import ProveStewartPath
import numpy as np

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros import conversions
from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.stewart import PathProver


class StewartPaths:
    """Answers `~/prove_path`; whoever opens the service gives it a thread."""

    def __init__(self, node: ManagedNode, platform: Platform) -> None:
        """Take the node that complains and the platform."""
        self._node, self._platform = node, platform

    def serve(
            self, request: ProveStewartPath.Request,
            _: ProveStewartPath.Response) -> ProveStewartPath.Response:
        """Return the response: filled in, or the reason why not."""
        try:
            return self._prove(request)
        except LiedynError as error:
            return ProveStewartPath.Response(message=str(error))
        except Exception as error:  # a fault of this package, which must not end the thread
            self._node.complain(traceback.format_exc())
            return ProveStewartPath.Response(message=f'internal fault: {error!r}')

    def _prove(self, request: ProveStewartPath.Request) -> ProveStewartPath.Response:
        poses = np.array([conversions.from_pose(pose) for pose in request.poses])
        prover = PathProver(self._platform.geometry, request.threshold)
        begin = time.perf_counter()
        proof = prover.prove(poses.reshape(-1, 4, 4), request.tube_angle, request.tube_radius)
        return ProveStewartPath.Response(
            success=True, message=proof.reason, proved=proof.proved, begin=proof.begin,
            end=proof.end, smallest_singular_value=proof.smallest_singular_value,
            solve_time=time.perf_counter() - begin)
