# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

# mypy: disable-error-code="valid-type"
"""Functions of the C library for partial derivatives of trees: those of liedyn.h, in its order."""

from liedyn_ros.dynamics.partial_derivatives.kernels import (
    forward_products, hybrid, jacobians, products, second)
from liedyn_ros.export.kernels import work as area
from liedyn_ros.export.kernels.interface import (
    BODY_WRENCHES, CODE, CONFIGURATION, MODEL, RATES, RESULT, SQUARE, WORK)
from liedyn_ros.export.kernels.work import code_of
from liedyn_ros.jit.pointers import after, as_wholes, part, pointer_of, vector


def inverse_jacobians(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, a: RATES, external: BODY_WRENCHES,
        by_q: RESULT[SQUARE], by_v: RESULT[SQUARE], by_a: RESULT[SQUARE]) -> CODE:
    """Write dtau/dq, dtau/dv and dtau/da = M (nv, nv)."""
    return code_of(jacobians.inverse_jacobians(
        model, part(work, *area.link_rows(model)), part(work, *area.column_rows(model)), q, v, a,
        external, by_q, by_v, by_a, part(work, *area.by_gravity(model))))


def inverse_product(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, a: RATES, external: BODY_WRENCHES,
        dq: RATES, dv: RATES, da: RATES, dtau: RESULT[RATES]) -> CODE:
    """Write the change of tau along dq, dv, da: a product with the Jacobians, without them."""
    changes = part(work, *area.changes(model))
    area.keep_ground(changes)
    return code_of(products.inverse_product(
        model, part(work, *area.data(model)), changes, q, v, a, external, dq, dv, da, dtau))


def inverse_gradient(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, a: RATES, external: BODY_WRENCHES,
        y: RATES, by_q: RESULT[RATES], by_v: RESULT[RATES], by_a: RESULT[RATES]) -> CODE:
    """Write the gradient of y . tau by q, v and a, each (nv)."""
    return code_of(products.inverse_product_transposed(
        model, part(work, *area.data(model)), part(work, *area.changes(model)), q, v, a, external,
        y, by_q, by_v, by_a))


def inverse_gradient_product(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, a: RATES, external: BODY_WRENCHES,
        y: RATES, dq: RATES, dv: RATES, da: RATES, by_q: RESULT[RATES], by_v: RESULT[RATES],
        by_a: RESULT[RATES]) -> CODE:
    """Write the change of that gradient along dq, dv, da: second derivatives times a vector."""
    return code_of(second.inverse_second(
        model, part(work, *area.link_rows(model)), part(work, *area.column_rows(model)),
        part(work, *area.variations(model)), q, v, a, external, y, dq, dv, da, by_q, by_v, by_a))


def forward_jacobians(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, tau: RATES, external: BODY_WRENCHES,
        a: RESULT[RATES], by_q: RESULT[SQUARE], by_v: RESULT[SQUARE],
        by_tau: RESULT[SQUARE]) -> CODE:
    """Write a (nv), da/dq, da/dv and da/dtau (nv, nv)."""
    at = after(pointer_of(work), area.shared_at(model) + area.before_at(model))
    before = vector(as_wholes(at), area.nv(model))
    area.write_before(model, before)
    return hybrid.forward_jacobians(
        model, part(work, *area.data(model)), part(work, *area.link_rows(model)),
        part(work, *area.column_rows(model)), before, part(work, *area.factor_rows(model)),
        part(work, *area.sides(model)), q, v, tau, external, a, by_q, by_v, by_tau,
        part(work, *area.by_gravity(model)))


def forward_product(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, tau: RATES, external: BODY_WRENCHES,
        dq: RATES, dv: RATES, dtau: RATES, a: RESULT[RATES], da: RESULT[RATES]) -> CODE:
    """Write a (nv), and its change along dq, dv, dtau."""
    changes = part(work, *area.changes(model))
    area.keep_ground(changes)
    return forward_products.forward_product(
        model, part(work, *area.data(model)), changes, q, v, tau, external, dq, dv, dtau, a, da)


def forward_gradient(
        model: MODEL, work: WORK, q: CONFIGURATION, v: RATES, tau: RATES, external: BODY_WRENCHES,
        y: RATES, a: RESULT[RATES], by_q: RESULT[RATES], by_v: RESULT[RATES],
        by_tau: RESULT[RATES]) -> CODE:
    """Write a (nv), and the gradient of y . a by q, v and tau, each (nv)."""
    return forward_products.forward_product_transposed(
        model, part(work, *area.data(model)), part(work, *area.changes(model)), q, v, tau,
        external, y, a, by_q, by_v, by_tau)
