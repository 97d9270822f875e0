# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A node's side of the bond with a lifecycle manager, as Nav2's asks for.

Both sides publish heartbeats on `bond`, under the node's name. A manager takes its nodes down
where one of them misses heartbeats for `bond_timeout`. The messages are those of the package bond,
which is optional.
"""

from typing import Any
from uuid import uuid4

from rclpy.clock import Clock, ClockType

from liedyn_ros.ros.parameters.parameter_set import Parameter
from liedyn_ros.ros.process.run import RCLError

HEARTBEAT_PERIOD = Parameter(
    'bond_heartbeat_period', 0.1, 'period of the heartbeats to a lifecycle manager; 0 for no bond',
    's', least=0.0, most=10.0)
BOND_TOPIC = 'bond'
BOND_TIMEOUT = 4.0  # s, that bond's own nodes state: the manager has its own
NO_BOND = 'no bond with the lifecycle manager: '
REMEDY = 'set bond_timeout: 0.0 in the manager'
NO_MESSAGES = f'{NO_BOND}expected the package bond, got none; {REMEDY}'


def status_type() -> Any | None:
    """Return the type of the messages, None where the package is not installed."""
    try:
        from bond.msg import Status
    except ImportError:
        return None
    return Status


class Bond:
    """
    Sends heartbeats from the node's executor until the node, or the manager, ends the bond.

    A node that hangs sends none. It does not watch the manager's: no manager that dies stops a
    robot's node.
    """

    def __init__(self, node: Any, message_type: Any, period: float) -> None:
        """Begin; the present state of the node, a ManagedNode, ends it. period: s."""
        self._node, self._type, self._period = node, message_type, period
        self._own, self.whole = str(uuid4()), True
        self._publisher = node.open_publisher(message_type, BOND_TOPIC)
        node.open_subscription(message_type, BOND_TOPIC, self.hear)
        node.on_close(self.end)
        node.open_timer(1.0 / period, self.beat, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.beat()

    def beat(self) -> None:
        """Send a heartbeat, unless the bond has ended."""
        if self.whole:
            self._send(True)

    def hear(self, status: Any) -> None:
        """Confirm the end where the manager ends the bond."""
        others = status.id == self._node.get_name() and status.instance_id != self._own
        if others and not status.active:
            self.end()

    def end(self) -> None:
        """End the bond, and tell the manager."""
        if self.whole:
            self.whole = False
            self._send(False)

    def _send(self, active: bool) -> None:
        status = self._type(
            id=self._node.get_name(), instance_id=self._own, active=active,
            heartbeat_timeout=BOND_TIMEOUT, heartbeat_period=self._period)
        status.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(status)


def join(node: Any) -> None:
    """
    Begin the bond of a ManagedNode that has just become active, if a manager starts it.

    Where the middleware refuses the topic, as a policy of SROS 2 may, the node says so and works.
    """
    period = node.parameters[HEARTBEAT_PERIOD.name]
    if node.parameters['autostart'] or period == 0.0:
        return
    message_type = status_type()
    if message_type is None:
        node.get_logger().info(NO_MESSAGES)
        return
    try:
        Bond(node, message_type, period)
    except RCLError as error:
        node.get_logger().error(f'{NO_BOND}{error}; {REMEDY}')
