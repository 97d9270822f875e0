# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Home: the pose that says on which of its assembly modes a machine is.

It belongs to the geometry, as the joints do: another machine's home leads to a pose that no
residual shows to be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math
from typing import Any

import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionWarning, LiedynError, LimitError, warn
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.solver.pose_solver import PoseSolver, Solution

NOT_GIVEN = [0.0]  # home_position, where the geometry file has home
NO_TURN = [0.0, 0.0, 0.0, 1.0]
TURNED = 0.5 * math.pi  # rad, of a home beyond which its quaternion is looked at
MIN_SEPARATION = 1e-3  # rad and characteristic lengths, between two poses that are not one

Solve = Callable[[Array, Array], Any]  # a solver's `solve`: of lengths (n,), from a guess (4, 4)


def home_of(geometry: StewartGeometry, settings: Mapping[str, Any] | Any) -> Array:
    """
    Return the home pose (4, 4), m, of settings home_position (m), home_orientation (x, y, z, w).

    Where no position is given, it is that of the geometry. Raises LiedynError where neither says
    it, and for numbers that are no pose.
    """
    position, quaternion = list(settings['home_position']), list(settings['home_orientation'])
    if position != NOT_GIVEN:
        return _pose(position, quaternion)
    if quaternion != NO_TURN:
        so3.from_quaternion(checks.as_array('home_orientation', quaternion, (4,)))
        raise LiedynError('home_orientation: expected home_position with it, got '
                          f'{quaternion} alone', names=('home_position',))
    return geometry_home(geometry)


def geometry_home(geometry: StewartGeometry) -> Array:
    """Return the home pose (4, 4), m, of a geometry file; raise LiedynError where it has none."""
    if geometry.home is None:
        raise LiedynError(
            'home: expected one in the geometry file, such as home: {position: [0.0, 0.0, 0.5]}, '
            'or home_position of a node, --home of a command, got neither: lengths have several '
            'poses, and only home decides which of them this machine has', names=('home',))
    return geometry.home.copy()  # which kernels may take


def require_home(
        geometry: StewartGeometry, settings: Mapping[str, Any] | Any, home: Array, solve: Solve
) -> None:
    """
    Raise LiedynError where a home pose is not one that its own lengths lead to.

    A quaternion in the order w x y z is named. settings, home: of `home_of`. solve: of the solver.
    """
    other = _other_order(settings)
    fault = _fault(geometry, home, solve)
    if fault is None:
        if other is not None and _turn(home) > TURNED > _turn(other) and (
                _fault(geometry, other, solve) is None):
            warn(f'home_orientation: {list(settings["home_orientation"])} turns home by '
                 f'{math.degrees(_turn(home)):.0f} degrees; the order is x, y, z, w',
                 DescriptionWarning)
        return
    ordered, in_mm = next(((turn, mm) for turn, mm in ((True, False), (False, True), (True, True))
                           if _fits_as(geometry, other if turn else home, mm, home, solve)),
                          (False, False))
    position = 1e-3 * home[:3, 3]
    fault += f': in mm? {position.tolist()} m fits' if in_mm else ''
    hint = ('; home_orientation: expected the order x, y, z, w, got '
            f'{list(settings["home_orientation"])}, which fits as w, x, y, z') if ordered else ''
    raise LimitError(f'home pose: {fault}; set home_position to the rest pose of your '
                     f'platform{hint}',
                     names=('home_position',) * (in_mm or not ordered) + (
                         'home_orientation',) * ordered,
                     expected='m' if in_mm else None, got='mm' if in_mm else None)


def _fits_as(geometry: StewartGeometry, turned: Array | None, in_mm: bool, home: Array,
             solve: Solve) -> bool:
    """Return whether home is one in the order of a quaternion, and in mm where that is said."""
    return turned is not None and _fault(geometry, se3.from_rotation_translation(
        turned[:3, :3], (1e-3 if in_mm else 1.0) * home[:3, 3]), solve) is None


def mirror_of_home(geometry: StewartGeometry, home: Array) -> Array | None:
    """
    Return another pose (4, 4), m, of home's lengths on the other side of the base, or None.

    Lengths tell nothing of the two apart: only home does. Warns, by DescriptionWarning, where the
    mirror keeps limits of the joints or clearances that home exceeds.
    """
    center = geometry.base_joints.mean(axis=0)
    normal = np.linalg.svd(geometry.base_joints - center)[2][2]
    joints = geometry.platform_joints @ home[:3, :3].T + home[:3, 3]
    mirrored = joints - 2.0 * np.outer((joints - center) @ normal, normal)
    middle, arms = mirrored.mean(axis=0), geometry.platform_joints.mean(axis=0)
    u, _, v = np.linalg.svd((mirrored - middle).T @ (geometry.platform_joints - arms))
    rotation = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
    guess = se3.from_rotation_translation(rotation, middle - rotation @ arms)
    found = PoseSolver(geometry).solve(leg_lengths(geometry, home), guess)
    twist = se3.log(se3.compose(se3.inverse(home), found.pose))
    least = MIN_SEPARATION * geometry.characteristic_length
    if not found.converged or np.abs(twist).max() < least:
        return None
    meter = PlatformMeter(geometry)
    ours, theirs = (meter.measure(pose).exceeded_limits() for pose in (home, found.pose))
    if ours and not theirs:
        warn(f'home: exceeds {", ".join(ours)}, which its mirror image in the base, at '
             f'{np.round(found.pose[:3, 3], 4).tolist()} m, does not: is this machine '
             'there?', DescriptionWarning)
    return found.pose


def _pose(position: list[float], quaternion: list[float]) -> Array:
    return se3.from_rotation_translation(
        so3.from_quaternion(checks.as_array('home_orientation', quaternion, (4,))),
        checks.as_array('home_position', position, (3,)))


def _other_order(settings: Mapping[str, Any] | Any) -> Array | None:
    """Return home with its quaternion read as w, x, y, z; None where that says nothing."""
    position, quaternion = list(settings['home_position']), list(settings['home_orientation'])
    if position == NOT_GIVEN or quaternion == NO_TURN:
        return None
    w, x, y, z = quaternion
    return _pose(position, [x, y, z, w])


def _turn(pose: Array) -> float:
    return float(np.linalg.norm(so3.log(pose[:3, :3])))


def _fault(geometry: StewartGeometry, home: Array, solve: Solve) -> str | None:
    """Return the fault of a home pose, or None."""
    try:
        lengths = leg_lengths(geometry, home)
        geometry.require_within_limits(lengths)
        solution: Solution = solve(lengths, home)
    except LiedynError as error:
        return str(error)
    return None if solution.converged else (
        f'expected a regular pose, got smallest singular value '
        f'{solution.smallest_singular_value:.3g}')
