# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Work on files of others in a process of its own, with limits of time and memory.

Readers of other packages may run for ever on a faulty file, take all memory or end the process.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from typing import Any, NamedTuple

from liedyn_ros.common.errors import DescriptionError


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


def told(error: BaseException, limits: ProcessLimits, done: str) -> str:
    """Return a sentence on an error of a file, or on the memory error inside it."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, MemoryError):
            return f'a file {done} within {limits.memory >> 20} MB of memory, got more'
        inner = getattr(inner, 'exc', None) or inner.__cause__ or inner.__context__
    return f'a file {done}, got {type(error).__name__}: {error}'
