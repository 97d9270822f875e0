# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How closures vary with kinematic parameters, in numpy (12.9), (13.20): a second algorithm.

A row of A is a wrench between two frames. It varies with time, with a parameter, and with both.
Jets follow this by the product rule: vectors with these three parts beside their value.
"""

from typing import NamedTuple

import numpy as np
from support.witnesses.kinematic_parameters import (
    Displacement, inverse_kinematic_jacobians, KinematicMachine)

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import (
    LoopKinematicJacobians)
from liedyn_ros.dynamics.tree.screw_tree import bracket, unpacked
from liedyn_ros.lie import se3
from liedyn_ros.model import Closure, CLOSURE_TYPES
from liedyn_ros.model.kernels import kinds as kinds

OF_JOINT, OF_CLOSURE = 10, 14  # columns of each: see LoopKinematicJacobians


class Jet(NamedTuple):
    """A vector (3,), its rate (3,), its changes (c, 3) by what varies, and those of its rate."""

    value: Array
    rate: Array
    change: Array
    both: Array


class Changes(NamedTuple):
    """Spatial displacement, twist and acceleration of a body (c, 6) for each of c columns."""

    moved: Array
    turned: Array
    driven: Array


class Side(NamedTuple):
    """
    A frame on a link: origin and axes, and what changes of the body that carries it.

    moved (c, 6) is the displacement of the frame, which may have parameters of its own.
    """

    origin: Jet
    axes: tuple[Jet, Jet, Jet]
    link: int
    body: Changes
    moved: Array


def row_wrench(a: Side, b: Side, closure: Closure, kind: int) -> Jet:
    """Return the wrench of a row on body b about the origin of the ground, (6,) (12.9)."""
    zero = Jet(*(np.zeros_like(part) for part in b.origin))
    if kind in (kinds.MOMENT_X, kinds.MOMENT_Y, kinds.MOMENT_Z):
        return _joined(b.axes[kind - kinds.MOMENT_X], zero)
    if kind == kinds.MOMENT_CROSS:
        return _joined(_cross(a.axes[0], b.axes[1]), zero)
    if kind == kinds.ALONG_ROD:
        rod = _sum((1.0 / closure.length, b.origin), (-1.0 / closure.length, a.origin))
        return _joined(_cross(b.origin, rod), rod)
    if kind in (kinds.ACROSS_X, kinds.ACROSS_Y, kinds.ACROSS_Z):
        axis = a.axes[kind - kinds.ACROSS_X]
        return _joined(_cross(b.origin, axis), axis)
    if kind == kinds.SCREW:
        axis = b.axes[2]
        return _joined(_sum((1.0, _cross(b.origin, axis)), (-closure.pitch, axis)), axis)
    if kind in (kinds.FORCE_X, kinds.FORCE_Y, kinds.FORCE_Z):
        axis = b.axes[kind - kinds.FORCE_X]
        return _joined(_cross(b.origin, axis), axis)
    raise AssertionError(f'a row of another kind: {kind}')


def _joined(moment: Jet, force: Jet) -> Jet:
    return Jet(*(np.concatenate([m, f], axis=-1) for m, f in zip(moment, force)))


def _sum(*terms: tuple[float, Jet]) -> Jet:
    scaled = [[scale * part for part in jet] for scale, jet in terms]
    return Jet(*(np.sum(parts, axis=0) for parts in zip(*scaled)))


def _cross(x: Jet, y: Jet) -> Jet:
    return Jet(
        np.asarray(np.cross(x.value, y.value), dtype=np.float64),
        np.cross(x.rate, y.value) + np.cross(x.value, y.rate),
        np.cross(x.change, y.value) + np.cross(x.value, y.change),
        np.cross(x.both, y.value) + np.cross(x.change, y.rate)
        + np.cross(x.rate, y.change) + np.cross(x.value, y.both))


class ParameterRows:
    """
    The rows of closures at a motion, as jets, and how they vary with kinematic parameters.

    Columns are the parameters. A body that is displaced carries the frames of its closures along.
    closures has the two frames of each closure; wrenches has the wrenches of its rows on body b.
    """

    def __init__(self, dynamics, q: Array, v: Array, a: Array) -> None:
        """Find what parameters change of each body."""
        model = dynamics.model
        self._motion, self._frames = (q, v, a), OF_JOINT * len(model.joint_list)
        self._columns = self._frames + OF_CLOSURE * len(model.closures)
        self._model, self._m = model, dynamics.m
        self._machine = KinematicMachine(model, q, v, a, None)
        tree = self._machine.tree
        self._twist, self._acceleration = self._machine.twist, self._machine.acceleration
        self._moves = np.vstack([tree.moves, np.zeros(model.nv, dtype=bool)]) * 1.0
        self._changes: dict[str | None, Changes] = {
            body: Changes(*np.zeros((3, self._columns, 6))) for body in (None, *model.bodies)}
        for j in range(len(model.joint_list)):
            self._displace(j)
        self.closures = [(self._side(c, 0), self._side(c, 1), closure)
                         for c, closure in enumerate(model.closures)]
        self.wrenches = [self._rows(c, *each) for c, each in enumerate(self.closures)]

    def _displace(self, j: int) -> None:
        """Write what the parameters of a joint change of the bodies that it carries."""
        before, after, pitch = self._machine.displacements(j)
        for b, joint in enumerate(self._model.joint_list):
            if self._machine.carries[j, b]:
                self._add(joint.child, OF_JOINT * j, before)
                if after is not None:
                    self._add(joint.child, OF_JOINT * j + 6, Displacement(
                        *(x[:, :3] - y for x, y in zip(before, after))))
                if pitch is not None:
                    self._add(joint.child, OF_JOINT * j + 9, pitch)

    def _add(self, body: str, column: int, x: Displacement) -> None:
        """Write what some columns change of a body (13.8)."""
        link, at = self._machine.link_of[body], slice(column, column + x.p.shape[1])
        moved, p, q = np.transpose(x.displacement), x.p.T, x.q.T
        twist, acceleration = self._machine.twist[link], self._machine.acceleration[link]
        changes = self._changes[body]
        changes.moved[at], changes.turned[at] = moved, p + bracket(moved, twist)
        # Gravity is in both, and so in neither.
        changes.driven[at] = q - bracket(twist, p) + bracket(moved, acceleration)

    def _side(self, c: int, which: int) -> Side:
        """Return the frame of a closure on body a or b, and what it varies with."""
        closure = self._model.closures[c]
        body = (closure.body_a, closure.body_b)[which]
        link, pose = -1, (closure.frame_a, closure.frame_b)[which]
        if body is not None:
            table, b = self._model.link_table, self._model.body_index(body)
            link, pose = int(table.body_link[b]), unpacked(table.body_placement[b]) @ pose
            if link >= 0:
                pose = self._machine.tree.poses[link] @ pose
        changes = self._changes[body]
        moved, at = changes.moved.copy(), self._frames + OF_CLOSURE * c + 6 * which
        moved[at:at + 6] += se3.adjoint(pose).T  # by the parameters of the frame

        def carried(x: Array, is_point: float) -> Jet:
            """Return a point or a direction that the link carries."""
            (w, u), turned = np.split(self._twist[link], 2), changes.turned
            change = np.cross(moved[:, :3], x) + is_point * moved[:, 3:]
            return Jet(x, np.cross(w, x) + is_point * u, change,
                       np.cross(turned[:, :3], x) + np.cross(w, change)
                       + is_point * turned[:, 3:])

        x, y, z = (carried(axis, 0.0) for axis in pose[:3, :3].T)
        return Side(carried(pose[:3, 3], 1.0), (x, y, z), link, changes, moved)

    def _rows(self, c: int, a: Side, b: Side, closure: Closure) -> list[Jet]:
        """Return the wrenches of the rows; those of screws and rods have a parameter more."""
        types = CLOSURE_TYPES[closure.type_name].rows
        result = [row_wrench(a, b, closure, kind) for kind in types]
        at = self._frames + OF_CLOSURE * c + 12
        for kind, row in zip(types, result):
            if kind == kinds.SCREW:
                row.change[at, :3] -= b.axes[2].value
                row.both[at, :3] -= b.axes[2].rate
            elif kind == kinds.ALONG_ROD:
                row.change[at + 1] -= row.value / closure.length
                row.both[at + 1] -= row.rate / closure.length
        return result

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

    def needs(self, multipliers: Array, external: Array | None) -> Array:
        """Return D(ID - A^T lam) (nv, c), the multipliers being constant."""
        model, tree, count = self._model, self._machine.tree, len(self._model.bodies)
        wrenches = np.zeros((count, 6)) if external is None else np.array(external)
        result = np.zeros((model.nv, self._columns))
        for (a, b, wrench, change), closure in zip(self.pressed(multipliers), model.closures):
            for body, side, sign in ((closure.body_a, a, -1.0), (closure.body_b, b, 1.0)):
                if body is not None:  # in its frame, where it turns with the body
                    wrenches[model.body_index(body)] += sign * (
                        se3.adjoint(self._machine.placed[body]).T @ wrench)
                seen = change + np.einsum('cab,a->cb', se3.ad(side.body.moved), wrench)
                result -= sign * self._moves[side.link][:, None] * (tree.screws @ seen.T)
        of_tree = inverse_kinematic_jacobians(model, *self._motion, wrenches)
        result[:, :self._frames] += np.concatenate(
            [of_tree.by_placement, of_tree.by_axis, of_tree.by_pitch[..., None]], axis=2
        ).reshape(model.nv, self._frames)
        return result

    def position_changes(self) -> Array:
        """Return how the residuals of the constraints vary (m, c) at a closed configuration."""
        result, r = np.zeros((self._m, self._columns)), 0
        for c, ((a, b, closure), wrenches) in enumerate(zip(self.closures, self.wrenches)):
            at = self._frames + OF_CLOSURE * c + 12
            for w, kind in zip(wrenches, CLOSURE_TYPES[closure.type_name].rows):
                result[r] = (b.moved - a.moved) @ w.value
                if kind == kinds.SCREW:  # the residual is z - pitch angle
                    z = (b.origin.value - a.origin.value) @ b.axes[2].value
                    result[r, at] -= z / closure.pitch
                elif kind == kinds.ALONG_ROD:
                    result[r, at + 1] -= 1.0
                r += 1
        return result

    def velocity_changes(self) -> Array:
        """Return D(A v) (m, c)."""
        result, r = np.zeros((self._m, self._columns)), 0
        for (a, b, _), wrenches in zip(self.closures, self.wrenches):
            twist, turned = self._twist[b.link] - self._twist[a.link], (
                b.body.turned - a.body.turned)
            for w in wrenches:
                result[r] = w.change @ twist + turned @ w.value
                r += 1
        return result

    def columns(self, jacobians: LoopKinematicJacobians) -> Array:
        """Return Jacobians as one matrix with the columns of this object."""
        rows = len(jacobians.by_placement)
        joints = np.concatenate([jacobians.by_placement, jacobians.by_axis,
                                 jacobians.by_pitch[..., None]], axis=2)
        closures = np.concatenate([
            jacobians.by_frame_a, jacobians.by_frame_b, jacobians.by_closure_pitch[..., None],
            jacobians.by_length[..., None]], axis=2)
        return np.hstack([joints.reshape(rows, -1), closures.reshape(rows, -1)])
