# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The classical Runge-Kutta method on Lie groups (Munthe-Kaas 1998): explicit, fourth order.

For simulation with controls, contacts and friction: no equation is solved. Energy and momentum
drift with the fifth power of the step per step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.on_demand import weak_cache
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators.kernels.runge_kutta import runge_kutta_step
from liedyn_ros.dynamics.tree.constants import NO_WRENCHES
from liedyn_ros.dynamics.tree.kernels.kinematics import exponential_rate
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model


def step(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
         external: ArrayLike | None = None) -> tuple[Array, Array]:
    """
    Return the configuration (nq,) and velocity (nv,) after a time dt (s), above zero.

    The joint forces tau (nv,) and the wrenches on bodies are held over the step, as by a
    controller. Raises the errors of Dynamics.forward.
    """
    q1, v1 = np.empty(dynamics.model.nq), np.empty(dynamics.model.nv)
    if _whole_step(dynamics).attempt(
            q, v, dt, tau, NO_WRENCHES if external is None else external, q1, v1) == DONE:
        return q1, v1
    # Arguments of other types, and those that it refuses: the errors are those of the stages.
    return advance(dynamics, lambda q, v: dynamics.forward(q, v, tau, external), q, v, dt)


@weak_cache
def _whole_step(dynamics: Dynamics) -> BoundKernel:
    """Return the kernel of a step; a call writes its tables before it reads them."""
    links, nv = dynamics.model.link_table, dynamics.model.nv
    return BoundKernel(
        runge_kutta_step, dynamics.constants.table, dynamics.data.table,
        np.array((links.kind, links.qi, links.vi), np.int64), np.empty((8, nv)), np.empty(nv))


def advance(tree: Dynamics, accelerate: Callable[[Array, Array], Array], q: ArrayLike,
            v: ArrayLike, dt: float) -> tuple[Array, Array]:
    """Return q (nq,) and v (nv,) after the stages of a step, of accelerations of q and v."""
    model, table, dt = tree.model, tree.constants.table, as_positive('dt', dt)
    q, v = model.check_configuration(q), as_array('v', v, (model.nv,))

    def rates(x: Array, velocity: Array) -> tuple[Array, Array]:
        dx = np.empty(model.nv)
        exponential_rate(table, x, velocity, dx)
        return dx, accelerate(model.integrate(q, x), velocity)

    dx1, dv1 = v, accelerate(q, v)
    dx2, dv2 = rates(0.5 * dt * dx1, v + 0.5 * dt * dv1)
    dx3, dv3 = rates(0.5 * dt * dx2, v + 0.5 * dt * dv2)
    dx4, dv4 = rates(dt * dx3, v + dt * dv3)
    return (model.integrate(q, dt / 6.0 * (dx1 + 2.0 * (dx2 + dx3) + dx4)),
            v + dt / 6.0 * (dv1 + 2.0 * (dv2 + dv3) + dv4))


def chart_rate(model: Model, x: Array, v: Array) -> Array:
    """Return the rate of exponential coordinates x (nv,) at a velocity: J_r(x)^-1 v (1.14)."""
    result = v.copy()
    for group, place in model.link_table.groups:
        result[place] = group.right_jacobian_inverse(x[place]) @ v[place]
    return result
