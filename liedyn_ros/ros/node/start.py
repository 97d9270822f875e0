# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How a node starts: kernels are compiled in a thread, and requests to configure wait for them."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
import time
from typing import Any

from lifecycle_msgs.msg import Transition
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.task import Future as Answer
from rclpy.timer import Timer

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.node.kernel_progress import KernelProgress
from liedyn_ros.ros.node.warm_up import Behind

LOOK_PERIOD = 0.02  # s; of checks whether the kernels are warm
WARM_TIMEOUT = 3.0  # s; in which kernels are loaded if they are cached


class NotCompiledError(LiedynError):
    """Kernels are still being compiled."""


def no_kernels() -> None:
    """Do nothing: the warm-up of a node without kernels."""


@dataclass
class _Request:
    """A transition that somebody asked for."""

    change: Callable[[], Any]  # makes it, and returns the response
    deadline: float  # s, of the monotonic clock; until then it waits for kernels
    configures: bool  # after what is read for it
    answer: 'Answer[Any]'


class Start:
    """
    The kernels of a node, and the transitions that wait for them.

    All of it happens in the node's default group of callbacks, so no transition runs beside
    another callback. The executor serves others while a transition waits.
    """

    def __init__(self, node: LifecycleNode, warm_up: Callable[[], None],
                 behind: Sequence[Callable[[], None]],
                 read_ahead: Callable[[], Future[Any] | None]) -> None:
        """
        Begin to compile.

        behind: functions that call kernels for which the node does not wait.
        read_ahead: begins to read what `configure` needs; returns None once that is done.
        """
        self._node, self._automatic, self._read_ahead = node, False, read_ahead
        self._starting, self._began = False, time.monotonic()
        self._requests: list[_Request] = []
        self._timer: Timer | None = None
        self._guard = node.create_guard_condition(self._look)
        self._reading: Future[Any] | None = None
        if warm_up is not no_kernels:
            node.get_logger().info('compiling kernels, or loading them from the cache ...')
        self._behind, self._failed = Behind(behind), False
        self._progress = KernelProgress(node, self._behind)
        self._first = self._await(warm_up)
        self._first.add_done_callback(self._load_behind)

    @property
    def going_on(self) -> bool:
        """Return whether kernels are being compiled, or the node is to start by itself."""
        return self._automatic or not self._warm

    def awaited(self, limit: float) -> bool:
        """Return whether the node starts itself, for at most a limit, s: requests wait for it."""
        return (self._automatic or self._starting) and time.monotonic() < self._began + limit

    def require(self) -> None:
        """Raise NotCompiledError where the kernels of every configuration are not there soon."""
        _require(self._first)

    def require_more(self, warm_up: Callable[[], None]) -> None:
        """Compile further kernels; raise NotCompiledError where they are not there soon."""
        _require(self._await(warm_up))

    def automatically(self) -> None:
        """Configure and activate the node once the kernels are warm, unless somebody does."""
        self._automatic = True
        self._look()

    def by_hand(self) -> None:
        """Leave configuration to somebody else."""
        self._automatic = False

    def request(self, transition: Transition, patience: float, change: Callable[[], Any]
                ) -> 'Answer[Any]':
        """
        Make a transition that somebody asked for; return its future response.

        patience, s: how long `configure` waits for kernels. Others wait for nothing.
        """
        is_configure = (transition.label == 'configure' if transition.label
                        else transition.id == Transition.TRANSITION_CONFIGURE)
        deadline = time.monotonic() + (patience if is_configure else 0.0)
        request = _Request(
            change, deadline, is_configure, Answer(executor=self._node.executor))
        self._requests.append(request)
        self._guard.trigger()
        return request.answer

    def close(self) -> None:
        """Start no more."""
        self._automatic = False
        self._stop_looking()
        self._progress.close()
        self._node.destroy_guard_condition(self._guard)

    @property
    def _warm(self) -> bool:
        """Return whether no transition has to wait for kernels."""
        return self._warming.done() and (
            self._behind.beside or self._behind.done or self._failed)

    def _await(self, warm_up: Callable[[], None]) -> 'Future[None]':
        """Begin to compile, and look until that is done."""
        self._warming = self._progress.begin(warm_up)
        if not self._warm:
            self._go_on_looking()
        return self._warming

    def _go_on_looking(self) -> None:
        if self._timer is None:
            self._timer = self._node.create_timer(
                LOOK_PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _look(self) -> None:
        """Tell the progress, and make the transitions that need not wait any more."""
        self._progress.tell()
        if self._progress.compiling and not self._first.done():
            self._behind.start()
        for request in tuple(self._requests):
            self._serve(request)
        if (self._automatic and self._warm and not self._requests
                and self._has_read()):
            self._start()
        if self._warm and self._reading is None:
            self._stop_looking()

    def _has_read(self) -> bool:
        """Return whether all that `configure` needs is read; else a thread reads it."""
        if self._reading is None or self._reading.done():
            self._reading = self._read_ahead()
        if self._reading is None:
            return True
        self._go_on_looking()
        return False

    def _serve(self, request: _Request) -> None:
        """Make a transition, unless it has to wait."""
        if not self._warm and time.monotonic() < request.deadline:
            return
        if request.configures and not self._has_read():
            return
        response = request.change()
        if (not response.success and not self._warm
                and time.monotonic() < request.deadline):
            return  # this configuration needs more kernels
        self._requests.remove(request)
        request.answer.set_result(response)

    def _start(self) -> None:
        """Configure and activate; where more kernels are needed, once they are warm."""
        self._automatic, self._starting = False, True
        if self._node.trigger_configure() is TransitionCallbackReturn.SUCCESS:
            self._node.trigger_activate()
        else:
            self._automatic = not self._warm
        self._starting = False

    def _load_behind(self, first: 'Future[None]') -> None:
        if first.exception() is None:
            self._behind.load()
        else:
            self._failed = True

    def _stop_looking(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None


def _require(kernels: 'Future[None]') -> None:
    wait([kernels], WARM_TIMEOUT)
    if not kernels.done():
        raise NotCompiledError('expected compiled kernels, got a request while they are being '
                               'compiled; configure the node again when the log says that they '
                               'are ready')
    kernels.result()
