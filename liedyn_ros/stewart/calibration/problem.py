# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The equations of a calibration, each measured pose solved within them.

At each pose the legs give an equation each (14.32), and the instrument one for each number that
it measures. The true pose is unknown too. It is solved for given parameters, and the rows that
it leaves, as many as the instrument's, are those of the parameters (variable projection).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.identification.calibration.fit import LinearizedErrors
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart.calibration.measured import InstrumentFrames, Measured
from liedyn_ros.stewart.calibration.parameters import CalibrationParameters, Geometry
from liedyn_ros.stewart.platform.description.geometry_covariance import errors_by_geometry
from liedyn_ros.stewart.platform.kernels import leg_types

POSE_ITERATIONS = 30  # of Gauss-Newton at a pose
STEP_HALVINGS = 8  # of a step that makes the errors greater
LAST_STEP_TOLERANCE = 1e-8  # rad and characteristic lengths, of the last step
ROUNDED = 1e-9  # of a step whose gain is rounding
UNREACHED_DEVIATIONS = 1e6  # deviations: errors of a pose that some leg does not reach
MAX_POSE_STEP = 0.5  # rad and characteristic lengths, of a step


class Deviations(NamedTuple):
    """Standard deviations of measurements: lengths (n,), m or rad; positions, m; rotations."""

    lengths: Array
    position: float
    rotation: float


@dataclass(frozen=True, eq=False)
class Samples:
    """Readings (n, legs), m or rad, measurements at the same poses, deviations of both."""

    readings: Array
    measured: Measured
    deviations: Deviations

    def rows(self, chosen: NDArray[Any]) -> Samples:
        """Return the samples of some poses, by index."""
        return replace(self, readings=self.readings[chosen], measured=self.measured.rows(chosen))


class Problem:
    """
    The equations of one set of samples; keeps the poses between calls, so for one thread.

    settled: (n,), whether the pose of a sample was found in the last call: a wrong one may have
    none.
    """

    def __init__(self, parameters: CalibrationParameters, samples: Samples,
                 start: InstrumentFrames,
                 poses: Array) -> None:
        """Take where the search of the frames and of the poses (n, 4, 4), m, begins."""
        self.parameters, self.samples, self.start = parameters, samples, start
        self.poses = poses.copy()
        self.settled: NDArray[np.bool_] = np.zeros(len(poses), dtype=bool)
        self._last: tuple[Array, LinearizedErrors] | None = None
        self._units = np.array([parameters.geometry.characteristic_length] * 3 + [1.0] * 3)

    @property
    def prior(self) -> Array:
        """Return the deviations (size,) of the numbers before the calibration."""
        return self.parameters.prior

    def at(self, z: Array) -> LinearizedErrors:
        """Return the equations at z, poses solved as far as they can be. Raises SingularError."""
        if self._last is not None and np.array_equal(self._last[0], z):
            return self._last[1]
        given = self._given(z)
        errors, by_pose = self._solve_poses(given)
        lost = ~np.isfinite(by_pose).all(axis=(1, 2)) | ~np.isfinite(errors).all(axis=1)
        by_pose[lost], errors[lost], self.settled[lost] = 0.0, UNREACHED_DEVIATIONS, False
        q, _ = np.linalg.qr(by_pose, mode='complete')
        left = np.swapaxes(q[:, :, 6:], 1, 2)
        by_z = self._by_z(given)
        by_z[lost] = 0.0
        result = LinearizedErrors((left @ errors[..., None])[..., 0], left @ by_z)
        self._last = z.copy(), result
        return result

    def _solve_poses(self, given: _Given) -> tuple[Array, Array]:
        """
        Move the poses to the least squares of their own equations; note which got there.

        Return what _of_poses does at them.
        """
        self.settled = np.zeros(len(self.poses), dtype=bool)
        errors, by_pose = self._of_poses(given)
        for _ in range(POSE_ITERATIONS):
            step = -np.nan_to_num(_least_squares(by_pose, errors))
            size = np.abs(step * self._units / self._units[0]).max(axis=1)
            step *= np.minimum(1.0, MAX_POSE_STEP / np.maximum(size, 1e-300))[:, None]
            last, before = self.poses, (errors ** 2).sum(axis=1)
            for _ in range(STEP_HALVINGS):
                self.poses = last @ se3.exp(step)
                errors, by_pose = self._of_poses(given)
                # No value, where a leg does not reach, is worse as well.
                worse = ~((errors ** 2).sum(axis=1) <= before) & (size > ROUNDED)
                if not worse.any():
                    break
                step[worse] *= 0.5
            self.settled = np.asarray(size <= LAST_STEP_TOLERANCE)
            if self.settled.all():
                break
        self.poses = se3.normalize(self.poses)
        return errors, by_pose

    def by_readings(self, z: Array) -> Array:
        """Return the derivatives (n, d, legs) of the errors at z by biases of readings."""
        scales = 1.0 + self.parameters.errors(z)[:, 7:].sum(axis=1)
        return self.by_kind(z)['readings'] * scales / self.samples.deviations.lengths

    def by_kind(self, z: Array) -> dict[str, Array]:
        """Return derivatives (n, d, m) of the errors at z by those of each kind, in deviations."""
        self.at(z)
        _, by_pose = self._of_poses(self._given(z))
        q, _ = np.linalg.qr(by_pose, mode='complete')
        legs, places = self.samples.readings.shape[1], self.samples.measured.points[0].size
        parts = np.split(np.swapaxes(q[:, :, 6:], 1, 2), [legs, legs + places], axis=2)
        return {kind: part for kind, part in zip(('readings', 'positions', 'rotations'), parts)
                if part.shape[2]}

    def instrument_errors(self, z: Array, poses: Array) -> tuple[Array, Array]:
        """Return errors of points (n, k, 3), m, and of rotations (n, 3), rad, of given poses."""
        predicted = _predicted(
            self.samples.measured, self.parameters.frames(z, self.start)[0], poses)
        return predicted.points - self.samples.measured.points, predicted.rotation_errors

    def _given(self, z: Array) -> _Given:
        parameters = self.parameters
        return _Given(moved(parameters, z), corrected(
            self.samples.readings, parameters.errors(z)), *parameters.frames(z, self.start))

    def _of_poses(self, given: _Given) -> tuple[Array, Array]:
        """Return errors (n, rows) in deviations, and derivatives (n, rows, 6) by the poses."""
        samples, deviations = self.samples, self.samples.deviations
        values, jacobians = values_and_jacobians(given.geometry, self.poses)
        predicted = _predicted(samples.measured, given.frames, self.poses)
        parts = [(given.readings - values) / deviations.lengths]
        slopes = [-jacobians / deviations.lengths[:, None]]
        n = len(self.poses)
        points = predicted.points - samples.measured.points
        parts.append(points.reshape(n, -1) / deviations.position)
        slopes.append(predicted.points_by_pose.reshape(n, -1, 6) / deviations.position)
        if samples.measured.rotations is not None:
            parts.append(predicted.rotation_errors / deviations.rotation)
            slopes.append(predicted.rotations_by_pose / deviations.rotation)
        return np.hstack(parts), np.concatenate(slopes, axis=1)

    def _by_z(self, given: _Given) -> Array:
        """Return the derivatives (n, rows, size) of the errors by z, the poses held (14.30)."""
        parameters, samples = self.parameters, self.samples
        n, legs = samples.readings.shape
        result = np.zeros((n, legs + samples.measured.dimension, parameters.size))
        _, jacobians = values_and_jacobians(given.geometry, self.poses)
        by_errors = errors_by_geometry(
            jacobians, self.poses, samples.readings, parameters.width)
        by_errors /= samples.deviations.lengths[:, None]
        result[:, :legs, :parameters.of_geometry] = by_errors @ parameters.basis
        _write_frames(
            result[:, legs:], parameters, _predicted(samples.measured, given.frames, self.poses),
            given.frames, given.turn_base, given.turn_target, samples.deviations)
        return result


def seen_at(measured: Measured, frames: InstrumentFrames, poses: Array) -> Measured:
    """Return the instrument's measurements at poses (n, 4, 4), m, without errors."""
    turned, places = _places(frames, poses)
    return replace(measured, points=places, rotations=(
        None if measured.rotations is None else turned @ frames.target))


class _Given(NamedTuple):
    """Values that z gives whatever the poses are: constant in all steps of their search."""

    geometry: Geometry
    readings: Array  # (n, legs), m or rad, corrected
    frames: InstrumentFrames
    turn_base: Array  # (3, 3), d(rotation)/d(z) of the frames, by their own axes
    turn_target: Array


class _Predicted(NamedTuple):
    """Predicted measurements of poses: points, and errors of rotations; by the poses."""

    points: Array  # (n, k, 3), m
    points_by_pose: Array  # (n, k, 3, 6)
    rotation_errors: Array  # (n, 3), rad, 0 rows where none is measured
    rotations_by_pose: Array  # (n, 3, 6)
    rotations_by_target: Array  # (n, 3, 3), by turns in the target's axes
    rotations: Array  # (n, 3, 3), of the target in the instrument's frame
    poses: Array


def _predicted(measured: Measured, frames: InstrumentFrames, poses: Array) -> _Predicted:
    """Return the predicted measurements of poses, and their derivatives."""
    n, k = len(poses), len(frames.points)
    turned, places = _places(frames, poses)
    by_pose = np.zeros((n, k, 3, 6))
    if k:
        by_pose[..., :3] = -turned[:, None] @ so3.hat(frames.points)
        by_pose[..., 3:] = turned[:, None]
    rotations = turned @ frames.target
    if measured.rotations is None:
        empty = np.empty((n, 0, 3))
        return _Predicted(places, by_pose, np.empty((n, 0)), np.empty((n, 0, 6)), empty,
                          rotations, poses)
    errors = so3.log(so3.normalize(np.swapaxes(measured.rotations, 1, 2) @ rotations))
    by_target = so3.right_jacobian_inverse(errors)
    turns = np.zeros((n, 3, 6))
    turns[..., :3] = by_target @ frames.target.T
    return _Predicted(places, by_pose, errors, turns, by_target, rotations, poses)


def _places(frames: InstrumentFrames, poses: Array) -> tuple[Array, Array]:
    """Return turns (n, 3, 3) of the platform and its points (n, k, 3), m, in the instrument."""
    base = frames.instrument_base
    turned = base[:3, :3] @ poses[:, :3, :3]
    return turned, np.einsum('nij,kj->nki', turned, frames.points) + (
        poses[:, :3, 3] @ base[:3, :3].T + base[:3, 3])[:, None]


def _write_frames(
        rows: Array, parameters: CalibrationParameters, predicted: _Predicted,
        frames: InstrumentFrames, turn_base: Array, turn_target: Array,
        deviations: Deviations) -> None:
    """Write the derivatives of the instrument's errors by the frames that are unknown."""
    turn, shift, target, places = parameters.columns()
    n, k = predicted.points.shape[:2]
    base = frames.instrument_base
    seen = rows[:, :3 * k].reshape(n, k, 3, parameters.size)
    if k and turn.stop > turn.start:
        seen[..., turn] = -so3.hat(predicted.points - base[:3, 3]) @ turn_base
    if k and shift.stop > shift.start:
        seen[..., shift] = np.eye(3)
    if k and places.stop > places.start:
        turned = base[:3, :3] @ predicted.poses[:, :3, :3]
        for j in range(k):
            seen[:, j, :, places.start + 3 * j:places.start + 3 * j + 3] = turned
    rows[:, :3 * k] = seen.reshape(n, 3 * k, parameters.size) / deviations.position
    if parameters.measured.rotations is None:
        return
    by_target = predicted.rotations_by_target / deviations.rotation
    if turn.stop > turn.start:
        rows[:, 3 * k:, turn] = by_target @ np.swapaxes(predicted.rotations, 1, 2) @ turn_base
    if target.stop > target.start:
        rows[:, 3 * k:, target] = by_target @ turn_target


def values_and_jacobians(geometry: Geometry, poses: Array) -> tuple[Array, Array]:
    """Return values (n, legs), m or rad, and J (n, legs, 6) at poses (n, 4, 4), m (14.34)."""
    n, legs = len(poses), len(geometry.leg_names)
    values, jacobians = np.empty((n, legs)), np.empty((n, 6 * legs))
    leg_types.values_and_jacobians(geometry.table(), poses, values, jacobians)
    return values, jacobians.reshape(n, legs, 6)


def corrected(readings: Array, errors: Array) -> Array:
    """Return readings (n, legs) with the offsets and scales of errors (legs, 7 or 8) added."""
    scaled = readings * (1.0 + errors[:, 7]) if errors.shape[1] == 8 else readings
    return scaled + errors[:, 6]


def moved(parameters: CalibrationParameters, z: Array) -> Geometry:
    """Return the geometry with the joints of z. Raises GeometryError."""
    base, platform = parameters.joints(z)
    return replace(parameters.geometry, base_joints=base, platform_joints=platform)


def _least_squares(rows: Array, right: Array) -> Array:
    """Return x (n, 6) of the least |A x - b|, with A (n, rows, 6) and b (n, rows)."""
    q, r = np.linalg.qr(rows)
    try:
        return np.asarray(np.linalg.solve(r, np.swapaxes(q, 1, 2) @ right[..., None])[..., 0])
    except np.linalg.LinAlgError as error:
        raise SingularError('poses: expected ones that readings and measurements determine, got '
                            'a singular one; leave out poses near a singularity') from error
