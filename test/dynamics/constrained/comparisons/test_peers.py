# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same numbers as Pinocchio, MuJoCo and the platform's virtual work."""

from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import pytest
from support.machines.looped_machines import four_bar, random_looped
from support.platforms.stewart_motion import GEOMETRY, leg_forces, motion

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, ConstraintStatus, mobility, project)
from liedyn_ros.lie import so3
from liedyn_ros.model import Model, ModelBuilder, pose
from liedyn_ros.stewart import load_geometry, model_state, platform_model

pin = pytest.importorskip('pinocchio')
pinocchio_twin = pytest.importorskip('support.witnesses.pinocchio_twin')

KINDS = ('revolute', 'prismatic', 'spherical')
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]


def constraint(twin, closure, reference):
    """Return a closure as Pinocchio has it: its frame one on body b, its frame two on body a."""
    sides = []
    for body, frame in ((closure.body_b, closure.frame_b), (closure.body_a, closure.frame_a)):
        if body is None:
            sides += [0, pin.SE3(frame)]
        else:
            place = twin.model.frames[twin.model.getFrameId(body)]
            sides += [place.parentJoint, place.placement * pin.SE3(frame)]
    types = {'weld': pin.ContactType.CONTACT_6D, 'spherical': pin.ContactType.CONTACT_3D}
    return pin.RigidConstraintModel(types[closure.type_name], twin.model, *sides, reference)


@pytest.mark.parametrize('closures', [('weld',), ('spherical',), ('spherical', 'spherical')])
@pytest.mark.parametrize('floating', [False, True])
@pytest.mark.parametrize('grounded', [False, True])
def test_accelerations_and_forces(closures: tuple[str, ...], floating: bool,
                                  grounded: bool) -> None:
    looped = random_looped(80, closures, 10, KINDS, floating=floating, grounded=grounded)
    model, rng = looped.model, np.random.default_rng(9)
    q, v = project(ConstrainedDynamics(model), looped.q, rng.normal(size=model.nv))
    assert_same_dynamics(model, q, v, rng.normal(size=model.nv))


@pytest.mark.parametrize(('form', 'height'), [('hexaglide', 0.55), ('cranks', 0.24)])
def test_platforms_on_rails_and_cranks(form: str, height: float) -> None:
    geometry = load_geometry(config_file(f'stewart_{form}.yaml'))
    model, rng = platform_model(geometry), np.random.default_rng(2)
    q, v = model_state(geometry, pose([0.01, 0.0, height]), rng.normal(size=6))
    assert_same_dynamics(model, q, v, np.where(model.actuated, rng.normal(size=model.nv), 0.0))


@pytest.mark.parametrize('floating', [False, True])
def test_velocities_off_the_constraints(floating: bool) -> None:
    looped = random_looped(81, ('weld',), 10, KINDS, floating=floating, grounded=True)
    model, rng = looped.model, np.random.default_rng(9)
    q, v, tau = looped.q, *rng.normal(size=(2, model.nv))
    assert_same_dynamics(model, q, v, tau, closed=False)
    dynamics = ConstrainedDynamics(model)
    with pytest.raises(LiedynError) as caught:
        dynamics.forward(q, v, tau)
    assert any(name.startswith(model.closures[0].name) for name in caught.value.names)
    after = project(dynamics, q, v)[1]  # as an impact would
    np.testing.assert_array_equal(
        dynamics.forward(q, v, tau, project=True).a, dynamics.forward(q, after, tau).a)


def assert_same_dynamics(model: Model, q: Array, v: Array, tau: Array, *, closed: bool = True
                         ) -> None:
    """Require the same accelerations of both, and closure forces where these are unique."""
    dynamics = ConstrainedDynamics(model, dissipation=False)
    solution = dynamics.forward(q, v, tau, closed=closed)
    twin = pinocchio_twin.to_pinocchio(model)
    data = twin.model.createData()
    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for each in model.closures:
        constraints.append(constraint(twin, each, pin.LOCAL))
        datas.append(constraints[len(constraints) - 1].createData())
    pin.initConstraintDynamics(twin.model, data, constraints, datas)
    settings = pin.ProximalSettings(1e-14, 1e-12, 30)
    theirs = pin.constraintDynamics(
        twin.model, data, twin.to_configuration(q), twin.to_velocity(v), twin.to_velocity(tau),
        constraints, datas, settings)
    scale = 1.0 + np.abs(solution.a).max()
    assert np.abs(twin.from_velocity(theirs) - solution.a).max() < 1e-8 * scale
    if solution.rank == len(solution.multipliers):
        forces = np.array([each.contact_force.vector[ANGULAR_FIRST] for each in datas])
        scale = 1.0 + np.abs(solution.wrenches).max()
        assert np.abs(forces - solution.wrenches).max() < 1e-8 * scale


def test_a_planar_four_bar_that_pinocchio_locks_moves_here() -> None:
    # With all six rows a planar loop has redundant ones (pinocchio#2729).
    model = four_bar()
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q = assemble(dynamics)
    solution = dynamics.forward(q, np.zeros(3), [1.0, 0.0, 0.0])
    assert solution.rank == 2
    # Mobility 1: the acceleration of the crank is its force over the reduced inertia.
    null = np.linalg.svd(dynamics.jacobian(q))[2][2]
    mass = dynamics.tree.mass_matrix(q)
    need = np.array([1.0, 0.0, 0.0]) - dynamics.tree.gravity_vector(q)
    assert solution.a == pytest.approx(null * (null @ need) / (null @ mass @ null))


mujoco = pytest.importorskip('mujoco')

JOINTS = {'revolute': 'hinge', 'prismatic': 'slide'}
EQUALITIES = {'spherical': 'connect', 'weld': 'weld'}
IMPEDANCES = (0.9, 0.99, 0.999, 0.9999)  # the last is the largest that MuJoCo takes


@pytest.mark.parametrize('closures, joints', [
    (('spherical',), 9), (('spherical', 'spherical'), 9), (('weld',), 12), ((), 9)])
def test_stiffened_constraints_approach_these_accelerations(
        closures: tuple[str, ...], joints: int) -> None:
    looped = random_looped(94, closures, joints, ('revolute', 'prismatic', 'revolute'))
    model, rng = looped.model, np.random.default_rng(86)
    if not closures:
        builder = ModelBuilder.of(model)
        builder.add_coupling('revolute_3', 'prismatic_1', -1.7, 0.2)
        model = builder.build()
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q, v = project(dynamics, looped.q, np.zeros(model.nv))
    tau = rng.normal(size=model.nv)
    wanted = dynamics.forward(q, v, tau).a
    change = np.abs(dynamics.tree.forward(q, v, tau) - wanted).max()  # by the constraints
    found = [accelerations(model, q, tau, each) for each in IMPEDANCES]
    errors = [np.abs(each - wanted).max() / change for each in found]
    assert errors[-1] < 1e-3
    for soft, stiff in pairwise(errors):
        assert stiff < 0.2 * soft
    # The error is in proportion to (1 - d) / d: without it they are the same.
    before, last = ((1.0 - each) / each for each in IMPEDANCES[-2:])
    limit = found[-1] + (found[-1] - found[-2]) * last / (before - last)
    assert np.abs(limit - wanted).max() < 1e-5 * change


def accelerations(model: Model, q: Array, tau: Array, impedance: float) -> Array:
    """Return the accelerations of MuJoCo at rest."""
    machine = mujoco.MjModel.from_xml_string(document(model, impedance))
    data = mujoco.MjData(machine)
    data.qpos[:], data.qfrc_applied[:] = q, tau
    mujoco.mj_forward(machine, data)
    return data.qacc.copy()


def document(model: Model, impedance: float) -> str:
    """Return a model as MuJoCo reads it."""
    root = Element('mujoco')
    SubElement(root, 'compiler', angle='radian')
    SubElement(root, 'option', gravity=text(model.gravity), solver='Newton', tolerance='0',
               iterations='50')
    places: dict[str | None, Element] = {None: SubElement(root, 'worldbody')}
    for body, joint in zip(model.body_list, model.joint_list):
        place = SubElement(places[joint.parent], 'body', **placed(joint.placement))
        SubElement(place, 'joint', name=joint.name, type=JOINTS[joint.type_name],
                   axis=text(joint.axis))
        assert body.inertia is not None
        moments = body.inertia.inertia_about_com[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        SubElement(place, 'inertial', pos=text(body.inertia.center_of_mass),
                   mass=repr(body.inertia.mass), fullinertia=text(moments))
        places[body.name] = place
    held = SubElement(root, 'equality')
    softness = {'solimp': text([impedance, impedance, 1.0])}
    for closure in model.closures:
        for side, name, frame in (('a', closure.body_a, closure.frame_a),
                                  ('b', closure.body_b, closure.frame_b)):
            SubElement(places[name], 'site', name=f'{closure.name}_{side}', **placed(frame))
        SubElement(held, EQUALITIES[closure.type_name], site1=f'{closure.name}_a',
                   site2=f'{closure.name}_b', **softness)
    for coupling in model.couplings:
        SubElement(held, 'joint', joint1=coupling.joint, joint2=coupling.leader,
                   polycoef=text([coupling.offset, coupling.multiplier, 0, 0, 0]), **softness)
    return tostring(root, encoding='unicode')


def placed(pose: Array) -> dict[str, str]:
    """Return a pose as attributes; MuJoCo's quaternions begin with the scalar."""
    return {'pos': text(pose[:3, 3]), 'quat': text(np.roll(so3.to_quaternion(pose[:3, :3]), 1))}


def text(numbers: object) -> str:
    """Return numbers as an attribute."""
    return ' '.join(map(repr, np.asarray(numbers, dtype=float).tolist()))


STATES = 200


def test_leg_forces_are_those_of_virtual_work() -> None:
    dynamics, rng = ConstrainedDynamics(platform_model(GEOMETRY)), np.random.default_rng(12)
    for _ in range(STATES):
        moved = motion(rng)
        q, v = model_state(GEOMETRY, moved.pose, moved.twist)
        assert np.abs(dynamics.model.difference(q, moved.q)).max() < 1e-12
        assert np.abs(v - moved.v).max() < 1e-12 * (1.0 + np.abs(v).max())
        solution = dynamics.inverse(moved.q, moved.v, moved.a)
        expected = leg_forces(moved)
        scale = 1.0 + np.abs(expected).max()
        assert np.abs(solution.tau[8::3] - expected).max() < 1e-9 * scale
        assert solution.status is ConstraintStatus.REGULAR


def test_forward_dynamics_gives_the_motion_back() -> None:
    dynamics, rng = ConstrainedDynamics(platform_model(GEOMETRY)), np.random.default_rng(13)
    for _ in range(20):
        moved = motion(rng)
        forces = np.zeros(24)
        forces[8::3] = leg_forces(moved)
        a = dynamics.forward(moved.q, moved.v, forces).a
        assert np.abs(a - moved.a).max() < 1e-8 * (1.0 + np.abs(moved.a).max())


def test_round_trip_to_order_five_and_power() -> None:
    dynamics, rng = ConstrainedDynamics(platform_model(GEOMETRY)), np.random.default_rng(14)
    moved, forces = motion(rng), np.zeros((6, 24))
    forces[:, 8::3] = rng.normal(size=(6, 6)) * 20.0
    there = dynamics.forward(moved.q, moved.v, forces)
    back = dynamics.inverse(moved.q, moved.v, there.a)
    for k in range(6):
        scale = np.abs(there.a[:k + 1]).max()
        assert np.abs(back.tau[k] - forces[k]).max() < 1e-9 * (1.0 + scale)
    # What legs put in is the rate of energy: constraint forces do no work.
    tree, h = dynamics.tree, 1e-5
    energy = [tree.kinetic_energy(q, v) + tree.potential_energy(q) for q, v in (
        (dynamics.model.integrate(moved.q, s * h * moved.v + 0.5 * h * h * there.a[0]),
         moved.v + s * h * there.a[0]) for s in (-1.0, 1.0))]
    power = forces[0] @ moved.v
    assert (energy[1] - energy[0]) / (2.0 * h) == pytest.approx(power, rel=1e-5, abs=1e-5)


def test_the_platform_has_six_freedoms() -> None:
    dynamics = ConstrainedDynamics(platform_model(GEOMETRY))
    found = mobility(dynamics, motion(np.random.default_rng(1)).q)
    assert (found.degrees_of_freedom, found.rank, found.redundant) == (6, 18, ())
