# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The dynamics of a platform on legs of any form, as a machine with closed loops."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, require_finite
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, ConstraintStatus
from liedyn_ros.stewart.dynamics.closed_loop_model import ClosedLoopState, platform_model
from liedyn_ros.stewart.dynamics.forces import Energy
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry


class ClosedLoopPlatform:
    """
    Inverse and forward dynamics of platform_model, in the coordinates of the platform.

    Raises GeometryError. Poses and twists are checked here; rows (orders, 6) are those of
    StewartDynamics.
    """

    def __init__(self, geometry: StewartGeometry) -> None:
        """Build the model."""
        model, self._state = platform_model(geometry), ClosedLoopState(geometry)
        self._dynamics = ConstrainedDynamics(model)
        self._legs = np.array([model.joint(name).vi for name in geometry.leg_names])
        self._platform = np.arange(model.nv) < 6
        self._body = model.body_index('platform')

    def inverse(self, pose_base_platform: ArrayLike, twist: ArrayLike, a: Array, forces: Array,
                stretch: Array, external: Array) -> float | None:
        """
        Write drive forces and second derivatives of the legs' values.

        Returns the inverse condition number of the actuation.
        """
        require_finite('acceleration', a)
        q, v, pull = self._state.motion(pose_base_platform, twist, a[0])
        moving = pull
        if len(a) > 1 or not isfinite(np.dot(pull, pull)):
            moving = self._moving(pose_base_platform, q, v, a)
        found = self._dynamics.inverse(q, v, moving, external=self._wrenches(external, moving))
        forces[:], stretch[:] = found.tau[..., self._legs], moving[..., self._legs]
        return found.actuation_inverse_condition_number

    def _moving(self, pose_base_platform: ArrayLike, q: Array, v: Array, a: Array) -> Array:
        """Return the accelerations (orders, nv) of all, given those of the platform."""
        given = self._rows(a, slice(0, 6))
        moved = self._dynamics.hybrid(q, v, self._platform, given, np.zeros_like(given))
        if moved.status is ConstraintStatus.INCONSISTENT:
            raise SingularError('pose_base_platform: expected legs that follow the platform, got '
                                f'a singular pose\n{np.asarray(pose_base_platform)}')
        return moved.a

    def forward(self, pose_base_platform: ArrayLike, twist: ArrayLike, a: Array, forces: Array,
                stretch: Array, external: Array) -> None:
        """Write accelerations and second derivatives of the legs' values."""
        require_finite('forces', forces)
        q, v = self._state(pose_base_platform, twist)
        tau = self._rows(forces, self._legs)
        if len(tau) == 1:
            tau = tau[0]
        found = self._dynamics.forward(q, v, tau, external=self._wrenches(external, tau))
        a[:], stretch[:] = found.a[..., :6], found.a[..., self._legs]

    def mass_matrix(self, pose_base_platform: ArrayLike) -> Array:
        """Return M_x (6, 6): N^T M N, as the platform moves all by N (12.22)."""
        states = [self._state(pose_base_platform, unit) for unit in np.eye(6)]
        moves = np.column_stack([v for _, v in states])
        matrix: Array = moves.T @ self._dynamics.tree.mass_matrix(states[0][0]) @ moves
        return matrix

    def energy(self, pose_base_platform: ArrayLike, twist: ArrayLike) -> Energy:
        """Return the energy of platform and legs."""
        q, v = self._state(pose_base_platform, twist)
        tree = self._dynamics.tree
        return Energy(tree.kinetic_energy(q, v), tree.potential_energy(q))

    def _rows(self, rows: Array, at: slice | Array) -> Array:
        """Return rows (orders, nv) of all coordinates, zero elsewhere."""
        full = np.zeros((len(rows), len(self._platform)))
        full[:, at] = rows
        return full

    def _wrenches(self, external: Array, like: Array) -> Array | None:
        """Return wrenches ([orders,] B, 6) on the platform in its frame, None where none act."""
        if not len(external):
            return None
        full = np.zeros((*like.shape[:-1], len(self._dynamics.model.bodies), 6))
        full[..., self._body, :] = require_finite('external', external)
        return full
