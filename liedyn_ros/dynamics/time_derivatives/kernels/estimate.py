# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The difference of two results of the same equations, order by order (7.42)."""

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, VECTOR

ZERO_THRESHOLD = 1e-6  # of order zero, or of 1 in SI units: smaller numbers count as zero


@kernel
def compare(
        a: MATRIX, tau: MATRIX, other_a: MATRIX, other_tau: MATRIX, unit: NUMBER, weight: NUMBER,
        squares: VECTOR):
    """Add the squared difference of each order to squares; return the root of the largest sum."""
    largest, of_a, of_tau = 0.0, 1.0, 1.0
    for k in range(len(squares)):
        size_a, apart_a = _differ(a, other_a, 1.0, k)
        size_tau, apart_tau = _differ(tau, other_tau, unit, k)
        if k == 0:
            of_a, of_tau = max(1.0, size_a), max(1.0, size_tau)
        difference = max(apart_a / max(size_a, ZERO_THRESHOLD * of_a),
                         apart_tau / max(size_tau, ZERO_THRESHOLD * of_tau))
        squares[k] += weight * difference * difference
        largest = max(largest, squares[k])
    return largest**0.5


@inlined
def _differ(x, y, unit, k):
    """Return the largest |x| and the largest |x - y / unit| of order k."""
    largest = apart = 0.0
    for i in range(x.shape[1]):
        largest = max(largest, abs(x[k, i]))
        apart = max(apart, abs(x[k, i] - y[k, i] / unit))
    return largest, apart
