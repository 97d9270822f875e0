# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Meshes in files .obj, cut into triangles as MuJoCo cuts them."""

from __future__ import annotations

import numpy as np

from liedyn_ros.common.checks import Array

_LARGEST = 100  # corners of a face from which ears are clipped


def first_object(content: bytes) -> tuple[Array, Array]:
    """
    Return the corners (n, 3) of a file, and the triangles (k, 3) of the first object with faces.

    MuJoCo reads no further object or group. A quadrilateral is cut along its shorter diagonal.
    From larger faces its reader, tinyobjloader, clips ears, of which it may lose some. Those of
    more than 100 corners are fans here. Raises ValueError or IndexError for what is no such file.
    """
    corners: list[list[float]] = []
    faces: list[list[int]] = []
    further = False
    for line in content.decode(errors='replace').replace('\\\n', ' ').splitlines():
        key, *words = line.split() or ('',)
        if key == 'v':
            corners.append([float(word) for word in words[:3]])
        elif key in ('o', 'g'):
            further = bool(faces)
        elif key == 'f' and not further:
            numbers = [int(word.partition('/')[0]) for word in words]
            faces.append([number - 1 if number > 0 else len(corners) + number
                          for number in numbers])
    points = np.array(corners, dtype=float).reshape(-1, 3)
    return points, np.array([triangle for face in faces for triangle in _cut(points, face)],
                            dtype=int).reshape(-1, 3)


def _cut(points: Array, face: list[int]) -> list[tuple[int, ...]]:
    """Return the triangles of a face."""
    if len(face) == 4:
        a, b, c, d = face
        if not np.sum((points[c] - points[a])**2) < np.sum((points[d] - points[b])**2):
            return [(a, b, d), (b, c, d)]
    if 4 < len(face) <= _LARGEST:
        return _ears(points[face].astype(np.float32), face)
    return [(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1)]


def _ears(corners: Array, face: list[int]) -> list[tuple[int, ...]]:
    """Return ears clipped in single precision, in the plane of two axes, from the first on."""
    flat, left = corners[:, _plane(corners)], list(range(len(face)))
    triangles: list[tuple[int, ...]] = []
    at, tries = 0, len(face)
    while len(left) > 3 and tries > 0:
        at, tries = at % len(left), tries - 1
        ear = [left[(at + k) % len(left)] for k in range(3)]
        (ax, ay), (bx, by), (cx, cy) = flat[ear]
        turn = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
        others = [left[(at + k) % len(left)] for k in range(3, len(left))]
        if turn * (ax * by - ay * bx) < 0.0 or _inside(flat[ear], flat[others]).any():
            at += 1
            continue
        triangles.append(tuple(face[k] for k in ear))
        del left[(at + 1) % len(left)]
        tries = len(left) + 1 if tries > 0 else 0  # an ear at the last try ends the cutting
    return triangles + ([tuple(face[k] for k in left)] if len(left) == 3 else [])


def _plane(corners: Array) -> list[int]:
    """Return the two axes in whose plane the first corner that is none of a line looks largest."""
    edges = np.roll(corners, -1, axis=0) - corners
    for area in abs(np.cross(edges, np.roll(edges, -1, axis=0))):
        if (area > np.finfo(np.float32).eps).any():
            if area[0] > area[1] and area[0] > area[2]:
                return [1, 2]
            return [0, 1] if area[2] > area[0] and area[2] > area[1] else [0, 2]
    return [1, 2]


def _inside(triangle: Array, points: Array) -> Array:
    """Return which points (n, 2) are in a triangle (3, 2), by the crossings of a ray."""
    odd = np.zeros(len(points), dtype=bool)
    x, y = points.T
    for (xi, yi), (xj, yj) in zip(triangle, np.roll(triangle, 1, axis=0)):
        if yi != yj:
            odd ^= ((yi > y) != (yj > y)) & (x < (xj - xi) * (y - yi) / (yj - yi) + xi)
    return odd
