# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Estimates of noise, resolution, acceleration and stamp jitter from six leg readings alone.

A difference of order m removes a polynomial of lower order and keeps white noise. For readings y
at times t it is sum w_j y_j / |w|, with the weights w of a divided difference (14.13, form for
irregular stamps). The least of the mean squares over the orders is the noise.
"""

import math

from liedyn_ros.jit.bundle import Bundle, MATRIX, VECTOR
from liedyn_ros.jit.decorators import kernel

WINDOW_SAMPLES = 11  # samples in the window, newest first; a row is time (s) and six readings (m)
ORDERS = 9  # of differences: 2 to 10
WINDOW_GAP = 0.5  # s without a sample, after which the window starts again
LIMIT_SAMPLES = 40  # samples after which a square is limited
MEAN_TIME, MIN_MEAN_SAMPLES, MAX_MEAN_SAMPLES = 5.0, 200.0, 4000.0  # s, and samples, of a mean
SQUARE_LIMIT = 16.0  # times its mean, to which a square is limited: an outlier counts little
FLOOR = 1e-12  # m^2, to which a square may always rise
FADE = 60.0  # s in which a measured acceleration is forgotten
CLEAR = 6.0  # deviations of noise that do not count as acceleration
MOVING = 10.0  # ratio of squared rates to their variance from which on the legs count as moving
NO_GRID = 0.025  # ratio of stamp variance to the squared period; uniform stamps have 1 / 24
DISORDER = 2.0  # ratio of stamp variance to gap variance when stamps arrive in order
SURE = 2.0  # safety factor on the smallest detectable squared jitter
HITS = 8.0  # multiples of a step that establish it
STEP_ROUNDING = 4.0 * 2.0 ** -52  # relative rounding error of a difference of readings
SOME = 0.02  # share of repeated readings from which on a leg shows its steps
UNSEEN_STEP = 1e-3  # m, of a reading that has not changed yet
NO_STEP = 1e-10  # relative to a reading: a smaller step is none
SELDOM = 40.0  # samples without an outlier after which an outlier does not count as noise
SETTLE_EVERY = 8  # samples: the estimates change slowly

# Numbers of the whole platform. SINCE: samples since the estimates were brought up to date.
(COUNT, TAKEN, PERIOD, SPREAD, VARIANCE, IDENTIFIED, ACCELERATION, ACROSS, JITTER, EVIDENCE,
 JITTER_SUM, JITTER_WEIGHT, QUIET, COARSEST, OFF_GRID, MEAN_GAP, GAPS, RARE, SINCE,
 NUMBERS) = range(20)
# Numbers of a leg.
(SIGMA, RATE, STEP, STEP_ERROR, STEP_COUNT, STEP_HITS, REPEATS, LAST, LEG) = range(9)

NOISE = Bundle(
    'LegNoise',
    window=MATRIX, squares=MATRIX, legs=MATRIX,  # (WINDOW_SAMPLES, 7), (ORDERS, 6), (6, LEG)
    numbers=VECTOR, work=VECTOR)  # (NUMBERS,), (NOISE_WORK,)
NOISE_WORK = 26


@kernel
def estimate_noise(noise, time, lengths):
    """Update all estimates with six readings (6,), m, of a time (s)."""
    window, squares, legs, numbers, work = (
        noise.window, noise.squares, noise.legs, noise.numbers, noise.work)
    if numbers[COUNT] > 0.0 and not 0.0 < time - window[0, 0] <= WINDOW_GAP:
        numbers[COUNT] = 0.0
    for k in range(WINDOW_SAMPLES - 1, 0, -1):
        for j in range(7):
            window[k, j] = window[k - 1, j]
    window[0, 0] = time
    for i in range(6):
        window[0, i + 1] = lengths[i]
        estimate_step(legs[i], lengths[i], numbers[COUNT] > 0.0)
    numbers[COUNT] = min(numbers[COUNT] + 1.0, float(WINDOW_SAMPLES))
    numbers[QUIET] += 1.0
    if numbers[COUNT] < WINDOW_SAMPLES:
        return
    estimate_period(window, numbers, work)
    if numbers[RARE] > 0.0 and numbers[QUIET] <= WINDOW_SAMPLES:
        return
    certainty = fit_rates(window, legs)
    share = max(1.0 / averaged_samples(numbers[PERIOD]), 1.0 / (numbers[TAKEN] + 1.0))
    update_differences(window, squares, legs, numbers, work, share, certainty)
    numbers[TAKEN] += 1.0
    estimate_variance(squares, legs, numbers)
    estimate_acceleration(window, legs, numbers)


@kernel
def note_outlier(numbers):
    """
    Note that the next readings have an outlier, or a jump.

    A rare outlier spoils all differences while it is in the window. Frequent outliers cannot be
    distinguished from noise.
    """
    numbers[RARE] = 1.0 if numbers[QUIET] > SELDOM else 0.0
    numbers[QUIET] = 0.0


@kernel
def averaged_samples(period):
    """Return the number N of samples in a mean square (14.13)."""
    return min(max(MEAN_TIME / period, MIN_MEAN_SAMPLES), MAX_MEAN_SAMPLES)


@kernel
def estimate_period(window, numbers, work):
    """
    Update period and spread of the stamps: the period is a median, as samples may be lost.

    The spread is about multiples of the period. If the stamps follow no period, it is the spread
    of the gaps times DISORDER, since stamps out of order are refused.
    """
    for k in range(WINDOW_SAMPLES - 1):
        gap, j = window[k, 0] - window[k + 1, 0], k
        while j > 0 and work[j - 1] > gap:
            work[j] = work[j - 1]
            j -= 1
        work[j] = gap
    median = work[(WINDOW_SAMPLES - 1) // 2]
    if numbers[TAKEN] == 0.0:
        numbers[PERIOD] = median
    numbers[PERIOD] += 0.02 * (median - numbers[PERIOD])
    period, gap = numbers[PERIOD], window[0, 0] - window[1, 0]
    error = gap - max(1.0, math.floor(gap / period + 0.5)) * period
    share = max(0.005, 1.0 / (numbers[TAKEN] + 1.0))
    numbers[OFF_GRID] += share * (0.5 * error * error - numbers[OFF_GRID])
    numbers[MEAN_GAP] += share * (gap - numbers[MEAN_GAP])
    error = gap - numbers[MEAN_GAP]
    numbers[GAPS] += share * (0.5 * error * error - numbers[GAPS])
    keeps = numbers[OFF_GRID] < NO_GRID * period * period
    numbers[SPREAD] = numbers[OFF_GRID] if keeps else DISORDER * numbers[GAPS]


@kernel
def fit_rates(window, legs):
    """Fit a line to the window; write the rate of each leg, m/s, and return 1 / its variance."""
    mean, square = 0.0, 0.0
    for k in range(WINDOW_SAMPLES):
        mean += window[k, 0] / WINDOW_SAMPLES
    for k in range(WINDOW_SAMPLES):
        square += (window[k, 0] - mean) ** 2
    for i in range(6):
        total = 0.0
        for k in range(WINDOW_SAMPLES):
            total += (window[k, 0] - mean) * window[k, i + 1]
        legs[i, RATE] = total / square
    return square


@kernel
def update_differences(window, squares, legs, numbers, work, share, certainty):
    """Update the mean squares of all orders (14.13), and the jitter at the best order (14.23)."""
    weights, found = work[0:WINDOW_SAMPLES], work[WINDOW_SAMPLES:WINDOW_SAMPLES + 6]
    period, best = numbers[PERIOD], best_order(squares)
    weights[0] = 1.0
    for m in range(1, WINDOW_SAMPLES):
        weights[m] = 1.0
        for j in range(m):
            apart = (window[j, 0] - window[m, 0]) / period
            weights[j] /= apart
            weights[m] /= -apart
        if m == 1:
            continue
        size = 0.0
        for j in range(m + 1):
            size += weights[j] * weights[j]
        scale = 1.0 / size ** 0.5
        for i in range(6):
            total = 0.0
            for j in range(m + 1):
                total += weights[j] * window[j, i + 1]
            found[i] = scale * total
            square, mean = found[i] * found[i], squares[m - 2, i]
            if numbers[TAKEN] >= LIMIT_SAMPLES:
                square = min(square, max(SQUARE_LIMIT * mean, FLOOR))
            squares[m - 2, i] = mean + share * (square - mean)
        if m - 2 == best and numbers[TAKEN] >= LIMIT_SAMPLES:
            estimate_jitter(found, legs, numbers, share, certainty)


@kernel
def estimate_jitter(found, legs, numbers, share, certainty):
    """Estimate the stamp jitter: the part of the differences along the legs' rates (14.23)."""
    speed, along, total = 0.0, 0.0, 0.0
    for i in range(6):
        speed += legs[i, RATE] ** 2
        along += found[i] * legs[i, RATE]
        total += found[i] ** 2
    if not speed * certainty > MOVING * 6.0 * numbers[VARIANCE]:
        return
    parallel = along * along / speed
    across = max(total - parallel, 0.0) / 5.0
    limit = SQUARE_LIMIT * numbers[ACROSS] if numbers[ACROSS] > 0.0 else math.inf
    numbers[ACROSS] += share * (min(across, max(limit, FLOOR)) - numbers[ACROSS])
    variance = max(numbers[ACROSS], 1e-24)
    weight = (variance + speed * numbers[JITTER] ** 2) ** -2.0
    parallel = min(parallel, SQUARE_LIMIT * (variance + speed * max(numbers[JITTER] ** 2,
                                                                    numbers[SPREAD])))
    numbers[JITTER_SUM] += weight * (parallel - variance) * speed
    numbers[JITTER_WEIGHT] += weight * speed * speed
    numbers[EVIDENCE] += speed * speed / (variance * variance)
    fade = 1.0 - 0.25 * share
    numbers[JITTER_SUM] *= fade
    numbers[JITTER_WEIGHT] *= fade
    numbers[EVIDENCE] *= fade
    square = numbers[JITTER_SUM] / numbers[JITTER_WEIGHT]
    floor = SURE * (5.2 / numbers[EVIDENCE]) ** 0.5  # square of the least jitter that shows
    numbers[JITTER] = square ** 0.5 if square > floor else 0.0


@kernel
def best_order(squares):
    """Return the order, less 2, with the least mean square over the legs (14.13)."""
    best, lowest = 0, math.inf
    for m in range(ORDERS):
        total = 0.0
        for i in range(6):
            total += squares[m, i]
        if total < lowest:
            best, lowest = m, total
    return best


@kernel
def estimate_variance(squares, legs, numbers):
    """Estimate the variance, and whether it is more than an upper bound (14.14)."""
    best = best_order(squares)
    here, before, beyond, numbers[COARSEST] = 0.0, 0.0, 0.0, 0.0
    for i in range(6):
        lowest = math.inf
        for m in range(ORDERS):
            lowest = min(lowest, squares[m, i])
        legs[i, SIGMA] = lowest ** 0.5
        if legs[i, STEP_HITS] >= HITS or legs[i, REPEATS] > SOME:
            numbers[COARSEST] = max(numbers[COARSEST], legs[i, STEP])
        here += squares[best, i] / 6.0
        before += squares[max(best - 1, 0), i] / 6.0
        beyond += squares[best + 2, i] / 6.0 if best + 2 < ORDERS else math.inf
    numbers[VARIANCE] = here
    if numbers[JITTER] > 0.0:
        numbers[VARIANCE] = min(here, numbers[ACROSS])
    count = min(numbers[TAKEN], averaged_samples(numbers[PERIOD]))
    flat = min(before, beyond) < here * (1.0 + 1.5 * (5.0 / count) ** 0.5)
    numbers[IDENTIFIED] = 1.0 if best == 0 or flat else 0.0


@kernel
def estimate_acceleration(window, legs, numbers):
    """
    Update the greatest acceleration that noise does not explain, over 3 and over 9 readings.

    The smaller one of two successive triples counts, so no single reading can cause it.
    """
    numbers[ACCELERATION] *= math.exp(-numbers[PERIOD] / FADE)
    if numbers[QUIET] <= WINDOW_SAMPLES or numbers[TAKEN] < LIMIT_SAMPLES:
        return
    for stride, later in ((1, 1), (4, 2)):
        for i in range(6):
            here = clear_acceleration(window, legs, i, 0, stride)
            before = clear_acceleration(window, legs, i, later, stride)
            if here * before > 0.0:
                numbers[ACCELERATION] = max(
                    numbers[ACCELERATION], min(abs(here), abs(before)))


@kernel
def clear_acceleration(window, legs, leg, newest, stride):
    """Return a leg's acceleration, m/s^2, by three readings; 0 where noise explains it."""
    middle, oldest = newest + stride, newest + 2 * stride
    late = window[newest, 0] - window[middle, 0]
    early = window[middle, 0] - window[oldest, 0]
    twice, bend = 2.0 / (late + early), 1.0 / late + 1.0 / early
    noise = CLEAR * twice * (1.0 / late ** 2 + 1.0 / early ** 2 + bend ** 2) ** 0.5
    value = twice * ((window[newest, leg + 1] - window[middle, leg + 1]) / late
                     - (window[middle, leg + 1] - window[oldest, leg + 1]) / early)
    clear = abs(value) - noise * legs[leg, SIGMA] - 2.0 * twice * bend * visible_step(legs[leg])
    return math.copysign(clear, value) if clear > 0.0 else 0.0


@kernel
def write_thresholds(legs, numbers, least, share, step, out):
    """
    Write deviation (m), step (m) and rate (m/s) of each leg's threshold (14.16), (6, 3).

    The deviation is a share of the measured one, at least `least`, plus the spread of the stamps
    times the leg's rate. step: m, if it is given; 0 for the measured step.
    """
    for i in range(6):
        sigma = max(least, share * legs[i, SIGMA])
        out[i, 0] = (sigma * sigma + numbers[SPREAD] * legs[i, RATE] ** 2) ** 0.5
        out[i, 1] = step if step > 0.0 else visible_step(legs[i])
        out[i, 2] = legs[i, RATE]


@kernel
def visible_step(leg):
    """Return a leg's step, m, where its reading shows single steps, else 0."""
    if leg[REPEATS] > SOME or (leg[STEP_HITS] >= HITS and leg[SIGMA] < 0.5 * leg[STEP]):
        return leg[STEP] if leg[STEP] > 0.0 else UNSEEN_STEP
    return 0.0


@kernel
def estimate_step(leg, reading, known):
    """Estimate the step of a leg's encoder: all changes are multiples of it (14.15)."""
    change = abs(reading - leg[LAST])
    leg[LAST] = reading
    if not known:
        return
    leg[REPEATS] += 0.02 * ((change == 0.0) - leg[REPEATS])
    rounding = STEP_ROUNDING * abs(reading)
    if change <= rounding:
        return
    if leg[STEP] == 0.0:
        leg[STEP], leg[STEP_ERROR], leg[STEP_COUNT], leg[STEP_HITS] = change, rounding, 1.0, 0.0
        return
    count = math.floor(change / leg[STEP] + 0.5)
    error = abs(change - count * leg[STEP])
    if error <= rounding + max(count, 1.0) * leg[STEP_ERROR]:
        if count >= 1.0 and count * leg[STEP_ERROR] < 0.1 * leg[STEP]:
            leg[STEP_HITS] += 1.0
        if count > leg[STEP_COUNT]:
            leg[STEP], leg[STEP_ERROR] = change / count, rounding / count
            leg[STEP_COUNT] = count
        return
    leg[STEP_HITS], leg[STEP_COUNT] = 0.0, 1.0
    leg[STEP_ERROR] = rounding + max(count, 1.0) * leg[STEP_ERROR]
    leg[STEP] = error if count > 0.0 else change
    if leg[STEP] < NO_STEP * abs(reading):
        leg[STEP], leg[STEP_ERROR] = change, rounding
