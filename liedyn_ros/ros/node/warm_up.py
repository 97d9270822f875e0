# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels compiled, or loaded from the cache, in a thread: once a process for each set of them."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread

_STARTED: dict[Callable[[], None], Future[None]] = {}
_LOCK = Lock()


def start_warm_up(warm_up: Callable[[], None]) -> Future[None]:
    """
    Run a function that calls every kernel of a node in a thread; return its future.

    The function touches nothing else. A node of the same kind that comes later in the process
    finds the kernels warm; one that failed is tried again.
    """
    with _LOCK:
        known = _STARTED.get(warm_up)
        if known is not None and not (known.done() and known.exception()):
            return known
        future = _STARTED[warm_up] = Future[None]()
    Thread(target=_run, args=(warm_up, future), name='warm_up', daemon=True).start()
    return future


def _run(warm_up: Callable[[], None], future: Future[None]) -> None:
    try:
        warm_up()
    except Exception as error:  # raised again where the node is configured
        future.set_exception(error)
    else:
        future.set_result(None)
