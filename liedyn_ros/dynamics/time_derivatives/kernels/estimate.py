# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The difference of two results of the same equations, order by order (7.42)."""

from liedyn_ros.jit.decorators import inlined, kernel

SMALL = 1e-6  # of order zero, or of 1 in SI units: smaller numbers count as zero


@kernel
def compare(a, tau, other_a, other_tau, unit, error):
    """Raise the error of each order to the difference from another unit; return the largest."""
    _compare(a, other_a, 1.0, error)
    _compare(tau, other_tau, unit, error)
    largest = 0.0
    for k in range(len(error)):
        largest = max(largest, error[k])
    return largest


@inlined
def _compare(x, y, unit, error):
    """Raise the error of each order to the largest |x - y / unit| over the largest |x|."""
    smallest = 0.0
    for k in range(len(x)):
        largest = apart = 0.0
        for i in range(x.shape[1]):
            largest = max(largest, abs(x[k, i]))
            apart = max(apart, abs(x[k, i] - y[k, i] / unit))
        if k == 0:
            smallest = SMALL * max(1.0, largest)
        error[k] = max(error[k], apart / max(largest, smallest))
