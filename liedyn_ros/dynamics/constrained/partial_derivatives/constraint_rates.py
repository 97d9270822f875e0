# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The rows of constraints along a motion, and how they vary with q, with all time derivatives.

Closures are those of the kernel, couplings are constant. The Jacobian J of a user's functions is
known along any series of q. Displaced by e t^K, with K coefficients, it has those of E_e J in
coefficients K to 2 K - 1, beside its own (Kronecker's substitution). Time is counted
in a unit in which coefficients of q are small, else its own would swamp them in a fast motion.
"""

from math import factorial
from weakref import finalize

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.on_demand import weak_cache
from liedyn_ros.dynamics.constrained.constraints.configuration_series import (
    configuration_series, tangent_series)
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.tables import ConstrainedData
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.constraint_rates import (
    add_rate_partials, constraint_series, SCRATCH_WIDTH, vary_constraint_forces, vary_row_series)
from liedyn_ros.dynamics.tree.taylor import convolve


class ConstraintRates:
    """
    The rows of constraints along a motion v, v', ... (K, nv) from q.

    rows (K, m, nv) are A, A', ... The functions must have a jacobian_series. Its own tables hold
    the series; after its end a later object of the same dynamics takes them.
    """

    def __init__(self, constraints: Constraints, q: Array, motion: Array) -> None:
        """Write all series."""
        idle = _idle_tables(constraints)
        data = idle.pop() if idle else constraints.data.twin()
        finalize(self, idle.append, data)
        data.reserve(len(motion) - 2)
        data.share(constraints.data)  # closures move
        self._constraints, self._workspace = constraints, data.workspace
        self._first = constraints.m - sum(each.rows for each in constraints.functions)
        self._factorial = np.array([float(factorial(k)) for k in range(len(motion))])
        self._motion, self._gamma = motion, np.zeros((len(motion), len(motion), 6, 6))
        rate, n = self._coefficients(motion), constraints.model.nv
        self._rows = np.zeros((len(motion), constraints.m, n))
        constraint_series(self._workspace, q, rate, self._rows)
        self._slopes: Array = np.zeros((len(motion), n, 0, n))
        if constraints.functions:
            self._rows[:, self._first:], self._slopes = self._functions(q, rate)
        self.rows = self._derivatives('rows', self._rows)

    def vary_rows(self, rates: Array) -> Array:
        """Return D_q(A y) (k, m, nv) and its time derivatives, rates (k, nv) being y, y', ..."""
        y, count = self._coefficients(rates), len(rates)
        field = np.zeros((count, self._constraints.model.link_table.N + 1, 6))
        result = np.zeros((count, *self.rows.shape[1:]))
        vary_row_series(self._workspace, field, np.zeros((count, SCRATCH_WIDTH)), y, result)
        if self._constraints.functions:
            result[:, self._first:] += convolve(
                self._slopes[:count], y, lambda slope, z: (slope @ z).T)
        return self._derivatives('rows', result)

    def vary_forces(self, multipliers: Array) -> Array:
        """Return D_q(A^T lam) (k, nv, nv) and its own, multipliers (k, m) being lam, lam', ..."""
        lam, count = self._coefficients(multipliers), len(multipliers)
        n = self.rows.shape[2]
        result = np.zeros((count, n, n))
        vary_constraint_forces(self._workspace, np.zeros((count, SCRATCH_WIDTH)), lam, result)
        if self._constraints.functions:
            result += convolve(self._slopes[:count], lam[:, self._first:],
                               lambda slope, x: np.einsum('ekj,k->je', slope, x))
        return self._derivatives('forces', result)

    def add_partials(self, part: Array, m: int, first: int, factor: float, to: int, out: Array
                     ) -> None:
        """Add factor times what part f_m gives to f^(first), ..., as the kernel does (13.34)."""
        add_rate_partials(self._workspace, part, m, self._factorial, self._motion, self._gamma,
                          first, factor, to, out)

    def _functions(self, q: Array, rate: Array) -> tuple[Array, Array]:
        """Return coefficients of J (K, k, nv) and of E_e J (K, nv, k, nv)."""
        table, count = self._constraints.model.link_table, len(rate)
        along = configuration_series(table, q, rate[:-1])
        units = _unit_of_time(along) ** np.arange(count)
        along *= units[:, None]
        tangents = tangent_series(table, along)
        still = np.vstack([along, np.zeros_like(along)])
        own = self._series(still)
        slopes = np.zeros((count, table.nv, *own.shape[1:]))
        for e in range(table.nv):
            displaced = still + np.vstack([np.zeros_like(along), tangents[:, e]])
            slopes[:, e] = (self._series(displaced) - own)[count:]
        return own[:count] / units[:, None, None], slopes / units[:, None, None, None]

    def _series(self, q: Array) -> Array:
        """Return coefficients of J, given those of q (K, nq)."""
        return np.concatenate([each.series_at(q, self._constraints.model.nv)
                               for each in self._constraints.functions], axis=1)

    def _coefficients(self, derivatives: Array) -> Array:
        count, axes = len(derivatives), (1,) * (derivatives.ndim - 1)
        return derivatives / self._factorial[:count].reshape(-1, *axes)

    def _derivatives(self, name: str, coefficients: Array) -> Array:
        count, axes = len(coefficients), (1,) * (coefficients.ndim - 1)
        return as_array(name, coefficients * self._factorial[:count].reshape(-1, *axes),
                        coefficients.shape)


def _unit_of_time(q: Array) -> float:
    """Return the power of two, at most one, by which coefficients of q (K, nq) are below one."""
    largest = np.abs(q[1:]).max(axis=1, initial=0.0)
    rates = largest ** (1.0 / np.arange(1, len(q)))
    return float(2.0 ** -np.ceil(np.log2(rates.max(initial=1.0))))


@weak_cache
def _idle_tables(constraints: Constraints) -> list[ConstrainedData]:
    """Return the tables of the kernels that are free for use."""
    return []
