# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A dynamics server in its own process, whose parameters are set to spoilt model files."""

from collections.abc import Callable
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

from liedyn_interfaces.srv import DescribeModel
from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.parameter import Parameter

from tools.mutation_cases import write

TIMEOUT = 120.0  # s, in which the server compiles its kernels too
MODEL = 'aerial_manipulator.yaml'


class Server:
    """The server and a client of its services; a context that ends both."""

    def __init__(self, folder: Path) -> None:
        """Name the folder for files."""
        self._folder = folder

    def __enter__(self) -> 'Server':
        """Start the server and wait until it serves a model."""
        rclpy.init()
        self._node = rclpy.create_node('mutations')
        self._set = self._node.create_client(
            SetParametersAtomically, 'dynamics_server/set_parameters_atomically')
        self._describe = self._node.create_client(DescribeModel, 'dynamics_server/describe_model')
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'liedyn_ros.nodes.dynamics.server', '--ros-args', '--log-level',
             'fatal', '-p', f'model_file:={MODEL}'])
        try:
            self._wait(lambda: self._call(self._describe, DescribeModel.Request()).success)
        except BaseException:  # after which nobody calls __exit__
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        """End the server."""
        self._process.terminate()
        self._process.wait(TIMEOUT)
        rclpy.shutdown()

    def read_case(self, suffix: str, text: str) -> str:
        """
        Return whether the server 'loads' or 'refused' a text.

        Raises RuntimeError where it ends, has a fault, or does not serve what it should.
        """
        if suffix == 'urdf' and text.strip() and '\0' not in text and len(text) % 2:
            change = {'model_file': '', 'robot_description': text}
        else:
            change = {'model_file': str(write(self._folder, suffix, text)),
                      'robot_description': ''}
        parameters = [Parameter(name, value=value).to_parameter_msg()
                      for name, value in change.items()]
        result = self._call(
            self._set, SetParametersAtomically.Request(parameters=parameters)).result
        found = self._call(self._describe, DescribeModel.Request())
        if not found.success or 'internal fault' in result.reason:
            raise RuntimeError(f'{found.message} {result.reason}')
        return 'loads' if result.successful else 'refused'

    def _call(self, client: Any, request: Any) -> Any:
        """Return the response of a service."""
        self._wait(client.service_is_ready)
        future = client.call_async(request)
        self._wait(future.done)
        return future.result()

    def _wait(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT
        while not ready():
            if self._process.poll() is not None:
                raise SystemExit(f'the server ended with {self._process.returncode}')
            if time.monotonic() > deadline:
                raise SystemExit(f'the server did not answer within {TIMEOUT:g} s')
            rclpy.spin_once(self._node, timeout_sec=0.1)
