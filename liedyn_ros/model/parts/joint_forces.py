# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Resistance of a joint: damping, friction, spring, end stops, inertia of its motor."""

from collections.abc import Mapping
import math
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model.parts.joints import JOINT_TYPES, Limits, per_coordinate


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
