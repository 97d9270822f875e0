# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The same recursions over many states, one after the other, without Python in between."""

from liedyn_ros.compile import kernel
from liedyn_ros.dynamics.kernels.bodies import apply_wrenches
from liedyn_ros.dynamics.kernels.hybrid import DONE, hybrid, REFUSED
from liedyn_ros.dynamics.kernels.inverse import inverse


@kernel
def inverse_many(topology, links, coordinates, body_row, body_placement, q, v, a, tau, external):
    """Run inverse on each row, external may have none; return the first to fail and its code."""
    for s in range(len(q)):
        if len(external) and not apply_wrenches(links, body_row, body_placement, external[s]):
            return s, REFUSED
        if not inverse(topology, links, coordinates, q[s], v[s], a[s], tau[s]):
            return s, REFUSED
    return len(q), DONE


@kernel
def hybrid_many(topology, links, coordinates, body_row, body_placement, q, v, a, tau, external):
    """Run hybrid on each row, external may have none; return the first to fail and its code."""
    for s in range(len(q)):
        if len(external) and not apply_wrenches(links, body_row, body_placement, external[s]):
            return s, REFUSED
        code = hybrid(topology, links, coordinates, q[s], v[s], a[s], tau[s])
        if code != DONE:
            return s, code
    return len(q), DONE
