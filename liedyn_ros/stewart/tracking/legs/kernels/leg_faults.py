# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Six leg readings, each judged by its own motion: outliers, steps, jumps, frozen legs.

A reading is predicted from a line through the last readings, as many as make the gate narrowest
(14.16, in the form for irregular stamps).
"""

import math

from liedyn_ros.jit.bundle import Bundle, CUBE, MATRIX, VECTOR
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.tracking.legs.kernels import noise as readings

POINTS = 12  # readings kept, newest first; a row is time (s) and six readings (m)
GAP = 0.5  # s; over a longer gap nothing is predicted
TIMEOUT = 0.02  # s; an outlier that lasts longer is a step: the leg jumped, or its sensor
MAX_OUTLIERS = 2  # legs; more at once are a jump of all
GROWTH = 2.2  # by which an error grows, sample by sample, where the leg accelerates
BAND = 3.0  # deviations of noise: a leg with all its noise leaves such a band soon
WITHIN = 40.0  # samples that a leg with little noise left stays within it
MARGIN = 6.0  # deviations of noise that are no motion
# A leg that reverses in a swing of amplitude A stays within a band q of its reading. Meanwhile a
# leg with the same swing moves on by 2 sqrt(2 q A). A is less than the leg's length, but it may
# swing less than the others: DWELL sqrt(q length).
DWELL = 8.0
SHIFT = 2.0  # times the allowance of a gate for stamps, for an error of stamps common to all legs
BLAME = 3.0  # ratio of accelerations from which on the reading before is the outlier
MEMORY = 300  # samples over which the share of outliers is taken
TOO_MANY, FEW = 0.05, 0.02  # of them: the premise is wrong from the one on, until the other

# Numbers of the platform.
COUNT, SAME_SAMPLES, SPREAD, NUMBERS = 0, 1, 2, 3
# Numbers of a leg. OUTLYING: s, for which it has been an outlier. PULL: m/s^2, that explains the
# last reading.
(SIGMA, STEP, RATE, OUTLYING, FIRST, BEFORE, STEPPED, REPEATED, SMALLEST, FROZEN, RAW, ANCHOR,
 ANCHOR_TIME, ANCHORED, AMPLITUDE, PULL, LEG) = range(17)
# Settings. FACTOR: deviations of a gate. BOUND: m/s^2, acceleration. FROZEN_TIME: s. REPETITIONS:
# of all six that are no fault. LEARNS: whether the smallest change is learnt. LEAST, SHARE,
# READ_STEP: of the gates (noise.gates). UNDERSTATED: whether the given noise is too small.
(FACTOR, BOUND, FROZEN_TIME, REPETITIONS, LEARNS, LEAST, SHARE, READ_STEP, UNDERSTATED,
 SETTINGS) = range(10)
# Of all samples. OUTLIERS: their share. WRONG: whether they are too many. BITS: those of the last
# sample. GROWN: m/s^2, the acceleration that would explain the last sample, else 0.
OUTLIERS, WRONG, BITS, GROWN, TALLY = range(5)
# What `examine` found, as bits: the first of six each, then of one.
OUTLYING_LEGS, STEPPED_LEGS, FROZEN_LEGS, JUMPED, STALE, DOUBTED, LEARNT = 0, 6, 12, 18, 19, 20, 21
DUE = 22  # whether the estimates of noise have to be brought up to date
FAULTY = ~(1 << STALE | 1 << LEARNT | 1 << DUE)  # those of faults

FAULTS = Bundle(
    'LegFaults', history=MATRIX, legs=MATRIX, since=CUBE,  # (POINTS, 7), (6, LEG), (2, 6, 6)
    numbers=VECTOR, tally=VECTOR, settings=VECTOR)
faults_of = FAULTS.view


@kernel
def reset(history, legs, numbers, smallest):
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
def examine(words, noise_words, time, lengths, residuals, plausible):
    """
    Judge six readings as `judge` does, then let the estimates of their noise take them.

    Readings that all repeat are stale: they say nothing of noise. Where outliers are too many,
    none is reported or replaced, and no leg counts as stepped. Returns bits of what was found.
    """
    faults, noise = faults_of(words), readings.noise_of(noise_words)
    settings, numbers, legs = faults.settings, faults.numbers, faults.legs
    readings.gates(noise.legs, noise.numbers, settings[LEAST], settings[SHARE],
                   settings[READ_STEP], legs)
    numbers[SPREAD] = noise.numbers[readings.SPREAD]
    outliers, stepped, frozen, jumped, grown = judge(
        time, lengths, faults.history, legs, faults.since, numbers,
        (settings[FACTOR], settings[BOUND], settings[FROZEN_TIME], settings[REPETITIONS],
         settings[LEARNS] > 0.0), residuals, plausible)
    if outliers != 0 or jumped:
        readings.spoilt(noise.numbers)
    stale = frozen == 63 and numbers[SAME_SAMPLES] > 0.0
    if not stale:
        readings.take(noise, time, lengths)
        noise.numbers[readings.SINCE] += 1.0
    due = noise.numbers[readings.SINCE] >= readings.SETTLE_EVERY
    wrong = count(faults.tally, outliers, jumped, grown)
    learnt = grown > 0.0 and (wrong or not jumped)
    if wrong:
        outliers, stepped, jumped = 0, 0, False
        for i in range(6):
            legs[i, STEPPED], plausible[i] = 0.0, lengths[i]
    doubted = wrong or settings[UNDERSTATED] > 0.0
    return (outliers << OUTLYING_LEGS | stepped << STEPPED_LEGS | frozen << FROZEN_LEGS
            | jumped << JUMPED | stale << STALE | doubted << DOUBTED | learnt << LEARNT
            | due << DUE)


@kernel
def count(tally, outliers, jumped, grown):
    """Take note of a sample with or without a new outlier; return whether they are too many."""
    new = (outliers & ~int(tally[BITS])) != 0 or jumped or grown > 0.0
    tally[BITS], tally[GROWN] = outliers, grown
    tally[OUTLIERS] += (new - tally[OUTLIERS]) / MEMORY
    wrong = tally[OUTLIERS] > (FEW if tally[WRONG] > 0.0 else TOO_MANY)
    tally[WRONG] = wrong
    return wrong


@kernel
def judge(time, lengths, history, legs, since, numbers, settings, residuals, plausible):
    """
    Judge six readings (6,), m, at a time (s).

    legs: (6, LEG), of which SIGMA, STEP (m) and RATE (m/s) are given. since: (2, 6, 6). settings:
    deviations of a gate; acceleration (m/s^2); frozen_time (s); repetitions of all six that are no
    fault; whether the smallest change is learnt. Writes residuals (6,), NaN where nothing was
    predicted, and plausible readings (6,). Returns three sets of legs as bits (outliers, stepped,
    frozen), and whether all jumped. Returns too the acceleration (m/s^2) that would explain a jump
    or an error that grows, else 0.
    """
    factor, bound, frozen_time, repetitions, learns = settings
    dt = time - history[0, 0]
    if numbers[COUNT] > 0.0 and not 0.0 < dt <= GAP:
        reset(history, legs, numbers, 0.0)
    for i in range(6):
        residuals[i], plausible[i] = math.nan, lengths[i]
    frozen, outliers, jumped, grown = 0, 0, False, 0.0
    if numbers[COUNT] > 0.0:
        frozen = standing(time, dt, lengths, legs, since, numbers, frozen_time, learns)
        if numbers[SAME_SAMPLES] >= repetitions:
            frozen = 63
    if numbers[COUNT] > 1.0:
        points, spread, bend = line(time, history, legs, numbers, factor, bound)
        count = predict(time, history, legs, points, lengths, residuals, factor * spread,
                        bound * bend)
        if count > 0 and stamp_is_off(legs, numbers, residuals, factor * spread, bound * bend):
            count = 0
        if count > MAX_OUTLIERS:  # (14.21)
            jumped = True
            for i in range(6):
                grown = max(grown, abs(residuals[i]) / bend)
            restart(legs, numbers)
        elif count > 0:
            outliers, grown = follow(
                history, legs, numbers, time, lengths, residuals, plausible, factor * spread,
                bound, bend)
        for i in range(6):
            legs[i, PULL] = abs(residuals[i]) / bend
    for i in range(6):
        legs[i, RAW] = lengths[i]
    for k in range(POINTS - 1, 0, -1):
        for j in range(7):
            history[k, j] = history[k - 1, j]
    history[0, 0] = time
    for i in range(6):
        history[0, i + 1] = plausible[i]
    numbers[COUNT] = min(numbers[COUNT] + 1.0, float(POINTS))
    stepped = 0
    for i in range(6):
        stepped |= (legs[i, STEPPED] != 0.0) << i
    return outliers, stepped, frozen, jumped, grown


@kernel
def restart(legs, numbers):
    """Predict from the next reading on: what a step was measured from is gone."""
    numbers[COUNT] = 0.0
    for i in range(6):
        legs[i, OUTLYING] = legs[i, STEPPED] = 0.0


@kernel
def line(time, history, legs, numbers, factor, bound):
    """Return how many readings make the narrowest gate, its noise factor, its s^2 / 2 of error."""
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
def predict(time, history, legs, points, lengths, residuals, noise, bend):
    """Write reading less prediction of each leg; return how many are outliers, or still are."""
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
        residuals[i] = lengths[i] - value
        gate = noise * legs[i, SIGMA] + bend + 2.0 * legs[i, STEP]
        count += abs(residuals[i]) > gate or legs[i, OUTLYING] > 0.0
    return count


@kernel
def stamp_is_off(legs, numbers, residuals, noise, bend):
    """Return whether an error of the stamp, which moves all legs by their rates, explains all."""
    along, speed = 0.0, 0.0
    for i in range(6):
        along += residuals[i] * legs[i, RATE]
        speed += legs[i, RATE] ** 2
    if along * along > (SHIFT * noise * speed) ** 2 * numbers[SPREAD] or speed == 0.0:
        return False
    for i in range(6):
        gate = noise * legs[i, SIGMA] + bend + 2.0 * legs[i, STEP]
        if abs(residuals[i] - along / speed * legs[i, RATE]) > gate:
            return False
    for i in range(6):
        legs[i, OUTLYING] = 0.0
    return True


@kernel
def follow(history, legs, numbers, time, lengths, residuals, plausible, noise, bound, bend):
    """Tell outliers, steps and accelerations apart; return the outliers and an acceleration."""
    outliers, earlier, grown, dt = 0, 0, 0.0, time - history[0, 0]
    for i in range(6):
        leg, error = legs[i], residuals[i]
        gate = noise * leg[SIGMA] + bound * bend + 2.0 * leg[STEP]
        if leg[OUTLYING] == 0.0:
            if not abs(error) > gate:
                continue
            if misled(history, legs, numbers, time, lengths, i):
                earlier |= 1 << i
                continue
            leg[FIRST] = leg[BEFORE] = error
            leg[OUTLYING] = dt
        else:
            leg[OUTLYING] += dt
            wide = gate + bound * leg[OUTLYING] ** 2
            if abs(error) < wide and abs(error) < 0.5 * abs(leg[FIRST]):
                leg[OUTLYING] = 0.0
                continue
            if (error * leg[FIRST] > 0.0 and abs(error) > GROWTH * abs(leg[FIRST])
                    and abs(error) > 1.2 * abs(leg[BEFORE])):
                grown = max(grown, abs(error) / (bend + 0.5 * leg[OUTLYING] ** 2))
        leg[BEFORE] = error
        if leg[OUTLYING] <= max(TIMEOUT, 1.01 * dt):
            outliers |= 1 << i
            plausible[i] -= error
        else:
            accept(history, leg, i, error)
    if grown > 0.0:
        restart(legs, numbers)
        for i in range(6):
            if outliers >> i & 1:
                plausible[i] += residuals[i]
        outliers = earlier = 0
    return outliers | earlier, grown


@kernel
def misled(history, legs, numbers, time, lengths, i):
    """
    Return whether the previous reading was the outlier, and correct it if so.

    After a gap the gate can be too wide to see one. The outlier is the one of the two that takes
    the greater acceleration from the readings before both.
    """
    if numbers[COUNT] < 3.0:
        return False
    ago, span = time - history[1, 0], history[1, 0] - history[2, 0]
    rate = (history[1, i + 1] - history[2, i + 1]) / span
    error = lengths[i] - history[1, i + 1] - rate * ago
    if BLAME * abs(error) > legs[i, PULL] * 0.5 * ago * (ago + span):
        return False
    share = (history[0, 0] - history[1, 0]) / ago
    history[0, i + 1] = history[1, i + 1] + share * (lengths[i] - history[1, i + 1])
    return True


@kernel
def accept(history, leg, i, error):
    """Go on from where an outlier has stayed; it is a step if it kept to one place."""
    for k in range(POINTS):
        history[k, i + 1] += error
    leg[OUTLYING] = 0.0
    if abs(error - leg[FIRST]) < 0.5 * abs(leg[FIRST]):
        total = leg[STEPPED] + error
        leg[STEPPED] = total if abs(total) > 0.5 * abs(error) else 0.0


@kernel
def standing(time, dt, lengths, legs, since, numbers, frozen_time, learns):
    """Return the legs, as bits, whose readings stand while the others move on."""
    frozen, same = 0, 0
    largest = 0.0
    for i in range(6):
        change = abs(lengths[i] - legs[i, RAW])
        if change == 0.0:
            same += 1
        elif learns and (legs[i, SMALLEST] == 0.0 or change < legs[i, SMALLEST]):
            legs[i, SMALLEST] = change
        largest = max(largest, legs[i, SMALLEST])
    numbers[SAME_SAMPLES] = numbers[SAME_SAMPLES] + 1.0 if same == 6 else 0.0
    for i in range(6):
        leg = legs[i]
        if lengths[i] != leg[RAW]:
            leg[REPEATED] = leg[FROZEN] = 0.0
        else:
            if leg[REPEATED] == 0.0:
                for j in range(6):
                    since[0, i, j] = legs[j, RAW]
            leg[REPEATED] += dt
        band = BAND * leg[SIGMA] + 2.0 * leg[STEP]
        if not abs(lengths[i] - leg[ANCHOR]) <= 0.5 * band:
            leg[ANCHOR], leg[ANCHOR_TIME], leg[ANCHORED] = lengths[i], time, 0.0
            for j in range(6):
                since[1, i, j] = lengths[j]
        leg[ANCHORED] += 1.0
        if not frozen_time > 0.0:
            continue
        step = leg[SMALLEST] if leg[SMALLEST] > 0.0 else largest
        amplitude = max(lengths[i], leg[AMPLITUDE])
        if leg[REPEATED] >= frozen_time and moved(lengths, since[0, i], i) > (
                MARGIN * leg[SIGMA] + DWELL * (step * amplitude) ** 0.5):
            leg[FROZEN] = 1.0
        stuck = leg[ANCHORED] >= WITHIN and time - leg[ANCHOR_TIME] >= frozen_time and (
            moved(lengths, since[1, i], i) > (
                MARGIN * leg[SIGMA] + DWELL * (band * amplitude) ** 0.5))
        if leg[FROZEN] > 0.0 or stuck:
            frozen |= 1 << i
    return frozen


@kernel
def moved(lengths, since, leg):
    """Return the median of how far the five other legs have moved, m."""
    for i in range(6):
        if i == leg:
            continue
        change, more, less = abs(lengths[i] - since[i]), 0, 0
        for j in range(6):
            if j != leg and j != i:
                other = abs(lengths[j] - since[j])
                more += other > change or (other == change and j > i)
                less += other < change or (other == change and j < i)
        if more == less:
            return change
    return 0.0
