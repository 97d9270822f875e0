# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Requests that rclpy's own services fail at are refused, and the node lives on."""

from lifecycle_msgs.srv import ChangeState
import pytest
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters, GetParameters, GetParameterTypes, ListParameters, SetParameters,
    SetParametersAtomically)

from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.ros.node.lifecycle import ManagedNode

pytestmark = pytest.mark.ros
ODD_NAMES = ['', ' ', 'x' * 3000, 'autostart', '/', '..', 'a\n', 'θ', 'use_sim_time']


class Plain(ManagedNode):
    """A node without anything of its own."""

    def __init__(self, **options):
        """Start."""
        super().__init__('plain', (), **options)


@pytest.mark.smoke
@pytest.mark.parametrize('node_class', [Plain, StewartSimulatorNode, DynamicsServerNode])
@pytest.mark.parametrize('kind', [10, 99, 255])
def test_an_unknown_type_of_a_parameter_is_refused(bench, node_class, kind):
    node = bench.start(node_class)
    name = f'{node.get_name()}/set_parameters'
    wrong = Parameter(name='autostart', value=ParameterValue(type=kind))
    good = Parameter(name='autostart', value=ParameterValue(type=1, bool_value=True))
    results = bench.call(SetParameters, name, parameters=[good, wrong]).results
    assert len(results) == 2 and not results[1].successful
    assert f'{kind} is not a valid Parameter.Type' in results[1].reason
    result = bench.call(SetParametersAtomically, f'{name}_atomically', parameters=[wrong]).result
    assert not result.successful and str(kind) in result.reason
    bench.until_logged(node, 'expected a request that rclpy can serve')
    assert len(bench.call(GetParameters, f'{node.get_name()}/get_parameters',
                          names=['autostart']).values) == 1


@pytest.mark.parametrize('node_class', [Plain, DynamicsServerNode])
def test_odd_names_are_answered(bench, node_class):
    node = bench.start(node_class)
    prefix = node.get_name()
    for name in ODD_NAMES:
        for service, path in ((GetParameters, 'get_parameters'),
                              (GetParameterTypes, 'get_parameter_types'),
                              (DescribeParameters, 'describe_parameters')):
            bench.call(service, f'{prefix}/{path}', names=[name])
        bench.call(ListParameters, f'{prefix}/list_parameters', prefixes=[name], depth=2**64 - 1)
        for kind in range(10):
            results = bench.call(SetParameters, f'{prefix}/set_parameters', parameters=[
                Parameter(name=name, value=ParameterValue(type=kind))]).results
            assert len(results) == 1
    assert not bench.call(ChangeState, f'{prefix}/change_state').success
