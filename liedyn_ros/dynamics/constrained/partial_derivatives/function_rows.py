# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How the rows of a user's constraint functions vary with q and v, from series of their Jacobian J.

Along a motion with constant velocity w the second coefficient of J is E_w E_w J / 2. So the mixed
derivatives follow by polarisation, with a bracket where tangents do not commute (13.5).
"""

from functools import cached_property

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.function_rows import (
    FunctionChange, FunctionWeights)
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import velocity_brackets


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
