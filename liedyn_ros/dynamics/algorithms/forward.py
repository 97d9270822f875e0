# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Forward dynamics: the accelerations under joint forces (Kim, Table 3; theory 7.7)."""

from __future__ import annotations

from functools import cached_property
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, output
from liedyn_ros.dynamics.algorithms.algorithm import Algorithm
from liedyn_ros.dynamics.algorithms.hybrid import Hybrid
from liedyn_ros.dynamics.algorithms.kernels.aba import forward
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.partial_derivatives.forward import ForwardPartialDerivatives
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT
from liedyn_ros.dynamics.time_derivatives.kernels.aba import hybrid_derivatives
from liedyn_ros.dynamics.tree.arguments import Arguments, NO_WRENCH_ROWS, NO_WRENCHES
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import order_of_rows
from liedyn_ros.jit.bound_kernel import CheckedKernel, direct


class Forward(Algorithm):
    """
    a of q, v and tau; called as dynamics.forward.

    Arrays are as Dynamics says. Each call raises the errors of Dynamics, SingularError naming a
    coordinate that moves no inertia, and ShapeError where out shares memory with an input.

    >>> robot.forward(q, v, tau).shape
    (6,)
    """

    def __init__(self, constants: Constants, data: Data, lanes: BatchPool, hybrid: Hybrid) -> None:
        """Take hybrid dynamics too, of which batches are a case."""
        super().__init__(constants, data, lanes)
        self._hybrid, self._none = hybrid, np.zeros(self._nv, dtype=bool)

    @direct
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                 external: ArrayLike | None = None, out: Array | None = None) -> Array:
        """
        Return the acceleration under joint forces (ABA).

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            tau: joint forces (nv,); N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            out: array that takes the result; by default a new one.

        Returns:
            a (nv,); rad/s^2 and m/s^2.

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a wrong state.

        >>> np.allclose(robot.forward(q, v, robot.inverse(q, v, a)), a)
        True
        """
        return self._kernel.answer(q, v, tau, NO_WRENCHES if external is None else external, out)

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         external: ArrayLike | None = None, out: Array | None = None,
                         *, max_error: float = NO_DIGIT) -> Array:
        order = order_of_rows('tau', tau, 0, self._nv)
        shape = order + 1, self._nv
        a = np.empty(shape) if out is None else output(out, shape)
        given = (q, v, self._none, a, tau, NO_WRENCH_ROWS if external is None else external)
        taken = self._series_to(order).call(*given) or given
        if order > 0 and max_error != math.inf:
            self._hybrid.require_digits(taken, max_error)
        return a

    def estimate_error(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a: ArrayLike,
                       external: ArrayLike | None = None) -> Array:
        """
        Return the estimated relative error of each order of time_derivatives.

        It is as that of Hybrid.estimate_error.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            tau: (r + 1, nv) with its time derivatives.
            a: result (r + 1, nv).
            external: wrenches (r + 1, B, 6) with time derivatives; by default none.

        Returns:
            (r + 1,).

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> orders = np.zeros((2, 6))
        >>> found = robot.forward.time_derivatives(q, v, orders)
        >>> (robot.forward.estimate_error(q, v, orders, found) < 1e-6).all().item()
        True
        """
        return self._hybrid.estimate_error(q, v, self._none, a, tau, external)

    @cached_property
    def partial_derivatives(self) -> ForwardPartialDerivatives:
        """Return the derivatives of a with respect to all that it depends on: call it."""
        return ForwardPartialDerivatives(self._constants, self.time_derivatives)

    def batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
              external: ArrayLike | None = None) -> Array:
        return self._hybrid.forward_batch(q, v, tau, external)

    def time_derivatives_batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                               external: ArrayLike | None = None, *,
                               max_error: float = NO_DIGIT) -> Array:
        order_of_rows('tau', tau, 1, self._nv)  # which hybrid would call a
        return self._hybrid.time_derivatives_batch(
            q, v, self._none, tau, tau, external, max_error=max_error)[0]

    def _bind(self, data: Data) -> CheckedKernel:
        return CheckedKernel(Arguments(self.model, 'q v tau external out'),
                             forward, self._constants.table, data.table, shape=self._v_shape)

    def _direct_calls(self) -> dict[str, Any]:
        return {'__call__': self._kernel.direct('q v tau external out', None, None)}

    def _bind_series(self, data: Data, buffer: Array) -> CheckedKernel:
        return CheckedKernel(
            Arguments(self.model, 'q v prescribed out tau external', series=True),
            hybrid_derivatives, self._constants.table, data.table, buffer)
