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

"""Many states at once on all cores: kernels release Python's lock, each thread has its tables."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
import os
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.checks import Array
from liedyn_ros.dynamics.kernels.hybrid import DONE
from liedyn_ros.dynamics.workspace import Workspace
from liedyn_ros.model import Layout

# Of topology, links, coordinates, body_row, body_placement, q, v, a, tau, external.
BatchKernel = Callable[..., tuple[int, int]]


# Shares of a batch per core, so that a core that others use too does not hold up the rest, and
# the fewest states worth a share.
SHARES, SMALLEST = 2, 64


class Batch:
    """Threads and a workspace for each of them."""

    def __init__(self, layout: Layout, dissipation: bool) -> None:
        """Start as many threads as this process may use cores."""
        self._cores = len(os.sched_getaffinity(0))
        self._pool = ThreadPoolExecutor(self._cores, thread_name_prefix='liedyn_batch')
        self._spaces: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(self._cores):
            self._spaces.put(Workspace(layout, dissipation))

    def run(self, kernel: BatchKernel, prescribed: NDArray[np.bool_], q: Array, v: Array, a: Array,
            tau: Array, external: Array) -> tuple[int, int]:
        """Return the first state (K for none) that a kernel stopped at, and its code."""
        shares = max(1, min(SHARES * self._cores, len(q) // SMALLEST))
        bounds = np.linspace(0, len(q), shares + 1).astype(int)

        def work(start: int, stop: int) -> tuple[int, int]:
            part, space = slice(start, stop), self._spaces.get()
            try:
                space.prescribe(prescribed)
                space.clear_wrenches()
                state, code = kernel(
                    space.topology, space.links, space.coordinates, space.body_row,
                    space.body_placement, q[part], v[part], a[part], tau[part], external[part])
            finally:
                self._spaces.put(space)
            return start + state, code

        results = list(self._pool.map(work, bounds[:-1], bounds[1:]))
        return next((result for result in results if result[1] != DONE), (len(q), DONE))
