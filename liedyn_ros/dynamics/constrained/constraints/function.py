# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A user's own constraints on coordinates, and the polynomials of MJCF files as such ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics.constrained.constraints.taylor_numbers import (
    configuration_series, taylor_series)
from liedyn_ros.model.expansion import LinkTable
from liedyn_ros.model.io.mjcf.reader import Polynomial, polynomials_of
from liedyn_ros.model.model import Model

JACOBIAN_TOLERANCE = 1e-6  # of the largest entry, beside the first coefficient of its series


@dataclass(frozen=True)
class ConstraintFunction:
    """
    Constraints phi(q) = 0 that no closure or coupling describes, such as a cam.

    name is for messages, rows their number k. residual(q) returns phi (k,). jacobian(q) returns
    its derivative (k, nv) by velocities, exact off the constraint too: d/dt phi = jacobian v. A
    multiplier acts with the generalised force jacobian^T lam.

    One of two functions gives the change of the Jacobian with time. bias(q, v) returns Jdot v
    (k,), the part of the second derivative of phi without accelerations: it is enough for order 0.
    jacobian_series(q) takes Taylor coefficients q (K + 1, nq), q^(j) / j!, and returns those of
    the Jacobian (K + 1, k, nv): all orders then are known. `taylor_series(jacobian)` makes it of a
    jacobian in plain arithmetic.

    Raises LimitError for a number of rows below one, LiedynError without both.

    >>> row = np.eye(1, 6) - np.eye(1, 6, 1)
    >>> even = ConstraintFunction('even', 1, lambda q: row @ q, lambda q: row,
    ...                           bias=lambda q, v: [0.0])
    >>> held = ld.ConstrainedDynamics(model, functions=[even]).forward(q, v, tau)
    >>> abs(held[0] - held[1]).item() < 1e-9
    True
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
        """
        Return the residual of a function, and its Jacobian.

        Args:
            q: configuration (nq,); rad and m.
            nv: number of coordinates of velocity.

        Returns:
            residual (k,) and Jacobian (k, nv).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> even = ConstraintFunction('even', 1, lambda q: q[:1] - q[1:2],
        ...                           lambda q: np.array([[1.0, -1.0]]), bias=lambda q, v: [0.0])
        >>> even.at(np.array([0.3, 0.1]), 2)[0]
        array([0.2])
        """
        return (as_array(f'{self.name}: residual(q)', self.residual(q), (self.rows,)),
                as_array(f'{self.name}: jacobian(q)', self.jacobian(q), (self.rows, nv)))

    def bias_at(self, table: LinkTable, q: Array, v: Array) -> Array:
        """
        Return the part of the second derivative of a function without accelerations.

        Args:
            table: the link_table of the model.
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.

        Returns:
            Jdot v (k,).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> even = ConstraintFunction('even', 1, lambda q: q[:1] - q[1:2],
        ...                           lambda q: np.array([[1.0, -1.0]]), bias=lambda q, v: [0.0])
        >>> even.bias_at(model.link_table, q, v)
        array([0.])
        """
        if self.bias is None:
            bias: Array = self.series_along(table, q, v[None])[1] @ v
            return bias
        return as_array(f'{self.name}: bias(q, v)', self.bias(q, v), (self.rows,))

    def series_along(self, table: LinkTable, q: Array, rate: Array) -> Array:
        """
        Return the Taylor coefficients of the Jacobian along a motion.

        They have zero changes for a function whose series is not known.

        Args:
            table: the link_table of the model.
            q: configuration (nq,); rad and m.
            rate: Taylor coefficients of v (K, nv).

        Returns:
            coefficients (K + 1, k, nv).

        Raises:
            LiedynError: for a series of another Jacobian.

        >>> row = np.eye(1, 6) - np.eye(1, 6, 1)
        >>> even = ConstraintFunction('even', 1, lambda q: row @ q, lambda q: row,
        ...                           bias=lambda q, v: [0.0])
        >>> even.series_along(model.link_table, q, v[None]).shape
        (2, 1, 6)
        """
        return self.series_at(configuration_series(table, q, rate), table.nv)

    def series_at(self, q: Array, nv: int) -> Array:
        """
        Return the Taylor coefficients of the Jacobian from those of the configuration.

        Args:
            q: coefficients (K + 1, nq).
            nv: number of coordinates of velocity.

        Returns:
            coefficients (K + 1, k, nv).

        Raises:
            LiedynError: for a series of another Jacobian.

        >>> row = np.eye(1, 6) - np.eye(1, 6, 1)
        >>> even = ConstraintFunction('even', 1, lambda q: row @ q, lambda q: row,
        ...                           bias=lambda q, v: [0.0])
        >>> even.series_at(np.zeros((2, 6)), 6).shape
        (2, 1, 6)
        """
        shape = len(q), self.rows, nv
        if self.jacobian_series is None:
            return np.zeros(shape)
        found = as_array(f'{self.name}: jacobian_series(q)', self.jacobian_series(q), shape)
        first = as_array(f'{self.name}: jacobian(q)', self.jacobian(q[0]), shape[1:])
        apart = np.abs(found[0] - first).max(initial=0.0)
        if apart > JACOBIAN_TOLERANCE * np.abs(first).max(initial=1.0):
            raise LiedynError(
                f'{self.name}: jacobian_series(q): expected jacobian(q) as its first coefficient, '
                f'got entries that differ by {apart:.3g}')
        return found


def mjcf_functions(source: str | os.PathLike[str], model: Model) -> tuple[ConstraintFunction, ...]:
    """
    Return constraints of a file or text that load_mjcf names as not linear in the joints.

    model is what load_mjcf returned, or one that has its joints. Knees and wrists with bones
    follow polynomials of fourth degree. A fixed joint is one too. Give them to
    `ConstrainedDynamics(model, functions=...)`; all orders are known.

    Args:
        source: path of the MJCF file, or its text.
        model: what load_mjcf returned, or one that has its joints.

    Returns:
        constraints for ConstrainedDynamics(model, functions=...).

    Raises:
        DescriptionError: for a file that MuJoCo refuses.
        ModelError: for a model without one of the joints.

    >>> text = '''<mujoco><worldbody><body name="a"><joint name="x"/><geom size=".1"/></body><body
    ... name="b"><joint name="y"/><geom size=".1"/></body></worldbody><equality><joint joint1="x"
    ... joint2="y" polycoef="0 1 .5 0 0"/></equality></mujoco>'''
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter('ignore')
    ...     [each.rows for each in mjcf_functions(text, ld.load_model(text))]
    [1]
    """
    return tuple(_function(each, model) for each in polynomials_of(source))


def _function(each: Polynomial, model: Model) -> ConstraintFunction:
    """Return y - y0 - a - b (x - x0) - ... as a constraint."""
    of, by = ([(model.joint(name).qi, model.joint(name).vi, factor)
               for name, factor in factors.items()] for factors, _ in (each.of, each.by))
    y0, x0, (constant, *terms) = each.of[1], each.by[1], each.terms

    def change(q: Any) -> Any:
        return sum((factor * q[qi] for qi, _, factor in by), -x0)

    def residual(q: Any) -> list[Any]:
        value = sum((factor * q[qi] for qi, _, factor in of), -y0 - constant)
        x = change(q)
        return [value - sum(term * x**k for k, term in enumerate(terms, 1))]

    def jacobian(q: Any) -> list[list[Any]]:
        row: list[Any] = model.nv * [0.0]
        for _, vi, factor in of:
            row[vi] += factor
        x = change(q)
        slope = terms[0] + x * (2.0 * terms[1] + x * (3.0 * terms[2] + x * (4.0 * terms[3])))
        for _, vi, factor in by:
            row[vi] = row[vi] - factor * slope
        return [row]

    return ConstraintFunction(each.name, 1, residual, jacobian,
                              jacobian_series=taylor_series(jacobian))
