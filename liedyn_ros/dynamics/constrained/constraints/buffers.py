# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The scratch buffers of constrained dynamics; see kernels.tables."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.constraints.sparsity import padded
from liedyn_ros.dynamics.constrained.kernels.tables import (
    FREE_MOTIONS, MOTION, REPORT_WIDTH, SCRATCH)
from liedyn_ros.jit.simd import LANES
from liedyn_ros.linear_algebra.kernels.orthogonal import QR
from liedyn_ros.model.link_table import Indices


class Sizes(NamedTuple):
    """Counts that decide the sizes of the scratch buffers; groups as in _scratch."""

    links: int
    heavy: int
    nv: int
    m: int
    depth: int
    closures: int
    rows: int
    frames: int
    coordinate_groups: tuple[int, ...]
    row_groups: tuple[int, ...]


@lru_cache(maxsize=8)
def buffers(sizes: Sizes, k: int) -> dict[str, Array]:
    """
    Return the scratch buffers of series of k coefficients: to be copied, not written to.

    Machines of equal sizes have the same, such as the second tables of a machine and those of a
    model with other numbers.
    """
    nv, m, depth = sizes.nv, sizes.m, sizes.depth
    coordinates, rows = (np.array(each, dtype=np.int64)
                         for each in (sizes.coordinate_groups, sizes.row_groups))
    return {'motion': _motion(sizes, k),
            'by_row': _scratch(nv, m, depth, rows, coordinates, rows),
            'by_column': _scratch(nv, m, depth, coordinates, rows, rows),
            'space': _space(nv, k, coordinates)}


def _motion(sizes: Sizes, k: int) -> Array:
    """Return the scratch buffers of the series of a state, of k coefficients."""
    n, nv, m = sizes.links, sizes.nv, sizes.m
    return MOTION.pack(
        pose=np.zeros((n + 2, padded(12))), reference=np.zeros(3),
        rate=np.zeros((k, padded(nv))),
        effort=np.zeros((k, nv)), screw=_cube(k, 6, nv), screw_row=_rows(nv),
        carrier=_cube(k, 6, nv), step=np.zeros((1, padded(nv))), position=np.zeros(padded(nv)),
        angle=np.zeros((2, padded(nv))), step_row=_rows(nv), stop=np.zeros((k, 4 * nv)),
        twist=_cube(2, 6, n + 1), heavy_twist=_cube(k, 6, sizes.heavy + 1),
        wrench=_cube(1, 6, n + 1),
        load=_cube(k, 6, nv), moments=_cube(k, 9, sizes.heavy + 1),
        frame=_cube(k, 12, sizes.frames), frame_twist=_cube(k, 6, sizes.frames),
        arm=_cube(k, 9, sizes.closures), row=_cube(k, 6, sizes.rows),
        relative=_cube(k, 6, sizes.closures),
        residual=np.zeros((6, padded(sizes.closures))),
        local_wrench=_cube(k, 6, sizes.closures), pull=_cube(k, 6, sizes.closures),
        pull_row=_rows(sizes.closures),
        closure_wrench=np.zeros((6, padded(sizes.closures))),
        multiplier=np.zeros((k, m)), potential=np.zeros((k, nv)),
        jacobian=_cube(k, m, nv), composite=np.zeros((n, padded(10))),
        twist_row=_rows(n + 2), wrench_row=_rows(n + 2), twist_change=_rows(n + 2),
        wrench_change=_rows(n + 2))


def _cube(orders: int, columns: int, things: int) -> Array:
    """
    Return a buffer of columns of things, an odd number of registers long.

    Columns at powers of two apart would share a set of the cache, and wait for each other's
    stores. That would cost a fifth of the time of a machine with 32 coordinates.
    """
    width = padded(things)
    return np.zeros((orders, columns, width + LANES if width % (2 * LANES) == 0 else width))


def _rows(things: int) -> Array:
    return np.zeros((padded(things), LANES))


def _scratch(nv: int, m: int, depth: int, columns: Indices, numbers: Indices, rows: Indices
             ) -> Array:
    """
    Return the scratch buffers of a factorisation.

    columns, numbers and rows (G + 1,) are the first of each group: of the columns factored, of the
    numbers of a column, and of the constraints.
    """
    width = padded(m)
    return SCRATCH.pack(
        mass=np.zeros((nv, padded(depth))), root=np.zeros(nv), response=np.zeros((nv, width)),
        factor_inverse=np.zeros((nv, padded(nv))), sums=np.zeros((1, padded(nv))),
        upper=np.zeros((m, width)), unit=np.zeros((m, width)), lower=np.zeros((m, width)),
        inverse=np.zeros(m), line=np.zeros((2, width)), qr=_qr(columns, numbers),
        scale=np.zeros(max(nv, m)), stiffness=np.zeros(m), basis=_qr(rows, rows),
        local=np.zeros(numbers[-1]), x=np.zeros(nv), y=np.zeros(nv),
        z=np.zeros(columns[-1]), gamma=np.zeros(m),
        lanes=np.zeros((max(nv, m, 1), LANES)), steps=np.zeros((nv, LANES)),
        report=np.zeros(REPORT_WIDTH))


def _qr(columns: Indices, numbers: Indices) -> Array:
    """Return the buffers of orthogonal factors by groups; columns and numbers as in _scratch."""
    count, size, rows = np.diff(columns), np.diff(numbers), columns[-1]
    return QR.pack(
        slot=columns[:-1], count=count, size=size, rank=np.zeros(len(count)),
        rows=np.zeros((rows, size.max(initial=1) + LANES)), order=np.zeros(rows),
        head=np.zeros(rows), beta=np.zeros(rows), norm=np.zeros(rows))


def _space(nv: int, k: int, coordinates: Indices) -> Array:
    """Return scratch buffers of the free motions of a state, as series of k coefficients."""
    return FREE_MOTIONS.pack(
        basis=np.zeros((k, nv, nv)), qr=_qr(coordinates, coordinates), active=np.zeros(nv),
        s=np.zeros(nv), size=np.zeros((nv, k)), need=np.zeros((k, nv)))
