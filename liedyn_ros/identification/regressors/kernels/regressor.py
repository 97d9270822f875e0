# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The regressor of joint forces, body by body, of many states."""

from liedyn_ros.dynamics.frames.kernels.jacobians import write_frame_jacobian
from liedyn_ros.dynamics.tree.kernels.kinematics import kinematics, LOCAL
from liedyn_ros.dynamics.tree.kernels.tables import State
from liedyn_ros.jit.decorators import inlined, long_kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX
from liedyn_ros.lie.kernels import vec3


@long_kernel
def regressors_of_states(
        model: MATRIX, data: MATRIX, q: MATRIX, v: MATRIX, a: MATRIX, bodies: INTEGERS,
        poses: CUBE, twists: MATRIX, accelerations: MATRIX, jacobian: MATRIX, wrenches: MATRIX,
        out: CUBE):
    """
    Write Y (K, nv, 10 F) of K states and bodies (F,); return the first state refused (6.23).

    It is K if none is. out holds zeros before. poses (B, 4, 4), twists and accelerations (B, 6),
    jacobian (6, nv) and wrenches (10, 6) are scratch buffers.
    """
    for s in range(len(q)):
        if not kinematics(model, data, q[s], v[s], a[s], poses, twists, accelerations):
            return s
        for at in range(len(bodies)):
            b = bodies[at]
            write_unit_wrenches(data, poses[b], twists[b], accelerations[b], wrenches)
            write_frame_jacobian(model, q[s], b, LOCAL, jacobian)
            for i in range(jacobian.shape[1]):
                j0, j1, j2, j3, j4, j5 = (jacobian[0, i], jacobian[1, i], jacobian[2, i],
                                          jacobian[3, i], jacobian[4, i], jacobian[5, i])
                if j0 == j1 == j2 == j3 == j4 == j5 == 0.0:
                    continue  # a joint that does not move the body
                for k in range(10):
                    out[s, i, 10 * at + k] = (
                        j0 * wrenches[k, 0] + j1 * wrenches[k, 1] + j2 * wrenches[k, 2]
                        + j3 * wrenches[k, 3] + j4 * wrenches[k, 4] + j5 * wrenches[k, 5])
    return len(q)


@inlined
def write_unit_wrenches(data, pose, twist, acceleration, wrenches):
    """Write the wrenches (10, 6) that the ten parameters need at 1: Lam(V') - ad_V^T Lam(V)."""
    w, u = vec3.load(twist, 0), vec3.load(twist, 3)
    dw, du = vec3.load(acceleration, 0), vec3.load(acceleration, 3)
    up = State(data, 0).acceleration[1]  # -a_g, the offset of the ground (3.0)
    du = vec3.add(du, (pose[0, 0] * up[0] + pose[1, 0] * up[1] + pose[2, 0] * up[2],
                       pose[0, 1] * up[0] + pose[1, 1] * up[1] + pose[2, 1] * up[2],
                       pose[0, 2] * up[0] + pose[1, 2] * up[1] + pose[2, 2] * up[2]))
    for k in range(10):
        moment, force = unit_momentum(k, dw, du)
        m, f = unit_momentum(k, w, u)
        moment = vec3.add(moment, vec3.add(vec3.cross(w, m), vec3.cross(u, f)))
        force = vec3.add(force, vec3.cross(w, f))
        vec3.store(wrenches[k], 0, moment)
        vec3.store(wrenches[k], 3, force)


@inlined
def unit_momentum(k, w, u):
    """Return column k of Lam(x), x = (w, u): the momentum by parameter k (6.22)."""
    if k == 0:
        return vec3.ZERO, u
    if k < 4:
        axis = (1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, 1.0 if k == 3 else 0.0)
        return vec3.cross(axis, u), vec3.cross(w, axis)
    if k == 4:
        return (w[0], 0.0, 0.0), vec3.ZERO
    if k == 5:
        return (w[1], w[0], 0.0), vec3.ZERO
    if k == 6:
        return (w[2], 0.0, w[0]), vec3.ZERO
    if k == 7:
        return (0.0, w[1], 0.0), vec3.ZERO
    if k == 8:
        return (0.0, w[2], w[1]), vec3.ZERO
    return (0.0, 0.0, w[2]), vec3.ZERO
