# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parameters: in files, wrong and right, and set at run time through the service."""

import math

from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
import numpy as np
import pytest
from rcl_interfaces.srv import DescribeParameters
from support.bench.pose_bench import FAR, GEOMETRY, NEAR, PoseBench
from support.refusals import refused
from tools import parameter_documents

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.aerial.controller import AerialManipulatorControllerNode
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.nodes.loops.state_publisher import LoopStatePublisherNode
from liedyn_ros.nodes.stewart.parameters import PLATFORM_SIMULATOR, POSE_PARAMETERS
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.ros.node.lifecycle import OF_ALL_NODES
from liedyn_ros.ros.parameters.parameter_set import Parameter
from liedyn_ros.stewart import leg_lengths

pytestmark = pytest.mark.ros
NODES = {'stewart_pose': StewartPoseNode, 'stewart_simulator': StewartSimulatorNode,
         'loop_state_publisher': LoopStatePublisherNode}
GOOD_GEOMETRY = config_file('stewart_geometry.yaml').read_text()
MISSING = '/nowhere/geometry.yaml'

# Node, parameter, the value in the file, what is said of it, a value that is right.
WRONG = [
    ('stewart_pose', 'max_iterations', 'many', "expected integer (1 to 10000), got 'many'", 50),
    ('stewart_pose', 'max_iterations', '2.5', 'expected integer (1 to 10000), got 2.5', 50),
    ('stewart_pose', 'max_iterations', '0', 'expected integer (1 to 10000), got 0', 50),
    ('stewart_pose', 'damping', '1.0', 'expected double (1e-15 to 0.999), got 1.0', 1e-6),
    ('stewart_pose', 'damping', '.nan', 'expected finite double (1e-15 to 0.999), got nan', 1e-6),
    ('stewart_pose', 'actuators', 'motors',
     'expected string (joint_state or joint_state_topics or float64_topics or float64_array), '
     "got 'motors'", 'joint_state'),
    ('stewart_pose', 'use_leg_rates', '1', 'expected bool (any), got 1', True),
    ('stewart_pose', 'home_position', '[0.0, 0.5]',
     'expected double_array in m (3 values), got [0.0, 0.5]', [0.0]),
    ('stewart_pose', 'home_position', '0.5',
     'expected double_array in m (3 values), got 0.5', [0.0]),
    ('stewart_pose', 'home_position', '[0.0, .nan, 0.5]',
     'home_position[1]: expected finite double in m (any), got nan', [0.0]),
    ('stewart_pose', 'home_orientation', '[0.0, 0.0, 0.0, 2.0]',
     'home_orientation[3]: expected double (-1 to 1), got 2.0', [0.0, 0.0, 0.0, 1.0]),
    ('stewart_pose', 'home_orientation', '[0.0, 0.0, 0.0, 0.5]', 'expected norm 1',
     [0.0, 0.0, 0.0, 1.0]),
    ('stewart_pose', 'home_position', '[0.0, 0.0, 3.0]', 'home pose: length of leg_1: expected',
     [0.0, 0.0, 0.5]),
    ('stewart_pose', 'actuator_names', '[a, b]',
     "'leg_5', 'leg_6'], got ['a', 'b']", ['']),
    ('stewart_pose', 'actuator_scale', '[1.0, 1.0, 1.0, 0.0, 1.0, 1.0]',
     'expected none of them zero', [1.0] * 6),
    ('loop_state_publisher', 'start', '[0.1, 0.2]', 'knee:=0.5 ankle:=-1.2', ''),  # its form
    ('stewart_pose', 'geometry_file', MISSING, f'{MISSING}: expected a readable file', ''),
    ('stewart_simulator', 'rate', '-1.0', 'expected double in Hz (0.1 to 5000), got -1.0', 100.0),
    ('stewart_simulator', 'dropout_probability', '1.5',
     'expected double (0 to 1), got 1.5', 0.0),
    ('stewart_simulator', 'actuators', 'smoke_signals', "got 'smoke_signals'", 'joint_state'),
]


def started_with(bench, tmp_path, name, text):
    """Return a node started with a parameter file that holds one line for it."""
    path = tmp_path / 'parameters.yaml'
    path.write_text(f'/**:\n  ros__parameters:\n    {text}\n')
    return bench.start(NODES[name], ['--ros-args', '--params-file', str(path)])


def state(bench, name):
    return bench.call(GetState, f'{name}/get_state').current_state.id


def configure(bench, name):
    return bench.call(ChangeState, f'{name}/change_state',
                      transition=Transition(id=Transition.TRANSITION_CONFIGURE)).success


@pytest.mark.parametrize(('name', 'parameter', 'value', 'reason', 'right'), WRONG)
def test_a_wrong_value_in_a_file_is_named_and_can_be_set_right(
        bench, tmp_path, name, parameter, value, reason, right):
    node = started_with(bench, tmp_path, name, f'{parameter}: {value}')
    bench.until_logged(node, 'not configured: ')
    assert reason in bench.logged(node)[0]
    assert state(bench, name) == State.PRIMARY_STATE_UNCONFIGURED
    assert not configure(bench, name)
    result, = bench.set_parameters(node, **{parameter: right})
    assert (result.successful, result.reason) == (True, '')
    assert configure(bench, name)


@pytest.mark.parametrize(('old', 'new', 'reason'), [
    ('legs:', 'limbs:', 'geometry: expected a key legs'),
    ('leg_6: {', 'leg_5: {', "expected each key once and a text, got 'leg_5'"),
    ('0.077646, 0.0]', '0.077646]',
     'leg_1/base: expected a list of 3 entries, got [0.289778, 0.077646]'),
    ('0.077646, 0.0]', '.nan, 0.0]', 'expected a finite number, got nan'),
    ('[0.25, 0.95]', '[0.95, 0.25]', 'expected 0 <= shortest < longest'),
    ('name: table_1', 'name: [', 'while parsing'),
])
def test_a_malformed_geometry_is_named_and_can_be_set_right(bench, tmp_path, old, new, reason):
    path = tmp_path / 'geometry.yaml'
    path.write_text(GOOD_GEOMETRY.replace(old, new))
    node = started_with(bench, tmp_path, 'stewart_pose', f'geometry_file: {path}')
    bench.until_logged(node, f'not configured: {path}: ')
    assert reason in bench.logged(node)[0]
    path.write_text(GOOD_GEOMETRY)
    assert configure(bench, 'stewart_pose')


def test_all_wrong_values_are_named_at_once(bench):
    node = bench.start(StewartPoseNode, actuators='motors', max_age=-1.0)
    bench.until_logged(node, 'not configured: ')
    line, = bench.logged(node)
    assert 'parameter actuators' in line
    assert 'parameter max_age: expected double in s (0 to 3600), got -1.0' in line


def test_an_actuator_name_that_is_no_topic_is_named(bench):
    node = bench.start(StewartPoseNode, actuators='float64_topics',
                       actuator_names=['a', 'b', 'c', 'd', 'e', 'no topic'])
    bench.until_logged(node, "actuator 'no topic': expected a name that can be a topic")
    assert 'Traceback' not in bench.logged(node)[0]
    assert state(bench, 'stewart_pose') == State.PRIMARY_STATE_UNCONFIGURED
    assert not [s for s in node.subscriptions if 'leg_states' in s.topic_name]


def test_an_error_of_rclpy_is_not_lost(bench, monkeypatch):
    """An exception in a transition is passed over by rclpy; the node must not."""
    def refuse(*_, **__):
        raise RuntimeError('no more topics')

    node = bench.start(StewartPoseNode, autostart=False)
    monkeypatch.setattr(node, 'create_subscription', refuse)
    assert not configure(bench, 'stewart_pose')
    bench.until_logged(node, 'not configured: no more topics')
    assert 'Traceback' in bench.logged(node)[0]
    monkeypatch.undo()
    assert configure(bench, 'stewart_pose')


def test_a_wrong_value_keeps_the_node_silent(bench):
    node = PoseBench(bench, actuators='motors')
    bench.until_logged(node.node, 'not configured')
    node.send_pose(NEAR)
    assert bench.set_parameters(node.node, actuators='joint_state')[0].successful
    for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert bench.call(ChangeState, 'stewart_pose/change_state',
                          transition=Transition(id=transition)).success
    bench.until(lambda: node.poses, 'a pose', act=lambda: node.send_pose(FAR))
    assert len(node.statuses) <= len(node.poses) + 1


def test_whole_numbers_are_taken_where_doubles_are_meant(bench, tmp_path):
    node = started_with(bench, tmp_path, 'stewart_pose', 'input_timeout: 2')
    assert node.get_parameter('input_timeout').value == 2.0
    assert state(bench, 'stewart_pose') == State.PRIMARY_STATE_ACTIVE


@pytest.mark.smoke
def test_what_is_safe_is_set_at_run_time(tracking):
    node = tracking(marker_rate=0.0)
    result, = node.bench.set_parameters(node.node, marker_rate=50.0)
    assert result.successful, result.reason
    node.send_pose(NEAR)
    node.bench.until(lambda: node.markers, 'markers')
    assert node.bench.set_parameters(node.node, max_age=1.0)[0].successful
    node.send_pose(NEAR)
    node.reason_of('stamp: expected within 1 s of now')
    assert node.bench.set_parameters(node.node, input_timeout=0.05)[0].successful
    node.reason_of('expected leg lengths every 0.05 s')


@pytest.mark.parametrize(('parameter', 'value', 'reason'), [
    ('actuators', 'float64_topics', 'expected to be set while the node is unconfigured'),
    ('queue_depth', 5, 'expected to be set while the node is unconfigured'),
    ('autostart', False, 'expected to be set while the node is unconfigured'),
    ('marker_rate', -1.0, 'out of range Min: 0.0, Max: 100.0, value: -1.0'),
    ('marker_rate', 1e9, 'out of range Min: 0.0, Max: 100.0, value: 1000000000.0'),
    ('max_age', np.nan, 'out of range Min: 0.0, Max: 3600.0, value: nan'),
])
def test_what_is_unsafe_or_wrong_is_refused_with_a_reason(tracking, parameter, value, reason):
    node = tracking()
    before = node.node.get_parameter(parameter).value
    result, = node.bench.set_parameters(node.node, **{parameter: value})
    assert not result.successful
    assert parameter in result.reason and reason in result.reason
    assert node.node.get_parameter(parameter).value == before
    node.pose_at(node.send(leg_lengths(GEOMETRY, FAR)))


@pytest.mark.parametrize(('node_class', 'given'), [
    (StewartPoseNode, {'marker_rate': 20.0}), (StewartSimulatorNode, {}),
    (DynamicsServerNode, {'dissipation': False}), (LoopStatePublisherNode, {'max_age': 2.0}),
    (AerialManipulatorSimulatorNode, {'max_age': 2.0}),
    (AerialManipulatorControllerNode, {'max_age': 2.0})])
def test_only_parameters_of_the_node_are_taken_over(bench, monkeypatch, node_class, given):
    """Not use_sim_time, which every node has."""
    take_over, changes = node_class.parameters_changed, []
    monkeypatch.setattr(
        node_class, 'parameters_changed', lambda node: changes.append(take_over(node)))
    node = bench.start(node_class)
    bench.until(lambda: node.active, 'an active node')
    changes.clear()
    assert bench.set_parameters(node, use_sim_time=True)[0].successful
    assert changes == []
    assert state(bench, node.get_name()) == State.PRIMARY_STATE_ACTIVE
    assert all(result.successful for result in bench.set_parameters(node, **given))
    assert len(changes) == len(given)


def test_another_type_is_refused_by_ros(tracking):
    node = tracking()
    result, = node.bench.set_parameters(node.node, input_timeout='soon')
    assert not result.successful
    assert 'Wrong parameter type' in result.reason


@pytest.mark.parametrize(('name', 'parameters'), [
    ('stewart_pose', (*OF_ALL_NODES, *POSE_PARAMETERS)),
    ('stewart_simulator', (*OF_ALL_NODES, *PLATFORM_SIMULATOR))])
def test_each_parameter_is_described_with_unit_and_range(bench, name, parameters):
    bench.start(NODES[name], autostart=False)
    descriptors = bench.call(DescribeParameters, f'{name}/describe_parameters',
                             names=[parameter.name for parameter in parameters]).descriptors
    for parameter, descriptor in zip(parameters, descriptors):
        assert descriptor.description.startswith(parameter.description)
        assert descriptor.description.endswith(f'[{parameter.unit}]' if parameter.unit else '')
        assert descriptor.additional_constraints == parameter.range_text
        assert not descriptor.dynamic_typing


ONE_NUMBER = [
    pytest.param(parameter, id=f'{node}-{parameter.name}')
    for node, parameters in parameter_documents.NODES.items() for parameter in parameters
    if type(parameter.default) in (int, float)]


def outside(parameter):
    """Return the numbers next to the range of a parameter."""
    if isinstance(parameter.default, int):
        return parameter.least - 1, parameter.most + 1
    return (math.nextafter(parameter.least, -math.inf),
            math.nextafter(parameter.most, math.inf))


@pytest.mark.parametrize('parameter', ONE_NUMBER)
def test_what_is_outside_of_the_range_that_is_declared_is_refused(parameter):
    (shown,), = parameter.ranges.values()
    assert shown.step == 0
    for bound in (shown.from_value, shown.to_value):
        assert parameter.accept(bound) == bound
        assert type(bound) is type(parameter.default)
    for value in outside(parameter):
        with refused(LiedynError, f'parameter {parameter.name}', got=value):
            parameter.accept(value)


@pytest.mark.parametrize('more, right, wrong', [(False, (3,), (2, 4)), (True, (3, 4), (2,))])
def test_arrays_have_their_size_or_more_where_they_may(more, right, wrong):
    parameter = Parameter('gains', [1.0, 2.0, 3.0], '', size=3, or_more=more)
    for size in right:
        assert parameter.accept([0.5] * size) == [0.5] * size
    for size in wrong:
        with refused(LiedynError, 'parameter gains'):
            parameter.accept([0.5] * size)
