# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What all launch files have: described arguments, nodes that wait; and one that publishes."""

import pytest
from sensor_msgs.msg import JointState
from support.bench.launch_bench import assert_unconfigured, described_arguments, launched
import yaml

pytestmark = pytest.mark.ros
AERIAL, SERVER, LOOPS, STEWART = (f'{name}.launch.py' for name in (
    'aerial_manipulator', 'dynamics_server', 'loop_state_publisher', 'stewart'))
COMMON = ['namespace', 'params_file', 'use_sim_time', 'autostart', 'respawn', 'respawn_delay']
OWN = {AERIAL: ['model_file', 'simulator', 'controller', 'rviz', 'view'],
       SERVER: ['model_file', 'floating', 'simulator', 'view'],
       LOOPS: ['model_file', 'loops_file', 'view'],
       STEWART: ['geometry_file', 'simulator', 'control', 'rviz', 'view']}


@pytest.mark.parametrize('file', OWN)
def test_every_argument_is_described(file):
    assert described_arguments(file) == COMMON + OWN[file]


@pytest.mark.parametrize(('file', 'arguments', 'nodes'), [
    (AERIAL, (), ('dynamics_server', 'aerial_manipulator_simulator',
                  'aerial_manipulator_controller')),
    (LOOPS, (), ('loop_state_publisher',)),
    (STEWART, ('simulator:=true',), ('stewart_pose', 'stewart_simulator')),
    (STEWART, ('control:=true',), (
        'stewart_pose', 'stewart_dynamics_simulator', 'stewart_controller'))])
def test_without_autostart_nodes_wait_to_be_configured(bench, file, arguments, nodes):
    with launched(file, *arguments, 'autostart:=false'):
        assert_unconfigured(bench, *(f'/{node}' for node in nodes))


def test_all_joints_come_out(bench, tmp_path):
    path = tmp_path / 'parameters.yaml'
    path.write_text(yaml.safe_dump({'/**/loop_state_publisher': {'ros__parameters': {
        'max_age': 0.0}}}))
    states = bench.collect(JointState, '/left/joint_states')
    encoders = bench.publisher(JointState, '/left/measured_joint_states')
    sample = JointState(name=['hip', 'crank_joint'], position=[0.3, 0.2])

    def send():
        sample.header.stamp = bench.partner.get_clock().now().to_msg()
        encoders.publish(sample)

    with launched(LOOPS, f'params_file:={path}', 'namespace:=left',
                  'model_file:=linkage_leg.urdf', 'loops_file:=linkage_leg_loops.yaml'):
        bench.until(lambda: states, 'joint states', act=send)
    assert set(states[-1].name) == {'hip', 'knee', 'crank_joint', 'rod_joint'}
