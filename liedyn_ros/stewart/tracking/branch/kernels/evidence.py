# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Judgement of starts and gaps: whether home, or the last pose, chooses among poses of equal lengths.

A pose stands at a start as likely d away from home as 2 d: of six dimensions its density falls
with d^-6, and equal lengths are as likely as 1/|det J|. The word of home chooses a pose where the
odds against any other are SURE (11.14). Where a search finds no other, the signed value tells how
far one may be: it falls from one pose to zero and on to the other.
"""

import math

import numpy as np

from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.lie.kernels import motion, vec3
from liedyn_ros.linear_algebra.kernels.orthogonal import orthogonalize_columns, write_identity
from liedyn_ros.stewart.platform.kernels import leg_rows
from liedyn_ros.stewart.platform.kernels import state as platform
from liedyn_ros.stewart.solver.kernels.biases import copy_pose
from liedyn_ros.stewart.solver.kernels.problem import CONVERGED
from liedyn_ros.stewart.solver.kernels.solve import solve_six, SOLVER_WORK
from liedyn_ros.stewart.tracking.branch.kernels.branch import (
    KEPT_BRANCH, LOG_ODDS_LIMIT, PREDICTION_LIMIT, SHARPNESS_TIME)
from liedyn_ros.stewart.tracking.branch.kernels.guess import is_predictable
from liedyn_ros.stewart.tracking.branch.kernels.separation import separation

LOOK_NS = 100_000_000  # between two looks at home, and over which rates are measured
# Chi-square of six legs' noise at two times, 1000 to 1, in variances of one
STANDSTILL_CHI_SQUARE = 45.0
SAME_POSE = 1e-3  # separation of two solves of one pose, at most
# Rad, characteristic lengths: where a search for other poses starts, along each way (11.14).
SEARCH_OFFSETS = (-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0)
# Sources of the evidence of a branch, as in StewartStatus.
UNSURE_CODE, HOME_CODE, MOTION_CODE, SENSOR_CODE, PROVED_CODE = range(5)
# Reasons why a branch rests on nothing.
NO_REASON, START_REASON, GAP_REASON, HOME_DISAGREES = range(4)

EVIDENCE = Bundle(
    'BranchEvidence',
    home=MATRIX, last=MATRIX, seen=MATRIX,  # (4, 4), m; seen at the last look
    left=MATRIX,  # (4, 4), m, from which the way of the last half second is measured
    second=MATRIX,  # (4, 4), m, the likeliest other pose that was found
    led=MATRIX,  # (4, 4), m, to which a solve from home leads
    guess=MATRIX, found=MATRIX, twist=VECTOR,  # of a solve
    columns=MATRIX, mix=MATRIX, size=VECTOR, ways=MATRIX,  # of J; (3, 6) twists
    values=VECTOR, other=VECTOR, work=VECTOR,  # states of poses, and a solver's workspace
    centre=VECTOR,  # (3,), m, of the platform joints
    numbers=VECTOR, stamps=INTEGERS)
evidence_of = EVIDENCE.view

# Numbers. WAS_JUDGED: whether a pose was judged. RESTARTED: whether a motion was lost. GREATEST:
# rate of this session, rad and characteristic lengths a second, over LOOKS looks. WIDEST: greatest
# way of half a second: a vibration goes nowhere, however fast. SEEN: whether there was a look
# since the start. REGULAR: looks away from any singularity. VALUE, SLOPE: of home and of the last
# pose. APART, ODDS: of the likeliest other pose from the reference, and its odds. STARTS: and gaps
# that were judged; a proof is of one of them.
(SOURCE, REASON, WAS_JUDGED, RESTARTED, GREATEST, WIDEST, LOOKS, SEEN, REGULAR, HOME_VALUE,
 HOME_SLOPE, LAST_VALUE, LAST_SLOPE, APART, ODDS, STARTS, EVIDENCE_WIDTH) = range(17)
# In ns; LAST_SPAN: between the last two poses
LAST_AT, SEEN_AT, LEFT_AT, LAST_SPAN, EVIDENCE_STAMPS = range(5)


def empty_evidence():
    """Return the buffer of the evidence of a platform without home."""
    pose = np.eye(4)
    return EVIDENCE.pack(
        home=pose, last=pose, seen=pose, left=pose, second=pose, led=pose, guess=pose, found=pose,
        twist=np.zeros(6), columns=np.zeros((6, 6)), mix=np.zeros((6, 6)), size=np.zeros(6),
        ways=np.zeros((3, 6)),
        values=np.zeros(platform.STATE_SIZE), other=np.zeros(platform.STATE_SIZE),
        work=np.zeros(SOLVER_WORK), centre=np.zeros(3), numbers=np.zeros(EVIDENCE_WIDTH),
        stamps=np.zeros(EVIDENCE_STAMPS, dtype=np.int64))


@kernel
def set_home(buffer: VECTOR, legs: VECTOR, scale: NUMBER, home: MATRIX):
    """Begin with a home pose (4, 4), m; legs: the table of six, in a scale (m)."""
    evidence = evidence_of(buffer)
    copy_pose(home, evidence.home)
    for k in range(3):
        evidence.centre[k] = 0.0
        for i in range(6):
            at = leg_rows.ENDS // 2 + 3 * i
            if leg_rows.has_rows(legs):
                at = leg_rows.row_at(legs, i) + leg_rows.PLATFORM
            evidence.centre[k] += scale * legs[at + k] / 6.0
    platform.examine_pose(legs, scale, home, evidence.values, evidence.work)
    evidence.numbers[HOME_VALUE] = evidence.values[platform.VALUE_AT]
    evidence.numbers[HOME_SLOPE] = evidence.values[platform.SLOPE_AT]
    clear_motion(evidence)


@kernel
def forget_evidence(buffer: VECTOR):
    """Forget everything but home: the next pose is a start."""
    clear_motion(evidence_of(buffer))


@kernel
def lose_evidence(buffer: VECTOR):
    """Forget everything but home after a motion that was lost: nobody asked for the next start."""
    evidence = evidence_of(buffer)
    clear_motion(evidence)
    evidence.numbers[RESTARTED] = 1.0


@kernel
def confirm_evidence(numbers: VECTOR, source: WHOLE):
    """Take the present branch for the right one, on the word of a source."""
    numbers[SOURCE], numbers[REASON], numbers[RESTARTED] = source, NO_REASON, 0.0


@kernel
def keep_evidence(buffer: VECTOR, stamp_ns: WHOLE, pose: MATRIX, values: VECTOR):
    """Keep a pose (4, 4), m, and its state, as that before the next sample."""
    store_last_pose(evidence_of(buffer), stamp_ns, pose, values)


@kernel
def judge_evidence(
        buffer, legs, scale, settings, stamp_ns, lengths, pose, values, from_home, noise):
    """
    Judge the pose (4, 4), m, of a sample, whose state is measured; tell whether home chose it now.

    from_home: whether its solve began there. noise: standard deviation of a length, in
    characteristic lengths. Settings are those of the solver.
    """
    evidence = evidence_of(buffer)
    numbers = evidence.numbers
    gap, chosen = stamp_ns - evidence.stamps[LAST_AT], False
    if numbers[WAS_JUDGED] == 0.0 or from_home:
        if numbers[WAS_JUDGED] > 0.0:
            lose_evidence(buffer)
        numbers[WAS_JUDGED] = 1.0
        if not is_chosen_by_home(evidence, legs, scale, settings, lengths, pose, values):
            numbers[REASON] = START_REASON
    elif not is_predictable(1e-9 * gap, 1e-9 * evidence.stamps[LAST_SPAN]):
        chosen = judge_gap(
            evidence, legs, scale, settings, 1e-9 * gap, lengths, pose, values, noise)
    else:
        chosen = follow(evidence, legs, scale, settings, stamp_ns, lengths, pose, values)
    store_last_pose(evidence, stamp_ns, pose, values)
    return chosen


@kernel
def is_settled(numbers):
    """Return whether a motion was followed that is long enough to contradict the start."""
    return numbers[REGULAR] * LOOK_NS >= 1e9 * SHARPNESS_TIME


@kernel
def clear_motion(evidence):
    """Forget everything but home."""
    for k in range(HOME_VALUE):
        evidence.numbers[k] = 0.0
    evidence.numbers[SOURCE] = HOME_CODE


@kernel
def store_last_pose(evidence, stamp_ns, pose, values):
    """Keep a pose and its state."""
    copy_pose(pose, evidence.last)
    stamps = evidence.stamps
    if stamp_ns != stamps[LAST_AT]:  # no other pose of the same sample
        stamps[LAST_SPAN], stamps[LAST_AT] = stamp_ns - stamps[LAST_AT], stamp_ns
    evidence.numbers[LAST_VALUE] = values[platform.VALUE_AT]
    evidence.numbers[LAST_SLOPE] = values[platform.SLOPE_AT]


@kernel
def judge_gap(evidence, legs, scale, settings, gap, lengths, pose, values, noise):
    """
    Judge the first pose after a gap (s) by what the platform could have done; as look_at_home.

    It is taken to be no faster than ever: of n rates, each as likely below the greatest possible,
    that is below the greatest seen times 1000^(1/n), 1000 to 1. If the gap shows that it was
    faster, nothing bounds its way.
    """
    numbers = evidence.numbers
    apart = separation_of(evidence, scale, evidence.last, pose)
    if (apart * values[platform.VALUE_AT]) ** 2 <= STANDSTILL_CHI_SQUARE * noise * noise:
        return False
    reach, numbers[SEEN] = math.inf, 0.0
    if numbers[LOOKS] > 0.0:
        rate = numbers[GREATEST]
        if gap > PREDICTION_LIMIT:
            rate = min(rate, numbers[WIDEST] / PREDICTION_LIMIT)
        reach = rate * gap * math.exp(LOG_ODDS_LIMIT / numbers[LOOKS])
    if apart > reach:
        reach = math.inf
    search_others(evidence, legs, scale, settings, lengths, evidence.last, pose, values)
    way = distance_through_singularity(numbers[LAST_VALUE], numbers[LAST_SLOPE], values)
    if min(way, numbers[APART]) >= reach:
        return False
    numbers[REASON] = GAP_REASON
    return look_at_home(evidence, legs, scale, settings, lengths, pose)


@kernel
def follow(evidence, legs, scale, settings, stamp_ns, lengths, pose, values):
    """Take the next pose of a motion; look at home at times, as look_at_home."""
    numbers = evidence.numbers
    since, first = stamp_ns - evidence.stamps[SEEN_AT], numbers[SEEN] == 0.0
    if not first:
        if since < LOOK_NS:
            return False
        rate = 1e9 * separation_of(evidence, scale, evidence.seen, pose) / since
        numbers[GREATEST] = max(numbers[GREATEST], rate)
        numbers[WIDEST] = max(numbers[WIDEST], separation_of(evidence, scale, evidence.left, pose))
        numbers[LOOKS] += 1.0
    if first or stamp_ns - evidence.stamps[LEFT_AT] >= 1e9 * PREDICTION_LIMIT:
        evidence.stamps[LEFT_AT] = stamp_ns
        copy_pose(pose, evidence.left)
    numbers[SEEN], evidence.stamps[SEEN_AT] = 1.0, stamp_ns
    copy_pose(pose, evidence.seen)
    numbers[REGULAR] += 1.0 if abs(values[platform.VALUE_AT]) > KEPT_BRANCH else 0.0
    if first or (numbers[SOURCE] != HOME_CODE and numbers[REASON] == NO_REASON):
        return False
    return look_at_home(evidence, legs, scale, settings, lengths, pose)


@kernel
def look_at_home(evidence, legs, scale, settings, lengths, pose):
    """Compare a pose with the one that a solve from home leads to; tell whether home chose it."""
    numbers, values = evidence.numbers, evidence.values
    copy_pose(evidence.home, evidence.guess)
    status, _, _, _ = solve_six(
        legs, scale, lengths, evidence.guess, evidence.twist, 0.0, settings, evidence.found,
        values, evidence.work)
    if status != CONVERGED:
        return False
    same = separation_of(evidence, scale, evidence.found, pose) <= SAME_POSE
    if same and numbers[REASON] == NO_REASON and numbers[RESTARTED] == 0.0:
        return False
    copy_pose(evidence.found, evidence.led)
    if not is_chosen_by_home(evidence, legs, scale, settings, lengths, evidence.led, values):
        return False
    if same:
        confirm_evidence(numbers, HOME_CODE)
    else:
        numbers[REASON] = HOME_DISAGREES
    return same


@kernel
def is_chosen_by_home(evidence, legs, scale, settings, lengths, pose, values):
    """Return whether home's word chooses a pose among those of the same lengths (11.14)."""
    numbers = evidence.numbers
    search_others(evidence, legs, scale, settings, lengths, evidence.home, pose, values)
    if numbers[APART] < math.inf:
        return numbers[ODDS] >= LOG_ODDS_LIMIT
    way = distance_through_singularity(numbers[HOME_VALUE], numbers[HOME_SLOPE], values)
    return way >= separation_of(evidence, scale, evidence.home, pose)


@kernel
def search_others(evidence, legs, scale, settings, lengths, reference, pose, values):
    """
    Write the likeliest other pose of lengths, its separation from a reference, and the odds.

    Solves from both sides look for it, along the three ways that change the lengths least. APART
    is infinite where they find none. The state is that of the pose.
    """
    numbers, own = evidence.numbers, separation_of(evidence, scale, reference, pose)
    likely = factor_jacobian(evidence, values)
    numbers[APART], numbers[ODDS] = math.inf, math.inf
    for least in range(3):
        write_weak_twist(evidence, scale, least)
    for least in range(3):
        for share in SEARCH_OFFSETS:
            motion.move_pose(pose, evidence.ways[least], share, evidence.guess)
            status, _, _, _ = solve_six(
                legs, scale, lengths, evidence.guess, evidence.twist, 0.0, settings,
                evidence.found, evidence.other, evidence.work)
            if status != CONVERGED or separation_of(
                    evidence, scale, pose, evidence.found) <= SAME_POSE:
                continue
            apart = separation_of(evidence, scale, reference, evidence.found)
            odds = 6.0 * math.log(apart / own) + likely - factor_jacobian(
                evidence, evidence.other)  # (11.14)
            numbers[APART] = min(numbers[APART], apart)
            if odds < numbers[ODDS]:
                numbers[ODDS] = odds
                copy_pose(evidence.found, evidence.second)


@kernel
def factor_jacobian(evidence, values):
    """Write singular values and right vectors of the J of a state; return log(1 / |det J|)."""
    for i in range(6):
        for j in range(6):
            evidence.columns[j, i] = values[6 * i + j]
    write_identity(evidence.mix)
    orthogonalize_columns(evidence.columns, evidence.mix, evidence.size)
    likely = 0.0
    for k in range(6):
        likely -= math.log(evidence.size[k])
    return likely


@kernel
def write_weak_twist(evidence, scale, least):
    """Write the twist, rad and m, that changes the lengths least, second or third least."""
    at = 0
    for k in range(6):
        if evidence.size[k] < evidence.size[at]:
            at = k
    evidence.size[at] = math.inf
    for k in range(6):
        evidence.ways[least, k] = evidence.mix[at, k] * (1.0 if k < 3 else scale)


@kernel
def distance_through_singularity(value, slope, values):
    """
    Return how far it is from a pose to a singularity and on to the second pose of another.

    The signed value changes along the null twist by its slope. Along others it changes by about
    as much as the platform moves.
    """
    steepest = max(1.0, abs(slope), abs(values[platform.SLOPE_AT]))
    return (abs(value) + abs(values[platform.VALUE_AT])) / steepest


@kernel
def separation_of(evidence, scale, first, second):
    """Return the separation of two poses, rad and characteristic lengths."""
    return separation(first, second, vec3.load(evidence.centre, 0), scale)
