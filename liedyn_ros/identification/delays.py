# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Delays of recorded efforts, of all joints or of one, beside the positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from liedyn_ros.common.checks import Array
from liedyn_ros.identification.equations import Equations, forces_of
from liedyn_ros.identification.motion import Motion
from liedyn_ros.model import Model

DELAY_STEPS = 8  # in a period of the cut-off: a filtered force bends no faster


class Delay(NamedTuple):
    """
    Time, s, by which efforts of a joint, or of all (''), are late.

    share is what is left of the squared errors as they are, of all joints together, middle the
    share of the joint in the middle.
    """

    name: str
    seconds: float
    share: float
    middle: float


def likely_delay(model: Model, motion: Motion, equations: Equations) -> Delay:
    """
    Return the delay of efforts with which bodies of any numbers leave the least errors.

    It is searched within a period of the fastest motion: by more, a motion that repeats tells
    nothing. Errors are over the rms forces of each joint.
    """
    size = np.maximum(np.sqrt((equations.forces**2).mean(axis=0)), 1e-300)
    rows = (equations.rows / size[:, None]).reshape(-1, equations.rows.shape[2])
    basis = np.linalg.qr(rows[:, rows.any(axis=0)])[0]

    def squares(late: Array) -> Array:
        target = ((forces_of(motion, equations, late) - equations.known) / size).ravel()
        left = (target - basis @ (basis.T @ target)).reshape(-1, len(size))
        return np.asarray((left**2).sum(axis=0))

    nothing: Array = np.zeros(motion.tau.shape[1])
    before, found = np.maximum(squares(nothing), 1e-300), [Delay('', 0.0, 1.0, 1.0)]
    if not motion.band > 0.0:
        return found[0]
    steps = 1 + int(DELAY_STEPS * equations.cutoff / motion.band)
    times = np.asarray(np.linspace(-1.0, 1.0, 2 * steps + 1) / motion.band, dtype=np.float64)
    for name in ('', *(equations.joints if len(equations.joints) > 1 else ())):
        which = np.ones_like(nothing) if not name else np.eye(len(nothing))[
            model.coordinate_names.index(name)]

        def share(x: float, which: Array = which) -> float:
            return float(squares(x * which).sum() / before.sum())

        seconds, least = _least(share, times)
        found.append(Delay(name, seconds, least, float(np.median(
            squares(seconds * which) / before))))
    return min(found, key=lambda each: each.share)


def _least(share: Callable[[float], float], times: Array) -> tuple[float, float]:
    """Return the time, s, of the least share, near the best of some, and that share."""
    k = int(np.argmin([share(each) for each in times]))
    best = minimize_scalar(share, method='bounded', bounds=(
        times[max(k - 1, 0)], times[min(k + 1, len(times) - 1)]))
    return float(best.x), float(best.fun)
