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
The rows of closures at a motion, as jets, and how what follows from them varies (13.19, 13.20).

Columns are what varies: the state, q before v, or the kinematic parameters of another file. A body
that is displaced carries the frames of its closures along.
"""

from abc import ABC, abstractmethod

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.partial_derivatives.function_rows import FunctionRows
from liedyn_ros.dynamics.partial_derivatives.rates import bracket
from liedyn_ros.dynamics.partial_derivatives.row_jets import Changes, Jet, row_wrench, Side
from liedyn_ros.dynamics.screw_tree import LinkMotion, ScrewTree, unpacked
from liedyn_ros.model import Closure, CLOSURE_TYPES


class ClosureRows(ABC):
    """
    The rows of closures, varied by columns that a subclass has.

    closures has the two frames of each closure; wrenches has the wrenches of its rows on body b.
    """

    def __init__(self, dynamics: ConstrainedDynamics, tree: ScrewTree, motion: LinkMotion,
                 columns: int) -> None:
        """Write all rows: what a subclass answers with must be known."""
        self._model, self._m, self._columns = dynamics.model, dynamics.m, columns
        self._tree, self._twist, self._acceleration = tree, motion.twist, motion.acceleration
        self._moves = np.vstack([tree.moves, np.zeros(self._model.nv, dtype=bool)]) * 1.0
        self.closures = [(self._side(c, 0), self._side(c, 1), closure)
                         for c, closure in enumerate(self._model.closures)]
        self.wrenches = [self._rows(c, *each) for c, each in enumerate(self.closures)]

    @abstractmethod
    def changes(self, body: str | None, link: int) -> Changes:
        """Return what columns change of a body, None being the ground."""

    def frame_changes(self, closure: int, side: int, pose: Array) -> Array | None:
        """Return how columns displace a frame (c, 6) that stands there beyond its body, if so."""
        return None

    def jacobian(self) -> Array:
        """Return the rows of A that closures have, before those of couplings."""
        rows = [self._signs(a, b) * (self._tree.screws @ wrench.value)
                for (a, b, _), wrenches in zip(self.closures, self.wrenches)
                for wrench in wrenches]
        return np.reshape(rows, (-1, self._model.nv))

    def acceleration_changes(self) -> Array:
        """Return D(A a + Adot v) (m, c); couplings do not change."""
        result, r = np.zeros((self._m, self._columns)), 0
        for (a, b, _), wrenches in zip(self.closures, self.wrenches):
            twist, rate = self._twist[b.link] - self._twist[a.link], (
                self._acceleration[b.link] - self._acceleration[a.link])
            turned, driven = (y - x for x, y in zip(a.body[1:], b.body[1:]))
            for w in wrenches:
                result[r] = w.change @ rate + driven @ w.value + w.both @ twist + turned @ w.rate
                r += 1
        return result

    def pressed(self, multipliers: Array) -> list[tuple[Side, Side, Array, Array]]:
        """Return the sides of each closure, its wrench (6,) on body b, and its change (c, 6)."""
        result, r = [], 0
        for (a, b, _), wrenches in zip(self.closures, self.wrenches):
            lam = multipliers[r:r + len(wrenches)]
            result.append((a, b, sum((x * w.value for x, w in zip(lam, wrenches)), np.zeros(6)),
                           sum((x * w.change for x, w in zip(lam, wrenches)),
                               np.zeros((self._columns, 6)))))
            r += len(wrenches)
        return result

    def _signs(self, a: Side, b: Side) -> Array:
        """Return 1 for coordinates that move b alone, -1 for those that move a alone (nv,)."""
        return self._moves[b.link] - self._moves[a.link]

    def _rows(self, c: int, a: Side, b: Side, closure: Closure) -> list[Jet]:
        return [row_wrench(a, b, closure, kind)
                for kind in CLOSURE_TYPES[closure.type_name].rows]

    def _side(self, c: int, which: int) -> Side:
        closure = self._model.closures[c]
        body = (closure.body_a, closure.body_b)[which]
        link, pose = -1, (closure.frame_a, closure.frame_b)[which]
        if body is not None:
            table, b = self._model.link_table, self._model.body_index(body)
            link, pose = int(table.body_link[b]), unpacked(table.body_placement[b]) @ pose
            if link >= 0:
                pose = self._tree.poses[link] @ pose
        changes = self.changes(body, link)
        extra = self.frame_changes(c, which, pose)
        moved = changes.moved if extra is None else changes.moved + extra

        def carried(x: Array, is_point: float) -> Jet:
            """Return a point or a direction that the link carries."""
            (w, u), turned = np.split(self._twist[link], 2), changes.turned
            change = np.cross(moved[:, :3], x) + is_point * moved[:, 3:]
            return Jet(x, np.cross(w, x) + is_point * u, change,
                       np.cross(turned[:, :3], x) + np.cross(w, change)
                       + is_point * turned[:, 3:])

        x, y, z = (carried(axis, 0.0) for axis in pose[:3, :3].T)
        return Side(carried(pose[:3, 3], 1.0), (x, y, z), link, changes, moved)


class StateRows(ClosureRows):
    """The rows of closures and of functions, and how they vary with q and v: 2 nv columns."""

    def __init__(self, dynamics: ConstrainedDynamics, q: Array, v: Array, a: Array) -> None:
        """Find what q and v change of each link, spatially (13.8); raises as FunctionRows does."""
        self._functions, self._state = FunctionRows(dynamics, q), (v, a)
        tree = ScrewTree(dynamics.model, q)
        motion, s = LinkMotion(tree, v, a), tree.screws
        parent = dynamics.model.link_table.parent[tree.link]  # -1, the ground, is the last row
        before, before_a = motion.twist[parent], motion.acceleration[parent]
        p = bracket(before, s)  # (13.6), with a ground that is at rest
        pushed = bracket(before_a, s) + bracket(before, p)
        self._changes = []
        for i, here in enumerate(np.vstack([tree.moves, np.zeros(len(s), dtype=bool)])):
            V, dV, part = motion.twist[i], motion.acceleration[i], here[:, None]
            self._changes.append(Changes(
                np.vstack([part * s, np.zeros_like(s)]),
                np.vstack([part * (p + bracket(s, V)), part * s]),
                np.vstack([part * (pushed - bracket(V, p) + bracket(s, dV)),
                           part * (p + motion.rates - bracket(V, s))])))
        super().__init__(dynamics, tree, motion, 2 * len(s))

    def changes(self, body: str | None, link: int) -> Changes:
        """Return those of the link that carries the body."""
        return self._changes[link]

    def acceleration_changes(self) -> Array:
        """Return D(A a + Adot v) (m, 2 nv)."""
        result = super().acceleration_changes()
        result[self._m - self._functions.count:] = self._functions.acceleration_changes(
            *self._state)
        return result

    def force_changes(self, multipliers: Array) -> Array:
        """Return D(A^T lam) (nv, 2 nv) with the multipliers as they are."""
        tree, n, own = self._tree, self._model.nv, self._m - self._functions.count
        result = np.zeros((n, 2 * n))
        for a, b, wrench, change in self.pressed(multipliers):
            sign = self._signs(a, b)[:, None]
            result += sign * (tree.screws @ change.T)
            result[:, :n] += sign * (tree.screw_derivatives @ wrench).T
        result[:, :n] += self._functions.force_changes(multipliers[own:])
        return result
