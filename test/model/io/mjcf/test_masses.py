# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Masses of MJCF that come from shapes and meshes, beside MuJoCo, trimesh and closed forms."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.witnesses.mujoco_twin import assert_twin

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import so3
from liedyn_ros.model import load_mjcf
from liedyn_ros.model.io.mjcf.meshes import solid_of_triangles

trimesh = pytest.importorskip('trimesh')

PLACE = 'pos=".1 .2 .3" euler="20 30 40"'
SHAPES = {
    'sphere': f'<geom size=".2" {PLACE}/>',
    'box': f'<geom type="box" size=".2 .3 .4" {PLACE}/>',
    'capsule': f'<geom type="capsule" size=".2 .3" {PLACE}/>',
    'cylinder': f'<geom type="cylinder" size=".2 .3" {PLACE}/>',
    'ellipsoid': f'<geom type="ellipsoid" size=".2 .3 .4" {PLACE}/>',
    'capsule by its ends': '<geom type="capsule" size=".2" fromto="1 2 3 2 2 5"/>',
    'box by its ends': '<geom type="box" size=".2" fromto="1 2 3 2 2 5"/>',
    'ellipsoid by its ends': '<geom type="ellipsoid" size=".2" fromto="1 2 3 2 2 5"/>',
    'a mass': f'<geom type="box" size=".2 .3 .4" mass="3" density="5" {PLACE}/>',
    'a density': f'<geom type="box" size=".2 .3 .4" density="5" {PLACE}/>',
    'two': f'<geom size=".2"/><geom type="box" size=".2 .3 .4" {PLACE}/>',
    'one without mass': f'<geom size=".2"/><geom type="box" size="1 1 1" mass="0" {PLACE}/>',
    'in a frame': f'<frame {PLACE}><geom type="box" size=".2 .3 .4" {PLACE}/></frame>'}
RULES = 'legacy', 'exact', 'convex', 'shell'


def document(geoms: str, more: str = '') -> str:
    """Return a body that falls and another behind a hinge, both of the same shapes."""
    return (f'<mujoco>{more}<worldbody><body name="a"><freejoint name="root"/>{geoms}'
            f'<body name="b" pos="1 0 0"><joint name="j" axis="0 1 0" pos=".1 .1 0"/>{geoms}'
            '</body></body></worldbody></mujoco>')


def ring() -> object:
    """Return a ring and a box beside it: closed, not convex, without symmetry."""
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    box.apply_translation((1.0, 0.0, 1.0))
    mesh = trimesh.util.concatenate(
        trimesh.creation.annulus(0.3, 0.5, 0.4, sections=12), box)
    mesh.apply_transform(trimesh.transformations.euler_matrix(0.3, 0.4, 0.5))
    mesh.apply_translation((0.2, 0.1, 0.3))
    return mesh


@pytest.mark.parametrize('name', SHAPES)
def test_shapes_have_the_masses_of_mujoco(name):
    text = document(SHAPES[name])
    assert_twin(text, load_mjcf(text))


def test_groups_decide_on_masses():
    text = document('<geom size=".2" group="2"/><geom size=".3" group="4" pos="0 0 1"/>',
                    '<compiler inertiagrouprange="0 2"/>')
    assert_twin(text, load_mjcf(text))
    assert load_mjcf(text).body('a').inertia.mass == pytest.approx(4e3 / 3 * np.pi * 0.2**3)


@pytest.mark.parametrize('rule', ['auto', 'true'])
def test_the_compiler_says_where_masses_come_from(rule):
    text = document('<inertial pos="0 0 1" mass="2" diaginertia="1 1 1"/><geom size=".2"/>',
                    f'<compiler inertiafromgeom="{rule}"/>')
    assert_twin(text, load_mjcf(text))


def test_a_total_mass_scales_all():
    text = document('<geom size=".2"/>', '<compiler settotalmass="7"/>')
    model = load_mjcf(text)
    assert_twin(text, model)
    assert sum(each.inertia.mass for each in model.body_list if each.inertia) == pytest.approx(7)
    with pytest.raises(DescriptionError, match='bodies with mass, for settotalmass'):
        load_mjcf(document('', '<compiler settotalmass="7"/>'))


@pytest.mark.parametrize('kind', ['stl', 'obj'])
@pytest.mark.parametrize('rule', RULES)
def test_meshes_have_the_masses_of_mujoco(tmp_path, rule, kind):
    name = f'ring.{kind}'
    content = ring().export(file_type=kind)
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / 'files').mkdir()
    (tmp_path / 'files' / name).write_bytes(content)
    text = document(
        f'<geom type="mesh" mesh="ring" density="50" {PLACE}/>',
        f'<compiler meshdir="files"/><asset><mesh file="{name}" inertia="{rule}" '
        'scale="1 2 1.5" refpos=".1 .2 .3" refquat="1 2 3 4"/></asset>')
    path = tmp_path / 'm.xml'
    path.write_text(text)
    # A mesh file has 24 bits a number, and MuJoCo keeps as many.
    assert_twin(text, load_mjcf(path), {f'files/{name}': content}, 1e-6)


def test_a_mesh_in_the_text_needs_no_file():
    vertices = '0 0 0 1 0 0 0 2 0 0 0 3'
    for faces in ('', 'face="0 2 1 0 3 2 0 1 3 1 2 3"'):
        text = document('<geom type="mesh" mesh="m"/>',
                        f'<asset><mesh name="m" vertex="{vertices}" {faces}/></asset>')
        model = load_mjcf(text)
        assert_twin(text, model, None, 1e-6)
        assert model.body('a').inertia.mass == pytest.approx(1000.0)  # 1 * 2 * 3 / 6 m^3
        assert_same(model.body('a').inertia.center_of_mass, [0.25, 0.5, 0.75])


def test_exact_numbers_are_those_of_trimesh():
    mesh = ring()
    volume, center, inertia = solid_of_triangles(np.array(mesh.triangles), 'exact')
    assert volume == pytest.approx(mesh.volume, rel=1e-12)
    assert_same(center, mesh.center_mass, 1e-12)
    assert_same(inertia, mesh.moment_inertia, 1e-12)
    volume, center, inertia = solid_of_triangles(np.array(mesh.convex_hull.triangles), 'convex')
    assert volume == pytest.approx(mesh.convex_hull.volume, rel=1e-12)
    assert_same(inertia, mesh.convex_hull.moment_inertia, 1e-12)


@pytest.mark.parametrize('rule', RULES)
def test_a_mesh_may_be_moved_turned_and_divided(rule):
    """Invariants: volume and moments follow the mesh; a triangle may be cut in four."""
    box = trimesh.creation.box((0.2, 0.3, 0.4))
    turn = trimesh.transformations.euler_matrix(0.3, 0.4, 0.5)
    moved = box.subdivide()
    moved.apply_transform(turn)
    moved.apply_translation((1.0, 2.0, 3.0))
    size, _, inertia = solid_of_triangles(np.array(box.triangles), rule)
    again, center, turned = solid_of_triangles(np.array(moved.triangles), rule)
    assert again == pytest.approx(size, rel=1e-12)
    assert_same(center, [1.0, 2.0, 3.0], 1e-12)
    assert_same(turned, turn[:3, :3] @ inertia @ turn[:3, :3].T, 1e-12)


def test_a_mesh_of_cubes_is_the_box():
    """Closed forms: a solid and a thin box."""
    sides = np.array((0.2, 0.3, 0.4))
    corners = np.array(trimesh.creation.box(sides).triangles)
    square = sides @ sides - sides**2
    for rule in ('legacy', 'exact', 'convex'):
        volume, _, inertia = solid_of_triangles(corners, rule)
        assert volume == pytest.approx(sides.prod())
        assert_same(inertia, np.diag(volume * square / 12.0))
    area, _, _ = solid_of_triangles(corners, 'shell')
    assert area == pytest.approx(2.0 * (0.06 + 0.08 + 0.12))


MESH = '<geom type="mesh" mesh="m"/>'
WRONG = {
    'no mesh': ('<geom type="mesh"/>', '', 'mesh'),
    'unknown mesh': ('<geom type="mesh" mesh="n"/>', '', "'n'"),
    'shell': ('<geom size="1" shellinertia="true"/>', '', 'a shell'),
    'signed distance': ('<geom type="sdf"/>', '', 'sdf'),
    'no size': ('<geom type="box" size="1"/>', '', '3 numbers as size'),
    'negative size': ('<geom type="box" size="1 1 -1"/>', '', 'above 0 m'),
    'rule': (MESH, '<mesh name="m" file="a.stl" inertia="guess"/>', 'guess'),
    'built in': (MESH, '<mesh name="m" builtin="sphere"/>', 'built-in'),
    'file in a text': (MESH, '<mesh name="m" file="a.stl"/>', 'not a text'),
    'format': (MESH, '<mesh name="m" file="a.msh"/>', 'a.msh'),
    'missing file': (MESH, '<mesh name="m" file="/no/such/file.stl"/>', 'readable file'),
    'flat': (MESH, '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 1 1 0" face="0 1 2 1 3 2"/>',
             'volume'),
    'open': (MESH, '<mesh name="m" inertia="exact" vertex="0 0 0 1 0 0 0 1 0 0 0 1" '
             'face="0 2 1 0 3 2 0 1 3"/>', 'closed surface'),
    'no hull': (MESH, '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0"/>', 'span a volume'),
    'hull of a triangle': (MESH, '<mesh name="m" inertia="convex" vertex="0 0 0 1 0 0 0 1 0" '
                           'face="0 1 2"/>', 'span a volume'),
    'faces': (MESH, '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0" face="0 1 7"/>', '0 to 2'),
    'triples': (MESH, '<mesh name="m" vertex="0 0 0 1" face="0 1 2"/>', 'triples')}


@pytest.mark.parametrize('name', WRONG)
def test_masses_that_cannot_be_had_are_refused(name):
    geoms, assets, reason = WRONG[name]
    with pytest.raises(DescriptionError, match=reason):
        load_mjcf(document(geoms, f'<asset>{assets}</asset>'))


QUADS = """# two objects, faces of four corners and six that are not flat, numbers from the end
o first
v 0 0 0
v 1 0 0.1
v 1 1 0
v 0 1 0.2
v 0 0 1
v 1 0.2 1
v 1 1 1.1
v 0 1 1
f 4 3 2 1
v 0.2 0.1 1.2
v 0.8 0.7 1.3
f 5/1 9/9 6/2 7/3 10/9 8/4
f 1 2 6 5
f 2//1 3//1 7//1 6//1
f -8 -7 -3 -4
f 4 1 5 8
o second
v 5 5 5
f 1 2 11
"""


@pytest.mark.parametrize('rule', ['legacy', 'convex', 'shell'])  # exact: both refuse the file
def test_a_file_obj_is_its_first_object_as_in_mujoco(tmp_path, rule):
    mujoco = pytest.importorskip('mujoco')
    (tmp_path / 'a.obj').write_text(QUADS)
    path = tmp_path / 'm.xml'
    path.write_text(document(MESH, f'<asset><mesh name="m" file="a.obj" inertia="{rule}"/>'
                                   '</asset>'))
    mine, theirs = load_mjcf(path).body_list[0].inertia, mujoco.MjModel.from_xml_path(str(path))
    turn = so3.from_quaternion(np.roll(theirs.body_iquat[1], -1))
    about = turn @ np.diag(theirs.body_inertia[1]) @ turn.T
    assert mine.mass == pytest.approx(theirs.body_mass[1], rel=1e-6)
    assert_same(mine.center_of_mass, theirs.body_ipos[1], 1e-6)
    assert_same(mine.inertia_about_com, about, 1e-6 * about.max())


BOUNDS = {
    'mass': 'boundmass="2"', 'inertia': 'boundinertia="0.05"', 'balance': 'balanceinertia="true"',
    'all': 'boundmass="2" boundinertia="0.05" balanceinertia="true"',
    'a total': 'boundmass="2" boundinertia="0.05" settotalmass="7"'}


@pytest.mark.parametrize('name', BOUNDS)
def test_masses_are_bounded_as_in_mujoco(name):
    """Bodies by shapes, by numbers that no rigid body has, and without a mass."""
    mujoco = pytest.importorskip('mujoco')
    moments = '.1 .2 .5' if 'balance' in BOUNDS[name] else '.1 .2 .25'
    text = (f'<mujoco><compiler {BOUNDS[name]}/><worldbody>'
            f'<body name="a"><freejoint/><geom type="box" size=".01 .1 .2" {PLACE}/>'
            f'<body name="b"><joint/><inertial mass="1" diaginertia="{moments}" {PLACE}/></body>'
            '<body name="c"><joint/><inertial pos="0 0 1" mass="3" diaginertia=".04 .05 .06"/>'
            '<body name="d"/></body></body></worldbody></mujoco>')
    theirs, mine = mujoco.MjModel.from_xml_string(text), load_mjcf(text)
    assert mine.warnings == ()
    for i, body in enumerate(mine.body_list, 1):
        turn = so3.from_quaternion(np.roll(theirs.body_iquat[i], -1))
        assert (body.inertia.mass if body.inertia else 0.0) == pytest.approx(theirs.body_mass[i])
        if body.inertia:
            assert_same(body.inertia.inertia_about_com,
                        turn @ np.diag(theirs.body_inertia[i]) @ turn.T, 1e-12)


SIDES = np.array((0.2, 0.5, 0.3))  # of a box, m


def fitted(kind):
    """Return a document with a shape that is fitted to a mesh of a turned box."""
    box = trimesh.creation.box(SIDES)
    box.apply_transform(trimesh.transformations.euler_matrix(0.3, 0.4, 0.5))
    corners, faces = (' '.join(map(str, each.ravel().tolist()))
                      for each in (box.vertices + (0.1, 0.0, 0.2), box.faces))
    return document(
        f'<geom type="{kind}" mesh="m" fitscale="1.1" pos="1 2 3" euler="10 20 30"/>',
        f'<asset><mesh name="m" inertia="exact" vertex="{corners}" face="{faces}"/></asset>')


@pytest.mark.parametrize('kind', ['sphere', 'capsule', 'cylinder', 'ellipsoid', 'box'])
def test_shapes_are_fitted_to_meshes_as_in_mujoco(kind):
    """Corners are in single precision there."""
    mujoco, text = pytest.importorskip('mujoco'), fitted(kind)
    mine, theirs = load_mjcf(text).body_list[0].inertia, mujoco.MjModel.from_xml_string(text)
    turn = so3.from_quaternion(np.roll(theirs.body_iquat[1], -1))
    about = turn @ np.diag(theirs.body_inertia[1]) @ turn.T
    assert mine.mass == pytest.approx(theirs.body_mass[1], rel=1e-6)
    assert_same(mine.center_of_mass, theirs.body_ipos[1], 1e-6)
    assert_same(mine.inertia_about_com, about, 1e-6 * about.max())


def test_a_box_fitted_to_a_box_is_the_box():
    mass = load_mjcf(fitted('box')).body_list[0].inertia.mass
    assert mass == pytest.approx(1000.0 * SIDES.prod() * 1.1**3, rel=1e-9)


def test_shapes_fitted_to_bounds_of_meshes_are_refused():
    text = document('<geom type="box" mesh="m"/>', '<compiler fitaabb="true"/><asset>'
                    '<mesh name="m" vertex="0 0 0 1 0 0 0 2 0 0 0 3"/></asset>')
    with pytest.raises(DescriptionError, match='fitted to the bounds of the mesh m'):
        load_mjcf(text)


def test_a_file_that_is_no_mesh_is_refused(tmp_path):
    (tmp_path / 'a.stl').write_bytes(b'solid nothing')
    path = tmp_path / 'm.xml'
    path.write_text(document(MESH, '<asset><mesh name="m" file="a.stl"/></asset>'))
    with pytest.raises(DescriptionError, match='a mesh of triangles'):
        load_mjcf(path)


def test_without_the_reader_of_meshes_the_error_names_it(tmp_path, monkeypatch):
    text = document(MESH, '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 2 0 0 0 3"/></asset>')
    monkeypatch.setattr('liedyn_ros.model.io.mjcf.meshes.find_spec', lambda name: None)
    with pytest.raises(DescriptionError, match="meshes: pip install 'trimesh>"):
        load_mjcf(text)
    given = document(f'<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{MESH}')
    assert Dynamics(load_mjcf(given)).model.nv == 7  # whose meshes are for the screen


def test_impossible_inertias_are_used_or_refused():
    text = document('<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>')
    with pytest.warns(DescriptionWarning, match='inertia_about_com: expected no principal moment'):
        model = load_mjcf(text)
    assert model.body('a').inertia.inertia_about_com[2, 2] == 3.0
    with pytest.raises(DescriptionError, match='principal moment'):
        load_mjcf(text, strict=True)
