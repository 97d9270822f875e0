# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The launch file of the dynamics server: every source of a model, in every namespace."""

import os
import signal

from liedyn_interfaces.srv import DescribeModel
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.bench.launch_bench import (
    assert_unconfigured, launched, process_in, refusal, WITH_MUJOCO)
import yaml

from benchmarks.processes import held_segments, remove_left

pytestmark = pytest.mark.ros
FILE = 'dynamics_server.launch.py'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LINK = """<link name="{}"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
URDF = f"""
<robot name="arm">
  {LINK.format('upper')}
  {LINK.format('lower')}
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/></joint>
</robot>"""


def assert_served(bench, namespace, name):
    """Wait until a server in a namespace serves the model of a name."""
    service = f'{namespace}/dynamics_server/describe_model'
    bench.until(lambda: bench.call(DescribeModel, service).name == name, f'model {name}')


def test_a_model_may_be_an_argument(bench, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(URDF)
    with launched(FILE, f'model_file:={path}'):
        assert_served(bench, '', 'arm')


@WITH_MUJOCO
def test_the_robot_may_be_simulated(bench):
    clock, joints = bench.collect(Clock, '/clock'), bench.collect(JointState, 'left/joint_states')
    with launched(FILE, 'model_file:=aerial_manipulator.yaml', 'simulator:=mujoco',
                  'use_sim_time:=true', 'namespace:=left'):
        assert_served(bench, 'left', 'aerial_manipulator')
        bench.until(lambda: joints and clock, 'a state')
    assert len(joints[-1].name) == 6


@pytest.mark.parametrize('namespace', ['', 'left/arm'])
@pytest.mark.parametrize('source', ['model_file', 'robot_description'])
def test_a_model_of_the_parameters(bench, tmp_path, namespace, source):
    path = tmp_path / 'parameters.yaml'
    values = {'model_file': 'aerial_manipulator.yaml', 'robot_description': URDF}
    path.write_text(yaml.safe_dump(
        {'/**/dynamics_server': {'ros__parameters': {source: values[source]}}}))
    with launched(FILE, f'params_file:={path}', f'namespace:={namespace}'):
        assert_served(bench, f'/{namespace}' if namespace else '',
                      'aerial_manipulator' if source == 'model_file' else 'arm')


@pytest.mark.parametrize('namespace', ['', 'left/arm'])
def test_a_model_of_the_topic(bench, namespace):
    prefix = f'/{namespace}' if namespace else ''
    bench.publisher(String, f'{prefix}/robot_description', LATCHED).publish(String(data=URDF))
    with launched(FILE, f'namespace:={namespace}', 'use_sim_time:=true'):
        assert_served(bench, prefix, 'arm')


def test_a_killed_node_comes_back_and_serves(bench):
    with launched(FILE, 'respawn:=true', 'respawn_delay:=0.1', 'namespace:=respawned',
                  'model_file:=aerial_manipulator.yaml', killed=1):
        assert_served(bench, '/respawned', 'aerial_manipulator')
        first = process_in('respawned')
        held = held_segments(first)
        os.kill(first, signal.SIGKILL)
        bench.until(lambda: process_in('respawned') not in (first, None), 'another process')
        remove_left(held)
        assert_served(bench, '/respawned', 'aerial_manipulator')


def test_a_killed_node_stays_away_without_respawn(bench):
    with launched(FILE, 'namespace:=alone', 'model_file:=aerial_manipulator.yaml', killed=1):
        assert_served(bench, '/alone', 'aerial_manipulator')
        held = held_segments(process_in('alone'))
        os.kill(process_in('alone'), signal.SIGKILL)
        bench.until(lambda: process_in('alone') is None, 'its end')
        remove_left(held)


@pytest.mark.parametrize('delay', ['-1', 'nan', 'soon'])
def test_a_delay_that_is_no_time_is_refused(delay):
    assert f'respawn_delay: expected a number of s, 0 or more, got {delay!r}' in refusal(
        FILE, f'respawn_delay:={delay}')


def test_without_autostart_the_node_waits_to_be_configured(bench):
    with launched(FILE, 'autostart:=false'):
        assert_unconfigured(bench, '/dynamics_server')
        bench.until(lambda: bench.call(
            DescribeModel, '/dynamics_server/describe_model').message.endswith(
                'expected the node to be active, got not configured'), 'the kernels')
