# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
One sample of leg readings: thresholds, faults, noise, motion, in one call.

The equations are those of leg_faults (14.16, 14.21), frozen_legs (14.22), noise (14.13 to 14.15,
14.23) and motion_bank (14.24, 14.25).
"""

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import NUMBER, VECTOR, WHOLE
from liedyn_ros.stewart.tracking.legs.kernels import noise as noises, noise_tables as tables
from liedyn_ros.stewart.tracking.legs.kernels.fault_tables import (
    ACCELERATION_BOUND, CAUTION, CAUTION_SHARE, DOUBTED, DUE, FACTOR, FAULTS, FOLLOWED_READING,
    FROZEN_LEGS, FROZEN_TIME, HELD_LEGS, HOLD_COUNT, HOLD_TIME, JUMP_SHARE, JUMPED, LAST_TIME,
    LASTING_STEP, LEARNS_CHANGE, LEARNT, LEAST_DEVIATION, MOVED, NEEDED_ACCELERATION,
    NOISE_CONFIRMED, NOISE_UNDERSTATED, OUTLIER_BITS, OUTLIER_SHARE, OUTLYING_LEGS,
    READ_RESOLUTION, REPETITIONS, SAME_SAMPLES, SAMPLE_COUNT, SHARED_OUTLIERS, STALE, STEPPED_LEGS,
    TOO_MANY_OUTLIERS, UNCONFIRMED)
from liedyn_ros.stewart.tracking.legs.kernels.frozen_legs import all_legs
from liedyn_ros.stewart.tracking.legs.kernels.held_readings import find_fresh_readings, MIN_HOLDS
from liedyn_ros.stewart.tracking.legs.kernels.leg_faults import (
    detect_leg_faults, forget_leg_motion, PREDICTION_GAP, shared_sum)
from liedyn_ros.stewart.tracking.legs.kernels.motion_bank import FILTER, filter_motion

OUTLIER_SAMPLES = 300  # samples over which the share of outliers is taken
# Share that makes the premise wrong, and right again
MAX_OUTLIER_SHARE, NORMAL_OUTLIER_SHARE = 0.05, 0.02

LEG_MONITOR = Bundle(
    'LegMonitor', faults=FAULTS, noise=tables.NOISE, motion=FILTER,
    relative=VECTOR, readings=VECTOR)  # (n,), (n,)
leg_monitor_of = LEG_MONITOR.view


@kernel
def examine_readings(
        buffer: VECTOR, seconds: NUMBER, stamp_ns: WHOLE, lengths: VECTOR, noise: NUMBER,
        jitter: NUMBER, plausible: VECTOR, moved: VECTOR):
    """
    Judge readings (n,), m or rad, and follow the motion of the legs.

    relative: converts a reading to the unit in which all are judged. seconds: since the first
    sample; stamp_ns: its time. noise: m, jitter: s, of filter_motion. Writes plausible readings
    (n,) and the output of filter_motion. Returns the findings as bits, and the period (s).
    """
    monitor = leg_monitor_of(buffer)
    relative, readings, legs = monitor.relative, monitor.readings, monitor.faults.legs
    for i in range(len(legs)):
        readings[i] = lengths[i] * relative[i]
    found = judge_readings(monitor.faults, monitor.noise, seconds, readings, plausible)
    for i in range(len(legs)):
        plausible[i] /= relative[i]
        # An outlier is no motion, replaced or not; nor is a held reading.
        readings[i] = legs[i, FOLLOWED_READING] / relative[i]
    every = all_legs(legs)
    stale = found >> HELD_LEGS & every == every
    return found, filter_motion(monitor.motion, stamp_ns, readings, noise, jitter, stale, moved)


@kernel
def judge_readings(faults, noise, time, readings, plausible):
    """
    Detect the faults of readings, then update the estimates of their noise.

    Readings that all repeat are stale: they are no sample of the noise. Where outliers are too
    many, none is reported or replaced, and no leg counts as stepped. Returns findings as bits.
    """
    settings, numbers, legs = faults.settings, faults.numbers, faults.legs
    dt = time - numbers[LAST_TIME]
    if numbers[SAMPLE_COUNT] > 0.0 and not 0.0 < dt <= PREDICTION_GAP:
        forget_leg_motion(faults.history, legs, numbers, 0.0)
    noises.write_thresholds(noise.legs, noise.numbers, settings[LEAST_DEVIATION],
                            settings[CAUTION_SHARE], settings[READ_RESOLUTION], legs)
    numbers[CAUTION] = max(settings[CAUTION_SHARE], 1.0)
    numbers[UNCONFIRMED] = settings[NOISE_CONFIRMED] == 0.0
    fresh = find_fresh_readings(
        time, readings, noise.legs, faults.history, legs, numbers, settings[ACCELERATION_BOUND])
    followed = fresh if numbers[MOVED] > 0.0 else all_legs(legs)
    held = note_held(noise, legs, fresh)
    outliers, stepped, frozen, jumped, grown = detect_leg_faults(
        time, dt, readings, followed, faults.history, legs, faults.since, numbers,
        (settings[FACTOR], settings[ACCELERATION_BOUND],
         (settings[FROZEN_TIME], settings[REPETITIONS], settings[LEARNS_CHANGE] > 0.0)), plausible)
    if outliers != 0 or jumped:
        noises.note_outlier(noise.numbers)
    stale = frozen == all_legs(legs) and numbers[SAME_SAMPLES] > 0.0
    if not stale:
        noises.estimate_noise(noise, time, readings, fresh)
        noise.numbers[tables.SINCE] += 1.0
    due = noise.numbers[tables.SINCE] >= noises.SETTLE_EVERY
    wrong = count_outliers(faults.tally, legs, outliers, jumped, grown)
    learnt = grown > 0.0 and (wrong or not jumped)
    if wrong:
        outliers, stepped, jumped = 0, 0, False
        for i in range(len(legs)):
            legs[i, LASTING_STEP], plausible[i] = 0.0, readings[i]
            if fresh >> i & 1:
                legs[i, FOLLOWED_READING] = readings[i]
    doubted = wrong or settings[NOISE_UNDERSTATED] > 0.0
    return (outliers << OUTLYING_LEGS | stepped << STEPPED_LEGS | frozen << FROZEN_LEGS
            | jumped << JUMPED | stale << STALE | doubted << DOUBTED | learnt << LEARNT
            | due << DUE | held << HELD_LEGS)


@kernel
def note_held(noise, legs, fresh):
    """Note whose readings a bus holds at times; return those that it holds now, as bits."""
    held = 0
    for i in range(len(legs)):
        noise.legs[i, tables.HELD] = legs[i, HOLD_COUNT] >= MIN_HOLDS and legs[i, HOLD_TIME] > 0.0
        # A leg whose hold is not known yet may as well stand: it is no held reading.
        held |= (noise.legs[i, tables.HELD] > 0.0 and not fresh >> i & 1) << i
    return held


@kernel
def count_outliers(tally, legs, outliers, jumped, grown):
    """Count a sample's new outliers; return whether the legs share too many of them."""
    tally[JUMP_SHARE] += ((jumped or grown > 0.0) - tally[JUMP_SHARE]) / OUTLIER_SAMPLES
    for i in range(len(legs)):
        new = outliers >> i & 1 and not int(tally[OUTLIER_BITS]) >> i & 1
        legs[i, OUTLIER_SHARE] += (new - legs[i, OUTLIER_SHARE]) / OUTLIER_SAMPLES
    tally[OUTLIER_BITS], tally[NEEDED_ACCELERATION] = outliers, grown
    tally[SHARED_OUTLIERS] = tally[JUMP_SHARE] + shared_sum(legs, OUTLIER_SHARE)
    wrong = tally[SHARED_OUTLIERS] > (
        NORMAL_OUTLIER_SHARE if tally[TOO_MANY_OUTLIERS] > 0.0 else MAX_OUTLIER_SHARE)
    tally[TOO_MANY_OUTLIERS] = wrong
    return wrong
