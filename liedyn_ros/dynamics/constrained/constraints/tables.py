# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The tables and scratch buffers of constrained dynamics for one model; see kernels.tables.

One thread at a time on the tables of a machine with closed loops. A call of Dynamics is one
kernel, which holds Python's lock. A product or a gradient of loops follows a call of the dynamics,
and reads its tables. No other call may come between. A call within a call of the same thread
passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import lru_cache, partial, wraps
from math import factorial
import os
from threading import RLock
from typing import Any, cast, NamedTuple, TypeVar
from weakref import WeakSet

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.constraints.size import row_sizes
from liedyn_ros.dynamics.constrained.constraints.sparsity import hull, padded, spans, Sparsity
from liedyn_ros.dynamics.constrained.kernels.tables import (
    FREE_MOTIONS, MACHINE, MOTION, REPORT_WIDTH, SCRATCH, WORKSPACE)
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.kernels.tables import Coordinate, FAR, Link
from liedyn_ros.jit.simd import LANES
from liedyn_ros.linear_algebra.kernels.orthogonal import QR
from liedyn_ros.model import Model
from liedyn_ros.model.expansion import Indices
from liedyn_ros.model.kernels.kinds import MOMENT_Z, NV_OF_KIND, SCREW
from liedyn_ros.model.parts.constraints import CLOSURE_TYPES


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


Method = TypeVar('Method', bound=Callable[..., Any])


_ALL: WeakSet[TableLock] = WeakSet()


class TableLock:
    """A lock of a thread; copies and pickles have their own."""

    __slots__ = ('__weakref__', 'inner')

    def __init__(self) -> None:
        """Make a lock that is free."""
        self.inner = RLock()
        _ALL.add(self)

    def __reduce__(self) -> Any:
        """Copy, or pickle, as a free one."""
        return TableLock, ()


def _free_all() -> None:
    """Free the locks of a child, which lacks the threads that hold them in its parent."""
    for lock in _ALL:
        lock.inner = RLock()


os.register_at_fork(after_in_child=_free_all)


def exclusive(method: Method) -> Method:
    """Return a method that holds the lock of its object while it runs."""
    @wraps(method)
    def alone(self: Any, *arguments: Any, **options: Any) -> Any:
        with self.lock.inner:
            return method(self, *arguments, **options)

    return cast(Method, alone)


NO_INERTIA = np.zeros(0)


def machine(model: Model, dissipation: bool, sizes: Array, typical_inertia: Array,
            sparsity: Sparsity) -> dict[str, Array | Indices]:
    """Return the constants of a model and of a user's functions, of rows of these sizes (m,)."""
    places, count = _places(model), len(model.closures)
    paths = [sparsity.path(places[count + c][0], places[c][0]) for c in range(count)]
    kinds = _closure_rows(model)
    functions = len(sizes) - sum(map(len, kinds)) - len(model.couplings)
    coupling, offset = _couplings(model, functions)
    involved = [path for (path, _), rows in zip(paths, kinds) for _ in rows]
    involved += [np.flatnonzero(row).tolist() for row in coupling[:len(model.couplings)]]
    involved += [list(range(model.nv))] * functions
    group, row_group = sparsity.groups(involved)
    if len(typical_inertia):
        sparsity.fill_groups(group)
    return {**_tree(model, dissipation, sparsity), 'typical_inertia': typical_inertia,
            'row_size': sizes,
            **_frames(model, places), **_paths(paths, model.nv),
            'coupling': coupling, 'coupling_offset': offset,
            'coupling_bias': np.zeros(len(offset)), 'functions': _ints([functions]),
            **_supports(involved, sparsity), **_groups(group, row_group)}


def _tree(model: Model, dissipation: bool, sparsity: Sparsity) -> dict[str, Array | Indices]:
    """Return the tables of the links and coordinates."""
    table = model.link_table
    link = np.repeat(np.arange(table.N), [NV_OF_KIND[kind] for kind in table.kind])
    chained = sparsity.chained()
    return {
        'kind': _ints(table.kind),
        'parent': _ints(np.where(table.parent < 0, table.N, table.parent)),
        'qi': _ints(table.qi), 'vi': _ints(table.vi), 'nq': _ints([model.nq]),
        'placement': _floats(table.placement, 12),
        'inertia': _floats(table.inertia, 10),
        **_heavy_links(_floats(table.inertia, 10)),
        'pitch': _floats(table.pitch),
        'friction': _floats(table.friction) * dissipation,
        'damping': _filled(_floats(table.damping) * dissipation),
        'stiffness': _filled(_floats(table.stiffness)), 'rest': _filled(_floats(table.rest)),
        'armature': _filled(_floats(table.armature)),
        'stops': np.clip(_floats(table.stops, 4), -FAR, FAR),
        'position_at': _ints(table.position_at),
        'gravity': _floats(table.gravity), 'link': _ints(link),
        'ancestor_start': _starts(sparsity.ancestors), 'ancestor': _joined(sparsity.ancestors),
        'chained_start': _starts(chained), 'chained': _joined(chained),
        'coordinate_row': _filled_up(link, table.N + 1)}


def _frames(model: Model, places: Sequence[tuple[int, Array]]) -> dict[str, Array | Indices]:
    """Return the tables of the closures and of all frames."""
    closures, links = model.closures, [link for link, _ in places]
    rows = _closure_rows(model)
    return {
        'frame_link': _ints(links),
        'frame_placement': _floats([pose for _, pose in places], 12),
        'frame_row': _filled_up(links, model.link_table.N + 1),
        'moving_frames': _ints([len(closures) * (1 + _row_parts(rows)[1])]),
        'closure_kind': _ints([CLOSURE_TYPES[c.type_name].kind for c in closures]),
        'closure_size': _floats([(c.pitch, c.length) for c in closures], 2),
        'closure_row': _starts(rows), 'row_kind': _joined(rows), 'row_parts': _row_parts(rows)}


def _paths(paths: Sequence[tuple[list[int], list[float]]], nv: int) -> dict[str, Array | Indices]:
    """Return the tables of the coordinates that move each closure."""
    return {
        'path_start': _starts([columns for columns, _ in paths]),
        'path': _joined([columns for columns, _ in paths]),
        'path_sign': _signs(paths, nv),
        'path_hull': _ints([end for columns, _ in paths for end in hull(columns)])}


def _supports(involved: Sequence[Sequence[int]], sparsity: Sparsity
              ) -> dict[str, Array | Indices]:
    """Return the sparsity of all constraints."""
    supports = [sparsity.support(columns) for columns in involved]
    reach = sparsity.reach(supports)
    reached = [[k for k in range(len(sparsity.ancestors)) if reach[2 * k] <= c < reach[2 * k + 1]]
               for c in range(0, len(involved), LANES)]
    return {
        'support_start': _starts(supports), 'support': _joined(supports),
        'reach': _ints(reach), 'reached_start': _starts(reached), 'reached': _joined(reached)}


def _groups(group: Indices, row_group: Indices) -> dict[str, Array | Indices]:
    """Return the tables of the groups of coordinates (nv,) and of constraints (m,)."""
    count = max([*group, *row_group], default=-1) + 1
    span = spans(row_group)
    tables: dict[str, Array | Indices] = {
        'group': group, 'span': _ints(span),
        'met': _ints([max(span[2 * r + 1:2 * (r + LANES):2])
                      for r in range(0, len(row_group), LANES)])}
    for things, at, each in (('group_coordinates', 'coordinate_at', group),
                             ('group_rows', 'row_at', row_group)):
        tables[things] = np.append(0, np.cumsum(np.bincount(each, minlength=count)))
        tables[at] = np.argsort(each, kind='stable')
    return tables


class ConstrainedData:
    """
    Constants of a model and scratch buffers, as kernels.tables lays them out; for one thread.

    workspace is the array of WORKSPACE, which kernels take. A higher order replaces it.
    typical_inertia (nv,) is that of singular_mass.typical_inertia; kinematics does without.
    """

    def __init__(self, model: Model, dissipation: bool = True, functions: int = 0,
                 typical_inertia: Array = NO_INERTIA) -> None:
        """Fill in the constants."""
        self.model, self.typical_inertia = model, typical_inertia
        self.row_sizes = row_sizes(model, functions)
        sparsity = Sparsity(model)
        constants = machine(model, dissipation, self.row_sizes, typical_inertia, sparsity)
        self._machine, rows = MACHINE.pack(**constants), len(constants['row_kind'])
        self._sizes = Sizes(
            len(constants['kind']), int(constants['heavy_links'][0]), model.nv,
            rows + len(constants['coupling']), sparsity.depth, len(model.closures), rows,
            len(constants['frame_link']), tuple(constants['group_coordinates'].tolist()),
            tuple(constants['group_rows'].tolist()))
        self.m, self.order = self._sizes.m, -1
        self.reserve(0)

    def write_functions(self, jacobian: Array, bias: Array) -> None:
        """Write the rows (k, nv) of a user's functions at a state, and their bias (k,)."""
        flat = WORKSPACE.array(self.workspace, 'machine')
        first = self.m - self._sizes.rows - len(bias)
        MACHINE.array(flat, 'coupling')[first:] = jacobian
        MACHINE.array(flat, 'coupling_bias')[first:] = bias

    def write_function_series(self, jacobian: Array) -> None:
        """Write Taylor coefficients (orders, k, nv) of these rows, to the tables' order."""
        (orders, count, nv), flat = jacobian.shape, WORKSPACE.array(self.workspace, 'motion')
        rows = MOTION.array(flat, 'jacobian')[1:orders, self.m - count:, :nv]
        rows[:] = jacobian[1:]

    def potentials(self, orders: int) -> Array:
        """Return y, y', ... (orders, nv) with lam = A y, of the last solution."""
        flat = WORKSPACE.array(self.workspace, 'motion')
        return np.array([factorial(k) * y for k, y in enumerate(
            MOTION.array(flat, 'potential')[:orders])])

    def move_frame(self, at: int, frame: Array) -> None:
        """Write the pose (4, 4) of a frame in its link, in the order of _places."""
        for flat in (self._machine, WORKSPACE.array(self.workspace, 'machine')):
            MACHINE.array(flat, 'frame_placement')[at] = _row(frame)

    def follow_closures(self, model: Model) -> None:
        """Take the frames on the ground of the closures of a model that differs in these alone."""
        if model is self.model:
            return
        self.model, count = model, len(model.closures)
        for i, closure in enumerate(model.closures):
            for at, body, frame in ((i, closure.body_b, closure.frame_b),
                                    (count + i, closure.body_a, closure.frame_a)):
                if body is None:
                    self.move_frame(at, frame)

    def follow(self, tree: Constants) -> None:
        """Take the entries that a ParameterChart changes from the table of the tree."""
        inertia, placement = (
            Link.of(tree.table[1:tree.links], name) for name in ('inertia', 'placement'))
        of = tree.table[tree.links:tree.rows]
        constant, links = partial(MACHINE.array, self._machine), self._sizes.heavy
        constant('inertia')[:], constant('placement')[:] = inertia, placement
        heavy = constant('heavy_inertia')
        heavy[:, :links] = inertia[constant('heavy_link')[:links]].T
        constant('mass')[:] = heavy[:1]
        for name in ('armature', 'damping', 'friction'):
            constant(name)[:self._sizes.nv] = Coordinate.of(of, name)
        WORKSPACE.array(self.workspace, 'machine')[:] = self._machine

    def twin(self) -> ConstrainedData:
        """Return tables of the same constants with scratch buffers of their own."""
        other = copy(self)
        other._machine, other.order = self._machine.copy(), -1
        other.reserve(0)
        return other

    def share(self, other: ConstrainedData) -> None:
        """Take all constants from other tables of the same machine."""
        for flat in (self._machine, WORKSPACE.array(self.workspace, 'machine')):
            flat[:] = other._machine

    def reserve(self, order: int) -> None:
        """Allocate the tables of series to an order."""
        if order <= self.order:
            return
        self.order = order
        self.workspace = WORKSPACE.pack(machine=self._machine, **buffers(self._sizes, order + 2))


def _heavy_links(inertia: Array) -> dict[str, Array | Indices]:
    """Return the tables of links with inertia, from the inertias (N, 10) of all."""
    heavy = inertia.any(axis=1)
    links = np.flatnonzero(heavy)
    columns = np.zeros((inertia.shape[1], padded(len(links) + 1)))
    columns[:, :len(links)] = inertia[links].T
    return {'heavy': _ints(np.where(heavy, np.cumsum(heavy) - 1, len(links))),
            'heavy_link': _filled_up(_ints(links), len(inertia) + 1),
            'heavy_inertia': columns, 'mass': columns[:1],
            'heavy_links': _ints([len(links)])}


def _filled(vector: Array) -> Array:
    return np.concatenate((vector, np.zeros(padded(len(vector)) - len(vector))))


def _filled_up(links: Indices | Sequence[int], zero: int) -> Indices:
    """Return the rows of links, and further ones of the row that is zero."""
    return _ints([*links, *[zero] * (2 * LANES)])


def _row_parts(rows: Sequence[Sequence[int]]) -> Indices:
    """Return whether any row is a moment in frame b, and whether any varies in frame b."""
    kinds = _joined(rows)
    return _ints([((kinds <= MOMENT_Z) | (kinds == SCREW)).any(), (kinds > SCREW).any()])


def _signs(paths: Sequence[tuple[list[int], list[float]]], nv: int) -> Array:
    signs = np.zeros((len(paths), padded(nv)))
    for row, (columns, values) in zip(signs, paths):
        row[columns] = values
    return signs


def _closure_rows(model: Model) -> list[tuple[int, ...]]:
    """Return the kinds of rows of each closure."""
    return [closure.row_kinds for closure in model.closures]


def _places(model: Model) -> list[tuple[int, Array]]:
    """Return links and poses (12,) of the closures' frames b, then a, then of the bodies."""
    frames = [(closure.body_b, closure.frame_b) for closure in model.closures]
    frames += [(closure.body_a, closure.frame_a) for closure in model.closures]
    table = model.link_table
    return [*(_place(model, body, frame) for body, frame in frames),
            *zip((table.body_link % (table.N + 1)).tolist(), table.body_placement)]


def _place(model: Model, body: str | None, frame: Array) -> tuple[int, Array]:
    """Return the link that carries a frame on a body, N for the ground, and its pose (12,)."""
    table = model.link_table
    if body is None:
        return table.N, _row(frame)
    b = model.body_index(body)
    pose = np.eye(4)
    pose[:3, :3] = table.body_placement[b, :9].reshape(3, 3)
    pose[:3, 3] = table.body_placement[b, 9:]
    return int(table.body_link[b]) % (table.N + 1), _row(pose @ frame)  # -1 is the ground


def _couplings(model: Model, further: int) -> tuple[Array, Array]:
    """Return rows (couplings, nv) and right-hand sides of couplings; further ones are zero."""
    rows = np.zeros((len(model.couplings) + further, model.nv))
    offsets = np.zeros(len(rows))
    at = {name: k for k, name in enumerate(model.coordinate_names)}
    for r, coupling in enumerate(model.couplings):
        rows[r, at[coupling.joint]] += 1.0
        for leader, multiplier in coupling.terms:
            rows[r, at[leader]] -= multiplier
        offsets[r] = coupling.offset
    return rows, offsets


def _row(pose: Array) -> Array:
    return np.concatenate((pose[:3, :3].ravel(), pose[:3, 3]))


def _starts(parts: Sequence[Sequence[int]]) -> Indices:
    return np.cumsum([0, *map(len, parts)]).astype(np.int64)


def _joined(parts: Sequence[Sequence[int]]) -> Indices:
    return _ints([value for part in parts for value in part])


def _ints(values: object) -> Indices:
    return np.array(values, dtype=np.int64).ravel()


def _floats(values: object, width: int = 0) -> Array:
    array = np.array(values, dtype=np.float64)
    return array.reshape(-1, width) if width else array.ravel()
