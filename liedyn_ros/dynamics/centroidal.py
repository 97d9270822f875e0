# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Momentum and centre of mass of a model: methods of Dynamics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.algorithms.kernels import centroidal
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.jit.bound_kernel import CheckedKernel, direct


class CenterOfMass(NamedTuple):
    """
    The centre of mass of what moves, in the ground: position, velocity, acceleration, each (3,).

    >>> robot.center_of_mass_motion(q, v, a).velocity.shape
    (3,)
    """

    position: Array
    velocity: Array
    acceleration: Array


class CentroidalDynamics:
    """
    The methods of Dynamics about the centre of mass and the momentum.

    >>> robot.center_of_mass(q).shape
    (3,)
    """

    constants: Constants
    _mass: float
    _bound: Any

    def _bind_centroidal(self, blocks: Array) -> None:
        """Bind the kernels; blocks: scratch of the Coriolis matrix."""
        map_shape = 6, self.constants.model.nv
        self._center: CheckedKernel = self._bound('q out', centroidal.center_of_mass, (3,))
        self._center_motion = self._bound('q v a', centroidal.center_of_mass_motion)
        self._momentum: CheckedKernel = self._bound('q v out', centroidal.momentum, (6,))
        self._map: CheckedKernel = self._bound('q out', centroidal.centroidal_map, map_shape)
        self._map_rate: CheckedKernel = self._bound(
            'q v out', centroidal.centroidal_map_rate, map_shape, blocks)

    def _centroidal_calls(self) -> dict[str, Any]:
        calls = {'momentum': self._momentum.direct('q v out', None)}
        return calls if not self._mass > 0.0 else calls | {
            'center_of_mass': self._center.direct('q out', None),
            'centroidal_map': self._map.direct('q out', None),
            'centroidal_map_rate': self._map_rate.direct('q v out', None)}

    @direct
    def center_of_mass(self, q: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the centre of mass of the moving bodies.

        Args:
            q: configuration (nq,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            position (3,) in the ground, m.

        Raises:
            SingularError: if nothing that moves has mass.
            LiedynError: for a wrong state.

        >>> robot.center_of_mass(q).shape
        (3,)
        """
        self._require_mass()
        return self._center.answer(q, out)

    def center_of_mass_motion(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> CenterOfMass:
        """
        Return the centre of mass with its velocity and acceleration.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,); rad/s^2 and m/s^2.

        Returns:
            three vectors (3,) in the ground; m, m/s, m/s^2.

        Raises:
            SingularError: if nothing that moves has mass.
            LiedynError: for a wrong state.

        >>> robot.center_of_mass_motion(q, v, a).velocity.shape
        (3,)
        """
        self._require_mass()
        result = np.empty((3, 3))
        self._center_motion.call(q, v, a, result)
        return CenterOfMass(*result)

    def center_of_mass_jacobian(self, q: ArrayLike) -> Array:
        """
        Return the Jacobian of the centre of mass.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            J (3, nv); J v is the velocity in the ground, m/s.

        Raises:
            SingularError: if nothing that moves has mass.
            LiedynError: for a wrong state.

        >>> robot.center_of_mass_jacobian(q).shape
        (3, 6)
        """
        return self.centroidal_map(q)[3:] / self._mass

    @direct
    def momentum(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the momentum about the ground's origin.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            out: array that takes the result; by default a new one.

        Returns:
            (6,), angular, then linear, in the ground; kg m^2/s and kg m/s.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.momentum(q, v).shape
        (6,)
        """
        return self._momentum.answer(q, v, out)

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return the momentum about the centre of mass.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.

        Returns:
            (6,), angular, then linear, in ground axes; kg m^2/s and kg m/s.

        Raises:
            SingularError: if nothing that moves has mass.
            LiedynError: for a wrong state.

        >>> np.allclose(robot.centroidal_momentum(q, v), robot.centroidal_map(q) @ v)
        True
        """
        momentum, center = self.momentum(q, v), self.center_of_mass(q)
        momentum[:3] -= np.cross(center, momentum[3:])
        return momentum

    @direct
    def centroidal_map(self, q: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the matrix of the centroidal momentum.

        Args:
            q: configuration (nq,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            A (6, nv), with A v the centroidal momentum.

        Raises:
            SingularError: if nothing that moves has mass.
            LiedynError: for a wrong state.

        >>> robot.centroidal_map(q).shape
        (6, 6)
        """
        self._require_mass()
        return self._map.answer(q, out)

    @direct
    def centroidal_map_rate(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the time derivative of the matrix of the centroidal momentum.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            out: array that takes the result; by default a new one.

        Returns:
            dA/dt (6, nv); A a + dA/dt v is the momentum's rate.

        Raises:
            SingularError: if nothing that moves has mass.
            LiedynError: for a wrong state.

        >>> robot.centroidal_map_rate(q, v).shape
        (6, 6)
        """
        self._require_mass()
        return self._map_rate.answer(q, v, out)

    def _require_mass(self) -> None:
        """Raise SingularError where nothing that moves has mass."""
        if not self._mass > 0.0:
            raise SingularError(f'mass: expected moving bodies with mass, got {self._mass} kg')
