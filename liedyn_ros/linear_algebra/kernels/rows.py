# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Sums of rows, eight columns at a time, for many right sides at once (Golub and Van Loan, 1.1.4).

Columns go from begin to end, both multiples of LANES, but in copy_scaled.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import broadcast, get, get_lanes, LANES, put, put_lanes


@kernel
def clear_row(table, i, begin, end):
    """Write zero into row i."""
    for c in range(begin, end, LANES):
        put_lanes(table, i, c, broadcast(0.0))


@kernel
def scale_row(table, i, factor, begin, end):
    """Multiply row i by a factor."""
    for c in range(begin, end, LANES):
        put_lanes(table, i, c, factor * get_lanes(table, i, c))


@kernel
def add_scaled_row(table, i, other, k, factor, begin, end):
    """Add factor times row k of another table, or of the same, to row i of a table."""
    for c in range(begin, end, LANES):
        put_lanes(table, i, c, get_lanes(table, i, c) + factor * get_lanes(other, k, c))


@kernel
def copy_scaled(source, i, first, target, k, to, count, factor):
    """Write factor times `count` entries of row i, from `first` on, into row k from `to` on."""
    whole = count // LANES * LANES
    for c in range(0, whole, LANES):
        put_lanes(target, k, to + c, factor * get_lanes(source, i, first + c))
    for c in range(whole, count):
        put(target, k, to + c, factor * get(source, i, first + c))
