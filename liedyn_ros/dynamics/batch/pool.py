# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels over many states: on all cores, and in the vector lanes of each."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
import os
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.time_derivatives.kernels import series
from liedyn_ros.dynamics.time_derivatives.kernels.batch import (
    hybrid_batch, hybrid_batch_order_zero, inverse_batch)
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.jit.simd import LANES

# Shares of a batch per core: a busy core then does not hold up the rest. And the fewest states
# worth a share.
SHARES_PER_CORE, SMALLEST_SHARE = 4, 4 * LANES


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, 'sched_getaffinity'):  # on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LaneTables:
    """The tables of one thread, each with LANES states; they grow with the order."""

    def __init__(self, constants: Constants) -> None:
        """Make the tables that do not depend on the order."""
        self._model, self._links = constants.table, constants.links
        self._data = _lanes_table(constants.rows, tables.DATA_WIDTH)
        self._series = _lanes_table(0, series.SERIES_TABLE_WIDTH)

    def inverse(self, q: Array, v: Array, a: Array, external: Array, tau: Array
                ) -> tuple[int, int]:
        """Return the first state that was refused, their number if none, and the code."""
        self._grow(a.shape[1] + 1)
        return inverse_batch(self._model, self._series, q, v, a, external, tau)

    def hybrid(self, prescribed: NDArray[np.bool_], q: Array, v: Array, a: Array, tau: Array,
               external: Array) -> tuple[int, int]:
        """Return the first state that was refused, their number if none, and the code."""
        self._grow(a.shape[1] + 1)
        run = hybrid_batch_order_zero if a.shape[1] == 1 else hybrid_batch
        return run(
            self._model, self._data, self._series, q, v, prescribed, a, tau, external)

    def _grow(self, size: int) -> None:
        """Grow the buffers to a number of coefficients."""
        if len(self._series) < self._links * size:
            self._series = _lanes_table(self._links * size, series.SERIES_TABLE_WIDTH)


def _lanes_table(rows: int, columns: int) -> Array:
    """Return zeros (rows, columns, LANES), each place in one line of the processor's cache."""
    line = 8 * LANES  # bytes
    memory = np.zeros((rows * columns + 1) * line, dtype=np.uint8)
    start = -memory.ctypes.data % line
    places = memory[start:start + rows * columns * line].view(np.float64)
    return places.reshape(rows, columns, LANES)


class BatchPool:
    """
    The tables of the threads that run batches of one model; made when they are first needed.

    The threads are the process's own: a child after a fork starts others.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        """Start without tables; make returns those of a thread."""
        self._make, self._idle = make, SimpleQueue[Any]()

    def __reduce__(self) -> tuple[type['BatchPool'], tuple[Callable[[], Any]]]:
        """Copy, or pickle, without tables."""
        return BatchPool, (self._make,)

    def run(self, task: Callable[..., tuple[int, int]], arrays: Sequence[Array]
            ) -> tuple[int, int]:
        """Run a task on shares of all arrays; return the first state to fail, and its code."""
        states, cores = len(arrays[0]), usable_cores()
        count = max(1, min(SHARES_PER_CORE * cores, states // SMALLEST_SHARE))
        bounds = np.linspace(0, -(-states // LANES), count + 1).astype(int) * LANES
        shares = iter(list(pairwise(bounds)))

        def work() -> list[tuple[int, int]]:
            """Do shares while there are any."""
            lanes, failed = self._take(), []
            for start, stop in shares:
                state, code = task(lanes, *(array[start:stop] for array in arrays))
                if code != DONE:
                    failed.append((start + state, code))
            self._idle.put(lanes)
            return failed

        helpers = [_threads(cores).submit(work) for _ in range(min(cores, count) - 1)]
        try:
            failed = work()
        finally:  # an interrupt must not return while others still write into the arrays
            found = [helper.result() for helper in helpers]
        return min([*failed, *(each for some in found for each in some)], default=(states, DONE))

    def _take(self) -> Any:
        """Return tables that no other thread uses."""
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._make()


_executors: dict[int, ThreadPoolExecutor] = {}  # the threads of this process


def _threads(cores: int) -> ThreadPoolExecutor:
    """Return the threads that help the caller."""
    if not _executors:
        _executors.setdefault(0, ThreadPoolExecutor(
            max(1, cores - 1), thread_name_prefix='liedyn_lanes'))
    return _executors[0]


if hasattr(os, 'register_at_fork'):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_executors.clear)
