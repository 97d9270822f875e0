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
Architectural singularity: a platform that is singular at every pose (14.39).

The lines of the legs depend linearly on the products of a joint's coordinates on the base, one
added, with those on the platform: where the six products depend on each other, so do the lines,
wherever the platform is. Six lengths then leave it free to move.
"""

from collections.abc import Sequence
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.stewart.platform.geometry import radius_of_gyration, StewartGeometry
from liedyn_ros.stewart.platform.state import PlatformMeter

POSES = 32  # one is not enough: a regular platform has singular poses too
SINGULAR = 1e-9  # greatest ratio of singular values at these poses
NEARLY = 1e-3
FITS = 1e-9  # of a radius of gyration, that points may be off a line or an affine image


class Architecture(NamedTuple):
    """
    How far a platform's build is from being singular at every pose.

    conditioning: the greatest ratio of the smallest to the largest singular value of J over random
    poses; NaN for rails and cranks, whose reach is not known. reason: why it is singular, empty
    where it is not. warning: what a small conditioning costs, or empty.
    """

    conditioning: float
    reason: str
    warning: str

    @property
    def singular(self) -> bool:
        """Return whether six lengths determine no pose."""
        return bool(self.reason)


def architecture(geometry: StewartGeometry) -> Architecture:
    """Return how a platform is built: regular, nearly singular everywhere, or singular."""
    if not (geometry.plain or geometry.with_offsets):
        return Architecture(np.nan, '', '')
    conditioning = _conditioning(geometry)
    if conditioning < SINGULAR:
        return Architecture(conditioning, _reason(geometry), '')
    warning = ''
    if conditioning < NEARLY:
        error = 1e-5 * geometry.characteristic_length
        warning = ('the platform is nearly singular at every pose: an error of '
                   f'{error:.2g} m in a length gives {error / conditioning:.2g} m in the pose')
    return Architecture(conditioning, '', warning)


def require_regular(geometry: StewartGeometry, pose_base_platform: ArrayLike) -> None:
    """Raise GeometryError for an architecturally singular platform, naming its free direction."""
    found = architecture(geometry)
    if found.singular:
        raise GeometryError(f'{found.reason}: six lengths leave it free to move; at the pose '
                            f'given {free_motion(geometry, pose_base_platform)}')


def free_motion(geometry: StewartGeometry, pose_base_platform: ArrayLike) -> str:
    """Return, to be read, along which twist a pose (4, 4), m, changes the lengths least."""
    state = PlatformMeter(geometry).measure(pose_base_platform)
    twist = state.null_twist * ([1.0] * 3 + [geometry.characteristic_length] * 3)
    turn, shift = (', '.join(f'{x + 0.0:.3g}' for x in part.round(9)) for part in (
        twist[:3], twist[3:]))
    return f'it turns by ({turn}) rad with ({shift}) m, in its own axes'


def _conditioning(geometry: StewartGeometry) -> float:
    """Return the greatest ratio of singular values at random poses, centres on each other."""
    rng = np.random.default_rng(0)
    base, platform = geometry.base_joints, geometry.platform_joints
    reach = radius_of_gyration(base) + radius_of_gyration(platform)
    meter, best = PlatformMeter(geometry), 0.0
    for _ in range(POSES):
        rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        pose = np.eye(4)
        pose[:3, :3] = rotation * np.sign(np.linalg.det(rotation))
        pose[:3, 3] = (base.mean(axis=0) + rng.normal(0.0, reach, 3)
                       - pose[:3, :3] @ platform.mean(axis=0))
        jacobian = meter.measure(pose).jacobian / meter.units
        values = np.linalg.svd(jacobian)[1]
        best = max(best, float(values[-1] / values[0]))
    return best


def _reason(geometry: StewartGeometry) -> str:
    """Return which of the known kinds of architectural singularity a platform is of."""
    base, platform, names = geometry.base_joints, geometry.platform_joints, geometry.leg_names
    start = 'the platform is singular at every pose: '
    for count in (6, 5, 4):
        for legs in itertools.combinations(range(6), count):
            of_base, of_platform = base[list(legs)], platform[list(legs)]
            listed = ', '.join(names[i] for i in legs)
            for place, joints in (('base', of_base), ('platform', of_platform)):
                if _spread(joints, 1) <= FITS * radius_of_gyration(base):
                    return f'{start}the {place} joints of {listed} coincide'
            if _spread(of_base, 2) <= FITS and _spread(of_platform, 2) <= FITS:
                return f'{start}the joints of {listed} lie on a line, on base and platform'
    if similar := _image(base, platform):
        return f'{start}the hexagons of base and platform are {similar}'
    if _griffis_duffy(base, platform) or _griffis_duffy(platform, base):
        return (f'{start}three joints lie on the sides of a triangle of the other three, on base '
                'and platform the other way round (Griffis and Duffy)')
    return f'{start}the pairs of joints on base and platform fulfil a bilinear relation'


def _spread(points: Array, rank: int) -> float:
    """Return how far points are from one point (1) or a line (2), by their own size for a line."""
    values = np.linalg.svd(points - points.mean(axis=0))[1]
    return float(values[0] if rank == 1 else values[1] / max(values[0], 1e-300))


def _image(base: Array, platform: Array) -> str:
    """Return 'similar' or 'affine images of each other', or nothing."""
    x = np.column_stack((np.ones(6), platform))
    fit = np.linalg.lstsq(x, base, rcond=1e-9)[0]
    if np.abs(x @ fit - base).max() > FITS * radius_of_gyration(base):
        return ''
    distances = [np.linalg.norm(p[:, None] - p, axis=2)[np.triu_indices(6, 1)]
                 for p in (base, platform)]
    ratios = distances[0] / np.where(distances[1] > 0.0, distances[1], 1.0)
    return 'similar' if np.ptp(ratios) <= 1e-6 * ratios.max() else 'affine images of each other'


def _griffis_duffy(first: Array, second: Array) -> bool:
    """Return whether three joints are corners, the others on the sides, and reversed."""
    for corners in itertools.combinations(range(6), 3):
        others = [i for i in range(6) if i not in corners]
        if _on_sides(first, corners, others) and _on_sides(second, others, corners):
            return True
    return False


def _on_sides(points: Array, corners: Sequence[int], others: Sequence[int]) -> bool:
    """Return whether every other point lies on a line through two corners."""
    sides = list(itertools.combinations(corners, 2))
    return all(any(_spread(points[[i, a, b]], 2) <= 1e-6 for a, b in sides) for i in others)
