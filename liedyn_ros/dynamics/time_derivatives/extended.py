# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Forward and hybrid dynamics at every order, in as many digits as are asked for.

The recursion is that of the kernels (theory 7.6, 7.7) on decimals. It has one kind of link, which
moves against its parent by a twist S qdot with a constant S. An order runs twice: without the
unknown accelerations, which are then solved for, and with them. It takes the model as described:
axes are unit vectors, and rotations orthogonal, to all digits.
"""

from collections.abc import Iterator
from decimal import Decimal, localcontext
import math

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.time_derivatives.decimals import (
    context, cross, Decimals, decimals, eye, hat, nearest_rotation, product, rotation_about,
    rotation_of_quaternion, unit, zeros)
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.model import Body, Joint, JOINT_TYPES
from liedyn_ros.model.kernels import kinds


class Link:
    """
    An elementary link: its constants, its series, and what the elimination leaves.

    Series have a coefficient for each order to r + 1. Vectors are in the link's axes; those of
    its parent are seen from the joint frame, before the joint has moved. The ground has no parent.
    """

    parent: 'Link'

    def __init__(self, placement: Decimals, screws: Decimals, pose: Decimals, vi: int, size: int
                 ) -> None:
        """Take the placement (3, 4) of the joint frame, S (n, 6), and the joint's pose (3, 4)."""
        self.placement, self.screws, self.vi = placement, screws, vi
        self.mass, self.first_moment, self.inertia = Decimal(0), zeros(3), zeros(3, 3)
        self.turns = bool(screws[:, :3].any() or (pose[:, :3] != eye(3)).any())
        self.moves = bool(screws[:, 3:].any() or pose[:, 3].any())
        self.pose = zeros(size, 3, 4)
        self.pose[0] = pose
        self.rate = zeros(size, len(screws))
        self.relative = zeros(size, 3, 4)  # [w] and v of the twist of the joint
        self.parent_motion = zeros(size, 3, 6)  # acceleration tensor [w'] + [w]^2, 2 [w]
        self.travel = zeros(size, 6)  # d and d' of the position d in the joint frame
        self.given = zeros(size, 3, 2)  # w of the parent; what it gives to the acceleration
        self.velocity, self.acceleration = zeros(size, 3), zeros(size, 3)
        self.tensor, self.wrench = zeros(size, 3, 3), zeros(size, 2, 3)  # moment, force
        self.joint_force = zeros(size, 3)
        self.external = zeros(size, 2, 3)
        self.articulated = zeros(6, 6)
        self.gains: list[tuple[int, Decimals, Decimal]] = []
        self.to_link, self.bias, self.change = zeros(6, 6), zeros(6), zeros(6)

    def carry(self, body: Body) -> None:
        """Take the inertia of a body whose frame is the link's."""
        if body.inertia is not None:
            c = decimals(body.inertia.center_of_mass)
            upper = np.triu(body.inertia.inertia_about_com)
            about_com = decimals(upper + np.triu(upper, 1).T)
            self.mass = Decimal(body.inertia.mass)
            self.first_moment = self.mass * c
            self.inertia = about_com - self.mass * (hat(c) @ hat(c))

    def start(self) -> None:
        """Write what is known of the motion at order zero: the angular velocity."""
        self.given[0, :, 0] = self.placement[:, :3].T @ self.parent.velocity[0]
        self._store_relative(0)
        self.velocity[0] = self._turned_back(self.given[:, :, 0], 0) + self._screw(0)[:3]
        self.parent_motion[0, :, 3:] = 2 * hat(self.given[0, :, 0])

    def move(self, k: int) -> None:
        """Write coefficient k of accelerations, k + 1 of the pose and of angular velocity."""
        parent, e, p = self.parent, self.placement[:, :3], self.placement[:, 3]
        self._store_relative(k + 1)
        w = e.T @ parent.velocity[k + 1]
        s = e.T @ (parent.acceleration[k] + parent.tensor[k] @ p)  # (7.29)
        if self.turns or self.moves:
            self.pose[k + 1] = product(self.pose[:, :, :3], self.relative, k) / (k + 1)  # (7.28)
        if self.moves:
            self.parent_motion[k, :, :3] = e.T @ parent.tensor[k] @ e
            self.parent_motion[k + 1, :, 3:] = 2 * hat(w)
            self.travel[k, :3] = self.pose[k, :, 3]
            self.travel[k, 3:] = (k + 1) * self.pose[k + 1, :, 3]
            s = s + product(self.parent_motion, self.travel, k)
        self.given[k + 1, :, 0], self.given[k, :, 1] = w, s
        screw = self._screw(k + 1)
        self.velocity[k + 1] = self._turned_back(self.given[:, :, 0], k + 1) + screw[:3]
        s = self._turned_back(self.given[:, :, 1], k)
        if self.moves:
            s = s + (k + 1) * screw[3:] + product(
                self.relative[:, :, :3], self.relative[:, :, 3], k)
        self.acceleration[k] = s
        self._store_net_wrench(k)

    def _store_net_wrench(self, k: int) -> None:
        """Write coefficient k of the wrench that the motion of the link alone needs (7.35)."""
        w, s, h = self.velocity, self.acceleration[k], self.first_moment
        square, change = w[:k + 1].T @ w[k::-1], (k + 1) * w[k + 1]
        self.tensor[k] = hat(change) + square - np.trace(square) * eye(3)  # (7.34)
        self.wrench[k] = -self.external[k]
        if self.mass:
            spin = square @ self.inertia  # its skew part is w x J w (7.36)
            gyroscopic = np.array([spin[1, 2] - spin[2, 1], spin[2, 0] - spin[0, 2],
                                   spin[0, 1] - spin[1, 0]])
            self.wrench[k, 0] += cross(h, s) + self.inertia @ change + gyroscopic
            self.wrench[k, 1] += self.mass * s + self.tensor[k] @ h

    def load_parent(self, k: int) -> None:
        """Add coefficient k of the wrench to that of the parent (7.37)."""
        e, p = self.placement[:, :3], self.placement[:, 3]
        moment, force = self.wrench[k]
        if self.turns:
            moment, force = product(self.pose[:, :, :3], self.wrench.swapaxes(1, 2), k).T
        if self.moves:
            self.joint_force[k] = force
            moment = moment + sum(cross(self.pose[j, :, 3], self.joint_force[k - j])
                                  for j in range(k + 1))
        force = e @ force
        self.parent.wrench[k] += np.array([e @ moment + cross(p, force), force])

    def factor(self, prescribed: NDArray[np.bool_]) -> None:
        """Eliminate the coordinates that are sought from the articulated inertia (3.10)."""
        h = hat(self.first_moment)
        body = self.articulated + np.block(
            [[self.inertia, h], [h.T, self.mass * eye(3)]])
        for j in range(len(self.screws) - 1, -1, -1):
            if not prescribed[self.vi + j]:
                gain = body @ self.screws[j]
                pivot = self.screws[j] @ gain
                body = body - np.outer(gain, gain) / pivot
                self.gains.append((j, gain, pivot))
        r = self.placement[:, :3] @ self.pose[0, :, :3]
        p = self.placement[:, 3] + self.placement[:, :3] @ self.pose[0, :, 3]
        self.to_link = np.block([[r.T, zeros(3, 3)], [-r.T @ hat(p), r.T]])  # Ad of T^-1
        self.parent.articulated = self.parent.articulated + self.to_link.T @ body @ self.to_link

    def eliminate(self, residual: Decimals) -> None:
        """Eliminate the coordinates from the residual forces of an order (7.40)."""
        for j, gain, pivot in self.gains:
            at = self.vi + j
            residual[at] -= self.screws[j] @ self.bias
            self.bias = self.bias + gain * (residual[at] / pivot)
        self.parent.bias = self.parent.bias + self.to_link.T @ self.bias

    def solve(self, residual: Decimals, k: int) -> None:
        """Solve for the coordinates, the change of the parent being known (7.41)."""
        self.change = self.to_link @ self.parent.change
        for j, gain, pivot in reversed(self.gains):
            y = (residual[self.vi + j] - gain @ self.change) / pivot
            self.change = self.change + self.screws[j] * y
            self.rate[k + 1, j] = y / (k + 1)

    def forces(self, k: int) -> Decimals:
        """Return coefficient k of the forces of the joint, without dissipation (7.25)."""
        return self.screws @ self.wrench[k].ravel()

    def _screw(self, k: int) -> Decimals:
        """Return coefficient k of the twist of the joint."""
        return self.rate[k] @ self.screws if len(self.screws) else zeros(6)

    def _store_relative(self, k: int) -> None:
        screw = self._screw(k)
        self.relative[k, :, :3], self.relative[k, :, 3] = hat(screw[:3]), screw[3:]

    def _turned_back(self, x: Decimals, k: int) -> Decimals:
        """Return coefficient k of R^T x (7.31)."""
        return product(self.pose[:, :, :3].swapaxes(1, 2), x, k) if self.turns else x[k]


def hybrid(constants: Constants, q: Array, v: Array, prescribed: NDArray[np.bool_], a: Array,
           tau: Array, external: Array, digits: int) -> tuple[Decimals, Decimals]:
    """
    Return all of a and tau (r + 1, nv) as decimals, of what is given as floats.

    external is (r + 1, B, 6), or has no rows. What is not given of a and tau is not read.
    """
    with localcontext(context(digits)):
        size = len(a) + 1
        links = list(_links(constants, decimals(q), size, external))
        factorial = np.array([[Decimal(math.factorial(k))] for k in range(size)])
        damping, friction = decimals(constants.damping), decimals(constants.friction * np.sign(v))
        effort = decimals(np.where(prescribed, 0.0, tau)) / factorial[:-1]
        effort[0] -= friction
        motion = np.vstack([decimals(v[None]), decimals(
            np.where(prescribed, a, 0.0)) / factorial[1:]])
        for link in links[1:]:
            link.rate[:] = motion[:, link.vi:link.vi + len(link.screws)]
            link.start()
        for link in reversed(links[1:]):
            link.factor(prescribed)
        found = np.array([_order(links, k, effort[k], damping, prescribed)
                          for k in range(size - 1)]).reshape(size - 1, 2, len(v))
        a, tau = found[:, 0] * factorial[1:], found[:, 1] * factorial[:-1]
        tau[0] += friction
        return a, tau


def _order(links: list[Link], k: int, effort: Decimals, damping: Decimals,
           prescribed: NDArray[np.bool_]) -> tuple[Decimals, Decimals]:
    """Complete order k of the series; return coefficients k + 1 of rates and k of forces."""
    forces = _run(links, k, damping)
    if not prescribed.all():
        residual = effort - forces
        for link in links:
            link.bias = link.change = zeros(6)
        for link in reversed(links[1:]):
            link.eliminate(residual)
        for link in links[1:]:
            link.solve(residual, k)
        forces = np.where(prescribed, _run(links, k, damping), effort)
    return np.concatenate([link.rate[k + 1] for link in links]), forces


def _run(links: list[Link], k: int, damping: Decimals) -> Decimals:
    """Run the inverse dynamics of an order; return coefficient k of the forces."""
    links[0].wrench[k] = zeros(2, 3)
    for link in links[1:]:
        link.move(k)
    for link in reversed(links[1:]):
        link.load_parent(k)
    rates = np.concatenate([link.rate[k] for link in links])
    return damping * rates + np.concatenate([link.forces(k) for link in links])


def _links(constants: Constants, q: Decimals, size: int, external: Array) -> Iterator[Link]:
    """Return the ground, and the links of all joints in their order."""
    model, nothing = constants.model, zeros(0, 6)
    rest = np.hstack([eye(3), zeros(3, 1)])
    ground = Link(rest, nothing, rest, 0, size)
    ground.acceleration[0] = -decimals(model.gravity)  # (3.0)
    yield ground
    carriers: dict[str | None, Link] = {None: ground}
    for i, (body, joint) in enumerate(zip(model.body_list, model.joint_list)):
        link, placement = carriers[joint.parent], decimals(joint.placement)[:3]
        placement[:, :3] = nearest_rotation(placement[:, :3])
        qi, vi = joint.qi, joint.vi
        for kind, name in JOINT_TYPES[joint.type_name].links or ((None, ''),):
            screws = nothing if kind is None else _screws(joint, kind, name)
            pose = rest if kind is None else _pose(kind, screws, q[qi:])
            parent, link = link, Link(placement, screws, pose, vi, size)
            link.parent = parent
            yield link
            placement, vi = rest, vi + len(screws)
            qi += 0 if kind is None else kinds.NQ[kind]
        link.carry(body)
        for k, wrenches in enumerate(external):
            link.external[k] = decimals(wrenches[i]).reshape(2, 3) / math.factorial(k)
        carriers[body.name] = link


def _screws(joint: Joint, kind: int, name: str) -> Decimals:
    """Return the twists (n, 6) of a unit rate of each coordinate of an elementary link."""
    if kind >= kinds.SPHERICAL:
        return eye(6)[:kinds.NV[kind]]
    z, x = unit(decimals(joint.axis)), decimals(joint.second_axis)
    x = unit(x - (x @ z) * z)
    axis = {'x': x, 'y': cross(z, x), 'z': z}[name]
    if kind == kinds.PRISMATIC:
        return np.concatenate([zeros(3), axis])[None]
    pitch = Decimal(joint.pitch) if kind == kinds.HELICAL else Decimal(0)
    return np.concatenate([axis, pitch * axis])[None]


def _pose(kind: int, screws: Decimals, q: Decimals) -> Decimals:
    """Return the pose (3, 4) of an elementary link in its joint frame."""
    if kind == kinds.FREE:
        return np.hstack([rotation_of_quaternion(q[3:7]), q[:3, None]])
    if kind == kinds.SPHERICAL:
        return np.hstack([rotation_of_quaternion(q[:4]), zeros(3, 1)])
    turned = eye(3) if kind == kinds.PRISMATIC else rotation_about(screws[0, :3], q[0])
    return np.hstack([turned, (screws[0, 3:] * q[0])[:, None]])
