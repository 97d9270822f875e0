# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Faults of leg readings, each judged by the leg's own motion: outliers, steps, jumps.

A reading is predicted from a line through the last readings of its leg. As many readings are taken
as make the threshold of the prediction's error narrowest (14.16, form for irregular stamps).
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, NUMBER, VECTOR
from liedyn_ros.stewart.tracking.legs.kernels.fault_tables import (
    AMPLITUDE, ANCHOR, BURST_COUNT, CAUTION, COMMON_ERROR, DEVIATIONS, ENDED_RUN, ERROR,
    FAULT_LEG_WIDTH, FIRST_ERROR, FOLLOWED_READING, HISTORY, HISTORY_SAMPLES, HOLD_COUNT,
    HOLD_TIME, KEPT_OUTLIER, LARGEST_UNUSUAL, LAST_ACCELERATION, LAST_ERROR, LAST_READING,
    LASTING_STEP, LINE_COUNT, MEAN_COMMON, OUTLIER_TIME, RESOLUTION, SAMPLE_COUNT, SIGMA,
    SINCE_OUTLIER, SINCE_UNUSUAL, SMALLEST_CHANGE, SPAN_SQUARED, STEADY, TAIL_COUNT, THRESHOLD,
    UNCONFIRMED, UNREPLACED, USUAL_SQUARE)
from liedyn_ros.stewart.tracking.legs.kernels.frozen_legs import detect_frozen_legs
from liedyn_ros.stewart.tracking.legs.kernels.held_readings import (
    MAX_OUTLIERS, MIN_HOLDS, RUNAWAY_TIME)
from liedyn_ros.stewart.tracking.legs.kernels.noise import next_median, NORMAL_MEDIAN

PREDICTION_GAP = 0.5  # s; over a longer gap nothing is predicted
MAX_OUTLIER_TIME = 0.02  # s; an outlier that lasts longer is a step: the leg jumped, or its sensor
ACCELERATION_GROWTH = 2.2  # by which an error grows, sample by sample, where the leg accelerates
# Ratio of accelerations from which on the reading before is the outlier
PREVIOUS_OUTLIER_RATIO = 3.0
# Errors near their threshold show that noise has tails, in all legs, or that of one has grown, in
# its last MIN_ERRORS. From their number the threshold is extrapolated to one error an hour, as for
# a density that falls with the power 3.5.
LOW_TAIL, HIGH_TAIL, TAIL_TIME, TAIL_POWER = 0.9, 2.0, 60.0, 0.4  # of a threshold; s
NOISE_ORDER, MIN_WINDOWS = 5, 4  # of differences, and their least number
# Times the known noise and step, from which on that of the last readings is it
NOISE_GROWTH_RATIO = 2.0
# Times its threshold, for an outlier to be replaced: a smaller one may be better
REPLACEMENT_RATIO = 1.3
# Times its threshold, for an outlier just after another one, or in unknown noise
LARGE_OUTLIER = 5.0
STEP_RATIO = 0.8  # times the threshold of noise as it is now: a smaller step may be none
MIN_TELLING_ERROR = 0.3  # of a threshold, below which its error says nothing about noise
# Ratio of the squared amplitude of a hum to its mean square; that of noise with its median is more
SQUARED_CREST_FACTOR = 2.0
MIN_ERRORS = 50.0  # in a mean
USUAL_ERRORS = 20.0  # in the median of a leg's errors lately
UNUSUAL_RATIO = 3.0  # of an error to the usual one, above which it is unusual
# Times the largest unusual error of a line, which cannot have led a prediction so far
LINE_ERROR = 20.0
# Of the noise of a threshold, which may be an upper bound, 3 times too large
KNOWN_NOISE_SHARE = 0.25
MIN_SHARED_SAMPLES = 4.0  # in the mean of what the legs share


@kernel
def forget_leg_motion(history: CUBE, legs: MATRIX, numbers: VECTOR, smallest: NUMBER):
    """Forget the motion and the faults, but not the smallest change of a leg (m)."""
    history[:] = 0.0
    numbers[:] = 0.0
    for i in range(len(legs)):
        for k in range(FAULT_LEG_WIDTH):
            if k != AMPLITUDE and (k != SMALLEST_CHANGE or smallest > 0.0):
                legs[i, k] = 0.0
        legs[i, ANCHOR], legs[i, SINCE_OUTLIER] = math.nan, HISTORY_SAMPLES
        legs[i, SINCE_UNUSUAL] = HISTORY_SAMPLES
        if smallest > 0.0:
            legs[i, SMALLEST_CHANGE] = smallest


@kernel
def detect_leg_faults(
        time, dt, lengths, fresh, history, legs, since, numbers, settings, plausible):
    """
    Judge readings (n,), m, at a time (s), dt after the last ones.

    fresh: of find_fresh_readings. legs: (n, FAULT_LEG_WIDTH), of which SIGMA, STEP (m),
    LENGTH_RATE (m/s) are given. since: (2, n, n). settings: deviations of a threshold;
    acceleration (m/s^2); those of detect_frozen_legs. Writes plausible readings (n,): those of
    outliers are replaced by predictions. Returns three sets of legs as bits (outliers, stepped,
    frozen), whether all jumped, and the acceleration (m/s^2) that would explain a jump or an
    error that grows, else 0.
    """
    factor, bound, frozen_settings = settings
    for i in range(len(legs)):
        plausible[i] = legs[i, FOLLOWED_READING] = lengths[i]
        legs[i, KEPT_OUTLIER] = 0.0
    frozen, outliers, jumped, grown = 0, 0, False, 0.0
    if numbers[SAMPLE_COUNT] > 0.0:
        frozen = detect_frozen_legs(time, dt, lengths, legs, since, numbers, frozen_settings)
        for i in range(len(legs)):
            legs[i, TAIL_COUNT] *= math.exp(-dt / TAIL_TIME)
        outliers, jumped, grown = detect_outliers(
            time, dt, lengths, fresh, history, legs, numbers, factor, bound, plausible)
    for i in range(len(legs)):
        legs[i, LAST_READING] = lengths[i]
        if fresh >> i & 1:
            add_point(history[i], legs[i], time, plausible[i])
            legs[i, FOLLOWED_READING] = plausible[i]
        if legs[i, UNREPLACED] > 0.0 or legs[i, KEPT_OUTLIER] > 0.0:
            plausible[i] = lengths[i]
    numbers[SAMPLE_COUNT], stepped = numbers[SAMPLE_COUNT] + 1.0, 0
    for i in range(len(legs)):
        size, n = abs(legs[i, LASTING_STEP]), int(legs[i, HISTORY])
        wide = STEP_RATIO * legs[i, DEVIATIONS]
        if 0.0 < size < wide * legs[i, SIGMA] and size < wide * noise_of_history(history[i], n):
            legs[i, LASTING_STEP] = 0.0  # its noise had grown
        stepped |= (legs[i, LASTING_STEP] != 0.0) << i
    return outliers, stepped, frozen, jumped, grown


@kernel
def add_point(history, leg, time, reading):
    """Add a reading (m) of a time (s) to the history (HISTORY_SAMPLES, 2) of a leg."""
    for k in range(HISTORY_SAMPLES - 1, 0, -1):
        history[k, 0], history[k, 1] = history[k - 1, 0], history[k - 1, 1]
    history[0, 0], history[0, 1] = time, reading
    leg[UNREPLACED], leg[SINCE_OUTLIER] = max(leg[UNREPLACED] - 1.0, 0.0), leg[SINCE_OUTLIER] + 1.0
    leg[HISTORY] = min(leg[HISTORY] + 1.0, float(HISTORY_SAMPLES))


@kernel
def detect_outliers(
        time, dt, lengths, fresh, history, legs, numbers, factor, bound, plausible):
    """Hold all readings against their predictions; return outliers, jump and acceleration."""
    outliers, jumped, grown = 0, False, 0.0
    count = predict_readings(time, lengths, fresh, history, legs, numbers, factor, bound)
    compare_errors(fresh, legs, numbers, factor, count > MAX_OUTLIERS)
    if count > MAX_OUTLIERS:  # (14.21)
        jumped = True
        for i in range(len(legs)):
            if fresh >> i & 1 and legs[i, HISTORY] > 1.0:
                grown = max(grown, abs(legs[i, ERROR]) / legs[i, SPAN_SQUARED])
        restart_prediction(legs, numbers)
    elif count > 0:
        outliers, grown = classify_outliers(
            fresh, history, legs, numbers, time, dt, lengths, plausible, bound, factor)
    for i in range(len(legs)):
        if fresh >> i & 1:
            legs[i, LAST_ACCELERATION] = abs(legs[i, ERROR]) / legs[i, SPAN_SQUARED]
            note_error(legs[i], factor)
    return outliers, jumped, grown


@kernel
def restart_prediction(legs: MATRIX, numbers: VECTOR):
    """Predict from the next reading on; the reference of steps is gone."""
    for i in range(len(legs)):
        legs[i, HISTORY] = legs[i, OUTLIER_TIME] = 0.0
        legs[i, LASTING_STEP] = legs[i, SINCE_OUTLIER] = 0.0


@kernel
def choose_line(time, history, leg, factor, bound):
    """
    Return how many readings of a leg make the narrowest threshold; write its two factors (14.16).

    The error of a prediction is DEVIATIONS times the deviation of a reading, and SPAN_SQUARED
    (s^2) times the acceleration.
    """
    sigma = leg[SIGMA]
    s1, s2, s3, best, points = 0.0, 0.0, 0.0, math.inf, 0
    leg[DEVIATIONS] = leg[SPAN_SQUARED] = 1.0
    for k in range(int(leg[HISTORY])):
        ago = time - history[k, 0]
        s1, s2, s3 = s1 + ago, s2 + ago * ago, s3 + ago * ago * ago
        n = k + 1.0
        if k == 0:
            continue
        mean, square = s1 / n, s2 - s1 * s1 / n
        spread = (1.0 + 1.0 / n + mean * mean / square) ** 0.5
        bend = 0.5 * abs(s2 / n + mean * (mean * s2 - s3) / square)
        width = factor * spread * sigma + bound * bend
        if width < best:
            best, points, leg[DEVIATIONS], leg[SPAN_SQUARED] = width, k + 1, factor * spread, bend
    leg[LINE_COUNT] = points
    return points


@kernel
def predict_readings(time, lengths, fresh, history, legs, numbers, factor, bound):
    """
    Write ERROR and THRESHOLD of each leg; return how many legs are outliers, or still are.

    A held reading is no outlier, but may still be the one before. FOLLOWED of its leg becomes the
    prediction. factor: deviations, bound: m/s^2, of a threshold.
    """
    shared = shared_sum(legs, TAIL_COUNT)
    count = 0
    for i in range(len(legs)):
        leg = legs[i]
        leg[ERROR], leg[THRESHOLD] = 0.0, math.inf
        points = choose_line(time, history[i], leg, factor, bound)
        if 0.0 < leg[HOLD_COUNT] < MIN_HOLDS and leg[ENDED_RUN] > 0.0 and fresh >> i & 1:
            # Its first holds tell nothing of its rate: only a rush is judged.
            leg[ERROR], leg[SPAN_SQUARED] = lengths[i] - leg[LAST_READING], 1.0
            leg[THRESHOLD] = RUNAWAY_TIME * bound * leg[HOLD_TIME]
            count += abs(leg[ERROR]) > leg[THRESHOLD] or leg[OUTLIER_TIME] > 0.0
            continue
        if points == 0:
            continue
        value = extrapolate(time, history[i], points)
        if not fresh >> i & 1:
            if leg[HOLD_COUNT] >= MIN_HOLDS:
                leg[FOLLOWED_READING] = value
            count += leg[OUTLIER_TIME] > 0.0
            continue
        leg[ERROR] = lengths[i] - value
        # In an hour; one may be chance.
        often = 3600.0 / TAIL_TIME * max(shared - 1.0, leg[BURST_COUNT] - 1.0, 0.0)
        scale = max(1.0, LOW_TAIL * often ** TAIL_POWER)
        noise = leg[DEVIATIONS] * leg[SIGMA]
        motion = bound * leg[SPAN_SQUARED] + 2.0 * leg[RESOLUTION]
        # (14.16)
        hum = max(SQUARED_CREST_FACTOR * (leg[USUAL_SQUARE] - (noise / factor) ** 2), 0.0) ** 0.5
        noise += max(hum - motion, 0.0)
        leg[THRESHOLD] = scale * (noise + motion)
        if leg[OUTLIER_TIME] == 0.0 and leg[SINCE_OUTLIER] < HISTORY_SAMPLES:
            leg[THRESHOLD] *= LARGE_OUTLIER  # its noise may have grown: no outlier, nor replaced
        threshold = noise / numbers[CAUTION] + motion
        tail = leg[OUTLIER_TIME] == 0.0 and noise > MIN_TELLING_ERROR * threshold and (
            LOW_TAIL * threshold < abs(leg[ERROR]) < HIGH_TAIL * threshold)
        leg[TAIL_COUNT] += tail
        leg[BURST_COUNT] = leg[BURST_COUNT] * (1.0 - 1.0 / MIN_ERRORS) + tail
        if leg[OUTLIER_TIME] == 0.0 and abs(leg[ERROR]) > leg[THRESHOLD]:
            lately = noise_of_history(history[i], int(leg[HISTORY]))
            if lately > NOISE_GROWTH_RATIO * (leg[SIGMA] + leg[RESOLUTION]):
                leg[THRESHOLD] = scale * (leg[DEVIATIONS] * lately + motion)
            if predicted_from_unusual(leg):
                leg[UNREPLACED] = HISTORY_SAMPLES
        count += abs(leg[ERROR]) > leg[THRESHOLD] or leg[OUTLIER_TIME] > 0.0
    return count


@kernel
def shared_sum(legs, column):
    """
    Return the sum of a column over the legs as it is without the leg that has the most of it.

    What one leg alone shows is a fault of its sensor. What noise, motion or stamps do shows in
    all.
    """
    total, most, n = 0.0, 0.0, len(legs)
    for i in range(n):
        total, most = total + legs[i, column], max(most, legs[i, column])
    return (total - most) * n / (n - 1)


@kernel
def noise_of_history(history, points):
    """
    Return the deviation of white noise in a leg's last readings, m; 0 of too few (14.13).

    Divided differences of order NOISE_ORDER remove the motion, at any stamps.
    """
    total, windows = 0.0, points - NOISE_ORDER
    if windows < MIN_WINDOWS:
        return 0.0
    for first in range(windows):
        difference, gain = 0.0, 0.0
        for k in range(first, first + NOISE_ORDER + 1):
            product = 1.0
            for j in range(first, first + NOISE_ORDER + 1):
                if j != k:
                    product *= history[k, 0] - history[j, 0]
            difference += history[k, 1] / product
            gain += 1.0 / (product * product)
        total += difference * difference / gain
    return (total / windows) ** 0.5


@kernel
def extrapolate(time, history, points):
    """Return the line through the last readings of a leg at a time, m."""
    mean, square, value = 0.0, 0.0, 0.0
    for k in range(points):
        mean += (time - history[k, 0]) / points
    for k in range(points):
        square += (time - history[k, 0] - mean) ** 2
    for k in range(points):
        value += (1.0 / points + mean * (mean - time + history[k, 0]) / square) * history[k, 1]
    return value


@kernel
def classify_outliers(
        fresh, history, legs, numbers, time, dt, lengths, plausible, bound, factor):
    """
    Tell outliers, steps and accelerations apart; return the outliers and an acceleration.

    The error of one leg may grow by its noise, or by spikes: then nothing is replaced, but the
    acceleration is 0. Two legs show one.
    """
    outliers, earlier, grown, second = 0, 0, 0.0, 0.0
    for i in range(len(legs)):
        leg, error = legs[i], legs[i, ERROR]
        if not fresh >> i & 1:
            if leg[OUTLIER_TIME] > 0.0:
                leg[OUTLIER_TIME] += dt
                outliers |= 1 << i
                plausible[i] = leg[FOLLOWED_READING]
            continue
        if leg[OUTLIER_TIME] == 0.0:
            if not abs(error) > leg[THRESHOLD]:
                continue
            if correct_previous_outlier(history[i], leg, time, lengths[i]):
                earlier |= 1 << i
                continue
            begin_outlier(leg, error, dt, numbers[UNCONFIRMED] > 0.0)
        elif ends_outlier(leg, error, dt, bound):
            continue
        else:
            more = continue_outlier(leg, error, dt)
            grown, second = max(grown, more), max(second, min(grown, more))
        leg[LAST_ERROR], leg[SINCE_OUTLIER] = error, 0.0
        shared = LARGE_OUTLIER * (numbers[COMMON_ERROR] * usual_square(leg, factor)) ** 0.5
        leg[KEPT_OUTLIER] = abs(error) < max(REPLACEMENT_RATIO * leg[THRESHOLD], shared)
        if leg[OUTLIER_TIME] <= max(MAX_OUTLIER_TIME, 1.01 * (time - history[i, 0, 0])):
            outliers |= 1 << i
            plausible[i] -= error
        else:
            accept_offset(history[i], leg, error)
    if grown > 0.0:
        restart_prediction(legs, numbers)
        for i in range(len(legs)):
            if outliers >> i & 1:
                plausible[i] = lengths[i]
        outliers = earlier = 0
    return outliers | earlier, second


@kernel
def begin_outlier(leg, error, dt, noise):
    """Note the first sample of an outlier. noise: whether it may well be noise if not glaring."""
    leg[FIRST_ERROR] = leg[LAST_ERROR] = error
    leg[OUTLIER_TIME], leg[STEADY] = dt, 1.0
    if leg[SINCE_OUTLIER] < HISTORY_SAMPLES or (
            noise and abs(error) < LARGE_OUTLIER * leg[THRESHOLD]):
        leg[UNREPLACED] = HISTORY_SAMPLES
    if predicted_from_unusual(leg):
        leg[STEADY] = 0.0


@kernel
def ends_outlier(leg, error, dt, bound):
    """Return whether the reading of an outlier is back at its prediction."""
    leg[OUTLIER_TIME] += dt
    wide = leg[THRESHOLD] + bound * leg[OUTLIER_TIME] ** 2
    back = leg[STEADY] == 0.0 or abs(error) < 0.5 * abs(leg[FIRST_ERROR])
    if abs(error) < wide and back:
        leg[OUTLIER_TIME] = 0.0
        return True
    return False


@kernel
def continue_outlier(leg, error, dt):
    """Note a further sample of an outlier; return the acceleration that explains it, else 0."""
    if error * leg[FIRST_ERROR] < 0.0:  # on the other side: no step, and perhaps noise
        leg[FIRST_ERROR], leg[OUTLIER_TIME], leg[UNREPLACED] = error, dt, HISTORY_SAMPLES
        leg[TAIL_COUNT], leg[BURST_COUNT] = leg[TAIL_COUNT] + 1.0, leg[BURST_COUNT] + 1.0
    if not abs(error - leg[FIRST_ERROR]) < 0.5 * abs(leg[FIRST_ERROR]):
        leg[STEADY], leg[UNREPLACED] = 0.0, HISTORY_SAMPLES
    if (error * leg[FIRST_ERROR] > 0.0 and abs(error) > ACCELERATION_GROWTH * abs(leg[FIRST_ERROR])
            and abs(error) > 1.2 * abs(leg[LAST_ERROR])):
        return abs(error) / (leg[SPAN_SQUARED] + 0.5 * leg[OUTLIER_TIME] ** 2)
    return 0.0


@kernel
def correct_previous_outlier(history, leg, time, reading):
    """
    Return whether the previous reading was the outlier, and correct it if so.

    After a gap the threshold can be too wide for an outlier. Of the two readings the one that
    requires the greater acceleration from the readings before both is the outlier.
    """
    if leg[HISTORY] < 3.0 or leg[SINCE_OUTLIER] < 2.0:  # or it was judged itself
        return False
    ago, span = time - history[1, 0], history[1, 0] - history[2, 0]
    rate = (history[1, 1] - history[2, 1]) / span
    error = reading - history[1, 1] - rate * ago
    if PREVIOUS_OUTLIER_RATIO * abs(error) > leg[LAST_ACCELERATION] * 0.5 * ago * (ago + span):
        return False
    share = (history[0, 0] - history[1, 0]) / ago
    history[0, 1] = history[1, 1] + share * (reading - history[1, 1])
    return True


@kernel
def accept_offset(history, leg, error):
    """Go on from where an outlier has stayed; it is a step if it kept to one place."""
    for k in range(HISTORY_SAMPLES):
        history[k, 1] += error
    leg[OUTLIER_TIME] = 0.0
    total = leg[LASTING_STEP] + error
    if leg[STEADY] > 0.0 or abs(total) < 0.5 * abs(leg[LASTING_STEP]):  # or it is back
        leg[LASTING_STEP] = total if abs(total) > 0.5 * abs(error) else 0.0


@kernel
def compare_errors(fresh, legs, numbers, factor, jumped):
    """
    Note by which factor the squares of the errors are larger than usual, now or lately (14.16).

    It is their mean over the legs without an outlier, or over all where so many jumped that none
    has one. factor: deviations of a threshold.
    """
    total, count = 0.0, 0
    for i in range(len(legs)):
        leg, square = legs[i], legs[i, ERROR] * legs[i, ERROR]
        usual, suspected = usual_square(leg, factor), leg[OUTLIER_TIME] > 0.0 or (
            square > leg[THRESHOLD] * leg[THRESHOLD])
        if fresh >> i & 1 and usual > 0.0 and leg[THRESHOLD] < math.inf and (
                jumped or not suspected):
            total, count = total + square / usual, count + 1
    if count > 0:
        now = total / count
        numbers[MEAN_COMMON] += (now - numbers[MEAN_COMMON]) / MIN_SHARED_SAMPLES
        numbers[COMMON_ERROR] = max(now, numbers[MEAN_COMMON])


@kernel
def usual_square(leg, factor):
    """Return the square (m^2) of a leg's usual errors lately, at least that of sure noise."""
    noise = KNOWN_NOISE_SHARE * leg[DEVIATIONS] / factor * leg[SIGMA]
    return max(leg[USUAL_SQUARE], noise * noise)


@kernel
def note_error(leg, factor):
    """Note whether an error is unusual: predictions from such a reading are doubtful."""
    error = abs(leg[ERROR])
    leg[SINCE_UNUSUAL] += 1.0
    if error * error > UNUSUAL_RATIO * UNUSUAL_RATIO * usual_square(leg, factor):
        before = leg[LARGEST_UNUSUAL] if leg[SINCE_UNUSUAL] < leg[LINE_COUNT] else 0.0
        leg[LARGEST_UNUSUAL] = max(error, before)
        leg[SINCE_UNUSUAL] = 0.0
    # Spikes move a median by no more than any larger error does.
    leg[USUAL_SQUARE] = (next_median(
        NORMAL_MEDIAN * leg[USUAL_SQUARE] ** 0.5, error, math.inf, 1.0 / USUAL_ERRORS)
        / NORMAL_MEDIAN) ** 2


@kernel
def predicted_from_unusual(leg):
    """Return whether a leg's prediction is from an unusual reading, and its error as large."""
    return leg[SINCE_UNUSUAL] < leg[LINE_COUNT] and (
        abs(leg[ERROR]) < LINE_ERROR * leg[LARGEST_UNUSUAL])
