# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A sample of six lengths: its pose (11.5), and the judgement of its branch (11.11, 11.14).

`follow_sample` solves and judges; `report_motion` writes what is then said about the pose. Between
the two a redundant sensor, or a second pose that is followed, may still choose another one.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, NUMBER, TRUTH, VECTOR, WHOLE
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.certificate.kernels.travel import is_proved_pose, write_travel_start
from liedyn_ros.stewart.platform.kernels import leg_types, limits, state
from liedyn_ros.stewart.solver.kernels import problem
from liedyn_ros.stewart.solver.kernels.solve import solve_six
from liedyn_ros.stewart.tracking.branch.kernels import branch, evidence
from liedyn_ros.stewart.tracking.kernels.follower import (
    BRANCH_DOUBT, BRANCH_RATE, EVIDENCE_REASON, follow_pose, FOUND_FLAGS, FOUND_GAP,
    FOUND_ITERATIONS, FOUND_RATE, FOUND_RESIDUAL, FOUND_SIGN, FOUND_SLOPE, FOUND_SMALLEST,
    FOUND_SOURCE, FOUND_START, FOUND_STATUS, FOUND_TWIST, FOUND_VALUE, GOOD_POSES, GUESS_TWIST,
    HAS_CROSSED, HOME_POSE, IS_UNSURE, IS_WRONG, LAST_GOOD, LAST_POSE, REPORTED_SIGN, TWIST_SPAN,
    UNTIL, write_guess_twist)

PREDICTED_START, HOME_START = 0, 1
# Flags of a sample, as in Flag
APPROACHING_SINGULARITY, BRANCH_CROSSED, BRANCH_UNSURE, BRANCH_WRONG, MOTION_RESTARTED = (
    2, 4, 8, 16, 32)


@kernel
def follow_sample(
        joints: VECTOR, legs: VECTOR, scale: NUMBER, unit: NUMBER, settings: problem.Settings,
        travel: VECTOR, judge: VECTOR, rests: VECTOR, follower: VECTOR, poses: CUBE,
        stamps: INTEGERS, work: VECTOR, stamp_ns: WHOLE, lengths: VECTOR, rates: VECTOR,
        rated: TRUTH, noise: NUMBER, doubtful: TRUTH, pose: MATRIX, values: VECTOR,
        found: VECTOR) -> WHOLE:
    """
    Solve six lengths from the last good pose, and judge the branch; return the status.

    joints, legs: the table of legs in units of the scale (m), and in m. unit: m at a drive's end
    of a reading's unit. travel: of travel.py. judge, rests: buffers of a branch monitor and of
    evidence. rated: whether rates (6,) are measured. noise: standard deviation of a length, in
    characteristic lengths. doubtful: whether readings jumped: then the branch is that of the
    motion before. Writes pose (4, 4), m, its state, and what is found.
    """
    numbers, on = branch.monitor_of(judge).numbers, evidence.evidence_of(rests).numbers
    near = branch.is_branch_near(numbers, branch.KEPT_BRANCH)
    started, since = follower[GOOD_POSES] > 0.0, stamp_ns - stamps[LAST_GOOD]
    status = solve_from_last(joints, scale, settings, travel, follower, poses, stamps, work, near,
                             stamp_ns, lengths, rates, rated, pose, values, found)
    from_home = found[FOUND_START] == HOME_START
    if status == problem.INVALID:
        return status
    if started and from_home:
        evidence.lose_evidence(rests)
    if status != problem.CONVERGED:
        judge_unsolved(legs, scale, unit, judge, stamp_ns, lengths, noise, doubtful, pose, found)
        return status
    if doubtful:
        pass_over(judge, follower, stamp_ns, found)
        return status
    if from_home or on[evidence.WAS_JUDGED] == 0.0 or since > 1e9 * branch.PREDICTION_LIMIT:
        on[evidence.STARTS] += 1.0
    sure = evidence.judge_evidence(
        rests, joints, scale, settings, stamp_ns, lengths, pose, values, from_home, noise)
    if len(travel) > 0 and is_proved_pose(travel, scale, lengths, pose):
        sure = True
        evidence.confirm_evidence(on, evidence.PROVED_CODE)
    judge_motion(judge, on, follower, stamp_ns, noise, sure, found)
    return status


@kernel
def track_sample(
        joints: VECTOR, legs: VECTOR, scale: NUMBER, unit: NUMBER, settings: problem.Settings,
        travel: VECTOR, judge: VECTOR, rests: VECTOR, follower: VECTOR, poses: CUBE,
        stamps: INTEGERS, work: VECTOR, bounds: VECTOR, driven: TRUTH, warning: NUMBER,
        warning_time: NUMBER, stamp_ns: WHOLE, lengths: VECTOR, rates: VECTOR, rated: TRUTH,
        noise: NUMBER, doubtful: TRUTH, flags: WHOLE, moved: VECTOR, ends: TRUTH, pose: MATRIX,
        values: VECTOR, margins: VECTOR, found: VECTOR):
    """
    Follow a sample as `follow_sample`, and report it where that ends it; return status and flags.

    moved: begins with the rates of report_sample, whose other arguments are the same; or empty.
    """
    started = follower[GOOD_POSES] > 0.0
    status = follow_sample(
        joints, legs, scale, unit, settings, travel, judge, rests, follower, poses, stamps, work,
        stamp_ns, lengths, rates, rated, noise, doubtful, pose, values, found)
    if ends and status != problem.INVALID:
        flags = report_sample(judge, rests, follower, legs, bounds, driven, scale, warning,
                              warning_time, started, flags, moved[:6], pose, values, margins,
                              found)
    return status, flags


@kernel
def solve_from_last(
        joints: VECTOR, scale: NUMBER, settings: problem.Settings, travel: VECTOR,
        follower: VECTOR, poses: CUBE, stamps: INTEGERS, work: VECTOR, keeps: TRUTH,
        stamp_ns: WHOLE, lengths: VECTOR, rates: VECTOR, rated: TRUTH, pose: MATRIX,
        values: VECTOR, found: VECTOR) -> WHOLE:
    """Solve six lengths from the last good pose, which a good one becomes; return the status."""
    for k in range(len(found)):
        found[k] = math.nan if FOUND_TWIST <= k < TWIST_SPAN else 0.0
    solve_next(joints, scale, settings, travel, follower, poses, stamps, keeps, stamp_ns, lengths,
               pose, values, work, found)
    status = int(found[FOUND_STATUS])
    if status == problem.CONVERGED:
        if rated:
            state.twist(values, scale, rates, found[FOUND_TWIST:TWIST_SPAN])
        follow_pose(follower, poses, stamps, stamp_ns, lengths, rates, rated, pose, found)
    return status


@kernel
def solve_next(
        joints, scale, settings, travel, follower, poses, stamps, keeps, stamp_ns, lengths, pose,
        values, work, found):
    """
    Solve from the last good pose, and from home where there is none, or where that fails.

    keeps: whether the pose may be near a singularity, so that home may lead to another branch.
    """
    twist = follower[GUESS_TWIST:GOOD_POSES]
    if follower[GOOD_POSES] > 0.0:
        seconds = write_guess_twist(follower, poses, stamps, stamp_ns, lengths)
        found[FOUND_START] = PREDICTED_START
        solve_from(joints, scale, settings, lengths, poses[LAST_POSE], twist, seconds, pose,
                   values, work, found)
        status = int(found[FOUND_STATUS])
        if status == problem.CONVERGED or status == problem.INVALID or keeps:
            return
    found[FOUND_START] = HOME_START
    if len(travel) > 0:
        write_travel_start(travel, lengths, pose)
        solve_from(joints, scale, settings, lengths, pose, twist, 0.0, pose, values, work, found)
    else:
        solve_from(joints, scale, settings, lengths, poses[HOME_POSE], twist, 0.0, pose, values,
                   work, found)


@kernel
def solve_from(
        joints, scale, settings, lengths, guess, twist, seconds, pose, values, work, found):
    """Solve from a guess moved on for a time (s) at a twist; write what is found."""
    (found[FOUND_STATUS], found[FOUND_ITERATIONS], found[FOUND_RESIDUAL],
     found[FOUND_SMALLEST]) = solve_six(
        joints, scale, lengths, guess, twist, seconds, settings, pose, values, work)
    if int(found[FOUND_STATUS]) != problem.INVALID:
        found[FOUND_VALUE], found[FOUND_SLOPE] = values[state.VALUE_AT], values[state.SLOPE_AT]


@kernel
def judge_unsolved(legs, scale, unit, judge, stamp_ns, lengths, noise, doubtful, pose, found):
    """Judge a solve that failed: near a singularity noise alone can cause it."""
    found[FOUND_TWIST:TWIST_SPAN] = math.nan
    found[TWIST_SPAN] = found[IS_WRONG] = 0.0
    shortfall = -1.0
    if not doubtful and branch.is_branch_near(
            branch.monitor_of(judge).numbers, branch.KEPT_BRANCH):
        shortfall = length_shortfall(legs, lengths, pose)
    if shortfall >= 0.0:
        branch.judge_branch(judge, stamp_ns, found[FOUND_VALUE], found[FOUND_SLOPE], noise,
                            unit * shortfall / scale)
    else:
        branch.predict_branch(judge, stamp_ns)
    numbers = branch.monitor_of(judge).numbers
    found[FOUND_SIGN], found[FOUND_RATE], found[FOUND_GAP] = (
        numbers[branch.REPORTED], numbers[branch.VALUE_RATE], numbers[branch.VALUE_GAP])
    found[IS_UNSURE] = branch.is_branch_near(numbers, branch.KEPT_BRANCH)


@kernel
def length_shortfall(legs, lengths, pose):
    """Return the norm of the error that a solve left in the lengths, -1 where no rod reaches."""
    r, p = motion.split(pose)
    if not leg_types.write_leg_ends(legs, r, p):
        return -1.0
    square = 0.0
    for i in range(6):
        square += (lengths[i] - leg_types.leg_value(legs, i, r, p)) ** 2
    return square ** 0.5


@kernel
def pass_over(judge: VECTOR, follower: VECTOR, stamp_ns: WHOLE, found: VECTOR) -> None:
    """Judge the pose of readings that jump: the branch is that of the motion before."""
    branch.predict_branch(judge, stamp_ns)
    sign = branch.monitor_of(judge).numbers[branch.REPORTED]
    found[FOUND_SIGN], found[FOUND_RATE], found[FOUND_GAP] = sign, follower[BRANCH_RATE], 0.0
    found[IS_UNSURE] = follower[BRANCH_DOUBT]
    found[IS_WRONG] = sign != 0.0 and sign != (1.0 if found[FOUND_VALUE] > 0.0 else -1.0)


@kernel
def judge_motion(judge, on, follower, stamp_ns, noise, sure, found):
    """
    Judge the branch of a pose by the motion.

    sure: whether home's word has chosen the pose now, or it is proved. Where the motion
    contradicts a start that no motion has settled, both poses are possible.
    """
    sign, rate, gap, unsure, wrong = branch.judge_branch(
        judge, stamp_ns, found[FOUND_VALUE], found[FOUND_SLOPE], noise, 0.0)
    if (unsure or wrong) and sure:
        sign = 1 if found[FOUND_VALUE] > 0.0 else -1
        branch.confirm_branch(judge, sign)
        follower[REPORTED_SIGN] = sign
        unsure = wrong = False
    elif wrong and not evidence.is_settled(on):
        unsure, wrong = True, False
    found[FOUND_SIGN], found[FOUND_RATE], found[FOUND_GAP] = sign, rate, gap
    found[IS_UNSURE], found[IS_WRONG] = unsure, wrong


@kernel
def report_motion(judge, on, follower, scale, warning, started, rates, values, found):
    """
    Write the twist and the source of a pose; return the flags of its branch.

    started: whether there was a pose before. rates: of legs at the stamp by their motion, (6,),
    or none: then a twist that is a difference stays so, as it does near a singularity.
    """
    converged = int(found[FOUND_STATUS]) == problem.CONVERGED
    if len(rates) == 6 and found[TWIST_SPAN] > 0.0 and abs(found[FOUND_VALUE]) > warning:
        state.twist(values, scale, rates, found[FOUND_TWIST:TWIST_SPAN])
        found[TWIST_SPAN] = 0.0
    before, flags = follower[REPORTED_SIGN], 0
    follower[REPORTED_SIGN] = branch.monitor_of(judge).numbers[branch.REPORTED]
    if started and follower[REPORTED_SIGN] != before:
        flags |= BRANCH_CROSSED
        follower[HAS_CROSSED] = 1.0
        if on[evidence.REASON] == 0.0 and on[evidence.SOURCE] != evidence.PROVED_CODE:
            on[evidence.SOURCE] = evidence.MOTION_CODE
    flags |= MOTION_RESTARTED if on[evidence.RESTARTED] > 0.0 else 0
    flags |= BRANCH_UNSURE if found[IS_UNSURE] > 0.0 or on[evidence.REASON] > 0.0 else 0
    # Where the branch rests on nothing, the last one may have been left.
    flags |= BRANCH_WRONG if found[IS_WRONG] > 0.0 and on[evidence.REASON] == 0.0 else 0
    if not converged and int(found[FOUND_STATUS]) == problem.SINGULAR:
        flags |= limits.NEAR_SINGULARITY
    found[EVIDENCE_REASON], found[FOUND_SOURCE] = on[evidence.REASON], evidence.UNSURE_CODE
    if converged and not flags & (BRANCH_UNSURE | BRANCH_WRONG):
        found[FOUND_SOURCE] = on[evidence.SOURCE]
    return flags


@kernel
def report_sample(
        judge: VECTOR, rests: VECTOR, follower: VECTOR, legs: VECTOR, bounds: VECTOR,
        driven: TRUTH, scale: NUMBER, warning: NUMBER, warning_time: NUMBER, started: TRUTH,
        flags: WHOLE, rates: VECTOR, pose: MATRIX, values: VECTOR, margins: VECTOR, found: VECTOR
        ) -> WHOLE:
    """
    Write twist, source, time to the singularity and margins of a pose; return its flags.

    flags: of the legs. bounds: of the platform, as limits.py has them; driven: whether drives have
    dead centres. warning, warning_time: the signed value that is near a singularity, and s before.
    Others are as in report_motion.
    """
    on = evidence.evidence_of(rests).numbers
    flags |= report_motion(judge, on, follower, scale, warning, started, rates, values, found)
    found[UNTIL] = math.inf
    if int(found[FOUND_STATUS]) == problem.CONVERGED:
        follower[BRANCH_RATE], follower[BRANCH_DOUBT] = found[FOUND_RATE], found[IS_UNSURE]
        found[UNTIL] = time_until(found[FOUND_VALUE], found[FOUND_RATE], warning)
        flags |= APPROACHING_SINGULARITY if 0.0 < found[UNTIL] < warning_time else 0
        flags |= limits.limit_flags(
            legs, bounds, pose, driven, found[FOUND_VALUE], warning, margins)
    found[FOUND_FLAGS] = flags
    return flags


@kernel
def time_until(signed_value: NUMBER, rate: NUMBER, threshold: NUMBER) -> NUMBER:
    """
    Return when the smallest singular value falls to a threshold, in s, at its present rate.

    rate: of the signed value, 1/s. 0 where it is below already, infinite where it rises.
    """
    margin = abs(signed_value) - threshold
    closing = -rate * math.copysign(1.0, signed_value)
    if margin <= 0.0:
        return 0.0
    return margin / closing if closing > 0.0 else math.inf
