# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where a calibration begins: poses by the old geometry, and unknown frames by linear fits."""

from collections.abc import Iterator
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.identification.calibration.frames import nearest_rotation, places_of, turns_of
from liedyn_ros.lie import se3
from liedyn_ros.stewart.calibration.measured import InstrumentFrames, Measured
from liedyn_ros.stewart.calibration.parameters import Geometry
from liedyn_ros.stewart.calibration.problem import seen_at, values_and_jacobians
from liedyn_ros.stewart.commissioning.check import ACCURACY
from liedyn_ros.stewart.solver.pose_solver import PoseSolver

START_POSES, SEARCHES = 8, 40  # poses of a search's beginning, and how many searches
REFINEMENTS = 3  # of a search
MIN_IMPROVEMENT = 1e-9  # share by which a search has to be better than those before it
MAX_SAMPLE_ERROR = 1.0  # rad and characteristic lengths: a sample that far off has no pose
OUTLIER_RATIO = 5.0  # of the middle error, beyond which a pose does not agree with the others
MAX_ORDERED = 6  # legs, all of whose orders are looked at
TRIED_ORDERS = 8  # that a few poses do not rule out


class CalibrationStart(NamedTuple):
    """
    Where a calibration begins.

    poses: (n, 4, 4), m, and frames. trusted: (n,), which agree with most of the others. possible:
    (n,), whether readings and measurements may be of one pose. error: middle distance of both,
    in characteristic lengths and rad.
    """

    poses: Array
    frames: InstrumentFrames
    trusted: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    error: float


def start(geometry: Geometry, readings: Array, measured: Measured, home: Array
          ) -> CalibrationStart:
    """
    Return poses and frames near the readings (n, legs) and the measurements.

    home: (4, 4), m, on the assembly mode of the readings. A few wrong samples do no harm. Raises
    ConvergenceError.
    """
    frames, rotations, size = measured.frames, measured.rotations, geometry.characteristic_length
    if rotations is not None and len(frames.points) and measured.frames_known:
        target = se3.from_rotation_translation(frames.target, frames.points[0])
        given = se3.from_rotation_translation(rotations, measured.points[:, 0])
        poses = se3.normalize(se3.compose(se3.compose(
            se3.inverse(frames.instrument_base), given), se3.inverse(target)))
        values, _ = values_and_jacobians(geometry, poses)
        off = np.nan_to_num((readings - values) * geometry.drive_scales / size, nan=np.inf)
        squares = (off ** 2).sum(axis=1)
    else:
        poses, solved = poses_of(geometry, readings, home)
        frames, squares = _agreed(poses, measured, solved, size)
    middle = OUTLIER_RATIO ** 2 * float(np.median(squares))
    trusted, possible = squares <= middle, squares <= max(middle, MAX_SAMPLE_ERROR ** 2)
    if possible.mean() < 0.5:  # they are named as what they are, such as in other units
        possible = np.ones_like(possible)
    return CalibrationStart(
        poses, frames, trusted, possible, float(np.median(squares)) ** 0.5)


def rough_error(geometry: Geometry, readings: Array, measured: Measured, home: Array) -> float:
    """Return the middle error of the START_POSES nearest to the middle ones, inf without poses."""
    rows = np.argsort(np.linalg.norm(readings - np.median(readings, axis=0), axis=1))[:START_POSES]
    some = measured.rows(rows)
    try:
        poses, solved = poses_of(geometry, readings[rows], home)
    except ConvergenceError:
        return np.inf
    frames = _frames(poses[solved], some.rows(solved))
    squares = _squares(poses, some, frames, geometry.characteristic_length)
    return float(np.sqrt(np.median(squares[solved])))


def poses_of(geometry: Geometry, readings: Array, guesses: Array, regular: float = 0.0
             ) -> tuple[Array, NDArray[np.bool_]]:
    """
    Return poses (n, 4, 4), m, of readings (n, legs), from guesses (n or one, 4, 4); which exist.

    Where a guess is too far, the next is the pose of the nearest readings that were solved.
    regular: smallest singular value that a pose must have to count as one that exists. Raises
    ConvergenceError where more than half have no pose.
    """
    n = len(readings)
    poses = np.array(np.broadcast_to(guesses, (n, 4, 4)))
    solver = PoseSolver(geometry)
    solved, near_singular = np.zeros((2, n), dtype=bool)
    distance = np.linalg.norm(readings - np.median(readings, axis=0), axis=1)
    for k in np.argsort(distance):
        tries = [poses[k]]
        if solved.any():
            near = np.linalg.norm(readings[solved] - readings[k], axis=1).argmin()
            tries.insert(0, poses[solved][near])
        for guess in tries:
            try:
                solution = solver.solve(readings[k], guess)
            except LimitError:  # a length that no leg has, such as a negative one
                break
            if solution.converged:
                poses[k], solved[k] = solution.pose, True
                near_singular[k] = solution.smallest_singular_value < regular
                break
    if solved.mean() < 0.5:
        raise ConvergenceError(
            f'readings: expected poses near home, got {n - int(solved.sum())} of {n} '
            'without a pose: check their unit (m), the order of the legs, and home')
    return poses, solved & ~near_singular


def _agreed(poses: Array, measured: Measured, solved: NDArray[np.bool_], size: float
            ) -> tuple[InstrumentFrames, Array]:
    """
    Return the frames on which most of the solved poses agree, and squared errors (n,) by them.

    Least trimmed squares (Rousseeuw and Van Driessen 2006). Searches begin at all poses and at
    small sets of them. Each fits the half that agrees best, over and again.
    """
    rows, rng = np.flatnonzero(solved), np.random.default_rng(0)
    half, least, found = len(rows) // 2 + 1, np.inf, measured.frames
    known = measured.kind == 'lengths' or measured.frames_known
    for trial in range(0 if known else SEARCHES):
        chosen = rows if not trial else rng.choice(rows, min(START_POSES, len(rows)),
                                                   replace=False)
        for _ in range(REFINEMENTS):
            frames = _frames(poses[chosen], measured.rows(chosen))
            squares = _squares(poses[rows], measured.rows(rows), frames, size)
            chosen = rows[np.argsort(squares)[:half]]
        total = float(np.sort(squares)[:half].sum())
        if total < (1.0 - MIN_IMPROVEMENT) * least:
            least, found = total, frames
    squares = np.where(solved, _squares(poses, measured, found, size), np.inf)
    if known:
        return found, squares
    near = np.flatnonzero(squares <= OUTLIER_RATIO ** 2 * np.median(squares[rows]))
    frames = _frames(poses[near], measured.rows(near))
    return frames, np.where(solved, _squares(poses, measured, frames, size), np.inf)


def _squares(poses: Array, measured: Measured, frames: InstrumentFrames, size: float) -> Array:
    """Return by how much measurements (n,) differ from given poses, squared, without unit."""
    seen = seen_at(measured, frames, poses)
    squares = ((seen.points - measured.points) ** 2).sum(axis=(1, 2)) / size ** 2
    if seen.rotations is not None and measured.rotations is not None:
        squares = squares + ((seen.rotations - measured.rotations) ** 2).sum(axis=(1, 2))
    return np.asarray(squares)


def _frames(poses: Array, measured: Measured) -> InstrumentFrames:
    """Return the frames that fit given poses (n, 4, 4); known ones as they are."""
    known = measured.frames
    if measured.kind == 'lengths' or measured.frames_known:
        return known
    turn, target = known.instrument_base[:3, :3], known.target
    if measured.rotations is not None:
        turn, target = turns_of(
            poses[:, :3, :3], measured.rotations, turn if measured.instrument_known else None,
            target if measured.target_known else None)
    if not measured.points.shape[1]:
        instrument = se3.from_rotation_translation(turn, np.zeros(3))
        return InstrumentFrames(instrument, known.points, target)
    if measured.rotations is None and not measured.instrument_known:
        turn = _turn_of_points(poses, measured)
    base, points = places_of(
        poses, measured.points, turn,
        known.instrument_base[:3, 3] if measured.instrument_known else None,
        known.points if measured.target_known else None)
    return InstrumentFrames(se3.from_rotation_translation(turn, base), points, target)


def _turn_of_points(poses: Array, measured: Measured) -> Array:
    """Return the turn of the instrument, from X^T m_j = R y_j + p + c, linear in all but m, R."""
    n, k = measured.points.shape[:2]
    free = 0 if measured.target_known else 3 * k
    rows, right = np.zeros((n, k, 3, 9 + free + 3)), np.zeros((n, k, 3))
    for i in range(3):
        rows[:, :, i, i:9:3] = measured.points
        rows[:, :, i, 9 + free + i] = -1.0
    right[:] = poses[:, None, :3, 3]
    for j in range(k):
        if free:
            rows[:, j, :, 9 + 3 * j:12 + 3 * j] = -poses[:, :3, :3]
        else:
            right[:, j] += poses[:, :3, :3] @ measured.frames.points[j]
    solution = np.linalg.lstsq(
        rows.reshape(3 * n * k, -1), right.ravel(), rcond=1e-10)[0]
    return nearest_rotation(np.asarray(solution[:9].reshape(3, 3)))


def start_in_order(
        geometry: Geometry, readings: Array, measured: Measured, home: Array) -> CalibrationStart:
    """
    Return where a calibration begins; refuse readings (n, legs) whose legs are swapped.

    They are where another order agrees far better. Raises LimitError or ConvergenceError.
    """
    begin, error = None, np.inf
    try:
        begin = start(geometry, readings, measured, home)
        error = begin.error
    except ConvergenceError as caught:
        failed = caught
    if not error <= ACCURACY and measured.kind != 'lengths':
        swapped = (_by_values(geometry, readings, begin)
                   if begin is not None and measured.frames_known and measured.kind == 'full' else
                   _by_order(geometry, readings, measured, home, error))
        if swapped:
            raise LimitError(f'readings: expected each leg under its name: {swapped}')
    if begin is None:
        raise failed
    return begin


def _by_values(geometry: Geometry, readings: Array, begin: CalibrationStart) -> str:
    """Return the text on an order of legs that agrees far better at known poses, or nothing."""
    from scipy.optimize import linear_sum_assignment  # which takes long, and no node needs it
    values, _ = values_and_jacobians(geometry, begin.poses)
    apart = np.median(np.abs(values[:, :, None] - readings[:, None, :]), axis=0)
    apart = np.nan_to_num(apart * np.asarray(geometry.drive_scales)[:, None], nan=1e9)
    _, order = linear_sum_assignment(apart)
    own, other = apart.trace(), apart[np.arange(len(order)), order].sum()
    return _swapped(geometry, order) if other < own / OUTLIER_RATIO else ''


def _swapped(geometry: Geometry, order: Array) -> str:
    """Return a sentence on legs that read as others."""
    names, moved = geometry.leg_names, np.flatnonzero(order != np.arange(len(order)))
    pairs = ', '.join(f'{names[leg]} reads as {names[order[leg]]}' for leg in moved)
    return f'legs are swapped: {pairs}; set actuator_names in that order'


def _by_order(
        geometry: Geometry, readings: Array, measured: Measured, home: Array, error: float) -> str:
    """
    Return the text on an order of legs that agrees far better than theirs, or nothing.

    A few poses tell which orders to look at. Of those that agree alike, as of a machine that looks
    the same from several sides, it is one that moves the fewest legs.
    """
    orders = np.array([*_orders(readings.shape[1])])
    rough = np.array([rough_error(geometry, readings[:, order], measured, home)
                      for order in orders])
    best = rough <= OUTLIER_RATIO * rough.min()
    near = orders[best & (rough < np.inf)]
    near = near[np.argsort((near != np.arange(readings.shape[1])).sum(axis=1), kind='stable')]
    for order in near[:TRIED_ORDERS]:
        try:
            other = start(geometry, readings[:, order], measured, home).error
        except ConvergenceError:
            continue
        if other < error / OUTLIER_RATIO:
            return _swapped(geometry, order)
    return ''


def _orders(legs: int) -> Iterator[tuple[int, ...]]:
    """Yield all orders of legs; of more than MAX_ORDERED those that move three at most."""
    if legs <= MAX_ORDERED:
        yield from itertools.permutations(range(legs))
        return
    for few in itertools.combinations(range(legs), 3):
        for moved in itertools.permutations(few):
            order = np.arange(legs)
            order[[*few]] = moved
            yield tuple(order.tolist())
