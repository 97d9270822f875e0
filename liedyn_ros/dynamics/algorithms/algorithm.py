# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Base of inverse, forward and hybrid dynamics: the forms of an algorithm, and how kernels run.

An algorithm is an object with one call for each form:

    algorithm(q, v, ...)                        one state
    algorithm.time_derivatives(q, v, ...)       one state; a, tau, external with an axis of orders
    algorithm.batch(q, v, ...)                  K states, one a row
    algorithm.time_derivatives_batch(q, v, ...) K states, each with an axis of orders

A new algorithm is one module with one such class, and one attribute of Dynamics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.batch.pool import BatchPool
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import kernel_array
from liedyn_ros.jit.bound_kernel import CheckedKernel, Direct


class Forms:
    """
    The forms of an algorithm beside its call, of trees and of closed loops.

    A derivative is always that of the numbers in the array. Coulomb friction counts as constant:
    its jump where a rate turns has no derivative. High orders of forward and hybrid dynamics lose
    digits; the estimate of that takes twice as long as the orders.

    >>> robot.forward.batch([q, q], [v, v], np.zeros((2, 6))).shape
    (2, 6)
    """

    def time_derivatives(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the result of the call with its time derivatives to order r.

        Args:
            q: configuration (nq,), of loops a closed one; rad and m.
            v: velocity (nv,); rad/s and m/s.
            prescribed: of hybrid dynamics, as of its call.
            a: of inverse and hybrid dynamics: (r + 1, nv), the acceleration and its derivatives.
            tau: of forward and hybrid dynamics: (r + 1, nv), joint forces and their derivatives.
            external: wrenches (r + 1, B, 6); by default none.
            out: array that takes the result; by default a new one.
            max_error: largest estimated relative error of an order; with math.inf there is no
                estimate.
            options: those of the call.

        Returns:
            (r + 1, nv), and what else the call has.

        Raises:
            LimitError: for r > 30, and for the first order beyond max_error.
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a state that is wrong or open.

        >>> robot.inverse.time_derivatives(q, v, np.zeros((3, 6))).shape
        (3, 6)
        """
        raise NotImplementedError

    def batch(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the results of K states, on all cores.

        Args:
            q: configurations (K, nq), of loops closed ones; rad and m.
            v: velocities (K, nv); rad/s and m/s.
            prescribed: of hybrid dynamics, as of its call, for all states.
            a: of inverse and hybrid dynamics: accelerations (K, nv); rad/s^2 and m/s^2.
            tau: joint forces (K, nv), of inverse dynamics of loops those of passive joints, by
                default zero; N m and N.
            external: wrenches (K, B, 6) on bodies; by default none.
            actuated: of inverse dynamics of loops, as of its call, for all states.
            redundancy: the same.
            weights: the same.
            within_limits: the same.
            max_error: of loops: largest estimated relative error of an order.
            options: those of the call, for all states.

        Returns:
            the arrays of one state with a first axis of states.

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: naming the first state that is wrong or open.

        >>> robot.inverse.batch([q, q], [v, v], [a, a]).shape
        (2, 6)
        """
        raise NotImplementedError

    def time_derivatives_batch(self, *arguments: Any, **options: Any) -> Any:
        """
        Return the results of K states with time derivatives to order r.

        Args:
            q: configurations (K, nq), of loops closed ones; rad and m.
            v: velocities (K, nv); rad/s and m/s.
            prescribed: of hybrid dynamics, as of its call, for all states.
            a: of inverse and hybrid dynamics: (K, r + 1, nv) with time derivatives.
            tau: of forward and hybrid dynamics: (K, r + 1, nv) with time derivatives.
            external: wrenches (K, r + 1, B, 6) with time derivatives; by default none.
            max_error: largest estimated relative error of an order; with math.inf there is no
                estimate.
            options: those of batch.

        Returns:
            (K, r + 1, nv), and what else batch has.

        Raises:
            LimitError: for r > 30, and for the first order beyond max_error.
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: naming the first state that is wrong or open.

        >>> robot.inverse.time_derivatives_batch([q], [v], np.zeros((1, 3, 6))).shape
        (1, 3, 6)
        """
        raise NotImplementedError


class Algorithm(Forms, Direct):
    """
    The model and the tables that an algorithm works with.

    A call runs one kernel, which holds Python's lock: threads may share an algorithm, and an
    exception or an interrupt leaves nothing behind.

    >>> robot.inverse.batch([q, q], [v, v], [a, a]).shape
    (2, 6)
    """

    def __init__(self, constants: Constants, data: Data, lanes: BatchPool) -> None:
        """Take the constants, the tables of intermediate results, and those of batches."""
        self.model, self._constants, self._data, self._lanes = (
            constants.model, constants, data, lanes)
        self._nq, self._nv, self._bodies = self.model.nq, self.model.nv, len(self.model.bodies)
        self._q_shape, self._v_shape = (self._nq,), (self._nv,)
        self._wrench_shape = (self._bodies, 6)
        self._kernel = self._bind(data)
        # A single value, as threads replace it.
        self._series = 0, self._bind_series(data, data.series_buffer(0))

    def __repr__(self) -> str:
        """Return the kind of dynamics, and the model."""
        return f'<{type(self).__name__} dynamics of {self.model!r}>'

    def _bind(self, data: Data) -> CheckedKernel:
        """Return the kernel of one state."""
        raise NotImplementedError

    def _bind_series(self, data: Data, buffer: Array) -> CheckedKernel:
        """Return the kernel of time derivatives on a scratch buffer of the data's series."""
        raise NotImplementedError

    def _series_to(self, order: int) -> CheckedKernel:
        """Return the kernel of time derivatives up to an order."""
        most, kernel = self._series
        if order > most:
            kernel = self._bind_series(self._data, self._data.series_buffer(order))
            self._series = order, kernel
        return kernel

    def _wrenches_of(self, external: ArrayLike | None, *axes: int) -> Array:
        """Return wrenches (*axes, B, 6), or none, with a first axis of 0."""
        if external is None:
            return np.empty((0, *axes[1:], *self._wrench_shape))
        return kernel_array('external', external, (*axes, *self._wrench_shape))


def of_state(wrenches: Array, state: int) -> dict[str, Array]:
    """Return the wrenches on one state of a batch, if there are any, by name."""
    return {'external': wrenches[state]} if len(wrenches) else {}
