# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The base class of all nodes: a lifecycle node that owns what it opens, and closes it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
import logging
import sys
from threading import RLock, Thread
import time
import traceback
from typing import Any
from weakref import ref

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.client import Client
from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.lifecycle import LifecycleNode, LifecycleState, Publisher, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.node import bond, services
from liedyn_ros.ros.node.services import refuse, require_finite_numbers
from liedyn_ros.ros.node.start import NodeStart
from liedyn_ros.ros.parameters.parameter_set import Parameter, ParameterSet
from liedyn_ros.ros.process import memory
from liedyn_ros.ros.process.run import bound_end, RCLError
from liedyn_ros.ros.process.scheduling import schedule, SCHEDULING
from liedyn_ros.ros.qos import SERVICES, TOPIC_DEPTH

CORE = logging.getLogger('liedyn_ros')


class _Handler(logging.Handler):
    """Handler that passes records of the core's log on to a node."""

    def __init__(self, node: Node) -> None:
        """Take the node, which may be dropped without an end."""
        super().__init__(logging.WARNING)
        self._node = ref(node)

    def emit(self, record: logging.LogRecord) -> None:
        """Log as the node."""
        if (node := self._node()) is not None:
            node.get_logger().warning(record.getMessage())


def pass_on(node: Node) -> Callable[[], None]:
    """Let a node log the warnings of the core; return the function that ends it."""
    handler = _Handler(node)
    CORE.addHandler(handler)
    return lambda: CORE.removeHandler(handler)


TIMER_LOOK_PERIOD = 0.5  # s, of looks at the timers
# Ns beyond its period for which no timer waits, unless its clock was set
LATE_TIMER_NS = 50_000_000


class StepWatch:
    """
    Sets each timer of a node again that waits longer than its period.

    It looks at the timers, not for a step of the clock. A thread that serves a timer during the
    step may arm it by the time before.
    """

    def __init__(self, node: Node) -> None:
        """Start to look; `close` ends that."""
        self._node = node
        self._looks = node.create_timer(
            TIMER_LOOK_PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def close(self) -> None:
        """Look no more."""
        self._node.destroy_timer(self._looks)

    def _look(self) -> None:
        for timer in self._node.timers:
            if _is_late(timer):
                timer.reset()


def _is_late(timer: Timer) -> bool:
    """Return whether a timer that runs is due later than a period from now."""
    left_ns = None if timer.is_canceled() else timer.time_until_next_call()
    return left_ns is not None and left_ns > timer.timer_period_ns + LATE_TIMER_NS


AUTOSTART = Parameter(
    'autostart', True, 'configure and activate at start, without a lifecycle manager')
CONFIGURE_TIMEOUT = Parameter(
    'configure_timeout', 300.0, 'longest time for which requests wait as the node starts itself',
    's', least=0.0, most=3600.0)
OF_ALL_NODES = (AUTOSTART, CONFIGURE_TIMEOUT, bond.HEARTBEAT_PERIOD, *SCHEDULING)

LOG_PERIOD = 1.0  # s; a fault is logged once in that time, in twice that time while it goes on ...
LONGEST_PERIOD = 60.0  # s; ... up to this
WAIT_PERIOD = 10.0  # s; the first for a message about something awaited
INTERNAL_FAULT = 'internal fault'  # a kind of fault
MAX_KINDS, OTHERS = 64, 'others'  # kinds of faults counted apart, and all beyond them
UNCONFIGURED, CONFIGURED = 1, 2  # scopes that are open in these states


class ManagedNode(LifecycleNode):
    """
    A lifecycle node that owns what it opens.

    A subclass defines `prepare`, `configure` and `activate`, and `parameters_changed` for changes
    at run time. `configure` raises LiedynError to stay unconfigured. What they open by `open_...`
    or pass to `on_close` is closed in reverse order, when their state ends or when they fail.
    Cleanup ends `configure`, and deactivate ends `activate`. What `prepare` opened is closed when
    the node is destroyed.

    `lock` guards what callbacks of the executor share with those of a Stream; whoever holds it
    delays the stream.

    The node starts itself once what `read_ahead` reads is there. A manager's request to configure
    waits for it.
    """

    def __init__(self, name: str, parameters: Sequence[Parameter], **options: Any) -> None:
        """
        Declare the parameters and, with `autostart`, start.

        options: those of rclpy's Node (context, namespace, parameter_overrides, ...), for
        several nodes in one process.
        """
        # First, as rclpy destroys a node that an interrupt leaves half built.
        self.active = self.configured = False
        self.lock = RLock()
        # Of each kind of fault: until when it is not logged, and how long that was; s.
        self._quiet_until: dict[type | str, tuple[float, float]] = {}
        self._scopes = [ExitStack()]  # of what is open: for good, if configured, if active
        self._streams: list[Thread] = []  # that serve what matters most
        super().__init__(name, **options)
        try:
            self._declare_and_start(parameters, [*sys.argv, *(options.get('cli_args') or ())])
        except BaseException:  # a signal too: the participant would leave its shared memory
            self.destroy_node()
            raise

    def _declare_and_start(self, parameters: Sequence[Parameter], given: Sequence[str]) -> None:
        """Declare the parameters, prepare, and start."""
        self._follow_clock()
        self.on_close(StepWatch(self).close)
        self.on_close(pass_on(self))
        self._own_group_of_transitions()
        self.parameters = ParameterSet(
            self, (*OF_ALL_NODES, *parameters), lambda: self.configured, self.parameters_changed,
            given)
        self._start = NodeStart(self, self._read_ahead)
        self.on_close(self._start.close)
        of_rclpy = [*self.services]
        self.prepare()
        services.guard(self, of_rclpy, self.complain)
        if self.parameters['autostart']:
            self._start.automatically()

    def prepare(self) -> None:
        """Open publishers and services of every state; called once, before anything starts."""

    def read_ahead(self) -> Future[Any] | None:
        """
        Begin to read, in a thread, what `configure` needs; return the future, None once done.

        For files that may take long. Asked again until it returns None.
        """
        return None

    def configure(self) -> None:
        """Build the node's parts from its parameters; raise LiedynError if that cannot be."""

    def activate(self) -> None:
        """Begin to work."""

    def parameters_changed(self) -> None:
        """Take over parameters that were set at run time."""

    @property
    def starting(self) -> bool:
        """Return whether the node is to start by itself."""
        return self._start.automatic

    @property
    def why_inactive(self) -> str:
        """Return why nothing is answered while the node is not active."""
        state = 'inactive' if self.configured else 'not configured'
        if self.starting:
            state += ' yet: it is starting'
        return f'expected the node to be active, got {state}'

    @property
    def awaited(self) -> bool:
        """Return whether requests wait as the node starts itself, for `configure_timeout`."""
        return self._start.awaited(self.parameters['configure_timeout'])

    def open_publisher(
            self, message_type: Any, topic: str, qos: QoSProfile | int = TOPIC_DEPTH) -> Publisher:
        """Return a publisher that is silent unless the node is active; QoS can be overridden."""
        publisher = self.create_lifecycle_publisher(
            message_type, topic, qos,
            qos_overriding_options=QoSOverridingOptions.with_default_policies())
        if len(self._scopes) > CONFIGURED:
            publisher.on_activate(None)
        self.on_close(lambda: self.destroy_lifecycle_publisher(publisher))
        return publisher

    def open_subscription(
            self, message_type: Any, topic: str, callback: Callable[[Any], object],
            qos: QoSProfile | int = TOPIC_DEPTH, **options: Any) -> Subscription:
        """Subscribe; QoS can be overridden. Options: of create_subscription."""
        subscription = self.create_subscription(
            message_type, topic, callback, qos,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(), **options)
        self.on_close(lambda: self.destroy_subscription(subscription))
        return subscription

    def open_timer(
            self, rate: float, callback: Callable[[], None], **options: Any) -> Timer:
        """Call back at a rate, Hz, by the node's clock; at 0 not until `set_rate` says so."""
        timer = self.create_timer(1.0, callback, **options)
        set_rate(timer, rate)
        self.on_close(lambda: self.destroy_timer(timer))
        return timer

    def open_service(
            self, service_type: Any, name: str, callback: Callable[[Any, Any], object],
            **options: Any) -> Service:
        """
        Open a service, which always answers: see `answer`.

        The callback fills in the response. Options: of create_service, and so for the others.
        """
        service = self.create_service(
            service_type, name, partial(self.answer, callback), qos_profile=SERVICES, **options)
        self.on_close(lambda: self.destroy_service(service))
        return service

    def open_client(self, service_type: Any, name: str, **options: Any) -> Client:
        """Open a client of a service, which loses no answer while it is busy: see SERVICES."""
        client = self.create_client(service_type, name, qos_profile=SERVICES, **options)
        self.on_close(lambda: self.destroy_client(client))
        return client

    def on_close(self, close: Callable[[], object]) -> None:
        """Call a function when the state that is being entered, or the present one, ends."""
        self._scopes[-1].callback(close)

    def start_stream(self, thread: Thread) -> None:
        """Start a thread that has the node's real-time priority, until it ends."""
        thread.start()
        self._streams.append(thread)
        self.on_close(lambda: self._streams.remove(thread))

    def status_name(self, what: str) -> str:
        """Return the name of a part's status in /diagnostics."""
        return f'{self.get_fully_qualified_name().lstrip("/")}: {what}'

    def now_ns(self) -> int:
        """Return the time of the node's clock, ns."""
        if self._time_is_simulated:
            return int(self.get_clock().now().nanoseconds)
        return time.time_ns()  # the same clock: rclpy takes ten times as long to read it

    def time_of_sending(self, sent_ns: int) -> int:
        """
        Return the time, by the node's clock, at which a message without a stamp was sent, ns.

        sent_ns: the same by the system's clock, from the middleware, 0 where it is unknown. By
        simulated time, and where it is unknown, the message counts as sent now.
        """
        return self.now_ns() if self._time_is_simulated or not sent_ns else sent_ns

    def time_is_simulated(self) -> bool:
        """Return whether the node's clock is that of /clock."""
        return self._time_is_simulated

    def _read_ahead(self) -> Future[Any] | None:
        return None if self.configured else self.read_ahead()

    def _follow_clock(self) -> None:
        """Look whether the node's clock is that of /clock, now and whenever that changes."""
        clock = self.get_clock()

        def look(*_: Any) -> None:
            self._time_is_simulated = clock.handle.get_ros_time_override_is_enabled()

        changes = clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=None), post_callback=look)
        self.on_close(changes.unregister)
        look()

    def complain(self, reason: object, kind: str = '') -> None:
        """
        Log a fault as an error; of each kind at most one in a period, longer while it goes on.

        kind: a constant that tells this fault from others; empty for the type of an exception.
        """
        if self._is_due(kind or type(reason), LOG_PERIOD):
            self.get_logger().error(str(reason))

    def answer(self, callback: Callable[[Any, Any], object], request: Any, response: Any) -> Any:
        """Return the response that a callback fills in; where it raises, with the error."""
        try:
            callback(request, response)
            require_finite_numbers(response)
        except LiedynError as error:
            refuse(response, str(error))
        except Exception as error:  # a fault of this package, which must not end the node
            if not self.context.handle.ok():  # nobody waits for the response any more
                raise
            self.complain(traceback.format_exc(), INTERNAL_FAULT)
            refuse(response, f'internal fault: {error!r}')
        return response

    def wait_for(self, reason: object, kind: str) -> None:
        """Log a warning of what has not come yet; of each kind as complain, less often."""
        if self._is_due(f'waiting: {kind}', WAIT_PERIOD):
            self.get_logger().warning(str(reason))

    def _is_due(self, kind: type | str, period: float) -> bool:
        """Return whether a log of a kind is due; rclpy's own throttle costs as much as a log."""
        now = time.monotonic()
        if kind not in self._quiet_until and len(self._quiet_until) >= MAX_KINDS:
            kind = OTHERS  # only kinds that are no constants come to so many
        until, last = self._quiet_until.get(kind, (0.0, 0.0))
        if now < until:
            return False
        if now < until + last:  # it goes on
            period = max(period, min(2.0 * last, LONGEST_PERIOD))
        self._quiet_until[kind] = now + period, period
        return True

    def _LifecycleNodeMixin__change_state(self, transition: int) -> TransitionCallbackReturn:
        """Refuse a transition that the state does not have; Jazzy's rclpy raises (its #1209)."""
        try:
            return super()._LifecycleNodeMixin__change_state(transition)
        except RCLError as error:
            if self.context.handle.ok():
                self.get_logger().error(f'transition {transition} refused: {error}')
            return TransitionCallbackReturn.ERROR

    async def _LifecycleNodeMixin__on_change_state(self, request: Any, response: Any) -> Any:
        """Make a transition by request; `configure` waits for what is read, others are served."""
        return await self._start.request(
            request.transition,
            partial(super()._LifecycleNodeMixin__on_change_state, request, response))

    def _own_group_of_transitions(self) -> None:
        """Let a transition that waits leave the callbacks of the default group alone."""
        service, group = self._service_change_state, MutuallyExclusiveCallbackGroup()
        service.callback_group = group
        group.add_entity(service)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure, or say why not and stay unconfigured."""
        try:
            self._start.by_hand()
            self.parameters.require_valid()
            memory.freeze_all()
            self._scopes.append(ExitStack())
            self.configure()
            schedule({each.name: self.parameters[each.name] for each in SCHEDULING},
                     self._streams, self.on_close)
        except Exception as error:  # any error is logged, and the node stays alive
            self._tell('not configured', error)
            self._close(UNCONFIGURED)
            return TransitionCallbackReturn.FAILURE
        self.configured = True
        memory.freeze()  # the objects of this configuration
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start publishing, or say why not and stay inactive."""
        result = super().on_activate(state)
        self._scopes.append(ExitStack())
        try:
            self.activate()
            bond.join(self)
        except Exception as error:  # any error is logged, and the node stays alive
            self._tell('not activated', error)
            self.on_deactivate(state)
            return TransitionCallbackReturn.FAILURE
        self.active = True
        self.get_logger().info('active')
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop publishing."""
        self._close(CONFIGURED)
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close all that `configure` opened."""
        result = super().on_cleanup(state)
        self._close(UNCONFIGURED)
        return result

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close all that `configure` opened, for good."""
        self._start.by_hand()
        result = super().on_shutdown(state)
        self._close(UNCONFIGURED)
        return result

    def destroy_node(self) -> None:
        """Close everything, and let the middleware delete its participant."""
        try:
            self._close(0)
        finally:  # what cannot be closed leaves no participant
            bound_end()
            super().destroy_node()
            self._state_machine.destroy_when_not_in_use()  # rclpy does not: it would hold the node

    def _close(self, state: int) -> None:
        """Close publishers, services and timers that were opened beyond a state."""
        self.active &= state > CONFIGURED
        self.configured &= state >= CONFIGURED
        while len(self._scopes) > state:
            self._scopes.pop().close()

    def _tell(self, what: str, error: Exception) -> None:
        """Log an error in a transition, which rclpy would pass over without a word."""
        if isinstance(error, RCLError) and not self.context.handle.ok():
            return  # a signal came in the middle of it
        trace = '' if isinstance(error, LiedynError) else f'\n{traceback.format_exc()}'
        self.get_logger().error(f'{what}: {error}{trace}')


def set_rate(timer: Timer, rate: float) -> None:
    """Let a timer call back at a rate, Hz; at 0 not at all."""
    if rate > 0.0:
        timer.timer_period_ns = round(1e9 / rate)
        timer.reset()
    else:
        timer.cancel()


def lateness_ns(timer: Timer) -> int:
    """Return by how much a timer's present call is late, ns of its clock: less than a period."""
    until_next = timer.time_until_next_call()
    return 0 if until_next is None else -until_next % timer.timer_period_ns
