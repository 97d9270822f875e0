# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Derivatives of closed loops beside Pinocchio's constraintDynamics and its derivatives.

Pinocchio continues off the constraints in another way, so that displacements are compared along
the constraints, with the change of velocity that keeps A v. Its derivatives are wrong at universal
joints (test_pinocchio.py): these become two revolute joints with a massless body between them.
Those by q are wrong for points held together in machines on the ground too, as differences of its
own constraintDynamics show. Its proximal term of 1e-12 is of the size of what redundant
constraints leave regular, and leaves six digits to its derivatives there.
"""

from dataclasses import replace

import numpy as np
import pytest
from support.machines.looped_machines import planar_linkage
from support.witnesses.tangents import difference

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, project
from liedyn_ros.lie import se3
from liedyn_ros.model import annotate, load_urdf, Model, ModelBuilder
from liedyn_ros.stewart import load_geometry
from liedyn_ros.stewart.dynamics.closed_loop_model import model_state, platform_model

pin = pytest.importorskip('pinocchio')


def split(model: Model) -> Model:
    """Return the machine with two revolute joints for each universal one; q and v stay."""
    builder = ModelBuilder(model.name, gravity=model.gravity)
    for body, joint in zip(model.body_list, model.joint_list):
        parent, kind, place, axis = joint.parent, joint.type_name, joint.placement, joint.axis
        if kind == 'universal':
            between = f'{body.name}_cross'
            builder.add_body(between, None)
            builder.add_joint(f'{joint.name}_first', 'revolute', parent, between, axis=axis,
                              placement=place, actuated=False)
            parent, kind, place, axis = between, 'revolute', np.eye(4), joint.second_axis
        builder.add_body(body.name, body.inertia)
        given = {} if kind in ('free', 'spherical') else {'axis': axis}
        builder.add_joint(joint.name, kind, parent, body.name, placement=place,
                          actuated=joint.actuated, **given)
    return replace(builder.build(), closures=model.closures)


def four_bar():
    """Return a four bar linkage whose last joint is a ball: one of its rows is redundant."""
    model = planar_linkage((0.2, 0.5), (0.4,), 0.45, ('left_0',), 'spherical')
    return model, assemble(ConstrainedDynamics(model))


def five_bar():
    """Return a five bar linkage, with a ball too."""
    model = planar_linkage((0.3, 0.4), (0.3, 0.4), 0.25, ('left_0', 'right_0'), 'spherical')
    return model, assemble(ConstrainedDynamics(model), np.array([2.0, -1.0, 1.0, 1.0]))


def leg():
    """Return the leg of the package, the end of its push rod a ball."""
    model = annotate(
        load_urdf(config_file('linkage_leg.urdf')), config_file('linkage_leg_loops.yaml'))
    model = replace(model, closures=tuple(
        replace(closure, type_name='spherical') for closure in model.closures))
    return model, assemble(ConstrainedDynamics(model))


def stewart():
    """Return the platform of the package."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    q, _ = model_state(
        geometry, se3.exp([0.1, -0.05, 0.2, 0.02, -0.03, 0.5]), np.zeros(6))
    return split(platform_model(geometry)), q


def theirs_of(model: Model, q, v, tau):
    """Return Pinocchio's da/dq, da/dv and da/dtau in our order, and its a."""
    from support.witnesses.pinocchio_twin import to_pinocchio
    twin = to_pinocchio(model)
    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for closure in model.closures:
        sides = []
        for body, frame in ((closure.body_b, closure.frame_b), (closure.body_a, closure.frame_a)):
            place = twin.model.frames[twin.model.getFrameId(body)]
            sides += [place.parentJoint, place.placement * pin.SE3(frame)]
        constraints.append(pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, twin.model, *sides, pin.LOCAL))
        datas.append(constraints[len(constraints) - 1].createData())
    data = twin.model.createData()
    pin.initConstraintDynamics(twin.model, data, constraints, datas)
    pin.constraintDynamics(
        twin.model, data, twin.to_configuration(q), twin.to_velocity(v), twin.to_velocity(tau),
        constraints, datas, pin.ProximalSettings(1e-14, 1e-12, 50))
    pin.computeConstraintDynamicsDerivatives(twin.model, data, constraints, datas)
    return [twin.from_velocity(twin.from_velocity(x.T).T) for x in (
        data.ddq_dq, data.ddq_dv, data.ddq_dtau)], twin.from_velocity(data.ddq)


@pytest.mark.parametrize('machine', (four_bar, five_bar, leg, stewart))
def test_pinocchio_agrees(machine) -> None:
    """Where its derivatives by q are right in a later release, the documents change."""
    (model, q), rng = machine(), np.random.default_rng(9)
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q, v = project(dynamics, q, rng.normal(size=model.nv))
    tau = rng.normal(size=model.nv)
    (by_q, by_v, by_tau), a = theirs_of(model, q, v, tau)
    got = dynamics.forward.partial_derivatives(q, v, tau)

    def error(ours, other):
        return np.abs(ours - other).max() / max(1.0, np.abs(ours).max())

    rows = dynamics.jacobian(q)
    allowed = np.linalg.svd(rows)[2][dynamics.mobility.rank:].T
    assert error(got.a, a) < 1e-9
    assert error(got.by_tau, by_tau) < 1e-6
    assert error(got.by_v @ allowed, by_v @ allowed) < 1e-6
    x = allowed @ rng.normal(size=allowed.shape[1])
    change = np.linalg.lstsq(rows, -difference(
        lambda s: dynamics.jacobian(model.integrate(q, s * x)) @ v), rcond=None)[0]
    wanted = difference(
        lambda s: theirs_of(model, model.integrate(q, s * x), v + s * change, tau)[1])
    assert error(got.by_q @ x + got.by_v @ change, wanted) < 1e-9
    theirs = error(wanted, by_q @ x + by_v @ change)
    assert theirs < 1e-6 if machine is stewart else theirs > 0.01
