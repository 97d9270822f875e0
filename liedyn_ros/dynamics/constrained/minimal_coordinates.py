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
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_kind
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained.configurations.assembly import (
    assemble, corrections, refuse_free)
from liedyn_ros.dynamics.constrained.configurations.mobility import assemblies_near
from liedyn_ros.dynamics.constrained.constraints.rank import solve_passive
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.constrained.statics import independent_coordinates


class Motions(NamedTuple):
    """The free motions N (nv, f) of independent coordinates, and their rate N' (nv, f)."""

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
        """Return N (nv, f): the rates of all coordinates per rate of each independent one."""
        return self._motions(self.dynamics.jacobian(q))[0]

    def motions_and_rate(self, q: ArrayLike, v: ArrayLike) -> Motions:
        """Return N and its time derivative at a state, both (nv, f) (12.20)."""
        q, v = self._state(q, v)
        found, inverse = self._motions(self.dynamics.jacobian(q))
        whole = found @ v
        rows = ConstraintRates(self.dynamics, q, np.vstack([whole, np.zeros_like(whole)])).rows
        rate = np.zeros_like(found)
        rate[~self._known] = -inverse @ (rows[1] @ found)
        return Motions(found, rate)

    def velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the rates (nv,) of all coordinates."""
        return np.asarray(self.motions(q) @ as_array('v', v, (self.f,)))

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M_i (f, f)."""
        motions = self.motions(q)
        return np.asarray(motions.T @ self.dynamics.tree.mass_matrix(q) @ motions)

    def bias(self, q: ArrayLike, v: ArrayLike, external: ArrayLike | None = None) -> Array:
        """Return b_i (f,): the forces of a motion without acceleration, dissipation included."""
        return self.inverse(q, v, np.zeros(self.f), external)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                external: ArrayLike | None = None) -> Array:
        """Return the forces tau_i (f,) of accelerations (f,)."""
        q, v = self._state(q, v)
        a = as_array('a', a, (self.f,))
        motions, rate = self.motions_and_rate(q, v)
        whole = self.dynamics.tree.inverse(q, motions @ v, motions @ a + rate @ v, external)
        return np.asarray(motions.T @ whole)

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                external: ArrayLike | None = None) -> Array:
        """Return the accelerations (f,) under forces tau_i (f,)."""
        excess = as_array('tau', tau, (self.f,)) - self.bias(q, v, external)
        return np.asarray(np.linalg.solve(self.mass_matrix(q), excess))

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Return the kinetic energy, J."""
        return self.dynamics.tree.kinetic_energy(q, self.velocity(q, v))

    def reduced(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Return the forces tau_i (f,) that joint forces tau (nv,) are for the machine."""
        return np.asarray(self.motions(q).T @ as_array('tau', tau, (self.model.nv,)))

    def efforts(self, q: ArrayLike, tau: ArrayLike, actuated: ArrayLike | None = None) -> Array:
        """
        Return joint forces (nv,) of the actuators for forces tau_i (f,), of least squares.

        actuated names joints or is a mask, by default that of the model. Raises ModelError where
        these actuators cannot have them.
        """
        tau, motions = as_array('tau', tau, (self.f,)), self.motions(q)
        driven = (self.model.actuated if actuated is None
                  else self.dynamics.names.mask('actuated', actuated))
        found = np.linalg.lstsq(motions[driven].T, tau, rcond=RANK_TOLERANCE)[0]
        left = float(np.abs(motions[driven].T @ found - tau).max(initial=0.0))
        if left > 1e-8 * (1.0 + np.abs(tau).max(initial=0.0)):
            raise ModelError('actuated: expected actuators that decide the motion, got ones that '
                             f'leave {left:.3g} N m or N', got=left)
        result = np.zeros(self.model.nv)
        result[driven] = found
        return result

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Return the closed configuration (nq,) after a displacement (f,) of the coordinates."""
        start = self.model.check_configuration(q)
        step = self.motions(start) @ as_array('dv', dv, (self.f,))
        ended = self.model.integrate(start, step)
        for _ in range(3):
            for each in corrections(self.dynamics, ended):
                ended = each.ended
            # What closing has moved the independent ones by is taken back along the motions.
            left = (step - self.model.difference(start, ended))[self._known]
            if np.abs(left).max(initial=0.0) < 1e-12:
                break
            ended = self.model.integrate(ended, self.motions(ended) @ left)
        return ended

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
