# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A user's own constraints on the coordinates of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics.constrained.constraints.configuration_series import configuration_series
from liedyn_ros.model.link_table import LinkTable

MAX_APART = 1e-6  # of a Jacobian and of the first coefficient of its series, of the largest entry


@dataclass(frozen=True)
class ConstraintFunction:
    """
    Constraints phi(q) = 0 that no closure or coupling describes, such as those of a cam.

    rows is their number k. residual(q) returns phi (k,). jacobian(q) returns its derivative
    (k, nv) by velocities, exact off the constraint too: d/dt phi = jacobian v. A multiplier acts
    with the generalised force jacobian^T lam.

    One of two tells how the Jacobian changes with time. bias(q, v) returns Jdot v (k,), the part
    of the second derivative of phi without accelerations: it is enough for order 0.
    jacobian_series(q) takes Taylor coefficients q (K + 1, nq), q^(j) / j!, and returns those of
    the Jacobian (K + 1, k, nv): all orders then are known. `taylor_series(jacobian)` makes it of
    a jacobian in plain arithmetic.

    Raises LimitError for a number of rows below one, LiedynError without both.
    """

    name: str
    rows: int
    residual: Callable[[Array], ArrayLike]
    jacobian: Callable[[Array], ArrayLike]
    bias: Callable[[Array, Array], ArrayLike] | None = None
    jacobian_series: Callable[[Array], ArrayLike] | None = None

    def __post_init__(self) -> None:
        """Check the rows, and that bias or jacobian_series is given."""
        if self.rows < 1:
            raise LimitError(f'constraint {self.name}: expected one row or more, got {self.rows}')
        if self.bias is None and self.jacobian_series is None:
            raise LiedynError(f'constraint {self.name}: expected bias or jacobian_series, '
                              'got neither')

    @property
    def row_names(self) -> tuple[str, ...]:
        """Return a name for each row."""
        if self.rows == 1:
            return (self.name,)
        return tuple(f'{self.name}[{k}]' for k in range(self.rows))

    def at(self, q: Array, nv: int) -> tuple[Array, Array]:
        """Return residual and Jacobian at q; raises ShapeError or NotFiniteError."""
        return (as_array(f'{self.name}: residual(q)', self.residual(q), (self.rows,)),
                as_array(f'{self.name}: jacobian(q)', self.jacobian(q), (self.rows, nv)))

    def bias_at(self, table: LinkTable, q: Array, v: Array) -> Array:
        """Return the bias at a state; raises ShapeError or NotFiniteError."""
        if self.bias is None:
            bias: Array = self.series_along(table, q, v[None])[1] @ v
            return bias
        return as_array(f'{self.name}: bias(q, v)', self.bias(q, v), (self.rows,))

    def series_along(self, table: LinkTable, q: Array, rate: Array) -> Array:
        """
        Return coefficients (K + 1, k, nv) of the Jacobian, given those of v (K, nv).

        They are those of zero changes for a function whose series is not known. Raises ShapeError
        or NotFiniteError, and LiedynError for a series of another Jacobian.
        """
        return self.series_at(configuration_series(table, q, rate), table.nv)

    def series_at(self, q: Array, nv: int) -> Array:
        """Return coefficients (K + 1, k, nv) of the Jacobian, given those of q (K + 1, nq)."""
        shape = len(q), self.rows, nv
        if self.jacobian_series is None:
            return np.zeros(shape)
        found = as_array(f'{self.name}: jacobian_series(q)', self.jacobian_series(q), shape)
        first = as_array(f'{self.name}: jacobian(q)', self.jacobian(q[0]), shape[1:])
        apart = np.abs(found[0] - first).max(initial=0.0)
        if apart > MAX_APART * np.abs(first).max(initial=1.0):
            raise LiedynError(
                f'{self.name}: jacobian_series(q): expected jacobian(q) as its first coefficient, '
                f'got entries that differ by {apart:.3g}')
        return found
