# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Paths from the complex poses of one system of six leg equations to those of another.

In Study coordinates e = s u, g a leg equation is e.A e + e.B g + 4 g.g = 0 (Wampler 1996). Each
leg has its own matrices A and B, and e.g = 0 holds besides. Five differences of leg equations can
be divided by s. The system is s u.A u + u.B g = 0, u.g = 0 and the sixth leg's equation. It does
not vanish at s = 0, where e would: what has no limit among the poses has one there.

H = gamma t S + (1 - t) F joins the start S at t = 1 with the target F at t = 0. gamma, a random
complex number, keeps the paths apart with probability one (Sommese and Wampler 2005). A point is
u, g, s, nine complex numbers of |u| = 1 and |g|^2 + |s|^2 = 1. A system is one flat array: A and
B, 4 by 4, row by row, of the five differences and the sixth leg.
"""

from typing import Any, NamedTuple

from liedyn_ros.jit.decorators import kernel, long_kernel
from liedyn_ros.jit.kinds import COMPLEX, COMPLEX_MATRIX, COMPLEX_VECTOR, NUMBER, VECTOR
from liedyn_ros.linear_algebra.kernels.elimination import solve_by_elimination

UNKNOWNS = 9
LEGS = 6
LEG_NUMBERS = 32  # complex numbers of a leg
HOMOTOPY_WORK = UNKNOWNS * UNKNOWNS + 5 * UNKNOWNS  # complex numbers in a workspace

FIRST_PATH_STEP = 0.05
SMALLEST_STEP = 1e-6  # of t, or of END_ZONE where t is larger
END_ZONE = 1e-5
PATH_END = 1e-13  # t here is as good as zero, unless the end is singular
CORRECTED = 1e-8  # the last Newton step; the error is about its square
CONTRACTION = 0.1  # of Newton steps, at least; at a singular solution it is one half
CORRECTIONS = 3
FINAL_CORRECTIONS = 8
GOOD_STEPS = 3  # good steps before a longer one
MAX_STEPS = 5000


class Homotopy(NamedTuple):
    """Start and target (192 complex numbers each), gamma."""

    start: Any
    target: Any
    gamma: complex


@kernel
def homotopy_views(work):
    """Return the parts of a workspace: J, H, dH/dt, dx/dt, its mean over a step, the trial x."""
    n = UNKNOWNS * UNKNOWNS
    return (work[0:n], work[n:n + 9], work[n + 9:n + 18], work[n + 18:n + 27],
            work[n + 27:n + 36], work[n + 36:n + 45])


@kernel
def evaluate_homotopy(homotopy, x, t, jacobian, value, rate):
    """Write dH/dx, H and dH/dt; the last two rows are conj(u) and conj(g), conj(s)."""
    for i in range(UNKNOWNS * UNKNOWNS):
        jacobian[i] = 0j
    for i in range(UNKNOWNS):
        value[i], rate[i] = 0j, 0j
    for i in range(LEGS):
        uau, ubg = leg_parts(homotopy, x, t, i, jacobian)
        uau_rate, ubg_rate = leg_rates(homotopy, x, i)
        value[i] = x[8] * uau + ubg
        rate[i] = x[8] * uau_rate + ubg_rate
        jacobian[9 * i + 8] = uau
    complete_sixth(homotopy, x, t, jacobian, value, rate)
    for j in range(4):
        value[6] += x[j] * x[4 + j]
        jacobian[54 + j], jacobian[58 + j] = x[4 + j], x[j]
        jacobian[63 + j], jacobian[76 + j] = x[j].conjugate(), x[4 + j].conjugate()
    jacobian[80] = x[8].conjugate()


@kernel
def complete_sixth(homotopy, x, t, jacobian, value, rate):
    """Multiply the sixth leg's common part with the others by s and add its 4 g.g."""
    s, gamma = x[8], homotopy.gamma
    weight, squares = 4.0 * (1.0 - t + gamma * t), 0j
    for j in range(9):
        jacobian[45 + j] *= s
    jacobian[53] += value[5]
    for j in range(4):
        jacobian[49 + j] += 2.0 * weight * x[4 + j]
        squares += x[4 + j] * x[4 + j]
    value[5] = s * value[5] + weight * squares
    rate[5] = s * rate[5] + 4.0 * (gamma - 1.0) * squares


@kernel
def leg_parts(homotopy, x, t, i, jacobian):
    """Return u.A u and u.B g of a leg; write 2 s A u + B g and B^T u into its row."""
    start, target, gamma = homotopy
    from_start, from_target = gamma * t, 1.0 - t
    uau, ubg = 0j, 0j
    for j in range(4):
        au, bg = 0j, 0j
        for k in range(4):
            at = LEG_NUMBERS * i + 4 * j + k
            b = from_target * target[at + 16] + from_start * start[at + 16]
            au += (from_target * target[at] + from_start * start[at]) * x[k]
            bg += b * x[4 + k]
            jacobian[9 * i + 4 + k] += b * x[j]
        jacobian[9 * i + j] = 2.0 * x[8] * au + bg
        uau += x[j] * au
        ubg += x[j] * bg
    return uau, ubg


@kernel
def leg_rates(homotopy, x, i):
    """Return the derivatives by t of u.A u and u.B g of a leg."""
    start, target, gamma = homotopy
    uau, ubg = 0j, 0j
    for j in range(4):
        au, bg = 0j, 0j
        for k in range(4):
            at = LEG_NUMBERS * i + 4 * j + k
            au += (gamma * start[at] - target[at]) * x[k]
            bg += (gamma * start[at + 16] - target[at + 16]) * x[4 + k]
        uau += x[j] * au
        ubg += x[j] * bg
    return uau, ubg


@kernel
def complex_square_norm(x, first, end):
    """Return the square norm of some of the entries."""
    total = 0.0
    for i in range(first, end):
        total += x[i].real * x[i].real + x[i].imag * x[i].imag
    return total


@kernel
def normalize_point(x):
    """Scale u to unit norm, s inversely, and then g and s."""
    size = complex_square_norm(x, 0, 4) ** 0.5
    for i in range(4):
        x[i] /= size
    x[8] *= size
    size = complex_square_norm(x, 4, 9) ** 0.5
    for i in range(4, 9):
        x[i] /= size


@kernel
def predict(homotopy, x, t, dt, work):
    """Write x(t - dt) into the trial by the classical fourth-order Runge-Kutta rule."""
    jacobian, value, rate, slope, mean, trial = homotopy_views(work)
    for i in range(UNKNOWNS):
        slope[i], mean[i] = 0j, 0j
    for stage in range(4):
        part = (0.0, 0.5, 0.5, 1.0)[stage] * dt
        weight = (1.0, 2.0, 2.0, 1.0)[stage] / 6.0
        for i in range(UNKNOWNS):
            trial[i] = x[i] - part * slope[i]
        evaluate_homotopy(homotopy, trial, t - part, jacobian, value, rate)
        solve_by_elimination(jacobian, rate)
        for i in range(UNKNOWNS):
            slope[i] = -rate[i]
            mean[i] += weight * slope[i]
    for i in range(UNKNOWNS):
        trial[i] = x[i] - dt * mean[i]
    normalize_point(trial)


@kernel
def correct(homotopy, t, near, most, work):
    """
    Improve the trial by at most so many Newton steps; return whether it converged.

    The first step must be shorter than `near`, and each a fraction of the one before.
    """
    jacobian, value, rate, _, _, trial = homotopy_views(work)
    for _ in range(most):
        evaluate_homotopy(homotopy, trial, t, jacobian, value, rate)
        solve_by_elimination(jacobian, value)
        step = complex_square_norm(value, 0, UNKNOWNS) ** 0.5
        if not step < near:
            return False
        for i in range(UNKNOWNS):
            trial[i] -= value[i]
        normalize_point(trial)
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
    trial = homotopy_views(work)[5]
    t, dt, good = 1.0, FIRST_PATH_STEP, 0
    for _ in range(MAX_STEPS):
        dt = min(dt, t)
        predict(homotopy, x, t, dt, work)
        if correct(homotopy, t - dt, near, CORRECTIONS, work):
            t -= dt
            copy_complex(trial, x)
            good += 1
            if good == GOOD_STEPS:
                dt, good = 2.0 * dt, 0
        else:
            dt, good = 0.5 * dt, 0
        if t <= PATH_END or dt < SMALLEST_STEP * min(t, END_ZONE):
            break
    if t > END_ZONE:
        return t
    copy_complex(x, trial)
    if not correct(homotopy, 0.0, near, FINAL_CORRECTIONS, work):
        return max(t, PATH_END)
    copy_complex(trial, x)
    return 0.0


@kernel
def copy_complex(values, out):
    """Write one point over another."""
    for i in range(UNKNOWNS):
        out[i] = values[i]


@long_kernel
def track_all(
        start: COMPLEX_VECTOR, target: COMPLEX_VECTOR, gamma: COMPLEX, near: NUMBER,
        points: COMPLEX_MATRIX, times: VECTOR, work: COMPLEX_VECTOR):
    """Move every row of points (n, 9) towards the target; write the t each came to."""
    homotopy = Homotopy(start, target, gamma)
    for n in range(points.shape[0]):
        times[n] = track(homotopy, near, points[n], work)
