# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Cholesky factor of S = Y^T Y, the inverse inertia that the constraints see: S = U^T D^-1 U.

With Y = L^-T A^T, S is A M^-1 A^T. The rows of U are multiples of those of R in orthogonal.py. U
takes a third of the work but loses twice the digits. So it serves where the constraints are well
conditioned. D is the diagonal of U, room.inverse holds D^-1, and room.lower U^T D^-1. Of S, what
constraints without a common coordinate would add is zero, and left out.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get, get_lanes, LANES, put, put_lanes, spread

WELL_CONDITIONED = 1e-2  # smallest pivot of R over the largest: S then costs four digits


@kernel
def factor(machine, room):
    """Write U; return the smallest pivot of R over the largest, 0 if below WELL_CONDITIONED."""
    upper, lower, response = room.upper, room.lower, room.response
    largest, smallest = 0.0, math.inf  # squares of pivots
    for s in range(len(upper)):
        begin, end = machine.span[2 * s], machine.span[2 * s + 1]
        for t in range(begin, s):
            put(lower, s, t, room.inverse[t] * get(upper, t, s))
        for c in range(s // LANES * LANES, end, LANES):
            row, less = spread(0.0), spread(0.0)  # sums that do not wait for each other
            for at in range(machine.support_start[s], machine.support_start[s + 1]):
                k = machine.support[at]
                row = row + get(response, k, s) * get_lanes(response, k, c)
            for t in range(begin, s):
                less = less + get(lower, s, t) * get_lanes(upper, t, c)
            put_lanes(upper, s, c, row - less)
        pivot = get(upper, s, s)
        largest, smallest = max(largest, pivot), min(smallest, pivot)
        if not (pivot > 0.0 and smallest > WELL_CONDITIONED**2 * largest):
            return 0.0
        room.inverse[s] = 1.0 / pivot
    return math.sqrt(smallest / largest) if largest > 0.0 else 1.0


@kernel
def solve(machine, room):
    """Replace the first row of room.line by S^-1 times it, with room in the second."""
    line = room.line
    for s in range(len(room.upper)):
        z = get(line, 0, s) * room.inverse[s]
        put(line, 1, s, z)
        for c in range(s // LANES * LANES, machine.span[2 * s + 1], LANES):
            put_lanes(line, 0, c, get_lanes(line, 0, c) - z * get_lanes(room.upper, s, c))
    for s in range(len(room.upper) - 1, -1, -1):
        x = get(line, 1, s)
        put(line, 0, s, x)
        for c in range(machine.span[2 * s], s, LANES):
            put_lanes(line, 1, c, get_lanes(line, 1, c) - x * get_lanes(room.lower, s, c))
