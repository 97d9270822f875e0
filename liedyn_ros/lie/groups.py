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
    """

    matrix: Array

    @classmethod
    def _checked(cls, matrix: ArrayLike) -> Array:
        return so3.require_rotation('matrix', as_array('matrix', matrix, (3, 3)))

    @classmethod
    def identity(cls) -> SO3:
        """Return the rotation that changes nothing."""
        return cls._of(np.eye(3))

    @classmethod
    def exp(cls, w: ArrayLike) -> SO3:
        """Return the rotation about w (3) by |w| rad."""
        return cls._of(so3.exp(as_array('w', w, (3,))))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> SO3:
        """Return SO3(matrix)."""
        return cls(matrix)

    @classmethod
    def from_quaternion(cls, quaternion: ArrayLike) -> SO3:
        """Return the rotation of a unit quaternion x, y, z, w."""
        return cls._of(so3.from_quaternion(as_array('quaternion', quaternion, (4,))))

    @classmethod
    def from_rpy(cls, roll: float, pitch: float, yaw: float) -> SO3:
        """Return Rz(yaw) Ry(pitch) Rx(roll), angles in rad."""
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
        """Return R_ba."""
        return SO3._of(so3.inverse(self.matrix))

    def log(self) -> Array:
        """Return the w (3) in rad with exp(w) = R and |w| <= pi."""
        return so3.log(self.matrix)

    def adjoint(self) -> Array:
        """Return Ad_R (3, 3), the matrix itself: w_a = Ad_R w_b."""
        return so3.adjoint(self.matrix)

    def apply(self, points: ArrayLike) -> Array:
        """Return points (..., 3) given in b as seen in a."""
        return so3.act(self.matrix, points)

    def interpolate(self, other: SO3, fraction: float) -> SO3:
        """Return the rotation at a fraction of the shortest way from here (0) to other (1)."""
        return self @ SO3.exp(fraction * (self.inverse() @ other).log())

    def normalized(self) -> SO3:
        """Return the rotation cleaned of the rounding that long products gather."""
        return SO3._of(so3.normalize(self.matrix))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class SE3(_Element):
    """
    A pose T_ab = [R p; 0 1] of frame b seen from frame a: x_a = R x_b + p.

    Six-vectors are angular part first: (w, v) in rad and m. The constructor takes a matrix
    (4, 4), copies it and makes the copy read-only. All arguments are checked (errors as in se3).
    """

    matrix: Array

    @classmethod
    def _checked(cls, matrix: ArrayLike) -> Array:
        return se3.require_pose('matrix', as_array('matrix', matrix, (4, 4)))

    @classmethod
    def identity(cls) -> SE3:
        """Return the pose of frame a itself."""
        return cls._of(np.eye(4))

    @classmethod
    def exp(cls, xi: ArrayLike) -> SE3:
        """Return the pose reached by the constant twist xi (6) in a unit of time."""
        return cls._of(se3.exp(as_array('xi', xi, (6,))))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> SE3:
        """Return SE3(matrix)."""
        return cls(matrix)

    @classmethod
    def from_rotation_translation(cls, rotation: SO3 | ArrayLike, translation: ArrayLike) -> SE3:
        """Return the pose of a rotation, or its matrix (3, 3), and a translation (3) in m."""
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
        """Return T_ba."""
        return SE3._of(se3.inverse(self.matrix))

    def log(self) -> Array:
        """Return the xi (6) with exp(xi) = T and |w| <= pi."""
        return se3.log(self.matrix)

    def adjoint(self) -> Array:
        """Return Ad_T (6, 6): V_a = Ad_T V_b; wrenches go the other way, F_b = Ad_T^T F_a."""
        return se3.adjoint(self.matrix)

    def apply(self, points: ArrayLike) -> Array:
        """Return points (..., 3) given in b as seen in a, in m."""
        return se3.act(self.matrix, points)

    def interpolate(self, other: SE3, fraction: float) -> SE3:
        """Return the pose at a fraction of the screw motion from here (0) to other (1)."""
        return self @ SE3.exp(fraction * (self.inverse() @ other).log())

    def normalized(self) -> SE3:
        """Return the pose with its rotation cleaned of the rounding that products gather."""
        return SE3._of(se3.normalize(self.matrix))
