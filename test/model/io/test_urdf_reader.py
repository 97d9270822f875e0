# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""URDF: what is read, and that every fault is named with its place."""

from pathlib import Path

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


@pytest.mark.parametrize('text, named, got', [
    ('', 'URDF', ''),
    ('<robot', 'URDF text', ANY),
    ('<model name="r"/>', 'model', 'model'),
    ('<robot/>', 'robot', 'None'),
    (robot(''), 'robot', 'none'),
    (robot(LINKS), 'robot', "['a', 'b']"),
    (robot('<link name="a"/><link name="a"/>'), 'body a', ANY),
    (robot('<link/>'), 'robot/link', 'None'),
    (robot(LINKS + joint('fixed') + joint('fixed')), 'joint j', ANY),
    (robot(LINKS + joint('fixed') + joint('fixed', name='k')),
     'joint k', ANY),
    (robot(LINKS + joint('ball')), 'robot/joint[j]', 'ball'),
    (robot('<link name="a"/>' + joint('fixed')),
     'joint j', 'b'),
    (robot(LINKS + joint('fixed').replace('<child link="b"/>', '')),
     'robot/joint[j]', 'none'),
    (robot(LINKS + joint('revolute')), 'robot/joint[j]', 'none'),
    (robot(LINKS + joint('revolute', '<limit effort="1"/>')),
     'robot/joint[j]/limit', 'none'),
    (robot(LINKS + joint('revolute', '<limit lower="2" upper="1" velocity="1" effort="1"/>')),
     'limits', '[2.0] and [1.0]'),
    (robot(LINKS + joint('continuous', '<axis xyz="1 0"/>')),
     'robot/joint[j]/axis', '1 0'),
    (robot(LINKS + joint('continuous', '<axis xyz="1 0 nan"/>')),
     'robot/joint[j]/axis', '1 0 nan'),
    (robot(LINKS + joint('continuous', '<axis xyz="0 0 0"/>')), 'axis', [0.0, 0.0, 0.0]),
    (robot(LINKS + joint('fixed', '<origin rpy="1 0 x"/>')), 'robot/joint[j]/origin', '1 0 x'),
    (robot(LINKS + joint('fixed', '<origin/><origin/>')), 'robot/joint[j]', 2),
    (robot(LINKS + joint('floating', '<dynamics damping="1"/>')),
     'robot/joint[j]/dynamics', 1.0),
    (robot(LINKS + joint('continuous', '<dynamics damping="-1"/>')), 'damping', [-1.0]),
    (robot(f'{LINKS}{joint("fixed")}<joint name="k" type="fixed"><parent link="b"/>'
           '<child link="a"/></joint>'), 'robot', ANY),
    (robot(f'{LINKS}<link name="c"/>{joint("fixed")}<joint name="k" type="fixed">'
           '<parent link="b"/><child link="a"/></joint>'), "bodies ['a', 'b']", ANY),
    (inertial('<mass value="1"/>'), 'robot/link[a]/inertial', 'none'),
    (inertial('<mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/>'),
     'inertia_about_com', '1, 1, 3 kg m^2'),
    (inertial('<mass value="-1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'),
     'mass', -1.0),
    (robot('<link name="a"/><virtual_joint name="v" type="planar" child_link="a"/>'),
     'robot/virtual_joint', 'planar'),
    (robot('<link name="a"/><m:x xmlns:m="http://www.ros.org/wiki/xacro"/>'),
     'robot', 'xacro:x'),
    (robot('<link name="a"/><xacro:x/>'), 'robot', 'xacro:x'),
    (robot('<link name="${n}"/>'), 'robot', 'link ${n}'),
    (robot(LINKS + joint('fixed').replace('name="j"', 'name="${prefix}j"')),
     'robot', 'joint ${prefix}j'),
    (robot(LINKS + joint('fixed').replace('name="j"', 'name="$(arg prefix)j"')),
     'robot', 'joint $(arg prefix)j'),
    (robot('<link name="a&#10;b"/>'), ANY, ANY),
    (inertial(f'<mass value="{"1" * 400}"/>'), 'robot/link[a]/inertial/mass', ANY),
    (inertial(f'<mass value="{"1" * 5000}"/>'), 'robot/link[a]/inertial/mass', ANY),
    (inertial('<mass value="1e-400"/>'), 'robot/link[a]/inertial/mass', '1e-400'),
    (inertial('<mass value="1_0"/>'), 'robot/link[a]/inertial/mass', '1_0'),
])
def test_refusals_name_the_place(text: str, named: str, got: object) -> None:
    with refused(DescriptionError, named, got=got):
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


@pytest.mark.parametrize(('content', 'named', 'got'), [
    ('<mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/>',
     'inertia_about_com', '1, 1, 3 kg m^2'),
    ('<mass value="1"/><inertia ixx="1" iyy="1" izz="-1" ixy="0" ixz="0" iyz="0"/>',
     'inertia_about_com', ANY),
    ('<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="1" ixz="1" iyz="1"/>',
     'inertia_about_com', ANY),
    ('<mass value="0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>',
     'mass', 0.0)])
def test_mass_properties_of_no_body_are_used_with_a_warning(content: str,
                                                            named: str, got: object) -> None:
    with pytest.warns(DescriptionWarning) as caught:
        model = load_urdf(inertial(content))
    assert [str(each.message) for each in caught] == [f'URDF text: {model.warnings[0]}']
    assert "links ['a']: " in model.warnings[0]
    inertia = model.body('a').inertia
    assert inertia is not None and inertia.inertia_about_com[0, 0] == 1.0
    with refused(DescriptionError, named, got=got):
        load_urdf(inertial(content), strict=True)


@pytest.mark.filterwarnings('error')
def test_a_physical_model_warns_of_nothing() -> None:
    weighs = ('<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
              'ixz="0" iyz="0"/></inertial></link>')
    text = robot('<link name="a"/>' + weighs + joint('revolute', LIMIT))
    assert load_urdf(text).warnings == ()


def test_limits_in_degrees_have_a_warning() -> None:
    text = ('<robot name="arm"><link name="base"/><link name="a"/><link name="b"/>' + ''.join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<limit lower="-{most}" upper="{most}" effort="1" velocity="1"/></joint>'
        for name, parent, child, most in (('turn', 'base', 'a', 170), ('bend', 'a', 'b', 9.42)))
        + '</robot>')
    with pytest.warns(DescriptionWarning, match=r"joints \['turn'\]: .* like degrees") as seen:
        assert 'degrees' in load_urdf(text).warnings[0]
    assert len(seen) == 2  # and no link has a mass


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
