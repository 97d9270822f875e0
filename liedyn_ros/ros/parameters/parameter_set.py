# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Node parameters: declared once with description, unit and range, checked when they are set."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult)
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.parameters.parameter_files import unknown_parameters

TYPE_NAMES: Mapping[type, str] = {bool: 'bool', int: 'integer', float: 'double', str: 'string'}


@dataclass(frozen=True)
class Parameter:
    """
    One parameter of a node.

    default: also fixes the type; an array by a list. unit: SI, '' where there is none.
    least, most: the range of every number, ends included. choices: the strings allowed.
    size: of an array; 0 for any. or_more: whether an array may be longer. run_time: whether it may
    be set while the node is configured.
    """

    name: str
    default: Any
    description: str
    unit: str = ''
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()
    size: int = 0
    run_time: bool = False
    or_more: bool = False

    @property
    def kind(self) -> str:
        """Return the type as ROS names it."""
        if isinstance(self.default, list):
            return f'{TYPE_NAMES[type(self.default[0])]}_array'
        return TYPE_NAMES[type(self.default)]

    @property
    def range_text(self) -> str:
        """Return the allowed values, to be read."""
        size = f'{self.size} values{" or more" * self.or_more}' if self.size else ''
        return ', '.join(part for part in (size, self._entry_text) if part) or 'any'

    @property
    def ranges(self) -> dict[str, list[FloatingPointRange] | list[IntegerRange]]:
        """Return the range of a single number with two bounds, as a ParameterDescriptor has it."""
        if isinstance(self.default, list) or not self._bounded:
            return {}
        if isinstance(self.default, float):
            return {'floating_point_range': [
                FloatingPointRange(from_value=self.least, to_value=self.most)]}
        return {'integer_range': [
            IntegerRange(from_value=round(self.least), to_value=round(self.most))]}

    @property
    def _bounded(self) -> bool:
        return math.isfinite(self.least) and math.isfinite(self.most)

    @property
    def _entry_text(self) -> str:
        if self.choices:
            return ' or '.join(self.choices)
        if self._bounded:
            return f'{self.least:g} to {self.most:g}'
        return f'{self.least:g} or more' if math.isfinite(self.least) else ''

    def accept(self, value: Any) -> Any:
        """
        Return the value with whole numbers made doubles where doubles are meant.

        Raises LiedynError naming what was expected and what came.
        """
        if not isinstance(self.default, list):
            return self._accept_one(value)
        if isinstance(value, (str, bytes)) or not hasattr(value, '__len__'):
            raise self._error(value)
        if list(value) == self.default:  # a single one may stand for what another file has
            return list(value)
        if self.size and (len(value) < self.size if self.or_more else len(value) != self.size):
            raise self._error(list(value))
        return [self._accept_one(entry, index) for index, entry in enumerate(value)]

    def _accept_one(self, value: Any, index: int | None = None) -> Any:
        wanted = type(self.default[0] if isinstance(self.default, list) else self.default)
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted or (self.choices and value not in self.choices):
            raise self._error(value, index)
        if wanted in (int, float) and not (math.isfinite(value)
                                           and self.least <= value <= self.most):
            raise self._error(value, index)
        return value

    def _error(self, value: Any, index: int | None = None) -> LiedynError:
        name, kind, allowed = self.name, self.kind, self.range_text
        if index is not None:  # of the entry that is wrong
            name, kind = f'{name}[{index}]', kind.removesuffix('_array')
            allowed = self._entry_text or 'any'
        if (kind, allowed) == ('string', 'any'):
            allowed = self.description  # has its form
        if isinstance(value, float) and not math.isfinite(value):
            kind = f'finite {kind}'
        unit = f' in {self.unit}' if self.unit else ''
        return LiedynError(f'parameter {name}: expected {kind}{unit} ({allowed}), got {value!r}')


class ParameterSet:
    """The parameters of one node: declares them, guards every change, gives their values."""

    def __init__(
            self, node: Node, parameters: Sequence[Parameter],
            is_configured: Callable[[], bool], changed: Callable[[], None],
            arguments: Sequence[str] = ()) -> None:
        """
        Declare the parameters on the node. arguments: of its command line, which name its files.

        A refused start-up value is kept as a fault, which `require_valid` raises: the node lives,
        reports the fault, and can be corrected. `changed` is called after a
        run-time change of any of them.
        """
        self._node = node
        self._parameters = {parameter.name: parameter for parameter in parameters}
        self._is_configured, self._changed = is_configured, changed
        self._faults: dict[str, str] = {}
        for parameter in parameters:
            self._declare(parameter)
        for line in unknown_parameters(
                list(node._parameter_overrides), list(self._parameters),
                node.get_fully_qualified_name(), arguments):
            node.get_logger().warning(line)
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._apply)

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter, arrays as lists."""
        value = self._node.get_parameter(name).value
        return list(value) if isinstance(self._parameters[name].default, list) else value

    def require_valid(self) -> None:
        """Raise LiedynError naming every start-up value that was refused and not yet set right."""
        if self._faults:
            raise LiedynError('; '.join(self._faults.values()))

    def _declare(self, parameter: Parameter) -> None:
        # Looked up before it is declared, as rclpy would end the node on a wrong type. Only rclpy
        # knows which were given, under a name that is not public.
        given = self._node._parameter_overrides.get(parameter.name)
        try:
            value = parameter.accept(given.value if given else parameter.default)
        except LiedynError as error:
            value = parameter.default
            self._faults[parameter.name] = str(error)
        unit = f' [{parameter.unit}]' if parameter.unit else ''
        self._node.declare_parameter(parameter.name, value, ParameterDescriptor(
            description=parameter.description + unit,
            additional_constraints=parameter.range_text, **parameter.ranges),
            ignore_override=True)

    def _judge(self, changes: Sequence[RosParameter]) -> SetParametersResult:
        for change in changes:
            parameter = self._parameters.get(change.name)
            if parameter is None:
                continue
            try:
                parameter.accept(change.value)
            except LiedynError as error:
                return SetParametersResult(successful=False, reason=str(error))
            if self._is_configured() and not parameter.run_time:
                return SetParametersResult(successful=False, reason=(
                    f'parameter {change.name}: expected to be set while the node is '
                    'unconfigured; deactivate and clean up the node first'))
        return SetParametersResult(successful=True)

    def _apply(self, changes: Sequence[RosParameter]) -> None:
        for change in changes:
            self._faults.pop(change.name, None)
        ours = any(change.name in self._parameters for change in changes)  # not use_sim_time
        if ours and self._is_configured():
            self._changed()
