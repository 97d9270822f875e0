# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A process that runs one node until it is asked to end, and then ends cleanly."""

import atexit
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
import faulthandler
import gc
import inspect
import os
from pathlib import Path
import signal
import sys
from tempfile import TemporaryFile
from threading import current_thread, Thread
import time

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from liedyn_ros.ros.parameters.parameter_files import files_of_others
from liedyn_ros.ros.process import memory

RCLError = rclpy_implementation.RCLError

END_PERIOD = 0.001  # s; of checks whether rclpy has ended
GARBAGE_PERIOD = 1.0  # s; what lives since configuration is frozen, so little is looked at
SWITCH_INTERVAL = 0.0005  # s, after which Python's lock goes to a thread that waits for it
END_LIMIT = 20.0  # s, for the middleware to delete what it has; seen: 0.1 s, and once never
SIGNALS = signal.SIGINT, signal.SIGTERM  # that end a process
_runs_process = False
_INSIDE: dict[Thread, Context] = {}  # threads inside until_shutdown


@contextmanager
def until_shutdown(context: Context) -> Iterator[None]:
    """
    Leave the block quietly once a signal has ended the context, wherever that is noticed.

    Python does not end before every thread has left its block, even if no node was destroyed.
    """
    # Context.ok would wait for a thread that ends the context and joins this one.
    thread, running = current_thread(), context.handle.ok
    _INSIDE[thread] = context
    try:
        yield
    except ExternalShutdownException:
        pass
    except RCLError:
        if running():  # else something was publishing, or about to wait, when it ended
            raise
    finally:
        del _INSIDE[thread]


@atexit.register
def _leave_blocks() -> None:
    """End the threads: one that returns from C++ once Python has ended aborts the process."""
    for thread, context in list(_INSIDE.items()):
        _end(context)
        thread.join()


def _end(context: Context) -> None:
    """End a context that rclpy may be ending because of a signal."""
    with suppress(RCLError):
        context.try_shutdown()  # rclpy.try_shutdown would listen to signals again


def run(node_class: Callable[[], Node], args: Sequence[str] | None = None) -> None:
    """Run one node until the process is asked to end."""
    global _runs_process
    context, building, _runs_process = rclpy.get_default_context(), True, True
    sys.setswitchinterval(SWITCH_INTERVAL)
    memory.take_over()
    memory.keep_large_blocks_apart()
    know_modules()

    def end(*_: object) -> None:
        if building:
            ignore_signals()
            raise KeyboardInterrupt
        # In a callback an exception could leave C++ as any other, so the context has to end.
        # rclpy ends it only after it has woken the executor, which would wait again.
        while context.handle.ok():
            time.sleep(END_PERIOD)

    for number in SIGNALS:
        signal.signal(number, end)
    try:
        given = sys.argv if args is None else args
        no_logs = why_no_log_files()
        # This takes the signals over, and calls what took them before.
        rclpy.init(args=[*given, *LOG_ARGUMENTS] if no_logs else args)
        with until_shutdown(context):
            node = node_class()
            for line in filter(None, (no_logs, *files_of_others(
                    node.get_fully_qualified_name(), given))):
                node.get_logger().warning(line)
            building = False
            node.create_timer(GARBAGE_PERIOD, gc.collect, clock=Clock(
                clock_type=ClockType.STEADY_TIME))
            try:
                rclpy.spin(node)
            finally:
                node.destroy_node()
                rclpy.get_global_executor().shutdown()  # what it was to call holds the participant
    except KeyboardInterrupt:
        pass
    finally:
        ignore_signals()
        _end(context)


def bound_end() -> None:
    """
    End the process that `run` runs after END_LIMIT, with a traceback of where it stands.

    Fast DDS hung once as it deleted its participant. No thread of Python runs meanwhile.
    """
    if _runs_process:
        with suppress(AttributeError, ValueError, RuntimeError):  # no standard error
            faulthandler.dump_traceback_later(END_LIMIT, exit=True)


def ignore_signals() -> None:
    """
    Ignore signals while the process ends: Python would die of a second interrupt.

    One that has come already is passed over first: Python would write of a race.
    """
    for handler in (lambda *_: None, signal.SIG_IGN):
        for number in SIGNALS:
            signal.signal(number, handler)


LOG_ARGUMENTS = '--ros-args', '--disable-external-lib-logs'  # arguments of rclpy.init


def log_folder() -> Path:
    """Return where rcl writes log files: ROS_LOG_DIR, or log in ROS_HOME, by default ~/.ros."""
    home = os.environ.get('ROS_HOME') or '~/.ros'
    return Path(os.environ.get('ROS_LOG_DIR') or f'{home}/log').expanduser()


def why_no_log_files() -> str:
    """Return why no log file can be written, or nothing: rclpy.init raises an error then."""
    folder = log_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return ''
    except OSError as error:
        return (f'{folder}: expected a folder for log files, got {error.strerror}: '
                'the log goes to the console and to /rosout alone')


LOGGED_PACKAGES = 'liedyn_ros.', 'rclpy.'  # whose lines log


def know_modules() -> None:
    """
    Tell Python's table of files which module is where, as far as modules log.

    Else it asks the disk for the files of all modules at the first line, which takes 60 ms.
    """
    table: dict[str, str] = getattr(inspect, 'modulesbyfile', {})
    for name, module in tuple(sys.modules.items()):
        file = getattr(module, '__file__', None) if name.startswith(LOGGED_PACKAGES) else None
        if file is not None:
            table.setdefault(file, name)
