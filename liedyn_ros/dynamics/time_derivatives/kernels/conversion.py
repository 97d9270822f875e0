# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Derivatives become coefficients in the table, and back.

A derivative x^(k) is k! times a coefficient. Arrays are those of one state, or have a first axis
of states. States from a first one on go into the lanes of the table. If there are fewer states
than lanes, the last state fills the rest.
"""

import math

import numpy as np

from liedyn_ros.dynamics.algorithms.kernels.aba import is_prescribed
from liedyn_ros.dynamics.time_derivatives.kernels.joints import translation_per_unit
from liedyn_ros.dynamics.time_derivatives.kernels.series import (
    COSINE, EFFORT, MAX_ORDER, RATE, SERIES_EXTERNAL, SERIES_POSITION, SERIES_ROTATION, SINE,
    SPECIFIC_ACCELERATION, STOP, TRANSLATION, VELOCITY, VELOCITY_SQUARE)
from liedyn_ros.dynamics.tree.kernels import joints, motion, stops
from liedyn_ros.dynamics.tree.kernels.joints import LARGEST_ANGLE, sine_cosine_within
from liedyn_ros.dynamics.tree.kernels.motion import spring
from liedyn_ros.dynamics.tree.kernels.tables import (
    body_at, coordinate_of, Link, store3, store6, Tree)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get, get_lane, lanes_of, put, put_lane
from liedyn_ros.lie.kernels import vec3
from liedyn_ros.model.kernels.configuration import finite
from liedyn_ros.model.kernels.kinds import FREE, REVOLUTE, SPHERICAL

FACTORIAL = np.cumprod([1.0, *range(1, MAX_ORDER + 2)])
TO_COEFFICIENT = 1.0 / FACTORIAL  # a division would take longer than all else here


@inlined
def store_ground(model, series, size):
    """Write the motion of the ground, whose specific acceleration stands for gravity."""
    for k in range(size):
        store3(series, k, VELOCITY, vec3.ZERO)
        store3(series, k, SPECIFIC_ACCELERATION, vec3.ZERO)
        store6(series, k, VELOCITY_SQUARE, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    store3(series, 0, SPECIFIC_ACCELERATION, vec3.neg(Tree(model, 0).gravity))  # (3.0)


@inlined
def store_poses(model, series, i, q, first, size):
    """Write coefficient 0 of the pose of the joint of link i, but for sine and cosine."""
    for lane in range(lanes_of(series)):
        s = min(first + lane, len(q) - 1)
        store_joint_pose(model, series, i, q[s] if q.ndim == 2 else q, lane, size)


@inlined
def store_sine_cosine(model, series, i, q, first, size):
    """Write coefficient 0 of sine and cosine of the angle of link i, of all states at a time."""
    link = Link(model, i)
    if joints.is_angle(link.kind):
        row, qi = i * size, link.qi
        for lane in range(lanes_of(series)):
            s = min(first + lane, len(q) - 1)
            put_lane(series, row, SINE, lane, q[s, qi] if q.ndim == 2 else q[qi])
        sine, cosine = sine_cosine_within(get(series, row, SINE))
        put(series, row, SINE, sine)
        put(series, row, COSINE, cosine)
        for lane in range(lanes_of(series)):
            s = min(first + lane, len(q) - 1)
            angle = q[s, qi] if q.ndim == 2 else q[qi]
            if not abs(angle) < LARGEST_ANGLE:
                put_lane(series, row, SINE, lane, math.sin(angle))
                put_lane(series, row, COSINE, lane, math.cos(angle))


@inlined
def store_joint_pose(model, series, i, q, lane, size):
    """Write coefficient 0 of a pose of one state, but for sine and cosine of an angle."""
    link = Link(model, i)
    kind, row, qi = link.kind, i * size, link.qi
    if kind < SPHERICAL:
        if coordinate_of(model, Link(model, i).vi).stop[0] > 0.0:
            store_stops(model, series, link.vi, q[qi], lane, row)
        if kind != REVOLUTE:
            put_lane(series, row, TRANSLATION, lane, translation_per_unit(kind, model, i) * q[qi])
    else:
        if kind == FREE:
            for j in range(3):
                put_lane(series, row, SERIES_POSITION + j, lane, q[qi + j])
            qi += 3
        r = joints.rotation_of_quaternion((q[qi], q[qi + 1], q[qi + 2], q[qi + 3]))
        for j in range(9):
            put_lane(series, row, SERIES_ROTATION + j, lane, r[j])


@inlined
def store_stops(model, series, j, q, lane, row):
    """Write coefficient 0 of the depths beyond the stops of coordinate j, and their slopes."""
    coordinate = coordinate_of(model, j)
    width = coordinate.stop[1]
    for k, x in ((0, q - coordinate.stop[3]), (2, coordinate.stop[2] - q)):
        soft, slope = stops.soft_depth(x / width)
        put_lane(series, row, STOP + k, lane, soft)
        put_lane(series, row, STOP + k + 1, lane, slope)


@inlined
def fits_orders(model, external, orders):
    """Return whether there are finite wrenches (orders, B, 6) on all bodies, or none (0, B, 6)."""
    if len(external) == 0:
        return True
    return (len(external) == orders and external.shape[1] == Tree(model, 0).bodies
            and external.shape[2] == 6 and finite(external))


@inlined
def store_external_series(model, series, external, lane, size):
    """Write the wrenches on links from derivatives (r + 1, B, 6) of those on bodies."""
    for k in range(len(external)):
        scale = TO_COEFFICIENT[k]
        for i in range(Tree(model, 0).links):
            for j in range(SERIES_EXTERNAL, SERIES_EXTERNAL + 6):
                put_lane(series, i * size + k, j, lane, 0.0)
        for b in range(external.shape[1]):
            m, f = motion.on_link(model, b, external[k])
            row = body_at(model, b).carrier * size + k
            for j in range(3):
                add_lane(series, row, SERIES_EXTERNAL + j, lane, scale * m[j])
                add_lane(series, row, SERIES_EXTERNAL + 3 + j, lane, scale * f[j])


@inlined
def add_lane(table, row, column, lane, value):
    """Add to the float of one state."""
    put_lane(table, row, column, lane, get_lane(table, row, column, lane) + value)


@inlined
def store_rates(model, series, i, v, a, first, size):
    """Write coefficients of v and of its derivatives a of link i."""
    link = Link(model, i)
    vi, row = link.vi, i * size
    for j in range(joints.degrees(link.kind)):
        for lane in range(lanes_of(series)):
            s = min(first + lane, len(v) - 1)
            put_lane(series, row, RATE + j, lane, of_state(v, s, vi + j))
        for k in range(size - 1):
            for lane in range(lanes_of(series)):
                s = min(first + lane, len(v) - 1)
                put_lane(series, row + k + 1, RATE + j, lane,
                         TO_COEFFICIENT[k + 1] * of_order(a, s, k, vi + j))


@inlined
def load_efforts(model, series, i, q, v, tau, first, size):
    """Write derivatives tau of the forces of link i, with Coulomb friction and springs."""
    link = Link(model, i)
    vi, row, lanes = link.vi, i * size, min(lanes_of(series), len(v) - first)
    for j in range(joints.degrees(link.kind)):
        for lane in range(lanes):
            s = first + lane
            held = held_force(model, vi + j, q, v, s)
            put_of_order(tau, s, 0, vi + j, held + get_lane(series, row, EFFORT + j, lane))
        for k in range(1, size - 1):
            for lane in range(lanes):
                put_of_order(tau, first + lane, k, vi + j, FACTORIAL[k] * get_lane(
                    series, row + k, EFFORT + j, lane))


@inlined
def store_given(model, series, i, q, v, prescribed, a, tau, first, size, order):
    """Write coefficients of the given a and tau of link i; zero for others, from an order on."""
    link = Link(model, i)
    vi, row = link.vi, i * size
    for j in range(joints.degrees(link.kind)):
        held = is_prescribed(prescribed, vi + j)
        for lane in range(lanes_of(series)):
            s = min(first + lane, len(v) - 1)
            rate = of_state(v, s, vi + j)
            put_lane(series, row, RATE + j, lane, rate)
            force = held_force(model, vi + j, q, v, s)
            for k in range(size - 1):
                put_lane(series, row + k + 1, RATE + j, lane, TO_COEFFICIENT[k + 1] * of_order(
                    a, s, k, vi + j) if held or k < order else 0.0)
                put_lane(series, row + k, EFFORT + j, lane, 0.0 if held else TO_COEFFICIENT[
                    k] * (of_order(tau, s, k, vi + j) - force))
                force = 0.0


@inlined
def load_sought(model, series, i, q, v, prescribed, a, tau, first, size, order):
    """Write derivatives of the unknown a and tau of link i, from an order on."""
    link = Link(model, i)
    vi, row, lanes = link.vi, i * size, min(lanes_of(series), len(v) - first)
    for j in range(joints.degrees(link.kind)):
        for lane in range(lanes):
            s = first + lane
            if not is_prescribed(prescribed, vi + j):
                for k in range(order, size - 1):
                    put_of_order(a, s, k, vi + j, FACTORIAL[k + 1] * get_lane(
                        series, row + k + 1, RATE + j, lane))
                continue
            for k in range(order, size - 1):
                put_of_order(tau, s, k, vi + j, FACTORIAL[k] * get_lane(
                    series, row + k, EFFORT + j, lane))
            if order == 0:
                put_of_order(tau, s, 0, vi + j, of_order(tau, s, 0, vi + j) + held_force(
                    model, vi + j, q, v, s))


@inlined
def of_state(x, s, j):
    """Return entry j of state s."""
    if x.ndim == 2:
        return x[s, j]
    return x[j]


@inlined
def of_order(x, s, k, j):
    """Return entry j of order k of state s."""
    if x.ndim == 3:
        return x[s, k, j]
    return x[k, j]


@inlined
def put_of_order(x, s, k, j, value):
    """Write entry j of order k of state s."""
    if x.ndim == 3:
        x[s, k, j] = value
    else:
        x[k, j] = value


@inlined
def held_force(model, j, q, v, s):
    """Return Coulomb friction, spring and stops of a coordinate of state s, order zero alone."""
    force = coulomb(model, j, of_state(v, s, j))
    if Tree(model, 0).loaded_joints:
        force += spring(model, j, q[s] if q.ndim == 2 else q)
    return force


@inlined
def coulomb(model, j, rate):
    """Return Coulomb friction, which is constant while the rate does not change its sign."""
    return coordinate_of(model, j).friction * ((rate > 0.0) - (rate < 0.0))
