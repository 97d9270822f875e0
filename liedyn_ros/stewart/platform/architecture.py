# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Architectural singularity: a platform that is singular at every pose (14.39).

Take a leg's joint coordinates on the base and on the platform, each with a 1 appended. The leg's
line depends linearly on their products. If the six legs' products are dependent, so are the lines,
at every pose. Six lengths then leave the platform free to move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import itertools
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.lie import se3, SO3
from liedyn_ros.lie.kernels import motion
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_checks import radius_of_gyration
from liedyn_ros.stewart.platform.description.leg_types import Crank, Rail
from liedyn_ros.stewart.platform.kernels import leg_types as kernels
from liedyn_ros.stewart.platform.kernels.leg_rows import END
from liedyn_ros.stewart.platform.kinematics import leg_ends, leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter

CONTINUUM_STEPS = (1e-3, 1e-2)  # along the null twist, rad or characteristic lengths
CONTINUUM_TOLERANCE = 1e-9  # of the characteristic length: the error of the lengths there
NEWTON_ITERATIONS = 30
TRIED_POSES = 32  # one is not enough: a regular platform has singular poses too
MAX_TRIED_POSES = 400  # poses of a platform on rails or cranks, of which its rods do not reach all
TRIED_TILT, TRIED_SHIFT = 0.2, 0.1  # rad, and share of a rod, by which such a pose is not level
SINGULAR_RATIO = 1e-9  # greatest ratio of singular values at these poses
SINGULARITY_THRESHOLD = 1e-3
SHAPE_ERROR = 1e-9  # of a radius of gyration, that points may be off a line or an affine image


class Architecture(NamedTuple):
    """
    Distance of a platform's build from one that is singular at every pose (14.39).

    conditioning: the greatest inverse condition number of the rods' J over random poses; NaN where
    all rods reach none of them. reason: why it is singular, empty where it is not. warning: of a
    small conditioning, or of no pose that all rods reach; else empty.
    """

    conditioning: float
    reason: str
    warning: str

    @property
    def singular(self) -> bool:
        """Return whether lengths determine no pose."""
        return bool(self.reason)


_EXAMINED: WeakKeyDictionary[StewartGeometry, Architecture] = WeakKeyDictionary()


def architecture(geometry: StewartGeometry) -> Architecture:
    """Return how a platform is built: regular, nearly singular everywhere, or singular."""
    found = _EXAMINED.get(geometry)  # readers, trackers and searches ask for it in turn
    if found is None:
        found = _EXAMINED[geometry] = _examined(geometry)
    return found


def _examined(geometry: StewartGeometry) -> Architecture:
    conditioning = _conditioning(geometry)
    if np.isnan(conditioning):
        return Architecture(conditioning, '', 'no pose was found that all rods reach: expected '
                            'rods and travel that fit the joints')
    if conditioning < SINGULAR_RATIO:
        return Architecture(conditioning, _reason(geometry), '')
    warning = ''
    if conditioning < SINGULARITY_THRESHOLD:
        error = 1e-5 * geometry.characteristic_length
        warning = ('the platform is nearly singular at every pose: an error of '
                   f'{error:.2g} m in a length gives {error / conditioning:.2g} m in the pose')
    return Architecture(conditioning, '', warning)


def architectural_fault(geometry: StewartGeometry) -> str:
    """Return the fault of a platform's build as a sentence, or ''."""
    found = architecture(geometry)
    return f'{found.reason}: {_freedom(geometry)}' if found.singular else found.warning


def require_regular(geometry: StewartGeometry, pose_base_platform: ArrayLike) -> None:
    """Raise GeometryError for an architecturally singular platform, naming its free direction."""
    found = architecture(geometry)
    if found.singular:
        raise GeometryError(f'{found.reason}: {_freedom(geometry, pose_base_platform)}')


def _freedom(geometry: StewartGeometry, pose_base_platform: ArrayLike | None = None) -> str:
    """Return how a singular platform moves at a pose, or at one that its rods reach."""
    if pose_base_platform is not None and np.isfinite(
            leg_ends(geometry, pose_base_platform)).all():
        return ('its lengths leave it free to move; at the pose given '
                f'{free_motion(geometry, pose_base_platform)}')
    pose = next(pose for pose in itertools.islice(_poses(geometry), MAX_TRIED_POSES)
                if np.isfinite(leg_ends(geometry, pose)).all())
    position, turn = (', '.join(f'{x:.3g}' for x in part) for part in (
        pose[:3, 3], np.degrees(SO3(pose[:3, :3]).rpy)))
    return (f'its lengths leave it free to move; at ({position}) m, roll, pitch, yaw ({turn}) '
            f'degrees {free_motion(geometry, pose)}')


def free_motion(geometry: StewartGeometry, pose_base_platform: ArrayLike) -> str:
    """Return, to be read, along which twist a pose (4, 4), m, changes the lengths least."""
    state = PlatformMeter(geometry).measure(pose_base_platform)
    twist = state.null_twist * ([1.0] * 3 + [geometry.characteristic_length] * 3)
    turn, shift = (', '.join(f'{x + 0.0:.3g}' for x in part.round(9)) for part in (
        twist[:3], twist[3:]))
    return f'it turns by ({turn}) rad with ({shift}) m, in its own axes'


def _conditioning(geometry: StewartGeometry) -> float:
    """Return the greatest ratio of singular values at random poses."""
    centre, rho = geometry.platform_joints.mean(axis=0), geometry.characteristic_length
    table, ends, poses = geometry.table(), list[Array](), list[Array]()
    n = len(geometry.leg_names)
    size = END * n
    for pose in itertools.islice(_poses(geometry), MAX_TRIED_POSES):
        kernels.write_leg_ends(table, *motion.split(pose))
        if np.isfinite(table[:size]).all():
            ends.append(table[:size].copy())
            poses.append(pose)
            if len(poses) == TRIED_POSES:
                break
    if not poses:
        return np.nan
    turns, places = np.array(poses)[:, :3, :3], np.array(poses)[:, None, :3, 3]
    feet, tips = np.array(ends).reshape(-1, 2, n, 3).swapaxes(0, 1)
    tips = tips @ turns.swapaxes(1, 2) + places
    lines = tips - feet
    lines /= np.linalg.norm(lines, axis=2, keepdims=True)
    arms = (tips - (turns @ centre)[:, None] - places) / rho
    values = np.linalg.svd(
        np.concatenate((np.cross(arms, lines), lines), axis=2), compute_uv=False)
    return float((values[:, -1] / values[:, 0]).max())


def _poses(geometry: StewartGeometry) -> Iterator[Array]:
    """Yield random poses; of rails and cranks about those that their rods reach."""
    rng = np.random.default_rng(0)
    base, platform = geometry.base_joints, geometry.platform_joints
    reach = radius_of_gyration(base) + radius_of_gyration(platform)
    above = _above(geometry, rng) if geometry.driven else None
    while True:
        pose = np.eye(4)
        if above is not None:
            pose[:3, 3] = next(above)
            yield pose @ se3.exp(rng.normal(0.0, TRIED_TILT, 6) * [1, 1, 1, 0, 0, 0])
            continue
        rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        pose[:3, :3] = rotation * np.sign(np.linalg.det(rotation))
        pose[:3, 3] = (base.mean(axis=0) + rng.normal(0.0, reach, 3)
                       - pose[:3, :3] @ platform.mean(axis=0))
        yield pose


def _above(geometry: StewartGeometry, rng: np.random.Generator) -> Iterator[Array]:
    """Yield positions (3,), m, of a level platform at about its rods' length from the drives."""
    low, high = np.where(
        np.isfinite(geometry.length_limits), geometry.length_limits, (-1.0, 1.0)).T
    struts = np.array([not isinstance(leg_type, Rail | Crank) for leg_type in geometry.leg_types])
    n = len(geometry.leg_names)
    table, squared, seats = geometry.table(), np.empty(n), geometry.base_outline
    normal = np.linalg.svd(seats - seats.mean(axis=0))[2][2]
    feet, middle = table[:3 * n].reshape(n, 3), geometry.platform_joints.mean(axis=0)
    while True:
        kernels.write_driven_ends(table, np.where(
            struts, geometry.characteristic_length, rng.uniform(low, high)), squared)
        centre = feet.mean(axis=0)
        across = feet - centre - geometry.platform_joints + middle
        across -= np.outer(across @ normal, normal)
        height = np.sqrt(max(float((squared - (across ** 2).sum(axis=1)).mean()), 0.0))
        offset = rng.choice((-1.0, 1.0)) * height * normal
        yield np.asarray(
            centre - middle + offset + rng.normal(0.0, TRIED_SHIFT * squared.mean() ** 0.5, 3))


def _reason(geometry: StewartGeometry) -> str:
    """Return the known kind of a platform's architectural singularity, as a sentence."""
    base, platform, names = geometry.base_joints, geometry.platform_joints, geometry.leg_names
    start = 'the platform is singular at every pose: '
    if geometry.redundant:
        return f'{start}the lines of its legs depend on each other'
    if not (geometry.plain or geometry.following):
        return start + _reason_of_rods(names, platform)
    for count in (6, 5, 4):
        for legs in itertools.combinations(range(6), count):
            of_base, of_platform = base[list(legs)], platform[list(legs)]
            listed = ', '.join(names[i] for i in legs)
            for place, joints in (('base', of_base), ('platform', of_platform)):
                if _spread(joints, 1) <= SHAPE_ERROR * radius_of_gyration(base):
                    return f'{start}the {place} joints of {listed} coincide'
            if _spread(of_base, 2) <= SHAPE_ERROR and _spread(of_platform, 2) <= SHAPE_ERROR:
                return f'{start}the joints of {listed} lie on a line, on base and platform'
    if similar := _image(base, platform):
        return f'{start}the hexagons of base and platform are {similar}'
    if _griffis_duffy(base, platform) or _griffis_duffy(platform, base):
        return (f'{start}three joints lie on the sides of a triangle of the other three, on base '
                'and platform the other way round (Griffis and Duffy)')
    return f'{start}the pairs of joints on base and platform fulfil a bilinear relation'


def _reason_of_rods(names: Sequence[str], platform: Array) -> str:
    """Return why rods from moving ends depend on each other at every pose."""
    for legs in itertools.combinations(range(6), 4):
        if _spread(platform[list(legs)], 1) <= SHAPE_ERROR * radius_of_gyration(platform):
            return f'the platform joints of {", ".join(names[i] for i in legs)} coincide'
    return 'the lines of the rods depend on each other wherever they reach'


def _spread(points: Array, rank: int) -> float:
    """Return how far points are from one point (1) or a line (2), by their own size for a line."""
    values = np.linalg.svd(points - points.mean(axis=0))[1]
    return float(values[0] if rank == 1 else values[1] / max(values[0], 1e-300))


def _image(base: Array, platform: Array) -> str:
    """Return 'similar' or 'affine images of each other', or nothing."""
    x = np.column_stack((np.ones(6), platform))
    fit = np.linalg.lstsq(x, base, rcond=1e-9)[0]
    if np.abs(x @ fit - base).max() > SHAPE_ERROR * radius_of_gyration(base):
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


def is_continuum(geometry: StewartGeometry, lengths: Array, pose: Array) -> bool:
    """
    Return whether the poses of lengths (6,), m, go on from a singular pose (4, 4), m (14.41).

    The null coordinate is held at a step, the other five are fitted. At a double pose an error of
    the step's square remains; in a continuum none does.
    """
    meter = PlatformMeter(geometry)
    scale = geometry.characteristic_length
    null = meter.measure(pose).null_twist
    across = np.linalg.svd(null[None])[2][1:].T  # (6, 5)
    units = np.array([1.0] * 3 + [scale] * 3)
    for step in CONTINUUM_STEPS:
        rest = np.zeros(5)
        for _ in range(NEWTON_ITERATIONS):
            moved = se3.compose(pose, se3.exp(units * (step * null + across @ rest)))
            error = leg_lengths(geometry, moved) - lengths
            if np.abs(error).max() < CONTINUUM_TOLERANCE * scale:
                break
            jacobian = meter.measure(moved).jacobian * units @ across
            rest -= np.linalg.lstsq(jacobian, error, rcond=1e-10)[0]
        if not np.abs(error).max() < CONTINUUM_TOLERANCE * scale:
            return False
    return True
