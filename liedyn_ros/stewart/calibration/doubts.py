# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Whether a calibrated machine is the machine of its file, and readings are in its order.

A calibration corrects errors of building. Joints beyond half the way to another leg's, scales
nearer to none than to 1, readings out of the file's travel and singular poses are none of these:
legs, units or frames are wrong then, and errors of a fit tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
import itertools

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.stewart.calibration.measured import Measured
from liedyn_ros.stewart.calibration.parameters import Geometry
from liedyn_ros.stewart.calibration.problem import corrected, values_and_jacobians
from liedyn_ros.stewart.calibration.start import (
    CalibrationStart, OUTLIER_RATIO, rough_error, start)
from liedyn_ros.stewart.commissioning.check import ACCURACY
from liedyn_ros.stewart.platform.description.leg_checks import COINCIDENT
from liedyn_ros.stewart.platform.state import PlatformMeter, SINGULARITY_WARNING

MAX_ORDERED = 6  # legs, all of whose orders are looked at
TRIED_ORDERS = 8  # that a few poses do not rule out
# Of the way to another leg's joint, or of a scale: from there on nearer to another
DOUBT_SHARE = 0.5


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


def start_in_order(
        geometry: Geometry, readings: Array, measured: Measured, home: Array) -> CalibrationStart:
    """
    Return where a calibration begins; refuse readings (n, legs) whose legs are swapped.

    They are where another order agrees far better. Raises LimitError or ConvergenceError.
    """
    begin, error = None, np.inf
    try:
        begin = start(geometry, readings, measured, home)
        error = begin.error
    except ConvergenceError as caught:
        failed = caught
    if not error <= ACCURACY and measured.kind != 'lengths':
        swapped = (_by_values(geometry, readings, begin)
                   if begin is not None and measured.frames_known and measured.kind == 'full' else
                   _by_order(geometry, readings, measured, home, error))
        if swapped:
            raise LimitError(f'readings: expected each leg under its name: {swapped}')
    if begin is None:
        raise failed
    return begin


def _by_values(geometry: Geometry, readings: Array, begin: CalibrationStart) -> str:
    """Return the text on an order of legs that agrees far better at known poses, or nothing."""
    from scipy.optimize import linear_sum_assignment  # which takes long, and no node needs it
    values, _ = values_and_jacobians(geometry, begin.poses)
    apart = np.median(np.abs(values[:, :, None] - readings[:, None, :]), axis=0)
    apart = np.nan_to_num(apart * np.asarray(geometry.drive_scales)[:, None], nan=1e9)
    _, order = linear_sum_assignment(apart)
    own, other = apart.trace(), apart[np.arange(len(order)), order].sum()
    return _swapped(geometry, order) if other < own / OUTLIER_RATIO else ''


def _swapped(geometry: Geometry, order: Array) -> str:
    """Return a sentence on legs that read as others."""
    names, moved = geometry.leg_names, np.flatnonzero(order != np.arange(len(order)))
    pairs = ', '.join(f'{names[leg]} reads as {names[order[leg]]}' for leg in moved)
    return f'legs are swapped: {pairs}; set actuator_names in that order'


def _by_order(
        geometry: Geometry, readings: Array, measured: Measured, home: Array, error: float) -> str:
    """
    Return the text on an order of legs that agrees far better than theirs, or nothing.

    A few poses tell which orders to look at. Of those that agree alike, as of a machine that looks
    the same from several sides, it is one that moves the fewest legs.
    """
    orders = np.array([*_orders(readings.shape[1])])
    rough = np.array([rough_error(geometry, readings[:, order], measured, home)
                      for order in orders])
    best = rough <= OUTLIER_RATIO * rough.min()
    near = orders[best & (rough < np.inf)]
    near = near[np.argsort((near != np.arange(readings.shape[1])).sum(axis=1), kind='stable')]
    for order in near[:TRIED_ORDERS]:
        try:
            other = start(geometry, readings[:, order], measured, home).error
        except ConvergenceError:
            continue
        if other < error / OUTLIER_RATIO:
            return _swapped(geometry, order)
    return ''


def _orders(legs: int) -> Iterator[tuple[int, ...]]:
    """Yield all orders of legs; of more than MAX_ORDERED those that move three at most."""
    if legs <= MAX_ORDERED:
        yield from itertools.permutations(range(legs))
        return
    for few in itertools.combinations(range(legs), 3):
        for moved in itertools.permutations(few):
            order = np.arange(legs)
            order[[*few]] = moved
            yield tuple(order.tolist())
