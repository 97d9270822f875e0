# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The formulas of theory 7.6 by symbols: along motions in time, differentiated by sympy."""

import sympy

t = sympy.symbols('t')


def hat(w):
    x, y, z = w
    return sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def functions(name: str):
    """Return a vector of three functions of time."""
    return sympy.Matrix([sympy.Function(name + axis)(t) for axis in 'xyz'])


def moving_frame(name: str):
    """Return a rotation that changes in time about two axes, and its angular velocity in it."""
    a, b = sympy.Function(name + '1')(t), sympy.Function(name + '2')(t)
    r = sympy.rot_axis3(-a) * sympy.rot_axis1(-b)
    w = sympy.simplify(r.T * r.diff(t))
    return r, sympy.Matrix([w[2, 1], w[0, 2], w[1, 0]])


def is_zero(expression) -> bool:
    return all(sympy.simplify(entry) == 0 for entry in sympy.Matrix(expression))


def test_a_point_of_a_body_is_accelerated_by_the_tensor() -> None:
    r, w = moving_frame('a')
    origin, x = functions('o'), sympy.Matrix(sympy.symbols('x y z'))
    wanted = (r.T * (origin + r * x).diff(t, 2))
    s = r.T * origin.diff(t, 2)
    assert is_zero(wanted - (s + (hat(w.diff(t)) + hat(w)**2) * x))


def test_a_moving_point_of_a_body() -> None:  # (7.29)
    r, w = moving_frame('a')
    d = functions('d')
    wanted = r.T * (r * d).diff(t, 2)
    tensor = hat(w.diff(t)) + hat(w)**2
    assert is_zero(wanted - (tensor * d + 2 * hat(w) * d.diff(t) + d.diff(t, 2)))


def test_a_free_joint() -> None:  # (7.28), (7.31), (7.32)
    r, own = moving_frame('a')
    rate, parent = functions('v'), functions('w')
    d1 = r * rate
    w = r.T * parent + own
    wanted = r.T * (2 * hat(parent) * d1 + d1.diff(t))
    assert is_zero(wanted - (rate.diff(t) + hat(2 * w - own) * rate))


def test_gravity_in_a_link() -> None:  # (7.33)
    r, w = moving_frame('a')
    s = r.T * sympy.Matrix(sympy.symbols('gx gy gz'))
    assert is_zero(s.diff(t) - hat(s) * w)


def test_the_square_and_the_gyroscopic_moment() -> None:  # (7.34), (7.36)
    w = sympy.Matrix(sympy.symbols('wx wy wz'))
    c = hat(w)**2
    assert is_zero(c - (w * w.T - w.dot(w) * sympy.eye(3)))
    jxx, jxy, jxz, jyy, jyz, jzz = sympy.symbols('jxx jxy jxz jyy jyz jzz')
    j = sympy.Matrix([[jxx, jxy, jxz], [jxy, jyy, jyz], [jxz, jyz, jzz]])
    xx, xy, xz, yy, yz, zz = c[0, 0], c[0, 1], c[0, 2], c[1, 1], c[1, 2], c[2, 2]
    linear = sympy.Matrix([  # as wrenches.gyroscopic has it
        jxz * xy - jxy * xz + jyz * (yy - zz) + (jzz - jyy) * yz,
        jxy * yz - jyz * xy + jxz * (zz - xx) + (jxx - jzz) * xz,
        jyz * xz - jxz * yz + jxy * (xx - yy) + (jyy - jxx) * xy])
    assert is_zero(hat(w) * j * w - linear)


def test_newton_and_euler_about_the_origin() -> None:  # (7.35), (7.36)
    r, w = moving_frame('a')
    origin, x = functions('o'), sympy.Matrix(sympy.symbols('x y z'))
    s = r.T * origin.diff(t, 2)
    force = r.T * (origin + r * x).diff(t, 2)  # of a unit of mass at x
    tensor = hat(w.diff(t)) + hat(w)**2
    inertia = -hat(x)**2
    assert is_zero(force - (s + tensor * x))
    moment = hat(x) * s + inertia * w.diff(t) + hat(w) * inertia * w
    assert is_zero(hat(x) * force - moment)
