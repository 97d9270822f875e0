# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How the rate of exponential coordinates varies with them (13.56)."""

from collections.abc import Callable
from functools import cache

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model
from liedyn_ros.model.kernels import kinds

_TERMS = 80  # of the series below: rounding for turns of up to 4 rad in a step


def rate_by_chart(model: Model, x: Array, v: Array) -> Array:
    """Return the derivative (nv, nv) by x of the rate J_r(x)^-1 v of coordinates x (13.56)."""
    result = np.zeros((model.nv, model.nv))
    for kind, at in zip(model.link_table.kind, model.link_table.vi):
        if kind in (kinds.SPHERICAL, kinds.FREE):
            bracket, size = (so3.hat, 3) if kind == kinds.SPHERICAL else (se3.ad, 6)
            place = slice(at, at + size)
            result[place, place] = rate_by_coordinates(bracket, x[place], v[place])
    return result


def rate_by_coordinates(bracket: Callable[[Array], Array], x: Array, v: Array) -> Array:
    """Return - sum_k c_k sum_j ad_x^j ad_w, w = ad_x^(k - 1 - j) v, c those of J_r^-1."""
    step, inner = bracket(x), v
    inside: Array = np.zeros((len(x), len(x)))
    result = np.zeros_like(inside)
    for weight in _series()[1:]:
        inside = step @ inside + bracket(inner)
        result -= weight * inside
        inner = step @ inner
    return result


@cache
def _series() -> Array:
    """Return the coefficients of J_r(x)^-1 in powers of ad_x, (-1)^k B_k / k!."""
    from scipy.special import bernoulli, factorial  # which take long to import
    weights: Array = (-1.0) ** np.arange(_TERMS) * bernoulli(_TERMS - 1)
    return weights / factorial(np.arange(_TERMS))
