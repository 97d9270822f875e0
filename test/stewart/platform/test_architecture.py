# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Platforms that are singular at every pose: named by their kind, regular ones left alone."""

from dataclasses import replace
import itertools

import numpy as np
import pytest
from support.platforms.leg_types import example

from liedyn_ros.common.errors import DescriptionWarning, GeometryError
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    AssemblyModeSolver, leg_lengths, load_geometry, PoseTracker, StewartGeometry)
from liedyn_ros.stewart.platform.architecture import architecture, require_regular
from liedyn_ros.stewart.platform.state import PlatformMeter

RNG = np.random.default_rng(20261121)
HEXAGON = RNG.normal(size=(6, 2))
OTHER = RNG.normal(size=(6, 2))
REGULAR = np.column_stack([f(np.arange(6) * np.pi / 3.0) for f in (np.cos, np.sin)])
SEMIREGULAR = np.column_stack([
    f(np.radians([15.0, 105.0, 135.0, 225.0, 255.0, 345.0])) for f in (np.cos, np.sin)])
SHEAR = np.array([[0.8, 0.3], [-0.1, 0.5]])


def line(shares):
    """Return joints (6, 2) of which the first ones lie on a line."""
    joints = RNG.normal(size=(6, 2))
    joints[:len(shares)] = [0.1, 0.2] + np.outer(shares, [1.0, 0.5])
    return joints


def griffis_duffy():
    """Return joints at the corners and on the sides of two triangles, in reverse."""
    first, second = np.array([[0.0, 0], [1, 0], [0.3, 0.9]]), np.array([[0.0, 0], [0.6, 0.1],
                                                                       [0.2, 0.5]])
    sides = [0.5 * (corners + np.roll(corners, -1, axis=0)) for corners in (first, second)]
    return np.vstack((first, sides[0])), np.vstack((sides[1], np.roll(second, -1, axis=0)))


def platform(base, joints):
    """Return a platform of planar joints (6, 2)."""
    flat = [np.column_stack((points, np.zeros(6))) for points in (base, joints)]
    return StewartGeometry(tuple('abcdef'), *flat, np.tile([0.0, np.inf], (6, 1)))


def four_at_a_joint(name):
    """Return an example of which four rods meet at one platform joint, and its home."""
    geometry, home = example(name)
    joints = geometry.platform_joints.copy()
    joints[1:4] = joints[0]
    return replace(geometry, platform_joints=joints), home


SINGULAR = {
    'similar': (platform(REGULAR, 0.5 * REGULAR), 'are similar'),
    'affine': (platform(SEMIREGULAR, SEMIREGULAR @ SHEAR), 'are affine images'),
    'Griffis-Duffy': (platform(*griffis_duffy()), 'Griffis and Duffy'),
    'four on lines': (platform(line([0.0, 1.0, 2.3, 3.1]), line(0.7 * np.array(
        [0.0, 1.0, 2.3, 3.1]))), 'joints of a, b, c, d lie on a line'),
    'five on lines': (platform(line([0.0, 1.0, 2.0, 3.5, 4.0]), line([0.0, 0.7, 1.1, 2.0, 3.3])),
                      'joints of a, b, c, d, e lie on a line'),
    'four at a joint': (platform(HEXAGON, np.vstack((OTHER[:2], np.tile(OTHER[2], (4, 1))))),
                        'platform joints of c, d, e, f coincide'),
}


@pytest.mark.parametrize('name', ['hexaglide', 'cranks'])
def test_rails_and_cranks_whose_rods_always_depend_on_each_other_are_refused(name):
    geometry, home = four_at_a_joint(name)
    found = architecture(geometry)
    assert found.singular and found.conditioning < 1e-14
    assert 'platform joints of leg_1, leg_2, leg_3, leg_4 coincide' in found.reason
    for pose in (home, pose_above()):  # which the rods do not reach
        with pytest.raises(GeometryError):
            PoseTracker(geometry, pose)
    assert architecture(example(name)[0]).conditioning > 0.1


def test_rods_that_reach_no_pose_are_warned_of():
    geometry, _ = example('cranks')
    short = tuple(replace(form, rod=0.01) for form in geometry.leg_types)
    found = architecture(replace(geometry, leg_types=short))
    assert np.isnan(found.conditioning) and 'no pose was found' in found.warning


def test_loading_a_file_names_an_architectural_singularity_and_the_free_direction(tmp_path):
    path = tmp_path / 'similar.yaml'
    path.write_text('legs:\n' + ''.join(
        f'  {name}: {{base: [{x}, {y}, 0.0], platform: [{0.5 * x}, {0.5 * y}, 0.0]}}\n'
        for name, (x, y) in zip('abcdef', REGULAR.tolist())))
    with pytest.warns(DescriptionWarning, match=r'similar\.yaml: .* are similar: .* it turns by'):
        load_geometry(path)


def pose_above():
    """Return a pose that is turned and moved."""
    return se3.compose(np.vstack((np.column_stack((np.eye(3), [0.1, 0.05, 1.2])), [0, 0, 0, 1])),
                       se3.exp(np.array([0.1, -0.2, 0.15, 0.0, 0.0, 0.0])))


@pytest.mark.parametrize('kind', list(SINGULAR))
def test_singular_platforms_are_named_and_refused_for_tracking(kind):
    geometry, reason = SINGULAR[kind]
    found = architecture(geometry)
    assert found.singular and reason in found.reason and found.conditioning < 1e-14
    with pytest.raises(GeometryError):
        PoseTracker(geometry, pose_above())


@pytest.mark.parametrize('kind', list(SINGULAR))
def test_lines_of_singular_platforms_depend_on_each_other_as_products_of_joints_do(kind):
    geometry, _ = SINGULAR[kind]
    products = [np.outer(np.append(a, 1.0), np.append(b, 1.0)).ravel() for a, b in zip(
        geometry.base_joints, geometry.platform_joints)]
    assert np.linalg.svd(products)[1][-1] < 1e-14


@pytest.mark.parametrize('kind', list(SINGULAR))
def test_the_free_twist_keeps_all_lengths(kind):
    geometry, _ = SINGULAR[kind]
    state = PlatformMeter(geometry).measure(pose_above())
    twist = state.null_twist * ([1.0] * 3 + [geometry.characteristic_length] * 3)
    step = 1e-4
    ahead, behind = (leg_lengths(geometry, se3.compose(pose_above(), se3.exp(s * step * twist)))
                     for s in (1.0, -1.0))
    assert np.abs(ahead - behind).max() / (2.0 * step) < 1e-6


@pytest.mark.parametrize('kind', ['similar', 'affine', 'Griffis-Duffy'])
def test_modes_of_exact_lengths_are_a_continuum_and_of_others_none(kind):
    geometry, reason = SINGULAR[kind]
    solver, lengths = AssemblyModeSolver(geometry), leg_lengths(geometry, pose_above())
    modes = solver.solve(lengths)
    assert len(modes.continua) > 0 and not modes.complete
    assert reason in modes.defect and 'a continuum of poses has these lengths' in modes.defect
    for mode in modes.continua:
        assert leg_lengths(geometry, mode.pose) == pytest.approx(lengths, abs=1e-8)
    lengths[0] += 1e-3
    modes = solver.solve(lengths)
    assert not modes.modes and not modes.continua and 'with the least error, none' in modes.defect


def test_a_continuum_differs_from_a_double_pose(geometry):
    """Fichter's singularity at a yaw of 90 degrees is a double pose: no motion leads on."""
    pose = np.eye(4)
    pose[:2, :2], pose[2, 3] = [[0.0, -1.0], [1.0, 0.0]], 0.5
    modes = AssemblyModeSolver(geometry).solve(leg_lengths(geometry, pose))
    assert not modes.continua


def test_regular_platforms_are_not_refused(geometry, home):
    for base, joints in itertools.combinations((HEXAGON, OTHER, line([0.0, 1.0, 2.3, 3.1])), 2):
        assert not architecture(platform(base, joints)).singular
    require_regular(geometry, home)
    assert architecture(geometry).warning == ''
    # An affine image that is on no conic is regular.
    assert not architecture(platform(HEXAGON, HEXAGON @ SHEAR)).singular


def test_a_platform_that_is_nearly_singular_is_warned_of():
    moved = 0.5 * REGULAR
    moved[0] += 1e-4
    found = architecture(platform(REGULAR, moved))
    assert not found.singular and 'nearly singular at every pose' in found.warning


@pytest.mark.parametrize(('name', 'count'), [('6_3', 16), ('octahedron', 16), ('hexaglide', 40)])
def test_modes_of_other_forms_are_complete(name, count):
    geometry, home = example(name)
    pose = se3.compose(home, se3.exp(np.array([0.05, -0.06, 0.04, 0.01, 0.02, 0.01])))
    values = leg_lengths(geometry, pose)
    modes = AssemblyModeSolver(geometry).solve(values)
    assert modes.complete and modes.complex_solutions == count
    assert min(np.abs(mode.pose - pose).max() for mode in modes.modes) < 1e-12
    for mode in modes.modes:
        assert mode.residual < 1e-12
