# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Functions of the C library for Stewart platforms, on pointers, by Python's kernels.

constants are those of a platform, work is a work area (kernels/platform.py). Returns DONE or a
code of its own. The pose sample by sample is found by the stages of a MonitoredTracker: a gate,
the filter of the legs' motion, the solve, and the judgement of the branch. A solve starts from the
last good pose, or from home.
"""

import math

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.export.kernels import platform as area
from liedyn_ros.export.kernels import tracking as tables
from liedyn_ros.export.kernels.following import (
    BRANCHES, EVIDENCES, follow_platform, is_late, MOTIONS, move_to_stamp, solve_sample, TRACKED,
    write_lengths)
from liedyn_ros.export.kernels.platform import (
    BEYOND, NO_POSE, NOT_PROVED, NOT_REACHED, NOT_STARTED, PLATFORM_SINGULAR, TOO_LATE)
from liedyn_ros.jit.pointers import after, as_pointer, as_wholes, COUNT, NUMBERS, table, vector
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.certificate.kernels import pose as certificate
from liedyn_ros.stewart.dynamics.kernels import leg as leg_dynamics
from liedyn_ros.stewart.dynamics.kernels import platform as dynamics
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, limits, state
from liedyn_ros.stewart.tracking.branch.kernels import branch, evidence
from liedyn_ros.stewart.tracking.kernels import follower as followers
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank

EMPTY_BRANCH, EMPTY_EVIDENCE = tables.EMPTY_BRANCH, tables.EMPTY_EVIDENCE
EMPTY_MOTION = tables.EMPTY_MOTION
motion_of = motion_bank.FILTER.view


def platform_accepts(constants: NUMBERS, count: COUNT) -> COUNT:
    """Return 0 where constants are those of a platform."""
    if count < area.numbers(leg_rows.ENDS):
        return 1
    of = vector(constants, area.LIMITS)
    legs = of[area.TABLE]
    if legs != leg_rows.ENDS and legs != area.LONGEST:
        return 1
    good = (of[area.SCALE] > 0.0 and math.isfinite(of[area.SCALE])
            and 1.0 <= of[area.SOLVER_ITERATIONS] <= area.ITERATION_LIMIT)
    for i in range(7):  # six scales and the unit
        good &= of[area.SCALES + i] > 0.0 and math.isfinite(of[area.SCALES + i])
    for i in range(6):
        good &= 0.0 <= of[area.LATENCY + i] <= area.LONGEST_LATENCY
    return 0 if good and count == area.numbers(int(legs)) else 1


def platform_part(constants: NUMBERS, part: COUNT) -> COUNT:
    """Return whether a platform has PROVABLE or MASSES."""
    return 1 if vector(constants, area.LIMITS)[part] != 0.0 else 0


def platform_work_size(order: COUNT) -> COUNT:
    """Return the size of a work area for derivatives to an order, in numbers of eight bytes."""
    return area.work_size(order)


def platform_prepare(constants: NUMBERS, work: NUMBERS, order: COUNT) -> COUNT:
    """Write zeros, and copies of what kernels write into."""
    count = int(vector(constants, area.LIMITS)[area.TABLE])
    values = vector(work, area.work_size(order))
    values[:] = 0.0
    given_tables = vector(after(constants, area.scaled_at()), 3 * count
                          + certificate.CENTRED_TABLE)
    for i in range(count):
        values[area.SCALED_PART + i] = given_tables[i]
        values[area.METRES_PART + i] = given_tables[count + i]
    for i in range(count + certificate.CENTRED_TABLE):
        values[area.KNOWN_PART + i] = given_tables[2 * count + i]
    return DONE


def platform_lengths(constants: NUMBERS, work: NUMBERS, pose: NUMBERS, lengths: NUMBERS) -> COUNT:
    """Write the leg lengths (6,) of a pose (4, 4)."""
    return write_lengths(constants, work, table(pose, 4, 4), vector(lengths, 6))


def platform_jacobian(constants: NUMBERS, work: NUMBERS, pose: NUMBERS, spatial: COUNT,
                      out: NUMBERS) -> COUNT:
    """Write dL/d(twist) (6, 6), of the body twist or of the spatial one."""
    count = int(vector(constants, area.LIMITS)[area.TABLE])
    if not dynamics.is_pose(table(pose, 4, 4)):
        return NO_POSE
    r, p = motion.split(table(pose, 4, 4))
    legs = vector(after(work, area.METRES_PART), count)
    if not leg_types.write_leg_ends(legs, r, p):
        return NOT_REACHED
    leg_types.value_jacobian(legs, r, p, spatial, vector(out, 36))
    return DONE


def platform_singularity(constants: NUMBERS, work: NUMBERS, pose: NUMBERS, out: NUMBERS) -> COUNT:
    """Write signed value, slope, null twist (6,)."""
    of = vector(constants, area.LIMITS)
    if not dynamics.is_pose(table(pose, 4, 4)):
        return NO_POSE
    legs = vector(after(work, area.SCALED_PART), int(of[area.TABLE]))
    r, p = motion.split(table(pose, 4, 4))
    scale = 1.0 / of[area.SCALE]
    if not leg_types.write_leg_ends(legs, r, (scale * p[0], scale * p[1], scale * p[2])):
        return NOT_REACHED
    values, found = vector(after(work, area.STATE_PART), state.STATE_SIZE), vector(out, 8)
    state.examine_pose(legs, of[area.SCALE], table(pose, 4, 4), values,
                       vector(after(work, area.SOLVER_PART), state.STATE_WORK))
    found[0], found[1] = values[state.VALUE_AT], values[state.SLOPE_AT]
    for i in range(6):
        found[2 + i] = values[state.NULL_TWIST_AT + i]
    return DONE


def platform_margins(constants: NUMBERS, work: NUMBERS, pose: NUMBERS, out: NUMBERS) -> COUNT:
    """Write the margins (33,) of travel, joint angles and clearances."""
    count = int(vector(constants, area.LIMITS)[area.TABLE])
    if not dynamics.is_pose(table(pose, 4, 4)):
        return NO_POSE
    limits.margins(vector(after(work, area.METRES_PART), count),
                   vector(after(constants, area.LIMITS), area.NUMBER_OF_LIMITS), table(pose, 4, 4),
                   vector(out, limits.MARGIN_COUNT))
    return DONE


def platform_solve(constants: NUMBERS, work: NUMBERS, lengths: NUMBERS, guess: NUMBERS,
                   pose: NUMBERS, out: NUMBERS) -> COUNT:
    """Write a pose (4, 4), and status, iterations, residual, smallest value, value, slope."""
    start = table(guess, 4, 4)
    code = solve_sample(constants, work, lengths, start, pose, vector(out, 6))
    return NO_POSE if code == REFUSED and not dynamics.is_pose(start) else code


def platform_certify(constants: NUMBERS, work: NUMBERS, pose: NUMBERS, lengths: NUMBERS,
                     out: NUMBERS) -> COUNT:
    """Write error, uniqueness and regular radius, bounds (6,); NaN where nothing is proved."""
    count = int(vector(constants, area.LIMITS)[area.TABLE])
    proof = vector(after(work, area.PROOF_PART), certificate.CERTIFICATE_WORK)
    found = vector(out, 9)
    certificate.certify(vector(after(work, area.KNOWN_PART), certificate.CENTRED_TABLE + count),
                        vector(lengths, 6), table(pose, 4, 4), proof)
    for i in range(9):
        found[i] = proof[certificate.PROVED_RADII + i]
    return NOT_PROVED if math.isnan(found[0]) else DONE


def platform_dynamics(constants: NUMBERS, work: NUMBERS, order: COUNT, task: COUNT, pose: NUMBERS,
                      twist: NUMBERS, a: NUMBERS, forces: NUMBERS, external: NUMBERS,
                      length_rates: NUMBERS) -> COUNT:
    """Complete a or forces (order + 1, 6); write derivatives of lengths from the second on."""
    at = area.constants_at(int(vector(constants, area.LIMITS)[area.TABLE]))
    if not dynamics.is_pose(table(pose, 4, 4)):
        return NO_POSE
    wrenches = table(external, order + 1 if as_pointer(external) else 0, 6)
    code = dynamics.solve_platform(
        vector(after(constants, at), area.NUMBER_OF_CONSTANTS),
        table(after(constants, at + area.NUMBER_OF_CONSTANTS), 6, leg_dynamics.LEG_CONSTANTS),
        table(after(work, area.SERIES_PART), dynamics.SERIES_ROWS, order + 2),
        vector(after(work, area.MATRIX_PART), 36), vector(after(work, area.BUFFER_PART), 42), task,
        table(pose, 4, 4), vector(twist, 6), table(a, order + 1, 6), table(forces, order + 1, 6),
        wrenches, table(length_rates, order + 1, 6))
    if code == dynamics.SINGULAR_PLATFORM:
        return PLATFORM_SINGULAR
    return DONE if code == dynamics.DONE else REFUSED


def platform_restart(constants: NUMBERS, work: NUMBERS, home: NUMBERS, noise: NUMBERS) -> COUNT:
    """Start from a home pose (4, 4). noise: (1,), m, of a drive's end, 0 where it is unknown."""
    follower = vector(after(work, area.FOLLOWER_PART), tables.FOLLOWER_WIDTH)
    code = write_lengths(constants, work, table(home, 4, 4),
                         vector(after(work, area.RATES_PART), 6))
    if code != DONE:
        return code
    of = vector(constants, area.LIMITS)
    count, travel = int(of[area.TABLE]), follower[tables.READING_LIMITS:tables.FOUND_AT]
    follower[:] = 0.0
    followers.copy_numbers(vector(after(constants, area.LIMITS), 12), travel)
    limits.bound_readings(vector(after(work, area.METRES_PART), count), of[area.SCALE],
                          vector(after(work, area.RATES_PART), 6), travel)
    followers.copy_numbers(vector(home, 16), follower[:16])
    follower[tables.HAS_STARTED], follower[tables.READING_NOISE] = 1.0, vector(noise, 1)[0]
    judge = vector(after(work, area.BRANCH_PART), BRANCHES)
    filtered = vector(after(work, area.MOTION_PART), MOTIONS)
    followers.copy_numbers(EMPTY_BRANCH, judge)
    followers.copy_numbers(EMPTY_MOTION, filtered)
    rests = vector(after(work, area.EVIDENCE_PART), EVIDENCES)
    followers.copy_numbers(EMPTY_EVIDENCE, rests)
    evidence.set_home(rests, vector(after(work, area.SCALED_PART), count), of[area.SCALE],
                      table(home, 4, 4))
    branch.forget_value(judge)
    followers.copy_numbers(vector(after(constants, area.SCALES), 6), motion_of(filtered).scales)
    vector(as_wholes(after(work, area.STAMPS_PART)), tables.STAMP_COUNT)[tables.NEWEST] = -2 ** 62
    return DONE


def platform_confirm(work: NUMBERS) -> COUNT:
    """Take the last pose for the right one."""
    follower = vector(after(work, area.FOLLOWER_PART), tables.FOLLOWER_WIDTH)
    if follower[followers.GOOD_POSES] == 0.0:
        return NOT_STARTED
    on = evidence.evidence_of(vector(after(work, area.EVIDENCE_PART), EVIDENCES)).numbers
    follower[followers.REPORTED_SIGN] = 1.0 if on[evidence.LAST_VALUE] > 0.0 else -1.0
    branch.confirm_branch(
        vector(after(work, area.BRANCH_PART), BRANCHES), int(follower[followers.REPORTED_SIGN]))
    evidence.confirm_evidence(on, evidence.HOME_CODE)
    return DONE


def platform_track(constants: NUMBERS, work: NUMBERS, stamp: COUNT, lengths: NUMBERS,
                   rates: NUMBERS, pose: NUMBERS, out: NUMBERS) -> COUNT:
    """Write the pose (4, 4) of a sample of a time (ns), and TRACKED numbers about it."""
    follower = vector(after(work, area.FOLLOWER_PART), tables.FOLLOWER_WIDTH)
    stamps = vector(as_wholes(after(work, area.STAMPS_PART)), tables.STAMP_COUNT)
    read = vector(lengths, 6)
    if follower[tables.HAS_STARTED] == 0.0:
        return NOT_STARTED
    for i in range(6):
        at = tables.READING_LIMITS + 2 * i
        if not follower[at] <= read[i] <= follower[at + 1]:
            vector(out, TRACKED)[0] = i
            return BEYOND
    if stamp <= stamps[tables.NEWEST]:
        return TOO_LATE
    period = 0.0
    if follower[tables.READING_NOISE] > 0.0:
        period = motion_bank.filter_motion(
            motion_of(vector(after(work, area.MOTION_PART), MOTIONS)), stamp, read,
            follower[tables.READING_NOISE], 0.0, False,
            vector(after(work, area.MOVED_PART), tables.MOTION_NUMBERS))
    if is_late(constants):
        lengths, rates = move_to_stamp(
            constants, work, 1e-9 * (stamp - stamps[tables.NEWEST]), period, lengths, rates)
    stamps[tables.NEWEST] = stamp
    return follow_platform(constants, work, stamp, lengths, rates, period, pose, out)
