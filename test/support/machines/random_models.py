# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Seeded random trees with every type of joint."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.model import JOINT_TYPES, Model, ModelBuilder, SpatialInertia


def random_model(seed: int, joint_count: int, floating: bool,
                 types: Sequence[str] = tuple(JOINT_TYPES), decades: float = 0.0) -> Model:
    """
    Return a random tree of joint_count joints, and a free base before them if floating.

    It is the same object at every call: models do not change. The types follow random
    permutations of those given, all by default, so that ten joints hold each type once.
    Bodies are clouds of points, so that their inertias are physical; axes, placements, damping,
    friction, limits and gravity are random too. Masses spread over decades, factors of ten.
    """
    return _model(seed, joint_count, floating, tuple(types), decades)


@cache
def _model(seed: int, joint_count: int, floating: bool, types: tuple[str, ...],
           decades: float) -> Model:
    rng = np.random.default_rng(seed)
    builder = ModelBuilder(f'random_{seed}', gravity=rng.normal(size=3) * 5.0)

    def inertia() -> SpatialInertia:
        return random_inertia(rng, 10.0**rng.uniform(-0.5 * decades, 0.5 * decades)
                              if decades else 1.0)

    bodies: list[str | None] = [None]
    if floating:
        builder.add_body('base', inertia())
        builder.add_joint('base_joint', 'free', None, 'base', placement=random_pose(rng))
        bodies = ['base']
    rounds = -(-joint_count // len(types))
    order = [kind for _ in range(rounds) for kind in rng.permutation(list(types))]
    for i, kind in enumerate(order[:joint_count]):
        name = f'body_{i}'
        parent = bodies[rng.integers(max(0, len(bodies) - 4), len(bodies))]
        builder.add_body(name, inertia())
        add_random_joint(rng, builder, f'{kind}_{i}', str(kind), parent, name)
        bodies.append(name)
    return builder.build()


def add_random_joint(rng: np.random.Generator, builder: ModelBuilder, name: str, kind: str,
                     parent: str | None, child: str) -> None:
    """Add a joint of one type with random placement, axes, pitch, limits and resistances."""
    spec = JOINT_TYPES[kind]
    frame = random_rotation(rng)
    limits = {'velocity': rng.uniform(1.0, 5.0, spec.nv), 'effort': rng.uniform(1.0, 9.0, spec.nv)}
    if spec.has_bounds:
        limits |= {'lower': rng.uniform(-3.0, 0.0, spec.nv),
                   'upper': rng.uniform(0.5, 3.0, spec.nv)}
    builder.add_joint(
        name, kind, parent, child, placement=random_pose(rng),
        axis=frame[:, 0] if spec.has_axis else None,
        second_axis=frame[:, 1] if spec.has_second_axis else None,
        pitch=rng.normal() if kind == 'helical' else 0.0, limits=limits,
        damping=rng.uniform(0.0, 0.5, spec.nv), friction=rng.uniform(0.0, 0.5, spec.nv))


def random_inertia(rng: np.random.Generator, scale: float = 1.0) -> SpatialInertia:
    """Return the inertia of a cloud of eight points of random mass, times a scale."""
    masses, points = scale * rng.uniform(0.1, 0.5, 8), rng.normal(size=(8, 3)) * 0.3
    center = masses @ points / masses.sum()
    arms = points - center
    moments = np.einsum('i,ij,ij', masses, arms, arms) * np.eye(3) - (masses * arms.T) @ arms
    return SpatialInertia(masses.sum(), center, moments)


def random_pose(rng: np.random.Generator) -> Array:
    """Return a pose (4, 4) with a uniform rotation and a normal translation."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = random_rotation(rng), rng.normal(size=3)
    return pose


def random_rotation(rng: np.random.Generator) -> Array:
    """Return a uniform rotation (3, 3): a QR factor, made proper."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0.0 else -q
