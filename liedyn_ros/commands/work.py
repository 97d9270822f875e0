# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Work in parts on all cores of this machine."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
import os
from typing import Any, TypeVar

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.processes import results_of_processes

Part = TypeVar('Part')
Result = TypeVar('Result')
TRIES = 3  # of a part whose process was lost
LOCAL_WORK = argparse.Namespace(jobs=1)  # work in this process


def add_work_options(parser: argparse.ArgumentParser) -> None:
    """Add the option of how many processes share the work."""
    parser.add_argument('--jobs', type=_count, default=cores(),
                        help='processes that share the work, by default one a core')


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else (
        os.cpu_count() or 1)


def results_of(function: Callable[[Part], Result], parts: Sequence[Part], *, jobs: int = 1
               ) -> Iterator[tuple[int, Result]]:
    """
    Yield index and result of each part as they are done; a lost process's part is done again.

    function is one of a module, and a part has all that it needs, its seed too. So results are
    equal bit for bit wherever it runs. Raises what function raises, and LiedynError where the
    processes of a part are lost TRIES times.
    """
    if jobs == 1 or len(parts) < 2:
        yield from ((k, function(part)) for k, part in enumerate(parts))
    else:
        yield from _on_cores(function, parts, min(jobs, len(parts)))


def all_results(function: Callable[[Part], Result], parts: Sequence[Part],
                options: argparse.Namespace) -> list[Result]:
    """Return the results in the order of the parts, where the options of work say."""
    found = dict(results_of(function, parts, jobs=options.jobs))
    return [found[k] for k in range(len(parts))]


def _on_cores(function: Callable[[Part], Result], parts: Sequence[Part], jobs: int
              ) -> Iterator[tuple[int, Result]]:
    left = dict(enumerate(parts))
    for _ in range(TRIES):
        try:
            for k, result in results_of_processes(function, left, jobs, _context(function)):
                del left[k]
                yield k, result
        except BrokenProcessPool:
            continue
        return
    raise LiedynError(f'expected all parts to be done, got {len(left)} whose processes ended '
                      f'{TRIES} times: too little memory for {jobs} at once? Lower --jobs')


def _context(function: Callable[..., Any]) -> BaseContext:
    """Return how processes begin: as forks of one that has the function's modules, if possible."""
    if 'forkserver' not in get_all_start_methods():
        return get_context('spawn')
    context = get_context('forkserver')
    context.set_forkserver_preload([function.__module__])
    return context


def _count(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f'expected a whole number above 0, got {text!r}')
    return value
