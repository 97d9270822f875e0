# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A run of a demo: processes of nodes, and a recorder of their messages."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
import time
from types import TracebackType
from typing import Any

import rclpy
from rclpy.signals import uninstall_signal_handlers

from liedyn_ros.demo.processes import NodeProcess
from liedyn_ros.demo.recorder import Recorder

START_LIMIT = 600.0  # s for the nodes to start; the first time compiles, on any machine


class Session:
    """Owns the processes and the recorder; a context manager that ends them all."""

    def __init__(self, topics: Mapping[str, type], folder: Path) -> None:
        """Take topics with their message types, and the folder of the logs."""
        self._folder, self._stack = folder, ExitStack()
        self._processes: list[NodeProcess] = []
        rclpy.init(args=[])
        self._stack.callback(uninstall_signal_handlers)  # which Jazzy leaves installed
        self._stack.callback(rclpy.try_shutdown)
        self.recorder = Recorder(topics)
        self._stack.callback(self.recorder.destroy_node)

    def start(self, module: str, log: str = '', **parameters: Any) -> None:
        """Start a module of liedyn_ros.nodes with parameters; log: name, else the module's."""
        name = log or module.replace('.', '_')
        self._processes.append(self._stack.enter_context(NodeProcess(
            f'liedyn_ros.nodes.{module}', parameters, self._folder / f'{name}.log')))

    def wait_for(self, what: str, ready: Callable[[], bool]) -> None:
        """Spin until something is ready; raise RuntimeError if a process ends or time runs out."""
        end = time.monotonic() + START_LIMIT
        while not ready():
            for process in self._processes:
                process.require_running()
            if time.monotonic() > end:
                logs = ', '.join(str(process.log) for process in self._processes)
                raise RuntimeError(f'expected {what} within {START_LIMIT:g} s; see {logs}')
            self.recorder.spin_for(0.05)

    def __enter__(self) -> 'Session':
        """Return the session."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """End the processes, all at a time, and the recorder."""
        for process in self._processes:
            process.ask_to_end()
        self._stack.close()
