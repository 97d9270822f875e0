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

"""How far a pose is from singular, without units: near zero six lengths leave it undetermined."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ShapeError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels import singularity as kernels


class Singularity(NamedTuple):
    """
    The measure of one pose, of dL/d(body twist) in units of the characteristic length.

    signed_value: the smallest singular value with the sign of the determinant, so that it goes
    smoothly through zero where a path crosses a singularity. null_twist: (6,), the unit body
    twist (rad, characteristic lengths) that changes the lengths least. slope: the change of
    signed_value along it; two poses of the same lengths lie about 2 signed_value / slope apart.
    """

    signed_value: float
    null_twist: Array
    slope: float

    @property
    def smallest_singular_value(self) -> float:
        """Return how far from singular, 0 or more."""
        return abs(self.signed_value)

    @property
    def determinant_sign(self) -> int:
        """Return 1 or -1: poses of different sign are parted by a singularity."""
        return 1 if self.signed_value > 0.0 else -1


class SingularityMeter:
    """Measures poses of one platform; owns its workspace, so one for each thread."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry."""
        self.characteristic_length = geometry.characteristic_length
        self._joints = geometry.joints / self.characteristic_length
        self._pose, self._work = np.empty((4, 4)), np.empty(kernels.WORK)

    def measure(self, pose_base_platform: ArrayLike) -> Singularity:
        """Return the measure of a pose (4, 4), m. Raises ShapeError."""
        pose = np.asarray(pose_base_platform, dtype=float)
        if pose.shape != (4, 4):
            raise ShapeError(f'pose_base_platform: expected shape (4, 4), got {pose.shape}')
        self._pose[:], null = pose, np.empty(6)
        value, slope = kernels.examine(
            self._joints, self.characteristic_length, self._pose, null, self._work)
        return Singularity(value, null, slope)

    def signed_values(self, poses_base_platform: ArrayLike) -> Array:
        """Return the signed values (n,) of many poses (n, 4, 4), m."""
        poses = checks.as_array('poses_base_platform', poses_base_platform, (-1, 4, 4))
        values = np.empty(len(poses))
        kernels.signed_values(self._joints, self.characteristic_length, poses, values, self._work)
        return values

    def reflected(self, pose_base_platform: ArrayLike, singularity: Singularity) -> Array:
        """
        Return about where the other pose of the same lengths lies, (4, 4), m.

        Near a singularity poses come in pairs, one on each side, along the null twist. The
        answer is exact to second order in the distance; a solve makes it exact.
        """
        twist = (-2.0 * singularity.signed_value / singularity.slope) * singularity.null_twist
        twist[3:] *= self.characteristic_length
        return se3.compose(pose_base_platform, se3.exp(twist))


def time_until(signed_value: float, rate: float, threshold: float) -> float:
    """
    Return when the smallest singular value falls to a threshold, in s, at its present rate.

    rate: of the signed value, 1/s. 0 where it is below already, infinite where it rises.
    """
    margin = abs(signed_value) - threshold
    closing = -rate * math.copysign(1.0, signed_value)
    if margin <= 0.0:
        return 0.0
    return margin / closing if closing > 0.0 else math.inf
