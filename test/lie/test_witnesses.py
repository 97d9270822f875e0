# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same results from other libraries, finite differences, sums of 60 digits, and numpy."""

from decimal import Decimal

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support.witnesses import high_precision

from liedyn_ros.lie import se3, so3
from liedyn_ros.lie.kernels import mat3, vec3
from liedyn_ros.lie.kernels import se3 as se3_kernels
from liedyn_ros.lie.kernels import so3 as kernels
from liedyn_ros.lie.kernels import so3 as so3_kernels

both_groups = pytest.mark.parametrize('group, n', [(so3, 3), (se3, 6)], ids=['SO(3)', 'SE(3)'])


@pytest.fixture(scope='module')
def xi():
    """Return exponential coordinates (30, 6) with angles over all of (0, pi)."""
    rng = np.random.default_rng(11)
    xi = rng.normal(size=(30, 6))
    xi[:, :3] *= (np.linspace(0.01, 3.13, 30) / np.linalg.norm(xi[:, :3], axis=1))[:, np.newaxis]
    return xi


@both_groups
def test_exp_is_scipys_matrix_exponential(group, n, xi):  # (1.9), (1.10)
    np.testing.assert_allclose(group.exp(xi[:, :n]), expm(group.hat(xi[:, :n])), atol=1e-13)
    adjoint = group.adjoint(group.exp(xi[:, :n]))
    np.testing.assert_allclose(adjoint, expm(group.ad(xi[:, :n])), atol=1e-12)


def test_rotations_are_scipys(xi):  # (1.9)
    w = xi[:, :3]
    rotation = Rotation.from_rotvec(w)
    np.testing.assert_allclose(so3.exp(w), rotation.as_matrix(), atol=1e-14)
    np.testing.assert_allclose(so3.log(rotation.as_matrix()), rotation.as_rotvec(), atol=1e-13)
    quaternion = rotation.as_quat()
    np.testing.assert_allclose(so3.from_quaternion(quaternion), rotation.as_matrix(), atol=1e-14)
    quaternion *= np.sign(quaternion[:, 3:])
    np.testing.assert_allclose(so3.to_quaternion(rotation.as_matrix()), quaternion, atol=1e-14)


def test_pinocchio_agrees(xi):  # (1.2), (1.10)
    pin = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
    swap = np.array([3, 4, 5, 0, 1, 2])  # Pinocchio's twists are linear part first
    for x in xi:
        w, pose = x[:3], pin.exp6(x[swap])
        np.testing.assert_allclose(so3.exp(w), pin.exp3(w), atol=1e-14)
        np.testing.assert_allclose(so3.right_jacobian(w), pin.Jexp3(w), atol=1e-13)
        np.testing.assert_allclose(so3.right_jacobian_inverse(w), pin.Jlog3(pin.exp3(w)),
                                   atol=1e-11)
        np.testing.assert_allclose(se3.exp(x), pose.homogeneous, atol=1e-13)
        np.testing.assert_allclose(se3.log(pose.homogeneous), pin.log6(pose).vector[swap],
                                   atol=1e-11)
        np.testing.assert_allclose(se3.adjoint(pose.homogeneous),
                                   pose.action[np.ix_(swap, swap)], atol=1e-14)
        np.testing.assert_allclose(se3.right_jacobian(x),
                                   pin.Jexp6(x[swap])[np.ix_(swap, swap)], atol=1e-10)
        np.testing.assert_allclose(se3.right_jacobian_inverse(x),
                                   pin.Jlog6(pose)[np.ix_(swap, swap)], atol=1e-10)


@both_groups
def test_jacobians_are_differences_of_exp_and_log(group, n, xi):
    step = 1e-5 * np.eye(n)
    for x in xi[:, :n]:
        here, back = group.exp(x), group.exp(-x)
        forth = group.exp(x + step) - group.exp(x - step)
        left = group.vee(forth @ back / 2e-5)
        np.testing.assert_allclose(left.T, group.left_jacobian(x), atol=1e-8)
        right = group.vee(back @ forth / 2e-5)
        np.testing.assert_allclose(right.T, group.right_jacobian(x), atol=1e-8)
        left = group.log(group.exp(step) @ here) - group.log(group.exp(-step) @ here)
        np.testing.assert_allclose(left.T / 2e-5, group.left_jacobian_inverse(x), atol=1e-8)
        right = group.log(here @ group.exp(step)) - group.log(here @ group.exp(-step))
        np.testing.assert_allclose(right.T / 2e-5, group.right_jacobian_inverse(x), atol=1e-8)


@pytest.mark.full
def test_kernels_on_twists_and_wrenches_are_the_matrices(xi):  # (1.1, 1.2, 1.3)
    a, b = se3.exp(xi[0]), se3.exp(xi[20])
    pose_a, pose_b = se3_kernels.load(a.ravel(), 0), se3_kernels.load(b.ravel(), 0)
    x, y = xi[7], xi[19]
    pairs = (tuple(x[:3]), tuple(x[3:])), (tuple(y[:3]), tuple(y[3:]))
    matrix = np.empty(16)
    for pose, expected in ((se3_kernels.compose(*pose_a, *pose_b), a @ b),
                           (se3_kernels.inverse(*pose_a), np.linalg.inv(a))):
        se3_kernels.store(matrix, 0, *pose)
        np.testing.assert_allclose(matrix.reshape(4, 4), expected, atol=1e-14)
    adjoint, inverse = se3.adjoint(a), se3.adjoint(se3.inverse(a))
    for value, expected in (
            (se3_kernels.adjoint(*pose_a, *pairs[0]), adjoint @ x),
            (se3_kernels.adjoint_inverse(*pose_a, *pairs[0]), inverse @ x),
            (se3_kernels.adjoint_dual(*pose_a, *pairs[0]), adjoint.T @ x),
            (se3_kernels.adjoint_inverse_dual(*pose_a, *pairs[0]), inverse.T @ x),
            (se3_kernels.ad(*pairs[0], *pairs[1]), se3.ad(x) @ y),
            (se3_kernels.ad_dual(*pairs[0], *pairs[1]), se3.ad(x).T @ y)):
        np.testing.assert_allclose(np.concatenate(value), expected, atol=1e-14)


def test_normalize_removes_rounding():
    rotation = so3.exp([0.3, -1.0, 2.0])
    drifted = rotation + 1e-9 * np.arange(9.0).reshape(3, 3)
    clean = np.reshape(so3_kernels.normalize(tuple(drifted.ravel())), (3, 3))
    np.testing.assert_allclose(clean.T @ clean, np.eye(3), atol=3e-15)
    np.testing.assert_allclose(clean, rotation, atol=2e-8)
    np.testing.assert_allclose(so3.normalize(drifted), clean, atol=3e-15)


# The package promises 1e-12; the kernels reach 1e-15, and a lost digit should show.
RELATIVE = 1e-14


def both_sides(angle):
    """Return angles at, next to and a little away from a switch of branches."""
    return [angle - 1e-6, np.nextafter(angle, 0.0), angle, np.nextafter(angle, 4.0), angle + 1e-6]


AXES = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0],
                 [0.3, -0.5, 0.8], [-0.9, 0.1, 0.05], [1e-9, 1.0, -1e-5]])
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)
NEAR_PI = [*(np.pi - np.array([1e-3, 1e-6, 1e-9, 1e-12, 1e-14])), np.nextafter(np.pi, 0.0)]
# The series end at |w| = 1. The branch of the quaternion changes at pi/2 for an axis along x, y or
# z. It changes at 2 pi/3 for an axis equally far from them.
TURNS = [
    *((angle, AXES[i % 7]) for i, angle in enumerate(np.geomspace(1e-12, np.pi, 49)[:-1])),
    *((angle, AXES[4]) for angle in both_sides(1.0)),
    *((angle, axis) for angle in both_sides(np.pi / 2.0) for axis in AXES[:3]),
    *((angle, AXES[3]) for angle in both_sides(2.0 * np.pi / 3.0)),
    *((angle, axis) for angle in NEAR_PI for axis in AXES)]
RNG = np.random.default_rng(3)
V = RNG.normal(size=(len(TURNS), 3)) * 10.0 ** RNG.integers(-3, 4, size=(len(TURNS), 1))
XI = [tuple(np.concatenate([angle * axis, v])) for (angle, axis), v in zip(TURNS, V)]
each_turn = pytest.mark.parametrize('xi', XI, ids=[f'{float(angle)!r}' for angle, _ in TURNS])


def assert_accurate(value, reference, xi):
    """Require the matrix, and its skew part relative to the angle: there a small angle lives."""
    assert high_precision.relative_error(value, reference) < RELATIVE
    skew = high_precision.decimals(value - value.T) - (reference - reference.T)
    assert float(abs(skew).max()) < RELATIVE * np.linalg.norm(xi[:3])


@each_turn
def test_exp(xi):
    reference, pose = high_precision.exp(xi), se3.exp(xi)
    assert_accurate(pose[:3, :3], reference[:3, :3], xi)
    assert_accurate(so3.exp(xi[:3]), reference[:3, :3], xi)
    assert high_precision.relative_error(pose[:3, 3], reference[:3, 3]) < RELATIVE


@each_turn
def test_log(xi):
    pose, xi = high_precision.exp(xi).astype(float), np.array(xi)
    assert high_precision.relative_error(se3.log(pose)[:3], xi[:3]) < RELATIVE
    assert high_precision.relative_error(se3.log(pose)[3:], xi[3:]) < RELATIVE
    assert high_precision.relative_error(so3.log(pose[:3, :3]), xi[:3]) < RELATIVE


@pytest.mark.parametrize('name', ['left_jacobian', 'left_jacobian_inverse'])
@each_turn
def test_jacobians(xi, name):
    reference, jacobian = getattr(high_precision, name)(xi), getattr(se3, name)(xi)
    assert_accurate(jacobian[:3, :3], reference[:3, :3], xi)
    assert_accurate(getattr(so3, name)(xi[:3]), reference[:3, :3], xi)
    assert high_precision.relative_error(jacobian[3:, :3], reference[3:, :3]) < RELATIVE
    np.testing.assert_array_equal(jacobian[:3, 3:], np.zeros((3, 3)))
    np.testing.assert_array_equal(jacobian[3:, 3:], jacobian[:3, :3])


@pytest.mark.parametrize('x', [0.0, *np.geomspace(1e-24, 0.9, 60), *both_sides(1.0), 3.0, 9.8])
def test_stumpff_functions(x):
    for k, value in enumerate(kernels.stumpff(x), start=1):
        reference = high_precision.stumpff(k, x)
        assert float(abs(Decimal(value) - reference)) < 2e-16 + 1e-13 * abs(float(reference)), k


A, B = RNG.normal(size=(2, 3, 3))
X, Y = RNG.normal(size=(2, 3))
S = 0.7


def flat(array):
    """Return an array of three or nine numbers as the kernels take it."""
    return tuple(array.ravel().tolist())


@pytest.mark.parametrize(('kernel', 'arguments', 'expected'), [
    (mat3.add, (A, B), A + B), (mat3.scale, (S, A), S * A), (mat3.transpose, (A,), A.T),
    (mat3.apply, (A, X), A @ X), (mat3.apply_t, (A, X), A.T @ X), (mat3.mul, (A, B), A @ B),
    (mat3.trace, (A,), np.trace(A)), (mat3.hat, (X,), np.cross(X, np.eye(3), axisb=0, axisc=0)),
    (mat3.outer, (X, Y), np.outer(X, Y)), (vec3.add, (X, Y), X + Y), (vec3.sub, (X, Y), X - Y),
    (vec3.neg, (X,), -X), (vec3.scale, (S, X), S * X), (vec3.axpy, (S, X, Y), S * X + Y),
    (vec3.dot, (X, Y), X @ Y), (vec3.cross, (X, Y), np.cross(X, Y))],
    ids=lambda value: getattr(value, '__qualname__', ''))
def test_kernel_is_what_numpy_computes(kernel, arguments, expected):
    taken = [value if isinstance(value, float) else flat(value) for value in arguments]
    assert_allclose(np.ravel(kernel(*taken)), np.ravel(expected), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(('kernels', 'value'), [(mat3, A), (vec3, X)], ids=['mat3', 'vec3'])
def test_numbers_in_a_flat_array(kernels, value):
    array = np.arange(12.0)
    kernels.store(array, 2, flat(value))
    assert kernels.load(array, 2) == flat(value)
    end = 2 + value.size
    assert_array_equal(array, [0.0, 1.0, *flat(value), *range(end, 12)])
