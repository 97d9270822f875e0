# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits of a motion: of its joints, their motors, the power that these give, and of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_numbers, require_known
from liedyn_ros.common.errors import LimitError, NameSetError, ShapeError
from liedyn_ros.model import Model

Values: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None
FRAME = 'velocity', 'acceleration', 'angular_velocity', 'angular_acceleration'  # by row order
_SIGNED = 'least_torque'


@dataclass(frozen=True)
class FrameLimits:
    """
    The limits of the motion of a frame against the ground; infinite ones are none.

    frame is a body, a joint or an added frame; point (3,), m, is where in the frame velocity (m/s)
    and acceleration (m/s^2) are taken. These and the angular ones (rad/s, rad/s^2) are lengths of
    vectors. Raises LimitError for a limit that is not above zero, and what as_array raises.
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
        for name in FRAME:
            if not getattr(self, name) > 0.0:
                raise LimitError(f'frames[{self.frame}].{name}: expected a limit above 0, got '
                                 f'{getattr(self, name)}')

    @property
    def label(self) -> str:
        """Return the frame, and the point unless it is the origin."""
        at = ', '.join(f'{x:g}' for x in np.asarray(self.point))
        return f'{self.frame} at ({at})' if np.any(self.point) else self.frame


@dataclass(frozen=True)
class MotionLimits:
    """
    The limits that a motion keeps; None leaves one out, but for velocity and torque.

    Each is a number for all coordinates, an array (nv,), or a number by joint name; joints that
    are not named have no such limit. All are magnitudes, in both directions.

    velocity: rad/s or m/s; None takes those of the model. acceleration and jerk: by time, rad or
    m. torque: N m or N; None takes the efforts of the model. torque_rate: N m/s or N/s.
    torque_per_speed: the fall of a motor's torque with its speed in the same direction, from the
    limit of torque at rest. power: W, taken up or given by a joint. least_torque: the other end of
    torque, of any sign, where that is not its negative. It is 0 of a cable, or of a joint that
    stands for a contact. frames: limits of the motion of frames.
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

    def of(self, model: Model) -> dict[str, Array]:
        """
        Return each limit of joints as an array (nv,), infinite where there is none.

        Raises ShapeError, and NameSetError for an unknown joint or a frame that is given twice.
        Raises LimitError for a limit not above zero, or a least torque not below the torque.
        """
        labels = [each.label for each in self.frames]
        if len(set(labels)) < len(labels):
            raise NameSetError(f'frames: expected each once, got {labels}')
        found = {each.name: _by_coordinate(model, each.name, getattr(self, each.name))
                 for each in fields(self) if each.name != 'frames'}
        for name, of_model in (('velocity', model.limits.velocity),
                               ('torque', model.limits.effort)):
            if getattr(self, name) is None:
                found[name] = np.array(of_model)
        slopes = found['torque_per_speed']
        found['torque_per_speed'] = np.where(np.isinf(slopes), 0.0, slopes)
        for name, values in found.items():
            if name != _SIGNED:
                _require_positive(model, name, values)
        least, most = found[_SIGNED], found['torque']
        found[_SIGNED] = np.where(np.isinf(least) & (least > 0.0), -most, least)
        _require_below(model, found[_SIGNED], most)
        return found

    def by_name(self, model: Model) -> dict[tuple[str, str], float]:
        """Return all limits by their name and the coordinate or the frame, as rows have them."""
        return {(name, coordinate): float(value) for name, values in self.of(model).items()
                for coordinate, value in zip(model.coordinate_names, values)} | {
            (f'frame_{name}', each.label): getattr(each, name)
            for each in self.frames for name in FRAME}


def _by_coordinate(model: Model, name: str, values: Values) -> Array:
    """Return an array (nv,) of a limit in any of its forms."""
    result = np.full(model.nv, np.inf)
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
