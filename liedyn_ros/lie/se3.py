# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
SE(3), the poses of a rigid body, on arrays.

A pose is a (..., 4, 4) matrix [R p; 0 1] with p in metres. An element of the algebra is six
numbers (..., 6), angular part first. It is exponential coordinates xi = (w, v) in rad and m, or a
twist in rad/s and m/s. A dual acts on wrenches (m, f), moment first, in N m and N. Leading axes
are a batch; those of two inputs broadcast. All functions refuse wrong shapes (ShapeError) and
numbers that are not finite (NotFiniteError). Functions of a pose refuse any other matrix
(NotInGroupError, see require_pose).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_trailing
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.lie import so3
from liedyn_ros.lie.arrays import is_rotation, largest, require, require_broadcast, run, skew
from liedyn_ros.lie.kernels import batch
from liedyn_ros.lie.kernels.tolerance import TOLERANCE

LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])


def require_pose(name: str, pose: ArrayLike) -> Array:
    """
    Return the poses as float64, or raise NotInGroupError naming the first that is none.

    The rotation must pass so3.require_rotation, the last row be 0, 0, 0, 1 within 1e-6.
    """
    t = as_trailing(name, pose, (4, 4))
    if t.ndim == 2 and _is_pose(t.ravel().tolist()):
        return t
    so3.require_rotation(name, t[..., :3, :3])
    difference = largest(t[..., 3:, :] - LAST_ROW)
    require(name, difference <= TOLERANCE,
            f'the last row 0, 0, 0, 1 within {TOLERANCE}', difference)
    return t


def _is_pose(m: list[float]) -> bool:
    """Return whether require_pose accepts a matrix, by its entries."""
    return (max(abs(m[12]), abs(m[13]), abs(m[14]), abs(m[15] - 1.0)) <= TOLERANCE
            and is_rotation(*m[0:3], *m[4:7], *m[8:11]))


def from_rotation_translation(rotation: ArrayLike, translation: ArrayLike) -> Array:
    """Return the pose (..., 4, 4) of a rotation (..., 3, 3) and a translation (..., 3) in m."""
    r = so3.require_rotation('rotation', rotation)
    p = as_trailing('translation', translation, (3,))
    return _pose(r, p, require_broadcast(rotation=r.shape[:-2], translation=p.shape[:-1]))


def hat(twist: ArrayLike) -> Array:
    """Return the matrix [[w] v; 0 0] (..., 4, 4)."""
    twist = as_trailing('twist', twist, (6,))
    out = np.zeros((*twist.shape[:-1], 4, 4))
    out[..., :3, :3] = skew(twist[..., :3])
    out[..., :3, 3] = twist[..., 3:]
    return out


def vee(matrix: ArrayLike) -> Array:
    """
    Return the (w, v) (..., 6) of [[w] v; 0 0].

    Raises LiedynError when A + A^T of the upper left block, or the last row, exceeds 1e-6 of the
    largest entry.
    """
    m = as_trailing('matrix', matrix, (4, 4))
    a = m[..., :3, :3]
    excess = np.maximum(largest(a + np.swapaxes(a, -1, -2)), largest(m[..., 3:, :]))
    require('matrix', excess <= TOLERANCE * largest(m),
            f'[A v; 0 0] with A skew within {TOLERANCE} of the largest entry', excess, LiedynError)
    return np.concatenate([so3.skew_part(a), m[..., :3, 3]], axis=-1)


def exp(xi: ArrayLike) -> Array:
    """Return the pose (..., 4, 4) reached by the constant twist xi in a unit of time."""
    return run(batch.se3_exp, as_trailing('xi', xi, (6,)), 1, (4, 4))


def log(pose: ArrayLike) -> Array:
    """Return the xi (..., 6) with exp(xi) = T and |w| <= pi; at pi one of the two."""
    return run(batch.se3_log, require_pose('pose', pose), 2, (6,))


def compose(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the product T_a T_b (..., 4, 4); leading axes broadcast."""
    a, b = require_pose('a', a), require_pose('b', b)
    require_broadcast(a=a.shape[:-2], b=b.shape[:-2])
    return np.matmul(a, b)


def inverse(pose: ArrayLike) -> Array:
    """Return T^-1 (..., 4, 4)."""
    t = require_pose('pose', pose)
    r = np.swapaxes(t[..., :3, :3], -1, -2)
    return _pose(r, -np.einsum('...ij,...j->...i', r, t[..., :3, 3]), t.shape[:-2])  # (1.1)


def act(pose: ArrayLike, points: ArrayLike) -> Array:
    """Return R x + p (..., 3) for points x (..., 3) in m; leading axes broadcast."""
    t, x = require_pose('pose', pose), as_trailing('points', points, (3,))
    require_broadcast(pose=t.shape[:-2], points=x.shape[:-1])
    return np.einsum('...ij,...j->...i', t[..., :3, :3], x) + t[..., :3, 3]


def adjoint(pose: ArrayLike) -> Array:
    """Return Ad_T = [R 0; [p]R R] (..., 6, 6) (1.2): it takes a twist seen in b to a for T_ab."""
    return _adjoint(require_pose('pose', pose))


def adjoint_of_exp(xi: ArrayLike) -> Array:
    """Return the matrix Ad_T (..., 6, 6) of the pose T = exp(xi), which needs no check."""
    return _adjoint(exp(xi))


def _adjoint(t: Array) -> Array:
    r = t[..., :3, :3]
    out = np.zeros((*t.shape[:-2], 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = r
    out[..., 3:, :3] = skew(t[..., :3, 3]) @ r
    return out


def adjoint_dual(pose: ArrayLike) -> Array:
    """Return Ad_T^T (..., 6, 6): it takes a wrench seen in a to b for T_ab."""
    return np.swapaxes(adjoint(pose), -1, -2).copy()


def ad(twist: ArrayLike) -> Array:
    """Return ad_V = [[w] 0; [v] [w]] (..., 6, 6) (1.3): the matrix of the bracket of twists."""
    twist = as_trailing('twist', twist, (6,))
    if twist.ndim == 1:
        a, b, c, x, y, z = twist.tolist()  # plain numbers take a third
        return np.array((
            (0.0, -c, b, 0.0, 0.0, 0.0), (c, 0.0, -a, 0.0, 0.0, 0.0), (-b, a, 0.0, 0.0, 0.0, 0.0),
            (0.0, -z, y, 0.0, -c, b), (z, 0.0, -x, c, 0.0, -a), (-y, x, 0.0, -b, a, 0.0)))
    halves = skew(twist.reshape(*twist.shape[:-1], 2, 3))  # [w] and [v]
    return _block_triangular(halves.reshape(*twist.shape, 3))


def ad_dual(twist: ArrayLike) -> Array:
    """Return ad_V^T (..., 6, 6), which acts on wrenches and momenta."""
    return np.swapaxes(ad(twist), -1, -2).copy()


def left_jacobian(xi: ArrayLike) -> Array:
    """Return J (..., 6, 6): exp(xi + d) = exp(J d) exp(xi) to first order."""
    return _block_triangular(
        run(batch.se3_left_jacobian, as_trailing('xi', xi, (6,)), 1, (6, 3)))


def left_jacobian_inverse(xi: ArrayLike) -> Array:
    """Return J^-1 (..., 6, 6): log(exp(d) exp(xi)) = xi + J^-1 d; infinite at |w| = 2 pi."""
    return _block_triangular(
        run(batch.se3_left_jacobian_inverse, as_trailing('xi', xi, (6,)), 1, (6, 3)))


def right_jacobian(xi: ArrayLike) -> Array:
    """Return J (..., 6, 6): exp(xi + d) = exp(xi) exp(J d) to first order."""
    return left_jacobian(-as_trailing('xi', xi, (6,)))


def right_jacobian_inverse(xi: ArrayLike) -> Array:
    """Return J^-1 (..., 6, 6): log(exp(xi) exp(d)) = xi + J^-1 d; infinite at |w| = 2 pi."""
    return left_jacobian_inverse(-as_trailing('xi', xi, (6,)))


def normalize(pose: ArrayLike) -> Array:
    """Return the pose (..., 4, 4) with its rotation cleaned of rounding, see so3.normalize."""
    t = require_pose('pose', pose)
    return _pose(so3.normalize(t[..., :3, :3]), t[..., :3, 3], t.shape[:-2])


def _pose(r: Array, p: Array, leading: tuple[int, ...]) -> Array:
    out = np.zeros((*leading, 4, 4))
    out[..., :3, :3] = r
    out[..., :3, 3] = p
    out[..., 3, 3] = 1.0
    return out


def _block_triangular(left: Array) -> Array:
    """Return [A 0; B A] (..., 6, 6) from its left half [A; B] (..., 6, 3)."""
    out = np.zeros((*left.shape[:-1], 6))
    out[..., :3] = left
    out[..., 3:, 3:] = left[..., :3, :]
    return out
