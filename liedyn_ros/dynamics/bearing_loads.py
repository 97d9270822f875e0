# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The wrench that every joint transmits: its motor's force, and the reactions of its bearings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_kind
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.tree.screw_tree import inertia_matrices
from liedyn_ros.lie import se3
from liedyn_ros.model import Model


def joint_wrenches(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                   external: ArrayLike | None = None, *,
                   closures: ArrayLike | None = None) -> Array:
    """
    Return the wrench that each joint transmits from its parent to its child body.

    All of model.joints count, fixed ones too: links that the recursions merge are separated. The
    part along the screws of a joint is its force, less damping and friction.

    Args:
        dynamics: a Dynamics.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        a: acceleration (nv,); rad/s^2 and m/s^2.
        external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame of
            its body; by default none.
        closures: wrenches (C, 6) of closures, as ConstrainedSolution has them; needed if there are
            any.

    Returns:
        (J, 6), moment (N m), then force (N), in the frame of the child body about its origin.

    Raises:
        LiedynError: for closures that are not given, or a wrong state.

    >>> ld.joint_wrenches(robot, q, v, a).shape[1]
    6
    """
    model = require_kind('dynamics', dynamics, Dynamics, 'as load returns').model
    if closures is None and model.closures:
        raise LiedynError(
            f'closures: expected the wrenches of the closures '
            f'{[each.name for each in model.closures]}, as the solution of a '
            'ConstrainedDynamics has them, got none')
    poses, twists, accelerations = dynamics.kinematics(q, v, a)
    applied = (np.zeros((len(poses), 6)) if external is None
               else as_array('external', external, (len(poses), 6)))
    ad, inertia = se3.ad(twists), _inertias(model)
    accelerations[:, 3:] -= np.swapaxes(poses[:, :3, :3], 1, 2) @ model.gravity  # (3.0)
    momentum = _products(inertia, twists)
    wrenches = (_products(inertia, accelerations)
                - _products(np.swapaxes(ad, 1, 2), momentum) - applied)  # (1.19)
    if closures is not None:
        wrenches -= _on_bodies(model, poses, as_array(
            'closures', closures, (len(model.closures), 6)))  # (12.13)
    for b in range(len(wrenches) - 1, -1, -1):
        parent = model.joint_list[b].parent
        if parent is not None:
            p = model.body_index(parent)
            to_child = se3.adjoint(se3.inverse(poses[b]) @ poses[p])
            wrenches[p] += to_child.T @ wrenches[b]
    return wrenches


def _on_bodies(model: Model, poses: Array, closures: Array) -> Array:
    """Return the wrench (B, 6) on each body, in its frame, of the closures' wrenches (C, 6)."""
    total = np.zeros((len(poses), 6))
    for closure, wrench in zip(model.closures, closures):
        held = closure.frame_b
        if closure.body_b is not None:
            b = model.body_index(closure.body_b)
            total[b] += se3.adjoint(se3.inverse(held)).T @ wrench
            held = poses[b] @ held
        if closure.body_a is not None:
            a = model.body_index(closure.body_a)
            total[a] -= se3.adjoint(se3.inverse(held) @ poses[a]).T @ wrench
    return total


def _inertias(model: Model) -> Array:
    """Return the inertia (B, 6, 6) of each body in its frame (1.17)."""
    return inertia_matrices(np.array([
        np.zeros(10) if body.inertia is None else body.inertia.parameters()
        for body in model.body_list]).reshape(-1, 10))


def _products(matrices: Array, vectors: Array) -> Array:
    return np.einsum('bij,bj->bi', matrices, vectors)
