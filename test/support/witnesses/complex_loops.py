# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Constrained dynamics in complex arithmetic, dense and without the code under test.

Rows of closures are velocities of points and angular velocities along axes, and these are
differentiated by hand. Each task is one system of linear equations.
"""

import numpy as np
from support.witnesses.complex_step import adjoint, bracket, ComplexTree
from support.witnesses.link_kinematics import unpack

from liedyn_ros.model import Closure, CLOSURE_TYPES, Model
from liedyn_ros.model.kernels import kinds as kinds

E = np.eye(3)


class ComplexLoops:
    """
    A model whose closures and couplings are independent, at a configuration.

    A test makes the tree's arrays complex, or the closures' own.
    """

    def __init__(self, model: Model, q, dissipation: bool = True) -> None:
        """Copy the model's numbers."""
        self.model, self.tree = model, ComplexTree(model, q, dissipation)
        self.nv, self.closures = model.nv, list(model.closures)

    def hybrid(self, v, known, given, external=None, eta=None):
        """Return a, tau and the multipliers; given are a where it is known, else tau."""
        mass = self.tree.mass(eta)
        bias = self.tree.inverse(v, np.zeros(self.nv), external, eta)
        rows, gamma = self.rows(v, eta)
        n, m, free = self.nv, len(rows), ~known
        system, side = np.zeros((2 * n + m, 2 * n + m), dtype=complex), np.zeros(
            2 * n + m, dtype=complex)
        system[:n, :n], system[:n, n:2 * n], system[:n, 2 * n:] = mass, -np.eye(n), -rows.T
        side[:n] = -bias
        system[n:n + m, :n], side[n:n + m] = rows, -gamma
        system[n + m:, :n], system[n + m:, n:2 * n] = np.diag(known), np.diag(free)
        side[n + m:] = given
        found = np.linalg.solve(system, side)
        return found[:n], found[n:2 * n], found[2 * n:]

    def inverse(self, v, a, driven, given, weight, least_torque, external=None, eta=None):
        """Return tau and the multipliers; given are the forces of joints that are not driven."""
        need, (rows, _) = self.tree.inverse(v, a, external, eta), self.rows(v, eta)
        n, m, p = self.nv, len(rows), int((~driven).sum())
        if least_torque:  # of mu and lam: tau = E mu / Q
            system = np.zeros((n + m, n + m), dtype=complex)
            system[:n, :n] = np.diag(np.where(driven, 1.0 / weight, 0.0))
            system[:n, n:], system[n:, :n] = rows.T, rows
            side = np.concatenate([need - np.where(driven, 0.0, given), np.zeros(m)])
            found = np.linalg.solve(system, side)
            return np.where(driven, found[:n] / weight, given), found[n:]
        passive = rows[:, ~driven]
        system = np.zeros((m + p, m + p), dtype=complex)
        system[:m, :m], system[:m, m:] = np.diag(weight), -passive
        system[m:, :m] = passive.T
        side = np.concatenate([np.zeros(m), (need - given)[~driven]])
        lam = np.linalg.solve(system, side)[:m]
        return np.where(driven, need - rows.T @ lam, given), lam

    def rows(self, v, eta=None):
        """Return A (m, nv), and A' v (m,) at q (+) eta."""
        eta = np.zeros(self.nv) if eta is None else eta
        poses, screws, twists, rates = self._motion(v, eta)
        result, gamma = [], []
        for closure in self.closures:
            sides = [self._frame(*side, poses, twists, rates) for side in (
                (closure.body_a, closure.frame_a), (closure.body_b, closure.frame_b))]
            for kind in CLOSURE_TYPES[closure.type_name].rows:
                (moment, force), bias = row(closure, kind, *sides)
                wrench = np.concatenate([moment + np.cross(sides[1].p, force), force])
                relative = screws[sides[1].link] - screws[sides[0].link]
                result.append(relative @ wrench)
                gamma.append(bias)
        for coupling in self.model.couplings:
            result.append(np.zeros(self.nv, dtype=complex))
            result[-1][self.model.joint(coupling.joint).vi] += 1.0
            result[-1][self.model.joint(coupling.leader).vi] -= coupling.multiplier
            gamma.append(0.0)
        return np.array(result), np.array(gamma)

    def _motion(self, v, eta):
        """Return poses, spatial screws (nv, 6) that move each link, twists and their rates."""
        tree, n = self.tree, self.nv
        poses, moves, twists, rates = [], [], [], []
        for i, parent in enumerate(tree.table.parent):
            x, own = tree.move(i, eta), tree.own(i)
            poses.append(poses[parent] @ x if parent >= 0 else x)
            screw = adjoint(poses[i]) @ tree.screws(i)
            moves.append(moves[parent].copy() if parent >= 0 else np.zeros((n, 6), dtype=complex))
            moves[i][own] = screw.T
            twists.append((twists[parent] if parent >= 0 else np.zeros(6)) + screw @ v[own])
            rates.append((rates[parent] if parent >= 0 else np.zeros(6))
                         + bracket(twists[i]) @ screw @ v[own])
        return ([*poses, np.eye(4)], [*moves, np.zeros((n, 6))], [*twists, np.zeros(6)],
                [*rates, np.zeros(6)])

    def _frame(self, body, frame, poses, twists, rates):
        link, pose = -1, frame
        if body is not None:
            table, b = self.tree.table, self.model.body_index(body)
            link, pose = table.body_link[b], unpack(table.body_placement[b]) @ frame
        pose = poses[link] @ pose
        return Frame(link, pose[:3, 3], pose[:3, :3].T, twists[link], rates[link])


class Frame:
    """A frame on a link in motion: its origin p, its axes as rows, and their rates."""

    def __init__(self, link, p, axes, twist, rate) -> None:
        """Differentiate twice."""
        self.link, self.p, self.axes = link, p, axes
        self.w, self.u, self.dw, self.du = twist[:3], twist[3:], rate[:3], rate[3:]
        self.dp = self.velocity(p)
        self.ddp = self.acceleration(p, self.dp)
        self.daxes = np.cross(self.w, axes)

    def velocity(self, p):
        """Return the velocity of the link's point at p."""
        return self.u + np.cross(self.w, p)

    def acceleration(self, p, dp):
        """Return how that velocity changes, p moving with dp."""
        return self.du + np.cross(self.dw, p) + np.cross(self.w, dp)


def row(closure: Closure, kind: int, a: Frame, b: Frame):
    """Return moment and force on b through its origin, and how the row's velocity changes."""
    turn, turned = b.w - a.w, b.dw - a.dw
    slide, slid = b.dp - a.velocity(b.p), b.ddp - a.acceleration(b.p, b.dp)
    zero = np.zeros(3)

    def both(moment, moment_rate, force, force_rate):
        return (moment, force), (moment_rate @ turn + moment @ turned
                                 + force_rate @ slide + force @ slid)

    if kind <= kinds.MOMENT_Z:
        k = kind - kinds.MOMENT_X
        return both(b.axes[k], b.daxes[k], zero, zero)
    if kind == kinds.MOMENT_CROSS:
        x, y = a.axes[0], b.axes[1]
        return both(np.cross(x, y), np.cross(a.daxes[0], y) + np.cross(x, b.daxes[1]), zero, zero)
    if kind == kinds.ALONG_ROD:
        rod, rate = (b.p - a.p) / closure.length, (b.dp - a.dp) / closure.length
        return both(zero, zero, rod, rate)
    if kind == kinds.SCREW:
        z, rate = b.axes[2], b.daxes[2]
        return both(-closure.pitch * z, -closure.pitch * rate, z, rate)
    frame, k = (a, kind - kinds.ACROSS_X) if kind >= kinds.ACROSS_X else (b, kind - kinds.FORCE_X)
    return both(zero, zero, frame.axes[k], frame.daxes[k])
