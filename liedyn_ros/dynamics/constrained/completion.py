# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Accelerations of all coordinates from those of some: kinematics alone, without masses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained.configurations.assembly import (
    complete_velocity, refuse_free)
from liedyn_ros.dynamics.constrained.constraints.exclusive import exclusive
from liedyn_ros.dynamics.constrained.constraints.rank import solve_passive
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import CLOSED_STATE
from liedyn_ros.dynamics.constrained.solver.inputs import Inputs
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.dynamics.constrained.solver.refusals import refuse_open
from liedyn_ros.dynamics.constrained.solver.tasks import hybrid_task
from liedyn_ros.dynamics.constrained.tracking.kernels import completion
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
