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

"""Derivatives of the dynamics of many states: on all cores, and in the vector lanes of each."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
import os
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.data import Workspace
from liedyn_ros.dynamics.kernels import rows
from liedyn_ros.dynamics.kernels.hybrid import DONE
from liedyn_ros.dynamics.time_derivatives.kernels import table
from liedyn_ros.dynamics.time_derivatives.kernels.batch import hybrid_lanes, inverse_lanes
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model import LinkTable

# Shares of a batch per core, so that a core that others use too does not hold up the rest, and
# the fewest states worth a share.
SHARES, SMALLEST = 4, 4 * LANES


def usable_cores() -> int:
    """Return how many cores this process may use; where that is not told, how many there are."""
    if hasattr(os, 'sched_getaffinity'):  # on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LaneTables:
    """The tables of one thread, each with LANES states; they grow with the order."""

    def __init__(self, link_table: LinkTable, dissipation: bool) -> None:
        """Make what does not depend on the order."""
        self.space = Workspace(link_table, dissipation)
        links, coordinates = len(self.space.links), link_table.nv
        self.state = np.zeros((links, rows.WIDTH, LANES))
        self.pivots = np.zeros((coordinates, rows.COORDINATE_WIDTH, LANES))
        self.series = np.zeros((0, table.WIDTH, LANES))
        self.rates = np.zeros((0, table.RATES_WIDTH, LANES))

    def grow(self, size: int) -> None:
        """Make room for size coefficients of everything."""
        links, coordinates = len(self.state) * size, len(self.pivots) * size
        if len(self.series) < links:
            self.series = np.zeros((links, table.WIDTH, LANES))
            self.rates = np.zeros((coordinates, table.RATES_WIDTH, LANES))

    def inverse(self, q: Array, motion: Array, tau: Array, external: Array) -> tuple[int, int]:
        """Return the first state that was refused, their number if none, and the code."""
        space = self.space
        self.grow(motion.shape[1])
        try:
            return inverse_lanes(
                space.topology, space.links, space.coordinates, space.body_row,
                space.body_placement, self.series, self.rates, q, motion, tau, external)
        finally:
            self._clear(external)

    def hybrid(self, prescribed: NDArray[np.bool_], q: Array, v: Array, a: Array, tau: Array,
               external: Array) -> tuple[int, int]:
        """Return the first state that was refused, their number if none, and the code."""
        space = self.space
        self.grow(a.shape[1] + 1)
        space.prescribe(prescribed)
        try:
            return hybrid_lanes(
                space.topology, space.links, space.coordinates, space.body_row,
                space.body_placement, self.series, self.rates, self.state, self.pivots,
                q, v, a, tau, external)
        finally:
            self._clear(external)

    def _clear(self, external: Array) -> None:
        if len(external):
            self.space.clear_wrenches()
            self.series[:, table.EXTERNAL:table.EXTERNAL + 6] = 0.0


class LaneThreads:
    """Threads and tables for each of them."""

    def __init__(self, link_table: LinkTable, dissipation: bool) -> None:
        """Start threads, with the caller's as many as this process may use cores."""
        self._cores = usable_cores()
        self._pool = ThreadPoolExecutor(
            max(1, self._cores - 1), thread_name_prefix='liedyn_lanes')
        self._tables: SimpleQueue[LaneTables] = SimpleQueue()
        for _ in range(self._cores):
            self._tables.put(LaneTables(link_table, dissipation))

    def run(self, task: Callable[..., tuple[int, int]], *arrays: Array) -> tuple[int, int]:
        """Run a task on shares of all arrays; return the first state to fail, and its code."""
        states = len(arrays[0])
        count = max(1, min(SHARES * self._cores, states // SMALLEST))
        bounds = np.linspace(0, -(-states // LANES), count + 1).astype(int) * LANES
        shares = iter(list(pairwise(bounds)))

        def work() -> list[tuple[int, int]]:
            """Do shares while there are any."""
            tables, failed = self._tables.get(), []
            try:
                for start, stop in shares:
                    state, code = task(tables, *(array[start:stop] for array in arrays))
                    if code != DONE:
                        failed.append((start + state, code))
            finally:
                self._tables.put(tables)
            return failed

        helpers = [self._pool.submit(work) for _ in range(min(self._cores, count) - 1)]
        failed = work()
        for helper in helpers:
            failed += helper.result()
        return min(failed, default=(states, DONE))
