# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion that tells most of what recordings of a machine leave open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from liedyn_ros.common.checks import Array
from liedyn_ros.identification.equations import rows_along
from liedyn_ros.identification.excitation.capsules import Clearance
from liedyn_ros.identification.excitation.excite import Excitation, ExcitationLimits, excite
from liedyn_ros.identification.identify import Identification
from liedyn_ros.identification.robust_fit import COLUMN_RANK_TOLERANCE


@dataclass(frozen=True, eq=False)
class NextMotion:
    """
    An excitation, and the deviations to expect with it and the given recordings.

    names (p,) are the unknowns without scales. before and after (p,) are their standard
    deviations: by the recordings, and with the motion recorded at the same noise. They are
    infinite where nothing determines them.

    >>> bounds = ExcitationLimits(*(np.array([x]) for x in (-1.0, 1.0, 3.0, 10.0, 50.0)))
    >>> more = next_motion(identify(rod.model, recording), bounds, rounds=1)
    >>> more.before.shape == more.after.shape == (len(more.names),)
    True
    """

    excitation: Excitation
    names: tuple[str, ...]
    before: Array
    after: Array


def next_motion(found: Identification, limits: ExcitationLimits, *, start: ArrayLike | None = None,
                period: float = 10.0, clearance: Clearance | None = None, rounds: int = 150
                ) -> NextMotion:
    """
    Return the motion whose information, added to that of the recordings, is largest (16.35).

    Directions that the recordings hardly determine weigh most.

    Args:
        found: what identify returned.
        limits: of the moved joints.
        start: middle of the motion (nq,), by default of the range; rad and m.
        period: s.
        clearance: distances of bodies that no joint connects.
        rounds: of the search.

    Returns:
        the motion, and the deviations to expect.

    Raises:
        LimitError: for a start outside the limits.
        ConvergenceError: where no motion keeps them.

    >>> t = np.arange(0.0, 10.0, 0.01)
    >>> angle = 0.8 * np.sin(2.0 * t) + 0.3 * np.sin(5.0 * t)
    >>> speed = 1.6 * np.cos(2.0 * t) + 1.5 * np.cos(5.0 * t)
    >>> rate = -3.2 * np.sin(2.0 * t) - 7.5 * np.sin(5.0 * t)
    >>> builder = ld.ModelBuilder('rod')
    >>> inertia = ld.SpatialInertia(2.0, [0.0, 0.0, -0.5], np.diag([0.2, 0.2, 0.01]))
    >>> builder.add_body('rod', inertia)
    >>> builder.add_joint('pivot', 'revolute', None, 'rod', axis=[0.0, 1.0, 0.0])
    >>> rod = ld.Dynamics(builder.build())
    >>> tau = rod.inverse.batch(*np.array([angle, speed, rate])[:, :, None])
    >>> found = identify(rod.model, Recording(rod.model, t, angle[:, None], tau), sure=True)
    >>> bounds = ExcitationLimits(*(np.array([x]) for x in (-1.0, 1.0, 3.0, 10.0, 50.0)))
    >>> more = next_motion(found, bounds, rounds=1)
    >>> bool((more.after <= more.before).all())
    True
    """
    information = _Information(found)
    motion = excite(found.given, limits, start=start, period=period, clearance=clearance,
                    rounds=rounds, prior=information)
    both = np.vstack([
        information.triangle, information.rows(motion.q, motion.v, motion.a, period)])
    names = found.equations.names[:found.equations.at_friction.stop]
    return NextMotion(motion, names, _deviations(information.triangle), _deviations(both))


class _Information:
    """The information of recordings; rows are over the noise of an independent sample."""

    def __init__(self, found: Identification) -> None:
        self._found, equations = found, found.equations
        self._weight = found.estimate.plain.weight[:, None]
        self._rate = 1.0 / float(np.median(np.diff(equations.time)))
        rows = equations.rows[..., :equations.at_friction.stop] * self._weight
        flat = rows.reshape(-1, rows.shape[2])
        self.triangle = np.asarray(qr(flat, mode='r', check_finite=False)[0])[:flat.shape[1]]

    def rows(self, q: Array, v: Array, a: Array, seconds: float) -> Array:
        """Return the rows that a motion adds, (K f, p), if sampled as the recordings are."""
        found = self._found
        rows = rows_along(found.given, found.equations, found.estimate.plain.x, q, v, a)
        share = np.sqrt(seconds * self._rate / len(q))
        return np.asarray((share * self._weight * rows).reshape(-1, rows.shape[2]))


def _deviations(rows: Array) -> Array:
    """Return the standard deviations (p,) of unknowns, infinite for those that have no effect."""
    size = np.linalg.norm(rows, axis=0)
    size[size <= COLUMN_RANK_TOLERANCE * size.max(initial=0.0)] = np.inf
    _, values, vt = np.linalg.svd(rows / size, full_matrices=False)
    seen = values > COLUMN_RANK_TOLERANCE * values.max(initial=0.0)
    root = vt[seen].T / values[seen]
    blind = np.abs(vt[~seen]).max(axis=0, initial=0.0) > 1e-6
    return np.where(blind | np.isinf(size), np.inf, np.linalg.norm(root, axis=1) / size)
