# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The check of a new platform: what is wrong with its readings at known poses.

At each known pose the legs' values follow from the geometry. The simplest fault that explains the
readings is named. It is a unit, another order of legs, a mirrored frame, an offset, a scale or a
wrong sense of single legs, or a home on another assembly mode.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.forms import Crank
from liedyn_ros.stewart.platform.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.solver.pose_solver import PoseSolver

UNITS = {'millimetres': 1e3, 'centimetres': 1e2, 'inches': 1.0 / 0.0254, 'micrometres': 1e6}
DEGREES = {'degrees': 180.0 / np.pi}
FLIPS = {'x': (-1.0, 1.0, 1.0), 'y': (1.0, -1.0, 1.0), 'z': (1.0, 1.0, -1.0)}
SPREAD = 3.0  # tolerances by which values must differ to tell two legs, or two faults, apart


class Finding(NamedTuple):
    """
    One fault: its kind, the legs as indices, and what it is and what to do, to be read.

    kind: unit, order, mirrored, offset, scale, sense, offset_or_scale, home or unexplained.
    """

    kind: str
    legs: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Commissioning:
    """
    What a check found.

    expected, readings: (n, 6), at each pose, m or rad. findings: faults, none where all is right.
    remarks: what these poses cannot tell. scales, offsets: (6,), for a value = offset + scale *
    reading; order: for each leg the reading that is its own, which undo the faults found.
    """

    expected: Array
    readings: Array
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    scales: Array
    offsets: Array
    order: tuple[int, ...]

    @property
    def right(self) -> bool:
        """Return whether no fault was found."""
        return not self.findings


def check(
        geometry: StewartGeometry, poses_base_platform: ArrayLike, readings: ArrayLike,
        home: ArrayLike, tolerance: float = 1e-3) -> Commissioning:
    """
    Return what is wrong with readings (n, 6) at known poses (n, 4, 4), m.

    home: (4, 4), m, from which the tracking is to start. tolerance: m or rad, within which a
    reading is right: what the poses and the geometry are known to. Raises ShapeError,
    NotFiniteError, NotInGroupError or LimitError.
    """
    poses = se3.require_pose('poses_base_platform', checks.as_array(
        'poses_base_platform', poses_base_platform, (-1, 4, 4)))
    given = checks.as_array('readings', readings, (len(poses), 6))
    tolerance = checks.as_positive('tolerance', tolerance)
    if not len(poses):
        raise LimitError('poses_base_platform: expected one pose or more, got none')
    expected = leg_lengths(geometry, poses)
    for common in _common_faults(geometry, poses, given):
        found = _fit(geometry, common, expected, given, tolerance)
        if found is not None:
            break
    else:
        found = _leg_by_leg(geometry, expected, given, tolerance)
    home_fault = _home_fault(geometry, poses, expected, home, tolerance)
    return replace(found, findings=(*found.findings, *home_fault))


class _Fault(NamedTuple):
    """A fault of all legs alike: what is read, of legs whose values are given, and its words."""

    expected: Array  # the values that the readings would be of
    unit: float
    findings: tuple[Finding, ...]


def _common_faults(geometry: StewartGeometry, poses: Array, readings: Array) -> Iterator[_Fault]:
    """Return faults of all legs alike, the simple ones first."""
    every = tuple(range(6))
    units = {'': 1.0, **UNITS} if not any(
        isinstance(form, Crank) for form in geometry.forms) else {'': 1.0, **DEGREES}
    for axis, (name, unit) in itertools.product(('', *FLIPS), units.items()):
        findings: tuple[Finding, ...] = ()
        if name:
            findings = (Finding('unit', every, f'the readings are in {name}: set actuator_scale '
                                f'to {1.0 / unit:.6g}'),)
        try:
            expected = leg_lengths(geometry, _flipped(poses, FLIPS[axis]) if axis else poses)
        except LiedynError:  # the mirrored pose is out of reach
            continue
        if axis:
            findings += (Finding('mirrored', every, f'the {axis} axis is mirrored: the poses, or '
                                 'the geometry, are of a left-handed frame'),)
        yield _Fault(expected, unit, findings)


def _flipped(poses: Array, signs: tuple[float, float, float]) -> Array:
    """Return poses as seen in frames of which an axis points the other way."""
    flip = np.diag((*signs, 1.0))
    return np.asarray(flip @ poses @ flip)


def _fit(
        geometry: StewartGeometry, fault: _Fault, right: Array, readings: Array, tolerance: float
) -> Commissioning | None:
    """Return what is found where a fault of all legs, and their order, explain the readings."""
    values = readings / fault.unit
    cost = np.abs(values[:, :, None] - fault.expected[:, None, :]).max(axis=0)  # reading, leg
    order = np.arange(6)
    if cost[order, order].max() > tolerance:
        rows, legs = linear_sum_assignment(np.minimum(cost, 1e6))
        order[legs] = rows
        if cost[order, np.arange(6)].max() > tolerance:
            return None
    findings = fault.findings
    moved = tuple(int(leg) for leg in np.flatnonzero(order != np.arange(6)))
    if moved:
        names = geometry.leg_names
        listed = ', '.join(f'{names[leg]} reads as {names[order[leg]]}' for leg in moved)
        findings += (Finding('order', moved, f'legs are swapped: {listed}; set actuator_names in '
                             'that order'),)
    return Commissioning(
        right, readings, findings, _alike(geometry, fault.expected, tolerance),
        np.full(6, 1.0 / fault.unit), np.zeros(6), tuple(order.tolist()))


def _alike(geometry: StewartGeometry, expected: Array, tolerance: float) -> tuple[str, ...]:
    """Return a remark where the poses do not tell legs apart."""
    apart = np.abs(expected[:, :, None] - expected[:, None, :]).max(axis=0)
    pairs = [f'{geometry.leg_names[i]} and {geometry.leg_names[j]}'
             for i, j in itertools.combinations(range(6), 2)
             if apart[i, j] < SPREAD * tolerance]
    if not pairs:
        return ()
    return (f'these poses do not tell apart {", ".join(pairs)}: add a pose that is turned and '
            'moved to the side',)


def _leg_by_leg(
        geometry: StewartGeometry, expected: Array, readings: Array, tolerance: float
) -> Commissioning:
    """Return the fault of each leg by itself, all others being right."""
    scales, offsets = np.ones(6), np.zeros(6)
    findings: list[Finding] = []
    for leg in range(6):
        finding, scales[leg], offsets[leg] = _leg_fault(
            geometry.leg_names[leg], leg, expected[:, leg], readings[:, leg], tolerance)
        if finding is not None:
            findings.append(finding)
    return Commissioning(
        expected, readings, tuple(findings), _alike(geometry, expected, tolerance), scales,
        offsets, tuple(range(6)))


def _leg_fault(
        name: str, leg: int, expected: Array, readings: Array, tolerance: float
) -> tuple[Finding | None, float, float]:
    """Return a leg's fault and the scale and offset that undo it."""
    error = readings - expected
    if np.abs(error).max() <= tolerance:
        return None, 1.0, 0.0
    if np.ptp(expected) < SPREAD * tolerance:
        ratio = float(expected.mean() / readings.mean()) if readings.mean() else np.inf
        return Finding('offset_or_scale', (leg,), (
            f'{name} reads {error.mean():+.6g} too much: an offset, or a scale ({ratio:.6g} would '
            'undo it); a second pose where it has another value tells')), 1.0, float(-error.mean())
    if np.ptp(error) <= tolerance:
        return Finding('offset', (leg,), f'{name} reads {error.mean():+.6g} too much: add '
                       f'{-error.mean():+.6g} to its actuator_offset'), 1.0, float(-error.mean())
    scale = float(readings @ expected / (readings @ readings))
    if np.abs(scale * readings - expected).max() <= tolerance:
        return Finding('scale', (leg,), f'{name} reads {1.0 / scale:.6g} times its value: set its '
                       f'actuator_scale to {scale:.6g}'), scale, 0.0
    slope, offset = np.polyfit(readings, expected, 1) if np.ptp(readings) else (1.0, 0.0)
    if len(readings) > 2 and np.abs(slope * readings + offset - expected).max() <= tolerance:
        kind, word = ('sense', 'runs backwards') if slope < 0.0 else ('scale', 'is scaled')
        return Finding(kind, (leg,), f'{name} {word}: set its actuator_scale to {slope:.6g} and '
                       f'its actuator_offset to {offset:.6g}'), float(slope), float(offset)
    return Finding('unexplained', (leg,), (
        f'{name} has an error of {np.abs(error).max():.6g} that no unit, order, mirror, offset or '
        'scale explains: check its joints in the geometry file, and the known poses')), 1.0, 0.0


def _home_fault(
        geometry: StewartGeometry, poses: Array, expected: Array, home: ArrayLike,
        tolerance: float) -> tuple[Finding, ...]:
    """Return whether solves from home reach other poses of the right values than the known."""
    solver = PoseSolver(geometry)
    start = se3.require_pose('home', checks.as_array('home', home, (4, 4)))
    missed = []
    for k, (pose, values) in enumerate(zip(poses, expected)):
        solution = solver.solve(values, start)
        if solution.converged and np.abs(solution.pose - pose).max() > SPREAD * tolerance:
            missed.append(k)
    if not missed:
        return ()
    solution = solver.solve(expected[missed[0]], start)
    place = ', '.join(f'{x:.3f}' for x in solution.pose[:3, 3])
    return (Finding('home', (), (
        f'home is on another assembly mode: for {len(missed)} of {len(poses)} poses, a solve from '
        f'home finds another pose of the same lengths, at ({place}) m; set home_position and '
        'home_orientation near a known pose')),)
