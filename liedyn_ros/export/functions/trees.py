# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Functions of the C library for trees: on pointers, each calls the kernel of Python.

constants are those of a model, work is a work area (work.py). Returns DONE, REFUSED for input
that the kernel does not accept, or k + 1 where coordinate k moves no inertia.
"""

from liedyn_ros.dynamics.algorithms.kernels import aba, centroidal, coriolis, crba, rnea
from liedyn_ros.dynamics.time_derivatives.kernels import series
from liedyn_ros.dynamics.time_derivatives.kernels.aba import hybrid_derivatives
from liedyn_ros.dynamics.time_derivatives.kernels.rnea import rnea_derivatives
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.export.kernels import partials
from liedyn_ros.export.kernels import work as area
from liedyn_ros.jit.pointers import as_flags, COUNT, cube, FLAGS, given, NUMBERS, table, vector
from liedyn_ros.jit.simd import get

DONE, REFUSED = aba.DONE, aba.REFUSED


def work_size(constants: NUMBERS, order: COUNT) -> COUNT:
    """Return the size of a work area for derivatives to an order, in numbers of eight bytes."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    return area.shared_at(model) + max(area.shared_size(model, order), partials.part_size(model))


def prepare(constants: NUMBERS, work: NUMBERS) -> COUNT:
    """Write the constants of all calls into a work area."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    data = table(work, area.data_rows(model), tables.DATA_WIDTH)
    data[:] = 0.0
    for axis in range(3):
        # An upward acceleration of the ground stands for gravity. (3.0)
        data[0, tables.ACCELERATION + 3 + axis] = -get(model, 0, tables.GRAVITY + axis)
        data[0, tables.ROTATION + 4 * axis] = data[0, tables.GROUND_POSE + 4 * axis] = 1.0
    vector(area.zero_rates(model, work), area.nv(model))[:] = 0.0
    return DONE


def inverse(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, a: NUMBERS,
            external: NUMBERS, tau: NUMBERS) -> COUNT:
    """Write tau (nv,); a NULL for a is zero."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies = area.nv(model), area.bodies(model)
    good = rnea.rnea(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        vector(v, nv), vector(area.or_zeros(model, work, a), nv),
        table(external, area.loaded(external, bodies), 6), vector(tau, nv))
    return DONE if good else REFUSED


def inverse_series(constants: NUMBERS, work: NUMBERS, order: COUNT, q: NUMBERS, v: NUMBERS,
                   a: NUMBERS, external: NUMBERS, tau: NUMBERS) -> COUNT:
    """Write tau and its time derivatives (order + 1, nv)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies, rows = area.nv(model), area.bodies(model), area.series_rows(model, order)
    good = rnea_derivatives(
        model, table(area.common(model, work), rows, series.WIDTH), vector(q, area.nq(model)),
        vector(v, nv), table(a, order + 1, nv),
        cube(external, area.loaded(external, order + 1), bodies, 6), table(tau, order + 1, nv))
    return DONE if good else REFUSED


def forward(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, tau: NUMBERS,
            external: NUMBERS, a: NUMBERS) -> COUNT:
    """Write a (nv,)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies = area.nv(model), area.bodies(model)
    return aba.forward(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        vector(v, nv), vector(tau, nv), table(external, area.loaded(external, bodies), 6),
        vector(a, nv))


def hybrid_series(constants: NUMBERS, work: NUMBERS, order: COUNT, q: NUMBERS, v: NUMBERS,
                  prescribed: FLAGS, a: NUMBERS, tau: NUMBERS, external: NUMBERS) -> COUNT:
    """Complete a and tau (order + 1, nv) in their place; a NULL prescribes nothing."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv, bodies, rows = area.nv(model), area.bodies(model), area.series_rows(model, order)
    flags = prescribed if given(prescribed) else as_flags(area.zero_rates(model, work))
    return hybrid_derivatives(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH),
        table(area.common(model, work), rows, series.WIDTH), vector(q, area.nq(model)),
        vector(v, nv), vector(flags, nv), table(a, order + 1, nv), table(tau, order + 1, nv),
        cube(external, area.loaded(external, order + 1), bodies, 6))


def mass_matrix(constants: NUMBERS, work: NUMBERS, q: NUMBERS, out: NUMBERS) -> COUNT:
    """Write M (nv, nv)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv = area.nv(model)
    good = crba.crba(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        table(out, nv, nv))
    return DONE if good else REFUSED


def gravity(constants: NUMBERS, work: NUMBERS, q: NUMBERS, out: NUMBERS) -> COUNT:
    """Write the joint forces (nv,) that hold the machine at rest."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    good = centroidal.gravity_forces(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH), vector(q, area.nq(model)),
        vector(out, area.nv(model)))
    return DONE if good else REFUSED


def coriolis_matrix(constants: NUMBERS, work: NUMBERS, q: NUMBERS, v: NUMBERS, out: NUMBERS
                    ) -> COUNT:
    """Write C (nv, nv)."""
    model = table(constants, 1, tables.MODEL_WIDTH)
    nv = area.nv(model)
    good = coriolis.coriolis_matrix(
        model, table(work, area.data_rows(model), tables.DATA_WIDTH),
        table(area.common(model, work), area.links(model), coriolis.BLOCKS),
        vector(q, area.nq(model)), vector(v, nv), table(out, nv, nv))
    return DONE if good else REFUSED
