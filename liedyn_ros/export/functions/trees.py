# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# mypy: disable-error-code="valid-type,index"
"""
Functions of the C library for the dynamics of trees: those of liedyn.h, in its order.

Each body calls the kernel of Python. It returns DONE, REFUSED for input that the kernel does not
accept, UNSATISFIABLE where rows and bounds allow no velocity, or k + 1 where coordinate k moves no
inertia.
"""

from liedyn_ros.dynamics.algorithms.kernels import aba, centroidal, coriolis, crba, rnea
from liedyn_ros.dynamics.constrained.configurations.kernels import velocity
from liedyn_ros.dynamics.constrained.kernels import task_mobility
from liedyn_ros.dynamics.constrained.tracking.kernels.completion import UNSATISFIABLE
from liedyn_ros.dynamics.time_derivatives.kernels.aba import hybrid_derivatives as complete
from liedyn_ros.dynamics.time_derivatives.kernels.rnea import rnea_derivatives
from liedyn_ros.export.kernels import work as area
from liedyn_ros.export.kernels.interface import (
    BODY_WRENCHES, CODE, COMPLETED, CONFIGURATION, FLAG_OF_EACH, HELD_NUMBER, MODEL, OBSERVED,
    OF_TASKS, ONE_ORDER, ORDER_NUMBER, ORDERS, RATES, RATES_OR_ZERO, RESULT, SCRATCH_MATRIX,
    SETTINGS, SIZE_NUMBER, SQUARE, SQUARE_OF_TASKS, TASK_ROWS, TASKS_NUMBER, WORK, WRENCH_ORDERS,
    WRENCHES_OF_ONE_ORDER)
from liedyn_ros.export.kernels.work import code_of
from liedyn_ros.jit.pointers import after, as_flags, or_part, part, pointer_of, vector
from liedyn_ros.model.kernels.configuration import finite


def inverse(model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, a: RATES_OR_ZERO,
            external: BODY_WRENCHES, tau: RESULT[RATES]) -> CODE:
    """Write tau (nv) of q, v, a."""
    return code_of(rnea.rnea(
        model, part(work, *area.data(model)), q, v, or_part(a, work, *area.zero_rates(model)),
        external, tau))


def bias(model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, external: BODY_WRENCHES,
         tau: RESULT[RATES]) -> CODE:
    """Write b(q, v) (nv): the joint forces of a motion without acceleration."""
    still = vector(after(pointer_of(work), area.zeros_at(model)), len(v))
    return code_of(rnea.rnea(model, part(work, *area.data(model)), q, v, still, external, tau))


def gravity(model: MODEL, work: WORK, q: CONFIGURATION, tau: RESULT[RATES]) -> CODE:
    """Write the joint forces (nv) that hold the machine at rest."""
    return code_of(centroidal.gravity_forces(model, part(work, *area.data(model)), q, tau))


def forward(model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, tau: RATES,
            external: BODY_WRENCHES, a: RESULT[RATES]) -> CODE:
    """Write a (nv) of q, v, tau."""
    return aba.forward(model, part(work, *area.data(model)), q, v, tau, external, a)


def hybrid(model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, prescribed: FLAG_OF_EACH,
           a: COMPLETED[ONE_ORDER, True], tau: COMPLETED[ONE_ORDER, False],
           external: WRENCHES_OF_ONE_ORDER) -> CODE:
    """
    Complete a and tau (nv) in their place: a is given where prescribed (nv) is 1, tau where 0.

    Entries that are not given are not read.
    """
    return complete(model, part(work, *area.data(model)), part(work, *area.series(model, 0)), q, v,
                    prescribed, a, tau, external)


def inverse_derivatives(
        model: MODEL, work: WORK, order: ORDER_NUMBER, q: CONFIGURATION, v: RATES, a: ORDERS,
        external: WRENCH_ORDERS, tau: RESULT[ORDERS]) -> CODE:
    """Write tau and its time derivatives (order + 1, nv) of a and its own (order + 1, nv)."""
    return code_of(rnea_derivatives(
        model, part(work, *area.series(model, order)), q, v, a, external, tau))


def forward_derivatives(
        model: MODEL, work: WORK, order: ORDER_NUMBER, q: CONFIGURATION, v: RATES, tau: ORDERS,
        external: WRENCH_ORDERS, a: RESULT[ORDERS]) -> CODE:
    """Write a and its time derivatives (order + 1, nv) of tau and its own (order + 1, nv)."""
    none = vector(as_flags(after(pointer_of(work), area.zeros_at(model))), len(v))
    return complete(model, part(work, *area.data(model)), part(work, *area.series(model, order)),
                    q, v, none, a, tau, external)


def hybrid_derivatives(
        model: MODEL, work: WORK, order: ORDER_NUMBER, q: CONFIGURATION, v: RATES,
        prescribed: FLAG_OF_EACH, a: COMPLETED[ORDERS, True], tau: COMPLETED[ORDERS, False],
        external: WRENCH_ORDERS) -> CODE:
    """Complete a and tau (order + 1, nv) as hybrid does. Digits fall with the order."""
    return complete(model, part(work, *area.data(model)), part(work, *area.series(model, order)),
                    q, v, prescribed, a, tau, external)


def mass_matrix(model: MODEL, work: WORK, q: CONFIGURATION, mass: RESULT[SQUARE]) -> CODE:
    """Write M (nv, nv)."""
    return code_of(crba.crba(model, part(work, *area.data(model)), q, mass))


def coriolis_matrix(model: MODEL, work: WORK, q: CONFIGURATION, v: RATES,
                    matrix: RESULT[SQUARE]) -> CODE:
    """
    Write C (nv, nv): C v is bias less gravity, without dissipation.

    dM/dt - 2 C is skew-symmetric.
    """
    return code_of(coriolis.coriolis_matrix(
        model, part(work, *area.data(model)), part(work, *area.blocks(model)), q, v, matrix))


def observe_external(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, tau: RATES, external: BODY_WRENCHES,
        settings: SETTINGS, state: COMPLETED[OBSERVED, True], mass: RESULT[SQUARE],
        matrix: RESULT[SQUARE], estimate: RESULT[RATES]) -> CODE:
    """
    Estimate the external joint forces (nv) at a sample, from the momentum; M and C beside it.

    tau (nv) are the joint forces since the sample before, external known wrenches. settings are
    the gain, 1/s, and the time since the sample before, s: 0 begins, and estimates zero. state
    (2, nv) is the observer's own, of finite numbers before it begins.
    """
    part_of = part(work, *area.jacobian(model))  # which the Coriolis matrix needs no more
    still = vector(after(pointer_of(work), area.zeros_at(model)), len(v))
    good = settings[0] > 0.0 and settings[1] >= 0.0 and centroidal.momentum_and_drift(
        model, part(work, *area.data(model)), part(work, *area.blocks(model)), q, v, still,
        external, mass, matrix, part_of[0], part_of[1])
    if not good:
        return aba.REFUSED
    for i in range(len(v)):
        part_of[2, i] = 2.0 * tau[i]
    centroidal.observe_external(
        part_of[0], part_of[1], part_of[2], settings[0], settings[1], state, estimate)
    return code_of(finite(estimate))


def task_space(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, tau: RATES, external: BODY_WRENCHES,
        tasks: TASKS_NUMBER, jacobian: TASK_ROWS, a: RESULT[RATES], response: RESULT[TASK_ROWS],
        mobility: RESULT[SQUARE_OF_TASKS], inertia: RESULT[SQUARE_OF_TASKS],
        directions: RESULT[SQUARE_OF_TASKS], sizes: RESULT[OF_TASKS]) -> CODE:
    """
    Write a (nv) of tau, and the inertia (tasks, tasks) of tasks in operational space.

    jacobian J (tasks, nv) has rows of frames' Jacobians, of as many frames as there are. Forces at
    the tasks add mobility = J M^-1 J^T (tasks, tasks) times themselves to J a, and to a the
    transposed response (tasks, nv) times themselves. inertia is the inverse on the directions that
    can move: rows of directions whose sizes (tasks) are not zero, units taken out.
    """
    code = task_mobility.tree_mobility(
        model, part(work, *area.data(model)), q, v, tau, external, jacobian, a, response, mobility)
    if code == aba.DONE:
        task_mobility.invert_on_range(mobility, directions, sizes, inertia)
    return code


def velocity_within(
        model: MODEL, work: WORK, tasks: TASKS_NUMBER, held: HELD_NUMBER, jacobian: TASK_ROWS,
        wanted: OF_TASKS, damping: RATES, lower: RATES, upper: RATES, back: RATES_OR_ZERO,
        size: SIZE_NUMBER, scratch: RESULT[SCRATCH_MATRIX], v: RESULT[RATES]) -> CODE:
    """
    Write the v (nv) within bounds with which jacobian (tasks, nv) v is nearest to wanted (tasks).

    That is differential inverse kinematics. The first `held` rows hold. Of what the others miss
    the squares are least, with damping (nv), above 0, times those of v. Of velocities as good, the
    nearest to back (nv) is taken, such as one to a rest posture; NULL: none. Bounds (nv) may be
    infinite. scratch is (size, size), size tasks + 6 nv + 13 at least. loops_velocity_within is
    for closed loops.
    """
    if not (finite(jacobian) and finite(wanted) and finite(damping) and finite(back)):
        return aba.REFUSED
    none = wanted[:0]
    return aba.DONE if velocity.continue_leading(
        none, 0, none, none, 1.0, 0.0, jacobian, wanted, held, damping, lower, upper, back, none,
        none, jacobian[:0], scratch, v) == velocity.FOUND else UNSATISFIABLE
