# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Differences of Pinocchio's derivatives, and the case in which 4.1 is no witness."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.example_robots import example_robot
from support.witnesses.tangents import difference

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import Regressor
from liedyn_ros.model import load_model, load_urdf, ModelBuilder, SpatialInertia

pin = pytest.importorskip('pinocchio')
to_pinocchio = pytest.importorskip('support.witnesses.pinocchio_twin').to_pinocchio


def test_second_derivatives_beside_differences() -> None:
    model, rng = load_model(config_file('aerial_manipulator.yaml')), np.random.default_rng(3)
    twin, q, (v, a, dq, dv, da) = to_pinocchio(model), model.random(rng), rng.normal(
        size=(5, model.nv))
    data = twin.model.createData()

    def theirs(s):
        jacobians = pin.computeRNEADerivatives(
            twin.model, data, twin.to_configuration(model.integrate(q, s * dq)),
            twin.to_velocity(v + s * dv), twin.to_velocity(a + s * da))
        return np.array([twin.from_velocity(twin.from_velocity(each.T).T) for each in jacobians])

    by_q, by_v, mass = difference(theirs)
    got = Dynamics(model, dissipation=False).inverse.partial_derivatives.second_derivatives(
        q, v, a)
    for ours, other in (
            (got.by_qq @ dq + got.by_qv @ dv + got.by_qa @ da, by_q),
            (np.einsum('ikj,k->ij', got.by_qv, dq) + got.by_vv @ dv, by_v),
            (np.einsum('ikj,k->ij', got.by_qa, dq), mass)):
        np.testing.assert_allclose(ours, other, atol=1e-8 * np.abs(other).max())


def test_pinocchio_is_wrong_at_a_universal_joint() -> None:
    """Fails when a later Pinocchio is right: then docs/partial_derivatives.md changes."""
    com, moments, x, y = np.array([0.1, 0.2, 0.3]), np.diag([0.2, 0.3, 0.4]), *np.eye(3)[:2]
    theirs = pin.Model()
    joint = theirs.addJoint(0, pin.JointModelUniversal(x, y), pin.SE3.Identity(), 'joint')
    theirs.appendBodyToJoint(joint, pin.Inertia(1.0, com, moments), pin.SE3.Identity())
    builder = ModelBuilder('universal')
    builder.add_body('body', SpatialInertia(1.0, com, moments))
    builder.add_joint('joint', 'universal', None, 'body', axis=x, second_axis=y)
    ours = Dynamics(builder.build())
    q, v, a = np.array([0.3, 0.8]), np.array([0.5, -0.7]), np.array([0.2, 0.4])
    data = theirs.createData()

    def rnea(at, rate):
        return pin.rnea(theirs, data, at, rate, a).copy()

    np.testing.assert_allclose(rnea(q, v), ours.inverse(q, v, a), rtol=1e-12)
    by_q, by_v, _ = pin.computeRNEADerivatives(theirs, data, q, v, a)
    got, units = ours.inverse.partial_derivatives(q, v, a), np.eye(2)
    for mine, other, wanted in (
            (got.by_q, by_q, [difference(lambda s, e=e: rnea(q + s * e, v)) for e in units]),
            (got.by_v, by_v, [difference(lambda s, e=e: rnea(q, v + s * e)) for e in units])):
        wanted, size = np.transpose(wanted), np.abs(wanted).max()
        assert np.abs(mine - wanted).max() < 1e-10 * size
        assert np.abs(other - wanted).max() > 0.01 * size


pinocchio_twin = pytest.importorskip('support.witnesses.pinocchio_twin')

ROBOTS = {  # path, and whether its base floats
    'panda': ('panda_description/urdf/panda.urdf', False),
    'solo': ('solo_description/robots/solo12.urdf', True),
    'talos': ('talos_data/robots/talos_reduced.urdf', True)}


@pytest.mark.filterwarnings('ignore::liedyn_ros.common.errors.DescriptionWarning')
@pytest.mark.parametrize('name', ROBOTS)
def test_jacobians_and_regressor(name: str) -> None:
    path, floating = ROBOTS[name]
    model, rng = load_urdf(example_robot(path), floating=floating), np.random.default_rng(1)
    twin, d = pinocchio_twin.to_pinocchio(model), Dynamics(model, dissipation=False)
    q, (v, a) = model.random(rng), rng.normal(size=(2, model.nv))
    theirs = []
    for ours, wanted in pinocchio_twin.partial_derivatives_of_both(d, twin, q, v, a):
        assert_same(ours, wanted)
        theirs.append(wanted)
    x, y, zero, tau = *rng.normal(size=(2, model.nv)), np.zeros(model.nv), d.inverse(q, v, a)
    for partial, given, by_q, by_v in ((d.inverse.partial_derivatives, a, *theirs[:2]),
                                       (d.forward.partial_derivatives, tau, *theirs[2:])):
        assert_same(partial.product(q, v, given, x, y, zero), by_q @ x + by_v @ y)
        gradient = partial.gradient(q, v, given, y)
        assert_same(gradient.by_q, y @ by_q)
        assert_same(gradient.by_v, y @ by_v)
    there = twin.to_configuration(q), twin.to_velocity(v)
    # Its columns are those of joints, which carry bodies behind fixed joints too.
    regressor = pin.computeJointTorqueRegressor(
        twin.model, twin.model.createData(), *there, twin.to_velocity(a))
    forces = regressor @ np.concatenate(
        [inertia.toDynamicParameters() for inertia in list(twin.model.inertias)[1:]])
    ours = Regressor(model)
    assert_same(ours.torque(q, v, a) @ ours.parameters, twin.from_velocity(forces))
