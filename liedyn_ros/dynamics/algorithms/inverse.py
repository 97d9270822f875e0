# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse dynamics: the joint forces of a motion (Kim, Table 2; theory 7.6)."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.algorithms.algorithm import Algorithm, applied, of_state
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.algorithms.kernels.rnea import rnea
from liedyn_ros.dynamics.batch.pool import BatchPool, LaneTables
from liedyn_ros.dynamics.partial_derivatives.inverse import InversePartialDerivatives
from liedyn_ros.dynamics.time_derivatives.kernels.rnea import rnea as rnea_series
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import borrowed, output, refuse, require_own_memory, stop
from liedyn_ros.dynamics.tree.orders import order_of_rows
from liedyn_ros.jit.bound_kernel import BoundKernel


class Inverse(Algorithm):
    """
    tau of q, v and a; called as dynamics.inverse.

    Arrays are as Dynamics says. Each call raises what Dynamics raises, and ShapeError where out
    shares memory with an input.
    """

    def __init__(self, constants: Constants, data: Data, lanes: BatchPool) -> None:
        """Bind the kernel of one state."""
        super().__init__(constants, data, lanes)
        self._kernel = BoundKernel(rnea, *self._tables(None))

    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                 external: ArrayLike | None = None, out: Array | None = None,
                 data: Data | None = None) -> Array:
        """Return tau (nv,); external is (B, 6)."""
        tau = np.empty(self._nv) if out is None else output(out, self._v_shape)
        wrenches = self._no_wrenches if external is None else external
        if data is None and self._kernel.attempt(q, v, a, wrenches, tau):
            return tau
        kernel = self._kernel if data is None else BoundKernel(rnea, *self._tables(data))
        q, v, a = self._position(q), self._rate('v', v), self._rate('a', a)
        wrenches = self._wrenches(external)
        if not kernel(q, v, a, wrenches, tau):
            inputs = {'v': v, 'a': a, **applied(wrenches)}
            require_own_memory(out, q=q, **inputs)
            refuse(self.model, '', q, **inputs)
        return tau

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         external: ArrayLike | None = None, out: Array | None = None,
                         data: Data | None = None) -> Array:
        """
        Return tau and its time derivatives to order r (r + 1, nv).

        a (r + 1, nv) is the acceleration and its derivatives; external is (r + 1, B, 6). A
        derivative is always that of the numbers in the array. Coulomb friction counts as
        constant: its jump where a rate turns has no derivative. Raises LimitError for r > 30.
        """
        if type(a) is not np.ndarray or a.ndim != 2 or not 0 < len(a) <= self._order + 1:
            order = order_of_rows('a', a, 0)
        else:
            order = len(a) - 1
        shape = order + 1, self._nv
        tau = np.empty(shape) if out is None else output(out, shape)
        kernel = self._for_order(order, rnea_series, False, data)
        wrenches = self._no_wrench_rows if external is None else external
        if kernel.attempt(q, v, a, wrenches, tau):
            return tau
        q, v, a = self._position(q), self._rate('v', v), borrowed('a', a, shape)
        wrenches = self._wrench_rows(external, order)
        if not kernel(q, v, a, wrenches, tau):
            inputs = {'v': v, 'a': a, **applied(wrenches)}
            require_own_memory(out, q=q, **inputs)
            refuse(self.model, '', q, **inputs)
        return tau

    @cached_property
    def partial_derivatives(self) -> InversePartialDerivatives:
        """Return the derivatives of tau with respect to all that it depends on: call it."""
        return InversePartialDerivatives(self._constants)

    def batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
              external: ArrayLike | None = None) -> Array:
        """Return tau (K, nv) of q (K, nq), v and a (K, nv), external (K, B, 6)."""
        q = self._states(q)
        v, a = (borrowed(name, value, (len(q), self._nv)) for name, value in (('v', v), ('a', a)))
        wrenches = self._wrenches_of(external, len(q))
        return self._run_batch(q, v, a[:, None], wrenches[:, None])[:, 0]

    def batch_time_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                               external: ArrayLike | None = None) -> Array:
        """Return tau (K, r + 1, nv) of v (K, nv), a (K, r + 1, nv), external (K, r + 1, B, 6)."""
        q, order = self._states(q), order_of_rows('a', a, 1)
        v = borrowed('v', v, (len(q), self._nv))
        a = borrowed('a', a, (len(q), order + 1, self._nv))
        return self._run_batch(q, v, a, self._wrenches_of(external, len(q), order + 1))

    def _run_batch(self, q: Array, v: Array, a: Array, wrenches: Array) -> Array:
        tau = np.empty(a.shape)
        s, code = self._lanes.run(LaneTables.inverse, (q, v, a, wrenches, tau))
        if code != DONE:
            stop(self.model, code, f'[{s}]', q[s], v=v[s],
                 a=a[s] if a.shape[1] > 1 else a[s, 0], **of_state(wrenches, s))
        return tau
