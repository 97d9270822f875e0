# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The solution of M x = y from the factors of forward dynamics, O(n) (13.16)."""

from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import (
    add3, coordinate_row, GAIN, INVERSE_PIVOT, KIND, LINKS, load3, load9, ORDER_CHANGE,
    ORDER_WRENCH, PARENT, PITCH, POSITION, ROTATION, store3, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, get_int
from liedyn_ros.lie.kernels import se3, vec3


@kernel
def solve_mass(model, data, y, x):
    """Write x = M^-1 y (nv,), data being that of a call of forward; x may be y."""
    count = get_int(model, 0, LINKS)
    for i in range(1, count):
        store3(data, i, ORDER_WRENCH, vec3.ZERO)
        store3(data, i, ORDER_WRENCH + 3, vec3.ZERO)
    store3(data, 0, ORDER_CHANGE, vec3.ZERO)
    store3(data, 0, ORDER_CHANGE + 3, vec3.ZERO)
    for i in range(count - 1, 0, -1):
        eliminate_joint(model, data, i, y, x)
    for i in range(1, count):
        substitute(model, data, i, x)


@inlined
def eliminate_joint(model, data, i, y, x):
    """Write t = Psi (y - S^T p) of link i, and add its bias wrench to its parent's."""
    kind, pitch, parent = get_int(model, i, KIND), get(model, i, PITCH), get_int(model, i, PARENT)
    m, f = load3(data, i, ORDER_WRENCH), load3(data, i, ORDER_WRENCH + 3)
    for k in range(joints.degrees(kind) - 1, -1, -1):
        j = get_int(model, i, VI) + k
        row = coordinate_row(model, j)
        x[j] = (y[j] - joints.along(kind, pitch, k, m, f)) * get(data, row, INVERSE_PIVOT)
        m = vec3.axpy(x[j], load3(data, row, GAIN), m)
        f = vec3.axpy(x[j], load3(data, row, GAIN + 3), f)
    if parent > 0:
        r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        add3(data, parent, ORDER_WRENCH, m)
        add3(data, parent, ORDER_WRENCH + 3, f)


@inlined
def substitute(model, data, i, x):
    """Write x = t - Psi U^T b of link i, b being the acceleration of its parent."""
    kind, pitch, parent = get_int(model, i, KIND), get(model, i, PITCH), get_int(model, i, PARENT)
    w, u = se3.adjoint_inverse(
        load9(data, i, ROTATION), load3(data, i, POSITION),
        load3(data, parent, ORDER_CHANGE), load3(data, parent, ORDER_CHANGE + 3))
    for k in range(joints.degrees(kind)):
        j = get_int(model, i, VI) + k
        row = coordinate_row(model, j)
        x[j] -= get(data, row, INVERSE_PIVOT) * (
            vec3.dot(load3(data, row, GAIN), w) + vec3.dot(load3(data, row, GAIN + 3), u))
        w, u = joints.add_along(kind, pitch, k, x[j], w, u)
    store3(data, i, ORDER_CHANGE, w)
    store3(data, i, ORDER_CHANGE + 3, u)
