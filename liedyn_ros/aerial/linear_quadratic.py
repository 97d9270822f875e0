# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A linear-quadratic regulator along a trajectory, from linear models of its steps."""

import math

import numpy as np

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import ShapeError
from liedyn_ros.control import Gains, ReferenceMotion
from liedyn_ros.dynamics.linearization.trees import LinearModel
from liedyn_ros.model import Model

STEP_COUNT_ERROR = 1e-9  # of a step, by which a quotient of times may miss a whole number


class LinearQuadraticFeedback:
    """
    Forces that track a trajectory at the least cost, by time-varying gains with an integral.

    The cost is the integral of q_i |s|^2 + q_p |eta|^2 + q_v |dv|^2 + |M^-1 dtau|^2 over time. eta
    is the displacement from the reference, s its integral, dv the change of the velocity. Forces
    are weighted by the accelerations that they cause. The weights come from the poles p of Gains:
    q_i = p^6, q_p = 3 p^4, q_v = 3 p^2. Small errors then follow (s + p)^3 where gravity does not
    couple them.
    """

    def __init__(self, model: Model, models: LinearModel, dt: float, gains: Gains = Gains()
                 ) -> None:
        """
        Solve the Riccati equation backwards along the trajectory.

        models are discrete, A (K, 2 nv, 2 nv) and B (K, 2 nv, nv), one for each step of dt (s).
        model is that of an AerialManipulator. After the last step its gains are kept. Raises
        ShapeError, NotFiniteError, LimitError, and numpy's LinAlgError where no gains stabilise
        the last model.
        """
        self._model, self._dt, size = model, as_positive('dt', dt), model.nv
        if size < 6:
            raise ShapeError(f'model: expected a free base, 6 velocities or more, got {size}')
        joints = [gains.joints] * (size - 6)
        self._pole = np.array([gains.rotation] * 3 + [gains.position] * 3 + joints)
        self._limit = gains.integral_limit / self._pole**3
        a = as_array('A', models.A, (-1, 2 * size, 2 * size))
        if not len(a):
            raise ShapeError('A: expected a model of one step or more, got none')
        b = as_array('B', models.B, (len(a), 2 * size, size))
        self.gains = self._solve(a, b)
        self.reset()

    def reset(self) -> None:
        """Forget the integral."""
        self._integral: Array = np.zeros(self._model.nv)

    def forces(self, reference: ReferenceMotion, q: Array, v: Array, t: float, dt: float
               ) -> Array:
        """
        Return the correction (nv,) of the reference's forces, dt (s) after the last call.

        t (s) is the time since the start of the trajectory, at which the reference is.
        """
        eta, k = self._model.difference(reference.q, q), self._step(t)
        self._integral = np.clip(self._integral + dt * eta, -self._limit, self._limit)
        x = np.concatenate((self._integral, eta, v - reference.v))
        return -self.gains[k] @ x

    def _step(self, t: float) -> int:
        """Return the step that a time (s) lies in: the one that begins there at its multiples."""
        return min(max(math.floor(t / self._dt + STEP_COUNT_ERROR), 0), len(self.gains) - 1)

    def _solve(self, a: Array, b: Array) -> Array:
        """Return the gains (K, nv, 3 nv) on (s, eta, dv)."""
        from scipy.linalg import solve_discrete_are  # which takes long, and no node needs it
        dt, size = self._dt, self._model.nv
        p = self._pole
        states = dt * np.diag(np.concatenate((p**6, 3.0 * p**4, 3.0 * p**2)))
        full_a = np.zeros((len(a), 3 * size, 3 * size))
        full_b = np.zeros((len(a), 3 * size, size))
        full_a[:, :size, :size] = np.eye(size)  # s' = s + dt eta
        full_a[:, :size, size:2 * size] = dt * np.eye(size)
        full_a[:, size:, size:], full_b[:, size:] = a, b
        mobility = b[:, size:] / dt  # M^-1, of the step
        forces = dt * np.swapaxes(mobility, 1, 2) @ mobility
        cost = solve_discrete_are(full_a[-1], full_b[-1], states, forces[-1])
        gains = np.empty((len(a), size, 3 * size))
        for k in range(len(a) - 1, -1, -1):
            pushed = full_b[k].T @ cost
            gains[k] = np.linalg.solve(forces[k] + pushed @ full_b[k], pushed @ full_a[k])
            cost = states + full_a[k].T @ cost @ (full_a[k] - full_b[k] @ gains[k])
            cost = 0.5 * (cost + cost.T)
        return gains
