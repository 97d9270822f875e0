# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The status of a controller: its last command, with its age and bound; and that of drives."""

from collections.abc import Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.control import Drives
from liedyn_ros.control.follower import Follower, Phase
from liedyn_ros.ros.node.lifecycle import ManagedNode

_LEVELS = {Phase.STANDING: DiagnosticStatus.OK, Phase.FOLLOWING: DiagnosticStatus.OK,
           Phase.WAITING: DiagnosticStatus.WARN}  # all others are errors
NORMAL_STATES = Drives.STANDING, Drives.COMMANDED


def report_of(control: Follower[Any], what: str, publishers: Sequence[str]
              ) -> tuple[bytes, str, dict[str, str]]:
    """Return level, message and values of a follower; publishers: of its states, by name."""
    fault = f'{what} of {len(publishers)} nodes' if len(publishers) > 1 else ''
    level = DiagnosticStatus.ERROR if fault else _LEVELS.get(control.phase, DiagnosticStatus.ERROR)
    return level, '; '.join(filter(None, (control.phase.value, fault))), {
        'pace': f'{control.pace:.3f}',
        f'{what} from': ', '.join(publishers),
        'bound of silence of states, s': f'{control.blind_time:.2f}'}


def drives_status(name: str, drives: Drives, before: Drives, bound: float) -> DiagnosticStatus:
    """Return the status of drives; before: what they did since the last. bound: of silence, s."""
    level, message = DiagnosticStatus.OK, drives.value
    if drives not in NORMAL_STATES:
        level = DiagnosticStatus.ERROR
    elif before not in NORMAL_STATES:
        level, message = DiagnosticStatus.WARN, f'{message}; before: {before.value}'
    return DiagnosticStatus(level=level, message=message, name=name, values=[
        KeyValue(key='bound of silence of commands, s', value=f'{bound:g}')])


def publishers_of(node: ManagedNode, topic: str) -> list[str]:
    """Return the names of all nodes that publish a topic, with their namespaces."""
    return [f'{each.node_namespace.rstrip("/")}/{each.node_name}' for each in
            node.get_publishers_info_by_topic(node.resolve_topic_name(topic))]


def refuse_jump(node: ManagedNode, topic: str, alone: bool) -> None:
    """Raise NameSetError where a jump may be of two nodes, LimitError where it is alone."""
    names = publishers_of(node, topic)
    if len(names) > 1:
        raise NameSetError(f'{topic}: expected one publisher, got {", ".join(names)}, whose '
                           'poses are apart', names=tuple(names))
    if alone:
        raise LimitError(f'{topic}: expected a position that a motion leads to, got another that '
                         'none confirms yet', names=(topic,))


class ControlStatus:
    """The publisher of a controller's status, which remembers when its commands were sent."""

    def __init__(self, node: ManagedNode, part: str) -> None:
        """Open the publisher; part: the name of the status."""
        self._node, self._part = node, part
        self._commanded_ns = 0
        self._publish = node.open_publisher(DiagnosticArray, '/diagnostics').publish

    def commanded(self) -> None:
        """Take note of a command that is sent now."""
        self._commanded_ns = self._node.now_ns()

    def publish(self, report: tuple[bytes, str, Mapping[str, str]],
                command: Mapping[str, Sequence[float]], bound: float, *others: DiagnosticStatus,
                moves: bool = True) -> None:
        """
        Publish a report (level, message, values) and the last command, beside other statuses.

        command: numbers by name. bound: of its age, s, beyond which a machine that moves by
        commands is reported as a warning at least.
        """
        level, message, more = report
        values = {**more, 'last command': 'none', 'bound of its age, s': f'{bound:.3f}'}
        if self._commanded_ns:
            age = 1e-9 * (self._node.now_ns() - self._commanded_ns)
            values |= {'last command': ', '.join(
                ' '.join((name, *(f'{number:.4g}' for number in numbers)))
                for name, numbers in command.items()), 'age of the last command, s': f'{age:.3f}'}
            if moves and age > bound:
                level = max(level, DiagnosticStatus.WARN)
                message += f'; no command for {age:.1f} s'
        status = DiagnosticStatus(
            level=level, message=message, name=self._node.status_name(self._part),
            values=[KeyValue(key=key, value=value) for key, value in values.items()])
        array = DiagnosticArray(status=[*others, status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publish(array)
