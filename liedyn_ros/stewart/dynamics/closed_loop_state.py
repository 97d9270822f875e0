# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The state of platform_model that a pose and a twist of the platform give."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import GeometryError, SingularError
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels import so3
from liedyn_ros.stewart.dynamics.closed_loop_model import universal_axes
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail, Strut
from liedyn_ros.stewart.platform.kernels import leg_types
from liedyn_ros.stewart.platform.kinematics import leg_lengths

MIN_TRANSMISSION = 1e-6  # of a drive: the cosine of the angle between a rod and its end's way


def model_state(geometry: StewartGeometry, pose_base_platform: ArrayLike, twist: ArrayLike
                ) -> tuple[Array, Array]:
    """
    Return q (25,) and v (24,) of platform_model at a pose and a body twist (12.39).

    Raises ShapeError, NotFiniteError, NotInGroupError, GeometryError without masses, LimitError
    where a rod does not reach, or SingularError where a drive is at its dead centre.
    """
    return ClosedLoopState(geometry)(pose_base_platform, twist)


class ClosedLoopState:
    """Finds states as model_state does; terms that no pose changes are computed once."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """
        Lay out the legs.

        Each is seen in a frame at its base joint: that of the base, or the crank's at angle 0.
        Rails move along a direction there, cranks of a radius turn about z.
        """
        if geometry.masses is None:
            raise GeometryError(f'{geometry.name}: expected masses, got none')
        self._geometry, self._table = geometry, geometry.table()
        legs = geometry.leg_types
        self._struts = np.array([isinstance(leg, Strut) for leg in legs])
        self._cranks = np.array([isinstance(leg, Crank) for leg in legs])
        self._frames = np.array([
            np.column_stack((leg.zero, np.cross(leg.axis, leg.zero), leg.axis))
            if isinstance(leg, Crank) else np.eye(3) for leg in legs])
        self._radius = np.array([leg.radius if isinstance(leg, Crank) else 0.0 for leg in legs])
        self._direction = np.array([
            leg.direction if isinstance(leg, Rail) else (0.0, 0.0, 0.0) for leg in legs])
        self._axes = np.array([frame.T @ universal_axes(leg) for frame, leg in zip(
            self._frames, geometry.masses.legs)])

    def __call__(self, pose_base_platform: ArrayLike, twist: ArrayLike) -> tuple[Array, Array]:
        """Return q (25,) and v (24,), or raise the errors of model_state."""
        pose = se3.require_pose('pose_base_platform', pose_base_platform)
        twist = as_array('twist', twist, (6,))
        rotation, position = pose[:3, :3], pose[:3, 3]
        arms = self._geometry.platform_joints @ rotation.T
        along = _seen(self._frames, arms + position - self._geometry.base_joints)
        x, y, z = (rotation @ twist[:3]).tolist()
        spins = arms @ np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # w x arm
        speed = _seen(self._frames, spins + rotation @ twist[3:])
        values = np.zeros(6) if self._struts.all() else self._values(pose)
        angles = np.where(self._cranks, values, 0.0)
        along, speed = _turned_back(angles, along), _turned_back(angles, speed)
        ends = values[:, None] * self._direction
        ends[:, 0] += self._radius
        rods = along - ends
        lengths = np.sqrt((rods * rods).sum(axis=1))
        ways = self._direction.copy()
        ways[:, 1] += self._radius
        pulls = (rods * ways).sum(axis=1) / lengths  # kappa of (14.34)
        self._require_drives(pulls, pose)
        rates = (rods * speed).sum(axis=1) / lengths / np.where(self._struts, np.inf, pulls)
        turning = np.where(self._cranks, rates, 0.0)  # rad/s, of cranks
        speed[:, 0] += turning * along[:, 1]
        speed[:, 1] -= turning * along[:, 0]
        speed -= rates[:, None] * self._direction
        joints, joint_rates, stretch = _universal(
            lengths, _seen(self._axes, rods), _seen(self._axes, speed))
        strut = self._struts[:, None]
        q = np.where(strut, np.column_stack((joints, lengths)), np.column_stack((values, joints)))
        v = np.where(strut, np.column_stack((joint_rates, stretch)),
                     np.column_stack((rates, joint_rates)))
        quaternion = so3.to_quaternion(tuple(rotation.ravel().tolist()))
        return (np.concatenate((position, quaternion, q.ravel())),
                np.concatenate((twist, v.ravel())))

    def _values(self, pose: Array) -> Array:
        """Return the values of the legs (6,)."""
        values = np.empty((1, 6))
        leg_types.values_batch(self._table, np.array(pose[None]), values)
        if not np.isfinite(values).all():
            return leg_lengths(self._geometry, pose)  # which names the leg
        return values[0]

    def _require_drives(self, pulls: Array, pose: Array) -> None:
        """Raise SingularError where a drive does not move its rod's end along the rod."""
        cosines = np.where(self._struts, 1.0, np.abs(pulls) / self._geometry.drive_scales)
        if not cosines.min() > MIN_TRANSMISSION:
            leg = self._geometry.leg_names[int(cosines.argmin())]
            raise SingularError(f'pose_base_platform: expected drives that move the platform, got '
                                f'{leg} at its dead centre, at\n{pose}')


def _seen(frames: Array, vectors: Array) -> Array:
    """Return vectors (6, 3) in frames whose axes are the columns of (6, 3, 3)."""
    seen: Array = (vectors[:, None, :] @ frames)[:, 0]
    return seen


def _turned_back(angles: Array, vectors: Array) -> Array:
    """Return vectors (6, 3) in frames that have turned about z."""
    c, s = np.cos(angles), np.sin(angles)
    x, y, z = vectors.T
    return np.column_stack((c * x + s * y, c * y - s * x, z))


def _universal(lengths: Array, along: Array, speed: Array) -> tuple[Array, Array, Array]:
    """Return angles (6, 2) of universal joints, their rates, and those of the lengths (6,)."""
    x, y, z = along.T / lengths
    dx, dy, dz = speed.T
    across, stretch = np.hypot(y, z), x * dx + y * dy + z * dz
    return (np.column_stack((np.arctan2(-y, z), np.arctan2(x, across))),
            np.column_stack(((y * dz - z * dy) / (lengths * across**2),
                             (dx - x * stretch) / (lengths * across))), stretch)
