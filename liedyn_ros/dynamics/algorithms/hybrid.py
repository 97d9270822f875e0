# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Forward and hybrid dynamics: of each coordinate either is known (Kim, Tables 3, 4; 7.7)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, output
from liedyn_ros.dynamics.algorithms.algorithm import Algorithm, of_state
from liedyn_ros.dynamics.algorithms.kernels import aba
from liedyn_ros.dynamics.algorithms.kernels.aba import forward
from liedyn_ros.dynamics.batch.pool import BatchPool, LaneTables
from liedyn_ros.dynamics.partial_derivatives.hybrid import (
    ForwardPartialDerivatives, HybridPartialDerivatives)
from liedyn_ros.dynamics.time_derivatives.estimate import ErrorEstimator, NO_DIGIT
from liedyn_ros.dynamics.time_derivatives.kernels import aba as aba_series
from liedyn_ros.dynamics.time_derivatives.kernels.aba import hybrid_derivatives
from liedyn_ros.dynamics.tree.constants import Arguments, Constants, NO_WRENCH_ROWS, NO_WRENCHES
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import (
    copied, kernel_array, known, order_of_rows, raise_refusal, states_of, time_derivatives_of)
from liedyn_ros.dynamics.tree.names import Names
from liedyn_ros.jit.bound_kernel import BoundKernel, CheckedKernel, direct

Prescribed = NDArray[np.bool_] | Sequence[str]


class Completed(NamedTuple):
    """The accelerations a and the joint forces tau of a motion, given ones among them."""

    a: Array
    tau: Array


class Hybrid(Algorithm):
    """
    All of a and tau, from what is known of each; called as dynamics.hybrid.

    prescribed (nv,) is True for velocity coordinates, those of a free base included, whose
    acceleration is given in a. tau gives the force of the others. It may be names instead, as for
    Names.prescribed. Other entries of a and tau are not read. Arrays are as for Dynamics. Each
    call raises the errors of Dynamics, and SingularError naming a coordinate that moves no
    inertia.

    >>> robot.hybrid(q, v, ['elbow'], a, tau).a[2].item()  # as given
    0.2
    """

    def __init__(self, constants: Constants, data: Data, lanes: BatchPool) -> None:
        """Take the arguments of every algorithm."""
        super().__init__(constants, data, lanes)
        self._names = Names(self.model)

    def __call__(self, q: ArrayLike, v: ArrayLike, prescribed: Prescribed, a: ArrayLike,
                 tau: ArrayLike, external: ArrayLike | None = None) -> Completed:
        """
        Return all accelerations and joint forces, one of both being given for each coordinate.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: (nv,), True where a is given, or names as for Names.prescribed.
            a: (nv,), read where prescribed.
            tau: (nv,), read elsewhere.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            a and tau, each (nv,).

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a wrong state.

        >>> robot.hybrid(q, v, ['elbow'], a, np.zeros(6)).tau.shape
        (6,)
        """
        which = self._mask(prescribed)
        a, tau = copied('a', a, self._v_shape), copied('tau', tau, self._v_shape)
        self._kernel.call(q, v, which, a, tau, NO_WRENCHES if external is None else external)
        return Completed(a, tau)

    def time_derivatives(self, q: ArrayLike, v: ArrayLike, prescribed: Prescribed, a: ArrayLike,
                         tau: ArrayLike, external: ArrayLike | None = None, *,
                         max_error: float = NO_DIGIT) -> Completed:
        which, order = self._mask(prescribed), order_of_rows('a', a, 0, self._nv)
        shape = order + 1, self._nv
        a = time_derivatives_of('a', a, shape, copied)
        tau = time_derivatives_of('tau', tau, shape, copied)
        given = (q, v, which, a, tau, NO_WRENCH_ROWS if external is None else external)
        taken = self._series_to(order).call(*given) or given
        if order > 0 and max_error != math.inf:
            self.require_digits(taken, max_error)
        return Completed(a, tau)

    def estimate_error(self, q: ArrayLike, v: ArrayLike, prescribed: Prescribed, a: ArrayLike,
                       tau: ArrayLike, external: ArrayLike | None = None) -> Array:
        """
        Return the estimated relative error of each order of a and tau from time_derivatives.

        It is relative to the largest entry of a or of tau in an order. The estimate is 0.1 to 10
        times the error in 99 % of cases, where masses span up to six decades.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: names of joints or coordinates, or a mask (nv,), of those whose
                acceleration is given; tau gives the force of the others.
            a: result (r + 1, nv).
            tau: result (r + 1, nv).
            external: wrenches (r + 1, B, 6) with time derivatives; by default none.

        Returns:
            (r + 1,).

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> orders = np.zeros((2, 6))
        >>> found = robot.hybrid.time_derivatives(q, v, ['elbow'], orders, orders)
        >>> robot.hybrid.estimate_error(q, v, ['elbow'], *found).shape
        (2,)
        """
        which, order = self._mask(prescribed), order_of_rows('a', a, 0, self._nv)
        a = time_derivatives_of('a', a, (order + 1, self._nv))
        return self._estimator.error(*self._rows.prepare(
            q, v, which, a, tau, NO_WRENCH_ROWS if external is None else external))

    @cached_property
    def _estimator(self) -> ErrorEstimator:
        return ErrorEstimator(self._constants)

    @cached_property
    def partial_derivatives(self) -> HybridPartialDerivatives:
        """Return the derivatives of a and tau by q, v and by what is given of either."""
        return HybridPartialDerivatives(self._constants, self, self._mask)

    def batch(self, q: ArrayLike, v: ArrayLike, prescribed: Prescribed, a: ArrayLike,
              tau: ArrayLike, external: ArrayLike | None = None) -> Completed:
        q = states_of(self.model, q)
        shape, wrenches = (len(q), self._nv), self._wrenches_of(external, len(q))
        v, a, tau = kernel_array('v', v, shape), copied('a', a, shape), copied('tau', tau, shape)
        self._run_batch(q, v, self._mask(prescribed), a[:, None], tau[:, None], wrenches[:, None])
        return Completed(a, tau)

    def forward_batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                      external: ArrayLike | None = None) -> Array:
        """
        Return the accelerations of K states under forces: the batch of forward dynamics.

        Args:
            q: configurations (K, nq); rad and m.
            v: velocities (K, nv); rad/s and m/s.
            tau: (K, nv); N m and N.
            external: wrenches (K, B, 6) on bodies; by default none.

        Returns:
            a (K, nv).

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a state of other shapes, or one that is not finite.

        >>> robot.hybrid.forward_batch([q], [v], [tau]).shape
        (1, 6)
        """
        q = states_of(self.model, q)
        shape, wrenches = (len(q), self._nv), self._wrenches_of(external, len(q))
        v, tau, a = kernel_array('v', v, shape), kernel_array('tau', tau, shape), np.empty(shape)
        none = np.zeros(self._nv, dtype=bool)
        self._run_batch(q, v, none, a[:, None], tau[:, None], wrenches[:, None])
        return a

    def time_derivatives_batch(self, q: ArrayLike, v: ArrayLike, prescribed: Prescribed,
                               a: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None,
                               *, max_error: float = NO_DIGIT) -> Completed:
        q, order = states_of(self.model, q), order_of_rows('a', a, 1, self._nv)
        shape = len(q), order + 1, self._nv
        v = kernel_array('v', v, shape[::2])
        a, tau = copied('a', a, shape), copied('tau', tau, shape)
        wrenches, which = self._wrenches_of(external, len(q), order + 1), self._mask(prescribed)
        self._run_batch(q, v, which, a, tau, wrenches)
        if order > 0 and max_error != math.inf:
            self._estimator.require_batch_digits(q, v, which, a, tau, wrenches, max_error)
        return Completed(a, tau)

    def require_digits(self, taken: tuple[Any, ...], max_error: float) -> None:
        """
        Raise the error of time derivatives whose digits are lost.

        Args:
            taken: the arguments of estimate_error, checked.
            max_error: largest estimated relative error of an order.

        Raises:
            LimitError: for the first order whose estimated error exceeds it.

        >>> orders, none = np.zeros((2, 6)), np.zeros((2, len(model.bodies), 6))
        >>> mask = ld.Names(model).mask('prescribed', ['elbow'])
        >>> found = robot.hybrid.time_derivatives(q, v, mask, orders, orders)
        >>> robot.hybrid.require_digits((q, v, mask, *found, none), 1e-3)
        """
        self._estimator.require_digits(taken, max_error)

    def _bind(self, data: Data) -> CheckedKernel:
        return CheckedKernel(Arguments(self.model, 'q v prescribed a tau external'),
                             aba.hybrid, self._constants.table, data.table)

    def _bind_series(self, data: Data, buffer: Array) -> CheckedKernel:
        return CheckedKernel(
            self._rows, aba_series.hybrid_derivatives, self._constants.table, data.table,
            buffer)

    @cached_property
    def _rows(self) -> Arguments:
        return Arguments(self.model, 'q v prescribed a tau external', series=True)

    def _mask(self, prescribed: Prescribed) -> NDArray[np.bool_]:
        return self._names.mask('prescribed', prescribed)

    def _run_batch(self, q: Array, v: Array, which: NDArray[np.bool_], a: Array, tau: Array,
                   wrenches: Array) -> None:
        def task(tables: LaneTables, *arrays: Array) -> tuple[int, int]:
            return tables.hybrid(which, *arrays)

        s, code = self._lanes.run(task, (q, v, a, tau, wrenches))
        if code > aba.DONE:  # a pivot is small: more is known of a state alone
            s, code = self._run_singly(q, v, which, a, tau, wrenches)
        if code != aba.DONE:
            rows = (a[s], tau[s]) if a.shape[1] > 1 else (a[s, 0], tau[s, 0])
            raise_refusal(self.model, code, f'[{s}]', q[s], v=v[s], **known(which, *rows),
                          **of_state(wrenches, s))

    def _run_singly(self, q: Array, v: Array, which: NDArray[np.bool_], a: Array, tau: Array,
                    wrenches: Array) -> tuple[int, int]:
        """Return the first state that is refused, their number if none, and the code."""
        data = Data(self._constants)
        kernel = BoundKernel(
            aba_series.hybrid_derivatives, self._constants.table, data.table,
            data.series_buffer(a.shape[1] - 1))
        for s in range(len(q)):
            external = wrenches[s] if len(wrenches) else NO_WRENCH_ROWS
            code = kernel.call(q[s], v[s], which, a[s], tau[s], external)
            if code != aba.DONE:
                return s, code
        return len(q), aba.DONE


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
