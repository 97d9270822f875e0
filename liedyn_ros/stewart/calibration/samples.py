# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Samples of a calibration: what is refused before anything is solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.calibration.measured import Frames, Measured
from liedyn_ros.stewart.calibration.parameters import Geometry, Parameters
from liedyn_ros.stewart.calibration.problem import (
    Deviations, Problem, Samples, values_and_jacobians)
from liedyn_ros.stewart.platform.description.leg_types import Stage

ASSUMED = 1e-4  # of the characteristic length: deviations where none are given
UNLIKE = 0.1  # characteristic lengths: readings and measurements that far apart are no errors
TOLERANCES = 5.0  # of a given tolerance, which may be more
UNIT = 30.0  # ratio of readings and values above which their units differ


def checked_samples(
        geometry: Geometry, readings: ArrayLike, measured: Measured,
        deviations: tuple[float, float, float] | None, width: int) -> Samples:
    """
    Return the samples of a calibration of `width` numbers a leg.

    Raises ShapeError, NotFiniteError or LimitError.
    """
    legs = len(geometry.leg_names)
    if any(isinstance(leg, Stage) for leg in geometry.leg_types):
        raise LimitError('geometry: expected struts, wires, rails and cranks, got stages, which '
                         'a calibration does not know')
    given = checks.as_array('readings', readings, (len(measured), legs))
    if measured.dimension + legs <= 6:
        raise LimitError('measured: expected poses, positions, orientations or points, or seven '
                         'legs and more, got six lengths, which alone tell nothing')
    _require_enough(len(measured), measured.dimension + legs - 6, width * legs)
    _require_different(given, measured)
    size = geometry.characteristic_length
    assumed = (ASSUMED * size, ASSUMED * size, ASSUMED) if deviations is None else deviations
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


def _require_different(readings: Array, measured: Measured) -> None:
    """Refuse a sample that is there twice: it would count as two measurements."""
    parts = [readings, measured.points.reshape(len(readings), -1)]
    if measured.rotations is not None:
        parts.append(measured.rotations.reshape(len(readings), -1))
    rows = np.hstack(parts)
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    if (counts > 1).any():
        same = np.flatnonzero((rows == rows[first[counts > 1][0]]).all(axis=1)) + 1
        raise LimitError(f'samples: expected each once, got the same numbers as samples '
                         f'{", ".join(map(str, same.tolist()))}')


def require_agreement(
        geometry: Geometry, samples: Samples, frames: Frames, poses: Array,
        tolerance: float) -> None:
    """Refuse readings and measurements that no errors of a geometry bring together."""
    size = geometry.characteristic_length
    values, _ = values_and_jacobians(geometry, poses)
    if not np.isfinite(values).all():
        k, leg = np.argwhere(~np.isfinite(values))[0].tolist()
        raise LimitError(f'pose {k + 1}: expected one that {geometry.leg_names[leg]} reaches: '
                         'check units (m, degrees) and frames')
    ratio = float(np.median(np.abs(samples.readings))) / max(
        float(np.median(np.abs(values))), 1e-9)
    if not 1.0 / UNIT < ratio < UNIT:
        raise LimitError(f'readings: expected them in {geometry.leg_types[0].unit}, about as the '
                         f'geometry has them at the measured poses, got {ratio:.3g} times that: '
                         'check the units of lengths and positions (mm?)')
    legs = float(np.median(np.abs(samples.readings - values) * geometry.drive_scales))
    most = max(UNLIKE * size, TOLERANCES * tolerance)
    if legs > most:
        raise LimitError(f'readings: expected them within {most:.3g} m of the lengths at '
                         f'the measured poses, got a median of {legs:.3g} m. Check units (m, '
                         'degrees), the order of the legs and the frames; stewart_check names '
                         'such faults')
    problem = Problem(Parameters(geometry, samples.measured, size, False, 1.0), samples, frames,
                      poses)
    points, rotations = problem.instrument_errors(np.zeros(problem.parameters.size), poses)
    apart = float(np.median(np.linalg.norm(points, axis=-1))) if points.size else 0.0
    turned = float(np.median(np.linalg.norm(rotations, axis=-1))) if rotations.size else 0.0
    if apart > 3.0 * most or turned > 3.0 * most / size:
        raise LimitError('measurements: expected them near the poses of the readings, got medians '
                         f'of {apart:.3g} m and {turned:.3g} rad: check units, the order of the '
                         'legs, the instrument, and home')
