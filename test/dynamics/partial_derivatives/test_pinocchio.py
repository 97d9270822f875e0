# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The minimal case in which Pinocchio 4.1 is no witness: one universal joint."""

import numpy as np
import pytest
from support.witnesses.tangents import difference

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, SpatialInertia

pin = pytest.importorskip('pinocchio')


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
