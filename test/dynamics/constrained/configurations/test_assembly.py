# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Assembly, other assemblies, completion and mobility of closed loops."""

from dataclasses import replace
import warnings

import numpy as np
import pytest
from support.machines.looped_machines import (
    bennett, five_bar, four_bar, planar_linkage, random_looped)
from support.refusals import refused
from support.witnesses import loop_witness

from liedyn_ros.common.errors import (
    ConvergenceError, ModelError, NameSetError, NotFiniteError, NotInGroupError, ProjectionWarning,
    ShapeError)
from liedyn_ros.dynamics.constrained import (
    assemble, assemblies, complete_acceleration, complete_velocity, ConstrainedDynamics,
    ConstraintStatus, mobility, other_assembly, project)
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.model import CLOSURE_TYPES, Limits, pose


@pytest.mark.parametrize('kind', CLOSURE_TYPES)
def test_any_closure_is_assembled_from_afar(kind: str) -> None:
    looped = random_looped(60, (kind,))
    constraints = Constraints(looped.model)
    q = assemble(constraints, looped.model.random(np.random.default_rng(1)))
    assert np.abs(loop_witness.equations(looped.model, q)).max() < 1e-9


@pytest.mark.parametrize('kind', CLOSURE_TYPES)
def test_residuals_have_their_derivative_off_the_closed_set(kind: str) -> None:
    looped, rng = random_looped(61, (kind,)), np.random.default_rng(2)
    constraints = Constraints(looped.model)
    q = looped.model.integrate(looped.q, 0.3 * rng.normal(size=looped.model.nv))
    _, rows = constraints.residual_and_jacobian(q)
    expected = np.column_stack([loop_witness.differences(
        lambda t, e=e: constraints.residual(looped.model.integrate(q, t * e)),
        loop_witness.FIRST, 1) for e in np.eye(looped.model.nv)])
    assert np.abs(rows - expected).max() < 1e-8


def test_a_residual_at_an_angle_of_pi_is_no_trap() -> None:
    # The closing hinge's axes start opposite to each other, where many residuals vanish.
    looped = random_looped(62, ('weld',))
    constraints = Constraints(looped.model)
    for seed in range(5):
        start = looped.model.random(np.random.default_rng(seed))
        q = assemble(constraints, start)
        assert np.abs(loop_witness.equations(looped.model, q)).max() < 1e-9


def test_both_assemblies_of_a_four_bar() -> None:
    constraints = Constraints(four_bar())
    q = assemble(constraints, held={'left_0_joint': 0.9})
    other = other_assembly(constraints, q)
    assert other[0] == pytest.approx(0.9)
    assert abs(other[2] - q[2]) > 0.1
    assert np.abs(constraints.residual(other)).max() < 1e-9
    assert len(assemblies(constraints, q, held={'left_0_joint': 0.9})) == 2
    # The circles of crank and rocker ends: the coupler's length decides where they meet.
    crank = 0.2 * np.array([np.cos(0.9), np.sin(0.9)])
    for each in (q, other):
        rocker = np.array([0.45, 0.0]) + 0.4 * np.array([np.cos(each[2]), np.sin(each[2])])
        assert np.linalg.norm(rocker - crank) == pytest.approx(0.5)


def test_what_cannot_be_assembled_says_what_stays_open() -> None:
    model = planar_linkage((0.1, 0.1), (0.1,), 0.9, ('left_0',))
    with refused(ConvergenceError, 'linkage', got=5):
        assemble(Constraints(model), attempts=5)
    with refused(ModelError, 'elbow'):
        assemble(Constraints(four_bar()), held={'elbow': 0.1})


def test_projection_moves_least_by_kinetic_energy() -> None:
    dynamics, rng = ConstrainedDynamics(five_bar()), np.random.default_rng(4)
    q = assemble(dynamics)
    wanted = rng.normal(size=4)
    q1, v = project(dynamics, q, wanted)
    assert q1 == pytest.approx(q)
    rows = dynamics.jacobian(q)
    assert rows @ v == pytest.approx(0.0, abs=1e-12)
    free = np.linalg.svd(rows)[2][2:]
    assert free @ dynamics.tree.mass_matrix(q) @ (v - wanted) == pytest.approx(0.0, abs=1e-12)


def test_completion_names_undecided_joints_and_broken_loops() -> None:
    dynamics = ConstrainedDynamics(five_bar())
    q = assemble(dynamics)
    with refused(ModelError, 'known'):
        complete_velocity(dynamics, q, np.ones(4), [True, False, False, False])
    with refused(ModelError, 'v'):
        complete_velocity(dynamics, q, np.ones(4), [True, True, True, False])
    v = complete_velocity(dynamics, q, np.ones(4))
    assert dynamics.jacobian(q) @ v == pytest.approx(0.0, abs=1e-12)
    a = complete_acceleration(dynamics, q, v, np.zeros((2, 4)))
    assert a[:, dynamics.model.actuated] == pytest.approx(0.0)


def test_mobility_is_counted_and_redundant_constraints_are_named() -> None:
    four = mobility(Constraints(four_bar()))
    assert (four.degrees_of_freedom, four.rank) == (1, 2)
    assert four.redundant == ('tip/moment_x', 'tip/moment_y', 'tip/force_z')
    assert mobility(Constraints(five_bar())).degrees_of_freedom == 2
    looped = bennett()
    # Gruebler's formula says 3 - 5: Bennett's linkage moves against it.
    assert mobility(Constraints(looped.model), looped_q(looped)).degrees_of_freedom == 1


def looped_q(looped):
    """Return Bennett's linkage assembled."""
    return assemble(Constraints(looped.model), looped.q)


def test_a_structure_has_no_freedom() -> None:
    model = planar_linkage((0.4,), (0.4,), 0.5, ('left_0',))
    assert mobility(Constraints(model)).degrees_of_freedom == 0


def limited(**limits: tuple[float, float]) -> Constraints:
    """Return a four-bar, position limits of its joints by name."""
    model = four_bar()
    joints = tuple(replace(joint, limits=Limits(*limits[joint.name]))
                   if joint.name in limits else joint for joint in model.joint_list)
    return Constraints(replace(model, joint_list=joints))


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_limits_choose_the_assembly(sign: float) -> None:
    # Of both assemblies at a crank angle one has the rocker up, and one has it down.
    lower, upper = sorted((sign * 0.05, sign * 3.1))
    constraints = limited(right_0_joint=(lower, upper))
    for angle in (-2.9, -1.0, 0.5, 2.0):
        held = {'left_0_joint': angle}
        q = assemble(constraints, held=held, within_limits=True)
        assert lower <= q[2] <= upper
        assert np.abs(constraints.residual(q)).max() < 1e-9
    found = assemblies(constraints, held=held, attempts=10, within_limits=True)
    assert [each[2] for each in found] == pytest.approx([q[2]])


def test_assemblies_rest_at_limits_on_the_way() -> None:
    # The crank is free: it has to turn until the rocker's narrow range is reached.
    constraints = limited(right_0_joint=(1.9, 1.95), left_0_joint=(-0.5, 2.5))
    q = assemble(constraints, [2.5, 0.0, -3.0], attempts=5, within_limits=True)
    assert 1.9 <= q[2] <= 1.95 and -0.5 <= q[0] <= 2.5
    assert np.abs(constraints.residual(q)).max() < 1e-9


def test_limits_without_an_assembly_are_told() -> None:
    constraints = limited(right_0_joint=(-0.1, 0.1))
    with refused(ConvergenceError, 'linkage', got=5):
        assemble(constraints, attempts=5, within_limits=True)


def test_poses_of_bodies_are_held_by_name() -> None:
    looped = random_looped(63, ('spherical',))
    dynamics = ConstrainedDynamics(looped.model)
    name, frames = looped.model.bodies[-1], dynamics.frames
    model = looped.model.with_frame('tool', name, pose([0.1, -0.2, 0.05], [0.3, 0.1, 0.2]))
    dynamics = ConstrainedDynamics(model)
    wanted = frames.pose(looped.q, name)
    q = assemble(dynamics, held={name: wanted})
    assert np.abs(loop_witness.equations(model, q)).max() < 1e-9
    assert np.abs(frames.pose(q, name) - wanted).max() < 1e-9
    point = dynamics.frames.pose(looped.q, 'tool')[:3, 3]
    q = assemble(dynamics, held={'tool': point})
    assert np.abs(loop_witness.equations(model, q)).max() < 1e-9
    assert np.abs(dynamics.frames.pose(q, 'tool')[:3, 3] - point).max() < 1e-9
    assert q.shape == looped.q.shape


@pytest.mark.parametrize(('held', 'error', 'name'), [
    ({'nobody': np.eye(4)}, ModelError, 'nobody'),
    ({'left_0': np.eye(3)}, ShapeError, 'held left_0'),
    ({'left_0': 2.0 * np.eye(4)}, NotInGroupError, 'held left_0'),
    ({'left_0': [0.0, np.nan, 0.0]}, NotFiniteError, 'held left_0'),
    ({'left_0_joint': 0.9, 'left_0': [9.0, 0.0, 0.0]}, ConvergenceError, 'linkage')])
def test_wrong_poses_are_refused(held: dict[str, object], error: type, name: str) -> None:
    with refused(error, name):
        assemble(Constraints(four_bar()), held=held, attempts=3)


def test_coordinates_are_known_by_name() -> None:
    dynamics = ConstrainedDynamics(four_bar())
    q = assemble(dynamics, held={'left_0_joint': 0.9})
    mask = np.array([True, False, False])
    v = complete_velocity(dynamics, q, [2.0, 0.0, 0.0], ['left_0_joint'])
    assert np.array_equal(v, complete_velocity(dynamics, q, [2.0, 0.0, 0.0], mask))
    a = complete_acceleration(dynamics, q, v, np.zeros(3), ['left_0_joint'])
    assert np.array_equal(a, complete_acceleration(dynamics, q, v, np.zeros(3), mask))
    by_name, by_mask = (dynamics.inverse(q, v, a, actuated=each) for each in (
        ['left_0_joint'], mask))
    assert np.array_equal(by_name.tau, by_mask.tau)
    by_name, by_mask = (dynamics.hybrid(q, v, each, a, np.zeros(3)) for each in (
        ['left_0_joint'], mask))
    assert np.array_equal(by_name.tau, by_mask.tau)
    with refused(NameSetError, 'left', got='left'):
        dynamics.inverse(q, v, a, actuated=['left'])
    with refused(NameSetError, 'known'):
        complete_velocity(dynamics, q, v, 'left_0_joint')


def test_links_taut_between_two_pins_cannot_move() -> None:
    taut = ConstrainedDynamics(planar_linkage((0.2, 0.3), (0.3,), 0.8, ('left_0',)))
    assert mobility(taut).degrees_of_freedom == 0
    assembled, drawn, rest = assemble(taut), np.array([0.0, 0.0, np.pi]), np.zeros(3)
    for q in (assembled, drawn):  # before: 1 and 2, and accelerations as of a usual linkage
        assert mobility(taut, q).degrees_of_freedom == 0
        assert taut.forward(q, rest, rest).status is ConstraintStatus.SINGULAR
    slack = Constraints(planar_linkage((0.2, 0.3), (0.3,), 0.78, ('left_0',)))
    assert mobility(slack).degrees_of_freedom == 1


@pytest.mark.parametrize('off', (0.1, 0.4, 1.5))
def test_a_projection_from_afar_ends_nearby(off: float) -> None:
    """Before, one of 60 random four-bars 0.8 rad off went 15 times as far as the nearest state."""
    constraints, rng = Constraints(four_bar()), np.random.default_rng(1)
    name = constraints.model.joints[0]
    closed = np.array([each for angle in np.linspace(-np.pi, np.pi, 60, endpoint=False)
                       for each in assemblies(constraints, held={name: angle}, attempts=5)])
    for at in closed[rng.integers(len(closed), size=15)]:
        q = at + off * rng.uniform(-1.0, 1.0, 3)
        found, _ = project(constraints, q, np.zeros(3))
        assert np.abs(constraints.residual(found)).max() < 1e-9
        mass, moved = constraints.tree.mass_matrix(q), found - q
        others = np.remainder(closed - q + np.pi, 2.0 * np.pi) - np.pi
        least = np.einsum('ki,ij,kj->k', others, mass, others).min()
        assert moved @ mass @ moved <= 9.0 * least + 0.01 * np.trace(mass)


@pytest.mark.parametrize('off', (0.0, 0.02, 0.1))
def test_a_projection_from_nearby_says_nothing(off: float) -> None:
    constraints, rng = Constraints(four_bar()), np.random.default_rng(2)
    for _ in range(20):
        at = assemble(constraints, constraints.model.random(rng))
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            project(constraints, at + off * rng.uniform(-1.0, 1.0, 3), np.zeros(3))


def test_a_projection_that_lands_elsewhere_says_so() -> None:
    constraints, rng, told = Constraints(five_bar()), np.random.default_rng(3), []
    model = constraints.model
    closed = np.array([assemble(constraints, model.random(rng)) for _ in range(300)])
    for at in closed[rng.integers(len(closed), size=100)]:
        q = at + rng.uniform(-2.0, 2.0, model.nv)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            try:
                found, _ = project(constraints, q, np.zeros(model.nv))
            except ConvergenceError:
                continue
        mass, moved = constraints.tree.mass_matrix(q), found - q
        others = np.remainder(closed - q + np.pi, 2.0 * np.pi) - np.pi
        least = np.einsum('ki,ij,kj->k', others, mass, others).min()
        elsewhere = moved @ mass @ moved > 4.0 * least + 0.01 * np.trace(mass)
        told += [ProjectionWarning in [each.category for each in caught]] * int(elsewhere)
    assert np.mean(told) > 0.5  # Newton's steps cannot tell of sheets that they do not meet
