# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Platforms with errors, and what an instrument measures of them."""

from dataclasses import dataclass, replace

import numpy as np

from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart import leg_lengths, StewartGeometry
from liedyn_ros.stewart.calibration import (
    InstrumentFrames, measured_orientations, measured_points, measured_poses)

INSTRUMENT = se3.exp([0.3, 0.2, 1.0, 0.5, 0.6, 0.7])  # the base in the instrument's frame
TARGET = se3.exp([0.1, -0.2, 2.3, 0.02, 0.03, 0.04])  # the target in the platform frame
POINTS = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [-0.1, -0.1, 0.03]])
KINDS = 'full', 'position', 'orientation', 'points'
LENGTH_NOISE, ANGLE_NOISE = 1e-5, 5e-5  # m and rad


@dataclass
class Machine:
    """A platform as it is: its geometry, and what its readings lack."""

    geometry: object
    offsets: np.ndarray
    errors: np.ndarray  # (n, 7), of the geometry it was built after

    def readings(self, poses, rng, noise=LENGTH_NOISE):
        """Return what is read at poses (m, 4, 4), (m, n)."""
        of = getattr(self.geometry, 'lengths', lambda at: leg_lengths(self.geometry, at))
        values = of(poses) - self.offsets
        return values + rng.normal(size=values.shape) * noise / self.geometry.drive_scales


def built(geometry, rng, size=5e-4):
    """Return a machine whose joints and offsets are off by normal numbers of a size, m."""
    n = len(geometry.leg_names)
    errors = size * rng.normal(size=(n, 7))
    errors[:, 6] /= geometry.drive_scales
    return Machine(replace(
        geometry, base_joints=geometry.base_joints + errors[:, :3],
        platform_joints=geometry.platform_joints + errors[:, 3:6]), errors[:, 6], errors)


def spread(home, count, rng, turn=0.4, shift=0.08):
    """Return poses (count, 4, 4) about home, by rad and m."""
    twists = rng.uniform(-1.0, 1.0, (count, 6)) * np.array([turn] * 3 + [shift] * 3)
    return se3.compose(home, se3.exp(twists))


def full(poses, rng, noise, known):
    """Return poses as an instrument sees them."""
    base, target = (np.eye(4), np.eye(4)) if known else (INSTRUMENT, TARGET)
    seen = se3.compose(base, se3.compose(poses, target))
    seen[:, :3, 3] += noise * LENGTH_NOISE * rng.normal(size=(len(poses), 3))
    turns = so3.exp(noise * ANGLE_NOISE * rng.normal(size=(len(poses), 3)))
    return se3.normalize(se3.compose(seen, se3.from_rotation_translation(turns, np.zeros(3))))


def true_frames(kind):
    """Return the frames of an instrument that does not know them."""
    points = {'full': TARGET[None, :3, 3], 'position': TARGET[None, :3, 3], 'points': POINTS,
              'orientation': np.empty((0, 3))}[kind]
    base = INSTRUMENT.copy()
    base[:3, 3] *= kind != 'orientation'
    return InstrumentFrames(base, points, TARGET[:3, :3])


def _of_poses(poses, rng, noise, known):
    frames = (np.eye(4), np.eye(4)) if known else (None, None)
    return measured_poses(full(poses, rng, noise, known), *frames)


def _of_positions(poses, rng, noise, known):
    frames = (np.eye(4), np.zeros(3)) if known else (None, None)
    return measured_points(full(poses, rng, noise, known)[:, :3, 3], *frames)


def _of_orientations(poses, rng, noise, known):
    frames = (np.eye(3), np.eye(3)) if known else (None, None)
    return measured_orientations(full(poses, rng, noise, known)[:, :3, :3], *frames)


def _of_points(poses, rng, noise, known):
    base, places = (np.eye(4), POINTS) if known else (INSTRUMENT, None)
    seen = se3.act(se3.compose(base, poses)[:, None], np.broadcast_to(
        POINTS, (len(poses), 3, 3)))
    seen = seen + noise * LENGTH_NOISE * rng.normal(size=seen.shape)
    return measured_points(seen, np.eye(4) if known else None, places)


OF_KIND = dict(zip(KINDS, (_of_poses, _of_positions, _of_orientations, _of_points)))


def seen(kind, poses, rng, noise=1.0, known=True):
    """Return what an instrument measures of poses, its frames known or not; noise: a factor."""
    return OF_KIND[kind](poses, rng, noise, known)


def seven_legs(home):
    """Return a platform of seven struts."""
    rng = np.random.default_rng(7)
    angles = np.linspace(0.0, 2.0 * np.pi, 7, endpoint=False)
    base, platform = (np.stack((r * np.cos(a), r * np.sin(a), 0.02 * rng.normal(size=7)), 1)
                      for r, a in ((0.3, angles), (0.2, angles + 0.6 * (-1.0) ** np.arange(7))))
    return StewartGeometry(
        tuple(f'leg_{k + 1}' for k in range(7)), base, platform, [[0.0, np.inf]] * 7)
