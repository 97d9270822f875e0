# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Calibration of a platform: joints, offsets and scales from leg lengths at measured poses.

Only what held-out poses confirm is offered. The covariance says what the poses left unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, gammaincinv

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.identification.calibration.drift import Drift, with_drift
from liedyn_ros.identification.calibration.fit import (
    CalibrationFit, CLEAN_VARIANCE, ERROR_CHANCE, fit, MAX_VARIANCE_SHARE, REJECTION_CHANCE,
    require_different)
from liedyn_ros.lie import se3
from liedyn_ros.stewart.calibration.held_out import compare, doubts, HeldOut
from liedyn_ros.stewart.calibration.measured import InstrumentFrames, Measured
from liedyn_ros.stewart.calibration.parameters import (
    CalibrationParameters, Geometry, Unknown, unknown_combinations)
from liedyn_ros.stewart.calibration.problem import (
    Deviations, Problem, Samples, seen_at, values_and_jacobians)
from liedyn_ros.stewart.calibration.start import start_in_order
from liedyn_ros.stewart.platform.description.leg_types import Crank, Stage, Strut
from liedyn_ros.stewart.platform.kinematics import leg_lengths

PRIOR_DEVIATION = 0.02  # of the characteristic length: deviation of joints before a calibration
SCALE_TOLERANCE = 1e-3  # deviation of a scale before
WIDENING_FACTOR = 4.0  # factor of the tolerance where the errors turn out greater
WIDENING_THRESHOLD = 0.5  # tolerances, root mean square of the errors, from which on it is widened
MAX_WIDENINGS = 4
ASSUMED_SHARE = 1e-4  # of the characteristic length: deviations where none are given
# Characteristic lengths: readings and measurements that far apart are no errors
OUTLIER_DISTANCE = 0.1
MAX_TOLERANCE_RATIO = 5.0  # of a given tolerance, which may be more
DEVIATION_OF = {'readings': 'lengths', 'positions': 'position', 'rotations': 'rotation'}
UNIT_RATIO = 30.0  # ratio of readings and values above which their units differ


class Outlier(NamedTuple):
    """
    A pose that was left out: its index, and the leg whose reading explains it, or None.

    bias: m or rad, by which that leg reads too much. size: its error in deviations, inf where
    readings and measurements are of no pose.

    >>> calibrate(geometry, readings, measured_poses(poses), home=home).outliers
    ()
    """

    pose: int
    leg: int | None
    bias: float
    size: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """
    The result of a calibration.

    geometry: with calibrated joints and their covariance. scales, offsets: (n,), for a
    length = offset + scale * reading. errors: (n, 8), what the old geometry was off by, (n, 7)
    where scales are exact; their covariance: (8 n or 7 n square), m or rad and scales. frames: of
    instrument and target.
    used: (m,), the poses used. outliers: the others. held_out: old and new at poses that took no
    part, found where it is first asked for. noise: the samples' errors over their deviations,
    given or assumed.
    unknown: combinations of errors, the least known first. gauge: which frames the poses leave
    free, and how they are fixed. remarks: what was left out. doubts: why geometry is not offered.
    assumed: whether the deviations were not given. problem, fit: its equations and their solution.

    >>> found = calibrate(geometry, readings, measured_poses(poses), home=home)
    >>> np.allclose(found.geometry.base_joints, geometry.base_joints, atol=1e-6)
    True
    """

    geometry: Geometry
    scales: Array
    offsets: Array
    errors: Array
    covariance: Array
    frames: InstrumentFrames
    used: NDArray[np.bool_]
    outliers: tuple[Outlier, ...]
    noise: float
    unknown: tuple[Unknown, ...]
    gauge: tuple[str, ...]
    remarks: tuple[str, ...]
    problem: Problem
    fit: CalibrationFit
    assumed: bool  # whether the deviations were not given
    doubts: tuple[str, ...]  # what is no error of building, so that nothing is offered

    @cached_property
    def held_out(self) -> HeldOut:
        """Return old and new geometry at poses that took no part in the fit."""
        return compare(self.problem, self.fit, self.assumed)

    @property
    def offered(self) -> bool:
        """Return whether held-out poses got better and the machine matches the file."""
        return not self.doubts and self.held_out.better

    @property
    def unobservable(self) -> tuple[Unknown, ...]:
        """Return the combinations that these poses hardly determine, except scales."""
        return tuple(part for part in self.unknown if part.share > MAX_VARIANCE_SHARE
                     and part.of_scales < 0.5)


def calibrate(
        geometry: Geometry, readings: ArrayLike, measured: Measured, *, home: ArrayLike,
        deviations: tuple[float, float, float] | None = None, tolerance: float | None = None,
        scales: float = SCALE_TOLERANCE) -> Calibration:
    """
    Return the geometry of n legs from readings (m, n) at m measured poses.

    A drift over the order of the samples is found with its size and memory, and counted. What is
    not known of a scale is not known of its offset either. (14.30 to 14.32)

    Args:
        geometry: nominal.
        readings: of n legs (m, n); m, of cranks rad.
        measured: at the same m poses.
        home: pose (4, 4) near all of them, on the assembly mode of the readings; m.
        deviations: of a reading (m), of a measured position (m) and of a rotation (rad); equal
            and estimated where None.
        tolerance: deviation of the nominal joints; m; by default 2 % of the size, or more.
        scales: deviation of the legs' scales from 1, 0 where they are exact.

    Returns:
        the calibrated geometry, with covariance and what is unobservable.

    Raises:
        ConvergenceError: where the fit does not end.
        LiedynError: for another shape, or a number that is not finite.

    >>> calibrate(geometry, readings, measured_poses(poses), home=home).geometry.leg_names
    ('leg_1', 'leg_2', 'leg_3', 'leg_4', 'leg_5', 'leg_6')
    """
    samples = checked_samples(geometry, readings, measured, deviations)
    scales = checks.as_positive('scales', scales) if scales else 0.0
    pose = se3.require_pose('home', home, (4, 4))
    wide = (PRIOR_DEVIATION * geometry.characteristic_length if tolerance is None
            else checks.as_positive('tolerance', tolerance))
    _require_unit(geometry, samples.readings, pose)
    poses, frames, trusted, possible, _ = start_in_order(
        geometry, samples.readings, measured, pose)
    samples, poses, trusted = samples.rows(possible), poses[possible], trusted[possible]
    require_agreement(geometry, samples, frames, poses, wide)
    for _ in range(MAX_WIDENINGS):
        parameters = CalibrationParameters(geometry, measured, wide, scales)
        problem = Problem(parameters, samples, frames, poses)
        found = fit(problem, np.zeros(parameters.size),
                    CLEAN_VARIANCE if deviations is None else 1.0, trusted)
        if tolerance is not None or _are_within(found.z[:parameters.of_geometry]):
            break
        wide, scales = WIDENING_FACTOR * wide, WIDENING_FACTOR * scales
    problem, found, drift, remarks = _counted(problem, found, trusted, deviations is None)
    factor, remark = _factor(found, deviations is not None)
    if drift is not None and drift.certain:
        remarks.append(_of_drift(drift, factor, problem.samples.deviations, geometry))
    inner = slice(parameters.of_geometry)
    covariance = found.scaled_covariance(factor, parameters.prior)[inner, inner]
    result = _result(problem, found, covariance, factor, (*remark, *remarks), possible,
                     deviations is None)
    off = _off_scales(result)
    return result if not off else replace(result, remarks=(*result.remarks, off))


def _are_within(errors: Array) -> bool:
    """Return whether errors of the geometry, in deviations, are as small as these say."""
    return bool(np.sqrt((errors ** 2).mean()) < WIDENING_THRESHOLD)


def _counted(
        problem: Problem, found: CalibrationFit, trusted: NDArray[np.bool_], assumed: bool
) -> tuple[Problem, CalibrationFit, Drift | None, list[str]]:
    """Return a solution that counts drift, and, of assumed deviations, each kind's scatter."""
    drift, remarks = None, list[str]()
    for last in (*[False] * len(DEVIATION_OF), True):
        if found.factor <= CLEAN_VARIANCE:
            break
        drift, counted = _without_drift(problem, found)
        if drift.memory or not (assumed and drift.certain) or last:
            found = counted
            break
        samples, name = problem.samples, DEVIATION_OF[drift.kind]
        ratio = math.hypot(1.0, drift.size)
        problem = Problem(problem.parameters, replace(
            samples, deviations=samples.deviations._replace(**{
                name: ratio * getattr(samples.deviations, name)})), problem.start, problem.poses)
        found = fit(problem, found.z, CLEAN_VARIANCE, trusted)
        remarks.append(f'{drift.kind} scatter about {ratio:.2g} times as much as was assumed '
                       'beside the others, and count so: better give the noise of each')
    return problem, found, drift, remarks


def _without_drift(problem: Problem, found: CalibrationFit) -> tuple[Drift, CalibrationFit]:
    """Return the likely drift of a solution's errors, and the solution that counts it."""
    rows = np.flatnonzero(found.used)
    used = Problem(problem.parameters, problem.samples.rows(rows), problem.start,
                   problem.poses[rows])
    drift, better = with_drift(found, used.at(found.z), used.prior, used.by_kind(found.z), rows)
    return drift, better._replace(errors=problem.at(better.z).errors)


def _of_drift(drift: Drift, factor: float, deviations: Deviations, geometry: Geometry) -> str:
    """Return a sentence on a drift or on a larger noise of a kind, and on what to do."""
    if not drift.memory:
        return (f'{drift.kind} scatter {math.hypot(1.0, drift.size):.2g} times as much as their '
                'deviation lets expect beside those of the others')
    size, unit = drift.size * math.sqrt(factor), 'mm'
    if drift.kind == 'rotations':
        size, unit = size * deviations.rotation, 'mrad'
    else:
        size *= deviations.position if drift.kind == 'positions' else float(
            (deviations.lengths * geometry.drive_scales).mean())
    return (f'{drift.kind} drift, by {1e3 * size:.2g} {unit} and over {drift.memory:.2g} samples, '
            'which the covariance counts. Warm up, measure a pose of the beginning again between '
            'others, or measure in another order')


def _off_scales(found: Calibration) -> str:
    """Return a sentence on scales that are off by more than chance explains (chi-square)."""
    if found.errors.shape[1] < 8:
        return ''
    off, every = found.errors[:, 7], slice(7, None, 8)
    squares = float(off @ np.linalg.lstsq(found.covariance[every, every], off, rcond=None)[0])
    return '' if squares < chdtri(len(off), ERROR_CHANCE) else (
        f'readings of legs are off by factors of up to {1e6 * np.abs(off).max():.3g} parts in a '
        'million')


def _factor(found: CalibrationFit, given: bool) -> tuple[float, tuple[str, ...]]:
    """Return the variance of an error in deviations, and what is wrong with these."""
    if not given:
        return found.factor, ()
    if found.factor * found.degrees > chdtri(found.degrees, ERROR_CHANCE):
        return found.factor, (
            f'the errors are {found.factor ** 0.5:.3g} times as large as the deviations given '
            'let expect: the covariance counts them as they are',)
    if found.factor * found.degrees < 2.0 * gammaincinv(found.degrees / 2, ERROR_CHANCE):
        return 1.0, (f'the errors are only {found.factor ** 0.5:.3g} times as large as the '
                     'deviations let expect: the covariance is too large by that',)
    return 1.0, ()


def _result(
        problem: Problem, found: CalibrationFit, covariance: Array, factor: float,
        remarks: tuple[str, ...], possible: NDArray[np.bool_], assumed: bool) -> Calibration:
    parameters, geometry = problem.parameters, problem.parameters.geometry
    errors = parameters.errors(found.z)
    base, platform = parameters.joints(found.z)
    of_errors = parameters.basis @ covariance @ parameters.basis.T
    of_errors = 0.5 * (of_errors + of_errors.T)
    moved = replace(geometry, base_joints=base, platform_joints=platform,
                    calibration_covariance=of_errors)
    used = possible.copy()
    used[possible] = found.used
    return Calibration(
        moved, 1.0 + errors[:, 7:].sum(axis=1), errors[:, 6].copy(), errors, of_errors,
        parameters.frames(found.z, problem.start)[0], used,
        _outliers(problem, found, factor, possible), factor ** 0.5,
        unknown_combinations(parameters, covariance), _gauge(parameters), remarks, problem,
        found, assumed, doubts(
            geometry, moved, errors, problem.samples.readings[found.used],
            problem.poses[found.used]))


def _outliers(problem: Problem, found: CalibrationFit, factor: float, possible: NDArray[np.bool_]
              ) -> tuple[Outlier, ...]:
    """Return the poses that were left out, each with the leg that explains it alone."""
    effects, d = problem.by_readings(found.z), found.errors.shape[1]
    result = [Outlier(k, None, 0.0, np.inf) for k in np.flatnonzero(~possible).tolist()]
    numbers = np.flatnonzero(possible)
    for k in np.flatnonzero(~found.used).tolist():
        error, size = found.errors[k], float(found.errors[k] @ found.errors[k])
        along = effects[k].T @ error
        squares = np.maximum((effects[k] ** 2).sum(axis=0), 1e-300)
        leg = int(np.argmax(along ** 2 / squares))
        left = size - along[leg] ** 2 / squares[leg]
        explains = d > 1 and left <= factor * chdtri(d - 1, REJECTION_CHANCE)
        result.append(Outlier(int(numbers[k]), leg if explains else None, float(
            along[leg] / squares[leg]) if explains else 0.0, size ** 0.5))
    return tuple(sorted(result, key=lambda each: each.pose))


def _gauge(parameters: CalibrationParameters) -> tuple[str, ...]:
    """Return sentences on motions of frames that nothing measures, and how they are fixed."""
    measured, result = parameters.measured, []
    if measured.free_base:
        which = 'place' if measured.free_base == 'shift' else 'place and turn'
        result.append(f'nothing measures the {which} of the base frame: it is where the base '
                      "joints' corrections have no common part")
    count = len(measured.free_platform)
    if count:
        which = {6: 'place and turn'}.get(count, 'place' if not measured.free_platform[
            :, :3].any() else 'turn about the measured point' if count == 3
            else 'turn about the measured points')
        result.append(f'nothing measures the {which} of the platform frame: it is where the '
                      "platform joints' corrections have no common part")
    if parameters.sized:
        result.append('nothing measures the size of the machine but its readings, whose scales '
                      'are taken as right on the mean')
    return tuple(result)


def checked_samples(
        geometry: Geometry, readings: ArrayLike, measured: Measured,
        deviations: tuple[float, float, float] | None) -> Samples:
    """
    Return the samples of a calibration.

    Raises ShapeError, NotFiniteError or LimitError.
    """
    legs = len(geometry.leg_names)
    if any(isinstance(leg, Stage) for leg in geometry.leg_types):
        raise LimitError('geometry: expected struts, wires, rails and cranks, got stages, which '
                         'a calibration does not know')
    given = checks.as_array('readings', readings, (len(measured), legs))
    if measured.dimension + legs <= 6:
        raise LimitError('measured: expected poses, positions, orientations or points, or seven '
                         'legs and more, got six lengths, which alone determine nothing')
    _require_enough(len(measured), measured.dimension + legs - 6, 7 * legs)
    rotations = () if measured.rotations is None else (measured.rotations.reshape(len(given), -1),)
    require_different('samples', np.hstack([
        given, measured.points.reshape(len(given), -1), *rotations]))
    size = geometry.characteristic_length
    assumed = (ASSUMED_SHARE * size, ASSUMED_SHARE * size,
               ASSUMED_SHARE) if deviations is None else deviations
    length, position, rotation = (checks.as_positive(name, value) for name, value in zip(
        ('deviation of a reading', 'deviation of a position', 'deviation of a rotation'), assumed))
    return Samples(given, measured, Deviations(
        length / geometry.drive_scales, position, rotation))


def _require_enough(poses: int, equations: int, unknown: int) -> None:
    """Refuse fewer equations than unknowns: then no pose would be left to confirm anything."""
    least = unknown // equations + 1
    if poses < least:
        raise LimitError(f'poses: expected {least} or more for {unknown} unknown numbers, '
                         f'{equations} equations a pose, got {poses}; 20 and more are advised',
                         expected=least, got=poses)


def _require_unit(geometry: Geometry, readings: Array, home: Array) -> None:
    """Refuse readings of another size than at home: a search with them takes long."""
    cranks, struts = (np.array([isinstance(leg, kind) for leg in geometry.leg_types])
                      for kind in (Crank, Strut))
    turned = np.abs(readings[:, cranks])
    if (turned > np.pi).any(axis=1).mean() > 0.5:
        raise LimitError('readings: expected angles of cranks in rad, within pi, got up to '
                         f'{turned.max():.4g}: degrees?')
    if struts.any():
        ratio = float(np.median(np.abs(readings[:, struts])) / np.median(
            leg_lengths(geometry, home)[struts]))
        if not 1.0 / UNIT_RATIO < ratio < UNIT_RATIO:
            raise LimitError(f'readings: expected lengths in m, about as at home, got {ratio:.3g} '
                             'times that: check their unit (mm?)')


def require_agreement(
        geometry: Geometry, samples: Samples, frames: InstrumentFrames, poses: Array,
        tolerance: float) -> None:
    """Refuse readings and measurements that no errors of a geometry bring together."""
    size = geometry.characteristic_length
    values, _ = values_and_jacobians(geometry, poses)
    if not np.isfinite(values).all():
        k, leg = np.argwhere(~np.isfinite(values))[0].tolist()
        raise LimitError(f'pose {k + 1}: expected one that {geometry.leg_names[leg]} reaches: '
                         'check units (m, degrees) and frames')
    legs = float(np.median(np.abs(samples.readings - values) * geometry.drive_scales))
    most = max(OUTLIER_DISTANCE * size, MAX_TOLERANCE_RATIO * tolerance)
    if legs > most:
        of_cranks = " (at the horns' ends)" * all(
            isinstance(leg, Crank) for leg in geometry.leg_types)
        raise LimitError(f'readings: expected them within {most:.3g} m{of_cranks} of those at '
                         f'the measured poses, got a median of {legs:.3g} m. Check units (m, '
                         'degrees), the order of the legs and the frames; liedyn platform check '
                         'names such faults')
    problem = Problem(CalibrationParameters(geometry, samples.measured, size, 0.0), samples,
                      frames,
                      poses)
    if samples.measured.points.size:
        moved, seen = (float(np.median(np.linalg.norm(each - np.median(each, axis=0), axis=2)))
                       for each in (samples.measured.points, seen_at(
                           samples.measured, frames, poses).points))
        if max(moved, seen) > most and not 1.0 / UNIT_RATIO < moved / max(
                seen, 1e-300) < UNIT_RATIO:
            raise LimitError('positions: expected them to move as the readings do, got '
                             f'{moved / seen:.3g} times that: check their unit')
    points, rotations = problem.instrument_errors(np.zeros(problem.parameters.size), poses)
    apart = float(np.median(np.linalg.norm(points, axis=-1))) if points.size else 0.0
    turned = float(np.median(np.linalg.norm(rotations, axis=-1))) if rotations.size else 0.0
    if apart > 3.0 * most or turned > 3.0 * most / size:
        raise LimitError('measurements: expected them near the poses of the readings, got medians '
                         f'of {apart:.3g} m and {turned:.3g} rad: check units, the order of the '
                         'legs, the instrument, and home')
