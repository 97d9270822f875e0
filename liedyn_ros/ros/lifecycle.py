# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What all our nodes share: lifecycle, parameters, autostart, and a process that ends cleanly."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import gc
import signal
import time
import traceback
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.parameters import Parameter, ParameterSet

AUTOSTART = Parameter(
    'autostart', True, 'configure and activate at start, without a lifecycle manager')
RCLError = rclpy_implementation.RCLError

LOG_PERIOD = 1.0  # s; a fault that repeats is logged once in that time
END_PERIOD = 0.001  # s; of looking whether rclpy has ended
SIGNALS = signal.SIGINT, signal.SIGTERM  # that tell a process to end


class ManagedNode(LifecycleNode):
    """
    A lifecycle node whose transitions are four methods of the subclass.

    `configure` validates and builds, raising LiedynError to stay unconfigured; `release` undoes
    it. `activate` and `deactivate` switch the work on and off; an error keeps it off.
    `parameters_changed` is called after a run-time change.
    """

    def __init__(self, name: str, parameters: Sequence[Parameter], **options: Any) -> None:
        """
        Declare the parameters and, unless told otherwise, start.

        options: those of rclpy's Node (context, namespace, parameter_overrides, ...), for
        several nodes in one process.
        """
        super().__init__(name, **options)
        self.active = False
        self._configured = False
        self.parameters = ParameterSet(
            self, (AUTOSTART, *parameters), lambda: self._configured, self.parameters_changed)
        if self.parameters['autostart']:
            self.autostart()

    def autostart(self) -> None:
        """Configure and activate: at once, unless a subclass has to prepare for that first."""
        if self.trigger_configure() is TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    def configure(self) -> None:
        """Build what the node needs from its parameters; raise LiedynError if that cannot be."""
        raise NotImplementedError

    def release(self) -> None:
        """Give up what `configure` built, whole or in part."""
        raise NotImplementedError

    def activate(self) -> None:
        """Begin to work."""

    def deactivate(self) -> None:
        """Cease to work, wholly or partly begun."""

    def parameters_changed(self) -> None:
        """Take over parameters that were set at run time."""

    def complain(self, reason: object) -> None:
        """Log a fault of the input, at most once in a period."""
        self.get_logger().error(str(reason), throttle_duration_sec=LOG_PERIOD)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure, or say why not and stay unconfigured."""
        try:
            self.parameters.require_valid()
            self.configure()
        except Exception as error:
            self._tell('not configured', error)
            self.release()
            return TransitionCallbackReturn.FAILURE
        self._configured = True
        gc.collect()
        gc.freeze()  # what lives now lives on: keep the collector's pauses short
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start publishing, or say why not and stay inactive."""
        result = super().on_activate(state)
        self.active = True
        try:
            self.activate()
        except Exception as error:
            self._tell('not activated', error)
            self.on_deactivate(state)
            return TransitionCallbackReturn.FAILURE
        self.get_logger().info('active')
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop publishing."""
        self.active = False
        self.deactivate()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Give up what was configured."""
        result = super().on_cleanup(state)
        self._stop()
        return result

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Give up what was configured, for good."""
        result = super().on_shutdown(state)
        self._stop()
        return result

    def _tell(self, what: str, error: Exception) -> None:
        """Log an error in a transition, which rclpy would pass over without a word."""
        ours = '' if isinstance(error, LiedynError) else f'\n{traceback.format_exc()}'
        self.get_logger().error(f'{what}: {error}{ours}')

    def _stop(self) -> None:
        self.active = self._configured = False
        self.release()


@contextmanager
def until_shutdown(context: Context) -> Iterator[None]:
    """Leave the block quietly when the context ends, wherever in rclpy that is noticed."""
    try:
        yield
    except ExternalShutdownException:
        pass
    except RCLError:
        if context.ok():  # else something was publishing, or about to wait, when it ended
            raise


def run(node_class: Callable[[], ManagedNode], args: Sequence[str] | None = None) -> None:
    """Run one node until the process is told to end."""
    context, building = rclpy.get_default_context(), True

    def end(*_: object) -> None:
        if building:
            ignore_signals()
            raise KeyboardInterrupt
        # In a callback an exception could come out of C++ as any other, so the context has to
        # end; which rclpy does only after it has woken the executor, and that would wait again.
        while context.handle.ok():
            time.sleep(END_PERIOD)

    for number in SIGNALS:
        signal.signal(number, end)
    try:
        rclpy.init(args=args)  # which takes the signals over, and calls this too
        with until_shutdown(context):
            node = node_class()
            building = False
            try:
                rclpy.spin(node)
            finally:
                node.destroy_node()
    except KeyboardInterrupt:
        pass
    finally:
        ignore_signals()
        context.try_shutdown()  # rclpy.try_shutdown would listen again


def ignore_signals() -> None:
    """Let nothing disturb the end: Python, when it is over, would die of a second interrupt."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
