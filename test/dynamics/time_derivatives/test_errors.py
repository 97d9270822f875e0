# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The errors of each order of forward and hybrid dynamics, and extended precision."""

from collections.abc import Callable
from functools import partial
import math
import re

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.witnesses import forward_witness

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia

LENGTH, MASS = 0.1, 1.0  # m, kg of each link


def chain(count: int) -> Model:
    """Return equal links on a free base: each order loses about a digit, however good the code."""
    builder, placement = ModelBuilder('chain'), np.eye(4)
    placement[0, 3] = LENGTH
    for i in range(count):
        builder.add_body(f'link_{i}', SpatialInertia(
            MASS, [LENGTH / 2, 0, 0], np.eye(3) * MASS * LENGTH**2 / 12))
        if i == 0:
            builder.add_joint('root', 'free', None, 'link_0')
        else:
            builder.add_joint(f'joint_{i}', 'revolute', f'link_{i - 1}', f'link_{i}',
                              placement=placement, axis=[[0, 0, 1], [0, 1, 0]][i % 2])
    return builder.build()


def light_arm() -> Model:
    """Return ten links, each a third of the one before."""
    builder, placement = ModelBuilder('arm'), np.eye(4)
    placement[0, 3] = LENGTH
    for i in range(10):
        mass = MASS / 3.0**i
        builder.add_body(f'link_{i}', SpatialInertia(
            mass, [LENGTH / 2, 0, 0], np.eye(3) * mass * LENGTH**2 / 12))
        builder.add_joint(f'joint_{i}', 'revolute', f'link_{i - 1}' if i else None, f'link_{i}',
                          placement=placement, axis=[[0, 0, 1], [0, 1, 0]][i % 2])
    return builder.build()


MACHINES = {'equal links, free base': lambda: chain(10), 'lighter and lighter': light_arm,
            'every joint': lambda: make_case(0, True).model,
            'every joint, fixed base': lambda: make_case(1, False).model}


def true_error(found: Array, true: Array) -> Array:
    """Return the largest error of each order over the largest entry of it."""
    return (abs(found - true).max(axis=1) / abs(true).max(axis=1)).astype(float)


@pytest.mark.parametrize('name', MACHINES)
def test_errors_are_those_of_sixty_digits(name: str) -> None:
    model, rng = MACHINES[name](), np.random.default_rng(0)
    order = 8 if name.startswith('equal') else 3
    dynamics, q = Dynamics(model, dissipation=False), model.random(rng)
    v = rng.normal(size=model.nv)
    tau = dynamics.inverse.time_derivatives(q, v, rng.normal(size=(order + 1, model.nv)))
    true = forward_witness.forward(model, q, v, tau)
    found = dynamics.forward.with_error(q, v, tau)
    np.testing.assert_array_equal(
        found.a, dynamics.forward.time_derivatives(q, v, tau, max_error=math.inf))
    np.testing.assert_allclose(found.error, true_error(found.a, true), rtol=1e-6)
    if name == 'equal links, free base':
        assert found.error[0] < 1e-11 and found.error[order] > 1e-4
    exact = dynamics.forward.with_error(q, v, tau, extended=True)
    np.testing.assert_array_equal(exact.a, true.astype(float))
    np.testing.assert_allclose(exact.error, true_error(exact.a, true), rtol=1e-6)
    assert (exact.error < 2.0**-53).all()

    which, a = np.arange(model.nv) % 3 == 0, rng.normal(size=tau.shape)
    true_a, true_tau = forward_witness.hybrid(model, q, v, which, a, tau)
    mixed = dynamics.hybrid.with_error(q, v, which, a, tau)
    wanted = np.maximum(true_error(mixed.a, true_a), true_error(mixed.tau, true_tau))
    np.testing.assert_allclose(mixed.error, wanted, rtol=1e-6)
    mixed = dynamics.hybrid.with_error(q, v, which, a, tau, extended=True)
    np.testing.assert_array_equal(mixed.a, true_a.astype(float))
    np.testing.assert_array_equal(mixed.tau, true_tau.astype(float))


@pytest.mark.parametrize('seed', [0, 3])
def test_orders_without_a_digit_are_refused(seed: int) -> None:
    model, rng = chain(10), np.random.default_rng(seed)
    dynamics, q, v = Dynamics(model), model.random(rng), rng.normal(size=model.nv)
    wanted = rng.normal(size=(11, model.nv))
    tau = dynamics.inverse.time_derivatives(q, v, wanted)
    error = dynamics.forward.with_error(q, v, tau).error
    assert error[0] < 1e-11 and error[10] > 0.1  # all digits are lost
    lost = int(np.argmax(error > 0.01))
    with pytest.raises(LimitError, match=rf'order {lost}: expected a relative error of 0\.01 at '
                       'most, got .*; lower the order, or ask for extended=True'):
        dynamics.forward.with_error(q, v, tau, max_error=0.01)
    few = dynamics.forward.with_error(q, v, tau[:lost], max_error=0.01)
    assert (few.error <= 0.01).all()
    exact = dynamics.forward.with_error(q, v, tau, extended=True, max_error=2e-16)
    again = dynamics.inverse.time_derivatives(q, v, exact.a)
    np.testing.assert_allclose(again, tau, rtol=0, atol=1e-13 * np.abs(tau).max())


def test_no_call_returns_an_order_without_a_digit() -> None:
    model, rng = chain(10), np.random.default_rng(3)
    d, q, v = Dynamics(model), model.random(rng), rng.normal(size=model.nv)
    tau = d.inverse.time_derivatives(q, v, rng.normal(size=(11, model.nv)))
    a = d.forward.time_derivatives(q, v, tau, max_error=math.inf)
    error = d.forward.estimate_error(q, v, tau, a)
    lost, worse = (int(np.argmax(error > limit)) for limit in (0.1, 1e-6))
    assert 3 < worse < lost < 10
    none = np.zeros(model.nv, dtype=bool)

    def calls(rows: Array) -> list[tuple[str, Callable[..., object]]]:
        """Return every form that is given these rows, by the state that it complains of."""
        both = np.stack([q, q]), np.stack([v, v])
        states = np.stack([rows, rows])
        return [('', partial(d.forward.time_derivatives, q, v, rows)),
                ('', partial(d.forward.time_derivatives, q.tolist(), v.tolist(), rows.tolist())),
                ('', partial(d.hybrid.time_derivatives, q, v, none, rows, rows)),
                ('[0], ', partial(d.forward.batch_time_derivatives, *both, states)),
                ('[0], ', partial(d.hybrid.batch_time_derivatives, *both, none, states, states))]

    for order, limit, more in ((lost, '0.1', {}), (worse, '1e-06', {'max_error': 1e-6})):
        for state, call in calls(tau):
            with pytest.raises(LimitError, match=re.escape(
                    f'{state}order {order}: expected a relative error of {limit} at most, got')):
                call(**more)
        for _, call in calls(tau[:order]):
            call(**more)


def test_numbers_are_zero_where_they_are_zero() -> None:
    dynamics = Dynamics(chain(3))
    still = np.zeros(dynamics.model.nv)
    falling = dynamics.forward.with_error(
        dynamics.model.neutral(), still, np.zeros((4, dynamics.model.nv)), extended=True)
    np.testing.assert_array_equal(falling.a[1:], 0.0)
    np.testing.assert_array_equal(falling.error[1:], 0.0)
    assert falling.error[0] < 1e-14


def test_dissipation_is_part_of_it() -> None:
    case = make_case(2, True, dissipation=True)
    a, tau = case.rng.normal(size=(2, 4, case.model.nv))
    which = np.arange(case.model.nv) % 2 == 0
    error = case.dynamics.hybrid.with_error(case.q, case.v, which, a, tau).error
    assert (error < 1e-9).all()


def test_wrenches_and_prescribed_motion_are_passed_on(case: Case) -> None:
    d, model, rng = case.dynamics, case.model, case.rng
    a, tau = rng.normal(size=(2, 3, model.nv))
    external = rng.normal(size=(3, len(model.bodies), 6))
    got = d.forward.with_error(case.q, case.v, tau, external)
    wanted = d.forward.time_derivatives(case.q, case.v, tau, external)
    np.testing.assert_array_equal(got.a, wanted)
    assert (got.error < 1e-8).all()
    which = np.ones(model.nv, dtype=bool)
    known = d.hybrid.with_error(case.q, case.v, which, a, np.full_like(tau, np.nan), external)
    np.testing.assert_array_equal(known.a, a)
    assert (known.error < 1e-11).all()


@pytest.mark.parametrize('name', MACHINES)
def test_estimates_hold_within_a_factor_of_ten(name: str) -> None:
    model = MACHINES[name]()
    dynamics, ratios = Dynamics(model), []
    order = 8 if name.startswith('equal') else 4
    for seed in range(4):
        rng = np.random.default_rng(seed)
        q, v = model.random(rng), rng.normal(size=model.nv)
        tau = dynamics.inverse.time_derivatives(q, v, rng.normal(size=(order + 1, model.nv)))
        found = dynamics.forward.with_error(q, v, tau)
        ratios.append(dynamics.forward.estimate_error(q, v, tau, found.a) / found.error)
        which = np.arange(model.nv) % 3 == 0
        mixed = dynamics.hybrid.with_error(q, v, which, found.a, tau)
        ratios.append(dynamics.hybrid.estimate_error(q, v, which, *mixed[:2]) / mixed.error)
    flat = np.concatenate(ratios)
    assert flat.min() > 0.1  # none is wrong by ten times what is told
    assert np.quantile(flat, 0.9) < 10.0  # more where the true errors cancel by chance
