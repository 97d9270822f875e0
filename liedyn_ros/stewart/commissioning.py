# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The check of a new platform: faults of its readings at known poses.

At each known pose the legs' values follow from the geometry. The simplest faults that explain the
readings are named, several together if needed. They concern all legs: a unit, another order of
legs, a mirrored frame, a home on another assembly mode. Or they concern single legs: an offset, a
scale or a wrong sense.
"""

from collections.abc import Iterator
from dataclasses import dataclass
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.leg_types import Crank
from liedyn_ros.stewart.solver.pose_solver import PoseSolver

UNITS = {'millimetres': 1e3, 'centimetres': 1e2, 'inches': 1.0 / 0.0254, 'micrometres': 1e6}
DEGREES = {'degrees': 180.0 / np.pi}
FLIPS = {'x': (-1.0, 1.0, 1.0), 'y': (1.0, -1.0, 1.0), 'z': (1.0, 1.0, -1.0)}
# What has to be wrong with a leg, as a fault of all legs counts 1: the simplest is named.
COSTS = {'': 0.0, 'offset': 1.0, 'scale': 1.0, 'offset_or_scale': 1.0, 'sense': 1.2,
         'dead': 5.0, 'unexplained': 10.0}
MOVED = 0.4  # cost of a leg that reads as another
SPREAD = 3.0  # tolerances by which values must differ to tell two legs, or two faults, apart


class Finding(NamedTuple):
    """
    One fault: its kind, the legs as indices, and a sentence with the remedy.

    kind: unit, order, mirrored, offset, scale, sense, offset_or_scale, dead, home or unexplained.
    """

    kind: str
    legs: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Commissioning:
    """
    What a check found.

    expected, readings: (n, 6), at each pose, m or rad. findings: faults, none where all is right.
    remarks: limits of these poses. scales, offsets: (6,), for a value = offset + scale *
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
    Return the faults of readings (n, 6) at known poses (n, 4, 4), m.

    home: (4, 4), m, from which the tracking is to start. tolerance: m or rad, within which a
    reading is right: the accuracy of poses and geometry. Raises ShapeError,
    NotFiniteError, NotInGroupError or LimitError.
    """
    poses = se3.require_pose('poses_base_platform', checks.as_array(
        'poses_base_platform', poses_base_platform, (-1, 4, 4)))
    given = checks.as_array('readings', readings, (len(poses), 6))
    tolerance = checks.as_positive('tolerance', tolerance)
    if not len(poses):
        raise LimitError('poses_base_platform: expected one pose or more, got none')
    expected = leg_lengths(geometry, poses)
    fits = [_fit(geometry, common, expected, given, tolerance)
            for common in _common_faults(geometry, poses)]
    found = min(fits, key=lambda fit: fit.cost)
    home_fault = _home_fault(geometry, poses, expected, home, tolerance)
    findings = *found.findings, *_order_instead(found, fits), *home_fault
    remarks = _alike(geometry, found.fault.expected, tolerance)
    return Commissioning(expected, given, findings, remarks, found.scales, found.offsets,
                         found.order)


class _Fault(NamedTuple):
    """A fault of all legs alike: the readings for given drive coordinates, and its description."""

    expected: Array  # the values that the readings would be of
    unit: float
    findings: tuple[Finding, ...]


class _Fit(NamedTuple):
    """What a fault of all legs leaves to be explained by their order and leg by leg."""

    fault: _Fault
    cost: float  # of all that has to be wrong
    findings: tuple[Finding, ...]
    scales: Array
    offsets: Array
    order: tuple[int, ...]


class _LegFault(NamedTuple):
    """What is wrong with one leg: value = scale * reading + offset; size: of the error."""

    kind: str
    scale: float
    offset: float
    size: float


def _common_faults(geometry: StewartGeometry, poses: Array) -> Iterator[_Fault]:
    """Return faults of all legs alike, the simple ones first."""
    every = tuple(range(6))
    units = {'': 1.0, **UNITS} if not any(
        isinstance(leg_type, Crank) for leg_type in geometry.leg_types) else {'': 1.0, **DEGREES}
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
) -> _Fit:
    """Return the simplest order and faults of single legs that a fault of all legs leaves."""
    values, names = readings / fault.unit, geometry.leg_names
    faults = [[_leg_fault(fault.expected[:, leg], values[:, k], tolerance) for k in range(6)]
              for leg in range(6)]
    costs = np.array([[COSTS[one.kind] for one in row] for row in faults])
    costs += MOVED * (1.0 - np.eye(6))
    from scipy.optimize import linear_sum_assignment  # which takes long, and no node needs it
    legs, order = linear_sum_assignment(costs)
    findings, moved = fault.findings, tuple(np.flatnonzero(order != legs).tolist())
    if moved:
        listed = ', '.join(f'{names[leg]} reads as {names[order[leg]]}' for leg in moved)
        findings += (Finding('order', moved, f'legs are swapped: {listed}; set actuator_names in '
                             'that order'),)
    single = [faults[leg][k] for leg, k in enumerate(order)]
    findings += tuple(Finding(one.kind, (leg,), _words(names[leg], one, fault.unit))
                      for leg, one in enumerate(single) if one.kind)
    return _Fit(fault, len(fault.findings) + costs[legs, order].sum(), findings,
                np.array([one.scale for one in single]) / fault.unit,
                np.array([one.offset for one in single]), tuple(order.tolist()))


def _order_instead(found: _Fit, fits: list[_Fit]) -> tuple[Finding, ...]:
    """
    Return another order of the legs where it explains the readings as well as a mirrored frame.

    Of a platform that is its own mirror image but for the order of its legs, nothing can tell.
    """
    if not any(finding.kind == 'mirrored' for finding in found.findings):
        return ()
    return tuple(
        finding._replace(text=f'or no axis is mirrored, and {finding.text}')
        for fit in fits if fit.fault.unit == found.fault.unit
        and {other.kind for other in fit.findings} <= {'unit', 'order'}
        for finding in fit.findings if finding.kind == 'order')


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


def _leg_fault(expected: Array, readings: Array, tolerance: float) -> _LegFault:
    """Return a leg's fault and the scale and offset that undo it."""
    error = readings - expected
    size = float(np.abs(error).max())
    if size <= tolerance:
        return _LegFault('', 1.0, 0.0, size)
    offset = -float(error.mean())
    if np.ptp(expected) < SPREAD * tolerance:
        kind = 'offset_or_scale' if np.ptp(readings) < SPREAD * tolerance else 'unexplained'
        return _LegFault(kind, 1.0, offset if kind == 'offset_or_scale' else 0.0, size)
    if np.ptp(error) <= tolerance:
        return _LegFault('offset', 1.0, offset, size)
    if np.ptp(readings) < SPREAD * tolerance:
        return _LegFault('dead', 1.0, 0.0, size)
    scale = float(readings @ expected / (readings @ readings))
    if np.abs(scale * readings - expected).max() <= tolerance:
        return _LegFault('sense' if scale < 0.0 else 'scale', scale, 0.0, size)
    if len(readings) > 2:
        slope, offset = (float(x) for x in np.polyfit(readings, expected, 1))
        if np.abs(slope * readings + offset - expected).max() <= tolerance:
            return _LegFault('sense' if slope < 0.0 else 'scale', slope, offset, size)
    return _LegFault('unexplained', 1.0, 0.0, size)


def _words(name: str, fault: _LegFault, unit: float) -> str:
    """Return fault and remedy of a leg, where all readings have a unit (1 / m)."""
    scale, offset = fault.scale / unit, fault.offset
    if fault.kind == 'offset_or_scale':
        return (f'{name} reads {-offset:+.6g} too much: an offset, or a scale; a second pose '
                'where it has another value tells')
    if fault.kind == 'offset':
        return f'{name} reads {-offset:+.6g} too much: add {offset:+.6g} to its actuator_offset'
    if fault.kind == 'dead':
        return (f'{name} reads the same at all poses, though its value changes: check that its '
                'sensor is connected')
    if fault.kind == 'unexplained':
        return (f'{name} has an error of {fault.size:.6g} that no unit, order, mirror, offset or '
                'scale explains. Check its joints in the geometry file, and the known poses')
    if not offset and fault.kind == 'scale':
        return (f'{name} reads {1.0 / fault.scale:.6g} times its value: set its actuator_scale '
                f'to {scale:.6g}')
    word = 'runs backwards' if fault.kind == 'sense' else 'is scaled'
    return (f'{name} {word}: set its actuator_scale to {scale:.6g} and its actuator_offset to '
            f'{offset:.6g}')


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
        f'home finds another pose of the same lengths, at ({place}) m. Set home_position and '
        'home_orientation near a known pose')),)
