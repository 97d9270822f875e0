# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""
Least squares within bounds: min |A x - b| with lower <= x <= upper (Stark and Parker, 1995).

Rows may weigh as differently as one likes, where those that weigh most come first: reflections
with column pivots then keep the digits of each row (Cox and Higham, 1998).
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, VECTOR

DEPENDENT_COLUMN = 1e-14  # what is left of a column, over the largest one, that counts as none
LEVEL = 1e-9  # cosine of the angle between a column and the residual that counts as none


@kernel
def solve_within_bounds(
        a: MATRIX, b: VECTOR, lower: VECTOR, upper: VECTOR, x: VECTOR, work: MATRIX,
        step: VECTOR, bound: INTEGERS, order: INTEGERS):
    """
    Write the solution over x; what A does not tell stays as it is there, within the bounds.

    work (m, n + 1), step (n,), bound (n,) and order (n,) are overwritten. bound is -1 where the
    solution is at its lower bound, 1 at the upper one, else 0.
    """
    n = len(x)
    for j in range(n):
        bound[j] = 0
    beyond = True
    while beyond:  # a first guess of what is bound: all that a solution without bounds passes
        reflect_free(a, b, x, work, step, bound, order)
        beyond = False
        for j in range(n):
            if bound[j] == 0:
                x[j] += step[j]
                if not lower[j] <= x[j] <= upper[j]:
                    bound[j] = -1 if x[j] < lower[j] else 1
                    x[j] = lower[j] if bound[j] < 0 else upper[j]
                    beyond = True
    for _ in range(10 * n):
        freed = freed_next(work, bound, reflect_free(a, b, x, work, step, bound, order))
        if freed < 0:
            return
        side = bound[freed]
        bound[freed] = 0
        reflect_free(a, b, x, work, step, bound, order)
        if not side * step[freed] < 0.0:  # of rounding alone
            bound[freed] = side
            return
        while go_towards(x, lower, upper, step, bound):
            reflect_free(a, b, x, work, step, bound, order)


@kernel
def go_towards(x, lower, upper, step, bound):
    """Go along a step as far as the bounds allow; bind what stops it, and return whether some."""
    share, stops = 1.0, -1
    for j in range(len(x)):
        if bound[j] == 0 and step[j] != 0.0:
            room = ((upper[j] if step[j] > 0.0 else lower[j]) - x[j]) / step[j]
            if room < share:
                share, stops = max(room, 0.0), j
    for j in range(len(x)):
        if bound[j] == 0:
            x[j] += share * step[j]
    if stops < 0:
        return False
    bound[stops] = 1 if step[stops] > 0.0 else -1
    x[stops] = upper[stops] if step[stops] > 0.0 else lower[stops]
    return True


@kernel
def freed_next(work, bound, rank):
    """Return the coordinate whose bound holds the residual most, -1 where none does."""
    n, most, found = len(bound), 0.0, -1
    rest = 0.0
    for i in range(rank, len(work)):
        rest += work[i, n]**2
    for j in range(n):
        if bound[j] != 0:
            along, size = 0.0, 0.0
            for i in range(rank, len(work)):
                along += work[i, j] * work[i, n]
                size += work[i, j]**2
            gain = -bound[j] * along
            if gain > max(most, LEVEL * math.sqrt(size * rest)):
                most, found = gain, j
    return found


@kernel
def reflect_free(a, b, x, work, step, bound, order):
    """
    Write Q^T [A, b - A x] over work, and the step of what is free to the least; return the rank.

    Q makes the free columns upper triangular, in their order: that of the greatest norm first.
    """
    m, n = a.shape
    free = 0
    for j in range(n):
        step[j] = 0.0
        if bound[j] == 0:
            order[free] = j
            free += 1
    largest = 0.0
    for i in range(m):
        rest = b[i]
        for j in range(n):
            work[i, j] = a[i, j]
            rest -= a[i, j] * x[j]
        work[i, n] = rest
    rank = 0
    for s in range(min(free, m)):
        best, most = s, -1.0
        for t in range(s, free):
            size = 0.0
            for i in range(s, m):
                size += work[i, order[t]]**2
            if size > most:
                best, most = t, size
        pivot = math.sqrt(most)
        largest = max(largest, pivot)
        if not pivot > DEPENDENT_COLUMN * largest:
            break
        order[s], order[best] = order[best], order[s]
        reflect_column(work, s, order[s], pivot)
        rank += 1
    for s in range(rank - 1, -1, -1):
        along = work[s, n]
        for t in range(s + 1, rank):
            along -= work[s, order[t]] * step[order[t]]
        step[order[s]] = along / work[s, order[s]]
    return rank


@kernel
def reflect_column(work, s, column, pivot):
    """Apply the reflection that leaves a column nothing below row s, of a norm from there on."""
    m = len(work)
    image = -pivot if work[s, column] > 0.0 else pivot
    head = work[s, column] - image
    beta = -1.0 / (image * head)
    for j in range(work.shape[1]):
        if j == column:
            continue
        along = head * work[s, j]
        for i in range(s + 1, m):
            along += work[i, column] * work[i, j]
        along *= beta
        work[s, j] -= along * head
        for i in range(s + 1, m):
            work[i, j] -= along * work[i, column]
    work[s, column] = image
    for i in range(s + 1, m):
        work[i, column] = 0.0
