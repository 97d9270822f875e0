# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A proof that a pose is right: a radius within which the true pose lies, one without a second pose.

By Newton and Kantorovich (14.1): the second derivatives of the squared lengths have closed bounds.
So the residual and J^-1 at a computed pose prove the pose near it, for any solver. A
certificate does not detect a leg whose bias exceeds its stated bound.
"""

from __future__ import annotations

from dataclasses import replace
import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError, LimitError, ShapeError
from liedyn_ros.stewart.certificate.kernels import pose as kernels
from liedyn_ros.stewart.certificate.kernels.travel import distance_of_poses
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail, Stage
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.solver.pose_solver import PoseSolver

MAX_CELLS_PER_LEG = 4  # cells along a leg, 4096 in all: as many as a second of a processor proves
APPROACH_STEPS = 8  # in which a corner of the travel is approached from home

Cell = tuple[int, ...]


class TravelProof:
    """The poses of the cells of a platform's travel, of which each lies near one."""

    def __init__(self, geometry: StewartGeometry, home: Array) -> None:
        """Try to prove the travel about a home pose (4, 4), m; takes a second at most."""
        fixed, self._scale = geometry.fixed_lengths[:, None], geometry.characteristic_length
        self._limits = np.where(np.isnan(fixed), geometry.length_limits, fixed)
        self._centre = tuple(geometry.platform_joints.mean(axis=0).tolist())
        self._geometry, self._solver = geometry, PoseSolver(geometry)
        self._cells: dict[Cell, tuple[Array, float, float]] = {}
        self.proved = not (geometry.redundant or unproved(geometry)) and bool(
            np.isfinite(self._limits).all()) and self._corners_reached(home) and any(
                self._prove(home, count) for count in range(1, MAX_CELLS_PER_LEG + 1))
        if not self.proved:
            self._cells.clear()

    @property
    def table(self) -> Array:
        """Return the cells as kernels/travel.py has them; empty where nothing is proved."""
        if not self.proved:
            return np.empty(0)
        cells = [np.append(self._cells[cell][0][:3].ravel(), self._cells[cell][2])
                 for cell in itertools.product(*map(range, self._counts.tolist()))]
        return np.concatenate(
            [self._limits[:, 0], self._widths, self._counts, self._centre, *cells])

    def _corners_reached(self, home: Array) -> bool:
        """Return whether straight ways in the lengths lead to all corners of the travel."""
        begin = leg_lengths(self._geometry, home)
        for corner in itertools.product((0, 1), repeat=6):
            pose = home
            for share in np.linspace(0.0, 1.0, APPROACH_STEPS + 1)[1:]:
                solution = self._solver.solve(begin + share * (
                    self._limits[range(6), corner] - begin), pose)
                if not solution.converged:
                    return False
                pose = solution.pose
        return True

    def _prove(self, home: Array, count: int) -> bool:
        """Prove all cells, of which the widest leg has a number, from that of home on."""
        widths = self._limits[:, 1] - self._limits[:, 0]
        self._counts = np.maximum(np.ceil(count * widths / widths.max() - 1e-9), 1.0).astype(int)
        self._widths = widths / self._counts
        self._cells.clear()
        certifier = PoseCertifier(self._geometry, 0.5 * self._widths)
        waiting = [(self._cell(leg_lengths(self._geometry, home)), home)]
        while waiting:
            cell, guess = waiting.pop()
            if cell in self._cells:
                continue
            middle = self._limits[:, 0] + self._widths * (np.array(cell) + 0.5)
            solution = self._solver.solve(middle, guess)
            radius, unique, *_ = certifier.numbers(solution.pose, middle)
            if not solution.converged or math.isnan(radius):
                return False
            for other in self._neighbours(cell):
                if other not in self._cells:
                    waiting.append((other, solution.pose))
                    continue
                pose, its_radius, its_unique = self._cells[other]
                apart = self._apart(solution.pose, pose)
                if not (apart + its_radius < unique or apart + radius < its_unique):
                    return False
            self._cells[cell] = solution.pose, radius, unique
        return True

    def _cell(self, lengths: Array) -> Cell:
        steps = (lengths - self._limits[:, 0]) / np.where(self._widths > 0.0, self._widths, 1.0)
        return tuple(np.clip(steps.astype(int), 0, self._counts - 1).tolist())

    def _neighbours(self, cell: Cell) -> list[Cell]:
        return [(*cell[:leg], at, *cell[leg + 1:]) for leg in range(6)
                for at in (cell[leg] - 1, cell[leg] + 1) if 0 <= at < self._counts[leg]]

    def _apart(self, first: Array, second: Array) -> float:
        """Return the distance of two poses in the measure of a Certificate, m."""
        return float(distance_of_poses(first, second, self._centre, self._scale))


class Certificate(NamedTuple):
    """
    The proof about a pose; certified is False, numbers are NaN, where nothing is proved.

    Distances are of the platform joints' centre and their turn together: the root of
    rho^2 w^2 + v^2, rho the characteristic length, m. error_radius: the true pose is nearer, for
    all lengths and joints within their bounds. uniqueness_radius: no other pose of the lengths is
    nearer. regular_radius: nor is a singularity. bounds: (6,), the largest error of each
    coordinate: rotation about the platform's axes (rad), then the joints' centre along them (m).

    >>> PoseCertifier(geometry).certify(home, leg_lengths(geometry, home)).certified
    True
    """

    certified: bool
    error_radius: float
    uniqueness_radius: float
    regular_radius: float
    bounds: Array


class PoseCertifier:
    """
    Proves poses of one platform; owns its workspace, so one for each thread.

    >>> found = PoseCertifier(geometry).certify(home, leg_lengths(geometry, home))
    >>> found.bounds.shape, found.error_radius < 1e-6
    ((6,), True)
    """

    def __init__(
            self, geometry: StewartGeometry, length_bound: ArrayLike = 0.0,
            joint_bound: float = 0.0) -> None:
        """
        Take a geometry and the bounds of its errors.

        Args:
            geometry: of the platform.
            length_bound: (6,) or one number, m (rad of a crank): greatest error of a leg's value.
            joint_bound: m, of a joint's centre and of a rod's length. With 0 for both, only the
              solver's and rounding errors are in the radii.

        Raises:
            LimitError; GeometryError: for legs whose curvature has no bound here.
        """
        self._known = constants_of(geometry, length_bound, joint_bound)
        self._values, self._pose = np.empty(6), np.empty((4, 4))
        self._work = np.empty(kernels.CERTIFICATE_WORK)

    @property
    def tables(self) -> tuple[Array, Array]:
        """Return the arrays of the kernel: constants, and its work area."""
        return self._known, self._work

    def certify(self, pose_base_platform: ArrayLike, lengths: ArrayLike) -> Certificate:
        """
        Return how far from a pose the true one may be, another one is, and a singularity is.

        Args:
            pose_base_platform: pose (4, 4) of the platform in the base; m.
            lengths: (6,); m, of cranks rad.

        Returns:
            three radii (m) and the bounds (6,).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> PoseCertifier(geometry).certify(home, leg_lengths(geometry, home)).error_radius < 1e-6
        True
        """
        checks.require_no_mask('pose_base_platform', pose_base_platform)
        checks.require_no_mask('lengths', lengths)
        try:
            np.copyto(self._pose, pose_base_platform)
            np.copyto(self._values, lengths)
        except ValueError as error:
            raise ShapeError('pose_base_platform, lengths: expected shapes (4, 4) and (6,), got '
                             f'{np.shape(pose_base_platform)}, {np.shape(lengths)}') from error
        radius, unique, regular, *bounds = self.numbers(self._pose, self._values)
        return Certificate(not math.isnan(radius), radius, unique, regular, np.array(bounds))

    def numbers(self, pose: Array, lengths: Array) -> tuple[float, ...]:
        """
        Return the numbers of a certificate, for a hot loop: the arrays are not checked.

        Args:
            pose: (4, 4), contiguous float64; m.
            lengths: (6,), contiguous float64; m, of cranks rad.

        Returns:
            three radii and six bounds, NaN where nothing is proved.

        >>> len(PoseCertifier(geometry).numbers(home, leg_lengths(geometry, home)))
        9
        """
        kernels.certify(self._known, lengths, pose, self._work)
        return tuple(self._work[kernels.PROVED_RADII:].tolist())


def unproved(geometry: StewartGeometry) -> tuple[str, ...]:
    """Return the names of the legs that no proof holds for: stages, and more legs than six."""
    if geometry.redundant:
        return geometry.leg_names
    return tuple(name for name, leg in zip(geometry.leg_names, geometry.leg_types)
                 if isinstance(leg, Stage))


def constants_of(
        geometry: StewartGeometry, length_bound: ArrayLike = 0.0, joint_bound: float = 0.0
        ) -> Array:
    """Return the constants of the kernel; arguments and errors are those of PoseCertifier."""
    geometry.require_six('certificate')
    if others := unproved(geometry):
        raise GeometryError('certificate: expected struts, rails, cranks or wires, got '
                            f'others of {list(others)}')
    lengths = np.broadcast_to(checks.as_numbers('length_bound', length_bound), (6,))
    joints = checks.as_number('joint_bound', joint_bound)
    if not (np.isfinite(lengths).all() and (lengths >= 0.0).all() and joints >= 0.0):
        raise LimitError('length_bound, joint_bound: expected numbers from 0 on, got '
                         f'{lengths.tolist()}, {joints}')
    table, centre = centred(geometry)
    scale = geometry.characteristic_length
    bounds = np.concatenate(error_bounds(geometry, lengths, joints)) / scale
    return np.concatenate(([scale], centre, bounds, table))


def centred(geometry: StewartGeometry) -> tuple[Array, Array]:
    """Return the table about the platform joints' centre in units of rho, and the centre, m."""
    centre = geometry.platform_joints.mean(axis=0)
    about = replace(geometry, platform_joints=geometry.platform_joints - centre)
    return about.table(geometry.characteristic_length), centre


def error_bounds(geometry: StewartGeometry, lengths: Array, joints: float) -> tuple[Array, ...]:
    """
    Return the bounds of rods, base joints, platform joints, ways of driven ends, and bends, m.

    The way of a crank's pin bends off its tangent by half the way times the angle.
    """
    driven = np.array([isinstance(leg, Rail | Crank) for leg in geometry.leg_types])
    arms = np.array([leg.radius if isinstance(leg, Crank) else 1.0 for leg in geometry.leg_types])
    cranks = np.array([isinstance(leg, Crank) for leg in geometry.leg_types])
    return (np.where(driven, joints, lengths), np.full(6, joints), np.full(6, joints),
            np.where(driven, arms * lengths, 0.0),
            np.where(cranks, 0.5 * arms * lengths ** 2, 0.0))
