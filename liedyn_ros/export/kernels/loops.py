# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The work area of a machine with closed loops in the C library, and random starts.

A model file has all of it as it begins, for time derivatives to its order. So kernels alone say
how their tables are laid out.

Random configurations to start from: the same for a number in every process. The generator is that
of Park and Miller (Communications of the ACM 31, 1988): x = 16807 x modulo 2^31 - 1.
"""

import math

from liedyn_ros.dynamics.constrained.kernels.tables import (
    ACTUATION, DEFECT, INVERSE_CONDITION, RANK, task_of, workspace_of)
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_STATE, CONSISTENT, NEAR_SINGULAR, OFF_LOOP)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.independent_motions import (
    independent_motions)
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.dynamics.constrained.tracking.kernels import completion
from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX, VECTOR
from liedyn_ros.model.kernels.kinds import NQ_OF_KIND, NV_OF_KIND, TURNS_OF_KIND


# Columns of sizes; LOOP_RANK is that of the constraints where the machine is not singular. SOLVED
# are the rows of forces that close loops, of the last solution.
LOOP_ORDER, CONSTRAINT_COUNT, CLOSURES, BODIES, LOOP_RANK, SOLVED, SIZES = range(7)
ANSWER = 5  # numbers of what is told of a solution: write_task_report
# As in liedyn.h.
(STATUS_REGULAR, STATUS_REDUNDANT, STATUS_NEARLY_SINGULAR, STATUS_SINGULAR,
 STATUS_INCONSISTENT) = range(5)
# Codes beside those of kernels: constraints become dependent, a closure has no frame in the
# ground, a matrix is no pose, targets are out of reach.
BECAME_DEPENDENT, NO_GROUND, NOT_A_POSE, TARGET_NOT_REACHED = -5, -6, -7, -8
ANY_RANK = 1 << 62
ACTUATED, SPINS = 1, 2  # of a rod about itself, which nothing drives

LOOPS = Bundle(
    'Loops',
    sizes=INTEGERS,  # (SIZES,)
    workspace=VECTOR,  # of dynamics/constrained/kernels/tables.py
    hybrid=VECTOR, inverse=VECTOR,  # its tasks
    actuated=INTEGERS,  # (nv,) ACTUATED, SPINS or 0
    passive=INTEGERS,  # (nv,) those of a call
    ones=VECTOR, turns=VECTOR,  # (m,), (C,)
    rest=VECTOR,  # (nv,) zeros
    a=VECTOR, tau=VECTOR,  # (order + 1, nv) input of a call
    external=VECTOR,  # (B, order + 1, 6) Taylor coefficients
    multipliers=VECTOR, wrenches=VECTOR,  # (order + 1, m), (order + 1, C, 6)
    jacobian=VECTOR,  # (m, nv)
    report=VECTOR,  # of dynamics/constrained/kernels/tables.py
    answer=VECTOR,  # (ANSWER,)
    product=VECTOR,  # of partial_derivatives/kernels/products.py
    change=VECTOR, gradient=VECTOR, still=VECTOR,  # (2 nv + m,), (4, nv), (m,) zeros
    # Of all Jacobians: the tree's tables and Jacobians (links, columns, gravity, (3 nv, nv)), and
    # the scratch buffers of partial_derivatives/kernels/jacobians.py, with what these find.
    links=MATRIX, columns=MATRIX, gravity=MATRIX, of_tree=MATRIX, partials=VECTOR, slopes=VECTOR,
    reactions=VECTOR, lanes=MATRIX, changes=CUBE, found=VECTOR,
    # Of tracking/kernels/tracking.py, empty where the measured joints do not decide the others.
    tracker=VECTOR, good=VECTOR, near=VECTOR, trial=VECTOR, sample=VECTOR,
    closing=VECTOR,  # of configurations/kernels/closing.py
    lower=VECTOR, upper=VECTOR,  # (nv,) position limits
    data=MATRIX)  # of a call of the tree

loops_of = LOOPS.view


@kernel
def count_coordinates(loops):
    """Return the number of velocity coordinates."""
    return len(workspace_of(loops.workspace).machine.link)


@kernel
def let_move(loops, t, held, within):
    """Let coordinates move in closing tables, but those held, within their limits or beyond."""
    for j in range(len(t.free)):
        fixed = len(held) > 0 and held[j]
        t.free[j], limited = 0 if fixed else 1, within and not fixed
        t.lower[j] = loops.lower[j] if limited else -math.inf
        t.upper[j] = loops.upper[j] if limited else math.inf


@kernel
def write_wrench_coefficients(loops, external, rows):
    """Write Taylor coefficients of external wrenches (rows, B, 6)."""
    orders, coefficients, factorial = loops.sizes[LOOP_ORDER] + 1, loops.external, 1.0
    for k in range(rows):
        factorial *= max(k, 1)
        for b in range(external.shape[1]):
            for c in range(6):
                coefficients[(b * orders + k) * 6 + c] = external[k, b, c] / factorial


@kernel
def solve_inverse(work, q, v, a, external, tau):
    """Write tau (rows, nv) of the actuated coordinates, zero elsewhere, for a of as many rows."""
    loops = loops_of(work)
    for r in range(len(a)):
        for j in range(a.shape[1]):
            loops.a[r * a.shape[1] + j], loops.tau[r * a.shape[1] + j] = a[r, j], 0.0
    return solve_task(loops, len(a), True, True, q, v, a, tau, external)


@kernel
def solve_hybrid(work, q, v, prescribed, a, tau, all_tau, external):
    """
    Complete a (rows, nv) in its place, and write all_tau, which may be tau, if it has rows.

    No flags prescribe nothing.
    """
    loops = loops_of(work)
    rows, nv, task, unprescribed = len(a), a.shape[1], task_of(loops.hybrid), True
    for j in range(nv):
        free = len(prescribed) == 0 or not prescribed[j]
        unprescribed = unprescribed and free
        task.free[j] = free
        for k in range(rows):
            loops.a[k * nv + j] = 0.0 if free else a[k, j]
            loops.tau[k * nv + j] = tau[k, j] if free else 0.0
    return solve_task(loops, rows, False, unprescribed, q, v, a, all_tau, external)


@kernel
def solve_task(loops, rows, inverse, unprescribed, q, v, a, tau, external):
    """
    Solve the task of a work area, and keep rank, condition, defect, actuation and status.

    As in Python, a rank above the usual one of nearly dependent rows is not believed. Where
    coordinates are prescribed the usual rank is not known.
    """
    sizes = loops.sizes
    flat, report = loops.inverse if inverse else loops.hybrid, loops.report
    task = task_of(flat)
    nv, count, closed = count_coordinates(loops), sizes[CONSTRAINT_COUNT], sizes[CLOSURES]
    bodies, orders = sizes[BODIES] if len(external) > 0 else 0, sizes[LOOP_ORDER] + 1
    sizes[SOLVED] = 0
    if len(external) > 0:
        write_wrench_coefficients(loops, external, rows)
    wrenches = loops.external[:bodies * orders * 6].reshape((bodies, orders, 6))
    known_a = loops.a[:rows * nv].reshape((rows, nv))
    known_tau = loops.tau[:rows * nv].reshape((rows, nv))
    usual, code = sizes[LOOP_RANK], solver.DONE
    task.most[0] = ANY_RANK
    for attempt in range(2):
        code = solver.solve_state(
            loops.workspace, flat, CLOSED_STATE, wrenches, q, v, known_a, known_tau,
            known_a if inverse else a, tau if len(tau) > 0 else known_tau,
            loops.multipliers[:rows * count].reshape((rows, count)),
            loops.wrenches[:rows * closed * 6].reshape((rows, closed, 6)), report)
        stuck = (code == solver.MOTION_UNDETERMINED and task.kind[0] == solver.LEAST_TORQUE_TASK
                 and usual < count)
        beyond = (code == solver.DONE and report[INVERSE_CONDITION] < OFF_LOOP
                  and task.kind[0] != solver.LEAST_FORCE_TASK and report[RANK] > usual)
        if attempt > 0 or not unprescribed or not (stuck or beyond):
            break
        task.most[0] = usual
    if code != solver.DONE:
        return code
    if inverse and report[DEFECT] > CONSISTENT:
        return completion.UNSATISFIABLE
    write_task_report(report, count, usual if unprescribed else 0, inverse, loops.answer)
    sizes[SOLVED] = rows
    return solver.DONE


@kernel
def write_answer(work, report):
    """Write rank, condition, defect, actuation and status of the last solution."""
    answer = loops_of(work).answer
    for k in range(ANSWER):
        report[k] = answer[k]


@kernel
def complete(work, q, v, known, a):
    """Complete a (order + 1, nv) where known is not set; none known: the actuated are."""
    loops = loops_of(work)
    count = list_passive(loops, known)
    for j in range(len(loops.actuated)):
        for k in range(len(a) if not is_known(loops, known, j) else 0):
            a[k, j] = 0.0
    return completion.complete_accelerations(
        loops.workspace, loops.passive[:count], loops.ones, CLOSED_STATE, q, v, a)


@kernel
def is_known(loops, known, j):
    """Return whether a coordinate is known; without flags actuated ones are."""
    return known[j] != 0 if len(known) > 0 else loops.actuated[j] == ACTUATED


@kernel
def list_passive(loops, known):
    """List the coordinates that others decide; return the count. Rods spin where these say so."""
    count, n, decided = 0, len(loops.actuated), 0
    for j in range(n):
        decided += 1 if is_known(loops, known, j) else 0
    for j in range(n):
        held = loops.actuated[j] == SPINS and decided < n - loops.sizes[LOOP_RANK]
        if not (held or is_known(loops, known, j)):
            loops.passive[count] = j
            count += 1
    return count


@kernel
def find_motions(loops, known, spins, q, v, motions, rate):
    """Write N and N' (nv, nv) of known coordinates, and of spins of rods; return a code."""
    m, n = len(loops.ones), len(v)
    code = independent_motions(
        loops.workspace, loops.passive[:list_passive(loops, known)], loops.ones, CLOSED_STATE, q,
        v, loops.gradient.reshape((4, n))[:2], loops.slopes[:2 * m * n].reshape((2, m, n)),
        motions, rate)
    for j in range(n):
        if not (spins or is_known(loops, known, j)):
            motions[:, j], rate[:, j] = 0.0, 0.0
    return code


@kernel
def require_derivatives(work, inverse):
    """Return DONE where the last solution has derivatives."""
    loops = loops_of(work)
    if inverse:
        good = (task_of(loops.inverse).kind[0] != solver.LEAST_TORQUE_TASK
                or loops.answer[0] >= loops.sizes[LOOP_RANK])
    else:
        good = loops.answer[4] != STATUS_SINGULAR and loops.answer[4] != STATUS_INCONSISTENT
    return solver.DONE if good else BECAME_DEPENDENT


@kernel
def write_task_report(report, count, usual, inverse, found):
    """Write rank, inverse condition numbers and defect, and the status that they mean."""
    rank, condition, actuation = report[RANK], report[INVERSE_CONDITION], report[ACTUATION]
    found[0], found[1], found[2], found[3] = rank, condition, actuation, report[DEFECT]
    if report[DEFECT] > CONSISTENT:
        found[4] = STATUS_INCONSISTENT
    elif not inverse and rank < count and rank < usual:
        found[4] = STATUS_SINGULAR
    elif actuation < NEAR_SINGULAR or (
            count > 0 and (rank > 0 or inverse) and condition < NEAR_SINGULAR):
        found[4] = STATUS_NEARLY_SINGULAR
    else:
        found[4] = STATUS_REGULAR if rank == count else STATUS_REDUNDANT


NUMBER_MULTIPLIER, MODULUS, SEED_MULTIPLIER, SKIPPED = 16807, 2147483647, 48271, 4


@kernel
def next_number(x):
    """Return the next state of the generator."""
    return NUMBER_MULTIPLIER * x % MODULUS


@kernel
def write_random(machine, held, lower, upper, number, q):
    """
    Write a configuration as Model.random does, but for links with a coordinate that is held.

    held (nv,) is 1 there; lower and upper (nv,) are position limits.
    """
    x = 1 + SEED_MULTIPLIER * (number % MODULUS) % (MODULUS - 1)
    for _ in range(SKIPPED):
        x = next_number(x)
    for i in range(len(machine.kind)):
        kind, at, step = machine.kind[i], machine.qi[i], machine.vi[i]
        stays = False
        for k in range(NV_OF_KIND[kind]):
            stays = stays or held[step + k] != 0
        for k in range(0 if stays else NQ_OF_KIND[kind]):
            x = next_number(x)
            q[at + k] = 2.0 * x / MODULUS - 1.0
        if not stays and NV_OF_KIND[kind] == 1:
            q[at] = position_within(kind, lower[step], upper[step], q[at])
        elif not stays:
            x = write_rotation(q, at + NQ_OF_KIND[kind] - 4, x)
    return x


@kernel
def position_within(kind, lower, upper, share):
    """Return the position of a coordinate within its limits, for a share from -1 to 1."""
    reach = math.pi if TURNS_OF_KIND[kind] else 1.0
    low, high = lower, upper
    if low == -math.inf:
        low = min(-reach, high - reach)
    if high == math.inf:
        high = max(reach, low + reach)
    return low + 0.5 * (1.0 + share) * (high - low)


@kernel
def write_rotation(q, at, x):
    """Write a unit quaternion, uniform by rejection; return the state of the generator."""
    square = 2.0
    while not 1e-3 < square <= 1.0:
        square = 0.0
        for k in range(4):
            x = next_number(x)
            q[at + k] = 2.0 * x / MODULUS - 1.0
            square += q[at + k] * q[at + k]
    for k in range(4):
        q[at + k] /= square ** 0.5
    return x
