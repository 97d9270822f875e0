# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The dynamics of a link table in complex arithmetic, dense and without the code under test.

A derivative is the imaginary part of a result over that of an argument. Nothing cancels, so it has
the digits of the result at any step. Arguments move along the tangents of the retraction T
exp([eta]); for so small a step this is T (1 + [eta]).
"""

import numpy as np
from support.witnesses.link_kinematics import inertia_matrix, joint_motion, unpack

from liedyn_ros.model import Model
from liedyn_ros.model.kernels import kinds

STEP = 1e-40


class ComplexTree:
    """
    A model at a configuration; what a test makes complex is any of its arrays.

    placement (N, 4, 4) of links; inertia (N, 6, 6), moment first; pitch (N,); gravity (3,);
    damping, stiffness and armature (nv,). held tells how wrenches on bodies move: 'body', 'ground'
    or 'direction'.
    """

    def __init__(self, model: Model, q, dissipation: bool = True) -> None:
        """Copy the model's numbers."""
        table = model.link_table
        self.table, self.q, self.nv, self.held = table, q, model.nv, 'body'
        self.placement = np.array([unpack(row) for row in table.placement], dtype=complex)
        swap = [3, 4, 5, 0, 1, 2]
        self.inertia = np.array([inertia_matrix(row)[np.ix_(swap, swap)]
                                 for row in table.inertia], dtype=complex)
        self.pitch, self.gravity = table.pitch + 0j, table.gravity + 0j
        self.damping = (table.damping if dissipation else 0.0 * table.damping) + 0j
        self.friction = table.friction if dissipation else 0.0 * table.friction
        self.stiffness, self.armature = table.stiffness + 0j, table.armature + 0j
        self.stretch = np.zeros(self.nv)  # of springs, at joints of one coordinate
        for i, kind in enumerate(table.kind):
            if kinds.NV_OF_KIND[kind] == 1:
                j = table.vi[i]
                self.stretch[j] = q[table.qi[i]] - table.rest[j]

    def inverse(self, v, a, external=None, eta=None):
        """Return tau (nv,) at q (+) eta."""
        table, count = self.table, len(self.table.kind)
        eta = np.zeros(self.nv) if eta is None else eta
        moves, intos, twists, rates, forces, screws = [], [], [], [], [], []
        ground = np.concatenate([np.zeros(3), -self.gravity])
        for i in range(count):
            own, s, x = self.own(i), self.screws(i), self.move(i, eta)
            into, parent = adjoint(rigid_inverse(x)), table.parent[i]
            v0 = into @ (twists[parent] if parent >= 0 else np.zeros(6))
            a0 = into @ (rates[parent] if parent >= 0 else ground)
            twist = v0 + s @ v[own]
            ad, inertia = bracket(twist), self.inertia[i]
            rate = a0 + s @ a[own] + ad @ (s @ v[own])
            forces.append(inertia @ rate - ad.T @ (inertia @ twist))
            for each, part in ((moves, x), (intos, into), (twists, twist), (rates, rate),
                               (screws, s)):
                each.append(part)
        if external is not None:
            self._press(forces, moves, external)
        tau = self.damping * v + self.friction * np.sign(np.real(v))
        tau = tau + self.stiffness * (self.stretch + eta) + self.armature * a + self.stops(eta)
        for i in reversed(range(count)):
            own = self.own(i)
            tau[own] = tau[own] + screws[i].T @ forces[i]
            if table.parent[i] >= 0:
                forces[table.parent[i]] = forces[table.parent[i]] + intos[i].T @ forces[i]
        return tau

    def stops(self, eta):
        """Return the forces (nv,) of end stops at q (+) eta."""
        result = np.zeros(self.nv, dtype=complex)
        for j, (stiffness, width, *limits) in enumerate(self.table.stops):
            if stiffness:
                position = self.stretch[j] + self.table.rest[j] + eta[j]
                for limit, side in zip(limits, (-1.0, 1.0)):
                    x = np.exp(side * (position - limit) / width)
                    result[j] += side * stiffness * width * np.log(1.0 + x) * x / (1.0 + x)
        return result

    def forward(self, v, tau, external=None, eta=None):
        """Return a (nv,) at q (+) eta."""
        return np.linalg.solve(
            self.mass(eta), tau - self.inverse(v, np.zeros(self.nv), external, eta))

    def mass(self, eta=None):
        """Return M (nv, nv) at q (+) eta, a sum over the links' Jacobians."""
        eta, jacobians = np.zeros(self.nv) if eta is None else eta, []
        result = np.diag(self.armature)
        for i, parent in enumerate(self.table.parent):
            jacobian = np.zeros((6, self.nv), dtype=complex)
            if parent >= 0:
                jacobian = adjoint(rigid_inverse(self.move(i, eta))) @ jacobians[parent]
            jacobian[:, self.own(i)] = self.screws(i)
            jacobians.append(jacobian)
            result += jacobian.T @ self.inertia[i] @ jacobian
        return result

    def own(self, i):
        """Return which coordinates move link i against its parent."""
        return slice(self.table.vi[i], self.table.vi[i] + kinds.NV_OF_KIND[self.table.kind[i]])

    def move(self, i, eta):
        """Return the pose of link i in its parent at q (+) eta."""
        table = self.table
        step = joint_motion(table.kind[i], self.q[table.qi[i]:], self.pitch[i].real) + 0j
        if table.kind[i] == kinds.HELICAL:
            step[2, 3] += 1j * self.pitch[i].imag * self.q[table.qi[i]]
        return self.placement[i] @ step @ (np.eye(4) + hat(self.screws(i) @ eta[self.own(i)]))

    def screws(self, i):
        """Return S (6, n_i) of link i."""
        kind = self.table.kind[i]
        if kind == kinds.PRISMATIC:
            return np.eye(6)[:, 5:]
        if kind in (kinds.REVOLUTE, kinds.HELICAL):
            pitch = self.pitch[i] if kind == kinds.HELICAL else 0.0
            return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, pitch]]).T
        return np.eye(6)[:, :kinds.NV_OF_KIND[kind]]

    def _press(self, forces, moves, external):
        """Take the wrenches of bodies from the links' forces; they were given where eta is 0."""
        poses, table = [], self.table
        for i, x in enumerate(moves):
            poses.append(poses[table.parent[i]] @ x if table.parent[i] >= 0 else x)
        for link, row, wrench in zip(table.body_link, table.body_placement, external):
            if link < 0:
                continue
            pose = poses[link] @ unpack(row)
            if self.held != 'body':  # from the frame of the body before it moved
                before, now = pose.real + 0j, pose
                if self.held == 'direction':
                    before, now = (np.block([[x[:3, :3], np.zeros((3, 1))], [np.eye(4)[3:]]])
                                   for x in (before, now))
                wrench = adjoint(now).T @ adjoint(rigid_inverse(before)).T @ wrench
            forces[link] = forces[link] - adjoint(rigid_inverse(unpack(row))).T @ wrench


def along(function):
    """Return the derivative at zero of a function of one number, real at zero."""
    return np.imag(function(1j * STEP)) / STEP


def hat(x):
    """Return [[w] v; 0 0]."""
    a, b, c, *v = x.tolist()
    return np.array([[0, -c, b, v[0]], [c, 0, -a, v[1]], [-b, a, 0, v[2]], [0, 0, 0, 0]])


def cross(w):
    """Return [w] (3, 3)."""
    a, b, c = w.tolist()
    return np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])


def adjoint(pose):
    """Return Ad (6, 6), angular first."""
    r = pose[:3, :3]
    return block_triangular(r, cross(pose[:3, 3]) @ r)


def bracket(x):
    """Return ad (6, 6)."""
    return block_triangular(cross(x[:3]), cross(x[3:]))


def block_triangular(a, b):
    """Return [a 0; b a] (6, 6)."""
    result = np.zeros((6, 6), dtype=b.dtype)
    result[:3, :3] = result[3:, 3:] = a
    result[3:, :3] = b
    return result


def rigid_inverse(pose):
    """Return the inverse of a pose, without conjugation."""
    result = np.eye(4) + 0j
    result[:3, :3] = pose[:3, :3].T
    result[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return result
