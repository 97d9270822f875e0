# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The errors of constrained dynamics about a state, its motion, actuators, and lost digits.

The estimated error of each order near singular configurations of closed loops. A configuration is
closed up to its rounding, and an order multiplies this error by about the inverse of the condition
number. So the orders at configurations that are moved by their rounding differ by about their
error (12.53). Far from singular configurations there is nothing to estimate.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NoReturn

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, SingularError
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.rank import rank_of, unheld_motions
from liedyn_ros.dynamics.constrained.kernels.tables import DEFECT
from liedyn_ros.dynamics.constrained.kernels.tolerances import CLOSED_STATE, RANK_TOLERANCE
from liedyn_ros.dynamics.constrained.solver.inputs import Task
from liedyn_ros.dynamics.constrained.solver.kernels.solver import HYBRID_TASK
from liedyn_ros.dynamics.time_derivatives.estimate import relative_difference, require_digits
from liedyn_ros.model import Model


def refuse_open(constraints: Constraints, q: Array, v: Array, suffix: str) -> NoReturn:
    """Raise the error for a state off the constraints."""
    constraints.require_closed_state(q, v, suffix)
    raise LiedynError(f'q{suffix}, v{suffix}: expected a state on the constraints within '
                      f'{CLOSED_STATE}, got one at this limit')


def refuse_motion(defect: float, suffix: str) -> NoReturn:
    """Raise the error for accelerations that break a loop."""
    raise LiedynError(
        f'a{suffix}: expected a motion that the constraints allow, got one with the relative '
        f'residual {defect:.3g}. complete_acceleration computes it from the accelerations of the '
        'actuated joints')


def refuse_limits(constraints: Constraints, task: Task, tau: Array, report: Array,
                  suffix: str) -> NoReturn:
    """Raise the error for limits of effort that do not hold the motion."""
    model, missing = constraints.model, float(report[DEFECT])
    held = task.driven & (np.abs(tau) >= model.limits.effort)
    names = np.array(model.coordinate_names)[held].tolist()
    raise LimitError(
        f'tau{suffix}: expected a motion within the effort limits of the actuators, got one that '
        f'takes more than {names} have: {100.0 * missing:.3g} % stays open', names=names,
        expected=0.0, got=missing, indices=[int(suffix.strip('[]'))] if suffix else ())


def refuse_massless(constraints: Constraints, task: Task, q: Array, suffix: str) -> NoReturn:
    """Raise the error for a motion with unknown acceleration that moves no inertia."""
    free = task.driven if task.kind == HYBRID_TASK else np.ones_like(task.driven)
    mass = constraints.tree.mass_matrix(q)[np.ix_(free, free)]
    rows = constraints.jacobian(q)[:, free]
    stacked = np.vstack([part / max(np.abs(part).max(initial=0.0), 1e-300)
                         for part in (mass, rows)])
    _, sizes, right = np.linalg.svd(stacked)
    idle = right[rank_of(sizes):]
    moves = np.zeros(len(free), dtype=np.bool_)
    moves[free] = np.abs(idle).max(axis=0, initial=0.0) > 1e-6
    bodies = [joint.child for joint in constraints.model.joint_list if moves[joint.v_slice].any()]
    raise SingularError(
        f'q{suffix}: expected every motion that the constraints leave free to move inertia, got '
        f'one of bodies {bodies} that moves none. Give them mass and inertia, or a closure that '
        'holds them; hybrid dynamics may prescribe their accelerations', names=bodies)


def refuse_actuators(constraints: Constraints, task: Task, q: Array, suffix: str) -> NoReturn:
    """Raise the error for actuators that do not determine the motion."""
    names, driven = np.array(constraints.model.coordinate_names), task.driven
    rows = constraints.jacobian(q)
    free = unheld_motions(rows, ~driven)
    moves = np.abs(free).max(axis=0, initial=0.0) > 1e-6 * np.abs(free).max(initial=0.0)
    at = f' at q{suffix}' if suffix else ''
    enough = driven.sum() >= len(names) - np.linalg.matrix_rank(rows, RANK_TOLERANCE)
    where = ': a singular configuration of these actuators' if enough else ''
    raise ModelError(f'actuated: expected actuators that decide the motion, got '
                     f'{int(driven.sum())}, {names[driven].tolist()}, which leave mobility '
                     f'{len(free)} to {names[~driven][moves].tolist()}{at}{where}',
                     names=names[~driven][moves].tolist(), got=len(free),
                     indices=[int(suffix.strip('[]'))] if suffix else ())


# By which q is moved at least: of its largest coordinate, or of 1, as frames round so.
MOVE_SHARE = 0.5 * np.finfo(np.float64).eps
CERTAIN_ERROR = 1e-10  # times the inverse condition number to the order: more than any error
PERTURBATIONS = 3  # of the configuration, in random directions
DIGITS_ADVICE = '; near a singular configuration high orders lose digits. Or set max_error'


def at_risk(inverse_condition_number: float, order: int, max_error: float) -> bool:
    """Return whether an order may exceed a relative error, so that it wants an estimate."""
    return order > 0 and not CERTAIN_ERROR <= max_error * inverse_condition_number**order


def require_order_digits(model: Model, solve: Callable[[Array], tuple[Array, ...] | None],
                         q: Array, found: tuple[Array, ...], residual: float, max_error: float,
                         suffix: str) -> None:
    """
    Raise LimitError for the first order of arrays (order + 1, ...) that exceeds max_error.

    solve returns the arrays at a configuration, None where it fails. residual is that of the
    closures at q (nq,).
    """
    rng, squares = np.random.default_rng(0), np.zeros(len(found[0]))
    size = residual + MOVE_SHARE * float(np.abs(q).max(initial=1.0))
    for _ in range(PERTURBATIONS):
        other = solve(model.integrate(q, size * rng.standard_normal(model.nv)))
        if other is None:
            squares[:] = math.inf
            break
        squares += np.max([relative_difference(x[None], y[None])[0]
                           for x, y in zip(found, other)], axis=0)**2 / PERTURBATIONS
    require_digits(np.sqrt(squares), max_error, DIGITS_ADVICE, suffix and f'{suffix}, ')
