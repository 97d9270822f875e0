# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
SO3 and SE3: one rotation, one pose, as immutable values.

They are arrays to numpy, so every function that wants a matrix takes one, or a list of them.
For batches, algebra elements and Jacobians use the array functions of so3 and se3; for speed
the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from transforms3d.euler import euler2mat

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.lie import se3, so3

Element = TypeVar('Element', bound='_Element')


class _Element:
    """Base of SO3 and SE3: numpy takes an element for its matrix, alone or in a list."""

    __slots__ = ()
    matrix: Array

    def __init__(self, matrix: ArrayLike) -> None:
        """Copy a matrix of the group, or raise ShapeError, NotFiniteError, NotInGroupError."""
        object.__setattr__(self, 'matrix', self._checked(matrix).copy())
        self.matrix.setflags(write=False)

    @classmethod
    def _of(cls: type[Element], matrix: Array) -> Element:
        """Return the element of a matrix that is known to be one, which becomes read-only."""
        element = object.__new__(cls)
        object.__setattr__(element, 'matrix', matrix)
        matrix.setflags(write=False)
        return element

    @classmethod
    def _checked(cls, matrix: ArrayLike) -> Array:
        """Return a matrix of the group, or raise the error of another."""
        raise NotImplementedError

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the matrix, so that functions of matrices take the element itself."""
        return (np.array if copy else np.asarray)(self.matrix, dtype=dtype)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class SO3(_Element):
    """
    A rotation R_ab: x_a = R_ab x_b turns coordinates in frame b into coordinates in frame a.

    Rotation vectors are in rad, quaternions in the order x, y, z, w with w >= 0. The
    constructor takes a matrix (3, 3), copies it and makes the copy read-only. All arguments are
    checked (errors as in so3).

    >>> turn = ld.SO3.from_rpy(0.0, 0.0, np.pi / 2)
    >>> (turn @ turn.inverse()).log()
    array([0., 0., 0.])
    """

    matrix: Array

    @classmethod
    def _checked(cls, matrix: ArrayLike) -> Array:
        return so3.require_rotation('matrix', as_array('matrix', matrix, (3, 3)))

    @classmethod
    def identity(cls) -> SO3:
        """
        Return the rotation that changes nothing.

        Returns:
            R_aa.

        >>> ld.SO3.identity().rpy
        (-0.0, -0.0, 0.0)
        """
        return cls._of(np.eye(3))

    @classmethod
    def exp(cls, w: ArrayLike) -> SO3:
        """
        Return the rotation about a vector by its length.

        Args:
            w: rotation vector (3,); rad.

        Returns:
            R_ab.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.SO3.exp([0.1, 0.2, 0.3]).log().round(12)
        array([0.1, 0.2, 0.3])
        """
        return cls._of(so3.exp(as_array('w', w, (3,))))

    @classmethod
    def from_quaternion(cls, quaternion: ArrayLike) -> SO3:
        """
        Return the rotation of a unit quaternion.

        Args:
            quaternion: (4,) in the order x, y, z, w.

        Returns:
            R_ab.

        Raises:
            NotInGroupError: for a norm off 1 by more than 1e-4.

        >>> ld.SO3.from_quaternion([0.0, 0.0, 0.0, 1.0]).rpy
        (-0.0, -0.0, 0.0)
        """
        return cls._of(so3.from_quaternion(as_array('quaternion', quaternion, (4,))))

    @classmethod
    def from_rpy(cls, roll: float, pitch: float, yaw: float) -> SO3:
        """
        Return the rotation Rz(yaw) Ry(pitch) Rx(roll), about fixed axes.

        Args:
            roll: angle about x; rad.
            pitch: angle about y; rad.
            yaw: angle about z; rad.

        Returns:
            R_ab.

        Raises:
            LiedynError: for an angle that is not finite.

        >>> np.round(ld.SO3.from_rpy(0.1, 0.2, 0.3).rpy, 12)
        array([0.1, 0.2, 0.3])
        """
        angles = as_array('roll, pitch, yaw', (roll, pitch, yaw), (3,))
        return cls._of(euler2mat(*angles, axes='sxyz'))

    @property
    def quaternion(self) -> Array:
        """Return the unit quaternion x, y, z, w."""
        return so3.to_quaternion(self.matrix)

    @property
    def rpy(self) -> tuple[float, float, float]:
        """Return roll, pitch and yaw in rad, pitch between -pi/2 and pi/2."""
        roll, pitch, yaw = so3.to_rpy(self.matrix).tolist()
        return roll, pitch, yaw

    def __matmul__(self, other: SO3 | ArrayLike) -> SO3:
        """Return R_ac = R_ab R_bc; a matrix (3, 3) is checked."""
        right = other if type(other) is SO3 else SO3(other)
        return SO3._of(self.matrix @ right.matrix)

    def inverse(self) -> SO3:
        """
        Return the inverse.

        Returns:
            R_ba.

        >>> ld.SO3.exp([0.1, 0.2, 0.3]).inverse().log().round(12)
        array([-0.1, -0.2, -0.3])
        """
        return SO3._of(so3.inverse(self.matrix))

    def log(self) -> Array:
        """
        Return the rotation vector, the shortest one.

        Returns:
            w (3,) in rad, with exp(w) = R and |w| <= pi.

        >>> ld.SO3.exp([0.1, 0.2, 0.3]).log().round(12)
        array([0.1, 0.2, 0.3])
        """
        return so3.log(self.matrix)

    def adjoint(self) -> Array:
        """
        Return the matrix that turns angular velocities, the rotation itself.

        Returns:
            Ad_R (3, 3), with w_a = Ad_R w_b.

        >>> ld.SO3.identity().adjoint().shape
        (3, 3)
        """
        return so3.adjoint(self.matrix)

    def apply(self, points: ArrayLike) -> Array:
        """
        Return points seen from a.

        Args:
            points: points (..., 3) seen from b; m.

        Returns:
            the points (..., 3) seen from a; m.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.SO3.exp([0.0, 0.0, np.pi / 2]).apply([1.0, 0.0, 2.0]).round(6)
        array([0., 1., 2.])
        """
        return so3.act(self.matrix, points)

    def interpolate(self, other: SO3, fraction: float) -> SO3:
        """
        Return a rotation on the shortest way to another.

        Args:
            other: rotation R_ac of frame c.
            fraction: how far along the way: 0 is here, 1 is other.

        Returns:
            the rotation.

        >>> ld.SO3.identity().interpolate(ld.SO3.exp([0.0, 0.0, 0.4]), 0.5).log().round(12)
        array([0. , 0. , 0.2])
        """
        return self @ SO3.exp(fraction * (self.inverse() @ other).log())

    def normalized(self) -> SO3:
        """
        Return the rotation cleaned of the rounding that long products gather.

        Returns:
            R_ab.

        >>> ld.SO3.identity().normalized().rpy
        (-0.0, -0.0, 0.0)
        """
        return SO3._of(so3.normalize(self.matrix))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class SE3(_Element):
    """
    A pose T_ab = [R p; 0 1] of frame b seen from frame a: x_a = R x_b + p.

    Six-vectors are angular part first: (w, v) in rad and m. The constructor takes a matrix
    (4, 4), copies it and makes the copy read-only. All arguments are checked (errors as in se3).

    >>> step = ld.SE3.exp([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    >>> (step @ step.inverse()).translation
    array([0., 0., 0.])
    """

    matrix: Array

    @classmethod
    def _checked(cls, matrix: ArrayLike) -> Array:
        return se3.require_pose('matrix', matrix, (4, 4))

    @classmethod
    def identity(cls) -> SE3:
        """
        Return the pose of frame a itself.

        Returns:
            T_aa.

        >>> ld.SE3.identity().translation
        array([0., 0., 0.])
        """
        return cls._of(np.eye(4))

    @classmethod
    def exp(cls, xi: ArrayLike) -> SE3:
        """
        Return the pose that a constant twist reaches in a unit of time.

        Args:
            xi: (6,), angular part first; rad and m.

        Returns:
            T_ab.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.SE3.exp([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]).translation
        array([1., 2., 3.])
        """
        return cls._of(se3.exp(as_array('xi', xi, (6,))))

    @classmethod
    def from_rotation_translation(cls, rotation: SO3 | ArrayLike, translation: ArrayLike) -> SE3:
        """
        Return the pose of a rotation and a translation.

        Args:
            rotation: an SO3, or its matrix (3, 3).
            translation: origin of b seen from a (3,); m.

        Returns:
            T_ab.

        Raises:
            NotInGroupError: for a matrix that is no rotation within 1e-6.

        >>> ld.SE3.from_rotation_translation(np.eye(3), [1.0, 2.0, 3.0]).translation
        array([1., 2., 3.])
        """
        return cls._of(se3.from_rotation_translation(
            as_array('rotation', rotation, (3, 3)), as_array('translation', translation, (3,))))

    @property
    def rotation(self) -> SO3:
        """Return the rotation R_ab."""
        return SO3._of(self.matrix[:3, :3])

    @property
    def translation(self) -> Array:
        """Return the origin p (3) of b seen from a, in m; read-only."""
        return self.matrix[:3, 3]

    def __matmul__(self, other: SE3 | ArrayLike) -> SE3:
        """Return T_ac = T_ab T_bc; a matrix (4, 4) is checked."""
        right = other if type(other) is SE3 else SE3(other)
        return SE3._of(self.matrix @ right.matrix)

    def inverse(self) -> SE3:
        """
        Return the inverse.

        Returns:
            T_ba.

        >>> ld.SE3(ld.pose([1.0, 2.0, 3.0])).inverse().translation
        array([-1., -2., -3.])
        """
        return SE3._of(se3.inverse(self.matrix))

    def log(self) -> Array:
        """
        Return the constant twist that reaches the pose in a unit of time.

        Returns:
            xi (6,), angular part first, rad and m, with exp(xi) = T and |w| <= pi.

        >>> ld.SE3.exp([0.1, 0.2, 0.3, 1.0, 2.0, 3.0]).log().round(12)
        array([0.1, 0.2, 0.3, 1. , 2. , 3. ])
        """
        return se3.log(self.matrix)

    def adjoint(self) -> Array:
        """
        Return the matrix that takes twists from b to a.

        Returns:
            Ad_T (6, 6), with V_a = Ad_T V_b; wrenches go the other way, F_b = Ad_T^T F_a.

        >>> ld.SE3.identity().adjoint().shape
        (6, 6)
        """
        return se3.adjoint(self.matrix)

    def apply(self, points: ArrayLike) -> Array:
        """
        Return points seen from a.

        Args:
            points: points (..., 3) seen from b; m.

        Returns:
            the points (..., 3) seen from a; m.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.SE3(ld.pose([1.0, 2.0, 3.0])).apply([1.0, 0.0, 0.0])
        array([2., 2., 3.])
        """
        return se3.act(self.matrix, points)

    def interpolate(self, other: SE3, fraction: float) -> SE3:
        """
        Return a pose on the screw motion to another.

        Args:
            other: pose T_ac of frame c.
            fraction: how far along the motion: 0 is here, 1 is other.

        Returns:
            the pose.

        >>> ld.SE3.identity().interpolate(ld.SE3(ld.pose([2.0, 0.0, 0.0])), 0.5).translation
        array([1., 0., 0.])
        """
        return self @ SE3.exp(fraction * (self.inverse() @ other).log())

    def normalized(self) -> SE3:
        """
        Return the pose with its rotation cleaned of the rounding that long products gather.

        Returns:
            T_ab.

        >>> ld.SE3.identity().normalized().translation
        array([0., 0., 0.])
        """
        return SE3._of(se3.normalize(self.matrix))
