# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The poses to measure next, by how much they tell of the unknown (D-optimal, 14.33)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3
from liedyn_ros.stewart.calibration.calibrate import Calibration
from liedyn_ros.stewart.calibration.parameters import Geometry
from liedyn_ros.stewart.calibration.problem import (
    Deviations, Problem, Samples, seen_at, values_and_jacobians)
from liedyn_ros.stewart.platform.description.geometry_covariance import errors_by_geometry
from liedyn_ros.stewart.platform.state import PlatformMeter, SINGULARITY_WARNING

DESIGN_POSES = 1500  # poses at random
# Rad and characteristic lengths, greatest distance from home
MAX_DESIGN_TURN, MAX_DESIGN_SHIFT = 0.8, 1.5
EXCHANGES = 2  # rounds (14.33)
LEAST_EXCHANGE_GAIN = 1e-9  # of an exchange


@dataclass(frozen=True, eq=False)
class NextPoses:
    """
    Poses to measure next.

    poses: (count, 4, 4), m. before, after: m, deviation of the platform's position by the unknown
    of the geometry, now and with these poses measured. It is the root mean square over all poses
    that were tried.

    >>> found = calibrate(geometry, readings, measured_poses(poses), home=home)
    >>> more = next_poses(found, 2, home)
    >>> more.poses.shape, more.after <= more.before
    ((2, 4, 4), True)
    """

    poses: Array
    before: float
    after: float


def next_poses(
        found: Calibration, count: int, home: ArrayLike, *, turn: float = MAX_DESIGN_TURN,
        shift: float | None = None, least_singular_value: float = 2.0 * SINGULARITY_WARNING,
        seed: int = 0) -> NextPoses:
    """
    Return the most informative poses, if measured as in a calibration.

    They keep the limits of legs, joints and clearance of six legs. They are at least so far from
    singular (least_singular_value), on home's side. home: (4, 4), m. turn (rad), shift (m):
    greatest distance from home; by default 0.8 rad, 1.5 characteristic lengths. Ways between them
    are not checked.

    Args:
        found: what calibrate returned.
        count: of the poses.
        home: pose (4, 4) near all of them; m.
        turn: largest rotation from home; rad.
        shift: largest way from home, m; by default of the geometry.
        least_singular_value: of the poses.
        seed: of the random candidates.

    Returns:
        the poses, and the deviations to expect.

    Raises:
        LimitError: for numbers out of their range.

    >>> rng = np.random.default_rng(1)
    >>> poses = home @ se3.exp(0.05 * rng.normal(size=(40, 6)))
    >>> readings = np.array([leg_lengths(geometry, pose) for pose in poses])
    >>> found = calibrate(geometry, readings, measured_poses(poses), home=home)
    >>> len(next_poses(found, 2, home).poses)
    2
    """
    tried = _candidates(found.geometry, home, turn, shift, least_singular_value, seed)
    parameters = found.problem.parameters
    if not len(tried):
        raise LimitError('home: expected poses about it within all limits, got none of '
                         f'{DESIGN_POSES} that were tried')
    if not 0 < count <= len(tried):
        raise LimitError(f'count: expected 1 to {len(tried)}, the poses within all limits of '
                         f'{DESIGN_POSES} that were tried, got {count}', names=['count'],
                         expected=len(tried), got=count)
    scale, given = found.noise, found.problem.samples.deviations
    rows = _rows(found, tried, Deviations(
        given.lengths * scale, given.position * scale, given.rotation * scale))
    start = found.fit.scaled_covariance(scale ** 2, parameters.prior)
    chosen = _chosen(rows, start, count)
    after = _added(start, rows[chosen].reshape(-1, parameters.size))
    return NextPoses(tried[chosen], _deviation(found, tried, start),
                     _deviation(found, tried, after))


def _candidates(
        geometry: Geometry, home: ArrayLike, turn: float, shift: float | None, least: float,
        seed: int) -> Array:
    """Return poses about home that keep all limits."""
    if geometry.redundant:
        raise LimitError('geometry: expected six legs, as the effect of a redundant reading is '
                         f'not designed for, got {len(geometry.leg_names)}')
    start = se3.require_pose('home', home, (4, 4))
    away = (MAX_DESIGN_SHIFT * geometry.characteristic_length if shift is None
            else checks.as_positive('shift', shift))
    reach = np.array([checks.as_positive('turn', turn)] * 3 + [away] * 3)
    twists = np.random.default_rng(seed).uniform(-1.0, 1.0, (DESIGN_POSES, 6)) * reach
    tried = np.concatenate((start[None], se3.compose(start, se3.exp(twists))))
    meter = PlatformMeter(geometry)
    side = np.sign(meter.measure(start).signed_value)
    return np.asarray(tried[meter.margins(tried).within_limits & (
        meter.signed_values(tried) * side > least)])


def _rows(found: Calibration, poses: Array, deviations: Deviations) -> Array:
    """Return the equations (n, d, size) that poses would add."""
    old, samples = found.problem, found.problem.samples
    values, _ = values_and_jacobians(found.geometry, poses)
    readings = (values - found.offsets) / found.scales
    seen = seen_at(samples.measured, found.frames, poses)
    problem = Problem(
        old.parameters, Samples(readings, seen, deviations), old.start, poses)
    return problem.at(found.fit.z).derivatives


def _chosen(rows: Array, covariance: Array, count: int) -> Array:
    """Return the indices of count poses, by greatest gain and exchanges (14.33)."""
    chosen: list[int] = []
    known = covariance
    for _ in range(count):
        gains = _gains(rows, known)
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
        known = _added(known, rows[chosen[-1]])
    for _ in range(EXCHANGES):
        for place in range(count):
            others = [pose for k, pose in enumerate(chosen) if k != place]
            known = _added(covariance, rows[others].reshape(-1, rows.shape[2]))
            gains = _gains(rows, known)
            gains[others] = -np.inf
            best = int(np.argmax(gains))
            if gains[best] > gains[chosen[place]] + LEAST_EXCHANGE_GAIN:
                chosen[place] = best
    return np.array(chosen)


def _gains(rows: Array, covariance: Array) -> Array:
    """Return ln det(1 + H C H^T) of each pose's rows H (n, d, size)."""
    spread = rows @ covariance @ np.swapaxes(rows, 1, 2)
    return np.asarray(np.linalg.slogdet(np.eye(rows.shape[1]) + spread)[1])


def _added(covariance: Array, rows: Array) -> Array:
    """Return the covariance after equations (m, size) of deviation 1."""
    across = covariance @ rows.T
    gain = np.linalg.solve(np.eye(len(rows)) + rows @ across, across.T)
    updated = covariance - across @ gain
    return np.asarray(0.5 * (updated + updated.T))


def _deviation(found: Calibration, poses: Array, covariance: Array) -> float:
    """Return the root mean square deviation of positions, m, by what is unknown."""
    parameters = found.problem.parameters
    values, jacobians = values_and_jacobians(found.geometry, poses)
    readings = (values - found.offsets) / found.scales
    by_errors = errors_by_geometry(jacobians, poses, readings, parameters.width)
    effects = np.linalg.solve(jacobians, by_errors @ parameters.basis)[:, 3:]
    inner = covariance[:parameters.of_geometry, :parameters.of_geometry]
    squares = np.einsum('nij,jk,nik->n', effects, inner, effects)
    return float(np.sqrt(squares.mean()))
