# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The combinations of inertial parameters that motions and joint forces can tell apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr, solve_triangular

from liedyn_ros.common.checks import Array, as_trailing
from liedyn_ros.identification.regressors.loop_regressor import LoopRegressor
from liedyn_ros.identification.regressors.regressor import Regressor

# Of the largest pivot. Right angles written as 1.5708 leave axes some 1e-5 off, and what these
# then feel is no parameter. Real ones have 1e-2 (of 29 public robots 0.016 and more).
PIVOT_TOLERANCE = 1e-4
_ROWS_PER_PARAMETER = 3  # times as many rows as parameters
_MIN_FACTOR = 1e-5  # a smaller factor is rounding, as of 1.5708, and left out of a name


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """
    The base parameters of a regressor: pi_base = pi[kept] + grouping pi[dropped].

    kept (r,) are places of columns that are independent, dropped (P - r,) the others, and grouping
    (r, P - r) says how the others contribute. names (r,) spell each sum out.

    >>> regressor = ld.Regressor(model)
    >>> base_parameters(regressor, np.random.default_rng(1)).rank < len(regressor.names)
    True
    """

    kept: NDArray[np.int64]
    dropped: NDArray[np.int64]
    grouping: Array
    names: tuple[str, ...]

    @property
    def rank(self) -> int:
        """Return how many base parameters there are."""
        return len(self.kept)

    def values(self, parameters: ArrayLike) -> Array:
        """
        Return the base parameters of parameters.

        Args:
            parameters: (..., P).

        Returns:
            (..., r).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> regressor = ld.Regressor(model)
        >>> base = base_parameters(regressor, np.random.default_rng(1))
        >>> base.values(regressor.parameters).shape == (len(base.names),)
        True
        """
        pi = as_trailing('parameters', parameters, (len(self.kept) + len(self.dropped),))
        return pi[..., self.kept] + pi[..., self.dropped] @ self.grouping.T

    def columns(self, matrix: ArrayLike) -> Array:
        """
        Return the part of a regressor that base parameters multiply.

        Args:
            matrix: (..., P).

        Returns:
            (..., r).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> regressor = ld.Regressor(model)
        >>> base = base_parameters(regressor, np.random.default_rng(1))
        >>> rows = regressor.torque(q, v, a)
        >>> found = base.columns(rows) @ base.values(regressor.parameters)
        >>> np.allclose(found, robot.inverse(q, v, a))
        True
        """
        matrix = as_trailing('matrix', matrix, (len(self.kept) + len(self.dropped),))
        return matrix[..., self.kept]


def base_parameters(regressor: Regressor | LoopRegressor, rng: np.random.Generator
                    ) -> BaseParameters:
    """
    Return the base parameters of the joint forces, from random states (6.24).

    The rank is the number of pivots of a column-pivoted QR above PIVOT_TOLERANCE of the largest.
    Motions within the range and rate of a real machine may distinguish fewer. Loops tie motions
    together, so that a machine with loops has fewer base parameters than its open tree.

    Args:
        regressor: of a tree or of loops.
        rng: of numpy.

    Returns:
        the base parameters.

    >>> len(base_parameters(ld.Regressor(model), np.random.default_rng(1)).names)
    36
    """
    count = len(regressor.names)
    first = regressor.random_rows(rng)
    if first.size == 0:
        nothing = np.arange(0)
        return BaseParameters(nothing, np.arange(count), np.zeros((0, count)), ())
    rows = np.vstack([first, *(
        regressor.random_rows(rng) for _ in range(_ROWS_PER_PARAMETER * count // len(first)))])
    _, r, order = qr(rows, mode='economic', pivoting=True)
    pivots = np.abs(np.diag(r))
    rank = int((pivots > PIVOT_TOLERANCE * pivots[0]).sum()) if pivots[0] > 0.0 else 0
    kept, place = np.sort(order[:rank]), np.argsort(order[:rank])
    dropped, aside = np.sort(order[rank:]), np.argsort(order[rank:])
    grouping = solve_triangular(r[:rank, :rank], r[:rank, rank:])[place][:, aside]
    names = tuple(_name(regressor.names, base, dropped, factors)
                  for base, factors in zip(kept, grouping))
    return BaseParameters(kept, dropped, grouping, names)


def _name(names: tuple[str, ...], base: int, dropped: NDArray[np.int64], factors: Array) -> str:
    """Return a sum as text, e.g. 'arm/zz + 0.25 hand/mass'."""
    text = names[base]
    for place, factor in zip(dropped, factors):
        if abs(factor) > _MIN_FACTOR:
            size = '' if abs(abs(factor) - 1.0) <= _MIN_FACTOR else f'{abs(factor):.6g} '
            text += f' {"-" if factor < 0.0 else "+"} {size}{names[place]}'
    return text
