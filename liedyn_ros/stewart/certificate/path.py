# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A proof of a whole path: no singularity and no limit between its poses, or where the proof fails.

Between two poses the platform moves along one screw, and anywhere within a tube about it. The
proof covers the path with balls in which J is regular and no limit can be reached (14.8 to 14.12).
Limits of the drives' speeds and forces are proved in the same balls (14.48, 14.49). A piece that
a ball does not prove is halved, down to a ten thousandth of the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.certificate.kernels import path as kernels, sweeps as of_drives
from liedyn_ros.stewart.certificate.pose import centred
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail, Strut
from liedyn_ros.stewart.platform.limits import limit_name, limits_of

MIN_PATH_SHARE = 1e-4  # of the path, that is halved no more
Numbers = float | Sequence[float]


class PathProof(NamedTuple):
    """
    The proof about a path; times run from 0 at the first pose, 1 from pose to pose.

    proved: whether all of it is. begin, end: the first piece that is not; NaN where there is none.
    reason: why not, to be read, or empty. smallest_singular_value: a lower bound of it on what was
    proved before. tests: balls that were tried. speeds, forces: of each drive, upper bounds on
    what was proved (m/s or rad/s, N or N m); empty where none were asked for.

    >>> PathProver(geometry).prove([home, ld.pose([0.0, 0.0, 0.52])]).reason
    ''
    """

    proved: bool
    begin: float
    end: float
    reason: str
    smallest_singular_value: float
    tests: int
    speeds: tuple[float, ...] = ()
    forces: tuple[float, ...] = ()


class PathProver:
    """
    Proves paths of one platform; owns its workspace, so one for each thread.

    >>> PathProver(geometry).prove([home, ld.pose([0.0, 0.0, 0.52])]).smallest_singular_value > 0.0
    True
    """

    def __init__(self, geometry: StewartGeometry, threshold: float = 0.0) -> None:
        """
        Take a geometry and the smallest singular value that a path is to exceed.

        Args:
            geometry: of the platform.
            threshold: the smallest singular value that a path is to exceed.

        Raises:
            LimitError: for a threshold below 0. GeometryError: for other legs than struts whose
              joint axes meet, rails and cranks: their ends have no bounds here.
        """
        geometry.require_six('path')
        other = {type(leg).__name__ for leg in geometry.leg_types
                 if not isinstance(leg, Strut | Rail | Crank)}
        if other:
            raise GeometryError('path: expected struts whose joint axes meet, rails and cranks, '
                                f'got {sorted(other)}')
        self._threshold = checks.as_number('threshold', threshold)
        if self._threshold < 0.0:
            raise LimitError(f'threshold: expected 0 or more, got {threshold}')
        self.geometry = geometry
        self._scale = geometry.characteristic_length
        self._table, self._centre = centred(geometry)
        self._real_table, self._bounds = geometry.table(), limits_of(geometry)
        self._pose, self._ends = np.empty((4, 4)), np.empty(2)
        self._work = np.empty(kernels.WORKSPACE_SIZE)

    def prove(
            self, poses_base_platform: ArrayLike, tube_angle: float = 0.0,
            tube_radius: float = 0.0, speeds: SpeedLimits | None = None,
            forces: ForceLimits | None = None) -> PathProof:
        """
        Prove that no pose of a path is singular, and that it keeps limits.

        The platform moves by screws from pose to pose.

        Args:
            poses_base_platform: (n, 4, 4), n from 2 on; m.
            tube_angle: by how much the platform may leave the screws; rad.
            tube_radius: greatest deviation of the platform joints' centre; m.
            speeds: limits of the drives' speeds, proved too.
            forces: limits of the drives' forces, proved too.

        Returns:
            the proof, or the first piece where it fails.

        Raises:
            LimitError: for fewer poses or a negative number.
            NotInGroupError: for a matrix that is no pose.

        >>> PathProver(geometry).prove([home, ld.pose([0.0, 0.0, 0.52])]).proved
        True
        """
        poses = se3.require_pose('poses_base_platform', poses_base_platform, (-1, 4, 4))
        tube = np.array([checks.as_number('tube_angle', tube_angle),
                         checks.as_number('tube_radius', tube_radius)])
        if len(poses) < 2 or (tube < 0.0).any():
            raise LimitError('path: expected two poses or more and a tube of 0 or more, got '
                             f'{len(poses)} and {tube.tolist()}')
        durations = durations_of(speeds, len(poses) - 1)
        demands = numbers_of(speeds, forces, self._centre, self._scale)
        fault, least, tests = kernels.prove_path(
            self._table, self._real_table, self._bounds, self._scale, self._centre,
            np.array(poses, order='C'), tube, self._threshold, MIN_PATH_SHARE * (len(poses) - 1),
            durations, demands, self._pose, self._ends, self._work)
        greatest = demands[of_drives.GREATEST_DEMANDS:].tolist()
        bounds = (tuple(greatest[:6]) if speeds else (), tuple(greatest[6:]) if forces else ())
        if fault == kernels.PROVED:
            return PathProof(True, np.nan, np.nan, '', least, tests, *bounds)
        begin, end = self._ends.tolist()
        return PathProof(
            False, begin, end, self._reason(fault, demands), least, tests, *bounds)

    def _reason(self, fault: int, demands: Array) -> str:
        if fault >= kernels.DEMAND_FAULTS:
            return self._exceeded(fault - kernels.DEMAND_FAULTS, demands)
        if fault == kernels.SINGULAR_FAULT:
            return 'a singularity, or one too near, is not excluded'
        if fault >= kernels.DEAD_CENTRE_FAULTS:
            leg = self.geometry.leg_names[fault - kernels.DEAD_CENTRE_FAULTS]
            return f'a dead centre of {leg}, or one too near, is not excluded'
        return f'{limit_name(fault, self.geometry.leg_names)} is not proved to be kept'

    def _exceeded(self, k: int, demands: Array) -> str:
        """Return a sentence on the drive that may exceed its speed (k below 6) or its force."""
        leg, crank = k % 6, isinstance(self.geometry.leg_types[k % 6], Crank)
        what, unit = ('speed', 'rad/s' if crank else 'm/s') if k < 6 else (
            'force', 'N m' if crank else 'N')
        return (f'the {what} of {self.geometry.leg_names[leg]} is not proved to be kept: '
                f'up to {demands[of_drives.DRIVE_BOUNDS + k]:.4g} of {demands[k]:.4g} {unit}')


@dataclass(frozen=True, kw_only=True)
class SpeedLimits:
    """
    The greatest speed of each drive, and how fast a path is travelled.

    limits: m/s, rad/s of a crank, of each leg (6,) or of all. durations: s, from each pose of the
    path to the next, (n - 1,) or one number, at a constant twist. Infinity is for a path without
    a pace of its own. angular, linear: rad/s, m/s, by how much the twist may differ, in any
    direction, at the platform joints' centre.

    >>> path = [home, ld.pose([0.0, 0.0, 0.52])]
    >>> PathProver(geometry).prove(path, speeds=SpeedLimits(limits=0.5, durations=2.0)).proved
    True
    """

    limits: Numbers
    durations: Numbers = math.inf
    angular: float = 0.0
    linear: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ForceLimits:
    """
    The greatest force of each drive, and the load on the platform.

    limits: N, N m of a crank, of each leg (6,) or of all, pushing or pulling. force: (3,), N,
    constant in the base frame, such as a weight. point: (3,), m, where it acts, in the platform
    frame. further_force, further_moment: N, N m, of what else may act in any direction, about the
    platform joints' centre. Forces of acceleration belong there too.

    >>> path, load = [home, ld.pose([0.0, 0.0, 0.52])], (0.0, 0.0, -100.0)
    >>> PathProver(geometry).prove(path, forces=ForceLimits(limits=1000.0, force=load)).proved
    True
    """

    limits: Numbers
    force: Sequence[float] = (0.0, 0.0, 0.0)
    point: Sequence[float] = (0.0, 0.0, 0.0)
    further_force: float = 0.0
    further_moment: float = 0.0


def numbers_of(
        speeds: SpeedLimits | None, forces: ForceLimits | None, centre: Array, scale: float
        ) -> Array:
    """
    Return the kernel's demands; empty where there are none.

    centre: (3,), m, of the platform joints. scale: m, their radius of gyration. Raises ShapeError,
    NotFiniteError, or LimitError for a number below zero.
    """
    if speeds is None and forces is None:
        return np.empty(0)
    numbers = np.zeros(of_drives.DEMANDS)
    numbers[of_drives.SPEEDS:of_drives.PLATFORM_FORCE] = math.inf
    if speeds is not None:
        numbers[of_drives.SPEEDS:of_drives.FORCES] = _limits('speeds', speeds.limits)
        numbers[of_drives.TURNS] = _bound('angular', speeds.angular)
        numbers[of_drives.MOVES] = _bound('linear', speeds.linear) / scale
    if forces is not None:
        numbers[of_drives.FORCES:of_drives.PLATFORM_FORCE] = _limits('forces', forces.limits)
        numbers[of_drives.PLATFORM_FORCE:of_drives.FORCE_POINT] = checks.as_array(
            'force', forces.force, (3,))
        numbers[of_drives.FORCE_POINT:of_drives.TURNS] = (
            checks.as_array('point', forces.point, (3,)) - centre) / scale
        numbers[of_drives.PULLS] = _bound('further_force', forces.further_force)
        numbers[of_drives.MOMENTS] = _bound('further_moment', forces.further_moment) / scale
    return numbers


def durations_of(speeds: SpeedLimits | None, count: int) -> Array:
    """Return the duration of each screw, s; infinite without a pace. Raises LimitError."""
    given = np.asarray(math.inf if speeds is None else speeds.durations, dtype=float)
    if given.shape not in ((), (count,)) or not (given > 0.0).all():
        raise LimitError(f'durations: expected one number above 0 s or {count}, '
                         f'got {given.tolist()}')
    return np.full(count, given)


def _limits(name: str, value: Numbers) -> Array:
    """Return the limits of six drives."""
    limits = np.asarray(value, dtype=float)
    if limits.shape not in ((), (6,)) or not (limits >= 0.0).all():
        raise LimitError(f'limits of {name}: expected one number from 0 on or six, '
                         f'got {limits.tolist()}')
    return limits


def _bound(name: str, value: float) -> float:
    """Return a bound, from zero on."""
    if checks.as_number(name, value) < 0.0:
        raise LimitError(f'{name}: expected a number from 0 on, got {value}')
    return float(value)
