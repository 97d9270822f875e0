# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Contacts that come and go: a walking machine beside newly built models."""

from dataclasses import replace
import math

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.looped_machines import five_bar, four_bar, random_looped
from support.refusals import ANY, refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, Contact, ContactForce, Contacts,
    InverseKinematics, LoopTracker, project, reach)
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia

FEET = 'left_foot', 'right_foot', 'tail'


def walker() -> Model:
    """Return a floating trunk with two legs of three joints, and a frame at its back."""
    builder = ModelBuilder('walker')
    builder.add_body('trunk', SpatialInertia(8.0, [0.0, 0.02, 0.1], np.diag([0.2, 0.15, 0.1])))
    builder.add_joint('base', 'free', None, 'trunk')
    for side, y in (('left', 0.12), ('right', -0.12)):
        parent, at = 'trunk', pose([0.0, y, -0.05])
        for part, axis in (('hip', [1, 0, 0]), ('thigh', [0, 1, 0]), ('shin', [0, 1, 0])):
            name = f'{side}_{part}'
            builder.add_body(name, SpatialInertia(
                0.9, [0.01, 0.0, -0.12], np.diag([0.02, 0.02, 0.004])))
            builder.add_joint(f'{name}_joint', 'revolute', parent, name, placement=at, axis=axis)
            parent, at = name, pose([0.0, 0.0, -0.25 if part == 'thigh' else -0.02])
    model = builder.build()
    for side in ('left', 'right'):
        model = model.with_frame(f'{side}_foot', f'{side}_shin',
                                 pose([0.0, 0.0, -0.25], [0.1, -0.2, 0.3]))
    return model.with_frame('tail', 'trunk', pose([-0.3, 0.0, 0.0]))


def contacts_of(kind: str, **options: object) -> Contacts:
    """Return the walker with a contact of a kind at each of FEET."""
    return Contacts(walker(), {name: Contact(name, kind, **options) for name in FEET})


def state(seed: int) -> tuple[Array, Array, Array]:
    """Return a configuration of the walker, velocities and forces."""
    rng, model = np.random.default_rng(seed), walker()
    q = model.integrate(model.neutral(), 0.4 * rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv), 5.0 * rng.normal(size=model.nv)


def built(contacts: Contacts, dynamics: ConstrainedDynamics) -> ConstrainedDynamics:
    """Return a new object of the same machine."""
    return ConstrainedDynamics(replace(contacts.model, closures=dynamics.model.closures))


@pytest.mark.parametrize('kind', ['point', 'line', 'surface', 'sliding'])
def test_sets_are_what_new_models_are(kind: str) -> None:
    contacts = contacts_of(kind)
    for seed, names in enumerate((['left_foot'], FEET[:2], ['tail'], FEET[:2])):
        q, v, tau = state(seed)
        contacts.holding([], q)  # all let go
        dynamics = contacts.holding(names, q)
        fresh = built(contacts, dynamics)
        assert np.abs(dynamics.residual(q)).max() < 1e-12
        _, v = project(dynamics, q, v)
        found, expected = dynamics.forward(q, v, tau), fresh.forward(q, v, tau)
        assert np.array_equal(found.a, expected.a)
        batch = dynamics.forward.batch(q[None], v[None], tau[None])
        assert np.allclose(batch.wrenches[0], expected.wrenches, atol=1e-9)
        ours, theirs = (each.forward.partial_derivatives for each in (dynamics, fresh))
        assert np.allclose(ours(q, v, tau).by_q, theirs(q, v, tau).by_q, atol=1e-9)
        series = [each.time_derivatives(q, v, [tau, tau]).by_q for each in (ours, theirs)]
        assert np.allclose(*series, atol=1e-8)


@pytest.mark.parametrize('kind', ['point', 'line', 'surface', 'sliding'])
def test_wrenches_at_contacts_are_those_of_new_models(kind: str) -> None:
    contacts, first = contacts_of(kind), state(1)[0]
    contacts.holding(['left_foot'], first)
    contacts.holding([], first)
    q, v, tau = state(2)
    for move in (False, True):
        held = contacts.holding(['left_foot'], q, move=move)
        _, rate = project(held, q, v)
        found = held.forward(q, rate, tau)
        force = contacts.forces(held, q, found)['left_foot']
        wrench = held.frames.closure_wrenches(q, found.wrenches)[0]
        on_ground = kind != 'sliding'  # there the closure acts on the machine
        assert_same(-wrench[3:] if on_ground else wrench[3:], force.force, 1e-10)
        joints = held.joint_wrenches(q, rate, found)
        for joint in held.model.joint_list:
            screws = held.frames.jacobian(q, joint.child)[:, joint.v_slice]
            assert_same(screws.T @ joints[joint.name], tau[joint.v_slice], 1e-9, floor=1.0)
        assert held.frames.model is held.tree.model is held.model
        contacts.holding([], q)
        q = contacts.model.integrate(q, 0.1 * np.ones(len(v)))


def test_what_keeps_tables_of_its_own_follows_contacts_that_move() -> None:
    contacts, first, start = contacts_of('point'), state(1)[0], state(2)[0]
    held = contacts.holding(['left_foot'], first)
    frame = 'right_shin'
    solver = InverseKinematics(held, frame)
    reach(held, {frame: held.frames.pose(first, frame)}, first)
    contacts.holding([], first)
    assert contacts.holding(['left_foot'], start, move=True) is held
    wanted = held.frames.pose(start, frame)
    wanted[:3, 3] += [0.01, 0.02, -0.01]
    for found in (solver({frame: wanted}, start), reach(held, {frame: wanted}, start)):
        assert found.reached
        assert np.abs(held.residual(found.q)).max() < 1e-9


def test_a_tracker_follows_a_closure_that_moves() -> None:
    builder, parent = ModelBuilder('chain'), None
    for i in range(3):
        builder.add_body(f'b{i}', SpatialInertia(1.0, [0.2, 0.0, 0.0], 0.01 * np.eye(3)))
        builder.add_joint(f'j{i}', 'revolute', parent, f'b{i}', axis=[0, 1, 0],
                          placement=pose([0.4 if i else 0.0, 0.0, 0.0]))
        parent = f'b{i}'
    builder.add_closure('pin', 'revolute', 'b2', None, axis=[0, 1, 0],
                        placement_a=pose([0.4, 0.0, 0.0]), placement_b=pose([0.6, 0.0, 0.0]))
    machine = ConstrainedDynamics(builder.build())
    start = assemble(machine, held={'j0': 0.5}, start=np.array([0.5, 0.5, 0.5]))
    tracker = LoopTracker(machine, ['j0'], start=start)
    tracker.update([0.5])
    closure = machine.model.closures[0]
    machine.move_closures({'pin': pose([0.05, 0.0, 0.02]) @ closure.frame_b})
    fresh = LoopTracker(ConstrainedDynamics(machine.model), ['j0'], start=start)
    assert_same(tracker.update([0.5]).q, fresh.update([0.5]).q, 1e-9)


def test_a_contact_that_holds_stays_and_a_new_one_touches() -> None:
    contacts, (first, _, _) = contacts_of('point'), state(1)
    one = contacts.holding(['left_foot'], first)
    at = one.frames.pose(first, 'left_foot')[:3, 3]
    stepped = assemble(one, state(2)[0])
    both = contacts.holding(['right_foot', 'left_foot'], stepped)
    assert np.abs(both.residual(stepped)).max() < 1e-9
    places = {closure.name: closure.frame_b[:3, 3] for closure in both.model.closures}
    assert np.allclose(places['left_foot'], at)
    assert np.allclose(places['right_foot'], both.frames.pose(stepped, 'right_foot')[:3, 3])
    assert contacts.holding(['left_foot'], stepped) is one  # not made again
    assert contacts.holding('left_foot', stepped) is one  # a name alone
    assert contacts.holding([], stepped) is contacts.free


@pytest.mark.parametrize('kind', ['point', 'line', 'surface', 'sliding'])
def test_forces_are_those_that_move_the_machine(kind: str) -> None:
    contacts, (q, v, tau) = contacts_of(kind), state(3)
    dynamics = contacts.holding(FEET[:2], q)
    _, v = project(dynamics, q, v)
    found = dynamics.forward(q, v, tau)
    forces = contacts.forces(dynamics, q, found)
    need = dynamics.tree.inverse(q, v, found.a) - tau
    carried = np.zeros(len(v))
    for name, each in forces.items():
        turn = dynamics.frames.pose(q, name)[:3, :3]
        wrench = np.concatenate((turn.T @ each.moment, turn.T @ each.force))
        carried += dynamics.frames.jacobian(q, name).T @ wrench
        assert each.normal == pytest.approx(each.force[2])
    assert np.allclose(carried, need, atol=1e-8)


def test_the_sign_and_the_cone_tell_whether_a_contact_holds() -> None:
    contacts, (q, _, _) = contacts_of('point', friction=0.5), state(4)
    rest = np.zeros(contacts.model.nv)
    dynamics = contacts.holding(['tail'], q)
    lifted = dynamics.tree.frames.external(q, {'trunk': [0, 0, 0, 0, 0, 500.0]},
                                           axes=2)
    for external in (None, lifted):
        found = contacts.forces(dynamics, q, dynamics.forward(q, rest, rest, external))['tail']
        slips = np.hypot(*found.force[:2]) / (0.5 * found.normal)
        assert found.holds == (found.normal >= 0.0 and slips <= 1.0)
        assert found.slip == (pytest.approx(slips) if found.normal > 0.0 else math.inf)
    assert found.normal < 0.0 and not found.holds


@pytest.mark.parametrize('part', [0.0, 0.4, 1.0])
def test_an_impact_gives_back_its_part_of_speed_and_energy(part: float) -> None:
    contacts, (q, v, _) = contacts_of('sliding', normal=[0.2, -0.1, 1.0]), state(5)
    dynamics = contacts.holding(['left_foot'], q)
    after = contacts.impact(dynamics, q, v, part)
    normal = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
    row = normal @ dynamics.frames.jacobian(q, 'left_foot', axes=2)[3:]
    mass = dynamics.tree.mass_matrix(q)
    impulse = -(1.0 + part) * (row @ v) / (row @ np.linalg.solve(mass, row))
    assert np.allclose(after.v, v + np.linalg.solve(mass, row) * impulse)
    assert row @ after.v == pytest.approx(-part * (row @ v), abs=1e-10)
    assert after.impulses['left_foot'].normal == pytest.approx(impulse)
    lost = v @ mass @ v - after.v @ mass @ after.v
    assert lost == pytest.approx((1.0 - part**2) * (row @ v)**2 / (
        row @ np.linalg.solve(mass, row)), abs=1e-9)


def test_a_machine_with_loops_keeps_them_in_an_impact() -> None:
    builder = ModelBuilder.of(walker())
    builder.add_closure('hips', 'rod', 'left_shin', 'right_shin', length=0.26)
    contacts = Contacts(builder.build(), {'foot': Contact('left_foot', 'surface')})
    q = assemble(contacts.free, state(6)[0])
    dynamics = contacts.holding(['foot'], q)
    _, v = project(contacts.free, q, state(6)[1])
    after = contacts.impact(dynamics, q, v, 0.3)
    assert np.abs(contacts.free.jacobian(q) @ after.v).max() < 1e-10
    plastic = contacts.impact(dynamics, q, v).v
    assert np.allclose(plastic, project(dynamics, q, v)[1], atol=1e-9)
    assert np.abs(complete_velocity(dynamics, q, plastic, np.ones(len(v), dtype=bool))
                  - plastic).max() == 0.0


def test_redundant_loops_leave_the_forces_of_contacts_unique() -> None:
    builder = ModelBuilder.of(walker())
    for name in ('hips', 'again'):
        builder.add_closure(name, 'rod', 'left_shin', 'right_shin', length=0.26)
    contacts = Contacts(builder.build(), {
        name: Contact(name, 'surface') for name in ('left_foot', 'right_foot')})
    q, v = assemble(contacts.free, state(6)[0]), np.zeros(12)
    for names in (['left_foot'], contacts.names):  # both feet fix what the rods hold
        dynamics = contacts.holding(names, q)
        contacts.prepare(names)
        found = contacts.forces(dynamics, q, dynamics.forward(q, v, v))
        impulses = contacts.impact(dynamics, q, v).impulses
        assert {each.unique for each in (*found.values(), *impulses.values())} == {
            len(names) == 1}


def test_wrong_contacts_are_refused() -> None:
    model = walker()
    with refused(ModelError, 'nowhere'):
        Contacts(model, {'foot': Contact('nowhere')})
    with refused(LiedynError, 'contacts', expected='Mapping', got=['tail']):
        Contacts(model, ['tail'])
    contacts, (q, v, _) = contacts_of('point'), state(0)
    with refused(ModelError, 'left_fot'):
        contacts.holding(['left_fot'], q)
    with refused(LimitError, 'restitution'):
        contacts.impact(contacts.holding(['tail'], q), q, v, 2.0)
    dynamics = contacts.holding(['tail'], q)
    with refused(ModelError, 'left_foot'):
        dynamics.move_closures({'left_foot': np.eye(4)})


def box(center: tuple[float, float, float], friction: float, points: int = 4) -> Contacts:
    """Return a box of 1 kg on contacts at its corners, 0.2 m apart, and its centre of mass."""
    builder = ModelBuilder('box')
    builder.add_body('box', SpatialInertia(1.0, center, 0.01 * np.eye(3)))
    builder.add_joint('base', 'free', None, 'box')
    model, corners = builder.build(), [(0.1, 0.1), (-0.1, 0.1), (0.1, -0.1), (-0.1, -0.1)]
    for i, (x, y) in enumerate(corners[:points]):
        model = model.with_frame(f'c{i}', 'box', pose([x, y, 0.0]))
    return Contacts(model, {f'c{i}': Contact(f'c{i}', friction=friction) for i in range(points)})


def standing(contacts: Contacts, admissible: bool) -> dict[str, ContactForce]:
    """Return the forces of the box at rest."""
    q, rest = contacts.model.neutral(), np.zeros(6)
    dynamics = contacts.holding(contacts.names, q)
    return contacts.forces(dynamics, q, dynamics.forward(q, rest, rest), admissible=admissible)


def test_a_box_within_its_support_stands_on_forces_that_push() -> None:
    pytest.importorskip('clarabel')
    contacts = box((0.08, 0.05, 0.1), 0.5)
    least = standing(contacts, False)
    assert not least['c3'].holds and not least['c3'].unique  # least norm says little
    found = standing(contacts, True)
    assert all(each.holds for each in found.values())
    total = sum(each.force for each in found.values())
    assert_same(total, [0.0, 0.0, 9.81], 1e-8)
    places = np.array([contacts.free.frames.pose(contacts.model.neutral(), name)[:3, 3]
                       for name in found])
    moment = sum(np.cross(at, each.force) for at, each in zip(places, found.values()))
    assert_same(moment, np.cross([0.08, 0.05, 0.1], [0.0, 0.0, 9.81]), 1e-8)
    assert min(each.normal for each in found.values()) > -1e-8


@pytest.mark.parametrize('friction', [0.0, 0.5, math.inf])
def test_a_box_beyond_its_support_tips_whatever_forces_are_taken(friction: float) -> None:
    pytest.importorskip('clarabel')
    found = standing(box((0.12, 0.0, 0.1), friction), True)
    assert not all(each.holds for each in found.values())
    assert all(each.unique for each in found.values())


@pytest.mark.parametrize('friction', [0.15, 0.6, 5.0])
def test_least_efforts_of_a_walker_that_stands_respect_friction(friction: float) -> None:
    pytest.importorskip('clarabel')
    contacts = contacts_of('point', friction=friction)
    q = contacts.model.integrate(contacts.model.neutral(), np.concatenate(
        ([0, 0, 0, 0, 0, 0.5], 0.3 * np.array([0, -1, 1, 0, -1, 1]))))
    dynamics, rest = contacts.holding(FEET, q), np.zeros(12)
    found = contacts.inverse(dynamics, q, rest, rest)
    carried = sum(dynamics.frames.jacobian(q, name, axes=2)[3:].T @ each.force
                  for name, each in found.forces.items())
    assert_same(dynamics.tree.bias(q, rest) - found.tau, carried, 1e-7, floor=1.0)
    assert_same(found.tau[:6], np.zeros(6), 1e-7, floor=1.0)  # the base has no motor
    for each in found.forces.values():
        assert each.holds
        assert each.normal > -1e-6 and np.hypot(*each.force[:2]) < friction * each.normal + 1e-6
    motors = list(contacts.model.joints[1:])
    least = np.linalg.norm(dynamics.inverse(q, rest, rest, actuated=motors))
    safe = dynamics.inverse(q, rest, rest, actuated=motors, redundancy='least_force')
    assert least - 1e-9 <= np.linalg.norm(found.tau) <= np.linalg.norm(safe) + 1e-6


def test_a_motion_that_pulls_at_the_ground_has_no_forces_that_hold() -> None:
    pytest.importorskip('clarabel')
    contacts, (q, v, _) = contacts_of('point', friction=0.5), state(4)
    dynamics, rest = contacts.holding(FEET, q), np.zeros(len(v))
    lifted = dynamics.frames.external(q, {'trunk': [0, 0, 0, 0, 0, 500.0]}, axes=2)
    with refused(LimitError, *FEET):
        contacts.inverse(dynamics, q, rest, rest, lifted)


@pytest.mark.parametrize('feet', [FEET[:2], FEET[:1]])
@pytest.mark.parametrize('friction', [0.6, math.inf])
def test_a_walker_on_fewer_feet_than_hold_it_falls_by_the_forces_that_it_has(
        feet: tuple[str, ...], friction: float) -> None:
    pytest.importorskip('clarabel')
    contacts, q = contacts_of('point', friction=friction), walker().neutral()
    dynamics, rest = contacts.holding(feet, q), np.zeros(12)
    tau = np.concatenate((np.zeros(6), 0.3 * np.random.default_rng(2).normal(size=6)))
    a = np.asarray(dynamics.forward(q, rest, tau))
    found = contacts.inverse(dynamics, q, rest, a)
    carried = sum(dynamics.frames.jacobian(q, name, axes=2)[3:].T @ each.force
                  for name, each in found.forces.items())
    assert_same(dynamics.tree.inverse(q, rest, a), found.tau + carried, 1e-7, floor=1.0)
    assert_same(found.tau[:6], np.zeros(6))
    assert np.linalg.norm(found.tau) <= np.linalg.norm(tau) + 1e-6
    with refused(LimitError, ANY):  # nothing holds it where it is
        contacts.inverse(dynamics, q, rest, rest)


def test_a_flight_has_the_forces_of_its_motors_alone() -> None:
    contacts, q = contacts_of('point'), walker().neutral()
    tau = np.concatenate((np.zeros(6), np.random.default_rng(3).normal(size=6)))
    a = contacts.free.forward(q, np.zeros(12), tau)
    assert_same(contacts.inverse(contacts.free, q, np.zeros(12), a).tau, tau, 1e-9)


@pytest.mark.parametrize('model', [four_bar(), five_bar(), random_looped(
    84, ('rod', 'spherical'), 9, floating=True).model], ids=['four-bar', 'five-bar', 'flying'])
def test_loops_without_contacts_have_the_least_forces_of_their_motors(model: Model) -> None:
    contacts = Contacts(model, {})
    q = assemble(contacts.free)
    tau = np.where(model.actuated, np.random.default_rng(4).normal(size=model.nv), 0.0)
    rest = np.zeros(model.nv)
    a = np.asarray(contacts.free.forward(q, rest, tau))
    found = contacts.inverse(contacts.free, q, rest, a).tau
    assert_same(np.asarray(contacts.free.forward(q, rest, found)), a, 1e-7)
    assert not found[~model.actuated].any()
    assert np.linalg.norm(found) <= np.linalg.norm(tau) + 1e-9


def test_forces_that_move_nothing_take_none_from_the_motor() -> None:
    pytest.importorskip('clarabel')
    contacts = Contacts(four_bar(), {'pivot': Contact('right_0', friction=0.5)})  # it stays there
    q, rest = assemble(contacts.free), np.zeros(3)
    dynamics, tau = contacts.holding(['pivot'], q), np.array([0.7, 0.0, 0.0])
    found = contacts.inverse(dynamics, q, rest, dynamics.forward(q, rest, tau))
    assert_same(found.tau, tau, 1e-8)


def test_contacts_without_friction_hold_what_has_no_force_across() -> None:
    found = standing(box((0.0, 0.0, 0.1), 0.0), False)
    assert all(each.holds and each.slip == 0.0 for each in found.values())


def test_three_points_decide_their_forces() -> None:
    assert all(not each.unique for each in standing(box((0.0, 0.0, 0.1), 0.5, 3), False).values())
    found = standing(box((-0.02, 0.05, 0.1), 0.5, 1), False)
    assert [each.unique for each in found.values()] == [True]


@pytest.mark.parametrize('kind', ['point', 'line', 'surface'])
@pytest.mark.parametrize('part', [0.3, 1.0])
def test_restitution_gives_back_normal_impulses_alone(kind: str, part: float) -> None:
    contacts, (q, v, _) = contacts_of(kind), state(7)
    dynamics = contacts.holding(['left_foot'], q)
    after = contacts.impact(dynamics, q, v, part)
    rows = dynamics.frames.jacobian(q, 'left_foot', axes=2)
    assert_same((rows @ after.v)[3:5], [0.0, 0.0], 1e-9, floor=1.0)
    plastic = contacts.impact(dynamics, q, v).impulses['left_foot'].normal
    assert after.impulses['left_foot'].normal == pytest.approx((1.0 + part) * plastic)
    mass = dynamics.tree.mass_matrix(q)
    carried = after.impulses['left_foot']
    wrench = np.concatenate((carried.moment, carried.force))
    assert_same(mass @ (after.v - v), rows.T @ wrench, 1e-9, floor=1.0)
    assert after.v @ mass @ after.v <= v @ mass @ v + 1e-9


def ball(friction: float) -> tuple[Contacts, ConstrainedDynamics, Array]:
    """Return a mass of 2 kg that slides freely in space, touching the ground."""
    builder = ModelBuilder('mass')
    builder.add_body('mass', SpatialInertia(2.0, [0.0, 0.0, 0.0], 0.1 * np.eye(3)))
    builder.add_joint('base', 'free', None, 'mass')
    contacts = Contacts(builder.build(), {'tip': Contact('mass', friction=friction)})
    q = contacts.model.neutral()
    return contacts, contacts.holding(['tip'], q), q


@pytest.mark.parametrize('part', [0.0, 0.5])
@pytest.mark.parametrize('along', [0.2, 0.9, 3.0])
def test_a_mass_slides_where_friction_cannot_stop_it(part: float, along: float) -> None:
    pytest.importorskip('clarabel')
    contacts, dynamics, q = ball(0.4)
    found = contacts.impact(dynamics, q, [0, 0, 0, along, 0, -1.0], part, sliding=True)
    most = 0.4 * (1.0 + part)  # of the change of the tangential speed, Coulomb
    left = max(along - most, 0.0)
    assert_same(found.v, [0.0, 0.0, 0.0, left, 0.0, part], 1e-7, floor=1.0)
    tip = found.impulses['tip']
    assert_same(tip.force, [2.0 * (left - along), 0.0, 2.0 * (1.0 + part)], 1e-7)
    assert tip.holds == (left == 0.0)


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('friction', [0.3, 1.5])
def test_a_box_lands_on_more_points_than_decide_its_impulses(seed: int, friction: float) -> None:
    pytest.importorskip('clarabel')
    contacts, rng = box((0.01, 0.02, 0.1), friction), np.random.default_rng(seed)
    q, v = contacts.model.neutral(), rng.normal(size=6) - [0, 0, 0, 0, 0, 2.0]
    dynamics = contacts.holding(contacts.names, q)
    found, mass = contacts.impact(dynamics, q, v, sliding=True), dynamics.tree.mass_matrix(q)
    carried = np.zeros(6)
    for name, each in found.impulses.items():
        rows = dynamics.frames.jacobian(q, name, axes=2)[3:]
        carried, speed = carried + rows.T @ each.force, rows @ found.v
        assert min(each.normal, speed[2]) > -1e-5 and abs(each.normal * speed[2]) < 1e-5
        slip = np.linalg.norm(speed[:2])
        assert_same(each.force[:2] @ speed[:2], -friction * each.normal * slip, 1e-5, floor=1.0)
    assert_same(mass @ (found.v - v), carried, 1e-8, floor=1.0)
    assert found.v @ mass @ found.v <= v @ mass @ v


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('part', [0.0, 0.6])
def test_contacts_of_a_walker_leave_slide_or_stick(seed: int, part: float) -> None:
    pytest.importorskip('clarabel')
    contacts, (q, v, _) = contacts_of('point', friction=0.5), state(seed)
    dynamics = contacts.holding(FEET, q)
    found = contacts.impact(dynamics, q, v, part, sliding=True)
    plastic = contacts.impact(dynamics, q, v, sliding=True)
    mass, carried = dynamics.tree.mass_matrix(q), np.zeros(len(v))
    assert found.v @ mass @ found.v <= v @ mass @ v * (1.0 + 1e-9)
    for name, each in found.impulses.items():
        rows = dynamics.frames.jacobian(q, name, axes=2)[3:]
        carried += rows.T @ each.force
        least = plastic.impulses[name]
        more, up = each.normal - (1.0 + part) * least.normal, rows[2] @ found.v
        assert min(least.normal, each.normal, up, more) > -1e-6  # Signorini, Poisson
        assert abs(up * more) < 1e-5
        assert np.linalg.norm(each.force[:2]) <= 0.5 * each.normal + 1e-6
        slid = rows[:2] @ plastic.v  # against the force, as large as friction lets it be
        assert_same(least.force[:2] @ slid, -0.5 * least.normal * np.linalg.norm(slid), 1e-5,
                    floor=1.0)
    assert_same(mass @ (found.v - v), carried, 1e-8, floor=1.0)


def test_what_holding_returned_stays_where_it_is() -> None:
    contacts, (q, _, tau) = contacts_of('point'), state(1)
    rest = np.zeros(len(tau))
    kept = contacts.holding(['left_foot'], q)
    before = kept.forward(q, rest, tau)
    contacts.holding([], q)  # it lifts
    elsewhere = contacts.model.integrate(q, 0.1 * np.ones(len(rest)))
    other = contacts.holding(['left_foot'], elsewhere)
    assert other is not kept
    np.testing.assert_array_equal(kept.forward(q, rest, tau).a, before.a)
    assert np.abs(other.residual(elsewhere)).max() < 1e-12
    contacts.holding([], q)
    assert contacts.holding(['left_foot'], q, move=True) is other
    assert np.abs(other.residual(q)).max() < 1e-12


def test_machines_without_these_contacts_have_no_forces() -> None:
    contacts, (q, v, _) = contacts_of('point'), state(1)
    lifted, bare = contacts.holding([], q), ConstrainedDynamics(walker())
    for machine in (lifted, bare):
        assert contacts.forces(machine, q, machine.forward(q, v, 0.0 * v)) == {}
    found = contacts.impact(lifted, q, v)
    assert found.impulses == {}
    assert_same(found.v, v, 1e-10)
    with pytest.raises(ModelError) as caught:  # it would say nothing of the contacts
        contacts.impact(bare, q, v)
    assert (caught.value.names, caught.value.got) == (('walker',), ())
    other = ConstrainedDynamics(box((0.0, 0.0, 0.0), 1.0).model)
    with pytest.raises(ModelError) as caught:
        contacts.impact(other, q, v)
    assert (caught.value.names, caught.value.expected) == (('box',), 'walker')


def test_a_contact_is_refused_where_it_is_written() -> None:
    for friction in (-1.0, math.nan):
        with pytest.raises(LimitError) as caught:
            Contact('tail', friction=friction)
        assert caught.value.names == ('tail',)
    for friction in ('rough', None, [0.5, 0.5]):
        with pytest.raises(LiedynError):
            Contact('tail', friction=friction)
    with pytest.raises(ModelError) as mistyped:
        Contact('tail', 'pont')
    assert mistyped.value.got == 'pont'
    contacts, (q, v, _) = contacts_of('point'), state(0)
    with pytest.raises(LimitError) as endless:
        contacts.impact(contacts.holding(['tail'], q), q, v, sliding=True)
    assert endless.value.names == ('tail',)
