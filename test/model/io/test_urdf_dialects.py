# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Elements of Isaac Sim, Drake, Gazebo and MuJoCo in a URDF: read as closures, or named."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.refusals import ANY, refused

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.model import (
    load_urdf, Model, updated_urdf, with_inertias, with_resistances)

LIMIT = '<limit lower="-3" upper="3" velocity="9" effort="9"/>'
PINS = {  # the same pin, as the documents of Isaac Sim, of Drake, and URDF+ write it
    'isaac': """<loop_joint name="pin" type="spherical">
<link1 link="coupler" rpy="0 0 0" xyz="0.5 0 0"/><link2 link="rocker" xyz="0.4 0 0.1"/>
</loop_joint>""",
    'isaac, by its manual': """<loop_joint name="pin" type="spherical">
<link1 link="coupler" rpy="0 0 0" xyz="0.5 0 0"/><link1 link="rocker" xyz="0.4 0 0.1"/>
</loop_joint>""",
    'drake': """<drake:ball_constraint><drake:ball_constraint_body_A name="coupler"/>
<drake:ball_constraint_body_B name="rocker"/><drake:ball_constraint_p_AP value="0.5 0 0"/>
<drake:ball_constraint_p_BQ value="0.4 0 0.1"/></drake:ball_constraint>""",
    'urdf+': """<loop name="pin" type="ball">
<predecessor link="coupler"><origin xyz="0.5 0 0"/></predecessor>
<successor link="rocker"><origin xyz="0.4 0 0.1"/></successor></loop>"""}


def robot(more: str, in_joint: str = '', dynamics: str = '') -> str:
    """Return two chains of one link each on a base, and further elements."""
    def link(name: str) -> str:
        return (f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" '
                'izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>')

    joints = ''.join(
        f'<joint name="{name}_joint" type="revolute"><parent link="base"/><child link="{name}"/>'
        f'<axis xyz="0 1 0"/>{LIMIT}{dynamics}{in_joint}</joint>'
        for name in ('coupler', 'rocker'))
    return ('<robot name="two" xmlns:drake="http://drake.mit.edu"><link name="base"/>'
            f'{link("coupler")}{link("rocker")}{joints}{more}</robot>')


def loaded(text: str) -> Model:
    """Return the model of a text whose warnings are all shown."""
    with pytest.warns(DescriptionWarning) as shown:
        model = load_urdf(text)
    assert [str(each.message).removeprefix('URDF text: ') for each in shown] == list(
        model.warnings)
    return model


@pytest.mark.parametrize('dialect', PINS)
def test_a_ball_is_the_closure_of_each_dialect(dialect: str) -> None:
    model = load_urdf(robot(PINS[dialect]))
    closure, = model.closures
    assert not model.warnings
    assert (closure.type_name, closure.body_a, closure.body_b) == (
        'spherical', 'coupler', 'rocker')
    np.testing.assert_array_equal(closure.frame_a[:3, 3], [0.5, 0.0, 0.0])
    np.testing.assert_array_equal(closure.frame_b[:3, 3], [0.4, 0.0, 0.1])


def test_a_fixed_loop_joint_is_a_weld_at_both_frames() -> None:
    model = load_urdf(robot(PINS['isaac'].replace('spherical', 'fixed').replace(
        'rpy="0 0 0"', 'rpy="0 0 1.5707963267948966"')))
    closure, = model.closures
    assert closure.type_name == 'weld'
    np.testing.assert_allclose(closure.frame_a[:3, 0], [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_array_equal(closure.frame_b[:3, :3], np.eye(3))


# The element, and words of its warning: its name, what it joins, and what to do.
UNREAD = {
    'revolute loop': (PINS['isaac'].replace('spherical', 'revolute'), [
        'loop_joint pin', 'revolute between coupler and rocker', 'annotate']),
    'loop to nowhere': (PINS['isaac'].replace('"rocker"', '"tip"'), [
        'loop_joint pin', "'tip'", 'annotate']),
    'loop without a name': (PINS['isaac'].replace('name="pin"', ''), ['attribute name']),
    'loop of bad numbers': (PINS['isaac'].replace('0.5', 'half'), ['loop_joint pin', 'half']),
    'ball to the world': (PINS['drake'].replace('name="rocker"', 'name="world"'), [
        'drake:ball_constraint', "'world'"]),
    'bushing': ("""<drake:linear_bushing_rpy><drake:bushing_frameA name="coupler"/>
<drake:bushing_frameC name="rocker"/><drake:bushing_force_stiffness value="1 1 1"/>
</drake:linear_bushing_rpy>""", ['drake:linear_bushing_rpy', "['coupler', 'rocker']", 'not read']),
    'ball of another address': ("""<near:ball_constraint xmlns:near="http://drake.example">
<near:ball_constraint_body_A name="coupler"/></near:ball_constraint>""", [
        'drake:ball_constraint', 'not read']),
    'spring': ("""<drake:linear_spring_damper><drake:linear_spring_damper_body_A name="coupler"/>
<drake:linear_spring_damper_body_B name="rocker"/></drake:linear_spring_damper>""", [
        'drake:linear_spring_damper', 'coupler', 'rocker']),
    'sdf joint': ("""<gazebo><joint name="pin" type="ball"><parent>coupler</parent>
<child>rocker</child><pose>0 0 0 0 0 0</pose></joint></gazebo>""", [
        'joint pin between', "['coupler', 'rocker']", 'closure', 'spherical']),
    'sdf link': ('<gazebo><link name="load"/></gazebo>', ['gazebos', 'link load']),
    'mimic plugin': ("""<gazebo><plugin name="follow" filename="libmimic.so">
<joint>coupler_joint</joint><mimicJoint>rocker_joint</mimicJoint></plugin></gazebo>""", [
        "'rocker_joint' mimics 'coupler_joint'", 'coupling']),
    'gravity off': ('<gazebo reference="rocker"><turnGravityOff>true</turnGravityOff></gazebo>', [
        "gazebos ['rocker']", 'gravity acts']),
    'gazebo spring': ("""<gazebo reference="rocker_joint"><springStiffness>20</springStiffness>
</gazebo>""", ['rocker_joint', 'springStiffness']),
    'connect': ("""<mujoco><equality><connect name="pin" body1="coupler" body2="rocker"
anchor="0.5 0 0"/></equality></mujoco>""", [
        'connect pin between', "['coupler', 'rocker']", 'closure of type spherical']),
    'coupled joints': ("""<mujoco><equality><joint joint1="coupler_joint" joint2="rocker_joint"/>
</equality></mujoco>""", ["['coupler_joint', 'rocker_joint']", 'coupling']),
    'gravity': ('<mujoco><option gravity="0 0 -1.6"/></mujoco>', [
        'gravity of option', 'argument gravity']),
    'rotor': ("""<transmission name="drive"><type>simple</type><joint name="rocker_joint"/>
<actuator name="motor"><drake:gear_ratio value="100"/><drake:rotor_inertia value="2e-5"/>
</actuator></transmission>""", ["transmissions ['drive']", 'rocker_joint', 'rotor_inertia',
                                'as armature of dynamics']),
}


@pytest.mark.parametrize('element', UNREAD)
def test_what_is_not_read_is_named(element: str) -> None:
    text, words = UNREAD[element]
    model = loaded(robot(text))
    warning, = model.warnings
    for word in words:
        assert word in warning
    assert not model.closures
    assert model.nv == 2  # it loads as the tree that it was before


@pytest.mark.parametrize(('parts', 'word'), [
    ({'in_joint': '<drake:rotor_inertia value="1e-4"/>'}, 'drake:rotor_inertia'),
    ({'dynamics': '<dynamics damping="1" spring="0.1"/>'}, 'spring'),
    ({'dynamics': '<dynamics friction="1" spring_stiffness="3"/>'}, 'spring_stiffness')])
def test_what_joints_have_besides_is_named(parts: dict[str, str], word: str) -> None:
    text = ' '.join(loaded(robot('', **parts)).warnings)
    for part in (word, 'coupler_joint', 'rocker_joint', 'not read'):
        assert part in text


@pytest.mark.parametrize('text', [
    '<drake:collision_filter_group name="all"/>',
    '<gazebo reference="rocker"><mu1>0.9</mu1><springStiffness>0</springStiffness></gazebo>',
    '<gazebo><plugin name="control" filename="libcontrol.so"/></gazebo>',
    '<mujoco><compiler meshdir="meshes" fusestatic="false"/></mujoco>',
    """<transmission name="drive"><joint name="rocker_joint"/><actuator name="motor">
<mechanicalReduction>50</mechanicalReduction></actuator></transmission>"""])
def test_what_has_no_effect_on_the_dynamics_is_not_named(text: str) -> None:
    assert not load_urdf(robot(text)).warnings


def test_a_prefix_need_not_be_declared_nor_comments_be_without_hyphens() -> None:
    """The libraries of URDF and SDF read both, and files of Drake and of hands have them."""
    text = robot('<!-- a -- b --><!-- c -->' + PINS['drake']).replace(
        ' xmlns:drake="http://drake.mit.edu"', '')
    model = load_urdf(text)
    assert len(model.closures) == 1
    heavy = with_inertias(model, {'coupler': 2.0 * model.body('coupler').inertia.parameters()})
    new = updated_urdf(text, model, heavy)
    again = load_urdf(new)
    assert len(again.closures) == 1 and again.mass == model.mass + 1.0
    assert '<!-- a -- b --><!-- c -->' in new


WRITTEN = """<?xml version="1.0"?>
<!-- Copyright: the maker. <link name="tip"/> was here -->
<!DOCTYPE robot [<!ENTITY size "1 1 1">]>
<robot name='two'  version="1.0">
    <link name="base" />
    <link name="tip">
        <visual><geometry><box size="&size;"/></geometry></visual><!-- "drawn" -->
        <inertial>
            <!-- weighed -->
            <mass value = '1.0'/>
            <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/><!-- by CAD -->
        </inertial>
    </link>
    <joint name="turn" type="revolute"> <parent link="base"/> <child link="tip"/>
        <axis xyz="0 1 0"/> <!-- y -->
        <limit lower="-3" upper="3" velocity="9" effort="9"/>
        <dynamics note="a > b" friction = "0.0"/>
        <calibration rising='0.0'/>
    </joint>
    <gazebo><plugin name="p" filename="p.so"><![CDATA[<joint name="turn"/>]]></plugin></gazebo>
</robot>
<!-- the end -->
"""


def test_all_else_of_an_updated_file_is_as_it_was_written():
    model = loaded(WRITTEN)
    body = 2.0 * model.body('tip').inertia.parameters()
    new = with_resistances(with_inertias(model, {'tip': body}), {'turn': 0.5}, {'turn': 0.25})
    written = updated_urdf(WRITTEN, model, new)
    assert written == WRITTEN.replace(
        "<mass value = '1.0'/>", '<mass value="2.0" />').replace(
        '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>',
        '<inertia ixx="0.2" ixy="0.0" ixz="0.0" iyy="0.2" iyz="0.0" izz="0.2" />').replace(
        ' friction = "0.0"', ' friction="0.25" damping="0.5"').replace(
        '        </inertial>', '            <origin xyz="0.0 0.0 0.0" />\n        </inertial>')
    again = loaded(written)
    assert_same(again.body('tip').inertia.parameters(), body)
    assert (again.link_table.damping, again.link_table.friction) == (0.5, 0.25)


@pytest.mark.parametrize('empty', ['<link name="tip"/>', '<link name="tip"></link>'])
def test_what_a_file_did_not_have_is_added(empty):
    begin, middle = WRITTEN.index('<link name="tip">'), WRITTEN.index('<joint')
    text = WRITTEN[:begin] + empty + WRITTEN[middle:].replace(
        '<dynamics note="a > b" friction = "0.0"/>', '')
    model = loaded(text)
    new = with_resistances(with_inertias(model, {'tip': [1.0, 0, 0, 0, 1, 0, 0, 1, 0, 1]}),
                           {'turn': 0.5}, {})
    again = loaded(updated_urdf(text, model, new))
    assert again.mass == 1.0 and again.link_table.damping == 0.5


@pytest.mark.parametrize('entity', ["<link name='more'/>", ']><link/>'])
def test_what_a_document_type_writes_is_not_edited(entity):
    inside = '&part;' if entity.startswith('<') else ''
    text = (f'<!DOCTYPE robot [<!ENTITY part "{entity}">]><robot name="r"><link name="a">'
            '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
            f'</inertial>{inside}</link></robot>')
    model = load_urdf(text)
    with refused(DescriptionError, ANY):
        updated_urdf(text, model, with_inertias(model, {'a': [2.0, 0, 0, 0, 1, 0, 0, 1, 0, 1]}))
