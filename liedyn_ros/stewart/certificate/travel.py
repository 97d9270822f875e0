# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A proof that each set of lengths within the legs' travel has one pose that home leads to.

The travel is a box of lengths, cut into cells. In each the certificate (14.6), with half the
cell's widths as the errors of its lengths, proves one pose near that of its middle. Where those of
all neighbours agree, lengths and poses correspond one to one (14.51): a platform that never leaves
the travel stays among these poses, whatever it did before the first sample or in a gap.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import so3
from liedyn_ros.stewart.certificate.pose import PoseCertifier, unproved
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import leg_lengths
from liedyn_ros.stewart.solver.pose_solver import PoseSolver

FINEST = 4  # cells along a leg, 4096 in all: as many as a second of a processor proves
STEPS = 8  # in which a corner of the travel is approached from home

Cell = tuple[int, ...]


class TravelProof:
    """The poses of the cells of a platform's travel, of which each lies near one."""

    def __init__(self, geometry: StewartGeometry, home: Array) -> None:
        """Try to prove the travel about a home pose (4, 4), m; takes a second at most."""
        fixed, self._scale = geometry.fixed_lengths[:, None], geometry.characteristic_length
        self._limits = np.where(np.isnan(fixed), geometry.length_limits, fixed)
        self._centre = geometry.platform_joints.mean(axis=0)
        self._geometry, self._solver = geometry, PoseSolver(geometry)
        self._cells: dict[Cell, tuple[Array, float, float]] = {}
        self.proved = not (geometry.redundant or unproved(geometry)) and bool(
            np.isfinite(self._limits).all()) and self._corners_reached(home) and any(
                self._prove(home, count) for count in range(1, FINEST + 1))
        if not self.proved:
            self._cells.clear()

    def start(self, lengths: Array) -> Array:
        """Return the pose (4, 4), m, near which that of lengths (6,) is."""
        return self._cells[self._cell(lengths)][0]

    def holds(self, lengths: Array, pose: Array) -> bool:
        """Return whether a pose (4, 4), m, of lengths (6,) is the one that is proved."""
        near, _, unique = self._cells[self._cell(lengths)]
        return self._apart(near, pose) < unique

    def _corners_reached(self, home: Array) -> bool:
        """Return whether straight ways in the lengths lead to all corners of the travel."""
        begin = leg_lengths(self._geometry, home)
        for corner in itertools.product((0, 1), repeat=6):
            pose = home
            for share in np.linspace(0.0, 1.0, STEPS + 1)[1:]:
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
        turn = np.linalg.norm(so3.log(first[:3, :3].T @ second[:3, :3]))
        way = (first - second)[:3] @ np.append(self._centre, 1.0)
        return math.hypot(self._scale * float(turn), *way.tolist())
