# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The tables of constrained dynamics for one model; see kernels.tables."""

from collections.abc import Sequence

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.kernels.tables import (
    COEFFICIENTS, COORDINATES, FRAMES, LINKS, Machine)
from liedyn_ros.model import Model
from liedyn_ros.model.constraints import CLOSURE_TYPES
from liedyn_ros.model.kernels.kinds import NV
from liedyn_ros.model.link_table import Indices


def machine(model: Model, dissipation: bool = True) -> Machine:
    """Return the constants of a model."""
    table = model.link_table
    closures = model.closures
    sides = [(body, frame) for closure in closures for body, frame in (
        (closure.body_a, closure.frame_a), (closure.body_b, closure.frame_b))]
    places = [_place(model, body, frame) for body, frame in sides]
    places += [_place(model, body, np.eye(4)) for body in model.bodies]
    link = np.repeat(np.arange(table.N), [NV[kind] for kind in table.kind])
    previous = _previous(model)
    paths = [_path(previous, table.vi, table.kind, places[2 * c][0], places[2 * c + 1][0])
             for c in range(len(closures))]
    coupling, offset = _couplings(model)
    rows = [CLOSURE_TYPES[closure.type_name].rows for closure in closures]
    return Machine(
        kind=_ints(table.kind), parent=_ints(np.where(table.parent < 0, table.N, table.parent)),
        qi=_ints(table.qi), vi=_ints(table.vi), placement=_floats(table.placement, 12),
        inertia=_floats(table.inertia, 10), pitch=_floats(table.pitch),
        damping=_floats(table.damping) * dissipation,
        friction=_floats(table.friction) * dissipation,
        gravity=_floats(table.gravity), link=_ints(link), previous=previous,
        frame_link=_ints([place for place, _ in places]),
        frame_placement=_floats([_row(pose) for _, pose in places], 12),
        closure_kind=_ints([CLOSURE_TYPES[c.type_name].kind for c in closures]),
        closure_size=_floats([(c.pitch, c.length) for c in closures], 2),
        closure_row=_starts(rows), row_kind=_ints([kind for each in rows for kind in each]),
        path_start=_starts([columns for columns, _ in paths]),
        path=_ints([j for columns, _ in paths for j in columns]),
        path_sign=_floats([sign for _, signs in paths for sign in signs]),
        coupling=coupling, coupling_offset=offset)


class ConstrainedData:
    """
    Constants of a model and room for results, as flat arrays; for one thread.

    ints and floats hold a Machine; series, by_row, by_column and space the floats of a Motion, of
    two Rooms and of a Space; orders what their pivoting notes.
    """

    def __init__(self, model: Model, dissipation: bool = True) -> None:
        """Fill in the constants."""
        constants = machine(model, dissipation)
        self.constants = constants
        self.m = len(constants.row_kind) + len(constants.coupling)
        nv, wide = model.nv, 2 * (self.m + model.nv) + 2
        whole = [x.ravel() for x in constants if x.dtype == np.int64]
        header = [len(constants.kind), nv, len(constants.frame_link),
                  len(constants.closure_kind), len(constants.row_kind), len(constants.path),
                  len(constants.coupling), 0]
        self.ints = np.concatenate([np.array(header, dtype=np.int64), *whole])
        self.floats = np.concatenate([x.ravel() for x in constants if x.dtype == np.float64])
        self.orders = np.zeros(wide, dtype=np.int64)
        self.by_row = np.zeros((nv + self.m + 12)**2 + 20 * wide)
        self.by_column = np.zeros_like(self.by_row)
        self.order = -1
        self.make_room(0)

    def make_room(self, order: int) -> None:
        """Make room for series to an order."""
        if order <= self.order:
            return
        self.order, k = order, order + 2
        n, nv, frames = self.ints[LINKS], self.ints[COORDINATES], self.ints[FRAMES]
        self.ints[COEFFICIENTS] = k
        per_order = 6 * nv + 21 * n + 12 * frames + 7 * self.m + self.m * nv + 9 * nv + 12
        self.series = np.zeros(k * per_order + 34 * (n + 1) + 16)
        self.space = np.zeros((k + 1) * nv * nv + 2 * k * nv + 6 * nv + 1)

    @property
    def tables(self) -> tuple[Array | Indices, ...]:
        """Return what every kernel takes first."""
        return self.ints, self.floats, self.series, self.by_row, self.by_column, self.orders


def _place(model: Model, body: str | None, frame: Array) -> tuple[int, Array]:
    """Return the link that carries a frame on a body, N for the ground, and its pose there."""
    table = model.link_table
    if body is None:
        return table.N, frame
    b = model.body_index(body)
    pose = np.eye(4)
    pose[:3, :3] = table.body_placement[b, :9].reshape(3, 3)
    pose[:3, 3] = table.body_placement[b, 9:]
    return int(table.body_link[b]) % (table.N + 1), pose @ frame  # -1 is the ground


def _previous(model: Model) -> Indices:
    """Return for each coordinate the one before it on the way to the ground, or -1."""
    table = model.link_table
    last = {-1: -1}
    previous = np.zeros(table.nv, dtype=np.int64)
    for i in range(table.N):
        at = last[int(table.parent[i])]
        for j in range(table.vi[i], table.vi[i] + NV[table.kind[i]]):
            previous[j], at = at, j
        last[i] = at
    return previous


def _path(previous: Indices, vi: Indices, kind: Indices, a: int, b: int
          ) -> tuple[list[int], list[float]]:
    """Return the coordinates that move link b against link a, with their signs."""
    def above(link: int) -> list[int]:
        columns, j = [], int(vi[link]) + NV[kind[link]] - 1 if link < len(vi) else -1
        while j >= 0:
            columns.append(j)
            j = int(previous[j])
        return columns

    behind_a, behind_b = above(a), above(b)
    signs = {j: 1.0 for j in behind_b if j not in behind_a}
    signs |= {j: -1.0 for j in behind_a if j not in behind_b}
    columns = sorted(signs)
    return columns, [signs[j] for j in columns]


def _couplings(model: Model) -> tuple[Array, Array]:
    """Return the rows (couplings, nv) and what they equal."""
    rows = np.zeros((len(model.couplings), model.nv))
    offsets = np.zeros(len(model.couplings))
    for r, coupling in enumerate(model.couplings):
        rows[r, model.joint(coupling.joint).vi] += 1.0
        rows[r, model.joint(coupling.leader).vi] -= coupling.multiplier
        offsets[r] = coupling.offset
    return rows, offsets


def _row(pose: Array) -> Array:
    return np.concatenate((pose[:3, :3].ravel(), pose[:3, 3]))


def _starts(parts: Sequence[Sequence[int]]) -> Indices:
    return np.cumsum([0, *map(len, parts)]).astype(np.int64)


def _ints(values: object) -> Indices:
    return np.array(values, dtype=np.int64).ravel()


def _floats(values: object, width: int = 0) -> Array:
    array = np.array(values, dtype=np.float64)
    return array.reshape(-1, width) if width else array.ravel()
