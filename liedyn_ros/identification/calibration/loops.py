# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loops in a calibration: joints that are not read follow, and errors leave the loops closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, ModelError
from liedyn_ros.dynamics.constrained import assemble
from liedyn_ros.dynamics.constrained.configurations.closing import Closing
from liedyn_ros.dynamics.constrained.configurations.misfit import (
    closure_gaps, independent_rows, relaxed)
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.rank import rank_of
from liedyn_ros.dynamics.constrained.constraints.size import machine_size
from liedyn_ros.dynamics.constrained.kernels.tolerances import STALLED_RESIDUAL, USUAL_RANK
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import position_gaps
from liedyn_ros.identification.calibration.unknowns import involved, Unknowns
from liedyn_ros.model import Model

SAMPLE_POSES = 10  # poses, at which loops show what they allow
GAP_RANK_TOLERANCE = 1e-7  # of a number before: gaps below it are rounding
BRANCH_STEP = 0.1  # rad or m: of joints that are read, between configurations of one branch
GAP_MARGIN = 2.0  # of a tolerance above the gaps at the poses


def is_looped(model: Model) -> bool:
    """Return whether joints follow others."""
    return bool(model.closures or model.couplings)


def closed_configurations(model: Model, names: tuple[str, ...], start: Array, read: Array
                          ) -> tuple[Array, NDArray[np.bool_]]:
    """
    Return configurations (n, nq) whose loops are closed, with read (n, m) of joints by name.

    They are on the branch of start (nq,), a rough configuration. Each is reached from the one
    before by short steps of the joints that are read. Also return which (n,) could be closed.
    Raises ConvergenceError where most could not.
    """
    closed, result = Constraints(relaxed(model, ())), np.tile(start, (len(read), 1))
    columns = [model.joint(name).qi for name in names]
    closing = Closing(closed, free_coordinates(model, names))
    at, open_at = start, dict[int, ConvergenceError]()
    for k, row in enumerate(read):
        steps = 1 + int(np.abs(row - at[columns]).max() / BRANCH_STEP)
        for part in np.linspace(at[columns], row, steps, endpoint=False):
            trial = at.copy()
            trial[columns] = part
            trial, left = closing.close(trial)
            if left > STALLED_RESIDUAL:  # the straight way leads where loops do not close
                break
            at = trial
        trial = at.copy()
        trial[columns] = row
        try:
            result[k] = at = assemble(closed, trial, held=dict(zip(names, row.tolist())))
        except ConvergenceError as error:
            result[k], open_at[k] = trial, error
    if 2 * len(open_at) > len(read):
        first, why = next(iter(open_at.items()))
        raise ConvergenceError(f'pose {first + 1}, and {len(open_at) - 1} others of {len(read)}: '
                               f'expected readings with which the loops close, got {why}')
    return result, ~np.isin(np.arange(len(read)), list(open_at))


def free_coordinates(model: Model, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return a mask (nv,) of coordinates but those of joints of one number, by name."""
    result = np.ones(model.nv, dtype=bool)
    result[[model.joint(name).vi for name in names]] = False
    return result


def with_closed_loops(unknowns: Unknowns, names: tuple[str, ...], body: str, q: Array) -> Unknowns:
    """
    Return the unknowns whose errors leave loops closed at q (n, nq), to first order.

    Errors across the plane of a linkage would open it for good: no joint can follow them. So of
    redundant rows only independent ones are held, and such errors are taken together. Closures
    with a tolerance may be open anyway. Raises ModelError where joints of names do not decide q.
    """
    some = q[::max(1, len(q) // SAMPLE_POSES)]
    model = _with_independent_rows(relaxed(unknowns.model, ()), some)
    held = replace(unknowns, model=model)
    follow, whole = following(model, names, body), Constraints(model)
    ranks = [rank_of(np.linalg.svd(whole.jacobian(each)[:, follow])[1], USUAL_RANK)
             for each in some]
    if max(ranks) < (count := int(follow.sum())):
        raise ModelError(f'names: expected joints whose readings decide the place of {body}, got '
                         f'{list(names)}, which leave {count - max(ranks)} coordinates free')
    if any(each.tolerance for each in model.closures):
        return held
    closed, blocks = Constraints(unknowns.model), []
    follow = following(unknowns.model, names, body)
    for gaps, rows in zip(*opened(unknowns, follow, closed, some)):
        u, values, _ = np.linalg.svd(rows)
        blocks.append(u[:, rank_of(values, USUAL_RANK):].T @ gaps @ unknowns.basis)
    _, values, vt = np.linalg.svd(np.concatenate(blocks))
    rank = int((values > GAP_RANK_TOLERANCE * np.abs(unknowns.basis).max()).sum())
    return held if rank == 0 else replace(held, kept=vt[rank:].T)


def opened(unknowns: Unknowns, follow: NDArray[np.bool_], closed: Constraints, q: Array
           ) -> tuple[Array, Array]:
    """
    Return gaps (n, m, numbers) by the machine's numbers, and rows (n, m, f) of what follows.

    q is (n, nq).
    """
    model, gaps = closed.model, position_gaps(closed, q)
    places, closures = list(model.joints), [closure.name for closure in model.closures]
    columns = [gaps.by_placement[:, :, places.index(joint.name)] for joint in unknowns.joints]
    for closure in unknowns.closures:
        c = closures.index(closure.name)
        columns += [gaps.by_frame_a[:, :, c], gaps.by_frame_b[:, :, c]]
    lengths = [gaps.by_length[:, :, closures.index(rod.name), None] for rod in unknowns.rods]
    return (np.concatenate([*columns, *lengths], axis=2),
            np.array([closed.jacobian(each)[:, follow] for each in q]))


def following_twists(unknowns: Unknowns, follow: NDArray[np.bool_], body: str,
                     closed: Constraints, q: Array) -> Array:
    """
    Return twists (n, 6, numbers) of the body by what closes loops again: A_f dq = -gaps dp.

    follow (nv,) is the mask of the coordinates f, as `following` returns it; q is (n, nq).
    """
    gaps, rows = opened(unknowns, follow, closed, q)
    moved = -np.linalg.pinv(rows, np.finfo(float).eps * max(rows.shape[1:])) @ gaps
    return np.array([closed.frames.jacobian(each, body)[:, follow] for each in q]) @ moved


def accepted(model: Model, q: Array) -> Model:
    """
    Return the model whose closures hold all rows again, with tolerances where it needs them.

    They are above the gaps at q (n, nq), and so great that as many rows decide as in model. Noise
    of a calibration makes redundant rows independent, and so a machine rigid.
    """
    closed, size = Constraints(model), min(1.0, machine_size(model))
    gaps = [closure_gaps(closed, each) for each in q]
    most = {closure.name: max(max(each[closure.name].length, size * each[closure.name].angle)
                              for each in gaps) for closure in model.closures}
    for least in (0.0, *(size * 10.0 ** k for k in range(-7, -1))):
        needed = {name: max(least, GAP_MARGIN * gap) if gap > STALLED_RESIDUAL else 0.0
                  for name, gap in most.items()}
        result = replace(model, closures=tuple(replace(
            closure, held=None, tolerance=max(closure.tolerance, needed[closure.name]))
            for closure in model.closures))
        if sum(each.rows for each in relaxed(result, ()).closures) <= closed.m - len(
                model.couplings):
            break
    return result


def following(model: Model, names: tuple[str, ...], body: str) -> NDArray[np.bool_]:
    """Return a mask (nv,) of coordinates that move the body and are not read."""
    result = np.zeros(model.nv, dtype=bool)
    for joint in involved(model, body)[0]:
        result[joint.v_slice] = joint.name not in names
    return result


def _with_independent_rows(model: Model, q: Array) -> Model:
    """Return the model that holds rows of closures which are independent at most of q (n, nq)."""
    whole = Constraints(model)
    kept = max((independent_rows(whole, each, USUAL_RANK) for each in q), key=len)
    result, first = [], 0
    for closure in model.closures:
        kinds = closure.row_kinds
        result.append(replace(closure, held=tuple(
            kind for row, kind in enumerate(kinds, first) if row in kept)))
        first += len(kinds)
    return replace(model, closures=tuple(result))
