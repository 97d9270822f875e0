# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A planned run whose speed is scaled while it runs (15.11 to 15.14).

The plan is passed at the share u of its speed. A scaling goes over to a level of u by a cubic, and
holds it to the end of the plan. It is taken where all limits hold along all of it. So what was
taken keeps the limits for which it was taken.
"""

import math

from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import NUMBER, VECTOR
from liedyn_ros.retiming.online.kernels.plan import (
    BEGIN, DDZ, FIRST, interval_at, level_used, nearest_place, place_in_interval, PLACES,
    plan_of, share_used)

# The instant of the plan, u and its derivatives by time, and p and its derivatives.
TIME, SHARE, RATE, JERK, P, P1, P2, P3 = range(8)
# The scaling that was taken: time since, u and its rate then, level and duration. The largest
# part of a limit that it uses, and the row.
SINCE, FROM, FROM_RATE, LEVEL, DURATION, USED, ROW = range(8, 15)
# The highest level ahead, the instant that limits it, and the row there.
HIGHEST, UNTIL, LIMITING = range(15, 18)
# Whether limits have changed; the part of the work that comes next; the tries that come next.
CHANGED, PART, RUNG, TRIED = range(18, 22)
JUDGE, LOOK, TAKE = 0.0, 1.0, 2.0
NUMBERS = 22
TOLERANCE = 1e-3  # of a limit
SHORTEST, RUNGS = 16.0, 8  # cycles of the shortest cubic; each further one takes twice as long
LONGEST = 2.0  # times the plan's duration, up to which there are cubics of slow plans
FEWEST, DENSITY, MANY = 8, 4, 192  # samples of a cubic, in an interval, and in a cycle
TRIES = 5  # of shorter cubics, one a cycle
BACKWARD = -1e-9  # u below which a scaling runs backward
HALVINGS = 20
SLOWEST = 1e-3  # u above rest


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
    """Return the samples of a cubic: DENSITY in an interval of the plan (15.14)."""
    view = plan_of(plan)
    width = view.times[view.times.shape[0] - 1] / view.spans.shape[0]
    return FEWEST + int(DENSITY * duration * max(share, level) / width)


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
        if u < BACKWARD:
            return math.inf, row
        while interval + 1 < intervals and spans[interval + 1, BEGIN] <= at:
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
    passed = cubic_share(duration, state[SHARE], state[RATE], level, duration)[0]
    held, held_row, _ = level_used(plan, raised, state[TIME] + passed, level, enough)
    return (held, held_row) if held > most else (most, row)


@kernel
def scaling_used(plan, raised, state, level, duration, enough):
    """Return the largest part of a limit from now on: of a cubic, and of the level (15.14)."""
    most, row = cubic_used(plan, raised, state[TIME], state[SHARE], state[RATE], level, duration,
                           enough)
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
        _, found, place = level_used(plan, raised, begin, level, 1.0 + TOLERANCE)
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
        level = low if low > SLOWEST else 0.0
    return level, until, row


@kernel
def take_scaling(plan, raised, state, level, cycle):
    """
    Take the shortest cubic to a level that keeps all limits (15.14).

    Where there is none, and what was taken exceeds them, take one that exceeds them less.
    """
    share, spent, rung = state[SHARE], 0, int(state[RUNG])
    enough = max(state[USED] * (1.0 - TOLERANCE), 1.0 + TOLERANCE)
    times, duration = plan_of(plan).times, cycle * SHORTEST * 2.0**rung
    while rung < RUNGS or duration < LONGEST * times[times.shape[0] - 1]:
        samples = sample_count(plan, share, level, duration)
        if spent > 0 and spent + samples > MANY:
            state[RUNG] = rung
            return
        spent += samples
        rung += 1
        used, row = cubic_used(
            plan, raised, state[TIME], share, state[RATE], level, duration, enough)
        if used <= enough:
            used, row = held_used(plan, raised, state, level, duration, used, row, enough)
            if used <= enough:
                write_scaling(state, level, duration, used, row)
            break
        duration *= 2.0
    state[RUNG] = 0


@inlined
def write_scaling(state, level, duration, used, row):
    """Write a scaling that begins now (15.12)."""
    state[SINCE], state[FROM], state[FROM_RATE] = 0.0, state[SHARE], state[RATE]
    state[LEVEL], state[DURATION], state[USED], state[ROW] = level, duration, used, row


@kernel
def shorten_scaling(plan, raised, state, left):
    """Try one shorter cubic to the same level, and take it where it keeps the limits (15.14)."""
    state[TRIED] = (state[TRIED] + 1.0) % TRIES
    level, duration = state[LEVEL], left * (1.0 + state[TRIED]) / (1.0 + TRIES)
    used, row = scaling_used(plan, raised, state, level, duration, 1.0 + TOLERANCE)
    if used <= 1.0 + TOLERANCE:
        write_scaling(state, level, duration, used, row)


@kernel
def choose_scaling(plan, raised, state, target, cycle):
    """
    Judge the scaling in use where limits have changed, look ahead, and take one (15.14).

    Each is the work of a cycle, so that none takes long.
    """
    left = max(state[DURATION] - state[SINCE], 0.0)
    if state[PART] == JUDGE and state[CHANGED] != 0.0:
        state[USED], state[ROW] = scaling_used(
            plan, raised, state, state[LEVEL], max(left, cycle), math.inf)
        state[UNTIL], state[CHANGED], state[RUNG], state[PART] = -1.0, 0.0, 0.0, LOOK
        return
    if state[PART] != TAKE and state[TIME] > state[UNTIL]:
        state[HIGHEST], state[UNTIL], state[LIMITING] = level_ahead(plan, raised, state[TIME])
        state[PART] = TAKE
        return
    state[PART] = JUDGE
    level = min(target, state[HIGHEST])
    if level != state[LEVEL] or state[USED] > 1.0 + TOLERANCE:
        take_scaling(plan, raised, state, level, cycle)
    elif left > SHORTEST * cycle:
        shorten_scaling(plan, raised, state, left)


@kernel
def scale_plan(plan: VECTOR, raised: VECTOR, state: VECTOR, target: NUMBER, cycle: NUMBER):
    """
    Go on by a cycle, and choose how to go on from there (15.11 to 15.14).

    plan: PLAN. raised: the limits of the plan over the limits that hold, by rows. state (NUMBERS,)
    is written. From the cycle after the end of the plan on it is at rest there. Returns the
    largest part of a limit that is used now.
    """
    view = plan_of(plan)
    times, spans = view.times, view.spans
    end = times[times.shape[0] - 1]
    if state[TIME] >= end:
        state[SHARE], state[RATE], state[JERK] = 0.0, 0.0, 0.0
        state[P1], state[P2], state[P3] = 0.0, 0.0, 0.0
        return 0.0
    before = cubic_share(state[SINCE], state[FROM], state[FROM_RATE], state[LEVEL],
                         state[DURATION])[0]
    state[SINCE] += cycle
    passed, u, du, ddu = cubic_share(
        state[SINCE], state[FROM], state[FROM_RATE], state[LEVEL], state[DURATION])
    state[TIME] = min(state[TIME] + (passed - before), end)  # at rest it stays to the bit
    state[SHARE], state[RATE], state[JERK] = u, du, ddu
    interval = interval_at(plan, state[TIME])
    p, z, dz = place_in_interval(plan, interval, state[TIME])
    root, ddz = math.sqrt(z), spans[interval, DDZ]
    state[P] = min(spans[interval, FIRST] + p, 1.0)
    state[P1], state[P2] = u * root, du * root + 0.5 * u * u * dz
    state[P3] = root * (ddu + 0.5 * u * u * u * ddz) + 1.5 * u * du * dz
    if state[TIME] >= end:
        return 0.0
    choose_scaling(plan, raised, state, target, cycle)
    place = nearest_place(plan, interval, state[TIME])
    return share_used(plan, raised, place, u, du, ddu, 0.0, 0)[0]
