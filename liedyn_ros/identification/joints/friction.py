# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Terms whose columns depend on a speed to be found, or on the load (16.10), (16.11), (16.12)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.identification.equations import Equations, with_terms
from liedyn_ros.identification.joints.terms import (
    COUPLED, LOAD, SPRING, STRIBECK, Term, terms_of, TILT)
from liedyn_ros.identification.motion import Motion
from liedyn_ros.identification.robust_fit import reduced, robust_fit
from liedyn_ros.model import Model

GRID_SPEEDS = 10  # of a joint, that a search tries
REFINED_SPEEDS = 6  # between the neighbours of the best one
REFINEMENTS = 3
FRICTION_SWEEPS = 3  # over all joints
LOAD_ROUNDS = 4  # rounds of the load that joints bear
_MIN_SPEED_RATIO = 8.0  # times the noise of a rate, the least speed of a Stribeck term
_MAX_SPEED_SHARE = 0.5  # of the greatest rate


def with_friction(model: Model, motion: Motion, equations: Equations, kinds: tuple[str, ...],
                  speeds: Mapping[str, float]) -> Equations:
    """
    Return equations with Stribeck friction, that by load and of coupled motors, tilt, springs.

    speeds are those of Stribeck terms that were found before, by coordinate, rad/s or m/s; others
    are found. A joint that was too slow for one has no such term. Raises LimitError, ShapeError.
    """
    plain, loaded = equations, terms_of(model, tuple(
        kind for kind in kinds if kind in (LOAD, TILT, SPRING, COUPLED)))
    if loaded:
        equations = _with_load(model, motion, plain, loaded)
    if STRIBECK not in kinds:
        return equations
    chosen = _stribeck(model, motion, equations, speeds)
    plain = with_terms(model, motion, plain, chosen)
    return _with_load(model, motion, plain, loaded) if loaded else plain


def _with_load(model: Model, motion: Motion, plain: Equations, terms: tuple[Term, ...]
               ) -> Equations:
    """Return equations with the load of what they identify themselves, without friction."""
    found = plain
    for _ in range(LOAD_ROUNDS):
        x = robust_fit(found.rows, found.forces).x
        found = with_terms(model, motion, plain, terms, x[:plain.base.rank])
    return found


def _stribeck(model: Model, motion: Motion, equations: Equations, given: Mapping[str, float]
              ) -> tuple[Term, ...]:
    """Return the Stribeck term of each joint, its speed given or where residuals are least."""
    names = model.coordinate_names
    places = [each.at for each in terms_of(model, (STRIBECK,))]
    grids: dict[int, Array] = {}
    for i in places:
        least = _MIN_SPEED_RATIO * float(motion.noise[1, i])
        most = _MAX_SPEED_SHARE * float(np.abs(motion.v[:, i]).max(initial=0.0))
        least = max(least, 1e-3 * most)
        if names[i] in given:
            grids[i] = np.array([given[names[i]]], dtype=np.float64)
        elif 2.0 * least < most:
            grids[i] = np.asarray(np.geomspace(least, most, GRID_SPEEDS), dtype=np.float64)
    best = _search(model, motion, equations, grids)
    for _ in range(REFINEMENTS):
        grids = {i: grid if len(grid) == 1 else np.geomspace(
            grid[max(best[i] - 1, 0)], grid[min(best[i] + 1, len(grid) - 1)], REFINED_SPEEDS)
            for i, grid in grids.items()}
        best = _search(model, motion, equations, grids)
    return tuple(Term(STRIBECK, i, float(grid[best[i]])) for i, grid in grids.items())


def _search(model: Model, motion: Motion, equations: Equations, grids: Mapping[int, Array]
            ) -> dict[int, int]:
    """Return the place of the speed of least residuals of each joint, one after the other."""
    if all(len(grid) == 1 for grid in grids.values()):
        return dict.fromkeys(grids, 0)
    tried = tuple(Term(STRIBECK, i, float(speed)) for i, grid in grids.items() for speed in grid)
    fit = robust_fit(equations.rows, equations.forces)
    wide = with_terms(model, motion, equations, tried)
    triangle, target = reduced(wide.rows, wide.forces, fit)
    count = len(equations.names)
    firsts = dict(zip(grids, count + np.cumsum([0, *map(len, grids.values())])))
    best = {i: len(grid) // 2 for i, grid in grids.items()}
    for _ in range(FRICTION_SWEEPS):
        before = dict(best)
        for i, grid in grids.items():
            others = [*range(count), *(firsts[j] + best[j] for j in grids if j != i)]
            q, _ = np.linalg.qr(triangle[:, others])
            left = target - q @ (q.T @ target)
            columns = triangle[:, firsts[i]:firsts[i] + len(grid)]
            apart = columns - q @ (q.T @ columns)
            gain = (apart.T @ left)**2 / np.maximum((apart**2).sum(axis=0), 1e-300)
            best[i] = int(np.argmax(np.where(
                np.linalg.norm(apart, axis=0) > 1e-6 * np.linalg.norm(columns, axis=0), gain,
                -1.0)))
        if best == before:
            break
    return best
