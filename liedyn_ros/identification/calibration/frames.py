# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the frames of an instrument and its target are, roughly, before a calibration."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3

MAX_FRAME_ROUNDS = 100


def frames_of(poses: Array, positions: Array, rotations: Array | None, base: Array | None,
              target: Array | None) -> dict[str, Array]:
    """
    Return B and T (4, 4) with B X T near what was measured of poses X (n, 4, 4).

    Also 'further': places of other reflectors from the first, or the zero of distances, m.
    Those that are given stay. Rotations by the greatest singular vectors of sum X (x) M (Shah
    2013), or by turns with the target's place where only positions (n, 3), m, were measured. Of
    distances (n, 1) the instrument is where spheres about the places meet, its axes the ground's.
    """
    if positions.shape[1] == 1:
        return _by_distances(poses, positions[:, 0], base, target)
    if rotations is not None:
        turn_base, turn_target = turns_of(poses[:, :3, :3], rotations, base, target)
    else:
        turn_base = np.eye(3) if base is None else base[:3, :3]
        turn_target = np.eye(3) if target is None else target[:3, :3]
    first = positions[:, :3]
    place = np.zeros(3) if target is None else target[:3, 3]
    shift = np.zeros(3) if base is None else base[:3, 3]
    for _ in range(1 if rotations is not None else MAX_FRAME_ROUNDS):
        if rotations is None and base is None:
            turn_base = _turn_between(poses[:, :3, :3] @ place + poses[:, :3, 3], first)
        shift, (place,) = places_of(
            poses, first[:, None], turn_base, None if base is None else shift,
            None if target is None else place)
    # By the middle, as poses may be wrong.
    apart = positions[:, 3:].reshape(len(first), -1, 3) - first[:, None]
    others = np.median(apart @ (turn_base @ poses[:, :3, :3] @ turn_target), axis=0)
    return {'instrument': se3.from_rotation_translation(turn_base, shift),
            'target': se3.from_rotation_translation(turn_target, place),
            'further': others.ravel()}


def _by_distances(poses: Array, distances: Array, base: Array | None, target: Array | None
                  ) -> dict[str, Array]:
    """
    Return both frames, with the axes of the ground and the body, and the zero of distances (n,).

    The search begins where spheres about the body meet: |x|^2 - 2 x c + |c|^2 = L^2.
    """
    fixed = np.eye(4) if base is None else base
    places, turns = (fixed @ poses)[:, :3, 3], (fixed @ poses)[:, :3, :3]
    rows = np.column_stack([-2.0 * places, np.ones(len(places))])
    anchor = np.linalg.lstsq(rows, distances**2 - (places**2).sum(axis=1), rcond=None)[0][:3]
    free = np.repeat([base is None, target is None, True], [3, 3, 1])
    x = np.concatenate([anchor if base is None else np.zeros(3),
                        np.zeros(3) if target is None else target[:3, 3], [0.0]])

    def errors(some: Array) -> Array:
        x[free] = some
        return np.asarray(np.linalg.norm(
            turns @ x[3:6] + places - x[:3], axis=1) - x[6] - distances)
    x[free] = least_squares(errors, x[free], loss='soft_l1', f_scale=np.median(
        np.abs(errors(x[free])))).x
    turn = np.eye(3) if target is None else target[:3, :3]
    return {'instrument': se3.from_rotation_translation(np.eye(3), -x[:3]) @ fixed,
            'target': se3.from_rotation_translation(turn, x[3:6]), 'further': x[6:]}


def turns_of(rotations: Array, measured: Array, base: Array | None, target: Array | None
             ) -> tuple[Array, Array]:
    """
    Return R_B and R_T with R_B R R_T near what was measured of rotations R (n, 3, 3).

    Those of base and target, (3, 3) or (4, 4), are theirs where they are given.
    """
    if base is not None and target is not None:
        return base[:3, :3], target[:3, :3]
    if target is not None:
        inner = rotations @ target[:3, :3]
        return nearest_rotation(np.einsum('nij,nkj->ik', measured, inner)), target[:3, :3]
    if base is not None:
        inner = base[:3, :3] @ rotations
        return base[:3, :3], nearest_rotation(np.einsum('nji,njk->ik', inner, measured))
    whole = sum(np.kron(r, m) for r, m in zip(rotations, measured))
    u, _, vt = np.linalg.svd(whole)
    # M Y R^T = B with Y = R_T^T, so (R (x) M) vec Y = vec B, columns first
    both = [each.reshape(3, 3, order='F') for each in (u[:, 0], vt[0])]
    sign = np.sign(np.linalg.det(both[0]))
    return nearest_rotation(sign * both[0]), nearest_rotation(sign * both[1]).T


def nearest_rotation(matrix: Array) -> Array:
    """Return the rotation (3, 3) nearest to a matrix, as to a multiple of one."""
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt)


def _turn_between(points: Array, measured: Array) -> Array:
    """Return the turn from points (n, 3) to measured ones, both about their means (Kabsch)."""
    return nearest_rotation((measured - measured.mean(0)).T @ (points - points.mean(0)))


def places_of(poses: Array, measured: Array, turn: Array, shift: Array | None,
              points: Array | None) -> tuple[Array, Array]:
    """
    Return the shift (3,) of an instrument and points (k, 3) of a body, m, by least squares.

    measured: (n, k, 3), m, near turn X p + shift of poses X (n, 4, 4). Those that are given stay.
    """
    n, k = measured.shape[:2]
    rows = np.zeros((n, k, 3, 3 + 3 * k))
    rows[..., :3] = np.eye(3)
    for j in range(k):
        rows[:, j, :, 3 + 3 * j:6 + 3 * j] = turn @ poses[:, :3, :3]
    fixed = np.concatenate((np.zeros(3) if shift is None else shift,
                            np.zeros(3 * k) if points is None else points.ravel()))
    free = np.repeat([shift is None, points is None], [3, 3 * k])
    flat, right = rows.reshape(3 * n * k, -1), measured - (poses[:, :3, 3] @ turn.T)[:, None]
    fixed[free] = np.linalg.lstsq(
        flat[:, free], right.ravel() - flat[:, ~free] @ fixed[~free], rcond=1e-10)[0]
    return fixed[:3], fixed[3:].reshape(k, 3)
