# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Steps of simulation that stay on the constraints: Runge-Kutta-Munthe-Kaas, then projection.

A step of fourth order leaves the constraints by its own error. Projection to the nearest state on
them, first position, then velocity, keeps the order (12.36).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.configurations.assembly import project
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.integrators.runge_kutta_munthe_kaas import advance


def step(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, dt: float, tau: ArrayLike,
         external: ArrayLike | None = None) -> tuple[Array, Array]:
    """
    Return the configuration (nq,) and velocity (nv,) after a time dt (s), above zero.

    The joint forces tau (nv,) and the wrenches on bodies are held over the step, as by a
    controller. Raises LiedynError for a state off the constraints, where `project` leads, and what
    ConstrainedDynamics.forward and project raise.
    """
    dynamics.require_closed(q, v)

    def accelerate(q: Array, v: Array) -> Array:
        return dynamics.forward(q, v, tau, external=external, closed=False).a

    return project(dynamics, *advance(dynamics.tree, accelerate, q, v, dt))
