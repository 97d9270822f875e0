# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The state of a platform's tracker in C: the last good poses, their stamps, and two monitors.

BRANCH, EVIDENCE and MOTION are the buffers of branch.MONITOR, evidence.EVIDENCE and
motion_bank.FILTER, without a sample. Flags are those of stewart.Flag.
"""

import numpy as np

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.tracking.branch.kernels.branch import empty_monitor
from liedyn_ros.stewart.tracking.branch.kernels.evidence import empty_evidence
from liedyn_ros.stewart.tracking.branch.kernels.guess import is_predictable, lead_to_lengths
from liedyn_ros.stewart.tracking.legs.kernels.motion_bank import empty_filter, motion_size

# Parts of the numbers, FOLLOWER in all. NOISE: m, of a leg. GOOD: how many good poses there are, 2
# at most. MOVES: whether the last one has a twist; SPAN: s between the two of which it is made.
# RATED: whether it comes from RATES, measured ones. SIGN: of the branch as reported before.
HOME, LAST, BEFORE, LENGTHS, TWIST, RATES, GUESS_TWIST = 0, 16, 32, 48, 54, 60, 66
STARTED, NOISE, GOOD, MOVES, SPAN, RATED, SIGN, READS = 72, 73, 74, 75, 76, 77, 78, 79
# Of legs with latency: the lengths read last, and lengths and rates moved on to the stamp. READS:
# whether there are such lengths.
# LIMITS: least and greatest reading of each leg.
READ, NOW, NOW_RATES, LIMITS, FOLLOWER = 80, 86, 92, 98, 110
LAST_AT, BEFORE_AT, NEWEST, STAMPS = range(4)  # ns; NEWEST: of any sample that was taken
MOVED = motion_size(6)
NEAR_SINGULARITY, BRANCH_CROSSED, BRANCH_UNSURE, BRANCH_WRONG, RESTARTED = 1, 4, 8, 16, 32
BRANCH, EVIDENCE, MOTION = empty_monitor(), empty_evidence(), empty_filter(np.ones(6))


@kernel
def copy_numbers(source, to):
    """Copy all numbers of one array to another of the same size."""
    for k in range(len(to)):
        to[k] = source[k]


@kernel
def write_guess_twist(follower, stamps, last, before, stamp_ns, lengths):
    """Write the twist at which the last good pose moves on; return for how long, s."""
    twist, span = follower[GUESS_TWIST:STARTED], follower[SPAN]
    gap, moves = 1e-9 * (stamp_ns - stamps[LAST_AT]), follower[MOVES] > 0.0
    copy_numbers(follower[TWIST:RATES], twist)
    if follower[RATED] > 0.0 and not lead_to_lengths(
            follower[LENGTHS:TWIST], follower[RATES:GUESS_TWIST], gap, lengths):
        moves, span = follower[GOOD] > 1.0, 1e-9 * (stamps[LAST_AT] - stamps[BEFORE_AT])
        if moves:
            motion.mean_twist(before, last, span, twist)
    return gap if moves and is_predictable(gap, span) else 0.0
