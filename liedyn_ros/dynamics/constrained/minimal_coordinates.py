# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Closed loops in minimal coordinates: the equations of motion of independent coordinates (12.22).

M_i a_i + b_i = tau_i with M_i = N^T M N and b_i = N^T (M N' v_i + h). The rates of all
coordinates are v = N v_i. The forces of the loops do no work and drop out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, require_kind
from liedyn_ros.common.errors import ConvergenceError, ModelError
from liedyn_ros.dynamics.constrained.configurations.assembly import (
    assemble, LONGER, LONGEST, refuse_free)
from liedyn_ros.dynamics.constrained.configurations.kernels.closing import ITERATIONS
from liedyn_ros.dynamics.constrained.configurations.mobility import assemblies_near
from liedyn_ros.dynamics.constrained.constraints.rank import solve_passive
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_CONFIGURATION, RANK_TOLERANCE, STALLED_RESIDUAL)
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.constrained.statics import independent_coordinates


class Motions(NamedTuple):
    """
    The free motions N (nv, f) of independent coordinates, and their rate N' (nv, f).

    >>> MinimalCoordinates(linkage).motions_and_rate(closed, [0.0]).motions.shape
    (3, 1)
    """

    motions: Array
    rate: Array


class MinimalCoordinates:
    """
    The dynamics M_i a_i + b_i = tau_i of f independent coordinates of a machine with loops.

    by names joints or coordinates that decide the motion; by default actuated ones as far as they
    can, at an assembly. A state is a closed configuration q (nq,) of the whole machine, as
    `configuration` finds it, and the rates v (f,) of the independent coordinates. external are
    wrenches (B, 6) on bodies. All calls raise ModelError where these coordinates do not decide
    the motion, as at a dead centre, and the errors of ConstrainedDynamics.

    >>> small = MinimalCoordinates(linkage, by=['crank_joint'])
    >>> small.mass_matrix(closed).shape
    (1, 1)
    """

    def __init__(self, dynamics: ConstrainedDynamics, by: Sequence[str] | None = None) -> None:
        """Take a machine and its independent coordinates."""
        self.dynamics = require_kind(
            'dynamics', dynamics, ConstrainedDynamics, 'as load returns of a machine with loops')
        model = self.model = dynamics.model
        self._known = (min((
            independent_coordinates(dynamics, q, model.actuated) for q in assemblies_near(
                dynamics, assemble(dynamics))), key=np.count_nonzero)  # at no singular one
            if by is None else dynamics.names.mask('by', list(by)))
        self._known.setflags(write=False)
        names = np.array(model.coordinate_names, dtype=object)
        self.by: tuple[str, ...] = tuple(names[self._known].tolist())
        self.f = len(self.by)

    def __repr__(self) -> str:
        """Return the machine and the coordinates."""
        return f'<MinimalCoordinates {list(self.by)} of {self.model!r}>'

    def motions(self, q: ArrayLike) -> Array:
        """
        Return the rates of all coordinates per rate of each independent one.

        Args:
            q: closed configuration (nq,); rad and m.

        Returns:
            N (nv, f).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).motions(closed).shape
        (3, 1)
        """
        return self._motions(self.dynamics.jacobian(q))[0]

    def motions_and_rate(self, q: ArrayLike, v: ArrayLike) -> Motions:
        """
        Return the free motions and their time derivative (12.20).

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.

        Returns:
            N and N', both (nv, f).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).motions_and_rate(closed, [1.0]).rate.shape
        (3, 1)
        """
        q, v = self._state(q, v)
        found, inverse = self._motions(self.dynamics.jacobian(q))
        whole = found @ v
        rows = ConstraintRates(self.dynamics, q, np.vstack([whole, np.zeros_like(whole)])).rows
        rate = np.zeros_like(found)
        rate[~self._known] = -inverse @ (rows[1] @ found)
        return Motions(found, rate)

    def velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return the rates of all coordinates.

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.

        Returns:
            v (nv,).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).velocity(closed, [1.0]).shape
        (3,)
        """
        return np.asarray(self.motions(q) @ as_array('v', v, (self.f,)))

    def mass_matrix(self, q: ArrayLike) -> Array:
        """
        Return the mass matrix of the independent coordinates.

        Args:
            q: closed configuration (nq,); rad and m.

        Returns:
            M_i (f, f); kg m^2, kg m and kg.

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).mass_matrix(closed).shape
        (1, 1)
        """
        motions = self.motions(q)
        return np.asarray(motions.T @ self.dynamics.tree.mass_matrix(q) @ motions)

    def bias(self, q: ArrayLike, v: ArrayLike, external: ArrayLike | None = None) -> Array:
        """
        Return the forces of a motion without acceleration, dissipation included.

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            b_i (f,); N m and N.

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).bias(closed, [1.0]).shape
        (1,)
        """
        return self.inverse(q, v, np.zeros(self.f), external)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                external: ArrayLike | None = None) -> Array:
        """
        Return the forces of accelerations.

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.
            a: their accelerations (f,); rad/s^2 and m/s^2.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            tau_i (f,); N m and N.

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).inverse(closed, [1.0], [0.0]).shape
        (1,)
        """
        q, v = self._state(q, v)
        a = as_array('a', a, (self.f,))
        motions, rate = self.motions_and_rate(q, v)
        whole = self.dynamics.tree.inverse(q, motions @ v, motions @ a + rate @ v, external)
        return np.asarray(motions.T @ whole)

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                external: ArrayLike | None = None) -> Array:
        """
        Return the accelerations under forces.

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.
            tau: forces (f,) at them; N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            a_i (f,); rad/s^2 and m/s^2.

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> small = MinimalCoordinates(linkage)
        >>> bool(np.abs(small.forward(closed, [1.0], small.bias(closed, [1.0]))).max() < 1e-9)
        True
        """
        excess = as_array('tau', tau, (self.f,)) - self.bias(q, v, external)
        return np.asarray(np.linalg.solve(self.mass_matrix(q), excess))

    def efforts(self, q: ArrayLike, tau: ArrayLike, actuated: ArrayLike | None = None) -> Array:
        """
        Return joint forces of the actuators for forces at the independent coordinates.

        They have the least squares.

        Args:
            q: closed configuration (nq,); rad and m.
            tau: forces (f,) at the independent coordinates; N m and N.
            actuated: names of joints, or a mask (nv,); by default those of the model.

        Returns:
            tau (nv,), zero where no actuator is.

        Raises:
            ModelError: where these actuators cannot have them.

        >>> MinimalCoordinates(linkage).efforts(closed, [2.0]).round(9) + 0.0
        array([2., 0., 0.])
        """
        tau, motions = as_array('tau', tau, (self.f,)), self.motions(q)
        driven = (self.model.actuated if actuated is None
                  else self.dynamics.names.mask('actuated', actuated))
        return least_efforts(motions, driven, tau)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """
        Return the closed configuration after a displacement of the independent coordinates.

        Args:
            q: closed configuration (nq,); rad and m.
            dv: displacement (f,); rad and m.

        Returns:
            q (nq,).

        Raises:
            ConvergenceError: where the loops do not close there.
            ModelError: where the independent coordinates do not decide the motion.

        >>> (MinimalCoordinates(linkage).integrate(closed, [0.1]) - closed)[0].round(9).item()
        0.1
        """
        start = ended = self.model.check_configuration(q)
        wanted, before = as_array('dv', dv, (self.f,)), np.inf
        for k in range(ITERATIONS):
            f, rows = self.dynamics.residual_and_jacobian(ended)
            left = wanted - self.model.difference(start, ended)[self._known]
            size = max(self.dynamics.largest(f), float(np.abs(left).max(initial=0.0)))
            if size <= CLOSED_CONFIGURATION or 0.5 * before <= size <= STALLED_RESIDUAL:
                return ended
            motions, inverse = self._motions(rows)
            step, before = motions @ left, size
            step[~self._known] -= inverse @ f
            step /= max(1.0, np.abs(step).max(initial=0.0) / (LONGEST * LONGER**k))
            ended = self.model.integrate(ended, step)
        raise ConvergenceError(
            f'dv: expected a displacement of {list(self.by)} at which the loops close, got one '
            f'that leaves {size:.3g} open after {ITERATIONS} steps')

    def _state(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        return self.model.check_configuration(q), as_array('v', v, (self.f,))

    def _motions(self, rows: Array) -> tuple[Array, Array]:
        """Return N (nv, f), and the map (nv - f, m) by which the others follow rows."""
        passive = ~self._known
        inverse, free = solve_passive(rows, passive)
        if len(free):
            refuse_free(self.dynamics, passive, free)
        motions = np.zeros((self.model.nv, self.f))
        motions[self._known] = np.eye(self.f)
        motions[passive] = -inverse @ rows[:, self._known]
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
