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
from liedyn_ros.lie.kernels.tolerance import TOLERANCE

# How far the norm of a quaternion may be from 1 that was printed with few digits
PRINTED_NORM_TOLERANCE = 1e-4


def require_rotation(name: str, rotation: ArrayLike) -> Array:
    """
    Return the rotations as float64, or raise NotInGroupError naming the first that is none.

    Entries of R^T R - 1 up to 1e-6 are accepted, and det R must be positive.
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
    """Return [w] (..., 3, 3), the matrix with [w] x = w x x."""
    return skew(as_trailing('w', w, (3,)))


def vee(matrix: ArrayLike) -> Array:
    """
    Return the w (..., 3) of [w].

    Raises LiedynError when M + M^T exceeds 1e-6 of the largest entry of M.
    """
    m = as_trailing('matrix', matrix, (3, 3))
    size, excess = largest(m), largest(m + np.swapaxes(m, -1, -2))
    require('matrix', excess <= TOLERANCE * size,
            f'a skew matrix, |M + M^T| <= {TOLERANCE} |M|', excess, LiedynError)
    return skew_part(m)


def skew_part(m: Array) -> Array:
    """Return the w (..., 3) whose [w] is the skew part of M, (M - M^T) / 2."""
    return 0.5 * np.stack(
        [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]],
        axis=-1)


def exp(w: ArrayLike) -> Array:
    """Return the rotation (..., 3, 3) about w by |w| rad."""
    return run(batch.so3_exp, as_trailing('w', w, (3,)), 1, (3, 3))


def log(rotation: ArrayLike) -> Array:
    """Return the w (..., 3) in rad with exp(w) = R and |w| <= pi; at pi one of the two."""
    return run(batch.so3_log, require_rotation('rotation', rotation), 2, (3,))


def compose(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the rotation (..., 3, 3) that applies b, then a."""
    a, b = require_rotation('a', a), require_rotation('b', b)
    require_broadcast(a=a.shape[:-2], b=b.shape[:-2])
    return np.matmul(a, b)


def inverse(rotation: ArrayLike) -> Array:
    """Return the inverse rotation (..., 3, 3), the transpose."""
    return np.swapaxes(require_rotation('rotation', rotation), -1, -2).copy()


def act(rotation: ArrayLike, points: ArrayLike) -> Array:
    """Return the rotated points (..., 3); leading axes broadcast."""
    r, x = require_rotation('rotation', rotation), as_trailing('points', points, (3,))
    require_broadcast(rotation=r.shape[:-2], points=x.shape[:-1])
    return np.einsum('...ij,...j->...i', r, x)


def adjoint(rotation: ArrayLike) -> Array:
    """Return Ad_R (..., 3, 3): R exp(w) R^-1 = exp(Ad_R w). On SO(3) it is R itself."""
    return require_rotation('rotation', rotation).copy()


def adjoint_dual(rotation: ArrayLike) -> Array:
    """Return Ad_R^T (..., 3, 3), which acts on moments."""
    return inverse(rotation)


def ad(w: ArrayLike) -> Array:
    """Return ad_w (..., 3, 3), the matrix of the bracket. On so(3) it is [w]."""
    return hat(w)


def ad_dual(w: ArrayLike) -> Array:
    """Return ad_w^T (..., 3, 3), which acts on moments."""
    return hat(-as_trailing('w', w, (3,)))


def left_jacobian(w: ArrayLike) -> Array:
    """Return J (..., 3, 3): exp(w + dw) = exp(J dw) exp(w) to first order."""
    return run(batch.so3_left_jacobian, as_trailing('w', w, (3,)), 1, (3, 3))


def left_jacobian_inverse(w: ArrayLike) -> Array:
    """Return J^-1 (..., 3, 3): log(exp(dw) exp(w)) = w + J^-1 dw; infinite at |w| = 2 pi."""
    return run(batch.so3_left_jacobian_inverse, as_trailing('w', w, (3,)), 1, (3, 3))


def right_jacobian(w: ArrayLike) -> Array:
    """Return J (..., 3, 3): exp(w + dw) = exp(w) exp(J dw) to first order."""
    return left_jacobian(-as_trailing('w', w, (3,)))


def right_jacobian_inverse(w: ArrayLike) -> Array:
    """Return J^-1 (..., 3, 3): log(exp(w) exp(dw)) = w + J^-1 dw; infinite at |w| = 2 pi."""
    return left_jacobian_inverse(-as_trailing('w', w, (3,)))


def unit_quaternion(name: str, quaternion: ArrayLike) -> Array:
    """
    Return quaternions (..., 4) scaled to norm 1.

    A norm that differs from 1 by more than 1e-6, as of numbers printed with five digits, causes a
    QuaternionWarning. Python shows it once. Raises NotInGroupError beyond 1e-4.
    """
    q = as_trailing(name, quaternion, (4,))
    if q.ndim == 1:
        size = math.sqrt(sum(x * x for x in q.tolist()))  # plain numbers take a tenth
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
    Return the rotation (..., 3, 3) of a quaternion (..., 4) in the order x, y, z, w.

    The quaternion is scaled to norm 1 and refused as unit_quaternion says.
    """
    return run(batch.so3_from_quaternion, unit_quaternion('quaternion', quaternion), 1, (3, 3))


def to_quaternion(rotation: ArrayLike) -> Array:
    """Return the unit quaternion (..., 4) in the order x, y, z, w, with w >= 0."""
    return run(batch.so3_to_quaternion, require_rotation('rotation', rotation), 2, (4,))


def to_rpy(rotation: ArrayLike) -> Array:
    """Return fixed-axis roll, pitch and yaw (3,) in rad, exact at pitch 90 degrees too."""
    r = as_trailing('rotation', rotation, (3, 3))
    yaw = math.atan2(r[1, 0], r[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    tilt = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ r  # Ry(pitch) Rx(roll)
    roll, pitch = math.atan2(-tilt[1, 2], tilt[1, 1]), math.atan2(-tilt[2, 0], tilt[0, 0])
    return np.array([roll, pitch, yaw])


def normalize(rotation: ArrayLike) -> Array:
    """Return the rotation (..., 3, 3) cleaned of rounding: R^T R = 1 to the last digits."""
    return run(batch.so3_from_quaternion, to_quaternion(rotation), 1, (3, 3))
