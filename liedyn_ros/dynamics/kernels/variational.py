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
from liedyn_ros.dynamics.kernels.rows import (
    ARTICULATED, GROUND_POSE, INERTIA, KIND, load3, load9, PARENT, PITCH, POSITION, ROTATION,
    store3, store9, TWIST, VI, WRENCH)
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.lie.kernels import mat3, se3, vec3

# Columns of links, used for something else than their names say.
NEXT_POSE = GROUND_POSE  # T_parent_link at q1
DISPLACEMENT = ARTICULATED  # T_ground_link(q0)^-1 T_ground_link(q1)
START, END = WRENCH, TWIST  # the two wrenches


@kernel
def discrete_momenta(topology, links, q0, q1, step, start, end):
    """Write minus the derivative by q0, and that by q1; return whether all are good."""
    if not (joints.acceptable(topology, q0) and joints.acceptable(topology, q1)):
        return False
    for i in range(1, len(links)):
        displace(topology, links, i, q0, q1)
        wrenches(links, i, step)
    for i in range(len(links) - 1, 0, -1):
        gather(topology, links, i, START, ROTATION, start)
        gather(topology, links, i, END, NEXT_POSE, end)
    return joints.finite(start) and joints.finite(end)


@inlined
def displace(topology, links, i, q0, q1):
    """Write the displacement of link i in its own frame, its parent's being known."""
    r1, p1 = joints.pose(topology, links, i, q1)
    store9(links, i, NEXT_POSE, r1)
    store3(links, i, NEXT_POSE + 9, p1)
    motion.store_pose(topology, links, i, q0)
    r0, p0 = se3.inverse(load9(links, i, ROTATION), load3(links, i, POSITION))
    if topology[i, PARENT] > 0:
        parent = topology[i, PARENT]
        rp, pp = load9(links, parent, DISPLACEMENT), load3(links, parent, DISPLACEMENT + 9)
        r0, p0 = se3.compose(r0, p0, rp, pp)
    r, p = se3.compose(r0, p0, r1, p1)
    store9(links, i, DISPLACEMENT, r)
    store3(links, i, DISPLACEMENT + 9, p)


@inlined
def wrenches(links, i, step):
    """Write the momentum of link i as it is felt at either end of the step."""
    xw, xv = se3.log(load9(links, i, DISPLACEMENT), load3(links, i, DISPLACEMENT + 9))
    m, f = rigid.apply(
        rigid.load(links, i, INERTIA), vec3.scale(1.0 / step, xw), vec3.scale(1.0 / step, xv))
    store_pulled(links, i, START, xw, xv, m, f)
    store_pulled(links, i, END, vec3.neg(xw), vec3.neg(xv), m, f)


@inlined
def store_pulled(links, i, at, xw, xv, m, f):
    """Write dexp(x)^-T F."""
    j, q = se3.left_jacobian_inverse(xw, xv)
    store3(links, i, at, vec3.add(mat3.apply_t(j, m), mat3.apply_t(q, f)))
    store3(links, i, at + 3, mat3.apply_t(j, f))


@inlined
def gather(topology, links, i, at, pose, out):
    """Write the momenta of the joint of link i and hand the wrench on to the parent."""
    parent = topology[i, PARENT]
    m, f = load3(links, i, at), load3(links, i, at + 3)
    for k in range(joints.degrees(topology[i, KIND])):
        out[topology[i, VI] + k] = joints.along(topology[i, KIND], links[i, PITCH], k, m, f)
    if parent > 0:
        m, f = se3.adjoint_inverse_dual(
            load9(links, i, pose), load3(links, i, pose + 9), m, f)
        store3(links, parent, at, vec3.add(m, load3(links, parent, at)))
        store3(links, parent, at + 3, vec3.add(f, load3(links, parent, at + 3)))
