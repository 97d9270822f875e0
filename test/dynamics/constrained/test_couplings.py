# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Couplings of coordinates, and mimic joints of a URDF against the projected equations."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.example_robots import example_robot
from support.refusals import refused

from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, project
from liedyn_ros.model import load_urdf, load_yaml, Model, ModelBuilder, pose, SpatialInertia

LEAD = 0.03  # m/rad
BODY = SpatialInertia(1.5, [0.1, -0.2, 0.3], np.diag([0.2, 0.3, 0.25]))


def screw(kind: str) -> Model:
    """Return an arm whose wrist is a screw: a helical joint, or a coupled cylindrical one."""
    builder = ModelBuilder(kind, gravity=(1.0, -2.0, -9.0))
    builder.add_body('arm', BODY)
    builder.add_joint('arm', 'revolute', None, 'arm', axis=[0, 1, 0])
    builder.add_body('nut', BODY)
    builder.add_joint('nut', kind, 'arm', 'nut', axis=[1, 1, 0], placement=pose([0, 0, 0.4]),
                      **({'pitch': LEAD} if kind == 'helical' else {}))
    if kind == 'cylindrical':
        builder.add_coupling('nut/travel', 'nut/angle', LEAD, 0.0)
    return builder.build()


def test_a_coupled_cylindrical_joint_is_a_screw() -> None:
    coupled, helical = ConstrainedDynamics(screw('cylindrical')), Dynamics(screw('helical'))
    rng = np.random.default_rng(1)
    for _ in range(5):
        (q, v), tau = rng.normal(size=(2, 2)), rng.normal(size=(4, 2))
        widen = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, LEAD]])
        push = np.column_stack([tau, np.zeros(4)])
        found = coupled.forward(widen @ q, widen @ v, push)
        assert_same(found.a, helical.forward.time_derivatives(q, v, tau) @ widen.T, 1e-9)
        driven = np.array([True, True, False])
        assert_same(coupled.inverse(widen @ q, widen @ v, found.a[0], actuated=driven).tau[:2],
                    tau[0], 1e-9)
    assert coupled.mobility.degrees_of_freedom == 2
    assert coupled.constraint_names == ('nut/travel=nut/angle',)


def test_files_name_coordinates_and_locked_joints_are_checked(tmp_path) -> None:
    path = tmp_path / 'model.yaml'
    path.write_text("""format: 1
name: cart
bodies:
  cart: {mass: 1.0, center_of_mass: [0, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  wheel: {mass: 1.0, center_of_mass: [0, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
joints:
  floor: {type: planar, parent: null, child: cart, axis: [0, 0, 1]}
  wheel: {type: revolute, parent: cart, child: wheel, axis: [0, 1, 0]}
couplings:
  floor/x: {leader: wheel, multiplier: 0.3}
""")
    model = load_yaml(path)
    cart = ConstrainedDynamics(model)
    q, v = project(cart, [0.3, 0.2, 0.1, 1.0], [0.3, 0.0, 0.0, 1.0])
    assert_same(q[0], 0.3 * q[3])
    push = cart.forward(q, v, [1.0, 0.0, 0.0, 0.0]).a
    assert push[0] == pytest.approx(1.0 / (2.0 + 0.1 / 0.3**2))
    builder = ModelBuilder.of(model)
    builder.lock_joint('floor', [0.3, 0.0, 0.0])
    builder.lock_joint('wheel', [1.0])
    assert builder.build().couplings == ()
    builder = ModelBuilder.of(model)
    builder.lock_joint('floor', [0.3, 0.0, 0.0])
    with refused(ModelError, 'joint wheel'):
        builder.lock_joint('wheel', [2.0])


def test_a_coordinate_about_a_point_has_none() -> None:
    builder = ModelBuilder('ball')
    for name, kind in (('ball', 'spherical'), ('wheel', 'continuous')):
        builder.add_body(name, BODY)
        builder.add_joint(name, kind, None, name, **(
            {'axis': [1, 0, 0]} if kind == 'continuous' else {}))
    builder.add_coupling('ball/wx', 'wheel', 1.0, 0.0)
    with refused(ModelError, 'coupling of joint ball/wx', got='ball/wx'):
        builder.build()


ROBOTS = ('panda_description/urdf/panda.urdf', 'baxter_description/urdf/baxter.urdf',
          'tiago_pro_description/robots/tiago_pro.urdf')


@pytest.mark.parametrize('path', ROBOTS)
def test_mimic_joints_move_with_their_leaders(path: str) -> None:
    model = load_urdf(example_robot(path))
    rng, free = np.random.default_rng(4), np.ones(model.nv, dtype=bool)
    lift, q = np.eye(model.nv), model.random(rng)  # v = lift u, u the independent velocities
    for coupling in model.couplings:
        follower, leader = (model.joint(n).vi for n in (coupling.joint, coupling.leader))
        free[follower] = False
        lift[follower] = coupling.multiplier * lift[leader]
        q[model.joint(coupling.joint).qi] = (
            coupling.multiplier * q[model.joint(coupling.leader).qi] + coupling.offset)
    lift = lift[:, free]
    np.testing.assert_array_equal(model.actuated, free)
    measured = q.copy()  # as a driver reports joints that lead alone
    measured[[model.joint(each.joint).qi for each in model.couplings]] = 0.0
    np.testing.assert_allclose(assemble(ConstrainedDynamics(model), measured), q, atol=1e-9)
    v, tau = lift @ rng.normal(size=lift.shape[1]), rng.normal(size=model.nv)
    tree, held = Dynamics(model), ConstrainedDynamics(model)
    mass = lift.T @ tree.mass_matrix(q) @ lift
    wanted = lift @ np.linalg.solve(mass, lift.T @ (tau - tree.bias(q, v)))
    solution = held.forward(q, v, tau)
    np.testing.assert_allclose(solution.a, wanted, rtol=1e-8, atol=1e-8 * abs(wanted).max())
    back = held.inverse(q, v, solution.a).tau
    np.testing.assert_allclose(back[~free], 0.0, atol=1e-9)
    np.testing.assert_allclose(
        back[free], lift.T @ tree.inverse(q, v, solution.a), rtol=1e-8,
        atol=1e-8 * abs(back).max())
