# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rank is that of the mobility: off the loops, and where rest is a dead centre."""

from collections.abc import Callable

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import bennett, four_bar, planar_linkage

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, ConstraintStatus, projected_runge_kutta)
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia

NONE = np.zeros(3)  # torques


@pytest.fixture
def linkage() -> ConstrainedDynamics:
    """Return Bennett's linkage, which is redundant by its geometry alone: rank 2 of 5."""
    return ConstrainedDynamics(bennett().model)


def moving(machine: ConstrainedDynamics, speed: float) -> tuple[Array, Array]:
    """Return a closed configuration, and the velocity at which the first hinge has a speed."""
    q, known = assemble(machine), np.arange(machine.model.nv) == 0
    return q, complete_velocity(machine, q, np.where(known, speed, 0.0), known)


@pytest.mark.parametrize('off', np.geomspace(1e-10, 1e-3, 8))
def test_forward_dynamics_changes_as_little_as_the_state(
        linkage: ConstrainedDynamics, off: float) -> None:
    q, v = moving(linkage, 1.0)
    wanted = linkage.forward(q, v, NONE)
    found = linkage.forward(q + off, v, NONE, closed=False)
    assert found.rank == wanted.rank == linkage.mobility.rank == 2
    assert_same(found.a, wanted.a, 10.0 * off + 1e-12)


@pytest.mark.parametrize('off', np.geomspace(1e-10, 1e-7, 4))
def test_a_state_that_counts_as_closed_has_the_rank_of_the_loop(
        linkage: ConstrainedDynamics, off: float) -> None:
    q, v = moving(linkage, 1.0)
    wanted, found = linkage.forward(q, v, NONE), linkage.forward(q + off, v, NONE)
    assert found.status is ConstraintStatus.REDUNDANT
    assert_same(found.a, wanted.a, 1e-5)
    batch = linkage.forward.batch(np.stack([q, q + off]), np.stack([v, v]), np.zeros((2, 3)))
    assert batch.rank.tolist() == [2, 2]
    assert_same(batch.a[1], found.a, 1e-12)
    torques = [linkage.inverse(each, v, found.a).tau for each in (q, q + off)]
    assert_same(*torques, 1e-5, floor=1.0)


@pytest.mark.parametrize(('speed', 'dt', 'steps'), [(1.0, 1e-3, 200), (3.0, 5e-4, 400)])
def test_steps_keep_the_energy(
        linkage: ConstrainedDynamics, speed: float, dt: float, steps: int) -> None:
    def energy(q: Array, v: Array) -> float:
        return linkage.tree.kinetic_energy(q, v) + linkage.tree.potential_energy(q)

    q, v = moving(linkage, speed)
    before = energy(q, v)
    for _ in range(steps):
        q, v = projected_runge_kutta.step(linkage, q, v, dt, NONE)
    assert abs(energy(q, v) - before) < 1e-8


def cranks(zero: float) -> Model:
    """Return three equal parallel cranks on a rod, at this angle where q is zero."""
    builder, inertia = ModelBuilder('cranks'), SpatialInertia(1.0, [0.1, 0, 0], 0.01 * np.eye(3))
    for i in range(3):
        builder.add_body(f'crank_{i}', inertia)
        builder.add_joint(f'pivot_{i}', 'revolute', None, f'crank_{i}', axis=[0.0, 0.0, 1.0],
                          placement=pose([0.5 * i, 0.0, 0.0], [0.0, 0.0, zero]), actuated=i == 0)
    builder.add_body('rod', inertia)
    builder.add_joint('pin_0', 'revolute', 'crank_0', 'rod', axis=[0.0, 0.0, 1.0], actuated=False,
                      placement=pose([0.2, 0.0, 0.0], [0.0, 0.0, -zero]))
    for i in (1, 2):
        builder.add_closure(f'pin_{i}', 'revolute', f'crank_{i}', 'rod',
                            placement_a=pose([0.2, 0.0, 0.0]),
                            placement_b=pose([0.5 * i, 0.0, 0.0]))
    return builder.build()


@pytest.mark.parametrize('zero', [0.0, 0.7, np.pi])
def test_parallel_cranks_move_wherever_their_zero_is(zero: float) -> None:
    machine = ConstrainedDynamics(cranks(zero))
    assert (machine.mobility.degrees_of_freedom, machine.mobility.rank) == (1, 3)
    turned = 0.7 - zero
    q = np.array([{'pin_0': -turned}.get(name, turned) for name in machine.model.joints])
    tau = np.array([float(name == 'pivot_0') for name in machine.model.joints])
    found = machine.forward(q, np.zeros(4), tau)
    assert (found.rank, found.status) == (3, ConstraintStatus.REDUNDANT)
    # J = 3 (I + m c^2) + m l^2 of three cranks and a rod that does not turn.
    wanted = 1.0 / (3.0 * (0.01 + 0.1**2) + 0.2**2)
    assert_same(np.abs(found.a), np.full(4, wanted), 1e-12)
    by_tau = machine.forward.partial_derivatives(q, np.zeros(4), tau).by_tau
    assert_same(by_tau @ tau, found.a, 1e-12)


@pytest.mark.parametrize('make', [lambda: bennett().model, four_bar])
def test_a_motion_that_is_given_whole_is_not_near_singular(make: Callable[[], Model]) -> None:
    machine = ConstrainedDynamics(make())
    q, v = moving(machine, 1.0)
    a = machine.forward(q, v, NONE).a
    found = machine.hybrid(q, v, np.ones(3, dtype=np.bool_), a, NONE)
    assert found.status is ConstraintStatus.REDUNDANT
    assert_same(found.a, a, 1e-12)


@pytest.mark.parametrize('closure', ['spherical', 'revolute', 'weld'])
def test_a_machine_that_cannot_close_has_forward_dynamics_off_its_loop(closure: str) -> None:
    model = planar_linkage((0.2, 0.3), (0.2,), 5.0, ('left_0',), closure)
    machine, rng = ConstrainedDynamics(model), np.random.default_rng(3)
    q, tau, rest = rng.normal(size=3), rng.normal(size=3), np.zeros(3)
    found = machine.forward(q, rest, tau, closed=False)
    closed = model.closures[0]
    at = machine.frames.pose(q, 'right_0') @ closed.frame_b
    there = np.linalg.inv(machine.frames.pose(q, 'left_1')) @ at
    with_frames = Dynamics(model.with_frame('on_a', 'left_1', there).with_frame(
        'on_b', 'right_0', closed.frame_b))
    rows = with_frames.frames.jacobian(q, 'on_b') - with_frames.frames.jacobian(q, 'on_a')
    rows = rows[[2, 3, 4][closure != 'weld':]]  # those of the plane
    mass, bias = with_frames.mass_matrix(q), with_frames.bias(q, rest)
    matrix = np.block([[mass, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    wanted = np.linalg.solve(matrix, np.concatenate([tau - bias, np.zeros(len(rows))]))[:3]
    assert_same(found.a, wanted, 1e-9)
    varied = machine.forward.partial_derivatives(q, rest, tau, closed=False)
    for k, dq in enumerate(np.eye(3)):
        apart = [machine.forward(q + h * dq, rest, tau, closed=False).a for h in (1e-6, -1e-6)]
        assert_same(varied.by_q[:, k], (apart[0] - apart[1]) / 2e-6, 1e-5,
                    floor=np.abs(varied.by_q).max())
