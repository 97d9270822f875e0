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
from types import ModuleType
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from transforms3d.euler import euler2mat

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.lie import se3, so3

Element = TypeVar('Element', bound='_Element')


class _Element:
    """
    Base of SO3 and SE3: X_ab, by which numbers in frame b become numbers in frame a.

    numpy takes an element for its matrix, alone or in a list.

    >>> np.trace(ld.SO3.identity()).item()
    3.0
    """

    __slots__ = ()
    matrix: Array
    _functions: ClassVar[ModuleType]  # of arrays
    _size: ClassVar[int]  # rows of a matrix
    _freedoms: ClassVar[int]

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

    @classmethod
    def identity(cls: type[Element]) -> Element:
        """
        Return the element that changes nothing.

        Returns:
            X_aa.

        >>> ld.SE3.identity().translation
        array([0., 0., 0.])
        """
        return cls._of(np.eye(cls._size))

    @classmethod
    def exp(cls: type[Element], xi: ArrayLike) -> Element:
        """
        Return the element that a constant velocity reaches in a unit of time.

        Args:
            xi: of SO3 a rotation vector (3,), rad; of SE3 a twist (6,), angular part first, rad
                and m.

        Returns:
            X_ab.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.SE3.exp([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]).translation
        array([1., 2., 3.])
        """
        return cls._of(cls._functions.exp(as_array('xi', xi, (cls._freedoms,))))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the matrix, so that functions of matrices take the element itself."""
        return (np.array if copy else np.asarray)(self.matrix, dtype=dtype)

    def __matmul__(self: Element, other: Element | ArrayLike) -> Element:
        """Return X_ac = X_ab X_bc; a matrix is checked."""
        right = other if isinstance(other, type(self)) else type(self)(other)
        return self._of(self.matrix @ right.matrix)

    def inverse(self: Element) -> Element:
        """
        Return the inverse.

        Returns:
            X_ba.

        >>> ld.SE3(ld.pose([1.0, 2.0, 3.0])).inverse().translation
        array([-1., -2., -3.])
        """
        return self._of(self._functions.inverse(self.matrix))

    def log(self) -> Array:
        """
        Return the constant velocity that reaches the element in a unit of time.

        Returns:
            of SO3 the shortest rotation vector w (3,), rad; of SE3 (6,), angular part w first, rad
            and m, with exp of it the element and |w| <= pi.

        >>> ld.SO3.exp([0.1, 0.2, 0.3]).log().round(12)
        array([0.1, 0.2, 0.3])
        """
        return np.asarray(self._functions.log(self.matrix))

    def adjoint(self) -> Array:
        """
        Return the matrix that takes velocities from b to a.

        Returns:
            of SO3 the rotation itself (3, 3), with w_a = Ad w_b; of SE3 Ad_T (6, 6), with V_a =
            Ad_T V_b. Wrenches go the other way, F_b = Ad_T^T F_a.

        >>> ld.SE3.identity().adjoint().shape
        (6, 6)
        """
        return np.asarray(self._functions.adjoint(self.matrix))

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
        return np.asarray(self._functions.act(self.matrix, points))

    def interpolate(self: Element, other: Element, fraction: float) -> Element:
        """
        Return an element on the motion of constant velocity to another, of SO3 the shortest turn.

        Args:
            other: X_ac of frame c.
            fraction: how far along the motion: 0 is here, 1 is other.

        Returns:
            the element.

        >>> ld.SE3.identity().interpolate(ld.SE3(ld.pose([2.0, 0.0, 0.0])), 0.5).translation
        array([1., 0., 0.])
        """
        return self @ self.exp(fraction * (self.inverse() @ other).log())

    def normalized(self: Element) -> Element:
        """
        Return the element with its rotation cleaned of the rounding that long products gather.

        Returns:
            X_ab.

        >>> ld.SO3.identity().normalized().rpy
        (-0.0, -0.0, 0.0)
        """
        return self._of(self._functions.normalize(self.matrix))


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
    _functions: ClassVar[ModuleType] = so3
    _size: ClassVar[int] = 3
    _freedoms: ClassVar[int] = 3

    @classmethod
    def _checked(cls, matrix: ArrayLike) -> Array:
        return so3.require_rotation('matrix', as_array('matrix', matrix, (3, 3)))

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
    _functions: ClassVar[ModuleType] = se3
    _size: ClassVar[int] = 4
    _freedoms: ClassVar[int] = 6

    @classmethod
    def _checked(cls, matrix: ArrayLike) -> Array:
        return se3.require_pose('matrix', matrix, (4, 4))

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
