# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Whether a value went through zero or turned before it, from measurements of its square.

A Kalman filter follows the value: a row of value, rate, acceleration, their covariance (vv, vr,
va, rr, ra, aa) and the evidence for the row. A bank has one filter for each of several sharpnesses
of the motion. Samples near zero are kept in bins (n, 3) of time, square and its variance.
"""

import math

from liedyn_ros.jit.decorators import kernel

FILTER_WIDTH = 10  # numbers of a filter
# Of a bin that is being filled: time, square, variance, samples; bins; samples a bin
BIN_WIDTH = 6
UNKNOWN_RATE = 1.0  # 1/s^2, variance of a rate that is not yet known
UNKNOWN_ACCELERATION = 30.0  # 1/s^4, that of an acceleration
SIGN_DEVIATIONS = 3.0  # standard deviations from zero, below which the sign of a value is not sure
# Standard deviations above zero from which on a square has a root to start from
ROOT_DEVIATIONS = 16.0
OUTLIER = 6.0  # standard deviations that rule a square out
MAX_LOG_PENALTY = 9.0  # nats by which a sharpness is held less likely at most: it may change
MIN_LIKELIHOOD = 1e-300  # likelihood below which a branch is ruled out all the same


@kernel
def start_filter(row, value, variance):
    """Start a filter from a value alone."""
    for i in range(FILTER_WIDTH):
        row[i] = 0.0
    row[0], row[3], row[6], row[8] = value, variance, UNKNOWN_RATE, UNKNOWN_ACCELERATION


@kernel
def predict_filter(row, dt, jerk):
    """Predict a filter over a time, s, or back; jerk: spectrum of the value's jerk (11.7)."""
    value, rate, acceleration = row[0], row[1], row[2]
    vv, vr, va, rr, ra, aa = row[3], row[4], row[5], row[6], row[7], row[8]
    h, spread = 0.5 * dt * dt, abs(dt) * jerk
    row[0] = value + dt * rate + h * acceleration
    row[1] = rate + dt * acceleration
    row[3] = (vv + 2.0 * (dt * vr + h * va) + dt * dt * rr + 2.0 * dt * h * ra + h * h * aa
              + spread * h * h / 5.0)
    row[4] = vr + dt * (va + rr) + (h + dt * dt) * ra + dt * h * aa + spread * dt * h / 4.0
    row[5] = va + dt * ra + h * aa + spread * h / 3.0
    row[6] = rr + 2.0 * dt * ra + dt * dt * aa + spread * dt * dt / 3.0
    row[7] = ra + dt * aa + spread * dt / 2.0
    row[8] = aa + spread


@kernel
def correct_filter(row, square, variance):
    """
    Update a filter with a measured square (11.8); return its evidence, NaN where it strays.

    The evidence is the logarithm of the square's likelihood, less its expectation for a filter
    that knows the value already (11.9).
    """
    slope, vv, vr, va = 2.0 * row[0], row[3], row[4], row[5]
    own = variance + 2.0 * vv * vv
    total = own + slope * slope * vv
    innovation = square - row[0] * row[0] - vv
    misfit = innovation * innovation / total
    if misfit > OUTLIER * OUTLIER:
        return math.nan
    gain = slope / total
    for i in range(3):
        row[i] += gain * row[3 + i] * innovation
    row[6] -= gain * slope * vr * vr
    row[7] -= gain * slope * vr * va
    row[8] -= gain * slope * va * va
    for i in range(3, 6):
        row[i] *= own / total
    return 0.5 * (1.0 - misfit) - 0.5 * math.log(total / variance)  # (11.9)


@kernel
def is_near_zero(row):
    """Return whether a filter's value is less than SIGN_DEVIATIONS from zero."""
    return row[0] * row[0] < SIGN_DEVIATIONS * SIGN_DEVIATIONS * row[3]


@kernel
def predict_bank(bank, jerks, dt, kept, best):
    """Predict all filters; return the best one's value and whether it is near zero."""
    for m in range(bank.shape[0]):
        predict_filter(bank[m], dt, jerks[m])
        bank[m, 9] *= kept
    return bank[best, 0], is_near_zero(bank[best])


@kernel
def correct_bank(bank, square, variance):
    """
    Update all filters with a measured square; return the best one's index, value and rate.

    A filter with too little evidence takes over the best one's state, since the sharpness of the
    motion may have changed. Far from zero a square that strays restarts a filter.
    """
    best = 0
    for m in range(bank.shape[0]):
        row = bank[m]
        far = not is_near_zero(row) and square > ROOT_DEVIATIONS * math.sqrt(variance)
        evidence = correct_filter(row, square, variance)
        if math.isnan(evidence):
            evidence = -0.5 * OUTLIER * OUTLIER
            if far:
                restart_from_square(row, square, variance)
        row[9] += evidence
        if row[9] > bank[best, 9]:
            best = m
    least = bank[best, 9] - MAX_LOG_PENALTY
    for m in range(bank.shape[0]):
        if bank[m, 9] < least:
            for i in range(9):
                bank[m, i] = bank[best, i]
            bank[m, 9] = least
    return best, bank[best, 0], bank[best, 1]


@kernel
def restart_from_square(row, square, variance):
    """Restart at the root of a square, with the former rate and the variances of a start."""
    row[0] = math.copysign(square ** 0.5, row[0])
    row[3], row[4], row[5] = variance / (4.0 * square), 0.0, 0.0
    row[6] += UNKNOWN_RATE
    row[7] = 0.0
    row[8] += UNKNOWN_ACCELERATION


@kernel
def mirror_bank(bank, sign):
    """Give the values of all filters one sign."""
    for m in range(bank.shape[0]):
        if bank[m, 0] * sign < 0.0:
            for i in range(3):
                bank[m, i] = -bank[m, i]


@kernel
def collect_square(bins, tally, time, square, variance):
    """
    Add a sample to the bins; return the number of bins if one was filled, else 0.

    Once all bins are full, pairs are joined, and twice as many samples fill a bin.
    """
    tally[0] += time
    tally[1] += square
    tally[2] += variance
    tally[3] += 1.0
    if tally[3] < tally[5]:
        return 0
    count = int(tally[4])
    if count == bins.shape[0]:
        count //= 2
        for k in range(count):
            bins[k, 0] = 0.5 * (bins[2 * k, 0] + bins[2 * k + 1, 0])
            bins[k, 1] = 0.5 * (bins[2 * k, 1] + bins[2 * k + 1, 1])
            bins[k, 2] = 0.25 * (bins[2 * k, 2] + bins[2 * k + 1, 2])
        tally[4] = count
        tally[5] *= 2.0
        return 0
    bins[count, 0] = tally[0] / tally[3]
    bins[count, 1] = tally[1] / tally[3]
    bins[count, 2] = tally[2] / (tally[3] * tally[3])
    tally[0] = tally[1] = tally[2] = tally[3] = 0.0
    tally[4] = count + 1.0
    return count + 1


@kernel
def trace_back(row, bins, count, jerk):
    """
    Filter the bins, as if positive, from the newest back to the first near zero (11.10).

    Returns the time of that bin. The row's evidence is that of the bins.
    """
    k = count - 1
    start_filter(row, bins[k, 1] ** 0.5, bins[k, 2] / (4.0 * bins[k, 1]))
    while k > 0:
        k -= 1
        predict_filter(row, bins[k, 0] - bins[k + 1, 0], jerk)
        if is_near_zero(row):
            break
        evidence = correct_filter(row, bins[k, 1], bins[k, 2])
        row[9] += -0.5 * OUTLIER * OUTLIER if math.isnan(evidence) else evidence
        if is_near_zero(row):
            break
    return bins[k, 0]


@kernel
def match_likelihood(before, after, sign):
    """Return the log likelihood that a state after, on one side, continues one before (11.10)."""
    a, b, c = before[3] + after[3], before[4] + after[4], before[5] + after[5]
    d, e, f = before[6] + after[6], before[7] + after[7], before[8] + after[8]
    aa, ab, ac = d * f - e * e, c * e - b * f, b * e - c * d  # the adjugate of their covariance
    bb, bc, cc = a * f - c * c, b * c - a * e, a * d - b * b
    determinant = a * aa + b * ab + c * ac
    x, y, z = (sign * after[0] - before[0], sign * after[1] - before[1],
               sign * after[2] - before[2])
    square = (x * (x * aa + 2.0 * (y * ab + z * ac)) + y * (y * bb + 2.0 * z * bc) + z * z * cc)
    return -0.5 * (square / determinant + math.log(determinant))


@kernel
def passage_odds(bank, jerks, bins, count, work, weights):
    """
    Return the logarithm of the odds that the value is now positive and not negative (11.11).

    bank: the filters before the first bin, at time 0; left as they are. work: (2, FILTER_WIDTH).
    weights: (n, 3). 0 where the newest square is not clear yet.
    """
    if bins[count - 1, 1] < ROOT_DEVIATIONS * bins[count - 1, 2] ** 0.5:
        return 0.0
    before, after, top = work[0], work[1], -math.inf
    for m in range(bank.shape[0]):
        time = trace_back(after, bins, count, jerks[m])
        for i in range(FILTER_WIDTH):
            before[i] = bank[m, i]
        predict_filter(before, time, jerks[m])
        up, down = match_likelihood(before, after, 1.0), match_likelihood(before, after, -1.0)
        best = max(up, down)
        both = best + math.log(math.exp(up - best) + math.exp(down - best))
        weights[m, 0] = before[9] + after[9] + both
        weights[m, 1], weights[m, 2] = up - both, down - both
        top = max(top, weights[m, 0])
    up, down = 0.0, 0.0
    for m in range(bank.shape[0]):
        weight = math.exp(max(weights[m, 0] - top, -MAX_LOG_PENALTY))
        up += weight * math.exp(weights[m, 1])
        down += weight * math.exp(weights[m, 2])
    return math.log(max(up, MIN_LIKELIHOOD)) - math.log(max(down, MIN_LIKELIHOOD))
