# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Misspelt parameters, and files for other nodes, are reported with the nearest name."""

import signal

import pytest
from rclpy.logging import LoggingSeverity
from support import forked
from support.bench.pose_bench import PoseBench
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.aerial.controller import AerialManipulatorControllerNode
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.nodes.stewart.dynamics_simulator import StewartDynamicsSimulatorNode
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.ros.parameters import parameter_files
from liedyn_ros.ros.parameters.parameter_files import files_of_others, unknown_parameters

pytestmark = pytest.mark.ros
EXAMPLE = 'geometry_file: expected the file of this platform, got none'


def test_an_unknown_parameter_is_reported_with_the_nearest_name():
    known = ['leg_noise', 'leg_rate_noise', 'rate']
    given = ['leg_nosie', 'rate', 'use_sim_time', 'qos_overrides./pose.publisher.depth', 'xyz']
    near, far = unknown_parameters(given, known)
    assert near == ('parameter leg_nosie: expected a name that the node knows, got an unknown '
                    'one; the nearest is leg_noise')
    assert far.endswith('got an unknown one')


def test_a_node_warns_of_a_misspelt_parameter(bench):
    node = bench.start(StewartPoseNode, geometry_flie='mine.yaml')
    bench.until_logged(node, 'the nearest is geometry_file', LoggingSeverity.WARN)
    assert node.active


@pytest.mark.parametrize(('text', 'name', 'warned'), [
    ('/**: {ros__parameters: {leg_noise: 0.0005}}', 'leg_noise', False),  # of stewart_pose
    ('left: {"*": {ros__parameters: {leg_noise: 0.0005}}}', 'leg_noise', False),
    ('right: {"*": {ros__parameters: {leg_noise: 0.0005}}}', 'leg_noise', True),
    ('/**/stewart_simulator: {ros__parameters: {leg_noise: 0.0005}}', 'leg_noise', True),
    ('/**: {ros__parameters: {leg_nosie: 0.0005}}', 'leg_nosie', True)])
def test_what_a_file_gives_to_all_nodes_one_of_them_has_to_know(tmp_path, text, name, warned):
    path = tmp_path / 'parameters.yaml'
    path.write_text(text)
    lines = unknown_parameters([name], ['length_noise'], '/left/stewart_simulator',
                               ['--ros-args', '--params-file', str(path)])
    assert bool(lines) == warned


@pytest.mark.parametrize('node_class', [
    DynamicsServerNode, AerialManipulatorSimulatorNode, AerialManipulatorControllerNode])
def test_no_node_of_a_launch_file_warns_of_its_parameter_file(bench, node_class):
    node = bench.start(node_class, [
        '--ros-args', '--params-file', str(config_file('aerial_manipulator_nodes.yaml'))])
    assert bench.until(lambda: node.active, 'an active node')
    assert not [line for line in bench.logged(node, LoggingSeverity.WARN) if 'unknown' in line]


@pytest.mark.parametrize(('text', 'fits'), [
    ('/**: {ros__parameters: {}}', True),
    ('/**/stewart_pose: {ros__parameters: {}}', True),
    ('stewart_pose: {ros__parameters: {}}', False),
    ('/left/stewart_pose: {ros__parameters: {}}', True),
    ('left: {stewart_pose: {ros__parameters: {}}}', True),
    ('/*/stewart_pose: {ros__parameters: {}}', True),
    ('/right/stewart_pose: {ros__parameters: {}}', False),
    ('/**/stewart_pos: {ros__parameters: {}}', False),
    ('', False)])
def test_a_file_is_for_a_node_or_not(tmp_path, text, fits):
    path = tmp_path / 'parameters.yaml'
    path.write_text(text)
    found = files_of_others('/left/stewart_pose', ['--ros-args', '--params-file', str(path)])
    start = f'{path}: expected an entry for /left/stewart_pose'
    assert [line[:len(start)] for line in found] == ([] if fits else [start])


@pytest.mark.parametrize('libyaml', [False, yaml.__with_libyaml__])
def test_what_rcl_reads_ends_no_node(tmp_path, monkeypatch, libyaml):
    """A tab at the end of a line is refused by PyYAML's own reader, and taken by rcl's."""
    monkeypatch.setattr(parameter_files, '_LIBYAML', libyaml)
    path = tmp_path / 'node.yaml'
    path.write_text("/a:\n  ros__parameters: {}\n/b: ''\t\n")
    arguments = ['--ros-args', parameter_files.OPTION, str(path)]
    lines = files_of_others('/a', arguments)
    assert len(lines) == (not libyaml)
    assert unknown_parameters(['c'], ['d'], '/a', arguments)


def test_a_pattern_of_any_namespace_fits_none_too(tmp_path):
    path = tmp_path / 'parameters.yaml'
    path.write_text('/**/stewart_pose: {ros__parameters: {}}')
    assert files_of_others('/stewart_pose', ['--params-file', str(path)]) == []


def test_a_process_warns_of_a_file_that_is_for_another_node(tmp_path, namespace, bench):
    path = tmp_path / 'parameters.yaml'
    path.write_text('/**/stewart_pos: {ros__parameters: {leg_noise: 1.0e-5}}')
    warning = f'{path}: expected an entry for {namespace}/stewart_pose'
    with forked.start('-m', 'liedyn_ros.nodes.stewart.pose', '--ros-args', '-r',
                      f'__ns:={namespace}', '--params-file', str(path)) as process:
        bench.until(lambda: warning in process.read()[1], 'the warning')
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def test_the_example_geometry_is_doubted_where_a_robot_publishes(bench):
    node = PoseBench(bench).settle()
    assert node.legs.get_subscription_count()
    bench.until_logged(node.node, EXAMPLE, LoggingSeverity.WARN)


@pytest.mark.parametrize('simulator_class', [StewartSimulatorNode, StewartDynamicsSimulatorNode])
def test_the_example_geometry_is_the_simulators(bench, simulator_class):
    node = bench.start(StewartPoseNode)
    simulator = bench.start(simulator_class)
    bench.until(lambda: not node._geometry_is_doubtful, 'a publisher')
    assert simulator.active
    assert not any(EXAMPLE in line for line in bench.logged(node, LoggingSeverity.WARN))


@pytest.mark.parametrize(('known', 'warned'), [('stewart_simulator', False), ('driver', True)])
def test_a_publisher_is_judged_once_its_name_is_known(bench, monkeypatch, known, warned):
    """For 50 to 80 ms after it was found it has another."""
    node = bench.start(StewartPoseNode)
    names = iter([set(), {'_NODE_NAME_UNKNOWN_'}, {known, '_NODE_NAME_UNKNOWN_'}, {known}])
    monkeypatch.setattr(node._input, 'publishers', lambda: next(names, {known}))
    bench.until(lambda: not node._geometry_is_doubtful, 'a known publisher')
    assert next(names, None) is None
    if warned:  # the log comes by a topic
        bench.until_logged(node, EXAMPLE, LoggingSeverity.WARN)
    else:
        assert not any(EXAMPLE in line for line in bench.logged(node, LoggingSeverity.WARN))
