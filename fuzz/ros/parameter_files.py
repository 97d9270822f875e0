# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parameter files: what rcl takes, the warning of unknown names takes too."""

from collections.abc import Iterator
from pathlib import Path

from fuzz.target import as_file, Run, Target
from rclpy.context import Context
from rclpy.exceptions import InvalidParameterValueException

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.ros.parameters.parameter_files import files_of_others, unknown_parameters
from liedyn_ros.ros.process.run import RCLError

NODE = '/stewart_pose'


def make() -> Run:
    """Return what reads a file by rcl, and by the package where rcl takes it."""
    return as_file('.yaml', _read)


def _read(path: Path) -> None:
    arguments, context = ['--ros-args', '--params-file', str(path)], Context()
    try:
        context.init(args=arguments)
    except (RCLError, RuntimeError, InvalidParameterValueException) as error:
        raise LiedynError(f'rcl: {error}') from error
    context.shutdown()
    unknown_parameters(['max_age', 'nonsense'], ['max_age'], NODE, arguments)
    files_of_others(NODE, arguments)


def seeds() -> Iterator[bytes]:
    """Return the package's files."""
    for name in ('stewart.yaml', 'dynamics_server.yaml'):
        yield config_file(name).read_bytes()
    yield b'/**:\n  ros__parameters:\n    max_age: 1.0\n/a/*:\n  ros__parameters: {b: [1, 2]}\n'


TARGET = Target(make, seeds)
