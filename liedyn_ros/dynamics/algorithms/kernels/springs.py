# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The forces of springs and end stops by themselves (3.19), (3.21)."""

from liedyn_ros.dynamics.tree.kernels import joints, motion
from liedyn_ros.dynamics.tree.kernels.tables import NV
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, VECTOR
from liedyn_ros.jit.memory import overlap
from liedyn_ros.jit.simd import get_int
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def spring_forces(model: MATRIX, q: VECTOR, out: VECTOR):
    """Write the joint forces (nv,) that hold springs and stops; return whether all is good."""
    count = get_int(model, 0, NV)
    if not joints.acceptable(model, q) or len(out) != count or overlap(out, q):
        return False
    for k in range(count):
        out[k] = motion.spring(model, k, q)
    return finite(out)
