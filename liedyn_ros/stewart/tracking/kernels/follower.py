# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The last good poses of a tracker, and their twist (1.13): the next solve starts from them.

They are in one array of numbers, of which `poses` (3, 4, 4), m, are the first: home, the last
good pose, and the one before it. Only a good pose changes them. What is found about a sample is a
second array. Both have the same places in the C library.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, NUMBER, TRUTH, VECTOR, WHOLE
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.tracking.branch.kernels.guess import is_predictable, lead_to_lengths

# Parts of the numbers. GUESS_TWIST: at which the last pose moves on. GOOD_POSES: how many there
# are, 2 at most. HAS_TWIST: whether the last one has a twist; POSE_SPAN: s between the two of
# which it is made. RATED: whether it comes from measured rates. REPORTED_SIGN: of the branch, as
# reported with the last sample. HAS_CROSSED: whether the motion has led through a singularity.
# BRANCH_RATE, BRANCH_DOUBT: of the last pose that was reported. FOLLOWED_LEGS: lengths and
# measured rates of the last pose, n of each.
HOME_POSE, LAST_POSE, POSE_BEFORE = range(3)  # of the poses
POSE_NUMBERS, LAST_TWIST, GUESS_TWIST = 48, 48, 54
(GOOD_POSES, HAS_TWIST, POSE_SPAN, RATED, REPORTED_SIGN, HAS_CROSSED, BRANCH_RATE, BRANCH_DOUBT,
 FOLLOWED_LEGS) = range(60, 69)
LAST_GOOD, GOOD_BEFORE, FOLLOWED_STAMPS = range(3)  # ns, of the last two poses

# Of what is found. START: 0 for a solve from the last pose, 1 from home. IS_UNSURE, IS_WRONG: the
# branch, judged by the motion. UNTIL: s, to the singularity at the present rate. EVIDENCE_REASON:
# why the branch rests on nothing. SOLVE_TIME: s.
(FOUND_STATUS, FOUND_ITERATIONS, FOUND_RESIDUAL, FOUND_SMALLEST, FOUND_VALUE, FOUND_SLOPE,
 FOUND_TWIST) = range(7)
(TWIST_SPAN, FOUND_START, FOUND_FLAGS, FOUND_SIGN, FOUND_RATE, FOUND_GAP, FOUND_SOURCE, IS_UNSURE,
 IS_WRONG, UNTIL, EVIDENCE_REASON, SOLVE_TIME, FOUND_WIDTH) = range(12, 25)


@kernel
def copy_numbers(source, to):
    """Copy all numbers of one array to another of the same size."""
    for k in range(len(to)):
        to[k] = source[k]


@kernel
def write_guess_twist(
        follower: VECTOR, poses: CUBE, stamps: INTEGERS, stamp_ns: WHOLE, lengths: VECTOR
        ) -> NUMBER:
    """
    Write the twist at which the last good pose moves on; return for how long, s.

    It is that of the last pose. Where measured rates do not lead to the lengths, it is the mean
    since the one before.
    """
    n, twist = len(lengths), follower[GUESS_TWIST:GOOD_POSES]
    gap, span = 1e-9 * (stamp_ns - stamps[LAST_GOOD]), follower[POSE_SPAN]
    moves = follower[HAS_TWIST] > 0.0
    copy_numbers(follower[LAST_TWIST:GUESS_TWIST], twist)
    if follower[RATED] > 0.0 and not lead_to_lengths(
            follower[FOLLOWED_LEGS:FOLLOWED_LEGS + n],
            follower[FOLLOWED_LEGS + n:FOLLOWED_LEGS + 2 * n], gap, lengths):
        moves, span = follower[GOOD_POSES] > 1.0, 1e-9 * (stamps[LAST_GOOD] - stamps[GOOD_BEFORE])
        if moves:
            motion.mean_twist(poses[POSE_BEFORE], poses[LAST_POSE], span, twist)
    if moves and is_predictable(gap, span):
        return gap
    for k in range(len(twist)):
        twist[k] = 0.0
    return 0.0


@kernel
def follow_pose(
        follower: VECTOR, poses: CUBE, stamps: INTEGERS, stamp_ns: WHOLE, lengths: VECTOR,
        rates: VECTOR, rated: TRUTH, pose: MATRIX, found: VECTOR) -> None:
    """
    Start the next solve from a good pose (4, 4), m.

    rated: whether the twist found is that of measured rates (n,). Else it is written: the mean
    since the pose before, NaN for none.
    """
    n, twist, span = len(lengths), found[FOUND_TWIST:TWIST_SPAN], 0.0
    moves = follower[GOOD_POSES] > 0.0
    if rated:
        copy_numbers(rates, follower[FOLLOWED_LEGS + n:FOLLOWED_LEGS + 2 * n])
    elif moves:
        span = 1e-9 * (stamp_ns - stamps[LAST_GOOD])
        motion.mean_twist(poses[LAST_POSE], pose, span, twist)
    else:
        for k in range(len(twist)):
            twist[k] = math.nan
    for i in range(4):
        for j in range(4):
            poses[POSE_BEFORE, i, j] = poses[LAST_POSE, i, j]
            poses[LAST_POSE, i, j] = pose[i, j]
    copy_numbers(lengths, follower[FOLLOWED_LEGS:FOLLOWED_LEGS + n])
    copy_numbers(twist, follower[LAST_TWIST:GUESS_TWIST])
    follower[HAS_TWIST] = 1.0 if rated or moves else 0.0
    found[TWIST_SPAN] = follower[POSE_SPAN] = span
    follower[RATED] = 1.0 if rated else 0.0
    follower[GOOD_POSES] = min(follower[GOOD_POSES] + 1.0, 2.0)
    stamps[GOOD_BEFORE], stamps[LAST_GOOD] = stamps[LAST_GOOD], stamp_ns
