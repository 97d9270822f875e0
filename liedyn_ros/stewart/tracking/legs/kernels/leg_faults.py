# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Faults of six leg readings, each judged by the leg's own motion: outliers, steps, jumps.

A reading is predicted from a line through the last readings of its leg. As many readings are taken
as make the threshold of the prediction's error narrowest (14.16, form for irregular stamps).
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.tracking.legs.kernels.fault_tables import (
    AMPLITUDE, ANCHOR, BEFORE, COUNT, ERROR, FIRST, HISTORY_SAMPLES, LAST_ACCELERATION, LEG,
    OUTLYING, RATE, RAW, SIGMA, SMALLEST, SPREAD, STEP, STEPPED, THRESHOLD)
from liedyn_ros.stewart.tracking.legs.kernels.frozen_legs import detect_frozen_legs

PREDICTION_GAP = 0.5  # s; over a longer gap nothing is predicted
MAX_OUTLIER_TIME = 0.02  # s; an outlier that lasts longer is a step: the leg jumped, or its sensor
MAX_OUTLIERS = 2  # legs; more at once are a jump of all
GROWTH = 2.2  # by which an error grows, sample by sample, where the leg accelerates
SHIFT = 2.0  # times the threshold for stamps, for an error of stamps common to all legs
BLAME = 3.0  # ratio of accelerations from which on the reading before is the outlier


@kernel
def forget_leg_motion(history, legs, numbers, smallest):
    """Forget the motion and the faults, but not the smallest change of a leg (m)."""
    history[:] = 0.0
    numbers[:] = 0.0
    for i in range(6):
        for k in range(LEG):
            if k != AMPLITUDE and (k != SMALLEST or smallest > 0.0):
                legs[i, k] = 0.0
        legs[i, ANCHOR] = math.nan
        if smallest > 0.0:
            legs[i, SMALLEST] = smallest


@kernel
def detect_leg_faults(time, lengths, history, legs, since, numbers, settings, plausible):
    """
    Judge six readings (6,), m, at a time (s).

    legs: (6, LEG), of which SIGMA, STEP (m) and RATE (m/s) are given. since: (2, 6, 6). settings:
    deviations of a threshold; acceleration (m/s^2); those of detect_frozen_legs. Writes plausible
    readings (6,): those of outliers are replaced by predictions. Returns three sets of legs as
    bits (outliers, stepped, frozen), and whether all jumped. Returns too the acceleration (m/s^2)
    that would explain a jump or an error that grows, else 0.
    """
    factor, bound, frozen_settings = settings
    dt = time - history[0, 0]
    if numbers[COUNT] > 0.0 and not 0.0 < dt <= PREDICTION_GAP:
        forget_leg_motion(history, legs, numbers, 0.0)
    for i in range(6):
        plausible[i] = lengths[i]
    frozen, outliers, jumped, grown = 0, 0, False, 0.0
    if numbers[COUNT] > 0.0:
        frozen = detect_frozen_legs(time, dt, lengths, legs, since, numbers, frozen_settings)
    if numbers[COUNT] > 1.0:
        outliers, jumped, grown = detect_outliers(
            time, lengths, history, legs, numbers, factor, bound, plausible)
    for i in range(6):
        legs[i, RAW] = lengths[i]
    for k in range(HISTORY_SAMPLES - 1, 0, -1):
        for j in range(7):
            history[k, j] = history[k - 1, j]
    history[0, 0] = time
    for i in range(6):
        history[0, i + 1] = plausible[i]
    numbers[COUNT] = min(numbers[COUNT] + 1.0, float(HISTORY_SAMPLES))
    stepped = 0
    for i in range(6):
        stepped |= (legs[i, STEPPED] != 0.0) << i
    return outliers, stepped, frozen, jumped, grown


@kernel
def detect_outliers(time, lengths, history, legs, numbers, factor, bound, plausible):
    """Hold six readings against their predictions; return outliers, jump and acceleration."""
    points, spread, bend = choose_line(time, history, legs, numbers, factor, bound)
    noise, outliers, jumped, grown = factor * spread, 0, False, 0.0
    count = predict_readings(time, history, legs, points, lengths, noise, bound * bend)
    if count > 0 and stamp_explains_errors(legs, numbers, noise):
        count = 0
    if count > MAX_OUTLIERS:  # (14.21)
        jumped = True
        for i in range(6):
            grown = max(grown, abs(legs[i, ERROR]) / bend)
        restart_prediction(legs, numbers)
    elif count > 0:
        outliers, grown = classify_outliers(
            history, legs, numbers, time, lengths, plausible, bound, bend)
    for i in range(6):
        legs[i, LAST_ACCELERATION] = abs(legs[i, ERROR]) / bend
    return outliers, jumped, grown


@kernel
def restart_prediction(legs, numbers):
    """Predict from the next reading on; the reference of steps is gone."""
    numbers[COUNT] = 0.0
    for i in range(6):
        legs[i, OUTLYING] = legs[i, STEPPED] = 0.0


@kernel
def choose_line(time, history, legs, numbers, factor, bound):
    """
    Return how many readings make the narrowest threshold, and its two factors (14.16).

    The error of a prediction is one factor times the deviation of a reading, and the other (s^2)
    times the acceleration.
    """
    sigma = 0.0
    for i in range(6):
        sigma = max(sigma, legs[i, SIGMA])
    s1, s2, s3 = 0.0, 0.0, 0.0
    best, points, best_spread, best_bend = math.inf, 2, 1.0, 1.0
    for k in range(int(numbers[COUNT])):
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
            best, points, best_spread, best_bend = width, k + 1, spread, bend
    return points, best_spread, best_bend


@kernel
def predict_readings(time, history, legs, points, lengths, noise, bend):
    """
    Write ERROR and THRESHOLD of each leg; return how many legs are outliers, or still are.

    noise: deviations of a reading, bend: m, that a prediction may be off.
    """
    mean, square = 0.0, 0.0
    for k in range(points):
        mean += (time - history[k, 0]) / points
    for k in range(points):
        square += (time - history[k, 0] - mean) ** 2
    count = 0
    for i in range(6):
        value = 0.0
        for k in range(points):
            value += (1.0 / points + mean * (mean - time + history[k, 0]) / square
                      ) * history[k, i + 1]
        leg = legs[i]
        leg[ERROR] = lengths[i] - value
        leg[THRESHOLD] = noise * leg[SIGMA] + bend + 2.0 * leg[STEP]
        count += abs(leg[ERROR]) > leg[THRESHOLD] or leg[OUTLYING] > 0.0
    return count


@kernel
def stamp_explains_errors(legs, numbers, noise):
    """Return whether one error of the stamp explains the errors of all legs (14.23)."""
    along, speed = 0.0, 0.0
    for i in range(6):
        along += legs[i, ERROR] * legs[i, RATE]
        speed += legs[i, RATE] ** 2
    if along * along > (SHIFT * noise * speed) ** 2 * numbers[SPREAD] or speed == 0.0:
        return False
    for i in range(6):
        if abs(legs[i, ERROR] - along / speed * legs[i, RATE]) > legs[i, THRESHOLD]:
            return False
    for i in range(6):
        legs[i, OUTLYING] = 0.0
    return True


@kernel
def classify_outliers(history, legs, numbers, time, lengths, plausible, bound, bend):
    """Tell outliers, steps and accelerations apart; return the outliers and an acceleration."""
    outliers, earlier, grown, dt = 0, 0, 0.0, time - history[0, 0]
    for i in range(6):
        leg, error = legs[i], legs[i, ERROR]
        if leg[OUTLYING] == 0.0:
            if not abs(error) > leg[THRESHOLD]:
                continue
            if correct_previous_outlier(history, legs, numbers, time, lengths, i):
                earlier |= 1 << i
                continue
            leg[FIRST] = leg[BEFORE] = error
            leg[OUTLYING] = dt
        else:
            leg[OUTLYING] += dt
            wide = leg[THRESHOLD] + bound * leg[OUTLYING] ** 2
            if abs(error) < wide and abs(error) < 0.5 * abs(leg[FIRST]):
                leg[OUTLYING] = 0.0
                continue
            if (error * leg[FIRST] > 0.0 and abs(error) > GROWTH * abs(leg[FIRST])
                    and abs(error) > 1.2 * abs(leg[BEFORE])):
                grown = max(grown, abs(error) / (bend + 0.5 * leg[OUTLYING] ** 2))
        leg[BEFORE] = error
        if leg[OUTLYING] <= max(MAX_OUTLIER_TIME, 1.01 * dt):
            outliers |= 1 << i
            plausible[i] -= error
        else:
            accept_offset(history, leg, i, error)
    if grown > 0.0:
        restart_prediction(legs, numbers)
        for i in range(6):
            if outliers >> i & 1:
                plausible[i] += legs[i, ERROR]
        outliers = earlier = 0
    return outliers | earlier, grown


@kernel
def correct_previous_outlier(history, legs, numbers, time, lengths, i):
    """
    Return whether the previous reading was the outlier, and correct it if so.

    After a gap the threshold can be too wide for an outlier. Of the two readings the one that
    requires the greater acceleration from the readings before both is the outlier.
    """
    if numbers[COUNT] < 3.0:
        return False
    ago, span = time - history[1, 0], history[1, 0] - history[2, 0]
    rate = (history[1, i + 1] - history[2, i + 1]) / span
    error = lengths[i] - history[1, i + 1] - rate * ago
    if BLAME * abs(error) > legs[i, LAST_ACCELERATION] * 0.5 * ago * (ago + span):
        return False
    share = (history[0, 0] - history[1, 0]) / ago
    history[0, i + 1] = history[1, i + 1] + share * (lengths[i] - history[1, i + 1])
    return True


@kernel
def accept_offset(history, leg, i, error):
    """Go on from where an outlier has stayed; it is a step if it kept to one place."""
    for k in range(HISTORY_SAMPLES):
        history[k, i + 1] += error
    leg[OUTLYING] = 0.0
    if abs(error - leg[FIRST]) < 0.5 * abs(leg[FIRST]):
        total = leg[STEPPED] + error
        leg[STEPPED] = total if abs(total) > 0.5 * abs(error) else 0.0
