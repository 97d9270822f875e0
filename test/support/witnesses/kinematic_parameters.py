# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The Jacobians of inverse dynamics by kinematic parameters, in numpy (13.5).

A change of a parameter displaces everything behind it, as a locked joint there would. Its columns
P and Q are those of a coordinate (13.6), with the motion of the carrier (13.27). All is in the
ground frame, with a sum over bodies for each joint. So bodies behind fixed joints count like those
behind moving ones.
"""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.partial_derivatives.parameters import KinematicJacobians
from liedyn_ros.dynamics.tree.screw_tree import dual_bracket, inertia_matrices, ScrewTree, unpacked
from liedyn_ros.lie import se3
from liedyn_ros.model import Joint, JOINT_TYPES, Model


class Displacement(NamedTuple):
    """
    The effect of parameters (m) on all bodies behind them: columns (6, m) in the ground.

    displacement: where things go; p and q: how their twists and accelerations vary (13.8).
    """

    displacement: Array
    p: Array
    q: Array


def inverse_kinematic_jacobians(model: Model, q: Array, v: Array, a: Array,
                                external: Array | None) -> KinematicJacobians:
    """Return those of inverse dynamics at a checked motion; external (B, 6) or None."""
    return KinematicMachine(model, q, v, a, external).jacobians()


class KinematicMachine:
    """A machine in motion, seen from the ground: twists, and sums over what each joint carries."""

    def __init__(self, model: Model, q: Array, v: Array, a: Array, external: Array | None
                 ) -> None:
        self.model, self.tree, self.v, self.a = model, ScrewTree(model, q), v, a
        table, twists = model.link_table, self.tree.series(np.stack([v, a]))[1]
        lift = np.concatenate([np.zeros(3), -model.gravity])
        # The last rows, index -1, are those of the ground.
        self.twist = np.vstack([twists[0], np.zeros(6)])
        self.acceleration = np.vstack([twists[1], np.zeros(6)]) + lift
        self.pose = np.concatenate([self.tree.poses.reshape(-1, 4, 4), np.eye(4)[None]])
        self.link_of: dict[str | None, int] = {None: -1}
        self.placed: dict[str | None, Array] = {None: np.eye(4)}
        for body, link, row in zip(model.bodies, table.body_link, table.body_placement):
            self.link_of[body], self.placed[body] = link, self.pose[link] @ unpacked(row)
        self._sum_bodies(external)

    def _sum_bodies(self, external: Array | None) -> None:
        """Write inertia, B (13.9) and wrench of each body, and which joints carry it."""
        model, joints = self.model, self.model.joint_list
        count = len(joints)
        parameters = np.array([np.zeros(10) if body.inertia is None else body.inertia.parameters()
                               for body in model.body_list]).reshape(-1, 10)
        poses = np.array([self.placed[body] for body in model.bodies]).reshape(-1, 4, 4)
        into = se3.adjoint(se3.inverse(poses)) if count else np.zeros((0, 6, 6))
        inertia = np.swapaxes(into, 1, 2) @ inertia_matrices(parameters) @ into
        links = model.link_table.body_link
        ad = se3.ad(self.twist[links])
        dual, momentum = np.swapaxes(ad, 1, 2), apply(inertia, self.twist[links])
        change = -(inertia @ ad + dual @ inertia + dual_bracket(momentum))
        wrench = apply(inertia, self.acceleration[links]) - apply(dual, momentum)
        if external is not None:
            wrench = wrench - apply(np.swapaxes(into, 1, 2), external)
        carries = np.eye(count)  # joint i carries body j; bodies stand in the order of joints
        at = {joint.child: j for j, joint in enumerate(joints)}
        for j in reversed(range(count)):
            parent = joints[j].parent
            if parent is not None:
                carries[at[parent]] += carries[j]
        self.carries = carries
        self.inertia, self.change = (np.tensordot(carries, x, 1) for x in (inertia, change))
        self.wrench = carries @ wrench

    def jacobians(self) -> KinematicJacobians:
        """Return all derivatives."""
        joints, n = self.model.joint_list, self.model.nv
        result = KinematicJacobians(
            np.zeros((n, len(joints), 6)), np.zeros((n, len(joints), 3)),
            np.zeros((n, len(joints))))
        for j, joint in enumerate(joints):
            before, after, pitch = self.displacements(j)
            result.by_placement[:, j] = by_placement = self.respond(j, before, own_moves=True)
            if after is not None:
                result.by_axis[:, j] = by_placement[:, :3] - self.respond(
                    j, after, own_moves=False)
            if pitch is not None:
                result.by_pitch[:, j] = self.respond(j, pitch, own_moves=True)[:, 0]
                k = joint.v_slice.start
                result.by_pitch[k, j] += self.along_axis(joint)[:, 0] @ self.wrench[j]
        return result

    def displacements(self, j: int
                      ) -> tuple[Displacement, Displacement | None, Displacement | None]:
        """
        Return what joint j does to what it carries, by its placement, axis and pitch.

        An axis displaces by the first three columns of the placement less the second result, in
        which the joint's own screws stay. Without an axis or a pitch the result is None.
        """
        joint = self.model.joint_list[j]
        carrier = self.link_of[joint.parent]
        place = self.placed[joint.parent] @ joint.placement
        before, after, pitch = self.locked(se3.adjoint(place), carrier), None, None
        if JOINT_TYPES[joint.type_name].has_axis:
            turned = se3.adjoint(self.placed[joint.child])[:, :3]
            after = self.locked(turned, self.link_of[joint.child])
        if joint.type_name == 'helical':
            pitch = self.of_pitch(joint, carrier)
        return before, after, pitch

    def locked(self, displacement: Array, carrier: int) -> Displacement:
        """Return what locked joints of some screws (6, m) behind a link do (13.27)."""
        ad_v, ad_a = se3.ad(self.twist[carrier]), se3.ad(self.acceleration[carrier])
        p = ad_v @ displacement
        return Displacement(displacement, p, ad_a @ displacement + ad_v @ p)

    def respond(self, j: int, x: Displacement, own_moves: bool) -> Array:
        """
        Return how tau (nv, m) varies where all that joint j carries is displaced (13.11).

        With own_moves its own screws are displaced too: the place is before the joint.
        """
        tree, result = self.tree, np.zeros((self.model.nv, x.p.shape[1]))
        carried = (self.inertia[j] @ x.q + self.change[j] @ x.p
                   - dual_bracket(self.wrench[j]) @ x.displacement)
        for i, joint in enumerate(self.model.joint_list):
            place = joint.v_slice
            if not self.carries[j, i] or (i == j and not own_moves):
                if self.carries[i, j]:  # an ancestor
                    result[place] = tree.screws[place] @ carried
                continue
            result[place] = tree.screws[place] @ (self.inertia[i] @ x.q + self.change[i] @ x.p)
        return result

    def of_pitch(self, joint: Joint, carrier: int) -> Displacement:
        """Return what the pitch of a helical joint does to what it carries (13.26)."""
        k, link = joint.v_slice.start, self.link_of[joint.child]
        axis = self.along_axis(joint)  # S' is a translation along the axis, h' = S' q
        position, rate = self.tree.q[joint.q_slice.start], axis * self.v[k]
        x = self.locked(position * axis, carrier)
        return Displacement(
            x.displacement, x.p + rate, x.q + se3.ad(self.twist[carrier]) @ rate
            + axis * self.a[k] + se3.ad(self.twist[link]) @ rate)

    def along_axis(self, joint: Joint) -> Array:
        """Return a unit translation (6, 1) along the axis of a joint."""
        axis = np.zeros((6, 1))
        axis[3:, 0] = self.placed[joint.child][:3, :3] @ joint.axis
        return axis


def apply(matrices: Array, vectors: Array) -> Array:
    """Return the products of matrices (..., 6, 6) and vectors (..., 6)."""
    return (matrices @ vectors[..., None])[..., 0]
