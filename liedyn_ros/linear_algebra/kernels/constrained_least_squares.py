# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Least squares while rows hold and within bounds: min |A x - b|^2 + e x^2, C x = c, l <= x <= u.

With R of A and e, x = R^-1 (d + y), and y is the shortest one with G y >= h. Its multipliers are
the least squares within bounds of |G^T u|^2 + (h^T u - 1)^2 (Lawson and Hanson 1974, 23.4).
"""

import math

from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR, WHOLE
from liedyn_ros.jit.pointers import after, as_wholes, part, pointer_of, vector
from liedyn_ros.linear_algebra.kernels.bounded_least_squares import (
    reflect_free, solve_within_bounds)

INDEPENDENT = 1e-8  # of a row that holds: what those before leave of it, over the largest row
HEAVY = 1e8  # of a row that holds, beside the largest number of the others
BOUND_ROUNDING = 1e-12  # beyond a bound, over the largest number
HOLDS = 1e-9  # of a row of length one and of bounds, over the largest number


@long_kernel
def solve_constrained_least_squares(
        rows: MATRIX, wanted: VECTOR, held: WHOLE, damping: VECTOR, lower: VECTOR, upper: VECTOR,
        scratch: MATRIX, x: VECTOR) -> TRUTH:
    """
    Write x (n,), and return whether there is one.

    The first `held` of rows (m, n) x = wanted (m,) hold; of what the others miss the squares are
    least, with damping (n,) times those of x, which may be 0 where they tell of it. scratch has
    m + 4 n + 4 rows and columns.
    """
    m, n = rows.shape
    numbers = scratch.reshape(scratch.size)
    a, at = part(numbers, 0, m + n, n), (m + n) * n
    work, at = part(numbers, at, m + n, n + 1), at + (m + n) * (n + 1)
    b, at = part(numbers, at, 1, m + n)[0], at + m + n
    step, at = part(numbers, at, 1, n)[0], at + n
    basis, at = part(numbers, at, held, n + 1), at + held * (n + 1)
    wholes = vector(as_wholes(after(pointer_of(numbers), at)), 3 * m + 8 * n)
    at += 3 * m + 8 * n
    largest = 0.0
    for i in range(m + n):
        b[i] = wanted[i] if i < m else 0.0
        for j in range(n):
            a[i, j] = rows[i, j] if i < m else math.sqrt(damping[j]) if i - m == j else 0.0
            if i < held:
                basis[i, j] = a[i, j]
            else:
                largest = max(largest, abs(a[i, j]))
        if i < held:
            basis[i, n] = b[i]
    order, bound = wholes[:n], wholes[n:2 * n]
    for j in range(n):
        bound[j], x[j] = 0, 0.0
    if reflect_free(a[held:], b[held:], x, work[held:], step, bound, order) < n:
        return False
    kept, far, room = orthonormalize(basis), 0.0, 0.0
    for j in range(n):
        far, own = max(far, abs(step[j])), min(abs(lower[j]), abs(upper[j]))
        room = max(room, own) if own < math.inf else room
    room = max(room, far)
    if not bind_active(work[held:], order, basis[:kept], lower, upper, HOLDS * room, step,
                       numbers[at:], wholes[2 * n:], bound):
        return False
    for i in range(held):
        for j in range(n):
            a[i, j] = HEAVY * largest * basis[i, j] if i < kept else 0.0
        b[i] = HEAVY * largest * basis[i, n] if i < kept else 0.0
    beyond = True
    while beyond:  # a bound whose multiplier is of the size of rounding is found by what is left
        for j in range(n):
            x[j] = lower[j] if bound[j] < 0 else upper[j] if bound[j] > 0 else 0.0
        reflect_free(a, b, x, work, step, bound, order)
        beyond = bind_worst(lower, upper, BOUND_ROUNDING * far, step, x, bound)
    return all_holds(basis[:kept], lower, upper, room, step, x)


@kernel
def bind_worst(lower, upper, most, step, x, bound):
    """Bind the coordinate that a step takes furthest beyond a bound; return whether some."""
    worst = -1
    for j in range(len(x)):
        to = x[j] + step[j]
        over = max(lower[j] - to, to - upper[j])
        if bound[j] == 0 and over > max(most, BOUND_ROUNDING * abs(to)):
            worst, most = j, over
    if worst >= 0:
        bound[worst] = -1 if x[worst] + step[worst] < lower[worst] else 1
    return worst >= 0


@kernel
def all_holds(basis, lower, upper, largest, step, x):
    """Go by a step, and return whether rows and bounds hold; bounds then do to the digit."""
    n = len(x)
    for j in range(n):
        step[j] += x[j]
        largest = max(largest, abs(step[j]))
    for j in range(n):
        x[j] = min(max(step[j], lower[j]), upper[j])
        if not abs(step[j] - x[j]) <= HOLDS * largest:
            return False
    for i in range(len(basis)):
        missed = -basis[i, n]
        for j in range(n):
            missed += basis[i, j] * x[j]
        if not abs(missed) <= HOLDS * max(largest, abs(basis[i, n])):
            return False
    return True


@kernel
def orthonormalize(basis):
    """Make rows (k, n) of a system (k, n + 1) orthonormal, and return how many are left."""
    k, n = len(basis), basis.shape[1] - 1
    largest = 0.0
    for s in range(k):
        best, most = s, -1.0
        for t in range(s, k):
            size = product_but_last(basis, t, t)
            if size > most:
                best, most = t, size
        largest = max(largest, most)
        if not most > INDEPENDENT * INDEPENDENT * largest:
            return s
        for j in range(n + 1):
            basis[s, j], basis[best, j] = basis[best, j], basis[s, j]
        for turn in range(s, -1, -1):  # once more across those before, as the row may be short
            along = product_but_last(basis, s, s if turn == s else turn)
            size = 1.0 / math.sqrt(along) - 1.0 if turn == s else -along
            for j in range(n + 1):
                basis[s, j] += size * basis[turn, j]
        for t in range(s + 1, k):
            along = product_but_last(basis, s, t)
            for j in range(n + 1):
                basis[t, j] -= along * basis[s, j]
    return k


@kernel
def product_but_last(basis, s, t):
    """Return the product of two rows but for their last numbers."""
    total = 0.0
    for j in range(basis.shape[1] - 1):
        total += basis[s, j] * basis[t, j]
    return total


@kernel
def bind_active(work, order, basis, lower, upper, slack, start, numbers, wholes, bound):
    """Set the bounds, but for a slack, at which the least is; return whether there may be one."""
    n, held, count = len(bound), len(basis), len(basis)
    for j in range(n):
        count += 1 if lower[j] == upper[j] else int(lower[j] > -math.inf) + int(
            upper[j] < math.inf)
    dual, at = part(numbers, 0, n + 1, count), (n + 1) * count
    area, at = part(numbers, at, n + 1, count + 1), at + (n + 1) * (count + 1)
    columns, few = part(numbers, at, 4, count), part(numbers, at + 4 * count, 1, n + 1)[0]
    least, most, u, far = columns[0], columns[1], columns[2], columns[3]
    side, sides, flags = wholes[:count], wholes[count:2 * count], wholes[2 * count:]
    scale = write_constraints(
        work, order, basis, lower, upper, slack, start, dual, least, side)
    if not scale > 0.0:
        return True
    for t in range(count):
        dual[n, t] /= scale
        most[t], u[t] = math.inf, 0.0
    for s in range(n + 1):
        few[s] = 1.0 if s == n else 0.0
    solve_within_bounds(dual, few, least, most, u, area, far, sides, flags)
    total = -1.0
    for t in range(count):
        total += dual[n, t] * u[t]
        if t >= held and u[t] != 0.0:
            bound[abs(side[t]) - 1] = 1 if side[t] > 0 else -1
    return total < 0.0


@kernel
def write_constraints(work, order, basis, lower, upper, slack, start, dual, least, of):
    """
    Write columns (g, h) of constraints g y >= h, |g| = 1, and the least numbers of multipliers.

    of has 1 + j of upper bounds, -1 - j of lower ones. Return the scale of y, or 0 where y = 0 is
    allowed.
    """
    n, count, scale, allowed = len(start), 0, 0.0, True
    for s in range(n):
        scale = max(scale, abs(work[s, n]))
    for i in range(len(basis) + 2 * n):
        j, side = (i - len(basis)) // 2, (i - len(basis)) % 2
        holds = i < len(basis) or lower[j] == upper[j]
        if i >= len(basis) and ((holds and side == 1) or math.isinf(
                upper[j] if side == 1 else lower[j])):
            continue
        right = basis[i, n] if i < len(basis) else lower[j] if side == 0 else -upper[j]
        right -= 0.0 if holds else slack
        size = 0.0
        for s in range(n):
            along = (basis[i, order[s]] if i < len(basis) else 0.0 if order[s] != j
                     else 1.0 - 2.0 * side)
            right -= along * start[order[s]]
            for k in range(s):
                along -= work[k, order[s]] * dual[k, count]
            dual[s, count] = along / work[s, order[s]]
            size += dual[s, count]**2
        size = math.sqrt(size)
        for s in range(n):
            dual[s, count] /= size
        dual[n, count] = right / size
        of[count] = (1 + j) * (2 * side - 1)
        least[count] = -math.inf if holds else 0.0
        if holds or right > 0.0:
            scale, allowed = max(scale, abs(right) / size), allowed and right == 0.0
        count += 1
    return 0.0 if allowed else scale
