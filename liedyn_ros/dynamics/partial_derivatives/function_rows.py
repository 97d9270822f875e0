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

"""
How the rows of a user's constraint functions vary with q and v, from series of their Jacobian J.

Along a motion with constant velocity w the second coefficient of J is E_w E_w J / 2. So the mixed
derivatives follow by polarisation, with a bracket where tangents do not commute (13.5).
"""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.partial_derivatives.time_derivatives import velocity_brackets


class FunctionRows:
    """
    The rows (k, nv) of all functions at q: slopes (nv, k, nv) are their derivatives E_e J.

    Raises ModelError for a function whose series is not known, or what the functions raise.
    """

    def __init__(self, dynamics: ConstrainedDynamics, q: Array) -> None:
        """Differentiate them once."""
        unknown = [each.name for each in dynamics.functions if each.jacobian_series is None]
        if unknown:
            raise ModelError('functions: expected closures and couplings alone, or functions with '
                             f'jacobian_series, whose derivatives are known, got {unknown}')
        self._dynamics, self._q, n = dynamics, q, dynamics.model.nv
        self.count = sum(each.rows for each in dynamics.functions)
        self.slopes = np.zeros((n, self.count, n))
        if self.count:
            self.slopes = np.array([self._series(e[None])[1] for e in np.eye(n)])

    def acceleration_changes(self, v: Array, a: Array) -> Array:
        """Return D(J a + J' v) (k, 2 nv)."""
        n, model = len(v), self._dynamics.model
        result = np.zeros((self.count, 2 * n))
        if not self.count:
            return result
        along, twice = np.tensordot(v, self.slopes, 1), self._twice(v)
        for k, e in enumerate(np.eye(n)):
            turned = np.tensordot(velocity_brackets(model, e) @ v, self.slopes, 1)  # E_[e, v] J
            mixed = 0.5 * (self._twice(v + e) - twice - self._twice(e) + turned)  # E_e E_v J
            result[:, k] = self.slopes[k] @ a + mixed @ v
            result[:, n + k] = self.slopes[k] @ v + along[:, k]
        return result

    def force_changes(self, multipliers: Array) -> Array:
        """Return D(J^T lam) (nv, nv) by q, with the multipliers (k,) as they are."""
        return np.einsum('ekj,k->je', self.slopes, multipliers)

    def _twice(self, w: Array) -> Array:
        return 2.0 * self._series(np.array([w, np.zeros_like(w)]))[2]

    def _series(self, rate: Array) -> Array:
        """Return coefficients of J (K + 1, k, nv) along velocities with those (K, nv)."""
        table = self._dynamics.model.link_table
        return np.concatenate([each.series_along(table, self._q, rate)
                               for each in self._dynamics.functions], axis=1)
