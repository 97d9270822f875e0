# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The velocity that leads frames to targets while loops stay closed, and then a posture to rest.

Where a step opens loops by its length, it is corrected, then shortened. As in closing.py,
residuals of trials may come from Python.
"""

import math

from liedyn_ros.dynamics.constrained.kernels.position import closure_residuals
from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.jit.pointers import part
from liedyn_ros.linear_algebra.kernels.constrained_least_squares import (
    solve_constrained_least_squares)
from liedyn_ros.model.kernels import configuration

MAX_OPENING, MAX_OPENING_SHARE = 1e-5, 0.01  # of a step: of sizes of rows, of gaps left
STEP_TRIALS = 30  # to find a step that opens loops by less
OPEN_LOOP_PRICE = 1e3  # of what frames miss, where limits do not let loops close at once
# How a call ends: EVALUATE wants residuals.
FOUND, EVALUATE, NO_CONFIGURATION, NONE, OPENS = range(5)


def scratch_size(m, tasks, n):
    """Return the rows and columns of scratch of these kernels for m constraints."""
    return m + tasks + 6 * n + 13


@long_kernel
def lead(workspace: VECTOR, turns: VECTOR, size: VECTOR, q: VECTOR, dt: NUMBER, gain: NUMBER,
         jacobian: MATRIX, wanted: VECTOR, held: WHOLE, damping: VECTOR, lower: VECTOR,
         upper: VECTOR, back: VECTOR, trial: VECTOR, f: VECTOR, rows: MATRIX, scratch: MATRIX,
         v: VECTOR) -> WHOLE:
    """
    Write v (nv); return FOUND, or NO_CONFIGURATION for q, NONE within bounds, OPENS loops.

    Arguments are those of continue_leading; turns (C,) is a scratch buffer.
    """
    for i in range(len(q)):
        trial[i] = q[i]
    attempt, code = 0, EVALUATE
    while code == EVALUATE:
        turns[:] = math.nan
        if not closure_residuals(workspace, trial, turns, f, rows):
            return NO_CONFIGURATION
        code = continue_leading(workspace, attempt, size, q, dt, gain, jacobian, wanted, held,
                                damping, lower, upper, back, trial, f, rows, scratch, v)
        attempt += 1
    return code


@long_kernel
def continue_leading(
        workspace: VECTOR, attempt: WHOLE, size: VECTOR, q: VECTOR, dt: NUMBER, gain: NUMBER,
        jacobian: MATRIX, wanted: VECTOR, held: WHOLE, damping: VECTOR, lower: VECTOR,
        upper: VECTOR, back: VECTOR, trial: VECTOR, f: VECTOR, rows: MATRIX, scratch: MATRIX,
        v: VECTOR) -> WHOLE:
    """
    Use residuals f (m,) and rows (m, nv) at a trial (nq,), q at attempt 0, and write the next.

    v (nv,) is held for dt. Of what jacobian (k, nv) v misses of wanted (k,) the squares are least,
    with damping (nv,) times those of v, within bounds; the first `held` are met. Gaps of loops
    fall by gain; of velocities as good, the one nearest to back (nv,), if it has entries, is
    taken. size (m,) is that of residuals. scratch has scratch_size rows and columns. Without
    constraints, m = 0, the first call is the last, and reads no workspace.
    """
    m, k, n = len(size), len(wanted), len(v)
    numbers, inner = scratch.reshape(scratch.size), m + k + 5 * n + 9
    solver, at = part(numbers, 0, inner, inner), inner * inner
    stack, at = part(numbers, at, m + k + n, n), at + (m + k + n) * n
    sides, at = part(numbers, at, 1, m + k + n)[0], at + m + k + n
    gaps, at = part(numbers, at, 3, m), at + 3 * m  # as they are, as they are to be, corrections
    step, at = part(numbers, at, 2, n), at + 2 * n
    kept, at = part(numbers, at, 1, 2)[0], at + 2  # how long the step is, by how much it opened
    falls = -min(gain * dt, 1.0) / dt
    code = choose_step(attempt, size, falls, dt, f, rows, gaps, kept, stack, sides)
    if code != EVALUATE:
        return code
    for i in range(k):
        sides[m + i] = kept[0] * wanted[i]
        for j in range(n):
            stack[m + i, j] = jacobian[i, j]
    share = 1.0
    if not solve_constrained_least_squares(
            stack[:m + k], sides[:m + k], m + held, damping, lower, upper, solver, v):
        share = -1.0 if held > 0 else close_slowly(
            stack, sides, falls, gaps, damping, lower, upper, part(numbers, at, m + k + 1, n + 1),
            part(numbers, at + (m + k + 1) * (n + 1), 1, m + k + 1)[0],
            part(numbers, at + (m + k + 1) * (n + 2), 4, n + 1), solver, v)
        if share < 0.0:
            return NONE
    if len(back) > 0:
        ease(stack, sides, m + k, lower, upper, kept[0], back, step, solver, v)
    if m == 0:
        return FOUND
    for r in range(m):
        gaps[1, r] = gaps[0, r] * (1.0 + share * falls * dt)
    for j in range(n):
        step[0, j] = dt * v[j]
    machine = workspace_of(workspace).machine
    configuration.integrate(machine.kind, machine.qi, machine.vi, q, step[0], trial)
    return EVALUATE


@kernel
def choose_step(attempt, size, falls, dt, f, rows, gaps, kept, stack, sides):
    """Return FOUND or OPENS, or write the rows of loops for a next, maybe shorter, step."""
    m, n = rows.shape
    opened, most = 0.0, 0.0
    for r in range(m):
        f[r] /= size[r]
        if attempt == 0:
            gaps[0, r] = f[r]
            for j in range(n):
                stack[r, j] = rows[r, j] / size[r]
        else:
            opened, most = max(opened, abs(f[r] - gaps[1, r])), max(most, abs(gaps[1, r]))
    if attempt > 0 and opened <= MAX_OPENING + MAX_OPENING_SHARE * most:
        return FOUND
    if attempt == STEP_TRIALS:
        return OPENS
    corrects = attempt > 0 and opened < 0.5 * kept[1]
    kept[0] = 1.0 if attempt == 0 else kept[0] if corrects else 0.5 * kept[0]
    kept[1] = math.inf if attempt == 0 else opened
    for r in range(m):
        gaps[2, r] = gaps[2, r] - (f[r] - gaps[1, r]) / dt if corrects else 0.0
        sides[r] = falls * gaps[0, r] + gaps[2, r]
    return EVALUATE


@kernel
def close_slowly(stack, sides, falls, gaps, damping, lower, upper, wide, right, bounds, solver, v):
    """Write v (n,) that closes loops as fast as bounds allow; return its share, -1 for none."""
    m, n, rows = gaps.shape[1], len(v), len(right) - 1
    price, some = 0.0, False
    for j in range(n):
        along, price = 0.0, max(price, damping[j])
        for i in range(m, rows):
            along += stack[i, j] * sides[i]
        price = max(price, abs(along))
        for s in range(n):
            along = 0.0
            for i in range(m, rows):
                along += stack[i, j] * stack[i, s]
            price = max(price, abs(along))
    root = math.sqrt(OPEN_LOOP_PRICE * price)
    for i in range(rows + 1):
        for j in range(n):
            wide[i, j] = stack[i, j] if i < rows else 0.0
        wide[i, n] = -falls * gaps[0, i] if i < m else root if i == rows else 0.0
        right[i] = gaps[2, i] if i < m else sides[i] if i < rows else root
        some = some or (i < m and gaps[0, i] != 0.0)
    for j in range(n + 1):
        bounds[0, j], bounds[1, j] = lower[j] if j < n else 0.0, upper[j] if j < n else 1.0
        bounds[2, j] = damping[min(j, n - 1)]
    if not some or not solve_constrained_least_squares(
            wide, right, m, bounds[2], bounds[0], bounds[1], solver, bounds[3]):
        return -1.0
    for j in range(n):
        v[j] = bounds[3, j]
    return bounds[3, n]


@kernel
def ease(stack, sides, count, lower, upper, shorter, back, step, solver, v):
    """Move v (n,) as near to so much of back as it may be while count rows stay what they are."""
    n = len(v)
    for i in range(count):
        sides[i] = 0.0
        for j in range(n):
            sides[i] += stack[i, j] * v[j]
    for i in range(n):
        sides[count + i], step[0, i], step[1, i] = shorter * back[i], 0.0, v[i]
        for j in range(n):
            stack[count + i, j] = 1.0 if i == j else 0.0
    if not solve_constrained_least_squares(
            stack, sides, count, step[0], lower, upper, solver, v):
        for j in range(n):  # rounding leaves nothing else
            v[j] = step[1, j]
