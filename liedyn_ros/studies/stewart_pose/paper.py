# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The comparison of Gauss-Newton and Levenberg-Marquardt of the Stewart paper, section 5.

Lengths are in metres and angles in radians here. The solves have the paper's scale, centimetres,
since its damping and its steps mix radians with centimetres.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.stewart import leg_lengths, PoseSolver, StewartGeometry
from liedyn_ros.studies.stewart_pose.algorithms import (
    Algorithm, Chart, Form, gauss_newton, levenberg_marquardt, StudyEquations)

CENTIMETRE = 0.01
SAME_PAPER_POSE = 1e-6  # rad and m; poses that meet the lengths lie many centimetres apart


def pose_of(x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> Array:
    """Return a pose (4, 4), m, from centimetres and degrees, as the paper writes them."""
    rotation = SO3.from_rpy(*np.radians((roll, pitch, yaw)))
    return SE3.from_rotation_translation(rotation, CENTIMETRE * np.array((x, y, z))).matrix


PAPER_CENTRE = (0.0, 0.0, 50.0, 20.0, 0.0, -30.0)
Q_S1 = (17.58, 10.34, 36.71, -90.72, -112.2, 38.00)
# The yaw of state 2 is printed as 70 degrees, which does not reproduce its rows.
PAPER_STATES = ((0.0, 20.0, 20.0, 10.0, 100.0, 5.0), (0.0, 20.0, 40.0, 0.0, -50.0, -70.0),
                (20.0, -15.0, 70.0, 20.0, -20.0, 50.0), (-20.0, 10.0, 70.0, 50.0, -20.0, 70.0),
                (20.0, -10.0, 40.0, 60.0, 70.0, 50.0))


class End(IntEnum):
    """Where a solve ended."""

    NOWHERE = 0
    TRUE_POSE = 1  # q_C
    BRANCH = 2  # T_s, which is both q_S1 and q_S2
    ELSEWHERE = 3  # another pose with the same leg lengths


@dataclass(frozen=True)
class Table:
    """
    One of the two tables: an algorithm in three forms, from five states, over a parameter.

    published: (5, 3), percentages that converge to the true pose, a row for each state.
    """

    title: str
    parameter: str
    axis: Array  # the parameter as the figures show it
    values: Array  # as the algorithm takes it
    algorithm: Algorithm
    methods: Mapping[str, Form]
    published: Array


@dataclass(frozen=True)
class Cell:
    """The ends and iterations of the solves of one method from one state."""

    ends: Array
    iterations: Array

    @property
    def percentage(self) -> float:
        """Return how many of a hundred solves reached the true pose."""
        return 100.0 * np.count_nonzero(self.ends == End.TRUE_POSE) / len(self.ends)


def forms(prefix: str, on_se3: Chart) -> dict[str, Form]:
    """Return the three forms of an algorithm."""
    return {f'{prefix}-R6': Form(Chart.ANGLES),
            f'{prefix}-Quat': Form(Chart.QUATERNION, of_lengths=True),
            f'{prefix}-SE(3)': Form(on_se3)}


STEP_FACTORS = np.array([0.5 + 0.01 * k for k in range(50)])
LOG_DAMPINGS = np.array([-9.0 + 0.12 * k for k in range(50)])

PAPER_TABLES = (
    Table('Table 2: Gauss-Newton', 'step factor', STEP_FACTORS, STEP_FACTORS,
          gauss_newton, forms('GN', Chart.BODY),
          np.array(((10, 52, 52), (0, 0, 20), (100, 100, 100), (0, 4, 54), (100, 100, 100)))),
    # The twist is spatial here: the published row is met by it, and not by the body twist that
    # the paper prints.
    Table('Table 3: Levenberg-Marquardt', 'log10 of the damping', LOG_DAMPINGS,
          10.0 ** LOG_DAMPINGS, levenberg_marquardt, forms('LM', Chart.SPATIAL),
          np.array(((0, 4, 14), (0, 0, 66), (100, 100, 100), (44, 68, 12), (100, 100, 92)))))

# The cells, by method and state from 0, that no reading of the paper reproduces. Its charts,
# residuals, units, order of angles and convergence criteria were varied.
UNEXPLAINED_CELLS = frozenset({('GN-SE(3)', 3), ('LM-R6', 3), ('LM-Quat', 3)})


class Study:
    """Solves the paper's platform for the exact leg lengths of its true pose."""

    def __init__(self, geometry: StewartGeometry) -> None:
        """Take the geometry of Table 1."""
        self.geometry = geometry
        self.true_pose = pose_of(*PAPER_CENTRE)
        self.lengths = leg_lengths(geometry, self.true_pose)
        # The paper prints T_s (Stewart 30) to four digits; a solve from there gives the rest.
        self.branch = PoseSolver(geometry).solve(self.lengths, pose_of(*Q_S1)).pose

    def cell(self, table: Table, method: str, state: int) -> Cell:
        """Return how one form of a table's algorithm ends from a state, counted from 0."""
        equations = StudyEquations(self.geometry, self.lengths, table.methods[method], CENTIMETRE)
        start = equations.state(pose_of(*PAPER_STATES[state]))
        solves = [table.algorithm(equations, start, value) for value in table.values.tolist()]
        ends = [self._end(equations.pose(x)) if converged else End.NOWHERE
                for x, converged, _ in solves]
        return Cell(np.array(ends), np.array([iterations for *_, iterations in solves]))

    def _end(self, scaled: Array) -> End:
        pose = scaled.copy()
        pose[:3, 3] *= CENTIMETRE
        for end, known in ((End.TRUE_POSE, self.true_pose), (End.BRANCH, self.branch)):
            if np.abs(pose - known).max() < SAME_PAPER_POSE:
                return end
        return End.ELSEWHERE
