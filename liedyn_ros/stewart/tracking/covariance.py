# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How uncertain a pose and a twist are, from the noise of the leg lengths and rates.

A pose's error is the body twist d of T exp(d), angular first, as everywhere here. Messages want
it in REP 103's order: position along, then rotation about, the fixed axes of the base.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, SingularError
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels import geometry_errors
from liedyn_ros.stewart.platform.kernels import inverse_rates as kernels
from liedyn_ros.stewart.platform.state import PlatformState

AT_REST = np.zeros(6)


class LegNoise:
    """Independent noise of six legs; owns its workspace, so one for each thread."""

    def __init__(self, geometry: StewartGeometry, deviations: ArrayLike) -> None:
        """Take the standard deviation of each leg (6,): m of lengths, m/s of rates."""
        geometry.require_six('LegNoise')
        deviations = checks.as_array('deviations', deviations, (6,))
        if not (deviations >= 0.0).all():
            raise LimitError(f'deviations: expected numbers from 0 on, got {deviations.tolist()}')
        self._joints, self._variances = geometry.table(), deviations ** 2
        self._pose, self._work = np.empty((4, 4)), np.empty(kernels.RATES_WORK)

    def covariance(self, pose_base_platform: ArrayLike) -> Array:
        """
        Return J^-1 diag(variances) J^-T at a pose (4, 4), m: (6, 6) in body coordinates (11.4).

        Of lengths it is the pose's covariance, of rates the body twist's. Raises ShapeError,
        NotFiniteError, and SingularError where six lengths do not determine the pose.
        """
        self._pose[:] = checks.as_array('pose_base_platform', pose_base_platform, (4, 4))
        covariance = np.empty((6, 6))
        if not kernels.covariance(
                self._joints, self._pose, self._variances, covariance, self._work):
            raise SingularError('pose: expected one that is not singular, '
                                'got dL/d(twist) without an inverse')
        return covariance


def of_measured(
        geometry: StewartGeometry, state: PlatformState, twist: ArrayLike, of_pose: Array,
        of_rates: Array, shared: Array | None = None) -> tuple[Array, Array]:
    """
    Return the covariance of a body twist J^-1 Ldot of leg rates, and of pose with twist (14.26).

    of_pose: (6, 6), the covariance of the pose of the state. of_rates: (6, 6), the covariance of
    the twist (6,), rad/s and m/s, by the rates' noise. shared: (6, 6), the symmetric covariance of
    the two errors; None where they are independent. The second result (6, 6) is the covariance of
    the pose's error (rows) with the twist's. Raises SingularError.
    """
    inverse = state.inverse
    changes = np.empty(inverse.T.shape)
    kernels.jacobian_change(
        geometry.table(), np.array(state.pose), np.array(checks.as_numbers('twist', twist)),
        changes.reshape(-1), np.empty(changes.size))
    by_pose = -inverse @ changes  # d(twist of fixed rates)/d(pose)
    cross = of_pose @ by_pose.T
    twice = of_rates + by_pose @ cross
    if shared is None:
        return twice, cross
    return twice + shared @ by_pose.T + by_pose @ shared, cross + shared


class GeometryNoise:
    """Uncertainty of a calibrated geometry; owns its workspace: one for each thread."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry with its calibration_covariance. Raises LimitError without one."""
        geometry.require_six('GeometryNoise')
        if geometry.calibration_covariance is None:
            raise LimitError('geometry: expected one with a calibration_covariance, got none')
        self._joints = geometry.table()
        self._errors = geometry.calibration_covariance.copy()
        self._work = np.empty(geometry_errors.WORK)

    def covariance(self, pose_base_platform: ArrayLike, twist: ArrayLike = AT_REST) -> Array:
        """
        Return how a pose and then its body twist vary together, (12, 12) (14.30).

        pose_base_platform: (4, 4), m. twist: (6,), rad/s and m/s. The error is the same at every
        sample near this pose: no filter makes it less. Raises ShapeError, NotFiniteError, and
        SingularError where six lengths do not determine the pose.
        """
        pose = np.array(checks.as_array('pose_base_platform', pose_base_platform, (4, 4)))
        covariance = np.empty((12, 12))
        if not geometry_errors.covariance_of_errors(
                self._joints, pose, np.array(checks.as_array('twist', twist, (6,))),
                self._errors, covariance, self._work):
            raise SingularError('pose: expected one that is not singular, '
                                'got dL/d(twist) without an inverse')
        return covariance


def in_fixed_axes(covariance: ArrayLike, pose_base_platform: ArrayLike) -> Array:
    """
    Return a pose's covariance as REP 103 wants it: x, y, z, rotation about x, y, z of the base.

    covariance: (6, 6), in body twist coordinates. pose_base_platform: (4, 4), m. Small rotations
    about fixed axes are the base coordinates of the rotation vector.
    """
    rotation = checks.as_numbers('pose_base_platform', pose_base_platform)[:3, :3]
    turn = np.zeros((6, 6))
    turn[:3, 3:] = turn[3:, :3] = rotation
    return turn @ checks.as_numbers('covariance', covariance) @ turn.T


def linear_first(covariance: ArrayLike) -> Array:
    """Return a twist's covariance (6, 6) with the linear part first, as messages have it."""
    return np.roll(checks.as_numbers('covariance', covariance), 3, axis=(0, 1))
