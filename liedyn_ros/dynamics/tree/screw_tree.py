# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The links of a model as matrices in the ground frame, brackets of screws, products of series.

Dense computations use them: one spatial screw for each coordinate, the order of coordinates along
paths, and composite inertias. A joint of several degrees of freedom is the chain of its links, so
every screw is constant in its link (theory 13, links).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.on_demand import weak_cache
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model
from liedyn_ros.model.expansion import LinkTable
from liedyn_ros.model.kernels import kinds


# Of each entry of a vector product, or of two beside each other, the entries that it multiplies.
_NEXT, _LAST = np.array([1, 2, 0, 4, 5, 3]), np.array([2, 0, 1, 5, 3, 4])
_NEXT_OF_3, _LAST_OF_3 = _NEXT % 3, _LAST % 3
Product = Callable[[Array, Array], Array]


def convolve(x: Array, y: Array, product: Product) -> Array:
    """Return the Taylor coefficients (rows, ...) of a product of two series."""
    return np.array([sum(product(x[i], y[m - i]) for i in range(m + 1)) for m in range(len(x))])


def bracket(x: Array, y: Array) -> Array:
    """Return [x, y] of rows (..., 6) (1.3); np.cross takes four times as long."""
    w, v = y[..., :3], y[..., 3:]
    result = x[..., _NEXT] * w[..., _LAST_OF_3] - x[..., _LAST] * w[..., _NEXT_OF_3]
    result[..., 3:] += (x[..., _NEXT[:3]] * v[..., _LAST[:3]]
                        - x[..., _LAST[:3]] * v[..., _NEXT[:3]])
    return result


def apply(matrix: Array, vector: Array) -> Array:
    """Return the products of matrices (..., n, m) and vectors (..., m)."""
    return np.einsum('...ab,...b->...a', matrix, vector)


def outer(x: Array, y: Array) -> Array:
    """Return the products of all rows of two matrices."""
    return x @ y.T


def dual_bracket(wrench: Array) -> Array:
    """Return N(h) = [[m] [f]; [f] 0] (..., 6, 6) with N(h) P = ad_P^T h."""
    result = np.zeros((*wrench.shape, 6))
    result[..., :3, :3] = so3.hat(wrench[..., :3])
    result[..., :3, 3:] = result[..., 3:, :3] = so3.hat(wrench[..., 3:])
    return result


class ScrewTree:
    """
    Poses, screws and inertias of all N links of a model at a configuration q (nq,).

    poses (N, 4, 4) in the ground. screws (nv, 6) are the spatial screws s of the coordinates. The
    spatial twist of a link is their sum over the path to it, each times its velocity. link (nv,)
    is the link that a coordinate moves; moves (N, nv) says which coordinates move a link. Raises
    ShapeError, NotFiniteError or NotInGroupError for q.
    """

    def __init__(self, model: Model, q: ArrayLike) -> None:
        """Compute the poses and the screws."""
        self.model, table = model, model.link_table
        self.q = model.check_configuration(q)
        self.poses = link_poses(table, self.q)
        self.link, self.moves, own, _ = _constants(table)
        self.screws = np.zeros((table.nv, 6))
        if table.N:
            np.einsum('kab,kb->ka', se3.adjoint(self.poses)[self.link], own, out=self.screws)

    @cached_property
    def before(self) -> NDArray[np.bool_]:
        """Return (nv, nv): the link of the first coordinate is an ancestor of the second's."""
        return self.moves[self.link].T & ~self.together

    @cached_property
    def together(self) -> NDArray[np.bool_]:
        """Return (nv, nv): both coordinates belong to one spherical or free joint, or are one."""
        return self.link[:, None] == self.link[None, :]

    @cached_property
    def inertias(self) -> Array:
        """Return the inertia (N, 6, 6) of each link in the ground (Ali 60)."""
        to_link = se3.adjoint(se3.inverse(self.poses)) if len(self.poses) else np.empty((0, 6, 6))
        own = inertia_matrices(self.model.link_table.inertia)
        return np.swapaxes(to_link, 1, 2) @ own @ to_link

    @cached_property
    def composites(self) -> Array:
        """Return the inertia (N, 6, 6) of each link and of all that it carries, in the ground."""
        return np.einsum('kl,lab->kab', self.carries, self.inertias)

    @cached_property
    def carries(self) -> Array:
        """Return (N, N): 1 if the first link carries the second, or is it."""
        parent = self.model.link_table.parent
        result = np.eye(len(parent))
        for i in reversed(range(len(parent))):
            if parent[i] >= 0:
                result[parent[i]] += result[i]
        return result

    @cached_property
    def brackets(self) -> Array:
        """Return [s_i, s_j] (nv, nv, 6)."""
        return np.einsum('iab,jb->ija', se3.ad(self.screws), self.screws)

    @cached_property
    def screw_derivatives(self) -> Array:
        """Return H (nv, nv, 6): E_i s_j, the derivative of screw j by coordinate i (13.39)."""
        return self.brackets * (self.before | self.together)[:, :, None]

    @cached_property
    def structure_constants(self) -> Array:
        """Return c_ij^k (nv, nv, nv) of the tangents: [E_i, E_j] = c_ij^k E_k (13.1)."""
        table, nv = self.model.link_table, self.model.nv
        result = np.zeros((nv, nv, nv))
        for i in range(table.N):
            basis, own = link_screws(table, i), self._own(i)
            if len(basis) > 1:
                result[own, own, own] = np.einsum('iab,jb,ka->ijk', se3.ad(basis), basis, basis)
        return result

    @cached_property
    def mass_matrix(self) -> Array:
        """Return M (nv, nv) = <s_i, s_j> in the composite inertia of the deeper one (6.4)."""
        momenta = np.einsum('jab,jb->ja', self.composites[self.link], self.screws)
        upper = (self.screws @ momenta.T) * (self.before | self.together)
        armature = np.diag(self.model.link_table.armature)  # (3.20)
        return np.where(self.before.T, upper.T, upper) + armature

    def series(self, v: Array) -> tuple[Array, Array]:
        """
        Return the Taylor series of the spatial screws and of the twists of the links along v.

        v (r, nv) are coefficients, too. Screws are (r + 1, nv, 6), twists (r, N, 6).
        """
        screws = np.zeros((len(v) + 1, *self.screws.shape))
        twists = np.zeros((len(v), len(self.poses), 6))
        screws[0] = self.screws
        for k in range(len(v)):
            own = sum(v[j][:, None] * screws[k - j] for j in range(k + 1))
            twists[k] = self.moves @ own  # (7.3)
            screws[k + 1] = sum(bracket(twists[j, self.link], screws[k - j])
                                for j in range(k + 1)) / (k + 1)  # (7.2)
        return screws, twists

    def path(self, i: int) -> NDArray[np.int64]:
        """Return the coordinates that move link i, its own last."""
        return np.flatnonzero(self.moves[i])

    def _own(self, i: int) -> slice:
        start = self.model.link_table.vi[i]
        return slice(start, start + kinds.NV_OF_KIND[self.model.link_table.kind[i]])


def link_poses(table: LinkTable, q: Array) -> Array:
    """Return the poses (N, 4, 4) of all links in the ground at a checked configuration."""
    poses = _constants(table).placements @ joint_poses(table, q)
    for i, parent in enumerate(table.parent.tolist()):
        if parent >= 0:
            poses[i] = poses[parent] @ poses[i]
    return poses


def joint_poses(table: LinkTable, q: Array) -> Array:
    """Return J(q) (N, 4, 4), the motion of each link from its place at zero (2.1)."""
    link, _, screws, _ = _constants(table)
    turns = np.zeros((table.N, 6))
    single = np.bincount(link, minlength=table.N) == 1
    turns[single] = q[table.qi[single], None] * screws[single[link]]
    poses = se3.exp(turns)
    for i, at in zip(np.flatnonzero(~single), table.quaternions):
        poses[i, :3, :3] = so3.from_quaternion(q[at:at + 4])
    for i in table.free:
        poses[i, :3, 3] = q[table.qi[i]:table.qi[i] + 3]
    return poses


class _Constants(NamedTuple):
    """Constants of all configurations: link and moves of ScrewTree, screws and places of links."""

    link: NDArray[np.int64]
    moves: NDArray[np.bool_]
    screws: Array
    placements: Array


@weak_cache
def _constants(table: LinkTable) -> _Constants:
    """Return the constants of a tree, read-only; screws (nv, 6) are in the frames of the links."""
    screws = [link_screws(table, i) for i in range(table.N)]
    result = _Constants(
        np.repeat(np.arange(table.N), [len(own) for own in screws]), supports(table),
        np.concatenate([np.empty((0, 6)), *screws]),
        np.array([unpacked(row) for row in table.placement]).reshape(-1, 4, 4))
    for array in result:
        array.setflags(write=False)
    return result


def link_screws(table: LinkTable, i: int) -> Array:
    """Return the screws S (n_i, 6) of link i in its own frame, one a row (2.2)."""
    kind = table.kind[i]
    turn, travel = kinds.TURNS_OF_KIND[kind], kinds.MOVES_OF_KIND[kind]
    if kinds.NV_OF_KIND[kind] > 1:
        return np.eye(6)[:turn + travel]
    return np.array([[0.0, 0.0, turn, 0.0, 0.0, travel * (table.pitch[i] if turn else 1.0)]])


def supports(table: LinkTable) -> NDArray[np.bool_]:
    """Return whether coordinates move each link (N, nv)."""
    moves = np.zeros((table.N, table.nv), dtype=bool)
    for i in range(table.N):
        if table.parent[i] >= 0:
            moves[i] = moves[table.parent[i]]
        moves[i, table.vi[i]:table.vi[i] + kinds.NV_OF_KIND[table.kind[i]]] = True
    return moves


def inertia_matrices(parameters: Array) -> Array:
    """Return inertias (..., 6, 6) of ten parameters (..., 10) about the origin (1.17)."""
    m, h = parameters[..., 0], so3.hat(parameters[..., 1:4])
    result = np.zeros((*parameters.shape[:-1], 6, 6))
    result[..., :3, :3] = parameters[..., [[4, 5, 6], [5, 7, 8], [6, 8, 9]]]
    result[..., :3, 3:], result[..., 3:, :3] = h, -h
    result[..., 3:, 3:] = m[..., None, None] * np.eye(3)
    return result


def unpacked(row: Array) -> Array:
    """Return the pose (4, 4) of twelve numbers: rotation row by row, then translation."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = row[:9].reshape(3, 3), row[9:]
    return pose
