# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of trees for the C library: functions on pointers, as in trees.py."""

from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    COLUMN_WIDTH, LINK_WIDTH)
from liedyn_ros.dynamics.partial_derivatives.kernels import (
    forward, forward_products, jacobians, products, second)
from liedyn_ros.dynamics.partial_derivatives.kernels.parameters import PRODUCT_WIDTH
from liedyn_ros.dynamics.partial_derivatives.kernels.second import VARIATION_WIDTH
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.export.kernels import work as area
from liedyn_ros.jit.pointers import after, as_wholes, COUNT, NUMBERS, table, vector


def inverse_jacobians(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, a: NUMBERS,
                      external: NUMBERS, by_q: NUMBERS, by_v: NUMBERS, by_a: NUMBERS) -> COUNT:
    """Write dtau/dq, dtau/dv and dtau/da (nv, nv)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies, common = area.nv(model), area.bodies(model), area.common(model, work)
    good = jacobians.inverse_jacobians(
        model, table(after(common, area.links_at(model)), area.links(model), LINK_WIDTH),
        table(after(common, area.columns_at(model)), nv, COLUMN_WIDTH),
        vector(q, area.nq(model)), vector(v, nv), vector(a, nv),
        table(external, area.loaded(external, bodies), 6), table(by_q, nv, nv),
        table(by_v, nv, nv), table(by_a, nv, nv),
        table(after(common, area.gravity_at(model)), nv, 3))
    return DONE if good else REFUSED


def inverse_product(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, a: NUMBERS,
                    external: NUMBERS, dq: NUMBERS, dv: NUMBERS, da: NUMBERS, out: NUMBERS
                    ) -> COUNT:
    """Write the change of tau (nv,) along dq, dv, da (nv,)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies = area.nv(model), area.bodies(model)
    changes = table(area.common(model, work), area.links(model), PRODUCT_WIDTH)
    for k in range(PRODUCT_WIDTH):
        changes[0, k] = 0.0  # the ground stands still
    good = products.inverse_product(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), changes,
        vector(q, area.nq(model)), vector(v, nv), vector(a, nv),
        table(external, area.loaded(external, bodies), 6), vector(dq, nv), vector(dv, nv),
        vector(da, nv), vector(out, nv))
    return DONE if good else REFUSED


def inverse_gradient(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, a: NUMBERS,
                     external: NUMBERS, y: NUMBERS, by_q: NUMBERS, by_v: NUMBERS, by_a: NUMBERS
                     ) -> COUNT:
    """Write the gradient of y . tau by q, v and a, each (nv,)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies = area.nv(model), area.bodies(model)
    good = products.inverse_product_transposed(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH),
        table(area.common(model, work), area.links(model), PRODUCT_WIDTH),
        vector(q, area.nq(model)), vector(v, nv), vector(a, nv),
        table(external, area.loaded(external, bodies), 6), vector(y, nv), vector(by_q, nv),
        vector(by_v, nv), vector(by_a, nv))
    return DONE if good else REFUSED


def inverse_gradient_product(
        constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, a: NUMBERS, external: NUMBERS,
        y: NUMBERS, dq: NUMBERS, dv: NUMBERS, da: NUMBERS, by_q: NUMBERS, by_v: NUMBERS,
        by_a: NUMBERS) -> COUNT:
    """Write the change of the gradient of y . tau along dq, dv, da."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies, common = area.nv(model), area.bodies(model), area.common(model, work)
    links = area.links(model)
    good = second.inverse_second(
        model, table(after(common, area.links_at(model)), links, LINK_WIDTH),
        table(after(common, area.columns_at(model)), nv, COLUMN_WIDTH),
        table(after(common, area.variations_at(model)), links, VARIATION_WIDTH),
        vector(q, area.nq(model)), vector(v, nv), vector(a, nv),
        table(external, area.loaded(external, bodies), 6), vector(y, nv), vector(dq, nv),
        vector(dv, nv), vector(da, nv), vector(by_q, nv), vector(by_v, nv), vector(by_a, nv))
    return DONE if good else REFUSED


def forward_jacobians(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, tau: NUMBERS,
                      external: NUMBERS, a: NUMBERS, by_q: NUMBERS, by_v: NUMBERS,
                      by_tau: NUMBERS) -> COUNT:
    """Write a (nv,), da/dq, da/dv and da/dtau (nv, nv)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies, common = area.nv(model), area.bodies(model), area.common(model, work)
    before = vector(as_wholes(after(common, area.before_at(model))), nv)
    area.write_before(model, before)
    return forward.forward_jacobians(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH),
        table(after(common, area.links_at(model)), area.links(model), LINK_WIDTH),
        table(after(common, area.columns_at(model)), nv, COLUMN_WIDTH), before,
        table(after(common, area.factors_at(model)), nv, area.factors_width(nv)),
        table(after(common, area.sides_at(model)), nv, area.sides_width(nv)),
        vector(q, area.nq(model)), vector(v, nv), vector(tau, nv),
        table(external, area.loaded(external, bodies), 6), vector(a, nv), table(by_q, nv, nv),
        table(by_v, nv, nv), table(by_tau, nv, nv),
        table(after(common, area.gravity_at(model)), nv, 3))


def forward_product(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, tau: NUMBERS,
                    external: NUMBERS, dq: NUMBERS, dv: NUMBERS, dtau: NUMBERS, a: NUMBERS,
                    out: NUMBERS) -> COUNT:
    """Write a and its change (nv,) along dq, dv, dtau (nv,)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies = area.nv(model), area.bodies(model)
    changes = table(area.common(model, work), area.links(model), PRODUCT_WIDTH)
    for k in range(PRODUCT_WIDTH):
        changes[0, k] = 0.0  # the ground stands still
    return forward_products.forward_product(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), changes,
        vector(q, area.nq(model)), vector(v, nv), vector(tau, nv),
        table(external, area.loaded(external, bodies), 6), vector(dq, nv), vector(dv, nv),
        vector(dtau, nv), vector(a, nv), vector(out, nv))


def forward_gradient(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, tau: NUMBERS,
                     external: NUMBERS, y: NUMBERS, a: NUMBERS, by_q: NUMBERS, by_v: NUMBERS,
                     by_tau: NUMBERS) -> COUNT:
    """Write a (nv,), and the gradient of y . a by q, v and tau, each (nv,)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies = area.nv(model), area.bodies(model)
    return forward_products.forward_product_transposed(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH),
        table(area.common(model, work), area.links(model), PRODUCT_WIDTH),
        vector(q, area.nq(model)), vector(v, nv), vector(tau, nv),
        table(external, area.loaded(external, bodies), 6), vector(y, nv), vector(a, nv),
        vector(by_q, nv), vector(by_v, nv), vector(by_tau, nv))
