# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The launch file of the dynamics server: every source of a model, in every namespace."""

from liedyn_interfaces.srv import DescribeModel
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from support.bench.launch_bench import assert_unconfigured, described_arguments, launched
import yaml

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


def test_every_argument_is_described():
    assert described_arguments(FILE) == ['namespace', 'params_file', 'use_sim_time', 'autostart']


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


def test_without_autostart_the_node_waits_to_be_configured(bench):
    with launched(FILE, 'autostart:=false'):
        assert_unconfigured(bench, '/dynamics_server')
        bench.until(lambda: bench.call(
            DescribeModel, '/dynamics_server/describe_model').message.endswith(
                'expected the node to be active, got not configured'), 'the kernels')
