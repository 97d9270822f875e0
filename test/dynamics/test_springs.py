# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Springs, end stops and armatures of trees: the machine without them, energy, and MuJoCo."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case, make_case, TREES
from support.machines.model_variants import spring_series, sprung
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError, LimitError, ModelError
from liedyn_ros.dynamics import (
    Dynamics, runge_kutta_munthe_kaas, stormer_verlet, TreeMotion)
from liedyn_ros.dynamics.lagrangian import product_of_exponentials
from liedyn_ros.identification import Regressor
from liedyn_ros.lie import so3
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia

ORDER = 6


@pytest.fixture(params=TREES, ids=lambda tree: f'seed {tree[0]}{" floating" * tree[1]}')
def loaded(request) -> Case:
    """Return a machine with a spring and an armature at each axis."""
    return make_case(*request.param, springs=True)


def bare(case: Case) -> Dynamics:
    """Return the dynamics without them."""
    return Dynamics(random_model(int(case.model.name.split('_')[1]), 10,
                                 'base_joint' in case.model.joints), dissipation=False)


def extra(case: Case, motion) -> np.ndarray:
    """Return what springs and armatures add to forces along v, a, a', ...; rows are orders."""
    table = case.model.link_table
    return spring_series(case.model, case.q, motion[:-2]) + table.armature * motion[1:]


def random_motion(case: Case, order: int) -> np.ndarray:
    """Return v, a and its derivatives."""
    return case.rng.normal(size=(order + 2, case.model.nv))


def test_each_algorithm_is_the_machine_without_them_under_other_forces(loaded: Case) -> None:
    d, (v, a), w = loaded.dynamics, random_motion(loaded, 0), loaded.external
    plain, q, armature = bare(loaded), loaded.q, loaded.model.link_table.armature
    tau = d.inverse(q, v, a, w)
    assert_same(tau, plain.inverse(q, v, a, w) + extra(loaded, np.array([v, a]))[0])
    assert_same(d.forward(q, v, tau, w), a)
    assert_same(d.mass_matrix(q), plain.mass_matrix(q) + np.diag(armature))
    assert_same(d.inverse_mass_matrix(q) @ d.mass_matrix(q), np.eye(len(v)))
    assert_same(d.gravity_vector(q), plain.gravity_vector(q))
    assert_same(d.kinetic_energy(q, v), plain.kinetic_energy(q, v) + 0.5 * armature @ v**2)
    assert_same(d.momentum(q, v), plain.momentum(q, v))
    given = loaded.rng.random(len(v)) < 0.5
    found = d.hybrid(q, v, given, np.where(given, a, 0.0), np.where(given, 0.0, tau), w)
    assert_same(found[0], a)
    assert_same(found[1], tau)
    rest = np.zeros_like(v)
    bias = d.coriolis_matrix(q, v) @ v + d.gravity_vector(q) + d.spring_forces(q)
    assert_same(bias, d.bias(q, v))
    assert_same(TreeMotion(loaded.model, q, [v, a]).equations.mass[0], d.mass_matrix(q))
    regressor = Regressor(loaded.model, rotor_inertia=True)
    assert_same(regressor.torque(q, v, a) @ regressor.parameters + d.spring_forces(q),
                d.inverse(q, v, a))
    assert_same(regressor.kinetic_energy(q, v) @ regressor.parameters, d.kinetic_energy(q, v))
    factors = product_of_exponentials(loaded.model).to_model().link_table
    for name in ('stiffness', 'rest', 'armature', 'stops'):
        assert_same(getattr(factors, name), getattr(loaded.model.link_table, name))
    assert_same(d.inverse(q, rest, rest), d.gravity_vector(q) + d.spring_forces(q))
    assert_same(d.spring_forces(q), spring_series(loaded.model, q, [v])[0])
    assert_same(d.spring_forces_batch([q, q]), [d.spring_forces(q)] * 2)


def test_time_derivatives(loaded: Case) -> None:
    motion = random_motion(loaded, ORDER)
    d, q, v, a = loaded.dynamics, loaded.q, motion[0], motion[1:]
    tau = d.inverse.time_derivatives(q, v, a)
    assert_same(tau, bare(loaded).inverse.time_derivatives(q, v, a) + extra(loaded, motion))
    for order, row in enumerate(d.forward.time_derivatives(q, v, tau)):
        assert_same(row, a[order], 1e-6)
    given = loaded.rng.random(len(v)) < 0.5
    found = d.hybrid.time_derivatives(
        q, v, given, np.where(given, a, 0.0), np.where(given, 0.0, tau))
    assert_same(found[0], a, 1e-6)
    assert_same(found[1], tau, 1e-6)


def test_batches(loaded: Case) -> None:
    d, rng, model = loaded.dynamics, loaded.rng, loaded.model
    q = np.array([model.random(rng) for _ in range(11)])
    v, motion = rng.normal(size=(11, model.nv)), rng.normal(size=(11, 3, model.nv))
    tau = d.inverse.time_derivatives_batch(q, v, motion)
    for s in range(11):
        assert_same(tau[s], d.inverse.time_derivatives(q[s], v[s], motion[s]))
    assert_same(d.inverse.batch(q, v, motion[:, 0]), tau[:, 0])
    assert_same(d.forward.batch(q, v, tau[:, 0]), motion[:, 0], 1e-8)
    assert_same(d.forward.time_derivatives_batch(q, v, tau), motion, 1e-6)
    given = rng.random(model.nv) < 0.5
    found = d.hybrid.time_derivatives_batch(q, v, given, motion, tau)
    assert_same(found[0], motion, 1e-6)
    assert_same(found[1], tau, 1e-6)


def test_power_is_the_rate_of_energy(loaded: Case) -> None:
    d, q, v, tau = loaded.dynamics, loaded.q, loaded.v, loaded.rng.normal(size=loaded.model.nv)
    a, h = d.forward(q, v, tau), 1e-5

    def energy(t: float) -> float:
        there = loaded.model.integrate(q, t * v + 0.5 * t * t * a)
        return d.kinetic_energy(there, v + t * a) + d.potential_energy(there)

    rate = (energy(h) - energy(-h)) / (2.0 * h)
    assert rate == pytest.approx(tau @ v, abs=1e-6 * (abs(rate) + d.kinetic_energy(q, v)))


@pytest.mark.parametrize('step, tolerance', [
    (runge_kutta_munthe_kaas.step, 1e-9), (stormer_verlet.step, 1e-4)])
def test_integrators_keep_the_energy(step, tolerance: float) -> None:
    model = sprung(random_model(3, 6, True, ('revolute', 'prismatic', 'universal')), 3)
    d, rng = Dynamics(model, dissipation=False), np.random.default_rng(4)
    q, v, free = model.random(rng), 0.3 * rng.normal(size=model.nv), np.zeros(model.nv)
    start = d.kinetic_energy(q, v) + d.potential_energy(q)
    least, most = start, start
    scale = abs(start) + d.kinetic_energy(q, v)
    for _ in range(400):
        q, v = step(d, q, v, 1e-3, free)
        now = d.kinetic_energy(q, v) + d.potential_energy(q)
        least, most = min(least, now), max(most, now)
    assert most - least < tolerance * scale


def test_pinocchio_has_the_same_armature() -> None:
    pin = pytest.importorskip('pinocchio')
    model = sprung(random_model(5, 8, True, ('revolute', 'prismatic', 'continuous')), 5)
    d, rng = Dynamics(model, dissipation=False), np.random.default_rng(6)
    twin = pytest.importorskip('support.witnesses.pinocchio_twin').to_pinocchio(model)
    q, (v, tau) = model.random(rng), rng.normal(size=(2, model.nv))
    twin.model.armature = twin.to_velocity(model.link_table.armature)
    theirs = pin.aba(twin.model, twin.model.createData(), twin.to_configuration(q),
                     twin.to_velocity(v), twin.to_velocity(tau - d.spring_forces(q)))
    assert_same(d.forward(q, v, tau), twin.from_velocity(theirs), 1e-8)


def mjcf(model: Model) -> str:
    """Return a chain of hinges and slides as MuJoCo reads it."""
    def text(numbers) -> str:
        return ' '.join(map(repr, np.asarray(numbers, dtype=float).tolist()))

    opened, closing = '', ''
    for body, joint in zip(model.body_list, model.joint_list):
        assert body.inertia is not None
        moments = body.inertia.inertia_about_com[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        turn = np.roll(so3.to_quaternion(joint.placement[:3, :3]), 1)
        kind = {'revolute': 'hinge', 'prismatic': 'slide'}[joint.type_name]
        opened += (f'<body pos="{text(joint.placement[:3, 3])}" quat="{text(turn)}">'
                   f'<joint type="{kind}" axis="{text(joint.axis)}" '
                   f'stiffness="{joint.stiffness[0]}" springref="{joint.rest[0]}" '
                   f'armature="{joint.armature[0]}" damping="{joint.damping[0]}"/>'
                   f'<inertial pos="{text(body.inertia.center_of_mass)}" '
                   f'mass="{body.inertia.mass}" fullinertia="{text(moments)}"/>')
        closing += '</body>'
    return ('<mujoco><compiler angle="radian"/>'
            f'<option gravity="{text(model.gravity)}"/>'
            f'<worldbody>{opened}{closing}</worldbody></mujoco>')


def test_mujoco_has_the_same_springs_armatures_and_dampers() -> None:
    mujoco = pytest.importorskip('mujoco')
    builder, rng = ModelBuilder('chain', gravity=(1.0, -2.0, -9.0)), np.random.default_rng(8)
    source, parent = random_model(7, 6, False, ('revolute', 'prismatic')), None
    for body, joint in zip(source.body_list, source.joint_list):
        builder.add_body(body.name, body.inertia)
        builder.add_joint(joint.name, joint.type_name, parent, body.name, axis=joint.axis,
                          placement=joint.placement, damping=joint.damping)
        parent = body.name
    model = sprung(builder.build(), 8, stops=False)
    machine = mujoco.MjModel.from_xml_string(mjcf(model))
    data, (v, tau) = mujoco.MjData(machine), rng.normal(size=(2, model.nv))
    q = rng.normal(size=model.nq)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(machine, data)
    assert_same(Dynamics(model).forward(q, v, tau), data.qacc, 1e-9)


def test_an_armature_is_enough_for_a_body_without_mass() -> None:
    builder = ModelBuilder('motor', gravity=(0.0, 0.0, 0.0))
    builder.add_body('rotor', None)
    builder.add_joint('shaft', 'revolute', None, 'rotor', axis=[0, 0, 1], armature=0.5,
                      stiffness=2.0, rest=0.1)
    builder.add_body('point', SpatialInertia(1.0, [0, 0, 0.3], np.zeros((3, 3))))
    builder.add_joint('spin', 'revolute', None, 'point', axis=[0, 0, 1], armature=1e-9)
    d, one = Dynamics(builder.build()), np.ones(2)
    a = d.forward(one, one, one)
    assert_same(a, [(1.0 - 2.0 * 0.9) / 0.5, 1e9])
    assert_same(d.forward.batch(np.tile(one, (9, 1)), np.tile(one, (9, 1)),
                                np.tile(one, (9, 1)))[4], a)
    assert_same(d.inverse(one, one, a), one)


def test_a_spring_that_is_drawn_too_far_is_refused() -> None:
    builder = ModelBuilder('spring')
    builder.add_body('body', SpatialInertia(1.0, [0, 0, 0], np.eye(3)))
    builder.add_joint('j', 'prismatic', None, 'body', axis=[0, 0, 1], stiffness=1e10)
    with refused(LimitError, 'q'):
        Dynamics(builder.build()).spring_forces([1e300])


@pytest.mark.parametrize('kind', ('spherical', 'free'))
@pytest.mark.parametrize('name', ('stiffness', 'rest', 'armature'))
def test_a_joint_about_a_point_has_none(kind: str, name: str) -> None:
    builder = ModelBuilder('ball')
    builder.add_body('body', SpatialInertia(1.0, [0, 0, 0], np.eye(3)))
    with refused(ModelError, 'joint j', got=[1.0] * {'spherical': 3, 'free': 6}[kind]):
        builder.add_joint('j', kind, None, 'body', **{name: 1.0})


@pytest.mark.parametrize('values', (
    {'stiffness': -1.0}, {'armature': -1e-9}, {'stiffness': np.inf}, {'rest': np.inf},
    {'rest': -np.inf}, {'armature': [1.0]}))
def test_wrong_numbers_are_refused(values) -> None:
    builder = ModelBuilder('wheel')
    builder.add_body('body', SpatialInertia(1.0, [0, 0, 0], np.eye(3)))
    values = {name: value if np.ndim(value) == 0 else [*value, np.inf]
              for name, value in values.items()}
    with refused(LiedynError, *values):
        builder.add_joint('j', 'revolute', None, 'body', axis=[0, 0, 1], **values)


@pytest.mark.parametrize('kind, values, got', (
    ('revolute', {'limits': {'upper': 1.0}}, [0.0]),
    ('continuous', {'stop_width': 0.01}, 'none'), ('revolute', {'stop_width': 0.01}, 'none'),
    ('free', {'stop_width': 0.01}, [5.0] * 6),
    ('cylindrical', {'stop_width': 0.01, 'limits': {'lower': [0.0, -np.inf]}}, 'none')))
def test_stops_without_a_width_or_a_place_are_refused(kind: str, values, got: object) -> None:
    builder = ModelBuilder('door')
    builder.add_body('body', SpatialInertia(1.0, [0, 0, 0], np.eye(3)))
    with refused(ModelError, 'joint j', got=got):
        builder.add_joint('j', kind, None, 'body', axis=None if kind == 'free' else [0, 0, 1],
                          stop_stiffness=5.0, **values)


def test_scaled_and_locked_machines() -> None:
    model = sprung(random_model(9, 4, False, ('revolute', 'universal')), 9)
    builder = ModelBuilder.of(model)
    builder.lock_joint(model.joints[0], [0.3] * len(model.joint_list[0].armature))
    locked = builder.build()
    assert locked.joint(model.joints[0]).stiffness.shape == (0,)
    assert_same(locked.link_table.stiffness,
                model.link_table.stiffness[len(model.joint_list[0].armature):])
