# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The dynamics of a platform on seven legs or more, whose own masses do not count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError, ShapeError
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.dynamics.dynamics import StewartDynamics
from liedyn_ros.stewart.dynamics.results import StewartMotion
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.masses import LegMasses
from liedyn_ros.stewart.platform.kernels import leg_types as kernels
from liedyn_ros.stewart.platform.kernels.legs import BODY
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.dynamics.forces import ForceDistribution

STEP = 1e-5  # s, of the differences that give rates


class RedundantDynamics:
    """
    The dynamics M V' + h = J^T F + F_ext of a platform on seven legs or more (14.75).

    Conventions are those of StewartDynamics, with n forces for six. Inverse dynamics distributes
    them within force_limits of the geometry (ForceDistribution). Rows are orders 0 and 1 alone;
    rates of forces come from differences. The geometry must have masses. Raises GeometryError. The
    methods raise ShapeError, NotFiniteError, NotInGroupError and SingularError. They raise
    LimitError for orders above one, where a rod does not reach, and for a motion that no forces
    within the limits give.
    """

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take a geometry."""
        masses = geometry.masses
        if masses is None:
            raise GeometryError(f'{geometry.name}: expected masses, got none; '
                                'docs/conventions.md shows the key masses of a geometry file')
        if any(leg != LegMasses() for leg in masses.legs):
            raise GeometryError(f'{geometry.name}: masses: expected none of the legs of a '
                                'platform of seven or more', names=('masses',))
        self.geometry = geometry
        self._table, self._rows = geometry.table(), np.empty((len(geometry.leg_names), 6))
        self._distribution = ForceDistribution(geometry)
        self._matrix = _inertia(masses.spatial_inertia().parameters())
        self._weight = masses.mass * np.array(masses.gravity)
        self._centre = np.array(masses.center_of_mass)

    def mass_matrix(self, pose_base_platform: ArrayLike) -> Array:
        """Return M (6, 6), the platform's inertia, which no pose changes."""
        se3.require_pose('pose_base_platform', pose_base_platform)
        return self._matrix.copy()

    def inverse(self, pose_base_platform: ArrayLike, twist: ArrayLike, acceleration: ArrayLike, *,
                external: ArrayLike | None = None) -> StewartMotion:
        """Return the forces (n,) of a motion, or those and their rates (2, n)."""
        pose, rate = _state(pose_base_platform, twist)
        given = checks.as_numbers('acceleration', acceleration)
        if given.shape == (6,):
            wrench = _wrench(external)
            return StewartMotion(
                given, self._forces(pose, rate, given, wrench), self._stretch(pose, rate, given))
        if given.ndim != 2 or given.shape[1] != 6:
            raise ShapeError('acceleration: expected shape (6,), or a row for each order of '
                             f'differentiation, got {given.shape}')
        if len(given) != 2:
            raise LimitError(f'acceleration: expected orders 0 to 1, got {len(given) - 1}')
        rows = np.zeros((2, 6)) if external is None else np.broadcast_to(
            checks.as_numbers('external', external), (2, 6))

        def at(function: Callable[..., Array], t: float, *wrench: Array) -> Array:
            moved = se3.compose(pose, se3.exp(t * rate + 0.5 * t * t * given[0]))
            return function(moved, rate + t * given[0], given[0] + t * given[1], *(
                each + t * rows[1] for each in wrench))
        found = []
        for function, extra in ((self._forces, (rows[0],)), (self._stretch, ())):
            slope = (at(function, STEP, *extra) - at(function, -STEP, *extra)) / (2.0 * STEP)
            found.append(np.stack((at(function, 0.0, *extra), slope)))
        return StewartMotion(given, found[0], found[1])

    def forward(self, pose_base_platform: ArrayLike, twist: ArrayLike, forces: ArrayLike, *,
                external: ArrayLike | None = None) -> StewartMotion:
        """Return the motion under forces (n,)."""
        pose, rate = _state(pose_base_platform, twist)
        given = checks.as_array('forces', forces, (len(self.geometry.leg_names),))
        wrench = self._jacobian(pose).T @ given + _wrench(external)
        acceleration = np.array(
            np.linalg.solve(self._matrix, wrench - self._bias(pose, rate)), dtype=np.float64)
        return StewartMotion(acceleration, given, self._stretch(pose, rate, acceleration))

    def _bias(self, pose: Array, twist: Array) -> Array:
        """Return h (6,): what gravity and speed take, in the platform's frame."""
        momentum, weight = self._matrix @ twist, pose[:3, :3].T @ self._weight
        w, v = twist[:3], twist[3:]
        return np.concatenate((
            np.cross(w, momentum[:3]) + np.cross(v, momentum[3:]) - np.cross(self._centre, weight),
            np.cross(w, momentum[3:]) - weight))

    def _forces(self, pose: Array, twist: Array, acceleration: Array, external: Array) -> Array:
        """Return the forces (n,) of a motion."""
        held = self._distribution.shared(
            self._jacobian(pose), self._matrix @ acceleration + self._bias(pose, twist) - external)
        if not held.within:
            takes = dict(zip(self.geometry.leg_names, held.forces.round(3).tolist()))
            raise LimitError('acceleration: expected one that forces within their limits give, '
                             f'got {acceleration.tolist()}, which takes {takes}')
        return held.forces

    def _jacobian(self, pose: Array) -> Array:
        """Return d(reading)/d(body twist), (n, 6); LimitError where a rod does not reach."""
        kernels.value_jacobian(self._table, *split(pose), BODY, self._rows.reshape(-1))
        if not np.isfinite(self._rows).all():
            leg_lengths(self.geometry, pose)  # names the leg
        return self._rows.copy()

    def _stretch(self, pose: Array, twist: Array, acceleration: Array) -> Array:
        """Return the second derivatives of the readings (n,)."""
        rates = [self._jacobian(se3.compose(pose, se3.exp(t * twist))) @ twist
                 for t in (STEP, -STEP)]
        return np.asarray(self._jacobian(pose) @ acceleration
                          + (rates[0] - rates[1]) / (2.0 * STEP))


def _inertia(parameters: Array) -> Array:
    """Return the inertia (6, 6) about the origin of mass, moments (3,) and second ones (6,)."""
    mass, x, y, z, xx, xy, xz, yy, yz, zz = parameters.tolist()
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), across],
                     [across.T, mass * np.eye(3)]])


def _state(pose_base_platform: ArrayLike, twist: ArrayLike) -> tuple[Array, Array]:
    """Return a pose (4, 4) and a twist (6,)."""
    pose = se3.require_pose('pose_base_platform', checks.as_array(
        'pose_base_platform', pose_base_platform, (4, 4)))
    return pose, checks.as_array('twist', twist, (6,))


def _wrench(external: ArrayLike | None) -> Array:
    """Return an external wrench (6,)."""
    return np.zeros(6) if external is None else checks.as_array('external', external, (6,))


AnyDynamics = StewartDynamics | RedundantDynamics


def dynamics_of(geometry: StewartGeometry) -> AnyDynamics:
    """Return the dynamics of a platform of any number of legs, with masses; or GeometryError."""
    return RedundantDynamics(geometry) if geometry.redundant else StewartDynamics(geometry)
