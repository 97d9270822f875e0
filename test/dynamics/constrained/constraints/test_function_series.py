# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constraint functions to order r: beside closures, and along a motion in 50 digits."""

from dataclasses import replace
import math

from mpmath import mp
import numpy as np
import pytest
from support.machines.random_models import random_model
from support.refusals import refused
from support.witnesses.motion_witness import witness
from support.witnesses.tangents import tangent_derivatives

from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.dynamics.constrained import (
    complete_acceleration, complete_velocity, ConstrainedDynamics, ConstraintFunction, project,
    taylor_series)
from liedyn_ros.dynamics.constrained.constraints.taylor_numbers import (
    configuration_series, tangent_series)
from liedyn_ros.lie import so3
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia

ORDER = 5
BARS, GROUND = (0.3, 0.7, 0.5), (0.6, 0.0)  # m
END, TIP, LENGTH = np.array([0.1, -0.2, 0.4]), np.array([0.3, 0.1, -0.2]), 0.9


def four_bar() -> Model:
    """Return a four-bar linkage in the x-y plane, driven at its crank."""
    builder = ModelBuilder('four_bar', gravity=[0.3, -9.81, 0.0])
    parent, x = None, 0.0
    for k, length in enumerate(BARS):
        builder.add_body(f'bar{k}', SpatialInertia(
            1.0 + k, [0.5 * length, 0.02, 0.0], np.diag([0.01, 0.02, 0.03])))
        builder.add_joint(f'joint{k}', 'revolute', parent, f'bar{k}', axis=[0, 0, 1],
                          placement=moved([x, 0.0, 0.0]), actuated=k == 0, damping=0.1)
        parent, x = f'bar{k}', length
    builder.add_closure('loop', 'revolute', None, 'bar2', placement_a=moved([*GROUND, 0.0]),
                        placement_b=moved([BARS[2], 0.0, 0.0]))
    return builder.build()


def four_bar_function() -> ConstraintFunction:
    """Return its closure, from sines and cosines of the bars' angles."""
    def ends(q):
        angles = q[0], q[0] + q[1], q[0] + q[1] + q[2]
        return [(length * np.cos(angle), length * np.sin(angle))
                for length, angle in zip(BARS, angles)]

    def jacobian(q):
        x, y = zip(*ends(q))
        return [[-(y[0] + y[1] + y[2]), -(y[1] + y[2]), -y[2]],
                [x[0] + x[1] + x[2], x[1] + x[2], x[2]]]

    return ConstraintFunction(
        'loop', 2, lambda q: np.sum(ends(q), axis=0) - GROUND, jacobian,
        jacobian_series=taylor_series(jacobian))


def hanging_body() -> Model:
    """Return a free body that a rod holds at a point of a swinging arm with a ball joint."""
    builder = ModelBuilder('hanging_body')
    builder.add_body('body', SpatialInertia(2.0, [0.1, 0.05, -0.1], np.diag([0.1, 0.2, 0.25])))
    builder.add_joint('float', 'free', None, 'body', actuated=True)
    builder.add_body('ball', SpatialInertia(0.7, [0.0, 0.1, 0.1], np.diag([0.02, 0.03, 0.04])))
    builder.add_joint('socket', 'spherical', None, 'ball')
    builder.add_closure('rod', 'rod', 'ball', 'body', placement_a=moved(END),
                        placement_b=moved(TIP), length=LENGTH)
    return builder.build()


def rod_function() -> ConstraintFunction:
    """Return the rod between two bodies, of their quaternions."""
    def apart(q):
        mine, others = rotation(q[3:7]), rotation(q[7:11])
        return q[:3] + mine @ TIP - others @ END, mine, others

    def jacobian(q):
        d, mine, others = apart(q)
        near, far = d @ mine / LENGTH, d @ others / LENGTH
        return [[*cross(TIP, near), *near, *cross(far, END)]]

    def residual(q):
        d = apart(q)[0]
        return [(d @ d - LENGTH**2) / (2.0 * LENGTH)]

    return ConstraintFunction(
        'rod', 1, residual, jacobian, jacobian_series=taylor_series(jacobian))


def moved(position):
    """Return a pose without rotation."""
    pose = np.eye(4)
    pose[:3, 3] = position
    return pose


def rotation(x):
    """Return the matrix of a unit quaternion x, y, z, w, of any kind of number."""
    x, y, z, w = x
    return np.array([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)]])


def cross(a, b):
    """Return a cross product of any kind of number."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def assert_close(found, wanted):
    """Require each order to be the same to 1e-9 of its size."""
    for k in range(len(wanted)):
        size = 1.0 + np.abs(wanted[:k + 1]).max()
        assert np.abs(found[k] - wanted[k]).max() < 1e-9 * size, k


@pytest.mark.parametrize(('model', 'function'), [
    (four_bar(), four_bar_function()), (hanging_body(), rod_function())],
    ids=['four_bar', 'rod'])
def test_a_closure_and_the_same_as_a_function_agree_at_all_orders(model, function):
    rng = np.random.default_rng(5)
    closed = ConstrainedDynamics(model)
    own = ConstrainedDynamics(replace(model, closures=()), functions=[function])
    start = model.integrate(model.neutral(), 0.3 * rng.normal(size=model.nv))
    q, v = project(closed, start, rng.normal(size=model.nv))
    own.require_closed(q, v)
    external = rng.normal(size=(ORDER + 1, len(model.bodies), 6))
    tau = rng.normal(size=(ORDER + 1, model.nv))
    wanted, found = (each.forward(q, v, tau, external=external) for each in (closed, own))
    assert_close(found.a, wanted.a)
    assert found.rank == wanted.rank == function.rows
    assert_close(*(each.multipliers[:1] @ dynamics.jacobian(q) for each, dynamics in (
        (found, own), (wanted, closed))))
    assert_close(own.inverse(q, v, wanted.a, external=external).tau,
                 closed.inverse(q, v, wanted.a, external=external).tau)
    weights = {'redundancy': 'least_force', 'weights': rng.uniform(1.0, 2.0, function.rows)}
    forced = own.inverse(q, v, wanted.a, tau=tau, external=external, **weights)
    back = own.forward(q, v, forced.tau, external=external)
    assert_close(back.a, wanted.a)
    mixed = [each.hybrid(q, v, np.arange(model.nv) < 1, wanted.a, tau) for each in (closed, own)]
    assert_close(mixed[1].a, mixed[0].a)
    assert_close(mixed[1].tau, mixed[0].tau)
    many = own.forward.batch([q] * 2, [v] * 2, [tau] * 2, external=[external] * 2)
    assert_close(many.a[1], found.a)  # as far as BLAS has the same bits at any place of memory


def test_accelerations_follow_from_known_ones_at_all_orders():
    model = four_bar()
    own = ConstrainedDynamics(replace(model, closures=()), functions=[four_bar_function()])
    closed = ConstrainedDynamics(model)
    q, _ = project(closed, [0.4, 0.3, -1.2], np.zeros(3))
    v = complete_velocity(own, q, [1.3, 0.0, 0.0])
    given = np.random.default_rng(8).normal(size=(ORDER + 1, 3))
    assert_close(complete_acceleration(own, q, v, given),
                 complete_acceleration(closed, q, v, given))


def test_an_order_r_motion_holds_a_function_that_no_closure_describes_in_50_digits():
    """The accelerations make a polynomial: phi stays zero on it, and forces balance."""
    model = random_model(11, 4, False, ('revolute', 'prismatic', 'helical', 'revolute'))
    rng = np.random.default_rng(12)

    def value(q, np):
        return np.sin(q[0]) * q[1] + np.exp(0.5 * q[2]) - q[3]**3 / (2 + np.cos(q[1])) - 1.2

    def gradient(q, np):
        deep = 2 + np.cos(q[1])
        return [np.cos(q[0]) * q[1], np.sin(q[0]) - q[3]**3 * np.sin(q[1]) / deep**2,
                np.exp(0.5 * q[2]) / 2, -3 * q[3]**2 / deep]

    def jacobian(q):
        return [gradient(q, np)]

    cam = ConstraintFunction('cam', 1, lambda q: [value(q, np)], jacobian,
                             jacobian_series=taylor_series(jacobian))
    dynamics = ConstrainedDynamics(model, dissipation=False, functions=[cam])
    q, v = project(dynamics, rng.normal(size=4), rng.normal(size=4))
    tau = rng.normal(size=(ORDER + 1, 4))
    solution = dynamics.forward(q, v, tau)
    paths = np.array([rate / math.factorial(k + 1)
                      for k, rate in enumerate([v, *solution.a])])
    needed = witness(model, q, paths, np.zeros((ORDER + 1, 4, 6)),
                     np.zeros((ORDER + 1, 0, 6))).tau
    with mp.workdps(50):
        def at(t):
            return [mp.mpf(each) + sum(mp.mpf(path) * t**(k + 1) for k, path in enumerate(column))
                    for each, column in zip(q, paths.T)]

        scale = 1.0 + np.abs(solution.a).max() + np.abs(solution.multipliers).max()
        for k, value_k in enumerate(mp.taylor(lambda t: value(at(t), mp), 0, ORDER + 2)):
            assert abs(float(value_k)) * math.factorial(k) < 1e-9 * scale, k
        rows = np.array([mp.taylor(lambda t, j=j: gradient(at(t), mp)[j], 0, ORDER)
                         for j in range(4)], dtype=object).T
        pull = [mp.mpf(each) / math.factorial(k)
                for k, each in enumerate(solution.multipliers[:, 0])]
        for k in range(ORDER + 1):
            held = sum(rows[k - j] * pull[j] for j in range(k + 1)) * math.factorial(k)
            assert np.abs(np.array(needed[k] - held - tau[k], dtype=float)).max() < 1e-9 * scale, k


def test_taylor_numbers_are_the_series_of_mpmath():
    path = np.array([0.4, -0.3, 0.7, 0.2, -0.5, 0.1])

    def functions(x, np, arc):
        return [x**3, 2**x, x**-1.5, 1 / (x + 2), np.sqrt(x), np.exp(x), np.log(x), np.sin(x),
                np.cos(x), np.tan(x), *arc(x), (x - 3) / x, -x + x * x, (3 - x)**x, +x * 2]

    found = taylor_series(lambda q: functions(
        q[0], np, lambda x: [np.arctan(x), np.arcsin(x), np.arccos(x)]))(path[:, None])
    with mp.workdps(50):
        def at(t):
            return sum(mp.mpf(each) * t**k for k, each in enumerate(path))

        for i, column in enumerate(found.T):
            wanted = mp.taylor(lambda t, i=i: functions(at(t), mp, lambda x: [
                mp.atan(x), mp.asin(x), mp.acos(x)])[i], 0, len(path) - 1)
            np.testing.assert_allclose(column, np.array(wanted, dtype=float), rtol=1e-12,
                                       atol=1e-12, err_msg=str(i))


def test_a_taylor_number_is_compared_by_its_value_and_never_loses_its_series():
    def cam(q):  # flat beyond 1
        assert (q[0] <= 1.0) == (not q[0] > 1.0) and (q[0] >= 1.0) == (not q[0] < 1.0)
        return [[q[0]**2 if q[0] < 1.0 else 1.0, 0.0]]

    series = taylor_series(cam)
    np.testing.assert_array_equal(
        series(np.array([[0.5, 0.0], [1.0, 0.0], [0.0, 0.0]]))[:, 0, 0], [0.25, 1.0, 1.0])
    np.testing.assert_array_equal(
        series(np.array([[1.5, 0.0], [1.0, 0.0], [0.0, 0.0]]))[:, 0, 0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(taylor_series(lambda q: q**2)(np.zeros((3, 1))), 0.0)
    with refused(LiedynError):
        taylor_series(lambda q: [math.sin(q[0])])(np.zeros((2, 1)))


def test_the_series_of_a_configuration_is_that_of_its_joints():
    """Beside poses that are moved by small steps of the group."""
    model, rng = hanging_body(), np.random.default_rng(4)
    q = model.random(rng)
    table, rate = model.link_table, np.zeros((6, model.nv))
    rate[0] = rng.normal(size=model.nv)
    series = configuration_series(table, q, rate)
    powers = 0.1**np.arange(7)
    moved_q = powers @ series
    expected = model.integrate(q, 0.1 * rate[0])  # a constant twist
    np.testing.assert_allclose(so3.from_quaternion(moved_q[7:] / np.linalg.norm(moved_q[7:])),
                               so3.from_quaternion(expected[7:]), atol=1e-7)
    np.testing.assert_allclose(moved_q[:7], expected[:7], atol=1e-7)


def test_partial_derivatives_of_a_closure_and_of_the_same_as_a_function_agree():
    """Of all orders, off the constraints as well."""
    model, rng = hanging_body(), np.random.default_rng(6)
    closed = ConstrainedDynamics(model)
    own = ConstrainedDynamics(replace(model, closures=()), functions=[rod_function()])
    start = model.integrate(model.neutral(), 0.3 * rng.normal(size=model.nv))
    q, v = project(closed, start, rng.normal(size=model.nv))
    tau = rng.normal(size=(4, model.nv))
    wanted, found = (each.forward.partial_derivatives.time_derivatives(q, v, tau)
                     for each in (closed, own))
    for mine, theirs in zip(found[:-1], wanted):
        assert_close(mine, theirs)
    wanted, found = (each.inverse.partial_derivatives.time_derivatives(q, v, wanted.a)
                     for each in (closed, own))
    for mine, theirs in zip(found[:-1], wanted):
        assert_close(mine, theirs)


def test_the_series_of_tangents_is_that_of_displacements():
    model, rng = hanging_body(), np.random.default_rng(4)
    rate, powers = rng.normal(size=(12, model.nv)), 0.1**np.arange(13)
    rate[1:] *= powers[1:-1, None]
    series = configuration_series(model.link_table, model.random(rng), rate)
    got, there = np.tensordot(powers, tangent_series(model.link_table, series), 1), powers @ series
    np.testing.assert_allclose(got, tangent_derivatives(model, there, lambda q: q), atol=1e-11)


@pytest.mark.parametrize('rows, error, name', [
    (1, ShapeError, 'loop: jacobian_series(q)'),
    (2, LiedynError, 'jacobian_series(q)')])
def test_a_series_of_something_else_is_refused(rows: int, error: type, name: str):
    bad = replace(four_bar_function(), jacobian_series=lambda q: np.zeros((rows, 2, 3)))
    model = four_bar()
    q, v = project(ConstrainedDynamics(model), [0.4, 0.3, -1.2], [1.0, 0.0, 0.0])
    dynamics = ConstrainedDynamics(replace(model, closures=()), functions=[bad])
    with refused(error, name):
        dynamics.forward(q, v, np.zeros(3))
