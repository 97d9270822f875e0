# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The rows of a user's functions in products and gradients of constrained dynamics.

Python has differentiated the rows J (k, nv), the last of the constraints, along q: E_e J is their
derivative along a tangent e. They change J a + J' v where accelerations are unknown, and J^T lam
among the forces (13.19). Where forces or multipliers are redundant, they change J mu (13.19b).
"""

from typing import NamedTuple

from liedyn_ros.dynamics.constrained.kernels.tables import START
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, VECTOR


class FunctionChange(NamedTuple):
    """E_x J (k, nv) as slope and D(J a + J' v) (k,) as push along one direction."""

    slope: MATRIX
    push: VECTOR


class FunctionWeights(NamedTuple):
    """E_e J (nv, k, nv) as slopes and D(J a + J' v) (k, 2 nv) by q and v as pushes."""

    slopes: CUBE
    pushes: MATRIX


@kernel
def add_change(motion, functions, first, gamma, tau):
    """Add to what vary has written: D(A a + A' v) from row first on, and -D(A^T lam) (nv,)."""
    slope, push = functions.slope, functions.push
    for r in range(len(push)):
        gamma[first + r] += push[r]
        for j in range(len(tau)):
            tau[j] -= slope[r, j] * motion.multiplier[START, first + r]


@kernel
def add_rows(functions, first, rates, out):
    """Add D(J rates) from row first on, the rates being constant."""
    slope = functions.slope
    for r in range(len(slope)):
        for j in range(len(rates)):
            out[first + r] += slope[r, j] * rates[j]


@kernel
def vjp_function_rows(functions, first, rates, weights, by_q):
    """Add to by_q (nv,) what weights . J rates has by q: undoes add_rows."""
    slopes = functions.slopes
    for e in range(len(by_q)):
        for r in range(slopes.shape[1]):
            for j in range(len(rates)):
                by_q[e] += weights[first + r] * slopes[e, r, j] * rates[j]


@kernel
def vjp_change(motion, functions, first, weights, by_rows, by_q, by_v):
    """Add gradients of by_rows . (J a + J' v) - weights . J^T lam by q, v: undoes add_change."""
    slopes, pushes, n = functions.slopes, functions.pushes, len(by_q)
    for e in range(n):
        for r in range(len(pushes)):
            by_q[e] += by_rows[first + r] * pushes[r, e]
            by_v[e] += by_rows[first + r] * pushes[r, n + e]
            for j in range(n):
                by_q[e] -= weights[j] * slopes[e, r, j] * motion.multiplier[START, first + r]
