# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Equality constraints of MJCF: the motions that they leave free are those of MuJoCo's."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.witnesses.mujoco_twin import twin_of

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, mjcf_functions, mobility, project)
from liedyn_ros.model import load_mjcf

MASS = '<inertial pos=".2 -.1 0" mass="3" diaginertia=".3 .4 .5"/>'


def document(more: str, bodies: str = '') -> str:
    """Return two chains of three joints, drawn where their ends are apart, and constraints."""
    chains = ''.join(
        f'<body name="{side}1" pos="{x} 0 0" euler="0 0 {turn}"><joint name="{side}a"/>{MASS}'
        f'<body name="{side}2" pos=".5 0 .1"><joint name="{side}b" axis="0 1 0" ref="20"/>{MASS}'
        f'<body name="{side}3" pos=".4 0 0"><joint name="{side}c" axis="1 0 .5"/>'
        f'<joint name="{side}d" axis="0 1 1" type="slide" ref=".1"/>{MASS}'
        f'<site name="{side}tip" pos=".1 .2 0" euler="10 20 30"/></body></body></body>'
        for side, x, turn in (('l', -0.5, 20), ('r', 0.5, 130)))
    return f'<mujoco><worldbody>{chains}{bodies}</worldbody>{more}</mujoco>'


def equality(inner: str, more: str = '') -> str:
    return document(f'<equality>{inner}</equality>{more}')


TENDONS = ('<tendon><fixed name="s"><joint joint="la" coef="2"/><joint joint="rb" coef="-1"/>'
           '</fixed><fixed name="t"><joint joint="lb" coef=".5"/></fixed></tendon>')
CLOSED = {  # where MuJoCo's constraint holds in the pose of the file
    'connect': equality('<connect body1="l3" body2="r3" anchor=".1 .2 .3"/>'),
    'connect to the world': equality('<connect body1="l3" anchor=".1 .2 .3"/>'),
    'connect of the world': equality('<connect body1="l3" body2="world" anchor="0 0 0"/>'),
    'weld': equality('<weld body1="l3" body2="r3"/>'),
    'weld to the world': equality('<weld body1="l2"/>'),
    'weld at a point': equality(
        '<weld body1="l3" body2="r3" anchor=".1 .2 .3" torquescale="0"/>'),
    'inherited': equality('<connect body1="l3" body2="r3" anchor="0 0 0"/>',
                          '<default><equality solref=".1 1"/></default>'),
    'joints': equality('<joint joint1="la" joint2="rb" polycoef="0 2.5 0 0 0"/>'),
    'short coefficients': equality('<joint joint1="la" joint2="rb" polycoef="0 -3"/>'),
    'tendons': equality('<tendon tendon1="s" tendon2="t" polycoef="0 1.5 0 0 0"/>', TENDONS),
    'one tendon': equality('<tendon tendon1="s"/>', TENDONS),
    'several': equality('<connect body1="l3" body2="r3" anchor="0 0 0"/>'
                        '<joint joint1="la" joint2="ra"/>')}


@pytest.mark.parametrize('name', CLOSED)
def test_the_motions_left_are_those_of_mujoco(name):
    model = load_mjcf(CLOSED[name])
    twin, dynamics = twin_of(CLOSED[name], model), ConstrainedDynamics(model, dissipation=False)
    drawn = np.array([np.radians(20.0) if each[1] == 'b' else 0.1 * (each[1] == 'd')
                      for each in model.joints if each[1:] in 'abcd'])
    assert twin.there.qpos0 == pytest.approx(drawn)
    rng = np.random.default_rng(5)
    q, v = project(dynamics, drawn, rng.normal(size=model.nv))
    assert_same(q, drawn, 1e-12)  # closed as drawn: nothing moves
    rows = twin.equality_jacobian(q)
    assert_same(rows @ v, np.zeros(len(rows)), 1e-12, 1.0)
    rank = np.linalg.matrix_rank(rows, tol=1e-9)
    assert mobility(dynamics, q).degrees_of_freedom == model.nv - rank
    # And in another pose, to which both constraints have been taken.
    q, v = project(dynamics, drawn + 0.05 * rng.normal(size=model.nv), v)
    rows = twin.equality_jacobian(q)
    data = twin.state(q, *np.zeros((2, model.nv)))
    assert_same(data.efc_pos[:len(rows)], np.zeros(len(rows)), 1e-9, 1.0)
    assert_same(rows @ v, np.zeros(len(rows)), 1e-9, 1.0)


PLACED = {  # whose frames differ in the pose of the file
    'sites': equality('<connect site1="ltip" site2="rtip"/>'),
    'weld of sites': equality('<weld site1="ltip" site2="rtip"/>'),
    'a relative pose': equality('<weld body1="l3" body2="r3" relpose=".1 .2 .3 1 2 3 4"/>'),
    'a relative pose of a point': equality(
        '<weld body1="l3" body2="r3" relpose=".1 .2 .3 1 2 3 4" anchor=".3 0 .1"/>'),
    'a point at another': equality('<weld body1="l3" body2="r3" relpose=".1 .2 .3 1 2 3 4" '
                                   'anchor=".3 0 .1" torquescale="0"/>'),
    'an offset': equality('<joint joint1="la" joint2="rb" polycoef=".2 1 0 0 0"/>')}


@pytest.mark.parametrize('name', PLACED)
def test_what_is_apart_as_drawn_closes_where_mujoco_has_it_closed(name):
    model = load_mjcf(PLACED[name])
    twin, dynamics = twin_of(PLACED[name], model), ConstrainedDynamics(model, dissipation=False)
    rng = np.random.default_rng(5)
    q = assemble(dynamics, np.array(twin.there.qpos0))
    v = project(dynamics, q, rng.normal(size=model.nv))[1]
    rows = twin.equality_jacobian(q)
    data = twin.state(q, *np.zeros((2, model.nv)))
    assert_same(data.efc_pos[:len(rows)], np.zeros(len(rows)), 1e-8, 1.0)
    assert_same(rows @ v, np.zeros(len(rows)), 1e-8, 1.0)


POLYNOMIALS = {
    'joints': equality('<joint name="c" joint1="la" joint2="rb" polycoef=".1 1 2 -3 .5"/>'),
    'a joint held': equality('<joint name="c" joint1="lb" polycoef=".1 0 0 0 0"/>'),
    'tendons': equality('<tendon name="c" tendon1="s" tendon2="t" polycoef=".1 1 .5 2 1"/>',
                        TENDONS)}


@pytest.mark.parametrize('name', POLYNOMIALS)
@pytest.mark.filterwarnings('ignore::liedyn_ros.common.errors.DescriptionWarning')
def test_polynomials_of_joints_are_functions(name):
    """Residual and rows are MuJoCo's; their change with time is that of differences."""
    text = POLYNOMIALS[name]
    model = load_mjcf(text)
    dynamics = ConstrainedDynamics(model, functions=mjcf_functions(text, model))
    twin, rng = twin_of(text, model), np.random.default_rng(5)
    q, v = 0.3 * rng.normal(size=(2, model.nv))
    data = twin.state(q, *np.zeros((2, model.nv)))
    (function,) = mjcf_functions(text, model)
    assert function.name == 'c'
    assert function.residual(q) == pytest.approx(data.efc_pos[:1], abs=1e-12)
    assert_same(dynamics.jacobian(q), twin.equality_jacobian(q), 1e-12)
    step = 1e-6
    rate = (dynamics.jacobian(q + step * v) - dynamics.jacobian(q - step * v)) / (2.0 * step)
    assert_same(function.jacobian_series(np.array([q, v]))[1], rate, 1e-7)


UNREAD = {
    'inactive': (equality('<connect name="c" body1="l3" active="false" anchor="0 0 0"/>'),
                 'equality c of type connect: not active'),
    'quadratic': (equality('<joint name="c" joint1="la" joint2="rb" polycoef="0 1 2 0 0"/>'),
                  'equality c of type joint: not linear.*mjcf_functions'),
    'one joint': (equality('<joint name="c" joint1="la"/>'), 'equality c of type joint: it holds'),
    'tendon': (document('<tendon><fixed name="t" stiffness="3"><joint joint="la" coef="1"/>'
                        '</fixed></tendon>'), r"tendons \['t'\]: spring"),
    'disabled': (equality('<weld body1="l3"/>', '<option><flag equality="disable"/></option>'),
                 'option flag equality'),
    'soft': (equality('<weld body1="l3"/>'), 'softness of equality constraints')}


@pytest.mark.parametrize('name', UNREAD)
def test_constraints_that_are_not_read_are_named(name):
    text, said = UNREAD[name]
    with pytest.warns(DescriptionWarning, match=said):
        load_mjcf(text)


@pytest.mark.parametrize('inner', [
    '<connect body1="l9" anchor="0 0 0"/>', '<connect body1="l3"/>',
    '<joint joint1="l9" joint2="la"/>', '<connect site1="ltip" site2="none"/>',
    '<flex flex="f"/>', '<tendon tendon1="s" tendon2="t"/>',
    '<connect body1="l3" anchor="0 0 0" active="maybe"/>'])
def test_constraints_of_nothing_are_refused(inner):
    spoilt = TENDONS.replace('joint="la"', 'joint="none"')
    with pytest.raises(DescriptionError):
        load_mjcf(equality(inner, spoilt))
