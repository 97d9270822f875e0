# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A platform in the scene, in the colours and with the names that RViz shows."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from viser import SceneApi

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart import leg_lengths
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.picture import (
    GREY_COLOR, JOINT_WIDTH, LIGHT_COLOR, MIDDLE_COLOR, PlatformPicture, ROD_WIDTH, STEEL_COLOR,
    TUBE_WIDTH)
from liedyn_ros.view.shapes import add_axes, Cylinders, ellipsoid, PATH, place, PURPLE, rgb
from liedyn_ros.view_state import ViewInput

ELLIPSOID_SIGMAS, MAGNIFIED = 3.0, 100.0  # of the ellipsoid; RViz magnifies by the same
# Length and radius of axes over the characteristic length, for the paper's platform as in RViz
AXES_SIZES = {'Pose': (0.5, 0.025), 'Reference (controller)': (0.75, 0.01),
              'True pose (simulator)': (0.75, 0.015)}
COVARIANCE_SWITCH, PLATFORM_SWITCH = 'Covariance (with leg_noise)', 'Platform'
TINT = (70, 140, 235)  # of the plate of a ghost


class PlatformFigure:
    """Plates, joints and legs of one platform at a time; a ghost is tinted, of low opacity."""

    def __init__(self, scene: SceneApi, name: str, geometry: StewartGeometry, home: Array,
                 opacity: float | None = None) -> None:
        """Make the figure below a name of the scene; a ghost has an opacity, and no base."""
        self._picture = PlatformPicture(geometry, home)
        size = self._picture.size
        self.root = scene.add_frame(f'/{name}', show_axes=False)
        legs = len(geometry.leg_names)
        corners = [np.arange(len(each)).reshape(-1, 3)
                   for each in (self._picture.base, self._picture.platform)]
        if opacity is None:
            scene.add_mesh_simple(f'/{name}/base', self._picture.base, corners[0],
                                  color=rgb(GREY_COLOR), flat_shading=True)
        self._plate = scene.add_mesh_simple(
            f'/{name}/platform', self._picture.platform, corners[1],
            color=rgb(LIGHT_COLOR) if opacity is None else TINT, opacity=opacity,
            flat_shading=True)
        self._joints = [scene.add_icosphere(
            f'/{name}/joints/{k + 1}', 0.5 * JOINT_WIDTH * size, rgb(STEEL_COLOR), subdivisions=2,
            opacity=opacity) for k in range(2 * legs)]
        self._tubes = Cylinders(
            scene, f'/{name}/tubes', legs, 0.5 * TUBE_WIDTH * size, rgb(STEEL_COLOR), opacity)
        self._rods = Cylinders(
            scene, f'/{name}/rods', legs, 0.5 * ROD_WIDTH * size, rgb(MIDDLE_COLOR), opacity)
        self.move(home, leg_lengths(geometry, home))

    def move(self, pose: Array, lengths: Array) -> None:
        """Show a pose (4, 4), m, with drive coordinates (n,), m or rad."""
        shapes = self._picture.at(pose, lengths)
        place(self._plate, pose)
        for joint, position in zip(self._joints, shapes.joints):
            joint.position = position
        self._tubes.stretch(shapes.tubes)
        self._rods.stretch(shapes.rods)
        for rod, color in zip(self._rods.handles, shapes.colors):
            if rod.color != rgb(color):
                rod.color = rgb(color)

    def remove(self) -> None:
        """Take the platform out of the scene."""
        self.root.remove()


class PathLine:
    """Where something went in the last seconds."""

    def __init__(self, scene: SceneApi, seconds: float) -> None:
        """Make the path, empty."""
        self._scene, self._seconds = scene, seconds
        self._points: deque[tuple[float, Array]] = deque()
        self._line: Any = None

    def add(self, now: float, point: Array) -> None:
        """Go on to a point (3,), m, at a time, s."""
        self._points.append((now, np.array(point)))
        while self._points[0][0] < now - self._seconds:
            self._points.popleft()
        if len(self._points) < 2 or len(self._points) % 3:  # a third of the pictures is enough
            return
        points = np.array([point for _, point in self._points])
        segments = np.stack((points[:-1], points[1:]), axis=1)
        if self._line is None:
            self._line = self._scene.add_line_segments(
                '/Path', segments, PATH, thickness=2.0, thickness_units='screen')
        else:
            self._line.points = segments


class PlatformScene:
    """The platform as it is heard: figure, frames, ellipsoid of the position, path."""

    def __init__(self, scene: SceneApi, geometry: StewartGeometry, home: Array,
                 path_time: float) -> None:
        """Make the scene; until a pose comes the platform stands at home (4, 4), m."""
        self._geometry = geometry
        self.figure = PlatformFigure(scene, PLATFORM_SWITCH, geometry, home)
        size = geometry.characteristic_length
        self._frames = {name: add_axes(scene, name, length * size, radius * size)
                        for name, (length, radius) in AXES_SIZES.items()}
        self._ellipsoid = scene.add_icosphere(
            f'/{COVARIANCE_SWITCH}', 1.0, PURPLE, opacity=0.3, visible=False)
        self._path = PathLine(scene, path_time)

    def show(self, seen: ViewInput, now: float) -> None:
        """Show the platform as heard at a time, s."""
        for name, pose in zip(AXES_SIZES, (seen.pose, seen.reference, seen.true_pose)):
            if pose is not None:
                place(self._frames[name], pose)
                self._frames[name].visible = True
        if seen.pose is None:
            return
        self.figure.move(seen.pose, leg_lengths(self._geometry, seen.pose) if seen.solved is None
                         else seen.solved.lengths)
        self._path.add(now, seen.pose[:3, 3])
        if seen.covariance is not None:
            ellipsoid(self._ellipsoid, seen.pose[:3, 3], seen.covariance,
                      ELLIPSOID_SIGMAS * MAGNIFIED)
            self._ellipsoid.visible = True
