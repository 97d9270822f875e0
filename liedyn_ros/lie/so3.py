# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
SO(3), the rotations of space, on arrays.

A rotation is a (..., 3, 3) matrix, an element of the algebra a rotation vector w (..., 3) in
radians or its matrix [w] (..., 3, 3). Leading axes are a batch; those of two inputs broadcast.
All functions refuse wrong shapes (ShapeError) and numbers that are not finite (NotFiniteError).
Functions of a rotation refuse any other matrix (NotInGroupError, see require_rotation).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_trailing
from liedyn_ros.common.errors import LiedynError, QuaternionWarning, warn
from liedyn_ros.lie.arrays import (
    are_rotations, is_rotation, largest, require, require_broadcast, run, skew)
from liedyn_ros.lie.kernels import batch
from liedyn_ros.lie.kernels.so3 import TOLERANCE

# How far the norm of a quaternion may be from 1 that was printed with few digits
PRINTED_NORM_TOLERANCE = 1e-4


def require_rotation(name: str, rotation: ArrayLike) -> Array:
    """
    Return rotations as float64, or raise the error of the first that is none.

    Args:
        name: what the error calls them.
        rotation: (..., 3, 3), R^T R - 1 within 1e-6 and det R positive.

    Returns:
        the rotations (..., 3, 3).

    Raises:
        NotInGroupError: naming the first matrix that is no rotation.

    >>> so3.require_rotation('R', [[1, 0, 0], [0, 1, 0], [0, 0, 1]]).dtype
    dtype('float64')
    """
    r = as_trailing(name, rotation, (3, 3))
    if is_rotation(*r.ravel().tolist()) if r.ndim == 2 else are_rotations(r):
        return r
    deviation = largest(np.swapaxes(r, -1, -2) @ r - np.eye(3))
    require(name, deviation <= TOLERANCE, f'|R^T R - 1| <= {TOLERANCE}', deviation)
    determinant = np.linalg.det(r)
    require(name, determinant > 0.0, 'det R = 1', determinant)
    return r


def hat(w: ArrayLike) -> Array:
    """
    Return the matrix of the cross product by a vector.

    Args:
        w: vectors (..., 3).

    Returns:
        [w] (..., 3, 3), with [w] x = w x x.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> so3.hat([1.0, 2.0, 3.0])
    array([[ 0., -3.,  2.],
           [ 3.,  0., -1.],
           [-2.,  1.,  0.]])
    """
    return skew(as_trailing('w', w, (3,)))


def vee(matrix: ArrayLike) -> Array:
    """
    Return the vector of a skew matrix.

    Args:
        matrix: skew matrices (..., 3, 3), M + M^T within 1e-6 of the largest entry.

    Returns:
        w (..., 3), with [w] = M.

    Raises:
        LiedynError: for a matrix that is not skew, or not finite.

    >>> so3.vee(so3.hat([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    m = as_trailing('matrix', matrix, (3, 3))
    size, excess = largest(m), largest(m + np.swapaxes(m, -1, -2))
    require('matrix', excess <= TOLERANCE * size,
            f'a skew matrix, |M + M^T| <= {TOLERANCE} |M|', excess, LiedynError)
    return skew_part(m)


def skew_part(m: Array) -> Array:
    """
    Return the vector of the skew part of a matrix.

    Args:
        m: matrices (..., 3, 3).

    Returns:
        w (..., 3), with [w] = (M - M^T) / 2.

    >>> so3.skew_part(so3.hat([1.0, 2.0, 3.0]) + np.eye(3))
    array([1., 2., 3.])
    """
    return 0.5 * np.stack(
        [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]],
        axis=-1)


def exp(w: ArrayLike) -> Array:
    """
    Return the rotation about a vector by its length.

    Args:
        w: rotation vector (..., 3); rad.

    Returns:
        R (..., 3, 3).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> so3.exp([0.0, 0.0, np.pi / 2]).round(6) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return run(batch.so3_exp, as_trailing('w', w, (3,)), 1, (3, 3))


def log(rotation: ArrayLike) -> Array:
    """
    Return the rotation vector of a rotation, the shortest one.

    Args:
        rotation: rotation (..., 3, 3).

    Returns:
        w (..., 3) in rad with exp(w) = R and |w| <= pi; at pi one of the two.

    Raises:
        NotInGroupError: for a matrix that is no rotation within 1e-6.

    >>> so3.log(so3.exp([0.1, 0.2, 0.3])).round(12)
    array([0.1, 0.2, 0.3])
    """
    return run(batch.so3_log, require_rotation('rotation', rotation), 2, (3,))


def compose(a: ArrayLike, b: ArrayLike) -> Array:
    """
    Return the rotation that applies b, then a; leading axes broadcast.

    Args:
        a: rotation (..., 3, 3).
        b: rotation (..., 3, 3).

    Returns:
        R_a R_b (..., 3, 3).

    Raises:
        NotInGroupError: for a matrix that is no rotation within 1e-6.

    >>> turn = so3.exp([0.0, 0.0, 0.2])
    >>> so3.log(so3.compose(turn, turn)).round(12)
    array([0. , 0. , 0.4])
    """
    a, b = require_rotation('a', a), require_rotation('b', b)
    require_broadcast(a=a.shape[:-2], b=b.shape[:-2])
    return np.matmul(a, b)


def inverse(rotation: ArrayLike) -> Array:
    """
    Return the inverse of a rotation, its transpose.

    Args:
        rotation: rotation (..., 3, 3).

    Returns:
        R^-1 (..., 3, 3).

    Raises:
        NotInGroupError: for a matrix that is no rotation within 1e-6.

    >>> np.allclose(so3.inverse(so3.exp([0.1, 0.2, 0.3])), so3.exp([-0.1, -0.2, -0.3]))
    True
    """
    return np.swapaxes(require_rotation('rotation', rotation), -1, -2).copy()


def act(rotation: ArrayLike, points: ArrayLike) -> Array:
    """
    Return rotated points; leading axes broadcast.

    Args:
        rotation: rotation (..., 3, 3).
        points: points (..., 3); m.

    Returns:
        R x (..., 3); m.

    Raises:
        NotInGroupError: for a matrix that is no rotation within 1e-6.

    >>> so3.act(so3.exp([0.0, 0.0, np.pi / 2]), [1.0, 0.0, 2.0]).round(6)
    array([0., 1., 2.])
    """
    r, x = require_rotation('rotation', rotation), as_trailing('points', points, (3,))
    require_broadcast(rotation=r.shape[:-2], points=x.shape[:-1])
    return np.einsum('...ij,...j->...i', r, x)


def adjoint(rotation: ArrayLike) -> Array:
    """
    Return the matrix that turns angular velocities: on SO(3), the rotation itself.

    Args:
        rotation: rotation (..., 3, 3).

    Returns:
        Ad_R (..., 3, 3), with R exp(w) R^-1 = exp(Ad_R w).

    Raises:
        NotInGroupError: for a matrix that is no rotation within 1e-6.

    >>> np.array_equal(so3.adjoint(np.eye(3)), np.eye(3))
    True
    """
    return require_rotation('rotation', rotation).copy()


def ad(w: ArrayLike) -> Array:
    """
    Return the matrix of the Lie bracket: on so(3), that of the cross product.

    Args:
        w: angular velocities (..., 3).

    Returns:
        ad_w (..., 3, 3).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> np.array_equal(so3.ad([1.0, 2.0, 3.0]), so3.hat([1.0, 2.0, 3.0]))
    True
    """
    return hat(w)


def left_jacobian(w: ArrayLike) -> Array:
    """
    Return the left Jacobian of the exponential map.

    Args:
        w: rotation vector (..., 3); rad.

    Returns:
        J (..., 3, 3), with exp(w + d) = exp(J d) exp(w) to first order in d.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> np.array_equal(so3.left_jacobian(np.zeros(3)), np.eye(3))
    True
    """
    return run(batch.so3_left_jacobian, as_trailing('w', w, (3,)), 1, (3, 3))


def left_jacobian_inverse(w: ArrayLike) -> Array:
    """
    Return the inverse of the left Jacobian; it grows without bound towards |w| = 2 pi.

    Args:
        w: rotation vector (..., 3); rad.

    Returns:
        J^-1 (..., 3, 3), with log(exp(d) exp(w)) = w + J^-1 d to first order in d.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> w = [0.1, 0.2, 0.3]
    >>> np.allclose(so3.left_jacobian_inverse(w) @ so3.left_jacobian(w), np.eye(3))
    True
    """
    return run(batch.so3_left_jacobian_inverse, as_trailing('w', w, (3,)), 1, (3, 3))


def right_jacobian(w: ArrayLike) -> Array:
    """
    Return the right Jacobian of the exponential map.

    Args:
        w: rotation vector (..., 3); rad.

    Returns:
        J (..., 3, 3), with exp(w + d) = exp(w) exp(J d) to first order in d.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> w = np.array([0.1, 0.2, 0.3])
    >>> np.array_equal(so3.right_jacobian(w), so3.left_jacobian(-w))
    True
    """
    return left_jacobian(-as_trailing('w', w, (3,)))


def right_jacobian_inverse(w: ArrayLike) -> Array:
    """
    Return the inverse of the right Jacobian; it grows without bound towards |w| = 2 pi.

    Args:
        w: rotation vector (..., 3); rad.

    Returns:
        J^-1 (..., 3, 3), with log(exp(w) exp(d)) = w + J^-1 d to first order in d.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> w = [0.1, 0.2, 0.3]
    >>> np.allclose(so3.right_jacobian_inverse(w) @ so3.right_jacobian(w), np.eye(3))
    True
    """
    return left_jacobian_inverse(-as_trailing('w', w, (3,)))


def unit_quaternion(name: str, quaternion: ArrayLike) -> Array:
    """
    Return quaternions scaled to norm 1.

    Args:
        name: what the error calls them.
        quaternion: (..., 4); a norm off 1 by more than 1e-6, as of numbers printed with five
            digits, causes a QuaternionWarning, which Python shows once.

    Returns:
        (..., 4).

    Raises:
        NotInGroupError: for a norm off 1 by more than 1e-4.

    >>> so3.unit_quaternion('turn', [0.0, 0.0, 0.0, 1.0])
    array([0., 0., 0., 1.])
    """
    q = as_trailing(name, quaternion, (4,))
    if q.ndim == 1:
        x, y, z, w = q.tolist()  # plain numbers take a tenth
        size = math.sqrt(x * x + y * y + z * z + w * w)
        if abs(size - 1.0) <= TOLERANCE:
            return q / size
    with np.errstate(over='ignore'):  # an infinite norm is refused like any other
        norm = np.linalg.norm(q, axis=-1)
    difference = np.abs(norm - 1.0)
    require(name, difference <= PRINTED_NORM_TOLERANCE, f'norm 1 within {PRINTED_NORM_TOLERANCE}',
            norm)
    if (difference > TOLERANCE).any():
        warn('quaternions of norm 1 only within 1e-4, as printed with few digits, are '
             'scaled to norm 1', QuaternionWarning)
    return np.asarray(q / norm[..., np.newaxis])


def from_quaternion(quaternion: ArrayLike) -> Array:
    """
    Return the rotation of a quaternion, which is scaled to norm 1.

    Args:
        quaternion: (..., 4) in the order x, y, z, w; a norm off 1 by more than 1e-6, as of numbers
            printed with five digits, causes a QuaternionWarning.

    Returns:
        R (..., 3, 3).

    Raises:
        NotInGroupError: for a norm off 1 by more than 1e-4.

    >>> so3.from_quaternion([0.0, 0.0, 0.0, 1.0])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    return run(batch.so3_from_quaternion, unit_quaternion('quaternion', quaternion), 1, (3, 3))


def to_quaternion(rotation: ArrayLike) -> Array:
    """
    Return the unit quaternion of a rotation.

    Args:
        rotation: rotation (..., 3, 3).

    Returns:
        (..., 4) in the order x, y, z, w, with w >= 0.

    Raises:
        NotInGroupError: for a matrix that is no rotation within 1e-6.

    >>> so3.to_quaternion(np.eye(3)) + 0.0
    array([0., 0., 0., 1.])
    """
    return run(batch.so3_to_quaternion, require_rotation('rotation', rotation), 2, (4,))


def to_rpy(rotation: ArrayLike) -> Array:
    """
    Return roll, pitch and yaw about fixed axes, exact at a pitch of 90 degrees too.

    Args:
        rotation: rotation (3, 3).

    Returns:
        (3,); rad.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> so3.to_rpy(ld.SO3.from_rpy(0.1, 0.2, 0.3).matrix).round(12)
    array([0.1, 0.2, 0.3])
    """
    r = as_trailing('rotation', rotation, (3, 3))
    yaw = math.atan2(r[1, 0], r[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    tilt = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ r  # Ry(pitch) Rx(roll)
    roll, pitch = math.atan2(-tilt[1, 2], tilt[1, 1]), math.atan2(-tilt[2, 0], tilt[0, 0])
    return np.array([roll, pitch, yaw])


def normalize(rotation: ArrayLike) -> Array:
    """
    Return a rotation cleaned of the rounding that long products gather.

    Args:
        rotation: rotation (..., 3, 3).

    Returns:
        R (..., 3, 3), with R^T R = 1 to the last digits.

    Raises:
        NotInGroupError: for a matrix that is no rotation within 1e-6.

    >>> so3.normalize(np.eye(3) + 1e-9)[0, 0].item()
    1.0
    """
    return run(batch.so3_from_quaternion, to_quaternion(rotation), 1, (3, 3))
