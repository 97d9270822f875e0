# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Parts of work in processes of this machine."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import as_completed, ProcessPoolExecutor
from multiprocessing.context import BaseContext
from typing import TypeVar

Key = TypeVar('Key')
Part = TypeVar('Part')
Result = TypeVar('Result')


def results_of_processes(function: Callable[[Part], Result], parts: Mapping[Key, Part],
                         jobs: int, context: BaseContext) -> Iterator[tuple[Key, Result]]:
    """
    Yield key and result of each part as they are done, in as many processes as there are jobs.

    The first part begins once all processes have. Where one is lost while another starts,
    concurrent.futures waits without end, and refuses further parts. Raises what function raises,
    and BrokenProcessPool where a process is lost.
    """
    gate = context.Event()
    with ProcessPoolExecutor(jobs, context, gate.wait) as pool:
        try:
            futures = {pool.submit(function, part): key for key, part in parts.items()}
        finally:
            gate.set()
        for each in as_completed(futures):
            yield futures[each], each.result()
