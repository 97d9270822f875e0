# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kinds of links: the pose J(q) (2.1) and the screws S (2.2), constant in their frame."""

import math

from liedyn_ros.dynamics.tree.kernels.tables import Link, Tree
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import by_bit, joined, parts, QUAD
from liedyn_ros.lie.kernels import mat3, se3, vec3
from liedyn_ros.model.kernels.configuration import finite, is_unit
from liedyn_ros.model.kernels.kinds import FREE, HELICAL, PRISMATIC, REVOLUTE, SPHERICAL


# pi/2 in three parts; the first two have 33 bits, so that k times them is exact for |k| < 2^20
# (Cody and Waite 1980).
HALF_PI_1 = 1.57079632673412561417e+00
HALF_PI_2 = 6.07710050630396597660e-11
HALF_PI_3 = 2.02226624879595063154e-21
LARGEST_ANGLE = 1.0e5
TO_INTEGER = 1.5 * 2.0**52  # adding and subtracting it rounds to the nearest integer


@inlined
def sine_cosine(x):
    """Return sin x and cos x to within 1e-16 of the true ones, or an ulp."""
    if not abs(x) < LARGEST_ANGLE:
        return math.sin(x), math.cos(x)
    return sine_cosine_within(x)


@inlined
def sine_cosine_within(x):
    """Return sine and cosine of numbers below LARGEST_ANGLE, which may be Lanes."""
    t = x * (2.0 / math.pi) + TO_INTEGER  # its last bits count quarters of a turn
    k = t - TO_INTEGER
    y = ((x - k * HALF_PI_1) - k * HALF_PI_2) - k * HALF_PI_3  # within pi/4 of zero
    s, c = sine_near_zero(y), cosine_near_zero(y)
    s, c = by_bit(t, 0, s, c), by_bit(t, 0, c, s)
    return by_bit(t, 1, s, -s), by_bit(t + 1.0, 1, c, -c)


@inlined
def sine_near_zero(x):
    """Return sin x for |x| <= pi/4 by the minimax polynomial of FDLIBM."""
    z = x * x
    return x + x * z * (-1.66666666666666324348e-01 + z * (
        8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (
            2.75573137070700676789e-06 + z * (
                -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))))


@inlined
def cosine_near_zero(x):
    """Return cos x for |x| <= pi/4 by the minimax polynomial of FDLIBM."""
    z = x * x
    return 1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * (
        -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (
            -2.75573143513906633035e-07 + z * (
                2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))))))


@inlined
def joint_pose(model, i, q):
    """Return (r, p), the pose of link i in its parent."""
    link = Link(model, i)
    e, p = link.placement
    return placed(link.kind, link.pitch, e, p, q, link.qi)


@inlined
def placed(kind, pitch, e, p, q, qi):
    """Return the placement (e, p) of a link times J(q), its coordinates being at qi."""
    s, c = 0.0, 1.0
    if is_angle(kind):
        s, c = sine_cosine(q[qi])
    return turned(kind, pitch, e, p, q, qi, s, c)


@inlined
def turned(kind, pitch, e, p, q, qi, s, c):
    """Return the placed joint, as placed does, sine and cosine of its angle being known."""
    if kind == REVOLUTE:
        return turn_about_z(e, s, c), p
    if kind == PRISMATIC:
        return e, advance_position(e, q[qi], p)
    if kind == HELICAL:
        return turn_about_z(e, s, c), advance_position(e, pitch * q[qi], p)
    if kind == FREE:
        p = vec3.add(p, mat3.apply(e, (q[qi], q[qi + 1], q[qi + 2])))
        qi += 3
    return mat3.mul(e, rotation_of_quaternion((q[qi], q[qi + 1], q[qi + 2], q[qi + 3]))), p


@inlined
def is_angle(kind):
    """Return whether the first coordinate of a kind of link is an angle."""
    return kind == REVOLUTE or kind == HELICAL


@inlined
def store_angles(model, row_of, table, q, size=1):
    """
    Write sine and cosine of the angle of each link, four links at a time.

    A link has size rows of the table, each a row_of. Both stand in its first row, as `angle`.
    """
    links = Tree(model, 0).links
    for i in range(1, links, QUAD):
        j, k, m = min(i + 1, links - 1), min(i + 2, links - 1), min(i + 3, links - 1)
        x = angle_of(model, i, q), angle_of(model, j, q), angle_of(model, k, q), angle_of(
            model, m, q)
        s, c = sine_cosine_within(joined(x[0], x[1], x[2], x[3]))
        s, c = parts(s), parts(c)
        row_of(table, i * size).angle = checked_angle(x[0], s[0], c[0])
        row_of(table, j * size).angle = checked_angle(x[1], s[1], c[1])
        row_of(table, k * size).angle = checked_angle(x[2], s[2], c[2])
        row_of(table, m * size).angle = checked_angle(x[3], s[3], c[3])


@inlined
def angle_of(model, i, q):
    """Return the angle of a link, zero for one without."""
    link = Link(model, i)
    return q[link.qi] if is_angle(link.kind) else 0.0


@inlined
def checked_angle(x, s, c):
    """Return sine and cosine of an angle x; s and c are they if it is not too large."""
    if not abs(x) < LARGEST_ANGLE:
        return math.sin(x), math.cos(x)
    return s, c


@inlined
def turn_about_z(e, s, c):
    """Return E Rz for sine and cosine of an angle."""
    return (c * e[0] + s * e[1], c * e[1] - s * e[0], e[2],
            c * e[3] + s * e[4], c * e[4] - s * e[3], e[5],
            c * e[6] + s * e[7], c * e[7] - s * e[6], e[8])


@inlined
def advance_position(e, travel, p):
    """Return the position p moved along the z axis of E."""
    return (p[0] + travel * e[2], p[1] + travel * e[5], p[2] + travel * e[8])


@inlined
def rotation_of_quaternion(u):
    """Return the rotation of a quaternion x, y, z, w, whatever its norm."""
    x, y, z, w = u
    s = 2.0 / (x * x + y * y + z * z + w * w)
    xs, ys, zs = s * x, s * y, s * z
    return (1.0 - (ys * y + zs * z), xs * y - zs * w, xs * z + ys * w,
            xs * y + zs * w, 1.0 - (xs * x + zs * z), ys * z - xs * w,
            xs * z - ys * w, ys * z + xs * w, 1.0 - (xs * x + ys * y))


@inlined
def relative_twist(kind, pitch, v, vi):
    """Return the twist S qdot of a link against its parent."""
    if kind == REVOLUTE:
        return (0.0, 0.0, v[vi]), vec3.ZERO
    if kind == PRISMATIC:
        return vec3.ZERO, (0.0, 0.0, v[vi])
    if kind == HELICAL:
        return (0.0, 0.0, v[vi]), (0.0, 0.0, pitch * v[vi])
    if kind == SPHERICAL:
        return (v[vi], v[vi + 1], v[vi + 2]), vec3.ZERO
    return (v[vi], v[vi + 1], v[vi + 2]), (v[vi + 3], v[vi + 4], v[vi + 5])


@inlined
def joint_bracket(kind, pitch, w, u, x, vi):
    """Return ad_V S x, the bracket of a twist with that of a joint at the rates x."""
    if kind == REVOLUTE:
        rate = x[vi]
        return (rate * w[1], -rate * w[0], 0.0), (rate * u[1], -rate * u[0], 0.0)
    sw, su = relative_twist(kind, pitch, x, vi)
    return se3.ad(w, u, sw, su)


@inlined
def bracket_dual(kind, pitch, x, vi, m, f):
    """Return ad_{S x}^T F of a wrench."""
    if kind == REVOLUTE:
        rate = x[vi]
        return (rate * m[1], -rate * m[0], 0.0), (rate * f[1], -rate * f[0], 0.0)
    sw, su = relative_twist(kind, pitch, x, vi)
    return se3.ad_dual(sw, su, m, f)


@inlined
def degrees(kind):
    """Return the number of velocity coordinates of a kind of link."""
    if kind < SPHERICAL:
        return 1
    return 3 if kind == SPHERICAL else 6


@inlined
def screw(kind, pitch, k):
    """Return column k of S."""
    if kind == PRISMATIC:
        return vec3.ZERO, (0.0, 0.0, 1.0)
    if kind < SPHERICAL:
        return (0.0, 0.0, 1.0), (0.0, 0.0, pitch)
    return unit_axis(k), unit_axis(k - 3)


@inlined
def along(kind, pitch, k, m, f):
    """Return S_k^T F, the part of a wrench along coordinate k."""
    if kind == REVOLUTE:
        return m[2]
    w, v = screw(kind, pitch, k)
    return vec3.dot(w, m) + vec3.dot(v, f)


@inlined
def add_along(kind, pitch, k, x, w, u):
    """Return the motion (w, u) plus x S_k."""
    if kind == REVOLUTE:
        return (w[0], w[1], w[2] + x), u
    sw, su = screw(kind, pitch, k)
    return vec3.axpy(x, sw, w), vec3.axpy(x, su, u)


@inlined
def along_bracket(kind, pitch, k, w, u, m, f):
    """Return (ad_V S_k)^T F, the part of a wrench along the bracket of a twist with S_k."""
    if kind == REVOLUTE:
        return w[1] * m[0] - w[0] * m[1] + u[1] * f[0] - u[0] * f[1]
    sw, sv = screw(kind, pitch, k)
    ew, ev = se3.ad(w, u, sw, sv)
    return vec3.dot(ew, m) + vec3.dot(ev, f)


@inlined
def unit_axis(k):
    """Return the unit vector k, zero where there is none."""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@inlined
def acceptable(model, q):
    """Return whether q is complete and finite and its quaternions are of unit length."""
    tree = Tree(model, 0)
    if len(q) != tree.nq:
        return False
    good = finite(q)
    for i in range(1, tree.links):
        link = Link(model, i)
        good = good and is_unit(link.kind, q, link.qi)
    return good


@inlined
def is_matrix(model, out, rows):
    """Return whether out has a number of rows, and a column for each velocity coordinate."""
    return out.shape[0] == rows and out.shape[1] == Tree(model, 0).nv


@inlined
def is_velocity(model, v):
    """Return whether all velocity coordinates are there and finite."""
    return len(v) == Tree(model, 0).nv and finite(v)
