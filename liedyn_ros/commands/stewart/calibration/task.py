# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Task of liedyn platform calibrate: geometry, home, actuators, and samples as they are read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from liedyn_ros.commands.inputs import node_settings, noise_of, pose_of, require_taken
from liedyn_ros.commands.stewart.calibration.options import parser, SAMPLE_OPTIONS
from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import (
    ConvergenceError, DescriptionError, LiedynError, LimitError, NameSetError)
from liedyn_ros.common.extras import require_extra
from liedyn_ros.lie import se3
from liedyn_ros.recordings import pose_table, PoseColumns, PoseSamples
from liedyn_ros.recordings.tables import is_table
from liedyn_ros.stewart import load_geometry, StewartGeometry
from liedyn_ros.stewart.calibration import (
    calibrate, Calibration, lengths_only, Measured, measured_orientations, measured_points,
    measured_poses)
from liedyn_ros.stewart.calibration.calibrate import OUTLIER_DISTANCE
from liedyn_ros.stewart.calibration.start import start
from liedyn_ros.stewart.home import home_of
from liedyn_ros.stewart.input.actuators import actuators_of, LegActuators
from liedyn_ros.stewart.platform.description.leg_types import Crank

REST_SHARE = 1e-3  # of the characteristic length
SAME_FRAME = np.eye(4)


@dataclass(frozen=True, eq=False)
class CalibrationTask:
    """
    A calibration before it is done.

    samples: raw readings of the actuators, and measurements. base, target: (4, 4), m, of the
    instrument, None where they are to be found.
    """

    geometry: StewartGeometry
    home: Array
    actuators: LegActuators
    samples: PoseSamples
    base: Array | None
    target: Array | None
    options: argparse.Namespace

    @property
    def deviations(self) -> tuple[float, float, float] | None:
        """Return the noise of readings, positions and rotations. Raises LimitError for some."""
        noise = noise_of(self.options, {
            'reading': True, 'position': bool(self.samples.points),
            'rotation': self.samples.rotations is not None})
        return None if noise is None else (noise['reading'], noise['position'], noise['rotation'])

    def calibrate(self) -> Calibration:
        """Return the calibration; errors of calibrate, with the units that would fit."""
        with suppress(ConvergenceError):  # which the calibration raises too
            if self._distance() > OUTLIER_DISTANCE:  # before a fit that would take minutes
                self._require_units('samples: expected readings near the measurements', changes=1)
        try:
            found = self._calibrate()
        except (LimitError, ConvergenceError) as error:
            self._require_units(str(error))
            raise
        if found.doubts:
            self._require_units(found.doubts[0])
        return found

    def _distance(self) -> float:
        """Return how far readings and measurements are apart, in characteristic lengths."""
        return start(self.geometry, self._lengths(), self.measured(), self.home).error

    def _require_units(self, fault: str, changes: int = 3) -> None:
        """Refuse samples that fit after some changes of units, by their fault as they are."""
        for what, other in self._in_other_units(changes):
            try:
                if other._distance() > OUTLIER_DISTANCE:
                    continue
                doubts = other._calibrate().doubts
            except LiedynError:
                continue
            if not doubts:
                raise LimitError(f'{fault} -- {what}')

    def measured(self) -> Measured:
        """Return the measured poses, points or turns. Raises NameSetError for unknown points."""
        samples, rotations = self.samples, self.samples.rotations
        points = list(samples.points.values())
        if rotations is not None and not points:
            return measured_orientations(rotations, *(
                None if frame is None else frame[:3, :3] for frame in (self.base, self.target)))
        if rotations is not None:
            return measured_poses(se3.from_rotation_translation(rotations, points[0]), self.base,
                                  self.target)
        if not points:
            return lengths_only(len(samples))
        return measured_points(np.stack(points, axis=1), self.base, self._places())

    def _places(self) -> Array | None:
        """Return where measured points are on the platform, (k, 3), m."""
        given, names = dict(self.options.point), list(self.samples.points)
        if len(names) == 1 and not given:
            return None if self.target is None else self.target[None, :3, 3]
        if not given and self.target is None:
            return None
        if given.keys() != {*names}:
            raise NameSetError(f'--point: expected each of {listed(names)}, got '
                               f'{listed(list(given))}', names=tuple(given))
        return np.array([given[name] for name in names])

    def _lengths(self) -> Array:
        names = self.actuators.names
        return np.array([self.actuators.lengths(names, row) for row in self.samples.readings])

    def _calibrate(self) -> Calibration:
        options = self.options
        return calibrate(self.geometry, self._lengths(), self.measured(), home=self.home,
                         deviations=self.deviations, tolerance=options.tolerance,
                         scales=options.scale_tolerance)

    def _in_other_units(self, changes: int) -> Iterator[tuple[str, CalibrationTask]]:
        """Yield sentences on units and orders other than was said, and the task with these."""
        kinds = [list[tuple[str, dict[str, Any]]]([('', {}), *others]) for others in (
            self._other_readings(), self._other_positions(), self._other_turns())]
        for chosen in sorted(itertools.product(*kinds), key=lambda some: sum(
                bool(what) for what, _ in some)):
            changed = [what for what, _ in chosen if what]
            if 0 < len(changed) <= changes:
                yield '; '.join(changed), replace(self, samples=replace(self.samples, **{
                    key: value for _, parts in chosen for key, value in parts.items()}))

    def _other_readings(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield sentences on units of the readings, and samples with these."""
        readings, name = self.samples.readings, self.samples.names[0]
        if any(isinstance(leg, Crank) for leg in self.geometry.leg_types):
            yield (f'the readings are in degrees: write {name} [deg]', {
                'readings': np.radians(readings)})
            yield ('the readings fit as degrees that were made radians twice', {
                'readings': np.degrees(readings)})
            yield ('the readings fit backwards: set actuator_scale to -1 with --params', {
                'readings': -readings})
        else:
            yield 'readings in mm fit: name their unit', {'readings': 1e-3 * readings}

    def _other_positions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield a sentence on positions in mm, and samples with these."""
        if self.samples.points:
            yield 'positions in mm fit: name their unit', {'points': {
                name: 1e-3 * each for name, each in self.samples.points.items()}}

    def _other_turns(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield a sentence on orientations of another order or unit, and samples with these."""
        samples = self.samples
        if samples.quaternions is not None:
            yield 'the quaternions fit as w, x, y, z: name their columns in that order', {
                'quaternions': np.roll(samples.quaternions, -1, axis=1)}
        if samples.angles is not None:
            yield 'roll, pitch and yaw in degrees fit: name their unit', {
                'angles': np.radians(samples.angles)}
            yield 'roll, pitch and yaw fit in the order yaw, pitch, roll: name them so', {
                'angles': samples.angles[:, ::-1]}


def read_task(options: argparse.Namespace) -> CalibrationTask:
    """Return the task that the options set. Raises LiedynError, ModuleNotFoundError."""
    geometry = load_geometry(options.geometry).readings
    settings = node_settings(options.params)
    home = home_of(geometry, settings) if options.home is None else pose_of(options.home)
    actuators = actuators_of(settings, geometry, True)
    if actuators.beside.any():
        raise DescriptionError('actuator_beside: expected 0 m, as an offset of such a reading is '
                               f'not an offset of the length, got {actuators.beside.tolist()}')
    base, target = (None if pose is None else pose_of(pose)
                    for pose in (options.instrument, options.target))
    if options.known_frames:
        base, target = (SAME_FRAME if pose is None else pose for pose in (base, target))
    return CalibrationTask(geometry, home, actuators, _samples(geometry, actuators, options), base,
                           target,
                           options)


def _samples(geometry: StewartGeometry, actuators: LegActuators,
             options: argparse.Namespace) -> PoseSamples:
    """Return the samples of a table or a bag."""
    path: Path = options.samples
    require_taken(options, parser(), {'table' if is_table(path) else 'bag'},
                  SAMPLE_OPTIONS)
    if is_table(path):
        return pose_table(path, actuators.names, PoseColumns(
            options.legs, options.points, dict(options.unit), options.pose))
    require_extra('bags', 'rosbags', 'mcap')
    from liedyn_ros.recordings.bags import Bag, pose_stands
    size = REST_SHARE * geometry.characteristic_length
    still = (size / geometry.drive_scales if options.still is None
             else np.full(len(actuators.names), options.still)) / np.abs(actuators.scales)
    return pose_stands(Bag(path), actuators.names, options.measured, still, topic=options.topic,
                       stand=options.stand, arrival=options.arrival)
