# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Jacobians on robots of the example-robot-data wheel, beside Pinocchio's."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.example_robots import example_robot

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import Regressor
from liedyn_ros.model import load_urdf

pin = pytest.importorskip('pinocchio')
pinocchio_twin = pytest.importorskip('support.witnesses.pinocchio_twin')

pytestmark = pytest.mark.filterwarnings(  # of mimic joints and inertias; tested by themselves
    'ignore::liedyn_ros.common.errors.DescriptionWarning')

ROBOTS = {  # path, and whether its base floats
    'panda': ('panda_description/urdf/panda.urdf', False),
    'solo': ('solo_description/robots/solo12.urdf', True),
    'talos': ('talos_data/robots/talos_reduced.urdf', True)}


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
