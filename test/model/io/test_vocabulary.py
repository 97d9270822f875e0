# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Every word of the schemas of URDF and SDF is read, quiet or named, and each is one of these."""

import warnings

import numpy as np
import pytest
from support.refusals import ANY, refused
from tools import random_robots

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.model import load_sdf, load_urdf
from liedyn_ros.model.io.sdf.reader import SDF_WORDS as SDF
from liedyn_ros.model.io.urdf import URDF_WORDS as URDF

NAMED = {  # what would change the dynamics and is not read
    'world': {'joint', 'population', 'state', 'wind'},
    'model': {'enable_wind', 'gripper', 'model_state'},
    'link': {'enable_wind', 'frame', 'kinematic', 'velocity_decay'},
    'inertial': {'fluid_added_mass', 'frame'}, 'joint': {'frame'},
    'ode': {'max_force', 'velocity'}, 'include': {'model_state'}}


@pytest.mark.parametrize(('words', 'schema', 'named'), [
    (URDF, random_robots.URDF_SCHEMA, {}), (SDF, random_robots.SDF_SCHEMA, NAMED)],
    ids=['URDF', 'SDF'])
def test_every_word_of_the_schema_is_read_quiet_or_named(words, schema, named) -> None:
    known = {element: [word.rstrip('?*') for word in each]
             for element, each in random_robots.words(schema).items()}
    assert {element: {word for word in each if not words.is_known(element, word)}
            for element, each in known.items()} == {
                element: named.get(element, set()) for element in known}
    # No element that is read is beyond the schema, so that nothing is passed over below it.
    assert not {word for element, each in words.read.items() for word in each
                if element in known and word not in known[element] and word in words.read
                and word not in ('loop', 'coupling', 'mujoco', 'loop_joint',
                                 'virtual_joint', 'contact')}


LINK = ('<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial>{}</link>')
JOINT = ('<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
         '<axis xyz="0 0 1"/></joint>')
URDFS = {  # a part of a URDF that nobody knows, and its name in the warning
    'a link': (LINK.format('<gravity>0.5</gravity>'), "links ['a']: gravity"),
    'an inertial': (LINK.format('').replace('<mass', '<scale value="2"/><mass'),
                    "links ['a']: scale of inertial"),
    'an inertia of Bullet': (
        LINK.format('<contact><stiffness value="9"/><inertia_scaling value="3"/></contact>'),
        "links ['a']: inertia_scaling of contact not read"),
    'what stands behind a comment in a comment': (
        LINK.format('') + '<!-- <link name="b"/> <!-- --> -->', "robots ['r']: a text between"),
    'a robot': (LINK.format('') + '<wind speed="3"/>', "robots ['r']: wind"),
    'a link without gravity': (LINK.format('<gravity>0</gravity>'),
                               "links ['a']: gravity not read: gravity acts"),
    'gazebo': (LINK.format('') + '<gazebo reference="a"><kinematic>1</kinematic></gazebo>',
               "gazebos ['a']: kinematic"),
    'masses by MuJoCo': (LINK.format('') + '<mujoco><compiler balanceinertia="true"/></mujoco>',
                         "robots ['r']: balanceinertia of compiler not read: masses"),
    'a flag of MuJoCo': (LINK.format('') + '<mujoco><option><flag spring="disable"/></option>'
                         '</mujoco>', "robots ['r']: spring of flag not read"),
    'a class of MuJoCo': (LINK.format('') + '<mujoco><default><joint armature="3"/></default>'
                          '</mujoco>', "robots ['r']: default of mujoco not read"),
    'a static model of Gazebo': (LINK.format('') + '<gazebo><static>true</static></gazebo>',
                                 "gazebos ['without a name']: static not read"),
    'a motor of ODE': (LINK.format('') + '<gazebo reference="a"><physics><ode><max_force>3'
                       '</max_force></ode></physics></gazebo>', "gazebos ['a']: max_force of ode"),
    'a transmission of PR2': (LINK.format('') + '<transmission name="t"><gap_joint name="j"/>'
                              '</transmission>', "transmissions ['t']: gap_joint"),
    'a spring of ros2_control': (
        LINK.format('') + '<ros2_control name="c" type="system"><joint name="j" spring="3"/>'
        '</ros2_control>', "ros2_controls ['c']: spring"),
    'a loop': (LINK.format('') + LINK.format('').replace('"a"', '"b"') + JOINT
               + '<loop name="l" type="ball" stiffness="3"><predecessor link="a"/>'
               '<successor link="b"/></loop>', "robots ['r']: stiffness of loop"),
    'a thruster': (LINK.format('') + '<gazebo><plugin name="gz::sim::systems::Thruster" '
                   'filename="gz-sim-thruster-system"/></gazebo>', 'plugin')}


@pytest.mark.parametrize('name', URDFS)
def test_what_a_urdf_has_beyond_is_named(name) -> None:
    text, said = URDFS[name]
    with pytest.warns(DescriptionWarning):
        model = load_urdf(f'<robot name="r">{text}</robot>')
    warning, = model.warnings
    assert warning.startswith(said)


def test_what_is_off_is_not_named() -> None:
    text = LINK.format('<gravity>1</gravity><spring>0</spring><wind>false</wind>')
    assert not load_urdf(f'<robot name="r">{text}</robot>').warnings


MASS = '<inertial><mass>1</mass></inertial>'
SDFS = {
    'a link': (f'<link name="a">{MASS}<kinematic>true</kinematic></link>', "links ['a']: kinem"),
    'a spring of Drake': (f'<link name="a">{MASS}</link><drake:linear_bushing_rpy a="1"/>',
                          "models ['m']: drake:linear_bushing_rpy"),
    'a motor of ODE': (
        f'<link name="a">{MASS}</link><joint name="j" type="revolute"><parent>world</parent>'
        '<child>a</child><axis/><physics><ode><max_force>3</max_force></ode></physics></joint>',
        "joints ['j']: max_force of ode"),
    'a static arm': (
        f'<static>true</static><link name="a">{MASS}</link><joint name="j" type="revolute">'
        '<parent>world</parent><child>a</child><axis/></joint>', "joints ['j']: the model is st"),
    'an engine': (
        f'<link name="a">{MASS}</link><joint name="j" type="revolute"><parent>world</parent>'
        '<child>a</child><axis/><physics><simbody><gain>3</gain></simbody></physics></joint>',
        "joints ['j']: gain of simbody"),
    'a ball with damping and a rotor': (
        f'<link name="a">{MASS}</link><joint name="j" type="ball"><parent>world</parent><child>a'
        '</child><axis><dynamics><damping>3</damping></dynamics></axis><drake:rotor_inertia>3'
        '</drake:rotor_inertia></joint>', "joints ['j']: ['dynamics', 'drake:rotor"),
    'a unit': ('<link name="a"><inertial><mass unit="g">1</mass></inertial></link>',
               "links ['a']: unit of mass not read"),
    'a plugin': (f'<link name="a">{MASS}</link><plugin name="gz::sim::systems::Hydrodynamics" '
                 'filename="gz-sim-hydrodynamics-system"/>', 'plugin')}


@pytest.mark.parametrize(('mimic', 'says', 'said'), [
    ('', 'true', "joint k: mimic 'true' of ros2_control not read: it moves by itself"),
    ('<mimic joint="j"/>', 'false', "joint k: mimic 'false' of ros2_control not read: it follow"),
    ('<mimic joint="j"/>', 'true', None), ('', 'false', None)])
def test_the_attribute_mimic_of_ros2_control_is_named_where_it_says_another_thing(
        mimic, says, said) -> None:
    joint = ('<joint name="{}" type="continuous"><parent link="a"/><child link="{}"/>'
             '<axis xyz="0 0 1"/>{}</joint>')
    model = load_urdf(
        '<robot name="r">' + ''.join(f'<link name="{name}"/>' for name in 'abc')
        + joint.format('j', 'b', '') + joint.format('k', 'c', mimic)
        + f'<ros2_control name="c" type="system"><joint name="k" mimic="{says}">'
        '<command_interface name="position"><param name="min">-1</param></command_interface>'
        '</joint></ros2_control></robot>')
    assert [each[:len(said)] for each in model.warnings if 'ros2_control' in each] == (
        [] if said is None else [said])


@pytest.mark.parametrize('name', SDFS)
def test_what_an_sdf_has_beyond_is_named(name) -> None:
    text, said = SDFS[name]
    with pytest.warns(DescriptionWarning):
        model = load_sdf('<sdf version="1.9" xmlns:drake="http://drake.mit.edu">'
                         f'<model name="m">{text}</model></sdf>')
    warning, = model.warnings
    assert warning.startswith(said)


# Limits as exporters of CAD write them: what they are, and the beginning of the remark.
LIMITS = {'zeros': ((0, 0, 0, 0), (-np.inf, np.inf, np.inf, np.inf), 'velocity and effort of 0'),
          'below': ((-1, 1, -1, -1), (-1, 1, np.inf, np.inf), 'a velocity or effort below 0'),
          'degrees': ((-180, 180, 1, 1), (-180, 180, 1, 1), 'limits beyond 4 turns'),
          'one place': ((0.5, 0.5, 1, 1), (0.5, 0.5, 1, 1), 'a range of one position')}


@pytest.mark.parametrize('case', LIMITS)
def test_limits_of_exporters_are_the_same_in_each_format(case) -> None:
    given, taken, said = LIMITS[case]
    lower, upper, velocity, effort = given
    urdf = load_urdf(
        f'<robot name="r">{LINK.format("")}<link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit '
        f'lower="{lower}" upper="{upper}" velocity="{velocity}" effort="{effort}"/></joint>'
        '</robot>')
    sdf = load_sdf(
        f'<sdf version="1.9"><model name="m"><link name="a">{MASS}</link><joint name="j" '
        'type="revolute"><parent>world</parent><child>a</child><axis><limit>'
        f'<lower>{lower}</lower><upper>{upper}</upper><velocity>{velocity}</velocity>'
        f'<effort>{effort}</effort></limit></axis></joint></model></sdf>')
    for model in (urdf, sdf):
        bounds = model.joint('j').limits
        assert tuple(float(getattr(bounds, key)[0]) for key in (
            'lower', 'upper', 'velocity', 'effort')) == taken
        silent = case == 'below' and model is sdf  # where it says that there is none
        assert silent or any(f"joints ['j']: {said}" in each for each in model.warnings)


@pytest.mark.parametrize(('kind', 'said'), [
    ('continuous', 'lower and upper of a continuous'), ('planar', 'limit not read')])
def test_limits_that_a_joint_has_not_are_named(kind, said) -> None:
    urdf = load_urdf(
        f'<robot name="r">{LINK.format("")}<link name="b"/><joint name="j" type="{kind}">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" '
        'velocity="1" effort="1"/></joint></robot>')
    sdf = load_sdf(
        f'<sdf version="1.9"><model name="m"><link name="a">{MASS}</link><joint name="j" '
        'type="continuous"><parent>world</parent><child>a</child><axis><limit><lower>-3</lower>'
        '</limit></axis></joint></model></sdf>')
    for model, words in ((urdf, said), (sdf, 'lower and upper of a continuous')):
        assert any(f"joints ['j']: {words}" in each for each in model.warnings)


def test_blocks_of_drivers_are_read_to_some_depth() -> None:
    deep = 5000 * '<joint>' + 5000 * '</joint>'
    with refused(DescriptionError, ANY):
        load_urdf(f'<robot name="r">{LINK.format("")}<ros2_control name="h" type="system">{deep}'
                  '</ros2_control></robot>')


def test_a_plugin_of_the_world_is_named() -> None:
    warning, = load_sdf(
        f'<sdf version="1.9"><world name="w"><plugin name="gz::sim::systems::Buoyancy" filename='
        '"gz-sim-buoyancy-system"/><plugin name="gz::sim::systems::Physics" filename="gz-sim-'
        f'physics-system"/><model name="m"><link name="a">{MASS}</link></model></world></sdf>'
    ).warnings
    assert warning.startswith("plugins ['gz::sim::systems::Buoyancy of")


def test_rotors_of_drake_are_read_by_whatever_address_its_prefix_has() -> None:
    model = load_sdf(
        f'<sdf version="1.9" xmlns:drake="http://drake.example"><model name="m"><link name="a">'
        f'{MASS}</link><joint name="j" type="revolute"><parent>world</parent><child>a</child>'
        '<axis/><drake:rotor_inertia>0.01</drake:rotor_inertia><drake:gear_ratio>10'
        '</drake:gear_ratio></joint></model></sdf>')
    assert model.joint('j').armature.tolist() == [1.0] and not model.warnings


def test_a_newer_version_is_named() -> None:
    warning, = load_sdf('<sdf version="1.13"><model name="m"><link name="a">'
                        f'{MASS}</link></model></sdf>').warnings
    assert warning.startswith('version 1.13: read as 1.12')


def test_what_is_not_read_comes_last_and_once_for_all_its_owners() -> None:
    transmissions = ''.join(
        f'<transmission name="t{k}"><joint name="j{k}"/><deadBandUpper>0.{k}1</deadBandUpper>'
        '</transmission>' for k in range(12))
    text = ('<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="-1" iyy="1" '
            f'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>{transmissions}</robot>')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        doubt, *others = load_urdf(text).warnings
    assert 'positive definite' in doubt
    mine, = (each for each in others if 'deadBandUpper' in each)
    assert mine.startswith('12 transmissions [') and all(f"'t{k}'" in mine for k in range(12))
