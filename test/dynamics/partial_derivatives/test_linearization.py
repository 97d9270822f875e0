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

"""Linear models beside differences through the motion itself."""

import numpy as np
import pytest
from support.dynamics_cases import Case, make_case
from support.tangents import difference

from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics.partial_derivatives.linearization import (
    linearize, linearize_along, transition)

TOLERANCE = 1e-7


@pytest.fixture(params=(False, True), ids=('fixed', 'floating'))
def moving(request) -> Case:
    """Return a machine in slow motion, its forces those of zero acceleration."""
    return make_case(1, request.param)


def test_transition_is_the_derivative_of_the_motion(moving: Case) -> None:
    d, model, dt, n = moving.dynamics, moving.model, 0.02, moving.model.nv
    q, v = moving.q, 0.3 * moving.v
    tau = d.inverse(q, v, np.zeros(n))
    end_q, end_v, step = transition(d, q, v, dt, tau)

    def end(direction, s):
        start = model.integrate(q, s * direction[:n]), v + s * direction[n:2 * n]
        there, rate, _ = transition(d, *start, dt, tau + s * direction[2 * n:], tolerance=1e-12)
        return np.hstack([model.difference(end_q, there), rate - end_v])

    for _ in range(3):
        direction = moving.rng.normal(size=3 * n) * np.repeat([1.0, 1.0, 0.1], n)
        wanted = difference(lambda s: end(direction, s), 1e-3)
        got = step.A @ direction[:2 * n] + step.B @ direction[2 * n:]
        np.testing.assert_allclose(got, wanted, rtol=0.0, atol=TOLERANCE * np.abs(wanted).max())


def test_held_step_meets_the_transition_to_second_order(moving: Case) -> None:
    d, n = moving.dynamics, moving.model.nv
    q, v = moving.q, 0.3 * moving.v
    tau = d.inverse(q, v, np.zeros(n))
    model = linearize(d, q, v, tau)
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        step, exact = model.discrete(dt), transition(d, q, v, dt, tau)[2]
        errors.append(np.abs(step.A - exact.A).max())
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 3.0).all()  # without the brackets of groups it would be 2


def test_at_rest_the_held_step_is_exact() -> None:
    case = make_case(2, True)
    n = case.model.nv
    tau = case.dynamics.gravity_vector(case.q)
    step = linearize(case.dynamics, case.q, np.zeros(n), tau).discrete(0.01)
    _, _, exact = transition(case.dynamics, case.q, np.zeros(n), 0.01, tau)
    np.testing.assert_allclose(step.A, exact.A, rtol=0.0, atol=1e-9 * np.abs(exact.A).max())
    np.testing.assert_allclose(step.B, exact.B, rtol=0.0, atol=1e-9 * np.abs(exact.B).max())


def test_forces_that_run_straight() -> None:
    """Beside steps of a thousandth in which the forces are held at their means."""
    case = make_case(2, False)
    n, dt, parts = case.model.nv, 0.02, 1000
    tau = case.dynamics.gravity_vector(case.q)
    model = linearize(case.dynamics, case.q, np.zeros(n), tau)
    ramp, fine = model.discrete(dt, ramp=True), model.discrete(dt / parts)
    x, first, last = np.zeros(2 * n), *case.rng.normal(size=(2, n))
    for k in range(parts):
        x = fine.A @ x + fine.B @ (first + (k + 0.5) / parts * (last - first))
    wanted = ramp.B @ np.hstack([first, last])
    np.testing.assert_allclose(x, wanted, rtol=0.0, atol=1e-6 * np.abs(wanted).max())
    np.testing.assert_allclose(
        ramp.B[:, :n] + ramp.B[:, n:], model.discrete(dt).B, rtol=1e-9, atol=1e-12)


def test_along_a_trajectory(moving: Case) -> None:
    d, tau = moving.dynamics, moving.rng.normal(size=(2, moving.model.nv))
    q = np.array([moving.q, moving.model.integrate(moving.q, 0.1 * moving.v)])
    v, w = np.array([moving.v, moving.a]), np.stack([moving.external, -moving.external])
    got = linearize_along(d, q, v, tau, w)
    each = [linearize(d, *state) for state in zip(q, v, tau, w)]
    for mine, others in zip(got, zip(*each)):
        np.testing.assert_array_equal(mine, np.array(others))
    for mine, others in zip(got.discrete(0.01), zip(*(one.discrete(0.01) for one in each))):
        np.testing.assert_allclose(mine, np.array(others), rtol=1e-12, atol=1e-12)
    with pytest.raises(ShapeError, match=r'^v: expected'):
        linearize_along(d, q, v[0], tau)


def test_refusals(moving: Case) -> None:
    with pytest.raises(LimitError, match='dt'):
        linearize(moving.dynamics, moving.q, moving.v, moving.a).discrete(0.0)
