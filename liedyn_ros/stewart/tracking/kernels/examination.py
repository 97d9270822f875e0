# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A usual sample before its solve: it is admitted, its legs are judged, and their rates."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGERS, MATRIX, TRUTH, VECTOR, WHOLE
from liedyn_ros.stewart.platform.kernels.legs import admit
from liedyn_ros.stewart.tracking.legs.kernels.fault_tables import DUE, FAULTY, LEARNT
from liedyn_ros.stewart.tracking.legs.kernels.leg_monitor import examine_readings, leg_monitor_of
from liedyn_ros.stewart.tracking.legs.kernels.motion_bank import FRESH_COUNT, MIXED_RATES
from liedyn_ros.stewart.tracking.rates.kernels.rates import judge_rates

# Of what is known of the noise. TOTAL_NOISE: m, of a drive's end. STAMP_JITTER: s. LIKELY_NOISE:
# m, at most. STAMP_SPREAD: s. GREATEST_ACCELERATION: m/s^2.
(TOTAL_NOISE, STAMP_JITTER, LIKELY_NOISE, STAMP_SPREAD, GREATEST_ACCELERATION, NOISE_NUMBERS
 ) = range(6)
NOT_USUAL = -1  # in place of findings; nothing has changed then
UNJUDGED = -1  # in place of legs whose rates are wrong: what the findings teach comes first
LEARNING = 1 << LEARNT | 1 << DUE  # bits of findings that change what is known


@kernel
def examine_sample(
        limits: MATRIX, legs: VECTOR, speeds: VECTOR, judged: INTEGERS, noise: VECTOR,
        stamp_ns: WHOLE, first_ns: WHOLE, last_ns: WHOLE, lengths: VECTOR, rates: VECTOR,
        rated: TRUTH, admitted: VECTOR, plausible: VECTOR, moved: VECTOR):
    """
    Examine n lengths at a stamp, ns, which has to be after the last; write what is admitted.

    legs, speeds: buffers of the monitors of legs and of rates. judged: ns, when the latter judged
    last. noise: as named above. first_ns: of the legs' first sample. plausible, moved: as
    examine_readings writes them. Returns its findings and period (s), the number of its fresh
    samples, and the legs whose rates are wrong, as bits.
    """
    if stamp_ns <= last_ns or not admit(limits, lengths, rates, admitted):
        return NOT_USUAL, 0.0, 0, 0
    found, period = examine_readings(
        legs, 1e-9 * (stamp_ns - first_ns), stamp_ns, admitted, noise[TOTAL_NOISE],
        noise[STAMP_JITTER], plausible, moved)
    motion = leg_monitor_of(legs).motion
    fresh = motion.now[FRESH_COUNT]
    if not rated or period == 0.0:
        return found, period, fresh, 0
    if found & (LEARNING | FAULTY):
        return found, period, fresh, UNJUDGED
    seconds, judged[0] = 1e-9 * (stamp_ns - judged[0]), stamp_ns
    return found, period, fresh, judge_rates(
        speeds, seconds, plausible, rates, moved[:len(lengths)], motion.mixture[MIXED_RATES + 1],
        noise[LIKELY_NOISE], noise[STAMP_SPREAD], noise[GREATEST_ACCELERATION], 0)
