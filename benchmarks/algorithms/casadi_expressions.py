# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Time derivatives by CasADi's automatic differentiation, to be timed beside this package.

Newton and Euler, and the articulated-body algorithm, in CasADi's scalar expressions (SX). Each
order is the directional derivative (jtimes) of the one before along the motion, as in Ali et al.
The functions run in CasADi's virtual machine, without just-in-time compilation. For trees of a
free base and revolute joints.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.model import Model
from liedyn_ros.model.expansion import LinkTable
from liedyn_ros.model.kernels import kinds

casadi: Any = import_module('casadi')  # without types; absent where it is not installed
Symbol = Any  # casadi.SX
Links = list[Any]


class Expression:
    """Symbols of a model's motion, and rates of expressions in them."""

    def __init__(self, model: Model, columns: int) -> None:
        """Name the base's rotation, the angles, and columns of numbers for each coordinate."""
        self.link_table = model.link_table
        if list(self.link_table.kind) != [kinds.FREE] + [kinds.REVOLUTE] * (self.link_table.N - 1):
            raise ValueError(f'{model.name}: expected a free base and revolute joints')
        self.rotation = casadi.SX.sym('R', 3, 3)
        self.angles = casadi.SX.sym('q', model.nv - 6)
        self.columns = [casadi.SX.sym(f'x{k}', model.nv) for k in range(columns)]
        self.pose_rate = casadi.vertcat(
            casadi.vec(self.rotation @ casadi.skew(self.columns[0][:3])), self.columns[0][6:])

    @property
    def inputs(self) -> list[Symbol]:
        """Return the arguments of a function of the motion."""
        return [self.rotation, self.angles, *self.columns]

    def rate(self, expression: Symbol, column_rates: list[Symbol]) -> Symbol:
        """Return the time derivative of an expression."""
        of = casadi.vertcat(casadi.vec(self.rotation), self.angles,
                            *self.columns[:len(column_rates)])
        return casadi.jtimes(expression, of, casadi.vertcat(self.pose_rate, *column_rates))


def inverse(model: Model, order: int) -> Callable[..., None]:
    """Return inverse dynamics with derivatives, of q and motion, into tau."""
    x = Expression(model, order + 2)
    tau = [_inverse(x.link_table, x, *x.columns[:2])]
    for k in range(order):
        tau.append(x.rate(tau[-1], x.columns[1:k + 3]))
    function = casadi.Function('inverse', x.inputs, [casadi.densify(casadi.horzcat(*tau))])
    return _buffered(function, model)


def forward(model: Model, order: int) -> Callable[..., None]:
    """Return forward dynamics with derivatives, of q, v and tau below each other, into a."""
    x = Expression(model, order + 2)  # v, tau, tau', ...
    a = [_forward(x.link_table, x, *x.columns[:2])]
    for k in range(order):
        a.append(x.rate(a[-1], [a[0], *x.columns[2:k + 3]]))
    function = casadi.Function('forward', x.inputs, [casadi.densify(casadi.horzcat(*a))])
    return _buffered(function, model)


def inverse_jacobians(model: Model) -> Callable[..., None]:
    """Return the Jacobians of tau by q, v and a, transposed below each other (3 nv, nv)."""
    x = Expression(model, 2)
    return _jacobians('inverse_jacobians', model, x, _inverse(x.link_table, x, *x.columns))


def forward_jacobians(model: Model) -> Callable[..., None]:
    """Return the Jacobians of a by q, v and tau, transposed below each other (3 nv, nv)."""
    x = Expression(model, 2)
    return _jacobians('forward_jacobians', model, x, _forward(x.link_table, x, *x.columns))


def _jacobians(name: str, model: Model, x: Expression, result: Symbol) -> Callable[..., None]:
    """Return a function of q and two columns into the Jacobians of an expression by all three."""
    pose = casadi.vertcat(casadi.vec(x.rotation), x.angles)
    eta = casadi.SX.sym('eta', model.nv)  # along the tangents of q; no force depends on where
    moved = casadi.vertcat(casadi.vec(x.rotation @ casadi.skew(eta[:3])), eta[6:])
    blocks = [casadi.jacobian(result, pose) @ casadi.jacobian(moved, eta)]
    blocks += [casadi.jacobian(result, column) for column in x.columns]
    function = casadi.Function(name, x.inputs, [casadi.densify(casadi.horzcat(*blocks))])
    return _buffered(function, model)


def _buffered(function: Any, model: Model) -> Callable[..., None]:
    """Return a function of q, columns (n, nv) and the result, without conversions of numbers."""
    buffer, run = function.buffer()
    rotation, angles = np.empty(9), np.empty(model.nv - 6)
    columns = np.empty((function.n_in() - 2, model.nv))
    result = np.empty((function.numel_out(0) // model.nv, model.nv))
    for i, array in enumerate((rotation, angles, *columns)):
        buffer.set_arg(i, array.data)
    buffer.set_res(0, result.data)

    def call(q: Array, given: Array, out: Array, keep: Any = (function, buffer)) -> None:
        rotation[:] = _rotation(q[3:7]).T.ravel()
        angles[:] = q[7:]
        columns[:] = given
        run()
        out[:] = result

    return call


def _rotation(quaternion: Array) -> Array:
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    u = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + 2.0 * w * u + 2.0 * u @ u)


def _poses(table: LinkTable, x: Expression) -> Links:
    """Return rotation and translation of each link in its parent."""
    poses = [(table.placement[0, :9].reshape(3, 3) @ x.rotation, table.placement[0, 9:])]
    for i in range(1, table.N):
        s, c = casadi.sin(x.angles[i - 1]), casadi.cos(x.angles[i - 1])
        turn = casadi.vertcat(
            casadi.horzcat(c, -s, 0), casadi.horzcat(s, c, 0), casadi.horzcat(0, 0, 1))
        poses.append((table.placement[i, :9].reshape(3, 3) @ turn, table.placement[i, 9:]))
    return poses


def _inertia(parameters: Array) -> Array:
    """Return the 6 by 6 inertia of ten numbers (1.17)."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = parameters
    h = np.array([[0.0, -hz, hy], [hz, 0.0, -hx], [-hy, hx, 0.0]])
    return np.block([[np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), h],
                     [h.T, m * np.eye(3)]])


def _adjoint_inverse(pose: Any) -> Symbol:
    r, p = pose
    low = -r.T @ casadi.skew(p)
    return casadi.vertcat(casadi.horzcat(r.T, casadi.SX(3, 3)), casadi.horzcat(low, r.T))


def _ad(v: Symbol) -> Symbol:
    w = casadi.skew(v[:3])
    return casadi.vertcat(
        casadi.horzcat(w, casadi.SX(3, 3)), casadi.horzcat(casadi.skew(v[3:]), w))


def _motion(table: LinkTable, x: Expression, v: Symbol) -> tuple[Links, Links, Links, Links]:
    """Return adjoints, screws, twists (3.1) and velocity terms (3.2) of all links."""
    adjoints = [_adjoint_inverse(pose) for pose in _poses(table, x)]
    axis = casadi.SX(casadi.DM([0, 0, 1, 0, 0, 0]))
    screws = [casadi.SX.eye(6)] + [axis] * (table.N - 1)
    twists: Links = []
    terms: Links = []
    for i in range(table.N):
        relative = v[:6] if i == 0 else axis * v[5 + i]
        twist = relative if i == 0 else adjoints[i] @ twists[table.parent[i]] + relative
        twists.append(twist)
        terms.append(_ad(twist) @ relative)
    return adjoints, screws, twists, terms


def _ground(table: LinkTable) -> Symbol:
    return casadi.SX(casadi.DM([0.0, 0.0, 0.0, *(-table.gravity)]))


def _inverse(table: LinkTable, x: Expression, v: Symbol, a: Symbol) -> Symbol:
    adjoints, screws, twists, terms = _motion(table, x, v)
    accelerations: Links = []
    for i in range(table.N):
        before = _ground(table) if i == 0 else accelerations[table.parent[i]]
        own = a[:6] if i == 0 else a[5 + i]
        accelerations.append(adjoints[i] @ before + terms[i] + screws[i] @ own)  # (3.3)
    tau: Links = [None] * table.N
    wrenches: Links = []
    for i in range(table.N):
        inertia = casadi.SX(casadi.DM(_inertia(table.inertia[i])))
        wrenches.append(inertia @ accelerations[i] - _ad(twists[i]).T @ (inertia @ twists[i]))
    for i in range(table.N - 1, -1, -1):
        tau[i] = screws[i].T @ wrenches[i]  # (3.5)
        if i > 0:
            wrenches[table.parent[i]] += adjoints[i].T @ wrenches[i]  # (3.4)
    return casadi.vertcat(*tau)


def _forward(table: LinkTable, x: Expression, v: Symbol, tau: Symbol) -> Symbol:
    adjoints, screws, twists, terms = _motion(table, x, v)
    bodies = [casadi.SX(casadi.DM(_inertia(table.inertia[i]))) for i in range(table.N)]
    biases = [-_ad(t).T @ (body @ t) for t, body in zip(twists, bodies)]
    gains: Links = [None] * table.N
    rests: Links = [None] * table.N
    for i in range(table.N - 1, 0, -1):
        gain = bodies[i] @ screws[i]
        pivot = screws[i].T @ gain
        rest = tau[5 + i] - screws[i].T @ biases[i]
        bias = biases[i] + gain @ (rest / pivot)
        body = bodies[i] - gain @ gain.T / pivot  # (3.10)
        bias += body @ terms[i]
        gains[i], rests[i] = (gain, pivot), rest
        bodies[table.parent[i]] += adjoints[i].T @ body @ adjoints[i]
        biases[table.parent[i]] += adjoints[i].T @ bias  # (3.11)
    start = adjoints[0] @ _ground(table) + terms[0]
    solved = casadi.solve(bodies[0], tau[:6] - biases[0] - bodies[0] @ start)
    accelerations, a = [start + solved], [solved]
    for i in range(1, table.N):
        gain, pivot = gains[i]
        moved = adjoints[i] @ accelerations[table.parent[i]] + terms[i]
        a.append((rests[i] - gain.T @ moved) / pivot)  # (3.12)
        accelerations.append(moved + screws[i] @ a[-1])
    return casadi.vertcat(*a)
