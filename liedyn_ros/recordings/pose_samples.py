# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Samples of a platform that stands still: readings of its legs, and what was measured there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import NameSetError, NotFiniteError, ShapeError
from liedyn_ros.lie import SO3, so3
from liedyn_ros.recordings.samples import MAX_LEFT_OUT

NORM_TOLERANCE = 1e-3  # by which a quaternion of few digits may miss 1


@dataclass(frozen=True, eq=False)
class PoseSamples:
    """
    The readings of legs at n poses, and measurements at the same poses.

    readings (n, legs), m or rad, are of the legs in names. remarks say what was left out.
    points: positions (n, 3), m, by name. angles: (n, 3), rad, roll, pitch and yaw. quaternions:
    (n, 4), x, y, z, w. Of an orientation one of the two, else None. factors (legs,) are m or rad
    of a reading's recorded unit.

    >>> PoseSamples(('left', 'right'), np.ones((3, 2)), {'tip': np.zeros((3, 3))}).factors is None
    True
    """

    names: tuple[str, ...]
    readings: Array
    points: Mapping[str, Array]
    angles: Array | None = None
    quaternions: Array | None = None
    remarks: tuple[str, ...] = ()
    factors: tuple[float, ...] | None = None

    def __len__(self) -> int:
        """Return at how many poses."""
        return len(self.readings)

    @property
    def rotations(self) -> Array | None:
        """Return the orientations (n, 3, 3), or None. Raises NotInGroupError for quaternions."""
        if self.angles is not None:
            return np.array([SO3.from_rpy(*each).matrix for each in self.angles.tolist()])
        if self.quaternions is None:
            return None
        norms = np.linalg.norm(self.quaternions, axis=1)
        near = np.abs(norms - 1.0) < NORM_TOLERANCE
        scaled = self.quaternions / np.where(near, norms, 1.0)[:, None]
        return so3.from_quaternion(scaled)

    def rows(self, chosen: NDArray[Any]) -> PoseSamples:
        """
        Return the samples of some poses.

        Args:
            chosen: indices, or a mask.

        Returns:
            the samples.

        >>> PoseSamples(('a', 'b'), np.ones((3, 2)), {}).rows(np.array([0, 2])).readings.shape
        (2, 2)
        """
        return replace(
            self, readings=self.readings[chosen],
            points={name: each[chosen] for name, each in self.points.items()},
            angles=None if self.angles is None else self.angles[chosen],
            quaternions=None if self.quaternions is None else self.quaternions[chosen])


def checked(where: str, samples: PoseSamples) -> PoseSamples:
    """
    Return the samples whose numbers are finite, with a remark on the others.

    where names the source. Raises ShapeError for none, NameSetError for several points beside an
    orientation, and NotFiniteError where more than FEW of all have NaN or infinities.
    """
    if not len(samples):
        raise ShapeError(f'{where}: expected samples, got none')
    oriented = [each for each in (samples.angles, samples.quaternions) if each is not None]
    if (oriented and len(samples.points) > 1) or len(oriented) > 1:
        raise NameSetError(
            f'{where}: expected one orientation with one position, or points without, got '
            f'{len(oriented)} and the positions {list(samples.points)}: name those to take',
            names=tuple(samples.points))
    blocks = np.hstack([samples.readings, *samples.points.values(), *oriented])
    whole: NDArray[np.bool_] = np.asarray(np.isfinite(blocks).all(axis=1))
    left = int((~whole).sum())
    if left > MAX_LEFT_OUT * len(whole):
        at = int(np.argmin(whole))
        raise NotFiniteError(
            f'{where}: expected numbers, got {left} of {len(whole)} samples with NaN or '
            f'infinities; the first is sample {at + 1}: {blocks[at].tolist()}')
    if not left:
        return samples
    numbers = ', '.join(map(str, (np.flatnonzero(~whole) + 1).tolist()))
    return replace(samples.rows(whole), remarks=(
        *samples.remarks, f'{left} of {len(whole)} samples left out, NaN or infinite: {numbers}'))
