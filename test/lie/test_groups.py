# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""SO3 and SE3: immutable, checked when made, the same mathematics as the array functions."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from liedyn_ros.common.errors import NotInGroupError, ShapeError
from liedyn_ros.lie import SE3, se3, SO3, so3

XI, ETA = np.array([0.4, -0.2, 1.1, 0.5, -2.0, 0.3]), np.array([-2.0, 0.3, 0.7, 1.5, 0.1, -0.6])
POINTS = np.arange(12.0).reshape(4, 3)
both_groups = pytest.mark.parametrize(
    'group, functions, n', [(SO3, so3, 3), (SE3, se3, 6)], ids=['SO3', 'SE3'])


@both_groups
def test_methods_are_the_array_functions(group, functions, n):
    a, b = group.exp(XI[:n]), group.exp(ETA[:n])
    np.testing.assert_array_equal(a.matrix, functions.exp(XI[:n]))
    np.testing.assert_array_equal((a @ b).matrix, functions.compose(a.matrix, b.matrix))
    np.testing.assert_array_equal(a.inverse().matrix, functions.inverse(a.matrix))
    np.testing.assert_array_equal(a.log(), functions.log(a.matrix))
    np.testing.assert_array_equal(a.adjoint(), functions.adjoint(a.matrix))
    np.testing.assert_array_equal(a.apply(POINTS), functions.act(a.matrix, POINTS))
    np.testing.assert_array_equal((a @ group.identity()).matrix, a.matrix)


@both_groups
def test_values_cannot_change(group, functions, n):
    given = functions.exp(XI[:n])
    value = group(given)
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.matrix = given
    with pytest.raises(ValueError, match='read-only'):
        value.matrix[0, 0] = 2.0
    given[0, 0] = 2.0
    np.testing.assert_array_equal(value.matrix, functions.exp(XI[:n]))


@both_groups
def test_numpy_takes_a_value_for_its_matrix(group, functions, n):
    a, b = group.exp(XI[:n]), group.exp(ETA[:n])
    np.testing.assert_array_equal(functions.log([a, b]), [a.log(), b.log()])
    np.testing.assert_array_equal(functions.compose(a, b), (a @ b).matrix)
    assert np.asarray(a, dtype=np.float32).dtype == np.float32
    copy = np.array(a)
    copy[0, 0] = 2.0  # the value itself stays as it is
    np.testing.assert_array_equal(a.matrix, functions.exp(XI[:n]))


@both_groups
def test_interpolation_runs_from_one_to_the_other(group, functions, n):
    a, b = group.exp(XI[:n]), group.exp(ETA[:n])
    np.testing.assert_allclose(a.interpolate(b, 0.0).matrix, a.matrix, atol=1e-14)
    np.testing.assert_allclose(a.interpolate(b, 1.0).matrix, b.matrix, atol=1e-14)
    half = a.interpolate(b, 0.5)
    np.testing.assert_allclose(
        (a.inverse() @ half).log(), (half.inverse() @ b).log(), atol=1e-14)


@both_groups
def test_long_products_are_normalized(group, functions, n):
    value, step = group.identity(), group.exp(0.01 * XI[:n])
    for _ in range(2000):
        value = value @ step
    clean = value.normalized().matrix
    np.testing.assert_allclose(clean, value.matrix, atol=1e-11)
    np.testing.assert_allclose(clean[:3, :3].T @ clean[:3, :3], np.eye(3), atol=3e-15)


def test_roll_pitch_yaw_turn_about_fixed_axes():
    rotation = SO3.from_rpy(0.3, -0.7, 2.0)
    expected = Rotation.from_euler('xyz', [0.3, -0.7, 2.0])
    np.testing.assert_allclose(rotation.matrix, expected.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(rotation.rpy, [0.3, -0.7, 2.0], atol=1e-15)
    upright = SO3.from_rpy(0.3, np.pi / 2.0, 0.2)  # where roll and yaw are one turn
    np.testing.assert_allclose(SO3.from_rpy(*upright.rpy).matrix, upright.matrix, atol=1e-15)
    # A sine tells this angle by 1e-8 alone.
    assert SO3.from_rpy(0.1, 1.5707, 0.2).rpy[1] == pytest.approx(1.5707, abs=1e-14)


def test_quaternions_are_x_y_z_w():
    half, rounding = np.sqrt(0.5), 20 * np.finfo(float).eps  # five times that of four operations
    rotation = SO3.from_quaternion([half, 0.0, 0.0, half])
    np.testing.assert_allclose(rotation.log(), [np.pi / 2.0, 0.0, 0.0], atol=rounding)
    np.testing.assert_allclose(rotation.quaternion, [half, 0.0, 0.0, half], atol=rounding)
    np.testing.assert_allclose(rotation.apply([0.0, 1.0, 0.0]), [0.0, 0.0, 1.0], atol=rounding)


def test_a_pose_has_its_parts():
    rotation = SO3.from_rpy(0.1, 0.2, 0.3)
    pose = SE3.from_rotation_translation(rotation, [1, 2, 3])
    np.testing.assert_array_equal(pose.rotation.matrix, rotation.matrix)
    np.testing.assert_array_equal(pose.translation, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match='read-only'):
        pose.translation[0] = 0.0


def test_constructors_check_their_input():
    for make, wrong in ((SO3, 1.1 * np.eye(3)), (SE3, 1.1 * np.eye(4)),
                        (SO3.from_quaternion, [0.0, 0.0, 0.0, 1.1])):
        with pytest.raises(NotInGroupError):
            make(wrong)
    for make, wrong in ((SO3, np.ones((2, 3, 3))), (SE3, np.eye(3)),
                        (SO3.exp, np.zeros(6)), (SE3.exp, np.zeros(3)),
                        (SO3.from_quaternion, [0.0, 0.0, 1.0])):
        with pytest.raises(ShapeError):
            make(wrong)
