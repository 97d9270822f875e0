# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The rows of constraints along a motion, and how they vary with q, v and time.

Closures are those of the kernel, couplings are constant. The Jacobian J of a user's functions is
known along any series of q. Displaced by e t^K, with K coefficients, it has those of E_e J in
coefficients K to 2 K - 1, beside its own (Kronecker's substitution). Time is counted
in a unit in which coefficients of q are small, else its own would swamp them in a fast motion.

How the rows of a user's constraint functions vary with q and v, from series of their Jacobian J.
Along a motion with constant velocity w the second coefficient of J is E_w E_w J / 2. So the mixed
derivatives follow by polarisation, with a bracket where tangents do not commute (13.5).
"""

from functools import cached_property
from math import factorial
from weakref import finalize

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.common.on_demand import weak_cache
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.tables import ConstrainedData
from liedyn_ros.dynamics.constrained.constraints.taylor_numbers import (
    configuration_series, tangent_series)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.closure_rows import (
    FunctionChange, FunctionWeights)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.constraint_rates import (
    add_rate_partials, constraint_series, SCRATCH_WIDTH, vary_constraint_forces, vary_row_series)
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import velocity_brackets
from liedyn_ros.dynamics.tree.screw_tree import convolve


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


class FunctionRows:
    """
    The rows (k, nv) of all functions at q.

    Raises ModelError for a function whose series is not known, or what the functions raise.
    """

    def __init__(self, constraints: Constraints, q: Array) -> None:
        """Look whether their derivatives are known."""
        require_series(constraints)
        self._constraints, self._q = constraints, q
        self.count = sum(each.rows for each in constraints.functions)

    @cached_property
    def slopes(self) -> Array:
        """Return E_e J (nv, k, nv) for the tangents e."""
        n = self._constraints.model.nv
        if not self.count:
            return np.zeros((n, 0, n))
        return np.array([self._series(e[None])[1] for e in np.eye(n)])

    def weights(self, v: Array, a: Array) -> FunctionWeights:
        """Return the functions' part of gradients at a motion, of 4 nv + 1 series."""
        return FunctionWeights(self.slopes, self.acceleration_changes(v, a))

    def change(self, v: Array, a: Array, dq: Array, dv: Array) -> FunctionChange:
        """Return the functions' part of products along dq and dv at a motion, of seven series."""
        slope, along, turned = (self._series(x[None])[1] for x in (dq, v, dv))
        push = slope @ a + self._mixed(v, dq, self._twice(v)) @ v + along @ dv + turned @ v
        return FunctionChange(np.ascontiguousarray(slope), push)

    def acceleration_changes(self, v: Array, a: Array) -> Array:
        """Return D(J a + J' v) (k, 2 nv)."""
        n = len(v)
        result = np.zeros((self.count, 2 * n))
        if not self.count:
            return result
        along, twice = np.tensordot(v, self.slopes, 1), self._twice(v)
        for k, e in enumerate(np.eye(n)):
            result[:, k] = self.slopes[k] @ a + self._mixed(v, e, twice) @ v
            result[:, n + k] = self.slopes[k] @ v + along[:, k]
        return result

    def _mixed(self, v: Array, e: Array, twice: Array) -> Array:
        """Return E_e E_v J (k, nv) by polarisation, twice being E_v E_v J."""
        turned = self._series((velocity_brackets(self._constraints.model, e) @ v)[None])[1]
        return 0.5 * (self._twice(v + e) - twice - self._twice(e) + turned)

    def _twice(self, w: Array) -> Array:
        return 2.0 * self._series(np.array([w, np.zeros_like(w)]))[2]

    def _series(self, rate: Array) -> Array:
        """Return coefficients of J (K + 1, k, nv) along velocities with those (K, nv)."""
        table = self._constraints.model.link_table
        return np.concatenate([each.series_along(table, self._q, rate)
                               for each in self._constraints.functions], axis=1)


def require_series(constraints: Constraints) -> None:
    """Raise ModelError for a function whose series is not known."""
    unknown = [each.name for each in constraints.functions if each.jacobian_series is None]
    if unknown:
        raise ModelError('functions: expected closures and couplings alone, or functions with '
                         f'jacobian_series, whose derivatives are known, got {unknown}')
