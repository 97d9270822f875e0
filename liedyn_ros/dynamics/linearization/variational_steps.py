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
    discrete_momenta, DISPLACEMENT, STEP_WIDTH, WRENCH)
from liedyn_ros.dynamics.linearization.linear_models import LinearModel
from liedyn_ros.dynamics.tree.constants import homogeneous
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.kernels.tables import ROTATION
from liedyn_ros.dynamics.tree.screw_tree import inertia_matrices, link_screws
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model
from liedyn_ros.model.kernels import kinds

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


def varied_variational_step(
        tree: Dynamics, taken: Step, rows: Array, rows1: Array,
        constraint_partials: ConstraintPartials) -> LinearModel:
    """Return the derivatives of a step, with Jacobians (r, nv) of constraints at its ends."""
    model, n, half = tree.model, len(taken.v), 0.5 * taken.dt
    moved, faster, pushed = np.split(np.eye(3 * n), 3)
    at = varied_momenta(tree, taken.q, _rate(model, taken), taken.dt)
    kick = half * (pushed - tree.constants.damping[:, None] * faster)
    forces = half * (as_array('tau', taken.tau, (n,)) - tree.resistance(taken.v))
    start, end = (_End(tree, taken, q, v) for q, v in (
        (taken.q, taken.v), (taken.q1, taken.v1)))
    # P0 = M v + K + A^T y, at the arrival f = 0 (12.38)
    y = _multipliers(rows, at.start - start.momentum - forces + half * start.weight)
    bent, _ = constraint_partials(taken.q, taken.v, y)
    need = (start.momentum_by_q - half * start.weight_by_q + bent) @ moved
    need += start.mass @ faster + kick - at.start_by_q @ moved
    turn = model.integrate_derivatives(taken.q, model.difference(taken.q, taken.q1)).by_q
    arrive = _arrival(model, taken)
    rate = _saddle(at.start_by_rate, rows, rows1 @ arrive, need, -rows1 @ turn @ moved)
    moved1 = turn @ moved + arrive @ rate
    # M1 v1 = P1 + K1 + A1^T y1, A1 v1 = 0
    y = _multipliers(rows1, end.momentum - at.end - forces + half * end.weight)
    bent, swung = constraint_partials(taken.q1, taken.v1, y)
    need = (bent - end.momentum_by_q - half * end.weight_by_q) @ moved1 + kick
    need += at.end_by_q @ moved + at.end_by_rate @ rate
    whole = np.vstack([moved1, _saddle(end.mass, rows1, rows1, need, -swung @ moved1)])
    return LinearModel(whole[:, :2 * n], whole[:, 2 * n:])


class _End:
    """Momentum M v and the forces at rest of one end of a step (nv,), with derivatives by q."""

    def __init__(self, tree: Dynamics, taken: Step, q: Array, v: Array) -> None:
        """Compute the momentum, the weight, and their derivatives."""
        rest = np.zeros_like(v)
        derivatives = tree.inverse.partial_derivatives
        self.mass = tree.mass_matrix(q)
        self.momentum = self.mass @ v
        self.momentum_by_q = derivatives(q, rest, v).by_q - derivatives(q, rest, rest).by_q
        self.weight = tree.bias(q, rest, taken.external)
        self.weight_by_q = derivatives(q, rest, rest, taken.external).by_q


def _multipliers(rows: Array, impulse: Array) -> Array:
    """Return the y (r,) of A^T y = impulse."""
    return np.asarray(np.linalg.lstsq(rows.T, impulse, rcond=None)[0])


def _saddle(matrix: Array, rows: Array, closing: Array, need: Array, gap: Array) -> Array:
    """Return the x (nv, k) of matrix x - A^T y = need, closing x = gap."""
    r = len(rows)
    whole = np.block([[matrix, -rows.T], [closing, np.zeros((r, r))]])
    return np.asarray(np.linalg.solve(whole, np.vstack([need, gap]))[:len(matrix)])


def _rate(model: Model, taken: Step) -> Array:
    """Return the rate (nv,) of a step: a free joint turns and moves apart (3.16)."""
    tangent = model.difference(taken.q, taken.q1)
    for kind, vi in zip(model.link_table.kind, model.link_table.vi):
        if kind == kinds.FREE:
            tangent[vi + 3:vi + 6] = se3.exp(tangent[vi:vi + 6])[:3, 3]
    return tangent / taken.dt


def _arrival(model: Model, taken: Step) -> Array:
    """Return the derivatives (nv, nv) of q1 by the rate."""
    tangent, dt = model.difference(taken.q, taken.q1), taken.dt
    result = dt * model.integrate_derivatives(taken.q, tangent).by_dv
    for kind, vi in zip(model.link_table.kind, model.link_table.vi):
        if kind == kinds.FREE:
            result[vi:vi + 6, vi:vi + 6] = _free_by_rate(tangent[vi:vi + 3], dt)
    return result


def _free_by_rate(turn: Array, dt: float) -> Array:
    """Return the derivatives (6, 6) of the displacement of a free joint by its rate."""
    result = np.zeros((6, 6))
    result[:3, :3], result[3:, 3:] = dt * so3.right_jacobian(turn), dt * so3.exp(turn).T
    return result


class Momenta(NamedTuple):
    """The momenta at the ends of a step (nv,), and their derivatives (nv, nv)."""

    start: Array
    end: Array
    start_by_q: Array
    start_by_rate: Array
    end_by_q: Array
    end_by_rate: Array


def varied_momenta(tree: Dynamics, q: Array, rate: Array, dt: float) -> Momenta:
    """Return the momenta of a step at a rate (nv,): (3.17) and (3.18), varied link by link."""
    table, n = tree.model.link_table, len(rate)
    start, end = np.empty(n), np.empty(n)
    data, steps = Data(tree.constants), np.zeros((tree.constants.links, STEP_WIDTH))
    discrete_momenta(tree.constants.table, data.table, steps, q, rate, dt, start, end)
    poses = [homogeneous(row, ROTATION) for row in data.table[1:tree.constants.links]]
    moves = [homogeneous(row, DISPLACEMENT) for row in steps[1:]]
    turned = np.split(np.eye(2 * n), 2)
    varied: list[Array] = []
    for i, (pose, move) in enumerate(zip(poses, moves)):
        varied.append(_link(tree.model, i, pose, move, varied, turned, rate, dt))
    wrenches = [_wrench(table.inertia[i], move, by, dt)
                for i, (move, by) in enumerate(zip(moves, varied))]
    starts = np.diag(table.armature) @ turned[1]
    ends = starts.copy()
    for i in reversed(range(table.N)):
        screws = link_screws(table, i)
        at = slice(table.vi[i], table.vi[i] + len(screws))
        wrench, by, across = steps[i + 1, WRENCH:WRENCH + 6], wrenches[i], se3.adjoint(moves[i])
        starts[at] += screws @ by
        ends[at] += screws @ (across.T @ by + _turn(across.T @ wrench) @ varied[i])
        if table.parent[i] >= 0:
            back = se3.adjoint(se3.inverse(poses[i])).T
            wrenches[table.parent[i]] += back @ (by - _turn(wrench) @ screws.T @ turned[0][at])
    return Momenta(start, end, *np.split(starts, 2, axis=1), *np.split(ends, 2, axis=1))


def _link(model: Model, i: int, pose: Array, move: Array, varied: list[Array],
          turned: list[Array], rate: Array, dt: float) -> Array:
    """Return how the displacement of link i turns (6, 2 nv), in its own frame at q1."""
    table, screws = model.link_table, link_screws(model.link_table, i)
    at = slice(table.vi[i], table.vi[i] + len(screws))
    tangent = dt * screws.T @ rate[at]
    if table.kind[i] == kinds.FREE:
        own = se3.from_rotation_translation(so3.exp(tangent[:3]), tangent[3:])
        by_rate = _free_by_rate(tangent[:3], dt)
    else:
        own, by_rate = se3.exp(tangent), dt * se3.right_jacobian(tangent) @ screws.T
    turn = screws.T @ turned[0][at]
    carried = turn
    if table.parent[i] >= 0:
        carried = turn + se3.adjoint(se3.inverse(pose)) @ varied[table.parent[i]]
    return np.asarray(by_rate @ turned[1][at] + se3.adjoint(se3.inverse(own)) @ carried
                      - se3.adjoint(se3.inverse(move)) @ turn)


def _wrench(parameters: Array, move: Array, by: Array, dt: float) -> Array:
    """Return how the wrench of a link at q0 changes (6, 2 nv), from (3.17)."""
    inertia = inertia_matrices(parameters)
    mass, moment = parameters[0], parameters[1:4]
    centre = so3.hat(moment / mass if mass > 0.0 else np.zeros(3))
    turn, shift = by[:3], by[3:]
    force = move[:3, :3] @ (mass * shift - so3.hat(moment) @ turn) / dt
    x = so3.log(move[:3, :3])
    inertia = (inertia[:3, :3] + so3.hat(moment) @ centre) / dt  # about the centre of mass
    inverse = so3.right_jacobian_inverse(x)
    by_x = inverse @ inertia + rate_by_coordinates(so3.hat, x, inertia @ x)
    return np.vstack([by_x @ inverse @ turn + centre @ force, force])


def _turn(wrench: Array) -> Array:
    """Return the matrix (6, 6) of ad_x^T F by x."""
    m, f = so3.hat(wrench[:3]), so3.hat(wrench[3:])
    return np.block([[m, f], [f, np.zeros((3, 3))]])


_TERMS = 80  # of the series below: rounding for turns of up to 4 rad in a step


def rate_by_chart(model: Model, x: Array, v: Array) -> Array:
    """Return the derivative (nv, nv) by x of the rate J_r(x)^-1 v of coordinates x (13.56)."""
    result = np.zeros((model.nv, model.nv))
    for kind, at in zip(model.link_table.kind, model.link_table.vi):
        if kind in (kinds.SPHERICAL, kinds.FREE):
            bracket, size = (so3.hat, 3) if kind == kinds.SPHERICAL else (se3.ad, 6)
            place = slice(at, at + size)
            result[place, place] = rate_by_coordinates(bracket, x[place], v[place])
    return result


def rate_by_coordinates(bracket: Callable[[Array], Array], x: Array, v: Array) -> Array:
    """Return - sum_k c_k sum_j ad_x^j ad_w, w = ad_x^(k - 1 - j) v, c those of J_r^-1."""
    step, inner = bracket(x), v
    inside: Array = np.zeros((len(x), len(x)))
    result = np.zeros_like(inside)
    for weight in _series()[1:]:
        inside = step @ inside + bracket(inner)
        before, result = result, result - weight * inside
        if weight != 0.0 and (result == before).all():
            break  # the terms that follow are smaller
        inner = step @ inner
    return result


@cache
def _series() -> Array:
    """Return the coefficients of J_r(x)^-1 in powers of ad_x, (-1)^k B_k / k!."""
    from scipy.special import bernoulli, factorial  # which take long to import
    weights: Array = (-1.0) ** np.arange(_TERMS) * bernoulli(_TERMS - 1)
    return weights / factorial(np.arange(_TERMS))
