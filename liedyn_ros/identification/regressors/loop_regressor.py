# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The regressor of machines with closed loops: P^T tau = (P^T Y) pi, with A P = 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space, qr

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, ConstrainedDynamics, MinimalCoordinates)
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.identification.regressors.regressor import Regressor
from liedyn_ros.model import Model

LOOP_STARTS = 100  # random configurations from which assembly starts


class LoopRegressor:
    """
    The regressor of a model with closures and couplings, without the forces in its closures.

    The velocities of all coordinates follow from independent ones: v = P v_i. So P^T A^T lam = 0,
    and the forces P^T tau (f,) are linear in the parameters of the tree. Where joints besides the
    independent ones bear no force, P^T tau are the forces of these. independent (nv,) is their
    mask, by default that of the actuated ones.

    tree is the Regressor of the open tree, which also has the rows of energies and momentum;
    parameters, names and bodies are its own. Methods raise the errors of ConstrainedDynamics, and
    ModelError where the independent coordinates do not decide the motion or break a loop. Each
    object works in its own tables: use one per thread.

    >>> regressor = LoopRegressor(linkage.model)
    >>> regressor.torque(closed, rest, rest).shape == (1, len(regressor.names))
    True
    """

    def __init__(self, model: Model, *, independent: ArrayLike | None = None,
                 dissipation: bool = False, rotor_inertia: bool = False,
                 merged: bool = False) -> None:
        """
        Take the tree's parameters.

        Args:
            model: a Model with closures or couplings.
            independent: mask (nv,) of coordinates, actuated ones by default.
            dissipation: whether damping and friction are parameters.
            rotor_inertia: whether the inertias of motors are.
            merged: whether bodies fixed to each other count as one.
        """
        self.model = model
        self.tree = Regressor(model, dissipation=dissipation, rotor_inertia=rotor_inertia,
                              merged=merged)
        self.names, self.parameters = self.tree.names, self.tree.parameters
        self.bodies = self.tree.bodies
        self._dynamics = ConstrainedDynamics(model, dissipation=False)
        self._least = MinimalCoordinates(
            self._dynamics, model.leading if independent is None else independent)
        self.independent: NDArray[np.bool_] = self._least.known

    def motions(self, q: ArrayLike) -> Array:
        """
        Return the rates of all coordinates at unit rates of independent ones.

        Args:
            q: closed configuration (nq,); rad and m.

        Returns:
            P (nv, f).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> LoopRegressor(linkage.model).motions(closed).shape
        (3, 1)
        """
        return self._least.motions(q)

    def motions_batch(self, q: Array) -> Array:
        """
        Return the rates of all coordinates at unit rates of independent ones, of n states.

        Args:
            q: closed configurations (n, nq); rad and m.

        Returns:
            P (n, nv, f).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> LoopRegressor(linkage.model).motions_batch(np.array([closed, closed])).shape
        (2, 3, 1)
        """
        return np.array([self._least.motions(each) for each in q])

    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """
        Return the regressor of the forces at the independent coordinates.

        Args:
            q: closed configuration (nq,); rad and m.
            v: velocity (nv,) on the constraints; rad/s and m/s.
            a: acceleration (nv,) on the constraints; rad/s^2 and m/s^2.

        Returns:
            P^T Y (f, P).

        Raises:
            LiedynError: for a state that is not closed.

        >>> regressor = LoopRegressor(linkage.model)
        >>> regressor.torque(closed, rest, rest).shape == (1, len(regressor.names))
        True
        """
        self._dynamics.require_closed(q, v)
        return self.motions(q).T @ self.tree.torque(q, v, a)

    def project(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """
        Return the forces at the independent coordinates that joint forces are for the machine.

        Args:
            q: closed configuration (nq,); rad and m.
            tau: joint forces (nv,); N m and N.

        Returns:
            P^T tau (f,); N m and N.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> LoopRegressor(linkage.model).project(closed, rest)
        array([0.])
        """
        return self.motions(q).T @ as_array('tau', tau, (self.model.nv,))

    def random_rows(self, rng: np.random.Generator) -> Array:
        """
        Return rows of the regressor at a random motion, in some basis of the free motions.

        Args:
            rng: of numpy.

        Returns:
            (f, P).

        Raises:
            ConvergenceError: where no random configuration leads to an assembly.

        >>> LoopRegressor(linkage.model).random_rows(np.random.default_rng(1)).shape[0]
        1
        """
        q = self._random_assembly(rng)
        rows = self._dynamics.jacobian(q)
        basis, known = null_space(rows, rcond=RANK_TOLERANCE), np.ones(self.model.nv, dtype=bool)
        if len(rows):
            order = qr(rows, mode='r', pivoting=True)[1]
            known[order[:self.model.nv - basis.shape[1]]] = False
        v = basis @ rng.normal(size=basis.shape[1])
        a = complete_acceleration(self._dynamics, q, v, rng.normal(size=len(v)), known)
        return basis.T @ self.tree.torque(q, v, a)

    def _random_assembly(self, rng: np.random.Generator) -> Array:
        for _ in range(LOOP_STARTS - 1):
            try:
                return assemble(self._dynamics, self.model.random(rng), attempts=1)
            except ConvergenceError:
                continue  # few starts of some machines lead to an assembly
        return assemble(self._dynamics, attempts=LOOP_STARTS)
