# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Loops that share no branch of the tree: solved apart, judged together.

Witnesses are the dense matrices of the whole machine, and each machine alone.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
import scipy.linalg
from support.machines.loop_states import assembled
from support.machines.looped_machines import (
    bennett, five_bar, four_bar, Looped, planar_linkage, random_looped, side_by_side)

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, ConstraintStatus, project)
from liedyn_ros.dynamics.constrained.kernels.tables import MACHINE, WORKSPACE
from liedyn_ros.model import Model

ORDER = 2


def four_bar_at(angle: float, closure: str = 'revolute') -> Looped:
    """Return a four-bar, its crank at an angle."""
    model = planar_linkage((0.2, 0.5), (0.4,), 0.45, ('left_0',), closure)
    return Looped(model, assemble(ConstrainedDynamics(model), held={'left_0_joint': angle}))


def parallelogram_at(angle: float) -> Looped:
    """Return a parallel crank: flat, at an angle of zero, it is singular."""
    model = planar_linkage((0.3, 0.5), (0.3,), 0.5, ('left_0',))
    return Looped(model, np.array([angle, -angle, angle]))


def spatial() -> Looped:
    """Return a chain with two loops, none of whose rows is redundant."""
    return random_looped(20, ('spherical', 'point_on_plane'), joints=10)


def driven_thrice() -> Looped:
    """Return a five-bar with one actuator more than it needs."""
    return assembled(five_bar('left_0', 'right_0', 'left_1'))


def floating() -> Looped:
    """Return a floating chain with a loop."""
    return random_looped(22, ('revolute',), 8, floating=True)


def parts() -> list[Looped]:
    """Return redundant, spatial, floating machines and one with more actuators than needed."""
    return [four_bar_at(0.9), bennett(), spatial(), driven_thrice(), floating()]


def geared() -> Looped:
    """Return four linkages of which a gear joins two, through another loop each."""
    return side_by_side([four_bar_at(0.9), four_bar_at(1.2), driven_thrice(), four_bar_at(0.6)],
                        ('0_left_0_joint', '3_left_0_joint', -2.0))


class State(NamedTuple):
    """A machine, a state and joint forces to an order."""

    dynamics: ConstrainedDynamics
    q: Array
    v: Array
    tau: Array


def moving(looped: Looped) -> State:
    """Return a machine in motion, forces where the model has actuators."""
    dynamics, rng = ConstrainedDynamics(looped.model), np.random.default_rng(3)
    q, v = project(dynamics, looped.q, rng.normal(size=looped.model.nv))
    tau = rng.normal(size=(ORDER + 1, looped.model.nv)) * looped.model.actuated
    return State(dynamics, q, v, tau)


def groups_of(dynamics: ConstrainedDynamics) -> list[int]:
    """Return the group of each coordinate."""
    machine = WORKSPACE.array(dynamics.data.workspace, 'machine')
    return [int(g) for g in MACHINE.array(machine, 'group')]


def places(whole: Model, part: Model, p: int) -> Array:
    """Return where the coordinates of machine p are."""
    return np.concatenate([np.arange(whole.nv)[whole.joint(f'{p}_{joint.name}').v_slice]
                           for joint in part.joint_list])


def alone(state: State, part: Looped, p: int) -> tuple[State, Array]:
    """Return machine p of several in its own state, and where its coordinates are."""
    whole, model = state.dynamics.model, side_by_side([part]).model
    at, q = places(whole, part.model, p), model.neutral()
    for joint in part.model.joint_list:
        q[model.joint(f'0_{joint.name}').q_slice] = state.q[
            whole.joint(f'{p}_{joint.name}').q_slice]
    return State(ConstrainedDynamics(model), q, state.v[at], state.tau[:, at]), at


def rows_of(dynamics: ConstrainedDynamics, p: int) -> Array:
    """Return where the constraints of machine p are."""
    return np.flatnonzero([name.startswith(f'{p}_') for name in dynamics.constraint_names])


def bias(state: State) -> Array:
    """Return A' v, by a difference."""
    model, step = state.dynamics.model, 1e-5
    ahead, behind = (state.dynamics.jacobian(model.integrate(state.q, h * state.v)) @ state.v
                     for h in (step, -step))
    return np.asarray((ahead - behind) / (2.0 * step))


def whitened(state: State) -> Array:
    """Return A M^-1/2."""
    mass = state.dynamics.tree.mass_matrix(state.q)
    return scipy.linalg.solve_triangular(
        np.linalg.cholesky(mass), state.dynamics.jacobian(state.q).T, lower=True).T


@pytest.mark.parametrize('build, count', [
    (lambda: side_by_side(parts()), 5), (geared, 3), (floating, 1), (lambda: four_bar_at(0.9), 1)],
    ids=['five', 'geared', 'floating', 'four bar'])
def test_the_solution_is_that_of_dense_matrices(build: Callable[[], Looped], count: int) -> None:
    state = moving(build())
    dynamics, q, v, tau = state
    assert len(set(groups_of(dynamics))) == count
    found = dynamics.forward(q, v, tau[0])
    mass, jacobian = dynamics.tree.mass_matrix(q), dynamics.jacobian(q)
    free = dynamics.tree.forward(q, v, tau[0])
    response = np.linalg.solve(mass, jacobian.T)
    multipliers = -np.linalg.pinv(jacobian @ response, rcond=1e-12, hermitian=True) @ (
        jacobian @ free + bias(state))
    reach = scipy.linalg.orth(jacobian, 1e-9)
    multipliers = reach @ (reach.T @ multipliers)  # those of least norm
    a = free + response @ multipliers
    assert np.abs(found.a - a).max() < 1e-6 * (1.0 + np.abs(a).max())
    assert np.abs(found.multipliers - multipliers).max() < 1e-6 * (1.0 + np.abs(multipliers).max())
    assert found.rank == np.linalg.matrix_rank(whitened(state), tol=1e-8)


def test_machines_side_by_side_are_each_alone() -> None:
    machines = parts()
    state = moving(side_by_side(machines))
    forward = state.dynamics.forward(state.q, state.v, state.tau)
    for redundancy in ('least_torque', 'least_force'):
        solve = partial(state.dynamics.inverse, redundancy=redundancy)
        inverse = solve(state.q, state.v, forward.a)
        rank = 0
        for p, part in enumerate(machines):
            (single, q, v, tau), at = alone(state, part, p)
            rows = rows_of(state.dynamics, p)
            own = single.forward(q, v, tau)
            again = single.inverse(q, v, own.a, redundancy=redundancy)
            rank += own.rank
            for got, wanted in (
                    (forward.a[:, at], own.a), (forward.multipliers[:, rows], own.multipliers),
                    (inverse.tau[:, at], again.tau),
                    (inverse.multipliers[:, rows], again.multipliers)):
                assert np.abs(got - wanted).max() < 1e-8 * (1.0 + np.abs(wanted).max())
        assert forward.rank == rank
        assert forward.status == inverse.status == ConstraintStatus.REDUNDANT


def test_actuators_of_one_machine_tell_of_all() -> None:
    machines = [four_bar_at(0.9), driven_thrice(), four_bar_at(1.4)]
    state = moving(side_by_side(machines))
    a = state.dynamics.forward(state.q, state.v, state.tau[0]).a
    numbers = [single.inverse(q, v, a[at]).actuation_inverse_condition_number
               for (single, q, v, _), at in (
                   alone(state, part, p) for p, part in enumerate(machines))]
    found = state.dynamics.inverse(state.q, state.v, a)
    assert found.actuation_inverse_condition_number == pytest.approx(min(numbers), rel=1e-12)


def test_conditioning_is_judged_over_all_groups() -> None:
    # The scales of rows, which tell nothing of the rank, are those of the machine.
    state = moving(side_by_side([parallelogram_at(1.0), parallelogram_at(1e-3)]))
    found = state.dynamics.forward(state.q, state.v, state.tau[0])
    assert found.rank == np.linalg.matrix_rank(whitened(state), tol=1e-8) == 4
    (single, q, v, tau), _ = alone(state, parallelogram_at(1e-3), 1)
    assert found.inverse_condition_number == pytest.approx(
        single.forward(q, v, tau[0]).inverse_condition_number, rel=0.5)


def test_one_singular_loop_is_singular_among_others() -> None:
    machines = [four_bar_at(0.9), parallelogram_at(0.0), four_bar_at(1.2)]
    model, q = side_by_side(machines)
    dynamics, still = ConstrainedDynamics(model), np.zeros(model.nv)
    found = dynamics.forward(q, still, np.zeros(model.nv))
    assert found.status == ConstraintStatus.SINGULAR
    assert found.rank == dynamics.mobility.rank - 1 == 5


def test_an_inconsistent_loop_is_told_among_others() -> None:
    machines = [four_bar_at(0.9), four_bar_at(1.2)]
    state = moving(side_by_side(machines))
    prescribed = np.zeros(state.dynamics.model.nv, dtype=bool)
    at = places(state.dynamics.model, four_bar(), 1)
    prescribed[at[:2]] = True
    assert state.dynamics.hybrid(
        state.q, state.v, prescribed, np.ones(6),
        np.zeros(6)).status == ConstraintStatus.INCONSISTENT


def test_a_batch_is_its_states() -> None:
    state = moving(geared())
    many = [np.array([x, x]) for x in (state.q, state.v, state.tau)]
    single = state.dynamics.forward(state.q, state.v, state.tau)
    found = state.dynamics.forward.batch(*many)
    np.testing.assert_array_equal(found.a, [single.a, single.a])
    np.testing.assert_array_equal(found.multipliers, [single.multipliers, single.multipliers])
