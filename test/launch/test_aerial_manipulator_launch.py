# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The launch file of the aerial manipulator: it flies, whatever the clock and the namespace."""

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.bench.launch_bench import launched, refusal, WITH_MUJOCO
from support.bench.pose_bench import ns
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.aerial.controller import REFERENCE_START
from liedyn_ros.ros.launch import with_tf_prefix

pytestmark = pytest.mark.ros
FILE = 'aerial_manipulator.launch.py'
NODES = ('dynamics_server', 'aerial_manipulator_simulator', 'aerial_manipulator_controller')
COMPILED = 180.0  # s; until three processes have compiled their kernels, each for itself
SETTLED_NS, WATCHED_NS = 2_000_000_000, 4_000_000_000  # after the reference has begun


@pytest.fixture
def params_file(tmp_path):
    """Return the argument of a parameter file like ours, with a rate for busy machines."""
    parameters = yaml.safe_load(config_file('aerial_manipulator_nodes.yaml').read_text())
    parameters['/**/aerial_manipulator_simulator']['ros__parameters']['publish_rate'] = 100.0
    path = tmp_path / 'parameters.yaml'
    path.write_text(yaml.safe_dump(parameters))
    return f'params_file:={path}'


def assert_flies(bench, namespace=''):
    """Wait for a piece of flight and see that it follows the reference."""
    errors = bench.collect(JointState, f'{namespace}/tracking_error')
    diagnostics = bench.collect(DiagnosticArray, '/diagnostics')

    def begun():
        return [int(value.value) for message in diagnostics for status in message.status
                for value in status.values if value.key == REFERENCE_START]

    begin_ns = bench.until(begun, 'a flight', timeout=COMPILED)[-1]
    bench.until(lambda: errors and ns(errors[-1]) > begin_ns + WATCHED_NS, 'a piece of flight')
    settled = np.array([error.position for error in errors if ns(error) > begin_ns + SETTLED_NS])
    assert np.linalg.norm(settled[:, 3:6], axis=1).max() < 0.01
    assert np.degrees(np.linalg.norm(settled[:, :3], axis=1).max()) < 1.0


def until_served(bench):
    """Wait for the server too: interrupted before it is there, its process does not end well."""
    bench.until(lambda: NODES[0] in bench.partner.get_node_names(), NODES[0])


def test_a_simulator_that_is_none_is_refused():
    assert "simulator: expected own or mujoco, got 'true'" in refusal(FILE, 'simulator:=true')


@pytest.mark.parametrize(('simulator', 'namespace'), [
    ('own', ''), ('own', 'left/arm'), pytest.param('mujoco', 'left/arm', marks=WITH_MUJOCO)])
def test_it_follows_the_reference(bench, params_file, simulator, namespace):
    """The simulator publishes /clock and waits for the others, however busy the machine is."""
    clocks = bench.collect(Clock, '/clock')
    with launched(FILE, params_file, f'simulator:={simulator}', f'namespace:={namespace}',
                  'use_sim_time:=true'):
        assert_flies(bench, f'/{namespace}' if namespace else '')
        assert clocks


def test_rviz_gets_the_prefix_of_the_robot_model():
    path = with_tf_prefix(config_file('aerial_manipulator.rviz'), 'left')
    model = next(display for display in yaml.safe_load(path.read_text())[
        'Visualization Manager']['Displays'] if display['Class'].endswith('/RobotModel'))
    assert model['TF Prefix'] == 'left'
    path.unlink()


def test_frames_in_a_namespace_have_its_prefix(bench, params_file):
    odometry = bench.collect(Odometry, '/left/odometry')
    references = bench.collect(Odometry, '/left/reference')
    with launched(FILE, params_file, 'namespace:=left'):
        bench.until(lambda: odometry and references, 'states and a reference')
        until_served(bench)
    frames = [(each.header.frame_id, each.child_frame_id)
              for each in (odometry[-1], references[-1])]
    assert frames == [('world', 'left/base'), ('world', 'left/reference')]


def test_without_controller_the_machine_stands(bench):
    odometry = bench.collect(Odometry, '/odometry')
    with launched(FILE, 'controller:=false'):
        bench.until(lambda: len(odometry) > 100, 'states')
        until_served(bench)
        assert NODES[2] not in bench.partner.get_node_names()
    position = odometry[-1].pose.pose.position
    assert (position.x, position.y, position.z) == (1.0, 0.0, 1.5)
