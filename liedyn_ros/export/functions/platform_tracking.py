# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The pose of a platform sample by sample, for the C library: the stages of a MonitoredTracker.

As in platforms.py. The stages are a gate, the filter of the legs' motion, the solve, and the
judgement of the branch. A solve starts from the last good pose, or from home.
"""

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.export.kernels import platform as area
from liedyn_ros.export.kernels import tracking as tables
from liedyn_ros.export.kernels.following import (
    BRANCHES, EVIDENCES, FLAGS, follow_platform, judge_sample, MOTIONS, TRACKED, TWIST,
    TWIST_SPAN, write_twist)
from liedyn_ros.export.kernels.latency import is_late, move_to_stamp
from liedyn_ros.export.kernels.platform import BEYOND, LATE, NO_POSE, NOT_STARTED
from liedyn_ros.jit.pointers import after, as_wholes, COUNT, NUMBERS, table, vector
from liedyn_ros.stewart.dynamics.kernels import platform as dynamics
from liedyn_ros.stewart.platform.kernels import state
from liedyn_ros.stewart.tracking.branch.kernels import branch, evidence
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank

EMPTY_BRANCH, EMPTY_EVIDENCE, EMPTY_MOTION = tables.BRANCH, tables.EVIDENCE, tables.MOTION
motion_of = motion_bank.FILTER.view


def platform_restart(constants: NUMBERS, work: NUMBERS, home: NUMBERS, noise: NUMBERS) -> COUNT:
    """Start from a home pose (4, 4). noise: (1,), m, of a drive's end, 0 where it is unknown."""
    if not dynamics.is_pose(table(home, 4, 4)):
        return NO_POSE
    follower = vector(after(work, area.FOLLOWER), tables.FOLLOWER)
    follower[:] = 0.0
    tables.copy_numbers(vector(home, 16), follower[:tables.LAST])
    follower[tables.STARTED], follower[tables.NOISE] = 1.0, vector(noise, 1)[0]
    judge = vector(after(work, area.BRANCH), BRANCHES)
    filtered = vector(after(work, area.MOTION), MOTIONS)
    tables.copy_numbers(EMPTY_BRANCH, judge)
    tables.copy_numbers(EMPTY_MOTION, filtered)
    rests, of = vector(after(work, area.EVIDENCE), EVIDENCES), vector(constants, area.LIMITS)
    tables.copy_numbers(EMPTY_EVIDENCE, rests)
    evidence.set_home(rests, vector(after(work, area.SCALED), int(of[area.TABLE])),
                      of[area.SCALE], table(home, 4, 4))
    branch.forget_value(judge)
    tables.copy_numbers(vector(after(constants, area.SCALES), 6), motion_of(filtered).scales)
    vector(as_wholes(after(work, area.STAMPS)), tables.STAMPS)[tables.NEWEST] = -2 ** 62
    return DONE


def platform_confirm(work: NUMBERS) -> COUNT:
    """Take the last pose for the right one."""
    follower = vector(after(work, area.FOLLOWER), tables.FOLLOWER)
    if follower[tables.GOOD] == 0.0:
        return NOT_STARTED
    on = evidence.evidence_of(vector(after(work, area.EVIDENCE), EVIDENCES)).numbers
    follower[tables.SIGN] = 1.0 if on[evidence.LAST_VALUE] > 0.0 else -1.0
    branch.confirm_branch(
        vector(after(work, area.BRANCH), BRANCHES), int(follower[tables.SIGN]))
    evidence.confirm_evidence(on, evidence.HOME)
    return DONE


def platform_track(constants: NUMBERS, work: NUMBERS, stamp: COUNT, lengths: NUMBERS,
                   rates: NUMBERS, pose: NUMBERS, out: NUMBERS) -> COUNT:
    """Write the pose (4, 4) of a sample of a time (ns), and TRACKED numbers about it."""
    follower = vector(after(work, area.FOLLOWER), tables.FOLLOWER)
    stamps = vector(as_wholes(after(work, area.STAMPS)), tables.STAMPS)
    found, read = vector(out, TRACKED), vector(lengths, 6)
    if follower[tables.STARTED] == 0.0:
        return NOT_STARTED
    limits = vector(after(constants, area.LIMITS), area.NUMBER_OF_LIMITS)
    for i in range(6):
        if not limits[2 * i] <= read[i] <= limits[2 * i + 1]:
            found[0] = i
            return BEYOND
    if stamp <= stamps[tables.NEWEST]:
        return LATE
    period = 0.0
    if follower[tables.NOISE] > 0.0:
        period = motion_bank.filter_motion(
            motion_of(vector(after(work, area.MOTION), MOTIONS)), stamp, read,
            follower[tables.NOISE], 0.0, False, vector(after(work, area.MOVED), tables.MOVED))
    if is_late(constants):
        lengths, rates = move_to_stamp(
            constants, work, 1e-9 * (stamp - stamps[tables.NEWEST]), period, lengths, rates)
    stamps[tables.NEWEST] = stamp
    judge = vector(after(work, area.BRANCH), BRANCHES)
    keeps = branch.is_branch_near(branch.monitor_of(judge).numbers, branch.KEPT_BRANCH)
    started = follower[tables.GOOD] > 0.0
    code = follow_platform(constants, work, stamp, lengths, keeps, pose, found)
    if code == REFUSED:
        return code
    if code == DONE:
        write_twist(constants, work, stamp, lengths, rates, pose, found)
        if period > 0.0 and found[TWIST_SPAN] > 0.0 and (
                abs(found[4]) > state.SINGULARITY_WARNING):
            state.twist(vector(after(work, area.STATE), state.COUNT),
                        vector(constants, area.LIMITS)[area.SCALE],
                        vector(after(work, area.MOVED), 6), found[TWIST:TWIST_SPAN])
            found[TWIST_SPAN] = 0.0
    found[FLAGS] = judge_sample(
        constants, work, stamp, lengths, pose, code, started, found)
    return code
