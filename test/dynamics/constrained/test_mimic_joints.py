# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Mimic joints of a URDF are held by ConstrainedDynamics: against the projected equations."""

import numpy as np
import pytest
from support.machines.example_robots import example_robot

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.model import load_urdf

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
