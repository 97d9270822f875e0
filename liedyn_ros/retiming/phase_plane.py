# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The speeds of a run beside those that limits leave at each place of its path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.retiming.result import Retimed
from liedyn_ros.retiming.rows import Rows

_DOUBLINGS, _HALVINGS = 40, 50  # of z, from that of the run


class PhasePlane(NamedTuple):
    """Places s (K,) of a path, the speed ds/dt of a run there, and the highest one possible."""

    s: Array
    speed: Array
    limit: Array


def phase_plane(run: Retimed) -> PhasePlane:
    """
    Return the speeds along the path of a run, and those at which limits leave no acceleration.

    These limits are of velocity, acceleration and torque, as TOPP has them; limits of rates have
    none at a place by itself. limit is infinite where none of them bounds the speed.
    """
    margins = run.margins.at_grid()
    p = margins.p.ravel()
    z = run.grid.evaluate(run.unknowns, p)[0]
    s, ds, *_ = run.law.derivatives(p)
    highest = _highest(margins.states, z)
    limit = np.where(np.isinf(highest), np.inf, ds * np.sqrt(np.where(
        np.isinf(highest), 0.0, highest)))
    return PhasePlane(s, ds * np.sqrt(z), limit)


def _highest(rows: Rows, z: Array) -> Array:
    """Return the z (K,) above those of a run beyond which rows of states leave no slope."""
    low, high = z, z
    for _ in range(_DOUBLINGS):
        kept = _possible(rows, high)
        low, high = np.where(kept, high, low), np.where(kept, 2.0 * high, high)
    unbounded = _possible(rows, high)
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        kept = _possible(rows, middle)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return np.where(unbounded, np.inf, low)


def _possible(rows: Rows, z: Array) -> Array:
    """Return whether some slope keeps all rows at z (K,)."""
    room = rows.bound - rows.constant - rows.value * z[:, None] - rows.root * np.sqrt(z)[:, None]
    with np.errstate(divide='ignore', invalid='ignore'):
        ends = room / rows.slope
    most = np.where(rows.slope > 0.0, ends, np.inf).min(axis=1, initial=np.inf)
    least = np.where(rows.slope < 0.0, ends, -np.inf).max(axis=1, initial=-np.inf)
    still = np.where(rows.slope == 0.0, room, np.inf).min(axis=1, initial=np.inf)
    return np.asarray((most >= least) & (still >= 0.0))
