# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The state of a platform's tracker in C: numbers of tracking/kernels/follower.py, and two monitors.

EMPTY_BRANCH, EMPTY_EVIDENCE and EMPTY_MOTION are the buffers of branch.MONITOR, evidence.EVIDENCE
and motion_bank.FILTER, without a sample.
"""

import numpy as np

from liedyn_ros.stewart.tracking.branch.kernels.branch import empty_monitor
from liedyn_ros.stewart.tracking.branch.kernels.evidence import empty_evidence
from liedyn_ros.stewart.tracking.kernels.follower import (
    FOLLOWED_LEGS, FOLLOWED_STAMPS, FOUND_WIDTH)
from liedyn_ros.stewart.tracking.legs.kernels.motion_bank import empty_filter, motion_size

# Parts of the numbers behind those of the follower, FOLLOWER_WIDTH in all. READING_NOISE: m, of a
# leg. Of legs with latency: the lengths read last, and lengths and rates moved on to the stamp.
# READS: whether there are such lengths. READING_LIMITS: least and greatest reading of each leg.
# FOUND_AT: what is found.
HAS_STARTED, READING_NOISE, READS = range(FOLLOWED_LEGS + 12, FOLLOWED_LEGS + 15)
LENGTHS_READ, LENGTHS_NOW, RATES_NOW, READING_LIMITS, FOUND_AT = (
    FOLLOWED_LEGS + 15, FOLLOWED_LEGS + 21, FOLLOWED_LEGS + 27, FOLLOWED_LEGS + 33,
    FOLLOWED_LEGS + 45)
FOLLOWER_WIDTH = FOUND_AT + FOUND_WIDTH
NEWEST, STAMP_COUNT = FOLLOWED_STAMPS, FOLLOWED_STAMPS + 1  # ns, of any sample that was taken
MOTION_NUMBERS = motion_size(6)
EMPTY_BRANCH, EMPTY_EVIDENCE = empty_monitor(), empty_evidence()
EMPTY_MOTION = empty_filter(np.ones(6))
