# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The steps of a platform's tracker in C: the pose, its twist, and the branch that its motion shows.

constants and work are pointers to those of a platform and to its work area. Readings that are
older than their stamps are moved on to them, as Python's trackers do (14.50): with the noise known
the filter of the legs' motion tells how readings and rates have changed; without it readings move
on at their rates, measured or by the last.
"""

import math

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.export.kernels import platform as area
from liedyn_ros.export.kernels import tracking as tables
from liedyn_ros.export.kernels.platform import NO_POSE, NOT_CONVERGED, NOT_REACHED
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.pointers import after, as_pointer, as_wholes, table, vector
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.dynamics.kernels import platform as dynamics
from liedyn_ros.stewart.platform.kernels import leg_types, state
from liedyn_ros.stewart.solver.kernels import problem
from liedyn_ros.stewart.solver.kernels.solve import solve_six, SOLVER_WORK
from liedyn_ros.stewart.tracking.branch.kernels import branch, evidence
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank

PREDICTED, HOME = 0, 1
# Of what is written about a pose, after the numbers of platform_solve.
(ANSWER_TWIST, ANSWER_TWIST_SPAN, ANSWER_START, ANSWER_FLAGS, ANSWER_SIGN, ANSWER_VALUE_RATE,
 ANSWER_GAP, ANSWER_SOURCE, TRACKED) = 6, 12, 13, 14, 15, 16, 17, 18, 19
BRANCHES, MOTIONS, EVIDENCES = (
    len(tables.EMPTY_BRANCH), len(tables.EMPTY_MOTION), len(tables.EMPTY_EVIDENCE))
motion_of = motion_bank.FILTER.view


@kernel
def follow_platform(constants, work, stamp, lengths, keeps, pose, found):
    """Solve a sample from the last good pose, and from home where that fails; return a code."""
    follower = vector(after(work, area.FOLLOWER_PART), tables.FOLLOWER_WIDTH)
    stamps = vector(as_wholes(after(work, area.STAMPS_PART)), tables.STAMP_COUNT)
    last, twist = table(after(work, area.FOLLOWER_PART + tables.LAST_POSE), 4, 4), vector(
        after(work, area.FOLLOWER_PART + tables.GUESS_TWIST), 6)
    found[ANSWER_START] = HOME
    if follower[tables.GOOD_POSES] > 0.0:
        seconds = tables.write_guess_twist(
            follower, stamps, last, table(after(work, area.FOLLOWER_PART + tables.POSE_BEFORE), 4,
                                          4),
            stamp, vector(lengths, 6))
        found[ANSWER_START] = PREDICTED
        code = solve_sample(constants, work, lengths, last, twist, seconds, pose, found)
        if code != NOT_CONVERGED or keeps:
            return code
        found[ANSWER_START] = HOME
    return solve_sample(
        constants, work, lengths, table(after(work, area.FOLLOWER_PART), 4, 4), twist, 0.0, pose,
        found)


@kernel
def write_lengths(constants, work, pose, lengths):
    """Write the leg lengths (6,) of a pose (4, 4); return a code."""
    legs = vector(after(work, area.METRES_PART), int(vector(constants, area.LIMITS)[area.TABLE]))
    if not dynamics.is_pose(pose):
        return NO_POSE
    r, p = motion.split(pose)
    reached = leg_types.write_leg_ends(legs, r, p)
    for i in range(6):
        lengths[i] = leg_types.leg_value(legs, i, r, p)
    return DONE if reached else NOT_REACHED


@inlined
def settings_of(of):
    """Return the settings of the solver, of a platform's constants."""
    return problem.Settings(
        of[area.SOLVER_DAMPING], int(of[area.SOLVER_ITERATIONS]), of[area.SOLVER_TOLERANCE],
        of[area.STEP_TOLERANCE], of[area.SINGULAR_VALUE])


@kernel
def solve_sample(constants, work, lengths, guess, twist, seconds, pose, found):
    """Solve from a guess moved on for a time (s) at a twist; write what platform_solve does."""
    of = vector(constants, area.LIMITS)
    values = vector(after(work, area.STATE_PART), state.STATE_SIZE)
    status, iterations, residual, smallest = solve_six(
        vector(after(work, area.SCALED_PART), int(of[area.TABLE])), of[area.SCALE],
        vector(lengths, 6), guess, twist, seconds, settings_of(of), table(pose, 4, 4), values,
        vector(after(work, area.SOLVER_PART), SOLVER_WORK))
    found[0], found[1], found[2], found[3] = status, iterations, residual, smallest
    if status == problem.INVALID:
        return REFUSED
    found[4], found[5] = values[state.VALUE_AT], values[state.SLOPE_AT]
    return DONE if status == problem.CONVERGED else NOT_CONVERGED


@kernel
def write_twist(constants, work, stamp, lengths, rates, pose, found):
    """Write the twist of a good pose, NaN for none; the next solve starts from this pose."""
    follower = vector(after(work, area.FOLLOWER_PART), tables.FOLLOWER_WIDTH)
    stamps = vector(as_wholes(after(work, area.STAMPS_PART)), tables.STAMP_COUNT)
    twist, span = found[ANSWER_TWIST:ANSWER_TWIST_SPAN], 0.0
    moves = follower[tables.GOOD_POSES] > 0.0
    rated, last = as_pointer(rates), vector(after(work, area.FOLLOWER_PART + tables.LAST_POSE), 16)
    if rated:
        moves = True
        state.twist(vector(after(work, area.STATE_PART), state.STATE_SIZE),
                    vector(constants, area.LIMITS)[area.SCALE], vector(rates, 6), twist)
        tables.copy_numbers(vector(rates, 6), follower[tables.LAST_RATES:tables.GUESS_TWIST])
    elif moves:
        span = 1e-9 * (stamp - stamps[tables.LAST_AT])
        motion.mean_twist(table(after(work, area.FOLLOWER_PART + tables.LAST_POSE), 4, 4),
                          table(pose, 4, 4), span, twist)
    else:
        twist[:] = math.nan
    found[ANSWER_TWIST_SPAN] = span
    tables.copy_numbers(last, follower[tables.POSE_BEFORE:tables.LAST_LENGTHS])
    tables.copy_numbers(vector(pose, 16), last)
    tables.copy_numbers(vector(lengths, 6), follower[tables.LAST_LENGTHS:tables.LAST_TWIST])
    tables.copy_numbers(twist, follower[tables.LAST_TWIST:tables.LAST_RATES])
    follower[tables.HAS_TWIST], follower[tables.POSE_SPAN] = moves, span
    follower[tables.RATED] = rated
    follower[tables.GOOD_POSES] = min(follower[tables.GOOD_POSES] + 1.0, 2.0)
    stamps[tables.BEFORE_AT], stamps[tables.LAST_AT] = stamps[tables.LAST_AT], stamp


@kernel
def judge_sample(constants, work, stamp, lengths, pose, code, started, found):
    """Write sign, rate, gap and source of the branch of the motion; return its flags."""
    of, follower = vector(constants, area.LIMITS), vector(
        after(work, area.FOLLOWER_PART), tables.FOLLOWER_WIDTH)
    judge, flags = vector(after(work, area.BRANCH_PART), BRANCHES), 0
    numbers = branch.monitor_of(judge).numbers
    noise = follower[tables.READING_NOISE] / of[area.SCALE]
    rests = vector(after(work, area.EVIDENCE_PART), EVIDENCES)
    on = evidence.evidence_of(rests).numbers
    if started and found[ANSWER_START] == HOME:
        evidence.lose_evidence(rests)
    if code == DONE:
        chosen = evidence.judge_evidence(
            rests, vector(after(work, area.SCALED_PART), int(of[area.TABLE])), of[area.SCALE],
            settings_of(of), stamp, vector(lengths, 6), table(pose, 4, 4),
            vector(after(work, area.STATE_PART), state.STATE_SIZE), found[ANSWER_START] == HOME,
            noise)
        _, _, _, unsure, wrong = branch.judge_branch(
            judge, stamp, found[4], found[5], noise, 0.0)
        if chosen and (unsure or wrong):
            follower[tables.REPORTED_SIGN] = 1.0 if found[4] > 0.0 else -1.0
            branch.confirm_branch(judge, int(follower[tables.REPORTED_SIGN]))
            unsure = wrong = False
        elif wrong and not evidence.is_settled(on):
            unsure, wrong = True, False
        flags |= tables.NEAR_SINGULARITY if abs(found[4]) <= state.SINGULARITY_WARNING else 0
        flags |= tables.BRANCH_WRONG if wrong and on[evidence.REASON] == 0.0 else 0
    else:
        found[ANSWER_TWIST:ANSWER_TWIST_SPAN], found[ANSWER_TWIST_SPAN] = math.nan, 0.0
        shortfall = of[area.DRIVE_UNITS] * length_shortfall(constants, work, lengths, pose)
        if shortfall >= 0.0 and branch.is_branch_near(numbers, branch.KEPT_BRANCH):
            branch.judge_branch(judge, stamp, found[4], found[5], noise,
                                shortfall / of[area.SCALE])
        else:
            branch.predict_branch(judge, stamp)
        unsure = branch.is_branch_near(numbers, branch.KEPT_BRANCH)
        flags |= tables.NEAR_SINGULARITY if found[0] == problem.SINGULAR else 0
    flags |= tables.BRANCH_UNSURE if unsure or on[evidence.REASON] > 0.0 else 0
    flags |= tables.MOTION_RESTARTED if on[evidence.RESTARTED] > 0.0 else 0
    found[ANSWER_SIGN], found[ANSWER_VALUE_RATE], found[ANSWER_GAP] = (
        numbers[branch.REPORTED], numbers[branch.VALUE_RATE], numbers[branch.VALUE_GAP])
    if started and follower[tables.REPORTED_SIGN] != found[ANSWER_SIGN]:
        flags |= tables.BRANCH_CROSSED
        if on[evidence.REASON] == 0.0:
            on[evidence.SOURCE] = evidence.MOTION_CODE
    follower[tables.REPORTED_SIGN] = found[ANSWER_SIGN]
    found[ANSWER_SOURCE] = on[evidence.SOURCE] if code == DONE and not flags & (
        tables.BRANCH_UNSURE | tables.BRANCH_WRONG) else evidence.UNSURE_CODE
    return flags


@kernel
def length_shortfall(constants, work, lengths, pose):
    """Return the norm of the error that a solve left in the lengths, -1 where no rod reaches."""
    count = int(vector(constants, area.LIMITS)[area.TABLE])
    legs, read, square = vector(after(work, area.METRES_PART), count), vector(lengths, 6), 0.0
    r, p = motion.split(table(pose, 4, 4))
    if not leg_types.write_leg_ends(legs, r, p):
        return -1.0
    for i in range(6):
        square += (read[i] - leg_types.leg_value(legs, i, r, p)) ** 2
    return square ** 0.5


@kernel
def is_late(constants):
    """Return whether a leg has latency."""
    late = False
    for seconds in vector(after(constants, area.LATENCY), 6):
        late = late or seconds > 0.0
    return late


@kernel
def move_to_stamp(constants, work, gap, period, lengths, rates):
    """
    Return pointers to lengths and rates at the stamp; rates stay NULL.

    gap: s, since the sample before. period: s, of the filter; 0 while the motion is unknown.
    """
    follower = vector(after(work, area.FOLLOWER_PART), tables.FOLLOWER_WIDTH)
    read = vector(lengths, 6)
    now = follower[tables.LENGTHS_NOW:tables.RATES_NOW]
    now_rates = follower[tables.RATES_NOW:tables.READING_LIMITS]
    before = follower[tables.LENGTHS_READ:tables.LENGTHS_NOW]
    latency = vector(after(constants, area.LATENCY), 6)
    tables.copy_numbers(read, now)
    if as_pointer(rates):
        tables.copy_numbers(vector(rates, 6), now_rates)
    if period > 0.0:
        add_changes(constants, work, period, latency, now, now_rates)
    elif as_pointer(rates):
        for i in range(6):
            now[i] += latency[i] * now_rates[i]
    elif follower[tables.READING_NOISE] == 0.0 and follower[tables.READS] > 0.0:
        for i in range(6):
            now[i] += latency[i] * ((read[i] - before[i]) / gap)
    tables.copy_numbers(read, before)
    follower[tables.READS] = 1.0
    return after(work, area.FOLLOWER_PART + tables.LENGTHS_NOW), (
        after(work, area.FOLLOWER_PART + tables.RATES_NOW) if as_pointer(rates) else rates)


@kernel
def add_changes(constants, work, period, latency, now, now_rates):
    """Add the filter's changes since each reading; its rates are then at the stamp."""
    motion = motion_of(vector(after(work, area.MOTION_PART), MOTIONS))
    rates, mixture = vector(after(work, area.MOVED_PART), 6), motion.mixture
    motion_bank.mix_members(motion.bank, period, motion.now[motion_bank.FRESH_COUNT], 0.0,
                            motion.work, mixture)
    for i in range(6):
        now[i] -= mixture[motion_bank.MIXED_WIDTH + i] / motion.scales[i]
        now_rates[i] -= mixture[motion_bank.MIXED_WIDTH + 6 + i] / motion.scales[i]
    for i in range(6):
        motion_bank.mix_members(motion.bank, period, motion.now[motion_bank.FRESH_COUNT],
                                latency[i], motion.work, mixture)
        now[i] += mixture[motion_bank.MIXED_WIDTH + i] / motion.scales[i]
        rates[i] = mixture[motion_bank.MIXED_WIDTH + 6 + i] / motion.scales[i]
        now_rates[i] += rates[i]
