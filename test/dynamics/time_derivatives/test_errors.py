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

"""The errors that forward and hybrid dynamics tell of each order, beside 200 digits."""

import numpy as np
import pytest
from support.dynamics_cases import Case
from support.motion_witness import witness

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


@pytest.mark.parametrize('seed, speed, order', [(0, 4.0, 8), (3, 0.5, 8)])
def test_errors_are_right_within_a_factor_of_ten(seed: int, speed: float, order: int) -> None:
    model, rng = chain(10), np.random.default_rng(seed)
    dynamics, q = Dynamics(model), model.random(rng)
    paths = speed * rng.normal(size=(order + 2, model.nv))
    motion, tau = witness(model, q, paths, np.zeros((order + 1, len(model.bodies), 6)))
    v, wanted = motion[0], motion[1:]
    got = dynamics.forward.with_error(q, v, tau)
    np.testing.assert_array_equal(got.a, dynamics.forward.time_derivatives(q, v, tau))
    true = np.abs(got.a - wanted).max(axis=1) / np.abs(wanted).max(axis=1)
    assert ((got.error < 10.0 * true) & (got.error > 0.1 * true)).all()
    assert got.error[order] > 1e3 * got.error[0]

    which = np.arange(model.nv) % 3 == 0
    mixed = dynamics.hybrid.with_error(q, v, which, wanted, tau)
    true = np.maximum(*(np.abs(x - y).max(axis=1) / np.abs(y).max(axis=1) for x, y in (
        (mixed.a, wanted), (mixed.tau, tau))))
    assert ((mixed.error < 10.0 * true) & (mixed.error > 0.1 * true)).all()


@pytest.mark.parametrize('seed', [0, 3])
def test_orders_without_a_digit_are_refused(seed: int) -> None:
    model, rng = chain(10), np.random.default_rng(seed)
    dynamics, q, v = Dynamics(model), model.random(rng), rng.normal(size=model.nv)
    wanted = rng.normal(size=(11, model.nv))
    tau = dynamics.inverse.time_derivatives(q, v, wanted)
    a, error = dynamics.forward.with_error(q, v, tau)
    true = np.abs(a - wanted).max(axis=1) / np.abs(a).max(axis=1)
    assert ((error < 10.0 * true) & (error > 0.1 * true)).all()
    assert error[0] < 1e-11 and error[10] > 0.1  # all digits are lost
    lost = int(np.argmax(error > 0.01))
    with pytest.raises(LimitError, match=rf'order {lost}: expected a relative error of 0\.01 at'):
        dynamics.forward.with_error(q, v, tau, max_error=0.01)
    few = dynamics.forward.with_error(q, v, tau[:lost], max_error=0.01)
    np.testing.assert_array_equal(few.a, a[:lost])


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
