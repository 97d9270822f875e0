# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The array functions as functions on arrays: batches, layouts, refusals."""

import numpy as np
import pytest
from support.refusals import ANY, refused

from liedyn_ros.common.errors import (
    LiedynError, NotFiniteError, NotInGroupError, QuaternionWarning, ShapeError)
from liedyn_ros.lie import se3, so3

RNG = np.random.default_rng(5)
XI = RNG.normal(size=(2, 3, 6))
POSES = se3.exp(XI)
QUATERNIONS = so3.to_quaternion(POSES[..., :3, :3])
# Each function of one argument with a batch (2, 3) of arguments.
ON_VECTORS = ('hat', 'exp', 'ad', 'left_jacobian', 'left_jacobian_inverse', 'right_jacobian',
              'right_jacobian_inverse')
ON_ELEMENTS = ('log', 'inverse', 'adjoint', 'normalize')
CASES = [
    *((so3, f, XI[..., :3]) for f in ON_VECTORS),
    *((so3, f, POSES[..., :3, :3]) for f in (*ON_ELEMENTS, 'to_quaternion')),
    (so3, 'from_quaternion', QUATERNIONS), (so3, 'vee', so3.hat(XI[..., :3])),
    *((se3, f, XI) for f in (*ON_VECTORS, 'ad_dual')),
    *((se3, f, POSES) for f in (*ON_ELEMENTS, 'adjoint_dual')),
    (se3, 'vee', se3.hat(XI))]
each_case = pytest.mark.parametrize(
    'group, name, batch', CASES, ids=[f'{g.__name__[-3:]}.{f}' for g, f, _ in CASES])


@each_case
def test_a_batch_equals_its_elements_one_by_one(group, name, batch):
    function = getattr(group, name)
    whole = function(batch)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(whole[index], function(batch[index]), rtol=0.0, atol=1e-14)
    empty = function(batch[:0])
    assert empty.shape == (0, *whole.shape[1:])


@each_case
def test_any_layout_gives_the_same_and_stays_untouched(group, name, batch):
    function = getattr(group, name)
    expected = function(batch)
    reversed_layout = np.asfortranarray(batch)
    np.testing.assert_array_equal(function(reversed_layout), expected)
    np.testing.assert_array_equal(function(np.repeat(batch, 2, axis=0)[::2]), expected)
    np.testing.assert_array_equal(function(batch.astype('>f8')), expected)
    np.testing.assert_array_equal(function(batch.tolist()), expected)
    frozen = batch.copy()
    frozen.setflags(write=False)
    result = function(frozen)
    np.testing.assert_array_equal(result, expected)
    result[...] = 0.0  # a result is the caller's own, never a view of the input
    np.testing.assert_array_equal(frozen, batch)


@each_case
def test_wrong_shapes_and_numbers_are_refused(group, name, batch):
    function = getattr(group, name)
    with refused(ShapeError, ANY, got=(*batch.shape[:-1], batch.shape[-1] - 1)):
        function(batch[..., :-1])
    with pytest.raises(ShapeError):
        function(1.0)
    broken = batch.copy()
    broken[1, 2, 0] = np.nan
    with refused(NotFiniteError, ANY) as caught:
        function(broken)
    assert caught.value.indices[:3] == (1, 2, 0)


def test_integers_are_numbers():
    np.testing.assert_array_equal(so3.exp([0, 1, 0]), so3.exp([0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(se3.log(np.eye(4, dtype=int)), np.zeros(6))


def test_leading_axes_broadcast():
    one, points = POSES[0, 0], RNG.normal(size=(5, 3))
    np.testing.assert_allclose(
        se3.compose(one, POSES)[1, 2], one @ POSES[1, 2], atol=1e-14)
    np.testing.assert_allclose(
        se3.compose(POSES[:, :1], POSES[:1])[1, 2], POSES[1, 0] @ POSES[0, 2], atol=1e-14)
    np.testing.assert_allclose(
        se3.act(one, points)[4], (one @ [*points[4], 1.0])[:3], atol=1e-14)
    np.testing.assert_allclose(
        so3.act(POSES[..., np.newaxis, :3, :3], points)[1, 2, 4],
        POSES[1, 2, :3, :3] @ points[4], atol=1e-14)
    np.testing.assert_array_equal(
        se3.from_rotation_translation(np.eye(3), points)[..., :3, 3], points)
    for function, *arguments in ((so3.compose, POSES[0, :, :3, :3], POSES[:, 0, :3, :3]),
                                 (se3.compose, POSES[0], POSES[:, 0]),
                                 (so3.act, POSES[0, :, :3, :3], points),
                                 (se3.act, POSES[0], points),
                                 (se3.from_rotation_translation, POSES[0, :, :3, :3], points)):
        with refused(ShapeError, ANY) as caught:
            function(*arguments)
        assert len(caught.value.names) == 2 and caught.value.got[0] == (3,)


def test_a_matrix_that_is_no_rotation_is_refused():
    stretched, mirrored = POSES[..., :3, :3].copy(), POSES[..., :3, :3].copy()
    stretched[1, 2] *= 1.00001
    mirrored[0, 1, :, 0] *= -1.0
    for function in (so3.log, so3.inverse, so3.adjoint, so3.to_quaternion,
                     lambda r: so3.compose(POSES[..., :3, :3], r), lambda r: so3.act(r, [1, 2, 3]),
                     lambda r: se3.from_rotation_translation(r, [1, 2, 3])):
        with refused(NotInGroupError, ANY, indices=(1, 2), expected='|R^T R - 1| <= 1e-06'):
            function(stretched)
        with refused(NotInGroupError, ANY, indices=(0, 1), got=-1.0):
            function(mirrored)
    with pytest.raises(NotInGroupError), np.errstate(all='ignore'):
        so3.log(np.full((3, 3), 1e200))


def test_single_precision_is_accepted():
    single = POSES.astype(np.float32)
    np.testing.assert_allclose(se3.log(single), XI, atol=1e-5)
    np.testing.assert_allclose(so3.from_quaternion(QUATERNIONS.astype(np.float32)),
                               POSES[..., :3, :3], atol=1e-6)


def test_a_matrix_that_is_no_pose_is_refused():
    pose = np.eye(4)
    pose[3] = [0.0, 0.0, 0.1, 1.0]
    for function in (se3.log, se3.inverse, se3.adjoint, lambda t: se3.act(t, [1, 2, 3]),
                     lambda t: se3.compose(np.eye(4), t)):
        with refused(NotInGroupError, ANY, got=0.1):
            function(pose)
        with refused(NotInGroupError, ANY, got=-1.0):
            function(np.diag([1.0, 1.0, -1.0, 1.0]))


@pytest.mark.parametrize('factor', [0.0, 0.999, 1.0002, -2.0])
def test_a_quaternion_of_another_norm_is_refused(factor):
    with refused(NotInGroupError, 'quaternion', indices=(1,), got=abs(factor)):
        so3.from_quaternion([[0.0, 0.0, 0.0, 1.0], [0.0, factor * 0.6, 0.0, factor * 0.8]])


def test_a_quaternion_printed_with_five_digits_is_scaled_with_a_warning():
    exact = np.array([0.123456789, -0.5, 0.3, 0.0])
    exact[3] = np.sqrt(1.0 - exact @ exact)
    with pytest.warns(QuaternionWarning, match='scaled to norm 1'):
        rotation = so3.from_quaternion([1.00005 * exact, exact])  # one of two is enough
    np.testing.assert_allclose(rotation, [so3.from_quaternion(exact)] * 2, atol=1e-15)


@pytest.mark.filterwarnings('error')
def test_a_huge_quaternion_is_refused_without_a_warning():
    with refused(NotInGroupError, 'quaternion'):
        so3.from_quaternion([1e200, 0.0, 0.0, 1e200])


def test_vee_refuses_a_matrix_outside_the_algebra():
    with refused(LiedynError, 'matrix'):
        so3.vee(np.eye(3))
    with refused(LiedynError, 'matrix', indices=(1,)):
        se3.vee([np.zeros((4, 4)), np.eye(4)])
    last_row = se3.hat(XI[0, 0])
    last_row[3, 1] = 0.01
    with refused(LiedynError, 'matrix'):
        se3.vee(last_row)
    tiny = 1e-200 * so3.hat([1.0, 2.0, 3.0])  # no absolute tolerance swallows a small matrix
    np.testing.assert_allclose(so3.vee(tiny), [1e-200, 2e-200, 3e-200], rtol=1e-15)
    with pytest.raises(LiedynError):
        so3.vee(np.abs(tiny))
