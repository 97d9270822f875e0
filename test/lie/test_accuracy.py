# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Accuracy against 60-digit sums, from the smallest angles to pi, at both sides of branches."""

import high_precision
import numpy as np
import pytest

from liedyn_ros.lie import se3, so3

# The package promises 1e-12; the kernels reach 1e-15, and a lost digit should show.
RELATIVE = 1e-14


def both_sides(angle):
    """Return angles at, next to and a little away from a switch of branches."""
    return [angle - 1e-6, np.nextafter(angle, 0.0), angle, np.nextafter(angle, 4.0), angle + 1e-6]


# The series end at |w| = 1. The branch of the quaternion changes at pi/2 for an axis along x, y
# or z, and at 2 pi/3 for one equally far from them.
ANGLES = np.array([
    *np.geomspace(1e-12, np.pi, 49)[:-1],
    *both_sides(1.0), *both_sides(np.pi / 2.0), *both_sides(2.0 * np.pi / 3.0),
    *(np.pi - 10.0 ** np.arange(-14.0, -1.0)), np.nextafter(np.pi, 0.0)])
AXES = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0],
                 [0.3, -0.5, 0.8], [-0.9, 0.1, 0.05], [1e-9, 1.0, -1e-5]])


def samples():
    """Yield exponential coordinates with every angle, the axes in turn, v large and small."""
    rng = np.random.default_rng(3)
    for i, angle in enumerate(ANGLES):
        axis = AXES[i % len(AXES)] / np.linalg.norm(AXES[i % len(AXES)])
        v = rng.normal(size=3) * 10.0 ** rng.integers(-3, 4)
        yield tuple(np.concatenate([angle * axis, v]))


XI = list(samples())
each_angle = pytest.mark.parametrize('xi', XI, ids=[f'{angle!r}' for angle in ANGLES.tolist()])


def check(value, reference, xi):
    """Require the matrix, and its skew part relative to the angle: there a small angle lives."""
    assert high_precision.relative_error(value, reference) < RELATIVE
    skew = (value - value.T) - (reference - reference.T)
    assert float(abs(skew).max()) < RELATIVE * np.linalg.norm(xi[:3])


@each_angle
def test_exp(xi):
    reference, pose = high_precision.exp(xi), se3.exp(xi)
    check(pose[:3, :3], reference[:3, :3], xi)
    assert high_precision.relative_error(pose[:3, 3], reference[:3, 3]) < RELATIVE
    np.testing.assert_array_equal(pose[:3, :3], so3.exp(xi[:3]))


@each_angle
def test_log(xi):
    pose = high_precision.exp(xi).astype(float)
    coordinates = se3.log(pose)
    for part in (slice(0, 3), slice(3, 6)):
        assert high_precision.relative_error(coordinates[part], np.array(xi[part])) < RELATIVE
    np.testing.assert_array_equal(coordinates[:3], so3.log(pose[:3, :3]))


@each_angle
def test_left_jacobian(xi):
    reference, jacobian = high_precision.left_jacobian(xi), se3.left_jacobian(xi)
    check(jacobian[:3, :3], reference[:3, :3], xi)
    assert high_precision.relative_error(jacobian[3:, :3], reference[3:, :3]) < RELATIVE
    np.testing.assert_array_equal(jacobian[:3, :3], jacobian[3:, 3:])
    np.testing.assert_array_equal(jacobian[:3, :3], so3.left_jacobian(xi[:3]))


@each_angle
def test_left_jacobian_inverse(xi):
    reference, jacobian = high_precision.left_jacobian_inverse(xi), se3.left_jacobian_inverse(xi)
    check(jacobian[:3, :3], reference[:3, :3], xi)
    assert high_precision.relative_error(jacobian[3:, :3], reference[3:, :3]) < RELATIVE
    np.testing.assert_array_equal(jacobian[:3, :3], jacobian[3:, 3:])
    np.testing.assert_array_equal(jacobian[:3, :3], so3.left_jacobian_inverse(xi[:3]))
