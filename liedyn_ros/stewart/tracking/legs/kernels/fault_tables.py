# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Layout of the buffer that the detectors of leg faults share: columns, settings, bits of findings.

m stands for the unit in which all legs are judged (StewartGeometry.reading_unit).
"""

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.kinds import CUBE, MATRIX, VECTOR
from liedyn_ros.stewart.platform.kernels.leg_rows import MAX_LEGS

HISTORY_SAMPLES = 12  # readings kept of each leg, newest first: time (s) and reading (m)

# Platform. COUNT: of samples. LAST: s, time of the last one. SAME_SAMPLES: samples in turn in
# which all readings repeat. HELD_SAMPLES: of these, how many a slow bus explains. CAUTION: by
# which deviations are multiplied in the thresholds of the first samples. UNCONFIRMED: whether the
# readings have not yet confirmed the noise. MOVED: whether the platform has moved. SHARED: ratio
# of the squared errors of all legs to what is usual, LATELY: its mean lately.
(COUNT, LAST, SAME_SAMPLES, HELD_SAMPLES, CAUTION, UNCONFIRMED, MOVED, SHARED, LATELY,
 NUMBERS) = range(10)
# Leg. SIGMA, STEP: deviation and resolution (m) of its threshold.
# OUTLYING: s, for which it has been an outlier; FIRST, BEFORE: its first and last error as one.
# STEPPED: m, the step that stayed. REPEATED: s, for which the reading has repeated. SMALLEST:
# the smallest change seen. FROZEN: m, by which a frozen leg has to move, else 0. RAW: the last
# reading. ANCHOR, ANCHOR_TIME, ANCHORED: the reading near which it stays, since when (s), samples.
# AMPLITUDE: m, of its motion. LAST_ACCELERATION: m/s^2, which would explain the last reading.
# ERROR: m, reading less prediction; THRESHOLD: m, above which it makes an outlier. POINTS: of its
# history. WIDTH: deviations, BEND: s^2, of the threshold. FOLLOWED: m, its reading or, where that
# is held, the prediction. CHANGED: s, when the reading last changed. HOLD: s, for which a bus
# holds it at most; HOLDS: how often it did so; RUN: samples for which it is held.
# ENDED: s, of the run that the last change ended, 0 if it ended none. CHANGES: changes
# in turn without a hold. INTERVAL: s, mean time between changes. STEADY: whether it has kept to
# one place as an outlier. NOISY: readings to come that are not replaced, since the ones before are
# no base for a prediction. QUIET: readings since the last outlier. USUAL: m^2, mean square of its
# errors lately. UNUSUAL: readings since an error that was none of them. LINE: how many of them
# the present prediction is from. KEPT: whether the reading is an outlier that is not replaced.
# LARGEST_UNUSUAL: m, the largest unusual error of its line. TAILS: errors lately that were about
# as large as their threshold, BURST: of the last ones. OUTLIED: share of samples in which it began
# to be an outlier.
(SIGMA, STEP, OUTLYING, FIRST, BEFORE, STEPPED, REPEATED, SMALLEST, FROZEN, RAW, ANCHOR,
 ANCHOR_TIME, ANCHORED, AMPLITUDE, LAST_ACCELERATION, ERROR, THRESHOLD, POINTS, WIDTH, BEND,
 FOLLOWED, CHANGED,
 HOLD, HOLDS, RUN, ENDED, CHANGES, INTERVAL, STEADY, NOISY, QUIET, USUAL, UNUSUAL,
 LINE, KEPT, LARGEST_UNUSUAL, TAILS, BURST, OUTLIED, LEG_WIDTH) = range(40)
# Settings. FACTOR: deviations of a threshold. BOUND: m/s^2, acceleration. FROZEN_TIME: s.
# REPETITIONS: of all readings that are no fault. LEARNS: whether SMALLEST is learnt. LEAST,
# SHARE, READ_STEP: of noise.write_thresholds. UNDERSTATED: whether the given noise is too small.
# CONFIRMED: whether the readings confirm the noise.
(FACTOR, BOUND, FROZEN_TIME, REPETITIONS, LEARNS, LEAST, SHARE, READ_STEP, UNDERSTATED,
 CONFIRMED, SETTINGS) = range(11)
# All samples. OUTLIERS: share of samples with outliers that the legs share. WRONG: whether they
# are too many. BITS: outliers of the last sample. GROWN: m/s^2, acceleration that would explain
# it, else 0. JUMPS: share of samples in which all jumped.
OUTLIERS, WRONG, BITS, GROWN, JUMPS, TALLY = range(6)
# Findings, as bits of a whole number: the first of a leg each, then single ones. DUE: whether the
# estimates of noise have to be brought up to date.
OUTLYING_LEGS, STEPPED_LEGS, FROZEN_LEGS, HELD_LEGS = 0, MAX_LEGS, 2 * MAX_LEGS, 3 * MAX_LEGS
JUMPED, STALE, DOUBTED, LEARNT, DUE = (4 * MAX_LEGS + k for k in range(5))
FAULTY = (1 << HELD_LEGS) - 1 | 1 << JUMPED | 1 << DOUBTED  # bits of faults

FAULTS = Bundle(
    'LegFaults',
    history=CUBE, legs=MATRIX, since=CUBE,  # (n, HISTORY_SAMPLES, 2), (n, LEG_WIDTH), (2, n, n)
    numbers=VECTOR, tally=VECTOR, settings=VECTOR)
