# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The momenta of a discrete motion, for a variational integrator (theory 3.4).

In a step h each joint moves from q0 to q1 by its displacement D_J = J(q0)^-1 J(q1), which is
exp(h S rate). For a free joint it is the rotation exp(h w) beside the translation h v: a velocity
common to all bodies is then only added. A link of pose T in the ground has the displacement
D = T(q0)^-1 T(q1) = X^-1 D_p X D_J. X is its pose in its parent at q0, D_p the parent's
displacement. So nothing depends on where the machine is, and a displacement keeps its digits
however small it is. (3.16)

The kinetic part of the discrete Lagrangian has two terms for each link. One is that of its centre
of mass at the mean velocity in the ground. The other is that of its rotation at the constant
angular velocity from q0 to q1. Its derivative by q0 is a wrench, which the transposed recursion of
inverse dynamics takes to the joints. (3.17) That by q1 is the same wrench, seen from the frame of
the link at q1. (3.18) So the total momentum is computed once, and each step only turns it.
Computed twice, it would drift: no rotation of a placement is orthogonal to the last bit.
"""

from liedyn_ros.dynamics.tree.kernels import joints, motion, symmetric
from liedyn_ros.dynamics.tree.kernels.tables import coordinate_of, Link, State, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, VECTOR
from liedyn_ros.jit.rows import RIGID_POSE, Row, TWO_VECTORS
from liedyn_ros.lie.kernels import mat3, se3, so3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import FREE

LinkStep = Row(
    'LinkStep',
    displacement=RIGID_POSE,  # T_ground_link(q0)^-1 T_ground_link(q1)
    wrench=TWO_VECTORS)  # at q0, of a link and all after it


@kernel
def discrete_momenta(
        model: MATRIX, data: MATRIX, steps: MATRIX, q0: VECTOR, rate: VECTOR, step: NUMBER,
        start: VECTOR, end: VECTOR):
    """Write minus the derivative by q0, and that by q1; return whether all are good."""
    if not (joints.acceptable(model, q0) and joints.is_velocity(model, rate)):
        return False
    links = Tree(model, 0).links
    joints.store_angles(model, State, data, q0)
    for i in range(1, links):
        write_displacement(model, data, steps, i, q0, rate, step)
        store_momenta(model, steps, i, step)
    for i in range(links - 1, 0, -1):
        gather_momenta(model, data, steps, i, rate, start, end)
    return finite(start) and finite(end)


@kernel
def write_tangent(model: MATRIX, rate: VECTOR, step: NUMBER, tangent: VECTOR):
    """Write the tangent (nv,) at q0 that leads to the end of a step (3.16)."""
    for k in range(len(rate)):
        tangent[k] = step * rate[k]
    for i in range(1, Tree(model, 0).links):
        link = Link(model, i)
        if link.kind == FREE:
            w, v = se3.log(*joint_displacement(model, i, rate, step))
            vi = link.vi
            vec3.store(tangent, vi, w)
            vec3.store(tangent, vi + 3, v)


@inlined
def write_displacement(model, data, steps, i, q0, rate, step):
    """Write the displacement of link i in its own frame, its parent's being known."""
    motion.store_pose(model, data, i, q0)
    r0, p0 = State(data, i).pose
    r, p = joint_displacement(model, i, rate, step)
    parent = Link(model, i).parent
    if parent > 0:
        rp, pp = LinkStep(steps, parent).displacement
        # R0^T (p_p + (R_p - 1) p0 + R_p R0 p), R0^T R_p R0 R (3.16)
        moved = vec3.add(pp, vec3.sub(mat3.apply(rp, p0), p0))
        moved = vec3.add(moved, mat3.apply(rp, mat3.apply(r0, p)))
        p = mat3.apply_t(r0, moved)
        r = mat3.mul(mat3.transpose(r0), mat3.mul(rp, mat3.mul(r0, r)))
    LinkStep(steps, i).displacement = r, p


@inlined
def joint_displacement(model, i, rate, step):
    """Return the pose after a step, in that before, of the joint of link i."""
    link = Link(model, i)
    kind, vi = link.kind, link.vi
    w, v = joints.relative_twist(kind, link.pitch, rate, vi)
    w, v = vec3.scale(step, w), vec3.scale(step, v)
    if kind == FREE:
        return so3.exp(w), v
    return se3.exp(w, v)  # a translation along the axis: only a sum


@inlined
def store_momenta(model, steps, i, step):
    """Write the momentum of link i about its origin at q0, in its frame there (3.17)."""
    moved = LinkStep(steps, i)
    r, p = moved.displacement
    mass, h, inertia = Link(model, i).inertia
    c = vec3.scale(1.0 / mass, h) if mass > 0.0 else vec3.ZERO
    f = vec3.scale(1.0 / step, vec3.axpy(mass, p, vec3.sub(mat3.apply(r, h), h)))
    x = so3.log(r)
    w = vec3.scale(1.0 / step, x)
    # J about the centre of mass: J w + m c x (c x w)
    m = vec3.add(symmetric.apply(inertia, w), vec3.cross(h, vec3.cross(c, w)))
    m = mat3.apply_t(so3.left_jacobian_inverse(x), m)
    moved.wrench = vec3.add(m, vec3.cross(c, f)), f


@inlined
def gather_momenta(model, data, steps, i, rate, start, end):
    """Write the momenta of the joint of link i, and add the wrench to that of the parent."""
    link = Link(model, i)
    kind, pitch = link.kind, link.pitch
    vi, parent = link.vi, link.parent
    moved = LinkStep(steps, i)
    m, f = moved.wrench
    r, p = moved.displacement
    m1, f1 = se3.adjoint_dual(r, p, m, f)  # (3.18)
    for k in range(joints.degrees(kind)):
        rotor = coordinate_of(model, vi + k).armature * rate[vi + k]  # (3.20)
        start[vi + k] = joints.along(kind, pitch, k, m, f) + rotor
        end[vi + k] = joints.along(kind, pitch, k, m1, f1) + rotor
    if parent > 0:
        r, p = State(data, i).pose
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        LinkStep(steps, parent).plus.wrench = m, f
