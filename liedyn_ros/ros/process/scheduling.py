# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How the system schedules a node: real-time priority, processors, memory; each where permitted.

Linux only. What the system does not permit is refused with the reason.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
import ctypes
import os
from pathlib import Path
import threading
from typing import Any, TypeVar

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.parameters.parameter_set import Parameter

SCHEDULING = (
    Parameter('realtime_priority', 0, 'priority under SCHED_FIFO of the threads that serve the '
              "node's stream and those of the middleware; 0 for none. All others stay as they "
              'are. It needs the right to real-time priorities (rtprio)', least=0, most=99),
    Parameter('cpu_affinity', [-1], 'numbers of the processors on which the process may run; -1 '
              'for any', least=-1, most=4095),
    Parameter('lock_memory', False, 'keep the memory of the process from being paged out; it '
              'needs the right to lock memory (memlock)'),
)
Value = TypeVar('Value')
OnClose = Callable[[Callable[[], object]], None]
# MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT: what is set aside and never used stays out.
_ALL_MEMORY = 1 | 2 | 4


def schedule(
        values: Mapping[str, Any], streams: Collection[threading.Thread], on_close: OnClose
) -> None:
    """
    Schedule the process as the values of SCHEDULING say, until what on_close is given is called.

    streams: threads that get the priority. Those of the middleware get it too: without them no
    message arrives. All others keep theirs, as equal priorities do not preempt each other: a slow
    service would hold the stream. Raises LiedynError naming the parameter and the reason.
    """
    priority, processors, lock = (values[each.name] for each in SCHEDULING)
    if priority:
        _raise_priority(priority, _urgent(streams), on_close)
    if processors != [-1]:
        _bind(processors, on_close)
    if lock:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mlockall(_ALL_MEMORY):
            raise LiedynError('parameter lock_memory: expected a limit memlock or CAP_IPC_LOCK, '
                              f'got: {os.strerror(ctypes.get_errno())}')
        on_close(libc.munlockall)


def _urgent(streams: Collection[threading.Thread]) -> set[int]:
    """
    Return the threads of the streams and the middleware's.

    The middleware names its threads. Those of libraries that compute have the process's name.
    """
    own = {thread.native_id for thread in threading.enumerate()}
    names = _of_each(_threads() - own, _name)
    return {thread for thread, name in names.items() if name != _name(os.getpid())} | {
        thread.native_id for thread in streams if thread.native_id is not None}


def _name(thread: int) -> str:
    try:
        return Path(f'/proc/self/task/{thread}/comm').read_text(encoding='utf-8')
    except FileNotFoundError as error:
        raise ProcessLookupError from error


def _raise_priority(priority: int, urgent: set[int], on_close: OnClose) -> None:
    before = _of_each(urgent, lambda thread: (
        os.sched_getscheduler(thread), os.sched_getparam(thread)))
    on_close(lambda: _for_each(
        before, 'realtime_priority', 'as before', '',
        lambda thread: os.sched_setscheduler(thread, *before[thread])))
    _for_each(urgent, 'realtime_priority', priority, 'a limit rtprio or CAP_SYS_NICE',
              lambda thread: os.sched_setscheduler(
                  thread, os.SCHED_FIFO, os.sched_param(priority)))


def _bind(processors: list[int], on_close: OnClose) -> None:
    """Bind all threads to processors; those that start later inherit it."""
    usual = os.sched_getaffinity(0)
    before = _of_each(_threads(), os.sched_getaffinity)
    on_close(lambda: _for_each(
        _threads(), 'cpu_affinity', 'as before', '',
        lambda thread: os.sched_setaffinity(thread, before.get(thread, usual))))
    wanted = f'some of {sorted(usual)}'
    _for_each(_threads(), 'cpu_affinity', processors, wanted,
              lambda thread: os.sched_setaffinity(thread, processors))
    # The system passes over those that are absent, as long as one is there.
    absent = sorted(set(processors) - os.sched_getaffinity(0))
    if absent:
        raise LiedynError(f'parameter cpu_affinity: expected {wanted}, got {processors!r}: '
                          f'{absent} absent, or not for this process')


def _threads() -> set[int]:
    """Return all threads of the process."""
    return set(map(int, os.listdir('/proc/self/task')))


def _of_each(threads: Collection[int], read: Callable[[int], Value]) -> dict[int, Value]:
    """Return a value read of each thread, by thread; without threads that have ended."""
    found = {}
    for thread in threads:
        with suppress(ProcessLookupError):  # it has just ended
            found[thread] = read(thread)
    return found


def _for_each(
        threads: Collection[int], name: str, value: Any, wanted: str,
        apply: Callable[[int], None]) -> None:
    for thread in threads:
        try:
            apply(thread)
        except ProcessLookupError:  # it has just ended
            continue
        except (OSError, ValueError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise LiedynError(
                f'parameter {name}: expected {wanted}, got {value!r}: {reason}') from error
