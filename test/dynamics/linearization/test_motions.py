# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motions of many steps and the gradients of their costs, beside steps and differences."""

from functools import partial
import warnings

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import (
    five_bar, four_bar, planar_linkage, random_looped)
from support.machines.random_models import random_model

from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError, SingularityWarning
from liedyn_ros.dynamics import Dynamics, runge_kutta_munthe_kaas
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, project
from liedyn_ros.dynamics.linearization import (
    linearize_step, motion_gradient, RUNGE_KUTTA, simulate, STORMER_VERLET)
from liedyn_ros.model.configuration import difference_derivatives

DT = 0.01
ROBOTS = {'tree': partial(Dynamics, random_model(2, 5, True)),
          'four-bar': partial(ConstrainedDynamics, four_bar()),
          'five-bar': partial(ConstrainedDynamics, five_bar()),
          'random loops': partial(
              ConstrainedDynamics, random_looped(84, ('rod', 'spherical'), 9).model)}


def begun(name):
    """Return a robot and a state of it."""
    robot, rng = ROBOTS[name](), np.random.default_rng(1)
    v = 0.3 * rng.normal(size=robot.model.nv)
    if name == 'tree':
        return robot, robot.model.random(rng), v
    return robot, *project(robot, assemble(robot), v)


def test_a_motion_is_its_steps():
    robot, q, v = begun('tree')
    taus = np.random.default_rng(2).normal(size=(5, robot.model.nv))
    made = simulate(robot, q, v, taus, DT, 5)
    led = simulate(robot, q, v, lambda t, q, v: taus[round(t / DT)], DT, 5)
    for k, tau in enumerate(taus):
        assert np.array_equal(made.q[k], q) and np.array_equal(made.v[k], v)
        q, v = runge_kutta_munthe_kaas.step(robot, q, v, DT, tau)
    assert np.array_equal(made.q[-1], q) and np.array_equal(led.q, made.q)
    assert np.array_equal(made.tau, taus) and made.t[-1] == 5 * DT


@pytest.mark.parametrize('scheme', [RUNGE_KUTTA, STORMER_VERLET])
@pytest.mark.parametrize('start, passed', [(0.3, True), (-0.3, False)])
def test_a_parallelogram_that_falls_through_its_flat_pose_says_so(scheme, start, passed):
    flat = ConstrainedDynamics(planar_linkage((0.3, 0.5), (0.3,), 0.5, ('left_0',)))
    q = np.array([start, -start, start])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        made = simulate(flat, q, 0.0 * q, 0.0 * q, 2e-3, 200, scheme=scheme)
    assert made.q[-1, 0] < min(start, 0.0)
    assert [each.category for each in seen] == [SingularityWarning] * passed


@pytest.mark.parametrize('name', ['tree', 'four-bar'])
def test_a_step_that_is_too_long_for_a_stiff_controller_is_named(name):
    robot, q, v = begun(name)
    with pytest.raises(LiedynError) as refusal:
        simulate(robot, q, v, lambda t, q, v: -1e6 * v, DT, 200)
    step, = refusal.value.indices
    assert 0 < step < 200
    simulate(robot, q, v, lambda t, q, v: -1e6 * v, DT, step)


@pytest.mark.parametrize('scheme', [RUNGE_KUTTA, STORMER_VERLET])
@pytest.mark.parametrize('name', ROBOTS)
def test_the_gradient_of_a_motion_is_that_of_differences(name, scheme):
    robot, q, v = begun(name)
    model, rng, count = robot.model, np.random.default_rng(3), 7
    taus, weights = 0.5 * rng.normal(size=(count, model.nv)), rng.normal(size=model.nv)
    aim = model.integrate(q, 0.1 * np.ones(model.nv))

    def cost(k, q, v):
        off = model.difference(aim, q)
        by_q = difference_derivatives(model.link_table, off).by_q1
        return k * off @ off + v @ v + weights @ v, 2.0 * k * by_q.T @ off, 2.0 * v + weights

    def total(taus):
        made = simulate(robot, q, v, taus, DT, count, scheme=scheme)
        return sum(cost(k, *each)[0] for k, each in enumerate(zip(made.q, made.v)))

    found = motion_gradient(robot, q, v, taus, DT, cost, scheme=scheme)
    assert found.cost == pytest.approx(total(taus))
    for kept in (1, 3, count, 99):
        other = motion_gradient(robot, q, v, taus, DT, cost, scheme=scheme, kept=kept)
        assert np.array_equal(other.by_tau, found.by_tau)
    change, h = rng.normal(size=taus.shape), 1e-5
    slope = (total(taus + h * change) - total(taus - h * change)) / (2.0 * h)
    assert_same((found.by_tau * change).sum(), slope, 1e-6)
    made, back = simulate(robot, q, v, taus, DT, count, scheme=scheme), np.zeros(2 * model.nv)
    for k in reversed(range(count + 1)):  # products as matrices
        if k < count:
            linear = linearize_step(robot, made.q[k], made.v[k], DT, taus[k], scheme=scheme)[2]
            assert_same(found.by_tau[k], linear.B.T @ back, 1e-9)
            back = linear.A.T @ back
        back = back + np.concatenate(cost(k, made.q[k], made.v[k])[1:])
    assert_same(np.concatenate((found.by_q, found.by_v)), back, 1e-9)


def test_wrong_motions_are_refused():
    robot, q, v = begun('four-bar')
    tau = np.zeros(robot.model.nv)
    for error, options in (
            (LimitError, {'scheme': 'euler'}), (LimitError, {'steps': -1}),
            (LimitError, {'steps': 2.5}), (ShapeError, {'tau': tau[1:]}),
            (ShapeError, {'tau': np.zeros((3, len(tau)))})):
        with pytest.raises(error):
            simulate(**{'robot': robot, 'q': q, 'v': v, 'tau': tau, 'dt': DT, 'steps': 2,
                        **options})
    assert len(simulate(robot, q, v, tau, DT, 0).q) == 1


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('order', [0, 3])
def test_products_of_time_derivatives_are_adjoint_differences(name, order):
    robot, q, v = begun(name)
    model, rng = robot.model, np.random.default_rng(5)
    tau = rng.normal(size=(order + 1, model.nv))
    a = np.asarray(robot.forward.time_derivatives(q, v, tau))
    for algorithm, given in ((robot.forward, tau), (robot.inverse, a)):
        dq, dv, (change, y) = *rng.normal(size=(2, model.nv)), rng.normal(size=(2, *a.shape))
        by = algorithm.partial_derivatives
        found = by.time_derivatives_product(q, v, given, dq, dv, change)
        back = by.time_derivatives_gradient(q, v, given, y)
        other = back.by_q @ dq + back.by_v @ dv + (back.by_given * change).sum()
        assert (y * found).sum() == pytest.approx(other, rel=1e-8)


@pytest.mark.parametrize('order', [0, 3])
def test_products_of_time_derivatives_are_differences(order):
    robot, q, v = begun('tree')
    model, rng = robot.model, np.random.default_rng(5)
    given = rng.normal(size=(order + 1, model.nv))
    for algorithm in (robot.forward, robot.inverse):
        dq, dv, change = *rng.normal(size=(2, model.nv)), rng.normal(size=given.shape)
        found = algorithm.partial_derivatives.time_derivatives_product(
            q, v, given, dq, dv, change)
        ahead, behind = (algorithm.time_derivatives(
            model.integrate(q, h * dq), v + h * dv, given + h * change) for h in (1e-6, -1e-6))
        for mine, theirs in zip(found, (ahead - behind) / 2e-6):
            assert_same(mine, theirs, 1e-5)
