# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command that writes the geometry of a rotary hexapod from numbers of a drawing."""

import re

import numpy as np
import pytest

from liedyn_ros.commands.stewart import rotary_hexapod
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver
from liedyn_ros.stewart.home import geometry_home
from liedyn_ros.stewart.platform.state import PlatformMeter

RANGE = re.compile(r'(?:roll|pitch|yaw|x|y|z) ([\d.]+) (deg|mm)')


def numbers(**values):
    """Return options of the command."""
    return [word for name, value in values.items()
            for word in (f'--{name.replace("_", "-")}', str(value))]


@pytest.mark.parametrize(('file', 'options'), [
    ('stewart_servos.yaml', {'base_radius': 0.09, 'platform_radius': 0.07, 'horn': 0.025,
                             'rod': 0.12, 'travel': np.degrees(1.4)}),
    ('stewart_cranks.yaml', {
        'base_radius': 0.2, 'platform_radius': 0.15, 'base_angle': 15, 'platform_angle': 45,
        'horn_angle': 15, 'horn': 0.06, 'rod': 0.25, 'travel': np.degrees(1.2)})])
def test_it_writes_the_machines_of_config_and_draws_them(tmp_path, capsys, file, options):
    """Legs may be in another order; all of them are there."""
    path = tmp_path / 'mine.yaml'
    assert rotary_hexapod.main(numbers(geometry=path, **options)) == 0
    ours, given = load_geometry(path), load_geometry(config_file(file))

    def legs(geometry):
        return sorted(np.round([*base, *joint, *leg.axis, *leg.zero, leg.radius, leg.rod, *limits],
                               5).tolist()
                      for base, joint, leg, limits in zip(
                          geometry.base_joints, geometry.platform_joints, geometry.leg_types,
                          geometry.length_limits))

    np.testing.assert_allclose(legs(ours), legs(given), atol=2e-5)
    np.testing.assert_allclose(geometry_home(ours)[2, 3], geometry_home(given)[2, 3], atol=1e-3)
    np.testing.assert_allclose(leg_lengths(ours, geometry_home(ours)), 0.0, atol=2e-4)
    assert (tmp_path / 'mine.png').stat().st_size > 10_000
    found = RANGE.findall(capsys.readouterr().out)
    assert len(found) == 6
    meter, home = PlatformMeter(ours), geometry_home(ours)
    sign = meter.measure(home).determinant_sign
    for k, (reach, unit) in enumerate(found):
        ways = np.zeros((81, 6))
        ways[:, k] = np.linspace(-1.0, 1.0, 81) * 0.99 * float(reach) * (
            np.pi / 180.0 if unit == 'deg' else 1e-3)
        assert (sign * meter.signed_values(home @ se3.exp(ways))).min() > 0.04


def test_without_matplotlib_it_writes_the_file_and_says_what_draws(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(rotary_hexapod, 'find_spec', lambda name: None)
    path = tmp_path / 'mine.yaml'
    assert rotary_hexapod.main(numbers(geometry=path, base_radius=0.09, platform_radius=0.07,
                                       horn=0.025, rod=0.12)) == 0
    assert [each.name for each in tmp_path.iterdir()] == ['mine.yaml']
    assert 'no drawing: pip install' in capsys.readouterr().out


def test_a_file_that_is_there_is_replaced_only_where_that_is_asked_for(tmp_path):
    path = tmp_path / 'mine.yaml'
    path.write_text('edited by hand')
    options = numbers(geometry=path, base_radius=0.09, platform_radius=0.07, horn=0.025, rod=0.12)
    assert rotary_hexapod.main(options) == 2
    assert path.read_text() == 'edited by hand'
    assert rotary_hexapod.main([*options, '--overwrite']) == 0
    assert load_geometry(path).redundant is False


@pytest.mark.parametrize('angle', [{'base_angle': 0.2094}, {'travel': 1.4}])
def test_angles_in_rad_are_refused(tmp_path, angle):
    with pytest.raises(SystemExit):
        rotary_hexapod.main(numbers(geometry=tmp_path / 'mine.yaml', base_radius=0.09,
                                    platform_radius=0.07, horn=0.025, rod=0.12, **angle))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('wrong', [
    {'base_radius': 9, 'platform_radius': 7, 'horn': 2.5, 'rod': 12}, {'horn': 25},
    {'rod': 12}, {'platform_angle': 100}])
def test_lengths_in_cm_or_mm_and_angles_from_the_x_axis_are_refused(tmp_path, wrong):
    given = {'base_radius': 0.09, 'platform_radius': 0.07, 'horn': 0.025, 'rod': 0.12} | wrong
    try:
        result = rotary_hexapod.main(numbers(geometry=tmp_path / 'mine.yaml', **given))
    except SystemExit as refusal:
        result = refusal.code
    assert result == 2 and not list(tmp_path.iterdir())


def test_singular_angles_of_equal_and_of_unequal_horns_are_said(tmp_path, capsys):
    path = tmp_path / 'mine.yaml'
    options = numbers(geometry=path, base_radius=0.09, platform_radius=0.07, horn=0.025, rod=0.12)
    assert rotary_hexapod.main(options) == 0
    equal, unequal, ways = re.search(
        r'all horns at (\d+) deg; unequal horns from (\d+) deg on \((.*?)\)',
        capsys.readouterr().out).groups()
    geometry, meter = load_geometry(path), PlatformMeter(load_geometry(path))
    solver, sign = PoseSolver(geometry), meter.measure(geometry.home).determinant_sign

    def value(way, angle):
        pose = geometry.home
        for share in np.linspace(0.0, 1.0, 50):
            pose = solver.solve(np.radians(share * angle * way), guess=pose).pose
        return sign * meter.measure(pose).signed_value
    sides = {name: 1.0 if side == 'up' else -1.0
             for name, side in (each.split() for each in ways.split(', '))}
    way = np.array([sides.get(name, 0.0) for name in geometry.leg_names])
    for turned, angle in ((np.ones(6), float(equal)), (way, float(unequal))):
        assert value(turned, angle - 1.0) > 0.0
        assert value(turned, angle) < 0.02, 'beyond it, or where the solver no longer follows'
    assert float(unequal) < 20.0 < float(equal)
    assert rotary_hexapod.main([*options, '--overwrite', '--travel', '9']) == 0
    assert 'no singularity found' in capsys.readouterr().out


def test_a_dead_centre_within_the_travel_is_named(tmp_path, capsys):
    """Its signed value is NaN."""
    options = numbers(geometry=tmp_path / 'mine.yaml', base_radius=0.3, platform_radius=0.25,
                      horn=0.1, rod=0.5, base_angle=8, platform_angle=52)
    assert rotary_hexapod.main(options) == 0
    assert re.search(r'all horns at 7[45] deg', capsys.readouterr().out)


@pytest.mark.parametrize('rod', [0.01, 0.0])
def test_a_rod_that_does_not_reach_is_refused(tmp_path, rod):
    options = numbers(geometry=tmp_path / 'mine.yaml', base_radius=0.09, platform_radius=0.07,
                      horn=0.025, rod=rod)
    if rod:
        assert rotary_hexapod.main(options) == 2
    else:
        with pytest.raises(SystemExit):
            rotary_hexapod.main(options)
    assert not list(tmp_path.iterdir())
