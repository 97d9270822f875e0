# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Jacobians and gradients of one state over many, one after the other: (13.10) to (13.23)."""

from liedyn_ros.dynamics.algorithms.kernels import aba
from liedyn_ros.dynamics.partial_derivatives.kernels import (
    forward_products, hybrid, jacobians, products)
from liedyn_ros.jit.decorators import long_kernel
from liedyn_ros.jit.kinds import CUBE, INTEGERS, MATRIX


@long_kernel
def inverse_jacobians_of_states(
        model: MATRIX, links: MATRIX, columns: MATRIX, q: MATRIX, v: MATRIX, a: MATRIX,
        external: CUBE, by_q: CUBE, by_v: CUBE, by_a: CUBE, by_gravity: CUBE):
    """Write Jacobians (K, nv, nv) and (K, nv, 3); return the first state refused, and its code."""
    for s in range(len(q)):
        if not jacobians.inverse_jacobians(
                model, links, columns, q[s], v[s], a[s], external[s], by_q[s], by_v[s], by_a[s],
                by_gravity[s]):
            return s, aba.REFUSED
    return len(q), aba.DONE


@long_kernel
def inverse_gradients_of_states(
        model: MATRIX, data: MATRIX, table: MATRIX, q: MATRIX, v: MATRIX, a: MATRIX,
        external: CUBE, y: MATRIX, by_q: MATRIX, by_v: MATRIX, by_a: MATRIX):
    """Write gradients (K, nv); return the first state refused, and its code."""
    for s in range(len(q)):
        if not products.inverse_product_transposed(
                model, data, table, q[s], v[s], a[s], external[s], y[s], by_q[s], by_v[s],
                by_a[s]):
            return s, aba.REFUSED
    return len(q), aba.DONE


@long_kernel
def forward_jacobians_of_states(
        model: MATRIX, data: MATRIX, links: MATRIX, columns: MATRIX, before: INTEGERS,
        factors: MATRIX, sides: MATRIX, q: MATRIX, v: MATRIX, tau: MATRIX, external: CUBE,
        a: MATRIX, by_q: CUBE, by_v: CUBE, by_tau: CUBE, by_gravity: CUBE):
    """Write a (K, nv) and Jacobians; return the first state to fail, and its code."""
    for s in range(len(q)):
        code = hybrid.forward_jacobians(
            model, data, links, columns, before, factors, sides, q[s], v[s], tau[s], external[s],
            a[s], by_q[s], by_v[s], by_tau[s], by_gravity[s])
        if code != aba.DONE:
            return s, code
    return len(q), aba.DONE


@long_kernel
def forward_gradients_of_states(
        model: MATRIX, data: MATRIX, table: MATRIX, q: MATRIX, v: MATRIX, tau: MATRIX,
        external: CUBE, y: MATRIX, a: MATRIX, by_q: MATRIX, by_v: MATRIX, by_tau: MATRIX):
    """Write a and gradients (K, nv); return the first state to fail, and its code."""
    for s in range(len(q)):
        code = forward_products.forward_product_transposed(
            model, data, table, q[s], v[s], tau[s], external[s], y[s], a[s], by_q[s], by_v[s],
            by_tau[s])
        if code != aba.DONE:
            return s, code
    return len(q), aba.DONE
