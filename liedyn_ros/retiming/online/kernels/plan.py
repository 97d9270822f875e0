# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A planned run as tables: the place of an instant, and the limits when its speed is scaled."""

import math

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, VECTOR

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
