# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
What rounding leaves of each order of forward and hybrid dynamics, and the digits it takes.

Each order multiplies the rounding of the one before (theory 7.7). So the same recursion runs in
extended precision, on decimals. Doubling the digits shows how many all orders need. The results in
double precision are compared with that.
"""

from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics.time_derivatives.decimals import Decimals, decimals
from liedyn_ros.dynamics.time_derivatives.extended import hybrid
from liedyn_ros.dynamics.tree.constants import Constants

DIGITS = 50, 100, 200, 400, 800  # of doubles there are 16
NO_DIGIT = 0.1  # of the largest entry: an order with that error has no digit left
AGREEMENT = 0.1  # of two runs: then the one with twice the digits has digits to spare
NOTHING = Decimal('1e-300')  # of the numbers of an order: what extended precision leaves of a zero


class ForwardOrders(NamedTuple):
    """
    Accelerations with their time derivatives (r + 1, nv), and the error of each order (r + 1,).

    An error is the largest of its order over the largest true entry; inf where all are zero.
    """

    a: Array
    error: Array


class HybridOrders(NamedTuple):
    """Accelerations and forces with time derivatives (r + 1, nv), the larger error of each."""

    a: Array
    tau: Array
    error: Array


def with_error(constants: Constants, q: Array, v: Array, prescribed: NDArray[np.bool_],
               found: tuple[Array, Array], external: Array, extended: bool, max_error: float
               ) -> HybridOrders:
    """
    Return all of a and tau with the error of each order, of what double precision found of them.

    With extended they are those of extended precision, rounded. Raises LimitError for the first
    order whose error exceeds a limit.
    """
    true = _true(constants, q, v, prescribed, found, external)
    a, tau = (x.astype(np.float64) for x in true) if extended else found
    error = np.maximum(*(_error(decimals(x), y) for x, y in zip((a, tau), true)))
    require_digits(error, max_error, '' if extended else ', or ask for extended=True')
    return HybridOrders(a, tau, error)


def require_digits(error: Array, max_error: float, advice: str = '', state: str = '') -> None:
    """Raise LimitError for the first order whose relative error exceeds a limit."""
    lost = np.flatnonzero(~(error <= max_error))
    if len(lost):
        raise LimitError(
            f'{state}order {lost[0]}: expected a relative error of {max_error:g} at most, got '
            f'{error[lost[0]]:.2g}; lower the order{advice}')


def _true(constants: Constants, q: Array, v: Array, prescribed: NDArray[np.bool_],
          found: tuple[Array, Array], external: Array) -> tuple[Decimals, Decimals]:
    """Return a and tau as decimals, right to more digits than a double has."""
    before: tuple[Decimals, ...] = tuple(decimals(x) for x in found)
    for digits in DIGITS:
        after = hybrid(constants, q, v, prescribed, *found, external, digits)
        error = np.maximum(*(_error(x, y) for x, y in zip(before, after)))
        if (error <= AGREEMENT).all():
            return after
        before = after
    raise LimitError(f'order {np.argmax(error > AGREEMENT)}: expected that {DIGITS[-1]} digits '
                     'suffice, got none that is right')


def _error(x: Decimals, y: Decimals) -> Array:
    """Return the largest error of each row of x over the largest entry of that row of y."""
    if not x.size:
        return np.zeros(len(x))
    apart, largest = abs(x - y).max(axis=1), abs(y).max(axis=1)
    nonzero = largest > NOTHING
    error = np.where(apart > NOTHING, np.inf, 0.0)
    error[nonzero] = (apart[nonzero] / largest[nonzero]).astype(np.float64)
    return error
