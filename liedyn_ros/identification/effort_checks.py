# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether recorded efforts have the unit and the sign that a fit takes them for."""

from __future__ import annotations

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import LimitError
from liedyn_ros.identification.equations import Equations
from liedyn_ros.identification.motion import Motion
from liedyn_ros.identification.regressors import LoopRegressor
from liedyn_ros.identification.robust_fit import Fit

UNIT = 300.0  # times what the given model needs: no model is so wrong
DOUBT = 4.0  # times, which a remark tells
_ALIKE = 0.7  # correlation from which efforts are those of the model, times a factor
_CLEAR = 0.3  # of the given inertia, by which one below zero is no error of the fit
_SAMPLES = 7
_SURE = 4.0  # standard deviations


def require_efforts(motion: Motion, equations: Equations, fit: Fit, given: Array
                    ) -> tuple[str, ...]:
    """
    Return doubts about the unit of the efforts; raise LimitError for a wrong unit or sign.

    given (p,) are the unknowns of the given model. Efforts are a multiple of what it needs where
    both are alike. Efforts of the wrong sign ask for an inertia below zero, which no machine has.
    """
    ratio, alike = effort_ratios(equations, given)
    inertia, deviation = _inertias(motion, equations, fit.x, fit.covariance)
    usual, _ = _inertias(motion, equations, given, None)
    wrong_sign = [
        name for name, *each in zip(equations.joints, ratio, alike, inertia, deviation, usual)
        if _is_negated(*each)]
    if wrong_sign:
        raise LimitError(
            f'effort of {listed(wrong_sign)}: expected the sign of the positions, got an inertia '
            'below 0 or a load that lifts itself. They are negated, or the positions are; a scale '
            'of -1 turns them', names=tuple(wrong_sign))
    far = [(name, r) for name, r, like in zip(equations.joints, ratio, alike)
           if like > _ALIKE and not 1.0 / UNIT < r < UNIT]
    if far:
        raise LimitError(
            f'effort of {listed([name for name, _ in far])}: expected N m or N, got '
            f'{", ".join(f"{r:.3g}" for _, r in far)} times what the given model needs, in the '
            'same course: another unit. Give the factor as the scale of the joint',
            names=tuple(name for name, _ in far))
    return tuple(
        f'{name}: efforts are {r:.3g} times what the given model needs, in the same course: is '
        'the unit right, and are they no currents?'
        for name, r, like in zip(equations.joints, ratio, alike)
        if like > _ALIKE and not 1.0 / DOUBT < r < DOUBT)


def _is_negated(ratio: float, alike: float, inertia: float, deviation: float, usual: float
                ) -> bool:
    """Return whether a joint needs an inertia below zero, or the opposite of its load."""
    below = inertia < -_SURE * deviation
    if below and inertia < -_CLEAR * usual * max(abs(ratio), 1.0 / UNIT):
        return True
    return alike < -_ALIKE and inertia < _SURE * deviation


def effort_ratios(equations: Equations, given: Array) -> tuple[Array, Array]:
    """Return efforts over those of the given bodies (f,), and how alike both are, -1 to 1."""
    at, ratios, alike = equations.at_extra, [], []
    for k in range(len(equations.joints)):
        drag = equations.rows[:, k, at]
        drag = drag[:, np.abs(drag).max(axis=0, initial=0.0) > 0.0]
        both = np.column_stack([equations.rows[:, k, :at.start] @ given[:at.start],
                                equations.forces[:, k]])
        if drag.size:
            both = both - drag @ np.linalg.lstsq(drag, both, rcond=None)[0]
        needed, measured = both.T
        square, other = float(needed @ needed), float(measured @ measured)
        product = float(needed @ measured)
        ratios.append(product / square if square > 0.0 else 1.0)
        alike.append(product / np.sqrt(square * other) if square * other > 0.0 else 0.0)
    return np.array(ratios), np.array(alike)


def _inertias(motion: Motion, equations: Equations, x: Array, covariance: Array | None
              ) -> tuple[Array, Array]:
    """Return the inertia felt at each joint (f,) and its deviation, the median of samples."""
    regressor, base = equations.regressor, equations.base
    tree = regressor.tree if isinstance(regressor, LoopRegressor) else regressor
    values, deviations = [], []
    for q in motion.q[np.linspace(0, len(motion.q) - 1, _SAMPLES).astype(int)]:
        moving = (regressor.motions(q) if isinstance(regressor, LoopRegressor)
                  else np.eye(tree.model.nv))
        still = np.zeros(tree.model.nv)
        rest = tree.torque(q, still, still)
        rows = np.array([base.columns((each @ (tree.torque(q, still, each) - rest))[None])[0]
                         for each in moving.T])
        values.append(rows @ x[:base.rank])
        if covariance is not None:
            part = covariance[:base.rank, :base.rank]
            deviations.append(np.sqrt(np.einsum('ij,jk,ik->i', rows, part, rows)))
    return (np.median(values, axis=0),
            np.median(deviations, axis=0) if deviations else np.zeros(len(values[0])))
