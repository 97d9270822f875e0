# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Springs and armatures in closed loops, beside the same machine under other forces, and energy.

The machines of support/machines/loop_states.py include one with springs, so that the complex steps
of partial_derivatives meet them too.
"""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.loop_states import ALL
from support.machines.looped_machines import bar, four_bar
from support.machines.model_variants import spring_series, sprung

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, constrained_stormer_verlet, ConstrainedDynamics, LEAST_FORCE,
    project, projected_runge_kutta)
from liedyn_ros.model import load_yaml, ModelBuilder, pose

ORDER = 4


@pytest.mark.parametrize('name', ALL)
def test_all_orders_are_those_of_the_machine_without_them(name: str) -> None:
    looped, rng = ALL[name], np.random.default_rng(7)
    model = sprung(looped.model, 7)
    loaded = ConstrainedDynamics(model)
    plain = ConstrainedDynamics(sprung(looped.model, 7, 0.0, 0.0))
    q, v = project(loaded, looped.q, rng.normal(size=model.nv))
    tau = rng.normal(size=(ORDER + 1, model.nv))
    found = loaded.forward(q, v, tau)
    held = spring_series(model, q, np.vstack([v, found.a[:ORDER - 1]]))
    held = held + model.link_table.armature * found.a
    other = plain.forward(q, v, tau - held)
    assert_same(other.a, found.a, 1e-5)
    assert_same(other.wrenches, found.wrenches, 1e-5)
    driven = np.ones(model.nv, dtype=bool)
    for options in ({}, {'redundancy': LEAST_FORCE}):
        need = loaded.inverse(q, v, found.a, actuated=driven, **options)
        motion = loaded.hybrid(q, v, driven, found.a, tau)
        assert_same(need.a, found.a)
        assert_same(motion.a, found.a)
        given = loaded.forward(q, v, need.tau)
        assert_same(given.a, found.a, 1e-5)
    one = loaded.forward(q, v, tau[0])
    assert_same(loaded.forward.batch(np.tile(q, (3, 1)), np.tile(v, (3, 1)),
                                     np.tile(tau[0], (3, 1))).a[1], one.a)


@pytest.mark.parametrize('step, order', [
    (projected_runge_kutta.step, 4), (constrained_stormer_verlet.step, 2)])
def test_integrators_keep_the_energy_to_their_order(step, order: int) -> None:
    machine = ConstrainedDynamics(sprung(four_bar(), 3, 20.0, 0.1), dissipation=False)

    def drift(count: int) -> float:
        q = assemble(machine)
        v, energies = complete_velocity(machine, q, [4.0, 0.0, 0.0]), []
        for _ in range(count):
            energies.append(machine.tree.kinetic_energy(q, v) + machine.tree.potential_energy(q))
            q, v = step(machine, q, v, 0.2 / count, np.zeros(3))
        return float(np.ptp(energies) / np.abs(energies[0]))

    coarse, fine = drift(100), drift(200)
    assert coarse / fine == pytest.approx(2.0**order, rel=0.1)
    assert fine < 1e-3


def test_power_is_the_rate_of_energy() -> None:
    looped, rng = ALL['two loops'], np.random.default_rng(5)
    model = sprung(looped.model, 5)
    machine = ConstrainedDynamics(model, dissipation=False)
    q, v = project(machine, looped.q, rng.normal(size=model.nv))
    tau = rng.normal(size=model.nv)
    a, h = machine.forward(q, v, tau).a, 1e-5

    def energy(t: float) -> float:
        there, rate = model.integrate(q, t * v + 0.5 * t * t * a), v + t * a
        return machine.tree.kinetic_energy(there, rate) + machine.tree.potential_energy(there)

    rate = (energy(h) - energy(-h)) / (2.0 * h)
    assert rate == pytest.approx(tau @ v, abs=1e-6 * (1.0 + machine.tree.kinetic_energy(q, v)))


def test_gravity_is_what_actuated_joints_bear_of_the_weight() -> None:
    machine = ConstrainedDynamics(sprung(load_yaml(config_file('four_bar.yaml')), 3))
    q, passive = assemble(machine), ~machine.model.actuated
    v = complete_velocity(machine, q, [1.0, 0.0, 0.0])
    borne = machine.gravity_vector(q)
    assert machine.tree.spring_forces(q)[passive].all()
    assert_same(borne[passive], 0.0)
    assert_same(borne @ v, machine.tree.gravity_vector(q) @ v)
    assert_same(machine.gravity_vector_batch([q, q]), [borne, borne])


def test_an_armature_makes_a_massless_rod_regular() -> None:
    builder = ModelBuilder('linkage', gravity=(0.0, -9.81, 0.0))
    for name, parent, at, inertia in (('crank', None, 0.0, bar(1.0, 0.2)),
                                      ('rod', 'crank', 0.2, None), ('rocker', None, 0.45, None)):
        builder.add_body(name, inertia)
        builder.add_joint(f'{name}_joint', 'revolute', parent, name, axis=[0.0, 0.0, 1.0],
                          placement=pose([at, 0.0, 0.0]), armature=0.02,
                          actuated=name == 'crank')
    builder.add_closure('tip', 'revolute', 'rod', 'rocker', placement_a=pose([0.5, 0.0, 0.0]),
                        placement_b=pose([0.4, 0.0, 0.0]))
    machine = ConstrainedDynamics(builder.build())
    assert len(machine.data.typical_inertia) == 0
    q = assemble(machine)
    rest = np.zeros(3)
    moves = complete_velocity(machine, q, [1.0, 0.0, 0.0])
    inertia = moves @ machine.tree.mass_matrix(q) @ moves
    found = machine.forward(q, rest, [1.0, 0.0, 0.0])
    weight = machine.tree.gravity_vector(q) @ moves
    assert_same(found.a, moves * (1.0 - weight) / inertia, 1e-8)
    need = machine.inverse(q, rest, found.a)
    assert need.tau[0] == pytest.approx(1.0)
