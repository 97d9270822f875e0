# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a node says of its kernels while they are being compiled: in the log, on /diagnostics."""

from collections.abc import Callable
from concurrent.futures import Future
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher

from liedyn_ros.jit.cache import COUNTS
from liedyn_ros.ros.node.warm_up import Behind, start_warm_up
from liedyn_ros.ros.qos import DEPTH

PROGRESS_PERIOD = 10.0  # s; of lines in the log
REPORT_PERIOD = 1.0  # s; of reports on /diagnostics
READY = 'ready'
OF_KERNELS = ': kernels'  # after the name of a node in the name of its report


class KernelProgress:
    """Tells how far the kernels are; of kernels that are only loaded it tells nothing."""

    def __init__(self, node: Node, behind: Behind) -> None:
        """Take the node, and the kernels that are compiled behind those awaited."""
        self._node, self._behind = node, behind
        self._name = node.get_fully_qualified_name().lstrip('/') + OF_KERNELS
        self._publisher: Publisher | None = None
        self._all_there = False

    def begin(self, warm_up: Callable[[], None]) -> 'Future[None]':
        """Begin to compile, tell of these kernels from now on, and return their future."""
        self._began = self._told = time.monotonic()
        self._compiled = COUNTS.compiled
        self._awaited = start_warm_up(warm_up)
        return self._awaited

    @property
    def compiling(self) -> bool:
        """Return whether a kernel was compiled since `begin`."""
        return COUNTS.compiled > self._compiled

    def tell(self) -> None:
        """Say what has to be said now."""
        done, now = self._awaited.done(), time.monotonic()
        if self.compiling and self._publisher is None:
            self._open()
        if not done and now - self._told >= PROGRESS_PERIOD:
            self._told = now
            self._node.get_logger().info(self._so_far())
        elif done and self._told > self._began:
            self._told = self._began
            if self._awaited.exception() is not None:
                return  # `configure` tells why
            self._node.get_logger().info(
                f'kernels are ready: {COUNTS.compiled - self._compiled} compiled, '
                f'{now - self._began:.0f} s')

    def close(self) -> None:
        """Say no more."""
        if self._publisher is not None:
            self._node.destroy_timer(self._timer)
            self._node.destroy_publisher(self._publisher)
            self._publisher = None

    def _so_far(self) -> str:
        return (f'compiled {COUNTS.compiled - self._compiled} kernels, '
                f'{time.monotonic() - self._began:.0f} s')

    def _open(self) -> None:
        """Report from the first kernel on that is compiled."""
        self._node.get_logger().info(
            'these kernels are compiled for this processor once, which takes half a minute '
            'or less on a quiet machine; `ros2 run liedyn_ros warm_up` compiles ahead')
        self._publisher = self._node.create_publisher(DiagnosticArray, '/diagnostics', DEPTH)
        self._timer = self._node.create_timer(
            REPORT_PERIOD, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _state(self) -> tuple[bytes, str]:
        """Return level and message of the kernels as they are now."""
        if not self._awaited.done():
            return DiagnosticStatus.WARN, f'being compiled: {self._so_far()}'
        fault = self._awaited.exception()
        if fault is not None:
            return DiagnosticStatus.ERROR, f'not compiled: {fault}'
        fault = self._behind.fault
        if fault is not None:
            return DiagnosticStatus.WARN, f'those of some services are not compiled: {fault}'
        if not self._behind.done:
            return (DiagnosticStatus.OK,
                    'ready, but for those of some services, which are being compiled')
        return DiagnosticStatus.OK, READY

    def _report(self) -> None:
        publisher = self._publisher
        if publisher is None:
            return
        level, message = self._state()
        if message == READY and not self._all_there:
            self._all_there = True
            self._node.get_logger().info('all kernels are ready')
        report = DiagnosticArray(status=[DiagnosticStatus(
            level=level, name=self._name, message=message, values=[
                KeyValue(key='compiled', value=str(COUNTS.compiled)),
                KeyValue(key='loaded', value=str(COUNTS.loaded)),
                KeyValue(key='not kept', value=str(COUNTS.not_kept))])])
        report.header.stamp = self._node.get_clock().now().to_msg()
        publisher.publish(report)
