# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits of the drives' speeds and forces along a path, and the motion and load that need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.certificate.kernels import demands as kernels

Numbers = float | Sequence[float]


@dataclass(frozen=True, kw_only=True)
class SpeedLimits:
    """
    The greatest speed of each drive, and how fast a path is travelled.

    limits: m/s, rad/s of a crank, of each leg (6,) or of all. durations: s, from each pose of the
    path to the next, (n - 1,) or one number, at a constant twist. Infinity is for a path without
    a pace of its own. angular, linear: rad/s, m/s, by how much the twist may differ, in any
    direction, at the platform joints' centre.
    """

    limits: Numbers
    durations: Numbers = math.inf
    angular: float = 0.0
    linear: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ForceLimits:
    """
    The greatest force of each drive, and the load on the platform.

    limits: N, N m of a crank, of each leg (6,) or of all, pushing or pulling. force: (3,), N,
    constant in the base frame, such as a weight. point: (3,), m, where it acts, in the platform
    frame. further_force, further_moment: N, N m, of what else may act in any direction, about the
    platform joints' centre. Forces of acceleration belong there too.
    """

    limits: Numbers
    force: Sequence[float] = (0.0, 0.0, 0.0)
    point: Sequence[float] = (0.0, 0.0, 0.0)
    further_force: float = 0.0
    further_moment: float = 0.0


def numbers_of(
        speeds: SpeedLimits | None, forces: ForceLimits | None, centre: Array, scale: float
        ) -> Array:
    """
    Return the kernel's demands; empty where there are none.

    centre: (3,), m, of the platform joints. scale: m, their radius of gyration. Raises ShapeError,
    NotFiniteError, or LimitError for a number below zero.
    """
    if speeds is None and forces is None:
        return np.empty(0)
    numbers = np.zeros(kernels.DEMANDS)
    numbers[kernels.SPEEDS:kernels.FORCE] = math.inf
    if speeds is not None:
        numbers[kernels.SPEEDS:kernels.FORCES] = _limits('speeds', speeds.limits)
        numbers[kernels.TURNS] = _bound('angular', speeds.angular)
        numbers[kernels.MOVES] = _bound('linear', speeds.linear) / scale
    if forces is not None:
        numbers[kernels.FORCES:kernels.FORCE] = _limits('forces', forces.limits)
        numbers[kernels.FORCE:kernels.POINT] = checks.as_array('force', forces.force, (3,))
        numbers[kernels.POINT:kernels.TURNS] = (
            checks.as_array('point', forces.point, (3,)) - centre) / scale
        numbers[kernels.PULLS] = _bound('further_force', forces.further_force)
        numbers[kernels.MOMENTS] = _bound('further_moment', forces.further_moment) / scale
    return numbers


def durations_of(speeds: SpeedLimits | None, count: int) -> Array:
    """Return the duration of each screw, s; infinite without a pace. Raises LimitError."""
    given = np.asarray(math.inf if speeds is None else speeds.durations, dtype=float)
    if given.shape not in ((), (count,)) or not (given > 0.0).all():
        raise LimitError(f'durations: expected one number above 0 s or {count}, '
                         f'got {given.tolist()}')
    return np.full(count, given)


def _limits(name: str, value: Numbers) -> Array:
    """Return the limits of six drives."""
    limits = np.asarray(value, dtype=float)
    if limits.shape not in ((), (6,)) or not (limits >= 0.0).all():
        raise LimitError(f'limits of {name}: expected one number from 0 on or six, '
                         f'got {limits.tolist()}')
    return limits


def _bound(name: str, value: float) -> float:
    """Return a bound, from zero on."""
    if checks.as_number(name, value) < 0.0:
        raise LimitError(f'{name}: expected a number from 0 on, got {value}')
    return float(value)
