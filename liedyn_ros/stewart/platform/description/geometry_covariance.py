# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The covariance of a calibrated geometry: what is not known of its joints, offsets and scales."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError

WIDTHS = 7, 8  # numbers of a leg: base joint, platform joint, offset, and scale where calibrated
NEGATIVE = 1e-6  # of the greatest variance: rounding


def checked_covariance(value: ArrayLike | None, legs: int) -> Array | None:
    """
    Return the covariance of a geometry of n legs, (7 n, 7 n) or (8 n, 8 n), or None.

    Leg by leg: base joint (m, base frame), platform joint (m, platform frame), offset of the
    reading (m or rad), and scale. Raises ShapeError, NotFiniteError or GeometryError.
    """
    if value is None:
        return None
    given = checks.as_numbers('calibration_covariance', value)
    sizes = [(width * legs, width * legs) for width in WIDTHS]
    if given.shape not in sizes:
        raise checks.wrong_shape('calibration_covariance', sizes[0], given)
    checks.require_finite('calibration_covariance', given)
    greatest = float(np.abs(given).max())
    if np.abs(given - given.T).max() > NEGATIVE * greatest:
        raise GeometryError('calibration_covariance: expected a symmetric matrix, got entries '
                            f'{np.abs(given - given.T).max():.3g} apart')
    symmetric = np.asarray(0.5 * (given + given.T))
    least = float(np.linalg.eigvalsh(symmetric)[0])
    if least < -NEGATIVE * greatest:
        raise GeometryError('calibration_covariance: expected no negative variance, got '
                            f'{least:.3g}')
    return symmetric


def covariance_of_rows(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return a symmetric matrix from the rows of its lower triangle. Raises GeometryError."""
    for k, row in enumerate(rows):
        if len(row) != k + 1:
            raise GeometryError(f'calibration_covariance[{k}]: expected {k + 1} numbers of a '
                                f'lower triangle, got {len(row)}')
    return [[float(rows[max(i, j)][min(i, j)]) for j in range(len(rows))]
            for i in range(len(rows))]


def turned_covariance(covariance: Array, legs: int, rotation: Array) -> Array:
    """Return the covariance with platform joints b as rotation^T b: (3, 3), m."""
    width = len(covariance) // legs
    turn = np.eye(len(covariance)).reshape(legs, width, legs, width)
    for leg in range(legs):
        turn[leg, 3:6, leg, 3:6] = rotation.T
    flat = turn.reshape(len(covariance), -1)
    return np.asarray(flat @ covariance @ flat.T)


def of_legs(covariance: Array, legs: int, chosen: Sequence[int]) -> Array:
    """Return the covariance of some of the legs, by index."""
    width = len(covariance) // legs
    rows = np.concatenate([np.arange(width * leg, width * leg + width) for leg in chosen])
    return np.asarray(covariance[np.ix_(rows, rows)])


def errors_by_geometry(jacobians: Array, poses: Array, readings: Array, width: int) -> Array:
    """
    Return -G (n, legs, width legs): readings that errors of the geometry are worth (14.30).

    jacobians: (n, legs, 6), d(value)/d(body twist) at poses (n, 4, 4), m. A value depends on the
    way R b + p - a between the joints, and on R, so its row is that of a translation, whatever the
    leg type.
    """
    n, legs = readings.shape
    result = np.zeros((n, legs, legs, width))
    of_platform = jacobians[..., 3:]
    each = np.arange(legs)
    result[:, each, each, :3] = of_platform @ np.swapaxes(poses[:, :3, :3], 1, 2)
    result[:, each, each, 3:6] = -of_platform
    result[:, each, each, 6] = 1.0
    if width == 8:
        result[:, each, each, 7] = readings
    return result.reshape(n, legs, -1)
