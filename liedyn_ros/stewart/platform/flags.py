# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Warnings attached to a pose."""

from enum import IntFlag
from functools import cache


class Flag(IntFlag):
    """
    Warnings attached to a pose; see docs/stewart.md.

    >>> tracker = MonitoredTracker(geometry, home)
    >>> bool(tracker.track(0, leg_lengths(geometry, home)).flags & Flag.NEAR_SINGULARITY)
    False
    """

    NEAR_SINGULARITY = 1
    APPROACHING_SINGULARITY = 2
    BRANCH_CROSSED = 4
    BRANCH_UNSURE = 8
    BRANCH_WRONG = 16
    RESTARTED = 32
    LEG_OUTLIER = 64
    LEG_STEPPED = 128
    LEG_FROZEN = 256
    SENSOR_DISAGREES = 512
    LEG_BIASED = 1024
    LEG_TRAVEL = 2048
    JOINT_ANGLE = 4096
    LEG_CLEARANCE = 8192
    LEGS_JUMPED = 16384
    PARAMETER_TOO_SMALL = 32768
    NEAR_DEAD_CENTRE = 65536
    RATES_CONTRADICT = 131072


@cache
def flag_of(value: int) -> Flag:
    """Return the flags of a sum of them; quicker than Flag(value)."""
    return Flag(value)
