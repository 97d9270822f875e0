# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The types of joints, one joint of a model, and its resistance, springs, stops and motor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
import math
from operator import gt
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_numbers
from liedyn_ros.common.errors import LimitError, ModelError, ShapeError
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.kernels import kinds

GROUND = 'world'  # the ground's name in descriptions and frames; its parent is None
_INF = float('inf')


@dataclass(frozen=True)
class JointType:
    """
    A type of joint: its elementary links and the names of its coordinates.

    links are its elementary links (kind, axis) in the order of the product of exponentials (theory
    2.1). Axis 'z' is the joint's axis, 'x' its second axis and 'y' their product z x x.
    coordinates name its velocity coordinates; an empty name leaves the joint's own.
    """

    links: tuple[tuple[int, str], ...]
    coordinates: tuple[str, ...]
    has_axis: bool = True
    has_second_axis: bool = False
    has_bounds: bool = True  # of its position

    @cached_property
    def nq(self) -> int:
        """Return the length of its configuration."""
        return sum(kinds.NQ_OF_KIND[kind] for kind, _ in self.links)

    @cached_property
    def nv(self) -> int:
        """Return its number of degrees of freedom."""
        return sum(kinds.NV_OF_KIND[kind] for kind, _ in self.links)


JOINT_TYPES: dict[str, JointType] = {
    'fixed': JointType((), (), has_axis=False, has_bounds=False),
    'revolute': JointType(((kinds.REVOLUTE, 'z'),), ('',)),
    'continuous': JointType(((kinds.REVOLUTE, 'z'),), ('',), has_bounds=False),
    'prismatic': JointType(((kinds.PRISMATIC, 'z'),), ('',)),
    'helical': JointType(((kinds.HELICAL, 'z'),), ('',)),
    'universal': JointType(
        ((kinds.REVOLUTE, 'z'), (kinds.REVOLUTE, 'x')), ('first', 'second'),
        has_second_axis=True),
    'cylindrical': JointType(
        ((kinds.REVOLUTE, 'z'), (kinds.PRISMATIC, 'z')), ('angle', 'travel')),
    'planar': JointType(
        ((kinds.PRISMATIC, 'x'), (kinds.PRISMATIC, 'y'), (kinds.REVOLUTE, 'z')),
        ('x', 'y', 'angle'), has_second_axis=True),
    'spherical': JointType(
        ((kinds.SPHERICAL, 'z'),), ('wx', 'wy', 'wz'), has_axis=False, has_bounds=False),
    'free': JointType(
        ((kinds.FREE, 'z'),), ('wx', 'wy', 'wz', 'vx', 'vy', 'vz'),
        has_axis=False, has_bounds=False),
}


@dataclass(frozen=True, eq=False, init=False)
class Limits:
    """
    Bounds of position, velocity, effort and more, each (nv,); infinite where there is none.

    lower and upper positions in rad or m, effort in N m or N; velocity, acceleration, jerk: by s.
    One number given for a bound stands for all degrees of freedom. Raises LimitError, ShapeError
    or LiedynError.

    >>> model.joint('elbow').limits.upper.shape
    (1,)
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array
    acceleration: Array
    jerk: Array

    def __init__(self, lower: ArrayLike = -_INF, upper: ArrayLike = _INF,
                 velocity: ArrayLike = _INF, effort: ArrayLike = _INF,
                 acceleration: ArrayLike = _INF, jerk: ArrayLike = _INF, nv: int = 1,
                 name: str = 'limits') -> None:
        """
        Check the bounds and make them read-only; the name is for messages.

        Args:
            lower: (nv,) or one number, rad or m.
            upper: the same, above lower.
            velocity: rad/s or m/s.
            effort: N m or N.
            acceleration: by s^2.
            jerk: by s^3.
            nv: degrees of freedom.
            name: of the joint, for messages.

        Raises:
            LimitError, ShapeError, LiedynError.
        """
        given: dict[str, ArrayLike | float] = {
            'lower': lower, 'upper': upper, 'velocity': velocity, 'effort': effort,
            'acceleration': acceleration, 'jerk': jerk}
        for bound, value in given.items():
            object.__setattr__(
                self, bound, _repeated(value, nv) if isinstance(value, float) and value == value
                else per_coordinate(f'{name} {bound}', value, nv))
        if any(map(gt, self.lower.tolist(), self.upper.tolist())):
            raise LimitError(f'{name}: expected lower <= upper, '
                             f'got {self.lower.tolist()} and {self.upper.tolist()}')
        for bound in ('velocity', 'effort', 'acceleration', 'jerk'):
            numbers = getattr(self, bound).tolist()
            if numbers and min(numbers) < 0.0:
                raise LimitError(f'{name} {bound}: expected at least 0, got {numbers}')


@dataclass(frozen=True, eq=False)
class Joint:
    """
    One joint of a model: it moves the frame of its child body against its parent body.

    name is its own; type_name is a key of JOINT_TYPES; parent is None for the ground. placement
    (4, 4) is the pose of the joint frame in the parent body; the frame of the child body is the
    moved joint frame. axis is a unit vector in the joint frame, along which the joint turns or
    travels. It is the normal of a planar joint and the first axis of a universal joint.
    second_axis is perpendicular to it: the second axis of a universal joint, the x direction of a
    planar joint. It has no effect in others. pitch is in m/rad. damping (N m s/rad or N s/m) and
    friction (N m or N) are (nv,). So are the stiffness (N m/rad or N/m) of springs and their rest
    positions (rad or m). armature (nv,) is the inertia of the motors, reduced to the joint (kg m^2
    or kg). End stops at the limits have a stop_stiffness (nv,), in the unit of stiffness, and a
    stop_width (nv,), rad or m: how softly they begin (3.21). A joint that is not actuated is
    passive: it has no motor. qi and vi are its first indices in q and v.

    >>> elbow = model.joint('elbow')
    >>> elbow.parent, elbow.child, elbow.qi
    ('upper_arm', 'forearm', 2)
    """

    name: str
    type_name: str
    parent: str | None
    child: str
    placement: Array
    axis: Array
    second_axis: Array
    pitch: float
    limits: Limits
    damping: Array
    friction: Array
    stiffness: Array
    rest: Array
    armature: Array
    stop_stiffness: Array
    stop_width: Array
    actuated: bool = True
    qi: int = 0
    vi: int = 0

    def numbered(self, qi: int, vi: int) -> Joint:
        """
        Return a copy of the joint with other first indices.

        Args:
            qi: first index in q.
            vi: first index in v.

        Returns:
            the copy.

        >>> model.joint('elbow').numbered(7, 6).q_slice
        slice(7, 8, None)
        """
        joint = object.__new__(Joint)
        vars(joint).update(vars(self), qi=qi, vi=vi)
        return joint

    @property
    def q_slice(self) -> slice:
        """Return its place in a configuration."""
        return slice(self.qi, self.qi + JOINT_TYPES[self.type_name].nq)

    @property
    def v_slice(self) -> slice:
        """Return its place in a velocity."""
        return slice(self.vi, self.vi + JOINT_TYPES[self.type_name].nv)

    def motion(self, position: ArrayLike) -> Array:
        """
        Return the pose of the child body in the joint frame.

        Args:
            position: (nq,) of this joint; rad and m, or a quaternion x, y, z, w.

        Returns:
            pose (4, 4); m.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> model.joint('elbow').motion([0.5]).round(3)[:3, :3]
        array([[ 0.878,  0.   ,  0.479],
               [ 0.   ,  1.   ,  0.   ],
               [-0.479,  0.   ,  0.878]])
        """
        spec, pose = JOINT_TYPES[self.type_name], np.eye(4)
        q = np.atleast_1d(as_numbers(f'joint {self.name}: position', position))
        q = as_array(f'joint {self.name}: position', q, (spec.nq,))
        axes = {'z': self.axis, 'x': self.second_axis,
                'y': np.cross(self.axis, self.second_axis)}
        if self.type_name == 'free':
            pose[:3, 3] = q[:3]
        if spec.nq > spec.nv:
            pose[:3, :3] = so3.from_quaternion(q[-4:])
            return pose
        for (kind, letter), value in zip(spec.links, q):
            turn = kinds.TURNS_OF_KIND[kind]
            travel = kinds.MOVES_OF_KIND[kind] * (self.pitch if turn else 1.0)
            pose = pose @ se3.exp(value * np.kron((turn, travel), axes[letter]))  # (2.1)
        return pose

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Return the names of its velocity coordinates, e.g. 'elbow' or 'base/wx'."""
        return tuple(f'{self.name}/{coordinate}' if coordinate else self.name
                     for coordinate in JOINT_TYPES[self.type_name].coordinates)


def per_coordinate(name: str, value: ArrayLike | float, nv: int) -> Array:
    """
    Return one number for each of nv coordinates, read-only.

    Raises ShapeError, LimitError for NaN, or LiedynError for another type than a number.
    """
    if isinstance(value, float) and value == value:
        return _repeated(value, nv)
    array = as_numbers(name, value)
    if array.shape not in ((), (nv,)):
        raise ShapeError(f'{name}: expected one number or {nv}, got shape {array.shape}')
    if any(number != number for number in array.ravel().tolist()):
        raise LimitError(f'{name}: expected numbers, got NaN')
    array = np.array(array) if array.ndim else np.full(nv, array)
    array.setflags(write=False)
    return array


@lru_cache(maxsize=1000)
def _repeated(value: float, count: int) -> Array:
    """Return a number repeated, read-only; equal arrays are shared."""
    array = np.full(count, value)
    array.setflags(write=False)
    return array


def concatenate(limits: Sequence[Limits]) -> Limits:
    """Return the bounds of several joints, one after the other."""
    lower, upper, velocity, effort, acceleration, jerk = (
        np.concatenate([np.empty(0), *(getattr(each, field.name) for each in limits)])
        for field in fields(Limits))
    return Limits(lower, upper, velocity, effort, acceleration, jerk, nv=len(lower))


class JointForces(TypedDict):
    """The numbers (nv,) of one joint, as Joint has them."""

    damping: Array
    friction: Array
    stiffness: Array
    rest: Array
    armature: Array
    stop_stiffness: Array
    stop_width: Array


def no_forces() -> JointForces:
    """Return the forces of a joint without a coordinate."""
    none = per_coordinate('', 0.0, 0)
    return JointForces(
        damping=none, friction=none, stiffness=none, rest=none, armature=none,
        stop_stiffness=none, stop_width=none)


def joint_forces(joint: str, type_name: str, limits: Limits, values: Mapping[str, ArrayLike]
                 ) -> JointForces:
    """
    Return joint forces from one number or one for each coordinate; zero if not given.

    Raises ModelError for one below zero or not finite, and for stops without a width or a limit
    to stand at. So it does for a spring, a stop or an armature of a spherical or free joint, which
    has no single axis. Raises ShapeError, or LimitError for NaN.
    """
    spec, names = JOINT_TYPES[type_name], list(no_forces())
    checked = {name: _checked(f'joint {joint}: {name}', values.get(name, 0.0), spec.nv,
                              -math.inf if name == 'rest' else 0.0) for name in names}
    if spec.nq > spec.nv:
        for name in ('stiffness', 'rest', 'armature', 'stop_stiffness'):
            if checked[name].any():
                raise ModelError(f'joint {joint}: expected no {name} for type {type_name}, which '
                                 f'has no single axis, got {checked[name].tolist()}')
    stopped = checked['stop_stiffness'] > 0.0
    if stopped.any():
        _require_places(joint, limits, stopped, checked['stop_width'])
    return JointForces(
        damping=checked['damping'], friction=checked['friction'], stiffness=checked['stiffness'],
        rest=checked['rest'], armature=checked['armature'],
        stop_stiffness=checked['stop_stiffness'], stop_width=checked['stop_width'])


def _require_places(joint: str, limits: Limits, stopped: NDArray[np.bool_], width: Array) -> None:
    if not width[stopped].all():
        raise ModelError(f'joint {joint}: expected a stop_width above 0 with stop_stiffness, '
                         f'got {width.tolist()}')
    bounded = np.isfinite(limits.lower) | np.isfinite(limits.upper)
    if not bounded[stopped].all():
        raise ModelError(f'joint {joint}: expected a lower or an upper limit with '
                         f'stop_stiffness, got none')


def _checked(name: str, value: ArrayLike | float, nv: int, least: float) -> Array:
    array = per_coordinate(name, value, nv)
    if isinstance(value, float) and least <= value < math.inf and value > -math.inf:
        return array
    numbers = array.tolist()
    if numbers and not (min(numbers) >= least and -math.inf < min(numbers)
                        and max(numbers) < math.inf):
        bound = '' if least < 0.0 else ' of at least 0'
        raise ModelError(f'{name}: expected finite numbers{bound}, got {numbers}')
    return array
