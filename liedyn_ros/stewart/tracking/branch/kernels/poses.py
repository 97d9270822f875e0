# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is done with a solved pose: its branch judged, its limits measured."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.platform.kernels import limits
from liedyn_ros.stewart.platform.kernels.state import SLOPE, VALUE
from liedyn_ros.stewart.tracking.branch.kernels import branch


@kernel
def take(branch_words, joints, bounds, stamp_ns, pose, state, noise, margins):
    """
    Judge a pose (4 by 4, m) of a time (ns) by its state, and write the margins of its limits.

    bounds: of the limits. noise: standard deviation of a length, in characteristic lengths.
    Returns what branch.judge returns, and the least margin.
    """
    found = branch.judge(branch_words, stamp_ns, state[VALUE], state[SLOPE], noise, 0.0)
    return found, limits.margins(joints, bounds, pose, margins)
