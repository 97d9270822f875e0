# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Values of parameters, and the machines that they name."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from fuzz.ros.stand_ins import message
from fuzz.target import guarded, Run, Target
from rcl_interfaces.msg import Parameter as ParameterMessage
from rclpy.parameter import Parameter as RosParameter
from rclpy.serialization import serialize_message
from tools import mutation_cases

from liedyn_ros.nodes.aerial.parameters import CONTROLLER_PARAMETERS, SIMULATOR_PARAMETERS
from liedyn_ros.nodes.dynamics.machines import named_values, read_machine
from liedyn_ros.nodes.dynamics.parameters import DYNAMICS_SERVER, MODEL_PARAMETERS
from liedyn_ros.nodes.loops.parameters import LOOP_STATE_PUBLISHER
from liedyn_ros.nodes.stewart.parameters import POSE_PARAMETERS
from liedyn_ros.stewart.tracking.monitor_config import config_of, method_of

DEFAULTS: dict[str, Any] = {parameter.name: parameter.default for parameter in DYNAMICS_SERVER}
OF_POSE: dict[str, Any] = {parameter.name: parameter.default for parameter in POSE_PARAMETERS}
KNOWN = {parameter.name: parameter for parameter in chain(
    DYNAMICS_SERVER, LOOP_STATE_PUBLISHER, POSE_PARAMETERS, CONTROLLER_PARAMETERS,
    SIMULATOR_PARAMETERS)}


def make() -> Run:
    """Return what judges a parameter and uses it."""
    return lambda data: _judge(message(data, ParameterMessage))


def _judge(taken: Any) -> bool:
    if taken is None or taken.name not in KNOWN:
        return False
    try:
        value = RosParameter.from_parameter_msg(taken).value
    except ValueError:  # of an unknown type, see test_services.py
        return False
    return guarded(lambda: _use(taken.name, KNOWN[taken.name].accept(value)))


def _use(name: str, value: Any) -> None:
    if name in ('start', 'xacro_arguments'):
        named_values(name, value)
    if name in {each.name for each in MODEL_PARAMETERS}:
        read_machine(DEFAULTS | {name: value}, None)
    if name in OF_POSE:
        changed = OF_POSE | {name: value}
        method_of(changed)
        config_of(changed, None)


def seeds() -> Iterator[bytes]:
    """Return every parameter at its default, and texts of models."""
    texts = {'robot_description': mutation_cases.URDF, 'model_file': 'four_bar.yaml',
             'xacro_arguments': "a:=1 b:='c d'"}
    for name, parameter in KNOWN.items():
        value = texts.get(name, parameter.default)
        yield serialize_message(RosParameter(name, value=value).to_parameter_msg())


TARGET = Target(make, seeds)
