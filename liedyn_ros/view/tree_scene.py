# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A tree or a machine with loops in the scene: bodies, joints, efforts, centre of mass, path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from viser import SceneApi

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics, FloatingBase
from liedyn_ros.lie import se3
from liedyn_ros.model import Body, Joint, JOINT_TYPES, Model, Visual
from liedyn_ros.nodes.view.seen import Seen
from liedyn_ros.view.platform_scene import Path
from liedyn_ros.view.shapes import place, rgb, solid_box

BLUES = ((0.45, 0.6, 0.8), (0.7, 0.78, 0.88))  # bodies without visuals, by turns
EFFORT, CENTER = (230, 120, 20), (220, 30, 30)
LONGEST = 0.4  # of the machine's size: the arrow of the largest effort so far


class TreeFigure:
    """The bodies of a tree: their visuals, or boxes with their inertia; a ghost is half clear."""

    def __init__(self, scene: SceneApi, name: str, model: Model,
                 opacity: float | None = None) -> None:
        """Make the figure below a name of the scene."""
        self.dynamics = Dynamics(model)
        self.root = scene.add_frame(f'/{name}', show_axes=False)
        self._bodies = [scene.add_frame(f'/{name}/{body.name}', show_axes=False)
                        for body in model.body_list]
        for k, body in enumerate(model.body_list):
            _add_body(scene, f'/{name}/{body.name}', body, rgb(BLUES[k % 2]), opacity)
        for rotor in model.rotors:
            for k, visual in enumerate(rotor.visuals):
                _add_visual(scene, f'/{name}/{rotor.body}/{rotor.name}/{k + 1}', visual,
                            rotor.placement, opacity)
        self.poses: Array = np.zeros((0, 4, 4))

    def move(self, q: Array) -> None:
        """Show a configuration (nq,)."""
        self.poses = self.dynamics.kinematics(q).poses
        for body, pose in zip(self._bodies, self.poses):
            place(body, pose)


class TreeScene:
    """A tree as it is heard."""

    def __init__(self, scene: SceneApi, model: Model, path_time: float) -> None:
        """Make the scene; until a state comes the machine is at its neutral configuration."""
        self.figure = TreeFigure(scene, model.name, model)
        self._model, self.q = model, model.neutral()
        self._single = [each for each in model.joint_list if JOINT_TYPES[each.type_name].nv == 1]
        floats = any(joint.type_name == 'free' for joint in model.joint_list[:1])
        self._base = FloatingBase(model) if floats else None
        self._scene, self._path = scene, Path(scene, path_time)
        self.figure.move(self.q)
        self.size = size_of(self.figure.poses)
        self._center = scene.add_icosphere(
            '/Centre of mass', 0.02 * self.size, CENTER, visible=model.mass > 0.0)
        self._efforts: Any = None
        self._largest = 1e-9
        self._place_center()

    def show(self, seen: Seen, now: float) -> None:
        """Show what was heard at a time, s; joints that nobody names stay where they are."""
        for joint in self._single:
            self.q[joint.qi] = seen.positions.get(joint.name, self.q[joint.qi])
        if self._base is not None and seen.pose is not None:
            self.q[:7] = self._base.coordinates(seen.pose)
            self._path.add(now, seen.pose[:3, 3])
        self.figure.move(self.q)
        self._place_center()
        if seen.efforts:
            self._show_efforts(seen.efforts)

    @property
    def middle(self) -> Array:
        """Return the mean (3,) of the origins of the bodies, m."""
        middle: Array = self.figure.poses[:, :3, 3].mean(axis=0)
        return middle

    def _place_center(self) -> None:
        if self._model.mass > 0.0 and self._model.nv:
            self._center.position = self.figure.dynamics.center_of_mass(self.q)

    def _show_efforts(self, efforts: Mapping[str, float]) -> None:
        """Draw each joint's effort as an arrow along its axis, by the largest so far."""
        arrows = self.arrows(efforts)
        if not len(arrows):  # all are of other machines
            return
        if self._efforts is None:
            self._efforts = self._scene.add_arrows(
                '/Joint efforts', arrows, EFFORT, shaft_radius=0.01 * self.size,
                head_radius=0.025 * self.size, head_length=0.04 * self.size)
        else:
            self._efforts.points = arrows

    def arrows(self, efforts: Mapping[str, float]) -> Array:
        """Return begin and end, (n, 2, 3), m, of the arrow of each joint's effort, N m or N."""
        joints = [joint for joint in self._single if joint.name in efforts]
        self._largest = max([self._largest, *(abs(efforts[each.name]) for each in joints)])
        scale = LONGEST * self.size / self._largest
        return np.array([self._arrow(joint, scale * efforts[joint.name]) for joint in joints])

    def _arrow(self, joint: Joint, length: float) -> Array:
        pose = self.figure.poses[self._model.body_index(joint.child)]
        return np.stack((pose[:3, 3], pose[:3, 3] + length * pose[:3, :3] @ joint.axis))


def size_of(poses: Array) -> float:
    """Return the longest extent of the origins of bodies (n, 4, 4), m, 0.1 m at least."""
    if not len(poses):
        return 0.1
    return max(0.1, float(np.ptp(poses[:, :3, 3], axis=0).max()))


def _add_body(scene: SceneApi, name: str, body: Body, color: tuple[int, int, int],
              opacity: float | None) -> None:
    for k, visual in enumerate(body.visuals):
        _add_visual(scene, f'{name}/{k + 1}', visual, np.eye(4), opacity)
    inertia = body.inertia
    if body.visuals or inertia is None or inertia.mass <= 0.0:
        return
    sizes, axes = solid_box(inertia.mass, inertia.inertia_about_com)
    least = max(0.05 * float(sizes.max()), 1e-3)
    x, y, z = np.maximum(sizes, least).tolist()
    box = scene.add_box(f'{name}/inertia', color, (x, y, z), opacity=opacity)
    place(box, se3.from_rotation_translation(axes, inertia.center_of_mass))


def _add_visual(scene: SceneApi, name: str, visual: Visual, pose_body_frame: Array,
                opacity: float | None) -> None:
    color, clear = rgb(visual.color), opacity
    if clear is None and visual.color[3] < 1.0:
        clear = float(visual.color[3])
    size = visual.size.tolist()
    handle: Any
    if visual.shape == 'box':
        handle = scene.add_box(name, color, tuple(size), opacity=clear)
    elif visual.shape == 'cylinder':
        handle = scene.add_cylinder(name, size[0], size[1], color, opacity=clear)
    else:
        handle = scene.add_icosphere(name, size[0], color, opacity=clear)
    place(handle, pose_body_frame @ visual.placement)
