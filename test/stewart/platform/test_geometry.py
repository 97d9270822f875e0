# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The geometry refuses what cannot be a platform; calibrated ones are read back as they were."""

import copy
import dataclasses
from dataclasses import fields, replace
import math
import pickle
import re
import warnings

import numpy as np
import pytest
from support.refusals import ANY, refused
import yaml

from liedyn_ros.common.errors import (
    DescriptionWarning, GeometryError, LiedynError, LimitError, NameSetError)
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import geometry_of, leg_lengths, load_geometry, Strut, updated_geometry
from liedyn_ros.stewart.platform.state import PlatformMeter

FILES = ('stewart_geometry.yaml', 'stewart_offset.yaml', 'stewart_cranks.yaml',
         'stewart_hexaglide.yaml', 'stewart_spindles.yaml', 'stewart_cable_robot.yaml')
TOOL = 'tool: {position: [0.01, 0.02, 0.1], rpy: [10 deg, 0.2, -30 deg]}\n'


def document():
    """Return the paper's geometry file as a mapping."""
    return yaml.safe_load(config_file('stewart_geometry.yaml').read_text(encoding='utf-8'))


def test_table_1_is_two_semi_regular_hexagons(geometry):
    for joints, radius in ((geometry.base_joints, 0.3), (geometry.platform_joints, 0.2)):
        assert np.allclose(np.linalg.norm(joints, axis=1), radius, atol=1e-5)
        assert np.allclose(joints.mean(axis=0), 0.0, atol=1e-12)
    assert geometry.characteristic_length == pytest.approx(0.2, abs=1e-5)


def test_geometry_cannot_be_changed(geometry):
    with pytest.raises(dataclasses.FrozenInstanceError):
        geometry.name = 'other'
    with pytest.raises(ValueError, match='read-only'):
        geometry.base_joints[0, 0] = 1.0


def test_geometries_are_equal_by_their_parts(geometry):
    same = dataclasses.replace(geometry)
    moved = dataclasses.replace(geometry, base_joints=geometry.base_joints + [0.0, 0.0, 1e-9])
    assert geometry == same and hash(geometry) == hash(same)
    assert geometry != moved and geometry != 'table_1'


@pytest.mark.parametrize('duplicate', [
    copy.deepcopy, copy.copy, lambda geometry: pickle.loads(pickle.dumps(geometry))])
def test_a_copy_is_as_immutable_as_the_geometry(geometry, duplicate):
    other = duplicate(geometry)
    assert other == geometry and np.array_equal(other.base_joints, geometry.base_joints)
    for array in (other.base_joints, other.platform_joints, other.base_cones):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0


@pytest.mark.parametrize(('change', 'name'), [
    (lambda d: d['legs'].pop('leg_6'), 'leg_names'),
    (lambda d: d['legs'].update(leg_7=d['legs']['leg_1']), 'joints'),
    (lambda d: d['legs']['leg_2'].update(base=[0.1, 0.2]), 'geometry/legs/leg_2/base'),
    (lambda d: d['legs']['leg_2'].update(base=[0.1, 0.2, 'x']), 'geometry/legs/leg_2/base'),
    (lambda d: d['legs']['leg_3'].update(platform=[0.0, float('nan'), 0.0]),
     'geometry/legs/leg_3/platform'),
    (lambda d: d['legs'].update(leg_4=d['legs']['leg_3']), 'joints'),
    (lambda d: d['legs']['leg_5'].update(length=[0.9, 0.3]), 'length limits of leg_5'),
    (lambda d: d['legs']['leg_5'].update(colour='red'), 'geometry/legs/leg_5'),
    (lambda d: d['legs']['leg_5'].pop('base'), 'geometry/legs/leg_5'),
    (lambda d: d.pop('legs'), 'geometry'),
    (lambda d: d.update(nmae='x'), 'geometry'),
])
def test_bad_files_name_the_fault(tmp_path, change, name):
    content = document()
    change(content)
    path = tmp_path / 'geometry.yaml'
    path.write_text(yaml.safe_dump(content), encoding='utf-8')
    with refused(GeometryError, name) as caught:
        load_geometry(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize('text', ['', '3', '[1, 2]', 'legs: 7', '{', '\x00'])
def test_an_invalid_geometry_is_refused(tmp_path, text):
    path = tmp_path / 'geometry.yaml'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(GeometryError):
        load_geometry(path)


def test_a_key_given_twice_is_refused(tmp_path):
    path = tmp_path / 'geometry.yaml'
    path.write_text(config_file('stewart_geometry.yaml').read_text() + 'name: again\n')
    with refused(GeometryError, ANY, got="'name' at line 24, column 1"):
        load_geometry(path)


def test_a_missing_file_is_named(tmp_path):
    with refused(GeometryError, ANY, got='No such file or directory'):
        load_geometry(tmp_path / 'nowhere.yaml')


@pytest.mark.parametrize('place', ['base_joints', 'platform_joints'])
def test_joints_at_one_point_are_refused(geometry, place):
    with refused(GeometryError, place):
        dataclasses.replace(geometry, **{place: np.zeros((6, 3))})


def test_joints_may_hold_two_legs(geometry):
    joints = np.repeat(geometry.base_joints[::2], 2, axis=0)
    shared = dataclasses.replace(geometry, base_joints=joints)
    assert np.array_equal(shared.base_joints, joints)


def test_six_different_names_are_needed(geometry):
    five = geometry.leg_names[:5]
    for names in (five, ('leg_1',) * 6, (*five, ''), range(6)):
        with pytest.raises(NameSetError):
            dataclasses.replace(geometry, leg_names=names)


def test_limits_name_the_leg(geometry):
    lengths = np.full(6, 0.5)
    geometry.require_within_limits(lengths)
    lengths[3] = 1.2
    assert geometry.within_limits(lengths).tolist() == [True] * 3 + [False] + [True] * 2
    with refused(LimitError, 'leg_4', got=1.2):
        geometry.require_within_limits(lengths)


def test_without_limits_any_positive_length_is_within():
    content = document()
    for leg in content['legs'].values():
        leg.pop('length')
    geometry = geometry_of(content)
    assert geometry.within_limits(np.full(6, 1e6)).all()


def test_every_error_is_one_family():
    assert issubclass(GeometryError, LiedynError)
    assert issubclass(LiedynError, ValueError)


def test_six_cranks_of_one_axis_have_an_outline_of_their_rail():
    rail = load_geometry(config_file('stewart_circular_rail.yaml'))
    assert np.linalg.norm(rail.base_outline, axis=1) == pytest.approx(np.full(6, 0.25))
    assert rail.base_outline.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-15)
    thick = dataclasses.replace(rail, leg_diameter=0.02)
    home = np.eye(4)
    home[2, 3] = 0.3
    assert np.isfinite(PlatformMeter(thick).measure(home).margins.clearance).all()
    with refused(GeometryError, 'base_joints'):
        dataclasses.replace(rail, leg_types=(Strut(),) * 6, length_limits=np.tile([0, 1], (6, 1)))


def test_a_platform_in_millimetres_has_a_warning(tmp_path) -> None:
    text = config_file('stewart_geometry.yaml').read_text().partition('masses:')[0]
    path = tmp_path / 'mm.yaml'
    path.write_text(re.sub(r'-?\d+\.\d+(?=[,\]])', lambda x: f'{1000.0 * float(x[0])}', text))
    with pytest.warns(DescriptionWarning, match=r'mm\.yaml: a joint is 193.185 m .* like mm'):
        load_geometry(path)


@pytest.mark.parametrize(('key', 'value', 'asked'), [
    ('home', {'rpy': [0.0, 0.0, 30.0]}, 1), ('home', {'rpy': [2.0, 0.0, 0.0]}, 1),
    ('home', {'rpy': ['30 deg', -3.14159, 1.0]}, 0), ('travel', [-85, 85], 1),
    ('travel', ['-85 deg', 2], 0)])
def test_angles_that_look_like_degrees_are_asked_about(tmp_path, key, value, asked) -> None:
    content = yaml.safe_load(config_file('stewart_servos.yaml').read_text())
    if key == 'home':
        content['home'] = value
    else:
        for leg in content['legs'].values():
            leg['crank'][key] = value
    path = tmp_path / 'servos.yaml'
    path.write_text(yaml.safe_dump(content))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        load_geometry(path)
    assert sum('looks like degrees' in str(each.message) for each in caught) == asked


@pytest.mark.parametrize(('name', 'factor'), [('geometry', 1e-3), ('servos', math.radians(1.0))])
def test_readings_in_another_unit_are_named(name, factor) -> None:
    geometry = load_geometry(config_file(f'stewart_{name}.yaml'))
    lengths = leg_lengths(geometry, geometry.home) + 0.1
    assert geometry.fitting_unit(lengths / factor) == (
        {'geometry': 'mm', 'servos': 'degrees'}[name], factor)
    for other in (lengths, 1e9 * lengths):
        assert geometry.fitting_unit(other) is None
    for read in (True, False):
        with pytest.raises(LimitError) as caught:
            geometry.require_within_limits(lengths / factor, read=read)
        assert (f'actuator_scale {factor:.6g}' in str(caught.value)) == read


def test_a_servo_beyond_its_travel_by_less_than_a_turn_has_another_zero() -> None:
    """The zero at 90 deg, and actuator_scale set: no other scale is proposed."""
    servos = load_geometry(config_file('stewart_servos.yaml'))
    readings = np.radians([100.0] * 6)
    assert servos.fitting_unit(readings) is None
    with pytest.raises(LimitError, match='actuator_offset') as caught:
        servos.require_within_limits(readings, read=True)
    assert caught.value.got == readings[0]


def test_cranks_are_never_in_mm() -> None:
    cranks = load_geometry(config_file('stewart_servos.yaml'))
    mixed = dataclasses.replace(
        cranks, leg_types=(Strut(), *cranks.leg_types[1:]),
        length_limits=[[0.05, 0.2], *cranks.length_limits[1:].tolist()])
    assert mixed.fitting_unit(np.full(6, 1e2)) is None


def assert_alike(found, expected):
    for field in fields(expected):
        got, want = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(want, np.ndarray | float):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15, err_msg=field.name)
        else:
            assert got == want, field.name


@pytest.mark.parametrize('tool', ['', TOOL])
@pytest.mark.parametrize('file', FILES)
def test_it_is_read_back_as_it_was(file, tool, tmp_path):
    source, written = tmp_path / 'source.yaml', tmp_path / 'written.yaml'
    text = config_file(file).read_text()
    source.write_text(text + tool * ('tool:' not in text))
    given = load_geometry(source)
    rng, n = np.random.default_rng(1), len(given.leg_names)
    factor = 1e-5 * rng.normal(size=(7 * n, 7 * n))
    off = 1e-4 * rng.normal(size=(2, n, 3))
    moved = replace(given, base_joints=given.base_joints + off[0],
                    platform_joints=given.platform_joints + off[1],
                    calibration_covariance=factor @ factor.T)
    written.write_text(updated_geometry(source, moved))
    assert_alike(load_geometry(written), moved)
    written.write_text(updated_geometry(written, given))
    assert_alike(load_geometry(written), given)


@pytest.mark.parametrize('name, leg', [
    ('yes', 'no'), ('010', '1:30'), ('"1e-2"', '"1e3"'), ('"tRuE"', "'.5E1'")])
def test_numbers_and_texts_stay_what_they_are(name, leg, tmp_path):
    """YAML 1.1 takes 1e-2 for a text and 010 for 8; this package's reader does not."""
    source, written = tmp_path / 'source.yaml', tmp_path / 'written.yaml'
    source.write_text(config_file('stewart_geometry.yaml').read_text().replace(
        'name: table_1', f'name: {name}\nleg_diameter: 1e-2').replace('leg_3:', f'{leg}:'))
    given = load_geometry(source)
    written.write_text(updated_geometry(source, given))
    assert (given.name, given.leg_names[2]) == (name.strip('"'), leg.strip('"\''))
    assert given.leg_diameter == 0.01
    assert_alike(load_geometry(written), given)


def test_other_legs_are_refused(tmp_path):
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    with refused(GeometryError, str(config_file('stewart_geometry.yaml'))):
        updated_geometry(config_file('stewart_geometry.yaml'), replace(
            geometry, leg_names=tuple('abcdef')))
