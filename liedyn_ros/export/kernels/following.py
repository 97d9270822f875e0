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

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.export.kernels import platform as area
from liedyn_ros.export.kernels import tracking as tables
from liedyn_ros.export.kernels.platform import NO_POSE, NOT_CONVERGED, NOT_REACHED
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.pointers import after, as_pointer, as_wholes, cube, table, vector
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.dynamics.kernels import platform as dynamics
from liedyn_ros.stewart.platform.kernels import leg_types, state
from liedyn_ros.stewart.platform.kernels.limits import NEAR_SINGULARITY
from liedyn_ros.stewart.solver.kernels import problem
from liedyn_ros.stewart.solver.kernels.solve import SOLVER_WORK
from liedyn_ros.stewart.tracking.branch.kernels import evidence
from liedyn_ros.stewart.tracking.kernels import follower as followers, sample
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank

# Numbers that are written about a pose: those of platform_solve are the first.
TRACKED = followers.FOUND_SOURCE + 1
BRANCHES, MOTIONS, EVIDENCES = (
    len(tables.EMPTY_BRANCH), len(tables.EMPTY_MOTION), len(tables.EMPTY_EVIDENCE))
motion_of = motion_bank.FILTER.view


@kernel
def follow_platform(constants, work, stamp, lengths, rates, period, pose, out):
    """
    Solve a sample and judge its branch; write TRACKED numbers, and return a code.

    period: s, of the filter; 0 while the motion is unknown.
    """
    of, follower = vector(constants, area.LIMITS), vector(
        after(work, area.FOLLOWER_PART), tables.FOLLOWER_WIDTH)
    count, scale, found = int(of[area.TABLE]), of[area.SCALE], follower[tables.FOUND_AT:]
    judge = vector(after(work, area.BRANCH_PART), BRANCHES)
    rests = vector(after(work, area.EVIDENCE_PART), EVIDENCES)
    values = vector(after(work, area.STATE_PART), state.STATE_SIZE)
    started, rated = follower[followers.GOOD_POSES] > 0.0, as_pointer(rates)
    status = sample.follow_sample(
        vector(after(work, area.SCALED_PART), count), vector(after(work, area.METRES_PART), count),
        scale, of[area.DRIVE_UNITS], settings_of(of), vector(work, 0), judge, rests, follower,
        cube(after(work, area.FOLLOWER_PART), 3, 4, 4),
        vector(as_wholes(after(work, area.STAMPS_PART)), tables.STAMP_COUNT),
        vector(after(work, area.SOLVER_PART), SOLVER_WORK), stamp, vector(lengths, 6),
        vector(rates if rated else lengths, 6), rated, follower[tables.READING_NOISE] / scale,
        False, table(pose, 4, 4), values, found)
    if status != problem.INVALID:
        flags = sample.report_motion(
            judge, evidence.evidence_of(rests).numbers, follower, scale, state.SINGULARITY_WARNING,
            started, vector(after(work, area.MOVED_PART), 6 if period > 0.0 else 0), values, found)
        near = abs(found[followers.FOUND_VALUE]) <= state.SINGULARITY_WARNING
        if status == problem.CONVERGED and near:
            flags |= NEAR_SINGULARITY
        found[followers.FOUND_FLAGS] = flags
        found[followers.FOUND_SIGN] = follower[followers.REPORTED_SIGN]
    followers.copy_numbers(found, vector(out, TRACKED))
    return code_of_solve(status)


@inlined
def code_of_solve(status):
    """Return the code of a solve."""
    if status == problem.INVALID:
        return REFUSED
    return DONE if status == problem.CONVERGED else NOT_CONVERGED


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
def solve_sample(constants, work, lengths, guess, pose, out):
    """Solve from a guess; write what platform_solve does."""
    of = vector(constants, area.LIMITS)
    sample.solve_from(
        vector(after(work, area.SCALED_PART), int(of[area.TABLE])), of[area.SCALE],
        settings_of(of), vector(lengths, 6), guess, vector(after(work, area.RATES_PART), 6), 0.0,
        table(pose, 4, 4), vector(after(work, area.STATE_PART), state.STATE_SIZE),
        vector(after(work, area.SOLVER_PART), SOLVER_WORK), out)
    return code_of_solve(int(out[followers.FOUND_STATUS]))


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
    followers.copy_numbers(read, now)
    if as_pointer(rates):
        followers.copy_numbers(vector(rates, 6), now_rates)
    if period > 0.0:
        add_changes(constants, work, period, latency, now, now_rates)
    elif as_pointer(rates):
        for i in range(6):
            now[i] += latency[i] * now_rates[i]
    elif follower[tables.READING_NOISE] == 0.0 and follower[tables.READS] > 0.0:
        for i in range(6):
            now[i] += latency[i] * ((read[i] - before[i]) / gap)
    followers.copy_numbers(read, before)
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
