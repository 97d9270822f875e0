# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Forward and hybrid dynamics, their time derivatives, order after order, and errors (7.42).

Order zero is the articulated-body algorithm of kernels/aba.py. Its articulated inertias, gains and
pivots serve every order (Lemma 2). An order costs its inverse dynamics without the unknown
accelerations, and one solution of the factored system (theory 7.7).
"""

from liedyn_ros.dynamics.algorithms.kernels import aba
from liedyn_ros.dynamics.time_derivatives.kernels import conversion, solution
from liedyn_ros.dynamics.time_derivatives.kernels.motion import (
    add_wrench_to_parent, store_efforts, store_motion_series, store_net_wrench, store_velocity)
from liedyn_ros.dynamics.time_derivatives.kernels.series import SERIES_TABLE_WIDTH
from liedyn_ros.dynamics.tree.kernels.tables import Link, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, NUMBER, TRUTHS, VECTOR, WHOLE
from liedyn_ros.jit.pointers import overlap, rows_of
from liedyn_ros.jit.simd import of_width
from liedyn_ros.model.kernels.configuration import finite


@kernel
def hybrid_derivatives(
        model: MATRIX, data: MATRIX, series: MATRIX, q: VECTOR, v: VECTOR, prescribed: TRUTHS,
        a: MATRIX, tau: MATRIX, external: CUBE) -> WHOLE:
    """
    Write the derivatives (r + 1, nv) of accelerations not prescribed and forces not given.

    external (r + 1, B, 6) may have no rows. Returns what kernels.aba.hybrid_derivatives returns.
    """
    series = of_width(series, SERIES_TABLE_WIDTH)
    if (a.shape != tau.shape or len(a) == 0 or not conversion.fits_orders(model, external, len(a))
            or overlap(a, tau) or overlap(a, q) or overlap(a, v) or overlap(a, external)):
        return aba.REFUSED
    for k in range(1, len(a)):
        if not aba.inputs_are_finite(model, prescribed, a[k], tau[k]):
            return aba.REFUSED
    loaded, size = len(external) > 0, len(a) + 1
    code = aba.articulated_body(model, data, q, v, prescribed, a[0], tau[0],
                                external[0] if loaded else rows_of(external, 0, 0, 6))
    if code != aba.DONE or len(a) == 1:
        return code
    conversion.store_external_series(model, series, external, 0, size)
    conversion.store_ground(model, series, size)
    links = Tree(model, 0).links
    for i in range(1, links):
        conversion.store_poses(model, series, i, q, 0, size)
        conversion.store_sine_cosine(model, series, i, q, 0, size)
        conversion.store_given(model, series, i, q, v, prescribed, a, tau, 0, size, 1)
        store_velocity(model, series, i, size)
    solve_orders(model, data, series, prescribed, size, 1, loaded)
    for i in range(1, links):
        conversion.load_sought(model, series, i, q, v, prescribed, a, tau, 0, size, 1)
    good = finite(a) and finite(tau)
    return aba.DONE if good else aba.REFUSED


@inlined
def solve_orders(model, data, series, prescribed, size, first, loaded):
    """Write rates and efforts of all orders from a first on, those before being known."""
    links = Tree(model, 0).links
    for k in range(size - 1):
        for i in range(1, links):
            store_motion_series(model, series, i, k, size)
            store_net_wrench(model, series, i, k, size, loaded)
        for i in range(links - 1, 0, -1):
            if k >= first:
                solution.eliminate_coefficient(
                    model, data, series, prescribed, i, k, size, True)
            if Link(model, i).parent > 0:
                add_wrench_to_parent(model, series, i, k, size)
        for i in range(1, links if k >= first else 0):
            solution.solve_link(model, data, series, prescribed, i, k, size, True)
            if solution.has_prescribed(model, prescribed, i):
                store_efforts(model, series, i, k, size)


ZERO_THRESHOLD = 1e-6  # of order zero, or of 1 in SI units: smaller numbers count as zero


@kernel
def compare(
        a: MATRIX, tau: MATRIX, other_a: MATRIX, other_tau: MATRIX, unit: NUMBER, weight: NUMBER,
        squares: VECTOR):
    """Add the squared difference of each order to squares; return the root of the largest sum."""
    largest, of_a, of_tau = 0.0, 1.0, 1.0
    for k in range(len(squares)):
        size_a, apart_a = _differ(a, other_a, 1.0, k)
        size_tau, apart_tau = _differ(tau, other_tau, unit, k)
        if k == 0:
            of_a, of_tau = max(1.0, size_a), max(1.0, size_tau)
        difference = max(apart_a / max(size_a, ZERO_THRESHOLD * of_a),
                         apart_tau / max(size_tau, ZERO_THRESHOLD * of_tau))
        squares[k] += weight * difference * difference
        largest = max(largest, squares[k])
    return largest**0.5


@inlined
def _differ(x, y, unit, k):
    """Return the largest |x| and the largest |x - y / unit| of order k."""
    largest = apart = 0.0
    for i in range(x.shape[1]):
        largest = max(largest, abs(x[k, i]))
        apart = max(apart, abs(x[k, i] - y[k, i] / unit))
    return largest, apart
