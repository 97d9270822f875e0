# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motions, rates and forces of independent coordinates (12.22), and all motions from some."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, require_kind
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained.configurations.assembly import (
    assemble, complete_velocity, refuse_free)
from liedyn_ros.dynamics.constrained.configurations.mobility import assemblies_near
from liedyn_ros.dynamics.constrained.constraints.rank import independent_coordinates, solve_passive
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.constraints.tables import exclusive
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_STATE, OFF_LOOP, RANK_TOLERANCE)
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.independent_motions import (
    independent_motions, reduce_mass, SMALLEST_ROW)
from liedyn_ros.dynamics.constrained.solver.inputs import hybrid_task, Inputs
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.dynamics.constrained.solver.kernels.solver import DONE
from liedyn_ros.dynamics.constrained.solver.refusals import refuse_open
from liedyn_ros.dynamics.constrained.tracking.kernels import completion
from liedyn_ros.dynamics.partial_derivatives.hybrid import ForwardJacobians
from liedyn_ros.dynamics.tree.inputs import refuse
from liedyn_ros.jit.bound_kernel import BoundKernel


def complete_acceleration(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                          known: ArrayLike | None = None) -> Array:
    """
    Return accelerations whose known coordinates stay and whose others follow (12.33).

    Masses play no part.

    Args:
        dynamics: a ConstrainedDynamics.
        q: closed configuration (nq,); rad and m.
        v: velocity (nv,) on the constraints; rad/s and m/s.
        a: accelerations (nv,), or with time derivatives (order + 1, nv).
        known: names, or a mask (nv,), of the known coordinates; by default the actuated ones.

    Returns:
        the same shape.

    Raises:
        ModelError: naming coordinates that the known ones do not decide.
        LiedynError: for a state that is not closed.

    >>> complete_acceleration(linkage, closed, rest, [1.0, 0.0, 0.0])[0].item()
    1.0
    """
    given = dynamics.model.leading if known is None else dynamics.names.mask('known', known)
    complete_velocity(dynamics, q, v, given)
    state = Inputs(dynamics).one(hybrid_task(~given), q, v, a, None, None)
    given = given | idle_spins(dynamics, given)
    found = Completion(dynamics).complete('a', state.q, state.v, state.a, given)
    return found[0] if state.single else found


class Completion:
    """Completes accelerations, by the tables of a machine."""

    def __init__(self, dynamics: ConstrainedDynamics) -> None:
        """Take a machine."""
        self._dynamics, self._ones, self.lock = dynamics, np.ones(dynamics.m), dynamics.lock
        self._bind()

    def _bind(self) -> None:
        """Bind the kernel to the tables, which are new if they had to grow."""
        self._workspace = self._dynamics.data.workspace
        self._kernel = BoundKernel(completion.complete_accelerations, self._workspace)

    @exclusive
    def complete(self, name: str, q: Array, v: Array, a: Array, known: NDArray[np.bool_]
                 ) -> Array:
        """
        Return a (order + 1, nv) with the others in place; the known ones are read.

        All is checked before. Raises LiedynError for a state that is not closed, and ModelError
        with the name of the accelerations where they break a loop.
        """
        dynamics = self._dynamics
        dynamics.reserve(len(a) - 1)
        if self._workspace is not dynamics.data.workspace:
            self._bind()
        a, orders, opened = a.copy(), [len(a)], 0.0
        if dynamics.functions:  # these are Python's: their rows follow from the order below
            orders = list(range(1, len(a) + 1))
            opened = np.abs(dynamics.write_functions(q, v)).max()
        passive, code = np.flatnonzero(~known), solver.OFF_CONSTRAINTS
        for rows in orders if opened <= CLOSED_STATE else ():
            if len(a) > 1 and dynamics.functions:
                dynamics.write_function_series(q, np.vstack((v, a[:rows - 1])))
            code = int(self._kernel.call(passive, self._ones, CLOSED_STATE, q, v, a[:rows]))
            if code != solver.DONE:
                break
        if code != solver.DONE:
            self._refuse(name, code, q, v, a, passive)
        return a

    def _refuse(self, name: str, code: int, q: Array, v: Array, a: Array,
                passive: NDArray[np.int64]) -> None:
        """Raise the error for a code of the kernel."""
        dynamics = self._dynamics
        if code == solver.OFF_CONSTRAINTS:
            refuse_open(dynamics, q, v, '')
        if code == solver.MOTION_UNDETERMINED:
            follows = np.zeros(dynamics.model.nv, dtype=np.bool_)
            follows[passive] = True
            refuse_free(dynamics, follows, solve_passive(dynamics.jacobian(q), follows)[1])
        if code == completion.UNSATISFIABLE:
            raise ModelError(f'{name}: expected known accelerations that the loops allow, '
                             'got others')
        refuse(dynamics.model, '', q, v=v, a=a)


class IndependentCoordinates:
    """
    Coordinates that decide the motion of a machine with loops, `by` name.

    By masks (nv,): known, spins of rods that are held, and what follows.

    >>> MinimalCoordinates(linkage).known
    array([ True, False, False])
    """

    def __init__(self, dynamics: ConstrainedDynamics, by: ArrayLike | None) -> None:
        """Take the arguments of MinimalCoordinates."""
        self.dynamics = require_kind(
            'dynamics', dynamics, ConstrainedDynamics, 'as load returns of a machine with loops')
        whole, known = dynamics.model, None if by is None else dynamics.names.mask('by', by)
        spins = idle_spins(dynamics, known)
        if known is None:  # of all assemblies, as one may be singular
            known = ~spins & min((independent_coordinates(
                dynamics, q, whole.leading | spins) for q in assemblies_near(
                    dynamics, assemble(dynamics))), key=np.count_nonzero)
        self.known: NDArray[np.bool_] = known
        self.known.setflags(write=False)
        # Rods do not spin, but where `by` decides that.
        decides = np.count_nonzero(known) >= dynamics.mobility.degrees_of_freedom
        self.held: NDArray[np.bool_] = spins & ~known & np.bool_(not decides)
        self.follows: NDArray[np.bool_] = ~(self.known | self.held)
        names = np.array(whole.coordinate_names, dtype=object)
        self.by: tuple[str, ...] = tuple(names[self.known].tolist())


def spread(least: IndependentCoordinates, given: ArrayLike) -> Array:
    """Return numbers (..., f) of independent coordinates as those (..., nv) of all, others 0."""
    numbers = np.asarray(given, dtype=np.float64)
    found: Array = np.zeros((*numbers.shape[:-1], len(least.known)))
    found[..., least.known] = numbers
    return found


def all_motions(least: IndependentCoordinates, q: ArrayLike, v: Array) -> tuple[Array, Array]:
    """Return N and N' (nv, nv) at rates v (nv,) of all, with columns of zeros for the others."""
    dynamics, known, n = least.dynamics, least.known, len(least.known)
    follows = least.follows
    at, motions, rate = dynamics.model.check_configuration(q), np.empty((n, n)), np.empty((n, n))
    if not dynamics.functions:  # which are Python's
        with dynamics.lock.inner:
            if independent_motions(
                    dynamics.data.workspace, np.flatnonzero(follows), np.ones(dynamics.m),
                    CLOSED_STATE, at, v, np.empty((2, n)), np.empty((2, dynamics.m, n)), motions,
                    rate) == DONE:
                motions[:, least.held] = rate[:, least.held] = 0.0
                return motions, rate
    dynamics.require_closed_state(at, v)
    motions[:], rate[:], rows = 0.0, 0.0, dynamics.jacobian(at)
    motions[:, known], inverse = follow(least, rows)
    if v.any():
        change = ConstraintRates(dynamics, at, np.vstack([v, np.zeros_like(v)])).rows[1]
        rate[follows] = -inverse @ (change @ motions)
    size, left = (np.linalg.norm(each[:, known], axis=0) for each in (rows, rows @ motions))
    if (left > np.maximum(OFF_LOOP * size, SMALLEST_ROW)).any():
        free = n - int(np.linalg.matrix_rank(dynamics.jacobian(at), RANK_TOLERANCE))
        why = 'which break a loop' if len(least.by) <= free else (
            f'{len(least.by)} coordinates for {free} degree{"s" * (free != 1)} of freedom')
        raise ModelError(f'known: expected coordinates that decide the motion, got {least.by}, '
                         f'{why}', names=['known'], expected=free, got=least.by)
    return motions, rate


def whole_rates(least: IndependentCoordinates, q: Array, v: Array, a: ArrayLike
                ) -> tuple[Array, Array]:
    """Return v (K, nv) and a (K, ..., nv) of all coordinates, by those of independent ones."""
    rest = np.zeros(len(least.known))
    rates = np.array([all_motions(least, at, rest)[0] @ x
                      for at, x in zip(q, spread(least, v), strict=True)])
    return rates, np.array([complete_acceleration(least.dynamics, *each, least.known)
                            for each in zip(q, rates, spread(least, a), strict=True)])


def all_accelerations(least: IndependentCoordinates, q: ArrayLike, v: Array, tau: Array,
                      external: ArrayLike | None) -> ForwardJacobians:
    """Return the accelerations of all coordinates and their Jacobians, of rods held too."""
    dynamics = least.dynamics
    if not least.held.any():
        found = dynamics.forward.partial_derivatives(q, v, tau, external)
        return ForwardJacobians(found.a, found.by_q, found.by_v, found.by_tau, found.by_gravity)
    at = dynamics.hybrid.partial_derivatives(q, v, least.held, np.zeros_like(tau), tau, external)
    weight = dynamics.tree.inverse.partial_derivatives(q, 0.0 * v, 0.0 * v).by_gravity
    return ForwardJacobians(
        at.a, at.a_by_q, at.a_by_v, at.a_by_given, np.asarray(at.by_parameters(weight)[0]))


def directions(least: IndependentCoordinates, q: ArrayLike, v: ArrayLike) -> Array:
    """
    Return displacements and changes of rate of all coordinates per those of independent ones.

    They are (2 nv, 2 f), rows [N, 0] and [d(N v)/dq, N] (13.49a), v (f,) being the rates.
    """
    f, n = len(least.by), len(least.known)
    rates, found = as_array('v', v, (f,)), np.zeros((2 * n, 2 * f))
    motions = all_motions(least, q, np.zeros(n))[0][:, least.known]
    found[:n, :f] = found[n:, f:] = motions
    for column in range(f):  # N'[N y] v
        found[n:, column] = all_motions(least, q, motions[:, column])[1][:, least.known] @ rates
    return found


def reduced_mass(least: IndependentCoordinates, q: ArrayLike, motions: Array) -> Array:
    """Return N^T M N (nv, nv) of motions as all_motions has them."""
    tree, mass = least.dynamics.tree, np.empty_like(motions)
    at = tree.model.check_configuration(q)
    if not reduce_mass(tree.constants.table, tree.data.table, at, motions,
                       np.empty_like(motions), np.empty_like(motions), mass):
        as_array('mass', mass, mass.shape)
    return mass


def follow(least: IndependentCoordinates, rows: Array) -> tuple[Array, Array]:
    """Return N (nv, f) by rows A (m, nv), and the map (., m) by which others follow them."""
    known = least.known
    inverse, free = solve_passive(rows, least.follows)
    if len(free):
        refuse_free(least.dynamics, least.follows, free)
    motions = np.zeros((len(known), len(least.by)))
    motions[known] = np.eye(len(least.by))
    motions[least.follows] = -inverse @ rows[:, known]
    return motions, inverse


def least_efforts(motions: Array, driven: NDArray[np.bool_], need: Array) -> Array:
    """
    Return joint forces (nv,) of those driven that are forces need (f,) at free motions (nv, f).

    They have the least squares. Raises ModelError where these cannot have them.
    """
    result: Array = np.zeros(len(motions))
    result[driven] = np.linalg.lstsq(motions[driven].T, need, rcond=RANK_TOLERANCE)[0]
    left = float(np.abs(motions.T @ result - need).max(initial=0.0))
    if left > 1e-6 * (1.0 + np.abs(need).max(initial=0.0)):
        raise ModelError('actuated: expected actuators that decide the motion, got ones that '
                         f'leave {left:.3g} N m or N', expected=0.0, got=left)
    return result
