# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether readings are of the legs in their order, before a calibration takes them for errors."""

from __future__ import annotations

import itertools

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.stewart.calibration.measured import Measured
from liedyn_ros.stewart.calibration.parameters import Geometry
from liedyn_ros.stewart.calibration.start import CalibrationStart, OUTLIER_RATIO, start
from liedyn_ros.stewart.commissioning.check import ACCURACY, check


def start_in_order(
        geometry: Geometry, readings: Array, measured: Measured, home: Array) -> CalibrationStart:
    """
    Return where a calibration begins; refuse readings (n, legs) whose legs are swapped.

    At known poses of six legs that is the check of a new platform. Else legs are swapped where
    two exchanged agree far better. Raises LimitError or ConvergenceError.
    """
    begin, error = None, np.inf
    try:
        begin = start(geometry, readings, measured, home)
        error = begin.error
    except ConvergenceError as caught:
        failed = caught
    if not error <= ACCURACY and measured.kind != 'lengths':
        swapped = (_by_check(geometry, readings, begin.poses, home)
                   if begin is not None and measured.frames_known and not geometry.redundant
                   and measured.kind == 'full' else
                   _by_pairs(geometry, readings, measured, home, error))
        if swapped:
            raise LimitError(f'readings: expected those of each leg under its name: {swapped}')
    if begin is None:
        raise failed
    return begin


def _by_check(geometry: Geometry, readings: Array, poses: Array, home: Array) -> str:
    """Return the finding of the check of a new platform about the order of legs, or nothing."""
    return ''.join(each.text for each in check(geometry, poses, readings, home).findings
                   if each.kind == 'order')


def _by_pairs(
        geometry: Geometry, readings: Array, measured: Measured, home: Array, error: float) -> str:
    """Return the text on two legs that agree far better exchanged than all do, or nothing."""
    best, found = error / OUTLIER_RATIO, ''
    for pair in itertools.combinations(range(readings.shape[1]), 2):
        order = np.arange(readings.shape[1])
        order[[*pair]] = order[[*pair[::-1]]]
        try:
            other = start(geometry, readings[:, order], measured, home).error
        except ConvergenceError:
            continue
        if other < best:
            first, second = (geometry.leg_names[leg] for leg in pair)
            best, found = other, f'legs are swapped: {first} reads as {second}, and the reverse'
    return found
