# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loops in minimal coordinates beside constrained dynamics, differences, energy and a pendulum."""

from contextlib import suppress

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import (
    bennett, five_bar, four_bar, planar_linkage, random_looped)
from support.refusals import ANY, refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LiedynError, ModelError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, backdrive, ConstrainedDynamics, DifferentialKinematics, MinimalCoordinates, project,
    reach, statics, TaskSpace)
from liedyn_ros.dynamics.constrained.kernels.tolerances import STALLED_RESIDUAL
from liedyn_ros.model import Model
from liedyn_ros.stewart import load_geometry, platform_model

MACHINES = {
    'four-bar': four_bar(), 'five-bar': five_bar(), 'bennett': bennett().model,
    'spherical': random_looped(80, ('spherical',), 10).model,
    'floating': random_looped(81, ('rod', 'revolute'), 9, floating=True).model}


def state(model: Model) -> tuple[MinimalCoordinates, Array, Array, Array]:
    """Return minimal coordinates, a closed configuration, rates and forces."""
    dynamics, rng = ConstrainedDynamics(model), np.random.default_rng(5)
    least = MinimalCoordinates(dynamics)
    q = assemble(dynamics, model.integrate(assemble(dynamics), 0.1 * rng.normal(size=model.nv)))
    return least, q, *rng.normal(size=(2, least.model.nv))


@pytest.mark.parametrize('name', MACHINES)
def test_forward_dynamics_is_that_of_all_coordinates(name: str) -> None:
    least, q, v, tau = state(MACHINES[name])
    whole, motions = least.velocity(q, v), least.motions(q)
    assert np.abs(least.dynamics.jacobian(q) @ motions).max() < 1e-8
    assert least.model.nv == least.dynamics.mobility.degrees_of_freedom
    forces = np.zeros(least.dynamics.model.nv)
    known = least.known
    forces[known] = tau
    wanted = least.dynamics.forward(q, whole, forces)
    found = least.forward(q, v, tau)
    assert_same(found, wanted[known], 1e-7)
    _, rate = least.motions_and_rate(q, v)
    assert_same(motions @ found + rate @ v, wanted, 1e-7)
    assert_same(least.inverse(q, v, found), tau, 1e-7, floor=1.0)
    assert_same(least.motions(q).T @ forces, tau, 1e-12)


@pytest.mark.parametrize('call', [
    'motions', 'motions_and_rate', 'velocity', 'mass_matrix', 'bias', 'inverse', 'forward'])
def test_an_open_configuration_is_refused(call: str) -> None:
    least, q, v, tau = state(MACHINES['five-bar'])
    given = {'motions': (), 'mass_matrix': (), 'inverse': (v, tau), 'forward': (v, tau)}
    with refused(LiedynError, ANY, expected=0.0):
        getattr(least, call)(q + [0.01, 0.0, 0.0, 0.0], *given.get(call, (v,)))


@pytest.mark.parametrize('name', MACHINES)
def test_the_rate_of_motions_is_their_derivative(name: str) -> None:
    least, q, v, _ = state(MACHINES[name])
    _, rate = least.motions_and_rate(q, v)
    h = 1e-5
    ahead, behind = (least.motions(least.model.integrate(q, s * v)) for s in (h, -h))
    assert_same(rate, (ahead - behind) / (2.0 * h), 1e-5, floor=1.0)


@pytest.mark.parametrize('name', ['four-bar', 'five-bar', 'spherical'])
def test_power_is_the_rate_of_energy(name: str) -> None:
    model = MACHINES[name]
    least, q, v, tau = state(model)
    plain = MinimalCoordinates(ConstrainedDynamics(model, dissipation=False), least.by)
    a, h = plain.forward(q, v, tau), 1e-5

    def energy(t: float) -> float:
        at, rates = plain.model.integrate(q, t * v + 0.5 * t * t * a), v + t * a
        tree = plain.dynamics.tree
        return tree.kinetic_energy(at, plain.velocity(at, rates)) + tree.potential_energy(at)

    assert tau @ v == pytest.approx((energy(h) - energy(-h)) / (2.0 * h), rel=1e-5, abs=1e-5)


def test_a_parallelogram_is_a_pendulum() -> None:
    model = planar_linkage((0.3, 0.5), (0.3,), 0.5, ('left_0',))
    least, single = MinimalCoordinates(ConstrainedDynamics(model)), Dynamics(model)
    q = np.array([0.4, -0.4, 0.4])
    mass, motions = single.mass_matrix(q), np.array([1.0, -1.0, 1.0])
    assert least.by == ('left_0_joint',)
    assert least.mass_matrix(q)[0, 0] == pytest.approx(motions @ mass @ motions)
    assert least.bias(q, [0.0])[0] == pytest.approx(motions @ single.gravity_vector(q))
    _, rate = least.motions_and_rate(q, [2.0])
    assert np.abs(rate).max() < 1e-9


@pytest.mark.parametrize('step', [1e-3, 0.1, 0.3])
def test_a_displacement_is_that_of_the_coordinates(step: float) -> None:
    least, q, _, _ = state(five_bar())
    moved = least.model.integrate(q, [step, -step])
    known = least.known
    assert_same((moved - q)[known], [step, -step], 1e-9)
    assert np.abs(least.dynamics.residual(moved)).max() < 1e-9


def test_near_a_singularity_a_displacement_is_closed_or_refused() -> None:
    model = platform_model(load_geometry(config_file('stewart_geometry.yaml')))
    least, rng = MinimalCoordinates(ConstrainedDynamics(model)), np.random.default_rng(0)
    q = assemble(least.dynamics)  # where joints turn by hundreds of rad per m of the legs
    known = least.known
    assert np.abs(least.motions(q)).max() > 100.0
    closed = 0
    for size in np.repeat([1e-5, 1e-4, 1e-3], 4):
        dv = size * rng.normal(size=least.model.nv)
        with suppress(ConvergenceError):
            moved = least.model.integrate(q, dv)
            assert_same(model.difference(q, moved)[known], dv, 1e-9)
            assert least.dynamics.largest(least.dynamics.residual(moved)) <= STALLED_RESIDUAL
            closed += 1
    assert closed >= 4  # the short ones


def test_a_displacement_out_of_reach_is_refused() -> None:
    least = MinimalCoordinates(ConstrainedDynamics(planar_linkage(
        (0.3, 0.5), (0.3,), 0.7, ('left_0',))))
    q = assemble(least.dynamics)
    moved = least.model.integrate(q, [1.0 - q[0]])
    assert np.abs(least.dynamics.residual(moved)).max() < 1e-9
    assert moved[0] == pytest.approx(1.0)
    with pytest.raises(ConvergenceError):  # this crank cannot turn round: 1 m is too far
        least.model.integrate(moved, [np.pi - 1.0])


def test_motors_have_the_forces_of_other_coordinates() -> None:
    model = five_bar()
    dynamics = ConstrainedDynamics(model)
    least = MinimalCoordinates(dynamics, ['left_1_joint', 'right_1_joint'])
    q, v = project(dynamics, assemble(dynamics), np.zeros(model.nv))
    tau = np.array([0.4, -0.7])
    motors = least.efforts(q, tau)
    assert not motors[~model.actuated].any()
    assert_same(least.motions(q).T @ motors, tau, 1e-9)
    passive = np.array([0.0, tau[0], 0.0, tau[1]])
    assert_same(dynamics.forward(q, v, motors), dynamics.forward(q, v, passive), 1e-8)
    with pytest.raises(ModelError) as caught:
        least.efforts(q, tau, ['left_0_joint'])
    assert caught.value.got > 0.0


def test_coordinates_that_do_not_decide_are_refused_by_name() -> None:
    dynamics = ConstrainedDynamics(five_bar())
    q = assemble(dynamics)
    with pytest.raises(ModelError) as caught:
        MinimalCoordinates(dynamics, ['left_0_joint']).mass_matrix(q)
    assert 'left_1_joint' in str(caught.value)
    names = ['left_0_joint', 'right_0_joint', 'right_1_joint']
    with pytest.raises(ModelError) as caught:  # of which one follows the others
        MinimalCoordinates(dynamics, names).mass_matrix(q)
    assert list(caught.value.got) == names
    many = MinimalCoordinates(dynamics, names)
    with refused(ModelError, 'known', expected=2, got=many.by) as caught:
        many.model.integrate(q, [0.1, 0.1, 0.1])
    assert '3 coordinates for 2 degrees of freedom' in str(caught.value)
    with pytest.raises(LiedynError):
        MinimalCoordinates(Dynamics(five_bar()))
    with pytest.raises(LiedynError):
        MinimalCoordinates(dynamics).forward(q, [1.0], [1.0])


@pytest.mark.parametrize('name', MACHINES)
def test_frames_move_as_those_of_the_whole_machine(name: str) -> None:
    least, q, v, _ = state(MACHINES[name])
    dynamics, rng = least.dynamics, np.random.default_rng(6)
    frame = dynamics.model.bodies[-1]
    at, whole = (TaskSpace(least, {frame: 'point'})(q, v),
                 TaskSpace(dynamics, {frame: 'point'})(q, least.velocity(q, v)))
    assert at.rank == whole.rank
    for found, wanted in ((at.inertia, whole.inertia), (at.bias, whole.bias)):
        assert_same(found, wanted, 1e-8)
    wanted = at.jacobian @ rng.normal(size=len(v)) + at.drift
    tau = at.efforts(wanted, rng.normal(size=len(v)))
    assert_same(at.jacobian @ least.forward(q, v, tau) + at.drift, wanted, 1e-7, floor=1.0)
    target = {frame: dynamics.frames.pose(q, frame)[:3, 3] + 1e-3}
    speeds = [DifferentialKinematics(each, {frame: 'point'})(q, target, 1e-3)
              for each in (least, dynamics)]
    assert_same(least.velocity(q, speeds[0]), speeds[1], 1e-9, floor=1.0)
    assert reach(least, {frame: dynamics.frames.pose(q, frame)[:3, 3]}, q).reached


@pytest.mark.parametrize('name', MACHINES)
def test_a_machine_stands_on_forces_of_its_coordinates(name: str) -> None:
    least, q, v, _ = state(MACHINES[name])
    rest, step = 0.0 * v, 1e-5
    found = statics(least, q)
    assert found.by == least.by == backdrive(least, q).by
    assert_same(list(found.efforts.values()), least.inverse(q, rest, rest), 1e-9, floor=1.0)
    change = [np.subtract(*(least.inverse(least.model.integrate(q, s * unit), rest, rest)
                            for s in (step, -step))) / (2.0 * step) for unit in np.eye(len(v))]
    assert_same(found.stiffness, np.transpose(change), 1e-6, floor=1.0)
    with refused(LiedynError, 'dynamics'):
        statics(least.dynamics.tree, q)
