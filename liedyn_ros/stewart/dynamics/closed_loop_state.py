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
from liedyn_ros.common.errors import GeometryError, LimitError, SingularError
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.lie import se3
from liedyn_ros.stewart.dynamics.closed_loop_model import universal_axes
from liedyn_ros.stewart.dynamics.kernels.loop_state import (
    DEAD_CENTRE, DONE, UNREACHED, write_loop_state)
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, LegType, Rail
from liedyn_ros.stewart.platform.description.masses import LegMasses
from liedyn_ros.stewart.platform.kernels import leg_rows
from liedyn_ros.stewart.platform.kinematics import leg_lengths

_REST = np.zeros(6)


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
        """Lay out the legs."""
        if geometry.masses is None:
            raise GeometryError(f'{geometry.name}: expected masses, got none')
        self._geometry = geometry
        legs = np.array([
            [*_own(leg_type, scale, masses), *base, *tip] for leg_type, scale, masses, base, tip
            in zip(geometry.leg_types, geometry.drive_scales, geometry.masses.legs,
                   geometry.base_joints, geometry.platform_joints)])
        self._kernel = BoundKernel(write_loop_state, legs, geometry.table())

    def __call__(self, pose_base_platform: ArrayLike, twist: ArrayLike) -> tuple[Array, Array]:
        """Return q (25,) and v (24,), or raise the errors of model_state."""
        q, v, _ = self.motion(pose_base_platform, twist, _REST)
        return q, v

    def motion(self, pose_base_platform: ArrayLike, twist: ArrayLike, acceleration: Array
               ) -> tuple[Array, Array, Array]:
        """Return q, v and the accelerations a (24,) at a rate (6,) of the twist, or raise them."""
        pose = se3.require_pose('pose_base_platform', pose_base_platform)
        twist = as_array('twist', twist, (6,))
        q, v, a = np.empty(25), np.empty(24), np.empty(24)
        code = self._kernel.call(np.array(pose), np.array(twist), acceleration, q, v, a)
        if code == DONE:
            return q, v, a
        if code == UNREACHED:
            leg_lengths(self._geometry, pose)  # which names the leg
            raise LimitError(f'pose_base_platform: expected rods that reach, got\n{pose}')
        leg = self._geometry.leg_names[code - DEAD_CENTRE]
        raise SingularError(f'pose_base_platform: expected drives that move the platform, got '
                            f'{leg} at its dead centre, at\n{pose}')


def _own(leg_type: LegType, scale: float, masses: LegMasses) -> list[float]:
    """Return the columns of a leg that its type gives, and the axes of its joints."""
    kind, radius = 0, 0.0
    direction: Array = np.zeros(3)
    frame: Array = np.eye(3)
    if isinstance(leg_type, Crank):
        kind, radius = leg_rows.CRANK, leg_type.radius
        frame = np.column_stack(
            (leg_type.zero, np.cross(leg_type.axis, leg_type.zero), leg_type.axis))
    elif isinstance(leg_type, Rail):
        kind, direction = leg_rows.RAIL, np.array(leg_type.direction)
    return [kind, scale, radius, *direction, *frame.ravel(),
            *(frame.T @ universal_axes(masses)).ravel()]
