# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How the rows of closures vary, in one direction and in reverse (12.9); those of functions.

A row is a wrench between two frames: moment and force are products of points and axes that links
carry. A jet is such a vector with its rate, and the changes of both along a direction. In reverse,
weights of a vector and of its rate become weights of the displacement and of the twist of its
link. params is a ParameterArrays, or None: its frames have displacements of their own.

The rows of a user's functions in products and gradients of constrained dynamics. Python has
differentiated the rows J (k, nv), the last of the constraints, along q: E_e J is their derivative
along a tangent e. They change J a + J' v where accelerations are unknown, and J^T lam among the
forces (13.19). Where forces or multipliers are redundant, they change J mu (13.19b).
"""

from typing import NamedTuple

from liedyn_ros.dynamics.constrained.kernels.closures import frames_of, row_wrench
from liedyn_ros.dynamics.constrained.kernels.tables import AXES, get3, get6, ORIGIN, START
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import load_pair
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import (
    CLOSURE_LENGTH, CLOSURE_PITCH)
from liedyn_ros.dynamics.tree.kernels.tables import add3
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, VECTOR
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.model.kernels.kinds import (
    ACROSS_X, ALONG_ROD, FORCE_X, MOMENT_CROSS, MOMENT_X, MOMENT_Z, SCREW)


# Columns of the table of variations, a row for each link; the last row is the ground, at rest.
D_POSE, D_TWIST, D_ACCELERATION = 0, 6, 12  # displacement, and changes of the spatial motion
D_WRENCH = 18  # change of the wrench from the parent, as seen by the link
BY_POSE, BY_TWIST, BY_ACCELERATION = 0, 6, 12  # in reverse: weights of the first three
FIELD, D_FIELD = 24, 30  # the twist at rates other than v, and its change
BY_FIELD = 30
VARIATION_WIDTH = 36

NO_CHANGE = (vec3.ZERO, vec3.ZERO, vec3.ZERO, vec3.ZERO)


@kernel
def frame_vector_jet(machine, motion, table, params, f, column):
    """Return the jet of the origin or of an axis of frame f."""
    i = machine.frame_link[f]
    x, rate = get3(motion.frame, f, START, column), get3(motion.frame, f, START + 1, column)
    (hw, hu), (dw, du) = load_pair(table, i, D_POSE), load_pair(table, i, D_TWIST)
    w, _ = get6(motion.twist, i, START)
    if params is not None:
        xw, xu = load_pair(params.frames, f, 0)
        hw, hu = vec3.add(hw, xw), vec3.add(hu, xu)
    change, both = vec3.cross(hw, x), vec3.cross(dw, x)
    if column == ORIGIN:
        change, both = vec3.add(change, hu), vec3.add(both, du)
    return x, rate, change, vec3.add(both, vec3.cross(w, change))


@kernel
def row_jet(machine, motion, table, params, c, kind):
    """Return the jets of moment and force of a row of closure c."""
    a, b = frames_of(machine, c)
    if kind <= MOMENT_Z:
        return frame_vector_jet(machine, motion, table, params, b, AXES + 3
                                * (kind - MOMENT_X)), NO_CHANGE
    if kind == MOMENT_CROSS:
        return jet_cross(frame_vector_jet(machine, motion, table, params, a, AXES),
                         frame_vector_jet(machine, motion, table, params, b, AXES + 3)), NO_CHANGE
    origin = frame_vector_jet(machine, motion, table, params, b, ORIGIN)
    if kind == ALONG_ROD:
        scale = 1.0 / machine.closure_size[c, 1]
        f = jet_axpy(-scale, frame_vector_jet(machine, motion, table, params, a, ORIGIN), jet_axpy(
            scale, origin, NO_CHANGE))
        if params is not None:
            factor = -scale * params.closures[c, CLOSURE_LENGTH]
            f = (f[0], f[1], vec3.axpy(factor, f[0], f[2]), vec3.axpy(factor, f[1], f[3]))
        return jet_cross(origin, f), f
    f = frame_vector_jet(machine, motion, table, params, *row_axis(machine, c, kind))
    m = jet_cross(origin, f)
    if kind == SCREW:
        m = jet_axpy(-machine.closure_size[c, 0], f, m)
        if params is not None:
            x = params.closures[c, CLOSURE_PITCH]
            m = (m[0], m[1], vec3.axpy(-x, f[0], m[2]), vec3.axpy(-x, f[1], m[3]))
    return m, f


@kernel
def row_axis(machine, c, kind):
    """Return the frame and the column of the axis along which a row of closure c has a force."""
    a, b = frames_of(machine, c)
    if kind >= ACROSS_X:
        return a, AXES + 3 * (kind - ACROSS_X)
    return b, AXES + (6 if kind == SCREW else 3 * (kind - FORCE_X))


@kernel
def vjp_row(machine, motion, table, params, c, r, by_row, by_rate):
    """Back-propagate the weights of row r and of its rate to the motion of both links."""
    (a, b), kind = frames_of(machine, c), machine.row_kind[r]
    if params is not None:
        vjp_closure_size(machine, motion, params, c, r, by_row, by_rate)
    if kind <= MOMENT_Z:
        vjp_frame_vector(machine, motion, table, params, b, AXES + 3 * (kind - MOMENT_X),
                         by_row[0],
                         by_rate[0])
        return
    if kind == MOMENT_CROSS:
        by_x, by_y = vjp_cross(motion, a, AXES, b, AXES + 3, by_row[0], by_rate[0])
        vjp_frame_vector(machine, motion, table, params, a, AXES, *by_x)
        vjp_frame_vector(machine, motion, table, params, b, AXES + 3, *by_y)
        return
    if kind == ALONG_ROD:  # m = -p_b x p_a / length, f = (p_b - p_a) / length
        scale = 1.0 / machine.closure_size[c, 1]
        by_b, by_a = vjp_cross(motion, b, ORIGIN, a, ORIGIN, vec3.scale(-scale, by_row[0]),
                               vec3.scale(-scale, by_rate[0]))
        vjp_frame_vector(machine, motion, table, params, b, ORIGIN, vec3.axpy(
            scale, by_row[1], by_b[0]), vec3.axpy(scale, by_rate[1], by_b[1]))
        vjp_frame_vector(machine, motion, table, params, a, ORIGIN, vec3.axpy(
            -scale, by_row[1], by_a[0]), vec3.axpy(-scale, by_rate[1], by_a[1]))
        return
    frame, column = row_axis(machine, c, kind)
    by_b, by_f = vjp_cross(motion, b, ORIGIN, frame, column, by_row[0], by_rate[0])
    by_force, by_force_rate = vec3.add(by_f[0], by_row[1]), vec3.add(by_f[1], by_rate[1])
    if kind == SCREW:
        pitch = machine.closure_size[c, 0]
        by_force = vec3.axpy(-pitch, by_row[0], by_force)
        by_force_rate = vec3.axpy(-pitch, by_rate[0], by_force_rate)
    vjp_frame_vector(machine, motion, table, params, frame, column, by_force, by_force_rate)
    vjp_frame_vector(machine, motion, table, params, b, ORIGIN, *by_b)


@kernel
def vjp_frame_vector(machine, motion, table, params, f, column, by_x, by_rate):
    """Back-propagate the weights of a point or axis of frame f, and of its rate, to its link."""
    i, x = machine.frame_link[f], get3(motion.frame, f, START, column)
    w, _ = get6(motion.twist, i, START)
    by_x = vec3.add(by_x, vec3.cross(by_rate, w))
    add3(table, i, BY_POSE, vec3.cross(x, by_x))
    add3(table, i, BY_TWIST, vec3.cross(x, by_rate))
    if column == ORIGIN:
        add3(table, i, BY_POSE + 3, by_x)
        add3(table, i, BY_TWIST + 3, by_rate)
    if params is not None:
        add3(params.frames, f, 0, vec3.cross(x, by_x))
        if column == ORIGIN:
            add3(params.frames, f, 3, by_x)


@kernel
def vjp_closure_size(machine, motion, params, c, r, by_row, by_rate):
    """Back-propagate the weights of row r and of its rate to pitch and length of closure c."""
    m, f = row_wrench(machine, motion, c, r, START)
    dm, df = row_wrench(machine, motion, c, r, START + 1)
    if machine.row_kind[r] == SCREW:
        params.closures[c, CLOSURE_PITCH] -= vec3.dot(by_row[0], f) + vec3.dot(by_rate[0], df)
    elif machine.row_kind[r] == ALONG_ROD:
        params.closures[c, CLOSURE_LENGTH] -= (
            vec3.dot(by_row[0], m) + vec3.dot(by_row[1], f) + vec3.dot(by_rate[0], dm)
            + vec3.dot(by_rate[1], df)) / machine.closure_size[c, 1]


@kernel
def vjp_cross(motion, f, column_x, g, column_y, by_product, by_rate):
    """Return the weights of x and x', of y and y', from those of x cross y and of its rate."""
    x, dx = get3(motion.frame, f, START, column_x), get3(motion.frame, f, START + 1, column_x)
    y, dy = get3(motion.frame, g, START, column_y), get3(motion.frame, g, START + 1, column_y)
    by_x = vec3.add(vec3.cross(y, by_product), vec3.cross(dy, by_rate))
    by_y = vec3.add(vec3.cross(by_product, x), vec3.cross(by_rate, dx))
    return (by_x, vec3.cross(y, by_rate)), (by_y, vec3.cross(by_rate, x))


@kernel
def jet_cross(x, y):
    """Return the jet of a cross product."""
    both = vec3.add(vec3.cross(x[3], y[0]), vec3.cross(x[0], y[3]))
    both = vec3.add(both, vec3.add(vec3.cross(x[1], y[2]), vec3.cross(x[2], y[1])))
    return (vec3.cross(x[0], y[0]),
            vec3.add(vec3.cross(x[1], y[0]), vec3.cross(x[0], y[1])),
            vec3.add(vec3.cross(x[2], y[0]), vec3.cross(x[0], y[2])), both)


@kernel
def jet_axpy(s, x, y):
    """Return the jet s x + y."""
    return (vec3.axpy(s, x[0], y[0]), vec3.axpy(s, x[1], y[1]), vec3.axpy(s, x[2], y[2]),
            vec3.axpy(s, x[3], y[3]))


class FunctionChange(NamedTuple):
    """E_x J (k, nv) as slope and D(J a + J' v) (k,) as push along one direction."""

    slope: MATRIX
    push: VECTOR


class FunctionWeights(NamedTuple):
    """E_e J (nv, k, nv) as slopes and D(J a + J' v) (k, 2 nv) by q and v as pushes."""

    slopes: CUBE
    pushes: MATRIX


@kernel
def add_change(motion, functions, first, gamma, tau):
    """Add to what vary has written: D(A a + A' v) from row first on, and -D(A^T lam) (nv,)."""
    slope, push = functions.slope, functions.push
    for r in range(len(push)):
        gamma[first + r] += push[r]
        for j in range(len(tau)):
            tau[j] -= slope[r, j] * motion.multiplier[START, first + r]


@kernel
def add_rows(functions, first, rates, out):
    """Add D(J rates) from row first on, the rates being constant."""
    slope = functions.slope
    for r in range(len(slope)):
        for j in range(len(rates)):
            out[first + r] += slope[r, j] * rates[j]


@kernel
def vjp_function_rows(functions, first, rates, weights, by_q):
    """Add to by_q (nv,) what weights . J rates has by q: undoes add_rows."""
    slopes = functions.slopes
    for e in range(len(by_q)):
        for r in range(slopes.shape[1]):
            for j in range(len(rates)):
                by_q[e] += weights[first + r] * slopes[e, r, j] * rates[j]


@kernel
def vjp_change(motion, functions, first, weights, by_rows, by_q, by_v):
    """Add gradients of by_rows . (J a + J' v) - weights . J^T lam by q, v: undoes add_change."""
    slopes, pushes, n = functions.slopes, functions.pushes, len(by_q)
    for e in range(n):
        for r in range(len(pushes)):
            by_q[e] += by_rows[first + r] * pushes[r, e]
            by_v[e] += by_rows[first + r] * pushes[r, n + e]
            for j in range(n):
                by_q[e] -= weights[j] * slopes[e, r, j] * motion.multiplier[START, first + r]
