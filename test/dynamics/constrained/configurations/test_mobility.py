# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The rank of constraints is one of geometry: masses and units do not change it."""

from functools import cache

from hypothesis import given, settings, strategies as st
from mpmath import mp
import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import (
    bennett, five_bar, four_bar, Looped, random_looped, remade)

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, ConstraintStatus, mobility,
    projected_runge_kutta)
from liedyn_ros.dynamics.constrained.constraints.rank import equilibrated
from liedyn_ros.model import CLOSURE_TYPES, load_model

GALLERY = ('delta', 'excavator', 'gripper', 'quick_return', 'scissor_lift')


MADE = {'bennett': lambda: bennett().model, 'four_bar': four_bar, 'five_bar': five_bar}
MACHINES = (*MADE, *GALLERY)


@cache
def machine(name: str) -> Looped:
    """Return a machine with closures: planar, redundant by geometry, or of the gallery."""
    model = MADE[name]() if name in MADE else load_model(config_file(f'gallery/{name}.yaml'))
    return Looped(model, assemble(ConstrainedDynamics(model)))


@cache
def dynamics_of(name: str) -> ConstrainedDynamics:
    """Return the dynamics of a machine."""
    return ConstrainedDynamics(machine(name).model)


def by_singular_values(dynamics: ConstrainedDynamics, q: Array) -> int:
    """Return the rank of A as it is, in m and rad: that of no tolerance on machines of a metre."""
    values = np.linalg.svd(dynamics.jacobian(q), compute_uv=False)
    return int((values > 1e-9 * values[0]).sum())


@pytest.mark.parametrize('name', MACHINES)
def test_the_rank_is_that_of_singular_values(name: str) -> None:
    dynamics = ConstrainedDynamics(machine(name).model)
    rank = by_singular_values(dynamics, machine(name).q)
    assert dynamics.mobility.rank == rank == mobility(dynamics, machine(name).q).rank
    assert dynamics.mobility.degrees_of_freedom == dynamics.model.nv - rank


@pytest.mark.parametrize('kind', CLOSURE_TYPES)
def test_closures_of_every_kind(kind: str) -> None:
    looped = random_looped(3, (kind, kind), 8)
    dynamics = ConstrainedDynamics(looped.model)
    assert mobility(dynamics, looped.q).rank == by_singular_values(dynamics, looped.q)


@pytest.mark.parametrize('name', MACHINES)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_masses_over_nine_decades_change_no_rank(name: str, seed: int) -> None:
    looped = machine(name)
    factors = 10.0**np.random.default_rng(seed).uniform(-6.0, 3.0, len(looped.model.bodies))
    here, rest = dynamics_of(name), np.zeros(looped.model.nv)
    other = ConstrainedDynamics(remade(looped, factors).model)
    assert other.mobility.rank == here.mobility.rank
    assert other.mobility.degrees_of_freedom == here.mobility.degrees_of_freedom
    for closed in (True, False):
        assert other.forward(looped.q, rest, rest, closed=closed).rank == here.mobility.rank


@pytest.mark.parametrize('name', ['excavator', 'quick_return', 'delta'])
@pytest.mark.parametrize('unit', [1e-3, 1e3])
def test_units_change_no_pivot(name: str, unit: float) -> None:
    looped = machine(name)
    every = np.ones(looped.model.nv, dtype=np.bool_)
    other = remade(looped, unit=unit)
    assert_same(equilibrated(ConstrainedDynamics(other.model), other.q, every),
                equilibrated(ConstrainedDynamics(looped.model), looped.q, every), 1e-9)


@pytest.mark.parametrize('name', ['delta', 'bennett', 'five_bar'])
@pytest.mark.parametrize('light', [1e-3, 1e-6, 1e-9])
def test_accelerations_beside_a_light_rod_are_those_of_forty_digits(
        name: str, light: float) -> None:
    looped = machine(name)
    factors = np.ones(len(looped.model.bodies))
    factors[-1] = light
    dynamics = ConstrainedDynamics(remade(looped, factors).model, dissipation=False)
    rng, model = np.random.default_rng(4), looped.model
    known = model.actuated
    v = complete_velocity(dynamics, looped.q, np.where(known, rng.normal(size=model.nv), 0.0))
    tau = np.where(known, rng.normal(size=model.nv), 0.0)
    for closed in (True, False):
        found = dynamics.forward(looped.q, v, tau, closed=closed)
        assert_same(found.a, in_forty_digits(dynamics, looped.q, v, tau), 1e-6)
        assert found.status is not ConstraintStatus.NEAR_SINGULAR  # A is not
    several = dynamics.forward.batch(looped.q[None], v[None], tau[None])
    assert several.status[0] is dynamics.forward(looped.q, v, tau).status


def in_forty_digits(dynamics: ConstrainedDynamics, q: Array, v: Array, tau: Array) -> Array:
    """Return the accelerations of M a + b = tau + A^T lam, A a = -gamma with independent rows."""
    nv, rows = dynamics.model.nv, dynamics.jacobian(q)
    kept: list[int] = []
    for r in range(len(rows)):  # by hand: those that raise the rank of the rows before
        if np.linalg.matrix_rank(rows[[*kept, r]], 1e-9) > len(kept):
            kept.append(r)
    bias, step = dynamics.tree.bias(q, v), 1e-4
    ahead, behind = (dynamics.jacobian(dynamics.model.integrate(q, s * step * v)) @ v
                     for s in (1.0, -1.0))
    gamma = ((ahead - behind) / (2.0 * step))[kept]
    with mp.workdps(40):
        m, a = mp.matrix(dynamics.tree.mass_matrix(q).tolist()), mp.matrix(rows[kept].tolist())
        matrix = mp.zeros(nv + len(kept))
        matrix[:nv, :nv], matrix[:nv, nv:], matrix[nv:, :nv] = m, -a.T, a
        found = mp.lu_solve(matrix, mp.matrix([*(tau - bias).tolist(), *(-gamma).tolist()]))
    return np.array([float(found[i]) for i in range(nv)])


@pytest.mark.parametrize('name', ['bennett', 'five_bar'])
def test_steps_beside_a_light_link_keep_the_energy(name: str) -> None:
    """A stage of a step is off the loops: there the rank of the mobility counts."""
    looped = machine(name)
    factors = np.ones(len(looped.model.bodies))
    factors[-1] = 1e-9
    dynamics = ConstrainedDynamics(remade(looped, factors).model, dissipation=False)
    q, rest = looped.q, np.zeros(looped.model.nv)
    v = complete_velocity(dynamics, q, np.where(looped.model.actuated, 0.5, 0.0))

    def energy() -> float:
        return dynamics.tree.kinetic_energy(q, v) + dynamics.tree.potential_energy(q)

    before = energy()
    for _ in range(50):
        q, v = projected_runge_kutta.step(dynamics, q, v, 1e-3, rest)
    assert abs(energy() - before) < 1e-8
