# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The status of a controller: what it does, its last command, with its age and its bound."""

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState

from liedyn_ros.control import Follower, Phase
from liedyn_ros.ros.node.lifecycle import ManagedNode

_LEVELS = {Phase.STANDING: DiagnosticStatus.OK, Phase.FOLLOWING: DiagnosticStatus.OK,
           Phase.WAITING: DiagnosticStatus.WARN}  # all others are errors


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

    def publish(self, control: Follower[Any], command: dict[str, JointState],
                more: dict[str, str], *others: DiagnosticStatus, fault: str = '') -> None:
        """
        Publish the phase of a control and its last command, beside other statuses.

        command: its messages, by the field of each that counts. more: other values. fault: what
        is wrong besides, an error.
        """
        values = {'pace': f'{control.pace:.3f}', 'last command': 'none',
                  'bound of silence of states, s': f'{control.blind_time:.2f}', **more}
        if self._commanded_ns:
            values |= {
                'last command': ', '.join(
                    f'{name} {value:.4g}' for field, message in command.items()
                    for name, value in zip(message.name, getattr(message, field))),
                'age of the last command, s':
                    f'{1e-9 * (self._node.now_ns() - self._commanded_ns):.3f}',
                'bound of that age, s': f'{control.hold:.3f}'}
        status = DiagnosticStatus(
            level=DiagnosticStatus.ERROR if fault else _LEVELS.get(
                control.phase, DiagnosticStatus.ERROR),
            message='; '.join(filter(None, (control.phase.value, fault))),
            name=self._node.status_name(self._part),
            values=[KeyValue(key=key, value=value) for key, value in values.items()])
        array = DiagnosticArray(status=[*others, status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publish(array)
