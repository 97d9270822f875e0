# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The floating base of a model: its pose in the world, its motion as body or spatial twists."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_numbers
from liedyn_ros.common.errors import ModelError, ShapeError
from liedyn_ros.lie import se3, so3
from liedyn_ros.lie.time_derivatives import BODY, SPATIAL, Twists
from liedyn_ros.model import Joint, Model
from liedyn_ros.model.kernels.kinds import FREE


class FloatingBase:
    """
    The body of a model that a free joint, the first of its joints that move, joins to the ground.

    Its configuration is q[:7], its body twist v[:6], and what Dynamics takes and returns as
    accelerations of the base are derivatives of these six numbers. Those of the spatial twist
    are the same motion in other numbers, converted here exactly, at any order (0.8), (0.9).
    pose_world_joint (4, 4) is where the joint stands: the pose of the base at zero.

    All methods raise ShapeError, NotFiniteError, or NotInGroupError for a quaternion whose norm
    is off 1 by over 1e-6.
    """

    def __init__(self, model: Model) -> None:
        """Find the base, or raise ModelError where it is fixed."""
        joint = base_joint(model)
        if joint is None:
            raise ModelError(f'{model.name}: expected a floating base, got one that is fixed')
        self.model, self.joint, self.body = model, joint, joint.child
        placement = model.link_table.placement[0]
        self.pose_world_joint = se3.from_rotation_translation(
            placement[:9].reshape(3, 3), placement[9:])

    def pose(self, q: ArrayLike) -> Array:
        """Return the body's pose in the world, (4, 4), at a configuration (nq,)."""
        q = self.model.check_configuration(q)
        return self.pose_world_joint @ se3.from_rotation_translation(
            so3.from_quaternion(q[3:7]), q[:3])

    def coordinates(self, pose_world_base: ArrayLike) -> Array:
        """Return q[:7] for a pose (4, 4) of the body in the world, pose undone."""
        pose = se3.inverse(self.pose_world_joint) @ se3.require_pose(
            'pose_world_base', pose_world_base)
        return np.concatenate([pose[:3, 3], so3.to_quaternion(pose[:3, :3])])

    def motion(self, q: ArrayLike, motion: ArrayLike) -> Twists:
        """
        Return the motion of the body in the world, from that of the tree.

        motion (n, nv) is v and its derivatives. The result holds twist and derivatives in the
        frame BODY. Its to(SPATIAL) holds the spatial ones, its poses() the homogeneous transform
        and its derivatives (Ali 20).
        """
        return Twists(self.pose(q), as_array('motion', motion, (-1, self.model.nv))[:, :6], BODY)

    def to_spatial(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """
        Return accelerations whose first six columns are derivatives of the spatial twist.

        a is (nv,), or (r + 1, nv) with its time derivatives; v (nv,) holds the body twist.
        """
        return self._seen_from(SPATIAL, q, v, a)

    def to_body(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return accelerations as Dynamics takes them, to_spatial undone; v stays as it is."""
        return self._seen_from(BODY, q, v, a)

    def _seen_from(self, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        other, nv = SPATIAL if frame == BODY else BODY, self.model.nv
        pose, v, result = self.pose(q), as_array('v', v, (nv,)), _copied(a, nv)
        rows = result.reshape(-1, nv)
        with np.errstate(all='ignore'):  # what is not finite then is refused by Twists
            twist = Twists(pose, v[None, :6], BODY).to(other).time_derivatives
            motion = Twists(pose, np.vstack([twist, rows[:, :6]]), other).to(frame)
        rows[:, :6] = motion.time_derivatives[1:]
        return result


def base_joint(model: Model) -> Joint | None:
    """Return the free joint that joins the floating base to the ground, None for a fixed base."""
    table = model.link_table
    if table.N == 0 or table.kind[0] != FREE or table.parent[0] >= 0:
        return None
    return next(joint for joint in model.joint_list if joint.type_name == 'free')


def _copied(a: ArrayLike, nv: int) -> Array:
    """Return a copy of accelerations, (nv,) or (r + 1, nv)."""
    array = as_numbers('a', a)
    if array.ndim not in (1, 2) or array.shape[-1] != nv:
        raise ShapeError(f'a: expected shape {(nv,)} or (r + 1, {nv}), got {array.shape}')
    return array.copy()
