# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The dynamics of a platform on more legs than six, which share its wrench and have no masses."""

from __future__ import annotations

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError
from liedyn_ros.lie import so3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.dynamics.forces import ForceDistribution
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.masses import LegMasses, PlatformMasses
from liedyn_ros.stewart.platform.kernels import inverse_rates, leg_types
from liedyn_ros.stewart.platform.kernels.legs import BODY
from liedyn_ros.stewart.platform.kinematics import leg_lengths

MAX_ORDER = 1


class SharedForces:
    """
    Inverse and forward dynamics M V' + h = J^T F + F_ext with n > 6 forces (14.75).

    Inverse dynamics distributes the forces within their limits (ForceDistribution). Poses and
    twists are checked here; rows (orders, 6) are those of StewartDynamics, to MAX_ORDER.
    """

    def __init__(self, geometry: StewartGeometry, masses: PlatformMasses) -> None:
        """Take a geometry, whose legs have no masses. Raises GeometryError."""
        if any(leg != LegMasses() for leg in masses.legs):
            raise GeometryError(f'{geometry.name}: masses: expected none of the legs of a '
                                'platform of seven or more', names=('masses',))
        n = len(geometry.leg_names)
        self._geometry, self._table = geometry, geometry.table()
        self._rows, self._work = np.empty((n, 6)), np.empty(6 * n)
        self._distribution = ForceDistribution(geometry)
        mass, *moments = masses.spatial_inertia().parameters().tolist()
        x, y, z, xx, xy, xz, yy, yz, zz = moments
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        across = so3.hat([x, y, z])
        self.mass_matrix = np.block([[about, across], [across.T, mass * np.eye(3)]])
        self._weight = mass * np.array(masses.gravity)
        self._centre = np.array(masses.center_of_mass)

    def inverse(self, pose: Array, twist: Array, a: Array, external: Array) -> tuple[Array, Array]:
        """Return the forces and the second derivatives of the legs' values, (orders, n) each."""
        if len(a) > MAX_ORDER + 1:
            raise LimitError(f'acceleration: expected orders 0 to {MAX_ORDER} of more than six '
                             f'legs, got {len(a) - 1}', expected=MAX_ORDER, got=len(a) - 1)
        wrench = self._bias(pose, twist, a) - (external if len(external) else 0.0)
        jacobian, change = self.jacobian(pose), self._change(pose, twist)
        held = self._distribution.shared(jacobian, wrench[0])
        if not held.within:
            takes = dict(zip(self._geometry.leg_names, held.forces.round(3).tolist()))
            raise LimitError('acceleration: expected one that forces within their limits give, '
                             f'got {a[0].tolist()}, which takes {takes}')
        forces = [held.forces]
        if len(a) > 1:
            forces.append(self._distribution.rate(
                jacobian, change, held.forces, wrench[1] - change.T @ held.forces))
        return np.stack(forces), self.stretch(pose, twist, a)

    def forward(self, pose: Array, twist: Array, forces: Array, external: Array) -> Array:
        """Return the acceleration (6,) under forces (n,)."""
        wrench = self.jacobian(pose).T @ forces + (external if len(external) else 0.0)
        rest = self._bias(pose, twist, np.zeros((1, 6)))[0]
        return np.asarray(np.linalg.solve(self.mass_matrix, wrench - rest))

    def stretch(self, pose: Array, twist: Array, a: Array) -> Array:
        """Return the second derivatives (n,) of the legs' values; of order 0 alone (orders, n)."""
        rows = np.full((len(a), len(self._rows)), np.nan)
        rows[0] = self.jacobian(pose) @ a[0] + self._change(pose, twist) @ twist
        return rows

    def jacobian(self, pose: Array) -> Array:
        """Return d(value)/d(body twist), (n, 6); LimitError where a rod does not reach."""
        leg_types.value_jacobian(self._table, *split(pose), BODY, self._rows.reshape(-1))
        if not np.isfinite(self._rows).all():
            leg_lengths(self._geometry, pose)  # names the leg
        return self._rows.copy()

    def _change(self, pose: Array, twist: Array) -> Array:
        """Return dJ/dt (n, 6): d(J e)/d(pose) V for each unit twist e."""
        columns = []
        for unit in np.eye(6):
            change = np.empty_like(self._rows)
            inverse_rates.jacobian_change(
                self._table, pose, unit, change.reshape(-1), self._work)
            columns.append(change @ twist)
        return np.column_stack(columns)

    def _bias(self, pose: Array, twist: Array, a: Array) -> Array:
        """Return M V' + h and its derivatives, (orders, 6), in the platform's frame."""
        weight, w, v = pose[:3, :3].T @ self._weight, twist[:3], twist[3:]
        momentum = self.mass_matrix @ twist
        rows = [self.mass_matrix @ a[0] + _moved(w, v, momentum) - self._lifting(weight)]
        if len(a) > 1:
            turned = -np.cross(w, weight)
            rows.append(self.mass_matrix @ a[1] + _moved(a[0, :3], a[0, 3:], momentum)
                        + _moved(w, v, self.mass_matrix @ a[0]) - self._lifting(turned))
        return np.stack(rows)

    def _lifting(self, weight: Array) -> Array:
        return np.concatenate((np.cross(self._centre, weight), weight))


def _moved(w: Array, v: Array, momentum: Array) -> Array:
    """Return the rate (6,) of a momentum that is constant in space, in a frame that moves."""
    return np.concatenate((np.cross(w, momentum[:3]) + np.cross(v, momentum[3:]),
                           np.cross(w, momentum[3:])))
