# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Inverse kinematics of a Stewart platform and its two Lie-derivative Jacobians.

Leg lengths stand for all drive coordinates, such as the position of a carriage on its rail (m)
or a crank angle (rad).
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Stage
from liedyn_ros.stewart.platform.kernels import leg_rows, leg_types, legs


class Trivialization(IntEnum):
    """
    The frame in which a twist moves the pose: T exp(s) for body, exp(s) T for spatial.

    >>> length_jacobian(geometry, home, Trivialization.SPATIAL).shape
    (6, 6)
    """

    BODY = legs.BY_BODY_TWIST
    SPATIAL = legs.BY_SPATIAL_TWIST


def leg_lengths(geometry: StewartGeometry, pose_base_platform: ArrayLike) -> Array:
    """
    Return the leg lengths (of servos: angles, rad) of one or many poses (Stewart 16).

    Args:
        geometry: of the platform.
        pose_base_platform: (..., 4, 4), m.

    Returns:
        (..., n), m, of n legs in the order of the geometry; of a crank its angle from -pi to pi.

    Raises:
        LimitError: naming a leg whose rod does not reach.
        LiedynError: for no pose.

    >>> leg_lengths(geometry, home).shape
    (6,)
    """
    pose = se3.require_pose('pose_base_platform', pose_base_platform)
    if not geometry.plain:
        return _leg_values(geometry, pose)
    # Sums in the order of the kernels, whose bits these are.
    x, y, z, p = (pose[..., None, :3, k] for k in range(4))
    b = geometry.platform_joints
    legs = x * b[:, :1] + y * b[:, 1:2] + z * b[:, 2:] + p - geometry.base_joints
    squares = legs * legs
    return np.asarray(np.sqrt(squares[..., 0] + squares[..., 1] + squares[..., 2]))


def home_fault(geometry: StewartGeometry) -> str | None:
    """Return a sentence on a home that no leg reaches, or that exceeds a limit, or None."""
    if geometry.home is None:
        return None
    place, faults = ', '.join(f'{x:.4g}' for x in geometry.home[:3, 3]), []
    for unit in (1.0, 1e-3):
        pose = geometry.home.copy()
        pose[:3, 3] *= unit
        try:
            lengths = leg_lengths(geometry, pose)
        except LimitError:
            faults.append('is out of reach')
            continue
        outside = [name for name, kept in zip(
            geometry.leg_names, geometry.within_limits(lengths)) if not kept]
        faults.append(f'exceeds limits of {", ".join(outside)}' if outside else '')
    hint = '' if faults[1] else ': in mm?'
    return f'home ({place}) m {faults[0]}{hint}' if faults[0] else None


def _one_pose(pose_base_platform: ArrayLike) -> Array:
    """Return a pose (4, 4), m; raise ShapeError, NotFiniteError or NotInGroupError."""
    return se3.require_pose('pose_base_platform', pose_base_platform, (4, 4))


def _leg_values(geometry: StewartGeometry, poses: Array) -> Array:
    n = len(geometry.leg_names)
    values = np.empty((*poses.shape[:-2], n))
    leg_types.values_batch(
        geometry.table(), np.array(poses.reshape(-1, 4, 4)), values.reshape(-1, n))
    beyond = np.argwhere(~np.isfinite(values))
    if len(beyond):
        *where, leg = (int(i) for i in beyond[0])
        place = ', '.join(f'{x:.4g}' for x in poses[tuple(where)][:3, 3])
        raise LimitError(
            f'pose_base_platform{where or ""}: expected one that the rod of '
            f'{geometry.leg_names[leg]} reaches, got one at ({place}) m')
    return values


def driven_platform(
        geometry: StewartGeometry, values: ArrayLike) -> tuple[StewartGeometry, Array]:
    """
    Return the plain platform that the drives' values make, and the lengths of its legs.

    values: (n,), m or rad. Legs of offset joints are taken for plain ones. Limits are those of
    the lengths alone, none.
    """
    n = len(geometry.leg_names)
    table, squared = geometry.table(), np.empty(n)
    leg_types.write_driven_ends(table, checks.as_array('values', values, (n,)).copy(), squared)
    plain = StewartGeometry(
        geometry.leg_names, table[:3 * n].reshape(n, 3), geometry.platform_joints,
        np.tile([0.0, np.inf], (n, 1)), geometry.name)
    return plain, np.sqrt(squared)


def fixed_drive_transmissions(
        geometry: StewartGeometry, values: ArrayLike, pose_base_platform: ArrayLike) -> Array:
    """
    Return the cosine between each rod and the way of its driven end, at given values.

    values: (n,), m or rad, of the drives. pose: (4, 4), m, that has them. 1 of struts, 0 at a dead
    centre. It is negative behind it, where the machine's inverse kinematics gives another value.
    """
    cosines = np.empty(len(geometry.leg_names))
    leg_types.fixed_drive_transmissions(
        geometry.table(), checks.as_array('values', values, cosines.shape).copy(),
        np.require(_one_pose(pose_base_platform), requirements='W'), cosines)
    return cosines


def leg_ends(geometry: StewartGeometry, pose_base_platform: ArrayLike) -> Array:
    """
    Return where n legs end at a pose (4, 4), m: (2, n, 3), on base and platform, base frame.

    These are the joints of plain struts, else the second axes of offset joints, carriages and
    crank pins. Of a wire it is where it leaves its pulley, of a stage the point that it moves. NaN
    where a rod does not reach.
    """
    pose = _one_pose(pose_base_platform)
    n, table, (r, p) = len(geometry.leg_names), geometry.table(), motion.split(pose)
    leg_types.write_leg_ends(table, r, p)
    base = np.array([leg_types.leg_origin(table, i, r, p) for i in range(n)])
    tips = table[3 * n:leg_rows.END * n].reshape(n, 3) @ pose[:3, :3].T + pose[:3, 3]
    if any(isinstance(leg, Stage) for leg in geometry.leg_types):
        _move_to_stages(geometry, pose, base, tips)
    return np.stack((base, tips))


def _move_to_stages(
        geometry: StewartGeometry, pose: Array, base: Array, tips: Array) -> None:
    """Write the ends of the guides of stages, in place of those of their kernels' rods."""
    for i, leg in enumerate(geometry.leg_types):
        if isinstance(leg, Stage):
            joint = pose[:3, :3] @ geometry.platform_joints[i] + pose[:3, 3]
            guide = pose[:3, :3] @ leg.guide if leg.carried else np.array(leg.guide)
            height = leg.normal @ (joint - geometry.base_joints[i]) / (leg.normal @ guide)
            base[i], tips[i] = joint - height * guide, joint


def length_jacobian(
        geometry: StewartGeometry, pose_base_platform: ArrayLike,
        trivialization: Trivialization = Trivialization.BODY) -> Array:
    """
    Return the derivative of the leg lengths by the twist: the unit wrenches along the legs (11.4).

    A row of a rail or a crank is divided by its transmission (14.34).

    Args:
        geometry: a StewartGeometry.
        pose_base_platform: pose (4, 4) of the platform in the base; m.
        trivialization: whether the twist is of the body or spatial.

    Returns:
        J (n, 6): columns angular (m/rad), then linear (1).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> length_jacobian(geometry, home).shape
    (6, 6)
    """
    # One compiled version serves all: a read-only array is another type to numba.
    pose = np.require(_one_pose(pose_base_platform), requirements='W')
    jacobian = np.empty((len(geometry.leg_names), 6))
    leg_types.value_jacobian(
        geometry.table(), *motion.split(pose), int(trivialization), jacobian.reshape(-1))
    return jacobian


def leg_rates(
        geometry: StewartGeometry, pose_base_platform: ArrayLike, twist: ArrayLike,
        trivialization: Trivialization = Trivialization.BODY) -> Array:
    """
    Return the leg rates of a twist, Ldot = J V.

    Args:
        geometry: a StewartGeometry.
        pose_base_platform: pose (4, 4) of the platform in the base; m.
        twist: (6,), angular part first; rad/s and m/s.
        trivialization: whether the twist is of the body or spatial.

    Returns:
        (n,); m/s, of cranks rad/s.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> leg_rates(geometry, home, np.zeros(6)).any().item()
    False
    """
    twist = checks.as_array('twist', twist, (6,))
    return length_jacobian(geometry, pose_base_platform, trivialization) @ twist
