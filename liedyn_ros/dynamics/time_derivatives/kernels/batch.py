# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The recursions (7.29 to 7.37, 7.40, 7.41) over many states, LANES of them side by side."""

from liedyn_ros.dynamics.algorithms.kernels import aba as order_zero
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.dynamics.time_derivatives.kernels import (
    aba, conversion, factorization, rnea, solution)
from liedyn_ros.dynamics.time_derivatives.kernels.motion import (
    add_wrench_to_parent, store_efforts, store_motion_series, store_net_wrench, store_velocity)
from liedyn_ros.dynamics.time_derivatives.kernels.series import SERIES_TABLE_WIDTH
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import Link, Tree
from liedyn_ros.jit.decorators import inlined, long_kernel
from liedyn_ros.jit.kinds import ARRAY4, CUBE, MATRIX, TRUTHS
from liedyn_ros.jit.simd import LANES, of_width
from liedyn_ros.model.kernels.configuration import finite


@long_kernel
def inverse_batch(
        model: MATRIX, series: CUBE, q: MATRIX, v: MATRIX, a: CUBE, external: ARRAY4, tau: CUBE):
    """Run rnea on each state; return the first that is refused. external may have none."""
    series = of_width(series, SERIES_TABLE_WIDTH)
    links, states = Tree(model, 0).links, len(q)
    size, loaded = a.shape[1] + 1, len(external) > 0
    for first in range(0, states, LANES):
        for lane in range(LANES):
            s = min(first + lane, states - 1)  # lanes left over do the last state again
            if not (joints.acceptable(model, q[s]) and finite(v[s])
                    and finite(a[s])):
                return s, REFUSED
            if loaded:
                if not conversion.fits_orders(model, external[s], a.shape[1]):
                    return s, REFUSED
                conversion.store_external_series(model, series, external[s], lane, size)
        conversion.store_ground(model, series, size)
        for i in range(1, links):
            conversion.store_poses(model, series, i, q, first, size)
            conversion.store_sine_cosine(model, series, i, q, first, size)
            conversion.store_rates(model, series, i, v, a, first, size)
            rnea.move_coefficient(model, series, i, size, loaded)
        for i in range(links - 1, 0, -1):
            rnea.balance_coefficient(model, series, i, size)
            conversion.load_efforts(model, series, i, q, v, tau, first, size)
        for s in range(first, min(first + LANES, states)):
            if not finite(tau[s]):
                return s, REFUSED
    return states, DONE


@long_kernel
def hybrid_batch(
        model: MATRIX, data: CUBE, series: CUBE, q: MATRIX, v: MATRIX, prescribed: TRUTHS, a: CUBE,
        tau: CUBE, external: ARRAY4):
    """Run hybrid on each state; return the first that is refused. external may have none."""
    series = of_width(series, SERIES_TABLE_WIDTH)
    links, states, size = Tree(model, 0).links, len(q), a.shape[1] + 1
    for first in range(0, states, LANES):
        s, code = accept_states(model, series, q, v, prescribed, a, tau, external, first, size)
        if code != DONE:
            return s, code
        for i in range(1, links):
            load_link(model, series, i, q, v, prescribed, a, tau, first, size)
        factorization.factor_articulated(model, data, series, prescribed, size)
        aba.solve_orders(model, data, series, prescribed, size, 0, len(external) > 0)
        for i in range(1, links):
            conversion.load_sought(model, series, i, q, v, prescribed, a, tau, first, size, 0)
        s, code = first_failure(model, data, prescribed, a, tau, first)
        if code != DONE:
            return s, code
    return states, DONE


@long_kernel
def hybrid_batch_order_zero(
        model: MATRIX, data: CUBE, series: CUBE, q: MATRIX, v: MATRIX, prescribed: TRUTHS, a: CUBE,
        tau: CUBE, external: ARRAY4):
    """Do as hybrid_batch at order zero alone, in a third of the time: three passes over links."""
    series = of_width(series, SERIES_TABLE_WIDTH)
    links, states, size, loaded = Tree(model, 0).links, len(q), 2, len(external) > 0
    for first in range(0, states, LANES):
        s, code = accept_states(model, series, q, v, prescribed, a, tau, external, first, size)
        if code != DONE:
            return s, code
        for i in range(1, links):
            load_link(model, series, i, q, v, prescribed, a, tau, first, size)
            store_motion_series(model, series, i, 0, size)
            store_net_wrench(model, series, i, 0, size, loaded)
            factorization.store_rigid_inertia(model, data, i)
        for i in range(links - 1, 0, -1):
            factorization.factor_link(model, data, series, prescribed, i, size)
            solution.eliminate_coefficient(model, data, series, prescribed, i, 0, size, False)
            if Link(model, i).parent > 0:
                add_wrench_to_parent(model, series, i, 0, size)
        for i in range(1, links):
            solution.solve_link(model, data, series, prescribed, i, 0, size, False)
            if solution.has_prescribed(model, prescribed, i):
                store_efforts(model, series, i, 0, size)
            conversion.load_sought(model, series, i, q, v, prescribed, a, tau, first, size, 0)
        s, code = first_failure(model, data, prescribed, a, tau, first)
        if code != DONE:
            return s, code
    return states, DONE


@inlined
def load_link(model, series, i, q, v, prescribed, a, tau, first, size):
    """Write the pose, the given coordinates and the velocity of a link, of states from first."""
    conversion.store_poses(model, series, i, q, first, size)
    conversion.store_sine_cosine(model, series, i, q, first, size)
    conversion.store_given(model, series, i, q, v, prescribed, a, tau, first, size, 0)
    store_velocity(model, series, i, size)


@inlined
def accept_states(model, series, q, v, prescribed, a, tau, external, first, size):
    """Check states from a first one on; write wrenches and the ground. Return as hybrid_batch."""
    states = len(q)
    for lane in range(LANES):
        s = min(first + lane, states - 1)
        if not (joints.acceptable(model, q[s]) and joints.is_velocity(model, v[s])):
            return s, REFUSED
        for k in range(a.shape[1]):
            if not order_zero.inputs_are_finite(model, prescribed, a[s, k], tau[s, k]):
                return s, REFUSED
        if len(external) > 0:
            if not conversion.fits_orders(model, external[s], a.shape[1]):
                return s, REFUSED
            conversion.store_external_series(model, series, external[s], lane, size)
    conversion.store_ground(model, series, size)
    return states, DONE


@inlined
def first_failure(model, data, prescribed, a, tau, first):
    """Return the first state, from one on, with a small pivot or a result that is not finite."""
    states = len(a)
    for lane in range(LANES):
        code = factorization.singular(model, data, prescribed, lane)
        if code != DONE:
            return min(first + lane, states - 1), code
    for s in range(first, min(first + LANES, states)):
        if not (finite(a[s]) and finite(tau[s])):
            return s, REFUSED
    return states, DONE
