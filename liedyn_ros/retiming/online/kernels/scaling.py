# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A planned run as tables, and its speed scaled while it runs (15.11 to 15.14).

The plan is passed at the share u of its speed. A scaling goes over to a level of u by a cubic, and
holds it to the end of the plan. It is taken where all limits hold along all of it. So what was
taken keeps the limits for which it was taken.
"""

import math

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, NUMBER, VECTOR


# spans: each interval's first instant, and z, z', z'' and p there. times: the instants of the
# places, PLACES an interval, and states and rates their rows in parts of the limits.
PLAN = Bundle('Plan', spans=MATRIX, times=VECTOR, states=CUBE, rates=CUBE)
plan_of = PLAN.view
START_TIME, Z, DZ, DDZ, START_P = 0, 1, 2, 3, 4
PLACES, HALF = 11, 5  # of an interval, both ends included; steps to its middle
PLACE_TERMS = 12  # of the series of an instant's place


@kernel
def interval_at(plan, time):
    """Return the interval of an instant of the plan (15.13)."""
    spans = plan_of(plan).spans
    low, high = 0, spans.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if spans[middle, START_TIME] <= time:
            low = middle
        else:
            high = middle
    return low


@kernel
def place_in_interval(plan, interval, time):
    """Return p less that of the interval, and z, z': exact, as p'' is linear in p (15.13)."""
    spans = plan_of(plan).spans
    t, z = time - spans[interval, START_TIME], spans[interval, Z]
    dz, ddz = spans[interval, DZ], spans[interval, DDZ]
    x, odd, even = 0.5 * ddz * t * t, 1.0, 1.0
    for k in range(PLACE_TERMS, 0, -1):
        odd = 1.0 + x * odd / (2.0 * k * (2.0 * k + 1.0))
        even = 1.0 + x * even / ((2.0 * k + 1.0) * (2.0 * k + 2.0))
    p = t * (math.sqrt(z) * odd + 0.25 * dz * t * even)
    return p, z + p * (dz + 0.5 * ddz * p), dz + ddz * p


@inlined
def nearest_place(plan, interval, time):
    """Return the place of an interval that is nearest to an instant (15.14)."""
    times, first = plan_of(plan).times, PLACES * interval
    part = (time - times[first]) / (times[first + PLACES - 1] - times[first])
    return first + min(max(int((PLACES - 1) * part + 0.5), 0), PLACES - 1)


@inlined
def share_used(plan, raised, place, u, du, ddu, most, row):
    """Return the largest part of a limit, of those so far and at a place, and its row (15.11)."""
    view = plan_of(plan)
    states, rates, count = view.states, view.rates, view.states.shape[1]
    for k in range(count):
        used = raised[k] * (states[place, k, 0] * du + states[place, k, 3]
                            + u * (states[place, k, 2] + u * states[place, k, 1]))
        if used > most:
            most, row = used, k
    for k in range(rates.shape[1]):
        used = raised[count + k] * (
            rates[place, k, 0] * ddu + du * (rates[place, k, 3] + u * rates[place, k, 1])
            + u * (rates[place, k, 5] + u * (rates[place, k, 4] + u * rates[place, k, 2])))
        if used > most:
            most, row = used, count + k
    return most, row


@kernel
def level_used(plan, raised, time, level, enough):
    """
    Return the largest part of a limit used from an instant on at a level of u, and its row.

    Above enough the first that is found is returned, with its place (15.14).
    """
    times, first = plan_of(plan).times, PLACES * interval_at(plan, time)
    most, row = 0.0, -1
    for interval in range(first, times.shape[0], PLACES):
        for place in range(interval, interval + PLACES, HALF):
            if times[place] >= time:
                most, row = share_used(plan, raised, place, level, 0.0, 0.0, most, row)
                if most > enough:
                    return most, row, place
    return most, row, -1


# The instant of the plan, u and its derivatives by time, and p and its derivatives.
TIME, SPEED, SPEED_RATE, SPEED_ACCELERATION, P, P1, P2, P3 = range(8)
# The scaling that was taken: time since, u and its rate then, level and duration. The largest
# part of a limit that it uses, and the row.
SINCE_SCALING, START_SPEED, START_RATE, END_SPEED, DURATION, LIMIT_USE, LIMIT_ROW = range(8, 15)
# The highest level ahead, the instant that limits it, and the row there.
SPEED_AHEAD, LIMIT_TIME, ROW_AHEAD = range(15, 18)
# Whether limits have changed; the part of the work that comes next; the tries that come next.
LIMITS_CHANGED, NEXT_STEP, DOUBLING, NEXT_TRIAL = range(18, 22)
CHECK_SCALING, LOOK_AHEAD, TAKE_SCALING = 0.0, 1.0, 2.0
SCALING_WIDTH = 22
LIMIT_TOLERANCE = 1e-3  # of a limit
# Cycles of the shortest cubic; each further one takes twice as long
MIN_CYCLES, DOUBLINGS = 16.0, 8
MAX_DURATIONS = 2.0  # times the plan's duration, up to which there are cubics of slow plans
# Samples of a cubic, in an interval, and in a cycle
MIN_CUBIC_SAMPLES, SAMPLES_PER_INTERVAL, SAMPLES_PER_CYCLE = 8, 4, 192
TRIALS = 5  # of shorter cubics, one a cycle
MIN_SPEED = -1e-9  # u below which a scaling runs backward
HALVINGS = 20
MIN_HELD_SPEED = 1e-3  # u above rest


@kernel
def cubic_share(t, share, rate, level, duration):
    """Return the plan's time that passes in t, u and two derivatives, of a cubic (15.12)."""
    if t >= duration:
        passed = 0.5 * duration * (share + level) + duration * duration * rate / 12.0
        return passed + level * (t - duration), level, 0.0, 0.0
    x, high = t / duration, share - level
    passed = level * t + duration * (
        high * x * (1.0 - x * x * (1.0 - 0.5 * x))
        + rate * duration * x * x * (0.5 - x * (2.0 / 3.0 - 0.25 * x)))
    u = level + high * (1.0 - x * x * (3.0 - 2.0 * x)) + rate * t * (1.0 - x) * (1.0 - x)
    du = -6.0 * high * x * (1.0 - x) / duration + rate * (1.0 - x) * (1.0 - 3.0 * x)
    ddu = (high * (12.0 * x - 6.0) / duration + rate * (6.0 * x - 4.0)) / duration
    return passed, u, du, ddu


@inlined
def sample_count(plan, share, level, duration):
    """Return the samples of a cubic: SAMPLES_PER_INTERVAL in one of the plan (15.14)."""
    view = plan_of(plan)
    width = view.times[view.times.shape[0] - 1] / view.spans.shape[0]
    return MIN_CUBIC_SAMPLES + int(SAMPLES_PER_INTERVAL * duration * max(share, level) / width)


@kernel
def cubic_used(plan, raised, time, share, rate, level, duration, enough):
    """
    Return the largest part of a limit that a cubic uses, and its row (15.14).

    Above enough the first that is found is returned. One that runs backward uses infinitely much.
    """
    view = plan_of(plan)
    spans, times = view.spans, view.times
    end, intervals = times[times.shape[0] - 1], spans.shape[0]
    samples = sample_count(plan, share, level, duration)
    most, row, interval = 0.0, -1, interval_at(plan, time)
    for i in range(samples + 1):
        passed, u, du, ddu = cubic_share(
            i * duration / samples, share, rate, level, duration * (1.0 + 1e-12))
        at = time + passed
        if at >= end:
            return most, row
        if u < MIN_SPEED:
            return math.inf, row
        while interval + 1 < intervals and spans[interval + 1, START_TIME] <= at:
            interval += 1
            for place in (PLACES * interval - 1, PLACES * interval):  # both sides of a knot
                most, row = share_used(plan, raised, place, u, du, ddu, most, row)
        place = nearest_place(plan, interval, at)
        most, row = share_used(plan, raised, place, u, du, ddu, most, row)
        if most > enough:
            return most, row
    return most, row


@kernel
def held_used(plan, raised, state, level, duration, most, row, enough):
    """Return the largest part of a limit, of a cubic and its level, and the row (15.14)."""
    if most > enough or level == 0.0:
        return most, row
    passed = cubic_share(duration, state[SPEED], state[SPEED_RATE], level, duration)[0]
    held, held_row, _ = level_used(plan, raised, state[TIME] + passed, level, enough)
    return (held, held_row) if held > most else (most, row)


@kernel
def scaling_used(plan, raised, state, level, duration, enough):
    """Return the largest part of a limit from now on: of a cubic, and of the level (15.14)."""
    most, row = cubic_used(plan, raised, state[TIME], state[SPEED], state[SPEED_RATE], level,
                           duration, enough)
    return held_used(plan, raised, state, level, duration, most, row, enough)


@kernel
def level_ahead(plan, raised, time):
    """
    Return the highest level of u, at most 1, that keeps all limits from an instant on (15.14).

    Returns too the instant that limits it, and the row there.
    """
    times = plan_of(plan).times
    level, until, row, begin = 1.0, math.inf, -1, time
    while level > 0.0:
        _, found, place = level_used(plan, raised, begin, level, 1.0 + LIMIT_TOLERANCE)
        if place < 0:
            break
        row, until, begin = found, times[place], times[place]
        low, high = 0.0, level
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if share_used(plan, raised, place, middle, 0.0, 0.0, 0.0, 0)[0] <= 1.0:
                low = middle
            else:
                high = middle
        level = low if low > MIN_HELD_SPEED else 0.0
    return level, until, row


@kernel
def take_scaling(plan, raised, state, level, cycle):
    """
    Take the shortest cubic to a level that keeps all limits (15.14).

    Where there is none, and what was taken exceeds them, take one that exceeds them less.
    """
    share, spent, rung = state[SPEED], 0, int(state[DOUBLING])
    enough = max(state[LIMIT_USE] * (1.0 - LIMIT_TOLERANCE), 1.0 + LIMIT_TOLERANCE)
    times, duration = plan_of(plan).times, cycle * MIN_CYCLES * 2.0**rung
    while rung < DOUBLINGS or duration < MAX_DURATIONS * times[times.shape[0] - 1]:
        samples = sample_count(plan, share, level, duration)
        if spent > 0 and spent + samples > SAMPLES_PER_CYCLE:
            state[DOUBLING] = rung
            return
        spent += samples
        rung += 1
        used, row = cubic_used(
            plan, raised, state[TIME], share, state[SPEED_RATE], level, duration, enough)
        if used <= enough:
            used, row = held_used(plan, raised, state, level, duration, used, row, enough)
            if used <= enough:
                write_scaling(state, level, duration, used, row)
            break
        duration *= 2.0
    state[DOUBLING] = 0


@inlined
def write_scaling(state, level, duration, used, row):
    """Write a scaling that begins now (15.12)."""
    state[SINCE_SCALING] = 0.0
    state[START_SPEED], state[START_RATE] = state[SPEED], state[SPEED_RATE]
    state[END_SPEED], state[DURATION] = level, duration
    state[LIMIT_USE], state[LIMIT_ROW] = used, row


@kernel
def shorten_scaling(plan, raised, state, left):
    """Try one shorter cubic to the same level, and take it where it keeps the limits (15.14)."""
    state[NEXT_TRIAL] = (state[NEXT_TRIAL] + 1.0) % TRIALS
    level, duration = state[END_SPEED], left * (1.0 + state[NEXT_TRIAL]) / (1.0 + TRIALS)
    used, row = scaling_used(plan, raised, state, level, duration, 1.0 + LIMIT_TOLERANCE)
    if used <= 1.0 + LIMIT_TOLERANCE:
        write_scaling(state, level, duration, used, row)


@kernel
def choose_scaling(plan, raised, state, target, cycle):
    """
    Judge the scaling in use where limits have changed, look ahead, and take one (15.14).

    Each is the work of a cycle, so that none takes long.
    """
    left = max(state[DURATION] - state[SINCE_SCALING], 0.0)
    if state[NEXT_STEP] == CHECK_SCALING and state[LIMITS_CHANGED] != 0.0:
        state[LIMIT_USE], state[LIMIT_ROW] = scaling_used(
            plan, raised, state, state[END_SPEED], max(left, cycle), math.inf)
        state[LIMIT_TIME], state[LIMITS_CHANGED], state[DOUBLING] = -1.0, 0.0, 0.0
        state[NEXT_STEP] = LOOK_AHEAD
        return
    if state[NEXT_STEP] != TAKE_SCALING and state[TIME] > state[LIMIT_TIME]:
        state[SPEED_AHEAD], state[LIMIT_TIME], state[ROW_AHEAD] = level_ahead(
            plan, raised, state[TIME])
        state[NEXT_STEP] = TAKE_SCALING
        return
    state[NEXT_STEP] = CHECK_SCALING
    level = min(target, state[SPEED_AHEAD])
    if level != state[END_SPEED] or state[LIMIT_USE] > 1.0 + LIMIT_TOLERANCE:
        take_scaling(plan, raised, state, level, cycle)
    elif left > MIN_CYCLES * cycle:
        shorten_scaling(plan, raised, state, left)


@kernel
def scale_plan(plan: VECTOR, raised: VECTOR, state: VECTOR, target: NUMBER, cycle: NUMBER):
    """
    Go on by a cycle, and choose how to go on from there (15.11 to 15.14).

    plan: PLAN. raised: the limits of the plan over the limits that hold, by rows. state
    (SCALING_WIDTH,) is written. From the cycle after the end of the plan on it is at rest there.
    Returns the largest part of a limit that is used now.
    """
    view = plan_of(plan)
    times, spans = view.times, view.spans
    end = times[times.shape[0] - 1]
    if state[TIME] >= end:
        state[SPEED], state[SPEED_RATE], state[SPEED_ACCELERATION] = 0.0, 0.0, 0.0
        state[P1], state[P2], state[P3] = 0.0, 0.0, 0.0
        return 0.0
    before = cubic_share(state[SINCE_SCALING], state[START_SPEED], state[START_RATE],
                         state[END_SPEED], state[DURATION])[0]
    state[SINCE_SCALING] += cycle
    passed, u, du, ddu = cubic_share(
        state[SINCE_SCALING], state[START_SPEED], state[START_RATE], state[END_SPEED],
        state[DURATION])
    state[TIME] = min(state[TIME] + (passed - before), end)  # at rest it stays to the bit
    state[SPEED], state[SPEED_RATE], state[SPEED_ACCELERATION] = u, du, ddu
    interval = interval_at(plan, state[TIME])
    p, z, dz = place_in_interval(plan, interval, state[TIME])
    root, ddz = math.sqrt(z), spans[interval, DDZ]
    state[P] = min(spans[interval, START_P] + p, 1.0)
    state[P1], state[P2] = u * root, du * root + 0.5 * u * u * dz
    state[P3] = root * (ddu + 0.5 * u * u * u * ddz) + 1.5 * u * du * dz
    if state[TIME] >= end:
        return 0.0
    choose_scaling(plan, raised, state, target, cycle)
    place = nearest_place(plan, interval, state[TIME])
    return share_used(plan, raised, place, u, du, ddu, 0.0, 0)[0]
