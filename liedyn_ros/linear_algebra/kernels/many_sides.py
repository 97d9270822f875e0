# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Gaussian elimination with row pivots for many sides at a time (Golub and Van Loan, 3.4.1).

Rows of A and of B follow each other in one table. So each step is one sum of two rows. Entries
of A that are zero take no time.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get, get_lanes, LANES, put_lanes


@kernel
def solve_many_sides(table, size, first):
    """
    Write A^-1 B over B; A is overwritten.

    A (size, size) is in columns 0 on, B in columns `first` to the end. Both are multiples of
    LANES. A singular matrix leaves infinities or NaN in B, without an error.
    """
    width = table.shape[1]
    for k in range(size):
        pivot, most = k, abs(get(table, k, k))
        for i in range(k + 1, size):
            entry = abs(get(table, i, k))
            if entry > most:
                pivot, most = i, entry
        begin = k - k % LANES
        if pivot != k:
            swap_rows(table, k, pivot, begin)
        inverse = 1.0 / get(table, k, k)
        for i in range(k + 1, size):
            factor = get(table, i, k) * inverse
            if factor != 0.0:
                subtract_scaled_row(table, i, k, factor, begin, width)
    for k in range(size - 1, -1, -1):
        inverse = 1.0 / get(table, k, k)
        for c in range(first, width, LANES):
            put_lanes(table, k, c, inverse * get_lanes(table, k, c))
        for i in range(k):
            factor = get(table, i, k)
            if factor != 0.0:
                subtract_scaled_row(table, i, k, factor, first, width)


@kernel
def swap_rows(table, i, j, begin):
    """Swap two rows from column `begin` on."""
    for c in range(begin, table.shape[1], LANES):
        row = get_lanes(table, i, c)
        put_lanes(table, i, c, get_lanes(table, j, c))
        put_lanes(table, j, c, row)


@kernel
def subtract_scaled_row(table, i, k, factor, begin, end):
    """Subtract factor times row k from row i, columns `begin` to `end`."""
    for c in range(begin, end, LANES):
        put_lanes(table, i, c, get_lanes(table, i, c) - factor * get_lanes(table, k, c))
