# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a calibrated arm is better at poses that took no part in its fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.identification.calibration.fit import CalibrationFit, FOLDS, refit
from liedyn_ros.identification.calibration.problem import ArmProblem


class HeldOutPoses(NamedTuple):
    """
    Given and new model at poses that took no part in the fit.

    before and after (2,) are rms errors of position (m) and rotation (rad), nan where a rotation
    is not measured; misfits (2,) those of all equations, in deviations. gain: mean of the
    logarithm of the squared misfits' ratio, gain_deviation its deviation. lost: numbers, from 1,
    of poses whose loops do not close near the measurement by a fit without them; they are in no
    error.

    >>> calibrate_arm(model, 'tool', readings, seen).held_out.lost
    ()
    """

    before: Array
    after: Array
    misfits: Array
    gain: float
    gain_deviation: float
    lost: tuple[int, ...]


def compare(problem: ArmProblem, found: CalibrationFit) -> HeldOutPoses:
    """Return given and new at each used pose, the new from fits without a fifth of them."""
    unknowns, rows = problem.unknowns, np.flatnonzero(found.used)
    frames_only = np.arange(unknowns.size) >= unknowns.of_machine
    nothing = np.where(frames_only, found.z, 0.0)
    squares, misfits = np.zeros((2, 2, len(rows))), np.zeros((2, len(rows)))
    settled = np.ones(len(rows), dtype=bool)
    for fold in range(FOLDS):
        held = np.arange(fold, len(rows), FOLDS)
        rest, apart = problem.rows(np.delete(rows, held)), problem.rows(rows[held])
        for k, z in enumerate((
                refit(rest, nothing, frames_only) if frames_only.any() else nothing,
                refit(rest, found.z, np.ones(unknowns.size, dtype=bool)))):
            _, rotation = apart.errors(z)
            squares[k, 0, held] = apart.distances(z)**2
            squares[k, 1, held] = (rotation ** 2).sum(axis=1) if rotation.size else np.nan
            misfits[k, held] = (apart.at(z).errors ** 2).mean(axis=1)
            settled[held] &= apart.settled
    lost = tuple(problem.samples.numbers[rows[~settled]].tolist())
    if settled.sum() < 2:
        unknown = np.full(2, np.nan)
        return HeldOutPoses(unknown, unknown, unknown, 0.0, np.inf, lost)
    left = np.maximum(misfits[:, settled], 1e-300)
    gains = np.log(left[0] / left[1])
    before, after = np.sqrt(squares[:, :, settled].mean(axis=2))
    return HeldOutPoses(before, after, np.sqrt(left.mean(axis=1)), float(gains.mean()),
                        float(gains.std(ddof=1) / np.sqrt(len(gains))), lost)
