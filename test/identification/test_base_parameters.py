# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Base parameters: known ranks of joints, torques of new states, and their names."""

import numpy as np
import pytest
from support.machines.dynamics_cases import make_case
from support.machines.random_models import add_random_joint, random_inertia

from liedyn_ros.identification import base_parameters, Regressor
from liedyn_ros.model import load_model, Model, ModelBuilder, SpatialInertia

# What a joint of each type adds behind a free base, and has alone on the ground (13.50).
RANKS = {'revolute': (7, 3), 'prismatic': (4, 1), 'helical': (9, 4), 'universal': (9, 9),
         'cylindrical': (9, 4), 'planar': (9, 4), 'spherical': (9, 9), 'free': (10, 10)}


def machine(kind: str, floating: bool) -> Model:
    """Return one joint of a type, on the ground or on a free base."""
    rng = np.random.default_rng(7)
    builder, parent = ModelBuilder(kind, rng.normal(size=3) * 5.0), None
    if floating:
        builder.add_body('base', random_inertia(rng))
        builder.add_joint('base_joint', 'free', None, 'base')
        parent = 'base'
    builder.add_body('body', random_inertia(rng))
    add_random_joint(rng, builder, 'joint', kind, parent, 'body')
    return builder.build()


@pytest.mark.parametrize('kind', RANKS)
def test_ranks_of_single_joints(kind: str) -> None:
    behind_base, alone = RANKS[kind]
    rng = np.random.default_rng(0)
    assert base_parameters(Regressor(machine(kind, False)), rng).rank == alone
    assert base_parameters(Regressor(machine(kind, True)), rng).rank == 10 + behind_base


@pytest.mark.parametrize('floating', (False, True))
def test_base_parameters_give_the_forces_of_new_states(floating: bool) -> None:
    case = make_case(2, floating, dissipation=True)
    regressor = Regressor(case.model, dissipation=True)
    base = base_parameters(regressor, case.rng)
    assert 0 < base.rank < len(regressor.names)
    values = base.values(regressor.parameters)
    for _ in range(5):
        q, (v, a) = case.model.random(case.rng), case.rng.normal(size=(2, case.model.nv))
        wanted = case.dynamics.inverse(q, v, a)
        np.testing.assert_allclose(base.columns(regressor.torque(q, v, a)) @ values, wanted,
                                   rtol=0.0, atol=1e-9 * np.abs(wanted).max())


def test_names_spell_out_the_groups() -> None:
    builder = ModelBuilder('pendulum', (0.0, -9.81, 0.0))
    builder.add_body('arm', SpatialInertia(1.0, (0.5, 0, 0), 0.1 * np.eye(3)))
    builder.add_body('tip', SpatialInertia(0.5, (0, 0, 0), 0.1 * np.eye(3)))
    end = np.eye(4)
    end[0, 3] = 0.5
    builder.add_joint('pivot', 'revolute', None, 'arm', axis=(0, 0, 1.0))
    builder.add_joint('glue', 'fixed', 'arm', 'tip', placement=end)
    base = base_parameters(Regressor(builder.build()), np.random.default_rng(0))
    assert base.rank == 3
    together = ' '.join(base.names)
    for parameter in ('arm/mass_x', 'arm/mass_y', 'arm/zz', 'tip/mass', 'tip/zz', 'tip/mass_x'):
        assert parameter in together
    for parameter in ('arm/xx', 'arm/mass_z', 'tip/yy'):  # not felt
        assert parameter not in together


def upside_down(right: float) -> str:
    """Return a URDF: an upright axis that hangs, and one across, right angles as given."""
    text = '<robot name="arm"><link name="link_0"/>'
    for k, angle in ((1, 2.0 * right), (2, right)):
        text += (f'<link name="link_{k}"><inertial><origin xyz="0.02 -0.1 0.03"/><mass value="1"/>'
                 '<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
                 f'</link><joint name="joint_{k}" type="revolute"><parent link="link_{k - 1}"/>'
                 f'<child link="link_{k}"/><origin xyz="0 -0.2 0.01" rpy="{angle} 0 0"/>'
                 '<axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="9" velocity="1"/>'
                 '</joint>')
    return text + '</robot>'


def test_rounded_right_angles_add_no_parameters() -> None:
    rng = np.random.default_rng(1)
    exact, written = (base_parameters(Regressor(load_model(upside_down(right))), rng)
                      for right in (np.pi / 2, 1.5708))
    assert written.rank == exact.rank == 8
    regressor = Regressor(load_model(upside_down(1.5708)))
    rows = regressor.random_rows(rng)
    np.testing.assert_allclose(written.columns(rows) @ written.values(regressor.parameters),
                               rows @ regressor.parameters, atol=1e-4)  # N m, of some 10


def test_a_machine_that_does_not_move_has_none() -> None:
    builder = ModelBuilder('rock')
    builder.add_body('rock', SpatialInertia(1.0, (0, 0, 0), np.eye(3)))
    builder.add_joint('ground', 'fixed', None, 'rock')
    base = base_parameters(Regressor(builder.build()), np.random.default_rng(0))
    assert base.rank == 0 and len(base.dropped) == 10
    assert base.values(np.ones(10)).shape == (0,)
