# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Whether a calibration is better at poses that took no part in it, and the machine of its file.

A calibration corrects errors of building. Joints beyond half the way to another leg's, scales
nearer to none than to 1, readings out of the file's travel and singular poses are none of these:
legs, units or frames are wrong then, and errors of a fit tell nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.identification.calibration.fit import CalibrationFit, FOLDS, GAIN_DEVIATIONS, refit
from liedyn_ros.stewart.calibration.parameters import Geometry
from liedyn_ros.stewart.calibration.problem import corrected, moved, Problem
from liedyn_ros.stewart.calibration.start import poses_of
from liedyn_ros.stewart.platform.description.leg_checks import COINCIDENT
from liedyn_ros.stewart.platform.state import PlatformMeter, SINGULARITY_WARNING

# Of the way to another leg's joint, or of a scale: from there on nearer to another
DOUBT_SHARE = 0.5


class Accuracy(NamedTuple):
    """
    How well poses by the readings agree with the instrument, root mean square.

    position: m, rotation: rad, nan where that is not measured, over the poses that readings
    determine, inf where these are not most. misfit: of all equations of a pose,
    in deviations: 1 is noise alone. by_pose: (3, n), the same of each pose.

    >>> found = calibrate(geometry, readings, measured_poses(poses), home=home)
    >>> found.held_out.after.position < 1e-6
    True
    """

    position: float
    rotation: float
    misfit: float
    by_pose: Array


class HeldOut(NamedTuple):
    """
    Old and new geometry, before and after, at poses that took no part in the fit.

    poses: their number. gain: mean of the logarithm of the squared misfits' ratio; error: its
    deviation.

    >>> calibrate(geometry, readings, measured_poses(poses), home=home).held_out.poses
    40
    """

    before: Accuracy
    after: Accuracy
    poses: int
    gain: float
    error: float

    @property
    def better(self) -> bool:
        """Return whether the new geometry is clearly better."""
        worse = not self.after.misfit < self.before.misfit or np.isinf(
            [self.after.position, self.after.rotation]).any()
        return bool(self.gain > GAIN_DEVIATIONS * self.error and not worse)


def compare(problem: Problem, found: CalibrationFit, assumed: bool = False) -> HeldOut:
    """
    Return old and new at each used pose, the new from fits without a fifth of them.

    Where deviations are assumed, misfits are by those that all poses of the fit estimate.
    """
    parameters, rows = problem.parameters, np.flatnonzero(found.used)
    frames_only = np.arange(parameters.size) >= parameters.of_geometry
    nothing = np.zeros(parameters.size)
    squares = np.zeros((2, 3, len(rows)))  # of position, rotation and misfit
    for fold in range(FOLDS):
        held = np.arange(fold, len(rows), FOLDS)
        if not len(held):
            continue
        rest = _of_rows(problem, np.delete(rows, held))
        for k, z in enumerate((
                refit(rest, nothing, frames_only) if frames_only.any() else nothing,
                refit(rest, found.z, np.ones(parameters.size, dtype=bool)))):
            at = _of_rows(problem, rows[held])
            squares[k, 2, held] = (at.at(z).errors ** 2).mean(axis=1)
            squares[k, :2, held] = _instrument_squares(at, z).T
    gains = np.log((1.0 + squares[0, 2]) / (1.0 + squares[1, 2]))
    if assumed:
        squares[:, 2] /= found.factor
    measured = problem.samples.measured
    taken = bool(measured.points.shape[1]), measured.rotations is not None, True
    return HeldOut(_accuracy(squares[0], taken), _accuracy(squares[1], taken), len(rows),
                   float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains))))


def _accuracy(squares: Array, taken: tuple[bool, ...]) -> Accuracy:
    position, rotation, misfit = (
        _root_mean(each) if known else math.nan for each, known in zip(squares, taken))
    return Accuracy(position, rotation, misfit, np.sqrt(squares))


def _root_mean(squares: Array) -> float:
    """Return the root of the mean over poses that readings determine; inf where most have none."""
    known = squares[np.isfinite(squares)]
    return math.sqrt(known.mean()) if 2 * len(known) > len(squares) else math.inf


def _of_rows(problem: Problem, rows: NDArray[np.int64]) -> Problem:
    return Problem(problem.parameters, problem.samples.rows(rows), problem.start,
                   problem.poses[rows])


def _instrument_squares(problem: Problem, z: Array) -> Array:
    """
    Return mean squared errors (2, n) of points and rotations at poses by readings alone.

    nan where readings do not determine a pose: it has none, or is near a singularity.
    """
    squares = np.full((2, len(problem.poses)), np.nan)
    try:
        poses, solved = poses_of(moved(problem.parameters, z), corrected(
            problem.samples.readings, problem.parameters.errors(z)), problem.poses,
            SINGULARITY_WARNING)
    except LiedynError:  # the old geometry may have no pose for a reading
        return np.full_like(squares, np.inf)
    points, rotations = problem.instrument_errors(z, poses)
    if points.shape[1]:
        squares[0] = (points ** 2).sum(axis=2).mean(axis=1)
    if rotations.shape[1]:
        squares[1] = (rotations ** 2).sum(axis=1)
    squares[:, ~solved] = np.nan
    return squares


def doubts(given: Geometry, found: Geometry, errors: Array, readings: Array, poses: Array
           ) -> tuple[str, ...]:
    """
    Return sentences on what no error of building is, none where all is one.

    errors: (n, 7 or 8), of given, m or rad and scales. readings: (m, n), as calibrate takes them.
    poses: (m, 4, 4), m, found at these.
    """
    return (*_of_joints(given, errors), *_of_readings(given, errors, readings),
            *_of_poses(given, found, poses))


def _of_joints(given: Geometry, errors: Array) -> list[str]:
    """Return sentences on joints that are nearer to another leg's place than to their own."""
    result = []
    for place, joints, moves in (('base', given.base_joints, errors[:, :3]),
                                 ('platform', given.platform_joints, errors[:, 3:6])):
        apart = np.linalg.norm(joints[:, None] - joints, axis=2)
        apart[apart <= COINCIDENT * given.characteristic_length] = np.inf
        moved = np.linalg.norm(moves, axis=1)
        for leg in np.flatnonzero(moved > DOUBT_SHARE * apart.min(axis=1)).tolist():
            result.append(
                f'the {place} joint of {given.leg_names[leg]} would move by '
                f'{1e3 * moved[leg]:.3g} mm, where the joint of '
                f'{given.leg_names[int(apart[leg].argmin())]} is {1e3 * apart[leg].min():.3g} mm '
                'away: no error of building, but of legs, units or frames')
    return result


def _of_readings(given: Geometry, errors: Array, readings: Array) -> list[str]:
    """Return sentences on scales near none, and on readings out of the file's travel."""
    names, result = np.array(given.leg_names), []
    wrong = np.abs(errors[:, 7:].sum(axis=1)) > DOUBT_SHARE
    if wrong.any():
        result.append(f'readings of {listed(names[wrong].tolist())} would be off by half of '
                      'themselves and more: check their unit')
    low, high = given.length_limits.T
    middle = np.median(corrected(readings, errors), axis=0)
    beyond = (middle < low) | (middle > high)
    if beyond.any():
        result.append(f'most corrected readings of {listed(names[beyond].tolist())} would be '
                      "beyond the file's travel")
    return result


def _of_poses(given: Geometry, found: Geometry, poses: Array) -> list[str]:
    """Return a sentence on poses that only the calibrated geometry has near singularities."""
    before, after = (float(np.median(np.abs(PlatformMeter(each).signed_values(poses))))
                     for each in (given, found))
    return [] if not after < SINGULARITY_WARNING <= before else [
        'the calibrated geometry would be near singularities at most of these poses, which the '
        'given one is not']
