# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The branch of each pose of a motion, from its signed singular value; see BranchMonitor.

A monitor keeps a bank of filters of the value (11.7, 11.8) and its entry: the bank before the
singularity. While noise hides the branch, the measured squares are collected in bins. The odds
(11.11) of both branches decide.
"""

import math

import numpy as np

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.stewart.tracking.branch.kernels import passage

PREDICTION_LIMIT = 0.5  # s; over a longer gap nothing is predicted
KEPT_BRANCH = 0.1  # signed value below which a failed solve is not tried again from home
SHARPNESS_TIME = 0.5  # s, for which the sharpness of the motion is judged
LOG_ODDS_LIMIT = 7.0  # logarithm of the odds, 1000 to 1, by which a branch is ruled out
BINS_PER_LOOK = 4  # bins
FAR_VALUE = 0.3  # signed value, six times that of a warning; below it the filters are better
MAX_INCREASE = 3.0  # of the greatest rate lately, from one sample to the next
MIN_NOISE = 1e-12  # least noise, in characteristic lengths: rounding
# 1/s^5, spectra of the value's jerk, each ten times as sharp as the one before. In a second the
# acceleration changes by 0.03 to 300 1/s^2: from paths of half a minute to shakers.
JERKS = 10.0 ** np.arange(-3.0, 6.0)
BINS = 128  # that the passage of a singularity is kept in

MONITOR = Bundle(
    'BranchMonitor',
    bank=MATRIX, entry=MATRIX,  # (sharpnesses, passage.FILTER_WIDTH)
    jerks=VECTOR,  # (sharpnesses,) 1/s^5
    bins=MATRIX, tally=VECTOR,  # (bins, 3), (passage.BIN_WIDTH,)
    work=MATRIX, weights=MATRIX,  # (2, passage.FILTER_WIDTH), (sharpnesses, 3)
    numbers=VECTOR, stamps=INTEGERS)  # (BRANCH_WIDTH,), (BRANCH_STAMPS,)
monitor_of = MONITOR.view

# Numbers. POSE_VALUE: the smallest singular value of the last pose. FASTEST: 1/s, its greatest
# mean rate lately. BEST: index of the most likely filter; VALUE, VALUE_RATE: its own. REPORTED:
# the reported sign. ENTERED: that before noise mixed the branches, 0 while it does not. OUTSIDE:
# whether the value has come out of the noise. VALUE_GAP, WRONG: of the last pose, as in Branch.
(STARTED, POSE_VALUE, FASTEST, BEST, VALUE, VALUE_RATE, REPORTED, ENTERED, OUTSIDE, DOUBT,
 VALUE_GAP, WRONG, BRANCH_WIDTH) = range(13)
# Stamps, ns: of the bank, of the last pose, of the entry, and of when the value came out.
BANK_AT, POSE_AT, ENTRY_AT, OUTSIDE_AT, BRANCH_STAMPS = range(5)


def empty_monitor():
    """Return the buffer of a monitor without a pose."""
    of_bank = (len(JERKS), passage.FILTER_WIDTH)
    return MONITOR.pack(
        bank=np.zeros(of_bank), entry=np.zeros(of_bank), jerks=JERKS, bins=np.zeros((BINS, 3)),
        tally=np.zeros(passage.BIN_WIDTH), work=np.zeros((2, passage.FILTER_WIDTH)),
        weights=np.zeros((len(JERKS), 3)), numbers=np.zeros(BRANCH_WIDTH),
        stamps=np.zeros(BRANCH_STAMPS, dtype=np.int64))


@kernel
def forget_value(buffer: VECTOR):
    """Forget the motion: the branch is that of the next pose."""
    monitor = monitor_of(buffer)
    for k in range(BRANCH_WIDTH):
        monitor.numbers[k] = 0.0
    monitor.numbers[FASTEST] = passage.UNKNOWN_RATE ** 0.5


@kernel
def is_branch_near(numbers, value):
    """Return whether the motion is expected within a signed value of the singularity."""
    return numbers[STARTED] != 0.0 and abs(numbers[VALUE]) < value


@kernel
def judge_branch(
        buffer: VECTOR, stamp_ns: WHOLE, value: NUMBER, slope: NUMBER, noise: NUMBER,
        shortfall: NUMBER):
    """Judge a pose by follow_value; return the five parts of its Branch."""
    monitor = monitor_of(buffer)
    follow_value(monitor, stamp_ns, value, slope, noise, shortfall)
    numbers = monitor.numbers
    return (1 if numbers[VALUE] > 0.0 else -1, numbers[VALUE_RATE], numbers[VALUE_GAP],
            is_unsure(monitor), numbers[WRONG] > 0.0)


@kernel
def predict_branch(buffer: VECTOR, stamp_ns: WHOLE):
    """Predict the value at a time (ns) without a pose, up to PREDICTION_LIMIT after the last."""
    monitor = monitor_of(buffer)
    if monitor.numbers[STARTED] > 0.0 and (
            1e-9 * (stamp_ns - monitor.stamps[POSE_AT]) <= PREDICTION_LIMIT):
        predict_filters(monitor, stamp_ns)
        report_sign(monitor)


@kernel
def confirm_branch(buffer: VECTOR, sign: WHOLE):
    """Set the branch to the sign of a determinant, which a redundant sensor has confirmed."""
    monitor = monitor_of(buffer)
    mirror_filters(monitor, sign)
    monitor.numbers[ENTERED] = monitor.numbers[DOUBT] = 0.0
    keep_entry(monitor)
    monitor.numbers[REPORTED] = sign  # of more than six lengths there are no filters


@kernel
def follow_value(monitor, stamp_ns, value, slope, noise, shortfall):
    """
    Judge the pose of a signed value measured at a time (ns); write VALUE_GAP and WRONG.

    slope: of the value along the null twist. noise: standard deviation of a length. shortfall:
    norm of the error left in the lengths. Both are in characteristic lengths.
    """
    numbers, stamps = monitor.numbers, monitor.stamps
    seen, dt = numbers[POSE_VALUE], 1e-9 * (stamp_ns - stamps[POSE_AT])
    numbers[POSE_VALUE], stamps[POSE_AT] = abs(value), stamp_ns
    slope = abs(slope)
    # Of a regular pose the value follows the lengths about one to one.
    variance = (2.0 * max(noise, MIN_NOISE)) ** 2 * (slope * slope + value * value)
    slope = max(slope, MIN_NOISE)
    if numbers[STARTED] == 0.0:
        start_filters(monitor, stamp_ns, value, variance, math.nan)
        numbers[VALUE_GAP] = 0.0
    elif dt > PREDICTION_LIMIT:
        restart_filters(monitor, stamp_ns, abs(value), variance, dt)
        numbers[VALUE_GAP] = (value - numbers[VALUE]) / slope
    else:
        before, near = numbers[VALUE], predict_filters(monitor, stamp_ns)
        numbers[VALUE_GAP] = (value - numbers[VALUE]) / slope
        correct_value(monitor, stamp_ns, value, before, near, seen, dt, variance,
                      value * value - 2.0 * slope * shortfall)
    numbers[WRONG] = 1.0 if value * numbers[VALUE] < 0.0 else 0.0


@kernel
def correct_value(monitor, stamp_ns, value, before, near, seen, dt, variance, square):
    """Correct the predicted filters with a pose; start them again where they have lost it."""
    numbers = monitor.numbers
    rate, reach = (abs(value) - seen) / dt, MAX_INCREASE * numbers[FASTEST] * dt
    numbers[FASTEST] = max(abs(rate), numbers[FASTEST] * math.exp(-dt / SHARPNESS_TIME))
    far = avoids_singularity(numbers, seen, abs(value), reach)
    lost = far and (near or numbers[VALUE] * before < 0.0)
    if not lost:
        correct_filters(monitor, square, variance, near)
        lost = far and numbers[VALUE] * before < 0.0
    if lost:  # too fast a motion for the filters
        side = math.copysign(1.0, before)
        start_filters(monitor, stamp_ns, side * abs(value), variance, side * rate)
    else:
        report_sign(monitor)


@kernel
def start_filters(monitor, stamp_ns, value, variance, rate):
    """
    Start all filters from a signed value, and from its mean rate since the last, NaN for none.

    At constant acceleration the present rate differs from the mean rate by half the difference
    of two mean rates. That is its uncertainty.
    """
    numbers, bank = monitor.numbers, monitor.bank
    of_value = min(variance / (4.0 * value * value), 1.0) if value != 0.0 else 1.0
    for m in range(bank.shape[0]):
        passage.start_filter(bank[m], value, of_value)
        if not math.isnan(rate):
            bank[m, 1] = rate
            bank[m, 6] += 0.25 * (rate - numbers[VALUE_RATE]) ** 2
        elif m == 0:  # the least sharp motion is that of a platform at rest
            bank[m, 6] = bank[m, 8] = 0.0
    numbers[STARTED], numbers[VALUE] = 1.0, value
    numbers[VALUE_RATE] = 0.0 if math.isnan(rate) else rate
    monitor.stamps[BANK_AT] = stamp_ns
    keep_entry(monitor)
    numbers[REPORTED] = expected_sign(monitor)


@kernel
def restart_filters(monitor, stamp_ns, size, variance, dt):
    """Restart on the last reported branch; mark it unsure if a singularity was in reach."""
    numbers = monitor.numbers
    # The first filter may have begun at rest; the second knows only what was seen.
    deviation = math.sqrt(max(monitor.bank[int(numbers[BEST]), 6], monitor.bank[1, 6]))
    fastest = abs(numbers[VALUE_RATE]) + passage.SIGN_DEVIATIONS * deviation
    if numbers[ENTERED] != 0.0 or abs(numbers[VALUE]) < fastest * dt:
        numbers[DOUBT] = 1.0
    numbers[ENTERED] = 0.0
    start_filters(monitor, stamp_ns, numbers[REPORTED] * size, variance, math.nan)


@kernel
def avoids_singularity(numbers, before, now, reach):
    """
    Return whether no singularity was passed between two singular values.

    Their squares are the same on both branches. A passage takes the value down from one to
    zero and on to the other: further than the motion reaches in the time.
    """
    return numbers[ENTERED] == 0.0 and min(before, now) > FAR_VALUE and before + now > reach


@kernel
def predict_filters(monitor, stamp_ns):
    """Predict all filters to a time (ns); return whether the value is near zero."""
    dt = 1e-9 * (stamp_ns - monitor.stamps[BANK_AT])
    monitor.stamps[BANK_AT] = stamp_ns
    monitor.numbers[VALUE], near = passage.predict_bank(
        monitor.bank, monitor.jerks, dt, math.exp(-dt / SHARPNESS_TIME),
        int(monitor.numbers[BEST]))
    return near


@kernel
def correct_filters(monitor, square, variance, near):
    """Correct all filters with a measured square; follow the value into and out of the noise."""
    numbers, stamps, tally = monitor.numbers, monitor.stamps, monitor.tally
    best, numbers[VALUE], numbers[VALUE_RATE] = passage.correct_bank(
        monitor.bank, square, variance)
    near = near or passage.is_near_zero(monitor.bank[best])
    if near and numbers[ENTERED] == 0.0:
        numbers[ENTERED] = 1.0 if monitor.entry[int(numbers[BEST]), 0] > 0.0 else -1.0
        numbers[OUTSIDE] = 0.0
        tally[:] = 0.0
        tally[5] = 1.0
    numbers[BEST] = best
    if numbers[ENTERED] == 0.0:
        keep_entry(monitor)
        return
    count = passage.collect_square(
        monitor.bins, tally, 1e-9 * (stamps[BANK_AT] - stamps[ENTRY_AT]), square, variance)
    if near or numbers[VALUE] * numbers[VALUE_RATE] < 0.0:
        numbers[OUTSIDE] = 0.0
    elif numbers[OUTSIDE] == 0.0:
        numbers[OUTSIDE], stamps[OUTSIDE_AT] = 1.0, stamps[BANK_AT]
    elif count > 0 and count % BINS_PER_LOOK == 0:
        weigh_branches(monitor, count)


@kernel
def weigh_branches(monitor, count):
    """Weigh both branches by the motion before the noise and after it (11.11)."""
    numbers, stamps = monitor.numbers, monitor.stamps
    odds = passage.passage_odds(
        monitor.entry, monitor.jerks, monitor.bins, count, monitor.work, monitor.weights)
    if odds * numbers[VALUE] < 0.0:
        mirror_filters(monitor, -expected_sign(monitor))
    inside = 1e-9 * (stamps[OUTSIDE_AT] - stamps[ENTRY_AT])
    outside = 1e-9 * (stamps[BANK_AT] - stamps[OUTSIDE_AT])
    sure = abs(odds) > LOG_ODDS_LIMIT
    if sure or outside > 2.0 * inside + SHARPNESS_TIME:
        if not sure:
            numbers[DOUBT] = 1.0
        mirror_filters(monitor, expected_sign(monitor))
        numbers[ENTERED] = 0.0
        keep_entry(monitor)


@kernel
def mirror_filters(monitor, sign):
    """Give the values of all filters one sign."""
    passage.mirror_bank(monitor.bank, sign)
    best = int(monitor.numbers[BEST])
    monitor.numbers[VALUE] = monitor.bank[best, 0]
    monitor.numbers[VALUE_RATE] = monitor.bank[best, 1]


@kernel
def keep_entry(monitor):
    """Copy the bank to the entry: the bank before a singularity."""
    bank, entry = monitor.bank, monitor.entry
    for m in range(bank.shape[0]):
        for k in range(passage.FILTER_WIDTH):
            entry[m, k] = bank[m, k]
    monitor.stamps[ENTRY_AT] = monitor.stamps[BANK_AT]


@kernel
def report_sign(monitor):
    """Report the expected sign; while noise hides the branch, change it at most once."""
    numbers = monitor.numbers
    reported, entered = numbers[REPORTED], numbers[ENTERED]
    if reported == 0.0 or entered == 0.0 or reported == entered:
        numbers[REPORTED] = expected_sign(monitor)


@kernel
def expected_sign(monitor):
    """Return the sign of the determinant on the branch that the motion leads to."""
    return 1.0 if monitor.numbers[VALUE] > 0.0 else -1.0


@kernel
def is_unsure(monitor):
    """Return whether noise leaves both branches possible."""
    return monitor.numbers[DOUBT] > 0.0 or monitor.numbers[ENTERED] != 0.0
