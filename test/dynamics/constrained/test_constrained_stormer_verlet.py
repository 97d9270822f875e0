# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Integrators of closed loops: order, symmetry, constraints and energy."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import bennett, four_bar, random_looped
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LiedynError, LimitError
from liedyn_ros.dynamics import stormer_verlet
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, constrained_stormer_verlet, ConstrainedDynamics, project,
    projected_runge_kutta)
from liedyn_ros.model import Model

STEP = constrained_stormer_verlet.step


def spatial() -> tuple[Model, Array]:
    """Return a machine of two loops with revolute and spherical joints, and a configuration."""
    looped = random_looped(70, ('spherical', 'point_on_plane'), 8, ('revolute', 'spherical'))
    return looped.model, looped.q


def floating() -> tuple[Model, Array]:
    """Return a loop of bodies that floats, without gravity."""
    looped = random_looped(71, ('spherical',), 8, ('revolute',), floating=True)
    table = replace(looped.model.link_table, gravity=np.zeros(3))
    return replace(looped.model, link_table=table), looped.q


def redundant() -> tuple[Model, Array]:
    """Return Bennett's linkage, with a configuration."""
    looped = bennett()
    return looped.model, looped.q


MACHINES = {'four bar': lambda: (four_bar(), None), 'spatial': spatial, 'bennett': redundant}


def start(name: str, speed: float = 1.0) -> tuple[ConstrainedDynamics, Array, Array]:
    """Return a machine without dissipation in motion."""
    model, q = MACHINES[name]()
    machine = ConstrainedDynamics(model, dissipation=False)
    if q is None:
        q = assemble(machine)
        return machine, q, complete_velocity(machine, q, [9.0, 0.0, 0.0])
    rng = np.random.default_rng(1)
    return machine, *project(machine, q, speed * rng.normal(size=model.nv))


def run(machine: ConstrainedDynamics, q: Array, v: Array, dt: float, count: int
        ) -> tuple[Array, Array]:
    """Return the state after some steps without joint forces."""
    for _ in range(count):
        q, v = STEP(machine, q, v, dt, np.zeros_like(v))
    return q, v


@pytest.mark.parametrize('name', MACHINES)
def test_a_step_keeps_the_constraints(name: str) -> None:
    machine, q, v = start(name)
    q, v = run(machine, q, v, 2e-3, 20)
    assert machine.largest(machine.residual(q)) < 1e-12
    assert np.abs(machine.jacobian(q) @ v).max() < 1e-11 * np.abs(v).max()


@pytest.mark.parametrize('name', MACHINES)
def test_the_order_is_two(name: str) -> None:
    machine, q0, v0 = start(name)
    q, v = q0, v0
    for _ in range(64):
        q, v = projected_runge_kutta.step(machine, q, v, 0.04 / 64, np.zeros_like(v))
    ends = [run(machine, q0, v0, 0.04 / count, count) for count in (8, 16)]
    errors = [np.abs(machine.model.difference(q, each)).max() for each, _ in ends]
    speeds = [np.abs(each - v).max() for _, each in ends]
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert 3.5 < speeds[0] / speeds[1] < 4.5


@pytest.mark.parametrize('name', MACHINES)
def test_a_motion_backwards_leads_to_where_it_came_from(name: str) -> None:
    machine, q0, v0 = start(name)
    q, v = run(machine, q0, v0, 2e-3, 20)
    q, v = run(machine, q, -v, 2e-3, 20)
    assert_same(machine.model.difference(q0, q), np.zeros_like(v), 1e-9, floor=1.0)
    assert_same(-v, v0, 1e-8)


def test_a_tree_takes_the_step_of_trees() -> None:
    machine, q, v = start('spatial')
    free = ConstrainedDynamics(replace(machine.model, closures=()), dissipation=False)
    got = STEP(free, q, v, 2e-3, np.zeros_like(v))
    wanted = stormer_verlet.step(free.tree, q, v, 2e-3, np.zeros_like(v))
    assert_same(got[0], wanted[0], 1e-13)
    assert_same(got[1], wanted[1], 1e-12)


def drift(step: Callable[..., tuple[Array, Array]], count: int) -> float:
    """
    Return by how much the energy of a fast four-bar rises, J/s, over steps of 5 ms.

    It is the difference of two means in smooth windows, as the energy swings by 0.1 J. Windows
    with edges would add what a swing cut in two leaves.
    """
    machine = ConstrainedDynamics(four_bar(), dissipation=False)
    q = assemble(machine)
    v, energies = complete_velocity(machine, q, [25.0, 0.0, 0.0]), []
    for _ in range(count):
        q, v = step(machine, q, v, 5e-3, np.zeros(3))
        energies.append(machine.tree.kinetic_energy(q, v) + machine.tree.potential_energy(q))
    window = np.hanning(count // 2)
    halves = np.reshape(energies, (2, count // 2)) @ window / window.sum()
    return float(halves[1] - halves[0]) / (5e-3 * (count // 2))


@pytest.mark.full
def test_energy_does_not_drift() -> None:
    assert abs(drift(STEP, 2000)) < 1e-6  # of 17 J; over 30 s, where swings average out, 2.5e-9
    assert drift(projected_runge_kutta.step, 600) < -1e-3


def test_the_momentum_of_a_floating_loop_is_kept() -> None:
    model, q = floating()
    machine, rng = ConstrainedDynamics(model, dissipation=False), np.random.default_rng(3)
    q, v = project(machine, q, rng.normal(size=model.nv))
    before = machine.tree.centroidal_momentum(q, v)
    q, v = run(machine, q, v, 5e-3, 100)
    assert_same(machine.tree.centroidal_momentum(q, v), before, 1e-10)


def test_what_cannot_be_stepped_is_refused() -> None:
    machine, q, v = start('four bar')
    with refused(LimitError, 'dt'):
        STEP(machine, q, v, -1e-3, np.zeros(3))
    with refused(LiedynError, 'tip/force_x', 'tip/force_y'):
        STEP(machine, q + 0.1, v, 1e-3, np.zeros(3))
    with refused(ConvergenceError, 'step'):
        STEP(machine, q, v, 1.0, np.zeros(3))


def energy(dynamics, q, v):
    """Return the energy of a state."""
    return dynamics.tree.kinetic_energy(q, v) + dynamics.tree.potential_energy(q)


def test_a_four_bar_swings_on_its_constraints() -> None:
    model = four_bar()
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q = assemble(dynamics)
    v = complete_velocity(dynamics, q, [9.0, 0.0, 0.0])
    start = energy(dynamics, q, v)
    for _ in range(1000):
        q, v = projected_runge_kutta.step(dynamics, q, v, 1e-3, np.zeros(3))
        assert np.abs(dynamics.residual(q)).max() < 1e-10
        assert np.abs(dynamics.jacobian(q) @ v).max() < 1e-10
    assert energy(dynamics, q, v) == pytest.approx(start, rel=1e-7)


def test_the_order_is_four() -> None:
    looped = random_looped(70, ('spherical', 'point_on_plane'), 8, ('revolute', 'spherical'))
    dynamics, rng = ConstrainedDynamics(looped.model, dissipation=False), np.random.default_rng(1)
    start = project(dynamics, looped.q, 0.5 * rng.normal(size=looped.model.nv))
    ends = []
    for count in (8, 16, 64):
        q, v = start
        for _ in range(count):
            q, v = projected_runge_kutta.step(dynamics, q, v, 0.08 / count, np.zeros_like(v))
        ends.append((q, v))
    errors = [np.abs(looped.model.difference(ends[2][0], q)).max() for q, _ in ends[:2]]
    assert errors[0] / errors[1] > 11.0
    assert errors[1] > 1e-13


@pytest.mark.parametrize('rate, dt', [(1.0, 1e-3), (3.0, 5e-4), (3.0, 2e-3)])
def test_a_machine_redundant_by_geometry_keeps_its_energy(rate: float, dt: float) -> None:
    looped = bennett()  # of rank 2 on the loop, of rank 3 beside it
    dynamics = ConstrainedDynamics(looped.model, dissipation=False)
    q = assemble(dynamics, looped.q)
    v = complete_velocity(dynamics, q, [rate, 0.0, 0.0])
    start = energy(dynamics, q, v)
    for _ in range(200):
        q, v = projected_runge_kutta.step(dynamics, q, v, dt, np.zeros(3))
    assert energy(dynamics, q, v) == pytest.approx(start, rel=1e-8)


def test_a_machine_redundant_by_geometry_starts_beside_its_loop() -> None:
    looped = bennett()
    dynamics = ConstrainedDynamics(looped.model, dissipation=False)
    q = assemble(dynamics, looped.q)
    v = complete_velocity(dynamics, q, [1.0, 0.0, 0.0])
    beside = q + np.array([3e-7, -2e-7, 1e-7])
    for found, wanted in zip(*(projected_runge_kutta.step(dynamics, each, v, 1e-3, np.zeros(3))
                               for each in (beside, q))):
        assert np.abs(found - wanted).max() < 1e-5


def test_a_step_backwards_is_refused() -> None:
    dynamics = ConstrainedDynamics(four_bar())
    q = assemble(dynamics)
    with pytest.raises(LimitError):
        projected_runge_kutta.step(dynamics, q, np.zeros(3), -1e-3, np.zeros(3))
