# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A random system of leg equations and all of its solutions, from which every platform is reached.

The equations of legs belong to a linear family. Its general member has forty solutions that are
poses (Ronga and Vust 1992, Lazard 1992, Wampler 1996). The system is chosen to fit a random pose,
which is one solution. Closed loops in the family lead it to the others, until there are forty.
"""

import functools
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError
from liedyn_ros.stewart.assembly.kernels import homotopy
from liedyn_ros.stewart.assembly.study_coordinates import Complex, leg_equation

SOLUTIONS = 40
NEAR = 1e-4  # how far a prediction may be from its path, of |x| = 1
SAME = 1e-8  # apart, at most, are two approximations of one solution
MAX_LOOPS = 200

Followed = tuple[Complex, Array]


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
        there, times = follow(equations, other, random_gamma(rng), NEAR, found)
        back, times_back = follow(other, equations, random_gamma(rng), NEAR, there)
        for point in back[(times == 0.0) & (times_back == 0.0)]:
            if separations(found, point[None]).min() > SAME:
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
