# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A ROS 2 in one process: the nodes under test, a partner that talks to them, one executor."""

from collections import UserList
from collections.abc import Callable
from copy import deepcopy
from itertools import count
import os
import time

from liedyn_interfaces.srv import RetimeTrajectory
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor, TimeoutException
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from support.bench.message_numbers import assert_no_nan, may_have_nan

from liedyn_ros.ros.messages import tf
from liedyn_ros.ros.process.memory import keep_large_blocks_apart

TIMEOUT = 600.0  # s; only a failing test waits that long
WAIT = 0.01  # s, for the first callback between two looks
MAX_CALLBACKS = 100  # between two looks, where callbacks never end
REPLY_TIMEOUT = 5.0  # s; after which a request is sent again
REFUSED = {ChangeState: ChangeState.Request(transition=Transition(label='none')),
           RetimeTrajectory: RetimeTrajectory.Request()}  # of what is sent once
NUMBERS = count()  # of namespaces
DESCRIBES_TYPES = 'start_type_description_service'  # parameter of every node

# This machine only, in one domain, which the processes that tests start inherit.
os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))


def open_context():
    """
    Return a context, which is its own participant.

    Its nodes do not describe types: rclpy never gives that service back. A participant compares
    what a node opens with all that is open, so 300 nodes later a start took three times as long.
    """
    keep_large_blocks_apart()
    context = Context()
    rclpy.init(context=context, args=['--ros-args', '-p', f'{DESCRIBES_TYPES}:=false'])
    return context


def unused_namespace():
    """Return a namespace that no other test uses, of this run or of another in this domain."""
    return f'/test_{os.getpid()}_{next(NUMBERS)}'


class Messages(UserList):
    """Messages as they came, as bytes: each is made when a test looks at it, and most never."""

    def __init__(self, message_type, serialized=()):
        """Take the type of the messages."""
        super().__init__(serialized)
        self._type = message_type

    def __getitem__(self, place):
        """Return a message, or a list of them."""
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        if isinstance(self.data[place], bytes):
            self.data[place] = deserialize_message(self.data[place], self._type)
        return self.data[place]


class Bench:
    """Nodes in their own namespace; the test spins them while it waits for something."""

    def __init__(self, context, namespace):
        """Make the partner; the nodes under test come with `start`."""
        self._context, self.namespace = context, namespace
        self._executor = SingleThreadedExecutor(context=context)
        self._nodes = []
        self._clients = {}
        self.partner = self.adopt(Node(
            'partner', context=context, namespace=namespace, enable_rosout=False,
            start_parameter_services=False))  # nobody asks it
        self._log = self.collect(Log, '/rosout', QoSProfile(
            depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL))

    def close(self):
        """Destroy everything."""
        self._executor.shutdown()
        for node in reversed(self._nodes):
            node.destroy_node()

    def start(self, node_class, cli_args=None, **parameters):
        """Return a started node under test; parameters as a launch file would give them."""
        node = self.add(node_class, cli_args, **parameters)
        self.until(lambda: not node.starting, f'the start of {node.get_name()}')
        return node

    def add(self, node_class, cli_args=None, **parameters):
        """Return a node under test that may not have started yet."""
        return self.adopt(node_class(
            context=self._context, namespace=self.namespace, cli_args=cli_args,
            parameter_overrides=[Parameter(name, value=value)
                                 for name, value in parameters.items()]))

    def adopt(self, node):
        """Return a node that is spun, and destroyed, with the others."""
        self._nodes.append(node)
        self._executor.add_node(node)
        return node

    def until(self, condition: Callable[[], object], what: str, act=lambda: None,
              timeout=TIMEOUT):
        """
        Spin until a condition holds and return what it returned; act before every look.

        Between two acts everything that is ready runs: on a busy machine, too, the nodes take
        what was sent before more is sent.
        """
        end = time.monotonic() + timeout
        while True:
            act()
            if result := condition():
                return result
            if time.monotonic() > end:
                pytest.fail(f'waited {timeout:g} s in vain: {what}', pytrace=False)
            self._run_ready()

    def _run_ready(self):
        """Run what is ready, after a wait for the first of it."""
        timeout = WAIT
        for _ in range(MAX_CALLBACKS):
            try:
                handler, _, _ = self._executor.wait_for_ready_callbacks(timeout_sec=timeout)
            except TimeoutException:
                return
            handler()
            if handler.exception() is not None:
                raise handler.exception()
            timeout = 0.0

    def collect(self, message_type, topic, qos=100):
        """Return a list that every message of a topic is appended to; none has a NaN."""
        messages = Messages(message_type)

        def take(serialized):
            messages.append(serialized)
            if may_have_nan(serialized, message_type):
                assert_no_nan(messages[-1])

        self.partner.create_subscription(message_type, topic, take, qos, raw=True)
        return messages

    def publisher(self, message_type, topic, qos=100):
        """Return a publisher of the partner's."""
        return self.partner.create_publisher(message_type, topic, qos)

    def call(self, service_type, name, **request):
        """
        Return the response of a service, which has no NaN.

        A client may see a service before the service sees the client. The reply is then lost, so a
        request is sent again if none comes. What must be sent only once, as it changes a node's
        state or replaces a run, has a request before it that is refused.
        """
        new = name not in self._clients
        if new:
            self._clients[name] = self.partner.create_client(service_type, name)
        client = self._clients[name]
        self.until(client.service_is_ready, f'service {name}')
        once = service_type in REFUSED
        if once and new:
            self._ask(client, REFUSED[service_type], REPLY_TIMEOUT)
        return self._ask(
            client, service_type.Request(**request), TIMEOUT if once else REPLY_TIMEOUT)

    def _ask(self, client, request, timeout):
        """Return the response to a request, which is sent again after a timeout."""
        futures, due = [], [time.monotonic()]

        def send():
            if time.monotonic() >= due[-1]:
                futures.append(client.call_async(request))
                due.append(time.monotonic() + timeout)

        response = self.until(
            lambda: next((future for future in futures if future.done()), None),
            f'response of {client.srv_name}', act=send).result()
        assert_no_nan(response)
        return response

    def begin_to_configure(self, node):
        """Return the future response to a manager's request to configure a node."""
        name = f'{node.get_name()}/change_state'
        self.call(ChangeState, name, transition=Transition(label='none'))
        return self._clients[name].call_async(ChangeState.Request(
            transition=Transition(id=Transition.TRANSITION_CONFIGURE)))

    def set_parameters(self, node, **values):
        """Return the results of the service that sets parameters, one for each."""
        return self.call(
            SetParameters, f'{node.get_name()}/set_parameters',
            parameters=[Parameter(name, value=value).to_parameter_msg()
                        for name, value in values.items()]).results

    def logged(self, node, severity=LoggingSeverity.ERROR):
        """Return what a node has logged at a severity, as anyone hears it on /rosout."""
        name = node.get_logger().name
        return [entry.msg for entry in self._log
                if entry.name == name and entry.level == severity]

    def until_logged(self, node, text, severity=LoggingSeverity.ERROR):
        """Spin until a node has logged a text."""
        self.until(lambda: any(text in line for line in self.logged(node, severity)),
                   f'{text!r} in the log')


class Broadcaster:
    """Keeps what it is given to broadcast."""

    def __init__(self, monkeypatch, listeners=1):
        """Take the place of that of every node that is configured from now on."""
        self.pub_tf, self.listeners, self.sent = self, listeners, []
        monkeypatch.setattr(tf, 'open_broadcaster', lambda _: self)

    def get_subscription_count(self):
        """Return how many listen."""
        return self.listeners

    def sendTransform(self, transforms):
        """Keep the transforms of one message, which the node fills again."""
        self.sent.append(deepcopy(transforms))
