# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The numbers that a calibration solves: errors of the joints and the readings, and the frames.

Errors of the geometry are in leg order: base joint (3, base frame), platform joint (3, platform
frame), offset, and if wanted scale. Motions of a whole frame that nothing measures are left out:
of all such frames it is the one in which the joints move least. What the samples leave open is
reported as combinations of these numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import so3
from liedyn_ros.stewart.calibration.measured import InstrumentFrames, Measured
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail, Stage, Strut

Geometry = StewartGeometry
# Rad and characteristic lengths, deviation of a frame that is not known
UNKNOWN_FRAME_DEVIATION = 10.0
EXPLAINED_SHARE = 0.9  # of a combination that named motions explain
MAX_NAMED_PARTS = 4  # of a combination that are named
MIN_NAMED_PART = 0.3  # of the greatest part, below which a part is not named
POINT_AXES = 'x', 'y', 'z'


class CalibrationParameters:
    """
    The numbers z of one calibration, all of the geometry's errors first, then the frames.

    width: numbers of a leg, 8, or 7 where scales are exact. sized: whether nothing but readings
    tells the size of the machine. basis: (width n, m), geometry's errors by the
    first m numbers. deviations: (width n,), of the errors before the calibration. size: of z.
    """

    def __init__(
            self, geometry: Geometry, measured: Measured, tolerance: float, scales: float
            ) -> None:
        """Take the deviations of joints and offsets (m), and of scales; exact ones are 0."""
        self.geometry, self.measured = geometry, measured
        n, self.width = len(geometry.leg_names), 8 if scales else 7
        deviations = np.full((n, self.width), tolerance)
        deviations[:, 6] /= geometry.drive_scales
        deviations[:, 7:] = scales
        self.deviations = deviations.ravel()
        self.sized = _is_sized(geometry, measured, self.width)
        self.free = _free_motions(geometry, measured, self.width)  # (f, width n)
        if len(self.free):
            left, sizes, _ = np.linalg.svd((self.free / self.deviations).T)
            rank = int((sizes > 1e-9 * sizes[0]).sum())
            self.basis = self.deviations[:, None] * left[:, rank:]
        else:
            self.basis = np.diag(self.deviations)
        self.of_geometry = self.basis.shape[1]
        rigid = 3 if measured.kind == 'orientation' else 6
        self._base = 0 if measured.instrument_known else rigid
        points = measured.frames.points.size
        turn = 3 if measured.rotations is not None else 0
        self._target = 0 if measured.target_known else points + turn
        self.size = self.of_geometry + self._base + self._target

    @property
    def prior(self) -> Array:
        """Return the deviations of z before the calibration: 1 of the geometry's, then frames."""
        length = self.geometry.characteristic_length
        rad, metres = UNKNOWN_FRAME_DEVIATION, UNKNOWN_FRAME_DEVIATION * length
        base = [rad] * min(self._base, 3) + [metres] * max(self._base - 3, 0)
        turns = 3 if self._target and self.measured.rotations is not None else 0
        target = [rad] * turns + [metres] * (self._target - turns)
        return np.array([1.0] * self.of_geometry + base + target)

    def errors(self, z: Array) -> Array:
        """Return the errors of the geometry, (n, width), at z."""
        return (self.basis @ z[:self.of_geometry]).reshape(-1, self.width)

    def joints(self, z: Array) -> tuple[Array, Array]:
        """Return joints of base and platform, (n, 3), m, at z."""
        errors = self.errors(z)
        return (self.geometry.base_joints + errors[:, :3],
                self.geometry.platform_joints + errors[:, 3:6])

    def frames(self, z: Array, start: InstrumentFrames) -> tuple[InstrumentFrames, Array, Array]:
        """Return the frames, and d(rotation)/d(z): base by its own axes, target by its own."""
        base, target, points = start.instrument_base, start.target, start.points
        turn_base = turn_target = np.eye(3)
        at = self.of_geometry
        if self._base:
            base = base.copy()
            w = z[at:at + 3]
            base[:3, :3] = so3.exp(w) @ start.instrument_base[:3, :3]
            turn_base = so3.left_jacobian(w)
            if self._base == 6:
                base[:3, 3] = start.instrument_base[:3, 3] + z[at + 3:at + 6]
            at += self._base
        if self._target:
            if self.measured.rotations is not None:
                target, turn_target = target @ so3.exp(z[at:at + 3]), so3.right_jacobian(
                    z[at:at + 3])
                at += 3
            points = points + z[at:at + points.size].reshape(-1, 3)
        return InstrumentFrames(base, points, target), turn_base, turn_target

    def columns(self) -> tuple[slice, slice, slice, slice]:
        """Return the columns of z: turn and shift of the instrument, turn of target, points."""
        at = self.of_geometry
        turn = slice(at, at + min(self._base, 3))
        shift = slice(turn.stop, at + self._base)
        turns = 3 if self._target and self.measured.rotations is not None else 0
        target = slice(shift.stop, shift.stop + turns)
        return turn, shift, target, slice(target.stop, self.size)


def _free_motions(geometry: Geometry, measured: Measured, width: int) -> Array:
    """Return the errors (f, width n) that are motions of a frame which nothing measures."""
    n, rows = len(geometry.leg_names), []
    twists = {'': np.empty((0, 6)), 'shift': np.eye(6)[3:], 'all': np.eye(6)}[measured.free_base]
    # Directions of rails and cranks stay as they are in the base frame, and so show its turns.
    if any(isinstance(leg, Rail | Crank | Stage) for leg in geometry.leg_types):
        twists = twists[~twists[:, :3].any(axis=1)]
    for column, joints, moved in ((0, geometry.base_joints, twists),
                                  (3, geometry.platform_joints, measured.free_platform)):
        for twist in moved:
            errors = np.zeros((n, width))
            errors[:, column:column + 3] = np.cross(twist[:3], joints) + twist[3:]
            rows.append(errors.ravel())
    if _is_sized(geometry, measured, width):
        rows.append(np.hstack([geometry.base_joints, geometry.platform_joints,
                               np.tile([0.0, 1.0], (n, 1))]).ravel())
    return np.array(rows).reshape(-1, n * width)


def _is_sized(geometry: Geometry, measured: Measured, width: int) -> bool:
    """Return whether readings with unknown scales alone tell how large a machine is."""
    return width == 8 and not measured.points.shape[1] and all(
        isinstance(leg, Strut) for leg in geometry.leg_types)


class Unknown(NamedTuple):
    """
    A combination of errors of the geometry, and how well it is known.

    text: its parts. errors: (width n,), m or rad and scales, one deviation of it. deviation: its
    size, m, root of the sum of squares. share: of the variance before that is left. of_scales:
    share of the combination that is scales, which are known well before.

    >>> calibrate(geometry, readings, measured_poses(poses), home=home).unknown[0].errors.shape
    (48,)
    """

    text: str
    errors: Array
    deviation: float
    share: float
    of_scales: float


def unknown_combinations(
        parameters: CalibrationParameters, covariance: Array) -> tuple[Unknown, ...]:
    """
    Return the combinations of the geometry's errors, the least known first.

    covariance: (m, m), of the first m numbers of the calibration, whose deviations were 1.
    """
    shares, directions = np.linalg.eigh(covariance)
    named, result = _named(parameters), []
    for k in np.argsort(-shares):
        errors = np.sqrt(max(shares[k], 0.0)) * (parameters.basis @ directions[:, k])
        unit = errors / parameters.deviations
        text = _as_motions(named, unit) or _as_parts(parameters, unit)
        scales = unit.reshape(-1, parameters.width)[:, 7:]
        result.append(Unknown(text, errors, float(np.linalg.norm(errors)), float(shares[k]), float(
            (scales**2).sum() / max(float(unit @ unit), 1e-300))))
    return tuple(result)


def names_of(geometry: Geometry, width: int) -> list[str]:
    """Return the names of the errors of a geometry, width to a leg."""
    parts = [*(f'base {axis}' for axis in POINT_AXES),
             *(f'platform {axis}' for axis in POINT_AXES), 'offset', 'scale'][:width]
    return [f'{leg} {part}' for leg in geometry.leg_names for part in parts]


def _named(parameters: CalibrationParameters) -> dict[str, Array]:
    """Return motions and changes of all joints that have a name, over their deviations."""
    geometry, width = parameters.geometry, parameters.width
    n = len(geometry.leg_names)
    result: dict[str, Array] = {}

    def add(name: str, column: int, values: Array) -> None:
        errors = np.zeros((n, width))
        errors[:, column:column + values.shape[1]] = values
        unit = errors.ravel() / parameters.deviations
        result[name] = unit / np.linalg.norm(unit)
    for name, column, joints in (('base', 0, geometry.base_joints),
                                 ('platform', 3, geometry.platform_joints)):
        for axis, unit in zip(POINT_AXES, np.eye(3)):
            add(f'shift of all {name} joints along {axis}', column, np.tile(unit, (n, 1)))
            add(f'turn of all {name} joints about {axis}', column, np.cross(unit, joints))
        add(f'size of the {name}', column, joints - joints.mean(axis=0))
    add('offset of all legs', 6, np.ones((n, 1)))
    if width == 8:
        add('scale of all legs', 7, np.ones((n, 1)))
    return result


def _as_motions(named: dict[str, Array], unit: Array) -> str:
    """Return a combination (width n,) as a sum of named changes, or nothing where it is none."""
    motions = np.array(list(named.values())).T
    parts = np.linalg.lstsq(motions, unit, rcond=1e-9)[0]
    left = unit - motions @ parts
    if left @ left > (1.0 - EXPLAINED_SHARE) * (unit @ unit):
        return ''
    return _listed(list(named), parts)


def _as_parts(parameters: CalibrationParameters, unit: Array) -> str:
    return _listed(names_of(parameters.geometry, parameters.width), unit)


def _listed(names: list[str], parts: Array) -> str:
    """Return the greatest parts with their shares, the first of them positive."""
    order = [k for k in np.argsort(-np.abs(parts))[:MAX_NAMED_PARTS]
             if abs(parts[k]) >= MIN_NAMED_PART * np.abs(parts).max()]
    return ' '.join(
        (f'{parts[k] / parts[order[0]]:+.2g} ' if place else '') + f'({names[k]})'
        for place, k in enumerate(order))
