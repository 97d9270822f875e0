# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Usual errors of predictions: of each leg, and of all legs in one sample.

An outlier is an error of one leg. Noise that grows in several legs shows in all of them at once.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.tracking.legs.kernels.fault_tables import (
    ERROR, LARGEST_UNUSUAL, LATELY, LINE, OUTLYING, SHARED, SIGMA, THRESHOLD, UNUSUAL, USUAL,
    WIDTH)

FEW_ERRORS = 50.0  # in a mean square
UNUSUAL_RATIO = 3.0  # of an error to the root of the mean square, above which it is unusual
FAR = 20.0  # times the largest unusual error of a line, which cannot have led a prediction so far
SURE_NOISE = 0.25  # of the noise of a threshold, which may be an upper bound, 3 times too large
FEW_SAMPLES = 4.0  # in the mean of what the legs share


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
        usual, suspected = usual_square(leg, factor), leg[OUTLYING] > 0.0 or (
            square > leg[THRESHOLD] * leg[THRESHOLD])
        if fresh >> i & 1 and usual > 0.0 and leg[THRESHOLD] < math.inf and (
                jumped or not suspected):
            total, count = total + square / usual, count + 1
    if count > 0:
        now = total / count
        numbers[LATELY] += (now - numbers[LATELY]) / FEW_SAMPLES
        numbers[SHARED] = max(now, numbers[LATELY])


@kernel
def usual_square(leg, factor):
    """Return the mean square (m^2) of a leg's errors lately, at least that of sure noise."""
    noise = SURE_NOISE * leg[WIDTH] / factor * leg[SIGMA]
    return max(leg[USUAL], noise * noise)


@kernel
def note_error(leg, factor):
    """Note whether an error is unusual: predictions from such a reading are doubtful."""
    error = abs(leg[ERROR])
    square, limit = error * error, UNUSUAL_RATIO * UNUSUAL_RATIO * leg[USUAL]
    leg[UNUSUAL] += 1.0
    if square > UNUSUAL_RATIO * UNUSUAL_RATIO * usual_square(leg, factor):
        before = leg[LARGEST_UNUSUAL] if leg[UNUSUAL] < leg[LINE] else 0.0
        leg[LARGEST_UNUSUAL] = max(error, before)
        leg[UNUSUAL] = 0.0
    leg[USUAL] += ((min(square, limit) if limit > 0.0 else square) - leg[USUAL]) / FEW_ERRORS


@kernel
def predicted_from_unusual(leg):
    """Return whether a leg's prediction is from an unusual reading, and its error as large."""
    return leg[UNUSUAL] < leg[LINE] and abs(leg[ERROR]) < FAR * leg[LARGEST_UNUSUAL]
