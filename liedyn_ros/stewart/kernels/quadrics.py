# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Paths from the solutions of one system of seven quadrics in eight unknowns to those of another.

A form is a symmetric 8 by 8 matrix Q that stands for x^T Q x, a system seven of them in one flat
array of complex numbers. H(x, t) = x^T (gamma t S + (1 - t) F) x joins the start S at t = 1 with
the target F at t = 0; gamma, a random complex number, keeps the paths apart with probability one.
Solutions are points of projective space: |x| = 1, and a step is orthogonal to x.
"""

from typing import Any, NamedTuple

from liedyn_ros.compile import kernel

UNKNOWNS = 8
FORMS = 7
WORK = 64 + 5 * UNKNOWNS  # complex numbers in a workspace

FIRST_STEP = 0.05
SMALLEST_STEP = 1e-6  # of t, or of END_ZONE where t is larger
END_ZONE = 1e-6
END = 1e-13  # t here is as good as zero, unless the end is singular
CORRECTED = 1e-8  # the last Newton step; the error is about its square
CONTRACTION = 0.1  # of Newton steps, at least; at a singular solution it is one half
CORRECTIONS = 3
FINAL_CORRECTIONS = 8
PATIENCE = 3  # good steps before a longer one
MOST_STEPS = 5000


class Homotopy(NamedTuple):
    """Start and target (448 complex numbers each), gamma."""

    start: Any
    target: Any
    gamma: complex


@kernel
def views(work):
    """Return the parts of a workspace: J, H, dH/dt, dx/dt, its mean over a step, the trial x."""
    return work[0:64], work[64:72], work[72:80], work[80:88], work[88:96], work[96:104]


@kernel
def evaluate(homotopy, x, t, jacobian, value, rate):
    """Write dH/dx with conj(x) as its last row, H and dH/dt with zero as their last entries."""
    start, target, gamma = homotopy
    for i in range(FORMS):
        total = 0j
        change = 0j
        for j in range(UNKNOWNS):
            at = 64 * i + UNKNOWNS * j
            from_start, from_target = 0j, 0j
            for k in range(UNKNOWNS):
                from_start += start[at + k] * x[k]
                from_target += target[at + k] * x[k]
            both = gamma * t * from_start + (1.0 - t) * from_target
            jacobian[UNKNOWNS * i + j] = 2.0 * both
            total += x[j] * both
            change += x[j] * (gamma * from_start - from_target)
        value[i], rate[i] = total, change
    for j in range(UNKNOWNS):
        jacobian[UNKNOWNS * FORMS + j] = x[j].conjugate()
    value[FORMS], rate[FORMS] = 0j, 0j


@kernel
def square_norm(x):
    """Return |x|^2."""
    total = 0.0
    for i in range(UNKNOWNS):
        total += x[i].real * x[i].real + x[i].imag * x[i].imag
    return total


@kernel
def normalize(x):
    """Scale x to unit norm."""
    factor = 1.0 / square_norm(x) ** 0.5
    for i in range(UNKNOWNS):
        x[i] *= factor


@kernel
def solve(a, b):
    """Write A^-1 b over b, by elimination with row pivots; A is overwritten."""
    n = UNKNOWNS
    for k in range(n):
        pivot, most = k, -1.0
        for i in range(k, n):
            entry = a[n * i + k]
            size = entry.real * entry.real + entry.imag * entry.imag
            if size > most:
                pivot, most = i, size
        if pivot != k:
            b[k], b[pivot] = b[pivot], b[k]
            for j in range(k, n):
                a[n * k + j], a[n * pivot + j] = a[n * pivot + j], a[n * k + j]
        inverse = 1.0 / a[n * k + k]
        a[n * k + k] = inverse
        for i in range(k + 1, n):
            factor = a[n * i + k] * inverse
            b[i] -= factor * b[k]
            for j in range(k + 1, n):
                a[n * i + j] -= factor * a[n * k + j]
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= a[n * i + j] * b[j]
        b[i] = total * a[n * i + i]


@kernel
def predict(homotopy, x, t, dt, work):
    """Write x(t - dt) into the trial by the classical fourth-order Runge-Kutta rule."""
    jacobian, value, rate, slope, mean, trial = views(work)
    for i in range(UNKNOWNS):
        slope[i], mean[i] = 0j, 0j
    for stage in range(4):
        part = (0.0, 0.5, 0.5, 1.0)[stage] * dt
        weight = (1.0, 2.0, 2.0, 1.0)[stage] / 6.0
        for i in range(UNKNOWNS):
            trial[i] = x[i] - part * slope[i]
        evaluate(homotopy, trial, t - part, jacobian, value, rate)
        solve(jacobian, rate)
        for i in range(UNKNOWNS):
            slope[i] = -rate[i]
            mean[i] += weight * slope[i]
    for i in range(UNKNOWNS):
        trial[i] = x[i] - dt * mean[i]
    normalize(trial)


@kernel
def correct(homotopy, t, near, most, work):
    """
    Improve the trial by at most so many Newton steps; return whether it converged.

    The first step must be shorter than `near`, and each a fraction of the one before.
    """
    jacobian, value, rate, _, _, trial = views(work)
    for _ in range(most):
        evaluate(homotopy, trial, t, jacobian, value, rate)
        solve(jacobian, value)
        step = square_norm(value) ** 0.5
        if not step < near:
            return False
        for i in range(UNKNOWNS):
            trial[i] -= value[i]
        normalize(trial)
        if step < CORRECTED:
            return True
        near = CONTRACTION * step
    return False


@kernel
def track(homotopy, near, x, work):
    """
    Move a solution x of the start along its path; return the t it came to.

    It is 0 where the path ends in an isolated solution of the target, as Newton's method tells.
    near: how far a prediction may be from its path; smaller is slower and safer.
    """
    trial = views(work)[5]
    t, dt, good = 1.0, FIRST_STEP, 0
    for _ in range(MOST_STEPS):
        dt = min(dt, t)
        predict(homotopy, x, t, dt, work)
        if correct(homotopy, t - dt, near, CORRECTIONS, work):
            t -= dt
            copy(trial, x)
            good += 1
            if good == PATIENCE:
                dt, good = 2.0 * dt, 0
        else:
            dt, good = 0.5 * dt, 0
        if t <= END or dt < SMALLEST_STEP * min(t, END_ZONE):
            break
    if t > END_ZONE:
        return t
    copy(x, trial)
    if not correct(homotopy, 0.0, near, FINAL_CORRECTIONS, work):
        return max(t, END)
    copy(trial, x)
    return 0.0


@kernel
def copy(values, out):
    """Write one point over another."""
    for i in range(UNKNOWNS):
        out[i] = values[i]


@kernel
def track_all(start, target, gamma, near, solutions, times, work):
    """Move every row of solutions (n, 8) towards the target; write the t each came to."""
    homotopy = Homotopy(start, target, gamma)
    for n in range(solutions.shape[0]):
        times[n] = track(homotopy, near, solutions[n], work)
