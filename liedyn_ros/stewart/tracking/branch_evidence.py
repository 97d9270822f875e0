# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Evidence of a pose's branch: a proof, home, the motion, a redundant sensor, or none.

Lengths have several poses. A solve finds one of them, with no residual and certified, whichever
the machine is at. At a start only the word of home chooses among them, after a gap the last pose.
Their word is good while a second pose lies much further away than the one that was found. The
signed smallest singular value falls from one to zero and on to the other on the way between two
poses of the same lengths. It changes by about as much as the platform moves, in rad and
characteristic lengths; along the null twist its slope is known.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kernels.state import INVERSE
from liedyn_ros.stewart.platform.state import PlatformMeter, PlatformState
from liedyn_ros.stewart.solver.methods import Method
from liedyn_ros.stewart.solver.pose_solver import PoseSolver, Status
from liedyn_ros.stewart.tracking.branch.kernels.branch import KEPT_BRANCH, SHARPNESS_TIME
from liedyn_ros.stewart.tracking.branch.kernels.separation import separation
from liedyn_ros.stewart.tracking.tracker import TrackedPose

POSSIBLE = 1.0  # certificate below which a second pose may be as near as the one found
CLEAR = 3.0  # certificate from which on home's word is taken again
NEAR_SECOND = 4.0  # ratio of two poses' distances below which home's word does not choose
REACH = 1.5  # ways of a platform at its greatest rate within which a second pose was in reach
LOOK_NS = 100_000_000  # between two looks at home, and over which rates are measured
STOOD = 10.0  # deviations of the lengths within which a platform did not move in a gap
WAYS = (-1.0, -0.5, 0.5, 1.0)  # rad, characteristic lengths
SAME = 1e-3  # separation of two solves of one pose, at most
START = 'start: a second pose may be as near home as this one'
GAP = 'gap: a second pose was within reach while no lengths came'
HOME_DISAGREES = 'home: a solve from there leads to another pose, which is near it'
NOISE = 'singularity: the motion does not tell two poses apart'


class BranchSource(IntEnum):
    """
    Source of the evidence of a pose's branch.

    UNSURE: on nothing. HOME: on the word of home, or of a user who confirmed a pose. MOTION: on a
    motion that led through a singularity. SENSOR: on a redundant sensor. PROVED: only one of the
    machine's poses has the lengths.
    """

    UNSURE = 0
    HOME = 1
    MOTION = 2
    SENSOR = 3
    PROVED = 4


class BranchEvidence:
    """Judges starts and gaps, and remembers what the branch rests on; for one thread."""

    def __init__(
            self, geometry: StewartGeometry, home: Array, method: Method,
            meter: PlatformMeter) -> None:
        """Take a geometry, the home pose (4, 4), m, a method, the meter of the tracker."""
        self._scale = geometry.characteristic_length
        self._centre = tuple(geometry.platform_joints.mean(axis=0).tolist())
        self._solver = PoseSolver(geometry, method)
        self._home = meter.measure(home)
        self._values, self._spare = self._home.values.copy(), self._home.values.copy()
        self._meter = meter
        self.forget()

    def forget(self) -> None:
        """Forget everything: the next pose is a start."""
        self.source, self.reason, self.restarted = BranchSource.HOME, '', False
        self.greatest = 0.0  # rate of this session, rad and characteristic lengths a second
        self._seen: TrackedPose | None = None  # at the last look
        self._regular = 0  # looks away from any singularity

    @property
    def unsure(self) -> bool:
        """Return whether the branch rests on nothing, until one of four ways clears it."""
        return bool(self.reason)

    @property
    def settled(self) -> bool:
        """Return whether the motion was followed for long enough to contradict the start."""
        return self._regular * LOOK_NS >= 1e9 * SHARPNESS_TIME

    def certificate(self, reference: PlatformState, found: PlatformState) -> float:
        """
        Return how much further than the pose found a second one is, as seen from a reference.

        It is the way of the signed value to zero and on to the second pose, over the way from the
        reference. Below 1 a second pose is about as near.
        """
        apart = self._apart(reference.pose, found.pose)
        return _way(reference, found) / apart if apart > 0.0 else math.inf

    def restart(self) -> None:
        """Note that a motion was lost: the next pose is a start that nobody asked for."""
        self.forget()
        self.restarted = True

    def begin(self, tracked: TrackedPose) -> None:
        """Judge the first pose after a start."""
        self._seen = None
        self.source = BranchSource.HOME
        self.reason = '' if self._chooses(tracked.lengths, tracked.state) else START

    def bridge(self, last: TrackedPose, tracked: TrackedPose, noise: float) -> None:
        """
        Judge the first pose after a gap by what the platform could have done in it.

        It is taken to be no faster than ever in this session. If the gap shows that it was,
        nothing bounds its way. noise: standard deviation of a length, in characteristic lengths.
        """
        gap = 1e-9 * (tracked.stamp_ns - last.stamp_ns)
        apart = self._apart(last.pose, tracked.pose)
        if apart * tracked.smallest_singular_value <= STOOD * noise:
            return
        reach = self.greatest * gap if apart <= self.greatest * gap else math.inf
        self._seen = None
        way = min(_way(last.state, tracked.state), self._second(
            tracked.lengths, tracked.state, last.pose))
        if way < REACH * reach:
            self.reason = GAP
            self._look_at_home(tracked)

    def follow(self, tracked: TrackedPose) -> None:
        """Take the next pose of a motion; look at home at times."""
        seen = self._seen
        if seen is not None and tracked.stamp_ns - seen.stamp_ns < LOOK_NS:
            return
        if seen is not None:
            rate = 1e9 * self._apart(seen.pose, tracked.pose) / (tracked.stamp_ns - seen.stamp_ns)
            self.greatest = max(self.greatest, rate)
        self._seen = tracked
        self._regular += tracked.smallest_singular_value > KEPT_BRANCH
        if self.source is BranchSource.HOME or self.unsure:
            self._look_at_home(tracked)

    def _look_at_home(self, tracked: TrackedPose) -> None:
        """Compare a pose with the one that a solve from home leads to."""
        pose, status, *_ = self._solver.solve_checked(
            tracked.lengths, self._home.pose, self._values)
        if status is not Status.CONVERGED:
            return
        found = PlatformState(self._meter, pose, self._values)
        same = self._apart(pose, tracked.pose) <= SAME
        if same and not (self.unsure or self.restarted):
            return
        if self.certificate(self._home, found) < CLEAR or not self._chooses(
                tracked.lengths, found):
            return
        if same:
            self.confirm(BranchSource.HOME)
        else:
            self.reason = HOME_DISAGREES

    def _chooses(self, lengths: Array, found: PlatformState) -> bool:
        """
        Return whether home's word chooses a pose: the nearest other one is much further from home.

        Where no other is found, the certificate says how far it may be.
        """
        second = self._second(lengths, found, self._home.pose)
        if math.isinf(second):
            return self.certificate(self._home, found) >= POSSIBLE
        return second >= NEAR_SECOND * self._apart(self._home.pose, found.pose)

    def _second(self, lengths: Array, found: PlatformState, reference: Array) -> float:
        """
        Return how far from a reference (4, 4), m, the nearest other pose of the lengths is found.

        Solves from both sides look for it, along the three ways that change the lengths least. It
        is infinite where they find none.
        """
        nearest = math.inf
        for way in np.linalg.svd(found.values[:INVERSE].reshape(6, 6))[2][3:]:
            for share in WAYS:
                twist = share * way
                twist[3:] *= self._scale
                guess = se3.compose(found.pose, se3.exp(twist))
                pose, status, *_ = self._solver.solve_checked(lengths, guess, self._spare)
                if status is Status.CONVERGED and self._apart(pose, found.pose) > SAME:
                    nearest = min(nearest, self._apart(reference, pose))
        return nearest

    def ask(self, prefer: Callable[[Array, Array], bool | None], tracked: TrackedPose) -> None:
        """Take a pose for the right one where a redundant sensor prefers it to its second pose."""
        pose, status, *_ = self._solver.solve_checked(
            tracked.lengths, self._meter.reflected(tracked.state), self._spare)
        if status is Status.CONVERGED and self._apart(pose, tracked.pose) > SAME and (
                prefer(tracked.pose, pose) is False):
            self.confirm(BranchSource.SENSOR)

    def crossed(self) -> None:
        """Note that the motion led through a singularity."""
        if not self.unsure:
            self.source = BranchSource.MOTION

    def confirm(self, source: BranchSource) -> None:
        """Take the present branch for the right one, on the word of a source."""
        self.source, self.reason, self.restarted = source, '', False

    def _apart(self, first: ArrayLike, second: ArrayLike) -> float:
        return float(separation(first, second, self._centre, self._scale))


def _way(first: PlatformState, second: PlatformState) -> float:
    """
    Return how far it is from a pose to a singularity and on to the second pose of another.

    The signed value changes along the null twist by its slope. Along others it changes by about
    as much as the platform moves.
    """
    steepest = max(1.0, abs(first.slope), abs(second.slope))
    return (abs(first.signed_value) + abs(second.signed_value)) / steepest
