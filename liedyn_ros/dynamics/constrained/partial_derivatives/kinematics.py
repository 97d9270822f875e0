# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of machines with closed loops by their kinematic parameters (13.5, 13.20).

A parameter displaces the bodies behind it, as a locked joint there would, and with them the frames
of closures. So rows vary as with a displacement of the state. The equations are the same ones.
Constraint functions are of the coordinates alone, and do not vary.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LEAST_TORQUE
from liedyn_ros.dynamics.constrained.partial_derivatives import hybrid
from liedyn_ros.dynamics.constrained.partial_derivatives.inverse_rates import InverseSystem
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_machine import (
    Displacement, inverse_kinematic_jacobians, KinematicMachine)
from liedyn_ros.dynamics.constrained.partial_derivatives.row_jets import (
    Changes, Jet, row_wrench, Side)
from liedyn_ros.dynamics.constrained.partial_derivatives.systems import (
    ForwardSystem, least_multipliers, regular_forward)
from liedyn_ros.dynamics.tree.inputs import mask
from liedyn_ros.dynamics.tree.screw_tree import LinkMotion, unpacked
from liedyn_ros.dynamics.tree.taylor import bracket
from liedyn_ros.lie import se3
from liedyn_ros.model import Closure, CLOSURE_TYPES
from liedyn_ros.model.kernels.closure_kinds import ALONG_ROD, SCREW

OF_JOINT, OF_CLOSURE = 10, 14  # columns of each: see LoopKinematicJacobians


class LoopKinematicJacobians(NamedTuple):
    """
    The partial derivatives of a quantity (k,) by what places J joints and C closures.

    by_placement (k, J, 6), by_axis (k, J, 3) and by_pitch (k, J) are as in KinematicJacobians.
    by_frame_a and by_frame_b (k, C, 6): by a twist xi, angular first, in a frame of a closure,
    which replaces frame by frame exp(xi); rad and m. by_closure_pitch (k, C): of helical closures,
    m/rad. by_length (k, C): of rods, m. Zero for other closures. q, v and what else was given stay
    the same numbers, so that a parameter alone may open loops; see kinematic_gaps.
    """

    by_placement: Array
    by_axis: Array
    by_pitch: Array
    by_frame_a: Array
    by_frame_b: Array
    by_closure_pitch: Array
    by_length: Array


class ForwardKinematicJacobians(NamedTuple):
    """Those of accelerations and of multipliers, as ConstrainedJacobians has them by the state."""

    a: LoopKinematicJacobians
    multipliers: LoopKinematicJacobians


class InverseKinematicJacobians(NamedTuple):
    """Those of joint forces and of multipliers."""

    tau: LoopKinematicJacobians
    multipliers: LoopKinematicJacobians


class HybridKinematicJacobians(NamedTuple):
    """Those of accelerations and joint forces, zero where they are given, and of multipliers."""

    a: LoopKinematicJacobians
    tau: LoopKinematicJacobians
    multipliers: LoopKinematicJacobians


class KinematicGaps(NamedTuple):
    """Those of the residuals (m,) of the constraints, and of their rates A v (m,)."""

    position: LoopKinematicJacobians
    velocity: LoopKinematicJacobians


def constrained_by_kinematics(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
        external: ArrayLike | None = None) -> ForwardKinematicJacobians:
    """
    Return how a and the multipliers of forward dynamics vary with kinematic parameters.

    At a state on the constraints, whose A v stays as it is. Raises what
    constrained_partial_derivatives raises.
    """
    n = dynamics.model.nv
    q, v = dynamics.model.check_configuration(q), as_array('v', v, (n,))
    found = regular_forward(dynamics, q, v, as_array('tau', tau, (n,)), external)
    rows = ParameterRows(dynamics, q, v, found.a)
    jacobian = dynamics.jacobian(q)
    system = ForwardSystem(dynamics.tree.mass_matrix(q), jacobian, found.rank)
    solved = system.solve(-np.vstack([
        rows.needs(found.multipliers, external), rows.acceleration_changes()[system.kept]]))
    return ForwardKinematicJacobians(rows.split(solved[:n]), rows.split(
        *least_multipliers(jacobian[None], system.kept, [solved[n:]])))


def constrained_inverse_by_kinematics(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
        tau: ArrayLike | None = None, actuated: ArrayLike | None = None,
        redundancy: str = LEAST_TORQUE, weights: ArrayLike | None = None,
        external: ArrayLike | None = None) -> InverseKinematicJacobians:
    """
    Return how joint forces and multipliers vary with kinematic parameters.

    Arguments are those of dynamics.inverse at order 0. Raises what
    constrained_inverse_partial_derivatives raises.
    """
    n = dynamics.model.nv
    q, v, a = dynamics.model.check_configuration(q), as_array('v', v, (n,)), as_array('a', a, (n,))
    found = dynamics.inverse(q, v, a, tau=tau, actuated=actuated, redundancy=redundancy,
                             weights=weights, external=external)
    driven = dynamics.model.actuated if actuated is None else mask('actuated', actuated, n)
    system = InverseSystem(dynamics, dynamics.jacobian(q)[None], driven, redundancy, weights)
    mu = system.potentials(dynamics.tree.inverse(q, v, a, external)[None] - np.where(
        driven, 0.0, found.tau))[0]
    needs = ParameterRows(dynamics, q, v, a).needs(found.multipliers, external)
    leaning = ParameterRows(dynamics, q, np.zeros(n), mu)
    moved, pressed = system.respond(
        needs[None, None], leaning.acceleration_changes()[None, None])
    return InverseKinematicJacobians(leaning.split(moved[0, 0]), leaning.split(pressed[0][0]))


def constrained_hybrid_by_kinematics(
        dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike,
        a: ArrayLike, tau: ArrayLike, external: ArrayLike | None = None
        ) -> HybridKinematicJacobians:
    """
    Return how a, tau and the multipliers of hybrid dynamics vary with kinematic parameters.

    Arguments are those of dynamics.hybrid at order 0. Raises what
    constrained_hybrid_partial_derivatives raises.
    """
    n = dynamics.model.nv
    q, v = dynamics.model.check_configuration(q), as_array('v', v, (n,))
    known = mask('prescribed', prescribed, n)
    found = hybrid.regular_hybrid(dynamics, q, v, known, a, tau, external)
    rows = ParameterRows(dynamics, q, v, found.a)
    mu = hybrid.potential(dynamics, q, known, found.multipliers)
    leaning = ParameterRows(dynamics, q, np.zeros(n), mu)
    return HybridKinematicJacobians(*map(rows.split, hybrid.respond(
        dynamics, q, known, dynamics.tree.mass_matrix(q), hybrid.Sides(
            rows.needs(found.multipliers, external), -rows.acceleration_changes(),
            leaning.acceleration_changes()))))


def kinematic_gaps(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike) -> KinematicGaps:
    """
    Return by how much kinematic parameters open the constraints of a closed state.

    A displacement dq with A dq = -position dp closes them again. That is the derivative of an
    assembly, which calibration of a machine with closed loops takes. Raises LiedynError for an
    open state.
    """
    dynamics.require_closed(q, v)
    q, v = dynamics.model.check_configuration(q), as_array('v', v, (dynamics.model.nv,))
    rows = ParameterRows(dynamics, q, v, np.zeros_like(v))
    return KinematicGaps(rows.split(rows.position_changes()), rows.split(rows.velocity_changes()))


class ParameterRows:
    """
    The rows of closures at a motion, as jets, and how they vary with kinematic parameters.

    Columns are the parameters. A body that is displaced carries the frames of its closures along.
    closures has the two frames of each closure; wrenches has the wrenches of its rows on body b.
    """

    def __init__(self, dynamics: ConstrainedDynamics, q: Array, v: Array, a: Array) -> None:
        """Find what parameters change of each body."""
        model = dynamics.model
        self._motion, self._frames = (q, v, a), OF_JOINT * len(model.joint_list)
        self._columns = self._frames + OF_CLOSURE * len(model.closures)
        self._model, self._m = model, dynamics.m
        self._machine = KinematicMachine(model, q, v, a, None)
        tree = self._machine.tree
        motion = LinkMotion(tree, v, a)
        self._twist, self._acceleration = motion.twist, motion.acceleration
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
        kinds = CLOSURE_TYPES[closure.type_name].rows
        result = [row_wrench(a, b, closure, kind) for kind in kinds]
        at = self._frames + OF_CLOSURE * c + 12
        for kind, row in zip(kinds, result):
            if kind == SCREW:
                row.change[at, :3] -= b.axes[2].value
                row.both[at, :3] -= b.axes[2].rate
            elif kind == ALONG_ROD:
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

    def needs(self, multipliers: Array, external: ArrayLike | None) -> Array:
        """Return D(ID - A^T lam) (nv, c), the multipliers being constant."""
        model, tree, count = self._model, self._machine.tree, len(self._model.bodies)
        wrenches = np.zeros((count, 6)) if external is None else np.array(
            as_array('external', external, (count, 6)))
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
                if kind == SCREW:  # the residual is z - pitch angle
                    z = (b.origin.value - a.origin.value) @ b.axes[2].value
                    result[r, at] -= z / closure.pitch
                elif kind == ALONG_ROD:
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

    def split(self, matrix: Array) -> LoopKinematicJacobians:
        """Return the columns (k, c) by their parameters."""
        joints, closures = np.split(matrix, [self._frames], axis=1)
        joints = joints.reshape(len(matrix), len(self._model.joint_list), OF_JOINT)
        closures = closures.reshape(len(matrix), len(self._model.closures), OF_CLOSURE)
        return LoopKinematicJacobians(
            joints[..., :6], joints[..., 6:9], joints[..., 9], closures[..., :6],
            closures[..., 6:12], closures[..., 12], closures[..., 13])
