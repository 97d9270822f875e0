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

"""The services that take long, aside from the tracking: all poses of leg lengths, paths."""

from threading import Thread
import time
import traceback

from geometry_msgs.msg import Pose
from liedyn_interfaces.srv import AssemblyModes, ProveStewartPath
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.nodes.stewart.paths import StewartPaths
from liedyn_ros.nodes.stewart.platform import Platform
from liedyn_ros.ros import conversions
from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.ros.process import until_shutdown
from liedyn_ros.stewart import AssemblyModeSolver


class StewartModes:
    """
    Answers `~/assembly_modes` and `~/prove_path` in a thread of its own.

    Both take tens of milliseconds, in kernels that let other threads run. rclpy's
    executors share no node, so the services belong to a hidden one, and its thread is an
    executor: tracking goes on meanwhile.
    """

    def __init__(self, node: ManagedNode, platform: Platform) -> None:
        """Open the services and start the thread."""
        self._node, self._platform = node, platform
        self._solver = AssemblyModeSolver(platform.geometry)
        self._hidden = Node(
            f'_{node.get_name()}_modes', context=node.context, namespace=node.get_namespace(),
            use_global_arguments=False, start_parameter_services=False, enable_rosout=False)
        self._hidden.create_service(
            AssemblyModes, node.resolve_service_name('~/assembly_modes'), self._serve)
        self._hidden.create_service(
            ProveStewartPath, node.resolve_service_name('~/prove_path'),
            StewartPaths(node, platform).serve)
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(self._hidden)
        self._ended = False
        self._thread = Thread(target=self._spin, name='assembly_modes', daemon=True)
        self._thread.start()
        node.on_close(self._close)

    def _close(self) -> None:
        """Let a search under way end, then close the service."""
        self._executor.create_task(self._end)  # which wakes the thread, too
        self._thread.join()
        self._executor.shutdown()
        self._hidden.destroy_node()

    def _spin(self) -> None:
        with until_shutdown(self._node.context):
            while not self._ended:
                self._executor.spin_once()

    def _end(self) -> None:
        self._ended = True

    def _serve(
            self, request: AssemblyModes.Request,
            _: AssemblyModes.Response) -> AssemblyModes.Response:
        """Return the response: filled in, or the reason why not."""
        try:
            return self._find(request)
        except LiedynError as error:
            return AssemblyModes.Response(message=str(error))
        except Exception as error:  # a fault of this package, which must not end the thread
            self._node.complain(traceback.format_exc())
            return AssemblyModes.Response(message=f'internal fault: {error!r}')

    def _find(self, request: AssemblyModes.Request) -> AssemblyModes.Response:
        lengths = self._platform.lengths_of(request.leg_names, request.lengths)
        begin = time.perf_counter()
        found = self._solver.solve(lengths)
        response = AssemblyModes.Response(solve_time=time.perf_counter() - begin)
        response.success, response.complete = True, found.complete
        response.message = found.defect or found.reason
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
        return response
