# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Kernels compiled, or loaded from the cache, in threads: once a process for each set of them.

What a node needs first is compiled in its own process. The rest is compiled beside, in another
process and on another processor, and then loaded here. With WHEN_ASKED in the environment the
rest is compiled when a request needs it, for those who will never ask.
"""

import atexit
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import cache
import os
import subprocess
from threading import Lock, Thread
import time
from typing import Any

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.jit.beside import compile_beside, name_of

_STARTED: dict[Callable[[], None], Future[None]] = {}
_LOCK = Lock()
WHEN_ASKED = 'LIEDYN_COMPILE_WHEN_ASKED'
TIMEOUT = 300.0  # s, for which a request waits for its kernels
PROCESS_TIMEOUT = 3600.0  # s, for a process that compiles: a node that does holds up callbacks
THREADS = 'warm_up'  # the name of those in which kernels are compiled, or come
LOOK_PERIOD = 0.1  # s; of looks whether the answer is still wanted


def start_warm_up(warm_up: Callable[[], None]) -> Future[None]:
    """
    Run a function that calls every kernel of a node in a thread; return its future.

    The function touches nothing else. A node of the same kind that comes later in the process
    finds the kernels warm; one that failed is tried again.
    """
    future, mine = _claim(warm_up)
    if mine:
        _thread(lambda: _run(warm_up, future))
    return future


def await_kernels(warm_up: Callable[[], None], wanted: Callable[[], bool]) -> None:
    """
    Wait, for a request, until a function has called the kernels that it needs.

    Raises LiedynError after TIMEOUT, and where the answer is not wanted any more.
    """
    kernels, end = start_warm_up(warm_up), time.monotonic() + TIMEOUT
    while wait([kernels], LOOK_PERIOD).not_done:
        if not wanted() or time.monotonic() > end:
            raise LiedynError('expected the compiled kernels of this request, got none yet; ask '
                              'again in a minute')
    kernels.result()


class Behind:
    """Kernels that are needed later: compiled beside, in a process, and then loaded here."""

    def __init__(self, warm_ups: Sequence[Callable[[], None]]) -> None:
        """Name the functions that call them."""
        self._warm_ups = () if WHEN_ASKED in os.environ else tuple(warm_ups)
        self._beside = _process_of(self._warm_ups)
        self._futures: list[Future[None]] = []

    @property
    def done(self) -> bool:
        """Return whether they are all there."""
        return len(self._futures) == len(self._warm_ups) and all(
            future.done() for future in self._futures)

    @property
    def fault(self) -> BaseException | None:
        """Return why some of them are not there and will not come, None where nothing failed."""
        return next((fault for future in self._futures
                     if future.done() and (fault := future.exception()) is not None), None)

    @property
    def beside(self) -> bool:
        """Return whether a process compiles them, or did."""
        return self._beside.started

    def start(self) -> None:
        """Begin to compile them in a process; where none starts, `load` compiles."""
        if self._warm_ups:
            self._beside.start(self._warm_ups)

    def load(self) -> None:
        """Begin to load them, in a thread, once the process has ended."""
        claims = [(warm_up, *_claim(warm_up)) for warm_up in self._warm_ups]
        self._futures = [future for _, future, _ in claims]

        def load() -> None:
            self._beside.wait()
            for warm_up, future, mine in claims:
                if mine:
                    _run(warm_up, future)

        if claims:
            _thread(load)


class _Process:
    """A process that compiles; it ends with this one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    @property
    def started(self) -> bool:
        return self._process is not None

    def start(self, warm_ups: Sequence[Callable[[], None]]) -> None:
        if self._process is None:
            with suppress(OSError):
                self._process = compile_beside([*map(name_of, warm_ups)])
                atexit.register(self._process.terminate)

    def wait(self) -> None:
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(PROCESS_TIMEOUT)
            self._process.terminate()  # which does nothing where it has ended
            atexit.unregister(self._process.terminate)


@cache
def _process_of(_: tuple[Callable[[], None], ...]) -> _Process:
    """Return the one process that compiles for nodes of a kind."""
    return _Process()


def _claim(warm_up: Callable[[], None]) -> tuple[Future[None], bool]:
    """Return the future of a function, and whether it is the caller who runs it."""
    with _LOCK:
        known = _STARTED.get(warm_up)
        if known is not None and not (known.done() and known.exception()):
            return known, False
        future = _STARTED[warm_up] = Future[None]()
        return future, True


def _thread(function: Callable[[], Any]) -> None:
    Thread(target=function, name=THREADS, daemon=True).start()


def _run(warm_up: Callable[[], None], future: Future[None]) -> None:
    try:
        warm_up()
    except Exception as error:  # raised again where the node is configured
        future.set_exception(error)
    else:
        future.set_result(None)
