# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""URDF: what is read, and that every fault is named with its place."""

from pathlib import Path
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.refusals import ANY, refused

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.model import load_urdf

X_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)  # the defaults of URDF, and of other joints
LINKS = '<link name="a"/><link name="b"/>'
ENDS = '<parent link="a"/><child link="b"/>'
LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


def robot(content: str) -> str:
    """Return a URDF text."""
    return f'<?xml version="1.0"?>\n<robot name="r">{content}</robot>'


def joint(kind: str, content: str = '', name: str = 'j') -> str:
    """Return a joint from a to b."""
    return f'<joint name="{name}" type="{kind}">{ENDS}{content}</joint>'


def inertial(content: str) -> str:
    """Return a robot of one link with inertia."""
    return robot(f'<link name="a"><inertial>{content}</inertial></link>')


def test_reads_everything_of_a_joint() -> None:
    model = load_urdf(robot(LINKS + joint('revolute', f"""
        <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 3 4"/>{LIMIT}
        <dynamics damping="0.5" friction="0.6"/><safety_controller k_velocity="1"/>""")))
    got = model.joint('j')
    assert (got.type_name, got.parent, got.child) == ('revolute', 'a', 'b')
    np.testing.assert_allclose(got.axis, (0, 0.6, 0.8), rtol=1e-15)
    np.testing.assert_array_equal(got.placement[:3, 3], (1, 2, 3))
    np.testing.assert_allclose(
        got.placement[:3, :3], Rotation.from_euler('xyz', (0.1, 0.2, 0.3)).as_matrix(), atol=1e-15)
    bounds = model.limits
    assert [bounds.lower, bounds.upper, bounds.velocity, bounds.effort] == [-1, 2, 3, 4]
    assert (model.link_table.damping, model.link_table.friction) == (0.5, 0.6)


@pytest.mark.parametrize('urdf_type, content, kind, nq, axis', [
    ('fixed', '', 'fixed', 0, Z_AXIS), ('revolute', LIMIT, 'revolute', 1, X_AXIS),
    ('continuous', '', 'continuous', 1, X_AXIS), ('prismatic', LIMIT, 'prismatic', 1, X_AXIS),
    ('planar', '', 'planar', 3, X_AXIS), ('floating', '', 'free', 7, Z_AXIS),
])
def test_reads_every_type(urdf_type: str, content: str, kind: str, nq: int,
                          axis: tuple[float, ...]) -> None:
    model = load_urdf(robot(LINKS + joint(urdf_type, content)))
    assert (model.joint('j').type_name, model.nq) == (kind, nq)
    np.testing.assert_array_equal(model.joint('j').axis, axis)


def test_floating_frees_the_root() -> None:
    text = robot(joint('fixed') + LINKS)
    assert load_urdf(text).joint('root_joint').type_name == 'fixed'
    model = load_urdf(text, floating=True, gravity=(0, 0, -1.62))
    assert (model.joint('root_joint').type_name, model.nq, model.gravity[2]) == ('free', 7, -1.62)


def test_turns_inertias_into_the_axes_of_the_link() -> None:
    rpy = (0.4, -0.5, 0.6)
    model = load_urdf(inertial(f"""<origin xyz="1 2 3" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>
        <mass value="2"/><inertia ixx="3" ixy="0.1" ixz="0.2" iyy="4" iyz="0.3" izz="5"/>"""))
    inertia, rotation = model.body('a').inertia, Rotation.from_euler('xyz', rpy).as_matrix()
    assert inertia is not None and inertia.mass == 2.0
    np.testing.assert_array_equal(inertia.center_of_mass, (1, 2, 3))
    np.testing.assert_allclose(
        rotation.T @ inertia.inertia_about_com @ rotation,
        [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]], atol=1e-14)


def test_massless_links() -> None:
    zero = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    assert load_urdf(robot('<link name="a"/>')).body('a').inertia is None
    assert load_urdf(inertial(f'<mass value="0"/>{zero}')).body('a').inertia is None


def test_mimic_joints_become_couplings() -> None:
    text = robot(LINKS + '<link name="c"/>' + joint('revolute', LIMIT) + """
        <joint name="k" type="revolute"><parent link="b"/><child link="c"/>
        <limit velocity="1" effort="1"/><mimic joint="j" multiplier="-2" offset="0.5"/></joint>""")
    with pytest.warns(DescriptionWarning, match=r"joints \['k'\]: they mimic others"):
        model = load_urdf(text)
    coupling, = model.couplings
    assert (coupling.joint, coupling.leader) == ('k', 'j')
    assert (coupling.multiplier, coupling.offset, model.nv) == (-2.0, 0.5, 2)
    fixed = text.replace('name="k" type="revolute"', 'name="k" type="fixed"')
    assert load_urdf(fixed).couplings == ()
    orphan = text.replace('mimic joint="j"', 'mimic joint="x"')
    with pytest.warns(DescriptionWarning, match='joint k: it mimics x, which is not in the file'):
        assert load_urdf(orphan).couplings == ()
    with refused(DescriptionError, 'robot/joint[k]/mimic', got='x'):
        load_urdf(orphan, strict=True)
    with refused(DescriptionError, 'coupling of joint k', got='l'):
        load_urdf(text.replace('mimic joint="j"', 'mimic joint="l"').replace('</robot>', """
            <link name="d"/><joint name="l" type="planar"><parent link="c"/><child link="d"/>
            </joint></robot>"""))


@pytest.mark.parametrize('text, message', [
    ('', "URDF: expected a path or a text that starts with '<', got ''"),
    ('<robot', 'expected well-formed XML, got unclosed token: line 1'),
    ('<model name="r"/>', 'model: expected a root element robot, got model'),
    ('<robot/>', 'robot: expected an attribute name, got None'),
    (robot(''), 'robot: expected at least one element link, got none'),
    (robot(LINKS), "expected one link that is the child of no joint, got ['a', 'b']"),
    (robot('<link name="a"/><link name="a"/>'), 'body a: expected a name not yet used'),
    (robot('<link/>'), 'robot/link[0]: expected an attribute name, got None'),
    (robot(LINKS + joint('fixed') + joint('fixed')), 'joint j: expected a name not yet used'),
    (robot(LINKS + joint('fixed') + joint('fixed', name='k')),
     'joint k: expected a child body that no joint moves yet, got b, which joint j moves'),
    (robot(LINKS + joint('ball')), "robot/joint[j]: expected a type of ['fixed', 'revolute'"),
    (robot('<link name="a"/>' + joint('fixed')),
     "joint j: expected a child body of ['a'], got 'b'"),
    (robot(LINKS + joint('fixed').replace('<child link="b"/>', '')),
     'robot/joint[j]: expected an element child, got none'),
    (robot(LINKS + joint('revolute')), 'robot/joint[j]: expected an element limit for type rev'),
    (robot(LINKS + joint('revolute', '<limit effort="1"/>')),
     'robot/joint[j]/limit: expected an attribute velocity, got none'),
    (robot(LINKS + joint('revolute', '<limit lower="2" upper="1" velocity="1" effort="1"/>')),
     'joint j: limits: expected lower <= upper, got [2.0] and [1.0]'),
    (robot(LINKS + joint('continuous', '<axis xyz="1 0"/>')),
     "robot/joint[j]/axis: expected 3 finite numbers as xyz, got '1 0'"),
    (robot(LINKS + joint('continuous', '<axis xyz="1 0 nan"/>')), 'finite numbers as xyz'),
    (robot(LINKS + joint('continuous', '<axis xyz="0 0 0"/>')), 'joint j: axis: expected a dir'),
    (robot(LINKS + joint('fixed', '<origin rpy="1 0 x"/>')), "numbers as rpy, got '1 0 x'"),
    (robot(LINKS + joint('fixed', '<origin/><origin/>')), 'at most one element origin, got 2'),
    (robot(LINKS + joint('floating', '<dynamics damping="1"/>')),
     "joint[j]/dynamics: expected no damping for type floating, got {'damping': 1.0}"),
    (robot(LINKS + joint('continuous', '<dynamics damping="-1"/>')), 'joint j: damping: expected'),
    (robot(f'{LINKS}{joint("fixed")}<joint name="k" type="fixed"><parent link="b"/>'
           '<child link="a"/></joint>'), 'got none: the joints are a loop'),
    (robot(f'{LINKS}<link name="c"/>{joint("fixed")}<joint name="k" type="fixed">'
           '<parent link="b"/><child link="a"/></joint>'), "bodies ['a', 'b']: expected a path"),
    (inertial('<mass value="1"/>'), 'robot/link[a]/inertial: expected an element inertia'),
    (inertial('<mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/>'),
     'robot/link[a]/inertial: inertia_about_com: expected no principal moment above the sum of '
     'the other two, got 1, 1, 3 kg m^2; without strict it is used as it is'),
    (inertial('<mass value="-1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'),
     'robot/link[a]/inertial: mass: expected more than 0 kg, got -1.0'),
    (robot('<link name="a"/><virtual_joint name="v" type="planar" child_link="a"/>'),
     'robot/virtual_joint: expected a type of fixed or floating, got planar'),
    (robot('<link name="a"/><m:x xmlns:m="http://www.ros.org/wiki/xacro"/>'),
     'expected a URDF without elements of xacro (expand it, or name the file .xacro), got xacro'),
    (robot('<link name="a"/><xacro:x/>'), 'expected well-formed XML, got unbound prefix: line 2'),
    (robot('<link name="${n}"/>'), '.xacro), got link ${n}'),
    (robot(LINKS + joint('fixed').replace('name="j"', 'name="${prefix}j"')),
     '.xacro), got joint ${prefix}j'),
    (robot(LINKS + joint('fixed').replace('name="j"', 'name="$(arg prefix)j"')),
     '.xacro), got joint $(arg prefix)j'),
    (robot('<link name="a&#10;b"/>'), "robot/link[a\nb]: expected an attribute name, got 'a"),
    (inertial(f'<mass value="{"1" * 400}"/>'), 'inertial/mass: expected 1 finite number as value'),
    (inertial(f'<mass value="{"1" * 5000}"/>'), 'inertial/mass: expected 1 finite number as val'),
    (inertial('<mass value="1e-400"/>'), "mass: expected 1 finite number as value, got '1e-400'"),
    (inertial('<mass value="1_0"/>'), "mass: expected 1 finite number as value, got '1_0'"),
])
def test_refusals_name_the_place(text: str, message: str) -> None:
    with pytest.raises(DescriptionError, match=re.escape(message)):
        load_urdf(text, strict=True)


@pytest.mark.parametrize('text', ['\ufeff' + robot('<link name="a"/>'), '\ufeff <robot name="r">'
                                  '<link name="a"/></robot>'])
def test_a_byte_order_mark_is_passed_over(text: str, tmp_path: Path) -> None:
    path = tmp_path / 'marked.urdf'
    path.write_text(text.replace(' <robot', '<robot'), encoding='utf-8')
    for source in (text, path):
        assert load_urdf(source).name == 'r'


@pytest.mark.parametrize(('source', 'name'), [
    ('robot\0.urdf', "'robot\\x00.urdf'"),
    (Path('robot\ud800.urdf'), "'robot\\ud800.urdf'"),
    (robot('<link name="\ud800"/>'), 'URDF text')])
def test_characters_that_cannot_be(source: str | Path, name: str) -> None:
    with refused(DescriptionError, name):
        load_urdf(source)


def test_an_encoding_that_there_is_not(tmp_path: Path) -> None:
    path = tmp_path / 'odd.urdf'
    path.write_text('<?xml version="1.0" encoding="odd"?><robot name="r"><link name="a"/></robot>')
    with refused(DescriptionError, ANY, got='unknown encoding: odd'):
        load_urdf(path)


@pytest.mark.parametrize(('content', 'fault'), [
    ('<mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/>',
     'no principal moment above the sum of the other two'),
    ('<mass value="1"/><inertia ixx="1" iyy="1" izz="-1" ixy="0" ixz="0" iyz="0"/>',
     'a positive definite matrix'),
    ('<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="1" ixz="1" iyz="1"/>',
     'a positive definite matrix'),
    ('<mass value="0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>',
     'mass: expected more than 0 kg')])
def test_mass_properties_of_no_body_are_used_with_a_warning(content: str, fault: str) -> None:
    with pytest.warns(DescriptionWarning, match=re.escape(fault)) as caught:
        model = load_urdf(inertial(content))
    assert [str(each.message) for each in caught] == [f'URDF text: {model.warnings[0]}']
    assert "links ['a']: " in model.warnings[0]
    inertia = model.body('a').inertia
    assert inertia is not None and inertia.inertia_about_com[0, 0] == 1.0
    with pytest.raises(DescriptionError, match=re.escape(fault)):
        load_urdf(inertial(content), strict=True)


@pytest.mark.filterwarnings('error')
def test_a_physical_model_warns_of_nothing() -> None:
    assert load_urdf(robot(LINKS + joint('revolute', LIMIT))).warnings == ()


def test_limits_in_degrees_have_a_warning() -> None:
    text = ('<robot name="arm"><link name="base"/><link name="a"/><link name="b"/>' + ''.join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<limit lower="-{most}" upper="{most}" effort="1" velocity="1"/></joint>'
        for name, parent, child, most in (('turn', 'base', 'a', 170), ('bend', 'a', 'b', 9.42)))
        + '</robot>')
    with pytest.warns(DescriptionWarning, match=r"joints \['turn'\]: .* like degrees") as seen:
        assert 'degrees' in load_urdf(text).warnings[0]
    assert len(seen) == 1


def test_a_virtual_joint_says_how_the_root_is_held() -> None:
    text = robot(LINKS + joint('fixed') + '<virtual_joint name="v" type="floating" '
                 'parent_frame="world" child_link="a"/>')
    assert (load_urdf(text).joint('v').type_name, load_urdf(text).nv) == ('free', 6)
    assert load_urdf(text.replace('floating', 'fixed')).joint('v').type_name == 'fixed'
    assert load_urdf(text.replace('floating', 'fixed'), floating=True).nv == 6


@pytest.mark.parametrize('source', [b'<robot name="r"><link name="a"/></robot>', 3, None, [1]])
def test_what_is_neither_path_nor_text_is_refused(source: object) -> None:
    with refused(DescriptionError, 'URDF'):
        load_urdf(source)


def test_file_names_are_in_the_message(tmp_path: Path) -> None:
    path = tmp_path / 'bad.urdf'
    with refused(DescriptionError, ANY, got='No such file or directory'):
        load_urdf(path)
    path.write_text(robot(LINKS))
    with refused(DescriptionError, 'robot'):
        load_urdf(path)


@pytest.mark.parametrize(('bounds', 'version'), [('', '1.0'), ('lower="0" upper="0"', '1.2')])
def test_a_range_of_one_position_is_named(bounds: str, version: str) -> None:
    text = robot(LINKS + joint('revolute', f'<limit {bounds} effort="9" velocity="2"/>'))
    with pytest.warns(DescriptionWarning):
        model = load_urdf(text.replace('<robot', f'<robot version="{version}"', 1))
    assert model.warnings[0].startswith("joints ['j']: a range of one position")
