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
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.solver.kernels import charts, problem, solve as kernels
from liedyn_ros.stewart.solver.least_squares import AT_REST, LeastSquares, LengthFit

KernelSettings = tuple[int, int, int, float, int, float, float, float]


class Chart(IntEnum):
    """The unknowns of a pose, and so the retraction of a step."""

    BODY = charts.BODY  # T exp(s), a twist in the platform frame
    SPATIAL = charts.SPATIAL  # exp(s) T, a twist in the base frame
    ANGLES = charts.ANGLES  # position plus roll, pitch, yaw: R^6
    QUATERNION = charts.QUATERNION  # position plus quaternion, and the equation |q|^2 = 1: R^7


class Residual(IntEnum):
    """The error that is driven to zero for each leg."""

    SQUARED_LENGTHS = problem.SQUARED_LENGTHS
    LENGTHS = problem.LENGTHS


@dataclass(frozen=True, kw_only=True)
class Method:
    """
    Settings of both methods.

    residual_tolerance: on a residual, relative to the two numbers of its difference.
    step_tolerance: on the norm of a step, in rad and units of the characteristic length.
    smallest_singular_value: of dL/d(body twist) in the same units; below it a pose is singular.
    chart, residual: the form of the equations; use the default, the others are for comparison.

    Raises LimitError for a setting outside its range, or the errors of checks.as_number.
    """

    max_iterations: int = 50
    residual_tolerance: float = 1e-14
    step_tolerance: float = 1e-14
    smallest_singular_value: float = 1e-6
    chart: Chart = Chart.BODY
    residual: Residual = Residual.SQUARED_LENGTHS

    kernel: ClassVar[int]
    parameter: ClassVar[str]  # the name of the setting that is the method's own

    def __post_init__(self) -> None:
        """Refuse settings outside their range."""
        if isinstance(self.max_iterations, bool) or not (
                isinstance(self.max_iterations, int) and 1 <= self.max_iterations <= 10_000):
            raise LimitError('max_iterations: expected an integer in [1, 10000], '
                             f'got {self.max_iterations!r}')
        for name in (self.parameter, 'residual_tolerance', 'step_tolerance',
                     'smallest_singular_value'):
            if not 0.0 < checks.as_number(name, getattr(self, name)) < 1.0:
                raise LimitError(
                    f'{name}: expected a number in (0, 1), got {getattr(self, name)!r}')

    def as_tuple(self) -> KernelSettings:
        """Return the settings as the kernels take them."""
        return (self.kernel, int(self.chart), int(self.residual),
                float(getattr(self, self.parameter)),
                self.max_iterations, float(self.residual_tolerance),
                float(self.step_tolerance), float(self.smallest_singular_value))

    @property
    def unknowns(self) -> tuple[int, ...]:
        """Return the indices of the unknowns, as the kernels take them."""
        return charts.SEVEN if self.chart == Chart.QUATERNION else charts.SIX


@dataclass(frozen=True, kw_only=True)
class LevenbergMarquardt(Method):
    """
    Levenberg-Marquardt, Algorithm A2.

    damping: tau in (0, 1), the first damping relative to the largest diagonal entry of J^T J.
    """

    damping: float = 1e-6

    kernel: ClassVar[int] = kernels.LEVENBERG_MARQUARDT
    parameter: ClassVar[str] = 'damping'


@dataclass(frozen=True, kw_only=True)
class GaussNewton(Method):
    """
    Gauss-Newton with the half-step descent rule, Algorithm A1.

    step_factor: alpha in (0, 1), tried first at every step and squared until the step descends.
    """

    step_factor: float = 0.99

    kernel: ClassVar[int] = kernels.GAUSS_NEWTON
    parameter: ClassVar[str] = 'step_factor'


class Status(IntEnum):
    """How a solve ended."""

    CONVERGED = problem.CONVERGED  # the lengths are met to rounding
    MAX_ITERATIONS = problem.MAX_ITERATIONS
    STALLED = problem.STALLED  # no step descends: the lengths may belong to no pose
    SINGULAR = problem.SINGULAR  # dL/d(twist) has no inverse where the solver stopped


STATUSES = tuple(Status)  # by value; quicker than Status(value)


class Solution(NamedTuple):
    """
    A pose and how well it is known.

    pose: (4, 4), platform in base, m. residual: largest leg length error, m, of a rod that a
    rail or a crank drives likewise. smallest_singular_value: of dL/d(body twist), the angular
    part of the twist in units of the characteristic length, so dimensionless: 0 at a singular
    pose. Where a drive's transmission (leg_types.least_drive) is less, it is that: 0 at a dead
    centre. fit: from seven legs on, what the residual says of them.
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
    """Many solutions as arrays of n rows; indexing gives one Solution. Fields as there."""

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
            self.poses[index], Status(int(self.statuses[index])), int(self.iterations[index]),
            float(self.residuals[index]), float(self.smallest_singular_values[index]))

    def __iter__(self) -> Iterator[Solution]:
        """Go through them in order."""
        return (self[index] for index in range(len(self)))


class PoseSolver:
    """
    Solves poses of one platform; owns its workspace, so one for each thread.

    Six lengths are met. From seven on the pose is that of weighted least squares, by the twist of
    the body, whatever the chart: of Levenberg-Marquardt alone.
    """

    def __init__(
            self, geometry: StewartGeometry, method: Method = LevenbergMarquardt(), *,
            scale: float | None = None) -> None:
        """
        Take a geometry and a method.

        scale: m, the unit of length of damping, steps and singular values beside radians; by
        default the characteristic length. Raises LimitError where it is not above zero, and for
        another method than Levenberg-Marquardt for more than six legs; LiedynError for anything
        but a geometry.
        """
        self.geometry = require_kind(
            'geometry', geometry, StewartGeometry, 'as load_geometry returns')
        self.method = method
        self.least_squares: LeastSquares | None = None
        if geometry.redundant:
            if not isinstance(method, LevenbergMarquardt):
                raise LimitError('method: expected LevenbergMarquardt for more than six legs, '
                                 f'got {method!r}')
            self.least_squares = LeastSquares(geometry)
        self._meter = PlatformMeter(geometry)
        self._settings = method.as_tuple()
        self._unknowns = method.unknowns
        six = len(method.unknowns) == 6
        self._solve = kernels.solve_six if six else kernels.solve_seven
        self._scale = (geometry.characteristic_length if scale is None
                       else checks.as_positive('scale', scale))
        self._joints = geometry.table(self._scale)
        # Buffers of our own keep the arrays' types, and so the compiled kernel, always the same.
        self._lengths, self._guess = np.empty(len(geometry.leg_names)), np.empty((4, 4))
        self._state, self._work = self._meter.empty(), np.empty(kernels.SOLVER_WORK)

    def __repr__(self) -> str:
        """Return the method and the geometry."""
        return f'<PoseSolver of {self.geometry!r} by {type(self.method).__name__}>'

    def solve(
            self, lengths: ArrayLike, guess: ArrayLike, state: Array | None = None, *,
            without: ArrayLike = ()) -> Solution:
        """
        Return the pose of leg lengths that the method reaches from a guess.

        lengths: (n,), m (rad of a crank), in the geometry's order. guess: (4, 4), platform in
        base, m. state: where the numbers of the PlatformState at that pose are wanted, the
        array for them. without: indices of legs that are left out, n - 6 at most. Raises
        ShapeError, NotFiniteError, LimitError or NotInGroupError.
        """
        checks.require_no_mask('lengths', lengths)
        checks.require_no_mask('guess', guess)
        try:
            lengths, guess = np.asarray(lengths), np.asarray(guess)
            np.copyto(self._lengths, lengths, casting='same_kind')
            np.copyto(self._guess, guess, casting='same_kind')
        except (TypeError, ValueError) as error:  # no numbers, or of another shape
            raise self._why_refused(lengths, guess) from error
        if lengths.shape != self._lengths.shape or guess.shape != (4, 4):
            raise self._why_refused(lengths, guess)
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
        Return the parts of a Solution as `solve` does, for a hot loop.

        All arrays are of float64, of the right shapes and not checked. The guess is moved on for a
        time (s) at a body twist (6,), rad/s and m/s.
        """
        if self.least_squares is not None:
            pose, status, iterations, _ = self.least_squares.solve_checked(
                lengths, guess, self.least_squares.weights, twist, seconds)
            self._meter.write(pose, state)
            return (pose, STATUSES[status], iterations,
                    float(np.abs(self.least_squares.errors).max()), float(state[-2]))
        pose = np.empty((4, 4))
        status, iterations, residual, smallest = self._solve(
            self._joints, self._scale, lengths, guess, twist, seconds, self._settings, pose,
            state, self._work)
        if status == problem.INVALID:
            raise self._why_refused(lengths, guess)
        return pose, STATUSES[status], iterations, residual, smallest

    def solve_batch(self, lengths: ArrayLike, guesses: ArrayLike) -> Solutions:
        """
        Return the poses of m rows of leg lengths (m, n), m, from m guesses or one for all.

        guesses: (m, 4, 4) or (4, 4), platform in base, m. Raises as `solve` does, before
        anything is solved.
        """
        lengths = self.geometry.require_values(checks.as_array(
            'lengths', lengths, (-1, len(self._lengths))))
        guesses = se3.require_pose('guesses', guesses)
        guesses = np.array(np.broadcast_to(guesses, (len(lengths), 4, 4)))
        poses, outcome = np.empty((len(lengths), 4, 4)), np.empty((len(lengths), 4))
        if self.least_squares is None:
            kernels.solve_poses(
                self._joints, self._scale, lengths, guesses, self._settings, poses, outcome,
                self._state, self._work, len(self._unknowns) == 7)
        else:
            for k, found in enumerate(map(self.solve, lengths, guesses)):
                poses[k], outcome[k] = found.pose, found[1:5]
        return Solutions(poses, outcome[:, 0].astype(int), outcome[:, 1].astype(int),
                         outcome[:, 2], outcome[:, 3])

    def _why_refused(self, lengths: ArrayLike, guess: ArrayLike) -> LiedynError:
        """Return the error of lengths or a guess that the kernel refused."""
        try:
            self.geometry.require_values(checks.as_array(
                'lengths', lengths, self._lengths.shape))
            se3.require_pose('guess', checks.as_array('guess', guess, (4, 4)))
        except LiedynError as error:
            return error
        return LimitError(f'lengths and guess: expected sizes that can be squared, '
                          f'got {lengths!r} and {guess!r}')
