# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Banks of filters of six legs each, for any number of legs (14.24)."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, TRUTH, WHOLE
from liedyn_ros.stewart.tracking.legs.kernels.motion_bank import FILTER, filter_motion

motion_filter_of = FILTER.view


@kernel
def filter_all_legs(
        filters: MATRIX, stamp_ns: WHOLE, readings: MATRIX, noise: NUMBER, stale: TRUTH,
        moved: MATRIX):
    """
    Filter readings (b, 6) of a time (ns) by b filters; return the time (s) between fresh ones.

    Their stamps have no jitter. The rest is as in filter_motion, a row for each filter.
    """
    period = 0.0
    for k in range(filters.shape[0]):
        period = filter_motion(
            motion_filter_of(filters[k]), stamp_ns, readings[k], noise, 0.0, stale, moved[k])
    return period
