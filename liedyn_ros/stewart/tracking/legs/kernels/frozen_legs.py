# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Frozen legs: a reading stays in place while the other legs move on.

A leg that reverses in a swing of amplitude A stays within q of its reading. Meanwhile a leg with
the same swing moves by 2 sqrt(2 q A). So a leg counts as frozen once the median of the others has
moved by DWELL sqrt(q A) and the noise (docs/stewart.md has the reasons). All are frozen where
they repeat more often than their noise allows (14.22).
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.tracking.legs.kernels.fault_tables import (
    AMPLITUDE, ANCHOR, ANCHOR_SAMPLES, ANCHOR_TIME, FREE_MOVE, HELD_SAMPLES, HISTORY, LAST_READING,
    LASTING_STEP, OUTLIER_TIME, REPEAT_TIME, RESOLUTION, SAME_SAMPLES, SIGMA, SMALLEST_CHANGE)
from liedyn_ros.stewart.tracking.legs.kernels.held_readings import longest_hold

BAND_DEVIATIONS = 3.0  # deviations of noise: a leg with all its noise leaves such a band soon
BAND_SAMPLES = 40.0  # samples that a leg with little noise left stays within it
MOTION_DEVIATIONS = 6.0  # deviations of noise that are no motion; a frozen leg has moved beyond it
# A is less than the leg's length, but the leg may swing less than the others: 8 > 2 sqrt(2).
DWELL = 8.0
MIN_MOVE = 1e-12  # m, by which a frozen leg moves at least: rounding
HOLDS_FROZEN = 2.0  # times the longest hold of a bus, for which a frozen reading repeats


@kernel
def all_legs(legs):
    """Return the bits of all legs."""
    return (1 << len(legs)) - 1


@kernel
def detect_frozen_legs(time, dt, lengths, legs, since, numbers, settings):
    """
    Return the frozen legs as bits.

    time: s; dt: s, since the last sample. since: (2, n, n), the readings when a leg began to
    repeat, and when it came to its anchor. settings: FROZEN_TIME, REPETITIONS, LEARNS.
    """
    frozen_time, repetitions, learns = settings
    largest, frozen = note_changes(lengths, legs, numbers, learns), 0
    for i in range(len(legs)):
        note_place(time, dt, lengths, legs, since, i)
        if frozen_time > 0.0 and is_frozen(time, lengths, legs[i], since, i, largest, frozen_time):
            frozen |= 1 << i
    allowed = repetitions + numbers[HELD_SAMPLES]
    return all_legs(legs) if numbers[SAME_SAMPLES] >= allowed else frozen  # (14.22)


@kernel
def note_changes(lengths, legs, numbers, learns):
    """Update SMALLEST_CHANGE and SAME_SAMPLES; return the largest change, m."""
    same, largest = 0, 0.0
    for i in range(len(legs)):
        change = abs(lengths[i] - legs[i, LAST_READING])
        if change == 0.0:
            same += 1
        elif learns and (legs[i, SMALLEST_CHANGE] == 0.0 or change < legs[i, SMALLEST_CHANGE]):
            legs[i, SMALLEST_CHANGE] = change
        largest = max(largest, legs[i, SMALLEST_CHANGE])
    numbers[SAME_SAMPLES] = numbers[SAME_SAMPLES] + 1.0 if same == len(legs) else 0.0
    return largest


@kernel
def note_place(time, dt, lengths, legs, since, i):
    """Update how long leg i has repeated its reading, and how long it has stayed at its anchor."""
    leg = legs[i]
    if leg[FREE_MOVE] > 0.0 and not abs(lengths[i] - leg[ANCHOR]) <= leg[FREE_MOVE]:
        leg[FREE_MOVE], leg[ANCHOR] = 0.0, math.nan
        # It has moved on unseen: its frozen readings predict nothing, and it has not stepped.
        leg[HISTORY] = leg[OUTLIER_TIME] = leg[LASTING_STEP] = 0.0
    if lengths[i] != leg[LAST_READING]:
        leg[REPEAT_TIME] = 0.0
    else:
        if leg[REPEAT_TIME] == 0.0:
            for j in range(len(legs)):
                since[0, i, j] = legs[j, LAST_READING]
        leg[REPEAT_TIME] += dt
    if leg[FREE_MOVE] == 0.0 and not abs(lengths[i] - leg[ANCHOR]) <= 0.5 * noise_band(leg):
        leg[ANCHOR], leg[ANCHOR_TIME], leg[ANCHOR_SAMPLES] = lengths[i], time, 0.0
        for j in range(len(legs)):
            since[1, i, j] = lengths[j]
    if lengths[i] != leg[LAST_READING] or longest_hold(leg) == 0.0:  # held: no other one
        leg[ANCHOR_SAMPLES] += 1.0


@kernel
def noise_band(leg):
    """Return the width of the band about its anchor that a leg with all its noise leaves, m."""
    return BAND_DEVIATIONS * leg[SIGMA] + 2.0 * leg[RESOLUTION]


@kernel
def is_frozen(time, lengths, leg, since, i, largest, frozen_time):
    """
    Return whether leg i repeats, or stays at its anchor, while the others move too far.

    It stays frozen until it has moved: beyond the noise before, and two steps, from its anchor.
    """
    if leg[FREE_MOVE] > 0.0:
        return True
    step = leg[SMALLEST_CHANGE] if leg[SMALLEST_CHANGE] > 0.0 else largest
    amplitude = max(lengths[i], leg[AMPLITUDE])
    frozen_time = max(frozen_time, HOLDS_FROZEN * longest_hold(leg))
    repeats = leg[REPEAT_TIME] >= frozen_time and (
        median_motion_of_others(lengths, since[0, i], i) > (
            MOTION_DEVIATIONS * leg[SIGMA] + DWELL * (step * amplitude) ** 0.5))
    stays = leg[ANCHOR_SAMPLES] >= BAND_SAMPLES and time - leg[ANCHOR_TIME] >= frozen_time and (
        median_motion_of_others(lengths, since[1, i], i) > (
            MOTION_DEVIATIONS * leg[SIGMA] + DWELL * (noise_band(leg) * amplitude) ** 0.5))
    if repeats or stays:
        leg[FREE_MOVE] = max(MOTION_DEVIATIONS * leg[SIGMA] + 2.0 * leg[RESOLUTION], MIN_MOVE)
    if repeats:
        leg[ANCHOR] = lengths[i]
    return repeats or stays


@kernel
def median_motion_of_others(lengths, before, leg):
    """Return the median of the distances (m) of the other legs from readings before (n,)."""
    for i in range(len(lengths)):
        if i == leg:
            continue
        change, more, less = abs(lengths[i] - before[i]), 0, 0
        for j in range(len(lengths)):
            if j != leg and j != i:
                other = abs(lengths[j] - before[j])
                more += other > change or (other == change and j > i)
                less += other < change or (other == change and j < i)
        if more == less or more == less + 1:  # of two in the middle the smaller one
            return change
    return 0.0
