# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Momentum and its rate, and external joint forces from them (12.67)."""

from liedyn_ros.dynamics.algorithms.kernels import coriolis, crba, rnea
from liedyn_ros.jit.decorators import kernel
from liedyn_ros.jit.kinds import MATRIX, NUMBER, TRUTH, VECTOR
from liedyn_ros.model.kernels.acceptance import finite


@kernel
def momentum_and_drift(
        model: MATRIX, data: MATRIX, blocks: MATRIX, q: VECTOR, v: VECTOR, still: VECTOR,
        external: MATRIX, mass: MATRIX, matrix: MATRIX, momentum: VECTOR, drift: VECTOR) -> TRUTH:
    """
    Write M, C, p = M v (nv,) and what p changes by beside joint forces, M' v - h (nv,).

    still (nv,) are zeros, external (B, 6) wrenches that are known, and blocks the scratch buffer
    of the Coriolis matrix. Returns whether all is good.
    """
    if not (crba.crba(model, data, q, mass)
            and coriolis.coriolis_matrix(model, data, blocks, q, v, matrix)
            and rnea.rnea(model, data, q, v, still, external, drift)):
        return False
    for i in range(len(v)):
        total, rate = 0.0, 0.0
        for j in range(len(v)):
            total += mass[i, j] * v[j]
            rate += (matrix[i, j] + matrix[j, i]) * v[j]
        momentum[i], drift[i] = total, rate - drift[i]
    return finite(momentum) and finite(drift)


@kernel
def observe_external(
        momentum: VECTOR, drift: VECTOR, push: VECTOR, gain: NUMBER, dt: NUMBER,
        state: MATRIX, estimate: VECTOR):
    """
    Write estimates (f,) of external forces, from a time dt (s) after the sample before.

    push (f,) is twice the mean of the joint forces since then, state (2, f) the integral and the
    drift of that sample; dt 0 begins it. The step is implicit: stable for any gain (1/s).
    """
    for i in range(len(momentum)):
        if dt > 0.0:
            state[0, i] += 0.5 * dt * (drift[i] + state[1, i] + push[i])
            estimate[i] = gain * (momentum[i] - state[0, i]) / (1.0 + gain * dt)
            state[0, i] += dt * estimate[i]
        else:
            state[0, i], estimate[i] = momentum[i], 0.0
        state[1, i] = drift[i]


@kernel
def observe_motions(
        momentum: VECTOR, drift: VECTOR, motions: MATRIX, rate: MATRIX, tau: VECTOR, gain: NUMBER,
        dt: NUMBER, before: MATRIX, reduced: MATRIX, state: MATRIX, estimate: VECTOR):
    """
    Write estimates (f,) as observe_external does, at coordinates with the free motions N (n, f).

    momentum, drift and tau are of all n coordinates, tau since the sample before; rate is N'.
    before (n, f) is N of that sample, and then of this one; reduced (3, f) is a scratch buffer.
    """
    for j in range(len(estimate)):
        total, slope, push = 0.0, 0.0, 0.0
        for i in range(len(momentum)):
            total += motions[i, j] * momentum[i]
            slope += motions[i, j] * drift[i] + rate[i, j] * momentum[i]
            push += (motions[i, j] + before[i, j]) * tau[i]
            before[i, j] = motions[i, j]
        reduced[0, j], reduced[1, j], reduced[2, j] = total, slope, push
    observe_external(reduced[0], reduced[1], reduced[2], gain, dt, state, estimate)
