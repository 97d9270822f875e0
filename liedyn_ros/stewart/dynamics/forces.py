# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Forces of seven legs or more that hold a wrench, within limits: the shares that six have not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths, length_jacobian

SINGULAR = 1e-9  # ratio of singular values of J, below which the legs do not hold the platform
NO_SOLUTION = 1e-9  # residual of the dual problem, below which no forces are within the limits


class HeldForces(NamedTuple):
    """
    Forces of the drives (n,), N, N m of cranks, positive where they push the platform away.

    within: whether they hold the wrench within the limits. Where no forces do, they hold it beyond
    them, and are those of least square.
    """

    forces: Array
    within: bool


class ForceDistribution:
    """
    The forces nearest to the middle of their limits that hold a wrench (14.74).

    Near means the least sum of squares, at the drives' ends. The middle of a force without a limit
    on one side is that limit or 0.
    """

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry with the limits of the forces."""
        from scipy.optimize import nnls  # which takes long to import, and not in a stream

        self._least_squares = nnls
        self.geometry = geometry
        self._scales = geometry.drive_scales
        self._least, self._most = (geometry.force_limits / self._scales[:, None]).T
        least, most = (np.where(np.isfinite(bound), bound, 0.0)
                       for bound in (self._least, self._most))
        bounded = np.isfinite(self._least) & np.isfinite(self._most)
        nearest_zero = np.clip(0.0, self._least, self._most)
        self._middle = np.where(bounded, 0.5 * (least + most), nearest_zero)

    def hold(self, pose_base_platform: ArrayLike, wrench: ArrayLike) -> HeldForces:
        """
        Return the drives' forces that give a wrench (moment, force), N m and N, on the platform.

        pose: (4, 4), m. The wrench is in the platform's frame, about its origin. Raises
        ShapeError, NotFiniteError, NotInGroupError, LimitError where a rod does not reach, and
        SingularError where the legs do not hold the platform in all directions.
        """
        jacobian = length_jacobian(self.geometry, pose_base_platform)
        if not np.isfinite(jacobian).all():
            leg_lengths(self.geometry, pose_base_platform)  # names the leg that does not reach
        return self.shared(jacobian, checks.as_array('wrench', wrench, (6,)))

    def shared(self, jacobian: Array, wrench: Array) -> HeldForces:
        """Return the forces for d(reading)/d(body twist), (n, 6), and a wrench (6,)."""
        units = np.array([1.0 / self.geometry.characteristic_length] * 3 + [1.0] * 3)
        left, values, right = np.linalg.svd(jacobian * self._scales[:, None] * units)
        if not values[-1] > SINGULAR * values[0]:
            raise SingularError('pose_base_platform: expected legs that hold the platform in all '
                                f'directions, got singular values {values.tolist()}')
        free, held = left[:, 6:], left[:, :6] @ (right @ (wrench * units) / values)
        nearest = held + free @ (free.T @ self._middle)
        forces = self._within(nearest, free)
        if forces is None:
            return HeldForces(self._scales * held, False)
        return HeldForces(self._scales * forces, True)

    def rate(self, jacobian: Array, change: Array, forces: Array, wrench: Array) -> Array:
        """
        Return the rates (n,) of forces (n,) that `shared` gave, within their limits (14.74).

        jacobian, change: J (n, 6) and its rate. wrench: (6,), the rate of J^T F at a constant J.
        Of forces at a limit it is 0; of the others F = middle + J x, so F' = J' x + J x'.
        """
        given = forces / self._scales
        free = (given > self._least) & (given < self._most)
        rows, changes = ((each * self._scales[:, None])[free] for each in (jacobian, change))
        share = np.linalg.lstsq(rows, given[free] - self._middle[free], rcond=None)[0]
        moved = changes @ share
        rates = np.zeros(len(forces))
        rates[free] = moved + rows @ np.linalg.lstsq(
            rows.T @ rows, wrench - rows.T @ moved, rcond=None)[0]
        return self._scales * rates

    def _within(self, nearest: Array, free: Array) -> Array | None:
        """Return the forces within the limits with the least change of some, if there are any."""
        if ((nearest >= self._least) & (nearest <= self._most)).all():
            return nearest
        rows = np.concatenate((free, -free))
        bounds = np.concatenate((self._least - nearest, nearest - self._most))
        kept = np.isfinite(bounds)
        size = max(float(np.abs(bounds[kept]).max()), 1e-300)
        # Least distance programming (Lawson and Hanson 1974, 23.4).
        system = np.vstack((rows[kept].T, bounds[kept] / size))
        target = np.zeros(len(system))
        target[-1] = 1.0
        residual = system @ self._least_squares(system, target)[0] - target
        if np.linalg.norm(residual) < NO_SOLUTION:
            return None
        return np.clip(nearest - size * (free @ residual[:-1]) / residual[-1],
                       self._least, self._most)
