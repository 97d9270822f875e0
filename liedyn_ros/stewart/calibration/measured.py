# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Measurements of the platform: poses, positions, orientations, points, or none.

The instrument's frame holds the base, the target is on the platform. Where such a transform is
not known, it is solved with the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3, so3

COLLINEAR = 1e-6  # of the spread of points, below which they lie on a line
UNMOVED = np.eye(4)
UNMOVED.setflags(write=False)


@dataclass(frozen=True, eq=False)
class InstrumentFrames:
    """
    Where the instrument and its target are.

    instrument_base: (4, 4), m, the base in the instrument's frame. points: (k, 3), m, measured
    points in the platform frame. target: (3, 3), the target's axes in the platform frame.

    >>> measured_poses(poses).frames.instrument_base.shape
    (4, 4)
    """

    instrument_base: Array
    points: Array
    target: Array


@dataclass(frozen=True, eq=False)
class Measured:
    """
    Measurements at n poses, in the instrument's frame.

    kind: full, orientation, points or lengths. points: (n, k, 3), m, of k points of the
    platform. rotations: (n, 3, 3) of the target, or None. frames: the transforms, or where an
    unknown one is searched from. instrument_known, target_known: whether they are given.

    >>> measured_poses(poses).kind
    'full'
    """

    kind: str
    points: Array
    rotations: Array | None
    frames: InstrumentFrames
    instrument_known: bool
    target_known: bool

    def __len__(self) -> int:
        """Return at how many poses."""
        return len(self.points)

    @property
    def frames_known(self) -> bool:
        """Return whether both transforms are given."""
        return self.instrument_known and self.target_known

    def rows(self, chosen: NDArray[Any]) -> Measured:
        """
        Return the measurements at some of the poses.

        Args:
            chosen: indices.

        Returns:
            the measurements.

        >>> len(measured_poses([home, home]).rows(np.array([0])))
        1
        """
        rotations = None if self.rotations is None else self.rotations[chosen]
        return Measured(self.kind, self.points[chosen], rotations, self.frames,
                        self.instrument_known, self.target_known)

    @functools.cached_property
    def dimension(self) -> int:
        """Return how many numbers are measured at a pose."""
        return 3 * self.points.shape[1] + (0 if self.rotations is None else 3)

    @functools.cached_property
    def free_base(self) -> str:
        """Return the motions of the base as a whole that nothing measures: '', 'shift', 'all'."""
        if self.kind == 'lengths' or not self.instrument_known:
            return 'all'
        return 'shift' if self.kind == 'orientation' else ''

    @functools.cached_property
    def free_platform(self) -> Array:
        """Return the motions of the platform frame that nothing measures: (m, 6) twists."""
        turns, shifts = np.eye(6)[:3], np.eye(6)[3:]
        if self.kind == 'lengths' or not self.target_known:
            return np.concatenate((turns, shifts))
        if self.rotations is not None:
            return shifts if self.kind == 'orientation' else np.empty((0, 6))
        points = self.frames.points
        arms = points[1:] - points[0]
        hats = so3.hat(arms).reshape(-1, 3) if len(arms) else np.zeros((1, 3))
        _, sizes, axes = np.linalg.svd(hats)
        spread = max(float(np.abs(arms).max(initial=0.0)), 1e-300)
        free = axes[int((sizes > COLLINEAR * spread).sum()):]
        return np.hstack((free, -np.cross(free, points[0])))  # turns about the first point


def measured_poses(
        poses: ArrayLike, instrument_base: ArrayLike | None = UNMOVED,
        platform_target: ArrayLike | None = UNMOVED) -> Measured:
    """
    Return full poses of a target.

    Args:
        poses: (n, 4, 4) of the target in the instrument's frame; m.
        instrument_base: pose (4, 4) of the base in the instrument's frame, m, None where it is not
            known.
        platform_target: pose (4, 4) of the target on the platform, m, None where it is not known.

    Returns:
        the measurements.

    Raises:
        NotInGroupError: for a matrix that is no pose.

    >>> len(measured_poses([home, home]))
    2
    """
    given = _poses('poses', poses)
    target = _known('platform_target', platform_target)
    frames = InstrumentFrames(
        _known('instrument_base', instrument_base), target[None, :3, 3], target[:3, :3])
    return Measured('full', given[:, None, :3, 3], given[:, :3, :3], frames,
                    instrument_base is not None, platform_target is not None)


def measured_orientations(
        rotations: ArrayLike, instrument_base: ArrayLike | None = UNMOVED[:3, :3],
        platform_target: ArrayLike | None = UNMOVED[:3, :3]) -> Measured:
    """
    Return orientations of a target, as a camera gives them.

    Args:
        rotations: (n, 3, 3) of the target in the instrument's frame.
        instrument_base: rotation (3, 3) of the base in the instrument's frame, None where it is
            not known.
        platform_target: rotation (3, 3) of the target on the platform, None where it is not known.

    Returns:
        the measurements.

    Raises:
        NotInGroupError: for a matrix that is no rotation.

    >>> len(measured_orientations([np.eye(3)]))
    1
    """
    given = so3.require_rotation('rotations', checks.as_array('rotations', rotations, (-1, 3, 3)))
    base, target = (np.eye(3) if frame is None else so3.require_rotation(
        name, checks.as_array(name, frame, (3, 3))) for name, frame in (
            ('instrument_base', instrument_base), ('platform_target', platform_target)))
    frames = InstrumentFrames(
        se3.from_rotation_translation(base, np.zeros(3)), np.empty((0, 3)), target)
    return Measured('orientation', np.empty((len(given), 0, 3)), given, frames,
                    instrument_base is not None, platform_target is not None)


def measured_points(
        points: ArrayLike, instrument_base: ArrayLike | None = UNMOVED,
        platform_points: ArrayLike | None = None) -> Measured:
    """
    Return positions of one point of the platform or several, as a laser tracker gives them.

    Args:
        points: (n, k, 3), or (n, 3) of one point, in the instrument's frame; m.
        instrument_base: pose (4, 4) of the base in the instrument's frame, m, None where it is not
            known.
        platform_points: (k, 3), or (3,), in the platform's frame; m, None where not known.

    Returns:
        the measurements.

    Raises:
        NotInGroupError: for a matrix that is no pose.

    >>> len(measured_points(np.zeros((5, 3, 3)), platform_points=np.eye(3)))
    5
    """
    given = checks.as_numbers('points', points)
    given = checks.as_array('points', given[:, None] if given.ndim == 2 else given, (-1, -1, 3))
    if not given.shape[1]:
        raise LimitError('points: expected one point or more at each pose, got none')
    places = np.zeros(given.shape[1:]) if platform_points is None else checks.as_array(
        'platform_points', np.atleast_2d(platform_points), given.shape[1:])
    frames = InstrumentFrames(_known('instrument_base', instrument_base), places, np.eye(3))
    return Measured('points', given, None, frames, instrument_base is not None,
                    platform_points is not None)


def lengths_only(count: int) -> Measured:
    """
    Return measurements of nothing but the lengths of seven legs or more.

    Args:
        count: of poses.

    Returns:
        the measurements, none.

    >>> lengths_only(30).kind
    'lengths'
    """
    frames = InstrumentFrames(UNMOVED, np.empty((0, 3)), np.eye(3))
    return Measured('lengths', np.empty((count, 0, 3)), None, frames, True, True)


def _poses(name: str, poses: ArrayLike) -> Array:
    return se3.require_pose(name, poses, (-1, 4, 4))


def _known(name: str, frame: ArrayLike | None) -> Array:
    """Return a pose (4, 4), or where the search for it begins."""
    return UNMOVED if frame is None else se3.require_pose(name, frame, (4, 4))
