# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An executor for a bench: rclpy's takes 2 ms a look where three nodes have opened 100 things."""

import time

from rclpy.event_handler import EventHandler
from rclpy.exceptions import InvalidHandle
from rclpy.executors import (
    ExternalShutdownException, ShutdownException, SingleThreadedExecutor, TimeoutException)
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.waitable import NumberOfEntities

from liedyn_ros.ros.process.run import RCLError
from liedyn_ros.ros.streams.stream import Aside

EVENTS = 0.1  # s, between looks at events of the middleware, such as a QoS that does not fit
KINDS = 'subscription', 'guard_condition', 'timer', 'client', 'service'  # as a wait set has them


class BenchExecutor(SingleThreadedExecutor):
    """
    Keeps what nodes have opened from one look to the next, until one opens or closes something.

    rclpy's gathers all at each look, and asks each whether its group is busy. Only a callback that
    awaits makes it so. Half of all are events of the middleware: here they wait for a moment.
    """

    def __init__(self, **options):
        """Begin without nodes; options are those of rclpy's."""
        self._stale, self._next_events = True, 0.0
        super().__init__(**options)

    def wake(self):
        """Gather anew: a node has opened or closed something."""
        self._stale = True
        super().wake()

    def add_node(self, node):
        """Serve a node."""
        self._stale = True
        return super().add_node(node)

    def remove_node(self, node):
        """Serve a node no more."""
        self._stale = True
        super().remove_node(node)

    def _wait_for_ready_callbacks(self, timeout_sec=None, nodes=None, condition=lambda: False):
        """Yield what is ready, in the order of rclpy's; a bench gives a timeout alone."""
        end, worked = time.monotonic() + timeout_sec, False
        while not worked:
            for work in self._begun():
                worked = True
                yield work
            for work in self._ready(0.0 if worked else max(end - time.monotonic(), 0.0)):
                worked = True
                yield work
            if not timeout_sec or (not worked and time.monotonic() >= end):
                raise TimeoutException

    def _begun(self):
        """Yield tasks in progress; forget those that are done."""
        with self._tasks_lock:
            tasks = list(self._tasks)
        for task, entity, node in tasks:
            if not (task.executing() or task.done()) and (node is None or node in self._nodes):
                yield task, entity, node
        with self._tasks_lock:
            self._tasks = [each for each in self._tasks
                           if not (each[0].done() or each[0].cancelled())]

    def _ready(self, timeout):
        """Yield handlers of what is ready, after a wait for the first."""
        waiting, waitables = self._wait(timeout)
        if self._is_shutdown:
            raise ShutdownException
        if not self._context.ok():
            raise ExternalShutdownException
        ready = {kind: frozenset(waiting.get_ready_entities(kind)) for kind in KINDS}
        for kind, pointer, _, each in self._entities if ready['guard_condition'] else ():
            if kind == 'guard_condition' and pointer in ready[kind]:
                each._executor_triggered = True  # the wait has taken it, whoever is served first
        for node, each in [each for each in waitables if each[1].is_ready(waiting)]:
            if self.can_execute(each):
                yield self._make_handler(each, node, self._take_waitable), each, node
        for kind, pointer, node, each in self._entities if any(ready.values()) else ():
            if pointer in ready[kind] and self.can_execute(each) and (
                    kind != 'timer' or each.handle.is_timer_ready()):
                take = getattr(self, f'_take_{kind}')
                yield self._make_handler(each, node, take), each, node

    def _wait(self, timeout):
        """Return a wait set in which something is ready, unless none became so, and waitables."""
        for _ in range(10):
            if self._stale:
                self._gather()
            now = time.monotonic()
            if events := now >= self._next_events:
                self._next_events = now + EVENTS
            waitables = [each for each in (*self._waitables, *self._events * events)
                         if self.can_execute(each[1])]
            try:
                with self._context.handle:
                    waiting = self._filled(events, waitables)
                    waiting.wait(int(1e9 * timeout))
                return waiting, waitables
            except (InvalidHandle, RCLError):  # closed, and its node has not said so yet
                self._stale = True
        raise RuntimeError('expected entities that can be waited for')

    def _filled(self, events, waitables):
        """Return the wait set, with events or not, of what can be executed now."""
        if self._sets[events] is None:
            sizes = NumberOfEntities(*(
                len([each for each in self._entities if each[0] == kind]) for kind in KINDS))
            sizes.num_guard_conditions += 2
            for _, each in (*self._waitables, *self._events * events):
                sizes += each.get_num_entities()
            self._sets[events] = rclpy_implementation.WaitSet(
                sizes.num_subscriptions, sizes.num_guard_conditions, sizes.num_timers,
                sizes.num_clients, sizes.num_services, sizes.num_events, self._context.handle)
        waiting = self._sets[events]
        waiting.clear_entities()
        add = {kind: getattr(waiting, f'add_{kind}') for kind in KINDS}
        awaits = bool(self._tasks)
        for kind, _, _, each in self._entities:
            if not awaits or self.can_execute(each):
                add[kind](each.handle)
                if kind == 'guard_condition' and each._executor_triggered:
                    each.trigger()  # nobody has served it yet
        for guard in (self._guard, self._sigint_gc):
            if guard is not None:
                add['guard_condition'](guard.handle)
        for _, each in waitables:
            each.add_to_wait_set(waiting)
        return waiting

    def _gather(self):
        """Note what nodes have opened, but for what streams serve."""
        self._stale = False
        self._entities, self._waitables, self._events = [], [], []
        self._sets = [None, None]  # without events, and with them
        for node in self.get_nodes():
            for kind, opened in (('timer', node.timers), ('subscription', node.subscriptions),
                                 ('guard_condition', node.guards), ('client', node.clients),
                                 ('service', node.services)):
                self._entities += [(kind, each.handle.pointer, node, each) for each in opened
                                   if not isinstance(each.callback_group, Aside)]
            for each in node.waitables:
                if not isinstance(each.callback_group, Aside):
                    (self._events if isinstance(each, EventHandler)
                     else self._waitables).append((node, each))
