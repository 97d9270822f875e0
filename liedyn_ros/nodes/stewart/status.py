# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts of a StewartStatus: outcome of a solve, certificate, refusal."""

from collections.abc import Sequence
import math

from liedyn_interfaces.msg import StewartStatus

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart import PoseCertifier, RedundantPose, Solution, TrackedPose

Outcome = Solution | TrackedPose | RedundantPose  # of a solve
NO_BOUNDS = (0.0,) * 8  # in place of error radius, uniqueness radius and six bounds


def fill_status(
        status: StewartStatus, solution: Outcome, start: int,
        solve_time: float) -> None:
    """Write the outcome of a solve."""
    status.status = int(solution.status)
    status.message = describe(solution)
    status.start = start
    status.iterations = solution.iterations
    status.residual = solution.residual
    status.smallest_singular_value = solution.smallest_singular_value
    status.solve_time = solve_time


def certificate_of(
        certifier: PoseCertifier | None, solution: Solution | TrackedPose,
        lengths: Array) -> tuple[float, ...] | None:
    """Return error radius, uniqueness radius and six bounds of a pose; None if not certified."""
    if certifier is None or not solution.converged:
        return None
    radius, unique, _, *bounds = certifier.numbers(solution.pose, lengths)
    return None if math.isnan(radius) else (radius, unique, *bounds)


def fill_certificate(status: StewartStatus, bounds: Sequence[float] | None) -> None:
    """Write what certificate_of returns."""
    status.certified = bounds is not None
    status.error_radius, status.uniqueness_radius, *errors = bounds or NO_BOUNDS
    status.error_bound = errors


def fill_refusal(status: StewartStatus, reason: str) -> None:
    """Write the reason of a refusal."""
    status.status, status.message = StewartStatus.REJECTED, reason


def describe(solution: Outcome) -> str:
    """Return why a solve failed, empty if it converged."""
    if solution.converged:
        return ''
    return (f'expected lengths of a regular pose, got {solution.status.name.lower()} after '
            f'{solution.iterations} iterations: largest length error {solution.residual:.3g} m, '
            f'smallest singular value {solution.smallest_singular_value:.3g}')
