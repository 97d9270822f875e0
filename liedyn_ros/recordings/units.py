# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Units of recorded numbers, and the signs of numbers that are in other ones than was said."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from liedyn_ros.common.checks import Array, unknown_name
from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.model import Joint, Model

_TURN = 2.0 * math.pi
# The factor to SI, and what it measures; those without a slash are of positions.
UNIT_FACTORS: dict[str, tuple[float, str]] = {
    'rad': (1.0, 'position'), 'deg': (math.radians(1.0), 'position'), 'm': (1.0, 'position'),
    'mm': (1e-3, 'position'), 'rev': (_TURN, 'position'),
    'rad/s': (1.0, 'velocity'), 'deg/s': (math.radians(1.0), 'velocity'),
    'm/s': (1.0, 'velocity'), 'mm/s': (1e-3, 'velocity'), 'rpm': (_TURN / 60.0, 'velocity'),
    'N m': (1.0, 'effort'), 'Nm': (1.0, 'effort'), 'N': (1.0, 'effort'), 'kN': (1e3, 'effort'),
    'mN m': (1e-3, 'effort'), 'N mm': (1e-3, 'effort'),
    's': (1.0, 'time'), 'ms': (1e-3, 'time'), 'us': (1e-6, 'time'), 'ns': (1e-9, 'time')}
_CURRENTS = 'A', 'mA'
_NAMES = {'deg': 'degrees', 'mm': 'mm', 'rev': 'turns'}
_OTHERS = {'rad': ('deg', 'rev'), 'm': ('mm',)}  # units of what SI has in a unit
_RATIO_TOLERANCE = 0.05  # by which the ratio of two units may be missed
_SAMPLES = 30  # in which a ratio shows
_MAX_POSITION = 2.0 * _TURN  # no joint with limits counts as far in rad, or in m


def factor_of(unit: str, quantity: str, where: str) -> float:
    """Return the factor of a unit to SI. Raises NameSetError for one of another quantity."""
    if unit in _CURRENTS:
        raise NameSetError(f'{where}: expected N m or N, got a current in {unit}: give the '
                           'torque of each ampere as the scale of the joint')
    fitting = [name for name, (_, kind) in UNIT_FACTORS.items() if kind == quantity]
    if unit not in fitting:
        raise unknown_name(NameSetError, f'{where}: unit of {quantity}', fitting, unit)
    return UNIT_FACTORS[unit][0]


def require_one_conversion(where: str, factors: Sequence[float], scales: Sequence[float],
                           units: Sequence[str]) -> None:
    """
    Raise LimitError where the unit of a column is converted by a scale once more.

    factors: to SI, of the columns. scales: that follow. units: of their results, m or rad.
    """
    for factor, scale, unit in zip(factors, scales, units):
        for name in _OTHERS[unit]:
            if factor == UNIT_FACTORS[name][0] and (
                    abs(abs(scale) / factor - 1.0) < _RATIO_TOLERANCE):
                raise LimitError(
                    f'{where}: its header says [{name}], and actuator_scale {scale:.4g} converts '
                    f'{_NAMES[name]} too: leave out one', expected=1.0, got=scale)


def require_units(model: Model, names: tuple[str, ...], time: Array, q: Array,
                  v: Array | None, named: bool = True) -> None:
    """
    Raise LimitError where numbers (n, joints) show that they are in degrees or millimetres.

    Such positions are beyond the limits of the model, and within them in the other unit. A joint
    that counts from elsewhere is beyond them too, but moves no further than they allow. Such
    velocities are a multiple of the rate of the positions. named: whether the caller has options
    that name a unit.
    """
    for k, name in enumerate(names):
        joint = model.joint(name)
        factor, unit, wanted = (1e-3, 'mm', 'm') if joint.type_name == 'prismatic' else (
            math.radians(1.0), 'deg', 'rad')
        if _beyond(joint, q[:, k]) and not _beyond(joint, factor * q[:, k]) and (
                np.ptp(q[:, k]) > float(joint.limits.upper[0] - joint.limits.lower[0])
                or np.abs(q[:, k]).max() > _MAX_POSITION):
            raise LimitError(
                f'position of {name}: expected {wanted} within {_range(joint)}, got '
                f'{q[:, k].min():.6g} to {q[:, k].max():.6g}, which '
                f'are {_NAMES[unit]} that fit' + (
                    f': name the unit, as in --unit position={unit}, or of this joint alone '
                    f'--reads {name}={factor:.7g}*{name}' if named else ''), names=(name,))
        if v is not None:
            ratio = _ratio(time, q[:, k], v[:, k])
            for times in (factor, 1.0 / factor):
                if abs(ratio * times - 1.0) < _RATIO_TOLERANCE:
                    raise LimitError(
                        f'velocity of {name}: expected the rate of its positions, got {ratio:.4g} '
                        f'times it: one of them is in {_NAMES[unit]}, not in {wanted}' + (
                            f': name the unit, as in --unit position={unit}' if named else ''),
                        names=(name,))


def _beyond(joint: Joint, q: Array) -> bool:
    lower, upper = float(joint.limits.lower[0]), float(joint.limits.upper[0])
    room = 0.5 * (upper - lower) if math.isfinite(upper - lower) else 0.0
    return bool((q < lower - room).any() or (q > upper + room).any())


def _range(joint: Joint) -> str:
    return f'{float(joint.limits.lower[0]):.4g} to {float(joint.limits.upper[0]):.4g}'


def _ratio(time: Array, q: Array, v: Array) -> float:
    """Return by how much measured velocities exceed the change of positions, 1 if unknown."""
    if len(time) < _SAMPLES:
        return 1.0
    begin = np.linspace(0, len(time) - 1, _SAMPLES).astype(int)
    moved = np.diff(q[begin])
    area = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(time) * (v[1:] + v[:-1]))])
    integrated = np.diff(area[begin])
    square = float(moved @ moved)
    ratio = float(moved @ integrated) / square if square > 0.0 else 1.0
    left = integrated - ratio * moved
    return ratio if left @ left < 0.01 * (integrated @ integrated) else 1.0
