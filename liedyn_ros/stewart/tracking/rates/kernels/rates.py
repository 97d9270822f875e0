# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Whether measured rates of the legs are the rates at which their lengths change.

A single rate is held against the filtered rate and the difference of two lengths (14.60). No
motion within the bound of acceleration explains a larger error. A lasting error is found in the
mean rates over blocks of time (14.61). Products of two of them, two blocks apart, have no noise in
common. So their sums are the squares of the motion and of the error without noise. All positions
are those of the drives' ends, m.
"""

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, VECTOR, WHOLE

RATE_DEVIATIONS = 6.0  # of noise, that are no contradiction
MAX_WAIT = 0.1  # s: a reading that repeats for longer is taken for one that stands
MAX_GAP = 0.5  # s without a sample, after which the judgement starts again
BLOCK_TIME = 0.019  # s at least, over which rates are averaged
# Blocks after which faults are named; and cleared
MIN_BLOCKS, EARLY_BLOCKS, WINDOW_BLOCKS = 16, 25, 50
MIN_SAMPLES = 12  # before the first judgement
# Lasting error over the motion: of a fault, and of none
FAULT_ERROR_RATIO, SOUND_ERROR_RATIO = 0.1, 0.3
MAX_LAG_SAMPLES = 10.0  # samples, by which the filtered rate may lag behind the motion
MAX_STAMP_SPREAD = 0.05  # spread of the stamps over their period, above which that lag is unknown
MIN_WEIGHT = 1.0 / 300.0  # of a single error in their mean square
DIFFERENCE_DELAY = 0.6  # samples, by which a rate that is a difference of lengths is late
LEAST_MOTION = 1e-5  # m/s: slower motion shows no fault
# Least share of a motion's square left after two blocks, after one
STEADY_SHARE, SLOW_SHARE = 0.5, 0.25
UNEXPLAINED_SHARE = 0.1  # share of a rate's square that its explanation may leave
SIMPLICITY_RATIO = 0.5  # by which the share of a less simple explanation has to be less
MAX_LONE_ERRORS = 3.0  # contradictions in turn that are no lasting fault yet
ERROR_DECAY = 0.25  # by which their number falls with a sample without one

# Faults of a leg's rate.
(RATE_SOUND, RATE_ZERO, RATE_REPEATS, RATE_REVERSED, RATE_SCALED, RATE_EXCHANGED, RATE_LATE,
 RATE_UNEXPLAINED) = range(8)

# Numbers of the platform. ELAPSED: s, of the block. BLOCKS: in the window. SAMPLE: samples.
SAMPLE, ELAPSED, BLOCKS, OUTLYING, RATE_NUMBERS = range(5)
# Of a leg: LAST_LENGTH and LAST_RATE: the last ones; CHANGED: s since the length changed; MEAN:
# the last mean rate; LONG: s, over which that was taken. BEGIN: length at the block's begin; WAY:
# integral of the rate since. ALONE: contradictions in turn. STEADFAST: whether the rate repeats.
# D1, D2, ERROR1, ERROR2: mean rates by lengths, and errors, one and two blocks ago. Sums: of D D
# and E E two blocks apart, of D D one block apart, of D^2, V^2, E^2, and of error times
# acceleration, acceleration^2. WAIT: s, for which the length has repeated at most. SCATTER: mean
# square of single errors; ERRORS: their number. FAULT, RATE_FACTOR, OTHER_LEG: the fault, its
# number, and the leg whose rate it is.
(LAST_LENGTH, LAST_RATE, CHANGED, MEAN, LONG, BEGIN, WAY, ALONE, STEADFAST, D1, D2, ERROR1, ERROR2,
 SUM_DD, SUM_EE, SUM_D1, SUM_D2, SUM_V2, SUM_E2, SUM_EA, SUM_AA, WAIT, SCATTER, ERRORS, FAULT,
 RATE_FACTOR, OTHER_LEG, RATE_LEG_WIDTH) = range(28)

LEG_RATES = Bundle(
    'LegRates', legs=MATRIX, cross=MATRIX,  # (n, RATE_LEG_WIDTH), (n, n) sums of V_i D_j
    numbers=VECTOR,  # (RATE_NUMBERS,)
    scales=VECTOR)  # (n,) m at a drive's end for one unit of reading
rates_of = LEG_RATES.view


@kernel
def forget_rates(buffer: VECTOR):
    """Forget the motion and the faults."""
    state = rates_of(buffer)
    for k in range(RATE_NUMBERS):
        state.numbers[k] = 0.0
    for i in range(len(state.legs)):
        for k in range(RATE_LEG_WIDTH):
            state.legs[i, k] = 0.0
        for j in range(len(state.legs)):
            state.cross[i, j] = 0.0


@kernel
def judge_rates(
        buffer: VECTOR, dt: NUMBER, lengths: VECTOR, rates: VECTOR, filtered: VECTOR,
        variance: NUMBER, noise: NUMBER, spread: NUMBER, bound: NUMBER, outliers: WHOLE):
    """
    Judge rates (n,), m/s or rad/s; return the legs that contradict their lengths, as bits.

    dt: s, since the last sample. lengths: (n,), m or rad, plausible ones. filtered: (n,), rates by
    the lengths, of a variance (m^2/s^2). noise: m, of a length. spread: s, of the stamps. bound:
    m/s^2. outliers: legs whose length was replaced or jumps, as bits.
    """
    state = rates_of(buffer)
    legs, numbers, scales = state.legs, state.numbers, state.scales
    if not 0.0 < dt <= MAX_GAP:
        numbers[SAMPLE] = numbers[BLOCKS] = 0.0
    numbers[SAMPLE] += 1.0
    unusable, numbers[OUTLYING] = outliers | int(numbers[OUTLYING]), outliers
    repeat = numbers[SAMPLE] > 1.0
    for i in range(len(legs)):
        repeat &= scales[i] * lengths[i] == legs[i, LAST_LENGTH]
    found = 0
    for i in range(len(legs)):
        leg, scale = legs[i], scales[i]
        length, rate, expected = scale * lengths[i], scale * rates[i], scale * filtered[i]
        if numbers[SAMPLE] == 1.0:
            start_leg(leg, length, rate)
            continue
        usable = not unusable >> i & 1
        wrong = usable and numbers[SAMPLE] > MIN_SAMPLES and contradicts(
            leg, dt, length, rate, expected, variance, noise, spread, bound)
        leg[ALONE] = leg[ALONE] + 1.0 if wrong else max(leg[ALONE] - ERROR_DECAY, 0.0)
        found |= wrong << i
        taken = expected if wrong and leg[ALONE] < MAX_LONE_ERRORS else rate
        leg[STEADFAST] *= rate == leg[LAST_RATE]
        leg[WAY] += 0.5 * dt * (taken + leg[LAST_RATE])
        note_length(leg, dt, length, usable)
        leg[LAST_RATE] = taken
    numbers[ELAPSED] += dt
    if numbers[SAMPLE] == 1.0:
        numbers[ELAPSED] = 0.0
    elif numbers[ELAPSED] >= BLOCK_TIME and not repeat:
        close_block(state, dt, noise, unusable)
    for i in range(len(legs)):
        found |= (legs[i, FAULT] != RATE_SOUND) << i
    return found


@kernel
def start_leg(leg, length, rate):
    """Start a leg from its first length and rate; keep its fault."""
    fault, factor, other = leg[FAULT], leg[RATE_FACTOR], leg[OTHER_LEG]
    for k in range(RATE_LEG_WIDTH):
        leg[k] = 0.0
    leg[LAST_LENGTH] = leg[BEGIN] = length
    leg[LAST_RATE], leg[MEAN], leg[STEADFAST] = rate, rate, 1.0
    leg[FAULT], leg[RATE_FACTOR], leg[OTHER_LEG] = fault, factor, other


@kernel
def note_length(leg, dt, length, usable):
    """Take a new length: when it changed, and its mean rate since the change before."""
    since = leg[CHANGED] + dt
    if length == leg[LAST_LENGTH]:
        leg[CHANGED] = min(since, MAX_WAIT)
        leg[WAIT] = max(leg[WAIT], leg[CHANGED])
        return
    if usable:
        leg[MEAN], leg[LONG] = (length - leg[LAST_LENGTH]) / since, since
    leg[LAST_LENGTH], leg[CHANGED] = length, 0.0


@kernel
def contradicts(leg, dt, length, rate, expected, variance, noise, spread, bound):
    """Return whether no motion within the bound of acceleration (m/s^2) explains a rate."""
    since = leg[CHANGED] + dt
    if length == leg[LAST_LENGTH]:  # between two readings of a slow bus, or at a stand
        allowed = RATE_DEVIATIONS * 1.5 * noise / max(leg[LONG], dt) + bound * (since + leg[LONG])
        return abs(rate - leg[MEAN]) > allowed + RATE_DEVIATIONS * (variance + leg[SCATTER]) ** 0.5
    if since > 1.5 * dt:
        return False
    by_lengths = (length - leg[LAST_LENGTH]) / dt
    error = abs(0.5 * (rate + leg[LAST_RATE]) - by_lengths)
    allowed = RATE_DEVIATIONS * (1.5 * (noise + spread * abs(by_lengths)) / dt
                                 + leg[SCATTER] ** 0.5)
    allowed += 0.25 * bound * dt
    leg[ERRORS] += 1.0
    leg[SCATTER] += max(1.0 / leg[ERRORS], MIN_WEIGHT) * (min(error, allowed) ** 2 - leg[SCATTER])
    regular = spread < MAX_STAMP_SPREAD * dt
    return error > allowed or (regular and abs(rate - expected) > (
        RATE_DEVIATIONS * variance ** 0.5 + MAX_LAG_SAMPLES * bound * dt))


@kernel
def close_block(state, dt, noise, unusable):
    """Add the mean rates of a block to the sums; judge them when there are enough."""
    legs, numbers, cross = state.legs, state.numbers, state.cross
    elapsed, numbers[ELAPSED] = numbers[ELAPSED], 0.0
    if unusable:
        numbers[BLOCKS] = 0.0
    count = numbers[BLOCKS]
    if count == 0.0:
        for i in range(len(legs)):
            for k in range(SUM_DD, WAIT + 1):
                legs[i, k] = 0.0
            legs[i, STEADFAST] = 1.0
            for j in range(len(legs)):
                cross[i, j] = 0.0
    numbers[BLOCKS] = count + 1.0
    for i in range(len(legs)):
        leg = legs[i]
        v, d = leg[WAY] / elapsed, (leg[LAST_LENGTH] - leg[BEGIN]) / elapsed
        if count >= 2.0:
            for j in range(len(legs)):
                cross[i, j] += v * (legs[j, LAST_LENGTH] - legs[j, BEGIN]) / elapsed
            add_block(leg, v, d)
    for i in range(len(legs)):
        leg = legs[i]
        d, v = (leg[LAST_LENGTH] - leg[BEGIN]) / elapsed, leg[WAY] / elapsed
        leg[D2], leg[ERROR2], leg[D1], leg[ERROR1] = leg[D1], leg[ERROR1], d, v - d
        leg[BEGIN], leg[WAY] = leg[LAST_LENGTH], 0.0
    of_sample = DIFFERENCE_DELAY * min(dt, elapsed)
    blocks = numbers[BLOCKS]
    if blocks == MIN_BLOCKS or blocks == EARLY_BLOCKS or blocks >= WINDOW_BLOCKS:
        for i in range(len(legs)):
            judge_leg(legs, cross, i, elapsed, numbers[BLOCKS], noise,
                      max(legs[i, WAIT], of_sample))
    if numbers[BLOCKS] >= WINDOW_BLOCKS:
        numbers[BLOCKS] = 0.0


@kernel
def add_block(leg, v, d):
    """Add a block's mean rate, v as measured and d by lengths, to a leg's sums."""
    error = v - d
    leg[SUM_DD] += d * leg[D2]
    leg[SUM_EE] += error * leg[ERROR2]
    leg[SUM_D1] += d * leg[D1]
    leg[SUM_D2] += 0.5 * (d * d + leg[D2] * leg[D2])
    leg[SUM_V2] += v * v
    leg[SUM_E2] += 0.5 * (error * error + leg[ERROR2] * leg[ERROR2])
    leg[SUM_EA] += leg[ERROR1] * (d - leg[D2])
    leg[SUM_AA] += (d - leg[D2]) ** 2


@kernel
def judge_leg(legs, cross, i, elapsed, blocks, noise, delay):
    """Set or clear the lasting fault of leg i, where its motion shows one."""
    leg, count = legs[i], blocks - 2.0
    motion = leg[SUM_DD]
    if not (motion > STEADY_SHARE * leg[SUM_D2] and leg[SUM_D1] > SLOW_SHARE * motion
            and motion > count * LEAST_MOTION ** 2):
        return
    lasting = leg[SUM_EE]
    white = max(leg[SUM_E2] - lasting, 0.0)
    doubt = RATE_DEVIATIONS * (white + 2.0 * (max(lasting, 0.0) * white) ** 0.5) / count ** 0.5
    # Rounding is no white noise; and the rate changes while a slow bus repeats a reading.
    doubt += count * (2.0 * noise / elapsed) ** 2 + (
        0.25 * leg[SUM_AA] * (delay / elapsed) ** 2)
    if lasting - doubt > FAULT_ERROR_RATIO ** 2 * motion:
        name_fault(legs, cross, i, elapsed)
    elif blocks >= WINDOW_BLOCKS and lasting + doubt < SOUND_ERROR_RATIO ** 2 * motion:
        leg[FAULT] = RATE_SOUND


@kernel
def name_fault(legs, cross, i, elapsed):
    """Name the fault of leg i's rate: the one that leaves the least of it unexplained."""
    leg = legs[i]
    leg[FAULT], leg[OTHER_LEG] = RATE_UNEXPLAINED, -1.0
    leg[RATE_FACTOR] = (leg[SUM_E2] / leg[SUM_D2]) ** 0.5
    if leg[SUM_V2] == 0.0:
        leg[FAULT] = RATE_ZERO
        return
    if leg[STEADFAST] > 0.0:
        leg[FAULT] = RATE_REPEATS
        return
    least = UNEXPLAINED_SHARE
    for k in range(len(legs)):
        j = (i + k) % len(legs)  # its own length first
        like = cross[i, j] ** 2 / (legs[j, SUM_D2] * leg[SUM_V2])
        factor = cross[i, j] / legs[j, SUM_D2]
        if 1.0 - like < (1.0 - SIMPLICITY_RATIO * (j != i)) * least and (
                j == i or abs(factor - 1.0) < FAULT_ERROR_RATIO):
            least, leg[RATE_FACTOR], leg[OTHER_LEG] = 1.0 - like, factor, float(j)
            leg[FAULT] = RATE_SCALED if j == i else RATE_EXCHANGED
    if leg[OTHER_LEG] == i and abs(leg[RATE_FACTOR] + 1.0) < FAULT_ERROR_RATIO:
        leg[FAULT] = RATE_REVERSED
    delay = -2.0 * elapsed * leg[SUM_EA] / leg[SUM_AA]
    late = (leg[SUM_E2] - leg[SUM_EA] ** 2 / leg[SUM_AA]) / leg[SUM_V2]
    if late < (1.0 - SIMPLICITY_RATIO) * least and 0.0 < delay < MAX_GAP:
        leg[FAULT], leg[RATE_FACTOR] = RATE_LATE, delay
