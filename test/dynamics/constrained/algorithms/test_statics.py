# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines at rest: the second derivative of energy, the linear model, closed forms, MuJoCo."""

import numpy as np
import pytest
from scipy.optimize import brentq
from support.comparison import assert_same
from support.machines.loop_states import ALL
from support.machines.looped_machines import five_bar, four_bar
from support.machines.model_variants import sprung
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, backdrive, complete_velocity, ConstrainedDynamics, equilibrium, LEAST_FORCE,
    mobility, project, statics)
from liedyn_ros.dynamics.linearization import linearize
from liedyn_ros.model import (
    load_model, Model, ModelBuilder, pose, SpatialInertia, with_resistances)

MACHINES = 'revolute', 'two loops', 'rod', 'gears', 'bennett', 'four bar'


def standing(name: str):
    """Return a machine with springs whose joints all have motors, and a configuration."""
    looped = ALL[name]
    machine = ConstrainedDynamics(sprung(looped.model, 2), dissipation=False)
    q, _ = project(machine, looped.q, np.zeros(machine.model.nv))
    return machine, q, {'actuated': np.ones(machine.model.nv, dtype=bool)}


@pytest.mark.parametrize('name', MACHINES)
def test_stiffness_is_the_second_derivative_of_the_energy(name: str) -> None:
    machine, q, motors = standing(name)
    model = machine.model
    found = statics(machine, q, **motors)
    count = len(found.by)
    assert count == mobility(machine, q).degrees_of_freedom
    assert found.efforts == pytest.approx(dict(zip(model.coordinate_names, found.solution.tau)))
    tau, known = found.solution.tau, np.isin(model.coordinate_names, found.by)
    rate, h = np.random.default_rng(1).normal(size=count), 2e-3
    given = np.zeros(model.nv)
    given[known] = rate

    def work(t: float) -> float:
        """Return potential energy less the work of tau after a time at these rates."""
        at, steps, done = q, 40, 0.0
        for _ in range(steps):
            dt = t / steps
            middle = model.integrate(at, 0.5 * dt * complete_velocity(machine, at, given, known))
            v = complete_velocity(machine, middle, given, known)
            at, done = model.integrate(at, dt * v), done + dt * tau @ v
        return machine.tree.potential_energy(at) - done

    bent = (work(h) + work(-h) - 2.0 * work(0.0)) / h**2
    assert rate @ found.stiffness @ rate == pytest.approx(
        bent, rel=1e-3, abs=1e-3 * np.abs(found.stiffness).max())
    assert_same(machine.jacobian(q) @ found.motions, np.zeros((machine.m, count)), 1e-9, 1.0)


@pytest.mark.parametrize('name', MACHINES)
def test_a_machine_let_go_beside_its_rest_accelerates_by_the_stiffness(name: str) -> None:
    """A second algorithm: K = -N^T M da/dq N, whatever motors share the load."""
    machine, q, motors = standing(name)
    rest = np.zeros(machine.model.nv)
    for redundancy in ({}, {'redundancy': LEAST_FORCE}):
        found = statics(machine, q, **motors, **redundancy)
        tau, moves = found.solution.tau, found.motions
        assert_same(machine.forward(q, rest, tau).a, rest, 1e-8, 1.0)
        by_q = machine.forward.partial_derivatives(q, rest, tau).by_q
        assert_same(found.stiffness, -moves.T @ machine.tree.mass_matrix(q) @ by_q @ moves, 1e-6)


def test_frequency_is_that_of_the_linear_model() -> None:
    machine = ConstrainedDynamics(sprung(four_bar(), 4, 50.0, 0.1), dissipation=False)
    q = assemble(machine)
    found = statics(machine, q)
    moves = found.motions[:, 0]
    inertia = moves @ machine.tree.mass_matrix(q) @ moves
    linear = linearize(machine, q, np.zeros(3), found.solution.tau)
    square = np.linalg.eigvals(linear.A)**2
    expected = -found.stiffness[0, 0] / inertia
    assert np.abs(square - expected).min() < 1e-6 * abs(expected)


def test_a_tree_is_a_machine_without_loops() -> None:
    model, rng = sprung(random_model(3, 6, False), 3), np.random.default_rng(4)
    q, load = model.random(rng), rng.normal(size=(len(model.bodies), 6))
    found, tree = statics(ConstrainedDynamics(model), q, load), Dynamics(model)
    rest = np.zeros(model.nv)
    assert found.by == model.coordinate_names
    assert_same(found.solution.tau, tree.inverse(q, rest, rest, load))
    assert_same(found.motions, np.eye(model.nv))
    assert_same(found.stiffness, tree.inverse.partial_derivatives(q, rest, rest, load).by_q)


def lamp():
    """Return a lamp on parallel cranks, with a spring at the left one, and a configuration."""
    builder = ModelBuilder('lamp', gravity=(0.0, -9.81, 0.0))
    for name, parent, at in (('left', None, 0.0), ('right', None, 0.3), ('shade', 'left', 0.4)):
        builder.add_body(name, SpatialInertia(2.0, [0, 0, 0], 1e-2 * np.eye(3))
                         if name == 'shade' else None)
        builder.add_joint(name, 'revolute', parent, name, axis=[0, 0, 1],
                          placement=pose([at, 0.0, 0.0]), actuated=name == 'left',
                          stiffness=50.0 * (name == 'left'))
    builder.add_closure('pin', 'revolute', 'shade', 'right', placement_a=pose([0.3, 0, 0]),
                        placement_b=pose([0.4, 0, 0]))
    machine = ConstrainedDynamics(builder.build())
    angles = {'left': 0.5, 'right': 0.5, 'shade': -0.5}
    return machine, np.array([angles[name] for name in machine.model.coordinate_names])


def test_a_lamp_on_parallel_cranks_without_mass() -> None:
    """A closed form; only the shade has a mass, and no mass matrix is solved with."""
    machine, q = lamp()
    found = statics(machine, q)
    weight, arm = 2.0 * 9.81, 0.4
    assert found.by == ('left',)
    assert found.efforts == pytest.approx({'left': 50.0 * 0.5 + weight * arm * np.cos(0.5)})
    assert found.stiffness[0, 0] == pytest.approx(50.0 - weight * arm * np.sin(0.5))
    ways = dict(zip(machine.model.coordinate_names, found.motions[:, 0]))
    assert ways == pytest.approx({'left': 1.0, 'right': 1.0, 'shade': -1.0})


def test_the_lamp_comes_to_rest() -> None:
    """A closed form: 50 N m/rad x = -2 kg g 0.4 m cos x, and the shade held elsewhere."""
    machine, start = lamp()
    q = equilibrium(machine, start)
    angle = q[machine.model.joint('left').qi]
    assert angle == pytest.approx(brentq(lambda x: 50.0 * x + 7.848 * np.cos(x), -1.0, 0.0))
    assert statics(machine, q).stiffness[0, 0] > 0.0
    assert statics(machine, q).efforts['left'] == pytest.approx(0.0, abs=1e-7)
    held = equilibrium(machine, q, held={'right': -0.3})
    assert held[machine.model.joint('left').qi] == pytest.approx(-0.3)


@pytest.mark.parametrize('name', ('revolute', 'two loops', 'rod', 'four bar'))
def test_a_machine_at_rest_does_not_accelerate_and_has_the_least_energy(name: str) -> None:
    machine, start, _ = standing(name)
    q, rest = equilibrium(machine, start), np.zeros(machine.model.nv)
    assert_same(machine.forward(q, rest, rest).a, rest, 1e-5, 1.0)
    rng, energy = np.random.default_rng(3), machine.tree.potential_energy
    for _ in range(5):
        by = statics(machine, q, actuated=np.ones(len(rest), dtype=bool))
        aside, _ = project(machine, machine.model.integrate(
            q, 1e-2 * by.motions @ rng.normal(size=len(by.by))), rest)
        assert energy(aside) > energy(q)


def test_a_tree_of_two_links_hangs_down() -> None:
    """From near its upright, which is an equilibrium too, but no stable one."""
    builder = ModelBuilder('chain', gravity=(0.0, -9.81, 0.0))
    for i, parent in enumerate((None, 'link_0')):
        builder.add_body(f'link_{i}', SpatialInertia(1.0, [0.5, 0, 0], 0.1 * np.eye(3)))
        builder.add_joint(f'joint_{i}', 'revolute', parent, f'link_{i}', axis=[0, 0, 1],
                          placement=pose([float(i), 0.0, 0.0]))
    machine = ConstrainedDynamics(builder.build())
    q = equilibrium(machine, [0.5 * np.pi - 0.1, 0.05])
    assert_same(np.exp(1j * q), [-1j, 1.0], 1e-8)
    assert_same(equilibrium(machine, q, held={'joint_0': 0.0}), [0.0, -0.5 * np.pi], 1e-8)


def test_coordinates_are_chosen_or_refused() -> None:
    machine = ConstrainedDynamics(four_bar())
    q = assemble(machine)
    crank, other = statics(machine, q), statics(machine, q, by=['right_0_joint'])
    ratio = other.motions[0, 0]
    assert other.stiffness[0, 0] == pytest.approx(ratio**2 * crank.stiffness[0, 0], rel=1e-6)
    with refused(LiedynError, 'known'):
        statics(machine, q, by=[])
    with refused(LiedynError, 'elbow'):
        statics(machine, q, by=['elbow'])


CRANK, ROD = 0.2, 0.5  # m


def slider_crank() -> Model:
    """Return a crank with friction and a slide on one line, without gravity."""
    builder = ModelBuilder('slider_crank', gravity=[0.0, 0.0, 0.0])
    inertia = SpatialInertia(1.0, [0.0, 0.0, 0.0], 0.01 * np.eye(3))
    builder.add_body('crank', inertia)
    builder.add_joint('crank', 'revolute', None, 'crank', axis=[0, 0, 1], friction=0.4,
                      damping=0.3, armature=0.2)
    builder.add_body('slide', inertia)
    builder.add_joint('slide', 'prismatic', None, 'slide', axis=[1, 0, 0], friction=1.5,
                      placement=pose([CRANK + ROD, 0.0, 0.0]), actuated=False)
    builder.add_closure('rod', 'rod', 'crank', 'slide', placement_a=pose([CRANK, 0.0, 0.0]),
                        length=ROD)
    return builder.build()


@pytest.mark.parametrize('angle', [0.4, 1.3, 2.5])
def test_a_slide_feels_the_crank_by_its_ratio(angle: float) -> None:
    machine = ConstrainedDynamics(slider_crank())
    q = assemble(machine, [angle, -0.1], held={'crank': angle})
    reach = np.sqrt(ROD**2 - (CRANK * np.sin(angle))**2)
    ratio = 1.0 / (CRANK * np.sin(angle) * (1.0 + CRANK * np.cos(angle) / reach))  # rad/m
    felt = backdrive(machine, q)
    assert felt.by == ('slide',)
    np.testing.assert_allclose(felt.forces, [[-1.5 - 0.4 * ratio, 1.5 + 0.4 * ratio]], rtol=1e-9)
    np.testing.assert_allclose(felt.inertia, [[1.0 + 0.21 * ratio**2]], rtol=1e-9)
    np.testing.assert_allclose(felt.damping, [[0.3 * ratio**2]], rtol=1e-9)
    assert felt.holds
    pushed = backdrive(machine, q, tau=[1.0, 0.0])  # by its motor, along the ratio
    np.testing.assert_allclose(pushed.forces - felt.forces, ratio * np.ones((1, 2)), rtol=1e-9)


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_forward_dynamics_begins_to_move_there(side: float) -> None:
    """With weight: at a crawl along a direction the machine slows below this force only."""
    model = with_resistances(four_bar(), {}, {'left_0_joint': 3.0, 'right_0_joint': 0.5})
    machine = ConstrainedDynamics(model)
    q = assemble(machine, held={'left_0_joint': 0.9})
    felt = backdrive(machine, q, by=['right_0_joint'])
    limit = felt.forces[0, int(side > 0.0)]
    assert felt.forces[0].mean() == pytest.approx(statics(
        machine, q, by=['right_0_joint'], actuated=['right_0_joint']).efforts['right_0_joint'])
    crawl, column = 1e-7 * side * felt.motions[:, 0], machine.model.joint('right_0_joint').vi
    for off in (-1e-3, 1e-3):
        tau = np.zeros(3)
        tau[column] = limit + off
        assert np.sign(machine.forward(q, crawl, tau).a[column]) == np.sign(off)


def test_two_degrees_of_freedom_stand_within_the_zonotope() -> None:
    """The second form of (12.60), across every edge; without friction nothing holds."""
    names = five_bar().joints
    frictions = dict(zip(names, (2.0, 0.3, 1.0, 0.5)))
    machine = ConstrainedDynamics(with_resistances(five_bar(), {}, frictions))
    q = assemble(machine, [2.0, -1.0, 1.1, 1.0])
    load = np.array(list(statics(machine, q).efforts.values()))
    felt = backdrive(machine, q, by=['left_0_joint', 'right_0_joint'], tau=statics(
        machine, q).solution.tau * 0.9)
    eta = np.column_stack([sign * felt.motions.T[::-1] * [[1.0], [-1.0]] for sign in (-1.0, 1.0)])
    support = np.array(list(frictions.values())) @ np.abs(felt.motions @ eta)
    for k, ends in enumerate(felt.forces):
        for force, outwards in zip(ends, (-1.0, 1.0)):
            for off, stands in ((-1e-5, True), (1e-5, False)):
                push = 0.1 * load - (force + outwards * off) * np.eye(2)[k]
                assert bool((push @ eta <= support).all()) is stands
    free = backdrive(ConstrainedDynamics(five_bar()), q)
    assert np.isnan(free.forces).all() and not free.holds


def test_a_scissor_lift_sinks_without_its_cylinder() -> None:
    machine = ConstrainedDynamics(load_model(config_file('gallery/scissor_lift.yaml')))
    q = assemble(machine)
    assert not backdrive(machine, q).holds
    assert backdrive(machine, q, tau=statics(machine, q).solution.tau).holds
