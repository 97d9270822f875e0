# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Parts of work in processes of this machine, which end with what asked for them."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import as_completed, ProcessPoolExecutor
from multiprocessing import active_children, parent_process
from multiprocessing.context import BaseContext
from multiprocessing.synchronize import Semaphore
import os
import signal
from threading import Thread
from typing import TypeVar

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
