# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Calibrated geometries as files: read back as they were, with all else of the file."""

from dataclasses import fields, replace

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.common.errors import GeometryError
from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import load_geometry, updated_geometry

FILES = ('stewart_geometry.yaml', 'stewart_offset.yaml', 'stewart_cranks.yaml',
         'stewart_hexaglide.yaml', 'stewart_spindles.yaml', 'stewart_cable_robot.yaml')
TOOL = 'tool: {position: [0.01, 0.02, 0.1], rpy: [10 deg, 0.2, -30 deg]}\n'


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
