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

"""
The momenta of a discrete motion, for a variational integrator.

The kinetic part of the discrete Lagrangian of a step h from q0 to q1 is h times the sum over links
of V^T I V / 2, where h V = log(T(q0)^-1 T(q1)) for the pose T of a link in the ground. By (1.14)
its derivatives are wrenches dexp(x)^-T I V at q0 and dexp(-x)^-T I V at q1, x = h V, which the
transposed recursion of inverse dynamics takes to the joints.
"""

from liedyn_ros.dynamics.kernels import joints, motion, rigid
from liedyn_ros.dynamics.kernels.tables import (
    COMPUTED, INERTIA, KIND, LINKS, load3, load9, PARENT, PITCH, POSITION, ROTATION, store3,
    store9, VI)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import mat3, se3, vec3

# Columns of steps, a row for each link.
NEXT_POSE = 0  # T_parent_link at q1
DISPLACEMENT = 12  # T_ground_link(q0)^-1 T_ground_link(q1)
START, END = 24, 30  # the two wrenches
STEP_WIDTH = 36


@kernel
def discrete_momenta(model, data, steps, q0, q1, step, start, end):
    """Write minus the derivative by q0, and that by q1; return whether all are good."""
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q0) and joints.acceptable(model, q1)):
        return False
    links = get_int(model, 0, LINKS)
    for i in range(1, links):
        displace(model, data, steps, i, q0, q1)
        wrenches(model, steps, i, step)
    for i in range(links - 1, 0, -1):
        r, p = load9(data, i, ROTATION), load3(data, i, POSITION)
        gather(model, steps, i, START, r, p, start)
        r, p = load9(steps, i, NEXT_POSE), load3(steps, i, NEXT_POSE + 9)
        gather(model, steps, i, END, r, p, end)
    return joints.finite(start) and joints.finite(end)


@inlined
def displace(model, data, steps, i, q0, q1):
    """Write the displacement of link i in its own frame, its parent's being known."""
    r1, p1 = joints.pose(model, i, q1)
    store9(steps, i, NEXT_POSE, r1)
    store3(steps, i, NEXT_POSE + 9, p1)
    motion.store_pose(model, data, i, q0)
    r0, p0 = se3.inverse(load9(data, i, ROTATION), load3(data, i, POSITION))
    parent = get_int(model, i, PARENT)
    if parent > 0:
        rp, pp = load9(steps, parent, DISPLACEMENT), load3(steps, parent, DISPLACEMENT + 9)
        r0, p0 = se3.compose(r0, p0, rp, pp)
    r, p = se3.compose(r0, p0, r1, p1)
    store9(steps, i, DISPLACEMENT, r)
    store3(steps, i, DISPLACEMENT + 9, p)


@inlined
def wrenches(model, steps, i, step):
    """Write the momentum of link i as it is felt at either end of the step."""
    xw, xv = se3.log(load9(steps, i, DISPLACEMENT), load3(steps, i, DISPLACEMENT + 9))
    m, f = rigid.apply(
        rigid.load(model, i, INERTIA), vec3.scale(1.0 / step, xw), vec3.scale(1.0 / step, xv))
    store_pulled(steps, i, START, xw, xv, m, f)
    store_pulled(steps, i, END, vec3.neg(xw), vec3.neg(xv), m, f)


@inlined
def store_pulled(steps, i, at, xw, xv, m, f):
    """Write dexp(x)^-T F."""
    j, q = se3.left_jacobian_inverse(xw, xv)
    store3(steps, i, at, vec3.add(mat3.apply_t(j, m), mat3.apply_t(q, f)))
    store3(steps, i, at + 3, mat3.apply_t(j, f))


@inlined
def gather(model, steps, i, at, r, p, out):
    """Write the momenta of the joint of link i and add the wrench to that of the parent."""
    kind, parent = get_int(model, i, KIND), get_int(model, i, PARENT)
    m, f = load3(steps, i, at), load3(steps, i, at + 3)
    for k in range(joints.degrees(kind)):
        out[get_int(model, i, VI) + k] = joints.along(kind, get(model, i, PITCH), k, m, f)
    if parent > 0:
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        store3(steps, parent, at, vec3.add(m, load3(steps, parent, at)))
        store3(steps, parent, at + 3, vec3.add(f, load3(steps, parent, at + 3)))
