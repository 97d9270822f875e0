# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The platform's state at a pose, computed once: J, its singular value, null twist, margins, flags.

J = dL/d(body twist). In units of the characteristic length its singular values have no unit; near
zero six lengths leave the pose undetermined.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, SingularError
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.flags import Flag, flag_of
from liedyn_ros.stewart.platform.kernels import (
    leg_types, limits as limit_kernels, state as kernels)
from liedyn_ros.stewart.platform.kernels.legs import BY_BODY_TWIST
from liedyn_ros.stewart.platform.limits import LimitMargins, limits_of, margins_of

SINGULARITY_WARNING = kernels.SINGULARITY_WARNING
NO_INVERSE = 1e-15  # smallest singular value below which J is singular to rounding


class PlatformState:
    """
    The platform at one pose.

    pose: (4, 4), platform in base, m. signed_value: the smallest singular value of J in units of
    the characteristic length, with the determinant's sign. So it passes smoothly through zero
    where a path crosses a singularity. For rods that a drive moves, J is that of their lengths.
    slope: the change of signed_value along the null twist; two poses of the same lengths lie about
    2 signed_value / slope apart. From seven legs on there is no determinant: the value is
    positive, and slope is NaN.

    Its limits, flags and dead centres are computed on request, by any thread. One kernel computes
    each; it holds Python's lock and leaves nothing in the meter that another reads.

    >>> tracked = MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home))
    >>> tracked.state.pose.shape
    (4, 4)
    """

    __slots__ = '_margins', '_meter', 'pose', 'signed_value', 'slope', 'values'

    def __init__(self, meter: PlatformMeter, pose: Array, values: Array,
                 margins: Array | None = None) -> None:
        """
        Take the numbers of a kernel or a solve at a pose; else use `PlatformMeter.measure`.

        Args:
            meter: of the platform.
            pose: (4, 4), platform in base, m.
            values: numbers of a kernel or a solve; else use `PlatformMeter.measure`.
            margins: numbers of LimitMargins, where they are measured already.
        """
        self._meter, self.pose, self.values = meter, pose, values
        self._margins = margins
        self.signed_value, self.slope = values[-2:].tolist()

    @property
    def smallest_singular_value(self) -> float:
        """Return how far from singular, 0 or more."""
        return abs(self.signed_value)

    @property
    def determinant_sign(self) -> int:
        """Return 1 or -1: a singularity separates poses of different sign."""
        return 1 if self.signed_value > 0.0 else -1

    @property
    def null_twist(self) -> Array:
        """
        Return the unit body twist (6,) that changes the lengths least.

        Its parts are in rad and characteristic lengths.
        """
        at = 12 * self._meter.legs
        return self.values[at:at + 6]

    @property
    def jacobian(self) -> Array:
        """Return J = dL/d(body twist), (n, 6); columns: angular (m/rad), then linear (1)."""
        return self.values[:6 * self._meter.legs].reshape(-1, 6) * self._meter.units

    @property
    def inverse(self) -> Array:
        """
        Return J^-1, (6, n): the body twist (rad/s, m/s) of leg rates (m/s).

        From seven legs on it is the inverse of least squares, weighted by the noise of the legs;
        0 for those that are left out (14.70). Raises SingularError where J is singular to
        rounding.
        """
        self._require_inverse()
        n = self._meter.legs
        return (self.values[6 * n:12 * n].reshape(6, n) / self._meter.units[:, None])

    def twist(self, rates: Array) -> Array:
        """
        Return the twist of the body of leg rates.

        Args:
            rates: (n,); m/s, of cranks rad/s.

        Returns:
            (6,), angular part first; rad/s and m/s.

        Raises:
            SingularError: at a singularity.

        >>> from liedyn_ros.stewart.platform.state import PlatformMeter
        >>> PlatformMeter(geometry).measure(home).twist(np.zeros(6)).any().item()
        False
        """
        if self._meter.weights is not None:
            return np.asarray(self.inverse @ rates)
        self._require_inverse()
        twist = np.empty(6)
        kernels.twist(self.values, self._meter.characteristic_length, rates, twist)
        return twist

    def _require_inverse(self) -> None:
        if not abs(self.signed_value) > NO_INVERSE:
            raise SingularError('pose: expected one that is not singular, '
                                'got dL/d(twist) without an inverse')

    @property
    def margins(self) -> LimitMargins:
        """Return the margins of the platform's limits, negative where one is exceeded."""
        if self._margins is None:
            self._margins, _ = self._meter.limits_at(self.pose, self.signed_value)
        return LimitMargins(self._margins, self._meter.legs)

    @property
    def flags(self) -> Flag:
        """Return NEAR_SINGULARITY, NEAR_DEAD_CENTRE and the flags of limits that are exceeded."""
        return flag_of(self._meter.limits_at(self.pose, self.signed_value)[1])

    def exceeded_limits(self) -> list[str]:
        """
        Return the limits that the pose exceeds and the drives near dead centre.

        Returns:
            words to be read.

        >>> from liedyn_ros.stewart.platform.state import PlatformMeter
        >>> PlatformMeter(geometry).measure(home).exceeded_limits()
        []
        """
        names = self._meter.leg_names
        near = [] if not self._meter.driven else [
            f'dead centre of {name}' for name, cosine in zip(
                names, self._meter.transmissions(self.pose))
            if cosine <= self._meter.singularity_warning]
        return self.margins.exceeded(names) + near


class PlatformMeter:
    """Measures poses of one platform; owns its workspace: measure in one thread only."""

    def __init__(
            self, geometry: StewartGeometry,
            singularity_warning: float = SINGULARITY_WARNING) -> None:
        """
        Take a geometry, and the smallest singular value at which a pose is near a singularity.

        Raises LimitError where that is negative or not finite.
        """
        if not 0.0 <= singularity_warning < np.inf:
            raise LimitError('singularity_warning: expected a number from 0 on, '
                             f'got {singularity_warning}')
        self.singularity_warning = singularity_warning
        self.characteristic_length = geometry.characteristic_length
        self.units = np.array([self.characteristic_length] * 3 + [1.0] * 3)  # of a twist
        joints = geometry.table()
        self._scaled_joints = geometry.table(self.characteristic_length)
        self.tables = joints, limits_of(geometry)  # of the kernels of limits
        self.leg_names = geometry.leg_names
        self.driven = geometry.driven
        self._work = np.empty(kernels.STATE_WORK)
        self.legs = len(geometry.leg_names)
        self.weights = geometry.weights if geometry.redundant else None  # of least squares

    def measure(self, pose_base_platform: ArrayLike) -> PlatformState:
        """Return the state at a pose (4, 4), m. Raises the errors of se3.require_pose."""
        pose = se3.require_pose('pose_base_platform', pose_base_platform, (4, 4)).copy()
        values = self.empty()
        self.write(pose, values)
        return PlatformState(self, pose, values)

    def empty(self) -> Array:
        """Return an array for the numbers of a state."""
        return np.empty(13 * self.legs + 8)

    def write(self, pose: Array, values: Array, weights: Array | None = None) -> None:
        """
        Write the numbers of the state at a pose (4, 4), m.

        weights: (n,), of more legs than six, 0 of those that are left out; by default those of
        their noise.
        """
        if self.weights is None:
            kernels.examine_pose(
                self._scaled_joints, self.characteristic_length, pose, values, self._work)
            return
        n, table = self.legs, self.tables[0]
        roots = np.sqrt(self.weights if weights is None else weights)[:, None]
        rows = values[:6 * n].reshape(n, 6)
        leg_types.value_jacobian(table, *split(pose), BY_BODY_TWIST, values[:6 * n])
        rows /= self.units
        values[12 * n:] = np.nan
        if not np.isfinite(rows).all():  # a rod does not reach
            values[6 * n:12 * n], values[-2] = np.nan, 0.0
            return
        rods = rows * [[leg_types.ratio(table, i)] for i in range(n)] * (roots > 0.0)
        left, singular, right = np.linalg.svd(rods, full_matrices=False)
        values[6 * n:12 * n] = (np.linalg.pinv(roots * rows, rcond=NO_INVERSE) * roots.T).ravel()
        values[12 * n:12 * n + 6], values[12 * n + 6:13 * n + 6] = right[-1], left[:, -1]
        values[-2] = singular[-1]

    def limits_at(self, pose: Array, value: float) -> tuple[Array, int]:
        """Return margins and flags, as bits, at a pose (4, 4), m, of a signed value."""
        margins = np.empty(margins_of(self.legs))
        return margins, limit_kernels.limit_flags(
            *self.tables, pose, self.driven, value, self.singularity_warning, margins)

    def transmissions(self, pose: Array) -> list[float]:
        """
        Return of each leg the cosine between its rod and the way of its driven end, 1 of struts.

        It is 0 at a dead centre, where the drive holds no force, and negative beyond. pose:
        (4, 4), m.
        """
        cosines = np.empty(self.legs)
        leg_types.transmissions(self.tables[0], pose, cosines)
        return cosines.tolist()

    def margins(self, poses_base_platform: ArrayLike) -> LimitMargins:
        """Return the margins at poses (n, 4, 4), m. Raises the errors of se3.require_pose."""
        poses = se3.require_pose('poses_base_platform', poses_base_platform, (-1, 4, 4))
        values = np.empty((len(poses), margins_of(self.legs)))
        limit_kernels.margins_batch(*self.tables, poses, values)
        return LimitMargins(values, self.legs)

    def signed_values(self, poses_base_platform: ArrayLike) -> Array:
        """Return the signed values (n,) of poses (n, 4, 4), m. Raises as `margins` does."""
        poses = se3.require_pose('poses_base_platform', poses_base_platform, (-1, 4, 4))
        if self.weights is not None:
            return np.array([self.measure(pose).signed_value for pose in poses])
        values = np.empty(len(poses))
        kernels.signed_values(self._scaled_joints, self.characteristic_length, poses, values,
                              np.empty(kernels.STATE_SIZE), self._work)
        return values

    def reflected(self, state: PlatformState) -> Array:
        """
        Return about where the other pose of the same lengths lies, (4, 4), m.

        Near a singularity poses come in pairs, one on each side, along the null twist. The
        answer is exact to second order in the distance; a solve makes it exact.
        """
        twist = (-2.0 * state.signed_value / state.slope) * state.null_twist
        twist[3:] *= self.characteristic_length
        return se3.compose(state.pose, se3.exp(twist))
