# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Orders of convergence, and what free flight conserves over ten seconds."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from support.machines.dynamics_cases import make_case, TREES
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LiedynError, NotFiniteError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.integrators import runge_kutta_munthe_kaas, stormer_verlet
from liedyn_ros.model import load_yaml, ModelBuilder, SpatialInertia

Step = Callable[..., tuple[Array, Array]]
RKMK, VERLET = runge_kutta_munthe_kaas.step, stormer_verlet.step
STEPS = pytest.mark.parametrize('step', [RKMK, VERLET], ids=['rkmk', 'verlet'])
SPIN = np.array((0.4, -0.3, 0.5, 0.2, 0.1, 0.6, 1.0, -0.8, 0.7, -1.0, 0.5, 0.9))


class Kept(NamedTuple):
    """Invariants of free flight: linear and angular momentum about the centre of mass, energy."""

    linear: Array
    angular: Array
    energy: float


def kept(dynamics: Dynamics, q: Array, v: Array) -> Kept:
    """Return momenta and the energy of the internal motion; the base floats."""
    q, v = q.copy(), v.copy()
    q[:3] = 0.0
    rotation, linear = dynamics.kinematics(q).poses[0, :3, :3], dynamics.momentum(q, v)[3:]
    v[3:6] -= rotation.T @ (linear / dynamics.model.mass)
    momentum = dynamics.momentum(q, v)
    angular = momentum[:3] - np.cross(dynamics.center_of_mass(q), momentum[3:])
    return Kept(linear, angular, dynamics.kinetic_energy(q, v))


def fly(step: Step, d: Dynamics, q: Array, v: Array, tau: Array, time: float,
        count: int) -> Iterator[tuple[Array, Array]]:
    for _ in range(count):
        q, v = step(d, q, v, time / count, tau)
        yield q, v


@pytest.mark.parametrize('tree', TREES[:4])
@pytest.mark.parametrize('step, order, counts', [
    (RKMK, 4, (8, 16, 32)), (VERLET, 2, (16, 32, 64))], ids=['rkmk', 'verlet'])
def test_order_of_convergence(tree: tuple[int, bool], step: Step, order: int,
                              counts: tuple[int, ...]) -> None:
    """Halving the step divides the error by two to the order, with every type of joint."""
    case, time = make_case(*tree), 0.1
    v, tau = 0.5 * case.v, 0.3 * case.a
    *_, (q_end, v_end) = fly(RKMK, case.dynamics, case.q, v, tau, time, 300)
    errors = []
    for count in counts:
        *_, (q, u) = fly(step, case.dynamics, case.q, v, tau, time, count)
        errors.append(np.linalg.norm([case.model.difference(q, q_end), u - v_end]))
    measured = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(measured, order, atol=0.15)


@pytest.mark.parametrize('tree', TREES[:4])
def test_a_whole_step_has_the_bits_of_its_stages(tree: tuple[int, bool]) -> None:
    """The kernel of a step does what `advance` does with any acceleration."""
    case = make_case(*tree)
    d, wrenches = case.dynamics, np.full((len(case.model.bodies), 6), 0.3)
    stages = runge_kutta_munthe_kaas.advance(
        d, lambda q, v: d.forward(q, v, case.a, wrenches), case.q, case.v, 0.01)
    for whole, found in zip(RKMK(d, case.q, case.v, 0.01, case.a, wrenches), stages):
        np.testing.assert_array_equal(whole, found)


@pytest.fixture(scope='module')
def weightless() -> Dynamics:
    """Return the aerial manipulator without gravity."""
    model = load_yaml(config_file('aerial_manipulator.yaml'))
    return Dynamics(replace(model, link_table=replace(model.link_table, gravity=np.zeros(3))))


@pytest.mark.parametrize('step, dt, energy_error, momentum_error', [
    (RKMK, 2e-3, 1e-9, 1e-8), (VERLET, 1e-2, 5e-4, 1e-12)], ids=['rkmk', 'verlet'])
def test_free_flight_conserves_energy_and_momentum(
        weightless: Dynamics, step: Step, dt: float, energy_error: float,
        momentum_error: float) -> None:
    """Ten seconds of tumbling: 1.2 J of kinetic energy, 3 N m s and 2 N s of momentum."""
    q = weightless.model.neutral()
    energy, momentum = weightless.kinetic_energy(q, SPIN), weightless.momentum(q, SPIN)
    assert energy > 1.0
    assert min(np.linalg.norm(momentum[:3]), np.linalg.norm(momentum[3:])) > 0.05
    for state in fly(step, weightless, q, SPIN, np.zeros(12), 10.0, round(10.0 / dt)):
        assert weightless.kinetic_energy(*state) == pytest.approx(energy, abs=energy_error)
    np.testing.assert_allclose(weightless.momentum(*state), momentum, atol=momentum_error)


@pytest.mark.parametrize('speed, position, time', [
    (0.0, 0.0, 20.0), (300.0, 0.0, 5.0), (0.0, 1e5, 5.0), (300.0, 1e5, 5.0)])
def test_verlet_holds_momentum_wherever_and_however_fast(
        weightless: Dynamics, speed: float, position: float, time: float) -> None:
    """Linear momentum, and angular momentum about the centre of mass, to 1e-13 of themselves."""
    q, v = weightless.model.neutral(), SPIN.copy()
    q[:3], v[3:6] = position, SPIN[3:6] + speed
    before = kept(weightless, q, v)
    *_, state = fly(VERLET, weightless, q, v, np.zeros(12), time, round(50 * time))
    after = kept(weightless, *state)
    assert np.linalg.norm(after.linear - before.linear) < 1e-13 * np.linalg.norm(before.linear)
    assert np.linalg.norm(after.angular - before.angular) < 1e-13 * np.linalg.norm(before.angular)


@pytest.mark.parametrize('dt, types', [
    (1e-2, ('spherical', 'universal', 'revolute', 'universal')),
    (1e-4, ('free', 'spherical', 'universal', 'helical'))], ids=['together', 'apart'])
def test_verlet_holds_momentum_of_every_type_of_joint(dt: float, types: tuple[str, ...]) -> None:
    """
    To 1e-13 after 2000 steps, though no placement is a rotation to the last bit.

    Bodies that part for 20 s lose digits of the angular momentum to their distance.
    """
    model = random_model(6, len(types), True, types)
    d = Dynamics(replace(model, link_table=replace(model.link_table, gravity=np.zeros(3))),
                 dissipation=False)
    q, v = model.neutral(), 0.5 * np.random.default_rng(1).normal(size=model.nv)
    before = kept(d, q, v)
    *_, state = fly(VERLET, d, q, v, np.zeros(model.nv), 2000 * dt, 2000)
    after = kept(d, *state)
    assert np.linalg.norm(after.linear - before.linear) < 1e-13 * np.linalg.norm(before.linear)
    assert np.linalg.norm(after.angular - before.angular) < 1e-13 * np.linalg.norm(before.angular)


def momenta_of_coordinates(d: Dynamics, q: Array, v: Array) -> Array:
    """Return the sums of linear and angular momenta that single velocities v_k have."""
    each = [kept(d, q, one) for one in np.diag(v)]
    return np.array([sum(np.linalg.norm(one.linear) for one in each),
                     sum(np.linalg.norm(one.angular) for one in each)])


@pytest.mark.full
@pytest.mark.parametrize('types', [
    ('free', 'spherical', 'universal', 'helical'), ('helical', 'helical', 'helical')])
def test_verlet_holds_momentum_of_bodies_that_part(types: tuple[str, ...]) -> None:
    """
    Relative to the momenta of single coordinates, to 2e-14 after 2000 steps, 20 s.

    The velocities of a body far away grow with its distance from the base that turns. Their
    rounding is that of the momenta, which cancel.
    """
    model = random_model(6, len(types), True, types)
    d = Dynamics(replace(model, link_table=replace(model.link_table, gravity=np.zeros(3))),
                 dissipation=False)
    q, v = model.neutral(), 0.5 * np.random.default_rng(1).normal(size=model.nv)
    before, size = kept(d, q, v), np.zeros(2)
    for i, state in enumerate(fly(VERLET, d, q, v, np.zeros(model.nv), 20.0, 2000)):
        if i % 100 == 0:
            size = np.maximum(size, momenta_of_coordinates(d, *state))
    after = kept(d, *state)
    lost = np.array([np.linalg.norm(after.linear - before.linear),
                     np.linalg.norm(after.angular - before.angular)])
    assert (lost < 2e-14 * size).all()


def test_verlet_moves_alike_at_any_common_velocity(weightless: Dynamics) -> None:
    """Internal motion of a machine is the same at rest and at 300 m/s."""
    d, q, v = weightless, weightless.model.neutral(), SPIN.copy()
    boost = np.array((300.0, -50.0, 9.0))
    q[3:7] = 0.5
    turned = d.kinematics(q).poses[0, :3, :3]
    fast = v.copy()
    fast[3:6] += turned.T @ boost
    *_, (q1, v1) = fly(VERLET, d, q, v, np.zeros(12), 1.0, 100)
    *_, (q2, v2) = fly(VERLET, d, q, fast, np.zeros(12), 1.0, 100)
    v2[3:6] -= d.kinematics(q2).poses[0, :3, :3].T @ boost
    np.testing.assert_allclose(q2[:3] - boost, q1[:3], atol=1e-10)
    np.testing.assert_allclose(q2[3:], q1[3:], atol=1e-11)
    np.testing.assert_allclose(v2, v1, atol=1e-11)


def test_verlet_goes_on_after_half_a_minute_of_fall() -> None:
    d = Dynamics(load_yaml(config_file('aerial_manipulator.yaml')), dissipation=False)
    q, v, time = d.model.neutral(), SPIN.copy(), 32.9
    q[2], v[5] = -0.5 * 9.81 * time**2, SPIN[5] - 9.81 * time
    before, weight = d.momentum(q, v)[3:], d.model.mass * d.model.gravity
    *_, (q, v) = fly(VERLET, d, q, v, np.zeros(12), 0.5, 500)
    np.testing.assert_allclose(
        d.momentum(q, v)[3:], before + 0.5 * weight, rtol=0.0, atol=1e-12 * abs(before).max())


@STEPS
def test_a_machine_without_joints_stays(step: Step) -> None:
    builder = ModelBuilder('rock')
    builder.add_body('rock', SpatialInertia(1.0, np.zeros(3), np.eye(3)))
    builder.add_joint('bed', 'fixed', None, 'rock')
    q, v = step(Dynamics(builder.build()), [], [], 1e-3, [])
    assert q.shape == v.shape == (0,)


@pytest.mark.full
def test_energy_error_of_verlet_is_bounded(weightless: Dynamics) -> None:
    """The error of the second half of 20 s at a coarse step is that of the first half."""
    q = weightless.model.neutral()
    energy = weightless.kinetic_energy(q, SPIN)
    errors = [abs(weightless.kinetic_energy(*state) - energy)
              for state in fly(VERLET, weightless, q, SPIN, np.zeros(12), 20.0, 2000)]
    assert max(errors[1000:]) < 1.5 * max(errors[:1000])


def test_free_fall_conserves_energy_and_follows_the_parabola() -> None:
    """Ten seconds of fall under gravity: the centre of mass, momentum and energy are known."""
    model = load_yaml(config_file('aerial_manipulator.yaml'))
    d, q = Dynamics(model), model.neutral()
    center, momentum = d.center_of_mass(q), d.momentum(q, SPIN)
    energy = d.kinetic_energy(q, SPIN) + d.potential_energy(q)
    *_, (q, v) = fly(RKMK, d, q, SPIN, np.zeros(12), 10.0, 5000)
    weight, drift = model.mass * model.gravity, momentum[3:] / model.mass
    assert d.kinetic_energy(q, v) + d.potential_energy(q) == pytest.approx(energy, abs=1e-6)
    np.testing.assert_allclose(
        d.center_of_mass(q), center + drift * 10.0 + model.gravity * 50.0, atol=1e-8)
    turning = np.cross(center * 10.0 + drift * 50.0, weight)  # the integral of c x m a_g
    np.testing.assert_allclose(
        d.momentum(q, v), momentum + np.concatenate((turning, weight * 10.0)), atol=1e-6)


@STEPS
def test_held_forces_and_wrenches_do_their_work(step: Step) -> None:
    case = make_case(*TREES[1])
    tau, q, v = case.a, case.q, 0.3 * case.v
    count, time = 200, 0.05
    b = case.model.bodies.index('body_3')
    external = np.zeros((len(case.model.bodies), 6))
    external[b] = case.external[b]

    def power(q: Array, v: Array) -> float:
        return float(tau @ v + case.external[b] @ case.dynamics.kinematics(q, v).twists[b])

    def energy(q: Array, v: Array) -> float:
        return case.dynamics.kinetic_energy(q, v) + case.dynamics.potential_energy(q)

    start, powers = energy(q, v), [power(q, v)]
    for _ in range(count):
        q, v = step(case.dynamics, q, v, time / count, tau, external)
        powers.append(power(q, v))
    work = (sum(powers) - 0.5 * (powers[0] + powers[-1])) * time / count
    assert energy(q, v) - start == pytest.approx(work, rel=1e-4)


@STEPS
def test_damping_takes_energy(step: Step) -> None:
    case = make_case(*TREES[0], dissipation=True)
    model = replace(case.model, link_table=replace(case.model.link_table, gravity=np.zeros(3)))
    d, rest = Dynamics(model), np.zeros(model.nv)
    energies = [d.kinetic_energy(*state) for state in fly(step, d, case.q, case.v, rest, 0.1, 50)]
    assert (np.diff(energies) < 0.0).all()


@STEPS
def test_refusals(step: Step, weightless: Dynamics) -> None:
    q, zero = weightless.model.neutral(), np.zeros(12)
    with refused(NotFiniteError, 'v', indices=(0,)):
        step(weightless, q, np.full(12, np.nan), 1e-3, zero)
    for dt in (0.0, -1e-3, np.nan, np.inf, 'a'):
        with refused(LiedynError, 'dt'):
            step(weightless, q, zero, dt, zero)


def test_verlet_refuses_a_step_that_is_too_long(weightless: Dynamics) -> None:
    with refused(ConvergenceError, 'step'):
        VERLET(weightless, weightless.model.neutral(), 5.0 * SPIN, 1, np.zeros(12))
