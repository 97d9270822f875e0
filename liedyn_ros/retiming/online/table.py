# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tables of a planned run for its scaling."""

from dataclasses import replace

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.retiming.grid import Grid
from liedyn_ros.retiming.limits import MotionLimits
from liedyn_ros.retiming.online.kernels.scaling import PLAN
from liedyn_ros.retiming.result import elapsed, Retimed
from liedyn_ros.retiming.retime import find_margins
from liedyn_ros.retiming.rows import Rows, SQUARED_ROWS

_LEAST = 1e-12  # of the plan's limit, below which another one is none
_KEPT = ('least_torque', 'closure_force', 'least_closure_force',
         'torque_curve')  # the plan's, as they are uneven
# Intervals of a table: scalings look at their limits at some places of each
MIN_TABLE_INTERVALS = 60


def with_intervals(run: Retimed) -> Retimed:
    """Return the run on a grid of MIN_TABLE_INTERVALS intervals or more (15.14)."""
    parts = -(-MIN_TABLE_INTERVALS // run.grid.intervals)
    if parts == 1:
        return run
    grid = Grid(run.grid.split(parts))
    return replace(
        run, grid=grid, unknowns=grid.refine(run.grid, run.unknowns),
        margins=find_margins(run.dynamics, run.law, grid, run.limits, run.external))


def plan_table(run: Retimed) -> Array:
    """Return the bundle PLAN of a run: its intervals, and the limits at their places (15.11)."""
    grid, margins = run.grid, run.margins
    starts = grid.ends[:-1]
    z, dz, ddz = grid.at_ends(run.unknowns)
    spans = np.stack([run.interval_times[:-1], z[:-1], dz[:-1], ddz, starts], axis=1)
    p = margins.p
    within = elapsed(grid, run.unknowns, np.repeat(starts, p.shape[1]), p.ravel())
    times = (run.interval_times[:-1, None] + within.reshape(p.shape))
    times[:, -1] = run.interval_times[1:]
    speed = [each[:, 0] for each in margins.speed(grid, run.unknowns)]
    return PLAN.pack(spans=spans, times=times.ravel(), states=_states(margins.states, *speed),
                     rates=_rates(margins.rates, *speed))


def _states(rows: Rows, z: Array, dz: Array, ddz: Array) -> Array:
    """Return the terms (K, R, 4) of rows of states by u', u^2, u and 1, over their limits."""
    z, dz = z[:, None], dz[:, None]
    terms = [2.0 * rows.slope * np.sqrt(z), rows.slope * dz + rows.value * z,
             rows.root * np.sqrt(z), rows.constant]
    return np.stack([each / rows.bound for each in terms], axis=2)


def _rates(rows: Rows, z: Array, dz: Array, ddz: Array) -> Array:
    """Return the terms (K, R, 6) of rows of rates by u'', u u', u^3, u', u^2 and u."""
    z, dz, ddz = z[:, None], dz[:, None], ddz[:, None]
    root = np.sqrt(z)
    terms = [2.0 * rows.curvature * root, 3.0 * rows.curvature * dz + 2.0 * rows.slope * z,
             root * (rows.curvature * ddz + rows.slope * dz + rows.value * z),
             2.0 * rows.root_slope * root, rows.root_value * z + rows.root_slope * dz,
             root * rows.constant]
    return np.stack([each / rows.bound for each in terms], axis=2)


def raised_limits(run: Retimed, limits: MotionLimits) -> Array:
    """
    Return the limits of a run over others (R,), by its rows of states, then of rates.

    Raises LimitError for a limit that the run was planned without, and what MotionLimits.of does.
    """
    model = run.dynamics.model
    if not np.array_equal(run.limits.lines(model), limits.lines(model)):
        raise LimitError('torque_curves: expected the curves of the plan, got others; plan with '
                         'them')
    planned, given = run.limits.by_name(model), limits.by_name(model)
    for key in planned | given:
        name, of = key
        before, now = planned.get(key, np.inf), given.get(key, np.inf)
        uneven = name.endswith('closure_force') or (name.endswith('torque') and any(
            each['torque', of] != -each['least_torque', of] for each in (planned, given)))
        moved = now != before and (uneven or name == 'torque_per_speed')
        if moved or (np.isinf(before) and np.isfinite(now)):
            raise LimitError(f'{name}: expected the limit of the plan for {of}, {before:.6g}, got '
                             f'{now:.6g}; plan with this limit')
    rows = [key for some in (run.margins.states, run.margins.rates)
            for key in zip(some.names, some.of)]
    raised: Array = np.array([
        1.0 if key[0] in _KEPT else planned[key] / max(given.get(key, np.inf),
                                                       _LEAST * planned[key])
        for key in rows], dtype=float)
    return raised**np.where([name in SQUARED_ROWS for name, _ in rows], 2.0, 1.0)
