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

"""A user's own constraints on the coordinates of a model."""

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError


@dataclass(frozen=True)
class ConstraintFunction:
    """
    Constraints phi(q) = 0 that no closure or coupling describes, such as those of a cam.

    rows is their number k. residual(q) returns phi (k,). jacobian(q) returns its derivative
    (k, nv) by velocities, exact off the constraint too: d/dt phi = jacobian v. bias(q, v) returns
    Jdot v (k,), the part of the second derivative of phi without accelerations. A multiplier acts
    with the generalised force jacobian^T lam. Raises LimitError for a number of rows below one.
    """

    name: str
    rows: int
    residual: Callable[[Array], ArrayLike]
    jacobian: Callable[[Array], ArrayLike]
    bias: Callable[[Array, Array], ArrayLike]

    def __post_init__(self) -> None:
        """Check the number of rows."""
        if self.rows < 1:
            raise LimitError(f'constraint {self.name}: expected one row or more, got {self.rows}')

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

    def bias_at(self, q: Array, v: Array) -> Array:
        """Return the bias at a state; raises ShapeError or NotFiniteError."""
        return as_array(f'{self.name}: bias(q, v)', self.bias(q, v), (self.rows,))
