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

"""
How the system schedules a node: real-time priority, processors, memory; each where permitted.

Linux only. What the system does not permit is refused with the reason.
"""

from collections.abc import Callable
from contextlib import suppress
import ctypes
import os
from typing import Any, TypeVar

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.lifecycle import ManagedNode
from liedyn_ros.ros.parameters import Parameter

SCHEDULING = (
    Parameter('realtime_priority', 0, 'priority of all threads of the process under SCHED_FIFO; '
              '0 for none. It needs the right to real-time priorities (rtprio)', least=0, most=99),
    Parameter('cpu_affinity', [-1], 'numbers of the processors on which the process may run; -1 '
              'for any', least=-1, most=4095),
    Parameter('lock_memory', False, 'keep the memory of the process from being paged out; it '
              'needs the right to lock memory (memlock)'),
)
Value = TypeVar('Value')
_ALL_MEMORY = 1 | 2  # MCL_CURRENT | MCL_FUTURE


def schedule(node: ManagedNode) -> None:
    """
    Schedule all threads of the process as the node's parameters say, until the node closes.

    Threads that start later inherit it. Raises LiedynError naming the parameter and the reason.
    """
    priority, processors, lock = (node.parameters[each.name] for each in SCHEDULING)
    if priority:
        policies = _of_each_thread(
            lambda thread: (os.sched_getscheduler(thread), os.sched_getparam(thread)))
        node.on_close(lambda: _for_each_thread(
            'realtime_priority', 'as before', '', lambda thread: os.sched_setscheduler(
                thread, *policies.get(thread, (os.SCHED_OTHER, os.sched_param(0))))))
        _for_each_thread('realtime_priority', priority, 'a limit rtprio or CAP_SYS_NICE',
                         lambda thread: os.sched_setscheduler(
                             thread, os.SCHED_FIFO, os.sched_param(priority)))
    if processors != [-1]:
        usual = os.sched_getaffinity(0)
        allowed = _of_each_thread(os.sched_getaffinity)
        node.on_close(lambda: _for_each_thread(
            'cpu_affinity', 'as before', '', lambda thread: os.sched_setaffinity(
                thread, allowed.get(thread, usual))))
        _for_each_thread('cpu_affinity', processors, f'some of {sorted(usual)}',
                         lambda thread: os.sched_setaffinity(thread, processors))
    if lock:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mlockall(_ALL_MEMORY):
            raise LiedynError('parameter lock_memory: expected a limit memlock or CAP_IPC_LOCK, '
                              f'got: {os.strerror(ctypes.get_errno())}')
        node.on_close(libc.munlockall)


def _of_each_thread(read: Callable[[int], Value]) -> dict[int, Value]:
    """Return what is read of each thread of the process."""
    found = {}
    for thread in map(int, os.listdir('/proc/self/task')):
        with suppress(ProcessLookupError):  # it has just ended
            found[thread] = read(thread)
    return found


def _for_each_thread(
        name: str, value: Any, wanted: str, apply: Callable[[int], None]) -> None:
    for thread in map(int, os.listdir('/proc/self/task')):
        try:
            apply(thread)
        except ProcessLookupError:  # it has just ended
            continue
        except (OSError, ValueError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise LiedynError(
                f'parameter {name}: expected {wanted}, got {value!r}: {reason}') from error
