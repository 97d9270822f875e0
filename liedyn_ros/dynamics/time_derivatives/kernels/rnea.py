# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse dynamics and its time derivatives: Newton and Euler on series (theory 7.6)."""

from liedyn_ros.dynamics.time_derivatives.kernels import conversion
from liedyn_ros.dynamics.time_derivatives.kernels.motion import (
    add_wrench_to_parent, store_efforts, store_motion_series, store_net_wrench, store_velocity)
from liedyn_ros.dynamics.time_derivatives.kernels.series import Series, SERIES_TABLE_WIDTH
from liedyn_ros.dynamics.tree.kernels import joints
from liedyn_ros.dynamics.tree.kernels.tables import Link, Tree
from liedyn_ros.jit.decorators import inlined, kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, TRUTH, VECTOR
from liedyn_ros.jit.pointers import overlap
from liedyn_ros.jit.simd import of_width
from liedyn_ros.model.kernels.configuration import finite


@kernel
def rnea_derivatives(
        model: MATRIX, series: MATRIX, q: VECTOR, v: VECTOR, a: MATRIX, external: CUBE,
        tau: MATRIX) -> TRUTH:
    """
    Write the derivatives tau (r + 1, nv) of joint forces; those of v are a (r + 1, nv).

    external (r + 1, B, 6) may have no rows. Returns whether the input is acceptable, the forces
    are finite, and tau has its own memory.
    """
    series = of_width(series, SERIES_TABLE_WIDTH)
    tree = Tree(model, 0)
    if (a.shape != tau.shape or a.shape[1] != tree.nv
        or not (joints.acceptable(model, q) and joints.is_velocity(model, v) and finite(a)
                and conversion.fits_orders(model, external, len(a)))):
        return False
    if overlap(tau, q) or overlap(tau, v) or overlap(tau, a) or overlap(tau, external):
        return False
    size = len(a) + 1
    conversion.store_external_series(model, series, external, 0, size)
    conversion.store_ground(model, series, size)
    links, loaded = tree.links, len(external) > 0
    joints.store_angles(model, Series, series, q, size)
    for i in range(1, links):
        conversion.store_poses(model, series, i, q, 0, size)
        conversion.store_rates(model, series, i, v, a, 0, size)
        move_coefficient(model, series, i, size, loaded)
    for i in range(links - 1, 0, -1):
        balance_coefficient(model, series, i, size)
        conversion.load_efforts(model, series, i, q, v, tau, 0, size)
    return finite(tau)


@inlined
def move_coefficient(model, series, i, size, loaded):
    """Write motion and net wrench of link i, pose and rates of its joint being known."""
    store_velocity(model, series, i, size)
    for k in range(size - 1):
        store_motion_series(model, series, i, k, size)
        store_net_wrench(model, series, i, k, size, loaded)


@inlined
def balance_coefficient(model, series, i, size):
    """Write the forces of the joint of link i and add its wrench to the parent's."""
    for k in range(size - 1):
        store_efforts(model, series, i, k, size)
    if Link(model, i).parent > 0:
        for k in range(size - 1):
            add_wrench_to_parent(model, series, i, k, size)
