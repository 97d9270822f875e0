# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Column-pivoted QR of a block diagonal matrix stored by columns (Golub and Van Loan, 5.4.2).

Singular values of a matrix stored by columns are those of Golub and Van Loan, 8.6.3.
"""

import math

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, VECTOR
from liedyn_ros.jit.simd import broadcast, get_lanes, LANES, put_lanes, total

QR = Bundle(
    'QR',
    slot=INTEGERS,  # (G,) the first row of a block
    count=INTEGERS, size=INTEGERS,  # (G,) its columns, and the numbers of each
    rank=INTEGERS,  # (G,)
    rows=MATRIX, order=INTEGERS, head=VECTOR, beta=VECTOR, norm=VECTOR)  # (rows, widest), (rows,)


@inlined
def inner_product(x, y):
    """Return the product of two vectors, by four sums that run in parallel."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    quarters = len(x) // 4
    for i in range(quarters):
        j = 4 * i
        a += x[j] * y[j]
        b += x[j + 1] * y[j + 1]
        c += x[j + 2] * y[j + 2]
        d += x[j + 3] * y[j + 3]
    for j in range(4 * quarters, len(x)):
        a += x[j] * y[j]
    return (a + b) + (c + d)


@kernel
def factor_qr(qr, most, tolerance):
    """
    Factor in place, and return the numerical rank and its smallest pivot over its largest.

    A column counts as dependent where its part orthogonal to the columns before is below tolerance
    times the largest column of all blocks. At most `most` columns count as independent: those of
    the largest pivots.
    """
    largest, rank, full = 0.0, 0, 0
    for g in range(len(qr.slot)):
        full += min(qr.count[g], qr.size[g])
        for t in range(qr.slot[g], qr.slot[g] + qr.count[g]):
            qr.norm[t] = row_product(qr.rows, t, t, 0, qr.size[g])
            largest = max(largest, qr.norm[t])
    largest = math.sqrt(largest)
    for g in range(len(qr.slot)):
        qr.rank[g] = factor_block(qr, g, tolerance * largest)
        rank += qr.rank[g]
    while rank > most:
        qr.rank[least_block(qr)] -= 1
        rank -= 1
    if rank > 0:
        return rank, last_pivot(qr, least_block(qr)) / largest
    return rank, 0.0 if min(full, most) > 0 else 1.0


@kernel
def factor_block(qr, g, least):
    """Factor a block whose norms are known; return how many pivots are above the least."""
    first, count, size = qr.slot[g], qr.count[g], qr.size[g]
    rows, order = qr.rows[first:first + count], qr.order[first:first + count]
    norm, steps = qr.norm[first:first + count], min(count, size)
    for s in range(steps):
        best = s
        for t in range(s + 1, count):
            if norm[t] > norm[best]:
                best = t
        pivot = math.sqrt(norm[best])
        if not pivot > least:
            return s
        if best != s:
            order[s], order[best] = order[best], order[s]
            norm[best] = norm[s]
            for c in range(0, size, LANES):
                row = get_lanes(rows, s, c)
                put_lanes(rows, s, c, get_lanes(rows, best, c))
                put_lanes(rows, best, c, row)
        x = rows[s, s]
        image = -pivot if x > 0.0 else pivot
        head = x - image
        beta = -1.0 / (image * head)
        qr.head[first + s], qr.beta[first + s], rows[s, s] = head, beta, image
        for t in range(s + 1, count):
            along = beta * (head * rows[t, s] + row_product(rows, s, t, s + 1, size))
            rows[t, s] -= along * head
            square = broadcast(0.0)
            for c in range(s + 1, size, LANES):
                tail = get_lanes(rows, t, c) - along * get_lanes(rows, s, c)
                put_lanes(rows, t, c, tail)
                square = square + tail * tail
            norm[t] = total(square)
    return steps


@inlined
def row_product(rows, s, t, begin, size):
    """Return the product of two rows from `begin` on."""
    along = broadcast(0.0)
    for c in range(begin, size, LANES):
        along = along + get_lanes(rows, s, c) * get_lanes(rows, t, c)
    return total(along)


@kernel
def least_block(qr):
    """Return the block of the smallest pivot."""
    least, found = math.inf, 0
    for g in range(len(qr.slot)):
        if qr.rank[g] > 0 and last_pivot(qr, g) <= least:
            least, found = last_pivot(qr, g), g
    return found


@inlined
def last_pivot(qr, g):
    """Return the size of the last pivot of a block."""
    s = qr.rank[g] - 1
    return abs(qr.rows[qr.slot[g] + s, s])


@kernel
def reflect(qr, g, s, x):
    """Apply reflection s to x."""
    t, size = qr.slot[g] + s, qr.size[g]
    row, head = qr.rows[t], qr.head[t]
    along = qr.beta[t] * (head * x[s] + inner_product(row[s + 1:size], x[s + 1:size]))
    x[s] -= along * head
    for j in range(s + 1, size):
        x[j] -= along * row[j]


@kernel
def apply_q_transposed(qr, g, x):
    """Replace x by Q^T x."""
    for s in range(qr.rank[g]):
        reflect(qr, g, s, x)


@kernel
def apply_q(qr, g, x):
    """Replace x by Q x."""
    for s in range(qr.rank[g] - 1, -1, -1):
        reflect(qr, g, s, x)


@kernel
def solve_r_transposed(qr, g, x):
    """Replace the first numbers of x by R^-T x."""
    first = qr.slot[g]
    for s in range(qr.rank[g]):
        along = x[s]
        for t in range(s):
            along -= qr.rows[first + s, t] * x[t]
        x[s] = along / qr.rows[first + s, s]


@kernel
def solve_r(qr, g, x):
    """Replace the first numbers of x by R^-1 x."""
    first, rank = qr.slot[g], qr.rank[g]
    for s in range(rank - 1, -1, -1):
        along = x[s]
        for t in range(s + 1, rank):
            along -= qr.rows[first + t, s] * x[t]
        x[s] = along / qr.rows[first + s, s]


@kernel
def reflect_lanes(qr, g, s, table, at, c):
    """Apply reflection s to the eight columns from c on of a table X, whose rows begin at `at`."""
    t, size = qr.slot[g] + s, qr.size[g]
    row, head, own = qr.rows[t], qr.head[t], get_lanes(table, at + s, c)
    along = head * own
    for j in range(s + 1, size):
        along = along + row[j] * get_lanes(table, at + j, c)
    along = qr.beta[t] * along
    put_lanes(table, at + s, c, own - head * along)
    for j in range(s + 1, size):
        put_lanes(table, at + j, c, get_lanes(table, at + j, c) - row[j] * along)


@kernel
def apply_q_transposed_to_lanes(qr, g, table, at, c):
    """Replace eight columns of X by Q^T X."""
    for s in range(qr.rank[g]):
        reflect_lanes(qr, g, s, table, at, c)


@kernel
def apply_q_to_lanes(qr, g, table, at, c):
    """Replace eight columns of X by Q X."""
    for s in range(qr.rank[g] - 1, -1, -1):
        reflect_lanes(qr, g, s, table, at, c)


@kernel
def solve_r_transposed_for_lanes(qr, g, table, at, c):
    """Replace the first rows of eight columns of X by R^-T X."""
    first = qr.slot[g]
    for s in range(qr.rank[g]):
        along = get_lanes(table, at + s, c)
        for t in range(s):
            along = along - qr.rows[first + s, t] * get_lanes(table, at + t, c)
        put_lanes(table, at + s, c, (1.0 / qr.rows[first + s, s]) * along)


@kernel
def solve_r_for_lanes(qr, g, table, at, c):
    """Replace the first rows of eight columns of X by R^-1 X."""
    first, rank = qr.slot[g], qr.rank[g]
    for s in range(rank - 1, -1, -1):
        along = get_lanes(table, at + s, c)
        for t in range(s + 1, rank):
            along = along - qr.rows[first + t, s] * get_lanes(table, at + t, c)
        put_lanes(table, at + s, c, (1.0 / qr.rows[first + s, s]) * along)


MAX_SWEEPS = 40
ORTHOGONAL = 1e-15  # cosine of the angle between columns that count as orthogonal


@kernel
def orthogonalize_columns(columns, mix, size):
    """Rotate the rows (k, m) of columns until they are orthogonal, and mix (k, k) alike."""
    for _ in range(MAX_SWEEPS):
        rotated = False
        for p in range(len(columns)):
            for s in range(p + 1, len(columns)):
                x, y = inner_product(columns[p], columns[p]), inner_product(columns[s], columns[s])
                z = inner_product(columns[p], columns[s])
                if abs(z) > ORTHOGONAL * math.sqrt(x * y):
                    zeta = 0.5 * (y - x) / z
                    t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                    rotate_rows(columns, mix, p, s, t)
                    rotated = True
        if not rotated:
            break
    for p in range(len(columns)):
        size[p] = math.sqrt(inner_product(columns[p], columns[p]))


@kernel
def rotate_rows(columns, mix, p, s, t):
    """Rotate rows p and s of both tables by the angle whose tangent is t."""
    cos = 1.0 / math.sqrt(1.0 + t * t)
    sin = t * cos
    for table in (columns, mix):
        for j in range(table.shape[1]):
            a, b = table[p, j], table[s, j]
            table[p, j], table[s, j] = cos * a - sin * b, sin * a + cos * b


@kernel
def write_identity(mix):
    """Write the identity."""
    for p in range(len(mix)):
        for j in range(len(mix)):
            mix[p, j] = 1.0 if p == j else 0.0


@kernel
def orthonormalize_rows(mix):
    """Remove the rounding errors of many rotations from nearly orthonormal rows."""
    for p in range(len(mix)):
        for s in range(p):
            z = inner_product(mix[p], mix[s])
            for j in range(len(mix)):
                mix[p, j] -= z * mix[s, j]
        scale = 1.0 / math.sqrt(inner_product(mix[p], mix[p]))
        for j in range(len(mix)):
            mix[p, j] *= scale
