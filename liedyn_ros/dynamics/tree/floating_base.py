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


class FloatingBase:
    """
    The body of a model that a free joint, the first of its joints that move, joins to the ground.

    Its configuration is q[:7], its body twist v[:6], and what Dynamics takes and returns as
    accelerations of the base are derivatives of these six numbers. Those of the spatial twist
    are the same motion in other numbers, converted here exactly, at any order (0.8), (0.9).
    pose_world_joint (4, 4) is where the joint stands: the pose of the base at zero.

    All methods raise ShapeError, NotFiniteError, or NotInGroupError for a quaternion whose norm
    is off 1 by over 1e-6.

    >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
    >>> FloatingBase(flying).coordinates(ld.pose([1.0, 2.0, 3.0]))[:3]
    array([1., 2., 3.])
    """

    def __init__(self, model: Model) -> None:
        """
        Find the base, or raise ModelError where it is fixed.

        Args:
            model: a Model whose first moving joint is free.

        Raises:
            ModelError: where the base is fixed.
        """
        joint = base_joint(model)
        if joint is None:
            raise ModelError(f'{model.name}: expected a floating base, got one that is fixed')
        self.model, self.joint, self.body = model, joint, joint.child
        placement = model.link_table.placement[0]
        self.pose_world_joint = se3.from_rotation_translation(
            placement[:9].reshape(3, 3), placement[9:])

    def pose(self, q: ArrayLike) -> Array:
        """
        Return the pose of the base in the ground.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            T_ground_base (4, 4); m.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
        >>> FloatingBase(flying).pose(flying.neutral())[:3, 3]
        array([0., 0., 0.])
        """
        q = self.model.check_configuration(q)
        return self.pose_world_joint @ se3.from_rotation_translation(
            so3.from_quaternion(q[3:7]), q[:3])

    def coordinates(self, pose_world_base: ArrayLike) -> Array:
        """
        Return the coordinates of a pose of the base, the inverse of pose.

        Args:
            pose_world_base: T_ground_base (4, 4); m.

        Returns:
            q[:7]: position (m), quaternion x, y, z, w.

        Raises:
            NotInGroupError: for a matrix that is no pose.

        >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
        >>> FloatingBase(flying).coordinates(ld.pose([1.0, 2.0, 3.0]))
        array([1., 2., 3., 0., 0., 0., 1.])
        """
        pose = se3.inverse(self.pose_world_joint) @ se3.require_pose(
            'pose_world_base', pose_world_base)
        return np.concatenate([pose[:3, 3], so3.to_quaternion(pose[:3, :3])])

    def motion(self, q: ArrayLike, motion: ArrayLike) -> Twists:
        """
        Return the motion of the base in the ground from the motion of the tree.

        Args:
            q: configuration (nq,); rad and m.
            motion: v and its derivatives (n, nv); rad, m and s.

        Returns:
            twist and derivatives in the frame BODY; its to(SPATIAL) has spatial ones, its poses()
            the pose and its derivatives (Ali 20).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
        >>> FloatingBase(flying).motion(flying.neutral(), np.ones((2, flying.nv))).frame
        'body'
        """
        return Twists(self.pose(q), as_array('motion', motion, (-1, self.model.nv))[:, :6], BODY)

    def to_spatial(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """
        Return accelerations whose first six columns are rates of the base's spatial twist.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,), with the body twist of the base; rad/s and m/s.
            a: acceleration (nv,), or with its time derivatives (r + 1, nv).

        Returns:
            the same shape.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
        >>> base, at, rate = FloatingBase(flying), flying.neutral(), np.full(flying.nv, 0.1)
        >>> np.allclose(base.to_body(at, rate, base.to_spatial(at, rate, rate)), rate)
        True
        """
        return self._seen_from(SPATIAL, q, v, a)

    def to_body(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """
        Return accelerations as Dynamics takes them, the inverse of to_spatial.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,), with the body twist of the base; rad/s and m/s.
            a: (nv,), or with time derivatives (r + 1, nv), the first six columns of the spatial
                twist.

        Returns:
            the same shape.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> flying = ld.load(config_file('arm.urdf'), floating=True).model
        >>> at, rest = flying.neutral(), np.zeros(flying.nv)
        >>> FloatingBase(flying).to_body(at, rest, rest).shape
        (12,)
        """
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
    if 0 not in table.free or table.parent[0] >= 0:
        return None
    return next(joint for joint in model.joint_list if joint.type_name == 'free')


def _copied(a: ArrayLike, nv: int) -> Array:
    """Return a copy of accelerations, (nv,) or (r + 1, nv)."""
    array = as_numbers('a', a)
    if array.ndim not in (1, 2) or array.shape[-1] != nv:
        raise ShapeError(f'a: expected shape {(nv,)} or (r + 1, {nv}), got {array.shape}')
    return array.copy()
