# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The accelerations of one order: elimination from the leaves, solution from the root (theory 7.7).

The series hold the motion without the unknown accelerations, and its net wrenches.
Articulated inertias, gains and pivots are those of order zero, in data.
"""

from liedyn_ros.dynamics.algorithms.kernels import articulated, floating_base
from liedyn_ros.dynamics.algorithms.kernels.aba import is_floating_base, is_prescribed
from liedyn_ros.dynamics.time_derivatives.kernels import joints
from liedyn_ros.dynamics.time_derivatives.kernels.motion import spring_coefficient
from liedyn_ros.dynamics.time_derivatives.kernels.series import (
    add_two, AXIS_ACCELERATION, EFFORT, JOINT_FORCE, load_two, PARENT_MOTION, RATE,
    SERIES_POSITION, SERIES_WRENCH, SPECIFIC_ACCELERATION, store_two, TENSOR, TRANSLATION,
    VELOCITY)
from liedyn_ros.dynamics.tree.kernels.joints import add_along, along, degrees
from liedyn_ros.dynamics.tree.kernels.tables import (
    add3, add9, Coordinate, coordinate_row, Link, load3, Pivot, State, store3, Tree)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, put
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.model.kernels.kinds import FREE, REVOLUTE, SPHERICAL


@inlined
def eliminate_coefficient(model, data, series, prescribed, i, k, size, followed):
    """Eliminate the coordinates of link i from coefficient k of its wrench (7.40)."""
    link = Link(model, i)
    kind, pitch, vi = link.kind, link.pitch, link.vi
    row = i * size + k
    m, f = load_two(series, row, SERIES_WRENCH)
    if followed or has_prescribed(model, prescribed, i):
        State(data, i).order_wrench = m, f
    if is_floating_base(model, prescribed, i):
        for j in range(6):
            at = coordinate_row(model, vi + j)
            Pivot(data, at).residual = get(series, row, EFFORT + j) - Coordinate(
                model, at).damping * get(series, row, RATE + j)
        floating_base.reduce_residuals(data, coordinate_row(model, vi), m, f)
        return
    for j in range(degrees(kind) - 1, -1, -1):
        if not is_prescribed(prescribed, vi + j):
            at = coordinate_row(model, vi + j)
            damping = Coordinate(model, at).damping * get(series, row, RATE + j)
            residual = get(series, row, EFFORT + j) - damping - along(kind, pitch, j, m, f)
            if k > 0 and Tree(model, 0).loaded_joints:
                residual = residual - spring_coefficient(model, series, vi + j, row, j, k)
            pivot = Pivot(data, at)
            pivot.residual = residual
            step, (gm, gf) = pivot.inverse * residual, pivot.gain
            m, f = vec3.axpy(step, gm, m), vec3.axpy(step, gf, f)
    store_two(series, row, SERIES_WRENCH, m, f)


@inlined
def has_prescribed(model, prescribed, i):
    """Return whether a coordinate of link i is prescribed."""
    link = Link(model, i)
    held, vi = False, link.vi
    for j in range(vi, vi + degrees(link.kind)):
        held = held or is_prescribed(prescribed, j)
    return held


@inlined
def solve_link(model, data, series, prescribed, i, k, size, followed):
    """
    Solve for the coordinates of link i, and complete its motion and its wrench (7.41).

    followed: whether orders follow that need both. Else only unknown forces need the wrench.
    """
    link = Link(model, i)
    kind, row, parent = link.kind, i * size, link.parent
    dw, ds = State(data, parent).order_change
    if parent > 0:
        dw, ds = change_from_parent(kind, model, series, i, row, k, dw, ds, followed)
    dw, ds = solve_joint(model, data, series, prescribed, i, k, size, dw, ds, followed)
    State(data, i).order_change = dw, ds
    if followed:
        add3(series, row + k + 1, VELOCITY, vec3.scale(1.0 / (k + 1.0), dw))
        add3(series, row + k, SPECIFIC_ACCELERATION, ds)
    if followed or has_prescribed(model, prescribed, i):
        complete_wrench(model, data, series, i, k, size, dw, ds)


@inlined
def complete_wrench(model, data, series, i, k, size, dw, ds):
    """Write coefficient k of the wrench of link i, whose motion changes by dw and ds."""
    link = Link(model, i)
    kind, row, parent = link.kind, i * size, link.parent
    m, f = articulated.apply(articulated.load(data, i), dw, ds)
    state = State(data, i)
    m = vec3.add(m, state.order_wrench[0])  # Lemma 2 (7.16)
    f = vec3.add(f, state.order_wrench[1])
    if parent > 0 and kind != REVOLUTE and kind != SPHERICAL:
        _, without = load_two(series, row + k, SERIES_WRENCH)
        change = vec3.sub(f, without)
        add3(series, row + k, JOINT_FORCE, joints.rotate_now(kind, series, row, change))
    store_two(series, row + k, SERIES_WRENCH, m, f)


@inlined
def change_from_parent(kind, model, series, i, row, k, dw, ds, followed):
    """Complete the parent's part of the motion of link i; return the changes of its w' and s."""
    e, p = Link(model, i).placement
    ds = mat3.apply_t(e, vec3.add(ds, vec3.cross(dw, p)))
    dw = mat3.apply_t(e, dw)
    if kind == FREE:
        add9(series, row + k, TENSOR, mat3.hat(dw))
        ds = vec3.add(ds, vec3.cross(dw, load3(series, row, SERIES_POSITION)))
    elif kind != REVOLUTE and kind != SPHERICAL:
        x, y, t = dw[1], -dw[0], get(series, row, TRANSLATION)  # w' x z
        at = row + k
        put(series, at, AXIS_ACCELERATION, get(series, at, AXIS_ACCELERATION) + x)
        put(series, at, AXIS_ACCELERATION + 1, get(series, at, AXIS_ACCELERATION + 1) + y)
        ds = (ds[0] + t * x, ds[1] + t * y, ds[2])
    if followed:
        add_two(series, row + k + 1, PARENT_MOTION, vec3.scale(1.0 / (k + 1.0), dw), ds)
    return (joints.rotate_back_now(kind, series, row, dw),
            joints.rotate_back_now(kind, series, row, ds))


@inlined
def solve_joint(model, data, series, prescribed, i, k, size, dw, ds, followed):
    """Solve for the coordinates of link i; return dw and ds with their part."""
    link = Link(model, i)
    kind, pitch, vi = link.kind, link.pitch, link.vi
    row = i * size + k
    if is_floating_base(model, prescribed, i):
        yw, yu = floating_base.solve(data, coordinate_row(model, vi), dw, ds)
        store3(series, row + 1, RATE, vec3.scale(1.0 / (k + 1.0), yw))
        store3(series, row + 1, RATE + 3, vec3.scale(1.0 / (k + 1.0), yu))
        return vec3.add(dw, yw), vec3.add(ds, yu)
    for j in range(degrees(kind)):
        if not is_prescribed(prescribed, vi + j):
            at = coordinate_row(model, vi + j)
            pivot = Pivot(data, at)
            gm, gf = pivot.gain
            y = pivot.inverse * (pivot.residual - (vec3.dot(gm, dw) + vec3.dot(gf, ds)))
            dw, ds = add_along(kind, pitch, j, y, dw, ds)
            put(series, row + 1, RATE + j, (1.0 / (k + 1.0)) * y)
            if kind != REVOLUTE and kind < SPHERICAL and followed:
                gain = joints.translation_per_unit(kind, model, i) * y
                put(series, row + 1, PARENT_MOTION + 5,
                    get(series, row + 1, PARENT_MOTION + 5) + gain)
    return dw, ds
