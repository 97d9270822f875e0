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

"""
Study coordinates: rigid motions as points of a quadric in seven-dimensional projective space.

A point is (e, g), two quaternions w, x, y, z: e turns, and p = 2 g e* / |e|^2 moves. All that
leaves e.g = 0 and e.e not 0 is a pose, real or complex, and a leg of given length is one more
quadric (Husty 1996, Wampler 1996). A quadric is a symmetric 8 by 8 matrix here.
"""

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.checks import Array
from liedyn_ros.lie import SO3

Complex = NDArray[np.complex128]

QUADRIC = np.kron([[0.0, 0.5], [0.5, 0.0]], np.eye(4))  # e.g


def pose_form(
        scalar: complex, turning: Array | Complex, moving: Array | Complex,
        both: Array | Complex) -> Complex:
    """
    Return the form of scalar + sum of turning * R + moving.p + both.(R^T p) + |p|^2, times |e|^2.

    turning (3, 3), moving and both (3): real for a leg, complex for a form of the same family.
    """
    u, v = moving + both, moving - both
    form = np.zeros((8, 8), dtype=complex)
    form[:4, :4] = scalar * np.eye(4) + _rotation_form(turning)
    # |e|^2 p = 2 (e0 g - g0 e + e x g) and |e|^2 R^T p = 2 (e0 g - g0 e - e x g).
    form[0, 5:], form[1:4, 4] = u, -u
    form[1:4, 5:] = np.array([[0.0, v[2], -v[1]], [-v[2], 0.0, v[0]], [v[1], -v[0], 0.0]])
    form[4:, :4] = form[:4, 4:].T
    form[4:, 4:] = 4.0 * np.eye(4)
    return form


def leg_forms(base_joints: Array, platform_joints: Array, lengths: Array) -> Complex:
    """Return the seven forms (7, 8, 8) of six legs: |R b + p - a|^2 - L^2, and e.g."""
    forms = [pose_form(a @ a + b @ b - length ** 2, -2.0 * np.outer(a, b), -2.0 * a, 2.0 * b)
             for a, b, length in zip(base_joints, platform_joints, lengths)]
    return np.array([*forms, QUADRIC])


def _rotation_form(m: Array | Complex) -> Complex:
    """Return the form (4, 4) of the sum of m * R, times |e|^2."""
    form = np.zeros((4, 4), dtype=complex)
    form[0, 0] = np.trace(m)
    form[0, 1:] = form[1:, 0] = (m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1])
    form[1:, 1:] = m + m.T - np.trace(m) * np.eye(3)
    return form


def from_pose(pose: Array) -> Array:
    """Return the point (8,) of a pose (4, 4), of unit e."""
    x, y, z, w = SO3.from_matrix(pose[:3, :3]).quaternion
    v, p = np.array((x, y, z)), pose[:3, 3]
    return np.concatenate(([w], v, [-0.5 * (p @ v)], 0.5 * (w * p + np.cross(p, v))))  # p e / 2


def to_pose(point: Array) -> Array:
    """Return the pose (4, 4) of a real point (8,) of the quadric, of any norm."""
    e, g = np.split(point / np.linalg.norm(point[:4]), 2)
    pose = np.eye(4)
    pose[:3, :3] = SO3.from_quaternion(np.roll(e, -1)).matrix
    pose[:3, 3] = 2.0 * (e[0] * g[1:] - g[0] * e[1:] + np.cross(e[1:], g[1:]))  # 2 g e*
    return pose
