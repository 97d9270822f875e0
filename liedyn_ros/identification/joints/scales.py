# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Scales of recorded efforts, such as torque constants, from bodies that joints share (16.14)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from liedyn_ros.common.checks import Array, listed, require_known
from liedyn_ros.common.errors import ConvergenceError, LimitError, NameSetError
from liedyn_ros.identification.equations import Equations
from liedyn_ros.identification.joints.terms import SCALE_TERM, Term
from liedyn_ros.identification.robust_fit import COLUMN_RANK_TOLERANCE, reduced, robust_fit
from liedyn_ros.model import Model

MAX_SCALE_ROUNDS = 40
SCALE_STEP_TOLERANCE = 1e-6  # relative step of a scale
_FIXED_WEIGHTS_STEP = 1e-2  # relative step, from which on weights stay
_MAX_STEP = 0.5  # greatest relative step
_MAX_DEVIATION = 0.5  # relative deviation, above which a recording does not tell a scale


def with_scales(model: Model, equations: Equations, joints: tuple[str, ...], start: Array
                ) -> Equations:
    """
    Return equations whose forces are in N m and N, with the error of each unknown scale as a term.

    joints have an unknown scale; at least one scale is known, because a common scale cannot be
    distinguished from heavier links. start (f,) is where the search begins. The terms are relative
    errors, 0 in the fit, so that covariances include the uncertainty of the scales. Raises
    NameSetError, LimitError for scales that the recording does not determine, and
    ConvergenceError.
    """
    require_known(NameSetError, 'scales', equations.joints, list(joints), 'joints')
    at = [k for k, name in enumerate(equations.joints) if name in joints]
    if len(at) == len(equations.joints):
        raise LimitError('scales: expected a joint whose efforts are N m or N, got none: one '
                         'factor of all is felt as other masses. Give one joint its scale')
    if not (start[at] > 0.0).all():
        raise LimitError(f'effort of {listed([equations.joints[k] for k in at])}: expected the '
                         'sign of the positions, got negated ones; a scale of -1 turns them')
    scales = equations.scales.copy()
    scales[at] = start[at]
    found = scaled(equations, scales)
    fit = robust_fit(found.rows, found.forces)
    steps: Array = np.full(len(at), np.inf)
    x, count = fit.x, len(equations.names)
    for _ in range(MAX_SCALE_ROUNDS):
        wide = _with_errors(model, found, at, x)
        if (np.abs(steps) > _FIXED_WEIGHTS_STEP).any():
            fit = robust_fit(wide.rows, wide.forces)
            new = fit.x
        else:  # by the last weights, as new ones would jump a little each time
            triangle, target = reduced(wide.rows, wide.forces, fit)
            new = np.asarray(np.linalg.lstsq(triangle, target, rcond=COLUMN_RANK_TOLERANCE)[0])
        x = new[:count]
        steps = np.clip(new[count:], -_MAX_STEP, _MAX_STEP)
        if (np.abs(steps) <= SCALE_STEP_TOLERANCE).all():
            _require_told(equations, at, fit.deviations[count:])
            return wide
        scales = found.scales.copy()
        scales[at] *= 1.0 + steps
        found = scaled(equations, scales)
    _require_told(equations, at, fit.deviations[count:])
    moving = [equations.joints[k] for k, each in zip(at, np.abs(steps))
              if each > SCALE_STEP_TOLERANCE]
    raise ConvergenceError(
        f'scales: expected steps below {SCALE_STEP_TOLERANCE:g} after {MAX_SCALE_ROUNDS} rounds, '
        f'got larger ones of {listed(moving)}: leave out those that carry little')


def scaled(equations: Equations, scales: Array) -> Equations:
    """Return equations of forces that were recorded in other units (f,) of N m or N."""
    recorded = (equations.forces + equations.known) * equations.scales
    return replace(equations, forces=recorded / scales - equations.known, scales=scales)


def _with_errors(model: Model, equations: Equations, at: list[int], x: Array) -> Equations:
    """Return equations with columns of the relative errors of scales, at the unknowns x."""
    needed = equations.rows @ x + equations.known
    columns = np.zeros((*needed.shape, len(at)))
    columns[:, at, range(len(at))] = needed[:, at]
    terms = tuple(Term(SCALE_TERM, model.coordinate_names.index(equations.joints[k])) for k in at)
    return replace(
        equations, rows=np.concatenate([equations.rows, columns], axis=2),
        names=(*equations.names, *(each.name(model) for each in terms)),
        extra=(*equations.extra, *terms))


def _require_told(equations: Equations, at: list[int], deviations: Array) -> None:
    """Raise LimitError for scales that the recording hardly gives."""
    open_ = [equations.joints[k] for k, each in zip(at, deviations) if not each < _MAX_DEVIATION]
    if open_:
        raise LimitError(
            f'scales: expected joints whose scale the other joints determine, got '
            f'{listed(open_)}, whose deviation is above {100.0 * _MAX_DEVIATION:g} %: leave them '
            f'out, or move them more',
            names=tuple(open_))
