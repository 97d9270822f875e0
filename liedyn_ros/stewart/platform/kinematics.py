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

"""Inverse kinematics of a Stewart platform and its two Lie-derivative Jacobians."""

from collections.abc import Callable
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.platform.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels import legs


class Trivialization(IntEnum):
    """The frame in which a twist moves the pose: T exp(s) for body, exp(s) T for spatial."""

    BODY = legs.BODY
    SPATIAL = legs.SPATIAL


def leg_lengths(geometry: StewartGeometry, pose_base_platform: ArrayLike) -> Array:
    """
    Return the leg lengths of one or many poses (Stewart 16).

    pose_base_platform: (..., 4, 4), m. Returns (..., 6), m, in the geometry's order.
    Raises ShapeError, NotFiniteError.
    """
    pose = checks.as_trailing('pose_base_platform', pose_base_platform, (4, 4))
    tips = np.einsum('...ij,kj->...ki', pose[..., :3, :3], geometry.platform_joints)
    legs = tips + pose[..., None, :3, 3] - geometry.base_joints
    return np.sqrt(np.einsum('...i,...i->...', legs, legs))


def squared_length_jacobian(
        geometry: StewartGeometry, pose_base_platform: ArrayLike,
        trivialization: Trivialization = Trivialization.BODY) -> Array:
    """
    Return d(L^2)/d(twist), (6, 6): (Stewart 22, 24) for a body twist, (23) for a spatial one.

    pose_base_platform: (4, 4), m. Columns: angular (m^2/rad), then linear (m).
    """
    return _jacobian(legs.squared_jacobian, geometry, pose_base_platform, trivialization)


def length_jacobian(
        geometry: StewartGeometry, pose_base_platform: ArrayLike,
        trivialization: Trivialization = Trivialization.BODY) -> Array:
    """
    Return J = dL/d(twist), (6, 6): the unit wrenches along the legs (11.4).

    pose_base_platform: (4, 4), m. Columns: angular (m/rad), then linear (1).
    """
    return _jacobian(legs.length_jacobian, geometry, pose_base_platform, trivialization)


def leg_rates(
        geometry: StewartGeometry, pose_base_platform: ArrayLike, twist: ArrayLike,
        trivialization: Trivialization = Trivialization.BODY) -> Array:
    """Return the leg rates (6,), m/s, of a twist (w, v), rad/s and m/s: Ldot = J V."""
    twist = checks.as_array('twist', twist, (6,))
    return length_jacobian(geometry, pose_base_platform, trivialization) @ twist


def twist_of_leg_rates(
        geometry: StewartGeometry, pose_base_platform: ArrayLike, rates: ArrayLike,
        trivialization: Trivialization = Trivialization.BODY) -> Array:
    """
    Return the twist (w, v), rad/s and m/s, of leg rates (6,), m/s: V = J^-1 Ldot.

    Raises numpy.linalg.LinAlgError at a pose where J is exactly singular.
    """
    rates = checks.as_array('rates', rates, (6,))
    jacobian = length_jacobian(geometry, pose_base_platform, trivialization)
    return np.asarray(np.linalg.solve(jacobian, rates), dtype=float)


def _jacobian(
        kernel: Callable[..., None], geometry: StewartGeometry, pose_base_platform: ArrayLike,
        trivialization: Trivialization) -> Array:
    # One compiled version serves all: a read-only array is another type to numba.
    pose = np.require(
        checks.as_array('pose_base_platform', pose_base_platform, (4, 4)), requirements='W')
    jacobian = np.empty(36)
    kernel(geometry.joints, *motion.split(pose), int(trivialization), jacobian)
    return jacobian.reshape(6, 6)
