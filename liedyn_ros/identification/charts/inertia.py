# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Ten numbers of a body without constraints, each with its inertia and its derivatives."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import InertiaError
from liedyn_ros.identification.consistency import parameters_of, pseudo_inertia

_UPPER = np.triu_indices(4)
_SYMMETRIC = np.zeros((10, 4, 4))  # a unit of each entry, on both sides of the diagonal
for _k, (_i, _j) in enumerate(zip(*_UPPER)):
    _SYMMETRIC[_k, _i, _j] = _SYMMETRIC[_k, _j, _i] = 1.0
# Where the numbers of log-Cholesky stand in U: d1, d2, d3, s12, s23, s13, t1, t2, t3.
_ROW, _COLUMN = np.array([0, 1, 2, 0, 1, 0, 0, 1, 2]), np.array([0, 1, 2, 1, 2, 2, 3, 3, 3])
_DIAGONAL = slice(1, 4)  # of the ten numbers


class ChartPoint(NamedTuple):
    """Ten parameters (B, 10) of bodies, and their derivatives (B, 10, 10) by the numbers x."""

    parameters: Array
    by_x: Array


class InertiaChart(Protocol):
    """
    Numbers x (B, 10) for parameters (B, 10), as Regressor has them, and back.

    >>> chart: InertiaChart = INERTIA_CHARTS['log_cholesky']
    >>> chart.numbers(np.array([[2.0, 0.0, 0.0, 0.2, 0.1, 0.0, 0.0, 0.1, 0.0, 0.05]])).shape
    (1, 10)
    """

    def point(self, x: Array) -> ChartPoint:
        """
        Return the parameters of numbers, with their derivatives.

        Args:
            x: (B, 10).

        Returns:
            parameters (B, 10) and by_x (B, 10, 10).

        >>> chart = INERTIA_CHARTS['log_cholesky']
        >>> body = np.array([[2.0, 0.0, 0.0, 0.2, 0.1, 0.0, 0.0, 0.1, 0.0, 0.05]])
        >>> np.allclose(chart.point(chart.numbers(body)).parameters, body)
        True
        """

    def numbers(self, parameters: Array) -> Array:
        """
        Return the numbers of parameters.

        Args:
            parameters: (B, 10); kg, kg m, kg m^2.

        Returns:
            x (B, 10).

        Raises:
            InertiaError: for bodies that the chart lacks.

        >>> body = np.array([[2.0, 0.0, 0.0, 0.2, 0.1, 0.0, 0.0, 0.1, 0.0, 0.05]])
        >>> INERTIA_CHARTS['log_cholesky'].numbers(body).shape
        (1, 10)
        """


class LinearChart:
    """The ten parameters themselves; a step may leave the bodies that exist."""

    def point(self, x: Array) -> ChartPoint:
        """Return x itself."""
        return ChartPoint(x, np.broadcast_to(np.eye(10), (len(x), 10, 10)))

    def numbers(self, parameters: Array) -> Array:
        """Return the parameters."""
        return parameters.copy()


class LogCholesky:
    """
    Pi = U U^T, U upper triangular with positive diagonal (13.54), (Rucker and Wensing 2022).

    x is alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3: the mass is exp(2 alpha), t (m) is the
    centre of mass. Every x is a body of positive mass that is not flat.
    """

    def point(self, x: Array) -> ChartPoint:
        """Return the parameters at x, with their derivatives."""
        scale = np.exp(x[:, 0])[:, None, None]
        values = x[:, 1:].copy()
        values[:, :3] = np.exp(x[:, _DIAGONAL])
        upper, by = np.zeros((len(x), 4, 4)), np.zeros((len(x), 10, 4, 4))
        upper[:, 3, 3] = 1.0
        upper[:, _ROW, _COLUMN] = values
        upper *= scale
        by[:, 0] = upper
        by[:, range(1, 10), _ROW, _COLUMN] = scale[:, 0]
        by[:, range(1, 4), range(3), range(3)] *= values[:, :3]
        half = by @ upper[:, None].swapaxes(-1, -2)
        return ChartPoint(parameters_of(upper @ upper.swapaxes(-1, -2)),
                          parameters_of(half + half.swapaxes(-1, -2)).swapaxes(-1, -2))

    def numbers(self, parameters: Array) -> Array:
        """Return x; raises InertiaError for a body without mass, or one that is flat."""
        flipped = _positive(parameters)[:, ::-1, ::-1]
        upper = np.linalg.cholesky(flipped)[:, ::-1, ::-1]
        scale = upper[:, 3, 3]
        x = np.column_stack([np.log(scale), upper[:, _ROW, _COLUMN] / scale[:, None]])
        x[:, _DIAGONAL] = np.log(x[:, _DIAGONAL])
        return x


class LogEuclidean:
    """
    Pi = exp(S), S symmetric (13.55); x is its upper triangle, row by row.

    Every x is a body of positive mass that is not flat. No axis is treated apart.
    """

    def point(self, x: Array) -> ChartPoint:
        """Return the parameters at x, with their derivatives."""
        values, vectors = np.linalg.eigh(np.tensordot(x, _SYMMETRIC, 1))
        power, turned = np.exp(values), vectors.swapaxes(-1, -2)
        gap = values[:, :, None] - values[:, None, :]
        mean = np.exp(0.5 * (values[:, :, None] + values[:, None, :]))
        half = 0.5 * np.where(gap == 0.0, 1.0, gap)
        slopes = mean * np.where(gap == 0.0, 1.0, np.sinh(half) / half)  # of exp between two
        inside = turned[:, None] @ _SYMMETRIC @ vectors[:, None]
        by = vectors[:, None] @ (slopes[:, None] * inside) @ turned[:, None]
        return ChartPoint(parameters_of((vectors * power[:, None]) @ turned),
                          parameters_of(by).swapaxes(-1, -2))

    def numbers(self, parameters: Array) -> Array:
        """Return x; raises InertiaError for a body without mass, or one that is flat."""
        values, vectors = np.linalg.eigh(_positive(parameters))
        logarithm = (vectors * np.log(values)[:, None]) @ vectors.swapaxes(-1, -2)
        return np.asarray(logarithm[:, _UPPER[0], _UPPER[1]])


def _positive(parameters: Array) -> Array:
    """Return Pi (B, 4, 4), or raise InertiaError where it is not positive definite."""
    pseudo = pseudo_inertia(parameters)
    least = np.linalg.eigvalsh(pseudo)[:, 0]
    if not (least > 0.0).all():
        b = int(np.argmin(least))
        raise InertiaError(f'parameters[{b}]: expected a body with mass that is not flat, got an '
                           f'eigenvalue {least[b]:.3g} of its pseudo-inertia; take '
                           "inertia='linear', or nearest_consistent and a little more")
    return pseudo


INERTIA_CHARTS: dict[str, InertiaChart] = {
    'linear': LinearChart(), 'log_cholesky': LogCholesky(), 'log_euclidean': LogEuclidean()}
