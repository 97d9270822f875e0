# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Position residuals f of closures, their Jacobian off the closed set (12.2), and its sizes."""

import math

from liedyn_ros.dynamics.constrained.kernels import closures, series
from liedyn_ros.dynamics.constrained.kernels.closures import frames_of
from liedyn_ros.dynamics.constrained.kernels.tables import (
    AXES, get3, get6, ORIGIN, START, workspace_of)
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, TRUTH, VECTOR
from liedyn_ros.lie.kernels import mat3, so3, vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import (
    ACROSS_X, ALONG_ROD, CYLINDRICAL_CLOSURE, FORCE_X, HELICAL_CLOSURE, LINE_CLOSURE, MOMENT_CROSS,
    MOMENT_Z, PLANAR_CLOSURE, PLANE_CLOSURE, PRISMATIC_CLOSURE, SCREW, WELD_CLOSURE)

# Of 1 + cos of the angle between two axes: opposite ones have no derivative
SMALLEST_COSINE = 1e-12


@kernel
def closure_residuals(
        workspace: VECTOR, q: VECTOR, turns: VECTOR, f: VECTOR, jacobian: MATRIX) -> TRUTH:
    """
    Write f (m,) and df (m, nv) by velocities; return whether the configuration is acceptable.

    turns (C,) counts the whole turns of helical closures; NaN chooses the nearest.
    """
    tables = workspace_of(workspace)
    machine, motion = tables.machine, tables.motion
    if not series.is_configuration(machine, q):
        return False
    series.write_configuration(machine, motion, q, 2 * len(machine.closure_kind))
    jacobian[:] = 0.0
    for c in range(len(machine.closure_kind)):
        write_closure(machine, motion, c, turns, f, jacobian)
    first = len(machine.row_kind)
    for r in range(len(machine.coupling)):
        for j in range(len(machine.link)):
            jacobian[first + r, j] = machine.coupling[r, j]
        f[first + r] = coupling_residual(machine, r, q)
    return finite(f)


@kernel
def write_closure(machine, motion, c, turns, f, jacobian):
    """Write the rows of one closure."""
    kind, origin = machine.closure_kind[c], get3(motion.frame, c, START, ORIGIN)
    size = machine.closure_size[c, 0], machine.closure_size[c, 1]
    to_b, r, p = relative_pose(machine, motion, c)
    if math.isnan(turns[c]) and kind == HELICAL_CLOSURE:
        turns[c] = nearest_turns(r, p, size)
    for row in range(machine.closure_row[c], machine.closure_row[c + 1]):
        f[row] = row_residual(kind, machine.row_kind[row], r, p, size, turns[c])
    for at in range(machine.path_start[c], machine.path_start[c + 1]):
        j = machine.path[at]
        sign = machine.path_sign[c, j]
        w, v = twist_at(motion, j, origin)
        v = vec3.scale(sign, mat3.apply(to_b, v))
        w = vec3.scale(sign, mat3.apply(to_b, w))
        for row in range(machine.closure_row[c], machine.closure_row[c + 1]):
            jacobian[row, j] = rate(kind, machine.row_kind[row], r, p, size, w, v)


@kernel
def write_constraint_sizes(workspace: VECTOR, q: VECTOR, sizes: MATRIX):
    """
    Write the most that each coordinate at unit rate can change each constraint, sizes (m, nv).

    That is so whatever the direction in which closures hold (12.59). Returns whether the
    configuration is acceptable.
    """
    tables = workspace_of(workspace)
    machine, motion = tables.machine, tables.motion
    if not series.is_configuration(machine, q):
        return False
    series.write_configuration(machine, motion, q, 2 * len(machine.closure_kind))
    sizes[:] = 0.0
    for c in range(len(machine.closure_kind)):
        origin = get3(motion.frame, c, START, ORIGIN)
        for at in range(machine.path_start[c], machine.path_start[c + 1]):
            j = machine.path[at]
            w, v = twist_at(motion, j, origin)
            turned, moved = math.sqrt(vec3.dot(w, w)), math.sqrt(vec3.dot(v, v))
            for row in range(machine.closure_row[c], machine.closure_row[c + 1]):
                kind, size = machine.row_kind[row], moved
                if kind < FORCE_X or kind == MOMENT_CROSS:
                    size = turned
                elif kind == SCREW:
                    size += abs(machine.closure_size[c, 0]) * turned
                sizes[row, j] = size
    first = len(machine.row_kind)
    for r in range(len(machine.coupling)):
        for j in range(len(machine.link)):
            sizes[first + r, j] = abs(machine.coupling[r, j])
    return True


@kernel
def twist_at(motion, j, point):
    """Return the twist of coordinate j at unit rate, its linear part that of a point."""
    w, v = get6(motion.screw, j, START)
    return w, vec3.add(v, vec3.cross(w, point))


@kernel
def relative_pose(machine, motion, c):
    """Return the rotation from the inertial frame to frame b, and C = (R, p), of a closure."""
    a, b = frames_of(machine, c)
    to_b, to_a = axis_rows(motion, b), axis_rows(motion, a)
    apart = vec3.sub(get3(motion.frame, b, START, ORIGIN), get3(motion.frame, a, START, ORIGIN))
    return to_b, mat3.mul(to_a, mat3.transpose(to_b)), mat3.apply(to_a, apart)


@kernel
def axis_rows(motion, f):
    """Return the rotation whose rows are the axes of a frame."""
    return (get3(motion.frame, f, START, AXES) + get3(motion.frame, f, START, AXES + 3)
            + get3(motion.frame, f, START, AXES + 6))


@kernel
def nearest_turns(r, p, size):
    """Return the whole turns of a helical closure that leave it open least."""
    return round((p[2] / size[0] - angle(r)) / (2.0 * math.pi))


@kernel
def is_open(machine, motion, gamma, q, v, limit):
    """
    Return whether a position or, beside its size, a velocity breaks the constraints.

    It uses the frames of closures from order.begin_state, and gamma (m,) as a scratch buffer.
    Positions of a user's functions are not known here.
    """
    for c in range(len(machine.closure_kind)):
        _, r, p = relative_pose(machine, motion, c)
        size, kind = (machine.closure_size[c, 0], machine.closure_size[c, 1]), (
            machine.closure_kind[c])
        turns = nearest_turns(r, p, size) if kind == HELICAL_CLOSURE else 0.0
        for row in range(machine.closure_row[c], machine.closure_row[c + 1]):
            left = abs(row_residual(kind, machine.row_kind[row], r, p, size, turns))
            if not left <= limit * machine.row_size[row]:
                return True
    for row in range(len(machine.coupling) - machine.functions[0]):
        if not abs(coupling_residual(machine, row, q)) <= limit:
            return True
    closures.write_rates(machine, motion, START, 1.0, gamma)
    for row in range(len(gamma)):
        speed = machine.row_size[row]
        for j in range(len(v)):
            speed += abs(motion.jacobian[0, row, j] * v[j])
        if not abs(gamma[row]) <= limit * speed:
            return True
    return False


@kernel
def coupling_residual(machine, r, q):
    """Return the residual of a coupling."""
    total = -machine.coupling_offset[r]
    for j in range(len(machine.link)):
        if machine.coupling[r, j] != 0.0:  # only coordinates of single links are coupled: those
            total += machine.coupling[r, j] * q[machine.qi[machine.link[j]]]  # have one of q each
    return total


@kernel
def row_residual(kind, row, r, p, size, turns):
    """Return the residual of a row at C = (R, p)."""
    if row == ALONG_ROD:
        return (vec3.dot(p, p) - size[1] * size[1]) / (2.0 * size[1])
    if row == MOMENT_CROSS:
        return -r[1]  # -(R^T x_a) . y
    if row <= MOMENT_Z:
        if kind == WELD_CLOSURE or kind == PRISMATIC_CLOSURE:
            return 2.0 * quaternion(r)[row]
        return tilt(r)[row]
    if row == SCREW:
        return p[2] - size[0] * (angle(r) + 2.0 * math.pi * turns)
    return held_position(kind, r, p)[row - (ACROSS_X if row >= ACROSS_X else FORCE_X)]


@kernel
def rate(kind, row, r, p, size, w, v):
    """Return the derivative of a residual along the relative twist (w, v), seen from frame b."""
    if row == ALONG_ROD:
        return vec3.dot(mat3.apply_t(r, p), v) / size[1]
    if row == MOMENT_CROSS:
        return vec3.dot(vec3.cross((r[0], r[1], r[2]), (0.0, 1.0, 0.0)), w)
    if row <= MOMENT_Z:
        if kind == WELD_CLOSURE or kind == PRISMATIC_CLOSURE:
            x, y, z, s = quaternion(r)
            return vec3.axpy(s, w, vec3.cross((x, y, z), w))[row]
        return tilt_rate(r, w)[row]
    if row == SCREW:
        return mat3.apply(r, v)[2] - size[0] * angle_rate(r, w)
    return held_position_rate(kind, r, p, w, v)[row - (ACROSS_X if row >= ACROSS_X else FORCE_X)]


@kernel
def quaternion(r):
    """Return the unit quaternion of R whose scalar is not below zero."""
    x, y, z, s = so3.to_quaternion(r)
    return (-x, -y, -z, -s) if s < 0.0 else (x, y, z, s)


@kernel
def tilt(r):
    """Return t = 2 m x z / |m + z|, with m the z axis of frame a seen from frame b."""
    m, kap = (r[6], r[7], r[8]), 1.0 + r[8]
    if kap < SMALLEST_COSINE:
        return (2.0, 0.0, 0.0)
    scale = math.sqrt(2.0 / kap)
    return (scale * m[1], -scale * m[0], 0.0)


@kernel
def tilt_rate(r, w):
    """Return the derivative of t."""
    m, kap = (r[6], r[7], r[8]), max(1.0 + r[8], SMALLEST_COSINE)
    turned = vec3.cross(m, w)
    first, second = 1.0 / math.sqrt(kap), turned[2] / (2.0 * kap * math.sqrt(kap))
    scale = math.sqrt(2.0)
    return (scale * (first * turned[1] - second * m[1]),
            scale * (-first * turned[0] + second * m[0]), 0.0)


@kernel
def angle(r):
    """Return the angle of R about z."""
    return math.atan2(r[3] - r[1], r[0] + r[4])


@kernel
def angle_rate(r, w):
    """Return the rate of the angle about z: w . (m + z) / (1 + m . z)."""
    return (w[0] * r[6] + w[1] * r[7] + w[2] * (r[8] + 1.0)) / max(1.0 + r[8], SMALLEST_COSINE)


@kernel
def held_position(kind, r, p):
    """Return the position that the rows of a kind hold."""
    if kind == HELICAL_CLOSURE or kind == CYLINDRICAL_CLOSURE:
        return turned_back(angle(r), p)
    if (kind == PRISMATIC_CLOSURE or kind == PLANAR_CLOSURE or kind == LINE_CLOSURE
            or kind == PLANE_CLOSURE):
        return p
    return mat3.apply_t(r, p)


@kernel
def held_position_rate(kind, r, p, w, v):
    """Return the derivative of that position."""
    if kind == HELICAL_CLOSURE or kind == CYLINDRICAL_CLOSURE:
        th = angle(r)
        x, speed = turned_back(th, p), turned_back(th, mat3.apply(r, v))
        return vec3.axpy(-angle_rate(r, w), (-x[1], x[0], 0.0), speed)
    if (kind == PRISMATIC_CLOSURE or kind == PLANAR_CLOSURE or kind == LINE_CLOSURE
            or kind == PLANE_CLOSURE):
        return mat3.apply(r, v)
    return vec3.add(v, vec3.cross(mat3.apply_t(r, p), w))


@kernel
def turned_back(th, p):
    """Return Rz(-th) p."""
    c, s = math.cos(th), math.sin(th)
    return (c * p[0] + s * p[1], c * p[1] - s * p[0], p[2])


@kernel
def largest_magnitude(values):
    """Return the largest magnitude of values, NaN where one of them is NaN, 0 of none."""
    most = 0.0
    for value in values:
        if not abs(value) <= most:
            most = abs(value)
    return most
