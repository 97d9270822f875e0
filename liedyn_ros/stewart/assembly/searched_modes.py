# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Poses of platforms on offset joints, screws or wires, for which no start system is known.

They are searched from all complex poses of the platform whose joint axes meet, which is near, and
from random poses, until nothing new comes. A search proves no list complete. But values that no
pose has are a motion away from any others, so the signs of all poses' determinants add up to zero
(14.52). A list with another sum is known to be short.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, SO3
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import OffsetStrut, Strut, Wire
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.solver.pose_solver import PoseSolver, Status

STARTS_PER_ROUND, MAX_SEARCH_ROUNDS = 500, 12  # starts of a round, and most rounds
MAX_IDLE_ROUNDS = 3  # rounds without a new pose, after which the search ends
LEAST_HITS = 3  # starts that lead to each pose by then, at least
SAME_ENTRIES = 1e-6  # entries of one pose, in characteristic lengths


class Search(NamedTuple):
    """Poses (n, 4, 4), m, starts, the fewest that led to a pose, and the sum of the signs."""

    poses: Array
    starts: int
    fewest: int
    signs: int


def search_poses(
        geometry: StewartGeometry, values: Array, solver: PoseSolver, near: Array,
        seed: int) -> Search:
    """Return the poses that values (6,), m or rad, allow, from starts (n, 4, 4), m, and others."""
    rng, meter = np.random.default_rng(seed), PlatformMeter(geometry)
    found: list[Array] = []
    hits: list[int] = []
    tried, quiet = 0, 0
    for _ in range(MAX_SEARCH_ROUNDS):
        starts = _random_poses(geometry, values, rng)
        if not tried and len(near):
            starts = np.concatenate((near, starts))
        tried += len(starts)
        known = len(found)
        solutions = solver.solve_batch(np.tile(values, (len(starts), 1)), starts)
        for pose in solutions.poses[solutions.statuses == Status.CONVERGED]:
            _count(pose, found, hits, geometry.characteristic_length)
        quiet = quiet + 1 if len(found) == known else 0
        signs = int(np.sign(meter.signed_values(np.array(found))).sum()) if found else 0
        if quiet >= MAX_IDLE_ROUNDS and min(hits, default=LEAST_HITS) >= LEAST_HITS and (
                signs == 0 or not adds_up(geometry, values)):
            break
    return Search(np.array(found).reshape(-1, 4, 4), tried, min(hits, default=0), signs)


def adds_up(geometry: StewartGeometry, values: Array) -> bool:
    """Return whether the signs of all poses of values (6,) are known to add up to zero (14.52)."""
    return all(
        isinstance(leg, Strut) or (isinstance(leg, OffsetStrut) and not leg.lead)
        or (isinstance(leg, Wire) and value > 2.0 * math.pi * leg.radius)
        for leg, value in zip(geometry.leg_types, values))


def describe_search(search: Search, geometry: StewartGeometry, values: Array) -> str:
    """Return why a pose may be missing, to be read."""
    how = f'found by a search from {search.starts} starts'
    if search.fewest:
        how += f', {search.fewest} or more of which led to each pose'
    if not adds_up(geometry, values):
        return f'{how}; a pose that hardly any start leads to may be missing'
    if search.signs:
        return (f"{how}; the signs of the poses' determinants add up to {search.signs}, so "
                f'{abs(search.signs)} or more are missing')
    return (f'{how}; the signs of their determinants add up to 0, so only an even number that '
            'hardly any start leads to may be missing')


def _count(pose: Array, found: list[Array], hits: list[int], size: float) -> None:
    """Add a pose, or count it with the one that it is."""
    for k, other in enumerate(found):
        apart = np.abs(pose - other)
        if max(apart[:3, :3].max(), apart[:3, 3].max() / size) < SAME_ENTRIES:
            hits[k] += 1
            return
    found.append(pose)
    hits.append(1)


def _random_poses(
        geometry: StewartGeometry, values: Array, rng: np.random.Generator) -> Array:
    """Return poses (n, 4, 4) of random rotation, their joints' centre within the legs' reach."""
    turns = rng.normal(size=(STARTS_PER_ROUND, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    ways = rng.normal(size=(STARTS_PER_ROUND, 3))
    ways *= (np.abs(values).max() * rng.uniform(0.1, 1.0, STARTS_PER_ROUND)
             / np.linalg.norm(ways, axis=1))[:, None]
    rotations = np.array([SO3.from_quaternion(turn).matrix for turn in turns])
    centres = geometry.base_joints.mean(axis=0) + ways
    return se3.from_rotation_translation(
        rotations, centres - rotations @ geometry.platform_joints.mean(axis=0))
