# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loop closures and couplings in a model: built, read, and refused."""

from pathlib import Path

import numpy as np
import pytest
from support.refusals import ANY, refused

from liedyn_ros.common.errors import DescriptionError, LiedynError, ModelError
from liedyn_ros.model import CLOSURE_TYPES, load_model, load_yaml, ModelBuilder, pose

CONFIG = Path(__file__).parents[2] / 'config'
MODEL = """
format: 1
name: pair
bodies: {a: {mass: 0}, b: {mass: 0}}
joints:
  ja: {type: revolute, parent: null, child: a, axis: [0, 0, 1]}
  jb: {type: revolute, parent: a, child: b, axis: [0, 0, 1], actuated: false}
"""


def two_bodies() -> ModelBuilder:
    """Return a builder with bodies a and b, each on the ground."""
    builder = ModelBuilder('pair')
    for name in ('a', 'b'):
        builder.add_body(name, None)
        builder.add_joint(f'{name}_joint', 'revolute', None, name, axis=[0.0, 0.0, 1.0])
    return builder


def from_text(tmp_path: Path, text: str):
    """Return the model of a YAML text."""
    path = tmp_path / 'model.yaml'
    path.write_text(MODEL + text)
    return load_yaml(path)


def test_a_closure_is_built_with_its_axis_laid_on_z() -> None:
    builder = two_bodies()
    builder.add_closure('loop', 'cylindrical', 'a', 'b', placement_a=pose([1.0, 0.0, 0.0]),
                        axis=[2.0, 0.0, 0.0])
    closure, = builder.build().closures
    assert (closure.body_a, closure.body_b, closure.rows) == ('a', 'b', 4)
    for frame in (closure.frame_a, closure.frame_b):
        assert frame[:3, 2] == pytest.approx([1.0, 0.0, 0.0])
        assert np.linalg.det(frame[:3, :3]) == pytest.approx(1.0)
    assert closure.frame_a[:3, 3] == pytest.approx([1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match='read-only'):
        closure.frame_a[0, 0] = 2.0


def test_a_universal_closure_has_an_axis_of_each_body() -> None:
    builder = two_bodies()
    builder.add_closure('loop', 'universal', 'a', None, axis=[0.0, 1.0, 0.0],
                        second_axis=[0.0, 0.0, 3.0])
    closure, = builder.build().closures
    assert closure.frame_a[:3, 0] == pytest.approx([0.0, 1.0, 0.0])
    assert closure.frame_b[:3, 1] == pytest.approx([0.0, 0.0, 1.0])


def test_types_leave_the_freedoms_of_their_joints() -> None:
    freedoms = {'weld': 0, 'revolute': 1, 'prismatic': 1, 'helical': 1, 'cylindrical': 2,
                'universal': 2, 'planar': 3, 'spherical': 3, 'point_on_line': 4,
                'point_on_plane': 5, 'rod': 5}
    assert {name: 6 - len(kind.rows) for name, kind in CLOSURE_TYPES.items()} == freedoms


@pytest.mark.parametrize(('change', 'named', 'got'), [
    ({'type_name': 'hinge'}, 'hinge', 'hinge'),
    ({'body_b': 'a'}, 'closure loop', "'a' twice"),
    ({'body_b': 'c'}, 'c', 'c'),
    ({'axis': [0.0, 0.0, 0.0]}, 'axis', [0.0, 0.0, 0.0]),
    ({'second_axis': [1.0, 0.0, 0.0]}, 'closure loop', [1.0, 0.0, 0.0]),
    ({'pitch': 0.1}, 'closure loop', 0.1),
    ({'type_name': 'helical'}, 'closure loop', ANY),
    ({'length': 0.1}, 'closure loop', 0.1),
    ({'type_name': 'rod'}, 'closure loop', 0.0),
    ({'type_name': 'spherical', 'axis': [0.0, 0.0, 1.0]}, 'closure loop', [0.0, 0.0, 1.0]),
    ({'type_name': 'universal', 'axis': [1.0, 0.0, 0.0]}, 'closure loop', [1.0, 0.0, 0.0]),
    ({'type_name': 'universal', 'axis': [1, 0, 0], 'second_axis': [1, 1, 0]}, 'closure loop', ANY),
    ({'placement_a': 2.0 * np.eye(4)}, 'closure loop: placement_a', 3.0),
    ({'pitch': np.nan}, 'closure loop: pitch', ANY),
])
def test_an_invalid_closure_is_refused(change: dict, named: str, got: object) -> None:
    builder = two_bodies()
    arguments = {'type_name': 'revolute', 'body_a': 'a', 'body_b': 'b'} | change
    with refused(LiedynError, named, got=got):
        builder.add_closure('loop', **arguments)
        builder.build()


def test_a_closure_given_twice_is_refused() -> None:
    builder = two_bodies()
    builder.add_closure('loop', 'spherical', 'a', 'b')
    with refused(ModelError, 'closure loop'):
        builder.add_closure('loop', 'spherical', 'a', 'b')


def test_yaml_holds_closures_couplings_and_passive_joints(tmp_path: Path) -> None:
    model = from_text(tmp_path, """
closures:
  tip: {type: helical, body_a: a, body_b: null, axis: [1, 0, 0], pitch: 0.2, placement_b: [x: 0.5]}
couplings:
  jb: {leader: ja, multiplier: -2.0, offset: 0.1}
""")
    closure, = model.closures
    assert (closure.name, closure.type_name, closure.pitch) == ('tip', 'helical', 0.2)
    assert (closure.body_a, closure.body_b) == ('a', None)
    assert closure.frame_b[:3, 3] == pytest.approx([0.5, 0.0, 0.0])
    coupling, = model.couplings
    assert (coupling.joint, coupling.leader) == ('jb', 'ja')
    assert (coupling.multiplier, coupling.offset) == (-2.0, 0.1)
    assert model.actuated.tolist() == [True, False]


@pytest.mark.parametrize(('text', 'name'), [
    ('closures: {tip: {type: weld, body_a: a}}', 'model/closures/tip'),
    ('closures: {tip: {type: weld, body_a: a, body_b: b, colour: 1}}', 'model/closures/tip'),
    ('closures: {tip: {type: knot, body_a: a, body_b: b}}', 'closure tip'),
    ('couplings: {jb: {leader: jc}}', 'coupling of joint jb'),
    ('couplings: {jb: {}}', 'model/couplings/jb'),
])
def test_yaml_that_holds_no_closure_is_refused(tmp_path: Path, text: str, name: str) -> None:
    with refused(DescriptionError, name):
        from_text(tmp_path, text)


@pytest.mark.parametrize('name', ['four_bar', 'five_bar'])
def test_example_linkages_load(name: str) -> None:
    model = load_model(CONFIG / f'{name}.yaml')
    assert len(model.closures) == 1
    assert model.actuated.sum() == {'four_bar': 1, 'five_bar': 2}[name]


def test_a_base_has_no_motor_and_leads_unless_closures_hold_it() -> None:
    """Its wrench is asked for in the air, as of a tree; on its feet motors do all."""
    def walker(*grounded: str) -> ModelBuilder:
        builder = ModelBuilder('walker')
        for body in ('trunk', 'left', 'right', 'ball'):
            builder.add_body(body, None)
            parent = 'trunk' if body in ('left', 'right') else None
            builder.add_joint(f'{body}_joint', 'revolute' if parent else 'free', parent, body,
                              **({'axis': [0.0, 1.0, 0.0]} if parent else {}))
        for body in grounded:
            builder.add_closure(f'{body}_foot', 'spherical', None, body)
        return builder

    free, standing, holding = walker().build(), walker('left').build(), walker()
    holding.add_closure('grip', 'weld', 'right', 'ball')
    for model in (free, standing, holding.build()):
        assert model.actuated.tolist() == [*6 * [False], True, True, *6 * [False]]
    assert free.leading.all()
    assert standing.leading.tolist() == [*6 * [False], *8 * [True]]
    assert holding.build().leading.tolist() == [*8 * [True], *6 * [False]]
    driven = walker()
    driven.add_body('drone', None)
    driven.add_joint('rotors', 'free', None, 'drone', actuated=True)
    assert driven.build().actuated[-6:].all()
