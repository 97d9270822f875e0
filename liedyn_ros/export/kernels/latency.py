# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Readings that are older than their stamps, moved on to them, as Python's trackers do (14.50).

With the noise known the filter of the legs' motion tells how readings and rates have changed.
Without it readings move on at their rates, measured or by the last.
"""

from liedyn_ros.export.kernels import platform as area
from liedyn_ros.export.kernels import tracking as tables
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.pointers import after, given, vector
from liedyn_ros.stewart.tracking.legs.kernels import motion_bank

MOTIONS = len(tables.MOTION)
motion_of = motion_bank.FILTER.view


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
    follower, read = vector(after(work, area.FOLLOWER), tables.FOLLOWER), vector(lengths, 6)
    now = follower[tables.NOW:tables.NOW_RATES]
    now_rates = follower[tables.NOW_RATES:tables.FOLLOWER]
    before, latency = follower[tables.READ:tables.NOW], vector(after(constants, area.LATENCY), 6)
    tables.copy_numbers(read, now)
    if given(rates):
        tables.copy_numbers(vector(rates, 6), now_rates)
    if period > 0.0:
        add_changes(constants, work, period, latency, now, now_rates)
    elif given(rates):
        for i in range(6):
            now[i] += latency[i] * now_rates[i]
    elif follower[tables.NOISE] == 0.0 and follower[tables.READS] > 0.0:
        for i in range(6):
            now[i] += latency[i] * ((read[i] - before[i]) / gap)
    tables.copy_numbers(read, before)
    follower[tables.READS] = 1.0
    return after(work, area.FOLLOWER + tables.NOW), (
        after(work, area.FOLLOWER + tables.NOW_RATES) if given(rates) else rates)


@kernel
def add_changes(constants, work, period, latency, now, now_rates):
    """Add the filter's changes since each reading; its rates are then at the stamp."""
    motion = motion_of(vector(after(work, area.MOTION), MOTIONS))
    rates, mixture = vector(after(work, area.MOVED), 6), motion.mixture
    motion_bank.mix_members(motion.bank, period, motion.now[motion_bank.COUNT], 0.0, motion.work,
                            mixture)
    for i in range(6):
        now[i] -= mixture[motion_bank.LEG + i] / motion.scales[i]
        now_rates[i] -= mixture[motion_bank.LEG + 6 + i] / motion.scales[i]
    for i in range(6):
        motion_bank.mix_members(motion.bank, period, motion.now[motion_bank.COUNT], latency[i],
                                motion.work, mixture)
        now[i] += mixture[motion_bank.LEG + i] / motion.scales[i]
        rates[i] = mixture[motion_bank.LEG + 6 + i] / motion.scales[i]
        now_rates[i] += rates[i]
