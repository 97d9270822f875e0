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

"""
The Jacobians of inverse dynamics along a motion, as Taylor series in time (13.36).

All is (13.6) to (13.11) in the ground frame, with a series for each quantity: an array whose first
axis holds the Taylor coefficients. Products of quantities are convolutions. In the ground frame
the rates of screws and inertias are brackets with the twist of their link, so that no transport
is differentiated.
"""

from collections.abc import Callable
from math import factorial

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.screw_tree import ScrewTree, unpacked
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model

Product = Callable[[Array, Array], Array]


class JacobianRates:
    """
    Time derivatives of the Jacobians of tau along a motion.

    q (nq,) and motion (r + 2, nv), v and its derivatives, are checked already; external is
    (r + 1, B, 6). by_q, by_v and by_a (r + 1, nv, nv) are the Jacobians and their derivatives.
    """

    def __init__(self, model: Model, q: Array, motion: Array, external: Array | None) -> None:
        """Compute the series."""
        self._tree, self._rows = ScrewTree(model, q), len(motion) - 1
        count = np.array([factorial(k) for k in range(len(motion))])[:, None]
        self._set_motion(motion / count)
        self._set_forces(None if external is None else external / count[:-1, :, None])
        scale = count[:-1, :, None]
        by_q, by_v, by_a = self._jacobians()
        self.by_q, self.by_v, self.by_a = by_q * scale, by_v * scale, by_a * scale

    def _set_motion(self, v: Array) -> None:
        """Write screws, twists and accelerations, and the columns P, Q and R (13.6)."""
        tree = self._tree
        s = np.zeros((len(v), *tree.screws.shape))
        twist = np.zeros((len(v), len(tree.poses), 6))
        s[0] = tree.screws
        for m in range(len(v)):
            rates = sum(v[i][:, None] * s[m - i] for i in range(m + 1))
            twist[m] = tree.moves @ rates
            if m + 1 < len(v):  # s' = ad_V s (7.2)
                s[m + 1] = sum(bracket(twist[i, tree.link], s[m - i])
                               for i in range(m + 1)) / (m + 1)
        rows = self._rows
        acceleration = twist[1:] * np.arange(1, len(v))[:, None, None]
        acceleration[0, :, 3:] -= tree.model.gravity  # (3.0)
        lift = np.zeros((rows, 1, 6))
        lift[0, 0, 3:] = -tree.model.gravity
        parent = tree.model.link_table.parent[tree.link]  # -1, the ground, is the last row
        before = np.concatenate([twist[:rows], np.zeros((rows, 1, 6))], axis=1)[:, parent]
        before_a = np.concatenate([acceleration, lift], axis=1)[:, parent]
        self._s, self._twist, self._acceleration = s[:rows], twist[:rows], acceleration
        self._p = convolve(before, self._s, bracket)
        self._q = (convolve(before_a, self._s, bracket)
                   + convolve(before, self._p, bracket))
        self._r = self._p + convolve(twist[:rows, tree.link], self._s, bracket)

    def _set_forces(self, external: Array | None) -> None:
        """Write composite inertias, composite B and the wrenches of joints (13.9), (13.10)."""
        tree, ad = self._tree, se3.ad(self._twist)
        dual = np.swapaxes(ad, -1, -2)
        inertia = np.zeros((self._rows, len(tree.poses), 6, 6))
        inertia[0] = tree.inertias
        for m in range(self._rows - 1):  # (Ali 61)
            inertia[m + 1] = -sum(inertia[m - i] @ ad[i] + dual[i] @ inertia[m - i]
                                  for i in range(m + 1)) / (m + 1)
        momentum = convolve(inertia, self._twist, apply)
        force = (convolve(inertia, self._acceleration, apply)
                 - convolve(dual, momentum, apply))
        change = -(convolve(inertia, ad, np.matmul) + convolve(dual, inertia, np.matmul)
                   + dual_bracket(momentum))
        if external is not None:
            force -= self._external(external, dual)
        carries = descendants(tree)[tree.link]
        self._inertia = np.einsum('kl,mlab->mkab', carries, inertia)
        self._change = np.einsum('kl,mlab->mkab', carries, change)
        self._force = np.einsum('kl,mla->mka', carries, force)

    def _external(self, wrenches: Array, dual: Array) -> Array:
        """Return what bodies' wrenches, given in their frames, are on links in the ground."""
        tree, table = self._tree, self._tree.model.link_table
        result = np.zeros((self._rows, len(tree.poses), 6))
        for b, link in enumerate(table.body_link):
            if link < 0:
                continue
            pose = tree.poses[link] @ unpacked(table.body_placement[b])
            to_ground = np.zeros((self._rows, 6, 6))
            to_ground[0] = se3.adjoint(se3.inverse(pose)).T
            for m in range(self._rows - 1):
                to_ground[m + 1] = -sum(dual[i, link] @ to_ground[m - i]
                                        for i in range(m + 1)) / (m + 1)
            result[:, link] += convolve(to_ground, wrenches[:, b], apply)
        return result

    def _jacobians(self) -> tuple[Array, Array, Array]:
        """Return the Taylor coefficients of the Jacobians (13.11)."""
        tree, s, p, q, r = self._tree, self._s, self._p, self._q, self._r
        own = convolve(self._inertia, q, apply) + convolve(self._change, p, apply)
        carried = own - convolve(dual_bracket(self._force), s, apply)
        z = convolve(self._inertia, r, apply) + convolve(self._change, s, apply)
        g = convolve(self._inertia, s, apply)
        k = convolve(np.swapaxes(self._change, -1, -2), s, apply)
        before, together, after = tree.before, tree.together, tree.before.T
        by_q = (before * convolve(s, carried, outer) + together * convolve(s, own, outer)
                + after * (convolve(g, q, outer) + convolve(k, p, outer)))
        by_v = ((before | together) * convolve(s, z, outer)
                + after * (convolve(g, r, outer) + convolve(k, s, outer)))
        by_a = (before | together) * convolve(s, g, outer) + after * convolve(g, s, outer)
        return by_q, by_v, by_a


def convolve(x: Array, y: Array, product: Product) -> Array:
    """Return the Taylor coefficients (rows, ...) of a product of two series."""
    return np.array([sum(product(x[i], y[m - i]) for i in range(m + 1)) for m in range(len(x))])


def bracket(x: Array, y: Array) -> Array:
    """Return [x, y] of rows (..., 6) (1.3)."""
    return np.concatenate([
        np.cross(x[..., :3], y[..., :3]),
        np.cross(x[..., 3:], y[..., :3]) + np.cross(x[..., :3], y[..., 3:])], axis=-1)


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


def descendants(tree: ScrewTree) -> Array:
    """Return (N, N): 1 where the first link carries the second, or is it."""
    parent = tree.model.link_table.parent
    result = np.eye(len(parent))
    for i in reversed(range(len(parent))):
        if parent[i] >= 0:
            result[parent[i]] += result[i]
    return result
