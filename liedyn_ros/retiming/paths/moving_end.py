# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How a run passes an end of its path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError


class MovingEnd(NamedTuple):
    """
    How a run passes an end of its path: ds/dt > 0, and d^2s/dt^2, None where it may be any.

    Both are of the path's own s. Where rates of torque are limited and the machine moves already,
    the acceleration decides whether its torque is continuous.
    """

    speed: float
    acceleration: float | None = None


def end_of(name: str, motion: ArrayLike, size: int) -> tuple[MovingEnd | None, Array]:
    """
    Return how a path is passed where it has a velocity and an acceleration by time.

    motion (2, size) has both. The second result has the derivatives (2, size) of the path by s: a
    path with these goes on as the motion does. At rest there are none (15.16). Raises ShapeError
    and NotFiniteError.
    """
    v, a = as_array(name, motion, (2, size))
    speed = float(np.linalg.norm(v))
    if speed == 0.0:
        return None, np.zeros((0, size))
    along = v / speed
    acceleration = float(a @ along)
    return (MovingEnd(speed, acceleration),
            np.array([along, (a - acceleration * along) / speed**2]))


def require_no_ends(start: ArrayLike | None, end: ArrayLike | None) -> None:
    """Raise LimitError where lines with rounded corners are to begin or end in motion."""
    for name, motion in (('start', start), ('end', end)):
        if motion is not None and np.any(motion):
            raise LimitError(f'{name}: expected rest with a blend, as lines have their own '
                             'direction, got a motion; take the spline')
