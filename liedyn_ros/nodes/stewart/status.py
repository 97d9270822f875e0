# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts of a StewartStatus: outcome of a solve, certificate, refusal."""

from collections.abc import Sequence

from liedyn_interfaces.msg import StewartStatus

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart import PoseCertifier, Solution, TrackedPose

UNKNOWN = float('nan')  # of numbers in the status of a refused sample
NOT_CERTIFIED = (UNKNOWN,) * 8


def fill_status(
        status: StewartStatus, solution: Solution | TrackedPose, start: int,
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
        lengths: Array) -> tuple[float, ...]:
    """Return error radius, uniqueness radius and six bounds of a pose; NaN if not certified."""
    if certifier is None or not solution.converged:
        return NOT_CERTIFIED
    radius, unique, _, *bounds = certifier.numbers(solution.pose, lengths)
    return radius, unique, *bounds


def fill_certificate(status: StewartStatus, numbers: Sequence[float]) -> None:
    """Write the numbers of certificate_of."""
    status.error_radius, status.uniqueness_radius, *bounds = numbers
    status.error_bound = bounds


def fill_refusal(status: StewartStatus, reason: str) -> None:
    """Write the reason of a refusal."""
    status.status, status.message = StewartStatus.REJECTED, reason
    status.residual = status.smallest_singular_value = status.solve_time = UNKNOWN
    status.prediction_gap = status.time_to_singularity = UNKNOWN
    status.length = [UNKNOWN] * 6
    fill_certificate(status, NOT_CERTIFIED)


def describe(solution: Solution | TrackedPose) -> str:
    """Return why a solve failed, empty if it converged."""
    if solution.converged:
        return ''
    return (f'expected lengths of a regular pose, got {solution.status.name.lower()} after '
            f'{solution.iterations} iterations: largest length error {solution.residual:.3g} m, '
            f'smallest singular value {solution.smallest_singular_value:.3g}')
