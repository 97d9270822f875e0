# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Margins of a platform's limits: leg travel, joint angles, clearance between legs."""

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail, Stage
from liedyn_ros.stewart.platform.kernels import limits as kernels


def pairs_of(legs: int) -> list[tuple[int, int]]:
    """Return all pairs of n legs, by index, in the order of their clearances."""
    return list(itertools.combinations(range(legs), 2))


class LimitMargins(NamedTuple):
    """
    Margins of all limits at one or many poses, negative where a limit is exceeded.

    values: m and rad, of which the properties are parts, (..., 33) of six legs. legs: their number
    n. Clearance is between the surfaces of the legs as cylinders, in the order of pairs_of. Angles
    are to the rim of each joint's cone. Travel is to the nearer end of each leg's travel, in rad
    for a crank. Legs that share a joint have infinite clearance. Where a rod does not reach its
    platform joint, all are -infinity.

    >>> tracked = MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home))
    >>> tracked.state.margins.travel.shape
    (6,)
    """

    values: Array
    legs: int = 6

    @property
    def travel(self) -> Array:
        """Return (..., n), m."""
        return self.values[..., :self.legs]

    @property
    def joint_angles(self) -> Array:
        """Return margins (..., 2 n), rad: of base joints, then of platform joints."""
        return self.values[..., self.legs:kernels.CLEARANCES * self.legs]

    @property
    def clearance(self) -> Array:
        """Return (..., n (n - 1) / 2), m."""
        return self.values[..., kernels.CLEARANCES * self.legs:]

    @property
    def within_limits(self) -> NDArray[np.bool_]:
        """Return (...), whether every limit is kept."""
        return np.asarray((self.values >= 0.0).all(axis=-1))

    def exceeded(self, names: tuple[str, ...]) -> list[str]:
        """
        Return the limits that one pose exceeds.

        Args:
            names: of the legs.

        Returns:
            words to be read.

        >>> from liedyn_ros.stewart.platform.state import PlatformMeter
        >>> PlatformMeter(geometry).measure(home).margins.exceeded(geometry.leg_names)
        []
        """
        return [limit_name(k, names) for k in np.flatnonzero(self.values < 0.0).tolist()]


def limits_of(geometry: StewartGeometry) -> Array:
    """Return the kernels' table of a platform's limits."""
    return np.concatenate([part.ravel() for part in (
        geometry.length_limits, geometry.base_cones, geometry.platform_cones,
        _least_distances(geometry))])


def _least_distances(geometry: StewartGeometry) -> Array:
    """Return the least distance of each pair of legs' axes, m; -infinity if they share a joint."""
    first, second = np.array(pairs_of(len(geometry.leg_names))).T
    shared = np.zeros(len(first), dtype=bool)
    driven = np.array([isinstance(leg, Rail | Crank) for leg in geometry.leg_types])
    moves = driven[first] & driven[second]  # their ends part from joints that coincide
    for joints, at_base in ((geometry.base_joints, True), (geometry.platform_joints, False)):
        apart = np.linalg.norm(joints[first] - joints[second], axis=1)
        shared |= (apart <= 1e-9 * geometry.characteristic_length) & ~(moves & at_base)
    staged = np.array([isinstance(leg, Stage) for leg in geometry.leg_types])
    shared |= staged[first] | staged[second]  # guides are no cylinders from joint to joint
    return np.where(shared, -np.inf, geometry.leg_diameter)


def margins_of(legs: int) -> int:
    """Return how many margins a pose of n legs has."""
    return kernels.CLEARANCES * legs + legs * (legs - 1) // 2


def limit_name(index: int, names: tuple[str, ...]) -> str:
    """Return the readable name of margin `index`; names: those of the legs."""
    n = len(names)
    if index >= kernels.CLEARANCES * n:
        first, second = pairs_of(n)[index - kernels.CLEARANCES * n]
        return f'clearance of {names[first]} and {names[second]}'
    what = ('travel', 'base joint', 'platform joint')[index // n]
    return f'{what} of {names[index % n]}'
