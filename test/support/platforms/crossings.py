# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths on which the determinant of the Stewart platform's Jacobian changes its sign."""

from functools import cache

import numpy as np
from support.platforms.stewart_cases import pose_of

from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, ScrewMotion

# Start pose, and displacement (rad, m): about the vertical, about a horizontal axis, a screw.
CROSSINGS = {
    'turn': (pose_of((0.02, 0.01, 0.5), (3.0, 2.0, 0.0)), (0.0, 0.0, 2.27, 0.0, 0.0, 0.0)),
    'tilt': (pose_of((0.01, 0.02, 0.5), (20.0, 3.0, 5.0)), (1.22, 0.0, 0.0, 0.0, 0.0, 0.0)),
    'screw': (pose_of((0.02, 0.01, 0.45), (10.0, 3.0, 5.0)), (1.1, 0.5, 0.4, 0.02, -0.01, 0.02)),
}
FIRST_NS = 1_000_000_000


def unit_wrenches(geometry, poses):
    """Return dL/d(body twist) (n, 6, 6) of struts at poses (n, 4, 4): numpy's, all at once."""
    rotations, joints = poses[:, :3, :3], geometry.platform_joints
    legs = joints @ rotations.swapaxes(1, 2) + poses[:, None, :3, 3] - geometry.base_joints
    directions = (legs / np.linalg.norm(legs, axis=-1, keepdims=True)) @ rotations
    return np.concatenate((np.cross(joints, directions), directions), axis=-1)


@cache
def crossing_path(geometry, name, duration, rate):
    """Return poses, lengths without noise, the first sample beyond the crossing, and the arc."""
    start, displacement = CROSSINGS[name]
    poses = ScrewMotion(start, displacement, duration).pose(
        np.arange(round(duration * rate) + 1) / rate)
    changes = np.flatnonzero(np.diff(np.sign(np.linalg.det(unit_wrenches(geometry, poses)))))
    assert len(changes) == 1
    return poses, leg_lengths(geometry, poses), int(changes[0]) + 1, np.linalg.norm(
        se3.log(se3.compose(se3.inverse(start), poses)), axis=1)


class Crossing:
    """Samples of one path: stamps (ns), true poses, lengths with noise, and where it crosses."""

    def __init__(self, geometry, name, duration, noise, seed=1, rate=1000):
        """Compute them all."""
        self.poses, lengths, self.index, self.arc = crossing_path(geometry, name, duration, rate)
        self.lengths = lengths + noise * np.random.default_rng(seed).normal(size=lengths.shape)
        self.stamps = FIRST_NS + np.arange(len(lengths)) * (1_000_000_000 // rate)

    def __len__(self):
        """Return how many samples there are."""
        return len(self.stamps)

    def samples(self):
        """Go through index, stamp and lengths."""
        return zip(range(len(self)), self.stamps.tolist(), self.lengths)

    def share_of_path(self, index):
        """Return how far from the crossing a sample is, as a share of the path's length."""
        return abs(self.arc[index] - self.arc[self.index]) / self.arc[-1]

    def error(self, index, pose):
        """
        Return the largest entry of the twist (rad, m) from the true pose to another.

        Of n indices and poses (n, 4, 4) it returns n.
        """
        return np.abs(se3.log(se3.compose(se3.inverse(self.poses[index]), pose))).max(axis=-1)
