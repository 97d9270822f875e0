# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Regressors of closed loops: inverse dynamics, Pinocchio's regressor, known base parameters."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import qr
from support.comparison import assert_same
from support.machines.loop_states import ALL, EVERY, state
from support.machines.looped_machines import five_bar, planar_linkage
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError, ModelError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics)
from liedyn_ros.identification import base_parameters, LoopRegressor, Regressor
from liedyn_ros.model import Model, ModelBuilder


def independent_of(dynamics, q):
    """Return coordinates that decide the motion."""
    known = np.ones(dynamics.model.nv, dtype=bool)
    known[qr(dynamics.jacobian(q), mode='r', pivoting=True)[1][:dynamics.mobility.rank]] = False
    return known


@pytest.mark.parametrize('name', ALL)
def test_parameters_give_the_forces_of_inverse_dynamics(name: str) -> None:
    """Those of the independent joints, all others being passive; and of all joints, projected."""
    dynamics, q, v, tau, _, _ = state(ALL[name])
    model, known = dynamics.model, independent_of(dynamics, q)
    regressor = LoopRegressor(model, independent=known, dissipation=True)
    a = dynamics.forward(q, v, tau[0]).a
    table, motions = model.link_table, regressor.motions(q)  # springs and motors are no columns
    others = dynamics.tree.spring_forces(q) + table.armature * a
    forces = regressor.torque(q, v, a) @ regressor.parameters + motions.T @ others
    assert_same(forces, dynamics.inverse(q, v, a, actuated=known).tau[known], 1e-10)
    assert_same(forces, regressor.project(q, tau[0]), 1e-10)
    assert_same(dynamics.jacobian(q) @ motions, 0.0, 1e-10, floor=1.0)
    assert_same(motions[known], np.eye(known.sum()), 1e-10)


def test_pinocchio_has_the_same_regressor() -> None:
    pin = pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import to_pinocchio
    dynamics, q, v, tau, _, _ = state(EVERY['balls'])
    model, known = dynamics.model, independent_of(dynamics, q)
    a, twin = dynamics.forward(q, v, tau[0]).a, to_pinocchio(model)
    theirs = twin.from_velocity(pin.computeJointTorqueRegressor(
        twin.model, twin.model.createData(), twin.to_configuration(q), twin.to_velocity(v),
        twin.to_velocity(a)).T).T
    matrix = LoopRegressor(model, independent=known).torque(q, v, a)
    order = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # theirs has xx, xy, yy, xz, yz, zz
    _, _, free = np.linalg.svd(dynamics.jacobian(q))
    free = free[dynamics.mobility.rank:].T  # a basis of the free motions by another algorithm
    free = free @ np.linalg.inv(free[known])
    for joint, body in zip(model.joint_list, model.bodies):
        at = 10 * (twin.model.getJointId(joint.name) - 1)
        own = 10 * model.body_index(body)
        assert_same(matrix[:, own:own + 10][:, order], free.T @ theirs[:, at:at + 10], 1e-10)


def without_gravity(model: Model) -> Model:
    """Return the same machine where nothing falls."""
    builder = ModelBuilder(model.name, gravity=(0.0, 0.0, 0.0))
    for body in model.body_list:
        builder.add_body(body.name, body.inertia)
    for joint in model.joint_list:
        builder.add_joint(joint.name, joint.type_name, joint.parent, joint.child, axis=joint.axis,
                          placement=joint.placement, actuated=joint.actuated)
    return replace(builder.build(), closures=model.closures)


def test_base_parameters_of_a_four_bar_linkage() -> None:
    """
    Eight with gravity, four without; its open tree has nine and five.

    The energies hold the squares of three rates, a product of the coupler with one of its ends,
    and sines and cosines of two angles. Those of the third follow from the loop.
    """
    model = planar_linkage((0.2, 0.5), (0.4,), 0.45, ('left_0',))
    rng = np.random.default_rng(0)
    for machine, loop, tree in ((model, 8, 9), (without_gravity(model), 4, 5)):
        regressor = LoopRegressor(machine)
        base = base_parameters(regressor, rng)
        assert base.rank == loop
        assert base_parameters(Regressor(machine), rng).rank == tree
        dynamics = ConstrainedDynamics(machine)
        q = assemble(dynamics)
        v = complete_velocity(dynamics, q, [0.7, 0.0, 0.0])
        a = complete_acceleration(dynamics, q, v, [-0.4, 0.0, 0.0])
        matrix = regressor.torque(q, v, a)
        assert_same(base.columns(matrix) @ base.values(regressor.parameters),
                    dynamics.inverse(q, v, a).tau[:1], 1e-10)
        names = ' '.join(base.names)
        assert 'left_0/zz' in names and 'left_1/mass' in names
        assert 'left_0/xx' not in names and 'left_0/mass_z' not in names  # not felt


def test_parameters_are_found_from_motions() -> None:
    """Least squares from forces of a five bar linkage, in base parameters."""
    model, rng = five_bar(), np.random.default_rng(3)
    regressor, dynamics = LoopRegressor(model), ConstrainedDynamics(model)
    base, start = base_parameters(regressor, rng), assemble(dynamics)
    rows, forces = [], []
    for _ in range(3 * base.rank):
        q = assemble(dynamics, start + 0.3 * rng.normal(size=model.nv))
        v = complete_velocity(dynamics, q, rng.normal(size=model.nv))
        a = complete_acceleration(dynamics, q, v, rng.normal(size=model.nv))
        rows.append(base.columns(regressor.torque(q, v, a)))
        forces.append(dynamics.inverse(q, v, a).tau[model.actuated])
    found = np.linalg.lstsq(np.vstack(rows), np.concatenate(forces), rcond=None)[0]
    assert_same(found, base.values(regressor.parameters), 1e-7)


def test_refusals() -> None:
    model = planar_linkage((0.2, 0.5), (0.4,), 0.45, ('left_0',))
    dynamics, rest = ConstrainedDynamics(model), np.zeros(3)
    q = assemble(dynamics)
    for independent in ([False] * 3, [True] * 3):
        with refused(ModelError, 'known'):
            LoopRegressor(model, independent=independent).torque(q, rest, rest)
    with refused(LiedynError, 'tip/force_x', 'tip/force_y'):
        LoopRegressor(model).torque(q + 0.1, rest, rest)
