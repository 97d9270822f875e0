# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Derivatives of a step of stormer_verlet, on constraints too (13.59), and of charts (13.56)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators.kernels.variational import (
    discrete_momenta, LinkStep)
from liedyn_ros.dynamics.tree.constants import homogeneous
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.kernels.tables import State
from liedyn_ros.dynamics.tree.screw_tree import inertia_matrices, link_screws
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model

# Of q, a velocity v and multipliers y: the derivatives by q of A^T y (nv, nv) and of A v (r, nv).
ConstraintPartials = Callable[[Array, Array, Array], tuple[Array, Array]]


class Step(NamedTuple):
    """A step dt (s) from q, v to q1, v1, under forces that are held."""

    q: Array
    v: Array
    q1: Array
    v1: Array
    dt: float
    tau: ArrayLike
    external: ArrayLike | None


def pull_variational_step(
        tree: Dynamics, taken: Step, rows: Array, rows1: Array,
        constraint_partials: ConstraintPartials, by: Array) -> tuple[Array, Array]:
    """
    Return by A (k, 2 nv) and by B (k, nv) of a step, for by (k, 2 nv), backwards through it.

    rows and rows1 (r, nv) are Jacobians of constraints at its ends. A gradient takes the place of
    Jacobians where k is 1.
    """
    model, n, half, (q, v, q1, v1) = tree.model, len(taken.v), 0.5 * taken.dt, taken[:4]
    rest, at = np.zeros(n), DiscreteMomenta(tree, q, _rate(model, taken), taken.dt)
    start_by_q, start_by_rate = at.pull(np.eye(n), np.zeros((n, n)))
    forces = half * (as_array('tau', taken.tau, (n,)) - tree.resistance(v))

    def by_q_of(q: Array, a: Array, p: Array, external: ArrayLike | None = None) -> Array:
        """Return p (k, nv) times the derivatives by q of inverse dynamics without velocities."""
        derivatives = tree.inverse.partial_derivatives
        return derivatives.gradient(q, rest, a, p[0], external).by_q[None] if len(p) == 1 else (
            p @ derivatives(q, rest, a, external).by_q)

    def end(q: Array, v: Array, p: Array) -> tuple[Array, Array, Array, Array]:
        """Return M, the weight, and the derivatives by q of p M v and of p times the weight."""
        return (tree.mass_matrix(q), tree.bias(q, rest, taken.external),
                by_q_of(q, v, p) - by_q_of(q, rest, p), by_q_of(q, rest, p, taken.external))

    # M1 v1 = P1 + K1 + A1^T y1, A1 v1 = 0
    p, s = _saddle_pull(tree.mass_matrix(q1), rows1, rows1, by[:, n:])
    mass, weight, of_momentum, of_weight = end(q1, v1, p)
    y = _multipliers(rows1, mass @ v1 - at.end - forces + half * weight)
    bent, swung = constraint_partials(q1, v1, y)
    of_q1 = by[:, :n] - of_momentum - half * of_weight + p @ bent - s @ swung
    by_q, of_rate = at.pull(np.zeros_like(p), p)
    turn = model.integrate_derivatives(q, model.difference(q, q1)).by_q
    arrive = _arrival(model, taken)
    # P0 = M v + K + A^T y, at the arrival f = 0 (12.38)
    p0, s0 = _saddle_pull(start_by_rate, rows, rows1 @ arrive, of_rate + of_q1 @ arrive)
    mass, weight, of_momentum, of_weight = end(q, v, p0)
    y = _multipliers(rows, at.start - mass @ v - forces + half * weight)
    by_q += (of_q1 - s0 @ rows1) @ turn + of_momentum - half * of_weight
    by_q += p0 @ (constraint_partials(q, v, y)[0] - start_by_q)
    by_tau = half * (p + p0)
    return np.hstack((by_q, p0 @ mass - tree.constants.damping * by_tau)), by_tau


def _multipliers(rows: Array, impulse: Array) -> Array:
    """Return the y (r,) of A^T y = impulse."""
    return np.asarray(np.linalg.lstsq(rows.T, impulse, rcond=None)[0])


def _saddle_pull(matrix: Array, rows: Array, closing: Array, by: Array) -> tuple[Array, Array]:
    """Return by (k, nv) times the x of matrix x - A^T y = f, closing x = g, by f and by g."""
    r, n = len(rows), len(matrix)
    whole = np.block([[matrix, -rows.T], [closing, np.zeros((r, r))]]).T
    found = np.linalg.solve(whole, np.vstack((by.T, np.zeros((r, len(by)))))).T
    return found[:, :n], found[:, n:]


def _rate(model: Model, taken: Step) -> Array:
    """Return the rate (nv,) of a step: a free joint turns and moves apart (3.16)."""
    tangent = model.difference(taken.q, taken.q1)
    for vi in model.link_table.vi[model.link_table.free]:
        tangent[vi + 3:vi + 6] = se3.exp(tangent[vi:vi + 6])[:3, 3]
    return tangent / taken.dt


def _arrival(model: Model, taken: Step) -> Array:
    """Return the derivatives (nv, nv) of q1 by the rate."""
    tangent, dt = model.difference(taken.q, taken.q1), taken.dt
    result = dt * model.integrate_derivatives(taken.q, tangent).by_dv
    for vi in model.link_table.vi[model.link_table.free]:
        result[vi:vi + 6, vi:vi + 6] = _free_by_rate(tangent[vi:vi + 3], dt)
    return result


def _free_by_rate(turn: Array, dt: float) -> Array:
    """Return the derivatives (6, 6) of the displacement of a free joint by its rate."""
    result = np.zeros((6, 6))
    result[:3, :3], result[3:, 3:] = dt * so3.right_jacobian(turn), dt * so3.exp(turn).T
    return result


class DiscreteMomenta:
    """
    The momenta at the ends of a step, start and end (nv,), and how they vary, link by link.

    They are (3.17) and (3.18). Maps of links (N, 6, 6) are of displacements in their own frames.
    """

    def __init__(self, tree: Dynamics, q: Array, rate: Array, dt: float) -> None:
        """Write the momenta of a step at a rate (nv,), and the maps."""
        table = self._table = tree.model.link_table
        screws = [link_screws(table, i) for i in range(table.N)]
        self._of = np.repeat(np.arange(table.N), [len(each) for each in screws])
        self._screws = np.vstack([np.zeros((0, 6)), *screws])
        self.start, self.end = np.empty((2, len(rate)))
        data, steps = Data(tree.constants), LinkStep.table(tree.constants.links)
        discrete_momenta(tree.constants.table, data.table, steps, q, rate, dt, self.start,
                         self.end)
        poses = _homogeneous(State.of(data.table[1:tree.constants.links], 'pose'))
        moves = _homogeneous(LinkStep.of(steps[1:], 'displacement'))
        wrench = LinkStep.of(steps[1:], 'wrench')
        tangents, free = dt * self._twists(rate), table.free
        own, self._by_rate = se3.exp(tangents), dt * se3.right_jacobian(tangents)
        own[free] = se3.from_rotation_translation(
            so3.exp(tangents[free, :3]), tangents[free, 3:])
        for i in free:
            self._by_rate[i] = _free_by_rate(tangents[i, :3], dt)
        self._out, self._apart, self._back = (
            se3.adjoint(se3.inverse(each)) for each in (poses, own, moves))
        self._across = se3.adjoint(moves).swapaxes(1, 2)
        self._turns = _turn(wrench)
        self._turns_across = _turn((self._across @ wrench[..., None])[..., 0])
        self._wrenches = _wrenches(table.inertia, moves, dt)

    def pull(self, by_start: Array, by_end: Array) -> tuple[Array, Array]:
        """Return the gradients (k, nv) by q and by the rate of those by both momenta (k, nv)."""
        ends, parents = self._twists(by_end.T), self._table.parent
        wrench = self._twists(by_start.T) + self._across.swapaxes(1, 2) @ ends
        turn = np.zeros_like(wrench)
        for i, parent in enumerate(parents):
            if parent >= 0:
                carried = self._out[i] @ wrench[parent]
                wrench[i] += carried
                turn[i] = -self._turns[i].T @ carried
        x = self._turns_across.swapaxes(1, 2) @ ends + self._wrenches.swapaxes(1, 2) @ wrench
        for i in reversed(range(len(parents))):
            carried = self._apart[i].T @ x[i]
            turn[i] += carried - self._back[i].T @ x[i]
            if parents[i] >= 0:
                x[parents[i]] += self._out[i].T @ carried
        return self._along(turn).T, self._table.armature * (by_start + by_end) + self._along(
            self._by_rate.swapaxes(1, 2) @ x).T

    def _twists(self, rates: Array) -> Array:
        """Return the sums (N, 6, ...) of screws of links times numbers (nv, ...)."""
        found = np.zeros((self._table.N, 6, *rates.shape[1:]))
        np.add.at(found, self._of, np.einsum('cj,c...->cj...', self._screws, rates))
        return found

    def _along(self, wrenches: Array) -> Array:
        """Return the forces (nv, k) along screws of wrenches on links (N, 6, k)."""
        return np.asarray(np.einsum('cj,cjk->ck', self._screws, wrenches[self._of]))


def _homogeneous(poses: Array) -> Array:
    """Return the matrices (N, 4, 4) of poses (N, 12): rotation row by row, translation."""
    return np.array([homogeneous(pose) for pose in poses]).reshape(-1, 4, 4)


def _wrenches(parameters: Array, moves: Array, dt: float) -> Array:
    """Return how wrenches of links at q0 change by displacements (N, 6, 6), from (3.17)."""
    mass, inertia, turned = parameters[:, 0], inertia_matrices(parameters), moves[:, :3, :3]
    moment = so3.hat(parameters[:, 1:4])
    centre = moment / np.where(mass > 0.0, mass, np.inf)[:, None, None]
    force = turned @ np.concatenate((-moment, mass[:, None, None] * np.eye(3)
                                     + np.zeros_like(moment)), axis=2) / dt
    x = so3.log(turned)
    own = (inertia[:, :3, :3] + moment @ centre) / dt  # about the centre of mass
    inverse = so3.right_jacobian_inverse(x)
    by_x = inverse @ own + rate_by_coordinates(so3.hat, x, (own @ x[..., None])[..., 0])
    result = np.concatenate((centre @ force, force), axis=1)
    result[:, :3, :3] += by_x @ inverse
    return result


def _turn(wrench: Array) -> Array:
    """Return the matrices (..., 6, 6) of ad_x^T F by x."""
    m, f = so3.hat(wrench[..., :3]), so3.hat(wrench[..., 3:])
    return np.block([[m, f], [f, np.zeros_like(m)]])


_TERMS = 80  # of the series below: rounding for turns of up to 4 rad in a step


def rate_by_chart(model: Model, x: Array, v: Array) -> Array:
    """Return the derivative (nv, nv) by x of the rate J_r(x)^-1 v of coordinates x (13.56)."""
    result = np.zeros((model.nv, model.nv))
    for group, place in model.link_table.groups:
        result[place, place] = rate_by_coordinates(group.ad, x[place], v[place])
    return result


def rate_by_coordinates(bracket: Callable[[Array], Array], x: Array, v: Array) -> Array:
    """Return - sum_k c_k sum_j ad_x^j ad_w, w = ad_x^(k - 1 - j) v, c those of J_r^-1."""
    step, inner = bracket(x), v
    inside, result = np.zeros_like(step), np.zeros_like(step)
    for weight in _series()[1:]:
        inside = step @ inside + bracket(inner)
        before, result = result, result - weight * inside
        if weight != 0.0 and (result == before).all():
            break  # the terms that follow are smaller
        inner = (step @ inner[..., None])[..., 0]
    return result


@cache
def _series() -> Array:
    """Return the coefficients of J_r(x)^-1 in powers of ad_x, (-1)^k B_k / k!."""
    from scipy.special import bernoulli, factorial  # which take long to import
    weights: Array = (-1.0) ** np.arange(_TERMS) * bernoulli(_TERMS - 1)
    return weights / factorial(np.arange(_TERMS))
