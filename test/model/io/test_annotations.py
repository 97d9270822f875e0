# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loops in a file beside a URDF: the model is the one that a YAML file with both describes."""

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import annotate, load_urdf, load_yaml, Model, ModelBuilder

URDF, LOOPS = config_file('linkage_leg.urdf'), config_file('linkage_leg_loops.yaml')


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
