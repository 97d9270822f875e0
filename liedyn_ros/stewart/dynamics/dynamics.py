# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg forces of a platform's motion, and its motion under leg forces, in closed form."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_finite
from liedyn_ros.common.errors import GeometryError, LimitError, ShapeError, SingularError
from liedyn_ros.jit.bound_kernel import CheckedKernel
from liedyn_ros.lie import se3
from liedyn_ros.stewart.dynamics.closed_loop_model import ClosedLoopPlatform
from liedyn_ros.stewart.dynamics.forces import Energy, SharedForces, StewartMotion
from liedyn_ros.stewart.dynamics.kernels import platform
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.masses import LegMasses, PlatformMasses

MAX_PLATFORM_ORDER = 30


class StewartDynamics:
    """
    The dynamics M_x V' + h = J^T F + F_ext of a platform (12.39) to (12.43).

    V is the body twist (w, v), rad/s and m/s, and V' its derivative by components. F are the drive
    forces along the legs, N, in the geometry's leg order. They are positive where they push the
    platform away. Those of rails are forces on the carriages, along the rails; those of cranks are
    torques, N m. Methods take V' or F as one row (6,), or as (order + 1, 6), with a row for each
    time derivative to order 30. They return as many rows. external (6,), or as many rows, is a
    wrench (moment, force), N m and N, on the platform in its frame.

    Struts have closed form. A platform with rails or cranks is computed as a machine with closed
    loops; joints whose axes do not meet are refused. More legs than six share the wrench within
    their limits (ForceDistribution), of any type, without masses of their own: forces and their
    rates, orders 0 and 1, and leg_accelerations of order 0. Their forward dynamics has order 0.
    The geometry must have masses. Each object
    works in its own tables: use one per thread. Raises GeometryError. The methods raise
    ShapeError, NotFiniteError, NotInGroupError, LimitError for too high an order or where a rod
    does not reach, and SingularError.

    >>> platform = StewartDynamics(geometry)
    >>> platform.inverse(home, np.zeros(6), np.zeros(6)).forces.shape  # that hold it
    (6,)
    """

    def __init__(self, geometry: StewartGeometry) -> None:
        """
        Lay out the tables of a geometry.

        Args:
            geometry: of a platform with masses.
        """
        self._constants, self._legs = constants_of(geometry)
        self.geometry = geometry
        self._shared = None if not geometry.redundant or geometry.masses is None else (
            SharedForces(geometry, geometry.masses))
        self._loops = None if geometry.plain or self._shared is not None else (
            ClosedLoopPlatform(geometry))
        self._matrix, self._buffer = np.zeros(36), np.zeros(42)
        self._nothing = np.zeros((0, 6))
        self._allocate(0)

    def inverse(self, pose_base_platform: ArrayLike, twist: ArrayLike, acceleration: ArrayLike, *,
                external: ArrayLike | None = None) -> StewartMotion:
        """
        Return the leg forces of a motion.

        Args:
            pose_base_platform: pose (4, 4) of the platform in the base; m.
            twist: body twist (6,), angular part first; rad/s and m/s.
            acceleration: derivative of its numbers (6,), or with time derivatives (order + 1, 6);
                rad/s^2 and m/s^2.
            external: wrench (6,) on the platform in its frame, or with time derivatives, moment (N
                m) before force (N).

        Returns:
            forces and accelerations.

        Raises:
            SingularError: where J is singular.
            LiedynError: for another shape, a wrong pose, or a number that is not finite.

        >>> StewartDynamics(geometry).inverse(home, np.zeros(6), np.zeros(6)).forces.shape
        (6,)
        """
        return self._solve(platform.INVERSE_TASK, 'acceleration', acceleration, pose_base_platform,
                           twist, external)

    def forward(self, pose_base_platform: ArrayLike, twist: ArrayLike, forces: ArrayLike, *,
                external: ArrayLike | None = None) -> StewartMotion:
        """
        Return the motion under leg forces.

        Args:
            pose_base_platform: pose (4, 4) of the platform in the base; m.
            twist: body twist (6,), angular part first; rad/s and m/s.
            forces: (6,), or with time derivatives (order + 1, 6); N, N m of cranks.
            external: wrench (6,) on the platform in its frame, or with time derivatives, moment (N
                m) before force (N).

        Returns:
            accelerations and forces.

        Raises:
            SingularError: for a massless platform.
            LiedynError: for another shape, a wrong pose, or a number that is not finite.

        >>> platform = StewartDynamics(geometry)
        >>> weight = platform.inverse(home, np.zeros(6), np.zeros(6)).forces
        >>> bool(np.abs(platform.forward(home, np.zeros(6), weight).acceleration).max() < 1e-9)
        True
        """
        return self._solve(
            platform.FORWARD_TASK, 'forces', forces, pose_base_platform, twist, external)

    def mass_matrix(self, pose_base_platform: ArrayLike) -> Array:
        """
        Return the inertia of platform and legs that the body twist moves.

        Args:
            pose_base_platform: pose (4, 4) of the platform in the base; m.

        Returns:
            M_x (6, 6); kg m^2, kg m and kg.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> StewartDynamics(geometry).mass_matrix(home).shape
        (6, 6)
        """
        if self._shared is not None:
            _pose(pose_base_platform)
            return self._shared.mass_matrix.copy()
        if self._loops is not None:
            return self._loops.mass_matrix(pose_base_platform)
        self._examine(pose_base_platform, np.zeros(6))
        return self._matrix.reshape(6, 6).copy()

    def energy(self, pose_base_platform: ArrayLike, twist: ArrayLike) -> Energy:
        """
        Return the energy of platform and six legs; its rate is F . Ldot + F_ext . V (12.44).

        Args:
            pose_base_platform: pose (4, 4) of the platform in the base; m.
            twist: body twist (6,), angular part first; rad/s and m/s.

        Returns:
            kinetic and potential energy; J.

        Raises:
            GeometryError: for more legs than six.
            LiedynError: for another shape, a wrong pose, or a number that is not finite.

        >>> StewartDynamics(geometry).energy(home, np.zeros(6)).kinetic
        0.0
        """
        self.geometry.require_six('energy')
        if self._loops is not None:
            return self._loops.energy(pose_base_platform, twist)
        return self._examine(pose_base_platform, twist)

    def _examine(self, pose_base_platform: ArrayLike, twist: ArrayLike) -> Energy:
        a, out, stretch = np.zeros((3, 1, 6))
        self._run(platform.MASS_MATRIX_TASK, pose_base_platform, twist, a, out, stretch, None)
        return Energy(*out[0, :2].tolist())

    def _solve(self, task: int, name: str, given: ArrayLike, pose_base_platform: ArrayLike,
               twist: ArrayLike, external: ArrayLike | None) -> StewartMotion:
        if self._shared is not None:
            return self._share(
                self._shared, task, name, given, pose_base_platform, twist, external)
        known = as_numbers(name, given).copy()
        self._check_orders(name, known.shape)
        found, stretch = np.empty(known.shape), np.empty(known.shape)
        a, forces = (known, found) if task == platform.INVERSE_TASK else (found, known)
        rows = (a, forces, stretch) if known.ndim == 2 else (a[None], forces[None], stretch[None])
        held: float | None = None
        if self._loops is None:
            self._run(task, pose_base_platform, twist, *rows, external)
            if task == platform.INVERSE_TASK:  # the buffer holds J^-T
                held = min(1.0, 1.0 / float(np.abs(self._buffer[:36]).max()))
        elif task == platform.INVERSE_TASK:
            held = self._loops.inverse(
                pose_base_platform, twist, *rows, self._wrenches(external, a))
        else:
            self._loops.forward(pose_base_platform, twist, *rows, self._wrenches(external, a))
        return StewartMotion(a, forces, stretch, held)

    def _share(self, shared: SharedForces, task: int, name: str, given: ArrayLike,
               pose_base_platform: ArrayLike, twist: ArrayLike, external: ArrayLike | None
               ) -> StewartMotion:
        """Solve a platform of more legs than six."""
        pose, rate = _pose(pose_base_platform), np.array(as_array('twist', twist, (6,)))
        if task == platform.FORWARD_TASK:
            forces = as_array(name, given, (len(self.geometry.leg_names),))
            a = shared.forward(pose, rate, forces, np.zeros(6) if external is None else as_array(
                'external', external, (6,)))
            return StewartMotion(a, forces, shared.stretch(pose, rate, a[None])[0])
        known = as_numbers(name, given)
        if known.shape != (6,) and (known.ndim != 2 or known.shape[1] != 6 or not len(known)):
            raise ShapeError(f'{name}: expected shape (6,), or a row for each order of '
                             f'differentiation, got {known.shape}')
        require_finite(name, known)
        rows = np.array(known.reshape(-1, 6))
        wrenches = self._nothing if external is None else self._wrenches(external, known)
        found, stretch = shared.inverse(pose, rate, rows, wrenches.reshape(-1, 6))
        if known.ndim == 1:
            found, stretch = found[0], stretch[0]
        return StewartMotion(known, found, stretch)

    def _run(self, task: int, pose_base_platform: ArrayLike, twist: ArrayLike, a: Array,
             forces: Array, stretch: Array, external: ArrayLike | None) -> None:
        wrenches = self._nothing if external is None else self._wrenches(external, a)
        self._kernel.call(task, pose_base_platform, twist, a, forces, wrenches, stretch)

    def _wrenches(self, external: ArrayLike | None, a: Array) -> Array:
        if external is None:
            return self._nothing
        array = as_numbers('external', external)
        if array.shape != a.shape and (array.shape, len(a)) != ((6,), 1):
            raise ShapeError(f'external: expected shape {a.shape}, got {array.shape}')
        return np.array(array.reshape(a.shape))

    def _check_orders(self, name: str, shape: tuple[int, ...]) -> None:
        """Refuse other shapes than (6,) and (orders, 6); allocate the series of these orders."""
        if shape == (6,):
            return
        if len(shape) != 2 or shape[1] != 6 or not shape[0]:
            raise ShapeError(f'{name}: expected shape (6,), or a row for each order of '
                             f'differentiation, got {shape}')
        if shape[0] > MAX_PLATFORM_ORDER + 1:
            raise LimitError(f'{name}: expected orders 0 to {MAX_PLATFORM_ORDER}, got '
                             f'{shape[0] - 1}')
        if shape[0] > self._series.shape[1] - 1:
            self._allocate(shape[0] - 1)

    def _allocate(self, order: int) -> None:
        self._series = np.zeros((platform.SERIES_ROWS, order + 2))
        self._kernel = CheckedKernel(
            _Arguments(), platform.solve_platform, self._constants, self._legs, self._series,
            self._matrix, self._buffer)


def _pose(pose_base_platform: ArrayLike) -> Array:
    return np.array(se3.require_pose('pose_base_platform', pose_base_platform, (4, 4)))


class _Arguments:
    """The check of the arguments of solve_platform."""

    done = platform.DONE

    def prepare(self, task: int, pose: ArrayLike, twist: ArrayLike, a: Array, forces: Array,
                wrenches: Array, stretch: Array) -> tuple[Any, ...]:
        """Return arrays that the kernel can read, or raise the error of a wrong one."""
        pose = _pose(pose)
        if task == platform.FORWARD_TASK:
            require_finite('forces', forces)
        else:
            require_finite('acceleration', a)
        require_finite('external', wrenches)
        twist = np.array(as_array('twist', twist, (6,)))
        return task, pose, twist, a, forces, wrenches, stretch

    def refuse(self, code: int, task: int, pose: Array, twist: Array, *_: Array) -> NoReturn:
        """Raise SingularError or LimitError."""
        if code == platform.SINGULAR_PLATFORM:
            wanted = ('a platform and legs with mass' if task == platform.FORWARD_TASK
                      else 'legs that hold the platform in all directions')
            raise SingularError(
                f'pose_base_platform: expected {wanted}, got a singular pose; move away from '
                f'it\n{pose}')
        raise LimitError(
            'expected numbers whose results are finite, and no leg along the first axis of '
            f'its universal joint, got twist {twist!r} at\n{pose}')


def constants_of(geometry: StewartGeometry) -> tuple[Array, Array]:
    """Return the kernel's constants of a platform and of its legs; raise GeometryError."""
    masses = geometry.masses
    if masses is None:
        raise GeometryError(f'{geometry.name}: expected masses, got none; '
                            'docs/conventions.md shows the key masses of a geometry file')
    legs = np.array([_leg(*leg) for leg in zip(
        masses.legs, geometry.base_joints, geometry.platform_joints)])
    return _constants(masses, geometry.characteristic_length), legs


def _constants(masses: PlatformMasses, size: float) -> Array:
    mass, *moments = masses.spatial_inertia().parameters().tolist()
    x, y, z, xx, xy, xz, yy, yz, zz = moments
    return np.array([mass, x, y, z, xx, xy, xz, xy, yy, yz, xz, yz, zz, size, *masses.gravity])


def _leg(masses: LegMasses, base: Array, tip: Array) -> Array:
    """Return the constants of a leg (12.41)."""
    cylinder, rod = masses.cylinder, masses.rod
    moment = rod.mass * rod.center
    about_joints = (cylinder.transverse + cylinder.mass * cylinder.center**2
                    + rod.transverse + moment * rod.center)
    return np.array([*base, *tip, *masses.base_axis, rod.mass, moment,
                    cylinder.mass * cylinder.center - moment, about_joints,
                    cylinder.axial + rod.axial])
