# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""
Processes of this machine: for parts of work, and for files of others within limits.

They end with what asked for them. Readers of other packages may run for ever on a faulty file,
take all memory or end the process, so each such file has a process of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import as_completed, ProcessPoolExecutor
import ctypes
import json
from multiprocessing import active_children, parent_process
from multiprocessing.context import BaseContext
from multiprocessing.synchronize import Semaphore
import os
import resource
import signal
import subprocess
import sys
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from liedyn_ros.common.errors import DescriptionError

Key = TypeVar('Key')
Part = TypeVar('Part')
Result = TypeVar('Result')


def results_of_processes(function: Callable[[Part], Result], parts: Mapping[Key, Part],
                         jobs: int, context: BaseContext) -> Iterator[tuple[Key, Result]]:
    """
    Yield key and result of each part as they are done, in as many processes as there are jobs.

    Raises what function raises, and BrokenProcessPool where a process is lost. Parts that are not
    done then, or when the generator is closed, are given up: their processes are killed.
    """
    gate, others = context.Semaphore(0), set(active_children())
    with ProcessPoolExecutor(jobs, context, _begin, (gate,)) as pool:
        try:
            # No part begins before all are submitted and all processes are there. Where one is
            # lost meanwhile, concurrent.futures may wait for another one without end.
            futures = {pool.submit(function, part): key for key, part in parts.items()}
            for _ in range(jobs):
                gate.release()
            for each in as_completed(futures):
                yield futures[each], each.result()
        except BaseException:
            for process in set(active_children()) - others:
                process.kill()
            raise


def _begin(gate: Semaphore) -> None:
    """Let a process wait for its first part, end with its parent, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    gate.acquire()


def end_with_parent() -> None:
    """Let this process of multiprocessing end with its parent, even where that is killed."""
    Thread(target=_await_end_of_parent, daemon=True).start()


def _await_end_of_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


PR_SET_PDEATHSIG = 1  # sys/prctl.h


class ProcessLimits(NamedTuple):
    """Processor time and time (s) of a process, and bytes of its addresses."""

    processor_time: int
    time: int
    memory: int


def answer_of(module: str, request: Any, limits: ProcessLimits, done: str) -> bytes:
    """
    Return the output of `python -m module` for a request (JSON), read by `taken_request`.

    done says what is done with the file, such as 'that xacro expands'. Raises DescriptionError
    where the process takes more than the limits, or fails.
    """
    ended = subprocess.run(
        [sys.executable, '-m', module], stdout=subprocess.PIPE, check=False,
        input=json.dumps([request, limits]).encode(), start_new_session=True,
        env={**os.environ, 'OPENBLAS_NUM_THREADS': '1',
             'PYTHONPATH': os.pathsep.join(filter(None, sys.path))})
    within = {-signal.SIGXCPU: f'{limits.processor_time} s of processor time',
              -signal.SIGALRM: f'{limits.time} s'}.get(ended.returncode)
    if within:
        raise DescriptionError(f'expected a file {done} within {within}, got more')
    if ended.returncode:
        raise DescriptionError(
            f'expected a file {done}, got exit status {ended.returncode} of its process')
    return ended.stdout


def taken_request() -> tuple[Any, ProcessLimits]:
    """
    Return the request to this process and the limits that it has from now on.

    A lower limit that it was given stays. It ends with the process that asked.
    """
    prctl = getattr(ctypes.CDLL(None), 'prctl', None)  # of Linux
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    request, numbers = json.load(sys.stdin)
    limits = ProcessLimits(*numbers)
    for kind, most in ((resource.RLIMIT_CPU, limits.processor_time), (resource.RLIMIT_CORE, 0),
                       (resource.RLIMIT_AS, limits.memory)):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, hard))
    signal.alarm(limits.time)
    return request, limits


def failure_text(error: BaseException, limits: ProcessLimits, done: str) -> str:
    """Return a sentence on an error of a file, or on the memory error inside it."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, MemoryError):
            return f'a file {done} within {limits.memory >> 20} MB of memory, got more'
        inner = getattr(inner, 'exc', None) or inner.__cause__ or inner.__context__
    return f'a file {done}, got {type(error).__name__}: {error}'
