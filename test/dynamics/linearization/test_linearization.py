# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Linear models beside complex steps through the motion itself, and series of 50 digits."""

from mpmath import mp
import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case
from support.machines.loop_states import EVERY, state
from support.machines.looped_machines import bennett
from support.refusals import ANY, refused
from support.witnesses.complex_flow import transition_of

from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, projected_runge_kutta)
from liedyn_ros.dynamics.linearization import linearize, linearize_along, transition


@pytest.fixture(params=(False, True), ids=('fixed', 'floating'))
def moving(request) -> Case:
    """Return a machine in slow motion, its forces those of zero acceleration."""
    return make_case(1, request.param)


def test_transition_beside_a_complex_motion(moving: Case) -> None:
    d, model, dt, n = moving.dynamics, moving.model, 0.02, moving.model.nv
    q, v = moving.q, 0.3 * moving.v
    tau = d.inverse(q, v, np.zeros(n))
    _, _, step = transition(d, q, v, dt, tau, tolerance=1e-12)
    direction = moving.rng.normal(size=3 * n)
    assert_same(step.A @ direction[:2 * n] + step.B @ direction[2 * n:],
                transition_of(model, q, v, tau, dt, direction, dissipation=False))


@pytest.mark.parametrize('name', ('universal', 'balls'))
def test_at_rest_the_held_step_of_a_machine_with_loops_is_exact(name: str) -> None:
    """Beside a complex motion from a displaced equilibrium, on the constraints or off them."""
    dynamics, q, _, _, _, rng = state(EVERY[name])
    n, dt = dynamics.model.nv, 0.01
    rest, dynamics = np.zeros(n), ConstrainedDynamics(dynamics.model, dissipation=False)
    tau = dynamics.inverse(q, rest, rest, actuated=np.ones(n, dtype=bool)).tau
    step = linearize(dynamics, q, rest, tau).discrete(dt)
    direction = rng.normal(size=3 * n)
    assert_same(step.A @ direction[:2 * n] + step.B @ direction[2 * n:],
                transition_of(
                    dynamics.model, q, rest, tau, dt, direction, dissipation=False))


@pytest.mark.parametrize('name', ('revolute', 'balls'))
def test_transition_of_a_machine_with_loops_beside_a_complex_motion(name: str) -> None:
    dynamics, q, v, tau, _, rng = state(EVERY[name])
    model, dt, n = dynamics.model, 0.01, dynamics.model.nv
    dynamics, v = ConstrainedDynamics(model, dissipation=False), 0.3 * v
    end, speed, step = transition(dynamics, q, v, dt, tau[0], tolerance=1e-12)
    direction = rng.normal(size=3 * n)
    assert_same(step.A @ direction[:2 * n] + step.B @ direction[2 * n:],
                transition_of(model, q, v, tau[0], dt, direction, dissipation=False))
    by_steps = q, v
    for _ in range(16):
        by_steps = projected_runge_kutta.step(dynamics, *by_steps, dt / 16, tau[0])
    np.testing.assert_allclose(model.difference(by_steps[0], end), 0.0, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(by_steps[1], speed, rtol=0.0, atol=1e-7)
    with refused(LiedynError, ANY, expected=0.0):
        transition(dynamics, model.integrate(q, direction[:n]), v, dt, tau[0])


def test_transition_of_a_machine_redundant_by_geometry() -> None:
    looped = bennett()
    dynamics = ConstrainedDynamics(looped.model, dissipation=False)
    q = assemble(dynamics, looped.q)
    v = complete_velocity(dynamics, q, [1.0, 0.0, 0.0])
    end_q, end_v, _ = transition(dynamics, q, v, 0.1, np.zeros(3))
    energies = [dynamics.tree.kinetic_energy(*each) + dynamics.tree.potential_energy(each[0])
                for each in ((q, v), (end_q, end_v))]
    assert np.isclose(*energies, rtol=1e-9)
    for _ in range(100):
        q, v = projected_runge_kutta.step(dynamics, q, v, 1e-3, np.zeros(3))
    assert_same(q, end_q, 1e-8)
    assert_same(v, end_v, 1e-8)


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


@pytest.mark.full
@pytest.mark.parametrize('kind', ('tree', 'loops'))
def test_held_and_ramped_forces_beside_a_series_of_50_digits(kind: str) -> None:
    """Of constant A and B: the sum of (A dt)^k (x / k! + dt B u / (k + 1)! + ...)."""
    if kind == 'tree':
        case = make_case(2, True)
        n, rng = case.model.nv, case.rng
        model = linearize(case.dynamics, case.q, case.v, case.a)
    else:
        dynamics, q, v, tau, _, rng = state(EVERY['two loops'])
        n, model = dynamics.model.nv, linearize(dynamics, q, v, tau[0])
    dt, x, first, last = 0.02, rng.normal(size=2 * n), *rng.normal(size=(2, n))
    held, ramp = model.discrete(dt), model.discrete(dt, ramp=True)
    with mp.workdps(50):
        power = [np.vectorize(mp.mpf)(each) for each in (
            x, dt * model.B @ first, dt * model.B @ (last - first))]
        matrix, total = np.vectorize(mp.mpf)(dt * model.A), [0, 0, 0]
        for k in range(50):
            total = [sums + each / mp.factorial(k + j)
                     for j, (sums, each) in enumerate(zip(total, power))]
            power = [matrix @ each for each in power]
        assert max(abs(each).max() for each in power) < mp.factorial(k) * mp.mpf(10)**-20
    free, held_part, ramp_part = (np.array(each, dtype=float) for each in total)
    assert_same(held.A @ x + held.B @ first, free + held_part, 1e-11)
    assert_same(ramp.A @ x + ramp.B @ np.hstack([first, last]),
                free + held_part + ramp_part, 1e-11)


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
    with refused(ShapeError, 'v'):
        linearize_along(d, q, v[0], tau)
    loops, q, v, tau, w, _ = state(EVERY['rod'])
    got = linearize_along(loops, [q, q], [v, -v], tau, np.stack([w, -w]))
    each = [linearize(loops, q, v, tau[0], w),
            linearize(loops, q, -v, tau[1], -w)]
    for mine, others in zip(got, zip(*each)):
        np.testing.assert_array_equal(mine, np.array(others))


def test_refusals(moving: Case) -> None:
    with refused(LimitError, 'dt'):
        linearize(moving.dynamics, moving.q, moving.v, moving.a).discrete(0.0)
