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

# Platform. SAMPLE_COUNT: of samples. LAST_TIME: s, time of the last one. SAME_SAMPLES: samples in
# turn in which all readings repeat. HELD_SAMPLES: of these, how many a slow bus explains. CAUTION:
# by which deviations are multiplied in the thresholds of the first samples. UNCONFIRMED: whether
# the readings have not yet confirmed the noise. MOVED: whether the platform has moved.
# COMMON_ERROR: ratio of the squared errors of all legs to what is usual, MEAN_COMMON: its mean
# lately.
(SAMPLE_COUNT, LAST_TIME, SAME_SAMPLES, HELD_SAMPLES, CAUTION, UNCONFIRMED, MOVED, COMMON_ERROR,
 MEAN_COMMON, PLATFORM_WIDTH) = range(10)
# Leg. SIGMA, RESOLUTION: deviation and resolution (m) of its threshold. OUTLIER_TIME: s, for which
# it has been an outlier; FIRST_ERROR, LAST_ERROR: its first and last error as one. LASTING_STEP:
# m, the step that stayed. REPEAT_TIME: s, for which the reading has repeated. SMALLEST_CHANGE: the
# smallest change seen. FREE_MOVE: m, by which a frozen leg has to move, else 0. LAST_READING: the
# last reading. ANCHOR, ANCHOR_TIME, ANCHOR_SAMPLES: the reading near which it stays, since when
# (s), samples. AMPLITUDE: m, of its motion. LAST_ACCELERATION: m/s^2, which would explain the last
# reading. ERROR: m, reading less prediction; THRESHOLD: m, above which it makes an outlier.
# HISTORY: readings kept of it. DEVIATIONS of its noise, and s^2 of acceleration, SPAN_SQUARED,
# make its threshold.
# FOLLOWED_READING: m, its reading or, where that is held, the prediction. CHANGE_TIME: s, when the
# reading last changed. HOLD_TIME: s, for which a bus holds it at most; HOLD_COUNT: how often it
# did so; HELD_RUN: samples for which it is held. ENDED_RUN: s, of the run that the last change
# ended, 0 if it ended none. CHANGE_COUNT: changes in turn without a hold. CHANGE_INTERVAL: s, mean
# time between changes. STEADY: whether it has kept to one place as an outlier. UNREPLACED:
# readings to come that are not replaced, since the ones before are no base for a prediction.
# SINCE_OUTLIER: readings since the last outlier. USUAL_SQUARE: m^2, variance of noise with the
# median of its errors lately. SINCE_UNUSUAL: readings since an unusual error. LINE_COUNT: how many
# of them the present prediction is from. KEPT_OUTLIER: whether the reading is an outlier that is
# not replaced. LARGEST_UNUSUAL: m, the largest unusual error of its line. TAIL_COUNT: errors
# lately that were about as large as their threshold, BURST_COUNT: of the last ones. OUTLIER_SHARE:
# share of samples in which it began to be an outlier.
(SIGMA, RESOLUTION, OUTLIER_TIME, FIRST_ERROR, LAST_ERROR, LASTING_STEP, REPEAT_TIME,
 SMALLEST_CHANGE, FREE_MOVE, LAST_READING, ANCHOR, ANCHOR_TIME, ANCHOR_SAMPLES, AMPLITUDE,
 LAST_ACCELERATION, ERROR, THRESHOLD, HISTORY, DEVIATIONS, SPAN_SQUARED, FOLLOWED_READING,
 CHANGE_TIME, HOLD_TIME, HOLD_COUNT, HELD_RUN, ENDED_RUN, CHANGE_COUNT, CHANGE_INTERVAL, STEADY,
 UNREPLACED, SINCE_OUTLIER, USUAL_SQUARE, SINCE_UNUSUAL, LINE_COUNT, KEPT_OUTLIER, LARGEST_UNUSUAL,
 TAIL_COUNT, BURST_COUNT, OUTLIER_SHARE, FAULT_LEG_WIDTH) = range(40)
# Settings. FACTOR: deviations of a threshold. ACCELERATION_BOUND: m/s^2, acceleration.
# FROZEN_TIME: s. REPETITIONS: of all readings that are no fault. LEARNS_CHANGE: whether
# SMALLEST_CHANGE is learnt. LEAST_DEVIATION, CAUTION_SHARE, READ_RESOLUTION: of
# noise.write_thresholds. NOISE_UNDERSTATED: whether the given noise is too small. NOISE_CONFIRMED:
# whether the readings confirm the noise.
(FACTOR, ACCELERATION_BOUND, FROZEN_TIME, REPETITIONS, LEARNS_CHANGE, LEAST_DEVIATION,
 CAUTION_SHARE, READ_RESOLUTION, NOISE_UNDERSTATED, NOISE_CONFIRMED, SETTINGS_WIDTH) = range(11)
# All samples. SHARED_OUTLIERS: share of samples with outliers that the legs share.
# TOO_MANY_OUTLIERS: whether they are too many. OUTLIER_BITS: outliers of the last sample.
# NEEDED_ACCELERATION: m/s^2, acceleration that would explain it, else 0. JUMP_SHARE: share of
# samples in which all jumped.
(SHARED_OUTLIERS, TOO_MANY_OUTLIERS, OUTLIER_BITS, NEEDED_ACCELERATION, JUMP_SHARE,
 TALLY_WIDTH) = range(6)
# Findings, as bits of a whole number: the first of a leg each, then single ones. DUE: whether the
# estimates of noise have to be brought up to date.
OUTLYING_LEGS, STEPPED_LEGS, FROZEN_LEGS, HELD_LEGS = 0, MAX_LEGS, 2 * MAX_LEGS, 3 * MAX_LEGS
JUMPED, STALE, DOUBTED, LEARNT, DUE = (4 * MAX_LEGS + k for k in range(5))
FAULTY = (1 << HELD_LEGS) - 1 | 1 << JUMPED | 1 << DOUBTED  # bits of faults

FAULTS = Bundle(
    'LegFaults',
    history=CUBE, legs=MATRIX,  # (n, HISTORY_SAMPLES, 2), (n, FAULT_LEG_WIDTH)
    since=CUBE,  # (2, n, n)
    numbers=VECTOR, tally=VECTOR, settings=VECTOR)
