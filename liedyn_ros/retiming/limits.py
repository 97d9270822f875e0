# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits of a motion: of joints and their motors, of power, of frames, and of closures' forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_known
from liedyn_ros.common.errors import LimitError, ModelError, NameSetError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, MinimalCoordinates
from liedyn_ros.model import Model

Machine: TypeAlias = Dynamics | ConstrainedDynamics | MinimalCoordinates
Values: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None
# By row order
FRAME_LIMIT_NAMES = 'velocity', 'acceleration', 'angular_velocity', 'angular_acceleration'
CLOSURE_LIMITS = {'least': 'least_closure_force', 'most': 'closure_force',
                  'rate': 'closure_force_rate'}
OF_MODEL = {  # limits that a model has too, by their names there
    'velocity': 'velocity', 'acceleration': 'acceleration', 'jerk': 'jerk', 'torque': 'effort'}
_SIGNED, _OTHERS = 'least_torque', ('frames', 'closures', 'torque_curves')


@dataclass(frozen=True)
class FrameLimits:
    """
    The limits of the motion of a frame against the ground; infinite ones are none.

    frame is a body, a joint or an added frame; point (3,), m, is where in the frame velocity (m/s)
    and acceleration (m/s^2) are taken. These, angular_velocity (rad/s) and angular_acceleration
    (rad/s^2) are lengths of vectors. Raises LimitError for a limit that is not above zero, and
    what as_array raises.

    >>> slow = MotionLimits(frames=[FrameLimits('tool', velocity=0.25)])
    >>> retime(robot, SplinePath(model, [q, q + 0.5]), slow, intervals=20).duration > 1.0
    True
    """

    frame: str
    velocity: float = np.inf
    acceleration: float = np.inf
    angular_velocity: float = np.inf
    angular_acceleration: float = np.inf
    point: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, 'point', as_array('point', self.point, (3,)))
        for name in FRAME_LIMIT_NAMES:
            if not getattr(self, name) > 0.0:
                raise LimitError(f'frames[{self.frame}].{name}: expected a limit above 0, got '
                                 f'{getattr(self, name)}')

    @property
    def label(self) -> str:
        """Return the frame, and the point unless it is the origin."""
        at = ', '.join(f'{x:g}' for x in np.asarray(self.point))
        return f'{self.frame} at ({at})' if np.any(self.point) else self.frame


@dataclass(frozen=True)
class ClosureLimits:
    """
    The two ends of a force that a closure carries, of any sign; infinite ones are none.

    along chooses the force. A name is a row of constraint_names, as 'force_z'. A direction (6,),
    moment before force, is taken of the wrench that the closure applies to its body_b, in frame_b.
    None stands for the only row of a closure. A rod pushes its ends apart above zero, so that a
    cable has most = 0. A plane pushes body_b along z of frame_a above zero, so that a contact has
    least = 0. least and most are in N or N m, rate in N/s or N m/s. Raises LimitError unless least
    is below most and rate above 0, and what as_array raises.

    >>> ClosureLimits('tip', least=0.0, along='force_x').most
    inf
    """

    closure: str
    least: float = -np.inf
    most: float = np.inf
    rate: float = np.inf
    along: str | ArrayLike | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        where = f'closures[{self.closure}]'
        if self.along is not None and not isinstance(self.along, str):
            object.__setattr__(self, 'along', as_array(f'{where}.along', self.along, (6,)))
        if not self.least < self.most:
            raise LimitError(f'{where}.least: expected less than most, {self.most}, got '
                             f'{self.least}')
        if not self.rate > 0.0:
            raise LimitError(f'{where}.rate: expected a limit above 0, got {self.rate}')

    @property
    def label(self) -> str:
        """Return the closure, with its row or the direction unless it has only one."""
        if self.along is None:
            return self.closure
        return f'{self.closure}/{self.along}' if isinstance(self.along, str) else \
            f'{self.closure} along ({", ".join(f"{x:g}" for x in np.asarray(self.along))})'


@dataclass(frozen=True)
class MotionLimits:
    """
    The limits that a motion keeps: those given here, and the model's where none is given.

    Each is a number for all coordinates, an array (nv,), or a number by joint name. Joints that
    are not named keep the model's limit of velocity, acceleration, jerk and effort, all joints
    with None; np.inf switches it off. of_model names those that stay, above_model those that are
    exceeded. All are magnitudes, in both directions.

    velocity: rad/s or m/s; acceleration and jerk: by time, rad or m. torque: N m or N, of the
    model its effort. torque_rate: N m/s or N/s.
    torque_per_speed: the fall of a motor's torque with its speed in the same direction, from the
    limit of torque at rest. power: W, taken up or given by a joint. least_torque: the other end of
    torque, of any sign, where that is not its negative. It is 0 of a cable, or of a joint that
    stands for a contact. frames: limits of the motion of frames. closures: limits of the forces in
    closures of a ConstrainedDynamics. torque_curves: by joint the points (K, 2) of a motor that
    drives, speed and most torque, from speed 0 on. They fall ever faster; the last line goes on.

    >>> limits = MotionLimits(acceleration={'elbow': 2.0}, torque_rate=500.0)
    >>> retime(robot, SplinePath(model, [q, q + 0.5]), limits, intervals=20).duration > 0.5
    True
    """

    velocity: Values = None
    acceleration: Values = None
    jerk: Values = None
    torque: Values = None
    torque_rate: Values = None
    torque_per_speed: Values = None
    power: Values = None
    least_torque: Values = None
    frames: Sequence[FrameLimits] = ()
    closures: Sequence[ClosureLimits] = ()
    torque_curves: Mapping[str, ArrayLike] | None = None

    def of(self, model: Model) -> dict[str, Array]:
        """
        Return the limits of joints by name.

        Args:
            model: a Model.

        Returns:
            arrays (nv,), infinite where there is none.

        Raises:
            NameSetError: for an unknown joint, or a frame or a force of a closure that is given
                twice.
            LimitError: for a limit not above zero, or a least torque not below the torque.

        >>> MotionLimits(acceleration=2.0).of(model)['acceleration']
        array([2., 2., 2., 2., 2., 2.])
        """
        for name in ('frames', 'closures'):
            labels = [each.label for each in getattr(self, name)]
            if len(set(labels)) < len(labels):
                raise NameSetError(f'{name}: expected each once, got {labels}')
        found = {each.name: _by_coordinate(model, each.name, getattr(self, each.name))
                 for each in fields(self) if each.name not in _OTHERS}
        slopes = found['torque_per_speed']
        found['torque_per_speed'] = np.where(np.isinf(slopes), 0.0, slopes)
        for name, values in found.items():
            if name != _SIGNED:
                _require_positive(model, name, values)
        least, most = found[_SIGNED], found['torque']
        found[_SIGNED] = np.where(np.isinf(least) & (least > 0.0), -most, least)
        _require_below(model, found[_SIGNED], most)
        return found

    def of_model(self, model: Model) -> dict[str, tuple[str, ...]]:
        """
        Return the limits of a model that hold, as none are given here.

        Args:
            model: a Model.

        Returns:
            coordinates by the name of the limit.

        >>> MotionLimits(velocity=1.0, torque={'elbow': 9.0}).of_model(model)['torque'][:3]
        ('shoulder_pan', 'shoulder_lift', 'wrist_1')
        """
        found = {}
        for name, bound in OF_MODEL.items():
            values = getattr(self, name)
            named = {} if values is None else values if isinstance(values, Mapping) \
                else model.joints
            stays = np.isfinite(getattr(model.limits, bound))
            for joint in named:
                stays[model.joint(joint).v_slice] = False
            if stays.any():
                found[name] = tuple(model.coordinate_names[k] for k in np.flatnonzero(stays))
        return found

    def above_model(self, model: Model) -> tuple[tuple[str, str, float, float], ...]:
        """
        Return the limits that are above those of a model, without infinite ones.

        Args:
            model: a Model.

        Returns:
            the name of the limit, the coordinate, its number here and that of the model.

        >>> MotionLimits(velocity={'elbow': 180.0}).above_model(model)
        (('velocity', 'elbow', 180.0, 3.1),)
        """
        given = self.of(model)
        return tuple(
            (name, of, float(ours), float(theirs)) for name, bound in OF_MODEL.items()
            for of, ours, theirs in zip(model.coordinate_names, given[name],
                                        getattr(model.limits, bound))
            if theirs < ours < np.inf)

    def lines(self, model: Model) -> Array:
        """
        Return the lines of torque curves.

        Args:
            model: a Model.

        Returns:
            (K, 3): coordinate, torque at rest (N m or N), fall with speed.

        Raises:
            NameSetError: for an unknown joint.
            LimitError: for a curve that begins elsewhere or rises.

        >>> MotionLimits(torque_curves={'elbow': [(0.0, 50.0), (2.0, 30.0)]}).lines(model)
        array([[ 2., 50.,  0.],
               [ 2., 50., 10.]])
        """
        known = {joint.name: joint for joint in model.joint_list}
        require_known(NameSetError, 'torque_curves', sorted(known), self.torque_curves or {},
                      'joints')
        found = [np.zeros((0, 3))]
        for joint, points in (self.torque_curves or {}).items():
            at = known[joint].v_slice
            if at.stop - at.start != 1:
                raise ModelError(f'torque_curves[{joint}]: expected a joint of one coordinate, '
                                 f'got {at.stop - at.start}', names=(joint,))
            rows = _lines_of(f'torque_curves[{joint}]', points)
            found.append(np.column_stack([np.full(len(rows), at.start), rows]))
        return np.concatenate(found)

    def of_rates(self, model: Model) -> bool:
        """
        Return whether rates of accelerations or forces are limited.

        Args:
            model: a Model.

        Returns:
            whether they are.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> MotionLimits(torque_rate=100.0).of_rates(model)
        True
        """
        given = self.of(model)
        return bool(np.isfinite([given['jerk'], given['torque_rate']]).any()) or any(
            np.isfinite(each.rate) for each in self.closures)

    def by_name(self, model: Model) -> dict[tuple[str, str], float]:
        """
        Return all limits by name and coordinate, frame or closure.

        Args:
            model: a Model.

        Returns:
            numbers by pair of names.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> MotionLimits(acceleration=2.0).by_name(model)['acceleration', 'elbow']
        2.0
        """
        return {(name, coordinate): float(value) for name, values in self.of(model).items()
                for coordinate, value in zip(model.coordinate_names, values)} | {
            (f'frame_{name}', each.label): getattr(each, name)
            for each in self.frames for name in FRAME_LIMIT_NAMES} | {
            (name, each.label): float(getattr(each, end))
            for each in self.closures for end, name in CLOSURE_LIMITS.items()}


def _by_coordinate(model: Model, name: str, values: Values) -> Array:
    """Return an array (nv,) of a limit in any of its forms, the model's where none is given."""
    result = np.array(getattr(model.limits, OF_MODEL[name])) if name in OF_MODEL else \
        np.full(model.nv, np.inf)
    if values is None:
        return result
    if not isinstance(values, Mapping):
        given = as_numbers(name, values)
        if given.shape not in ((), (model.nv,)):
            raise ShapeError(f'{name}: expected a number, shape ({model.nv},), or numbers by '
                             f'joint, got shape {given.shape}', names=(name,),
                             expected=(model.nv,), got=given.shape)
        result[:] = given
        return result
    known = {joint.name: joint for joint in model.joint_list}
    require_known(NameSetError, name, sorted(known), values, 'joints')
    for joint, value in values.items():
        at = known[joint].v_slice
        given = as_numbers(f'{name}[{joint}]', value)
        if given.shape not in ((), (at.stop - at.start,)):
            raise ShapeError(f'{name}[{joint}]: expected a number or shape '
                             f'({at.stop - at.start},), got {given.shape}', names=(joint,),
                             expected=(at.stop - at.start,), got=given.shape)
        result[at] = given
    return result


def _lines_of(name: str, points: ArrayLike) -> Array:
    """Return torque at rest and fall (K, 2) of the lines that bound a torque curve."""
    speed, torque = as_array(name, points, (-1, 2)).T
    falls = -np.diff(torque) / np.where(np.diff(speed) > 0.0, np.diff(speed), np.nan)
    if len(speed) < 2 or speed[0] != 0.0 or not torque[0] > 0.0 or not (
            np.diff(falls, prepend=0.0) >= -1e-9 * torque[0]).all():
        raise LimitError(f'{name}: expected two points or more (speed, torque) whose speed rises '
                         'from 0, and whose torque is above 0 at first and falls ever faster, '
                         f'got {np.column_stack([speed, torque]).tolist()}')
    lines = np.column_stack([torque[:-1] + falls * speed[:-1], np.maximum(falls, 0.0)])
    return np.concatenate([[[torque[0], 0.0]], lines[lines[:, 1] > 0.0]])


def _require_positive(model: Model, name: str, values: Array) -> None:
    """Raise LimitError naming the first coordinate whose limit is not above zero, or is NaN."""
    least = 0.0 if name == 'torque_per_speed' else np.nextafter(0.0, 1.0)
    bad = np.flatnonzero(~(values >= least))
    if len(bad):
        where = model.coordinate_names[bad[0]]
        expected = 'of 0 or more' if least == 0.0 else 'above 0'
        raise LimitError(f'{name}: expected a limit {expected}, got {values[bad[0]]} for {where}',
                         names=(where,), expected=0.0, got=float(values[bad[0]]), indices=bad[:1])


def _require_below(model: Model, least: Array, most: Array) -> None:
    """Raise LimitError naming the first coordinate whose least torque is not below its torque."""
    bad = np.flatnonzero(~(least < most))
    if len(bad):
        where = model.coordinate_names[bad[0]]
        raise LimitError(f'least_torque: expected less than the torque, {most[bad[0]]:.6g} of '
                         f'{where}, got {least[bad[0]]:.6g}', names=(where,), indices=bad[:1])
