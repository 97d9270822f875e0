# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The way out to URDF, the way in through xacro, and YAML models with new numbers."""

from pathlib import Path
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from support.machines.random_models import random_inertia, random_pose
from support.refusals import ANY, refused

from liedyn_ros.common import xacro_reader
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import (
    load_model, load_urdf, load_yaml, Model, ModelBuilder, pose, to_urdf, updated_yaml,
    with_inertias, with_resistances)

XACRO = """<?xml version="1.0"?>
<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="reach" default="1"/>
  <xacro:macro name="body" params="name"><link name="${name}"/></xacro:macro>
  <xacro:body name="a"/><xacro:body name="b"/>
  <joint name="j" type="continuous"><origin xyz="${2 * $(arg reach)} 0 0"/>
    <parent link="a"/><child link="b"/></joint>
</robot>"""
TEXT = """
format: 1
name: {body}
bodies:
  {body}: &shared
    {{mass: 1e0, center_of_mass: [1e-3, 0, 2E-3], inertia: {{xx: 1e-2, yy: 1e-2, zz: 1e-2}}}}
  other: *shared
joints:
  {joint}: {{type: revolute, parent: null, child: {body}, axis: [0, 0, 1e0], damping: 1e-3}}
  last: {{type: revolute, parent: {body}, child: other, axis: [0, 1, 0], placement: [x: 1e-1]}}
"""


def test_aerial_manipulator_comes_back_from_urdf() -> None:
    model = load_model(config_file('aerial_manipulator.yaml'))
    text = to_urdf(model)
    again = load_urdf(text)
    assert (again.bodies, again.joints) == (model.bodies, model.joints)
    assert_same_numbers(again, model)
    links = {link.get('name'): link for link in ElementTree.fromstring(text).iter('link')}
    assert len(links['base'].findall('visual')) == 5 + 6  # its own, and one for each rotor
    assert all(link.findall('visual') for link in links.values())


@pytest.mark.parametrize('seed', range(5))
def test_random_models_come_back_from_urdf(seed: int) -> None:
    rng, builder = np.random.default_rng(seed), ModelBuilder('r')
    types = ['fixed', 'revolute', 'continuous', 'prismatic', 'planar', 'free']
    for i, kind in enumerate(rng.permutation(types * 2)):
        builder.add_body(f'b{i}', random_inertia(rng))
        own = ({'limits': {'lower': -rng.uniform(), 'upper': rng.uniform(), 'velocity': 1.0,
                           'effort': 2.0}, 'damping': 0.1, 'friction': 0.2}
               if kind in ('revolute', 'prismatic') else {})
        builder.add_joint(
            f'j{i}', str(kind), f'b{rng.integers(i)}' if i else None, f'b{i}',
            placement=random_pose(rng),
            axis=None if kind in ('fixed', 'free') else rng.normal(size=3), **own)
    model = builder.build()
    again = load_urdf(to_urdf(model))
    assert again.bodies == ('world', *model.bodies)
    assert_same_numbers(again, model)


def test_right_angles_of_pitch_come_back() -> None:
    for rpy in ((0.3, np.pi / 2, 0.4), (0.3, -np.pi / 2, -0.4), (np.pi, 0.0, np.pi)):
        builder = ModelBuilder('r')
        builder.add_body('a', None)
        builder.add_joint('j', 'continuous', None, 'a', placement=pose((1, 2, 3), rpy),
                          axis=(0, 0, 1))
        again = load_urdf(to_urdf(builder.build()))
        np.testing.assert_allclose(again.joint('j').placement, pose((1, 2, 3), rpy), atol=1e-15)


def test_couplings_and_absent_limits_are_written() -> None:
    builder = ModelBuilder('r')
    for name, parent in (('a', None), ('b', 'a')):
        builder.add_body(name, None)
        builder.add_joint(f'j{name}', 'prismatic', parent, name, axis=(1, 0, 0))
    builder.add_coupling('jb', 'ja', -1.0, 0.5)
    again = load_urdf(to_urdf(builder.build()))
    assert again.couplings[0].multiplier == -1.0
    np.testing.assert_array_equal(again.limits.upper, 1e308)


def test_types_that_urdf_lacks_are_refused() -> None:
    builder = ModelBuilder('r')
    builder.add_body('a', None)
    builder.add_joint('wrist', 'spherical', None, 'a')
    with refused(DescriptionError, 'joint wrist'):
        to_urdf(builder.build())
    builder = ModelBuilder('r')
    builder.add_body('a', None)
    builder.add_joint('table', 'planar', None, 'a', axis=(0, 0, 1), second_axis=(0, 1, 0))
    with refused(DescriptionError, 'joint table'):
        to_urdf(builder.build())


def test_xacro_is_expanded(tmp_path: Path) -> None:
    pytest.importorskip('xacro')
    path = tmp_path / 'robot.urdf.xacro'
    path.write_text(XACRO)
    assert load_model(path).joint('j').placement[0, 3] == 2.0
    model = load_model(path, arguments={'reach': '3'}, floating=True)
    assert (model.joint('j').placement[0, 3], model.nv) == (6.0, 7)
    path.write_text(XACRO.replace('<xacro:body name="b"/>', ''))
    with refused(DescriptionError, 'joint j', got='b'):
        load_model(path)
    path.write_text(XACRO.replace('2 *', '2 /'))
    with refused(DescriptionError, ANY):
        load_model(path, arguments={'reach': '0'})
    path.write_text(XACRO.replace('<xacro:body name="a"/>', '<xacro:if/>'))
    with refused(DescriptionError, ANY, expected='a file that xacro expands'):
        load_model(path)


def test_without_xacro_the_error_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'xacro', None)
    found = xacro_reader.answer('robot.urdf.xacro', {}, xacro_reader.XACRO_LIMITS)
    assert found['error'].startswith('the Python package xacro')


def assert_same_numbers(got: Model, wanted: Model) -> None:
    """Compare two link tables, but for the order and number of bodies fixed to the ground."""
    for name in ('kind', 'parent', 'placement', 'inertia', 'damping', 'friction'):
        np.testing.assert_allclose(
            getattr(got.link_table, name), getattr(wanted.link_table, name), atol=2e-15,
            err_msg=name)
    np.testing.assert_array_equal(
        np.nan_to_num(got.limits.lower, neginf=0), np.nan_to_num(wanted.limits.lower, neginf=0))


@pytest.mark.parametrize('body, joint', [
    ('link', 'first'), ('no', 'y'), ('010', '1:30'), ('2001-01-01', '0x10'), ('1_000', 'off'),
    ('"1e-3"', '"tRuE"'), ("'-1e5'", "'.5e1'"), ('"~"', '"null"')])
def test_yaml_is_read_back_with_what_was_changed_alone(body, joint, tmp_path):
    path = tmp_path / 'model.yaml'
    text = TEXT.format(body=body, joint=joint)
    path.write_text(text)
    given = load_yaml(path)
    heavier = 1.5 * given.body('other').inertia.parameters()
    wanted = with_resistances(with_inertias(given, {'other': heavier}), {'last': 2e-5}, {})
    path.write_text(updated_yaml(text, given, wanted))
    found = load_yaml(path)
    assert list(found.bodies) == list(given.bodies) and found.name == given.name
    assert [each.name for each in found.joint_list] == [each.name for each in given.joint_list]
    for name in given.bodies:
        np.testing.assert_allclose(found.body(name).inertia.parameters(),
                                   wanted.body(name).inertia.parameters(), rtol=1e-14)
    for got, want in zip(found.joint_list, wanted.joint_list):
        np.testing.assert_array_equal(got.damping, want.damping)
        np.testing.assert_array_equal(got.placement, want.placement)
