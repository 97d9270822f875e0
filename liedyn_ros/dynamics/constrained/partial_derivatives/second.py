# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
All second derivatives of machines with closed loops: forward, hybrid, inverse dynamics (13.25b).

Both solve H y - A^T lam = f, A y = g for unknowns y and lam. Varied twice, the same matrix has on
its right the second derivatives of the tree and of the rows. Those of the rows are time
derivatives along constant velocities, with a bracket where tangents do not commute (13.5). The
matrix is dense, for many columns at once, and one for forward, hybrid and inverse dynamics
(13.19), (13.19b). First derivatives use the sparse factors of the dynamics.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.partial_derivatives.constraint_rates import ConstraintRates
from liedyn_ros.dynamics.constrained.solver.solution import ConstrainedSolution
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import velocity_brackets


class KktSystem:
    """
    The matrix of H y - A^T lam = f, A y = g, lam = A mu + l, factored.

    upper (c, c) is H, rows (m, c) is A of a rank. The last equation makes multipliers those of
    least norm: without l they are in the range of A. With a basis U of this range, lam = U s + l
    is determined. Where rows are independent, lam is so without mu. Of several mu the one of least
    energy counts, as in the dynamics: mass (c, c) is that of mu.
    """

    def __init__(self, upper: Array, rows: Array, rank: int, mass: Array) -> None:
        """Factor the matrix of y and s."""
        self.redundant = rank < len(rows)
        self._size, self._turned = len(upper), rows.T
        self._basis = np.linalg.svd(rows)[0][:, :rank] if self.redundant else np.eye(rank)
        self._rows, self._mass = self._basis.T @ rows, mass
        matrix = np.zeros((self._size + rank, self._size + rank))
        matrix[:self._size, :self._size], matrix[:self._size, self._size:] = upper, -self._rows.T
        matrix[self._size:, :self._size] = self._rows
        self._solve = solver_of(matrix)

    @cached_property
    def _inverse(self) -> Array:
        """Return the matrix (c, rank) that has mu of least energy with A mu = U s, given s."""
        energy = self._mass + self._rows.T @ self._rows  # regular; the second part is given by s
        response = np.linalg.solve(energy, self._rows.T)
        return np.asarray(response @ np.linalg.inv(self._rows @ response))

    def potentials(self, multipliers: Array) -> Array:
        """Return mu (c,) with lam = A mu (m,)."""
        return np.asarray(self._inverse @ (self._basis.T @ multipliers))

    def solve(self, forces: Array, gaps: Array, offset: Array) -> tuple[Array, Array, Array]:
        """
        Return y (c, x), the multipliers (m, x), and mu (c, x) where constraints are redundant.

        forces is f, gaps g, offset l, read where constraints are redundant.
        """
        if not self.redundant:
            offset = np.zeros((len(self._basis), 1))
        found = self._solve(np.concatenate(
            [forces + self._turned @ offset, self._basis.T @ gaps], axis=-2))
        y, s = found[:self._size], found[self._size:]
        return y, self._basis @ s + offset, self._inverse @ s if self.redundant else y


def solver_of(matrix: Array) -> Callable[[Array], Array]:
    """
    Return a function that solves linear equations with a matrix, for sides (..., n, c).

    The matrix is inverted once. Blocks of columns are multiplied with the inverse one by one. For
    all at once BLAS would set up threads, which takes longer than to solve.
    """
    inverse = as_array('derivatives', np.linalg.inv(matrix), matrix.shape)

    def solve(sides: Array) -> Array:
        solved = inverse @ sides
        solved += inverse @ (sides - matrix @ solved)
        return as_array('derivatives', solved, sides.shape)
    return solve


PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (0, 3))  # of q, v and what is given; others are zero


class Variation(NamedTuple):
    """
    How one of both equations varies with q, v and what is given, the unknowns staying.

    first: (x, nv) of q, of v and of one or two that are given. second: (x, nv, nv) of as many
    PAIRS; the last index is that of the derivative taken last.
    """

    first: Sequence[Array]
    second: Sequence[Array]

    @classmethod
    def of_first(cls, by_q: Array, by_qq: Array) -> 'Variation':
        """Return the variation of an equation in q alone, among q, v, a and tau."""
        still, cube = np.zeros_like(by_q), np.zeros_like(by_qq)
        return cls((by_q, still, still, still), (by_qq, cube, cube, cube, cube))

    def with_given(self, given: Array) -> 'Variation':
        """Return that with tau in addition, by which the equation varies so (x, nv)."""
        return Variation((*self.first, given), (*self.second, np.zeros_like(self.second[0])))

    def negative(self) -> 'Variation':
        """Return the variation of minus the equation."""
        return Variation([-each for each in self.first], [-each for each in self.second])

    def less_reactions(self, rows: 'RowSeconds', multipliers: Array) -> 'Variation':
        """Return that with - A^T lam in addition, lam (m,) staying."""
        by_q = np.einsum('mix,m->ix', rows.slopes, multipliers)
        return Variation(
            (self.first[0] - by_q, *self.first[1:]),
            (self.second[0] - rows.of_forces(multipliers), *self.second[1:]))


def tree_forces(constraints: Constraints, motion: tuple[Array, Array, Array],
                external: ArrayLike | None) -> 'tuple[RowSeconds, Variation]':
    """Return the rows at q, and how the forces of the tree vary with q, v and a."""
    derivatives = constraints.tree.inverse.partial_derivatives
    by_q, by_v, by_a, _ = derivatives(*motion, external)
    return RowSeconds(constraints, motion[0]), Variation(
        (by_q, by_v, by_a), derivatives.second_derivatives(*motion, external))


class RowSeconds:
    """The second derivatives of the rows of constraints at q, by tangents of q."""

    def __init__(self, constraints: Constraints, q: Array) -> None:
        """Write the series of the rows along each tangent."""
        self._constraints, self._q, self._n = constraints, q, constraints.model.nv
        units, still = np.eye(self._n), np.zeros(self._n)
        self._along = [ConstraintRates(constraints, q, np.array([e, still])) for e in units]
        here = self._along[0]
        self.rows = here.rows[0]
        self.slopes = np.stack([here.vary_rows(e[None])[0] for e in units], axis=1)
        """(m, nv, nv): how A[m, i] varies with q[k]."""

    def of_motion(self, y: Array) -> Array:
        """Return E_k E_j (A y) (m, j, k), y (nv,) staying."""
        rates = np.array([y, np.zeros(self._n)])
        return np.stack([along.vary_rows(rates)[1] for along in self._along], axis=2)

    def of_forces(self, multipliers: Array) -> Array:
        """Return E_k E_j (A^T lam) (nv, j, k), lam (m,) staying."""
        rates = np.array([multipliers, np.zeros_like(multipliers)])
        return np.stack([along.vary_forces(rates)[1] for along in self._along], axis=2)

    def of_acceleration(self, v: Array, a: Array) -> Variation:
        """Return how A a + A' v varies with q, v and nothing else, a staying."""
        turns, slopes, still = (velocity_brackets(self._constraints.model, v), self.slopes,
                                np.zeros(self._n))
        # E_j E_v = E_v E_j - E_[v, j], for each column of A
        here = ConstraintRates(self._constraints, self._q, np.array([v, still]))
        mixed = np.stack([here.vary_rows(np.array([e, still]))[1] for e in np.eye(self._n)],
                         axis=1) - slopes @ turns
        by_q = np.einsum('mij,i->mj', slopes, a) + np.einsum('mij,i->mj', mixed, v)
        by_v = np.einsum('mij,i->mj', slopes, v) + slopes @ v
        twice = self.of_motion(v)
        by_qq = self.of_motion(a) + self._fourth(v, twice, turns)
        by_qv = (twice + mixed).transpose(0, 2, 1)
        return Variation((by_q, by_v, np.zeros_like(by_q)), (
            by_qq, by_qv, slopes + slopes.transpose(0, 2, 1), np.zeros_like(by_qq)))

    def _fourth(self, v: Array, twice: Array, turns: Array) -> Array:
        """Return E_k E_j E_v E_v of the constraints (m, j, k), by polarisation."""
        size, rates = max(float(np.abs(v).max(initial=0.0)), 1.0), np.array([v, 0.0 * v, 0.0 * v])

        def along(w: Array) -> Array:
            motion = np.array([w, 0.0 * w, 0.0 * w])
            return ConstraintRates(self._constraints, self._q, motion).vary_rows(rates)[2]

        both = np.stack([(along(v + size * e) - along(v - size * e)) / (2.0 * size)
                         for e in np.eye(self._n)], axis=2)  # (E_v E_k + E_k E_v) E_j E_v
        return 0.5 * (both - twice @ turns) - np.einsum('mlk,lj->mjk', twice, turns)


class TurnedRows:
    """The columns of passive joints as rows, by multipliers: all of them are independent."""

    def __init__(self, rows: RowSeconds, passive: NDArray[np.bool_]) -> None:
        """Take the rows and a mask (nv,)."""
        self.rows, self.slopes = rows.rows.T[passive], rows.slopes.swapaxes(0, 1)[passive]

    def of_motion(self, y: Array) -> Array:
        """Raise: nobody asks where rows are independent."""
        raise NotImplementedError


class FreeColumns:
    """The rows of constraints, by the coordinates whose acceleration is unknown alone."""

    def __init__(self, rows: RowSeconds, free: NDArray[np.bool_]) -> None:
        """Take the rows and a mask (nv,)."""
        self._all, self._free = rows, free
        self.rows, self.slopes = rows.rows[:, free], rows.slopes[:, free]

    def of_motion(self, y: Array) -> Array:
        """Return of_motion of RowSeconds for y of these coordinates, the others being zero."""
        whole = np.zeros(len(self._free))
        whole[self._free] = y
        return self._all.of_motion(whole)


Rows = RowSeconds | FreeColumns | TurnedRows


class VariedTwice:
    """The unknowns y (c,) and multipliers (m,) of H y - A^T lam = f, A y = g, varied twice."""

    def __init__(self, upper: Array, upper_slopes: Array, rows: Rows, rank: int, mass: Array
                 ) -> None:
        """Factor the matrix; upper_slopes (n, k, n) is how H varies with q[k]."""
        self._rows, self._upper_slopes = rows, upper_slopes
        self._system = KktSystem(upper, rows.rows, rank, mass)
        self.first: list[tuple[Array, Array, Array]] = []  # how y, lam and mu vary once

    def unknowns(self, forces: Array) -> Array:
        """Return y (c,) with A y = 0 for H y - A^T lam = f (c,)."""
        rest = np.zeros(len(self._rows.rows))
        return self._solved(-forces, rest, 0.0)[0]

    def potentials(self, gaps: Array) -> Array:
        """Return lam (m,) with A^T lam = H y for y of the least norm in H with A y = gaps."""
        return self._solved(np.zeros(len(self._upper_slopes)), -gaps, 0.0)[1]

    def solve(self, forces: Variation, gaps: Variation, multipliers: Array
              ) -> tuple[list[Array], list[Array]]:
        """
        Return y (n, n, n) and the multipliers (m, n, n) for each of PAIRS.

        forces and gaps vary H y - A^T lam - f and A y - g.
        """
        system, slopes = self._system, self._rows.slopes
        offsets: list[Array | float] = [0.0] * len(forces.second)
        potential: Array = np.zeros(slopes.shape[1])
        if system.redundant:
            potential = system.potentials(multipliers)
        self.first = first = [self._solved(
            force, gap, 0.0 if k else np.einsum('mix,i->mx', slopes, potential))
            for k, (force, gap) in enumerate(zip(forces.first, gaps.first))]
        if system.redundant:
            twice = self._rows.of_motion(potential)
            offsets = [_sides(slopes, 'mix,iy->mxy', pair, [mu for _, _, mu in first])
                       + (twice if pair == (0, 0) else 0.0) for pair in PAIRS[:len(offsets)]]
        ys, multiplier_list = [], []
        for pair, force, gap, offset in zip(
                PAIRS, forces.second, gaps.second, offsets):
            ys_of, lams = [y for y, _, _ in first], [lam for _, lam, _ in first]
            force = (force + _sides(self._upper_slopes, 'nxi,iy->nxy', pair, ys_of)
                     - _sides(slopes, 'mnx,my->nxy', pair, lams))
            gap = gap + _sides(slopes, 'mix,iy->mxy', pair, ys_of)
            y, lam, _ = self._solved(force, gap, offset)
            ys.append(y)
            multiplier_list.append(lam)
        return ys, multiplier_list

    def _solved(self, forces: Array, gaps: Array, offset: Array | float
                ) -> tuple[Array, Array, Array]:
        """Return y, lam and mu for what varies in the equations, (n, ...) and (m, ...)."""
        shape = forces.shape[1:]
        columns = (-1, int(np.prod(shape)))
        offset = np.zeros(gaps.shape) + offset
        y, lam, mu = (each.reshape(-1, *shape) for each in self._system.solve(
            -forces.reshape(columns), -gaps.reshape(columns), offset.reshape(columns)))
        return y, lam, mu


def hybrid_seconds(constraints: Constraints, q: Array, v: Array, free: NDArray[np.bool_],
                   found: ConstrainedSolution, external: ArrayLike | None
                   ) -> tuple[list[Array], list[Array], list[Array]]:
    """
    Return a, tau (nv, nv, nv) and multipliers (m, nv, nv) of the first four PAIRS.

    found is the solution; known accelerations and forces are given.
    """
    n, known = len(free), np.diag(1.0 * ~free)
    rows, forces = tree_forces(constraints, (q, v, found.a), external)
    mass, bent = forces.first[2], forces.second[3]
    tree = forces.less_reactions(rows, found.multipliers)
    needs = Variation((*tree.first[:2], mass @ known - np.diag(1.0 * free)),
                      (*tree.second[:3], bent @ known))
    gaps = rows.of_acceleration(v, found.a)
    gaps = Variation((*gaps.first[:2], rows.rows @ known),
                     (*gaps.second[:3], rows.slopes.transpose(0, 2, 1) @ known))
    varied = VariedTwice(mass[np.ix_(free, free)], bent[free][:, :, free],
                         FreeColumns(rows, free), found.rank, mass[np.ix_(free, free)])
    accelerations, multipliers = varied.solve(
        Variation(*([each[free] for each in part] for part in needs)), gaps, found.multipliers)
    ys, lams = ([each[k] for each in varied.first] for k in (0, 1))
    a, tau = np.zeros((2, len(accelerations), n, n, n))
    a[:, free] = accelerations
    for k, (pair, need, y, lam) in enumerate(zip(
            PAIRS, needs.second, accelerations, multipliers)):
        needed = (need + _sides(bent[:, :, free], 'nxi,iy->nxy', pair, ys)
                  - _sides(rows.slopes, 'mnx,my->nxy', pair, lams)
                  + np.tensordot(mass[:, free], y, 1) - np.tensordot(rows.rows.T, lam, 1))
        tau[k, ~free] = needed[~free]
    return list(a), list(tau), multipliers


def forward_gradient_change(
        constraints: Constraints, q: Array, v: Array, found: ConstrainedSolution, y: Array,
        directions: tuple[Array, Array, Array, Array], external: ArrayLike | None
        ) -> tuple[Array, Array, Array, Array]:
    """
    Return the change of -p . (H a - f - A^T lam) + s . (A a + A' v), derived by q, v, a and lam.

    p and s are the multipliers of y . a: H p - A^T s = y, A p = 0. directions are those of q, v,
    a and lam. By the chain rule, a and lam give the change of a gradient of y . a.
    """
    dq, dv, da, dlam = directions
    rows, mass = RowSeconds(constraints, q), constraints.tree.mass_matrix(q)
    rest = np.zeros((len(rows.rows), 1))
    p, s = (each[:, 0] for each in KktSystem(mass, rows.rows, found.rank, mass).solve(
        y[:, None], rest, rest)[:2])
    by_q, by_v, by_a, *_ = constraints.tree.inverse.partial_derivatives.gradient_product(
        q, v, found.a, p, dq, dv, da, external)
    qq, qv, vv = (np.einsum('m,mjk->jk', s, each)
                  for each in rows.of_acceleration(v, found.a).second[:3])
    qq = qq + np.einsum('m,mjk->jk', found.multipliers, rows.of_motion(p))
    bent, held = np.tensordot(s, rows.slopes, 1), np.einsum('mik,i->mk', rows.slopes, p)
    return (qq @ dq + qv @ dv + da @ bent + dlam @ held - by_q, qv.T @ dq + vv @ dv - by_v,
            bent @ dq - by_a, held @ dq)


def least_torque_seconds(rows: RowSeconds, forces: Variation, needs: Array,
                         found: ConstrainedSolution, driven: NDArray[np.bool_], torque: Array
                         ) -> tuple[list[Array], list[Array]]:
    """
    Return tau (nv, nv, nv) and the multipliers (m, nv, nv) of inverse dynamics for each of PAIRS.

    forces are those of the tree, needs what actuators and constraints bear, torque the weights.
    """
    n = len(driven)
    varied = VariedTwice(
        np.diag(torque), np.zeros((n, n, n)), rows, found.rank, forces.first[2])
    nu = varied.unknowns(needs)  # Q nu - A^T x = needs, A nu = 0, x = -lam and tau = Q nu
    tree = forces.negative().less_reactions(rows, -found.multipliers)
    solved, multipliers = varied.solve(
        tree.with_given(np.diag(1.0 * ~driven)),
        Variation.of_first(np.einsum('mix,i->mx', rows.slopes, nu), rows.of_motion(nu)),
        -found.multipliers)
    return [torque[:, None, None] * each for each in solved], [-each for each in multipliers]


def least_torque_gradient_change(
        constraints: Constraints, motion: tuple[Array, Array, Array], found: ConstrainedSolution,
        passive: Array, torque: Array, y: Array, directions: tuple[Array, Array, Array, Array],
        external: ArrayLike | None) -> tuple[Array, Array, Array, Array]:
    """
    Return the change (nv,) of the gradient of y . tau by q, v, a and forces of passive joints.

    The equations are those of least_torque_seconds; p and s are their multipliers for y . tau.
    """
    dq, dv, da, dtau = directions
    rows, tree = RowSeconds(constraints, motion[0]), constraints.tree.inverse.partial_derivatives
    needs = constraints.tree.inverse(*motion, external) - passive * found.tau
    x, slopes, mass = -found.multipliers, rows.slopes, constraints.tree.mass_matrix(motion[0])
    system = KktSystem(np.diag(torque), rows.rows, found.rank, mass)
    still = np.zeros(len(x))

    def solve(forces: Array, gaps: Array, offset: Array = still) -> tuple[Array, Array]:
        answer = system.solve(forces[:, None], gaps[:, None], offset[:, None])
        return answer[0][:, 0], answer[1][:, 0]

    nu, (p, s) = solve(needs, still)[0], solve(torque * y, still)
    leaning = slopes.swapaxes(1, 2) @ (
        system.potentials(x) if system.redundant else np.zeros(len(nu)))
    turned = slopes @ dq  # how rows change
    change = tree.product(*motion, dq, dv, da, external) - passive * dtau
    dnu, dx = solve(change + turned.T @ x, -turned @ nu, leaning @ dq)
    twice = np.tensordot(x, rows.of_motion(p), 1) + np.tensordot(s, rows.of_motion(nu), 1)
    by_nu, by_x = s @ turned, turned @ p
    second = tree.gradient_product(*motion, p, dq, dv, da, external)
    alpha, sigma = solve(by_nu, -by_x)
    first = tree.gradient(*motion, alpha, external)
    across = np.tensordot(x, slopes, 1), np.tensordot(s, slopes, 1)
    by_q = (second.by_q + twice @ dq + dx @ (p @ slopes) + dnu @ across[1] + first.by_q
            + alpha @ across[0] + nu @ np.tensordot(sigma, slopes, 1)
            + (rows.rows @ alpha + by_x) @ leaning)
    return by_q, second.by_v + first.by_v, second.by_a + first.by_a, -passive * alpha


def least_force_seconds(rows: RowSeconds, forces: Variation, multipliers: Array,
                        driven: NDArray[np.bool_], weight: Array
                        ) -> tuple[list[Array], list[Array]]:
    """Return second derivatives where constraint forces are least; weight (m,) is 1 / sqrt(W)."""
    passive, turned = ~driven, TurnedRows(rows, ~driven)
    m, n = rows.rows.shape
    varied = VariedTwice(np.diag(weight**-2), np.zeros((m, n, m)), turned, int(passive.sum()),
                         np.diag(weight**-2))
    mu = np.zeros(n)
    mu[passive] = varied.potentials(turned.rows @ multipliers)
    left = forces.negative().with_given(np.diag(1.0 * passive)).less_reactions(rows, -multipliers)
    solved, _ = varied.solve(
        Variation.of_first(-np.einsum('mix,i->mx', rows.slopes, mu), -rows.of_motion(mu)),
        Variation(*([each[passive] for each in part] for part in left)), multipliers)
    lams = [lam for lam, _, _ in varied.first]
    borne = [rest + _sides(rows.slopes, 'mnx,my->nxy', pair, lams)
             + np.tensordot(rows.rows.T, lam, 1)
             for pair, lam, rest in zip(PAIRS, solved, left.second)]
    return [np.where(driven[:, None, None], -each, 0.0) for each in borne], solved


def least_force_gradient_change(
        constraints: Constraints, motion: tuple[Array, Array, Array], found: ConstrainedSolution,
        driven: NDArray[np.bool_], weight: Array, y: Array,
        directions: tuple[Array, Array, Array, Array], external: ArrayLike | None
        ) -> tuple[Array, Array, Array, Array]:
    """
    Return the change (nv,) of the gradient as before where constraint forces are least.

    With W lam = A mu, of y . tau the multipliers p and s satisfy W s = A p. mu is zero and p is y
    at actuators, and A^T lam is given and A^T s zero at passive joints.
    """
    dq, dv, da, dtau = directions
    rows, tree = RowSeconds(constraints, motion[0]), constraints.tree.inverse.partial_derivatives
    passive, slopes, lam = ~driven, rows.slopes, found.multipliers
    system = KktSystem(np.diag(weight**-2), rows.rows.T[passive], int(passive.sum()),
                       np.diag(weight**-2))

    def solve(forces: Array, needs: Array) -> tuple[Array, Array]:
        answer, potentials = system.solve(
            forces[:, None], needs[passive, None], np.zeros((len(passive), 1)))[:2]
        whole = np.zeros(len(passive))
        whole[passive] = potentials[:, 0]
        return answer[:, 0], whole

    turned = slopes @ dq  # how rows change
    mu = solve(0.0 * lam, rows.rows.T @ lam)[1]
    s, p = solve(rows.rows @ (driven * y), 0.0 * y)
    p = p + driven * y
    change = tree.product(*motion, dq, dv, da, external) - passive * dtau
    dlam, dmu = solve(turned @ mu, change - turned.T @ lam)
    ds, dp = solve(turned @ p, -turned.T @ s)
    second = tree.gradient_product(*motion, p, dq, dv, da, external)
    first = tree.gradient(*motion, dp, external)
    twice = np.tensordot(lam, rows.of_motion(p), 1) + np.tensordot(s, rows.of_motion(mu), 1)
    by_q = second.by_q + first.by_q - (
        twice @ dq + dlam @ (p @ slopes) + lam @ (dp @ slopes) + ds @ (mu @ slopes)
        + s @ (dmu @ slopes))
    by_v, by_a = second.by_v + first.by_v, second.by_a + first.by_a
    return by_q, by_v, by_a, np.where(passive, -dp, 0.0)


def _sides(slopes: Array, subscripts: str, pair: tuple[int, int], changes: Sequence[Array]
           ) -> Array:
    """Return terms of the slopes by q, where q is the first or last of a pair or both; else 0."""
    first, last = pair
    if first != 0:
        return np.zeros(())
    result: Array = np.einsum(subscripts, slopes, changes[last])
    return result + result.transpose(0, 2, 1) if last == 0 else result
