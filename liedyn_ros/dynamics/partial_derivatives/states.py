# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of many states at once, shared by all cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.partial_derivatives.tables import results, ScratchBuffers, Shapes
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.inputs import kernel_array, raise_refusal, states_of


class StatePool:
    """Runs a kernel of kernels.states on K states, each thread with scratch buffers of its own."""

    def __init__(self, constants: Constants, buffers: Callable[[ScratchBuffers], tuple[Any, ...]]
                 ) -> None:
        """Take the constants, and which of the scratch buffers a kernel works on."""
        self._constants, self._buffers = constants, buffers
        self._pool = BatchPool(partial(ScratchBuffers, constants))

    def run(self, kernel: Callable[..., tuple[int, int]], kind: type[Any], shapes: Shapes,
            external: ArrayLike | None, q: ArrayLike, **given: ArrayLike) -> Any:
        """
        Return a named tuple of arrays of these shapes, with a first axis of states.

        given are (K, nv) each, in the order of the kernel; y comes behind external. Raises the
        errors of one state, with the state.
        """
        model, q = self._constants.model, states_of(self._constants.model, q)
        taken = {name: kernel_array(name, value, (len(q), model.nv))
                 for name, value in given.items()}
        wrenches = np.empty((len(q), 0, 6)) if external is None else kernel_array(
            'external', external, (len(q), len(model.bodies), 6))
        weights = [taken.pop('y')] if 'y' in taken else []
        result = results(kind, tuple((len(q), *shape) for shape in shapes))

        def task(scratch: ScratchBuffers, *arrays: Array) -> tuple[int, int]:
            return kernel(self._constants.table, *self._buffers(scratch), *arrays)

        s, code = self._pool.run(task, (q, *taken.values(), wrenches, *weights, *result))
        if code != DONE:
            inputs = {**taken, **({'y': weights[0]} if weights else {}),
                      **({} if external is None else {'external': wrenches})}
            raise_refusal(
                model, code, f'[{s}]', q[s], **{name: x[s] for name, x in inputs.items()})
        return result
