# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A whole step of runge_kutta_munthe_kaas, stage by stage as `advance`, with its bits."""

import math

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, forward, REFUSED
from liedyn_ros.dynamics.tree.kernels.kinematics import exponential_rate
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import INTEGER_ROWS, MATRIX, NUMBER, VECTOR, WHOLE
from liedyn_ros.model.kernels.configuration import finite, integrate


@kernel
def runge_kutta_step(
        model: MATRIX, data: MATRIX, links: INTEGER_ROWS, rates: MATRIX, x: VECTOR, q: VECTOR,
        v: VECTOR, dt: NUMBER, tau: VECTOR, external: MATRIX, q1: VECTOR, v1: VECTOR) -> WHOLE:
    """
    Write the state q1, v1 after dt (s), links being kind, qi and vi; return the code of forward.

    rates (8, nv) and x (nv,) are scratch: dx of the four stages, then dv.
    """
    if not 0.0 < dt < math.inf:
        return REFUSED
    code = forward(model, data, q, v, tau, external, rates[4])
    if code != DONE:
        return code
    for j in range(len(x)):
        rates[0, j] = v[j]
    for k in range(1, 4):
        step = dt if k == 3 else 0.5 * dt
        for j in range(len(x)):
            x[j] = step * rates[k - 1, j]
            v1[j] = v[j] + step * rates[k + 3, j]
        exponential_rate(model, x, v1, rates[k])  # dexp(-x)^-1 v (1.14)
        integrate(links[0], links[1], links[2], q, x, q1)
        code = forward(model, data, q1, v1, tau, external, rates[k + 4])
        if code != DONE:
            return code
    for j in range(len(x)):
        x[j] = dt / 6.0 * (rates[0, j] + 2.0 * (rates[1, j] + rates[2, j]) + rates[3, j])
        v1[j] = v[j] + dt / 6.0 * (
            rates[4, j] + 2.0 * (rates[5, j] + rates[6, j]) + rates[7, j])
    integrate(links[0], links[1], links[2], q, x, q1)
    return DONE if finite(q1) and finite(v1) else REFUSED
