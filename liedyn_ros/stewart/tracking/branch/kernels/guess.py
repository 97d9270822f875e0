# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The guess of a solve: whether the last good pose moves on at its twist."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import NUMBER, VECTOR
from liedyn_ros.stewart.tracking.branch.kernels.branch import PREDICTION_LIMIT

MAX_EXTRAPOLATION = 5.0  # times the span of a difference, over which its noise would grow
# Times the lengths' change, by which measured rates may miss it to start a solve
MAX_RATE_MISS = 2.0


@kernel
def is_predictable(gap, span):
    """
    Return whether a pose moves on at its twist over a gap (s).

    span: s between the poses of whose difference the twist is made; 0 of measured rates.
    """
    return not (gap > PREDICTION_LIMIT or 0.0 < MAX_EXTRAPOLATION * span < gap)


@kernel
def lead_to_lengths(before: VECTOR, rates: VECTOR, gap: NUMBER, lengths: VECTOR):
    """Return whether measured rates (n,) of lengths before lead over a gap (s) to lengths."""
    missed, changed = 0.0, 0.0
    for i in range(len(lengths)):
        change = lengths[i] - before[i]
        missed += (change - gap * rates[i]) ** 2
        changed += change * change
    return missed <= MAX_RATE_MISS ** 2 * changed
