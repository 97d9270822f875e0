# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A bank of Kalman filters of n drives with three derivatives each (14.24, 14.25).

A length is the position of a drive's end, m: the reading of a strut or a rail, the arc of a crank.
A member of the bank is a row. It has the common covariance (4, 4) of the legs, row by row, the
member's evidence, and its misfit, then four numbers of each leg (m, m/s, m/s^2, m/s^3). The misfit
is the mean of the squared errors over their variance: 1 where the member fits its covariance.
"""

import math

import numpy as np

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, NUMBER, VECTOR, WHOLE

COVARIANCE, MEMBER_EVIDENCE, MEMBER_MISFIT, MEMBER_LEGS = 0, 16, 17, 18
SPECTRA = 11  # members: spectra of the fourth derivative, each SPECTRUM_RATIO times the one before
FIRST_SPECTRUM, SPECTRUM_RATIO = 1e-2, 10.0 ** 1.5  # m^2/s^7
EVIDENCE_TIME, EVIDENCE_SAMPLES = 0.3, 10.0  # s, or samples where they are longer, of the evidence
# Variances of rate, acceleration and jerk before the first sample
UNKNOWN_VARIANCES = (1e2, 1e4, 1e6)
MISFIT_LIMIT = 4.0  # deviations of a mean misfit, beyond which a member does not fit
MIN_MEMBER_WEIGHT = 1e-6  # of a member that counts in a mixture
MIN_LOG_WEIGHT = -700.0  # whose exponential is still a normal number
# Of a mixture: p11, p12, p22 of each leg, then their lengths, and their rates.
MIXED_LENGTHS, MIXED_RATES, MIXED_WIDTH = 0, 1, 3
MOTION_GAP = 0.5  # s without a sample, after which the motion is unknown
MIN_NOISE = 1e-12  # m, of a drive's end: rounding

FILTER = Bundle(
    'MotionFilter',
    bank=MATRIX, scales=VECTOR,  # (SPECTRA, row_size), (n,) m at the end of a drive by its reading
    ends=VECTOR, mixture=VECTOR, work=VECTOR,  # (n,), (mixture_size,), (row_size + SPECTRA,)
    now=INTEGERS)  # (CLOCK_WIDTH,)
# STAMP, FRESH: of the last sample, and of the last fresh one, ns. FRESH_SPAN: ns between the last
# two fresh ones. FRESH_COUNT: of fresh samples since the motion was unknown. WAS_STALE: whether
# one was stale.
STAMP, FRESH, FRESH_SPAN, FRESH_COUNT, WAS_STALE, CLOCK_WIDTH = range(6)


def row_size(legs):
    """Return how many numbers a member has, for a number of legs."""
    return MEMBER_LEGS + 4 * legs


def mixture_size(legs):
    """Return how many numbers a mixture has, for a number of legs."""
    return MIXED_WIDTH + 2 * legs


def motion_size(legs):
    """Return how many numbers filter_motion writes, for a number of legs."""
    return legs + SPECTRA * row_size(legs)


def empty_filter(scales):
    """Return the buffer of a filter without a sample, for the scales (n,) of the drives."""
    n = len(scales)
    return FILTER.pack(
        bank=np.zeros((SPECTRA, row_size(n))), scales=scales, ends=np.zeros(n),
        mixture=np.zeros(mixture_size(n)), work=np.zeros(row_size(n) + SPECTRA),
        now=np.zeros(CLOCK_WIDTH, dtype=np.int64))


@kernel
def filter_motion(motion, stamp_ns, readings, noise, jitter, stale, moved):
    """
    Filter n readings of a time (ns); return the time (s) between fresh ones, 0 for the first.

    noise: m, standard deviation of the position of a drive's end. jitter: s, of the stamps. stale:
    whether all readings are old ones: then the motion is predicted, not corrected. The first such
    sample starts it again: held readings were taken for fresh before. Writes moved
    (motion_size,): rates of the readings, and the bank; nothing for the first sample.
    """
    bank, ends, mixture, now = motion.bank, motion.ends, motion.mixture, motion.now
    variance, n = max(noise, MIN_NOISE) ** 2, len(motion.ends)
    dt, now[STAMP] = 1e-9 * (stamp_ns - now[STAMP]), stamp_ns
    for i in range(n):
        ends[i] = readings[i] * motion.scales[i]
    learnt = stale and now[WAS_STALE] == 0
    if now[FRESH_COUNT] == 0 or learnt or not 0.0 < dt <= MOTION_GAP:
        start_bank(bank, ends, variance)
        now[FRESH], now[FRESH_SPAN], now[FRESH_COUNT], now[WAS_STALE] = stamp_ns, 0, 1, int(stale)
        return 0.0
    if stale:
        predict_motion_bank(bank, dt)
    else:
        now[FRESH_SPAN], now[FRESH] = stamp_ns - now[FRESH], stamp_ns
        now[FRESH_COUNT] += 1
        update_bank(bank, dt, 1e-9 * now[FRESH_SPAN], ends, variance, jitter * jitter,
                    now[FRESH_COUNT])
    span = 1e-9 * now[FRESH_SPAN] if now[FRESH_SPAN] > 0 else dt
    mix_members(bank, span, now[FRESH_COUNT], 0.0, motion.work, mixture)
    for i in range(n):
        moved[i] = mixture[MIXED_WIDTH + n + i] / motion.scales[i]
    size = bank.shape[1]
    for m in range(SPECTRA):
        for k in range(size):
            moved[n + m * size + k] = bank[m, k]
    return span


@kernel
def start_bank(bank, lengths, variance):
    """Start all members from lengths (n,), m, of a variance (m^2)."""
    for m in range(SPECTRA):
        row = bank[m]
        for k in range(len(row)):
            row[k] = 0.0
        for i in range(len(lengths)):
            row[MEMBER_LEGS + 4 * i] = lengths[i]
        row[COVARIANCE] = variance
        for j in range(3):
            row[COVARIANCE + 5 * (j + 1)] = UNKNOWN_VARIANCES[j]


@kernel
def evidence_time(dt):
    """Return the memory of the evidence, s, of samples that come every dt (s) (14.25)."""
    return max(EVIDENCE_TIME, EVIDENCE_SAMPLES * dt)


@kernel
def samples_kept(dt, count):
    """Return the number of samples in a mean misfit, of `count` that came every dt (s)."""
    return min(float(count), evidence_time(dt) / dt)


@kernel
def update_bank(bank, dt, span, lengths, variance, jitter, count):
    """
    Predict all members over a time (s) and correct them with lengths (n,), m.

    span: s, since they were last corrected. variance: m^2, of a length. jitter: s^2, of the
    stamps. count: samples with this one.
    """
    kept, samples = math.exp(-span / evidence_time(span)), samples_kept(span, count)
    spectrum = FIRST_SPECTRUM
    for m in range(SPECTRA):
        row = bank[m]
        predict_member(row, dt, spectrum)
        correct_member(row, lengths, variance, jitter, kept, 1.0 / samples)
        spectrum *= SPECTRUM_RATIO


@kernel
def predict_motion_bank(bank, dt):
    """Predict all members over a time (s)."""
    spectrum = FIRST_SPECTRUM
    for m in range(SPECTRA):
        predict_member(bank[m], dt, spectrum)
        spectrum *= SPECTRUM_RATIO


@kernel
def predict_member(row, dt, spectrum):
    """Predict a member over a time, s, which may be negative (14.24)."""
    h2, h3 = 0.5 * dt * dt, dt * dt * dt / 6.0
    for k in range(MEMBER_LEGS, len(row), 4):
        row[k] += dt * row[k + 1] + h2 * row[k + 2] + h3 * row[k + 3]
        row[k + 1] += dt * row[k + 2] + h2 * row[k + 3]
        row[k + 2] += dt * row[k + 3]
    p = row[COVARIANCE:MEMBER_EVIDENCE]
    for i in range(4):  # P F^T
        k = 4 * i
        p[k] += dt * p[k + 1] + h2 * p[k + 2] + h3 * p[k + 3]
        p[k + 1] += dt * p[k + 2] + h2 * p[k + 3]
        p[k + 2] += dt * p[k + 3]
    for j in range(4):  # F (P F^T)
        p[j] += dt * p[4 + j] + h2 * p[8 + j] + h3 * p[12 + j]
        p[4 + j] += dt * p[8 + j] + h2 * p[12 + j]
        p[8 + j] += dt * p[12 + j]
    sign = 1.0 if dt >= 0.0 else -1.0
    for i in range(4):
        for j in range(4):
            n = 7 - i - j
            p[4 * i + j] += sign * spectrum * dt ** n / (
                n * factorial(3 - i) * factorial(3 - j))


@kernel
def factorial(n):
    """Return n! of n from 0 to 3."""
    return 6.0 if n == 3 else 2.0 if n == 2 else 1.0


@kernel
def correct_member(row, lengths, variance, jitter, kept, share):
    """Correct a member with lengths (n,); update its evidence (14.25)."""
    p = row[COVARIANCE:MEMBER_EVIDENCE]
    speed, n = 0.0, len(lengths)
    for i in range(n):
        speed += row[MEMBER_LEGS + 4 * i + 1] ** 2 / n
    noise = variance + jitter * speed
    total = p[0] + noise
    g0, g1, g2, g3 = p[0] / total, p[4] / total, p[8] / total, p[12] / total
    misfit = 0.0
    for i in range(n):
        k = MEMBER_LEGS + 4 * i
        error = lengths[i] - row[k]
        misfit += error * error / total
        row[k] += g0 * error
        row[k + 1] += g1 * error
        row[k + 2] += g2 * error
        row[k + 3] += g3 * error
    joseph_update(p, g0, g1, g2, g3, noise)
    row[MEMBER_EVIDENCE] = kept * row[MEMBER_EVIDENCE] - 0.5 * (misfit + n * math.log(total))
    row[MEMBER_MISFIT] += share * (misfit / n - row[MEMBER_MISFIT])


@kernel
def joseph_update(p, g0, g1, g2, g3, noise):
    """Update the covariance: (1 - g e_1^T) P (1 - g e_1^T)^T + g g^T noise."""
    gains = (g0, g1, g2, g3)
    first = (p[0], p[1], p[2], p[3])
    for i in range(4):
        for j in range(4):
            p[4 * i + j] -= gains[i] * first[j]
    column = (p[0], p[4], p[8], p[12])
    for i in range(4):
        for j in range(4):
            p[4 * i + j] += gains[j] * (gains[i] * noise - column[i])
    for i in range(4):
        for j in range(i):
            p[4 * i + j] = p[4 * j + i] = 0.5 * (p[4 * i + j] + p[4 * j + i])


@kernel
def mix_members(
        bank: MATRIX, dt: NUMBER, count: WHOLE, seconds: NUMBER, work: VECTOR, out: VECTOR):
    """
    Write the mixture (mixture_size,) of all members at a time (s) after the last sample (14.25).

    dt: s, between samples; count: their number. work: (row_size + SPECTRA,). The mixture has for
    each leg the variance of its length, the covariance with the rate, and the rate's variance,
    then lengths (n,) and rates (n,). Where no member fits, each covariance is scaled by its
    misfit: the motion or the noise is beyond all members.
    """
    size = bank.shape[1]
    row, weights = work[0:size], work[size:size + SPECTRA]
    legs = (size - MEMBER_LEGS) // 4
    limit = 1.0 + MISFIT_LIMIT * (2.0 / (legs * samples_kept(dt, count))) ** 0.5
    passing = False
    for m in range(SPECTRA):
        passing |= bank[m, MEMBER_MISFIT] <= limit
    top = -math.inf
    for m in range(SPECTRA):
        if not passing or bank[m, MEMBER_MISFIT] <= limit:
            top = max(top, bank[m, MEMBER_EVIDENCE])
    total = 0.0
    for m in range(SPECTRA):
        weights[m] = 0.0
        if not passing or bank[m, MEMBER_MISFIT] <= limit:
            weights[m] = math.exp(max(bank[m, MEMBER_EVIDENCE] - top, MIN_LOG_WEIGHT))
        total += weights[m]
    for k in range(len(out)):
        out[k] = 0.0
    for turn in range(2):
        spectrum = FIRST_SPECTRUM
        for m in range(SPECTRA):
            weight = weights[m] / total
            if weight > MIN_MEMBER_WEIGHT:
                for k in range(size):
                    row[k] = bank[m, k]
                if seconds != 0.0:
                    predict_member(row, seconds, spectrum)
                if turn == 0:
                    add_means(row, weight, out)
                else:
                    add_spreads(row, weight, 1.0 if passing else row[MEMBER_MISFIT], out)
            spectrum *= SPECTRUM_RATIO


@kernel
def add_means(row, weight, out):
    """Add a member's lengths and rates to a mixture."""
    n = (len(row) - MEMBER_LEGS) // 4
    for i in range(n):
        out[MIXED_WIDTH + i] += weight * row[MEMBER_LEGS + 4 * i]
        out[MIXED_WIDTH + n + i] += weight * row[MEMBER_LEGS + 4 * i + 1]


@kernel
def add_spreads(row, weight, scale, out):
    """Add a member's covariance times a scale, and the spread of its means about the mixture's."""
    p = row[COVARIANCE:MEMBER_EVIDENCE]
    p11, p12, p22, n = scale * p[0], scale * p[1], scale * p[5], (len(row) - MEMBER_LEGS) // 4
    for i in range(n):
        k = MEMBER_LEGS + 4 * i
        length, rate = row[k] - out[MIXED_WIDTH + i], row[k + 1] - out[MIXED_WIDTH + n + i]
        p11 += length * length / n
        p12 += length * rate / n
        p22 += rate * rate / n
    out[MIXED_LENGTHS] += weight * p11
    out[MIXED_LENGTHS + 1] += weight * p12
    out[MIXED_LENGTHS + 2] += weight * p22
