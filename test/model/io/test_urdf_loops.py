# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loops as URDF+, the proposal to urdfdom and example-parallel-robots write them, moved too."""

from dataclasses import replace

import numpy as np
import pytest
from support.machines.looped_machines import random_looped
from support.refusals import ANY, refused

from liedyn_ros import load
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.lie import se3
from liedyn_ros.model import (
    annotate, CLOSURE_TYPES, load_model, load_urdf, load_yaml, Model, ModelBuilder, to_urdf,
    updated_urdf, updated_yaml)

INERTIAL = """<inertial><origin xyz="{x} 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>"""
LIMIT = '<limit lower="-3.2" upper="3.2" velocity="9" effort="9"/>'
URDF = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="ab" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="ac" type="continuous"><parent link="a"/><child link="c"/><axis xyz="0 0 1"/></joint>
<loop name="tip" type="revolute"><predecessor link="b"><origin xyz="0.3 0 0"/></predecessor>
<successor link="c"><origin xyz="0.2 0 0" rpy="0 0 0"/></successor><axis xyz="0 0 1"/></loop>
</robot>"""


def four_bar(loop: str, joint: str = '') -> str:
    """Return crank, coupler and rocker about the y axis, with what closes them."""
    def link(name: str, x: float) -> str:
        return f'<link name="{name}">{INERTIAL.format(x=x)}</link>'

    def hinge(name: str, parent: str, child: str, x: float, more: str = '') -> str:
        return (f'<joint name="{name}" type="revolute"{more}><parent link="{parent}"/>'
                f'<child link="{child}"/><origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>{LIMIT}'
                '</joint>')

    return ('<robot name="four_bar"><link name="base"/>' + link('crank', 0.1)
            + link('coupler', 0.25) + link('rocker', 0.2)
            + hinge('crank_joint', 'base', 'crank', 0.0)
            + hinge('coupler_joint', 'crank', 'coupler', 0.2, joint)
            + hinge('rocker_joint', 'base', 'rocker', 0.45, joint) + loop + '</robot>')


URDF_PLUS = """<loop name="tip" type="revolute">
<predecessor link="coupler"><origin xyz="0.5 0 0"/></predecessor>
<successor link="rocker"><origin xyz="0.4 0 0"/></successor><axis xyz="0 1 0"/></loop>"""


def test_a_loop_is_that_of_the_builder() -> None:
    model = load_urdf(four_bar(URDF_PLUS, ' independent="False"'))
    closure, = model.closures
    assert (closure.name, closure.type_name) == ('tip', 'revolute')
    assert (closure.body_a, closure.body_b) == ('coupler', 'rocker')
    np.testing.assert_allclose(closure.frame_a[:3, [2, 3]], [[0, 0.5], [1, 0], [0, 0]], atol=1e-15)
    np.testing.assert_allclose(closure.frame_b[:3, [2, 3]], [[0, 0.4], [1, 0], [0, 0]], atol=1e-15)
    assert model.actuated.tolist() == [True, False, False]
    dynamics = ConstrainedDynamics(model)
    assert dynamics.mobility.degrees_of_freedom == 1
    q = assemble(dynamics, held={'crank_joint': 0.9})
    expected = ConstrainedDynamics(load_yaml(config_file('four_bar.yaml')))
    assert dynamics.m == expected.m
    # The tip as trigonometry has it: both chains end at one point.
    for sine in (np.sin, np.cos):
        base = 0.45 if sine is np.cos else 0.0
        assert 0.2 * sine(q[0]) + 0.5 * sine(q[0] + q[1]) == pytest.approx(
            base + 0.4 * sine(q[2]))


def test_a_constraint_of_the_proposal_to_urdfdom_is_named() -> None:
    with pytest.warns(DescriptionWarning):
        model = load_urdf(four_bar('<constraint name="tip" type="ball"><parent link="rocker"/>'
                                   '<child link="coupler"/></constraint>'))
    warning, = model.warnings
    assert 'constraint tip' in warning and 'element loop' in warning and not model.closures


def test_options_that_a_source_does_not_have_are_refused() -> None:
    with refused(DescriptionError, str(config_file('four_bar.yaml'))):
        load_model(config_file('four_bar.yaml'), floating=True)
    with refused(DescriptionError, got="['strict']"):
        load(load_urdf(four_bar(URDF_PLUS)), strict=True)


def test_a_coupling_of_links_is_one_of_the_joints_between_them() -> None:
    text = """<coupling name="belt"><predecessor link="rocker"/><successor link="coupler"/>
    <ratio value="2"/></coupling>"""
    dynamics = ConstrainedDynamics(load_urdf(four_bar(text)))
    # crank + coupler = 2 rocker: three coordinates.
    rows = dynamics.jacobian(np.zeros(3))[0]
    np.testing.assert_allclose(rows, [1.0, 1.0, -2.0])
    assert dynamics.residual([0.3, 0.1, 0.2])[0] == pytest.approx(0.0, abs=1e-15)
    q, tau = np.array([0.3, 0.1, 0.2]), np.array([0.5, -1.0, 2.0])
    solution = dynamics.forward(q, np.zeros(3), tau)
    need = dynamics.tree.mass_matrix(q) @ solution.a + dynamics.tree.gravity_vector(q) - tau
    assert rows @ solution.a == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(need, rows * solution.multipliers[0], atol=1e-12)


def test_a_file_of_example_parallel_robots(tmp_path) -> None:
    tips = ''.join(
        f'<link name="{name}"/><joint name="{name}_fix" type="fixed"><parent link="{parent}"/>'
        f'<child link="{name}"/><origin xyz="{x} 0 0"/></joint>'
        for name, parent, x in (('loop_A', 'coupler', 0.5), ('loop_B', 'rocker', 0.4)))
    path = tmp_path / 'robot.yaml'
    path.write_text("closed_loop: [['loop_A', 'loop_B']]\ntype: ['3d']\n"
                    "name_mot: ['crank_joint']\njoint_name: ['coupler_joint']\n"
                    "joint_type: ['SPHERICAL']\nname_spherical: to_rotule\n")
    model = annotate(load_urdf(four_bar(tips)), path)
    assert model.joint('coupler_joint').type_name == 'spherical'
    closure, = model.closures
    assert (closure.type_name, closure.body_a, closure.body_b) == ('spherical', 'loop_A', 'loop_B')
    assert model.actuated.tolist() == [True, False, False, False, False]
    dynamics = ConstrainedDynamics(model)
    assert dynamics.mobility.degrees_of_freedom == 2  # the coupler turns about itself
    assert np.abs(dynamics.residual(assemble(dynamics))).max() < 1e-9
    path.write_text(path.read_text().replace('SPHERICAL', 'UJOINT_YZ'))
    assert annotate(load_urdf(four_bar(tips)), path).joint('coupler_joint').type_name == (
        'universal')
    path.write_text(path.read_text().replace('UJOINT_YZ', 'UJOINT_Q'))
    with refused(DescriptionError, 'loops/joint_type'):
        annotate(load_urdf(four_bar(tips)), path)


@pytest.mark.parametrize(('loop', 'name'), [
    (URDF_PLUS.replace('revolute', 'floating'), 'robot/loop[tip]'),
    (URDF_PLUS.replace('"rocker"', '"wheel"'), 'closure tip'),
    ('<coupling name="belt"><predecessor link="crank"/><successor link="coupler"/>'
     '<ratio value="2"/></coupling>', 'robot/coupling[belt]')])
def test_what_cannot_be_read_is_refused(loop: str, name: str) -> None:
    with refused(DescriptionError, name):
        load_urdf(four_bar(loop))


def test_a_circle_of_fixed_joints_ends_the_way_of_a_coupling() -> None:
    links = ''.join(f'<link name="{name}"/>' for name in 'abc')
    joints = ''.join(f'<joint name="{a}{b}" type="fixed"><parent link="{a}"/><child link="{b}"/>'
                     '</joint>' for a, b in ('bc', 'cb'))
    with refused(DescriptionError, ANY):
        load_urdf(f'<robot name="circle">{links}{joints}<coupling name="belt"><predecessor '
                  'link="b"/><successor link="a"/><ratio value="1"/></coupling></robot>')


@pytest.mark.parametrize('kind', CLOSURE_TYPES)
@pytest.mark.parametrize('grounded', [False, True])
def test_closures_come_back_from_urdf(kind: str, grounded: bool) -> None:
    model, q = random_looped(5, (kind,), types=('revolute', 'prismatic'), grounded=grounded)
    closure, = model.closures
    model = replace(model, closures=(replace(closure, tolerance=1e-4),))
    again = load_urdf(to_urdf(model), gravity=model.gravity)
    one, two = Constraints(model), Constraints(again)
    np.testing.assert_allclose(two.residual(q), one.residual(q), atol=1e-12)
    np.testing.assert_allclose(two.jacobian(q), one.jacobian(q), atol=1e-12)
    assert again.closures[0].tolerance == 1e-4


@pytest.mark.parametrize('name', ['delta', 'excavator', 'cassie_leg', 'gripper', 'scissor_lift'])
def test_machines_come_back_from_urdf(name: str) -> None:
    model = load_model(config_file(f'gallery/{name}.yaml'))
    again = load_urdf(to_urdf(model))
    assert again.closures and len(again.couplings) == len(model.couplings)
    assert [joint.actuated for joint in again.joint_list if joint.parent or joint.type_name != (
        'fixed')] == [joint.actuated for joint in model.joint_list]
    assert Constraints(again).m == Constraints(model).m


def test_what_urdf_cannot_say_of_loops_is_refused_or_named() -> None:
    builder = ModelBuilder('floating')
    for name, parent in (('base', None), ('arm', 'base'), ('hand', 'arm'), ('tool', 'hand')):
        builder.add_body(name, None)
        kind, axis = ('revolute', [0, 0, 1]) if parent else ('free', None)
        builder.add_joint(f'{name}_joint', kind, parent, name, axis=axis)
    builder.add_coupling('tool_joint', 'arm_joint', 1.0, 0.0, {'hand_joint': 2.0})
    with pytest.warns(DescriptionWarning, match="'tool_joint'.*couplings not written"):
        to_urdf(builder.build())
    builder.add_closure('tether', 'rod', None, 'tool', length=1.0)
    with refused(DescriptionError, 'closure tether'):
        with pytest.warns(DescriptionWarning):
            to_urdf(builder.build())


def moved(model):
    """Return the model with other frames of its closure, and a tolerance."""
    closure, = model.closures
    by = se3.exp([0.01, 0.02, 0.03, 1e-3, 2e-3, 3e-3])
    kind = type(closure)
    new = kind(**{**vars(closure), 'frame_a': closure.frame_a @ by,
                  'frame_b': by @ closure.frame_b, 'tolerance': 1e-4})
    return Model(**{**vars(model), 'closures': (new,)})


@pytest.mark.parametrize('kind', ('yaml', 'urdf'))
def test_a_moved_closure_is_read_back(kind, tmp_path):
    path = tmp_path / f'model.{kind}'
    text = config_file('five_bar.yaml').read_text() if kind == 'yaml' else URDF
    load, update = ((load_yaml, updated_yaml) if kind == 'yaml' else (load_urdf, updated_urdf))
    path.write_text(text)
    given = load(path)
    wanted = moved(given)
    path.write_text(update(text, given, wanted))
    found, = load(path).closures
    np.testing.assert_allclose(found.frame_a, wanted.closures[0].frame_a, atol=1e-14)
    np.testing.assert_allclose(found.frame_b, wanted.closures[0].frame_b, atol=1e-14)
    assert found.tolerance == 1e-4 and found.type_name == 'revolute'
