# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Estimates of noise, resolution, acceleration and stamp jitter from leg readings alone.

A difference of order m removes a polynomial of lower order and keeps white noise. For readings y
at times t it is sum w_j y_j / |w|, with the weights w of a divided difference (14.13, form for
irregular stamps). The least of the mean squares over the orders is the noise.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import NUMBER
from liedyn_ros.stewart.tracking.legs.kernels.noise_tables import (
    ACROSS, ALIGNED, COARSEST, CROSSED, DIFFERENCE_ORDERS, FILLED, GAPS, GIVEN, HELD, IDENTIFIED,
    JITTER, JITTER_SUM, JITTER_WEIGHT, LAST, LENGTH_RATE, MEAN_GAP, MEASURED_ACCELERATION,
    NOISE_EVIDENCE, OFF_GRID, PERIOD, QUIET, RARE, READ, READING_COUNT, RECENT, REPEATS, SIGMA,
    SPREAD, SQUARED_SPEED, STEP, STEP_COUNT, STEP_ERROR, STEP_HITS, TAKEN, TIMED, TIMING, VARIANCE,
    WINDOW_SAMPLES)

WINDOW_GAP = 0.5  # s without a sample, after which the window starts again
LIMIT_SAMPLES = 40  # samples after which a square is limited
MEAN_TIME, MIN_MEAN_SAMPLES, MAX_MEAN_SAMPLES = 5.0, 200.0, 4000.0  # s, and samples, of a mean
# Of a recent variance; ratio to the usual one, to replace it
RECENT_SAMPLES, VARIANCE_GROWTH_RATIO = 25.0, 1.5
SQUARE_LIMIT = 16.0  # times the noise: a larger square of a difference is an outlier, not noise
NORMAL_MEDIAN = 0.6744897501960817  # of |z|, where z is normal of deviation 1
# A quantile estimate in logarithms has the least error of all steps g / k for g = 1 / (2 m f(m)),
# with the median m of |z| and its density f there (Robbins and Monro 1951).
MEDIAN_GAIN = 1.166
# Within LIMIT_SAMPLES equal steps lead from a hundredth of the median to it, though a spike in the
# first window leads away for WINDOW_SAMPLES, and back for as many. Such steps s leave the
# variance s g / 2 of log m. Decreasing ones go on from there: g / k = s. As log m^2 of a mean of k
# squares has the variance 2 / k, the median is worth 1 / (s g) squares.
FIRST_STEP = math.log(100.0) / (LIMIT_SAMPLES - 2 * WINDOW_SAMPLES)
STEP_OFFSET = LIMIT_SAMPLES - MEDIAN_GAIN / FIRST_STEP
MEDIAN_SQUARES = 1.0 / (FIRST_STEP * MEDIAN_GAIN)
MIN_SQUARE = 1e-12  # m^2, to which a square may always rise
MEMORY_TIME = 60.0  # s in which a measured acceleration is forgotten
NOISE_DEVIATIONS = 6.0  # deviations of noise that do not count as acceleration
# Ratio of squared rates to their variance from which on the legs count as moving
MOVING_RATIO = 10.0
NO_GRID = 0.025  # ratio of stamp variance to the squared period; uniform stamps have 1 / 24
ORDERED_STAMPS_RATIO = 2.0  # ratio of stamp variance to gap variance when stamps arrive in order
JITTER_SAFETY_FACTOR = 2.0  # safety factor on the smallest detectable squared jitter
MIN_HITS = 8.0  # multiples of a step that establish it
ROUNDING_STEPS = 2.0  # of them in a difference of unit length, by rounding
STEP_ROUNDING = 4.0 * 2.0 ** -52  # relative rounding error of a difference of readings
MIN_REPEATED = 0.02  # share of repeated readings from which on a leg shows its steps
UNSEEN_STEP = 1e-3  # m, of a reading that has not changed yet
NO_STEP = 1e-10  # relative to a reading: a smaller step is none
# Samples without an outlier after which an outlier does not count as noise
RARE_OUTLIER_SAMPLES = 40.0
SETTLE_EVERY = 8  # samples: the estimates change slowly
# Variance of the age of a held reading, in squared periods
AGE_VARIANCE, MAX_AGE_VARIANCE = 1.0 / 12.0, 0.25


@kernel
def estimate_noise(noise, time, lengths, fresh):
    """Update all estimates with those of readings (n,), m, of a time (s) that are fresh."""
    stamps, legs, numbers = noise.stamps, noise.legs, noise.numbers
    if numbers[READING_COUNT] > 0.0 and not 0.0 < time - stamps[0] <= WINDOW_GAP:
        numbers[READING_COUNT] = 0.0
        for i in range(len(legs)):
            legs[i, FILLED] = legs[i, ALIGNED] = 0.0
    for k in range(WINDOW_SAMPLES - 1, 0, -1):
        stamps[k] = stamps[k - 1]
    stamps[0] = time
    for i in range(len(legs)):
        if fresh >> i & 1:
            take_reading(noise.window[i], legs[i], time, lengths[i], numbers[READING_COUNT] > 0.0)
        legs[i, ALIGNED] = legs[i, ALIGNED] + 1.0 if fresh >> i & 1 == fresh & 1 else 0.0
    numbers[READING_COUNT] = min(numbers[READING_COUNT] + 1.0, float(WINDOW_SAMPLES))
    numbers[QUIET] += 1.0
    if numbers[READING_COUNT] < WINDOW_SAMPLES:
        return
    estimate_period(stamps, numbers, noise.work)
    if numbers[RARE] > 0.0 and numbers[QUIET] <= WINDOW_SAMPLES:
        return
    for i in range(len(legs)):
        if legs[i, FILLED] < WINDOW_SAMPLES:
            fresh &= ~(1 << i)
    if fresh == 0:
        return
    update_differences(noise, fresh)
    estimate_variance(noise.squares, legs, numbers)
    estimate_acceleration(stamps, noise.window, legs, numbers, fresh)


@kernel
def take_reading(window, leg, time, reading, known):
    """Add a fresh reading (m) of a time (s) to the window (WINDOW_SAMPLES, 2) of its leg."""
    for k in range(WINDOW_SAMPLES - 1, 0, -1):
        window[k, 0], window[k, 1] = window[k - 1, 0], window[k - 1, 1]
    window[0, 0], window[0, 1] = time, reading
    leg[FILLED] = min(leg[FILLED] + 1.0, float(WINDOW_SAMPLES))
    estimate_step(leg, reading, known)


@kernel
def note_outlier(numbers):
    """
    Note that the next readings have an outlier, or a jump.

    A rare outlier spoils all differences while it is in the window. Frequent outliers cannot be
    distinguished from noise.
    """
    numbers[RARE] = 1.0 if numbers[QUIET] > RARE_OUTLIER_SAMPLES else 0.0
    numbers[QUIET] = 0.0


@kernel
def averaged_samples(period: NUMBER):
    """Return the number N of samples in a mean square (14.13)."""
    return min(max(MEAN_TIME / period, MIN_MEAN_SAMPLES), MAX_MEAN_SAMPLES)


@kernel
def estimate_period(stamps, numbers, work):
    """
    Update period and spread of the stamps: the period is a median, as samples may be lost.

    The spread is about multiples of the period. If the stamps follow no period, it is the spread
    of the gaps times ORDERED_STAMPS_RATIO, as stamps out of order are refused.
    """
    for k in range(WINDOW_SAMPLES - 1):
        gap, j = stamps[k] - stamps[k + 1], k
        while j > 0 and work[j - 1] > gap:
            work[j] = work[j - 1]
            j -= 1
        work[j] = gap
    median = work[(WINDOW_SAMPLES - 1) // 2]
    if numbers[PERIOD] == 0.0:
        numbers[PERIOD] = median
    numbers[PERIOD] += 0.02 * (median - numbers[PERIOD])
    period, gap = numbers[PERIOD], stamps[0] - stamps[1]
    error = gap - max(1.0, math.floor(gap / period + 0.5)) * period
    share = max(0.005, 1.0 / (numbers[TAKEN] + 1.0))
    numbers[OFF_GRID] += share * (0.5 * error * error - numbers[OFF_GRID])
    numbers[MEAN_GAP] += share * (gap - numbers[MEAN_GAP])
    error = gap - numbers[MEAN_GAP]
    numbers[GAPS] += share * (0.5 * error * error - numbers[GAPS])
    keeps = numbers[OFF_GRID] < NO_GRID * period * period
    numbers[SPREAD] = numbers[OFF_GRID] if keeps else ORDERED_STAMPS_RATIO * numbers[GAPS]


@kernel
def fit_rate(window, leg):
    """Fit a line to the window of a leg; write its rate, m/s, and return 1 / its variance."""
    mean, square, total = 0.0, 0.0, 0.0
    for k in range(WINDOW_SAMPLES):
        mean += window[k, 0] / WINDOW_SAMPLES
    for k in range(WINDOW_SAMPLES):
        square += (window[k, 0] - mean) ** 2
        total += (window[k, 0] - mean) * window[k, 1]
    leg[LENGTH_RATE] = total / square
    return square


@kernel
def update_differences(noise, fresh):
    """Update the mean squares of fresh legs, and the jitter where all are (14.13, 14.23)."""
    window, squares, legs, numbers = noise.window, noise.squares, noise.legs, noise.numbers
    found = noise.work[WINDOW_SAMPLES:WINDOW_SAMPLES + len(legs)]
    best, shared, certainty, share, taken = best_order(squares), False, 0.0, 1.0, math.inf
    n = len(legs)
    together = fresh == (1 << n) - 1
    for i in range(len(legs)):
        leg = legs[i]
        if fresh >> i & 1:
            aligned = leg[ALIGNED] >= WINDOW_SAMPLES * 1.0
            together = together and aligned
            certainty = fit_rate(window[i], leg)
            period = (window[i, 0, 0] - window[i, WINDOW_SAMPLES - 1, 0]) / (WINDOW_SAMPLES - 1)
            if not (shared and aligned):
                weigh_differences(window[i], period, noise.weights)
                shared = i == 0 or aligned
            share = max(1.0 / averaged_samples(period), 1.0 / (leg[READ] + 1.0))
            found[i] = update_squares(
                window[i], noise.weights, squares, noise.medians, i, leg, share, best)
            update_recent(leg, abs(found[i]))
            timing = MAX_AGE_VARIANCE * leg[HELD] * (numbers[PERIOD] * leg[LENGTH_RATE]) ** 2
            leg[TIMING] += share * (timing - leg[TIMING])
            numbers[SQUARED_SPEED] += share / n * (leg[LENGTH_RATE] ** 2 - numbers[SQUARED_SPEED])
            leg[READ] += 1.0
        taken = min(taken, leg[READ])
    if together and numbers[TAKEN] >= LIMIT_SAMPLES:
        estimate_jitter(found, legs, numbers, share, certainty)
    numbers[TAKEN] = taken


@kernel
def weigh_differences(window, period, weights):
    """Write weights (DIFFERENCE_ORDERS, WINDOW_SAMPLES) of differences of unit length (14.13)."""
    row = weights[DIFFERENCE_ORDERS - 1]
    row[0] = 1.0
    for m in range(1, WINDOW_SAMPLES):
        row[m] = 1.0
        for j in range(m):
            apart = (window[j, 0] - window[m, 0]) / period
            row[j] /= apart
            row[m] /= -apart
        if m == 1:
            continue
        size = 0.0
        for j in range(m + 1):
            size += row[j] * row[j]
        scale = 1.0 / size ** 0.5
        for j in range(m + 1):
            weights[m - 2, j] = scale * row[j]


@kernel
def update_squares(window, weights, squares, medians, i, leg, share, best):
    """Update the mean squares of leg i; return its difference of the best order."""
    found, least = 0.0, MIN_SQUARE
    counted = max(share, 1.0 / max(leg[READ] + 1.0 + MEDIAN_SQUARES - LIMIT_SAMPLES, 1.0))
    if leg[STEP_HITS] >= MIN_HITS:  # differences of a leg that shows its steps are none or large
        least = max(least, (ROUNDING_STEPS * leg[STEP]) ** 2)
    for m in range(2, WINDOW_SAMPLES):
        total = 0.0
        for j in range(m + 1):
            total += weights[m - 2, j] * window[j, 1]
        square, mean = total * total, squares[m - 2, i]
        medians[m - 2, i] = next_median(medians[m - 2, i], abs(total), leg[READ], share)
        usual = (medians[m - 2, i] / NORMAL_MEDIAN) ** 2
        if leg[READ] < LIMIT_SAMPLES:
            squares[m - 2, i] = usual
        elif square <= max(SQUARE_LIMIT * max(usual, leg[RECENT]), least):
            squares[m - 2, i] = mean + counted * (square - mean)
        if m - 2 == best:
            found = total
    return found


@kernel
def next_median(median, size, count, share):
    """
    Return the median (m) of the sizes of a leg's differences, with one more of them.

    count: of sizes before. share: of one in a mean. A spike in a reading is in up to eleven
    differences. However large, it moves a median by no more than any larger size.
    """
    step = FIRST_STEP if count < LIMIT_SAMPLES else (
        MEDIAN_GAIN * max(share, 1.0 / (count + 1.0 - STEP_OFFSET)))
    if median == 0.0:
        return size
    return median * math.exp(step if size > median else -step)


@kernel
def update_recent(leg, size):
    """Update the recent variance of a leg by the size (m) of its last difference."""
    median = next_median(NORMAL_MEDIAN * leg[RECENT] ** 0.5, size, leg[READ], 1.0 / RECENT_SAMPLES)
    leg[RECENT] = (median / NORMAL_MEDIAN) ** 2


@kernel
def estimate_jitter(found, legs, numbers, share, certainty):
    """Estimate the stamp jitter: the correlation of the legs' differences by rates (14.23)."""
    speed, along, total, own = 0.0, 0.0, 0.0, 0.0
    fourth, noises, alone = 0.0, 0.0, 0.0
    for i in range(len(legs)):
        square = legs[i, LENGTH_RATE] ** 2
        speed += square
        along += found[i] * legs[i, LENGTH_RATE]
        total += found[i] ** 2
        own += found[i] ** 2 * square
        fourth += square * square
        noise = max(legs[i, SIGMA] ** 2, 1e-24) * square
        noises += noise
        alone += noise * noise
    pairs = speed * speed - fourth  # of legs, in which independent noise leaves nothing
    if not (speed * certainty > MOVING_RATIO * len(legs) * numbers[VARIANCE] and pairs > 0.0):
        return
    across = max(total - along * along / speed, 0.0) / (len(legs) - 1)
    limit = SQUARE_LIMIT * numbers[ACROSS] if numbers[ACROSS] > 0.0 else math.inf
    numbers[CROSSED] += 1.0
    numbers[ACROSS] += max(share, 1.0 / numbers[CROSSED]) * (
        min(across, max(limit, MIN_SQUARE)) - numbers[ACROSS])
    if numbers[CROSSED] < LIMIT_SAMPLES:
        return
    variance = max(numbers[ACROSS], 1e-24) + speed * max(numbers[JITTER] ** 2, numbers[SPREAD])
    weight, limit = variance ** -2.0, SQUARE_LIMIT * variance * speed
    numbers[JITTER_SUM] += weight * min(max(along * along - own, -limit), limit)
    numbers[JITTER_WEIGHT] += weight * pairs
    numbers[NOISE_EVIDENCE] += pairs * pairs / max(noises * noises - alone, 1e-60)
    fade = 1.0 - 0.25 * share
    numbers[JITTER_SUM] *= fade
    numbers[JITTER_WEIGHT] *= fade
    numbers[NOISE_EVIDENCE] *= fade
    square = numbers[JITTER_SUM] / numbers[JITTER_WEIGHT]
    # Square of the least jitter that shows
    floor = JITTER_SAFETY_FACTOR * (5.2 / numbers[NOISE_EVIDENCE]) ** 0.5
    numbers[JITTER] = square ** 0.5 if square > floor else 0.0


@kernel
def best_order(squares):
    """Return the order, less 2, with the least mean square over the legs (14.13)."""
    best, lowest = 0, math.inf
    for m in range(DIFFERENCE_ORDERS):
        total = 0.0
        for i in range(squares.shape[1]):
            total += squares[m, i]
        if total < lowest:
            best, lowest = m, total
    return best


@kernel
def estimate_variance(squares, legs, numbers):
    """Estimate the variance, and whether it is more than an upper bound (14.14)."""
    here, falling, numbers[COARSEST], numbers[TIMED], n = 0.0, 0.0, 0.0, 0.0, len(legs)
    for i in range(len(legs)):
        best = 0
        for m in range(1, DIFFERENCE_ORDERS):
            if squares[m, i] < squares[best, i]:
                best = m
        lowest = squares[best, i]
        legs[i, SIGMA] = lowest ** 0.5
        if legs[i, STEP_HITS] >= MIN_HITS or legs[i, REPEATS] > MIN_REPEATED:
            numbers[COARSEST] = max(numbers[COARSEST], legs[i, STEP])
        here += lowest / n
        numbers[TIMED] += legs[i, TIMING] / n
        if best == 0 or lowest == 0.0:
            falling += 1.0 / n
        else:
            beside = squares[best - 1, i]
            if best + 2 < DIFFERENCE_ORDERS:
                beside = min(beside, squares[best + 2, i])
            falling += beside / lowest / n
    numbers[VARIANCE] = here
    if numbers[JITTER] > 0.0:
        numbers[VARIANCE] = min(here, numbers[ACROSS])
    count = min(numbers[TAKEN], averaged_samples(numbers[PERIOD]))
    flat = falling < 1.0 + 1.5 * (5.0 / max(count, 1.0)) ** 0.5
    numbers[IDENTIFIED] = 1.0 if flat else 0.0


@kernel
def estimate_acceleration(stamps, window, legs, numbers, fresh):
    """
    Update the greatest acceleration that noise does not explain, over 3 and over 9 readings.

    The smaller one of two successive triples counts, and of the legs the second greatest: neither
    one reading nor the outliers of one leg can cause it.
    """
    numbers[MEASURED_ACCELERATION] *= math.exp((stamps[1] - stamps[0]) / MEMORY_TIME)
    if numbers[QUIET] <= WINDOW_SAMPLES or numbers[TAKEN] < LIMIT_SAMPLES:
        return
    for stride, later in ((1, 1), (4, 2)):
        greatest, second = 0.0, 0.0
        for i in range(len(legs)):
            if not fresh >> i & 1:
                continue
            here = clear_acceleration(window[i], legs[i], 0, stride)
            before = clear_acceleration(window[i], legs[i], later, stride)
            if here * before > 0.0:
                least = min(abs(here), abs(before))
                second = max(second, min(least, greatest))
                greatest = max(greatest, least)
        numbers[MEASURED_ACCELERATION] = max(numbers[MEASURED_ACCELERATION], second)


@kernel
def clear_acceleration(window, leg, newest, stride):
    """Return a leg's acceleration, m/s^2, by three readings; 0 where noise explains it."""
    middle, oldest = newest + stride, newest + 2 * stride
    late = window[newest, 0] - window[middle, 0]
    early = window[middle, 0] - window[oldest, 0]
    twice, bend = 2.0 / (late + early), 1.0 / late + 1.0 / early
    noise = NOISE_DEVIATIONS * twice * (1.0 / late ** 2 + 1.0 / early ** 2 + bend ** 2) ** 0.5
    value = twice * ((window[newest, 1] - window[middle, 1]) / late
                     - (window[middle, 1] - window[oldest, 1]) / early)
    clear = abs(value) - noise * leg[SIGMA] - 2.0 * twice * bend * visible_step(leg)
    return math.copysign(clear, value) if clear > 0.0 else 0.0


@kernel
def write_thresholds(legs, numbers, least, share, step, out):
    """
    Write deviation and step (m) of each leg's threshold (14.16), (n, 2).

    The deviation is a share of the measured one, at least `least` of the noisiest leg, plus the
    spread of the stamps times the leg's rate. Of noise that has grown the recent one counts.
    step: m, if it is given; 0 for the measured step.
    """
    for i in range(len(legs)):
        sigma, recent = legs[i, SIGMA], legs[i, RECENT]
        if recent > VARIANCE_GROWTH_RATIO * sigma * sigma:
            sigma = recent ** 0.5
        sigma = max(least * legs[i, GIVEN], share * sigma)
        age = AGE_VARIANCE * legs[i, HELD] * numbers[PERIOD] ** 2
        out[i, 0] = (sigma * sigma + (numbers[SPREAD] + age) * legs[i, LENGTH_RATE] ** 2) ** 0.5
        out[i, 1] = step if step > 0.0 else visible_step(legs[i])


@kernel
def visible_step(leg):
    """Return a leg's step, m, where its reading shows single steps, else 0."""
    if leg[REPEATS] > MIN_REPEATED or (
            leg[STEP_HITS] >= MIN_HITS and leg[SIGMA] < 0.5 * leg[STEP]):
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
