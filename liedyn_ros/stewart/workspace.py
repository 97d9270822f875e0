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

"""Where a platform can go: travel, joint angles, clearance between legs, and singularities."""

from collections.abc import Callable
from dataclasses import dataclass
import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from liedyn_ros import checks
from liedyn_ros.checks import Array
from liedyn_ros.lie import so3
from liedyn_ros.stewart.geometry import StewartGeometry
from liedyn_ros.stewart.singularity import SingularityMeter

PAIRS = np.array(list(itertools.combinations(range(6), 2)))  # of legs, 15
PARALLEL = 1e-12  # of sin^2 between two legs, below which they count as parallel


@dataclass(frozen=True)
class Margins:
    """
    What is left of every limit at n poses, negative where it is exceeded.

    travel: (n, 6), m, to the nearer end of each leg's travel. base_angles, platform_angles:
    (n, 6), rad, to the rim of each joint's cone. clearance: (n, 15), m, between the surfaces of
    each pair of legs, in the order of PAIRS.
    """

    travel: Array
    base_angles: Array
    platform_angles: Array
    clearance: Array

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """Return (n,), whether every limit is kept."""
        return np.asarray(np.stack([
            part.min(axis=-1) for part in (
                self.travel, self.base_angles, self.platform_angles, self.clearance)]
        ).min(axis=0) >= 0.0)

    def exceeded(self, names: tuple[str, ...], index: int = 0) -> list[str]:
        """Return what is exceeded at one pose, to be read, with the legs' names."""
        singles = (('travel', 'm', self.travel), ('base joint', 'rad', self.base_angles),
                   ('platform joint', 'rad', self.platform_angles))
        found = [f'{what} of {names[leg]}: {-margins[index, leg]:.3g} {unit} beyond its limit'
                 for what, unit, margins in singles for leg in np.flatnonzero(margins[index] < 0)]
        return found + [
            f'{names[PAIRS[k, 0]]} and {names[PAIRS[k, 1]]}: {-self.clearance[index, k]:.3g} m '
            'into one another' for k in np.flatnonzero(self.clearance[index] < 0)]


def margins(geometry: StewartGeometry, poses_base_platform: ArrayLike) -> Margins:
    """Return what is left of every limit at poses (n, 4, 4), m."""
    poses = checks.as_array('poses_base_platform', poses_base_platform, (-1, 4, 4))
    rotations = poses[:, :3, :3]
    tips = np.einsum('nij,kj->nki', rotations, geometry.platform_joints) + poses[:, None, :3, 3]
    legs = tips - geometry.base_joints
    lengths = np.linalg.norm(legs, axis=-1)
    directions = legs / lengths[..., None]
    from_platform = -np.einsum('nij,nki->nkj', rotations, directions)
    least, most = geometry.length_limits.T
    return Margins(
        np.minimum(lengths - least, most - lengths),
        _to_rim(geometry.base_cones, directions), _to_rim(geometry.platform_cones, from_platform),
        clearances(geometry.base_joints, tips) - geometry.leg_diameter)


def _to_rim(cones: Array, directions: Array) -> Array:
    cosines = np.einsum('kj,nkj->nk', cones[:, :3], directions)
    sines = np.linalg.norm(np.cross(cones[:, :3], directions), axis=-1)
    return np.asarray(cones[:, 3] - np.arctan2(sines, cosines))


def clearances(bases: Array, tips: Array) -> Array:
    """
    Return the distances (n, 15), m, between the axes of all pairs of legs.

    bases: (6, 3); tips: (n, 6, 3), m. A leg is a segment from its base joint to its tip. The
    nearest points of two segments lie inside both or at an end of one (Lumelsky 1985).
    """
    first, second = PAIRS.T
    p, u = bases[first], tips[:, first] - bases[first]
    q, v = bases[second], tips[:, second] - bases[second]
    inside = _between_lines(p - q, u, v)
    ends = [_to_segment(p, q, v), _to_segment(tips[:, first], q, v),
            _to_segment(q, p, u), _to_segment(tips[:, second], p, u)]
    return np.asarray(np.min([inside, *ends], axis=0))


def _between_lines(offset: Array, u: Array, v: Array) -> Array:
    """Return the distance where the lines' nearest points lie inside both segments, or inf."""
    uu, uv, vv = _dot(u, u), _dot(u, v), _dot(v, v)
    uo, vo = _dot(u, offset), _dot(v, offset)
    determinant = uu * vv - uv * uv
    skew = determinant > PARALLEL * uu * vv
    safe = np.where(skew, determinant, 1.0)
    s, t = (uv * vo - vv * uo) / safe, (uu * vo - uv * uo) / safe
    hit = skew & (0.0 <= s) & (s <= 1.0) & (0.0 <= t) & (t <= 1.0)
    gap = offset + s[..., None] * u - t[..., None] * v
    return np.asarray(np.where(hit, np.linalg.norm(gap, axis=-1), np.inf))


def _to_segment(point: Array, start: Array, along: Array) -> Array:
    share = np.clip(_dot(point - start, along) / _dot(along, along), 0.0, 1.0)
    return np.asarray(np.linalg.norm(point - start - share[..., None] * along, axis=-1))


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum('...i,...i->...', a, b))


@dataclass(frozen=True)
class WorkspaceMap:
    """
    The positions of a grid at one orientation.

    axes: x, y, z of the grid's planes, m. reachable: whether all limits are kept there.
    signed_values: the smallest singular value with the determinant's sign. usable: reachable,
    further than the threshold from singular, and connected with home through such positions;
    empty where home is none.
    """

    axes: tuple[Array, Array, Array]
    reachable: NDArray[np.bool_]
    signed_values: Array
    usable: NDArray[np.bool_]

    def volume(self, inside: NDArray[np.bool_]) -> float:
        """Return the volume of marked positions, m^3: each stands for a cell of the grid."""
        return float(inside.sum() * np.prod([axis[1] - axis[0] for axis in self.axes]))


def map_workspace(
        geometry: StewartGeometry, rotation: ArrayLike, home_position: ArrayLike,
        axes: tuple[Array, Array, Array], threshold: float,
        progress: Callable[[float], None] = lambda share: None) -> WorkspaceMap:
    """
    Return the map of positions at an orientation (3, 3), platform in base.

    home_position: (3,), m; the grid's nearest position is where the usable part begins.
    axes: x, y, z of the grid, m, each evenly spaced. threshold: smallest singular value.
    progress: called with the share that is done. Raises NotInGroupError, ShapeError.
    """
    rotation = so3.require_rotation('rotation', rotation)
    home_position = checks.as_array('home_position', home_position, (3,))
    meter, shape = SingularityMeter(geometry), tuple(len(axis) for axis in axes)
    reachable, values = np.empty(shape, dtype=bool), np.empty(shape)
    for i, x in enumerate(axes[0]):
        poses = np.tile(np.eye(4), (shape[1] * shape[2], 1, 1))
        poses[:, :3, :3] = rotation
        poses[:, :3, 3] = np.stack(
            np.broadcast_arrays(x, axes[1][:, None], axes[2]), axis=-1).reshape(-1, 3)
        reachable[i] = margins(geometry, poses).reachable.reshape(shape[1:])
        values[i] = meter.signed_values(poses).reshape(shape[1:])
        progress((i + 1) / shape[0])
    home = tuple(int(np.abs(axis - h).argmin()) for axis, h in zip(axes, home_position))
    regular = reachable & (values * np.sign(values[home]) > threshold)
    parts, _ = ndimage.label(regular)
    usable = regular & (parts == parts[home]) if parts[home] else np.zeros(shape, dtype=bool)
    return WorkspaceMap(axes, reachable, values, usable)
