# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Machines in kg and m have no remark on that; in grams, millimetres or kg mm^2 they have one."""

import json
from tempfile import NamedTemporaryFile

import numpy as np
import pytest

from liedyn_ros.common.errors import DescriptionWarning
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import (
    implausible, load_mjcf, load_model, load_sdf, load_urdf, load_yaml, Model, ModelBuilder,
    SpatialInertia, to_mjcf, to_sdf, to_urdf)

pytestmark = pytest.mark.filterwarnings(
    'ignore::liedyn_ros.common.errors.DescriptionWarning')


def arm(mass: float = 1.0, moment: float = 1.0, length: float = 1.0, center: float = 1.0
        ) -> Model:
    """Return three rods of 0.4 m and 2 kg, with factors of their numbers."""
    builder, parent = ModelBuilder('arm'), None
    for k in range(3):
        builder.add_body(f'l{k}', SpatialInertia(
            2.0 * mass, (0.0, 0.0, 0.2 * center), np.eye(3) * moment * 2.0 * 0.4**2 / 12.0))
        placement = np.eye(4)
        placement[2, 3] = 0.4 * length if k else 0.0
        builder.add_joint(f'j{k}', 'continuous', parent, f'l{k}', axis=(0, 1, 0),
                          placement=placement)
        parent = f'l{k}'
    return builder.build()


WRONG = {  # factors, and what the warning begins with
    'grams': ({'mass': 1e3, 'moment': 1e3}, 'masses: 6000 kg of'),
    'kg mm^2': ({'moment': 1e6}, 'inertias of'),
    'lengths in mm': ({'length': 1e3}, 'lengths of'),
    'centres in mm': ({'center': 1e3}, 'centres of mass of'),
    'all in mm': ({'length': 1e3, 'center': 1e3, 'moment': 1e6}, 'mass of 6 kg in a machine of')}


def from_yaml(model: Model) -> Model:
    """Return a model of bodies, on their z axes, and of continuous joints as its file has it."""
    bodies = {body.name: {
        'mass': body.inertia.mass, 'center_of_mass': body.inertia.center_of_mass.tolist(),
        'inertia': dict(zip(('xx', 'yy', 'zz'), np.diag(
            body.inertia.inertia_about_com).tolist()))} for body in model.body_list}
    joints = {joint.name: {
        'type': joint.type_name, 'parent': joint.parent, 'child': joint.child,
        'axis': joint.axis.tolist(), 'placement': [{'xyz': joint.placement[:3, 3].tolist()}]}
        for joint in model.joint_list}
    with NamedTemporaryFile('w', suffix='.yaml') as file:
        json.dump({'format': 1, 'name': 'arm', 'bodies': bodies, 'joints': joints}, file)
        file.flush()
        return load_yaml(file.name)


@pytest.mark.parametrize('write, load', [
    (to_urdf, load_urdf), (to_mjcf, load_mjcf), (to_sdf, load_sdf),
    (lambda model: model, from_yaml)], ids=['URDF', 'MJCF', 'SDF', 'YAML'])
@pytest.mark.parametrize('name', WRONG)
def test_other_units_are_named_in_every_format(name, write, load) -> None:
    factors, said = WRONG[name]
    warning, = load(write(arm(**factors))).warnings
    assert warning.startswith(said)
    assert list(implausible(arm(**factors)))


def test_machines_in_kg_and_m_have_no_remark() -> None:
    assert load_urdf(to_urdf(arm())).warnings == from_yaml(arm()).warnings == ()
    assert load_urdf(config_file('linkage_leg.urdf')).warnings == ()


def test_a_base_of_1000_kg_m2_for_1_kg_is_named() -> None:
    text = to_urdf(arm()).replace('ixx="0.0266', 'ixx="1000.0266', 1)
    with pytest.warns(DescriptionWarning, match='l0 .*on average'):
        load_urdf(text)


def test_a_travel_in_mm_is_named() -> None:
    builder = ModelBuilder.of(arm())
    builder.add_body('slider', SpatialInertia(1.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3)))
    builder.add_joint('slide', 'prismatic', 'l2', 'slider', axis=(1, 0, 0),
                      limits={'lower': 0.0, 'upper': 400.0})
    warning, = load_sdf(to_sdf(builder.build())).warnings
    assert warning.startswith("joints ['slide (400 m)']: a travel")


MESH = {  # a link with a box of 0.1 m, as a mesh, at its frame, in each format
    'urdf': '<robot name="r"><link name="w"/><link name="a"><inertial><origin xyz="{0} 0 0"/>'
            '<mass value="1"/><inertia ixx="1e-2" iyy="1e-2" izz="1e-2" ixy="0" ixz="0" iyz="0"/>'
            '</inertial><visual><geometry><mesh filename="{1}" scale="{2}"/></geometry></visual>'
            '</link><link name="b"/><joint name="j" type="continuous"><parent link="w"/>'
            '<child link="a"/></joint><joint name="k" type="fixed"><parent link="w"/>'
            '<child link="b"/><origin xyz="0 0 1"/></joint></robot>',
    'sdf': '<sdf version="1.9"><model name="r"><link name="w"><pose>0 0 1 0 0 0</pose></link>'
           '<link name="a"><inertial><pose>{0} 0 0 0 0 0</pose><mass>1</mass><inertia>'
           '<ixx>1e-2</ixx><iyy>1e-2</iyy><izz>1e-2</izz></inertia></inertial><collision name="c">'
           '<geometry><mesh><uri>{1}</uri><scale>{2}</scale></mesh></geometry></collision></link>'
           '</model></sdf>',
    'xml': '<mujoco><asset><mesh name="m" file="{1}" scale="{2}"/></asset><worldbody>'
           '<body name="w" pos="0 0 1"><joint/><geom size=".1"/></body><body name="a"><joint/>'
           '<inertial pos="{0} 0 0" mass="1" diaginertia="1e-2 1e-2 1e-2"/>'
           '<geom type="mesh" mesh="m" mass="0"/></body></worldbody></mujoco>'}


@pytest.mark.parametrize('suffix', MESH)
def test_a_centre_of_mass_far_outside_the_meshes_is_named(suffix: str, tmp_path) -> None:
    trimesh = pytest.importorskip('trimesh')
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / 'box.stl')
    path = tmp_path / f'r.{suffix}'
    for center, mesh, scale, named in (
            (0.8, 'box.stl', '1 1 1', True), (0.8, 'box.stl', '10 10 10', False),
            (0.05, 'box.stl', '1 1 1', False), (0.8, 'none.stl', '1 1 1', False)):
        path.write_text(MESH[suffix].format(center, mesh, scale))
        said = [each for each in load_model(path).warnings if 'farthest point' in each]
        assert bool(said) == named
        assert all('a (0.8 m from a shape that ends at 0.0866 m)' in each for each in said)


SHAPE = '<{0}><geometry><box size="1 1 1"/></geometry></{0}>'
INERTIAL = ('<inertial><mass value="1"/><inertia ixx="1e-1" iyy="1e-1" izz="1e-1" ixy="0" ixz="0" '
            'iyz="0"/></inertial>')


def chain(*links: str, kinds: str = 'cc') -> str:
    """Return a URDF of links with these contents; kinds of joints: c of continuous, f of fixed."""
    return '<robot name="r">' + ''.join(
        f'<link name="l{k}">{each}</link>' for k, each in enumerate(links)) + ''.join(
        f'<joint name="j{k}" type="{"continuous" if kind == "c" else "fixed"}"><parent '
        f'link="l{k}"/><child link="l{k + 1}"/><origin xyz="0 0 1"/></joint>'
        for k, kind in enumerate(kinds)) + '</robot>'


@pytest.mark.parametrize('tag', ['visual', 'collision'])
@pytest.mark.parametrize('strict', [False, True])
def test_a_link_that_moves_with_a_shape_and_no_mass_is_named(tag: str, strict: bool) -> None:
    text = chain('', SHAPE.format(tag), INERTIAL)
    with pytest.warns(DescriptionWarning) as seen:
        warning, = load_urdf(text, strict=strict).warnings
    assert warning.startswith("links ['l1']: no mass, though a joint moves them")
    assert len(seen) == 1


@pytest.mark.parametrize('text', [
    chain(SHAPE.format('visual'), '', INERTIAL),  # the ground, and a frame
    chain('', INERTIAL, SHAPE.format('visual'), kinds='cf'),
    chain('', SHAPE.format('visual'), INERTIAL, kinds='cf'),
    chain('', SHAPE.format('visual'), INERTIAL, kinds='fc')],
    ids=['no shape', 'fixed to a mass', 'a mass fixed to it', 'fixed to the ground'])
def test_links_that_need_no_mass_of_their_own_are_not_named(text: str) -> None:
    assert not [each for each in load_urdf(text).warnings if 'mass' in each]


def test_links_without_mass_that_are_fixed_to_each_other_are_named_by_their_shapes() -> None:
    text = chain('', '', SHAPE.format('visual'), INERTIAL, kinds='cfc')
    warning, = load_urdf(text).warnings
    assert warning.startswith("links ['l2']: no mass")


def test_a_machine_without_any_mass_is_named_once() -> None:
    warning, = load_urdf(chain('', SHAPE.format('visual'), '')).warnings
    assert warning.startswith('no link has a mass')
    assert not load_urdf('<robot name="r"><link name="a"/></robot>').warnings  # nothing moves


def test_a_link_of_sdf_that_says_no_mass_and_has_a_shape_is_named() -> None:
    said = load_sdf(MESH['sdf'].format(0, 'none.stl', '1 1 1').replace(
        '<mass>1</mass>', '<mass>0</mass>').replace('1e-2', '0')).warnings
    assert [each for each in said if each.startswith("links ['a']: no mass")]


@pytest.mark.parametrize('roll, named', [
    (90.0, True), (-180.0, True), (6.2832, False), (-3.15, False)])
def test_roll_pitch_and_yaw_in_degrees_are_named(roll: float, named: bool) -> None:
    place = f'<origin rpy="{roll} 0 0"/>'
    joint = chain('', INERTIAL, INERTIAL).replace('<origin xyz="0 0 1"/>', place, 1)
    mass = chain('', INERTIAL, INERTIAL).replace('<mass', f'{place}<mass', 1)
    sdf = MESH['sdf'].format(0, 'none.stl', '1 1 1').replace(
        '<pose>0 0 1 0', f'<pose>0 0 1 {roll}', 1)
    for load, text, owner in (
            (load_urdf, joint, "joints ['j0']"), (load_urdf, mass, "links ['l1']"),
            (load_sdf, sdf, "links ['w']")):
        said = [each for each in load(text).warnings if 'like degrees' in each]
        assert [each.partition(':')[0] for each in said] == [owner] * named
    degrees = sdf.replace('<pose>0 0 1', '<pose degrees="true">0 0 1')
    assert not [each for each in load_sdf(degrees).warnings if 'like degrees' in each]
