# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Versions of URDF and SDF, loops and worlds of Gazebo, computed masses, packages elsewhere."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.refusals import ANY, refused

import liedyn_ros as ld
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import load_mjcf, load_model, load_sdf, load_urdf
from liedyn_ros.retiming import MotionLimits

pytestmark = pytest.mark.filterwarnings('ignore::liedyn_ros.common.errors.DescriptionWarning')

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
LINK = '<link name="{}"><inertial>{}<mass value="1"/>' + INERTIA + '</inertial></link>'


def robot(version: str, origin: str, limit: str, more: str = '') -> str:
    return (f'<robot name="r"{version}><link name="w"/>{LINK.format("a", "")}'
            '<joint name="j" type="revolute"><parent link="w"/><child link="a"/>'
            f'{origin}<axis xyz="0 1 0"/>{limit}</joint>{more}</robot>')


LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'
TURNED = '<origin xyz="1 2 3" quat_xyzw="0 0 2 2"/>'


@pytest.mark.parametrize(('name', 'text'), [
    ('r.URDF', '<robot name="r"><link name="a"/></robot>'),
    ('r.world', '<sdf version="1.9"><world name="w"><model name="m"><link name="a"/></model>'
     '</world></sdf>')])
def test_files_of_solidworks_and_worlds_of_gazebo_are_read_by_name(name, text, tmp_path) -> None:
    (tmp_path / name).write_text(text)
    assert load_model(tmp_path / name).bodies == ('a',)


def test_quaternions_count_from_version_1_1_on() -> None:
    for version in ('1.1', '1.2'):
        model = load_urdf(robot(f' version="{version}"', TURNED, LIMIT))
        assert_same(model.joint('j').placement[:3, 0], [0.0, 1.0, 0.0])
        assert not model.warnings
    for version in ('', ' version="1.0"'):
        model = load_urdf(robot(version, TURNED, LIMIT))
        assert_same(model.joint('j').placement[:3, :3], np.eye(3))
        assert 'quat_xyzw' in model.warnings[0]
    for wrong in ('0 0 0 0', '0 0 1', '0 0 1 0" rpy="0 0 1'):
        with pytest.raises(DescriptionError):
            load_urdf(robot(' version="1.1"', TURNED.replace('0 0 2 2', wrong), LIMIT))


def test_limits_of_acceleration_and_jerk_reach_motion_limits() -> None:
    limit = LIMIT.replace('/>', ' acceleration="5" deceleration="4" jerk="9"/>')
    model = load_urdf(robot(' version="1.2"', '', limit))
    found = MotionLimits().of(model)
    assert [found[key].tolist() for key in ('velocity', 'acceleration', 'jerk', 'torque')] == [
        [2.0], [4.0], [9.0], [3.0]]
    assert MotionLimits(jerk=1.0).of(model)['jerk'] == [1.0]
    assert np.isinf(MotionLimits().of(load_urdf(robot('', '', LIMIT)))['jerk']).all()


def test_what_a_limit_of_version_1_2_does_not_say_is_infinite() -> None:
    limits = load_urdf(robot(' version="1.2"', '', '<limit/>')).limits
    assert np.isinf([limits.lower, limits.upper, limits.velocity, limits.effort]).all()
    with pytest.raises(DescriptionError):
        load_urdf(robot('', '', '<limit/>'))


@pytest.mark.parametrize(('numbers', 'velocity'), [
    ('lower="0" upper="0" velocity="0" effort="0"', np.inf),
    ('lower="-1" upper="1" velocity="0" effort="0"', np.inf),
    ('lower="-1" upper="1" velocity="0" effort="3"', 0.0)])
def test_limits_of_zero_are_named(numbers: str, velocity: float) -> None:
    model = load_urdf(robot('', '', f'<limit {numbers}/>'))
    assert model.limits.velocity[0] == velocity
    assert model.warnings[0].startswith("joints ['j']")


def test_infinite_limits_are_limits() -> None:
    limits = load_urdf(robot('', '', '<limit lower="-inf" upper="+INF" velocity="inf" '
                             'effort="Infinity"/>')).limits
    assert np.isinf([limits.lower, limits.upper, limits.velocity, limits.effort]).all()


def test_ros2_control_says_what_mimics() -> None:
    more = (LINK.format('b', '') + '<joint name="k" type="continuous"><parent link="w"/>'
            '<child link="b"/></joint><ros2_control><joint name="k"><param name="mimic">j</param>'
            '<param name="multiplier">-2</param></joint></ros2_control>')
    model = load_urdf(robot('', '', LIMIT, more))
    coupling, = model.couplings
    assert (coupling.joint, coupling.terms) == ('k', (('j', -2.0),))
    assert not model.joint('k').actuated


def test_a_mimic_of_a_fixed_joint_is_named() -> None:
    more = (LINK.format('b', '') + '<joint name="k" type="continuous"><parent link="w"/>'
            '<child link="b"/><mimic joint="f"/></joint>' + LINK.format('c', '')
            + '<joint name="f" type="fixed"><parent link="w"/><child link="c"/></joint>')
    model = load_urdf(robot('', '', LIMIT, more))
    assert not model.couplings and 'mimics f, which is fixed' in model.warnings[0]


NAMESPACES = {
    load_urdf: robot(' xmlns="http://drake.mit.edu"', '', LIMIT),
    load_sdf: '<sdf xmlns="http://sdformat.org" version="1.9"><model name="m"><link name="a"/>'
              '</model></sdf>',
    load_mjcf: '<mujoco xmlns="http://mujoco.org"><worldbody><body><joint/><geom size=".1"/>'
               '</body></worldbody></mujoco>'}


@pytest.mark.parametrize('load', NAMESPACES)
def test_default_namespaces_and_blank_lines_are_read(load, tmp_path) -> None:
    text = f'\n  \n<?xml version="1.0"?>\n{NAMESPACES[load]}'
    path = tmp_path / 'a'
    path.write_text(text)
    assert load(text).nv == load(path).nv > 0


MASS = '<inertial><mass>1</mass></inertial>'
TURN = '<pose>0 0 1 0 0 1.5707963267948966</pose>'
ARM = (f'<link name="base">{MASS}</link><link name="arm">{TURN}{MASS}</link>'
       '<joint name="j" type="revolute"><parent>base</parent><child>arm</child>'
       '<axis><xyz>0 1 0</xyz></axis></joint>')


@pytest.mark.parametrize(('version', 'axis'), [
    ('1.3', (0, 1, 0)), ('1.4', (0, 1, 0)), ('1.5', (-1, 0, 0)), ('1.12', (-1, 0, 0))])
def test_axes_to_1_4_are_along_the_model(version: str, axis, tmp_path) -> None:
    """In a file that another includes, too, whose own version counts."""
    text = f'<sdf version="{version}"><model name="m"><static>0</static>{ARM}</model></sdf>'
    (tmp_path / 'm.sdf').write_text(text)
    path = tmp_path / 'all.sdf'
    path.write_text('<sdf version="1.9"><model name="all"><include><uri>m.sdf</uri></include>'
                    '</model></sdf>')
    for model, child in ((load_sdf(text), 'arm'), (load_sdf(path), 'm::arm')):
        frames = Dynamics(model).frames
        turn = frames.pose(model.neutral(), child)[:3, :3]
        joint = next(each for each in model.joint_list if each.name.endswith('j'))
        assert_same(turn @ joint.axis, axis, 1e-12)


def test_gravity_to_1_5_is_in_physics() -> None:
    world = (f'<world name="w"><physics><gravity>0 0 -1.6</gravity></physics>'
             f'<model name="m">{ARM}</model></world>')
    assert_same(load_sdf(f'<sdf version="1.5">{world}</sdf>').gravity, [0, 0, -1.6])
    assert_same(load_sdf(f'<gazebo version="1.2">{world}</gazebo>').gravity, [0, 0, -1.6])
    late = load_sdf(f'<sdf version="1.6">{world}</sdf>')
    assert late.gravity[2] == -9.8 and 'gravity of physics not read' in late.warnings[0]
    for version in ('1.0', 'x', '-1'):
        with pytest.raises(DescriptionError):
            load_sdf(f'<sdf version="{version}">{world}</sdf>')


def test_a_world_with_a_ground_has_one_machine(tmp_path) -> None:
    ground = f'<model name="ground"><static>true</static><link name="l">{MASS}</link></model>'
    other = f'<model name="box"><link name="l">{MASS}</link></model>'
    text = f'<sdf version="1.9"><world name="w">{ground}<model name="m">{ARM}</model>{{}}</world>'
    text += '</sdf>'
    assert load_sdf(text.format('')).name == 'm'
    with pytest.raises(DescriptionError):
        load_sdf(text.format(other))
    path = tmp_path / 'a.sdf'
    path.write_text(text.format(other))
    assert load_model(path, sdf_model='box').name == 'box'
    assert ld.load(path, sdf_model='box').model.name == 'box'
    assert ld.load(path.read_text(), sdf_model='box').model.name == 'box'
    (tmp_path / 'b.sdf').write_text(f'<sdf version="1.9"><model name="b">{ARM}</model></sdf>')
    path.write_text('<sdf version="1.9"><include><uri>b.sdf</uri><static>true</static></include>'
                    '</sdf>')
    assert not any('static not read' in each for each in load_model(path).warnings)
    with pytest.raises(DescriptionError):
        load_model(path, sdf_model='none')
    with pytest.raises(DescriptionError):
        ld.load(robot('', '', LIMIT), sdf_model='box')


def test_a_urdf_is_included(tmp_path) -> None:
    (tmp_path / 'arm.urdf').write_text(robot('', TURNED, LIMIT).replace(
        '<link name="w"/>', LINK.format('w', '')))
    path = tmp_path / 'a.sdf'
    path.write_text('<sdf version="1.9"><model name="m"><include><uri>arm.urdf</uri></include>'
                    '</model></sdf>')
    assert load_model(path).joints == ('root_joint', 'r::j')


TRIPLE = ''.join(f'<link name="{name}"><pose>{at} 0 0 0 0 0</pose>{MASS}</link>'
                 for at, name in enumerate('abc'))
TURNS = ''.join(f'<joint name="{joint}" type="revolute"><parent>{parent}</parent>'
                f'<child>{child}</child><axis><xyz>0 {sign} 0</xyz></axis></joint>'
                for joint, parent, child, sign in (
                    ('fix', 'world', 'a', 1), ('j', 'a', 'b', 1), ('k', 'a', 'c', -1)))


def test_a_gearbox_is_a_coupling() -> None:
    box = ('<joint name="g" type="gearbox"><parent>b</parent><child>c</child>'
           '<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>'
           '<axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>')
    text = '<sdf version="1.9"><model name="m">{}</model></sdf>'
    coupling, = load_sdf(text.format(TRIPLE + TURNS + box)).couplings
    assert (coupling.joint, coupling.terms) == ('k', (('j', 3.0),))  # its axis is turned
    model = load_sdf(text.format(TRIPLE + TURNS + box.replace('>a<', '>b<')))
    assert not model.couplings
    assert model.warnings[-1].startswith('joint g: gearbox') or any(
        each.startswith('joint g: gearbox') for each in model.warnings)


def test_mimics_of_second_axes_are_couplings() -> None:
    text = (f'<sdf version="1.11"><model name="m"><static>1</static>{TRIPLE}'
            '<joint name="u" type="universal"><parent>a</parent><child>b</child>'
            '<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>'
            '<joint name="v" type="universal"><parent>a</parent><child>c</child>'
            '<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz><mimic joint="u" axis="axis2">'
            '<multiplier>2</multiplier></mimic></axis2></joint></model></sdf>')
    coupling, = load_sdf(text).couplings
    assert (coupling.joint, coupling.terms) == ('v/second', (('u/second', 2.0),))


DETACHABLE = ('<plugin filename="gz-sim-detachable-joint-system" '
              'name="gz::sim::systems::DetachableJoint"><parent_link>{}</parent_link>'
              '<child_model>{}</child_model><child_link>{}</child_link></plugin>')


@pytest.mark.parametrize('model', ['m', '__model__'])
def test_a_detachable_joint_is_a_weld(model: str) -> None:
    found = load_sdf('<sdf version="1.9"><model name="m">' + TRIPLE + TURNS
                     + DETACHABLE.format('b', model, 'c') + '</model></sdf>')
    closure, = found.closures
    assert (closure.type_name, closure.body_a, closure.body_b) == ('weld', 'b', 'c')
    assert abs(ConstrainedDynamics(found).residual(found.neutral())).max() < 1e-12


def test_a_detachable_joint_of_nested_models_is_a_weld(tmp_path) -> None:
    inner = f'<model name="inner"><link name="l">{MASS}</link></model>'
    found = load_sdf('<sdf version="1.9"><model name="m">' + TRIPLE + TURNS + inner
                     + DETACHABLE.format('b', 'inner', 'l') + '</model></sdf>')
    assert found.closures[0].body_b == 'inner::l'
    other = load_sdf('<sdf version="1.9"><model name="m">' + TRIPLE + TURNS
                     + DETACHABLE.format('b', 'box', 'l') + '</model></sdf>')
    assert not other.closures
    assert any('not both of this model' in each for each in other.warnings)


def test_closed_loop_plugins_are_closures() -> None:
    more = (LINK.format('b', '') + '<joint name="k" type="continuous"><parent link="w"/>'
            '<child link="b"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint><gazebo>'
            '<plugin name="c" filename="libpegasus_gazebo_closed_loop_plugin.so"><joint>l</joint>'
            '<parent>a</parent><child>b</child>{}</plugin></gazebo>')
    model = load_urdf(robot('', '', LIMIT, more.format('')))
    closure, = model.closures
    assert (closure.name, closure.type_name) == ('l', 'revolute')
    assert_same(closure.frame_a[:3, 3], [1.0, 0.0, 0.0])
    place = '<position>0 0 2</position><rotation>0 0 0</rotation>'
    closure, = load_urdf(robot('', '', LIMIT, more.format(place))).closures
    assert_same(closure.frame_b[:3, 3], [0.0, 0.0, 2.0])
    assert_same(closure.frame_b[:3, 2], [0.0, 1.0, 0.0])


def test_frames_away_from_their_joint_are_named() -> None:
    frame = '<frame name="f" attached_to="a"><pose>0 2 0 0 0 0</pose></frame>'
    turns = TURNS.replace('>a</parent><child>b', '>f</parent><child>b')
    with pytest.warns(DescriptionWarning, match='joint j: its parent, the frame f'):
        load_sdf(f'<sdf version="1.9"><model name="m">{TRIPLE}{turns}{frame}</model></sdf>')


SHAPES = {  # as Gazebo computes them at 1000 kg/m^3: mass, and moments about the centre
    'box': ('<size>1 2 3</size>', 6000.0, [6500.0, 5000.0, 2500.0]),
    'sphere': ('<radius>1</radius>', 4188.79, [1675.516, 1675.516, 1675.516]),
    'cylinder': ('<radius>1</radius><length>2</length>', 6283.185, [3665.191, 3665.191, 3141.593]),
    'ellipsoid': ('<radii>1 2 3</radii>', 25132.74, [65345.13, 50265.48, 25132.74]),
    'cone': ('<radius>1</radius><length>2</length>', 2094.395, [628.3185, 628.3185, 628.3185])}


@pytest.mark.parametrize('shape', SHAPES)
def test_masses_are_computed_from_shapes(shape: str) -> None:
    size, mass, moments = SHAPES[shape]
    geometry = f'<geometry><{shape}>{size}</{shape}></geometry>'
    text = ('<sdf version="1.11"><model name="m"><link name="a"><inertial auto="true">{}'
            '</inertial><collision name="c"><pose>0 0 5 0 0 0</pose>{}'
            '</collision></link></model></sdf>')
    inertia = load_sdf(text.format('', geometry)).body('a').inertia
    assert inertia.mass == pytest.approx(mass, rel=1e-5)
    assert_same(np.diag(inertia.inertia_about_com), moments, 1e-5)
    assert load_sdf(text.format('<mass>3</mass>', geometry)).body('a').inertia.mass == 3.0


def test_masses_are_computed_from_meshes_and_capsules(tmp_path, monkeypatch) -> None:
    trimesh = pytest.importorskip('trimesh')
    for name in ('load', 'load_scene', 'load_mesh'):  # a mesh is read in a process of its own
        monkeypatch.delattr(trimesh, name)
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / 'box.stl')
    # Of n vertices around, a mesh leaves out a share (2 pi / n)^2 / 6 and more at the ends; what
    # is left of two extrapolated is of fourth order, of which it is (2 pi / 96)^4, some 2e-5.
    coarse, fine = (trimesh.creation.capsule(height=2.0, radius=0.5, count=[n, n])
                    for n in (48, 96))
    path = tmp_path / 'a.sdf'
    text = ('<sdf version="1.11"><model name="m"><link name="a"><inertial auto="true"/><collision '
            'name="c"><density>500</density><geometry>{}</geometry></collision></link></model>'
            '</sdf>')
    path.write_text(text.format('<mesh><uri>box.stl</uri><scale>1 1 2</scale></mesh>'))
    assert load_model(path).body('a').inertia.mass == pytest.approx(500 * 0.012)
    path.write_text(text.format('<mesh><uri>no.stl</uri></mesh>'))
    with pytest.raises(DescriptionError):
        load_model(path)
    found = load_sdf(text.format(
        '<capsule><radius>0.5</radius><length>2</length></capsule>')).body('a').inertia
    whole, moments = ((4.0 * of_fine - of_coarse) / 3.0 for of_coarse, of_fine in (
        (coarse.volume, fine.volume), (coarse.moment_inertia, fine.moment_inertia)))
    assert found.mass == pytest.approx(500.0 * whole, rel=2e-5)
    assert_same(np.diag(found.inertia_about_com), 500.0 * np.diag(moments), 2e-5)


def test_packages_are_found_by_a_search_path(tmp_path, monkeypatch) -> None:
    pytest.importorskip('xacro')
    package = tmp_path / 'far' / 'my_robot'
    package.mkdir(parents=True)
    (package / 'arm.xacro').write_text(f'<robot>{LINK.format("a", "")}</robot>')
    path = tmp_path / 'near' / 'r.xacro'
    path.parent.mkdir()
    path.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">'
                    '<xacro:include filename="$(find my_robot)/arm.xacro"/></robot>')
    with refused(DescriptionError, ANY, expected='a file that xacro expands'):
        load_model(path)
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(package.parent))
    assert load_model(path).bodies == ('a',)


def test_a_rotor_of_drake_is_armature_in_sdf() -> None:
    joint = ARM.replace('<axis>', '<drake:rotor_inertia>1e-4</drake:rotor_inertia>'
                        '<drake:gear_ratio>100</drake:gear_ratio><axis>')
    model = load_sdf('<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><model name="m">'
                     f'{joint}</model></sdf>')
    assert model.joint('j').armature == pytest.approx([1.0])


def test_a_joint_may_be_named_as_that_of_the_root() -> None:
    urdf = load_urdf(robot('', '', LIMIT).replace('name="j"', 'name="root_joint"'))
    sdf = load_sdf('<sdf version="1.9"><model name="m">' + TRIPLE + TURNS.replace(
        'name="j"', 'name="root_joint"').replace('>world<', '>b<') + '</model></sdf>')
    for model in (urdf, sdf):
        assert {'root_joint', 'root_joint_'} <= set(model.joints)


@pytest.mark.parametrize('kind', ['fixed', 'planar', 'floating'])
def test_a_leader_without_one_coordinate_is_named(kind: str) -> None:
    more = (LINK.format('b', '') + f'<joint name="k" type="{kind}"><parent link="w"/>'
            '<child link="b"/></joint>')
    model = load_urdf(robot('', '<mimic joint="k"/>', LIMIT, more))
    assert not model.couplings and any(f'k, which is {kind}' in each for each in model.warnings)


def test_poses_and_axes_of_models_in_models_have_their_names() -> None:
    """A collision names its link, an axis of a nested model that model."""
    inner = ('<model name="in"><pose>0 0 0 0.3 0 0</pose><link name="b"><inertial auto="true"/>'
             '<collision name="c"><pose relative_to="b">0 0 1 0 0 0</pose><geometry><box>'
             '<size>1 1 1</size></box></geometry></collision></link><link name="d"><pose '
             f'relative_to="b">0 0 0 0 0.5 0</pose>{MASS}</link><joint name="j" type="revolute">'
             '<parent>b</parent><child>d</child><axis><xyz expressed_in="__model__">0 0 1</xyz>'
             '</axis></joint></model>')
    model = load_sdf(f'<sdf version="1.9"><model name="m">{TRIPLE}{TURNS}{inner}</model></sdf>')
    assert_same(model.body('in::b').inertia.center_of_mass, [0.0, 0.0, 1.0])
    assert_same(model.joint('in::j').axis, [-np.sin(0.5), 0.0, np.cos(0.5)])
