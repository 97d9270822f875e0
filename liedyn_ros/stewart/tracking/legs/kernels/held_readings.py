# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Fresh readings (14.22): a bus slower than the topic repeats each until its next one.

A reading that repeats is held, by the bus, or the leg stands, or its sensor is frozen. A held one
ends in a change larger than a step of the encoder, and lasts about as long each time. A reading
counts as held for at most 1.5 times the longest of such times. After that its leg stands. Where
every reading so far has repeated, as on a bus of a few Hz, the first one already tells how long.

A platform whose readings repeat from the first sample on stands. A leg that then jumps while the
others stay is at fault; any other change ends the stand.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.tracking.legs.kernels import noise_tables as tables
from liedyn_ros.stewart.tracking.legs.kernels.fault_tables import (
    CHANGE_COUNT, CHANGE_INTERVAL, CHANGE_TIME, ENDED_RUN, HELD_RUN, HELD_SAMPLES, HISTORY,
    HOLD_COUNT, HOLD_TIME, LAST_READING, LAST_TIME, MOVED, OUTLIER_TIME, SAMPLE_COUNT)

ASSUMED_HOLD = 0.1  # s, of a leg until its own is known
MAX_HOLD = 0.25  # s; a reading that repeats for longer is no bus, unless two in turn are alike
MAX_SLOW_HOLD, ALIKE_HOLDS = 5.0, 1.5  # s, of such a bus; greatest ratio of the two
MIN_HOLDS = 3.0  # holds, from which on their time is known
HOLD_MARGIN = 1.5  # times the longest hold, for which a reading may repeat
HOLD_DECAY = 0.98  # of the longest hold with each new one
INTERVAL_SHARE = 0.05  # of a new interval in their mean
# Changes in turn without a hold: there is none, there is no more
NO_HOLD, ENDED_HOLD = 40.0, 5000.0
MAX_HELD_STEPS = 2.5  # steps of the encoder: a larger change ends a hold
MIN_STEP_HITS = 2.0  # changes by multiples of a step, from which on the step is known
MAX_OUTLIERS = 2  # legs; more at once are a jump of all
# s, in which a leg with the greatest acceleration becomes too fast for any: 1 m/s
RUNAWAY_TIME = 0.04


@kernel
def longest_hold(leg):
    """Return for how long (s) a bus may hold the reading of a leg, 0 where it never does."""
    return leg[HOLD_TIME] if leg[HOLD_COUNT] >= MIN_HOLDS else max(leg[HOLD_TIME], ASSUMED_HOLD)


@kernel
def find_fresh_readings(time, lengths, noise, history, legs, numbers, bound):
    """
    Return the legs whose reading (n,), m, of a time (s) is not held, as bits.

    noise: (n, noise.LEG), which has the steps of the encoders. history, bound: of
    detect_leg_faults.
    """
    fresh, longest, dt = 0, 0.0, time - numbers[LAST_TIME]
    if numbers[SAMPLE_COUNT] > 0.0 and numbers[MOVED] == 0.0 and not are_still(
            dt, lengths, legs, bound):
        end_standstill(history, legs, numbers)
    for i in range(len(legs)):
        leg = legs[i]
        if numbers[SAMPLE_COUNT] == 0.0:
            leg[CHANGE_TIME], leg[HELD_RUN] = time, 0.0
            fresh |= 1 << i
            continue
        if lengths[i] != leg[LAST_READING]:
            fresh |= 1 << i
            if numbers[MOVED] == 0.0:
                continue
            step = noise[i, tables.STEP] if noise[i, tables.STEP_HITS] >= MIN_STEP_HITS else 0.0
            note_change(leg, time, abs(lengths[i] - leg[LAST_READING]), step)
            continue
        leg[HELD_RUN] += 1.0
        hold = HOLD_MARGIN * longest_hold(leg)
        longest = max(longest, hold)
        if time - leg[CHANGE_TIME] > hold:
            fresh |= 1 << i
    numbers[LAST_TIME] = time
    numbers[HELD_SAMPLES] = longest / dt if numbers[SAMPLE_COUNT] > 0.0 else 0.0
    return fresh


@kernel
def note_change(leg, time, change, step):
    """Note that the reading of a leg changes, by so much (m), at a time (s). step: m."""
    interval = time - leg[CHANGE_TIME]
    bus = interval <= MAX_HOLD or is_slow_hold(interval, leg[ENDED_RUN])
    if leg[HELD_RUN] > 0.0 and change < MAX_HELD_STEPS * step:
        leg[CHANGE_COUNT] += 1.0
        if leg[HOLD_COUNT] < MIN_HOLDS or leg[CHANGE_COUNT] >= NO_HOLD:
            leg[HOLD_TIME] = 0.0
            leg[HOLD_COUNT] = MIN_HOLDS if leg[CHANGE_COUNT] >= NO_HOLD else 0.0
    elif leg[HELD_RUN] > 0.0:
        if bus:
            before = HOLD_DECAY * leg[HOLD_TIME] if leg[HOLD_COUNT] > 0.0 else 0.0
            leg[HOLD_TIME], leg[CHANGE_COUNT] = max(before, interval), 0.0
            leg[HOLD_COUNT] += 1.0
        elif leg[HOLD_COUNT] + leg[CHANGE_COUNT] == 0.0 and interval <= MAX_SLOW_HOLD:
            # Its first reading: what it did meanwhile is not known.
            leg[HOLD_TIME], leg[HISTORY] = interval, 0.0
    else:
        leg[CHANGE_COUNT] += 1.0
        if leg[HOLD_COUNT] < MIN_HOLDS:
            leg[HOLD_TIME] = min(leg[HOLD_TIME], ASSUMED_HOLD)
        if leg[CHANGE_COUNT] >= (
                ENDED_HOLD if leg[HOLD_COUNT] > 0.0 and leg[HOLD_TIME] > 0.0 else NO_HOLD):
            leg[HOLD_TIME], leg[HOLD_COUNT] = 0.0, MIN_HOLDS
    if bus:
        # The first hold may be a stand: the mean begins again when holds are known.
        share = max(INTERVAL_SHARE, 1.0 / max(leg[HOLD_COUNT] - MIN_HOLDS, 1.0))
        leg[CHANGE_INTERVAL] += share * (interval - leg[CHANGE_INTERVAL])
    leg[CHANGE_TIME], leg[ENDED_RUN], leg[HELD_RUN] = time, interval * (leg[HELD_RUN] > 0.0), 0.0


@kernel
def is_slow_hold(interval, before):
    """Return whether a bus of a few Hz held a reading for a time (s), as the time before."""
    return interval <= MAX_SLOW_HOLD and before > 0.0 and (
        max(interval, before) <= ALIKE_HOLDS * min(interval, before))


@kernel
def are_still(dt, lengths, legs, bound):
    """
    Return whether readings (n,), m, stay as they are, but for one or two that jump.

    dt: s, since the last ones. bound: m/s^2, the greatest acceleration of a leg.
    """
    jumps = 0
    for i in range(len(legs)):
        change = abs(lengths[i] - legs[i, LAST_READING])
        if 0.0 < change <= RUNAWAY_TIME * bound * dt:
            return False
        jumps += change > 0.0
    return jumps <= MAX_OUTLIERS


@kernel
def end_standstill(history, legs, numbers):
    """Note that the legs move: what has repeated until now may have been held by a bus."""
    numbers[MOVED] = 1.0
    for i in range(len(legs)):
        leg = legs[i]
        history[i, 0, 0], history[i, 0, 1] = leg[CHANGE_TIME], leg[LAST_READING]
        leg[HISTORY], leg[OUTLIER_TIME] = min(leg[HISTORY], 1.0), 0.0
