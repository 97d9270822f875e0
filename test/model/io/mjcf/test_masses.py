# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Masses of MJCF that come from shapes and meshes, beside MuJoCo and closed forms."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.witnesses.mujoco_twin import assert_twin

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_mjcf

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


def test_a_body_without_mass_may_have_an_inertia() -> None:
    model = load_mjcf(
        '<mujoco><compiler boundinertia="0.5"/><worldbody><body name="a"><joint axis="0 0 1"/>'
        '<body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></body>'
        '</worldbody></mujoco>')
    assert_same(Dynamics(model).mass_matrix(model.neutral()), [[1.5]])
