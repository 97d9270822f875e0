# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
All joints of a machine with closed loops from the measured ones, for the C library.

As in loops.py, work is a work area. It has the last configuration, at first that of the file.
"""

import math

from liedyn_ros.dynamics.constrained.kernels.position import closure_residuals, largest_magnitude
from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.dynamics.constrained.kernels.tolerances import CLOSED_STATE
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.dynamics.constrained.tracking.kernels import tracking
from liedyn_ros.export.kernels import loops as area
from liedyn_ros.jit.pointers import COUNT, given, NUMBERS, vector

DONE, REFUSED, OPEN = solver.DONE, solver.REFUSED, solver.OPEN


def loops_measured(work: NUMBERS, joint: COUNT) -> COUNT:
    """Return the coordinate of a measured joint, or for -1 how many there are; -1 for none."""
    loops = area.loops_of(vector(work, 1))
    if len(loops.tracker) == 0:
        return -1
    measured = tracking.tracker_of(loops.tracker).at_v
    return measured[joint] if joint >= 0 else len(measured)


def loops_track(work: NUMBERS, positions: NUMBERS, rates: NUMBERS, q: NUMBERS, v: NUMBERS,
                found: NUMBERS) -> COUNT:
    """
    Write q and, with rates, v, and the report of a sample, from the last one on.

    Returns tracking.DONE, BLOCKED, DISAGREEING or UNDECIDED.
    """
    loops, out = area.loops_of(vector(work, 1)), vector(found, tracking.REPORT_WIDTH)
    nv, nq = area.count_coordinates(loops), workspace_of(loops.workspace).machine.nq[0]
    count = len(tracking.tracker_of(loops.tracker).at_v)
    known = vector(rates, count if given(rates) else 0)
    code = tracking.complete_sample(
        loops.workspace, loops.tracker, loops.good, loops.near, loops.trial, tracking.NEXT,
        vector(positions, count), known, vector(q, nq), vector(v, nv if given(rates) else 0),
        loops.sample)
    loops.sample[tracking.TIME] = math.inf
    if code == tracking.DONE and given(rates):
        tracking.complete_sample(
            loops.workspace, loops.tracker, loops.good, loops.near, loops.trial, tracking.LOOK,
            known, known, vector(q, nq), loops.a[:nv], loops.sample)
    for k in range(tracking.REPORT_WIDTH):
        out[k] = loops.sample[k]
    return code


def loops_restart(work: NUMBERS, q: NUMBERS) -> COUNT:
    """Let the next sample go on from a closed configuration; return OPEN for another one."""
    loops = area.loops_of(vector(work, 1))
    nv, nq = area.count_coordinates(loops), workspace_of(loops.workspace).machine.nq[0]
    here, residual = vector(q, nq), loops.change[:len(loops.ones)]
    loops.turns[:] = math.nan
    if not closure_residuals(loops.workspace, here, loops.turns, residual,
                             loops.jacobian.reshape((len(loops.ones), nv))):
        return REFUSED
    if not largest_magnitude(residual) <= CLOSED_STATE:
        return OPEN
    at, begun = tracking.tracker_of(loops.tracker).at_q, tracking.tracker_of(loops.tracker).q
    positions, none = loops.a[:len(at)], loops.rest[:0]
    tracking.copy_point(here, begun)
    for i in range(len(at)):
        positions[i] = here[at[i]]
    return tracking.complete_sample(
        loops.workspace, loops.tracker, loops.good, loops.near, loops.trial, tracking.FIRST,
        positions, none, begun, none, loops.sample)
