# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How the equations of machines with closed loops vary along a motion, at every order (13.34).

The equations are r = ID - A^T lam - tau and c = A a + A' v, both zero.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_numbers
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.partial_derivatives.inverse import InverseJacobians
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import InverseRateJacobians


class EquationMotion(NamedTuple):
    """A motion from q: rates are v, a, a', ... (r + 2, nv), multipliers (r + 1, m)."""

    q: Array
    rates: Array
    multipliers: Array
    external: Array | None


class VariedEquations:
    """
    The partial derivatives of the equations at a motion, by q, v, a, a', ...

    Arrays have axes (r + 1, r + 3) first: entry [k, j] is that of order k by the j-th of these.
    """

    def __init__(self, constraints: Constraints, motion: EquationMotion) -> None:
        """Write the series of the constraints; the multipliers stay."""
        self._constraints, self._motion = constraints, motion
        self._rates = ConstraintRates(constraints, motion.q, motion.rates)
        self.jacobian = self._rates.rows  # A, A', ... (r + 2, m, nv)

    def forces(self, below: int = 0) -> Array:
        """Return partials of ID - A^T lam, (r + 1, r + 3, nv, nv), with further rows of zero."""
        q, (v, *a), multipliers, external = self._motion
        derivatives, n = self._constraints.tree.inverse.partial_derivatives, len(v)
        result = np.zeros((len(a), len(a) + 2, n + below, n))
        tree: InverseJacobians | InverseRateJacobians
        if len(a) == 1:  # the kernel of order zero is quicker
            tree = derivatives(q, v, a[0], None if external is None else external[0])
        else:
            tree = derivatives.time_derivatives(q, v, a, external)
        result[:, 0, :n], result[:, 1, :n], result[:, 2:, :n] = tree.by_q, tree.by_v, tree.by_a
        self._rates.add_partials(self._rates.vary_forces(multipliers), 0, 0, -1.0, 0, result)
        return result

    def kkt_partials(self) -> Array:
        """Return partials of ID - A^T lam, then of A a + A' v, (r + 1, r + 3, nv + m, nv)."""
        rates, n = self._motion.rates, self._motion.rates.shape[1]
        result = self.forces(self.jacobian.shape[1])
        self._rates.add_partials(self._rates.vary_rows(rates), 0, 1, 1.0, n, result)
        self._rates.add_partials(self.jacobian, 1, 1, 1.0, n, result)
        return result

    def velocity_by_q(self) -> Array:
        """Return D_q(A v) (m, nv)."""
        return self._rates.vary_rows(self._motion.rates[:1])[0]

    def reactions(self, potentials: Array) -> Array:
        """Return partials of A mu, (r + 1, r + 3, m, nv); mu (r + 1, nv) stays."""
        part = self._rates.vary_rows(potentials)
        result = np.zeros((len(part), len(part) + 2, *part.shape[1:]))
        self._rates.add_partials(part, 0, 0, 1.0, 0, result)
        return result


def refuse_rank(solver: Solver, rank: int) -> NoReturn:
    """Raise SingularError for a configuration in which too few constraints are independent."""
    raise SingularError(f'q: expected a configuration in which {solver.mobility.rank} '
                        f'constraints are independent, got {rank}')


def one_order(constraints: Constraints, external: ArrayLike | None) -> Array | None:
    """Return wrenches (B, 6) as series of order zero (1, B, 6), if there are any."""
    if external is None:
        return None
    return as_array('external', external, (len(constraints.model.bodies), 6))[None]


def numbers_of(external: ArrayLike | None) -> Array | None:
    """Return wrenches as numbers, if there are any."""
    return None if external is None else as_numbers('external', external)


def by_parameters(by_forces: Array, forces: Array) -> Array:
    """
    Return by_forces (x, nv) times forces (nv, ...).

    With orders, (r + 1, r + 1, x, nv) and (r + 1, nv, ...), it is (r + 1, x, ...).
    """
    product = np.tensordot(
        by_forces, forces, 1 if by_forces.ndim == 2 else ([1, 3], [0, 1]))
    return np.asarray(product, dtype=np.float64)
