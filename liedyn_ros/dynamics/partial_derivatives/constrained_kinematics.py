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
from liedyn_ros.dynamics.inputs import mask
from liedyn_ros.dynamics.partial_derivatives import (
    constrained as forward, constrained_hybrid as hybrid)
from liedyn_ros.dynamics.partial_derivatives.closure_rows import ClosureRows
from liedyn_ros.dynamics.partial_derivatives.constrained_inverse import InverseSystem
from liedyn_ros.dynamics.partial_derivatives.kinematic_parameters import (
    Displacement, inverse_kinematic_jacobians, KinematicMachine)
from liedyn_ros.dynamics.partial_derivatives.rates import bracket
from liedyn_ros.dynamics.partial_derivatives.row_jets import Changes, Jet, Side
from liedyn_ros.dynamics.screw_tree import LinkMotion
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
    found = forward.regular_forward(dynamics, q, v, as_array('tau', tau, (n,)), external)
    rows = ParameterRows(dynamics, q, v, found.a)
    return ForwardKinematicJacobians(*map(rows.split, forward.respond(
        dynamics, q, dynamics.tree.mass_matrix(q), found.rank,
        -rows.needs(found.multipliers, external), -rows.acceleration_changes())))


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
    system = InverseSystem(dynamics, q, v, a, tau, actuated, redundancy, weights, external)
    needs = ParameterRows(dynamics, q, v, a).needs(system.found.multipliers, external)
    leaning = ParameterRows(dynamics, q, np.zeros(n), system.mu)
    return InverseKinematicJacobians(*map(leaning.split, system.respond(
        needs, leaning.acceleration_changes())))


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


class ParameterRows(ClosureRows):
    """The rows of closures, and how they vary with kinematic parameters."""

    def __init__(self, dynamics: ConstrainedDynamics, q: Array, v: Array, a: Array) -> None:
        """Find what parameters change of each body."""
        model = dynamics.model
        self._motion, self._frames = (q, v, a), OF_JOINT * len(model.joint_list)
        columns = self._frames + OF_CLOSURE * len(model.closures)
        self._machine = machine = KinematicMachine(model, q, v, a, None)
        self._changes: dict[str | None, Changes] = {
            body: Changes(*np.zeros((3, columns, 6))) for body in (None, *model.bodies)}
        for j in range(len(model.joint_list)):
            before, after, pitch = machine.displacements(j)
            for b, joint in enumerate(model.joint_list):
                if machine.carries[j, b]:
                    self._add(joint.child, OF_JOINT * j, before)
                    if after is not None:
                        self._add(joint.child, OF_JOINT * j + 6, Displacement(
                            *(x[:, :3] - y for x, y in zip(before, after))))
                    if pitch is not None:
                        self._add(joint.child, OF_JOINT * j + 9, pitch)
        super().__init__(dynamics, machine.tree, LinkMotion(machine.tree, v, a), columns)

    def _add(self, body: str, column: int, x: Displacement) -> None:
        """Write what some columns change of a body (13.8)."""
        link, at = self._machine.link_of[body], slice(column, column + x.p.shape[1])
        moved, p, q = np.transpose(x.displacement), x.p.T, x.q.T
        twist, acceleration = self._machine.twist[link], self._machine.acceleration[link]
        changes = self._changes[body]
        changes.moved[at], changes.turned[at] = moved, p + bracket(moved, twist)
        # Gravity is in both, and so in neither.
        changes.driven[at] = q - bracket(twist, p) + bracket(moved, acceleration)

    def changes(self, body: str | None, link: int) -> Changes:
        """Return those of the body."""
        return self._changes[body]

    def frame_changes(self, closure: int, side: int, pose: Array) -> Array | None:
        """Return how the parameters of a frame displace it."""
        result = np.zeros((self._columns, 6))
        start = self._frames + OF_CLOSURE * closure + 6 * side
        result[start:start + 6] = se3.adjoint(pose).T
        return result

    def _rows(self, c: int, a: Side, b: Side, closure: Closure) -> list[Jet]:
        """Return the wrenches of the rows; those of screws and rods have a parameter more."""
        result = super()._rows(c, a, b, closure)
        at = self._frames + OF_CLOSURE * c + 12
        for kind, row in zip(CLOSURE_TYPES[closure.type_name].rows, result):
            if kind == SCREW:
                row.change[at, :3] -= b.axes[2].value
                row.both[at, :3] -= b.axes[2].rate
            elif kind == ALONG_ROD:
                row.change[at + 1] -= row.value / closure.length
                row.both[at + 1] -= row.rate / closure.length
        return result

    def needs(self, multipliers: Array, external: ArrayLike | None) -> Array:
        """Return D(ID - A^T lam) (nv, c), the multipliers being constant."""
        model, tree, count = self._model, self._tree, len(self._model.bodies)
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
        ).reshape(model.nv, -1)
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
