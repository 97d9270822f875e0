# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model's numbers in the order and axes of another library: Pinocchio, MuJoCo, ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, listed, order_of
from liedyn_ros.common.errors import LiedynError, ModelError, NotInGroupError
from liedyn_ros.lie import so3
from liedyn_ros.model import Joint, JOINT_TYPES, Model


class Library(NamedTuple):
    """
    How the numbers of another library differ from ours.

    world_linear: the linear velocity of a free joint is along the axes of its parent.
    scalar_first: a quaternion is w, x, y, z. on_circle: a continuous joint has a cosine and a
    sine in q. sorted_joints: joints of one parent are sorted by name, fixed ones too. In all of
    them the linear part of a free joint's velocity comes first.
    """

    name: str
    world_linear: bool = False
    scalar_first: bool = False
    on_circle: bool = False
    sorted_joints: bool = False


PINOCCHIO = Library('Pinocchio', on_circle=True, sorted_joints=True)
MUJOCO = Library('MuJoCo', world_linear=True, scalar_first=True)
ROS = Library('ROS')  # the base as in an Odometry, twist in its own frame
_LINEAR_FIRST = 3, 4, 5, 0, 1, 2  # places in the velocity of a free joint


class Layout:
    """
    Configurations, velocities, accelerations and efforts as another library has them, and back.

    joints are the names of all moving joints in the library's order. By default that is ours, and
    for Pinocchio that of its URDF parser, which sorts joints of one parent by name. The base has
    our name there, whatever the library calls it. Methods with from_ go from the
    library to this package. q is always ours, but in from_configuration. All raise ShapeError,
    NotFiniteError or NotInGroupError.

    Raises LiedynError for another library, and NameSetError for names that differ from those of
    the moving joints. Raises ModelError for a planar joint, as libraries disagree on it. Only
    Pinocchio takes a free joint that is not at the origin of the ground.

    >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
    >>> Layout(flying, MUJOCO).configuration(flying.neutral())[3:7]  # w first
    array([1., 0., 0., 0.])
    """

    def __init__(self, model: Model, library: Library, joints: Sequence[str] | None = None
                 ) -> None:
        """
        Find the places of the joints.

        Args:
            model: a Model.
            library: PINOCCHIO, MUJOCO or ROS.
            joints: all moving joints in the library's order.

        Raises:
            LiedynError: another library; NameSetError: other joints; ModelError: a planar joint.
        """
        if not isinstance(library, Library):
            raise LiedynError(f'library: expected PINOCCHIO, MUJOCO or ROS, got {library!r}')
        self.model, self.library = model, library
        moving = [joint for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv]
        names = [joint.name for joint in moving]
        planar = [joint.name for joint in moving if joint.type_name == 'planar']
        if planar:
            raise ModelError(f'joints {listed(planar)}: expected none that is planar, as '
                             f'{library.name} has these in another way')
        placed = [joint.name for joint in moving if joint.type_name == 'free' and (
            joint.parent is not None or (joint.placement != np.eye(4)).any())]
        if placed and library is not PINOCCHIO:
            raise ModelError(f'joints {listed(placed)}: expected free joints at the origin of the '
                             f'ground, where {library.name} has its world frame')
        if joints is not None:
            places = order_of('joints', list(joints), names)
            moving = [moving[place] for place in places]
        elif library.sorted_joints:
            moving = [joint for joint in _sorted_joints(model) if joint in moving]
        self._joints = tuple(moving)
        self._v = _indices([place for joint in moving for place in _velocity_places(joint)])
        self._back = np.argsort(self._v)
        self._linear = [  # of each free joint in q: its quaternion; in v: its linear part
            (joint.qi + 3, joint.vi + 3) for joint in moving if joint.type_name == 'free']

    def configuration(self, q: ArrayLike) -> Array:
        """
        Return a configuration as the library has it.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            q of the library.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> Layout(model, PINOCCHIO).configuration(q).shape
        (6,)
        """
        q = self.model.check_configuration(q)
        parts = []
        for joint in self._joints:
            values = q[joint.q_slice]
            if self._is_pair(joint):
                values = np.array([np.cos(values[0]), np.sin(values[0])])
            elif self._is_turned(joint):
                values = np.concatenate((values[:-4], values[-1:], values[-4:-1]))
            parts.append(values)
        return np.concatenate([*parts, np.empty(0)])

    def from_configuration(self, q: ArrayLike) -> Array:
        """
        Return a configuration of the library as this package has it.

        Args:
            q: of the library; rad and m.

        Returns:
            q (nq,).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> Layout(model, PINOCCHIO).from_configuration(q).shape
        (6,)
        """
        size = self.model.nq + sum(map(self._is_pair, self._joints))
        given, result, at = as_array('q', q, (size,)), np.empty(self.model.nq), 0
        for joint in self._joints:
            count = JOINT_TYPES[joint.type_name].nq + self._is_pair(joint)
            values = given[at:at + count]
            at += count
            if self._is_pair(joint):
                values = _angle(joint, values)
            elif self._is_turned(joint):
                values = np.concatenate((values[:-4], values[-3:], values[-4:-3]))
            result[joint.q_slice] = values
        return self.model.check_configuration(result)

    def velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return a velocity as the library has it.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.

        Returns:
            v (nv,) of the library.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> Layout(model, PINOCCHIO).velocity(q, v).shape
        (6,)
        """
        return self._turned(q, as_array('v', v, (self.model.nv,)))[self._v]

    def from_velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return a velocity of the library as this package has it.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,) of the library; rad/s and m/s.

        Returns:
            v (nv,).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> Layout(model, MUJOCO).from_velocity(q, v).shape
        (6,)
        """
        return self._turned(q, self._ours('v', v), back=True)

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """
        Return an acceleration as the library has it: the derivative of its velocity.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,); rad/s^2 and m/s^2.

        Returns:
            a (nv,) of the library.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> Layout(model, MUJOCO).acceleration(q, v, a).shape
        (6,)
        """
        v, a = (as_array(name, x, (self.model.nv,)) for name, x in (('v', v), ('a', a)))
        return self._turned(q, a + self._transport(v))[self._v]

    def from_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """
        Return an acceleration of the library as this package has it.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,) of the library; rad/s^2 and m/s^2.

        Returns:
            a (nv,).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> Layout(model, MUJOCO).from_acceleration(q, v, a).shape
        (6,)
        """
        v = as_array('v', v, (self.model.nv,))
        return self._turned(q, self._ours('a', a), back=True) - self._transport(v)

    def effort(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """
        Return joint forces in the library's layout, of equal power.

        Args:
            q: configuration (nq,); rad and m.
            tau: joint forces (nv,); N m and N.

        Returns:
            tau (nv,) of the library.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> Layout(model, ROS).effort(q, tau).shape
        (6,)
        """
        return self._turned(q, as_array('tau', tau, (self.model.nv,)))[self._v]

    def from_effort(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """
        Return joint forces of the library as this package has them.

        Args:
            q: configuration (nq,); rad and m.
            tau: joint forces (nv,) of the library; N m and N.

        Returns:
            tau (nv,).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> Layout(model, ROS).from_effort(q, tau).shape
        (6,)
        """
        return self._turned(q, self._ours('tau', tau), back=True)

    def _ours(self, name: str, values: ArrayLike) -> Array:
        return as_array(name, values, (self.model.nv,))[self._back]

    def _turned(self, q: ArrayLike, values: Array, back: bool = False) -> Array:
        """Return values with the linear parts of free joints in the axes of their parents."""
        if not (self.library.world_linear and self._linear):
            return values
        q, result = self.model.check_configuration(q), values.copy()
        for at, linear in self._linear:
            rotation = so3.from_quaternion(q[at:at + 4])
            place = slice(linear, linear + 3)
            result[place] = (rotation.T if back else rotation) @ values[place]
        return result

    def _transport(self, v: Array) -> Array:
        """Return w x u of each free joint: (R u)' = R (u' + w x u)."""
        result = np.zeros_like(v)
        if self.library.world_linear:
            for _, linear in self._linear:
                result[linear:linear + 3] = np.cross(
                    v[linear - 3:linear], v[linear:linear + 3])
        return result

    def _is_pair(self, joint: Joint) -> bool:
        return self.library.on_circle and joint.type_name == 'continuous'

    def _is_turned(self, joint: Joint) -> bool:
        return self.library.scalar_first and joint.type_name in ('free', 'spherical')


def _sorted_joints(model: Model) -> Iterator[Joint]:
    """Return all joints depth first, those of one parent by name."""
    of: dict[str | None, list[Joint]] = {}
    for joint in model.joint_list:
        of.setdefault(joint.parent, []).append(joint)
    left = sorted(of[None], key=_name, reverse=True)
    while left:
        joint = left.pop()
        yield joint
        left += sorted(of.get(joint.child, []), key=_name, reverse=True)


def _name(joint: Joint) -> bytes:
    return joint.name.encode()


def _angle(joint: Joint, pair: Array) -> Array:
    """Return the angle (1,) of a cosine and a sine, or raise NotInGroupError."""
    norm = float(np.hypot(*pair))
    if abs(norm - 1.0) > so3.PRINTED_NORM_TOLERANCE:
        raise NotInGroupError(f'joint {joint.name}: expected cosine and sine of norm 1 within '
                              f'{so3.PRINTED_NORM_TOLERANCE}, got norm {norm:.9g}')
    return np.arctan2(pair[1:], pair[:1])


def _velocity_places(joint: Joint) -> list[int]:
    """Return the places in v of a joint's velocity, its linear part first."""
    count = JOINT_TYPES[joint.type_name].nv
    return [joint.vi + place for place in (_LINEAR_FIRST if count == 6 else range(count))]


def _indices(places: Sequence[int]) -> NDArray[np.int64]:
    return np.array(places, dtype=np.int64)
