# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
A random system of seven quadrics and all of its solutions, from which every platform is reached.

The forms of legs belong to a linear family, whose general member has forty solutions that are
poses (Ronga and Vust 1992, Lazard 1992, Wampler 1996). One solution is had by choosing the system
to fit a random pose; closed loops in the family lead it to the others, until there are forty.
"""

import functools
from typing import NamedTuple

import numpy as np

from liedyn_ros.checks import Array
from liedyn_ros.errors import ConvergenceError
from liedyn_ros.stewart.kernels import quadrics
from liedyn_ros.stewart.study_coordinates import Complex, pose_form, QUADRIC

SOLUTIONS = 40
NEAR = 1e-4  # how far a prediction may be from its path, of |x| = 1
SAME = 1e-8  # apart, at most, are two approximations of one solution
MOST_LOOPS = 200

Followed = tuple[Complex, Array]


class StartSystem(NamedTuple):
    """Forms (7, 8, 8) and their forty solutions (40, 8), of unit norm."""

    forms: Complex
    solutions: Complex


def follow(
        start: Complex, target: Complex, gamma: complex, near: float, solutions: Complex
) -> Followed:
    """Return where the paths from solutions (n, 8) of a start lead, and the t they came to."""
    points = solutions.copy()
    times = np.empty(len(points))
    quadrics.track_all(start.ravel(), target.ravel(), gamma, near, points, times,
                       np.empty(quadrics.WORK, dtype=complex))
    return points, times


@functools.lru_cache(maxsize=8)
def start_system(seed: int) -> StartSystem:
    """Return the start system that a seed of the random numbers gives. Raises ConvergenceError."""
    rng = np.random.default_rng(seed)
    e, g = _random(rng, 4), _random(rng, 4)
    point = np.concatenate((e, g - e * (e @ g) / (e @ e)))
    found = (point / np.linalg.norm(point))[None]
    forms = random_forms(rng, found[0])
    for _ in range(MOST_LOOPS):
        if len(found) == SOLUTIONS:
            return StartSystem(forms, found)
        there, times = follow(forms, other := random_forms(rng), random_gamma(rng), NEAR, found)
        back, times_back = follow(other, forms, random_gamma(rng), NEAR, there)
        for point in back[(times == 0.0) & (times_back == 0.0)]:
            if separations(found, point[None]).min() > SAME:
                found = np.concatenate((found, point[None]))
    raise ConvergenceError(f'start system of seed {seed}: expected {SOLUTIONS} solutions, '
                           f'found {len(found)} in {MOST_LOOPS} loops')


def random_gamma(rng: np.random.Generator) -> complex:
    """Return a complex number of modulus 1."""
    return complex(np.exp(2j * np.pi * rng.random()))


def random_forms(rng: np.random.Generator, point: Complex | None = None) -> Complex:
    """Return a random member (7, 8, 8) of the family, one with a given solution (8,) if any."""
    forms = [pose_form(complex(_random(rng, 1)[0]), _random(rng, 3, 3), _random(rng, 3),
                       _random(rng, 3)) for _ in range(6)]
    if point is not None:
        for form in forms:
            form[:4, :4] -= (point @ form @ point) / (point[:4] @ point[:4]) * np.eye(4)
    return np.array([*forms, QUADRIC])


def separations(points: Complex, others: Complex) -> Array:
    """Return how far points (n, 8) are from others (m, 8), (n, m): the sines of the angles."""
    products = points.conj() @ others.T
    return np.linalg.norm(others - products[..., None] * points[:, None], axis=2)


def _random(rng: np.random.Generator, *shape: int) -> Complex:
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)
