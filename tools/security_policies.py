# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the SROS 2 policy of each node from what it opens.

    python -m tools.security_policies

rewrites config/policies/<node>.xml. Each node is started once with its defaults, once by a
manager, and once for each parameter that may open something. That is a choice, a switch, or a
number that is 0 for none. The policy allows what any of these opened, and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
import os
from pathlib import Path
import sys
import time
from types import ModuleType
from typing import Any
from unittest.mock import create_autospec, patch

from geometry_msgs.msg import TransformStamped
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter as RosParameter
from std_msgs.msg import Header
from tools.command_line import no_arguments
from tools.parameter_documents import NODES as PARAMETERS

from liedyn_ros.commands.operation.security_policy import Names, policy_of, RIGHTS
from liedyn_ros.nodes.aerial.controller import AerialManipulatorControllerNode
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.dynamics.mujoco_simulator import MujocoSimulatorNode
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.nodes.loops.state_publisher import LoopStatePublisherNode
from liedyn_ros.nodes.path_runner.node import PathRunnerNode
from liedyn_ros.nodes.stewart.controller import StewartControllerNode
from liedyn_ros.nodes.stewart.dynamics_simulator import StewartDynamicsSimulatorNode
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.nodes.view.node import ViewNode
from liedyn_ros.ros.node import bond
from liedyn_ros.ros.node.goals import GoalServer
from liedyn_ros.ros.node.lifecycle import AUTOSTART, ManagedNode, OF_ALL_NODES
from liedyn_ros.ros.parameters.parameter_set import Parameter
from liedyn_ros.view_state import Page

POLICIES = Path(__file__).resolve().parents[1] / 'config' / 'policies'


class _ViewOfNobody(ViewNode):
    """The view without its page, which opens nothing in ROS."""

    def __init__(self, **options: Any) -> None:
        page = create_autospec(Page, instance=True, address='nowhere')
        super().__init__(lambda *_, **__: page, **options)


CLASSES: Mapping[str, type[ManagedNode]] = {
    'stewart_pose': StewartPoseNode, 'stewart_simulator': StewartSimulatorNode,
    'stewart_dynamics_simulator': StewartDynamicsSimulatorNode,
    'stewart_controller': StewartControllerNode, 'dynamics_server': DynamicsServerNode,
    'mujoco_simulator': MujocoSimulatorNode,
    'loop_state_publisher': LoopStatePublisherNode, 'path_runner': PathRunnerNode,
    'aerial_manipulator_simulator': AerialManipulatorSimulatorNode,
    'aerial_manipulator_controller': AerialManipulatorControllerNode, 'view': _ViewOfNobody}
# A machine with joints of several degrees of freedom, whose states have a topic of their own.
ALWAYS: Mapping[str, Mapping[str, Any]] = {
    'loop_state_publisher': {'model_file': 'stewart_geometry.yaml'},
    'mujoco_simulator': {'model_file': 'aerial_manipulator.yaml'}}  # with a free base
# Texts that open something, which no variation of a parameter finds.
TEXTS: Mapping[str, Mapping[str, Any]] = {'dynamics_server': {'payload_body': 'flange'}}
GRAPH_LIMIT = 30.0  # s, until the graph has what a node opens
NUMBERS = count()  # of namespaces: the middleware forgets a node a little later
PATTERNS = ('leg_states/',)  # topics under a name that the user chooses


def main() -> None:
    """Write the policies."""
    no_arguments(__doc__)
    context = Context()
    context.init()
    try:
        for node in CLASSES:
            path_of(node).write_text(policy_of(node, opened_by(context, node)), encoding='utf-8')
    finally:
        context.try_shutdown()


def path_of(node: str) -> Path:
    """Return the path of a node's policy."""
    return POLICIES / f'{node}.xml'


def opened_by(context: Context, node: str, arguments: Sequence[str] = ()) -> Names:
    """
    Return what a node opens by its defaults and by each parameter that may open something.

    arguments: of ROS, such as remappings. Types are described by the first of the nodes alone:
    rclpy never gives that service back.
    """
    always = ALWAYS.get(node, {})
    names: Names = {right: set() for right in RIGHTS}
    common: Sequence[Mapping[str, Any]] = ({}, {AUTOSTART.name: False}, {'use_sim_time': True})
    texts = [TEXTS[node]] if node in TEXTS else []
    for values in (*common, *texts, *_variations(PARAMETERS[node])):
        described = {'start_type_description_service': not values}
        with _started(context, node, {**described, **always, **values}, arguments) as each:
            if not each.active and values in common:  # others are refused without more
                raise RuntimeError(f'{node}: expected to start with its defaults')
            _wait_for_graph(each)
            for right, found in _names_of(each).items():
                names[right] |= {_pattern(name) for name in found}
    return names


def _variations(parameters: Sequence[Parameter]) -> Iterator[Mapping[str, Any]]:
    """Provide values of single parameters that may open something."""
    for parameter in parameters:
        default = parameter.default
        if parameter in OF_ALL_NODES:
            continue
        if isinstance(default, bool):
            yield {parameter.name: not default}
        elif parameter.choices:
            yield from ({parameter.name: choice} for choice in parameter.choices
                        if choice != default)
        elif default == 0:
            yield {parameter.name: type(default)(1) if parameter.most >= 1 else parameter.most}


@contextmanager
def _started(
        context: Context, node: str, values: Mapping[str, Any], arguments: Sequence[str],
) -> Iterator[ManagedNode]:
    """Provide a started node with these parameters, in its own namespace."""
    with _tf_broadcaster():
        each = CLASSES[node](
            context=context, namespace=f'/alone_{next(NUMBERS)}',
            cli_args=['--ros-args', *arguments],
            parameter_overrides=[RosParameter(name, value=value)
                                 for name, value in values.items()])
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(each)
        while each.starting:
            executor.spin_once(timeout_sec=0.1)
        if not values.get(AUTOSTART.name, True):
            _activate(each)
    try:
        yield each
    finally:
        executor.shutdown()
        each.destroy_node()


def _activate(node: ManagedNode) -> None:
    """Do what a lifecycle manager does, with its bond, whether its package is there or not."""
    with patch.object(bond, 'Bond', _Bond), patch.object(bond, 'status_type', lambda: Header):
        node.trigger_configure()
        node.trigger_activate()


def _wait_for_graph(node: ManagedNode) -> None:
    """Wait until the graph has what the node has opened; raise TimeoutError if it never does."""
    own, end = (node.get_name(), node.get_namespace()), time.monotonic() + GRAPH_LIMIT
    opened = (({node.resolve_topic_name(each.topic_name) for each in node.publishers},
               node.get_publisher_names_and_types_by_node),
              ({node.resolve_topic_name(each.topic_name) for each in node.subscriptions},
               node.get_subscriber_names_and_types_by_node),
              ({node.resolve_service_name(each.service_name) for each in node.services} |
               {node.resolve_service_name(f'{each.name}/_action/send_goal')
                for each in node.waitables if isinstance(each, GoalServer)},
               node.get_service_names_and_types_by_node),
              ({node.resolve_service_name(each.service_name) for each in node.clients},
               node.get_client_names_and_types_by_node))
    for names, look in opened:
        while missing := names - {name for name, _ in look(*own)}:
            if time.monotonic() > end:
                raise TimeoutError(f'{own[0]}: expected {sorted(missing)} in the graph within '
                                   f'{GRAPH_LIMIT:g} s')
            time.sleep(0.01)


def _names_of(node: ManagedNode) -> Names:
    """Return what a node opens, by the graph of the middleware, as a policy names it."""
    own = node.get_name(), node.get_namespace()
    graph = (node.get_publisher_names_and_types_by_node,
             node.get_subscriber_names_and_types_by_node,
             node.get_service_names_and_types_by_node, node.get_client_names_and_types_by_node)
    found: Names = {right: set() for right in RIGHTS}
    for right, action, look in zip(RIGHTS, (None, None, *RIGHTS[4:]), graph):
        for name, _ in look(*own):
            plain, is_action, _ = name.partition('/_action/')
            if not is_action:
                found[right].add(_relative(name, *own))
            elif action is not None:
                found[action].add(_relative(plain, *own))
    return found


def _relative(name: str, node: str, namespace: str) -> str:
    """Return a full name as it is written in the node."""
    for prefix, short in ((f'{namespace}/{node}/', '~/'), (f'{namespace}/', '')):
        if name.startswith(prefix):
            return short + name.removeprefix(prefix)
    return name


def _pattern(name: str) -> str:
    """Return the pattern of a name that has a part which the user chooses, else the name."""
    return next((f'{start}*' for start in PATTERNS if name.startswith(start)), name)


@contextmanager
def _tf_broadcaster() -> Iterator[None]:
    """Provide tf2_ros; where it is missing, a stand-in that opens what its broadcaster opens."""
    stand_in: Any = ModuleType('tf2_ros')
    stand_in.TransformBroadcaster = _Broadcaster
    if find_spec('tf2_ros') is not None:
        yield
        return
    sys.modules['tf2_ros'] = stand_in
    try:
        yield
    finally:
        del sys.modules['tf2_ros']


class _Bond(bond.Bond):
    """Opens what a bond opens, and says nothing."""

    def _send(self, active: bool) -> None:
        pass


class _Broadcaster:
    """Opens /tf."""

    def __init__(self, node: ManagedNode) -> None:
        self.pub_tf = node.create_publisher(TransformStamped, '/tf', 100)


if __name__ == '__main__':
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'OFF')
    main()
