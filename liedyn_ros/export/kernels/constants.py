# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the constants in a model file are those of a tree: kernels check no index."""

from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get_int
from liedyn_ros.model.kernels.kinds import FREE, NQ_OF_KIND, NV_OF_KIND


@kernel
def is_tree(model, rows, nv, frames):
    """Return whether a table of constants is that of a tree of these sizes."""
    links, bodies = get_int(model, 0, tables.LINKS), get_int(model, 0, tables.BODIES)
    if not (1 <= links <= rows and get_int(model, 0, tables.NV) == nv and 0 <= bodies <= frames
            and 0 <= nv <= rows and frames <= rows and rows == links + nv + frames):
        return False
    qi, vi = 0, 0
    for i in range(1, links):
        kind, parent = get_int(model, i, tables.KIND), get_int(model, i, tables.PARENT)
        if not (0 <= kind <= FREE and 0 <= parent < i and get_int(model, i, tables.QI) == qi
                and get_int(model, i, tables.VI) == vi):
            return False
        for k in range(NV_OF_KIND[kind]):
            at = qi if NV_OF_KIND[kind] == 1 else 0
            if vi + k >= nv or get_int(model, links + vi + k, tables.POSITION_AT) != at:
                return False
        qi, vi = qi + NQ_OF_KIND[kind], vi + NV_OF_KIND[kind]
    if qi != get_int(model, 0, tables.NQ) or vi != nv:
        return False
    for row in range(links + nv, rows):
        if not 0 <= get_int(model, row, tables.CARRIER) < links:
            return False
    return True
