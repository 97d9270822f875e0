# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Every pose of a platform on three stages, whose values put three points on three lines (14.46).

The points have known distances. Two of the three quadratic equations give the places on two lines
by that on the third one. Their four pairs in the last equation make a polynomial of degree 8.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Stage

Complex = NDArray[np.complex128]

MODES_DEGREE = 8
CIRCLE_SAMPLES = 32  # of the polynomial, on a circle
MIN_COEFFICIENT = 1e-9  # of the first coefficient, below which solutions are at infinity
NEWTON_STEPS = 30  # of Newton's method
EQUATION_TOLERANCE = 1e-11  # residual of an equation, in the machine's size
MIN_ROOT_DERIVATIVE = 1e-6  # of a root's derivative
REAL_TOLERANCE, SAME_SOLUTION = 1e-7, 1e-6  # imaginary parts, and distances of solutions


class StageModes(NamedTuple):
    """Real poses (n, 4, 4), m; how many solutions there are, and are lost; why."""

    poses: Array
    complex_solutions: int
    lost: int
    defect: str


def stage_pairs(geometry: StewartGeometry) -> tuple[tuple[int, int], ...]:
    """Return the legs of each of three stages of one kind, or nothing."""
    legs = geometry.leg_types
    kinds = {leg.carried if isinstance(leg, Stage) else None for leg in legs}
    pairs = tuple(
        (i, j) for i in range(6) for j in range(i + 1, 6)
        if np.array_equal(geometry.base_joints[i], geometry.base_joints[j])
        and np.array_equal(geometry.platform_joints[i], geometry.platform_joints[j]))
    return pairs if len(pairs) == 3 and kinds in ({True}, {False}) else ()


def stage_modes(geometry: StewartGeometry, values: Array) -> StageModes:
    """Return every pose that positions (6,), m, allow, of a platform with three stages."""
    starts, guides, joints, carried = [], [], [], False
    stages = [(i, j, leg) for i, j in stage_pairs(geometry)
              if isinstance(leg := geometry.leg_types[i], Stage)]
    for i, j, leg in stages:
        carried = leg.carried
        starts.append(geometry.base_joints[i] + values[i] * np.array(leg.direction)
                      + values[j] * np.array(leg.other))
        guides.append(leg.guide)
        joints.append(geometry.platform_joints[i])
    moved, lines = np.array(starts), np.array(guides)
    fixed = np.array(joints)
    if carried:  # the same with the roles of base and platform exchanged
        moved, fixed = fixed, moved
    size = float(max(np.linalg.norm(points - points.mean(axis=0), axis=1).max()
                     for points in (fixed, moved)))
    places, lost = _places(moved / size, lines, fixed / size)
    real = [place.real for place in places if np.abs(place.imag).max() < REAL_TOLERANCE]
    poses = np.array([_pose(moved + size * place[:, None] * lines, fixed) for place in real])
    poses = poses.reshape(-1, 4, 4)
    defect = '' if not lost else f'{lost} of {MODES_DEGREE} solutions are multiple or were lost'
    return StageModes(
        se3.inverse(poses) if carried and len(poses) else poses, len(places), lost, defect)


def _places(starts: Array, lines: Array, points: Array) -> tuple[list[Complex], int]:
    """
    Return the places (3,) on the lines, and how many of eight are multiple or lost.

    A solution at infinity, as of parallel lines, is among these.
    """
    squares = [float(((points[i] - points[j]) ** 2).sum()) for i, j in ((0, 1), (0, 2), (1, 2))]
    # Places are counted from where each line is nearest to the middle of all.
    shift = -np.einsum('ij,ij->i', starts - starts.mean(axis=0), lines)
    starts = starts + shift[:, None] * lines
    circle = 2.0 * np.exp(2j * np.pi * np.arange(CIRCLE_SAMPLES) / CIRCLE_SAMPLES)
    samples = np.array([_product(z, starts, lines, squares) for z in circle])
    coefficients = (np.fft.fft(samples) / CIRCLE_SAMPLES)[:MODES_DEGREE + 1]  # of (z / 2)^k
    # The first one is known without the others, and so without their rounding.
    coefficients[MODES_DEGREE] = (
        2.0 ** MODES_DEGREE * _product(1.0, 0.0 * starts, lines, [0.0] * 3))
    found: list[Complex] = []
    if abs(coefficients[MODES_DEGREE]) < MIN_COEFFICIENT:
        return found, MODES_DEGREE
    for root in 2.0 * np.roots(coefficients[::-1]):
        place = _polished(_nearest(root, starts, lines, squares), starts, lines, squares)
        if place is not None and all(
                np.abs(place - other).max() > SAME_SOLUTION for other in found):
            found.append(place)
    return [place + shift for place in found], MODES_DEGREE - len(found)


def _on_line(z: complex, i: int, k: int, starts: Array, lines: Array, square: float) -> Complex:
    """Return both places on line i at a distance from the place z on line k."""
    away = starts[i] - starts[k] - z * lines[k]
    half = away @ lines[i]
    return -half + np.sqrt(half * half - away @ away + square + 0j) * np.array([1.0, -1.0])


def _product(z: complex, starts: Array, lines: Array, squares: list[float]) -> complex:
    """Return the product of the last equation over the four pairs of places (14.46)."""
    total = 1.0 + 0j
    for x in _on_line(z, 0, 2, starts, lines, squares[1]):
        for y in _on_line(z, 1, 2, starts, lines, squares[2]):
            away = starts[0] + x * lines[0] - starts[1] - y * lines[1]
            total *= away @ away - squares[0]
    return complex(total)


def _nearest(z: complex, starts: Array, lines: Array, squares: list[float]) -> Complex:
    """Return the places (3,) with z on the last line that meet the last equation best."""
    tries = [np.array([x, y, z]) for x in _on_line(z, 0, 2, starts, lines, squares[1])
             for y in _on_line(z, 1, 2, starts, lines, squares[2])]
    return min(tries, key=lambda place: abs(_equations(place, starts, lines, squares)[0][0]))


def _equations(place: Complex, starts: Array, lines: Array, squares: list[float]
               ) -> tuple[Complex, Complex]:
    """Return the three equations at places (3,), and their derivatives (3, 3)."""
    points = starts + place[:, None] * lines
    values, slopes = np.zeros(3, complex), np.zeros((3, 3), complex)
    for row, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        away = points[i] - points[j]
        values[row] = away @ away - squares[row]
        slopes[row, i], slopes[row, j] = 2.0 * away @ lines[i], -2.0 * away @ lines[j]
    return values, slopes


def _polished(place: Complex, starts: Array, lines: Array, squares: list[float]
              ) -> Complex | None:
    """Return a solution near places (3,), or None where Newton's method finds none."""
    for _ in range(NEWTON_STEPS):
        values, slopes = _equations(place, starts, lines, squares)
        if abs(np.linalg.det(slopes)) < MIN_ROOT_DERIVATIVE:
            return None
        place = place - np.linalg.solve(slopes, values)
    return place if np.abs(_equations(place, starts, lines,
                                      squares)[0]).max() < EQUATION_TOLERANCE else None


def _pose(points: Array, seen: Array) -> Array:
    """Return the pose (4, 4) that puts points (3, 3), seen in a frame, where they are."""
    frames = []
    for corner in (points, seen):
        x = corner[1] - corner[0]
        x /= np.linalg.norm(x)
        z = np.cross(x, corner[2] - corner[0])
        z /= np.linalg.norm(z)
        frames.append(np.column_stack((x, np.cross(z, x), z)))
    rotation = frames[0] @ frames[1].T
    return se3.from_rotation_translation(rotation, points[0] - rotation @ seen[0])
