# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The branch of each pose of a motion, from its signed singular value; see BranchMonitor.

A monitor keeps a bank of filters of the value, and the bank as it was before the singularity: the
gate. While noise hides the branch, the measured squares are collected in bins.
"""

import math

from liedyn_ros.jit.bundle import Bundle, INTEGERS, MATRIX, VECTOR
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.tracking.branch.kernels import passage

PREDICTION_LIMIT = 0.5  # s; over a longer gap the motion before tells nothing
MEMORY = 0.5  # s, for which the sharpness of the motion is judged
SURE = 7.0  # logarithm of the odds, 1000 to 1, by which a branch is ruled out
LOOK_EVERY = 4  # bins
FAR = 0.3  # signed value, six times where a warning is given: nearer, the filters know more
MAX_INCREASE = 3.0  # of the greatest rate lately, from one sample to the next
EXACT = 1e-12  # least noise, in characteristic lengths: what rounding leaves

MONITOR = Bundle(
    'BranchMonitor',
    bank=MATRIX, gate=MATRIX,  # (sharpnesses, passage.ROW)
    jerks=VECTOR,  # (sharpnesses,) 1/s^5
    bins=MATRIX, tally=VECTOR,  # (bins, 3), (passage.TALLY,)
    work=MATRIX, weights=MATRIX,  # (2, passage.ROW), (sharpnesses, 3)
    numbers=VECTOR, stamps=INTEGERS)  # (NUMBERS,), (STAMPS,)
monitor_of = MONITOR.view

# Numbers. SEEN: the smallest singular value of the last pose. FASTEST: 1/s, its greatest mean
# rate lately. BEST: index of the filter that is believed; VALUE, RATE: its own. TOLD: the sign
# that is reported. ENTERED: the sign before noise mixed the branches, 0 while it does not.
# OUTSIDE: whether the value has come out of the noise. GAP, WRONG: of the last pose, as in Branch.
(STARTED, SEEN, FASTEST, BEST, VALUE, RATE, TOLD, ENTERED, OUTSIDE, DOUBT, GAP, WRONG,
 NUMBERS) = range(13)
# Stamps, ns: of the bank, of the last pose, of the gate, and of when the value came out.
NOW, SEEN_AT, GATE_AT, LEFT_AT, STAMPS = range(5)


@kernel
def reset(words):
    """Forget the motion: the next pose is believed."""
    monitor = monitor_of(words)
    for k in range(NUMBERS):
        monitor.numbers[k] = 0.0
    monitor.numbers[FASTEST] = passage.UNKNOWN_RATE ** 0.5


@kernel
def judge(words, stamp_ns, value, slope, noise, shortfall):
    """Take a pose as `update` does; return the five parts of its Branch."""
    monitor = monitor_of(words)
    update(monitor, stamp_ns, value, slope, noise, shortfall)
    numbers = monitor.numbers
    return (1 if numbers[VALUE] > 0.0 else -1, numbers[RATE], numbers[GAP], is_unsure(monitor),
            numbers[WRONG] > 0.0)


@kernel
def coast(words, stamp_ns):
    """Go on to a time (ns) without a pose, as far as the motion before says anything."""
    monitor = monitor_of(words)
    if monitor.numbers[STARTED] > 0.0 and (
            1e-9 * (stamp_ns - monitor.stamps[SEEN_AT]) <= PREDICTION_LIMIT):
        advance(monitor, stamp_ns)
        tell(monitor)


@kernel
def confirm(words, sign):
    """Believe the branch of a determinant's sign: a redundant sensor has told it."""
    monitor = monitor_of(words)
    mirror(monitor, sign)
    monitor.numbers[ENTERED] = monitor.numbers[DOUBT] = 0.0
    open_gate(monitor)
    monitor.numbers[TOLD] = expected_sign(monitor)


@kernel
def update(monitor, stamp_ns, value, slope, noise, shortfall):
    """
    Judge the pose of a signed value measured at a time (ns); write GAP and WRONG.

    slope: of the value along the null twist. noise: standard deviation of a length. shortfall:
    norm of the error left in the lengths. Both are in characteristic lengths.
    """
    numbers, stamps = monitor.numbers, monitor.stamps
    seen, dt = numbers[SEEN], 1e-9 * (stamp_ns - stamps[SEEN_AT])
    numbers[SEEN], stamps[SEEN_AT] = abs(value), stamp_ns
    slope = abs(slope)
    # Of a regular pose the value follows the lengths about one to one.
    variance = (2.0 * max(noise, EXACT)) ** 2 * (slope * slope + value * value)
    slope = max(slope, EXACT)
    if numbers[STARTED] == 0.0:
        begin(monitor, stamp_ns, value, variance, math.nan)
        numbers[GAP] = 0.0
    elif dt > PREDICTION_LIMIT:
        restart(monitor, stamp_ns, abs(value), variance, dt)
        numbers[GAP] = (value - numbers[VALUE]) / slope
    else:
        before, near = numbers[VALUE], advance(monitor, stamp_ns)
        numbers[GAP] = (value - numbers[VALUE]) / slope
        follow(monitor, stamp_ns, value, before, near, seen, dt, variance,
               value * value - 2.0 * slope * shortfall)
    numbers[WRONG] = 1.0 if value * numbers[VALUE] < 0.0 else 0.0


@kernel
def follow(monitor, stamp_ns, value, before, near, seen, dt, variance, square):
    """Take a pose into the filters, which have been advanced; begin again where they lost it."""
    numbers = monitor.numbers
    rate, reach = (abs(value) - seen) / dt, MAX_INCREASE * numbers[FASTEST] * dt
    numbers[FASTEST] = max(abs(rate), numbers[FASTEST] * math.exp(-dt / MEMORY))
    far = stays_far(numbers, seen, abs(value), reach)
    lost = far and (near or numbers[VALUE] * before < 0.0)
    if not lost:
        measure(monitor, square, variance, near)
        lost = far and numbers[VALUE] * before < 0.0
    if lost:  # too fast a motion for the filters
        side = math.copysign(1.0, before)
        begin(monitor, stamp_ns, side * abs(value), variance, side * rate)
    else:
        tell(monitor)


@kernel
def begin(monitor, stamp_ns, value, variance, rate):
    """
    Start all filters from a signed value, and from its mean rate since the last, NaN for none.

    At constant acceleration the present rate differs from the mean rate by half the difference
    of two mean rates. That is its uncertainty.
    """
    numbers, bank = monitor.numbers, monitor.bank
    of_value = min(variance / (4.0 * value * value), 1.0) if value != 0.0 else 1.0
    for m in range(bank.shape[0]):
        passage.begin(bank[m], value, of_value)
        if not math.isnan(rate):
            bank[m, 1] = rate
            bank[m, 6] += 0.25 * (rate - numbers[RATE]) ** 2
    numbers[STARTED], numbers[VALUE] = 1.0, value
    numbers[RATE] = 0.0 if math.isnan(rate) else rate
    monitor.stamps[NOW] = stamp_ns
    open_gate(monitor)
    numbers[TOLD] = expected_sign(monitor)


@kernel
def restart(monitor, stamp_ns, size, variance, dt):
    """Restart on the last reported branch; mark it unsure if a singularity was in reach."""
    numbers = monitor.numbers
    deviation = math.sqrt(monitor.bank[int(numbers[BEST]), 6])
    fastest = abs(numbers[RATE]) + passage.NEAR * deviation
    if numbers[ENTERED] != 0.0 or abs(numbers[VALUE]) < fastest * dt:
        numbers[DOUBT] = 1.0
    numbers[ENTERED] = 0.0
    begin(monitor, stamp_ns, numbers[TOLD] * size, variance, math.nan)


@kernel
def stays_far(numbers, before, now, reach):
    """
    Return whether no singularity was passed between two singular values.

    Their squares are the same on both branches. A passage takes the value down from one to
    zero and on to the other, which is further than the motion reaches in the time.
    """
    return numbers[ENTERED] == 0.0 and min(before, now) > FAR and before + now > reach


@kernel
def advance(monitor, stamp_ns):
    """Predict; return whether the value's sign may be hidden."""
    dt = 1e-9 * (stamp_ns - monitor.stamps[NOW])
    monitor.stamps[NOW] = stamp_ns
    monitor.numbers[VALUE], near = passage.advance(
        monitor.bank, monitor.jerks, dt, math.exp(-dt / MEMORY), int(monitor.numbers[BEST]))
    return near


@kernel
def measure(monitor, square, variance, near):
    """Take a measured square of the value; go on from in to out of the noise."""
    numbers, stamps, tally = monitor.numbers, monitor.stamps, monitor.tally
    if near and numbers[ENTERED] == 0.0:
        numbers[ENTERED] = 1.0 if monitor.gate[int(numbers[BEST]), 0] > 0.0 else -1.0
        numbers[OUTSIDE] = 0.0
        tally[:] = 0.0
        tally[5] = 1.0
    best, numbers[VALUE], numbers[RATE] = passage.measure(monitor.bank, square, variance)
    numbers[BEST] = best
    if numbers[ENTERED] == 0.0:
        open_gate(monitor)
        return
    count = passage.collect(
        monitor.bins, tally, 1e-9 * (stamps[NOW] - stamps[GATE_AT]), square, variance)
    if near or numbers[VALUE] * numbers[RATE] < 0.0:
        numbers[OUTSIDE] = 0.0
    elif numbers[OUTSIDE] == 0.0:
        numbers[OUTSIDE], stamps[LEFT_AT] = 1.0, stamps[NOW]
    elif count > 0 and count % LOOK_EVERY == 0:
        look_back(monitor, count)


@kernel
def look_back(monitor, count):
    """Weigh both branches by the motion before the noise and since it was left."""
    numbers, stamps = monitor.numbers, monitor.stamps
    odds = passage.passage_odds(
        monitor.gate, monitor.jerks, monitor.bins, count, monitor.work, monitor.weights)
    if odds * numbers[VALUE] < 0.0:
        mirror(monitor, -expected_sign(monitor))
    inside = 1e-9 * (stamps[LEFT_AT] - stamps[GATE_AT])
    outside = 1e-9 * (stamps[NOW] - stamps[LEFT_AT])
    sure = abs(odds) > SURE
    if sure or outside > 2.0 * inside + MEMORY:
        if not sure:
            numbers[DOUBT] = 1.0
        mirror(monitor, expected_sign(monitor))
        numbers[ENTERED] = 0.0
        open_gate(monitor)


@kernel
def mirror(monitor, sign):
    """Put all filters on one side of zero."""
    passage.mirror(monitor.bank, sign)
    best = int(monitor.numbers[BEST])
    monitor.numbers[VALUE], monitor.numbers[RATE] = monitor.bank[best, 0], monitor.bank[best, 1]


@kernel
def open_gate(monitor):
    """Keep the bank as that before a singularity."""
    bank, gate = monitor.bank, monitor.gate
    for m in range(bank.shape[0]):
        for k in range(passage.ROW):
            gate[m, k] = bank[m, k]
    monitor.stamps[GATE_AT] = monitor.stamps[NOW]


@kernel
def tell(monitor):
    """Report the expected sign; while noise hides the branch, change it at most once."""
    numbers = monitor.numbers
    if numbers[TOLD] == 0.0 or numbers[ENTERED] == 0.0 or numbers[TOLD] == numbers[ENTERED]:
        numbers[TOLD] = expected_sign(monitor)


@kernel
def expected_sign(monitor):
    """Return the sign of the determinant on the branch that the motion leads to."""
    return 1.0 if monitor.numbers[VALUE] > 0.0 else -1.0


@kernel
def is_unsure(monitor):
    """Return whether noise leaves both branches possible."""
    return monitor.numbers[DOUBT] > 0.0 or monitor.numbers[ENTERED] != 0.0
