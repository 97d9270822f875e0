# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sums over all moving bodies: mass, centre of mass, energies, momentum."""

from liedyn_ros.dynamics.tree.kernels import joints, motion, rigid
from liedyn_ros.dynamics.tree.kernels.tables import (
    ACCELERATION, COMPUTED, INERTIA, LINKS, load3, POSES, TWISTS)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.simd import get_int, put
from liedyn_ros.lie.kernels import mat3, se3, vec3

# Places of the result.
MASS, MOMENT, KINETIC, POTENTIAL, MOMENTUM = 0, 1, 4, 5, 6
ENTRIES = 12


@kernel
def centroidal(model, data, q, v, out):
    """Write the sums, in the ground; return whether q and v are acceptable, the sums finite."""
    put(data, 0, COMPUTED, 0.0)
    if not (joints.acceptable(model, q) and joints.is_velocity(model, v)):
        return False
    mass, moment, energy = 0.0, vec3.ZERO, 0.0
    angular, linear = vec3.ZERO, vec3.ZERO
    for i in range(1, get_int(model, 0, LINKS)):
        motion.store_ground_pose(model, data, i, q)
        w, u = motion.store_twist(model, data, i, v)
        r, p = motion.load_ground_pose(data, i)
        body = rigid.load(model, i, INERTIA)
        mass += body[0]
        moment = vec3.add(moment, vec3.axpy(body[0], p, mat3.apply(r, body[1])))
        m, f = rigid.apply(body, w, u)  # (1.18)
        energy += 0.5 * (vec3.dot(w, m) + vec3.dot(u, f))
        m, f = se3.adjoint_inverse_dual(r, p, m, f)
        angular, linear = vec3.add(angular, m), vec3.add(linear, f)
    out[MASS], out[KINETIC] = mass, energy
    out[POTENTIAL] = vec3.dot(moment, load3(data, 0, ACCELERATION + 3))  # -a_g . m c (3.0)
    vec3.store(out, MOMENT, moment)
    vec3.store(out, MOMENTUM, angular)
    vec3.store(out, MOMENTUM + 3, linear)
    put(data, 0, COMPUTED, float(POSES + TWISTS))
    return joints.finite(out)
