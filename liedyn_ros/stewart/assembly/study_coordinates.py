# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Study coordinates: rigid motions as points of a quadric in seven-dimensional projective space.

A point is (e, g), two quaternions w, x, y, z: e turns, and p = 2 g e* / |e|^2 moves. A point with
e.g = 0 and e.e not 0 is a pose, real or complex. A leg of given length is one more quadric (Husty
1996, Wampler 1996): e.A e + e.B g + 4 g.g = 0.
"""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.lie import SO3
from liedyn_ros.stewart.assembly.kernels import homotopy

Complex = NDArray[np.complex128]
SOLUTIONS = 40
PREDICTION_TOLERANCE = 1e-4  # how far a prediction may be from its path, of |x| = 1
SOLUTION_TOLERANCE = 1e-8  # apart, at most, are two approximations of one solution
MAX_LOOPS = 200

Followed = tuple[Complex, Array]


def leg_equation(
        scalar: complex, turning: Array | Complex, moving: Array | Complex,
        both: Array | Complex) -> Complex:
    """
    Return A and B (2, 4, 4), with which e.A e + e.B g + 4 g.g is the following times |e|^2.

    scalar + sum of turning * R + moving.p + both.(R^T p) + |p|^2. turning: (3, 3), moving and
    both: (3,); real ones for a leg, complex ones for another member of the same family.
    """
    u, v = 2.0 * (moving + both), 2.0 * (moving - both)
    equation = np.zeros((2, 4, 4), dtype=complex)
    equation[0] = scalar * np.eye(4) + _rotation_form(turning)
    # |e|^2 p = 2 (e0 g - g0 e + e x g) and |e|^2 R^T p = 2 (e0 g - g0 e - e x g).
    equation[1, 0, 1:], equation[1, 1:, 0] = u, -u
    equation[1, 1:, 1:] = np.array([[0.0, v[2], -v[1]], [-v[2], 0.0, v[0]], [v[1], -v[0], 0.0]])
    return equation


def leg_system(base_joints: Array, platform_joints: Array, lengths: Array) -> Complex:
    """Return A and B (6, 2, 4, 4) of |R b + p - a|^2 - L^2: five less the sixth, and the sixth."""
    legs = np.array([
        leg_equation(a @ a + b @ b - length ** 2, -2.0 * np.outer(a, b), -2.0 * a, 2.0 * b)
        for a, b, length in zip(base_joints, platform_joints, lengths)])
    legs[:5] -= legs[5]
    return legs


def _rotation_form(m: Array | Complex) -> Complex:
    """Return the form (4, 4) of the sum of m * R, times |e|^2."""
    form = np.zeros((4, 4), dtype=complex)
    form[0, 0] = np.trace(m)
    form[0, 1:] = form[1:, 0] = (m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1])
    form[1:, 1:] = m + m.T - np.trace(m) * np.eye(3)
    return form


def to_pose(point: Array) -> Array:
    """Return the pose (4, 4) of a real point (8,) of the quadric, of any norm."""
    e, g = np.split(point / np.linalg.norm(point[:4]), 2)
    pose = np.eye(4)
    pose[:3, :3] = SO3.from_quaternion(np.roll(e, -1)).matrix
    pose[:3, 3] = 2.0 * (e[0] * g[1:] - g[0] * e[1:] + np.cross(e[1:], g[1:]))  # 2 g e*
    return pose


class StartSystem(NamedTuple):
    """Equations (6, 2, 4, 4) and their forty solutions (40, 8), of unit norm."""

    equations: Complex
    solutions: Complex


def follow(
        start: Complex, target: Complex, gamma: complex, near: float, solutions: Complex
) -> Followed:
    """Return where the paths from solutions (n, 8) of a start lead, and the t they came to."""
    size = np.linalg.norm(solutions[:, :4], axis=1, keepdims=True)
    points = np.concatenate((solutions[:, :4] / size, solutions[:, 4:], size), axis=1)
    times = np.empty(len(points))
    homotopy.track_all(start.ravel(), target.ravel(), gamma, near, points, times,
                       np.empty(homotopy.HOMOTOPY_WORK, dtype=complex))
    return np.concatenate((points[:, 8:] * points[:, :4], points[:, 4:8]), axis=1), times


@functools.lru_cache(maxsize=8)
def start_system(seed: int) -> StartSystem:
    """Return the start system that a seed of the random numbers gives. Raises ConvergenceError."""
    rng = np.random.default_rng(seed)
    e, g = _random(rng, 4), _random(rng, 4)
    point = np.concatenate((e, g - e * (e @ g) / (e @ e)))
    found = (point / np.linalg.norm(point))[None]
    equations = random_equations(rng, found[0])
    for _ in range(MAX_LOOPS):
        if len(found) == SOLUTIONS:
            return StartSystem(equations, found)
        other = random_equations(rng)
        there, times = follow(equations, other, random_gamma(rng), PREDICTION_TOLERANCE, found)
        back, times_back = follow(other, equations, random_gamma(rng), PREDICTION_TOLERANCE, there)
        for point in back[(times == 0.0) & (times_back == 0.0)]:
            if separations(found, point[None]).min() > SOLUTION_TOLERANCE:
                found = np.concatenate((found, point[None]))
    raise ConvergenceError(f'start system of seed {seed}: expected {SOLUTIONS} solutions, '
                           f'found {len(found)} in {MAX_LOOPS} loops')


def random_gamma(rng: np.random.Generator) -> complex:
    """Return a complex number of modulus 1."""
    return complex(np.exp(2j * np.pi * rng.random()))


def random_equations(rng: np.random.Generator, point: Complex | None = None) -> Complex:
    """Return a random member (6, 2, 4, 4) of the family, one with a solution (8,) if given."""
    legs = np.array([leg_equation(complex(_random(rng, 1)[0]), _random(rng, 3, 3),
                                  _random(rng, 3), _random(rng, 3)) for _ in range(6)])
    if point is not None:
        e, g = point[:4], point[4:]
        values = np.einsum('i,nij,j->n', e, legs[:, 0], e) + e @ legs[:, 1] @ g
        values[5] += 4.0 * g @ g
        legs[:, 0] -= np.multiply.outer(values / (e @ e), np.eye(4))
    return legs


def separations(points: Complex, others: Complex) -> Array:
    """Return how far points (n, 8) are from others (m, 8), (n, m): the sines of the angles."""
    points, others = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (points, others))
    products = points.conj() @ others.T
    return np.linalg.norm(others - products[..., None] * points[:, None], axis=2)


def _random(rng: np.random.Generator, *shape: int) -> Complex:
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)
