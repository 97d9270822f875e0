# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The arrays of the noise estimate: its numbers of the platform and of each leg by name."""

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.kinds import CUBE, MATRIX, VECTOR

WINDOW_SAMPLES = 11  # fresh readings of a leg in its window, newest first: time (s), reading (m)
DIFFERENCE_ORDERS = 9  # of differences: 2 to 10

# Numbers of the whole platform. SINCE: samples since the estimates were brought up to date.
# CROSSED: samples in the mean square across the rates. SQUARED_SPEED: m^2/s^2, mean square of a
# rate.
# TIMED: mean of the legs' TIMING.
(READING_COUNT, TAKEN, PERIOD, SPREAD, VARIANCE, IDENTIFIED, MEASURED_ACCELERATION, ACROSS, JITTER,
 NOISE_EVIDENCE, JITTER_SUM, JITTER_WEIGHT, QUIET, COARSEST, OFF_GRID, MEAN_GAP, GAPS, RARE, SINCE,
 CROSSED, SQUARED_SPEED, TIMED, NOISE_WIDTH) = range(23)
# Numbers of a leg.
# FILLED: readings in its window; ALIGNED: of these, how many came with readings of leg 0, all in
# turn. READ: differences taken so far. HELD: whether a slow bus holds its readings. TIMING: m^2,
# at most the variance of its readings because they are up to a period older than their stamp then.
# GIVEN: the share of its given noise in that of the noisiest leg, 1 where they are alike.
# RECENT: m^2, its variance by the last differences alone.
(SIGMA, LENGTH_RATE, STEP, STEP_ERROR, STEP_COUNT, STEP_HITS, REPEATS, LAST, FILLED, ALIGNED,
 READ, HELD, TIMING, GIVEN, RECENT, NOISE_LEG_WIDTH) = range(16)

NOISE = Bundle(
    'LegNoise',
    stamps=VECTOR, window=CUBE,  # (WINDOW_SAMPLES,), newest first, s; (n, WINDOW_SAMPLES, 2)
    squares=MATRIX, medians=MATRIX,  # (DIFFERENCE_ORDERS, n) both
    legs=MATRIX, weights=MATRIX,  # (n, NOISE_LEG_WIDTH), (DIFFERENCE_ORDERS, WINDOW_SAMPLES)
    numbers=VECTOR, work=VECTOR)  # (NOISE_WIDTH,), (WINDOW_SAMPLES + n,)
