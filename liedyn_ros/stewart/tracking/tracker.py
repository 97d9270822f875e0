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

"""The pose of a moving platform, sample after sample, from the pose before."""

from dataclasses import dataclass
from enum import IntEnum
import time

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.common.stamps import Timeline
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels import motion as kernels
from liedyn_ros.stewart.platform.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels import inverse_rates
from liedyn_ros.stewart.solver.methods import LevenbergMarquardt, Method
from liedyn_ros.stewart.solver.pose_solver import PoseSolver, require_lengths, Solution

PREDICTION_LIMIT = 0.5  # s; over a longer gap the last pose is a better guess than its motion


class Start(IntEnum):
    """The guess a solve started from."""

    PREDICTED = 0  # the last pose, moved on with its twist
    HOME = 1
    GUESS = 2  # one that the caller gave


@dataclass(frozen=True)
class TrackedPose:
    """
    The outcome of one sample.

    stamp_ns: the sample's time. lengths: (6,), m. twist: body twist (w, v) of the platform,
    rad/s and m/s, or None where one sample alone cannot tell it. twist_span: s between the two
    poses that it is the difference of; 0 where it comes from measured rates. solve_time: s, of
    the solves.
    """

    stamp_ns: int
    lengths: Array
    solution: Solution
    start: Start
    twist: Array | None
    solve_time: float
    twist_span: float = 0.0


class PoseTracker:
    """
    Solves each sample from the last pose moved on at constant twist, and from home if that fails.

    Only a converged pose changes the state: whatever is refused or fails leaves the last good
    one in place.
    """

    def __init__(
            self, geometry: StewartGeometry, home: ArrayLike,
            method: Method = LevenbergMarquardt()) -> None:
        """Take a geometry, the home pose (4, 4) of the platform in the base (m), a method."""
        self.geometry = geometry
        self.home = se3.require_pose('home', checks.as_array('home', home, (4, 4)))
        self.method = method
        self.last: TrackedPose | None = None  # the last good one, from which the next starts
        self.restarts = True  # whether a solve that fails is tried again from home
        self._timeline = Timeline()
        self._solver = PoseSolver(geometry, method)
        self._rates, self._work = np.empty(6), np.empty(inverse_rates.WORK)

    def reset(self) -> None:
        """Forget the motion: the next sample starts from home, whatever its time."""
        self.last = None
        self._timeline.reset()

    def update(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None = None
    ) -> TrackedPose:
        """
        Return the pose of one sample of leg lengths (6,), m, taken at a time in ns.

        rates: (6,), m/s, where they are measured; the twist then comes from them, else from the
        difference of two poses. Raises ShapeError, NotFiniteError, LimitError for lengths
        beyond the limits, and StampError for a time that is not a whole number or not after the
        last. Where the clock was set back (Timeline), the motion is forgotten.
        """
        return self.advance(stamp_ns, *self.accept(stamp_ns, lengths, rates))

    def accept(
            self, stamp_ns: int, lengths: ArrayLike, rates: ArrayLike | None = None
    ) -> tuple[Array, Array | None]:
        """Return a sample's lengths and rates as arrays, or raise as `update` does."""
        lengths = require_lengths(checks.as_array('lengths', lengths, (6,)))
        self.geometry.require_within_limits(lengths)
        if rates is not None:
            rates = checks.as_array('rates', rates, (6,))
        if not self._timeline.follows(stamp_ns):
            self.last = None
        return lengths, rates

    def advance(self, stamp_ns: int, lengths: Array, rates: Array | None = None) -> TrackedPose:
        """Return the pose of a sample that `accept` has let pass."""
        guess = None if self.last is None else self._predict(self.last, stamp_ns)
        begin = time.perf_counter()
        solution, start = self._solve(lengths, guess)
        solve_time = time.perf_counter() - begin
        twist, span = None, 0.0
        if solution.converged:
            twist, span = self._twist(stamp_ns, solution.pose, rates)
        tracked = TrackedPose(stamp_ns, lengths, solution, start, twist, solve_time, span)
        if solution.converged:
            self.last = tracked
        return tracked

    def _solve(self, lengths: Array, guess: Array | None) -> tuple[Solution, Start]:
        if guess is not None:
            solution = self._solver.solve(lengths, guess)
            if solution.converged or not self.restarts:
                return solution, Start.PREDICTED
        return self._solver.solve(lengths, self.home), Start.HOME

    def _predict(self, last: TrackedPose, stamp_ns: int) -> Array:
        gap = 1e-9 * (stamp_ns - last.stamp_ns)
        if last.twist is None or gap > PREDICTION_LIMIT:
            return last.solution.pose
        pose = np.empty((4, 4))
        kernels.move(last.solution.pose, last.twist, gap, pose)
        return pose

    def _twist(
            self, stamp_ns: int, pose: Array, rates: Array | None) -> tuple[Array | None, float]:
        if rates is not None:
            return self._twist_of_rates(pose, rates), 0.0
        if self.last is None:
            return None, 0.0
        twist, span = np.empty(6), 1e-9 * (stamp_ns - self.last.stamp_ns)
        kernels.mean_twist(self.last.solution.pose, pose, span, twist)
        return twist, span

    def _twist_of_rates(self, pose: Array, rates: Array) -> Array:
        twist = np.empty(6)
        self._rates[:] = rates
        if not inverse_rates.twist_of_rates(
                self.geometry.joints, pose, self._rates, twist, self._work):
            raise SingularError('pose: expected one that is not singular, '
                                'got dL/d(twist) without an inverse')
        return twist
