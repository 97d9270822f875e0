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

from liedyn_ros.common.checks import Array, as_array, as_trailing
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.lie import so3
from liedyn_ros.lie.arrays import is_rotation, largest, require, require_broadcast, run, skew
from liedyn_ros.lie.kernels import batch
from liedyn_ros.lie.kernels.so3 import TOLERANCE

LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])


def require_pose(name: str, pose: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """
    Return poses as float64, or raise the error of the first that is none.

    Args:
        name: what the error calls them.
        pose: (..., 4, 4), its rotation as so3.require_rotation wants it, its last row 0, 0, 0, 1
            within 1e-6.
        shape: that they must have, -1 for any number; by default any.

    Returns:
        the poses (..., 4, 4).

    Raises:
        NotInGroupError: naming the first matrix that is no pose.
        ShapeError: for another shape.

    >>> se3.require_pose('T', np.eye(4)).shape
    (4, 4)
    """
    t = as_trailing(name, pose if shape is None else as_array(name, pose, shape), (4, 4))
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
    """
    Return the pose of a rotation and a translation; leading axes broadcast.

    Args:
        rotation: rotation (..., 3, 3).
        translation: (..., 3); m.

    Returns:
        T (..., 4, 4); m.

    Raises:
        NotInGroupError: for a matrix that is no rotation within 1e-6.

    >>> se3.from_rotation_translation(np.eye(3), [1.0, 2.0, 3.0])[:3, 3]
    array([1., 2., 3.])
    """
    r = so3.require_rotation('rotation', rotation)
    p = as_trailing('translation', translation, (3,))
    return _pose(r, p, require_broadcast(rotation=r.shape[:-2], translation=p.shape[:-1]))


def hat(twist: ArrayLike) -> Array:
    """
    Return the matrix of a twist.

    Args:
        twist: twist (..., 6), angular part first; rad/s and m/s.

    Returns:
        [[w] v; 0 0] (..., 4, 4).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> se3.hat([0.0, 0.0, 1.0, 4.0, 5.0, 6.0])
    array([[ 0., -1.,  0.,  4.],
           [ 1.,  0., -0.,  5.],
           [-0.,  0.,  0.,  6.],
           [ 0.,  0.,  0.,  0.]])
    """
    twist = as_trailing('twist', twist, (6,))
    out = np.zeros((*twist.shape[:-1], 4, 4))
    out[..., :3, :3] = skew(twist[..., :3])
    out[..., :3, 3] = twist[..., 3:]
    return out


def vee(matrix: ArrayLike) -> Array:
    """
    Return the twist of its matrix.

    Args:
        matrix: [[w] v; 0 0] (..., 4, 4), within 1e-6 of its largest entry.

    Returns:
        (w, v) (..., 6).

    Raises:
        LiedynError: for a matrix of another form, or one that is not finite.

    >>> se3.vee(se3.hat([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    array([1., 2., 3., 4., 5., 6.])
    """
    m = as_trailing('matrix', matrix, (4, 4))
    a = m[..., :3, :3]
    excess = np.maximum(largest(a + np.swapaxes(a, -1, -2)), largest(m[..., 3:, :]))
    require('matrix', excess <= TOLERANCE * largest(m),
            f'[A v; 0 0] with A skew within {TOLERANCE} of the largest entry', excess, LiedynError)
    return np.concatenate([so3.skew_part(a), m[..., :3, 3]], axis=-1)


def exp(xi: ArrayLike) -> Array:
    """
    Return the pose that a constant twist reaches in a unit of time.

    Args:
        xi: six numbers (..., 6), angular part first; rad and m.

    Returns:
        T (..., 4, 4); m.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> se3.exp([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])[:3, 3]
    array([1., 2., 3.])
    """
    return run(batch.se3_exp, as_trailing('xi', xi, (6,)), 1, (4, 4))


def log(pose: ArrayLike) -> Array:
    """
    Return the constant twist that reaches a pose in a unit of time.

    Args:
        pose: pose (..., 4, 4); m.

    Returns:
        xi (..., 6), angular part first, with exp(xi) = T and |w| <= pi; at pi one of the two.

    Raises:
        NotInGroupError: for a matrix that is no pose within 1e-6.

    >>> se3.log(se3.exp([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])).round(12)
    array([0.1, 0.2, 0.3, 1. , 2. , 3. ])
    """
    return run(batch.se3_log, require_pose('pose', pose), 2, (6,))


def compose(a: ArrayLike, b: ArrayLike) -> Array:
    """
    Return the product of two poses; leading axes broadcast.

    Args:
        a: T_ab (..., 4, 4); m.
        b: T_bc (..., 4, 4); m.

    Returns:
        T_ac (..., 4, 4); m.

    Raises:
        NotInGroupError: for a matrix that is no pose within 1e-6.

    >>> step = se3.exp([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    >>> se3.compose(step, step)[:3, 3]
    array([2., 0., 0.])
    """
    a, b = require_pose('a', a), require_pose('b', b)
    require_broadcast(a=a.shape[:-2], b=b.shape[:-2])
    return np.matmul(a, b)


def inverse(pose: ArrayLike) -> Array:
    """
    Return the inverse of a pose (1.1).

    Args:
        pose: T_ab (..., 4, 4); m.

    Returns:
        T_ba (..., 4, 4); m.

    Raises:
        NotInGroupError: for a matrix that is no pose within 1e-6.

    >>> se3.inverse(ld.pose([1.0, 2.0, 3.0]))[:3, 3]
    array([-1., -2., -3.])
    """
    t = require_pose('pose', pose)
    r = np.swapaxes(t[..., :3, :3], -1, -2)
    return _pose(r, -np.einsum('...ij,...j->...i', r, t[..., :3, 3]), t.shape[:-2])  # (1.1)


def act(pose: ArrayLike, points: ArrayLike) -> Array:
    """
    Return points seen from another frame; leading axes broadcast.

    Args:
        pose: T_ab (..., 4, 4); m.
        points: points (..., 3) seen from b; m.

    Returns:
        R x + p (..., 3), the points seen from a; m.

    Raises:
        NotInGroupError: for a matrix that is no pose within 1e-6.

    >>> se3.act(ld.pose([1.0, 2.0, 3.0]), [1.0, 0.0, 0.0])
    array([2., 2., 3.])
    """
    t, x = require_pose('pose', pose), as_trailing('points', points, (3,))
    require_broadcast(pose=t.shape[:-2], points=x.shape[:-1])
    return np.einsum('...ij,...j->...i', t[..., :3, :3], x) + t[..., :3, 3]


def adjoint(pose: ArrayLike) -> Array:
    """
    Return the matrix that takes twists from one frame to another (1.2).

    Args:
        pose: T_ab (..., 4, 4); m.

    Returns:
        Ad_T = [R 0; [p]R R] (..., 6, 6), with V_a = Ad_T V_b.

    Raises:
        NotInGroupError: for a matrix that is no pose within 1e-6.

    >>> se3.adjoint(ld.pose([1.0, 2.0, 3.0])) @ [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    array([ 0.,  0.,  1.,  2., -1.,  0.])
    """
    t = require_pose('pose', pose)
    r = t[..., :3, :3]
    out = np.zeros((*t.shape[:-2], 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = r
    out[..., 3:, :3] = skew(t[..., :3, 3]) @ r
    return out


def adjoint_dual(pose: ArrayLike) -> Array:
    """
    Return the matrix that takes wrenches from one frame to another.

    Args:
        pose: T_ab (..., 4, 4); m.

    Returns:
        Ad_T^T (..., 6, 6), with F_b = Ad_T^T F_a.

    Raises:
        NotInGroupError: for a matrix that is no pose within 1e-6.

    >>> at = ld.pose([1.0, 2.0, 3.0])
    >>> np.array_equal(se3.adjoint_dual(at), se3.adjoint(at).T)
    True
    """
    return np.swapaxes(adjoint(pose), -1, -2).copy()


def ad(twist: ArrayLike) -> Array:
    """
    Return the matrix of the Lie bracket of twists (1.3).

    Args:
        twist: twist (..., 6), angular part first; rad/s and m/s.

    Returns:
        ad_V = [[w] 0; [v] [w]] (..., 6, 6).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> se3.ad([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]) @ [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    array([0., 1., 0., 0., 0., 0.])
    """
    twist = as_trailing('twist', twist, (6,))
    if twist.ndim == 1:
        a, b, c, x, y, z = twist.tolist()  # plain numbers take a third
        return np.array((
            (0.0, -c, b, 0.0, 0.0, 0.0), (c, 0.0, -a, 0.0, 0.0, 0.0), (-b, a, 0.0, 0.0, 0.0, 0.0),
            (0.0, -z, y, 0.0, -c, b), (z, 0.0, -x, c, 0.0, -a), (-y, x, 0.0, -b, a, 0.0)))
    halves = skew(twist.reshape(*twist.shape[:-1], 2, 3))  # [w] and [v]
    return _block_triangular(halves.reshape(*twist.shape, 3))


def ad_dual(twist: ArrayLike) -> Array:
    """
    Return the matrix of the bracket that acts on wrenches and momenta.

    Args:
        twist: twist (..., 6), angular part first; rad/s and m/s.

    Returns:
        ad_V^T (..., 6, 6).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> np.array_equal(se3.ad_dual(np.ones(6)), se3.ad(np.ones(6)).T)
    True
    """
    return np.swapaxes(ad(twist), -1, -2).copy()


def left_jacobian(xi: ArrayLike) -> Array:
    """
    Return the left Jacobian of the exponential map.

    Args:
        xi: six numbers (..., 6), angular part first; rad and m.

    Returns:
        J (..., 6, 6), with exp(xi + d) = exp(J d) exp(xi) to first order in d.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> np.array_equal(se3.left_jacobian(np.zeros(6)), np.eye(6))
    True
    """
    return _block_triangular(
        run(batch.se3_left_jacobian, as_trailing('xi', xi, (6,)), 1, (6, 3)))


def left_jacobian_inverse(xi: ArrayLike) -> Array:
    """
    Return the inverse of the left Jacobian; it grows without bound towards |w| = 2 pi.

    Args:
        xi: six numbers (..., 6), angular part first; rad and m.

    Returns:
        J^-1 (..., 6, 6), with log(exp(d) exp(xi)) = xi + J^-1 d to first order in d.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> xi = [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]
    >>> np.allclose(se3.left_jacobian_inverse(xi) @ se3.left_jacobian(xi), np.eye(6))
    True
    """
    return _block_triangular(
        run(batch.se3_left_jacobian_inverse, as_trailing('xi', xi, (6,)), 1, (6, 3)))


def right_jacobian(xi: ArrayLike) -> Array:
    """
    Return the right Jacobian of the exponential map.

    Args:
        xi: six numbers (..., 6), angular part first; rad and m.

    Returns:
        J (..., 6, 6), with exp(xi + d) = exp(xi) exp(J d) to first order in d.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> np.array_equal(se3.right_jacobian(np.ones(6)), se3.left_jacobian(-np.ones(6)))
    True
    """
    return left_jacobian(-as_trailing('xi', xi, (6,)))


def right_jacobian_inverse(xi: ArrayLike) -> Array:
    """
    Return the inverse of the right Jacobian; it grows without bound towards |w| = 2 pi.

    Args:
        xi: six numbers (..., 6), angular part first; rad and m.

    Returns:
        J^-1 (..., 6, 6), with log(exp(xi) exp(d)) = xi + J^-1 d to first order in d.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> xi = [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]
    >>> np.allclose(se3.right_jacobian_inverse(xi) @ se3.right_jacobian(xi), np.eye(6))
    True
    """
    return left_jacobian_inverse(-as_trailing('xi', xi, (6,)))


def normalize(pose: ArrayLike) -> Array:
    """
    Return a pose with its rotation cleaned of the rounding that long products gather.

    Args:
        pose: pose (..., 4, 4); m.

    Returns:
        T (..., 4, 4); m.

    Raises:
        NotInGroupError: for a matrix that is no pose within 1e-6.

    >>> np.array_equal(se3.normalize(np.eye(4)), np.eye(4))
    True
    """
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
