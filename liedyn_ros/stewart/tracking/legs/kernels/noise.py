# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Noise, resolution, acceleration and stamp jitter of six leg readings, estimated from them alone.

A difference of order m removes a polynomial of lower order and keeps white noise. For readings y
at times t it is sum w_j y_j / |w|, with the weights w of a divided difference (14.13, form for
irregular stamps). The least of the mean squares over the orders is the noise.
"""

import math

from liedyn_ros.jit.bundle import Bundle, MATRIX, VECTOR
from liedyn_ros.jit.decorators import kernel

POINTS = 11  # samples in the window, newest first; a row is time (s) and six readings (m)
ORDERS = 9  # of differences: 2 to 10
GAP = 0.5  # s without a sample, after which the window starts again
START = 40  # samples after which a square is limited
MEMORY, MIN_SAMPLES, MAX_SAMPLES = 5.0, 200.0, 4000.0  # s, and samples, of a mean
LIMIT = 16.0  # times its mean, to which a square is limited: an outlier counts little
FLOOR = 1e-12  # m^2, to which a square may always rise
FADE = 60.0  # s in which a measured acceleration is forgotten
CLEAR = 6.0  # deviations of noise that do not count as acceleration
MOVING = 10.0  # times the variance of the rates, from which on the legs count as moving
NO_GRID = 0.025  # of the period's square: errors all over the period make 1 / 24
DISORDER = 2.0  # by which the variance of stamps is more than that of gaps, all positive, shows
SURE = 2.0  # times the square of the least jitter that shows
HITS = 8.0  # multiples of a step that establish it
STEP_ROUNDING = 4.0 * 2.0 ** -52  # of a reading, that is the error of a difference
SOME = 0.02  # share of readings that repeat, from which on a leg shows its steps
UNSEEN_STEP = 1e-3  # m, of a reading that has not changed yet
NO_STEP = 1e-10  # of a reading: a smaller step is none
SELDOM = 40.0  # samples without an outlier, after which one does not count as noise
SETTLE_EVERY = 8  # samples: the estimates change slowly

# Numbers of the whole platform. SINCE: samples since the estimates were brought up to date.
(COUNT, TAKEN, PERIOD, SPREAD, VARIANCE, IDENTIFIED, ACCELERATION, ACROSS, JITTER, EVIDENCE,
 JITTER_SUM, JITTER_WEIGHT, QUIET, COARSEST, OFF_GRID, MEAN_GAP, GAPS, RARE, SINCE,
 NUMBERS) = range(20)
# Numbers of a leg.
(SIGMA, RATE, STEP, STEP_ERROR, STEP_COUNT, STEP_HITS, REPEATS, LAST, LEG) = range(9)

NOISE = Bundle(
    'LegNoise', window=MATRIX, squares=MATRIX, legs=MATRIX,  # (POINTS, 7), (ORDERS, 6), (6, LEG)
    numbers=VECTOR, work=VECTOR)  # (NUMBERS,), (WORK,)
WORK = 26
noise_of = NOISE.view


@kernel
def reset(words):
    """Forget all samples."""
    noise = noise_of(words)
    noise.window[:] = 0.0
    noise.squares[:] = 0.0
    noise.legs[:] = 0.0
    noise.numbers[:] = 0.0


@kernel
def take(noise, time, lengths):
    """Take six readings (6,), m, at a time (s) and update all estimates."""
    window, squares, legs, numbers, work = (
        noise.window, noise.squares, noise.legs, noise.numbers, noise.work)
    if numbers[COUNT] > 0.0 and not 0.0 < time - window[0, 0] <= GAP:
        numbers[COUNT] = 0.0
    for k in range(POINTS - 1, 0, -1):
        for j in range(7):
            window[k, j] = window[k - 1, j]
    window[0, 0] = time
    for i in range(6):
        window[0, i + 1] = lengths[i]
        step(legs[i], lengths[i], numbers[COUNT] > 0.0)
    numbers[COUNT] = min(numbers[COUNT] + 1.0, float(POINTS))
    numbers[QUIET] += 1.0
    if numbers[COUNT] < POINTS:
        return
    spacing(window, numbers, work)
    if numbers[RARE] > 0.0 and numbers[QUIET] <= POINTS:
        return
    certainty = rates(window, legs)
    share = max(1.0 / memory(numbers[PERIOD]), 1.0 / (numbers[TAKEN] + 1.0))
    differences(window, squares, legs, numbers, work, share, certainty)
    numbers[TAKEN] += 1.0
    estimate(squares, legs, numbers)
    acceleration(window, legs, numbers)


@kernel
def spoilt(numbers):
    """
    Take note that the next readings have an outlier, or a jump.

    A rare one spoils all differences while it is in the window. Of frequent ones that cannot be
    told from noise.
    """
    numbers[RARE] = 1.0 if numbers[QUIET] > SELDOM else 0.0
    numbers[QUIET] = 0.0


@kernel
def memory(period):
    """Return over how many samples a square is averaged."""
    return min(max(MEMORY / period, MIN_SAMPLES), MAX_SAMPLES)


@kernel
def spacing(window, numbers, work):
    """
    Update period and spread of the stamps: the period is a median, as samples may be lost.

    The spread is about multiples of the period. If the stamps follow no period, it is that of the
    gaps, and more: stamps that would be out of order are not seen.
    """
    for k in range(POINTS - 1):
        gap, j = window[k, 0] - window[k + 1, 0], k
        while j > 0 and work[j - 1] > gap:
            work[j] = work[j - 1]
            j -= 1
        work[j] = gap
    median = work[(POINTS - 1) // 2]
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
def rates(window, legs):
    """Write each leg's rate, m/s, of a line through the window; return 1 / its variance."""
    mean, square = 0.0, 0.0
    for k in range(POINTS):
        mean += window[k, 0] / POINTS
    for k in range(POINTS):
        square += (window[k, 0] - mean) ** 2
    for i in range(6):
        total = 0.0
        for k in range(POINTS):
            total += (window[k, 0] - mean) * window[k, i + 1]
        legs[i, RATE] = total / square
    return square


@kernel
def differences(window, squares, legs, numbers, work, share, certainty):
    """Update the mean squares of all orders (14.13), and at the best one the jitter (14.23)."""
    weights, found = work[0:POINTS], work[POINTS:POINTS + 6]
    period, best = numbers[PERIOD], least(squares)
    weights[0] = 1.0
    for m in range(1, POINTS):
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
            if numbers[TAKEN] >= START:
                square = min(square, max(LIMIT * mean, FLOOR))
            squares[m - 2, i] = mean + share * (square - mean)
        if m - 2 == best and numbers[TAKEN] >= START:
            jitter(found, legs, numbers, share, certainty)


@kernel
def jitter(found, legs, numbers, share, certainty):
    """Part what the legs' rates share from the rest: jitter of the stamps (14.23)."""
    speed, along, total = 0.0, 0.0, 0.0
    for i in range(6):
        speed += legs[i, RATE] ** 2
        along += found[i] * legs[i, RATE]
        total += found[i] ** 2
    if not speed * certainty > MOVING * 6.0 * numbers[VARIANCE]:
        return
    parallel = along * along / speed
    across = max(total - parallel, 0.0) / 5.0
    limit = LIMIT * numbers[ACROSS] if numbers[ACROSS] > 0.0 else math.inf
    numbers[ACROSS] += share * (min(across, max(limit, FLOOR)) - numbers[ACROSS])
    variance = max(numbers[ACROSS], 1e-24)
    weight = (variance + speed * numbers[JITTER] ** 2) ** -2.0
    parallel = min(parallel, LIMIT * (variance + speed * max(numbers[JITTER] ** 2,
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
def least(squares):
    """Return the order, less 2, whose mean square over the legs is least."""
    best, lowest = 0, math.inf
    for m in range(ORDERS):
        total = 0.0
        for i in range(6):
            total += squares[m, i]
        if total < lowest:
            best, lowest = m, total
    return best


@kernel
def estimate(squares, legs, numbers):
    """Take the noise from the mean squares, and whether it is more than a bound (14.14)."""
    best = least(squares)
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
    count = min(numbers[TAKEN], memory(numbers[PERIOD]))
    flat = min(before, beyond) < here * (1.0 + 1.5 * (5.0 / count) ** 0.5)
    numbers[IDENTIFIED] = 1.0 if best == 0 or flat else 0.0


@kernel
def acceleration(window, legs, numbers):
    """
    Update the greatest acceleration that is clear of noise, over 3 and over 9 readings.

    Of two triples of readings in turn the smaller counts: no single reading can make both.
    """
    numbers[ACCELERATION] *= math.exp(-numbers[PERIOD] / FADE)
    if numbers[QUIET] <= POINTS or numbers[TAKEN] < START:
        return
    for stride, later in ((1, 1), (4, 2)):
        for i in range(6):
            here = bend_of(window, legs, i, 0, stride)
            before = bend_of(window, legs, i, later, stride)
            if here * before > 0.0:
                numbers[ACCELERATION] = max(
                    numbers[ACCELERATION], min(abs(here), abs(before)))


@kernel
def bend_of(window, legs, leg, newest, stride):
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
def gates(legs, numbers, least, share, step, out):
    """
    Write the deviation and the step, m, that each leg's gate reckons with, and its rate, (6, 3).

    The deviation is a share of what was measured, at least `least`, and what the spread of the
    stamps makes at the leg's rate. step: m, where it is given; 0: what the readings show.
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
def step(leg, reading, known):
    """Look for the step of a leg's encoder, of which all changes are multiples (14.15)."""
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
