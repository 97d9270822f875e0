# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulation of closed loops: the constraints hold, energy is kept, the order is four."""

import numpy as np
import pytest
from support.machines.looped_machines import bennett, four_bar, random_looped

from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, project, projected_runge_kutta)


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
