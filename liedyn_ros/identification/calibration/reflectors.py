# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reflectors on a body that keep their distances: together they are a pose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError, ShapeError

MAX_ROUNDS = 50
PLACE_CHANGE = 1e-12  # of the size of the reflectors, a change of their places
TURN_TOLERANCE = 0.1  # rad, or share of the length of a row: reflectors that tell less


class Cluster(NamedTuple):
    """
    Poses of k reflectors: positions (n, 3), m, of their middle, and rotations (n, 3, 3).

    places (k, 3), m, are those of the reflectors in that frame, left the rms error, m, of a
    coordinate that they do not explain. shares (2,) times the deviation of a measured coordinate
    are those of a position, m, and of a rotation, rad.
    """

    positions: Array
    rotations: Array
    places: Array
    left: float
    shares: tuple[float, float]


def cluster_of(measured: ArrayLike) -> Cluster:
    """
    Return the poses of k >= 3 reflectors (n, k, 3), m, whose places on the body are unknown.

    Places and turns are found in turn (Procrustes, Gower 1975). Raises ShapeError for fewer than
    three, and LimitError for reflectors near one line or whose distances change.
    """
    points = as_array('positions', measured, (-1, -1, 3))
    count = points.shape[1]
    if count < 3:
        raise ShapeError(f'positions: expected one reflector, or three and more, got {count}',
                         names=('positions',), expected=3, got=count)
    middle = points.mean(axis=1)
    inner = points - middle[:, None]
    places = inner[0]
    size = float(np.sqrt((places**2).sum()))
    for _ in range(MAX_ROUNDS):
        turns = _turns(places, inner)
        last, places = places, np.einsum('nji,nkj->ki', turns, inner) / len(inner)
        if np.abs(places - last).max() <= PLACE_CHANGE * size:
            break
    extents = np.linalg.svd(places, compute_uv=False)
    if not extents[1] > TURN_TOLERANCE * extents[0]:
        raise LimitError('positions: expected reflectors that are not on one line, got places '
                         f'with extents of {extents[0]:.3g} and {extents[1]:.3g} m')
    off = inner - np.einsum('nij,kj->nki', turns, places)
    left = float(np.sqrt((off**2).mean()))
    moments = np.linalg.eigvalsh(np.eye(3) * (places**2).sum() - places.T @ places)
    turn = float(np.sqrt((1.0 / moments).mean()))  # rad by 1 m of noise, rms of the axes
    if left * turn > TURN_TOLERANCE:
        raise LimitError('positions: expected reflectors that keep their distances, got errors of '
                         f'{left:.3g} m at places {extents[0]:.3g} m wide; are all on the body?')
    return Cluster(middle, turns, places, left, (count**-0.5, turn))


def _turns(places: Array, inner: Array) -> Array:
    """Return the rotations (n, 3, 3) from places (k, 3) to points (n, k, 3) (Kabsch)."""
    u, _, vt = np.linalg.svd(np.einsum('nki,kj->nij', inner, places))
    u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
    return np.asarray(u @ vt)
