# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The YAML format: every key, what is refused, and loops in a file beside a URDF."""

from pathlib import Path

import numpy as np
import pytest
from support.refusals import ANY, refused

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import annotate, load_model, load_urdf, load_yaml, Model, ModelBuilder

ALL_KEYS = """
format: 1
name: thing
gravity: [0, 0, -1.62]
bodies:
  base:
    mass: 2
    center_of_mass: [0.1, 0.2, 0.3]
    inertia: {xx: 3, yy: 4, zz: 5, xy: 0.1, xz: 0.2, yz: 0.3}
    visuals:
      - {shape: sphere, radius: 0.1, placement: [x: 1], color: [1, 0, 0, 0.5]}
  hand: {mass: 0}
joints:
  root: {type: free, parent: null, child: base}
  slide:
    type: cylindrical
    parent: base
    child: hand
    placement: [xyz: [1, 2, 3], rpy: [90 deg, 0, 0], rz: 0.5, y: -1]
    axis: [0, 0, 2]
    limits: {lower: [-1, -.inf], upper: [1, 2], velocity: 3, effort: [4, 5]}
    damping: [0.1, 0.2]
    friction: 0.3
  bolt: &bolt {type: helical, parent: base, child: nut, axis: [1, 0, 0], pitch: 0.01}
  cross: {type: universal, parent: nut, child: yoke, axis: [1, 0, 0], second_axis: [0, 1, 0]}
rotors:
  propeller:
    body: base
    placement: [z: 0.1]
    force_coefficient: 1.0e-5
    moment_coefficient: 1.0e-7
    spin: -1
    min_speed: 10
    max_speed: 100
    visuals: [{shape: cylinder, radius: 0.1, length: 0.01}]
""".replace('  hand: {mass: 0}', '  hand: {mass: 0}\n  nut: {mass: 0}\n  yoke: {mass: 0}')
URDF, LOOPS = config_file('linkage_leg.urdf'), config_file('linkage_leg_loops.yaml')


def load(tmp_path: Path, text: str) -> Model:
    """Return the model of a text."""
    path = tmp_path / 'model.yaml'
    path.write_text(text)
    return load_model(path)


def test_the_aerial_manipulator_is_that_of_theory_8() -> None:
    model = load_model(config_file('aerial_manipulator.yaml'))
    table = model.link_table
    assert list(table.parent) == [-1, 0, 1, 2, 0, 4, 5]
    assert (model.nq, model.nv, len(model.rotors)) == (13, 12, 6)
    assert model.mass == pytest.approx(4.68, rel=1e-15)
    np.testing.assert_array_equal(model.gravity, (0, 0, -9.81))
    axes = [joint.axis.tolist() for joint in model.joint_list[1:]]
    assert axes == [[1, 0, 0], [0, 1, 0], [0, 1, 0]] * 2
    assert all((joint.placement[:3, :3] == np.eye(3)).all() for joint in model.joint_list)
    for side, y in (('left', 0.1), ('right', -0.1)):
        hips = [model.joint(f'{side}_{name}').placement[:3, 3].tolist()
                for name in ('shoulder_roll', 'shoulder_pitch', 'elbow')]
        assert hips == [[0, y, -0.1], [0, 0, -0.05], [0, 0, -0.25]]
        for part, mass, reach, factor in (
                ('shoulder', 0.14, 0.05, 0.4), ('upper_arm', 0.35, 0.25, 1),
                ('forearm', 0.35, 0.25, 1)):
            inertia = model.body(f'{side}_{part}').inertia
            assert inertia is not None and inertia.mass == mass
            np.testing.assert_array_equal(inertia.center_of_mass, (0, 0, -reach / 2))
            np.testing.assert_allclose(
                inertia.inertia_about_com, factor * np.diag([2.1e-3, 2.1e-3, 3e-4]), rtol=1e-15)


def test_reads_every_key(tmp_path: Path) -> None:
    model = load(tmp_path, ALL_KEYS)
    base, slide, rotor = model.body('base'), model.joint('slide'), model.rotors[0]
    assert base.inertia is not None and model.body('hand').inertia is None
    np.testing.assert_array_equal(base.inertia.parameters()[:4], [2, 0.2, 0.4, 0.6])
    np.testing.assert_array_equal(
        base.inertia.inertia_about_com, [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]])
    assert (base.visuals[0].shape, base.visuals[0].size) == ('sphere', 0.1)
    np.testing.assert_array_equal(base.visuals[0].color, (1, 0, 0, 0.5))
    c, s = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(slide.placement, [  # Rx(90 deg) Rz(0.5), then -1 along its y
        [c, -s, 0, 1 + s], [0, 0, -1, 2], [s, c, 0, 3 - c], [0, 0, 0, 1]], atol=1e-15)
    np.testing.assert_array_equal(slide.axis, (0, 0, 1))
    np.testing.assert_array_equal(slide.limits.lower, (-1, -np.inf))
    np.testing.assert_array_equal(slide.limits.effort, (4, 5))
    np.testing.assert_array_equal(slide.damping, (0.1, 0.2))
    np.testing.assert_array_equal(slide.friction, (0.3, 0.3))
    assert model.joint('bolt').pitch == 0.01
    np.testing.assert_array_equal(model.joint('cross').second_axis, (0, 1, 0))
    assert (rotor.body, rotor.spin, rotor.min_speed, rotor.max_speed) == ('base', -1, 10, 100)
    assert (rotor.force_coefficient, rotor.moment_coefficient) == (1e-5, 1e-7)


@pytest.mark.parametrize('old, new, named, got', [
    ('format: 1', 'format: 2', 'model/format', 2),
    ('format: 1', 'format: true', 'model/format', 'True'),
    ('format: 1', 'format: 1.0', 'model/format', 1.0),
    ('format: 1', '', 'model', ANY),
    ('name: thing', 'name: {a: {b: [1, 2]}}', 'model/name', ANY),
    ('mass: 2', 'mass: two', 'model/bodies/base/mass', 'two'),
    ('mass: 2', 'mass: 010', 'model/bodies/base/mass', '010'),
    ('mass: 2', 'mass: 1:30', 'model/bodies/base/mass', '1:30'),
    ('mass: 2', 'mass: 0x10', 'model/bodies/base/mass', '0x10'),
    ('mass: 2', 'mass: 1_000', 'model/bodies/base/mass', '1_000'),
    ('mass: 2', 'mass: 1e-400', 'model/bodies/base/mass', '1e-400'),
    ('mass: 2', 'mass: ' + '1' * 400, 'model/bodies/base/mass', ANY),
    ('mass: 2', 'mass: ' + '1' * 5000, 'model/bodies/base/mass', ANY),
    ('mass: 2', 'mass: !!float 2', ANY, ANY),
    ('mass: 2', '<<: {mass: 2}', ANY, "'<<' at line 7, column 5"),
    ('mass: 2', '[1]: 2', ANY, ANY),
    ('mass: 2', 'mass: *one', ANY, ANY),
    ('name: thing', 'name: "a\\0b"', 'model/name', "'a\\x00b'"),
    ('name: thing', 'name: "a\\tb"', 'model/name', "'a\\tb'"),
    ('type: helical', 'type: &t [*t]', ANY, '*t at line 26, column 26'),
    ('rotors:', '---\nrotors:', ANY, ANY),
    ('mass: 2', 'mass: true', 'model/bodies/base/mass', 'True'),
    ('mass: 2', 'mas: 2', 'model/bodies/base', ANY),
    ('mass: 2', 'mass: 2\n    colour: red', 'model/bodies/base', "['colour']"),
    ('mass: 2', 'mass: 2\n    mass: 3', ANY, ANY),
    ('mass: 2', '1: 2', ANY, '1 at line 7, column 5'),
    ('mass: 2', 'mass: -2', 'mass', -2.0),
    ('mass: 2', 'mass: 0', 'model/bodies/base', ANY),
    ('zz: 5', 'zz: 8', 'inertia_about_com', ANY),
    ('zz: 5', 'zx: 5', 'model/bodies/base/inertia', ANY),
    ('yz: 0.3', 'zy: 0.3', 'model/bodies/base/inertia', "['zy']"),
    ('[0.1, 0.2, 0.3]', '[0.1, 0.2]', 'model/bodies/base/center_of_mass', [0.1, 0.2]),
    ('[0, 0, -1.62]', '[0, 0, .nan]', 'model/gravity', ANY),
    ('sphere', 'cone', 'model/bodies/base/visuals[0]/shape', 'cone'),
    ('sphere, radius: 0.1', 'sphere, radius: 0', 'visual sphere', [0.0]),
    ('[1, 0, 0, 0.5]', '[1, 0, 0, 5]', 'visual color', [1.0, 0.0, 0.0, 5.0]),
    ('type: free, parent: null', 'type: free', 'model/joints/root', "['type', 'child']"),
    ('parent: base\n', 'parent: bass\n', 'joint slide', 'bass'),
    ('cylindrical', 'telescope', 'joint slide', 'telescope'),
    ('90 deg', '90 grad', 'model/joints/slide/placement[1]/rpy', '90 grad'),
    ('90 deg', 'right', 'model/joints/slide/placement[1]/rpy', 'right'),
    ('90 deg', 'inf deg', 'model/joints/slide/placement[1]/rpy', 'inf deg'),
    ('rz: 0.5', 'rz: .inf', 'model/joints/slide/placement[2]/rz', ANY),
    ('[1, 2], velocity', '[1, .nan], velocity', 'model/joints/slide/limits/upper', ANY),
    ('rz: 0.5, ', 'turn: 0.5, ', 'model/joints/slide/placement', 0.5),
    ('[z: 0.1]', '[{z: 0.1, x: 1}]', 'model/rotors/propeller/placement', "{'x': 1, 'z': 0.1}"),
    ('[z: 0.1]', '[{}]', 'model/rotors/propeller/placement', '{}'),
    ('[z: 0.1]', '{z: 0.1}', 'model/rotors/propeller/placement', 0.1),
    ('velocity: 3', 'speed: 3', 'model/joints/slide/limits', "['speed']"),
    ('damping: [0.1, 0.2]', 'damping: [0.1]', 'damping', (1,)),
    ('spin: -1', 'spin: 1.0', 'model/rotors/propeller/spin', 1.0),
    ('body: base', 'body: bass', 'rotor propeller', 'bass'),
    ('bodies:', 'bodies: [', ANY, ANY),
    ('bodies:', 'bodies: 3\nthings:', 'model/bodies', 3),
])
def test_refusals_name_the_place(tmp_path: Path, old: str, new: str,
                                 named: str, got: object) -> None:
    assert ALL_KEYS.count(old) >= 1
    with refused(DescriptionError, named, got=got) as caught:
        load(tmp_path, ALL_KEYS.replace(old, new, 1))
    assert str(caught.value).startswith(str(tmp_path / 'model.yaml'))


def test_numbers_are_decimal_and_all_else_is_text(tmp_path: Path) -> None:
    text = ALL_KEYS.replace('mass: 2', 'mass: 2e0').replace('pitch: 0.01', 'pitch: 1e-2')
    model = load(tmp_path, text.replace('name: thing', 'name: 2024-13-45'))
    assert (model.name, model.joint('bolt').pitch) == ('2024-13-45', 0.01)
    for name in ('no', 'on', '1:30', '010', '"5"'):
        assert load(tmp_path, ALL_KEYS.replace('name: thing', f'name: {name}')).name == (
            name.strip('"'))


def test_an_alias_repeats_a_value(tmp_path: Path) -> None:
    model = load(tmp_path, ALL_KEYS.replace('axis: [0, 0, 2]', 'axis: &up [0, 0, 2]').replace(
        'child: nut, axis: [1, 0, 0]', 'child: nut, axis: *up'))
    np.testing.assert_array_equal(model.joint('bolt').axis, (0, 0, 1))


def test_files_by_suffix(tmp_path: Path) -> None:
    with refused(DescriptionError, ANY, got='.dae'):
        load_model(tmp_path / 'robot.dae')
    for name in ('none.yaml', '\0.yaml', '\ud800.yaml'):
        with refused(DescriptionError, ANY):
            load_model(tmp_path / name)
    with refused(DescriptionError, str(tmp_path / 'none.yaml'), got='True'):
        load_model(tmp_path / 'none.yaml', floating=True)


def same_tree(ours: Model, theirs: Model) -> None:
    for name in ('kind', 'parent', 'placement', 'inertia', 'body_link', 'body_placement'):
        np.testing.assert_array_equal(
            getattr(ours.link_table, name), getattr(theirs.link_table, name))


def test_a_urdf_with_its_loops() -> None:
    tree = load_urdf(URDF)
    model = annotate(tree, LOOPS)
    assert (tree.closures, tree.actuated.all()) == ((), True)
    closure, = model.closures
    assert (closure.name, closure.type_name) == ('rod_end', 'revolute')
    assert (closure.body_a, closure.body_b) == ('rod', 'shank')
    np.testing.assert_allclose(closure.frame_a[:3, 3], [0.0, 0.0, -0.36])
    np.testing.assert_allclose(closure.frame_b[:3, 3], [-0.06, 0.03, 0.0])
    np.testing.assert_allclose(closure.frame_a[:3, 2], [0.0, 1.0, 0.0], atol=1e-15)
    passive = [name for name, driven in zip(model.coordinate_names, model.actuated) if not driven]
    assert passive == ['knee', 'rod_joint']
    assert (model.bodies, model.joints) == (tree.bodies, tree.joints)
    same_tree(model, tree)


def test_a_builder_goes_on_from_a_model() -> None:
    model = load_yaml(config_file('aerial_manipulator.yaml'))
    same = ModelBuilder.of(model).build()
    assert (same.bodies, same.joints, same.rotors) == (model.bodies, model.joints, model.rotors)
    assert (same.couplings, same.closures, same.warnings) == (
        model.couplings, model.closures, model.warnings)
    same_tree(same, model)


@pytest.mark.parametrize(('text', 'name'), [
    ('format: 2', 'loops/format'),
    ('{format: 1, passive: [wheel]}', 'passive'),
    ('{format: 1, bodies: {}}', 'loops'),
    ('{format: 1, closures: {end: {type: weld, body_a: rod, body_b: foot}}}', 'closure end'),
    ('{format: 1, couplings: {knee: {leader: ankle}}}', 'coupling of joint knee'),
    ('{format: 1, closures: {end: {type: glue, body_a: rod, body_b: shank}}}', 'closure end')])
def test_what_is_refused(tmp_path, text: str, name: str) -> None:
    path = tmp_path / 'loops.yaml'
    path.write_text(text)
    with refused(DescriptionError, name) as caught:
        annotate(load_urdf(URDF), path)
    assert str(path) in str(caught.value)
