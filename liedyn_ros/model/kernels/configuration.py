# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Retraction and difference of configurations, without charts, and what numbers are acceptable."""

import math

from liedyn_ros.jit.decorators import inlined, kernel, long_kernel
from liedyn_ros.jit.kinds import INTEGER_ROWS, MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.pointers import overlap, rows_of
from liedyn_ros.lie.kernels import mat3, so3, vec3
from liedyn_ros.lie.kernels.so3 import TOLERANCE
from liedyn_ros.model.kernels.kinds import FREE, NQ_OF_KIND, NV_OF_KIND, SPHERICAL


@inlined
def finite(x):
    """Return whether all entries are finite; an array of several axes must be contiguous."""
    count, entries = 0, x
    if x.ndim > 1:
        entries = rows_of(x, 0, 1, x.size)[0]
    for k in range(len(entries)):
        count += abs(entries[k]) < math.inf
    return count == len(entries)


@inlined
def are_unit(kind, qi, q):
    """Return whether the quaternions of all links are of unit length."""
    good = True
    for i in range(len(kind)):
        good = good and is_unit(kind[i], q, qi[i])
    return good


@inlined
def is_unit(kind, q, qi):
    """Return whether the quaternion of a link, if it has one, is of unit length."""
    if kind < SPHERICAL:
        return True
    at = qi + (3 if kind == FREE else 0)
    square = q[at]**2 + q[at + 1]**2 + q[at + 2]**2 + q[at + 3]**2
    return abs(math.sqrt(square) - 1.0) <= TOLERANCE


MAX_SERIES_SINE = 0.05  # the sine of half an angle up to which four terms of g have all digits


@kernel
def checked_integrate(links: INTEGER_ROWS, q: VECTOR, dv: VECTOR, out: VECTOR) -> TRUTH:
    """Write q (+) dv, links being kind, qi and vi (3, N); return whether all is good."""
    if not (fits_configuration(links, q) and fits_displacement(links, dv) and len(out) == len(q)
            and not overlap(out, q) and not overlap(out, dv)):
        return False
    integrate(links[0], links[1], links[2], q, dv, out)
    return finite(out)


@long_kernel
def integrate_of_states(links: INTEGER_ROWS, q: MATRIX, dv: MATRIX, out: MATRIX):
    """Write q (+) dv of K states, a state a row; return the first one refused, K if none."""
    for s in range(len(q)):
        if not checked_integrate(links, q[s], dv[s], out[s]):
            return s
    return len(q)


@kernel
def checked_difference(links: INTEGER_ROWS, q0: VECTOR, q1: VECTOR, out: VECTOR) -> TRUTH:
    """Write the dv with q0 (+) dv = q1; return whether all is good."""
    if not (fits_configuration(links, q0) and fits_configuration(links, q1)
            and len(out) == displacement_size(links) and not overlap(out, q0)
            and not overlap(out, q1)):
        return False
    difference(links[0], links[1], links[2], q0, q1, out)
    return finite(out)


@inlined
def fits_configuration(links, q):
    """Return whether q is complete and finite and its quaternions are of unit length."""
    last = links.shape[1] - 1
    size = links[1, last] + NQ_OF_KIND[links[0, last]] if last >= 0 else 0
    return len(q) == size and finite(q) and are_unit(links[0], links[1], q)


@inlined
def fits_displacement(links, dv):
    """Return whether dv is complete and finite."""
    return len(dv) == displacement_size(links) and finite(dv)


@inlined
def displacement_size(links):
    """Return the number of velocity coordinates."""
    last = links.shape[1] - 1
    return links[2, last] + NV_OF_KIND[links[0, last]] if last >= 0 else 0


@kernel
def integrate(kind, qi, vi, q, dv, out):
    """Write q (+) dv: a sum, or R exp(w) on SO(3) and T exp(w, v) on SE(3) (theory 2.2)."""
    for i in range(kind.size):
        at, step = qi[i], vi[i]
        if kind[i] == FREE:
            w, v = vec3.load(dv, step), vec3.load(dv, step + 3)
            rotation = so3.from_quaternion(load_quaternion(q, at + 3))
            b, c = integrate_quaternion(q, at + 3, w, out)
            p = so3.apply_polynomial(w, b, c, v)  # (1.10)
            vec3.store(out, at, vec3.add(vec3.load(q, at), mat3.apply(rotation, p)))
        elif kind[i] == SPHERICAL:
            integrate_quaternion(q, at, vec3.load(dv, step), out)
        else:
            out[at] = q[at] + dv[step]


@kernel
def difference(kind, qi, vi, q0, q1, out):
    """Write the dv with q0 (+) dv = q1; rotations by at most pi."""
    for i in range(kind.size):
        at, step = qi[i], vi[i]
        if kind[i] == FREE:
            w, g = turn_between(q0, q1, at + 3)
            r0 = so3.from_quaternion(load_quaternion(q0, at + 3))
            p = mat3.apply_t(r0, vec3.sub(vec3.load(q1, at), vec3.load(q0, at)))
            vec3.store(out, step, w)
            vec3.store(out, step + 3, so3.apply_polynomial(w, -0.5, g, p))  # (1.13)
        elif kind[i] == SPHERICAL:
            vec3.store(out, step, turn_between(q0, q1, at)[0])
        else:
            out[step] = q1[at] - q0[at]


@kernel
def turn_between(q0, q1, at):
    """Return the w with R0 exp(w) = R1, |w| <= pi, of quaternions at an index; g of dexp^-1."""
    x0, y0, z0, s0 = load_quaternion(q0, at)
    x1, y1, z1, s1 = load_quaternion(q1, at)
    u0, u1 = (x0, y0, z0), (x1, y1, z1)
    u = vec3.sub(vec3.axpy(s0, u1, vec3.scale(-s1, u0)), vec3.cross(u0, u1))
    s = s0 * s1 + vec3.dot(u0, u1)
    n = math.sqrt(vec3.dot(u, u))
    half = math.atan2(n, abs(s))  # a quaternion and its negative are one rotation
    # No series: half / n keeps full accuracy down to the smallest n above zero.
    factor = 2.0 * half / n if n > 0.0 else 2.0
    w = vec3.scale(math.copysign(factor, s), u)  # (1.12)
    if n > MAX_SERIES_SINE:  # (1.11); 1 - (t/2) cot(t/2) is right to rounding, as g [w]^2 is
        return w, 0.25 * (1.0 - half * abs(s) / n) / (half * half)
    x = vec3.dot(w, w)
    return w, 1.0 / 12.0 + x * (1.0 / 720.0 + x * (1.0 / 30240.0 + x * (1.0 / 1209600.0)))


@kernel
def integrate_quaternion(q, at, w, out):
    """
    Write the unit quaternion at an index of q, times exp(w); its sign never jumps.

    Returns b and c of dexp = 1 + b [w] + c [w]^2, by c_k(x) of so3 at a fourth of x = w.w:
    c_2(4 x) = c_1^2 / 2 and c_3(4 x) = (c_2 + c_0 c_3) / 4.
    """
    x, y, z, s = load_quaternion(q, at)
    u = (x, y, z)
    half = vec3.scale(0.5, w)
    xx = vec3.dot(half, half)
    a, b, c = so3.coefficients(xx)
    dv, ds = vec3.scale(a, half), 1.0 - xx * b  # sin(t/2) w/|w| and cos(t/2) (1.8)
    vector = vec3.add(vec3.axpy(s, dv, vec3.scale(ds, u)), vec3.cross(u, dv))
    scalar = s * ds - vec3.dot(u, dv)
    scale = 1.0 / math.sqrt(vec3.dot(vector, vector) + scalar * scalar)
    vec3.store(out, at, vec3.scale(scale, vector))
    out[at + 3] = scale * scalar
    return 0.5 * a * a, 0.25 * (b + ds * c)


@kernel
def load_quaternion(array, at):
    """Return the four entries x, y, z, w that start at an index."""
    return (array[at], array[at + 1], array[at + 2], array[at + 3])
