# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths of a Stewart platform through poses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.minimal_motions import Completion
from liedyn_ros.lie import se3
from liedyn_ros.lie.time_derivatives import twists_of_exponential
from liedyn_ros.retiming.paths.blended_path import along_screws, rounded_shares
from liedyn_ros.retiming.paths.path import MovingEnd, PathSamples, require_no_ends, spline
from liedyn_ros.stewart.dynamics.closed_loop_model import ClosedLoopState, platform_model
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry

PLATFORM_RATES = slice(0, 6)  # in v


class PlatformPath:
    """
    A quintic spline through poses (K, 4, 4), platform in base, m, of a platform with masses.

    The spline is one of exponential coordinates about the first pose, so all rotations are less
    than pi from its own. With blend, rad or m, the platform moves by a screw from each pose to the
    next, and its corners are those of BlendedPath. start (2, 6) is that of SplinePath: the body
    twist and its derivative. dynamics is that of platform_model:
    retime(path.dynamics, path, limits). Joints that move the legs have the names of the legs.
    Raises GeometryError for a geometry without masses, NotInGroupError, and LimitError as
    SplinePath does.

    >>> platform = ld.load_geometry(config_file('stewart_geometry.yaml'))
    >>> path = PlatformPath(platform, [home, ld.pose([0.05, 0.0, 0.5])])
    >>> retime(path.dynamics, path, MotionLimits(velocity=1.0), intervals=20).duration > 0.0
    True
    """

    def __init__(self, geometry: StewartGeometry, poses: ArrayLike,
                 budget: Budget | None = None, *, blend: float | None = None,
                 start: ArrayLike | None = None) -> None:
        """
        Fit the spline, or lay out the screws; budget counts the samples.

        Args:
            geometry: of a platform with masses.
            poses: (K, 4, 4), platform in base, m.
            budget: of samples.
            blend: rad or m, as of BlendedPath; none for a spline.
            start: (2, 6), body twist and its derivative at the begin.
        """
        self._budget = budget or Budget()
        self.poses = se3.require_pose('poses', poses, (-1, 4, 4))
        self.start: MovingEnd | None = None
        self.end = None  # at rest
        self._curve: Callable[[Array], tuple[Array, Array]]
        if blend is None:
            self.length, self._of, self.start, _ = spline(
                se3.log(se3.inverse(self.poses[0]) @ self.poses), start)
            self._curve = self._spline
        else:
            require_no_ends(start, None)
            self._screws = se3.log(se3.inverse(self.poses[:-1]) @ self.poses[1:])
            self.length, self._shares = rounded_shares(self._screws, blend)
            self._curve = self._lines
        self._state = ClosedLoopState(geometry)
        self.dynamics = ConstrainedDynamics(platform_model(geometry))

    def __call__(self, s: Array) -> PathSamples:
        """
        Return the samples of the path.

        Args:
            s: places (K,) from 0 to length; rad or m.

        Returns:
            q (K, nq), and three derivatives by s.

        Raises:
            LimitError: for a pose beyond the legs.
            SingularError: for a singular one.

        >>> platform = ld.load_geometry(config_file('stewart_geometry.yaml'))
        >>> path = PlatformPath(platform, [home, ld.pose([0.05, 0.0, 0.5])])
        >>> path(np.array([0.0])).v.shape
        (1, 24)
        """
        poses, rows = self._curve(s)
        nv = self.dynamics.model.nv
        known = np.arange(nv) < PLATFORM_RATES.stop
        samples, completion = [], Completion(self.dynamics)
        for pose, twists in zip(poses, rows):
            self._budget.spend(0.0)
            q, v = self._state(pose, twists[0])
            a = np.zeros((2, nv))
            a[:, PLATFORM_RATES] = twists[1:]
            samples.append((q, v, *completion.complete('a', q, v, a, known)))
        return PathSamples(*map(np.array, zip(*samples)))

    def _spline(self, s: Array) -> tuple[Array, Array]:
        """Return poses (K, 4, 4), and body twists with two derivatives (K, 3, 6), at s (K,)."""
        rows = np.stack([derivative(s) for derivative in self._of], axis=1)
        return (self.poses[0] @ se3.exp(rows[:, 0]),
                np.array([twists_of_exponential(row) for row in rows]))

    def _lines(self, s: Array) -> tuple[Array, Array]:
        """Return poses and twists, as _spline does, along lines with rounded corners."""
        shares = np.array([derivative(s) for derivative in self._shares])
        poses = self.poses[0]
        for k, screw in enumerate(self._screws):
            poses = poses @ se3.exp(shares[0, :, k, None] * screw)
        return poses, np.moveaxis(along_screws(self._screws, shares), 0, 1)
