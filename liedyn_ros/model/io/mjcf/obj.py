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


def first_object(content: bytes) -> tuple[Array, Array]:
    """
    Return the corners (n, 3) of a file, and the triangles (k, 3) of the first object with faces.

    MuJoCo reads no further object or group. A quadrilateral is cut along its shorter diagonal.
    Larger faces are fans here; where they are not flat, MuJoCo may cut them otherwise. Raises
    ValueError or IndexError for what is no such file.
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


def _cut(points: Array, face: list[int]) -> list[tuple[int, int, int]]:
    """Return the triangles of a face."""
    if len(face) == 4:
        a, b, c, d = face
        if not np.sum((points[c] - points[a])**2) < np.sum((points[d] - points[b])**2):
            return [(a, b, d), (b, c, d)]
    return [(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1)]
