# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fields of a StewartStatus of one sample: outcome of the solve, certificate, warnings."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.certificate.pose import PoseCertifier, unproved
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.solver.pose_solver import Solution
from liedyn_ros.stewart.tracking.monitored_tracker import MonitoredPose
from liedyn_ros.stewart.tracking.tracker import TrackedPose

Outcome = Solution | TrackedPose  # of a solve
NO_BOUNDS = (0.0,) * 8  # in place of error radius, uniqueness radius and six bounds
REJECTED = 4  # the status of input that was not solved, beside those of solves
LIMITS = int(Flag.LEG_TRAVEL | Flag.JOINT_ANGLE | Flag.LEG_CLEARANCE | Flag.NEAR_DEAD_CENTRE)


def describe(solution: Outcome) -> str:
    """Return why a solve failed, empty if it converged."""
    if solution.converged:
        return ''
    return (f'expected lengths of a regular pose, got {solution.status.name.lower()} after '
            f'{solution.iterations} iterations: largest length error {solution.residual:.3g} m, '
            f'smallest singular value {solution.smallest_singular_value:.3g}')


def certifier_of(settings: Any, geometry: StewartGeometry) -> PoseCertifier | None:
    """Return the certifier of poses by named settings; None for legs that have no proof."""
    if unproved(geometry):
        return None
    return PoseCertifier(geometry, settings['length_bound'], settings['joint_bound'])


def certificate_of(
        certifier: PoseCertifier | None, solution: Solution | TrackedPose,
        lengths: Array) -> tuple[float, ...] | None:
    """Return error radius, uniqueness radius and six bounds of a pose; None if not certified."""
    if certifier is None or not solution.converged:
        return None
    radius, unique, _, *bounds = certifier.numbers(solution.pose, lengths)
    return None if math.isnan(radius) else (radius, unique, *bounds)


def motion_numbers(monitored: MonitoredPose) -> tuple[int, int, float, float]:
    """Return the sign of the determinant, the expected one, prediction gap, time to go (s)."""
    branch = monitored.branch
    if branch is None or monitored.bias_fit is not None:
        return 0, 0, 0.0, 0.0
    return (int(monitored.state.determinant_sign), int(branch.expected_sign),
            branch.prediction_gap, monitored.time_to_singularity)


def certificate_fields(bounds: Sequence[float] | None) -> dict[str, Any]:
    """Return the fields of what certificate_of returns."""
    radius, unique, *errors = bounds or NO_BOUNDS
    return {'certified': bounds is not None, 'error_radius': radius,
            'uniqueness_radius': unique, 'error_bound': errors}


def outcome_fields(solution: Outcome, start: int, solve_time: float) -> dict[str, Any]:
    """Return the fields of the outcome of a solve; solve_time: s."""
    return {'status': int(solution.status), 'message': describe(solution), 'start': start,
            'iterations': solution.iterations, 'residual': solution.residual,
            'smallest_singular_value': solution.smallest_singular_value,
            'solve_time': solve_time}


def status_fields(
        monitored: MonitoredPose, flags: int, bounds: Sequence[float] | None,
        names: Sequence[str]) -> dict[str, Any]:
    """
    Return the fields of the status of a sample, but for header, age, passed_over.

    flags: its own, and those of samples passed over. bounds: of certificate_of. names: of legs.
    """
    sign, expected, gap, until = motion_numbers(monitored)
    return {
        **outcome_fields(monitored, int(monitored.start), monitored.solve_time),
        **length_fields(monitored.lengths), 'flags': flags,
        'suspected_legs': [names[leg] for leg in monitored.legs],
        'exceeded_limits': (
            monitored.state.exceeded_limits() if int(monitored.flags) & LIMITS else []),
        'determinant_sign': sign, 'expected_determinant_sign': expected,
        'prediction_gap': gap, 'time_to_singularity': until,
        'branch_source': int(monitored.branch_source), **certificate_fields(bounds)}


def length_fields(lengths: Array) -> dict[str, Any]:
    """Return the fields of leg lengths (n,), m or rad."""
    return {'length': lengths[:6], 'further_lengths': lengths[6:].tolist()}


def refusal_fields(reason: str) -> dict[str, Any]:
    """Return the fields of the refusal of input; the others are zero."""
    return {'status': REJECTED, 'message': reason}
