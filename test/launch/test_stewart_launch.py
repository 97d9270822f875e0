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

"""The launch file, run as a user runs it: in a process of its own, with its arguments."""

from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
import signal
import subprocess
import sys

from ament_index_python.packages import get_packages_with_prefixes
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from support.pose_bench import matrix, ns, stamp_of
from support.ros_bench import Bench, open_context

if find_spec('launch_ros') is None:  # PyPI's package called launch is another one
    pytest.skip('launch_ros is not installed here', allow_module_level=True)
if 'liedyn_ros' not in get_packages_with_prefixes():
    pytest.skip('liedyn_ros is not built here: launch finds nodes in installed packages only',
                allow_module_level=True)

pytestmark = pytest.mark.ros
LAUNCH_FILE = Path(__file__).parents[2] / 'launch' / 'stewart.launch.py'
ROS2_LAUNCH = """
import sys
from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource

path, *arguments = sys.argv[1:]
service = LaunchService(noninteractive=True)
service.include_launch_description(IncludeLaunchDescription(
    AnyLaunchDescriptionSource(path),
    launch_arguments=[argument.split(':=') for argument in arguments]))
sys.exit(service.run())
"""


@pytest.fixture
def bench():
    """Return a bench outside every namespace."""
    context = open_context()
    bench = Bench(context, '/')
    yield bench
    bench.close()
    context.try_shutdown()


@contextmanager
def launched(*arguments):
    """Run the launch file, as ros2 launch does; end it as a keyboard does, and see it end well."""
    process = subprocess.Popen(
        [sys.executable, '-c', ROS2_LAUNCH, str(LAUNCH_FILE), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, output
    assert 'Traceback' not in output
    assert output.count('process has finished cleanly') == output.count('process started with pid')


def tracks(bench, namespace, act=lambda: None):
    """Wait for poses in a namespace and compare them with the simulator's."""
    poses = bench.collect(PoseStamped, f'{namespace}/pose')
    truths = bench.collect(PoseStamped, f'{namespace}/true_pose')
    common = bench.until(
        lambda: {ns(pose) for pose in poses} & {ns(truth) for truth in truths},
        f'a pose in {namespace}', act)
    estimated, true = ({ns(message): matrix(message.pose) for message in messages}
                       for messages in (poses, truths))
    for stamp in common:
        np.testing.assert_allclose(estimated[stamp], true[stamp], atol=1e-9)


def test_every_argument_is_described():
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    arguments = get_launch_description_from_python_launch_file(
        str(LAUNCH_FILE)).get_launch_arguments()
    assert [argument.name for argument in arguments] == [
        'namespace', 'params_file', 'use_sim_time', 'simulator', 'rviz', 'autostart']
    assert all(argument.description for argument in arguments)


@pytest.mark.parametrize('namespace', ['', 'left/platform'])
def test_the_pose_of_the_simulated_platform_is_published(bench, namespace):
    with launched('simulator:=true', f'namespace:={namespace}'):
        tracks(bench, f'/{namespace}' if namespace else '')


def test_sim_time(bench):
    """Stamps are those of /clock."""
    clock, now_ns = bench.publisher(Clock, '/clock'), 100_000_000_000

    def step():
        nonlocal now_ns
        now_ns += 1_000_000
        clock.publish(Clock(clock=stamp_of(now_ns)))

    with launched('simulator:=true', 'use_sim_time:=true'):
        poses = bench.collect(PoseStamped, '/pose')
        tracks(bench, '', act=step)
        assert all(100_000_000_000 < ns(pose) <= now_ns for pose in poses)


def test_without_autostart_the_nodes_wait_to_be_configured(bench):
    with launched('simulator:=true', 'autostart:=false'):
        for name in ('stewart_pose', 'stewart_simulator'):
            state = bench.call(GetState, f'/{name}/get_state').current_state
            assert state.id == State.PRIMARY_STATE_UNCONFIGURED


def test_parameters_come_from_the_file_given(bench, tmp_path):
    path = tmp_path / 'parameters.yaml'
    path.write_text('/**:\n  ros__parameters: {base_frame: floor}\n')
    poses = bench.collect(PoseStamped, '/pose')
    with launched('simulator:=true', f'params_file:={path}'):
        bench.until(lambda: poses, 'a pose')
    assert poses[0].header.frame_id == 'floor'
