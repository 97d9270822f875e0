# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The wrenches on a link, order by order: its net wrench, and that of its joint."""

from liedyn_ros.dynamics.time_derivatives.kernels import joints
from liedyn_ros.dynamics.time_derivatives.kernels.motion import angular_acceleration, tensor_times
from liedyn_ros.dynamics.time_derivatives.kernels.neighbours import add_two, load_two, store_two
from liedyn_ros.dynamics.time_derivatives.kernels.series import (
    EFFORT, JOINT_FORCE, RATE, SERIES_EXTERNAL, SERIES_POSITION, SERIES_WRENCH,
    SPECIFIC_ACCELERATION, STOP, TRANSLATION, VELOCITY_SQUARE)
from liedyn_ros.dynamics.tree.kernels import rigid, stops, symmetric
from liedyn_ros.dynamics.tree.kernels.joints import along, degrees
from liedyn_ros.dynamics.tree.kernels.tables import (
    ARMATURE, coordinate_row, DAMPING, INERTIA, KIND, load12, load3, load6, LOADED_JOINTS,
    PARENT, PITCH, PLACEMENT, STIFFNESS, STOP_STIFFNESS, STOP_WIDTH, store3, VI)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, get_int, put
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, REVOLUTE, SPHERICAL


@inlined
def store_net_wrench(model, series, i, k, size, loaded):
    """Write coefficient k of the net wrench of link i alone (7.35), (7.36)."""
    row = i * size
    mass, h, inertia = rigid.load(model, i, INERTIA)
    dw, c = angular_acceleration(series, row, k), load6(series, row + k, VELOCITY_SQUARE)
    s = load3(series, row + k, SPECIFIC_ACCELERATION)
    f = vec3.axpy(mass, s, tensor_times(dw, c, h))
    m = vec3.add(vec3.add(vec3.cross(h, s), symmetric.apply(inertia, dw)),
                 gyroscopic(inertia, c))
    if loaded:
        m = vec3.sub(m, load3(series, row + k, SERIES_EXTERNAL))
        f = vec3.sub(f, load3(series, row + k, SERIES_EXTERNAL + 3))
    store_two(series, row + k, SERIES_WRENCH, m, f)


@inlined
def gyroscopic(inertia, c):
    """Return w x J w, which is linear in c = [w]^2 (7.36)."""
    jxx, jxy, jxz, jyy, jyz, jzz = inertia
    xx, xy, xz, yy, yz, zz = c
    return (jxz * xy - jxy * xz + jyz * (yy - zz) + (jzz - jyy) * yz,
            jxy * yz - jyz * xy + jxz * (zz - xx) + (jxx - jzz) * xz,
            jyz * xz - jxz * yz + jxy * (xx - yy) + (jyy - jxx) * xy)


@inlined
def add_wrench_to_parent(model, series, i, k, size):
    """Add coefficient k of the wrench of link i to that of its parent (7.37)."""
    kind, row, parent = get_int(model, i, KIND), i * size, get_int(model, i, PARENT) * size
    e, p = load12(model, i, PLACEMENT)
    m, f = joints.rotate_wrench(kind, series, row, k)
    if kind == FREE:
        store3(series, row + k, JOINT_FORCE, f)
        m = vec3.add(m, moment_of_position(series, row, k))
    elif kind != REVOLUTE and kind != SPHERICAL:
        store3(series, row + k, JOINT_FORCE, f)
        m = add_moment_of_translation(series, row, k, m)
    f = mat3.apply(e, f)
    add_two(series, parent + k, SERIES_WRENCH, vec3.add(mat3.apply(e, m), vec3.cross(p, f)), f)


@inlined
def add_moment_of_translation(series, row, k, m):
    """Return coefficient k of m + t z x f for a translation t."""
    x, y, z = m
    for j in range(k + 1):
        t = get(series, row + j, TRANSLATION)
        x = x - t * get(series, row + k - j, JOINT_FORCE + 1)
        y = y + t * get(series, row + k - j, JOINT_FORCE)
    return x, y, z


@inlined
def moment_of_position(series, row, k):
    """Return coefficient k of d x f for the position d of a free joint."""
    m = vec3.cross(load3(series, row, SERIES_POSITION), load3(series, row + k, JOINT_FORCE))
    for j in range(1, k + 1):
        m = vec3.add(m, vec3.cross(
            load3(series, row + j, SERIES_POSITION), load3(series, row + k - j, JOINT_FORCE)))
    return m


@inlined
def store_efforts(model, series, i, k, size):
    """Write coefficient k of the forces of the joint of link i (7.25), damping among them."""
    kind, pitch, vi = get_int(model, i, KIND), get(model, i, PITCH), get_int(model, i, VI)
    row = i * size + k
    m, f = load_two(series, row, SERIES_WRENCH)
    for j in range(degrees(kind)):
        damping = get(model, coordinate_row(model, vi + j), DAMPING)
        put(series, row, EFFORT + j,
            damping * get(series, row, RATE + j) + along(kind, pitch, j, m, f))
    if get_int(model, 0, LOADED_JOINTS):
        for j in range(degrees(kind)):
            armature = get(model, coordinate_row(model, vi + j), ARMATURE)
            force = (k + 1.0) * armature * get(series, row + 1, RATE + j)  # (3.20)
            if k > 0:  # that of order zero is added to the efforts, as Coulomb friction is
                force = force + spring_coefficient(model, series, vi + j, row, j, k)
            put(series, row, EFFORT + j, get(series, row, EFFORT + j) + force)


@inlined
def spring_coefficient(model, series, j, row, column, k):
    """Return coefficient k > 0 of the force of spring and stops of coordinate j (3.19), (3.21)."""
    at = coordinate_row(model, j)
    force = (get(model, at, STIFFNESS) / k) * get(series, row - 1, RATE + column)
    stiffness = get(model, at, STOP_STIFFNESS)
    if stiffness > 0.0:
        force = force + stops.force_coefficient(
            series, row - k, STOP, series, row - k, RATE + column, k, stiffness,
            get(model, at, STOP_WIDTH))
    return force
