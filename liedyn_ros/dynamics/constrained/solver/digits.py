# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The estimated error of each order near singular configurations of closed loops.

A configuration is closed up to its rounding, and an order multiplies this error by about the
inverse of the condition number. So the orders at configurations that are moved by their rounding
differ by about their error (12.53). Far from singular configurations there is nothing to estimate.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.time_derivatives.estimate import relative_difference, require_digits
from liedyn_ros.model import Model

# By which q is moved at least: of its largest coordinate, or of 1, as frames round so.
MOVE_SHARE = 0.5 * np.finfo(np.float64).eps
CERTAIN_ERROR = 1e-10  # times the inverse condition number to the order: more than any error
PERTURBATIONS = 3  # of the configuration, in random directions
DIGITS_ADVICE = '; near a singular configuration high orders lose digits. Or set max_error'


def at_risk(inverse_condition_number: float, order: int, max_error: float) -> bool:
    """Return whether an order may exceed a relative error, so that it wants an estimate."""
    return order > 0 and not CERTAIN_ERROR <= max_error * inverse_condition_number**order


def require_order_digits(model: Model, solve: Callable[[Array], tuple[Array, ...] | None],
                         q: Array, found: tuple[Array, ...], residual: float, max_error: float,
                         suffix: str) -> None:
    """
    Raise LimitError for the first order of arrays (order + 1, ...) that exceeds max_error.

    solve returns the arrays at a configuration, None where it fails. residual is that of the
    closures at q (nq,).
    """
    rng, squares = np.random.default_rng(0), np.zeros(len(found[0]))
    size = residual + MOVE_SHARE * float(np.abs(q).max(initial=1.0))
    for _ in range(PERTURBATIONS):
        other = solve(model.integrate(q, size * rng.standard_normal(model.nv)))
        if other is None:
            squares[:] = math.inf
            break
        squares += np.max([relative_difference(x[None], y[None])[0]
                           for x, y in zip(found, other)], axis=0)**2 / PERTURBATIONS
    require_digits(np.sqrt(squares), max_error, DIGITS_ADVICE, suffix and f'{suffix}, ')
