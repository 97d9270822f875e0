# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Platforms: the paper's, one with masses and a random motion, paths through singularities."""

from functools import cache
from typing import NamedTuple

import numpy as np
from transforms3d.euler import euler2mat

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart import (
    leg_lengths, LegMasses, LegPart, length_jacobian, PlatformMasses, StewartGeometry)

BASE = 0.3 * np.array(
    [[np.cos(t), np.sin(t), 0.0] for t in np.radians([15, 105, 135, 225, 255, 345])])
PLATFORM = 0.2 * np.array(
    [[np.cos(t), np.sin(t), 0.0] for t in np.radians([45, 75, 165, 195, 285, 315])])
M1, C1, I1, A1 = 1.4, 0.12, 0.011, 0.002  # cylinder: mass, centre, transverse and axial inertia
M2, C2, I2, A2 = 0.9, 0.15, 0.007, 0.001  # rod: its centre is C2 below the platform joint
MASS, INERTIA = 6.0, np.diag([0.11, 0.13, 0.2])
GRAVITY = np.array([0.3, -0.2, -9.81])
GEOMETRY = StewartGeometry(
    tuple(f'leg_{i}' for i in range(6)), BASE, PLATFORM, np.tile([0.0, np.inf], (6, 1)),
    masses=PlatformMasses(MASS, (*np.diag(INERTIA), 0.0, 0.0, 0.0), gravity=tuple(GRAVITY), legs=(
        LegMasses(LegPart(M1, C1, I1, A1), LegPart(M2, C2, I2, A2)),) * 6))


class Motion(NamedTuple):
    """A motion of the platform: pose, body twist and its rate; and all coordinates of the tree."""

    rotation: Array
    position: Array
    twist: Array
    rate: Array
    q: Array
    v: Array
    a: Array
    legs: list[dict[str, Array]]

    @property
    def pose(self) -> Array:
        """Return the pose as a matrix."""
        return se3.from_rotation_translation(self.rotation, self.position)


def motion(rng: np.random.Generator) -> Motion:
    """Return a random motion with all coordinates of the legs, in closed form."""
    rotation = so3.exp(rng.uniform(-0.3, 0.3, 3))
    position = np.array([0.0, 0.0, 0.5]) + rng.uniform(-0.08, 0.08, 3)
    twist, rate = rng.normal(size=(2, 6))
    w, v, dw, dv = twist[:3], twist[3:], rate[:3], rate[3:]
    q, rates, accelerations = [*position, *so3.to_quaternion(rotation)], [*twist], [*rate]
    legs = []
    for a, b in zip(BASE, PLATFORM):
        first = position + rotation @ b - a
        second = rotation @ (v + np.cross(w, b))
        third = rotation @ (dv + np.cross(w, v) + np.cross(dw, b) + np.cross(w, np.cross(w, b)))
        length = np.linalg.norm(first)
        u = first / length
        speed = u @ second
        du = (second - speed * u) / length
        pull = u @ third + length * du @ du
        ddu = (third - pull * u - 2.0 * speed * du) / length
        s2, c2 = u[0], np.hypot(u[1], u[2])
        turn = (-du[1] * u[2] + u[1] * du[2]) / c2**2
        bend = du[0] / c2
        dturn = ((-ddu[1] * u[2] + u[1] * ddu[2])
                 - turn * 2.0 * (u[1] * du[1] + u[2] * du[2])) / c2**2
        dbend = (ddu[0] + s2 * bend**2) / c2
        q += [np.arctan2(-u[1], u[2]), np.arcsin(s2), length]
        rates += [turn, bend, speed]
        accelerations += [dturn, dbend, pull]
        legs.append({'b': b, 'u': u, 'du': du, 'ddu': ddu, 'L': length, 'dL': speed, 'ddL': pull,
                     's2': s2, 'c2': c2, 'turn': turn, 'dturn': dturn, 'bend': bend})
    return Motion(rotation, position, twist, rate, np.array(q), np.array(rates),
                  np.array(accelerations), legs)


def leg_forces(moved: Motion) -> Array:
    """Return the forces (6,) of the legs by virtual work (12.41), (12.42)."""
    w, v, dw, dv = moved.twist[:3], moved.twist[3:], moved.rate[:3], moved.rate[3:]
    weight = moved.rotation.T @ GRAVITY
    need = np.concatenate((INERTIA @ dw + np.cross(w, INERTIA @ w),
                           MASS * (dv + np.cross(w, v) - weight)))
    rows = []
    for leg in moved.legs:
        u, du, ddu, length = leg['u'], leg['du'], leg['ddu'], leg['L']
        reach, axial = length - C2, A1 + A2
        across = np.eye(3) - np.outer(u, u)
        inertia = I1 + M1 * C1**2 + I2 + M2 * reach**2
        s2, c2 = leg['s2'], leg['c2']
        e1 = np.array([1.0, 0.0, 0.0])
        e2 = np.cross(u, e1) / c2
        xh = np.cross(e2, u)
        spin = axial * (leg['dturn'] * s2**2 + 2.0 * leg['turn'] * s2 * c2 * leg['bend'])
        push = u * (M2 * (leg['ddL'] - reach * du @ du) - M2 * GRAVITY @ u)
        push = push + across @ (inertia * ddu - (M1 * C1 + M2 * reach) * GRAVITY) / length
        push = push + 2.0 / length * M2 * reach * leg['dL'] * du
        push = push - (e2 * spin / c2 + xh * axial * leg['turn']**2 * s2 * c2) / length
        in_body, along = moved.rotation.T @ push, moved.rotation.T @ u
        need = need + np.concatenate((np.cross(leg['b'], in_body), in_body))
        rows.append(np.concatenate((np.cross(leg['b'], along), along)))
    result: Array = np.linalg.solve(np.array(rows).T, need)
    return result


# The lengths of (Stewart 29) in cm, the last one corrected from 55.9910.
ROUNDED_LENGTHS_CM = (55.8558, 62.5313, 52.7436, 55.1457, 44.7972, 51.9910)


def pose_of(position, roll_pitch_yaw_deg):
    """Return a pose from a position and R = Rz(yaw) Ry(pitch) Rx(roll)."""
    pose = np.eye(4)
    pose[:3, :3] = euler2mat(*np.radians(roll_pitch_yaw_deg), axes='sxyz')
    pose[:3, 3] = position
    return pose


def noise_covariance(geometry, deviations, pose):
    """Return J^-1 diag(deviations^2) J^-T (6, 6) at a pose, by numpy."""
    moves = np.linalg.inv(length_jacobian(geometry, pose)) * np.asarray(deviations)
    return moves @ moves.T


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
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, round(duration * rate) + 1))
    poses = se3.compose(start, se3.exp(np.multiply.outer(share, displacement)))
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
