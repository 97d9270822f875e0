# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines that are moved from their output, against friction (12.60)."""

import numpy as np
import pytest
from support.machines.looped_machines import five_bar, four_bar

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, backdrive, ConstrainedDynamics, statics
from liedyn_ros.model import (
    load_model, Model, ModelBuilder, pose, SpatialInertia, with_resistances)

CRANK, ROD = 0.2, 0.5  # m


def slider_crank() -> Model:
    """Return a crank with friction and a slide on one line, without gravity."""
    builder = ModelBuilder('slider_crank', gravity=[0.0, 0.0, 0.0])
    inertia = SpatialInertia(1.0, [0.0, 0.0, 0.0], 0.01 * np.eye(3))
    builder.add_body('crank', inertia)
    builder.add_joint('crank', 'revolute', None, 'crank', axis=[0, 0, 1], friction=0.4,
                      damping=0.3, armature=0.2)
    builder.add_body('slide', inertia)
    builder.add_joint('slide', 'prismatic', None, 'slide', axis=[1, 0, 0], friction=1.5,
                      placement=pose([CRANK + ROD, 0.0, 0.0]), actuated=False)
    builder.add_closure('rod', 'rod', 'crank', 'slide', placement_a=pose([CRANK, 0.0, 0.0]),
                        length=ROD)
    return builder.build()


@pytest.mark.parametrize('angle', [0.4, 1.3, 2.5])
def test_a_slide_feels_the_crank_by_its_ratio(angle: float) -> None:
    machine = ConstrainedDynamics(slider_crank())
    q = assemble(machine, [angle, -0.1], held={'crank': angle})
    reach = np.sqrt(ROD**2 - (CRANK * np.sin(angle))**2)
    ratio = 1.0 / (CRANK * np.sin(angle) * (1.0 + CRANK * np.cos(angle) / reach))  # rad/m
    felt = backdrive(machine, q)
    assert felt.by == ('slide',)
    np.testing.assert_allclose(felt.forces, [[-1.5 - 0.4 * ratio, 1.5 + 0.4 * ratio]], rtol=1e-9)
    np.testing.assert_allclose(felt.inertia, [[1.0 + 0.21 * ratio**2]], rtol=1e-9)
    np.testing.assert_allclose(felt.damping, [[0.3 * ratio**2]], rtol=1e-9)
    assert felt.holds
    pushed = backdrive(machine, q, tau=[1.0, 0.0])  # by its motor, along the ratio
    np.testing.assert_allclose(pushed.forces - felt.forces, ratio * np.ones((1, 2)), rtol=1e-9)


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_forward_dynamics_begins_to_move_there(side: float) -> None:
    """With weight: at a crawl along a direction the machine slows below this force only."""
    model = with_resistances(four_bar(), {}, {'left_0_joint': 3.0, 'right_0_joint': 0.5})
    machine = ConstrainedDynamics(model)
    q = assemble(machine, held={'left_0_joint': 0.9})
    felt = backdrive(machine, q, by=['right_0_joint'])
    limit = felt.forces[0, int(side > 0.0)]
    assert felt.forces[0].mean() == pytest.approx(statics(
        machine, q, by=['right_0_joint'], actuated=['right_0_joint']).efforts['right_0_joint'])
    crawl, column = 1e-7 * side * felt.motions[:, 0], machine.model.joint('right_0_joint').vi
    for off in (-1e-3, 1e-3):
        tau = np.zeros(3)
        tau[column] = limit + off
        assert np.sign(machine.forward(q, crawl, tau).a[column]) == np.sign(off)


def test_two_degrees_of_freedom_stand_within_the_zonotope() -> None:
    """The second form of (12.60), across every edge; without friction nothing holds."""
    names = five_bar().joints
    frictions = dict(zip(names, (2.0, 0.3, 1.0, 0.5)))
    machine = ConstrainedDynamics(with_resistances(five_bar(), {}, frictions))
    q = assemble(machine, [2.0, -1.0, 1.1, 1.0])
    load = np.array(list(statics(machine, q).efforts.values()))
    felt = backdrive(machine, q, by=['left_0_joint', 'right_0_joint'], tau=statics(
        machine, q).solution.tau * 0.9)
    eta = np.column_stack([sign * felt.motions.T[::-1] * [[1.0], [-1.0]] for sign in (-1.0, 1.0)])
    support = np.array(list(frictions.values())) @ np.abs(felt.motions @ eta)
    for k, ends in enumerate(felt.forces):
        for force, outwards in zip(ends, (-1.0, 1.0)):
            for off, stands in ((-1e-5, True), (1e-5, False)):
                push = 0.1 * load - (force + outwards * off) * np.eye(2)[k]
                assert bool((push @ eta <= support).all()) is stands
    free = backdrive(ConstrainedDynamics(five_bar()), q)
    assert np.isnan(free.forces).all() and not free.holds


def test_a_scissor_lift_sinks_without_its_cylinder() -> None:
    machine = ConstrainedDynamics(load_model(config_file('gallery/scissor_lift.yaml')))
    q = assemble(machine)
    assert not backdrive(machine, q).holds
    assert backdrive(machine, q, tau=statics(machine, q).solution.tau).holds
