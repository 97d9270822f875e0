# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MJCF: bodies, joints and what they inherit, beside MuJoCo and machines built by hand."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.refusals import ANY, refused
from support.witnesses.mujoco_twin import assert_twin, mujoco

import liedyn_ros as ld
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import so3
from liedyn_ros.model import load_mjcf, load_model, ModelBuilder, pose, SpatialInertia

BALL = '<inertial pos=".1 .2 .3" mass="2" diaginertia=".3 .4 .5" quat="1 2 3 4"/>'
MASS = '<inertial pos=".2 -.1 0" mass="3" fullinertia=".3 .4 .5 .01 .02 -.03"/>'


def document(bodies: str, more: str = '') -> str:
    """Return an MJCF text with its bodies, and elements before them."""
    return f'<mujoco model="m">{more}<worldbody>{bodies}</worldbody></mujoco>'


TREES = {
    'a hinge beside its body': document(
        '<body name="a" pos="1 2 3" euler="10 20 30"><joint name="j" axis="1 2 3" '
        f'pos=".1 .2 .3"/>{BALL}</body>'),
    'references': document(
        f'<body name="a" pos="1 0 0"><joint name="turn" axis="0 1 1" ref="40"/>{MASS}'
        f'<body name="b" pos="0 1 0"><joint name="move" type="slide" axis="1 1 0" ref=".3"/>{BALL}'
        '</body></body>'),
    'radians': document(
        f'<body name="a" euler=".3 .2 .1"><joint name="j" axis="1 0 0" ref=".5"/>{MASS}</body>',
        '<compiler angle="radian" eulerseq="zYx"/>'),
    'fixed axes': document(
        f'<body name="a" euler="30 20 10"><joint name="j" axis="1 0 0"/>{MASS}</body>',
        '<compiler eulerseq="XYZ"/>'),
    'several joints': document(
        f'<body name="a" axisangle="1 1 0 50"><joint name="x" type="slide" axis="1 0 0"/>'
        f'<joint name="y" axis="0 1 0" pos="0 0 .2"/><joint name="z" pos=".3 0 0"/>{MASS}</body>'),
    'a ball': document(
        f'<body name="a" xyaxes="1 1 0 0 1 1"><joint name="j" type="ball" pos=".1 0 .2"/>{MASS}'
        f'<body name="b" zaxis="1 2 2" pos="0 0 1"><joint name="k"/>{BALL}</body></body>'),
    'a free body': document(
        f'<body name="a" pos="1 2 3"><freejoint name="root"/>{MASS}'
        f'<body name="b" pos="0 0 1" quat="1 1 0 0"><joint name="k" axis="0 1 0"/>{BALL}</body>'
        '</body>'),
    'names of their own': document(
        f'<body><joint/>{MASS}<body pos="0 0 1"><joint axis="1 0 0"/>{BALL}</body></body>'
        f'<body pos="1 0 0"><joint axis="0 1 0"/>{BALL}</body>'),
    'fixed bodies': document(
        f'<body name="a" pos="0 0 1"><body name="b" euler="90 0 0"><joint name="j"/>{MASS}'
        f'<body name="c" pos=".1 .2 .3">{BALL}</body></body></body>'),
    'frames': document(
        f'<frame pos="1 2 3" euler="30 0 0"><frame euler="0 40 0"><body name="a" pos="1 0 0">'
        f'<joint name="j"/>{MASS}</body></frame></frame>'),
    'classes': document(
        f'<body name="a" childclass="arm"><joint name="j"/>{MASS}<body name="b" pos="0 0 1">'
        f'<joint name="k" class="wrist"/>{BALL}<body name="c" pos="0 1 0"><joint name="l"/>'
        '<inertial mass="1" pos="1 0 0" diaginertia="1 1 1"/></body></body></body>',
        '<default><joint axis="1 0 0"/><default class="arm"><joint axis="0 1 0" pos=".1 0 0"/>'
        '<default class="wrist"><joint ref="20"/></default></default></default>'),
    'gravity': document(f'<body name="a"><joint name="j" axis="1 0 0"/>{MASS}</body>',
                        '<option gravity="1 2 -3"/>'),
    'springs and armatures': document(
        f'<body name="a"><joint name="j" axis="1 2 0" ref="20" stiffness="30" springref="50" '
        f'armature=".7" range="-90 90"/>{MASS}<body name="b" pos="0 1 0"><joint name="k" '
        f'type="slide" axis="1 1 0" stiffness="40" springref=".3"/>{BALL}<body name="c">'
        f'<joint name="l" axis="0 1 0" armature="2"/>{MASS}</body></body></body>',
        '<default><joint stiffness="4" armature=".1"/></default>'),
    'a spring in radians': document(
        '<body name="a"><joint name="j" axis="1 2 0" ref=".2" stiffness="30" springref=".5"/>'
        f'{MASS}</body>', '<compiler angle="radian"/>'),
    'no gravity': document(f'<body name="a"><joint name="j" axis="1 0 0"/>{MASS}</body>',
                           '<option gravity="1 2 -3"><flag gravity="disable"/></option>')}


@pytest.mark.parametrize('name', TREES)
def test_a_machine_is_that_of_mujoco(name):
    assert_twin(TREES[name], load_mjcf(TREES[name]))


@pytest.mark.parametrize('name', TREES)
def test_a_machine_is_read_again_after_mujoco_wrote_it(name, tmp_path):
    """The file has radians, quaternions and no classes: another text of the same machine."""
    there = mujoco.MjModel.from_xml_string(TREES[name])
    path = tmp_path / 'saved.xml'
    mujoco.mj_saveLastXML(str(path), there)
    first, again = load_mjcf(TREES[name]), load_model(path)
    q = first.random(np.random.default_rng(3))
    assert list(again.joints) == list(first.joints)
    # The file has some six digits.
    assert_same(Dynamics(again).mass_matrix(q), Dynamics(first).mass_matrix(q), 1e-4)


def test_a_machine_is_the_one_built_by_hand():
    """The hinge stands beside its body: a massless body turns, and its own is fixed to it."""
    model = load_mjcf(TREES['a hinge beside its body'])
    builder, angles = ModelBuilder('m'), np.radians((10.0, 20.0, 30.0))
    turned = np.eye(4)
    for angle, axis in zip(angles, np.eye(3)):
        turned = turned @ pose(rpy=angle * axis)
    builder.add_body('turning', None)
    builder.add_joint('j', 'revolute', None, 'turning', axis=(1.0, 2.0, 3.0),
                      placement=pose((1.0, 2.0, 3.0)) @ turned @ pose((0.1, 0.2, 0.3)))
    axes = so3.from_quaternion(np.array((2.0, 3.0, 4.0, 1.0)) / np.sqrt(30.0))
    builder.add_body('a', SpatialInertia(
        2.0, (0.1, 0.2, 0.3), axes @ np.diag((0.3, 0.4, 0.5)) @ axes.T))
    builder.add_joint('fixed', 'fixed', 'turning', 'a', placement=pose((-0.1, -0.2, -0.3)))
    by_hand, read = Dynamics(builder.build()), Dynamics(model)
    for q in np.linspace(-3.0, 3.0, 5).reshape(-1, 1):
        assert_same(read.mass_matrix(q), by_hand.mass_matrix(q), 1e-14)
        assert_same(read.gravity_vector(q), by_hand.gravity_vector(q), 1e-13)


def test_the_pose_of_the_file_is_that_of_the_references():
    """An invariant of MJCF: bodies stand as drawn where coordinates are their references."""
    dynamics = Dynamics(load_mjcf(TREES['references']))
    q = np.array((np.radians(40.0), 0.3))
    rounding = 40 * np.finfo(float).eps  # five times that of two rotations, four operations each
    assert_same(dynamics.frames.pose(q, 'a'), pose((1.0, 0.0, 0.0)), rounding)
    assert_same(dynamics.frames.pose(q, 'b'), pose((1.0, 1.0, 0.0)), rounding)


def test_limits_damping_friction_and_motors_are_those_of_the_file():
    text = document(
        '<body name="a"><joint name="j" range="-90 45" damping="2" frictionloss=".5" '
        f'actuatorfrcrange="-3 4"/>{MASS}<body name="b"><joint name="k"/>{BALL}</body></body>',
        ).replace('</mujoco>', '<actuator><motor joint="k"/></actuator></mujoco>')
    model = load_mjcf(text)
    joint = model.joint('j')
    assert joint.limits.lower == pytest.approx([-np.pi / 2.0])
    assert joint.limits.upper == pytest.approx([np.pi / 4.0])
    assert joint.limits.effort == pytest.approx([4.0])
    assert (joint.damping, joint.friction) == (pytest.approx([2.0]), pytest.approx([0.5]))
    assert not joint.actuated
    assert model.joint('k').actuated
    assert model.joint('k').type_name == 'continuous'


def test_springs_and_armatures_are_those_of_the_file():
    model = load_mjcf(TREES['springs and armatures'])
    table = model.link_table
    assert model.warnings == ()
    assert table.stiffness == pytest.approx([30.0, 40.0, 4.0])
    assert table.rest == pytest.approx([np.radians(50.0), 0.3, 0.0])
    assert table.armature == pytest.approx([0.7, 0.1, 2.0])


def test_sites_are_frames():
    text = document(f'<body name="a" pos="0 0 1"><joint name="j"/>{MASS}'
                    '<site name="tip" pos="1 0 0" euler="90 0 0"/></body>')
    tip = Dynamics(load_mjcf(text)).frames.pose([0.0], 'tip')
    assert_same(tip[:3, 3], [1.0, 0.0, 1.0])
    assert_same(tip[:3, 2], [0.0, -1.0, 0.0])


def test_files_are_included_and_texts_are_loaded(tmp_path):
    (tmp_path / 'arm.xml').write_text(
        f'<mujocoinclude><body name="a"><joint name="j" axis="1 0 0"/>{MASS}</body>'
        '</mujocoinclude>')
    path = tmp_path / 'robot.xml'
    path.write_text(document('<include file="arm.xml"/>'))
    text = document(f'<body name="a"><joint name="j" axis="1 0 0"/>{MASS}</body>')
    for source in (text, path, load_mjcf(text)):
        robot = ld.load(source)
        assert robot.gravity_vector([0.0]) == pytest.approx([-0.1 * 3 * 9.81])
    assert ld.load(text, gravity=[0.0, 0.0, 0.0]).gravity_vector([0.0]) == pytest.approx([0.0])


@pytest.mark.parametrize('shared', [False, True])
def test_files_in_folders_include_each_other_as_in_mujoco(tmp_path, shared):
    """A file of the machine's folder comes first, then one beside the file that names it."""
    trimesh = pytest.importorskip('trimesh')
    (tmp_path / 'parts').mkdir()
    places = [tmp_path / 'parts', tmp_path] if shared else [tmp_path / 'parts']
    for size, place in enumerate(places, 1):
        trimesh.creation.box(3 * (0.1 * size,)).export(place / 'box.stl')
        (place / 'arm.xml').write_text(
            f'<mujoco><body name="a"><joint/><geom type="mesh" mesh="m" pos="{size} 0 0"/></body>'
            '</mujoco>')
    (tmp_path / 'parts' / 'all.xml').write_text('<mujoco><include file="arm.xml"/></mujoco>')
    (tmp_path / 'parts' / 'assets.xml').write_text(
        '<mujoco><asset><mesh name="m" file="box.stl"/></asset></mujoco>')
    path = tmp_path / 'robot.xml'
    path.write_text(document('<include file="parts/all.xml"/>',
                             '<include file="parts/assets.xml"/>'))
    theirs, mine = mujoco.MjModel.from_xml_path(str(path)), load_mjcf(path).body_list[0].inertia
    assert mine.mass == pytest.approx(theirs.body_mass[1], rel=1e-6)
    assert_same(mine.center_of_mass, theirs.body_ipos[1], 1e-7)


WRONG = {
    'no MJCF': '<robot name="r"/>', 'no body': document(''),
    'class': document('<body><joint class="x"/></body>'),
    'joint type': document('<body><joint type="screw"/></body>'),
    'two turns': document('<body quat="1 0 0 0" euler="0 0 0"/>'),
    'no axis': document('<body><joint axis="0 0 0"/></body>'),
    'no number': document('<body pos="0 0 one"/>'),
    'zero quaternion': document('<body quat="0 0 0 0"/>'),
    'free in a body': document(f'<body>{MASS}<body><freejoint/>{MASS}</body></body>'),
    'name twice': document('<body name="a"/><body name="a"/>'),
    'include in a text': document('<include file="a.xml"/>'),
    'a mesh in a text': document('<body><joint/><geom type="mesh" mesh="m"/></body>',
                                 '<asset><mesh name="m" file="/etc/passwd.stl"/></asset>'),
    'flexcomp of a file': document('<flexcomp file="a.msh" type="gmsh" name="a"/>'),
    'global': document('<body/>', '<compiler coordinate="global"/>'),
    'a named main class': document(f'<body><joint/>{MASS}</body>', '<default class="robot"/>'),
    'impossible': document('<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'
                           '</body>'),
    'no mass': document('<body><joint/></body>'),
    'many copies': document('<replicate count="10000"><replicate count="10000"><body/></replicate>'
                            '</replicate>'),
    'much memory': document(f'<body><joint name="j"/>{MASS}</body>').replace(
        '</mujoco>', '<actuator><general joint="j" dyntype="user" actdim="1000000000"/>'
        '</actuator></mujoco>'),
    'deep': document(500 * '<body>' + 500 * '</body>')}


@pytest.mark.parametrize('name', WRONG)
def test_what_is_wrong_is_refused_by_name(name):
    with pytest.raises(DescriptionError):
        load_mjcf(WRONG[name])


def test_names_of_ours_that_a_file_has_get_others():
    """A massless body, the joint behind it and a site are named after others, which are there."""
    hand = f'<body name="hand"><joint name="k" pos=".1 0 0"/>{MASS}<site name="k"/></body>'
    model = load_mjcf(document(
        f'{hand}<body name="hand/k"><joint name="hand/fixed"/>{MASS}<site name="hand"/></body>'
        f'<body name="hand/site">{MASS}</body>'))
    assert {'hand/k_', 'hand/k'} < set(model.bodies) and {'hand/fixed_'} < set(model.joints)
    assert {'k/site', 'hand/site_'} < set(model.frames) and model.nv == 2


def test_mujoco_says_what_floats(tmp_path):
    path = tmp_path / 'm.xml'
    path.write_text(TREES['gravity'])
    for source in (path, TREES['gravity']):
        with refused(DescriptionError, ANY, got='True'):
            ld.load(source, floating=True)
    with refused(DescriptionError, ANY, got=ANY):
        ld.load(path, arguments={'a': '1'})


JOINT = '<body name="a"><joint name="j" {}/>' + MASS + '</body>'
UNREAD = {
    'armature': (document(JOINT.format('type="ball" armature=".1"')), "joints ['j']: armature"),
    'spring': (document(JOINT.format('type="free" stiffness="3"')), "joints ['j']: stiffness"),
    'efforts of two sizes': (document(JOINT.format('actuatorfrcrange="0 5"')),
                             "joints ['j']: actuatorfrcrange of two sizes"),
    'range of a ball': (document(JOINT.format('type="ball" range="0 90"')),
                        "joints ['j']: the range"),
    'damping that grows': (document(JOINT.format('damping="1 2"')),
                           "joints ['j']: damping beyond"),
    'damping of a motor that grows': (document(JOINT.format('')).replace(
        '</mujoco>', '<actuator><motor name="m" joint="j" damping="0 2"/></actuator></mujoco>'),
        "actuators ['m']: damping beyond"),
    'spring of a tendon that grows': (document(JOINT.format('')).replace(
        '</mujoco>', '<tendon><fixed name="t" stiffness="0 2"><joint joint="j" coef="1"/></fixed>'
        '</tendon></mujoco>'), "tendons ['t']: spring"),
    'gravcomp': (document(f'<body name="a" gravcomp="1">{MASS}</body>'),
                 "bodies ['a']: gravcomp 1"),
    'mocap': (document(f'<body name="a" mocap="true">{MASS}</body>'), "bodies ['a']: mocap"),
    'medium': (document(JOINT.format(''), '<option density="1.2"/>'), "option ['density']"),
    'a law': (document(JOINT.format('')).replace('</mujoco>', (
        '<actuator><position name="servo" joint="j" kp="5"/></actuator></mujoco>')),
        "not read: laws of actuators ['servo']"),
    'a motor on a tendon': (document(
        f'<body><joint name="j"/>{MASS}<body><joint name="k"/>{MASS}</body></body>').replace(
            '</mujoco>', '<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="k" '
            'coef="1"/></fixed></tendon><actuator><motor name="m" tendon="t" armature=".1"/>'
            '</actuator></mujoco>'), "actuators ['m']: armature"),
    'a pair of shapes': (
        document(JOINT.format('') + '<geom name="g" type="plane" size="1 1 1" contype="0"/><body>'
                 '<geom name="h" size=".1" contype="0"/></body>',
                 '<contact><pair geom1="g" geom2="h"/></contact>'), 'not read: contacts'),
    'contacts': (document(JOINT.format('') + '<body><geom size=".1"/></body>'
                          '<geom type="plane" size="1 1 1"/>'), 'not read: contacts')}


@pytest.mark.parametrize('name', UNREAD)
def test_what_is_not_read_is_named(name):
    text, said = UNREAD[name]
    with pytest.warns(DescriptionWarning):
        model = load_mjcf(text)
    warning, = model.warnings
    assert warning.startswith(said)


BOX = '<geom type="box" size=".1 .2 .3" pos="0 .1 -.3"/>'
COMPILED = {  # what changes with every release of MuJoCo
    'a joint in a frame': document(
        f'<body><frame pos="0 0 .5" euler="0 90 0"><joint name="j"/>{BOX}</frame></body>'),
    'a free joint and a mass in frames': document(
        f'<body name="a"><frame pos="0 0 .5"><freejoint/></frame><frame euler="90 0 0">{BALL}'
        '</frame></body>'),
    'an axis beyond 120 degrees': document(
        f'<body name="b" zaxis="1 0 -1"><joint axis="1 0 0"/>{BOX}</body>'),
    'copies': document(f'<replicate count="3" offset="1 0 0"><body name="b"><joint name="j"/>{BOX}'
                       '</body></replicate>'),
    'a shell': document('<body name="b"><joint/><geom type="box" size=".1 .2 .3" '
                        'shellinertia="true"/></body>'),
    'a built-in mesh': document(
        '<body name="b"><joint/><geom type="mesh" mesh="m"/></body>',
        '<asset><mesh name="m" builtin="sphere" params="2"/></asset>'),
    'masses from shapes alone': document(f'<body name="b"><joint/>{MASS}</body>',
                                         '<compiler inertiafromgeom="true"/>'),
    'aligned': document(f'<body name="b"><freejoint/>{BOX}</body>',
                        '<compiler alignfree="true"/>'),
    'static bodies': document(f'<body name="a"><joint/>{BOX}<body name="b">{BOX}</body></body>',
                              '<compiler fusestatic="true"/>'),
    'endless range': document(f'<body name="a"><joint range="-inf inf"/>{BOX}</body>'),
    'motors': document(f'<body name="a"><joint name="j"/>{BOX}</body>').replace(
        '</mujoco>', '<actuator><motor joint="j" gear="50" armature="1e-3"/></actuator></mujoco>')}


@pytest.mark.parametrize('name', COMPILED)
@pytest.mark.filterwarnings('ignore::liedyn_ros.common.errors.DescriptionWarning')
def test_what_mujoco_compiles_is_what_it_simulates(name):
    text = COMPILED[name].replace('fusestatic="true"', '')
    assert_twin(text, load_mjcf(COMPILED[name]), None, 1e-9)


FLAGS = {  # turned off; the effort at rest and the friction at 1 rad/s
    'spring': (0.0, 2.0), 'damper': (-10.0 * np.pi / 6.0, 2.0),
    'frictionloss': (-10.0 * np.pi / 6.0, 0.0), 'constraint': (-10.0 * np.pi / 6.0, 0.0)}


@pytest.mark.parametrize('flag', FLAGS)
def test_flags_turn_forces_off(flag):
    text = document(
        '<body><joint axis="0 0 1" stiffness="10" springref="30" frictionloss="2"/>' + MASS
        + '</body>', f'<option><flag {flag}="disable"/></option>')
    dynamics = Dynamics(load_mjcf(text))
    rest = dynamics.inverse([0.0], [0.0], [0.0])
    assert rest == pytest.approx([FLAGS[flag][0]])
    assert dynamics.inverse([0.0], [1.0], [0.0]) - rest == pytest.approx([FLAGS[flag][1]])


def test_motors_add_armature_and_damping_by_the_square_of_their_gear():
    text = document(f'<body><joint name="j"/>{MASS}</body>').replace('</mujoco>', (
        '<tendon><fixed name="t"><joint joint="j" coef="3"/></fixed></tendon><actuator>'
        '<motor joint="j" gear="10" armature=".1"/><motor tendon="t" gear="2" armature=".5"/>'
        '</actuator></mujoco>'))
    assert load_mjcf(text).joint('j').armature == pytest.approx([100 * 0.1 + 36 * 0.5])


def test_keyframes_are_configurations():
    text = document(f'<body><freejoint/>{MASS}<body><joint ref="30"/><joint type="ball"/>{MASS}'
                    '</body></body>').replace('</mujoco>', (
                        '<keyframe><key name="home" qpos="1 2 3 1 0 0 0 .5 0 0 0 2"/><key/>'
                        '</keyframe></mujoco>'))
    found = load_mjcf(text).configurations
    assert list(found) == ['qpos0', 'home', 'key_1']
    assert_same(found['home'], [1, 2, 3, 0, 0, 0, 1, 0.5, 0, 0, 1, 0])
    assert found['qpos0'][7] == pytest.approx(np.pi / 6.0)


def test_files_are_those_of_the_folder_and_its_neighbours(tmp_path):
    place = tmp_path / 'a' / 'b'
    place.mkdir(parents=True)
    (tmp_path / 'out.xml').write_text('<mujoco/>')
    (tmp_path / 'a' / 'near.xml').write_text('<mujoco/>')
    path, body = place / 'm.xml', f'<body><joint/>{MASS}</body>'
    path.write_text(document(body, '<include file="../near.xml"/>'))
    assert load_mjcf(path).nv == 1
    for name in ('../../out.xml', '/dev/zero', '../../../../../../etc/hostname'):
        path.write_text(document(body, f'<include file="{name}"/>'))
        with pytest.raises(DescriptionError):
            load_mjcf(path)


def test_pictures_and_meshes_without_mass_need_no_file():
    text = document(f'<body><joint/>{MASS}<geom type="mesh" mesh="m" material="skin"/></body>'
                    '<geom type="hfield" hfield="hills"/>', (
                        '<asset><mesh name="m" file="no.stl"/><texture name="t" file="no.png" '
                        'type="cube"/><texture type="skybox" builtin="gradient" width="64"/>'
                        '<material name="skin" texture="t"/><hfield name="hills" '
                        'file="no.png" size="1 1 1 1"/></asset>'))
    with pytest.warns(DescriptionWarning):
        assert load_mjcf(text).nv == 1


def test_what_only_takes_memory_is_left_out():
    text = document(f'<body><joint/>{MASS}</body>', (
        '<size memory="900G" nuser_body="1000000000" nkey="1000000000"/><custom><numeric name="n" '
        'size="1000000000"/></custom><sensor><user dim="1000000000"/></sensor>'))
    assert load_mjcf(text).nv == 1


def test_models_are_attached(tmp_path):
    (tmp_path / 'part.xml').write_text(document(f'<body name="q"><joint name="k"/>{MASS}</body>'))
    path = tmp_path / 'm.xml'
    path.write_text(document(
        f'<body name="a"><joint/>{MASS}<attach model="part" body="q" prefix="left/"/></body>',
        '<asset><model name="part" file="part.xml"/></asset>'))
    assert load_mjcf(path).joints == ('joint_0', 'left/k')


def test_without_mujoco_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr('liedyn_ros.model.io.mjcf.compiler.find_spec', lambda name: None)
    with refused(DescriptionError, 'MJCF text'):
        load_mjcf(TREES['gravity'])


def test_a_part_is_included_by_two_bodies_of_an_included_file(tmp_path) -> None:
    (tmp_path / 'part.xml').write_text('<mujocoinclude><geom size=".1"/></mujocoinclude>')
    body = '<body><joint/><include file="part.xml"/></body>'
    (tmp_path / 'all.xml').write_text(f'<mujoco><worldbody>{body}{body}</worldbody></mujoco>')
    path = tmp_path / 'scene.xml'
    path.write_text('<mujoco><include file="all.xml"/></mujoco>')
    assert load_mjcf(path).nv == mujoco.MjModel.from_xml_path(str(path)).nv == 2


TENDON = """<mujoco><option><flag {}="disable"/></option><worldbody>
<body name="a"><joint name="j"/><geom size=".1"/><site name="s"/><site name="u"/></body>
<body name="b"><joint/><geom size=".1"/><site name="t" pos="{} 0 0"/></body></worldbody><tendon>
<fixed name="f" damping="1" frictionloss="2" range="0 1" armature=".1"
stiffness="3"><joint joint="j" coef="1"/></fixed><spatial name="p"><site site="s"/>
<site site="t"/></spatial></tendon><equality><tendon tendon1="p"/></equality></mujoco>"""


@pytest.mark.parametrize(('flag', 'off'), [
    ('spring', {'spring'}), ('damper', {'damper'}), ('frictionloss', {'friction'}),
    ('limit', {'range'}), ('constraint', {'friction', 'range'}), ('gravity', set())])
def test_what_a_tendon_has_is_named_unless_its_own_flag_is_off(flag: str, off: set[str]) -> None:
    said = ' '.join(load_mjcf(TENDON.format(flag, 1)).warnings)
    kinds = {'spring', 'damper', 'friction', 'inertia', 'range'}
    assert {kind for kind in kinds if f"tendons ['f']: {kind} not read" in said} == kinds - off


def test_a_tendon_of_no_length_is_named() -> None:
    model = load_mjcf(TENDON.format('gravity', 0))
    assert not model.closures
    assert any(each.startswith('equality tendon_0 of type tendon') for each in model.warnings)
    model = load_mjcf(TENDON.format('gravity', 0).replace(
        '<tendon tendon1="p"/>', '<connect site1="s" site2="u"/>'))
    assert not model.closures
    assert any('two points of one body' in each for each in model.warnings)
