# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Forward kinematics of a Stewart platform: the pose of leg lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.solver.kernels import problem, solve as kernels
from liedyn_ros.stewart.solver.least_squares import AT_REST, LeastSquares, LengthFit


@dataclass(frozen=True, kw_only=True)
class LevenbergMarquardt:
    """
    Settings of Levenberg-Marquardt by body twists, Algorithm A2 of the Stewart paper.

    max_iterations: steps of a solve. damping: tau in (0, 1), the first damping relative to the
    largest diagonal entry of J^T J. residual_tolerance: on a residual, relative to the two numbers
    of its difference. step_tolerance: on the norm of a step, in rad and units of the
    characteristic length. smallest_singular_value: of dL/d(body twist) in the same units; below it
    a pose is singular.

    Raises LimitError for a setting outside its range, or the errors of checks.as_number.

    >>> solver = ld.PoseSolver(geometry, LevenbergMarquardt(max_iterations=20))
    >>> solver.solve(leg_lengths(geometry, home), home).iterations <= 20
    True
    """

    damping: float = 1e-6
    max_iterations: int = 50
    residual_tolerance: float = 1e-14
    step_tolerance: float = 1e-14
    smallest_singular_value: float = 1e-6

    def __post_init__(self) -> None:
        """Refuse settings outside their range."""
        if isinstance(self.max_iterations, bool) or not (
                isinstance(self.max_iterations, int) and 1 <= self.max_iterations <= 10_000):
            raise LimitError('max_iterations: expected an integer in [1, 10000], '
                             f'got {self.max_iterations!r}')
        for name in ('damping', 'residual_tolerance', 'step_tolerance',
                     'smallest_singular_value'):
            if not 0.0 < checks.as_number(name, getattr(self, name)) < 1.0:
                raise LimitError(
                    f'{name}: expected a number in (0, 1), got {getattr(self, name)!r}')

    def as_tuple(self) -> problem.Settings:
        """
        Return the settings as the kernels take them.

        Returns:
            a tuple of numbers.

        >>> len(LevenbergMarquardt().as_tuple())
        5
        """
        return problem.Settings(
            float(self.damping), self.max_iterations, float(self.residual_tolerance),
            float(self.step_tolerance), float(self.smallest_singular_value))


class Status(IntEnum):
    """
    How a solve ended.

    >>> ld.PoseSolver(geometry).solve(leg_lengths(geometry, home), home).status.name
    'CONVERGED'
    """

    CONVERGED = problem.CONVERGED  # the lengths are met to rounding
    MAX_ITERATIONS = problem.MAX_ITERATIONS
    STALLED = problem.STALLED  # no step descends: the lengths may belong to no pose
    SINGULAR = problem.SINGULAR  # dL/d(twist) has no inverse where the solver stopped

    def __str__(self) -> str:
        """Return the name."""
        return self.name


STATUSES = tuple(Status)  # by value; quicker than Status(value)


class Solution(NamedTuple):
    """
    A pose and how well it is known.

    pose: (4, 4), platform in base, m. status, iterations: of the solve. residual: largest leg
    length error, m, of a rod that a rail or a crank drives likewise. smallest_singular_value: of
    dL/d(body twist), the angular part of the twist in units of the characteristic length, so
    dimensionless: 0 at a singular pose. Where a drive's transmission (leg_types.least_drive) is
    less, it is that: 0 at a dead centre. fit: from seven legs on, what the residual says of them.

    >>> found = ld.PoseSolver(geometry).solve(leg_lengths(geometry, home), home)
    >>> found.converged, found.residual < 1e-12
    (True, True)
    """

    pose: Array
    status: Status
    iterations: int
    residual: float
    smallest_singular_value: float
    fit: LengthFit | None = None

    @property
    def converged(self) -> bool:
        """Return whether the pose meets the lengths and is not singular."""
        return self.status is Status.CONVERGED


@dataclass(frozen=True)
class Solutions:
    """
    Many solutions as arrays of n rows; indexing gives one Solution.

    poses, statuses, iterations, residuals and smallest_singular_values are as its fields.

    >>> lengths = leg_lengths(geometry, home)
    >>> many = ld.PoseSolver(geometry).solve_batch([lengths, lengths], home)
    >>> many.poses.shape, many[1].converged
    ((2, 4, 4), True)
    """

    poses: Array
    statuses: Array
    iterations: Array
    residuals: Array
    smallest_singular_values: Array

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.poses)

    def __getitem__(self, index: int) -> Solution:
        """Return one of them."""
        return Solution(
            self.poses[index], self.statuses[index], int(self.iterations[index]),
            float(self.residuals[index]), float(self.smallest_singular_values[index]))

    def __iter__(self) -> Iterator[Solution]:
        """Go through them in order."""
        return (self[index] for index in range(len(self)))


class PoseSolver:
    """
    Solves poses of one platform; owns its workspace, so one for each thread.

    Six lengths are met exactly; seven and more by weighted least squares.

    >>> solver = ld.PoseSolver(geometry)
    >>> np.allclose(solver.solve(leg_lengths(geometry, home), guess=home).pose, home)
    True
    """

    def __init__(
            self, geometry: StewartGeometry, method: LevenbergMarquardt = LevenbergMarquardt()
    ) -> None:
        """
        Take a geometry and the settings.

        Args:
            geometry: of the platform.
            method: settings of Levenberg-Marquardt.

        Raises:
            LiedynError: for anything but a geometry.
        """
        self.geometry = require_kind(
            'geometry', geometry, StewartGeometry, 'as load_geometry returns')
        self.method = method
        self.least_squares = LeastSquares(geometry) if geometry.redundant else None
        self._meter = PlatformMeter(geometry)
        self._settings = method.as_tuple()
        self._scale = geometry.characteristic_length
        self._joints = geometry.table(self._scale)
        # Buffers of our own keep the arrays' types, and so the compiled kernel, always the same.
        self._lengths, self._guess = np.empty(len(geometry.leg_names)), np.empty((4, 4))
        self._state, self._work = self._meter.empty(), np.empty(kernels.SOLVER_WORK)

    def __repr__(self) -> str:
        """Return the geometry."""
        return f'<PoseSolver of {self.geometry!r}>'

    def solve(
            self, lengths: ArrayLike, guess: ArrayLike, state: Array | None = None, *,
            without: ArrayLike = ()) -> Solution:
        """
        Return the pose of leg lengths that a solve reaches from a guess.

        It takes any numbers: lengths in mm end far away, CONVERGED or not, and a guess below the
        base at the mirrored pose. MonitoredTracker refuses other units and judges the branch;
        `liedyn platform check` detects both.

        Args:
            lengths: (n,), m (rad of a crank), in the order of the geometry.
            guess: pose (4, 4) of the platform in the base, m.
            state: array for the numbers of the PlatformState at the pose; by default none.
            without: indices of legs that are left out, n - 6 at most.

        Returns:
            a Solution: pose (4, 4), status, iterations and residual.

        Raises:
            LiedynError: for other shapes, struts' lengths not above 0, or a guess that is no pose.

        >>> ld.PoseSolver(geometry).solve(leg_lengths(geometry, home), home).converged
        True
        """
        if guess is None:
            raise LiedynError('guess: expected a pose (4, 4) near which to look, such as '
                              'geometry.home, got None', names=('guess',))
        checks.require_no_mask('lengths', lengths)
        checks.require_no_mask('guess', guess)
        try:
            lengths, guess = np.asarray(lengths), np.asarray(guess)
            np.copyto(self._lengths, lengths, casting='same_kind')
            np.copyto(self._guess, guess, casting='same_kind')
        except (TypeError, ValueError) as error:  # no numbers, or of another shape
            raise self.why_refused(lengths, guess) from error
        if lengths.shape != self._lengths.shape or guess.shape != (4, 4):
            raise self.why_refused(lengths, guess)
        state = self._state if state is None else state
        fitted = self.least_squares
        if fitted is None:
            if np.size(without):
                raise LimitError(f'without: expected none of six legs, got {without!r}')
            return Solution(*self.solve_checked(self._lengths, self._guess, state))
        self.geometry.require_values(checks.as_array('lengths', lengths, self._lengths.shape))
        se3.require_pose('guess', guess)
        weights = fitted.without(without)
        pose, status, iterations, square = fitted.solve_checked(
            self._lengths, self._guess, weights)
        self._meter.write(pose, state, weights)
        fitted.project()
        return Solution(
            pose, STATUSES[status], iterations, float(np.abs(fitted.errors).max()),
            float(state[-2]), LengthFit(
                fitted.errors.copy(), square, fitted.deviations, fitted.redundancies.copy(),
                fitted.covariance(weights)))

    def solve_checked(
            self, lengths: Array, guess: Array, state: Array, twist: Array = AT_REST,
            seconds: float = 0.0) -> tuple[Array, Status, int, float, float]:
        """
        Return the parts of a Solution as `solve` does, for a hot loop: the arrays are not checked.

        Args:
            lengths: (n,), float64; m, of cranks rad.
            guess: pose (4, 4), float64; m.
            state: (57,) of a PlatformMeter, which takes numbers of the pose.
            twist: body twist (6,) at which the guess is moved on; rad/s and m/s.
            seconds: for how long; s.

        Returns:
            pose (4, 4), status, iterations, residual (m) and smallest singular value.

        Raises:
            ShapeError, NotFiniteError, NotInGroupError: from `solve`, for arrays that it refuses.

        >>> from liedyn_ros.stewart.platform.state import PlatformMeter
        >>> solver, numbers = ld.PoseSolver(geometry), PlatformMeter(geometry).empty()
        >>> solver.solve_checked(leg_lengths(geometry, home), home, numbers)[1]
        <Status.CONVERGED: 0>
        """
        if self.least_squares is not None:
            pose, status, iterations, _ = self.least_squares.solve_checked(
                lengths, guess, self.least_squares.weights, twist, seconds)
            self._meter.write(pose, state)
            return (pose, STATUSES[status], iterations,
                    float(np.abs(self.least_squares.errors).max()), float(state[-2]))
        pose = np.empty((4, 4))
        status, iterations, residual, smallest = kernels.solve_six(
            self._joints, self._scale, lengths, guess, twist, seconds, self._settings, pose,
            state, self._work)
        if status == problem.INVALID:
            raise self.why_refused(lengths, guess)
        return pose, STATUSES[status], iterations, residual, smallest

    def solve_batch(self, lengths: ArrayLike, guesses: ArrayLike) -> Solutions:
        """
        Return the poses of m rows of leg lengths.

        Args:
            lengths: (m, n), m (rad of a crank).
            guesses: (m, 4, 4), or one (4, 4) for all, platform in base, m.

        Returns:
            Solutions: poses (m, 4, 4), statuses and iterations (m,).

        Raises:
            LiedynError: as solve, before anything is solved.

        >>> lengths = leg_lengths(geometry, home)
        >>> ld.PoseSolver(geometry).solve_batch([lengths, lengths], home).poses.shape
        (2, 4, 4)
        """
        lengths = self.geometry.require_values(checks.as_array(
            'lengths', lengths, (-1, len(self._lengths))))
        guesses = se3.require_pose('guesses', guesses)
        guesses = np.array(np.broadcast_to(guesses, (len(lengths), 4, 4)))
        poses, outcome = np.empty((len(lengths), 4, 4)), np.empty((len(lengths), 4))
        if self.least_squares is None:
            kernels.solve_poses(
                self._joints, self._scale, lengths, guesses, self._settings, poses, outcome,
                self._state, self._work)
        else:
            for k, found in enumerate(map(self.solve, lengths, guesses)):
                poses[k], outcome[k] = found.pose, found[1:5]
        statuses = np.array(STATUSES, object)[outcome[:, 0].astype(int)]
        return Solutions(poses, statuses, outcome[:, 1].astype(int),
                         outcome[:, 2], outcome[:, 3])

    def why_refused(self, lengths: ArrayLike, guess: ArrayLike) -> LiedynError:
        """
        Return the error of lengths or a guess that the kernel refused.

        Args:
            lengths: (n,), m (rad of a crank).
            guess: (4, 4), platform in base, m.

        Returns:
            the error, not raised.

        >>> solver = ld.PoseSolver(geometry)
        >>> type(solver.why_refused(np.full(6, np.nan), home)).__name__
        'NotFiniteError'
        """
        try:
            self.geometry.require_values(checks.as_array(
                'lengths', lengths, self._lengths.shape))
            se3.require_pose('guess', guess, (4, 4))
        except LiedynError as error:
            return error
        return LimitError(f'lengths and guess: expected sizes that can be squared, '
                          f'got {lengths!r} and {guess!r}')
