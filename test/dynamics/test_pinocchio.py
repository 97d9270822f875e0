# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The same numbers as Pinocchio on random trees and on real robots, to 1e-10."""

import numpy as np
import pytest
from support.dynamics_cases import Case
from support.example_robots import example_robot

from liedyn_ros.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_urdf, Model

pin = pytest.importorskip('pinocchio')
pinocchio_twin = pytest.importorskip('support.pinocchio_twin')

TOLERANCE = 1e-10  # of the largest entry
ROBOTS = {
    'arm of six joints': 'ur_description/urdf/ur5_robot.urdf',
    'arm of seven joints': 'xarm_description/urdf/xarm7.urdf',
    'quadruped': 'go2_description/urdf/go2.urdf',
    'humanoid': 'g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf',
    'arm with a gripper': 'panda_description/urdf/panda.urdf',
}
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]


def test_random_trees(case: Case) -> None:
    twin = pinocchio_twin.to_pinocchio(case.model)
    compare_dynamics(case.model, twin, case.rng)
    compare_kinematics(case.model, twin, case.rng)


@pytest.mark.parametrize('floating', [False, True])
@pytest.mark.parametrize('path', ROBOTS.values(), ids=list(ROBOTS))
def test_example_robots(path: str, floating: bool) -> None:
    model = load_urdf(example_robot(path), floating=floating, mimic='independent')
    twin, rng = pinocchio_twin.to_pinocchio(model), np.random.default_rng(7)
    for _ in range(3):
        compare_dynamics(model, twin, rng)
        compare_kinematics(model, twin, rng)


def compare_dynamics(model: Model, twin: pinocchio_twin.Twin, rng: np.random.Generator) -> None:
    d, other, data = Dynamics(model, dissipation=False), twin.model, twin.model.createData()
    q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    pv, pa = twin.to_velocity(v), twin.to_velocity(a)
    tau = d.inverse(q, v, a)
    assert_same(twin.to_velocity(tau), pin.rnea(other, data, q, pv, pa))
    assert_same(twin.to_velocity(d.bias(q, v)), pin.nonLinearEffects(other, data, q, pv))
    assert_same(twin.to_velocity(d.gravity_vector(q)),
                pin.computeGeneralizedGravity(other, data, q))
    assert_same(twin.to_velocity(d.forward(q, v, tau)),
                pin.aba(other, data, q, pv, twin.to_velocity(tau)))
    upper = np.triu(pin.crba(other, data, q))
    order = twin.velocity_order
    assert_same(np.triu(d.mass_matrix(q)[np.ix_(order, order)]), upper)


def compare_kinematics(model: Model, twin: pinocchio_twin.Twin, rng: np.random.Generator) -> None:
    d, other, data = Dynamics(model), twin.model, twin.model.createData()
    q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    pv = twin.to_velocity(v)
    assert_same(d.kinetic_energy(q, v), pin.computeKineticEnergy(other, data, q, pv))
    assert_same(d.potential_energy(q), pin.computePotentialEnergy(other, data, q))
    assert_same(d.center_of_mass(q), pin.centerOfMass(other, data, q))
    pin.computeJointJacobians(other, data, q)
    pin.forwardKinematics(other, data, q, pv, twin.to_velocity(a))
    pin.updateFramePlacements(other, data)
    motion = d.kinematics(q, v, a)
    for b, body in enumerate(model.bodies):
        frame = other.getFrameId(body, pin.FrameType.BODY)
        assert_same(motion.poses[b], data.oMf[frame].homogeneous)
        twist, rate = (f(other, data, frame).vector[ANGULAR_FIRST]
                       for f in (pin.getFrameVelocity, pin.getFrameAcceleration))
        assert_same(motion.twists[b], twist)
        assert_same(motion.accelerations[b], rate)
        for ours, reference in ((d.body_jacobian, pin.LOCAL), (d.spatial_jacobian, pin.WORLD)):
            wanted = pin.getFrameJacobian(other, data, frame, reference)[ANGULAR_FIRST]
            assert_same(ours(q, body)[:, twin.velocity_order], wanted)


def assert_same(got: Array | float, wanted: Array | float) -> None:
    scale = max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(got, wanted, rtol=0.0, atol=TOLERANCE * scale)
