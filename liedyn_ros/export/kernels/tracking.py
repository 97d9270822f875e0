# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The state of a platform's tracker in C: the last good poses, their stamps, and two monitors.

EMPTY_BRANCH, EMPTY_EVIDENCE and EMPTY_MOTION are the buffers of branch.MONITOR, evidence.EVIDENCE
and motion_bank.FILTER, without a sample. Flags are those of stewart.Flag.
"""

import numpy as np

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.tracking.branch.kernels.branch import empty_monitor
from liedyn_ros.stewart.tracking.branch.kernels.evidence import empty_evidence
from liedyn_ros.stewart.tracking.branch.kernels.guess import is_predictable, lead_to_lengths
from liedyn_ros.stewart.tracking.legs.kernels.motion_bank import empty_filter, motion_size

# Parts of the numbers, FOLLOWER_WIDTH in all. READING_NOISE: m, of a leg. GOOD_POSES: how many
# good poses there are, 2 at most. HAS_TWIST: whether the last one has a twist; POSE_SPAN: s
# between the two of which it is made.
# RATED: whether it comes from LAST_RATES, measured ones. REPORTED_SIGN: of the branch as reported
# before.
HOME_POSE, LAST_POSE, POSE_BEFORE, LAST_LENGTHS, LAST_TWIST, LAST_RATES, GUESS_TWIST = (
    0, 16, 32, 48, 54, 60, 66)
HAS_STARTED, READING_NOISE, GOOD_POSES, HAS_TWIST, POSE_SPAN, RATED, REPORTED_SIGN, READS = range(
    72, 80)
# Of legs with latency: the lengths read last, and lengths and rates moved on to the stamp. READS:
# whether there are such lengths.
# READING_LIMITS: least and greatest reading of each leg.
LENGTHS_READ, LENGTHS_NOW, RATES_NOW, READING_LIMITS, FOLLOWER_WIDTH = 80, 86, 92, 98, 110
LAST_AT, BEFORE_AT, NEWEST, STAMP_COUNT = range(4)  # ns; NEWEST: of any sample that was taken
MOTION_NUMBERS = motion_size(6)
NEAR_SINGULARITY, BRANCH_CROSSED, BRANCH_UNSURE, BRANCH_WRONG, MOTION_RESTARTED = 1, 4, 8, 16, 32
EMPTY_BRANCH, EMPTY_EVIDENCE = empty_monitor(), empty_evidence()
EMPTY_MOTION = empty_filter(np.ones(6))


@kernel
def copy_numbers(source, to):
    """Copy all numbers of one array to another of the same size."""
    for k in range(len(to)):
        to[k] = source[k]


@kernel
def write_guess_twist(follower, stamps, last, before, stamp_ns, lengths):
    """Write the twist at which the last good pose moves on; return for how long, s."""
    twist, span = follower[GUESS_TWIST:HAS_STARTED], follower[POSE_SPAN]
    gap, moves = 1e-9 * (stamp_ns - stamps[LAST_AT]), follower[HAS_TWIST] > 0.0
    copy_numbers(follower[LAST_TWIST:LAST_RATES], twist)
    if follower[RATED] > 0.0 and not lead_to_lengths(
            follower[LAST_LENGTHS:LAST_TWIST], follower[LAST_RATES:GUESS_TWIST], gap, lengths):
        moves, span = follower[GOOD_POSES] > 1.0, 1e-9 * (stamps[LAST_AT] - stamps[BEFORE_AT])
        if moves:
            motion.mean_twist(before, last, span, twist)
    return gap if moves and is_predictable(gap, span) else 0.0
