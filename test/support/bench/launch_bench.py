# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Launch files run as a user runs them: in their own process, with their arguments."""

from contextlib import contextmanager, suppress
from importlib.util import find_spec
import os
from pathlib import Path
import signal
import subprocess
import sys

from ament_index_python.packages import get_packages_with_prefixes
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
import pytest

if find_spec('launch_ros') is None:  # PyPI's package called launch is another one
    pytest.skip('launch_ros is not installed here', allow_module_level=True)
if 'liedyn_ros' not in get_packages_with_prefixes():
    pytest.skip('liedyn_ros is not built here: launch finds nodes in installed packages only',
                allow_module_level=True)

WITH_MUJOCO = pytest.mark.skipif(find_spec('mujoco') is None, reason='mujoco is not installed')
LAUNCH_FILES = Path(__file__).parents[3] / 'launch'
ROS2_LAUNCH = """
import ctypes
import signal
import sys
from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource

ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG: when a hanging test ends its process
path, *arguments = sys.argv[1:]
service = LaunchService(argv=arguments, noninteractive=True)
service.include_launch_description(IncludeLaunchDescription(
    AnyLaunchDescriptionSource(path),
    launch_arguments=[argument.split(':=') for argument in arguments]))
sys.exit(service.run())
"""


def command(file, *arguments):
    """Return a command line that runs a launch file, as ros2 launch does."""
    return [sys.executable, '-c', ROS2_LAUNCH, str(LAUNCH_FILES / file), *arguments]


def refusal(file, *arguments):
    """Return what a launch file says that refuses its arguments and starts nothing."""
    ended = subprocess.run(
        command(file, *arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=600)
    assert ended.returncode == 1, ended.stdout
    assert 'process started with pid' not in ended.stdout, ended.stdout
    return ended.stdout


def process_in(namespace):
    """Return the number of the only process that runs a node in a namespace, None without one."""
    found = []
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        with suppress(OSError):  # it has ended
            if f'__ns:=/{namespace}'.encode() in path.read_bytes().split(b'\0'):
                found.append(int(path.parent.name))
    assert len(found) <= 1
    return found[0] if found else None


@contextmanager
def launched(file, *arguments, killed=0):
    """
    Run a launch file, as ros2 launch does; end it as a keyboard does, and see it end well.

    killed: how many of its processes the test kills.
    """
    process = subprocess.Popen(
        command(file, *arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True)
    try:
        yield
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=600)
    finally:
        with suppress(ProcessLookupError):  # nothing is left of what has ended well
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, output
    assert 'Traceback' not in output, output
    assert output.count('process has finished cleanly') + killed == output.count(
        'process started with pid'), output


def described_arguments(file):
    """Return the names of the arguments of a launch file, each of which has a description."""
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    arguments = get_launch_description_from_python_launch_file(
        str(LAUNCH_FILES / file)).get_launch_arguments()
    assert all(argument.description for argument in arguments)
    return [argument.name for argument in arguments]


def assert_unconfigured(bench, *nodes):
    """See that nodes are there and wait to be configured."""
    for node in nodes:
        state = bench.call(GetState, f'{node}/get_state').current_state
        assert state.id == State.PRIMARY_STATE_UNCONFIGURED
