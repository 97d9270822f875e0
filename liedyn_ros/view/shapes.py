# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Shapes of a scene of viser: poses, colours, axes, cylinders, arrows, ellipsoids, boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from viser import SceneApi

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import so3
from liedyn_ros.stewart.platform.picture import along

PURPLE, PATH = (204, 51, 204), (30, 110, 220)  # of the covariance in RViz; of the path
# x, y, z; viser's blue is lost in the dark
AXIS_COLORS = ((220, 40, 40), (30, 150, 40), (60, 110, 245))
ARROW_SIZE = 0.4  # of a machine's size: the arrow of the largest vector so far


def rgb(color: Sequence[float] | Array) -> tuple[int, int, int]:
    """Return red, green, blue, 0 to 1, as whole numbers up to 255."""
    red, green, blue = (round(255.0 * float(part)) for part in color[:3])
    return red, green, blue


def wxyz(rotation: Array) -> Array:
    """Return the quaternion w, x, y, z of a rotation (3, 3)."""
    return np.roll(so3.to_quaternion(np.ascontiguousarray(rotation)), 1)


def place(handle: Any, pose: Array) -> None:
    """Put a node of the scene at a pose (4, 4), m."""
    handle.position, handle.wxyz = pose[:3, 3], wxyz(pose[:3, :3])


def add_axes(scene: SceneApi, name: str, length: float, radius: float) -> Any:
    """Add the axes of a frame, m, hidden; return what is placed and made visible."""
    root = scene.add_frame(f'/{name}', show_axes=False, visible=False)
    ends = np.stack((np.zeros((3, 3)), length * np.eye(3)), axis=1)
    for axis, color, center, turn, _ in zip('xyz', AXIS_COLORS, *along(ends, 1e-3 * radius)):
        scene.add_cylinder(f'/{name}/{axis}', radius, length, color, position=center,
                           wxyz=np.roll(turn, 1))
    return root


class Cylinders:
    """Cylinders between points."""

    def __init__(self, scene: SceneApi, name: str, count: int, radius: float,
                 color: tuple[int, int, int], opacity: float | None = None) -> None:
        """Make cylinders, numbered from 1 on; radius m."""
        self.handles = [
            scene.add_cylinder(f'{name}/{k + 1}', radius, 1.0, color, opacity=opacity)
            for k in range(count)]
        self._shortest = 1e-3 * radius

    def stretch(self, ends: Array) -> None:
        """Put the cylinders between their ends (n, 2, 3), m."""
        for handle, center, turn, height in zip(self.handles, *along(ends, self._shortest)):
            handle.position, handle.wxyz = center, np.roll(turn, 1)
            handle.scale = (1.0, 1.0, float(height))


class Arrows:
    """Arrows of one kind, the longest one the largest so far."""

    def __init__(self, scene: SceneApi, name: str, size: float,
                 color: tuple[int, int, int]) -> None:
        """Make none yet; size of what they stand on, m."""
        self._scene, self._name, self._size, self._color = scene, name, size, color
        self._handle: Any = None
        self._largest = 0.0

    def show(self, points: Array, vectors: Array) -> None:
        """Show arrows from points (n, 3), m, along vectors (n, 3), of any one unit."""
        self._largest = max([self._largest, *np.linalg.norm(vectors, axis=1)])
        if not len(points) or not self._largest:
            if self._handle is not None:
                self._handle.visible = False
            return
        ends = points + ARROW_SIZE * self._size / self._largest * vectors
        arrows = np.stack((points, ends), axis=1)
        if self._handle is None:
            self._handle = self._scene.add_arrows(
                self._name, arrows, self._color, shaft_radius=0.01 * self._size,
                head_radius=0.025 * self._size, head_length=0.04 * self._size)
        else:
            self._handle.points, self._handle.visible = arrows, True


def ellipsoid(handle: Any, center: Array, covariance: Array, sigmas: float) -> None:
    """Give a unit sphere the shape of a covariance (3, 3), m^2, about a centre (3,)."""
    values, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    x, y, z = (sigmas * np.sqrt(np.maximum(values, 0.0))).tolist()
    handle.position, handle.wxyz, handle.scale = center, wxyz(axes), (x, y, z)


def solid_box(mass: float, inertia: Array) -> tuple[Array, Array]:
    """
    Return the box of even density that has a mass, kg, and an inertia (3, 3) about its centre.

    Returns its sizes (3,), m, and axes (3, 3) as columns.
    """
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass  # I_x = m (y^2 + z^2) / 12
    return np.sqrt(np.maximum(squares, 0.0)), axes
