# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse dynamics: the joint forces of a motion (Kim, Table 2; theory 7.6)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, output
from liedyn_ros.dynamics.algorithms.algorithm import Algorithm, of_state
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.algorithms.kernels.rnea import rnea
from liedyn_ros.dynamics.batch.pool import LaneTables
from liedyn_ros.dynamics.partial_derivatives.inverse import InversePartialDerivatives
from liedyn_ros.dynamics.time_derivatives.kernels.rnea import rnea_derivatives
from liedyn_ros.dynamics.tree.constants import Arguments, NO_WRENCH_ROWS, NO_WRENCHES
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import kernel_array, order_of_rows, raise_refusal, states_of
from liedyn_ros.jit.bound_kernel import CheckedKernel, direct


class Inverse(Algorithm):
    """
    tau of q, v and a; called as dynamics.inverse.

    Arrays are as Dynamics says. Each call raises the errors of Dynamics, and ShapeError where out
    shares memory with an input.

    >>> robot.inverse(q, v, a).shape
    (6,)
    """

    @direct
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                 external: ArrayLike | None = None, out: Array | None = None) -> Array:
        """
        Return the joint forces of a motion (RNEA).

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,); rad/s^2 and m/s^2.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            out: array that takes the result; by default a new one.

        Returns:
            tau (nv,); N m and N.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.inverse(q, v, a).shape
        (6,)
        """
        return self._kernel.answer(q, v, a, NO_WRENCHES if external is None else external, out)

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         external: ArrayLike | None = None, out: Array | None = None) -> Array:
        order = order_of_rows('a', a, 0, self._nv)
        shape = order + 1, self._nv
        tau = np.empty(shape) if out is None else output(out, shape)
        self._series_to(order).call(
            q, v, a, NO_WRENCH_ROWS if external is None else external, tau)
        return tau

    @cached_property
    def partial_derivatives(self) -> InversePartialDerivatives:
        """Return the derivatives of tau with respect to all that it depends on: call it."""
        return InversePartialDerivatives(self._constants)

    def batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
              external: ArrayLike | None = None) -> Array:
        q = states_of(self.model, q)
        v, a = (kernel_array(name, value, (len(q), self._nv))
                for name, value in (('v', v), ('a', a)))
        wrenches = self._wrenches_of(external, len(q))
        return self._run_batch(q, v, a[:, None], wrenches[:, None])[:, 0]

    def time_derivatives_batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                               external: ArrayLike | None = None) -> Array:
        q, order = states_of(self.model, q), order_of_rows('a', a, 1, self._nv)
        v = kernel_array('v', v, (len(q), self._nv))
        a = kernel_array('a', a, (len(q), order + 1, self._nv))
        return self._run_batch(q, v, a, self._wrenches_of(external, len(q), order + 1))

    def _bind(self, data: Data) -> CheckedKernel:
        return CheckedKernel(Arguments(self.model, 'q v a external out', done=True),
                             rnea, self._constants.table, data.table, shape=self._v_shape)

    def _direct_calls(self) -> dict[str, Any]:
        return {'__call__': self._kernel.direct('q v a external out', None, None)}

    def _bind_series(self, data: Data, buffer: Array) -> CheckedKernel:
        return CheckedKernel(Arguments(self.model, 'q v a external out', done=True, series=True),
                             rnea_derivatives, self._constants.table, buffer)

    def _run_batch(self, q: Array, v: Array, a: Array, wrenches: Array) -> Array:
        tau = np.empty(a.shape)
        s, code = self._lanes.run(LaneTables.inverse, (q, v, a, wrenches, tau))
        if code != DONE:
            raise_refusal(self.model, code, f'[{s}]', q[s], v=v[s],
                          a=a[s] if a.shape[1] > 1 else a[s, 0], **of_state(wrenches, s))
        return tau
