# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Regressors of joint forces, energies and momentum beside the recursions and Pinocchio."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import make_case, TREES
from support.refusals import refused

from liedyn_ros.common.errors import NotFiniteError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import Regressor
from liedyn_ros.model import (
    ModelBuilder, pose, scale_masses, SpatialInertia, with_inertias, with_resistances)

TOLERANCE = 1e-12


@pytest.mark.parametrize(('seed', 'floating'), TREES[:4])
@pytest.mark.parametrize('dissipation', (False, True))
def test_regressors_times_parameters(seed: int, floating: bool, dissipation: bool) -> None:
    case = make_case(seed, floating, dissipation)
    regressor, d, state = Regressor(case.model, dissipation=dissipation), case.dynamics, (
        case.q, case.v)
    pi = regressor.parameters
    assert len(regressor.names) == len(pi) == len(set(regressor.names))
    assert_same(regressor.torque(*state, case.a) @ pi, d.inverse(*state, case.a), TOLERANCE)
    assert regressor.kinetic_energy(*state) @ pi == pytest.approx(d.kinetic_energy(*state))
    assert regressor.potential_energy(case.q) @ pi == pytest.approx(d.potential_energy(case.q))
    assert_same(regressor.momentum(*state) @ pi, d.momentum(*state), TOLERANCE)


@pytest.mark.parametrize('floating', (False, True))
def test_a_batch_has_the_regressor_of_each_state(floating: bool) -> None:
    case = make_case(2, floating)
    regressor, rng, nv = Regressor(case.model, dissipation=True, rotor_inertia=True), case.rng, (
        case.model.nv)
    q = np.array([case.model.random(rng) for _ in range(5)])
    v, a = rng.normal(size=(2, 5, nv))
    for got, *state in zip(regressor.torque_batch(q, v, a), q, v, a):
        np.testing.assert_array_equal(got, regressor.torque(*state))
    assert regressor.torque_batch(q[:0], v[:0], a[:0]).shape == (0, nv, len(regressor.names))
    with refused(ShapeError, 'q'):
        regressor.torque_batch(q[0], v[0], a[0])
    with refused(ShapeError, 'v'):
        regressor.torque_batch(q, v[:4], a)
    q[3] = np.nan
    with refused(NotFiniteError, 'q'):
        regressor.torque_batch(q, v, a)


def test_parameters_of_another_model_give_its_forces() -> None:
    case = make_case(1, True)
    heavy = scale_masses(case.model, 1.7)
    regressor = Regressor(case.model)
    np.testing.assert_allclose(Regressor(heavy).parameters, 1.7 * regressor.parameters)
    k = regressor.names.index('body_3/xy')
    changed = regressor.parameters.copy()
    changed[k] += 1.0
    column = regressor.torque(case.q, case.v, case.a)[:, k]
    assert_same(regressor.torque(case.q, case.v, case.a) @ changed,
                case.dynamics.inverse(case.q, case.v, case.a) + column, TOLERANCE)


def test_rotor_inertia_adds_its_column() -> None:
    case = make_case(0, False)
    regressor = Regressor(case.model, dissipation=True, rotor_inertia=True)
    matrix = regressor.torque(case.q, case.v, case.a)
    np.testing.assert_array_equal(matrix[:, -case.model.nv:], np.diag(case.a))
    assert regressor.names[-1] == f'{case.model.coordinate_names[-1]}/rotor_inertia'
    assert not regressor.parameters[-case.model.nv:].any()
    row = regressor.kinetic_energy(case.q, case.v)
    np.testing.assert_array_equal(row[-case.model.nv:], 0.5 * case.v**2)


@pytest.mark.parametrize(('seed', 'floating'), TREES[:4])
def test_pinocchio_has_the_same_regressor(seed: int, floating: bool) -> None:
    pin = pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import to_pinocchio
    case = make_case(seed, floating)
    twin = to_pinocchio(case.model)
    theirs = twin.from_velocity(pin.computeJointTorqueRegressor(
        twin.model, twin.model.createData(), twin.to_configuration(case.q),
        twin.to_velocity(case.v), twin.to_velocity(case.a)).T).T
    ours = Regressor(case.model)
    matrix = ours.torque(case.q, case.v, case.a)
    order = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # theirs has xx, xy, yy, xz, yz, zz
    for joint, body in zip(case.model.joint_list, case.model.bodies):
        if joint.type_name == 'fixed':  # theirs has merged it, and the next lines would fail
            assert not twin.model.existJointName(joint.name)
            continue
        at = 10 * (twin.model.getJointId(joint.name) - 1)
        own = 10 * case.model.body_index(body)
        assert_same(matrix[:, own:own + 10][:, order], theirs[:, at:at + 10], TOLERANCE)


def test_refusals() -> None:
    case = make_case(0, False)
    with refused(ShapeError, 'a'):
        Regressor(case.model).torque(case.q, case.v, case.a[1:])
    with refused(NotFiniteError, 'v', indices=(0,)):
        Regressor(case.model).momentum(case.q, np.full_like(case.v, np.nan))


def test_accelerations_with_damping_and_friction_beside_models_that_differ() -> None:
    case = make_case(2, True, dissipation=True)
    model, (q, v), tau, h = case.model, (case.q, case.v), np.zeros(case.model.nv), 1e-6
    matrix = Regressor(model, dissipation=True).acceleration(q, v, tau)
    names, coordinate = Regressor(model, dissipation=True).names, model.coordinate_names[-1]
    assert np.asarray(model.link_table.damping).any()
    damping = float(model.link_table.damping[-1])
    ends = [Dynamics(with_resistances(model, {coordinate: damping + s * h}, {})).forward(
        q, v, tau) for s in (1.0, -1.0)]
    column = matrix[:, names.index(f'{coordinate}/damping')]
    assert_same((ends[0] - ends[1]) / (2.0 * h), column, 1e-6)
    body = model.body_list[-1]
    inertia = body.inertia.parameters()
    heavier = [Dynamics(with_inertias(model, {body.name: inertia * (1.0 + s * h)})).forward(
        q, v, tau) for s in (1.0, -1.0)]
    columns = [i for i, name in enumerate(names) if name.startswith(f'{body.name}/')]
    assert_same((heavier[0] - heavier[1]) / (2.0 * h), matrix[:, columns] @ inertia, 1e-6)


def test_a_body_on_the_ground_has_no_energy_of_its_own() -> None:
    builder, inertia = ModelBuilder('mast'), SpatialInertia(2.0, [0.0, 0.0, 0.3], np.eye(3))
    for name, parent, kind in (('mast', None, 'fixed'), ('arm', 'mast', 'revolute')):
        builder.add_body(name, inertia)
        builder.add_joint(name, kind, parent, name, placement=pose([0.0, 0.0, 0.5]),
                          axis=[0, 1, 0] if kind == 'revolute' else None)
    model = builder.build()
    regressor = Regressor(model)
    row = regressor.potential_energy([0.4])
    fixed = [name.startswith('mast/') for name in regressor.names]
    assert not row[fixed].any() and row[np.logical_not(fixed)].any()
    assert row @ regressor.parameters == pytest.approx(Dynamics(model).potential_energy([0.4]))
