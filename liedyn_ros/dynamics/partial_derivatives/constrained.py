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
Partial derivatives of the forward dynamics of machines with closed loops (13.19, 13.20).

The equations M a + b = tau + A^T lam and A a + Adot v = 0 are varied. The rows of A are jets.
"""

from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ModelError, SingularError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, ConstraintStatus
from liedyn_ros.dynamics.partial_derivatives.linearization import LinearModel
from liedyn_ros.dynamics.partial_derivatives.rates import bracket
from liedyn_ros.dynamics.partial_derivatives.row_jets import Jet, row_wrench, Side
from liedyn_ros.dynamics.partial_derivatives.time_derivatives import velocity_brackets
from liedyn_ros.dynamics.screw_tree import LinkMotion, ScrewTree, unpacked
from liedyn_ros.model import CLOSURE_TYPES


class ConstrainedJacobians(NamedTuple):
    """
    The accelerations a (nv,), the multipliers (m,), and their partial derivatives.

    by_q, by_v and by_tau (nv, nv): row k is a[k]; multipliers_by_q, _by_v and _by_tau (m, nv).
    Those by q are along the tangents of model.integrate. A displacement or a change of velocity
    may leave the constraints: accelerations then keep A v as it is, as with forward's
    closed=False. Where constraints are redundant, only those that keep them have a meaning, and
    the change of the multipliers is the one of least norm.
    """

    a: Array
    multipliers: Array
    by_q: Array
    by_v: Array
    by_tau: Array
    multipliers_by_q: Array
    multipliers_by_v: Array
    multipliers_by_tau: Array

    def by_parameters(self, forces: Array) -> tuple[Array, Array]:
        """
        Return how a (nv, ...) and the multipliers (m, ...) vary with parameters of the tree.

        forces are as HybridJacobians.by_parameters says. Parameters that place closures, or move
        joints, change the constraints too and are not meant.
        """
        return (-np.einsum('ij,j...->i...', self.by_tau, forces),
                -np.einsum('ij,j...->i...', self.multipliers_by_tau, forces))


def constrained_partial_derivatives(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
        external: ArrayLike | None = None) -> ConstrainedJacobians:
    """
    Return accelerations, multipliers and their derivatives at a state on the constraints.

    Arrays are those of dynamics.forward; external (B, 6) stay the same in the frames of their
    bodies. Raises what dynamics.forward raises, ModelError for constraint functions, and
    SingularError where fewer constraints are independent than elsewhere: there are no derivatives.
    """
    model, n = dynamics.model, dynamics.model.nv
    require_known(dynamics)
    q, v = model.check_configuration(q), as_array('v', v, (n,))
    tau = as_array('tau', tau, (n,))
    found = dynamics.forward(q, v, tau, external=external)
    if found.status is ConstraintStatus.SINGULAR:
        refuse_rank(dynamics, found.rank)
    tree = dynamics.tree.inverse.partial_derivatives(q, v, found.a, external)
    rows = Rows(dynamics, q, v, found.a)
    forces = np.hstack([tree.by_q, tree.by_v]) - rows.force_changes(found.multipliers)
    right = np.zeros((n + dynamics.m, 3 * n))  # of (13.19), for q, v and tau
    right[:n, :2 * n], right[:n, 2 * n:] = -forces, np.eye(n)
    right[n:, :2 * n] = -rows.acceleration_changes()
    jacobian = dynamics.jacobian(q)
    kept = qr(jacobian.T, mode='r', pivoting=True)[1][:found.rank] if dynamics.m else []
    matrix = np.zeros((n + len(kept), n + len(kept)))
    matrix[:n, :n], matrix[:n, n:] = tree.by_a, -jacobian[kept].T
    matrix[n:, :n] = jacobian[kept]
    solved = as_array('derivatives', np.linalg.solve(
        matrix, np.vstack([right[:n], right[n:][kept]])), (-1, 3 * n))
    a, presses = solved[:n], jacobian[kept].T @ solved[n:]
    multipliers = as_array('derivatives', np.linalg.pinv(
        jacobian.T, rcond=1e-9) @ presses, (dynamics.m, 3 * n))
    return ConstrainedJacobians(
        found.a, found.multipliers, a[:, :n], a[:, n:2 * n], a[:, 2 * n:],
        multipliers[:, :n], multipliers[:, n:2 * n], multipliers[:, 2 * n:])


def linearize_constrained(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike,
                          tau: ArrayLike, external: ArrayLike | None = None) -> LinearModel:
    """
    Return the continuous model about a motion of a machine with closed loops (13.48).

    As for linearize, with displacements eta and dv of all coordinates. Those of a machine satisfy
    A eta = 0, and the motion of the model preserves it. Raises what
    constrained_partial_derivatives raises.
    """
    at, n = constrained_partial_derivatives(dynamics, q, v, tau, external), dynamics.model.nv
    a, b = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))
    a[:n, :n], a[:n, n:] = -velocity_brackets(dynamics.model, np.asarray(v)), np.eye(n)
    a[n:, :n], a[n:, n:], b[n:] = at.by_q, at.by_v, at.by_tau
    return LinearModel(a, b)


def require_known(dynamics: ConstrainedDynamics) -> None:
    """Raise ModelError for constraint functions, whose derivatives are not known."""
    if dynamics.functions:
        raise ModelError('functions: expected closures and couplings alone, whose derivatives are '
                         f'known, got {[function.name for function in dynamics.functions]}')


def refuse_rank(dynamics: ConstrainedDynamics, rank: int) -> NoReturn:
    """Raise SingularError for a configuration in which too few constraints are independent."""
    raise SingularError(f'q: expected a configuration in which {dynamics.mobility.rank} '
                        f'constraints are independent, got {rank}')


class Rows:
    """
    The rows of closures at a motion, as jets, and what follows from them.

    closures has the two frames of each closure; wrenches has the wrenches of its rows on body b.
    """

    def __init__(self, dynamics: ConstrainedDynamics, q: Array, v: Array, a: Array) -> None:
        self._model, self._m = dynamics.model, dynamics.m
        self._tree = tree = ScrewTree(dynamics.model, q)
        s, links = tree.screws, tree.link
        parent = dynamics.model.link_table.parent[links]  # -1, the ground, is the last row
        moves = np.vstack([tree.moves, np.zeros(len(s), dtype=bool)])
        motion = LinkMotion(tree, v, a)
        twist, rates, self._acceleration = motion.twist, motion.rates, motion.acceleration
        self._twist = twist
        before, before_a = twist[parent], self._acceleration[parent]
        p = bracket(before, s)  # (13.6), with a ground that is at rest
        pushed = bracket(before_a, s) + bracket(before, p)
        # What q and v change of each link, spatially (13.8): displacement, twist, acceleration.
        self._moved, self._turned, self._driven = [], [], []
        for i, here in enumerate(moves):
            V, dV = twist[i], self._acceleration[i]
            part = here[:, None]
            self._moved.append(np.vstack([part * s, np.zeros_like(s)]))
            self._turned.append(np.vstack([part * (p + bracket(s, V)), part * s]))
            self._driven.append(np.vstack([
                part * (pushed - bracket(V, p) + bracket(s, dV)),
                part * (p + rates - bracket(V, s))]))
        self.closures = [(self._side(c.body_a, c.frame_a), self._side(c.body_b, c.frame_b), c)
                         for c in dynamics.model.closures]
        self.wrenches = [[row_wrench(a, b, closure, kind) for kind in
                          CLOSURE_TYPES[closure.type_name].rows]
                         for a, b, closure in self.closures]

    def jacobian(self) -> Array:
        """Return the rows of A that closures have, before those of couplings."""
        moves = np.vstack([self._tree.moves, np.zeros(self._model.nv, dtype=bool)]) * 1.0
        rows = [(moves[b.link] - moves[a.link]) * (self._tree.screws @ wrench.value)
                for (a, b, _), wrenches in zip(self.closures, self.wrenches)
                for wrench in wrenches]
        return np.reshape(rows, (-1, self._model.nv))

    def acceleration_changes(self) -> Array:
        """Return D(A a + Adot v) (m, 2 nv); couplings do not change."""
        result, r = np.zeros((self._m, 2 * self._model.nv)), 0
        for (side_a, side_b, _), wrenches in zip(self.closures, self.wrenches):
            a, b = side_a.link, side_b.link
            twist, rate = self._twist[b] - self._twist[a], (
                self._acceleration[b] - self._acceleration[a])
            turned, driven = (x[b] - x[a] for x in (self._turned, self._driven))
            for w in wrenches:
                result[r] = w.change @ rate + driven @ w.value + w.both @ twist + turned @ w.rate
                r += 1
        return result

    def force_changes(self, multipliers: Array) -> Array:
        """Return D(A^T lam) (nv, 2 nv) with the multipliers as they are."""
        tree, n, r = self._tree, self._model.nv, 0
        moves = np.vstack([tree.moves, np.zeros(n, dtype=bool)]).astype(np.float64)
        result = np.zeros((n, 2 * n))
        for (side_a, side_b, _), wrenches in zip(self.closures, self.wrenches):
            lam = multipliers[r:r + len(wrenches)]
            value = sum(x * w.value for x, w in zip(lam, wrenches))
            change = sum(x * w.change for x, w in zip(lam, wrenches))
            sign = moves[side_b.link] - moves[side_a.link]
            result += sign[:, None] * (tree.screws @ np.transpose(change))
            result[:, :n] += sign[:, None] * (tree.screw_derivatives @ value).T
            r += len(wrenches)
        return result

    def _side(self, body: str | None, frame: Array) -> Side:
        link, pose = -1, frame
        if body is not None:
            table, b = self._model.link_table, self._model.body_index(body)
            link, pose = int(table.body_link[b]), unpacked(table.body_placement[b]) @ frame
            if link >= 0:
                pose = self._tree.poses[link] @ pose
        x, y, z = pose[:3, :3].T
        return Side(self._carried(link, pose[:3, 3], 1.0),
                    (self._carried(link, x, 0.0), self._carried(link, y, 0.0),
                     self._carried(link, z, 0.0)), link)

    def _carried(self, link: int, x: Array, is_point: float) -> Jet:
        """Return a point or a direction that a link carries."""
        (w, u), moved, turned = np.split(self._twist[link], 2), self._moved[link], (
            self._turned[link])
        change = np.cross(moved[:, :3], x) + is_point * moved[:, 3:]
        return Jet(x, np.cross(w, x) + is_point * u, change,
                   np.cross(turned[:, :3], x) + np.cross(w, change) + is_point * turned[:, 3:])
