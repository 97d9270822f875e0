# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Trees in the view: shapes of a URDF, thrusts, forces of loops, the mass that a push meets."""

import json
import os

import numpy as np
import pytest
from support.refusals import ANY, refused
from support.scripts import free_port

from liedyn_ros.common import meshes
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.meshes import surfaces
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import LOCAL_WORLD_ALIGNED
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.lie import so3
from liedyn_ros.model import load_model, load_urdf, Visual

viser = pytest.importorskip('viser', reason='the view is not installed here')
trimesh = pytest.importorskip('trimesh', reason='the view brings it')

from liedyn_ros.view.page import describe, LivePage  # noqa: E402
from liedyn_ros.view.trees.scene import units_of  # noqa: E402
from liedyn_ros.view.trees.urdf_shapes import mesh_file, shapes_of  # noqa: E402
from liedyn_ros.view_state import Description, ViewInput  # noqa: E402

MASS = """<inertial><mass value="2"/>
 <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>"""
URDF = f"""<robot name="r">
<material name="red"><color rgba="1 0 0 0.5"/></material>
<link name="a">
 <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/>
 </visual>
 <visual><geometry><cylinder radius="0.1" length="2"/></geometry></visual>{MASS}
</link>
<link name="b"><visual><geometry><mesh filename="package://some_robot/meshes/b.stl" scale="2 2 2"/>
 </geometry></visual>{MASS}</link>
<link name="c"><visual><geometry><mesh filename="package://some_robot/c.stl"/></geometry></visual>
 <visual><geometry><capsule/></geometry></visual>{MASS}</link>
<joint name="ab" type="fixed"><parent link="a"/><child link="b"/></joint>
<joint name="bc" type="continuous"><parent link="b"/><child link="c"/></joint></robot>"""
JOINT = """<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/>
<origin xyz="0.1 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/>{}
</joint>"""
MIMIC = '<robot name="m"><link name="o"/>' + ''.join(
    f'<link name="{each}">{MASS}</link>' for each in 'xyz') + ''.join((
        JOINT.format('c', 'y', 'z', '<mimic joint="b" multiplier="-2"/>'),
        JOINT.format('a', 'o', 'x', ''),
        JOINT.format('b', 'x', 'y', '<mimic joint="a" multiplier="-1" offset="0.5"/>'))) + (
            '</robot>')
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"> <asset>
<unit meter="0.01"/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry id="g">
<mesh> <source id="p"><float_array id="f" count="9">0 0 0 100 0 0 0 50 0</float_array>
<technique_common> <accessor source="#f" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/> <param name="Z" type="float"/></accessor></technique_common>
</source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p>
</triangles></mesh></geometry></library_geometries><library_visual_scenes>
<visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes> <scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


@pytest.fixture
def page():
    """Return a page on a free port of this computer."""
    page = LivePage('127.0.0.1', free_port(), 60.0, 10.0)
    yield page
    page.close()


def test_mimic_joints_follow_and_have_no_sliders(page):
    """They stood at 0 while the leader moved, with sliders of their own."""
    model = load_urdf(MIMIC)
    page.adopt(model, np.eye(4))
    page.show(ViewInput(positions={'a': 0.7}))
    np.testing.assert_allclose(page._scene.q, [0.7, -0.2, 0.4])
    page.show(ViewInput(positions={'a': 0.5, 'c': 0.1}))
    page.show(ViewInput(positions={'a': 0.7}))  # c was measured once: another node tells it
    np.testing.assert_allclose(page._scene.q, [0.7, -0.2, 0.1])
    what_if = page.what_if
    what_if.show(visible=True)
    assert list(what_if.sliders) == ['a']
    what_if.set_joints({'a': 0.3})
    np.testing.assert_allclose(what_if.q, [0.3, 0.2, -0.4])
    lever = what_if._tree.gravity_vector(what_if.q) @ [1.0, -1.0, 2.0]
    np.testing.assert_allclose(what_if.gravity_torques()[0], lever, atol=1e-9)  # it carries all


@pytest.fixture
def robot(tmp_path):
    """Return the description of a robot whose package has one of its two meshes."""
    (tmp_path / 'some_robot' / 'meshes').mkdir(parents=True)
    (tmp_path / 'some_robot' / 'urdf').mkdir()
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / 'some_robot' / 'meshes' / 'b.stl')
    return Description(URDF, tmp_path / 'some_robot' / 'urdf')


def node(page, name):
    found = page.server.scene.get_handle_by_name(name)
    assert found is not None, name
    return found


def test_a_urdf_shows_its_shapes_and_names_those_it_cannot(page, robot):
    page.adopt(load_urdf(URDF), np.eye(4), robot)
    box = node(page, '/r/a/1')
    assert (box.color, box.opacity, box.dimensions) == ((255, 0, 0), 0.5, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(box.position, [0.0, 0.0, 1.0])
    assert node(page, '/r/a/2').opacity is None
    np.testing.assert_allclose(np.ptp(node(page, '/r/b/1/1').vertices, axis=0), [0.2, 0.4, 0.6],
                               rtol=1e-6)
    node(page, '/r/c/inertia')
    faults = page._scene.faults
    assert len(faults) == 2
    assert any("'package://some_robot/c.stl', found it nowhere" in each for each in faults)
    assert any('a mesh, box, cylinder or sphere' in each for each in faults)


def test_a_ghost_has_the_shapes_too(page, robot):
    page.adopt(load_urdf(URDF), np.eye(4), robot)
    page.what_if.show(visible=True)
    assert node(page, '/What if/b/1/1').opacity < 1.0


def test_meshes_are_found_among_the_packages_of_ros(tmp_path, monkeypatch):
    for variable, inside in (
            ('AMENT_PREFIX_PATH', 'share/p/m.dae'), ('ROS_PACKAGE_PATH', 'p/m.dae')):
        root = tmp_path / variable
        (root / inside).parent.mkdir(parents=True)
        (root / inside).write_text(DAE)
        monkeypatch.setenv(variable, str(root))
        assert mesh_file('package://p/m.dae', None) == root / inside
        monkeypatch.delenv(variable)
        assert mesh_file((root / inside).as_uri(), None) == root / inside
        assert mesh_file('m.dae', (root / inside).parent) == root / inside
    with refused(DescriptionError, got='/etc/passwd'):
        mesh_file('/etc/passwd', None)


def test_a_collada_file_is_in_its_own_unit(tmp_path):
    pytest.importorskip('collada', reason='pycollada is not installed here')
    (tmp_path / 'm.dae').write_text(DAE)
    surface, = surfaces(tmp_path / 'm.dae')
    np.testing.assert_allclose(np.ptp(surface.corners, axis=0), [1.0, 0.5, 0.0])


@pytest.mark.parametrize('content', [b'', b'solid\nnothing\n', bytes(100), b'\xff' * 300])
@pytest.mark.full
def test_a_damaged_mesh_is_named(tmp_path, content):
    (tmp_path / 'm.stl').write_bytes(content)
    with refused(DescriptionError, ANY, expected='a file of a mesh that is read'):
        surfaces(tmp_path / 'm.stl')


def test_every_shape_of_a_description_without_visuals_is_none():
    assert shapes_of(None) == ({}, [])
    assert shapes_of(Description('<mujoco/>')) == ({}, [])
    shapes, _ = shapes_of(Description(URDF))
    assert [each.shape for each in shapes['a'] if isinstance(each, Visual)] == ['box', 'cylinder']


def test_a_box_of_made_up_inertia_is_no_longer_than_its_body_allows(page):
    thin = URDF.replace('value="2"', 'value="0.001"')
    page.adopt(load_urdf(thin.replace(
        '<child link="c"/>', '<child link="c"/><origin xyz="0 0 0.1"/>')), np.eye(4))
    np.testing.assert_allclose(max(node(page, '/r/c/inertia').dimensions), 0.3)


def test_rotors_push_along_their_axes(page):
    model = load_model(config_file('aerial_manipulator.yaml'))
    page.adopt(model, np.eye(4))
    base = np.eye(4)
    base[:3, :3], base[:3, 3] = so3.exp(np.array([0.3, -0.2, 0.5])), (1.0, 2.0, 3.0)
    speeds = {rotor.name: 100.0 + 10.0 * k for k, rotor in enumerate(model.rotors)}
    page.show(ViewInput(pose=base, rotor_speeds={**speeds, 'unknown': 1e9}))
    arrows = node(page, '/Thrusts').points
    along = base[:3, :3] @ np.array([rotor.placement[:3, 2] for rotor in model.rotors]).T
    thrusts = np.array([rotor.force_coefficient * speeds[rotor.name] ** 2
                        for rotor in model.rotors])
    lengths = arrows[:, 1] - arrows[:, 0]
    np.testing.assert_allclose(lengths / np.linalg.norm(lengths, axis=1).max(),
                               (along * thrusts).T / thrusts.max(), atol=1e-5)


def test_the_camera_goes_with_a_floating_machine_unless_it_shall_not(page):
    page.adopt(load_model(config_file('aerial_manipulator.yaml')), np.eye(4))
    camera, base = page.server.initial_camera, np.eye(4)
    page.show(ViewInput(pose=base))
    before = camera.position - page._scene.middle
    base[:3, 3] = 3.0, -2.0, 1.0
    page.show(ViewInput(pose=base))
    np.testing.assert_allclose(camera.position - page._scene.middle, before, atol=1e-9)
    page._moving.value = False
    stays = camera.position
    base[0, 3] = 9.0
    page.show(ViewInput(pose=base))
    np.testing.assert_array_equal(camera.position, stays)


def test_efforts_have_their_units(page):
    model = load_model(config_file('aerial_manipulator.yaml'))
    assert units_of(model)[:7] == ['N m'] * 3 + ['N'] * 3 + ['N m']
    assert len(units_of(model)) == model.nv
    page.adopt(model, np.eye(4))
    name = model.joint_list[1].name
    assert f'| {name} | 2.5 N m |' in describe(ViewInput(efforts={name: 2.5}), page._scene.units)
    assert ' N |' in page.what_if.describe()


def test_a_fixed_arm_shows_no_numbers_of_another_robot(page):
    model = load_urdf(config_file('arm.urdf'))
    page.adopt(model, np.eye(4))
    seen = {model.coordinate_names[0]: 2.5, 'other': 1.5}
    page.show(ViewInput(pose=np.eye(4), efforts=seen), 1e9)
    assert f'| {model.coordinate_names[0]} | 2.5 N m |' in page._text.content.replace('\u200b', '')
    assert 'Position' not in page._text.content and 'other' not in page._text.content


def closed(model):
    """Return the dynamics of a machine with loops, and a closed state by joint."""
    looped = ConstrainedDynamics(model)
    return looped, assemble(looped, model.neutral())


def test_forces_of_loops_are_those_of_the_inverse_dynamics(page):
    model = load_model(config_file('four_bar.yaml'))
    page.adopt(model, np.eye(4))
    looped, q = closed(model)
    page._scene.q[:] = q
    page._pulls.value = True
    page._prepare_pulls(page._scene, model)
    page.show(ViewInput())
    (begin, end), = node(page, '/Loop forces').points
    closure, = model.closures
    pose = page._scene.figure.poses[model.body_index(closure.body_b)] @ closure.frame_b
    rest = np.zeros(model.nv)
    force = pose[:3, :3] @ looped.inverse(q, rest, rest).wrenches[0, 3:]
    np.testing.assert_allclose(begin, pose[:3, 3], atol=1e-6)
    np.testing.assert_allclose((end - begin) / np.linalg.norm(end - begin),
                               force / np.linalg.norm(force), atol=1e-5)
    page._pulls.value = False
    page._prepare_pulls(page._scene, model)
    page.show(ViewInput())
    assert not node(page, '/Loop forces').visible


def test_the_mass_that_a_push_meets_is_that_of_the_forward_dynamics(page):
    model = load_model(config_file('four_bar.yaml'))
    page.adopt(model, np.eye(4))
    looped, q = closed(model)
    what_if, rest = page.what_if, np.zeros(model.nv)
    what_if.q = q
    body = what_if._leaves()[0]
    columns = looped.frames.jacobian(q, body, LOCAL_WORLD_ALIGNED)
    turn = page._scene.figure.dynamics.kinematics(q).poses[model.body_index(body)][:3, :3]
    found = []
    for push in np.eye(3):
        external = np.zeros((len(model.bodies), 6))
        external[model.body_index(body), 3:] = turn.T @ push
        found.append(columns[3:] @ (looped.forward(q, rest, rest, external=external).a
                                    - looped.forward(q, rest, rest).a))
    np.testing.assert_allclose(what_if.mobility(body), np.array(found).T, atol=1e-9)
    what_if.show(visible=True)
    what_if.body.value = body
    what_if._redraw()
    assert node(page, '/What if/mass ellipsoid').visible
    assert f'A push on {body} meets' in what_if.describe()


def truncated(path):
    """Leave half of a whole file of binary triangles."""
    whole = trimesh.creation.icosphere(2).export(file_type=path.suffix[1:])
    data = whole if isinstance(whole, bytes) else whole.encode()
    path.write_bytes(data[:len(data) // 2])


def endless(path):
    path.symlink_to('/dev/zero')


EMPTY = ('<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
         '</COLLADA>')
BOMB = '<!DOCTYPE a [' + '<!ENTITY e0 "x">' + ''.join(
    f'<!ENTITY e{k + 1} "{10 * f"&e{k};"}">' for k in range(12)) + ']><COLLADA>&e12;</COLLADA>'
HOSTILE = {
    'eight bytes': ('.dae', lambda path: path.write_text('<COLLADA')),
    'entities': ('.dae', lambda path: path.write_text(BOMB)),
    'an external entity': ('.dae', lambda path: path.write_text(
        '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><COLLADA>&e;</COLLADA>')),
    'an empty collada': ('.dae', lambda path: path.write_text(EMPTY)),
    'deep': ('.dae', lambda path: path.write_text('<a>' * 100_000)),
    'no text': ('.obj', lambda path: path.write_bytes(bytes(range(256)) * 100)),
    'faces of no corners': ('.obj', lambda path: path.write_text('v 0 0 0\nf 1 2 3000000000\n')),
    'numbers of no size': ('.obj', lambda path: path.write_text('v nan inf 1e999\nf 1 1 1\n')),
    'a count of triangles': ('.stl', lambda path: path.write_bytes(
        bytes(80) + (2**32 - 1).to_bytes(4, 'little') + bytes(50))),
    'half': ('.stl', truncated), 'half of a model': ('.glb', truncated),
    'a list': ('.gltf', lambda path: path.write_text('[' * 100_000)),
    'a header': ('.ply', lambda path: path.write_text(
        'ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nend_header\n1\n')),
    'a pipe': ('.stl', os.mkfifo), 'a device': ('.obj', endless),
    'nothing': ('.ply', lambda path: path.write_bytes(b'')),
    'a name': ('.obj', lambda path: path.mkdir()),
}


@pytest.mark.parametrize('name', HOSTILE)
def test_a_hostile_mesh_costs_its_shape_alone(tmp_path, name):
    """Eight bytes of COLLADA ended the view, whose topic brought them again at each start."""
    suffix, make = HOSTILE[name]
    path = tmp_path / f'mesh{suffix}'
    make(path)
    with pytest.raises(DescriptionError) as caught:
        surfaces(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize('less', [
    {'memory': 2**28},
    pytest.param({'processor_time': 1, 'time': 1800}, marks=pytest.mark.full)])
def test_a_mesh_that_takes_too_long_or_too_much_is_refused(less, tmp_path, monkeypatch):
    path = tmp_path / 'many.obj'
    path.write_text('v 0 0 0\nv 1 0 0\nv 0 1 0\n' + 'f 1 2 3\n' * 2_000_000)
    monkeypatch.setattr(meshes, 'MESH_LIMITS', meshes.MESH_LIMITS._replace(**less))
    surfaces.cache_clear()
    with pytest.raises(DescriptionError) as caught:
        surfaces(path)
    assert str(path) in str(caught.value)


def test_corners_that_no_triangle_has_take_no_memory(tmp_path):
    """456 bytes of glTF had as many corners as it liked to say."""
    faces = np.arange(3, dtype=np.uint32).tobytes()
    said = json.dumps({
        'asset': {'version': '2.0'}, 'scenes': [{'nodes': [0]}], 'nodes': [{'mesh': 0}],
        'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, 'indices': 1}]}],
        'accessors': [{'componentType': 5126, 'count': 1_000_000, 'type': 'VEC3'},
                      {'bufferView': 0, 'componentType': 5125, 'count': 3, 'type': 'SCALAR'}],
        'bufferViews': [{'buffer': 0, 'byteLength': len(faces)}],
        'buffers': [{'byteLength': len(faces)}]}).encode()
    said += b' ' * (-len(said) % 4)
    parts = b''.join(np.uint32(len(each)).tobytes() + kind + each
                     for kind, each in ((b'JSON', said), (b'BIN\0', faces)))
    path = tmp_path / 'corners.glb'
    path.write_bytes(b'glTF' + np.array([2, 12 + len(parts)], np.uint32).tobytes() + parts)
    surface, = surfaces(path)
    assert len(surface.corners) == 3 and surface.faces.tolist() == [[0, 1, 2]]


def test_triangles_of_a_mesh_are_bounded(tmp_path):
    path = tmp_path / 'many.stl'
    path.write_bytes(bytes(80) + (2_000_001).to_bytes(4, 'little') + bytes(50 * 2_000_001))
    with pytest.raises(DescriptionError) as caught:
        surfaces(path)
    assert str(path) in str(caught.value)


def test_long_paths_and_names_may_end_a_line():
    shown = describe(ViewInput(warnings=('/opt/ros/left_knuckle.stl is not there',)))
    assert '/\u200bopt/\u200bros/\u200bleft_\u200bknuckle' in shown
