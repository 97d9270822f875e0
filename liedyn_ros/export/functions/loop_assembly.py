# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Configurations of closed loops for the C library. As in loops.py, work is a work area."""

import math

from liedyn_ros.dynamics.constrained.configurations.kernels.closing import (
    begin_closing, closing_of, continue_closing, COUNT as STEPS, EVALUATE)
from liedyn_ros.dynamics.constrained.kernels.position import closure_residuals
from liedyn_ros.dynamics.constrained.kernels.series import is_configuration
from liedyn_ros.dynamics.constrained.kernels.tables import workspace_of
from liedyn_ros.dynamics.constrained.kernels.tolerances import STALLED_RESIDUAL
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.export.kernels import loops as area
from liedyn_ros.export.kernels.starts import write_random
from liedyn_ros.jit.pointers import COUNT, FLAGS, given, NUMBERS, vector
from liedyn_ros.model.kernels.kinds import NQ, SPHERICAL

DONE, REFUSED, OPEN = solver.DONE, solver.REFUSED, solver.OPEN


def loops_assemble(work: NUMBERS, attempt: COUNT, start: NUMBERS, held: FLAGS, limited: COUNT,
                   q: NUMBERS, found: NUMBERS) -> COUNT:
    """
    Write where a start leads, and its largest residual, that constraint and the steps (3,).

    Attempt 0 is from the start, NULL for the neutral configuration; each other from a random one,
    whose held links are those of the start. OPEN: it is not closed.
    """
    loops = area.loops_of(vector(work, 1))
    machine, t = workspace_of(loops.workspace).machine, closing_of(loops.closing)
    nq, nv, count = machine.nq[0], len(machine.link), len(loops.ones)
    end, out = vector(q, nq), vector(found, 3)
    for i in range(len(machine.kind)):
        kind, at = machine.kind[i], machine.qi[i]
        for k in range(NQ[kind]):
            end[at + k] = vector(start, nq)[at + k] if given(start) else (
                1.0 if kind >= SPHERICAL and k == NQ[kind] - 1 else 0.0)
    if not is_configuration(machine, end):
        return REFUSED
    for j in range(nv):
        fixed = given(held) and vector(held, nv)[j]
        t.free[j] = 0 if fixed else 1
        loops.passive[j] = 1 if fixed else 0
        within = limited != 0 and not fixed
        t.lower[j] = loops.lower[j] if within else -math.inf
        t.upper[j] = loops.upper[j] if within else math.inf
    if attempt > 0:
        write_random(machine, loops.passive, loops.lower, loops.upper, attempt, end)
    begin_closing(loops.workspace, loops.closing, end)
    command = EVALUATE
    while command == EVALUATE:
        loops.turns[:] = math.nan
        if not closure_residuals(loops.workspace, t.trial, loops.turns, t.trial_f, t.trial_rows):
            t.trial_f[:] = math.inf
        command = continue_closing(loops.workspace, loops.closing)
    out[0], out[1], out[2] = 0.0, -1.0, t.numbers[STEPS]
    for r in range(count):
        if not abs(t.f[r]) <= out[0]:
            out[0], out[1] = abs(t.f[r]), r
    for i in range(nq):
        end[i] = t.q[i]
    return DONE if out[0] <= STALLED_RESIDUAL else OPEN
