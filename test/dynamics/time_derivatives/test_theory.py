# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The formulas of theory 7.6 by symbols: along motions in time, differentiated by sympy.

The kernels of each formula are run on the Taylor coefficients of polynomials in time.
"""

from functools import cache

import numpy as np
import pytest
import sympy
from sympy.core.function import AppliedUndef
from sympy.polys.rings import PolyRing

from liedyn_ros.dynamics.time_derivatives.kernels import joints, motion, series
from liedyn_ros.dynamics.tree.kernels.tables import Link, Tree
from liedyn_ros.model.kernels.kinds import REVOLUTE

pytestmark = pytest.mark.full
t = sympy.symbols('t')
ORDERS = range(5)


def hat(w):
    x, y, z = w
    return sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def functions(name: str):
    """Return a vector of three functions of time."""
    return sympy.Matrix([sympy.Function(name + axis)(t) for axis in 'xyz'])


@cache
def moving_frame(name: str):
    """Return a rotation that changes in time about two axes, and its angular velocity in it."""
    a, b = sympy.Function(name + '1')(t), sympy.Function(name + '2')(t)
    r = sympy.rot_axis3(-a) * sympy.rot_axis1(-b)
    w = r.T * r.diff(t)
    return r, sympy.Matrix([w[2, 1], w[0, 2], w[1, 0]])


def is_zero(expression) -> bool:
    return all(without_sines(entry) == 0 for entry in sympy.Matrix(expression))


def without_sines(entry):
    """Return a polynomial in sines, cosines and derivatives, no sine with a power above 1."""
    entry = entry.doit()
    sines = sorted(entry.atoms(sympy.sin), key=str)
    cosines = {sine: sympy.cos(sine.args[0]) for sine in sines}
    others = entry.atoms(sympy.cos, sympy.Derivative, AppliedUndef, sympy.Symbol)
    numbers = PolyRing([*sines, *sorted(others | {*cosines.values()}, key=str)], sympy.QQ)
    ones = [numbers.from_expr(sine**2 + cosine**2 - 1) for sine, cosine in cosines.items()]
    return numbers.from_expr(entry).rem(ones)


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
    linear = sympy.Matrix([  # as motion.gyroscopic has it
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


def polynomials(seed: int, count: int = 3):
    """Return a vector of polynomials in time with numbers for coefficients, of degree 6."""
    numbers = np.random.default_rng(seed).integers(-9, 10, (count, 7))
    return sympy.Matrix([sum(int(c) * t**k for k, c in enumerate(row)) for row in numbers])


def coefficients(expression, k: int):
    """Return coefficient k of the entries of a matrix of polynomials in time."""
    return [float(polynomial(entry).get((k,), 0)) for entry in sympy.Matrix(expression)]


@cache
def polynomial(entry):
    """Return an entry as a polynomial in time, which a ring expands sooner than sympy.Poly."""
    return PolyRing([t], sympy.QQ).from_expr(entry)


def table(**columns):
    """Return a table of series of one link, its first columns being given by name."""
    rows = np.full((8, series.SERIES_TABLE_WIDTH), np.nan)
    for name, expression in columns.items():
        at = getattr(series, name)
        for k in range(7):
            rows[k, at:at + len(expression)] = coefficients(expression, k)
    return rows


def upper(matrix):
    """Return the six numbers of a symmetric matrix, as tables hold them."""
    return sympy.Matrix([matrix[i, j] for i in range(3) for j in range(i, 3)])


@pytest.mark.parametrize('k', ORDERS)
def test_the_kernel_of_the_square(k: int) -> None:  # (7.34)
    w = polynomials(1)
    assert motion.square_coefficient(table(VELOCITY=w), 0, k) == pytest.approx(
        coefficients(upper(hat(w)**2), k))


def test_the_kernel_of_the_acceleration_tensor() -> None:
    w, x = polynomials(2), sympy.Matrix([2, -3, 5])
    wanted = (hat(w.diff(t)) + hat(w)**2) * x
    assert motion.tensor_times(
        tuple(coefficients(w.diff(t), 0)), tuple(coefficients(upper(hat(w)**2), 0)),
        tuple(float(number) for number in x)) == pytest.approx(coefficients(wanted, 0))


@pytest.mark.parametrize('k', ORDERS)
def test_the_kernel_of_a_translation(k: int) -> None:  # (7.30)
    w, (rate,), per_unit = polynomials(3), polynomials(4, 1), 2
    z, moved = sympy.Matrix([0, 0, 1]), sympy.integrate(per_unit * rate, t) + 7
    along = (hat(w.diff(t)) + hat(w)**2) * z
    wanted = along * moved + 2 * hat(w) * z * moved.diff(t) + z * moved.diff(t, 2)
    rows = table(
        PARENT_MOTION=w[:2], RATE=[rate], AXIS_ACCELERATION=along, TRANSLATION=[moved])
    assert motion.translation_acceleration(float(per_unit), rows, 0, k) == pytest.approx(
        coefficients(wanted, k))


@pytest.mark.parametrize('k', ORDERS)
def test_the_kernel_of_a_free_joint(k: int) -> None:  # (7.32)
    w, rate = polynomials(5), polynomials(6, 6)
    own, v = sympy.Matrix(rate[:3]), sympy.Matrix(rate[3:])
    assert motion.free_acceleration(table(VELOCITY=w, RATE=rate), 0, k) == pytest.approx(
        coefficients(v.diff(t) + hat(2 * w - own) * v, k))


def test_the_kernel_of_gravity() -> None:  # (7.33)
    w, gravity = sympy.Matrix([1, -2, 3]), sympy.Matrix([4, 5, -9])
    rows, model = table(VELOCITY=w), Link.table(2)
    Tree.of(model, 'gravity')[0] = [float(number) for number in gravity]
    Link.of(model, 'placement')[1, :9] = np.eye(3).ravel()
    rows[0, series.SERIES_ROTATION:series.SERIES_ROTATION + 9] = np.eye(3).ravel()
    for k in ORDERS:  # of R^T (-g), R = exp([w] t)
        wanted = (-hat(w))**k * -gravity / sympy.factorial(k)
        assert motion.opposite_gravity(model, rows, 1, 0, k) == pytest.approx(
            [float(number) for number in wanted])


@pytest.mark.parametrize('k', ORDERS)
def test_the_kernel_of_newton_and_euler(k: int) -> None:  # (7.35), (7.36)
    w, s, load = polynomials(7), polynomials(8), polynomials(9, 6)
    mass, h = 3, sympy.Matrix([1, -4, 2])
    j = sympy.Matrix([[9, 2, -3], [2, 8, 1], [-3, 1, 7]])
    tensor = hat(w.diff(t)) + hat(w)**2
    moment = hat(h) * s + j * w.diff(t) + hat(w) * j * w
    wanted = sympy.Matrix([*moment, *(mass * s + tensor * h)])
    model = Link.table(2)
    Link.of(model, 'inertia')[0] = [mass, *h, *upper(j)]
    for loaded in (False, True):
        rows = table(VELOCITY=w, SPECIFIC_ACCELERATION=s, VELOCITY_SQUARE=upper(hat(w)**2),
                     SERIES_EXTERNAL=load)
        motion.store_net_wrench(model, rows, 0, k, 8, loaded)
        found = series.load_two(rows, k, series.SERIES_WRENCH)
        assert [*found[0], *found[1]] == pytest.approx(
            coefficients(wanted - load if loaded else wanted, k))


@pytest.mark.parametrize('k', ORDERS)
def test_the_kernel_of_a_turning_wrench(k: int) -> None:  # (7.21), (7.37)
    (c, s), x = polynomials(10, 2), polynomials(11, 6)
    r = sympy.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    rows = table(COSINE=[c], SINE=[s], SERIES_WRENCH=[x[0], x[1], x[3], x[4], x[2], x[5]])
    found = joints.rotate_wrench(REVOLUTE, rows, 0, k)
    assert [*found[0], *found[1]] == pytest.approx(
        coefficients([*(r * x[:3, :]), *(r * x[3:, :])], k))
