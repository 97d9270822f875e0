# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How a node starts: files are read in a thread, and requests to configure wait for them."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
import time
from typing import Any

from lifecycle_msgs.msg import Transition
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.task import Future as Answer
from rclpy.timer import Timer

READ_LOOK_PERIOD = 0.02  # s; of looks whether all is read


@dataclass
class _Request:
    """A transition that somebody asked for."""

    change: Callable[[], Any]  # makes it, and returns the response
    configures: bool  # after what is read for it
    answer: 'Answer[Any]'


class NodeStart:
    """
    The start of a node by itself, and the transitions that others ask for.

    All of it happens in the node's default group of callbacks, so no transition runs beside
    another callback. The executor serves others while a transition waits.
    """

    def __init__(self, node: LifecycleNode, read_ahead: Callable[[], Future[Any] | None]) -> None:
        """Take a function that begins to read files for `configure`; it returns None once done."""
        self._node, self.automatic, self._read_ahead = node, False, read_ahead
        self._starting, self._began = False, time.monotonic()
        self._requests: list[_Request] = []
        self._timer: Timer | None = None
        self._guard = node.create_guard_condition(self._look)
        self._reading: Future[Any] | None = None

    def awaited(self, limit: float) -> bool:
        """Return whether the node starts itself, for at most a limit, s: requests wait for it."""
        return (self.automatic or self._starting) and time.monotonic() < self._began + limit

    def automatically(self) -> None:
        """Configure and activate the node once all is read, unless somebody does."""
        self.automatic = True
        self._look()

    def by_hand(self) -> None:
        """Leave configuration to somebody else."""
        self.automatic = False

    def request(self, transition: Transition, change: Callable[[], Any]) -> 'Answer[Any]':
        """Make a transition that somebody asked for; return its future response."""
        is_configure = (transition.label == 'configure' if transition.label
                        else transition.id == Transition.TRANSITION_CONFIGURE)
        request = _Request(change, is_configure, Answer(executor=self._node.executor))
        self._requests.append(request)
        self._guard.trigger()
        return request.answer

    def close(self) -> None:
        """Start no more."""
        self.automatic = False
        self._stop_looking()
        self._node.destroy_guard_condition(self._guard)

    def _look(self) -> None:
        """Make the transitions that need not wait any more."""
        for request in tuple(self._requests):
            if not request.configures or self._has_read():
                response = request.change()
                self._requests.remove(request)
                request.answer.set_result(response)
        if self.automatic and not self._requests and self._has_read():
            self._start()
        if self._reading is None:
            self._stop_looking()

    def _has_read(self) -> bool:
        """Return whether all that `configure` needs is read; else a thread reads it."""
        if self._reading is None or self._reading.done():
            self._reading = self._read_ahead()
        if self._reading is None:
            return True
        if self._timer is None:
            self._timer = self._node.create_timer(
                READ_LOOK_PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))
        return False

    def _start(self) -> None:
        self.automatic, self._starting = False, True
        if self._node.trigger_configure() is TransitionCallbackReturn.SUCCESS:
            self._node.trigger_activate()
        self._starting = False

    def _stop_looking(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
