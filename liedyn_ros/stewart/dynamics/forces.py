# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motion, energy and forces of a platform, and how seven legs or more share a wrench."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError, SingularError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import NEAR_SINGULAR
from liedyn_ros.lie.kernels.motion import position_quaternion, split
from liedyn_ros.model import ModelBuilder
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.masses import LegMasses, PlatformMasses
from liedyn_ros.stewart.platform.kernels import inverse_rates, leg_types
from liedyn_ros.stewart.platform.kernels.legs import BY_BODY_TWIST
from liedyn_ros.stewart.platform.kinematics import leg_lengths, length_jacobian

# Ratio of singular values of J, below which the legs do not hold the platform
SINGULAR_RATIO = 1e-9
NO_SOLUTION = 1e-9  # residual of the dual problem, below which no forces are within the limits
MAX_FORCES_ORDER = 1


class HeldForces(NamedTuple):
    """
    Forces of the drives (n,), N, N m of cranks, positive where they push the platform away.

    within: whether they hold the wrench within the limits. Where no forces do, they hold it beyond
    them, and are those of least square.

    >>> wires = ld.load_geometry(config_file('stewart_cable_robot.yaml'))
    >>> ForceDistribution(wires).hold(wires.home, [0.0, 0.0, 0.0, 0.0, 0.0, 10.0]).within
    True
    """

    forces: Array
    within: bool


class ForceDistribution:
    """
    The forces nearest to the middle of their limits that hold a wrench (14.74).

    Near means the least sum of squares, at the drives' ends. The middle of a force without a limit
    on one side is that limit or 0.

    >>> wires = ld.load_geometry(config_file('stewart_cable_robot.yaml'))
    >>> ForceDistribution(wires).hold(wires.home, [0.0, 0.0, 0.0, 0.0, 0.0, 10.0]).forces.shape
    (8,)
    """

    def __init__(self, geometry: StewartGeometry) -> None:
        """
        Take a geometry with the limits of the forces.

        Args:
            geometry: with the limits of the forces.
        """
        from scipy.optimize import nnls  # which takes long to import, and not in a stream

        self._least_squares = nnls
        self.geometry = geometry
        self._scales = geometry.drive_scales
        self._least, self._most = (geometry.force_limits / self._scales[:, None]).T
        least, most = (np.where(np.isfinite(bound), bound, 0.0)
                       for bound in (self._least, self._most))
        bounded = np.isfinite(self._least) & np.isfinite(self._most)
        nearest_zero = np.clip(0.0, self._least, self._most)
        self._middle = np.where(bounded, 0.5 * (least + most), nearest_zero)

    def hold(self, pose_base_platform: ArrayLike, wrench: ArrayLike) -> HeldForces:
        """
        Return the drives' forces that give a wrench on the platform.

        Args:
            pose_base_platform: pose (4, 4) of the platform in the base; m.
            wrench: (6,), moment (N m) before force (N), in the platform's frame, about its origin.

        Returns:
            forces (n,), and whether they are within their limits.

        Raises:
            SingularError: where the legs do not hold the platform in all directions.
            LimitError: where a rod does not reach.
            LiedynError: for another shape, a wrong pose, or a number that is not finite.

        >>> wires = ld.load_geometry(config_file('stewart_cable_robot.yaml'))
        >>> ForceDistribution(wires).hold(wires.home, [0.0, 0.0, 0.0, 0.0, 0.0, 10.0]).forces.shape
        (8,)
        """
        jacobian = length_jacobian(self.geometry, pose_base_platform)
        if not np.isfinite(jacobian).all():
            leg_lengths(self.geometry, pose_base_platform)  # names the leg that does not reach
        return self._shared(jacobian, checks.as_array('wrench', wrench, (6,)))

    def _shared(self, jacobian: Array, wrench: Array) -> HeldForces:
        """Return the forces of a J (n, 6) and a wrench (6,); raise SingularError."""
        units = np.array([1.0 / self.geometry.characteristic_length] * 3 + [1.0] * 3)
        left, values, right = np.linalg.svd(jacobian * self._scales[:, None] * units)
        if not values[-1] > SINGULAR_RATIO * values[0]:
            raise SingularError('pose_base_platform: expected legs that hold the platform in all '
                                f'directions, got singular values {values.tolist()}')
        free, held = left[:, 6:], left[:, :6] @ (right @ (wrench * units) / values)
        nearest = held + free @ (free.T @ self._middle)
        forces = self._within(nearest, free)
        if forces is None:
            return HeldForces(self._scales * held, False)
        return HeldForces(self._scales * forces, True)

    def _rate(self, jacobian: Array, change: Array, forces: Array, wrench: Array) -> Array:
        """
        Return the rates of forces that `_shared` gave, within their limits: at one 0 (14.74).

        change: dJ/dt (n, 6), 1/s. wrench: rate (6,) of J^T F at a constant J; N m/s and N/s.
        """
        given = forces / self._scales
        free = (given > self._least) & (given < self._most)
        rows, changes = ((each * self._scales[:, None])[free] for each in (jacobian, change))
        share = np.linalg.lstsq(rows, given[free] - self._middle[free], rcond=None)[0]
        moved = changes @ share
        rates = np.zeros(len(forces))
        rates[free] = moved + rows @ np.linalg.lstsq(
            rows.T @ rows, wrench - rows.T @ moved, rcond=None)[0]
        return self._scales * rates

    def _within(self, nearest: Array, free: Array) -> Array | None:
        """Return the forces within the limits with the least change of some, if there are any."""
        if ((nearest >= self._least) & (nearest <= self._most)).all():
            return nearest
        rows = np.concatenate((free, -free))
        bounds = np.concatenate((self._least - nearest, nearest - self._most))
        kept = np.isfinite(bounds)
        size = max(float(np.abs(bounds[kept]).max()), 1e-300)
        # Least distance programming (Lawson and Hanson 1974, 23.4).
        system = np.vstack((rows[kept].T, bounds[kept] / size))
        target = np.zeros(len(system))
        target[-1] = 1.0
        residual = system @ self._least_squares(system, target)[0] - target
        if np.linalg.norm(residual) < NO_SOLUTION:
            return None
        return np.clip(nearest - size * (free @ residual[:-1]) / residual[-1],
                       self._least, self._most)


class Energy(NamedTuple):
    """
    The kinetic and potential energy of platform and legs, J; the latter up to a constant.

    >>> StewartDynamics(geometry).energy(home, np.zeros(6)).potential > 0.0
    True
    """

    kinetic: float
    potential: float


class StewartMotion(NamedTuple):
    """
    The acceleration of the body twist, drive forces and leg_accelerations of the legs' values.

    Each is (6,), or (order + 1, 6) with time derivatives. Forces are in N, of cranks N m; values
    are lengths or positions in m, of cranks angles in rad.

    Of inverse dynamics, inverse_condition_number says how well the drives hold the platform: 1
    well, 0 not. It is 1 over the largest entry of J^-T without units, where that is above 1. Of
    rails and cranks it is the actuation's of ConstrainedDynamics.inverse. Below NEAR_SINGULAR,
    1e-4, forces are large and uncertain.

    >>> StewartDynamics(geometry).inverse(home, np.zeros(6), np.zeros(6)).leg_accelerations.shape
    (6,)
    """

    acceleration: Array
    forces: Array
    leg_accelerations: Array
    inverse_condition_number: float | None = None

    @property
    def near_singular(self) -> bool:
        """Return whether the drives hardly hold the platform, of inverse dynamics."""
        held = self.inverse_condition_number
        return held is not None and held < NEAR_SINGULAR


class SharedForces(ForceDistribution):
    """
    Inverse and forward dynamics M V' + h = J^T F + F_ext with n > 6 forces (14.75).

    Inverse dynamics distributes the forces within their limits. Rows (orders, 6) are those of
    StewartDynamics, to MAX_FORCES_ORDER.
    """

    def __init__(self, geometry: StewartGeometry, masses: PlatformMasses) -> None:
        """Take a geometry, whose legs have no masses. Raises GeometryError."""
        if any(leg != LegMasses() for leg in masses.legs):
            raise GeometryError(f'{geometry.name}: masses: expected none of the legs of a '
                                'platform of seven or more', names=('masses',))
        super().__init__(geometry)
        n, self._table = len(geometry.leg_names), geometry.table()
        self._rows, self._work = np.empty((n, 6)), np.empty(6 * n)
        builder = ModelBuilder(geometry.name, gravity=masses.gravity)
        builder.add_body('platform', masses.spatial_inertia())
        builder.add_joint('platform_joint', 'free', None, 'platform')
        self._body = Dynamics(builder.build())
        self.mass_matrix = self._body.mass_matrix(np.eye(7)[6])

    def inverse(self, pose: Array, twist: Array, a: Array, external: Array) -> tuple[Array, Array]:
        """Return the forces and the second derivatives of the legs' values, (orders, n) each."""
        if len(a) > MAX_FORCES_ORDER + 1:
            raise LimitError(f'acceleration: expected orders 0 to {MAX_FORCES_ORDER} of more '
                             f'than six '
                             f'legs, got {len(a) - 1}', expected=MAX_FORCES_ORDER, got=len(a) - 1)
        wrench = self._body.inverse.time_derivatives(position_quaternion(pose), twist, a)
        wrench = wrench - (external if len(external) else 0.0)
        jacobian, change = self.jacobian(pose), self._change(pose, twist)
        held = self._shared(jacobian, wrench[0])
        if not held.within:
            takes = dict(zip(self.geometry.leg_names, held.forces.round(3).tolist()))
            raise LimitError('acceleration: expected one that forces within their limits give, '
                             f'got {a[0].tolist()}, which takes {takes}')
        forces = [held.forces]
        if len(a) > 1:
            forces.append(self._rate(
                jacobian, change, held.forces, wrench[1] - change.T @ held.forces))
        return np.stack(forces), self.stretch(pose, twist, a)

    def forward(self, pose: Array, twist: Array, forces: Array, external: Array) -> Array:
        """Return the acceleration (6,) under forces (n,)."""
        wrench = self.jacobian(pose).T @ forces + external
        return np.asarray(self._body.forward(position_quaternion(pose), twist, wrench))

    def stretch(self, pose: Array, twist: Array, a: Array) -> Array:
        """Return the second derivatives (n,) of the legs' values; of order 0 alone (orders, n)."""
        rows = np.full((len(a), len(self._rows)), np.nan)
        rows[0] = self.jacobian(pose) @ a[0] + self._change(pose, twist) @ twist
        return rows

    def jacobian(self, pose: Array) -> Array:
        """Return d(value)/d(body twist), (n, 6); LimitError where a rod does not reach."""
        leg_types.value_jacobian(self._table, *split(pose), BY_BODY_TWIST, self._rows.reshape(-1))
        if not np.isfinite(self._rows).all():
            leg_lengths(self.geometry, pose)  # names the leg
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
