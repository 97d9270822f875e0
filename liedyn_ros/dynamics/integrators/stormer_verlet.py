# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A variational integrator of second order: the method of Stoermer and Verlet on Lie groups.

The discrete Lagrangian takes the kinetic energy of each link at the mean velocity of its centre of
mass and a constant angular velocity. Both lead from one pose to the next. The other forces act
half at either end (theory 3.4; after Lee, Liu, Park, Srinivasa 2016). A step is a symplectic map.
Without joint forces, momenta that symmetry conserves are kept to rounding, and the energy error
stays bounded. Use it for long simulations of free flight and of machines without dissipation. A
step does not depend on where the machine is, nor on a velocity that all bodies share.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.common.on_demand import weak_cache
from liedyn_ros.dynamics.algorithms.hybrid import Forward
from liedyn_ros.dynamics.algorithms.inverse import Inverse
from liedyn_ros.dynamics.batch.pool import BatchPool, LaneTables
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators.kernels.variational import (
    discrete_momenta, LinkStep, write_tangent)
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import refuse
from liedyn_ros.dynamics.tree.kernels.tables import Coordinate, State
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.lie import so3
from liedyn_ros.model import Model
from liedyn_ros.model.expansion import LinkTable

# Corrections of the velocity, relative to it, shrink until rounding stops them below this.
ROUNDED_CORRECTION = 1e-9
STEP_ITERATIONS = 100


def step(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
         external: ArrayLike | None = None) -> tuple[Array, Array]:
    """
    Return the configuration (nq,) and velocity (nv,) after a time dt (s), above zero.

    The joint forces tau (nv,) and the wrenches on bodies are held over the step; dissipation is
    that of the velocity it starts with. Raises the errors of Dynamics.forward, and
    ConvergenceError when the step is too long for the motion.
    """
    model, dt = dynamics.model, as_positive('dt', dt)
    q, v = model.check_configuration(q), as_array('v', v, (model.nv,))
    flow = Flow(dynamics, v, dt, tau, external)
    v, shared = _without_shared(model, v, flow.momentum(q, v))
    rate, momentum = flow.drift(q, v, flow.momentum(q, v) + flow.half_kick(q))
    q1 = flow.arrival(q, rate)
    v1 = flow.velocity(q1, momentum + flow.half_kick(q1))
    _add_shared(model, q, dt, rate, shared, q1, v1)
    return q1, v1


@weak_cache
def _without_springs(dynamics: Dynamics) -> Dynamics | None:
    """Return the dynamics without springs and stops, or None where there are none."""
    links = dynamics.model.link_table
    if not (links.stiffness.any() or links.stops.any()):
        return None
    inert = Dynamics(dynamics.model, dissipation=dynamics.dissipation)
    coordinates = inert.constants.table[inert.constants.links:inert.constants.rows]
    Coordinate.of(coordinates, 'stiffness')[:] = 0.0
    Coordinate.of(coordinates, 'stop')[:, 0] = 0.0
    return inert


@weak_cache
def _weightless(dynamics: Dynamics) -> Data:
    """Return data whose ground does not accelerate upwards: calls with it know no gravity."""
    data = Data(dynamics.constants)
    State.of(data.table[0], 'acceleration')[:] = 0.0
    return data


@weak_cache
def _unforced(dynamics: Dynamics) -> tuple[Inverse, Forward]:
    """Return inverse and forward dynamics without any force but those given."""
    inert, data = _without_springs(dynamics) or dynamics, _weightless(dynamics)
    lanes = BatchPool(partial(LaneTables, inert.constants))
    return (Inverse(inert.constants, data, lanes),
            Forward(inert.constants, data, lanes, inert.hybrid))


@weak_cache
def _momenta(dynamics: Dynamics) -> BoundKernel:
    """Return the kernel of discrete momenta; a call writes its tables before it reads them."""
    constants = dynamics.constants
    return BoundKernel(discrete_momenta, constants.table, _weightless(dynamics).table,
                       LinkStep.table(constants.links))


class Flow:
    """The parts of a step dt (s) under forces that are held: kicks, and a drift between them."""

    def __init__(self, dynamics: Dynamics, v: Array, dt: float, tau: ArrayLike,
                 external: ArrayLike | None) -> None:
        """Take the forces; dissipation is that of the velocity v (nv,)."""
        self._dynamics, self._dt, self._external = dynamics, dt, external
        self._rest, (self._inverse, self._forward) = np.zeros_like(v), _unforced(dynamics)
        self._applied = as_array('tau', tau, v.shape) - dynamics.resistance(v)

    def half_kick(self, q: Array) -> Array:
        """Return the impulse (nv,) of the forces over half a step."""
        weight = self._dynamics.bias(q, self._rest, self._external)
        return np.asarray(0.5 * self._dt * (self._applied - weight))

    def momentum(self, q: Array, v: Array) -> Array:
        """Return M v (nv,)."""
        return self._inverse(q, self._rest, v)

    def response(self, q: Array, momentum: Array) -> Array:
        """Return M^-1 of a momentum (nv,)."""
        return self._forward(q, self._rest, momentum)

    def velocity(self, q: Array, momentum: Array) -> Array:
        """Return M^-1 of a momentum (nv,), with what rounding leaves over."""
        v = self.response(q, momentum)
        return v + self.response(q, momentum - self.momentum(q, v))

    def arrival(self, q: Array, rate: Array) -> Array:
        """Return the configuration (nq,) after a step at a rate (nv,)."""
        tangent = np.empty_like(rate)
        write_tangent(self._dynamics.constants.table, rate, self._dt, tangent)
        return self._dynamics.model.integrate(q, tangent)

    def drift(self, q: Array, v: Array, momentum: Array, enough: float = 0.0
              ) -> tuple[Array, Array]:
        """
        Return the rate that leaves with a momentum, and the momentum on arrival; v is near.

        Corrections of the rate, relative to it, end below what is enough, or where rounding stops
        them. The momentum is right to rounding in the latter case alone.
        """
        momenta, dt, v = _momenta(self._dynamics), self._dt, v.copy()  # one type: writable
        start, end = np.empty_like(v), np.empty_like(v)
        before, scale = np.inf, 1.0 + _largest(v)
        for _ in range(STEP_ITERATIONS):
            if not momenta.call(q, v, dt, start, end):
                refuse(self._dynamics.model, '', q, v=v)
            left = momentum - start
            correction = self.response(q, left)
            size = _largest(correction) / scale
            if size == 0.0 or before <= size <= ROUNDED_CORRECTION:
                return v, end + left  # what rounding leaves over is not lost
            v, before = v + correction, size
            if size <= enough:
                return v, end
        raise ConvergenceError(f'step: expected {STEP_ITERATIONS} iterations to find the '
                               f'velocity, the '
                               f'last correction was {size:.3g}; take a shorter step than {dt} s')


def _largest(values: Array) -> float:
    """Return the largest magnitude, of a few numbers sooner than numpy does."""
    return max(map(abs, values.tolist()), default=0.0)


@weak_cache
def _carrier(links: LinkTable) -> tuple[int, int, float] | None:
    """Return the indices in q and v of the free joint that carries all links, and their mass."""
    mass = float(links.inertia[:, 0].sum())
    if mass > 0.0 and 0 in links.free and (links.parent[1:] >= 0).all():
        return int(links.qi[0]), int(links.vi[0]), mass
    return None


def _without_shared(model: Model, v: Array, momentum: Array) -> tuple[Array, Array]:
    """
    Return a velocity less that of the centre of mass, and the latter in the frame of the base.

    No step depends on it (3.16), but momenta that it makes large would leave the others no digits.
    """
    carrier = _carrier(model.link_table)
    shared: Array = np.zeros(3)
    if carrier is not None:
        _, vi, mass = carrier
        shared, v = momentum[vi + 3:vi + 6] / mass, v.copy()
        v[vi + 3:vi + 6] -= shared
    return v, shared


def _add_shared(model: Model, q0: Array, dt: float, rate: Array, shared: Array, q1: Array,
                v1: Array) -> None:
    """Add to the end of a step the velocity that was left out of it."""
    carrier = _carrier(model.link_table)
    if carrier is not None:
        qi, vi, _ = carrier
        q1[qi:qi + 3] += dt * (so3.from_quaternion(q0[qi + 3:qi + 7]) @ shared)
        # By the turn of the step, as momenta are: two rotations against the ground would round.
        v1[vi + 3:vi + 6] += so3.exp(dt * rate[vi:vi + 3]).T @ shared
