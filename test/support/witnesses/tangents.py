# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives by differences, and the polynomials that derivatives describe."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.model import Model

STENCIL = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central, of eighth order
SHORT = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # of sixth order: enough where nothing is near singular


def tangent_derivatives(model: Model, q: Array, function, h: float = 2e-3) -> Array:
    """Return E_i f (nv, ...): the derivative of a function of q along each tangent (13.1)."""
    return np.array([
        difference(lambda s, e=e: function(model.integrate(q, s * e)), h, SHORT)
        for e in np.eye(model.nv)])


def difference(function, h: float = 2e-3, stencil: dict[int, float] = STENCIL) -> Array:
    """Return the derivative at zero of a function of one number."""
    return sum(w * (function(s * h) - function(-s * h)) for s, w in stencil.items()) / h


def taylor(derivatives: Array, t: float) -> Array:
    """Return derivatives (n, nv) at a time t later, of the polynomial that they are."""
    moved, factor = np.zeros_like(derivatives), 1.0
    for k in range(len(derivatives)):
        moved[:len(derivatives) - k] += factor * derivatives[k:]
        factor *= t / (k + 1.0)
    return moved
