# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Gauss-Newton and Levenberg-Marquardt of the Stewart paper, in its charts, for the comparison alone.

A state is rotation and position, or a vector: the position, then roll, pitch and yaw, or a
quaternion x, y, z, w of any norm and one equation more for that norm. Its residuals are those of
squared lengths or of lengths. (11.5) and (11.6) correct the printed algorithms.
"""

from collections.abc import Callable
from enum import IntEnum
import math
from typing import Any, NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, SO3
from liedyn_ros.stewart import StewartGeometry

SMALLEST_STEP_FACTOR = 1e-14  # the paper's eps3
PAPER_PIVOT = 1e-14  # of J^T J, relative to its largest diagonal entry
PAPER_TOLERANCE = 1e-14  # of a residual, by the numbers of its difference; and of a step
PAPER_ITERATIONS = 200


class Chart(IntEnum):
    """The unknowns of a pose, and so the update by a step."""

    BODY = 0  # T exp(s), a twist in the platform frame
    SPATIAL = 1  # exp(s) T, a twist in the base frame
    ANGLES = 2  # position plus roll, pitch, yaw
    QUATERNION = 3  # position plus quaternion


class Form(NamedTuple):
    """Chart and kind of residual: of lengths, or of their squares."""

    chart: Chart
    of_lengths: bool = False


class StudyEquations:
    """The equations of lengths (6,), m, in a form, in units of a scale (m)."""

    def __init__(self, geometry: StewartGeometry, lengths: Array, form: Form, scale: float
                 ) -> None:
        """Take geometry, lengths, form and scale."""
        self.form, self.scale, self._lengths = form, scale, lengths / scale
        self._base, self._platform = (
            joints / scale for joints in (geometry.base_joints, geometry.platform_joints))
        longest = self._lengths.max()
        reach = longest + sum(np.linalg.norm(joints, axis=1).max()
                              for joints in (self._base, self._platform))
        self.tolerance = PAPER_TOLERANCE * (reach if form.of_lengths else longest * reach)

    def state(self, pose: Array) -> Any:
        """Return the state of a pose (4, 4), m."""
        scaled = pose.copy()
        scaled[:3, 3] /= self.scale
        if self.form.chart in (Chart.BODY, Chart.SPATIAL):
            return scaled
        rotation = SO3(scaled[:3, :3])
        return np.concatenate((scaled[:3, 3], rotation.rpy if (
            self.form.chart is Chart.ANGLES) else rotation.quaternion))

    def pose(self, x: Array) -> Array:
        """Return the matrix (4, 4) of a state, in units of the scale."""
        if self.form.chart in (Chart.BODY, Chart.SPATIAL):
            return x
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = (rotation_of_angles if self.form.chart is Chart.ANGLES else (
            rotation_of_quaternion))(*x[3:].tolist()), x[:3]
        return pose

    def moved(self, x: Array, step: Array) -> Array:
        """Return the state that a step leads to (Stewart 28)."""
        if self.form.chart is Chart.BODY:
            return np.asarray(x @ se3.exp(step))
        if self.form.chart is Chart.SPATIAL:
            return np.asarray(se3.exp(step) @ x)
        return x + step

    def residuals(self, x: Array) -> Array:
        """Return the residuals of a state (Stewart 16, Stewart 17)."""
        pose = self.pose(x)
        legs = self._platform @ pose[:3, :3].T + pose[:3, 3] - self._base
        squares = (legs ** 2).sum(axis=1)
        errors = squares ** 0.5 - self._lengths if self.form.of_lengths else (
            squares - self._lengths ** 2)
        return np.append(errors, x[3:] @ x[3:] - 1.0) if (
            self.form.chart is Chart.QUATERNION) else errors

    def jacobian(self, x: Array) -> Array:
        """Return the derivative of the residuals by a step (Stewart 22 to 24)."""
        chart, pose = self.form.chart, self.pose(x)
        turn = pose[:3, :3]
        arms = self._platform @ turn.T
        legs = arms + pose[:3, 3] - self._base
        if chart is Chart.BODY:
            along = legs @ turn
            rows = 2.0 * np.hstack((np.cross(self._platform, along), along))
        elif chart is Chart.SPATIAL:
            rows = 2.0 * np.hstack((np.cross(self._base, legs), legs))
        else:
            by_turn = 2.0 * np.cross(arms, legs) @ self._turns(x, turn)
            rows = np.hstack((2.0 * legs, by_turn))
        if self.form.of_lengths:
            rows *= 0.5 / np.linalg.norm(legs, axis=1, keepdims=True)
        return np.vstack((rows, [0.0] * 3 + (2.0 * x[3:]).tolist())) if (
            chart is Chart.QUATERNION) else rows

    def _turns(self, x: Array, turn: Array) -> Array:
        """Return the rates of turn, in the base frame, by angles (3, 3) or a quaternion (3, 4)."""
        if self.form.chart is Chart.ANGLES:
            yaw = x[5]
            return np.column_stack((turn[:, 0], (-np.sin(yaw), np.cos(yaw), 0.0), (0.0, 0.0, 1.0)))
        a, b, c, w = x[3:]  # of w = 2 dq q^-1
        return 2.0 / (x[3:] @ x[3:]) * np.array(
            ((w, -c, b, -a), (c, w, -a, -b), (-b, a, w, -c)))


def rotation_of_angles(roll: float, pitch: float, yaw: float) -> list[tuple[float, ...]]:
    """Return Rz(yaw) Ry(pitch) Rx(roll), rad; quicker than SO3."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    return [(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr), (-sp, cp * sr, cp * cr)]


def rotation_of_quaternion(x: float, y: float, z: float, w: float) -> list[tuple[float, ...]]:
    """Return the rotation of a quaternion of any norm; quicker than SO3."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return [(1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
            (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
            (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y))]


Algorithm = Callable[[StudyEquations, Array, float], tuple[Array, bool, int]]


def gauss_newton(
        equations: StudyEquations, x: Array, step_factor: float) -> tuple[Array, bool, int]:
    """
    Return the state where Algorithm A1 ends, whether it converged, and its iterations (11.6).

    The step factor is squared until the residual falls to the half step and on to the whole one
    (Stewart Algorithm 1).
    """
    for k in range(PAPER_ITERATIONS):
        r = equations.residuals(x)
        if np.abs(r).max() <= equations.tolerance:
            return x, True, k
        step = solved(*normal_equations(equations, x, r), 0.0, PAPER_PIVOT)  # (Stewart 26)
        if step is None or np.linalg.norm(step) <= PAPER_TOLERANCE:
            return x, False, k
        alpha, square = step_factor, r @ r
        while True:
            half, whole = (equations.residuals(equations.moved(x, share * alpha * step))
                           for share in (0.5, 1.0))
            if half @ half <= square and whole @ whole <= half @ half:  # (Stewart 27)
                break
            alpha *= alpha
            if alpha <= SMALLEST_STEP_FACTOR:
                return x, False, k + 1
        x = equations.moved(x, alpha * step)
    return x, bool(np.abs(equations.residuals(x)).max() <= equations.tolerance), PAPER_ITERATIONS


def levenberg_marquardt(
        equations: StudyEquations, x: Array, tau: float) -> tuple[Array, bool, int]:
    """Return the state where Algorithm A2 ends, whether it converged, and iterations (11.5)."""
    r = equations.residuals(x)
    a, g = normal_equations(equations, x, r)
    mu, nu = tau * a.diagonal().max(), 2.0
    for k in range(PAPER_ITERATIONS):
        if np.abs(r).max() <= equations.tolerance:
            return x, True, k
        step = solved(a, g, mu, 0.0)
        if step is None or np.linalg.norm(step) <= PAPER_TOLERANCE:
            return x, False, k
        trial = equations.moved(x, step)
        new = equations.residuals(trial)
        gain = float((r @ r - new @ new) / (step @ (mu * step - g)))
        if gain > 0.0:
            x, r = trial, new
            a, g = normal_equations(equations, x, r)
            mu, nu = mu * max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3), 2.0
        else:
            mu, nu = mu * nu, 2.0 * nu
    return x, bool(np.abs(r).max() <= equations.tolerance), PAPER_ITERATIONS


def normal_equations(equations: StudyEquations, x: Array, r: Array) -> tuple[Array, Array]:
    """Return A = J^T J and g = J^T r."""
    jacobian = equations.jacobian(x)
    return jacobian.T @ jacobian, jacobian.T @ r


def solved(a: Array, g: Array, damping: float, pivot: float) -> Array | None:
    """Return s of (A + damping) s = -g; None where a pivot, over A's largest entry, is less."""
    try:
        factor = np.linalg.cholesky(a + damping * np.eye(len(a)))
    except np.linalg.LinAlgError:
        return None
    if not (factor.diagonal() ** 2 > pivot * a.diagonal().max()).all():
        return None
    return np.linalg.solve(factor.T, np.linalg.solve(factor, -g))
