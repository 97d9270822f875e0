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
What rounding leaves of each order of forward and hybrid dynamics.

Each order multiplies the rounding of the one before (theory 7.7). Runs on inputs that differ in
their last bits differ by what rounding does: their scatter estimates the error.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError

RUNS = 3
LAST_BIT = 2.0**-52  # relative change of an input
SCALE = 0.5  # of the scatter, as rounding changes an input by less; found against 200 digits


class ForwardOrders(NamedTuple):
    """
    Accelerations with their time derivatives (r + 1, nv), and the error of each order (r + 1,).

    An error is the largest of its order over the largest entry, an estimate within a factor of 10.
    """

    a: Array
    error: Array


class HybridOrders(NamedTuple):
    """Accelerations and forces with time derivatives (r + 1, nv), the larger error of each."""

    a: Array
    tau: Array
    error: Array


def with_error(run: Callable[..., Sequence[Array]], inputs: Sequence[ArrayLike],
               max_error: float) -> tuple[Sequence[Array], Array]:
    """
    Return what a run returns, arrays with a row for each order, and the error of each order.

    Raises LimitError for the first order whose error exceeds a limit.
    """
    result, rng = run(*inputs), np.random.default_rng(0)
    squares = np.zeros(len(result[0]))
    for _ in range(RUNS):
        others = run(*(_changed(x, rng) for x in inputs))
        squares += np.max([_difference(*pair) for pair in zip(result, others)], axis=0)**2
    error = SCALE * np.sqrt(squares / RUNS)
    lost = np.flatnonzero(~(error <= max_error))
    if len(lost):
        raise LimitError(f'order {lost[0]}: expected a relative error of {max_error:g} at most, '
                         f'got an estimate of {error[lost[0]]:.2g}')
    return result, error


def _changed(x: ArrayLike, rng: np.random.Generator) -> Array:
    """Return numbers with other last bits."""
    numbers = np.asarray(x, dtype=np.float64)
    return numbers * (1.0 + LAST_BIT * rng.choice((-1.0, 1.0), numbers.shape))


def _difference(x: Array, y: Array) -> Array:
    """Return by how much rows differ, over the largest entry of each row."""
    if not x.size:
        return np.zeros(len(x))
    apart, largest = np.abs(x - y).max(axis=1), np.abs(x).max(axis=1)
    return np.divide(apart, largest, out=np.where(apart > 0.0, np.inf, 0.0), where=largest > 0.0)
