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

"""Inverse and hybrid dynamics of many states, to any order in time."""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ShapeError
from liedyn_ros.dynamics.batch.pool import LaneTables, LaneThreads
from liedyn_ros.dynamics.inputs import borrowed, copied, known, mask, stop
from liedyn_ros.dynamics.kernels.hybrid import DONE
from liedyn_ros.dynamics.time_derivatives.time_derivatives import require_order
from liedyn_ros.model import Model


class Batch:
    """What Dynamics says of many states, done: on all cores, and in the vector lanes of each."""

    def __init__(self, model: Model, dissipation: bool) -> None:
        """Start the threads."""
        self.model = model
        self._nv, self._bodies = model.nv, len(model.bodies)
        self._threads = LaneThreads(model.link_table, dissipation)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                external: ArrayLike | None) -> Array:
        """Return the joint forces (K, nv) of states of motion."""
        q = self._positions(q)
        v, a = (borrowed(name, value, (len(q), self._nv)) for name, value in (('v', v), ('a', a)))
        wrenches = self._wrenches(external, len(q))
        tau = np.empty(a.shape)
        s, code = self._threads.run(
            LaneTables.inverse, q, np.stack((v, a), axis=1), tau[:, None], wrenches[:, None])
        if code != DONE:
            stop(self.model, code, f'[{s}]', q[s], v=v[s], a=a[s], **_of_state(wrenches, s))
        return tau

    def hybrid(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
               tau: ArrayLike, external: ArrayLike | None) -> tuple[Array, Array]:
        """Return all accelerations and all joint forces, each (K, nv)."""
        q = self._positions(q)
        wrenches, shape = self._wrenches(external, len(q)), (len(q), self._nv)
        v, a, tau = borrowed('v', v, shape), copied('a', a, shape), copied('tau', tau, shape)
        self._solve(q, v, prescribed, a, tau, wrenches)
        return a, tau

    def inverse_series(self, q: ArrayLike, motion: ArrayLike, order: int,
                       external: ArrayLike | None) -> Array:
        """Return the joint forces (K, order + 1, nv) of motions (K, order + 2, nv)."""
        order, q = require_order(order), self._positions(q)
        motion = borrowed('motion', motion, (len(q), order + 2, self._nv))
        wrenches = self._wrenches(external, len(q), order + 1)
        tau = np.empty((len(q), order + 1, self._nv))
        s, code = self._threads.run(LaneTables.inverse, q, motion, tau, wrenches)
        if code != DONE:
            stop(self.model, code, f'[{s}]', q[s], motion=motion[s], **_of_state(wrenches, s))
        return tau

    def hybrid_series(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                      tau: ArrayLike, order: int, external: ArrayLike | None
                      ) -> tuple[Array, Array]:
        """Return all accelerations and all joint forces, each (K, order + 1, nv)."""
        order, q = require_order(order), self._positions(q)
        shape = (len(q), order + 1, self._nv)
        wrenches = self._wrenches(external, len(q), order + 1)
        v, a, tau = (
            borrowed('v', v, shape[::2]), copied('a', a, shape), copied('tau', tau, shape))
        self._solve(q, v, prescribed, a, tau, wrenches)
        return a, tau

    def _solve(self, q: Array, v: Array, prescribed: ArrayLike, a: Array, tau: Array,
               wrenches: Array) -> None:
        """Complete a and tau (K, nv) or (K, order + 1, nv)."""
        which = mask('prescribed', prescribed, self._nv)
        series = [x if a.ndim == 3 else x[:, None] for x in (a, tau, wrenches)]
        s, code = self._threads.run(partial(_hybrid, which), q, v, *series)
        if code != DONE:
            stop(self.model, code, f'[{s}]', q[s], v=v[s], **known(which, a[s], tau[s]),
                 **_of_state(wrenches, s))

    def _positions(self, q: ArrayLike) -> Array:
        """Return configurations (K, nq)."""
        shape = np.shape(q) if isinstance(q, np.ndarray) else ()
        if len(shape) == 1:
            raise ShapeError(f'q: expected shape (K, {self.model.nq}), a state a row, got {shape}')
        return borrowed('q', q, (shape[0] if shape else -1, self.model.nq))

    def _wrenches(self, external: ArrayLike | None, states: int, *rows: int) -> Array:
        """Return wrenches (K or 0, ..., B, 6)."""
        shape = (*rows, self._bodies, 6)
        if external is None:
            return np.empty((0, *shape))
        return borrowed('external', external, (states, *shape))


def _hybrid(prescribed: NDArray[np.bool_], tables: LaneTables, *arrays: Array) -> tuple[int, int]:
    return tables.hybrid(prescribed, *arrays)


def _of_state(wrenches: Array, state: int) -> dict[str, Array]:
    return {'external': wrenches[state]} if len(wrenches) else {}
