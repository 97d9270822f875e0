# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loads of bearings in looped machines: balances, joint forces, and the loop cut elsewhere."""

from functools import partial

import numpy as np
import pytest
from support.machines.loop_states import geared, Machines
from support.machines.looped_machines import bar, four_bar, Looped, random_looped, SINGLE
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics import joint_wrenches
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, project
from liedyn_ros.lie import se3
from liedyn_ros.model import ModelBuilder, SpatialInertia
from liedyn_ros.model.parts.constraints import CLOSURE_TYPES
from liedyn_ros.model.parts.geometry import pose

LOOPED = Machines({
    **{kind: partial(random_looped, 31, (kind,)) for kind in CLOSURE_TYPES},
    'two to the ground': partial(random_looped, 32, ('spherical', 'rod'), grounded=True),
    'floating': partial(
        random_looped, 33, ('universal',), types=('spherical', *SINGLE), floating=True),
    'geared': lambda: geared(random_looped(34, ('spherical',)))})


class Loaded:
    """The state of a machine, its solution under random loads, and the loads of its joints."""

    def __init__(self, looped: Looped) -> None:
        """Solve forward dynamics of a random state."""
        rng, self.model = np.random.default_rng(5), looped.model
        self.dynamics = ConstrainedDynamics(looped.model)
        self.q, self.v = project(self.dynamics, looped.q, rng.normal(size=self.model.nv))
        self.external = rng.normal(size=(len(self.model.bodies), 6))
        tau = rng.normal(size=self.model.nv)
        self.solution = self.dynamics.forward(self.q, self.v, tau, self.external)
        self.wrenches = self.dynamics.joint_wrenches(
            self.q, self.v, self.solution, self.external)


@pytest.fixture(scope='module', params=list(LOOPED))
def loaded(request: pytest.FixtureRequest) -> Loaded:
    """Return a machine in motion."""
    return Loaded(LOOPED[request.param])


def test_parts_along_the_screws_are_the_forces_of_the_joints(loaded: Loaded) -> None:
    found, dynamics = loaded.solution, loaded.dynamics
    couplings = len(loaded.model.couplings)
    rows = dynamics.jacobian(loaded.q)[dynamics.m - couplings:]
    force = found.tau + rows.T @ found.multipliers[dynamics.m - couplings:]
    force = force - dynamics.tree.resistance(loaded.v)
    for joint in loaded.model.joint_list:
        screws = dynamics.frames.jacobian(loaded.q, joint.child)[:, joint.v_slice]
        np.testing.assert_allclose(
            screws.T @ loaded.wrenches[joint.name], force[joint.v_slice],
            atol=1e-8 * max(1.0, np.abs(found.multipliers).max()))


def test_ground_feels_the_rate_of_momentum(loaded: Loaded) -> None:
    dynamics, model, (q, v, a) = loaded.dynamics, loaded.model, (
        loaded.q, loaded.v, loaded.solution.a)
    poses, felt = dynamics.tree.kinematics(q).poses, np.zeros(6)
    for joint, place in zip(model.joint_list, poses):
        to_body = se3.adjoint(se3.inverse(place))
        felt += (joint.parent is None) * to_body.T @ loaded.wrenches[joint.name]
        felt += to_body.T @ loaded.external[model.body_index(joint.child)]
        body = model.body_list[model.body_index(joint.child)]
        assert body.inertia is not None
        force = body.inertia.mass * model.gravity
        center = place[:3, :3] @ body.inertia.center_of_mass + place[:3, 3]
        felt += np.concatenate([np.cross(center, force), force])
    for closure, wrench in zip(model.closures, loaded.solution.wrenches):
        held = poses[model.body_index(closure.body_b)] @ closure.frame_b
        felt += (closure.body_a is None) * se3.adjoint(se3.inverse(held)).T @ wrench
    h = 1e-5
    ahead, behind = (dynamics.tree.momentum(
        model.integrate(q, t * v + 0.5 * t * t * a), v + t * a) for t in (h, -h))
    np.testing.assert_allclose(
        felt, (ahead - behind) / (2.0 * h), atol=1e-5 * max(1.0, np.abs(felt).max()))


def ground_loads(dynamics: ConstrainedDynamics, q: Array, v: Array) -> dict[str, Array]:
    """Return the forces on pins of a four-bar in the ground, seen from the ground."""
    model = dynamics.model
    solution = dynamics.forward(q, v, np.zeros(model.nv))
    poses = dict(zip(model.bodies, dynamics.tree.kinematics(q).poses))
    loads = dynamics.joint_wrenches(q, v, solution)
    forces = {joint.name: poses[joint.child][:3, :3] @ loads[joint.name][3:]
              for joint in model.joint_list}
    (closure,) = model.closures
    axes = poses[closure.body_b][:3, :3] @ closure.frame_b[:3, :3]
    return forces | {closure.name: axes @ solution.wrenches[0, 3:]}


def cut_at_the_crank() -> ConstrainedDynamics:
    """Return the four-bar whose coupler hangs at the rocker; its frame is at its tip."""
    builder, axis = ModelBuilder('cut', gravity=(0.0, -9.81, 0.0)), [0.0, 0.0, 1.0]
    coupler = bar(2.0, 0.5)
    builder.add_body('left_0', bar(1.0, 0.2))
    builder.add_body('right_0', bar(1.0, 0.4))
    builder.add_body('left_1', SpatialInertia(
        2.0, [-0.25, 0.0, 0.0], coupler.inertia_about_com))
    builder.add_joint('left_0_joint', 'revolute', None, 'left_0', axis=axis)
    builder.add_joint('right_0_joint', 'revolute', None, 'right_0', axis=axis,
                      placement=pose([0.45, 0.0, 0.0]))
    builder.add_joint('tip', 'revolute', 'right_0', 'left_1', axis=axis,
                      placement=pose([0.4, 0.0, 0.0]))
    builder.add_closure('left_1_joint', 'revolute', 'left_0', 'left_1',
                        placement_a=pose([0.2, 0.0, 0.0]), placement_b=pose([-0.5, 0.0, 0.0]))
    return ConstrainedDynamics(builder.build())


def test_a_loop_cut_elsewhere_has_the_same_loads() -> None:
    first, other = ConstrainedDynamics(four_bar()), cut_at_the_crank()
    q = assemble(first)
    q, v = project(first, q, np.array([1.0, 0.0, 0.0]))
    # Joints of the first are crank, coupler, rocker; those of the other crank, rocker, coupler.
    elsewhere = np.array([[1, 0, 0], [0, 0, 1], [1, 1, -1]])
    here, there = ground_loads(first, q, v), ground_loads(other, elsewhere @ q, elsewhere @ v)
    assert np.abs(here['tip']).max() > 1.0
    there['tip'] = -there['tip']  # what it is to one body, to the other
    for name in here:
        np.testing.assert_allclose(here[name], there[name], atol=1e-7)


def test_closures_are_not_left_out_in_silence() -> None:
    dynamics = ConstrainedDynamics(four_bar())
    q, rest = assemble(dynamics), np.zeros(3)
    with refused(LiedynError, 'closures', got='none'):
        joint_wrenches(dynamics.tree, q, rest, rest)


def test_derivatives_change_no_load() -> None:
    dynamics = ConstrainedDynamics(four_bar())
    q, rest = assemble(dynamics), np.zeros(3)
    one = dynamics.joint_wrenches(q, rest, dynamics.forward(q, rest, rest))
    more = dynamics.joint_wrenches(q, rest, dynamics.forward(q, rest, np.zeros((3, 3))))
    for name in dynamics.model.joints:
        np.testing.assert_allclose(more[name], one[name], atol=1e-9)
