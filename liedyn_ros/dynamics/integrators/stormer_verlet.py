# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
A variational integrator of second order: the method of Stoermer and Verlet on Lie groups.

The discrete Lagrangian of a step takes the kinetic energy of each link at the constant twist that
leads from one pose to the next, and the other forces half at either end (Lee, Liu, Park,
Srinivasa 2016). The map of a step is symplectic: without joint forces, momenta that symmetry
conserves are conserved to rounding, and the energy error stays bounded for as long as one likes.
For long simulations of free flight and of machines without dissipation.
"""

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.dynamics.data import Data
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.kernels.variational import discrete_momenta, STEP_WIDTH

# Corrections of the velocity, relative to it: below the first we are done, below the second as
# soon as they no longer shrink, which is rounding.
TOLERANCE = 1e-14
ROUNDING = 1e-9
ITERATIONS = 100


def step(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
         external: ArrayLike | None = None) -> tuple[Array, Array]:
    """
    Return the configuration (nq,) and velocity (nv,) after a time dt (s), above zero.

    The joint forces tau (nv,) and the wrenches on bodies are held over the step; dissipation is
    that of the velocity it starts with. Raises what Dynamics.forward raises, and ConvergenceError
    when the step is too long for the motion.
    """
    model, dt = dynamics.model, as_positive('dt', dt)
    q, v = model.check_configuration(q), as_array('v', v, (model.nv,))
    rest = np.zeros_like(v)
    applied = as_array('tau', tau, (model.nv,)) - dynamics.resistance(v)

    def half_kick(q: Array) -> Array:
        return 0.5 * dt * (applied - dynamics.bias(q, rest, external))

    weight = dynamics.gravity_vector(q)
    momentum = dynamics.inverse(q, rest, v) - weight  # M v
    q1, leaving = _drift(dynamics, q, v, dt, momentum + half_kick(q), weight)
    momentum = leaving + half_kick(q1)
    return q1, dynamics.forward(q1, rest, momentum + dynamics.gravity_vector(q1))


def _drift(dynamics: Dynamics, q: Array, v: Array, dt: float, momentum: Array,
           weight: Array) -> tuple[Array, Array]:
    """Return the configuration that a momentum leads to, and the momentum on arrival."""
    tables, rest = (dynamics.constants.table, Data(dynamics.constants).table), np.zeros_like(v)
    steps = np.zeros((dynamics.constants.links, STEP_WIDTH))
    start, end = np.empty_like(v), np.empty_like(v)
    before = np.inf
    for _ in range(ITERATIONS):
        q1 = dynamics.model.integrate(q, dt * v)
        discrete_momenta(*tables, steps, q, q1, dt, start, end)
        # M^-1 (momentum - start)
        correction = dynamics.forward(q, rest, momentum - start + weight)
        size = float(np.abs(correction).max() / (1.0 + np.abs(v).max()))
        if size <= TOLERANCE or before <= size <= ROUNDING:
            return q1, end
        v, before = v + correction, size
    raise ConvergenceError(f'step: expected {ITERATIONS} iterations to find the velocity, the '
                           f'last correction was {size:.3g}; take a shorter step than {dt} s')
