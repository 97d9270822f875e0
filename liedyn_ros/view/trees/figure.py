# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The bodies of a tree in the scene: what their description shows, or boxes of their inertia."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from viser import SceneApi

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, spelled
from liedyn_ros.common.meshes import surfaces
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import Body, Model, Visual
from liedyn_ros.view.shapes import place, rgb, solid_box
from liedyn_ros.view.trees.urdf_shapes import DEFAULT_COLOR, Shape

BLUES = ((0.45, 0.6, 0.8), (0.7, 0.78, 0.88))  # bodies without visuals, by turns
MAX_BOX_RATIO = 3.0  # of a box of inertia, over what is known of the lengths of its body

Shapes = Mapping[str, Sequence[Shape]]


class TreeFigure:
    """
    The bodies of a tree: their shapes, or boxes with their inertia; a ghost is half clear.

    faults are sentences on shapes that cannot be shown.
    """

    def __init__(self, scene: SceneApi, name: str, model: Model, shapes: Shapes,
                 opacity: float | None = None) -> None:
        """Make the figure below a name of the scene; shapes of links, of a URDF's visuals."""
        self.dynamics, self._scene, self._opacity = Dynamics(model), scene, opacity
        name = _node(name)
        self.root = scene.add_frame(f'/{name}', show_axes=False)
        self.faults: list[str] = []
        self._bodies = [scene.add_frame(f'/{name}/{_node(body.name)}', show_axes=False)
                        for body in model.body_list]
        for k, body in enumerate(model.body_list):
            if not self._add_shapes(f'/{name}/{_node(body.name)}',
                                    [*body.visuals, *shapes.get(body.name, ())]):
                self._add_box(f'/{name}/{_node(body.name)}', body, rgb(BLUES[k % 2]),
                              longest=MAX_BOX_RATIO * _length(model, body))
        for rotor in model.rotors:
            self._add_shapes(f'/{name}/{_node(rotor.body)}/{_node(rotor.name)}', rotor.visuals,
                             rotor.placement)
        self.poses: Array = np.zeros((0, 4, 4))

    def move(self, q: Array) -> None:
        """Show a configuration (nq,)."""
        self.poses = self.dynamics.kinematics(q).poses
        for body, pose in zip(self._bodies, self.poses):
            place(body, pose)

    def _add_shapes(self, name: str, shapes: Sequence[Shape],
                    frame: Array | None = None) -> int:
        """Add shapes below a name, by the pose of their frame in the body; return how many."""
        frame = np.eye(4) if frame is None else frame
        count = 0
        for k, shape in enumerate(shapes):
            try:
                self._add(f'{name}/{k + 1}', shape, frame @ shape.placement)
                count += 1
            except (LiedynError, OSError) as error:
                self.faults.append(str(error))
        return count

    def _add(self, name: str, shape: Shape, pose: Array) -> None:
        if isinstance(shape, Visual):
            place(_plain(self._scene, name, shape, self._clear(shape.color)), pose)
            return
        for k, surface in enumerate(surfaces(shape.file)):
            color = next(each for each in (shape.color, surface.color, DEFAULT_COLOR)
                         if each is not None)
            handle = self._scene.add_mesh_simple(
                f'{name}/{k + 1}', surface.corners * shape.scale, surface.faces,
                color=rgb(color), opacity=self._clear(color), side='double')
            place(handle, pose)

    def _clear(self, color: Sequence[float] | Array) -> float | None:
        if self._opacity is not None or color[3] >= 1.0:
            return self._opacity
        return float(color[3])

    def _add_box(self, name: str, body: Body, color: tuple[int, int, int],
                 longest: float) -> None:
        """Add the box of a body's inertia, none where it has no mass; smaller if it is long."""
        inertia = body.inertia
        if inertia is None or inertia.mass <= 0.0:
            return
        sizes, axes = solid_box(inertia.mass, inertia.inertia_about_com)
        if 0.0 < longest < sizes.max():  # made-up moments: more than the body can have
            sizes *= longest / sizes.max()
        least = max(0.05 * float(sizes.max()), 1e-3)
        x, y, z = np.maximum(sizes, least).tolist()
        box = self._scene.add_box(f'{name}/inertia', color, (x, y, z), opacity=self._opacity)
        place(box, se3.from_rotation_translation(axes, inertia.center_of_mass))


def _node(name: str) -> str:
    """Return a name as one of the scene, where a slash stands between parents and children."""
    return spelled(name).replace('/', '\N{DIVISION SLASH}')


def _length(model: Model, body: Body) -> float:
    """Return how far joints and centre of mass are from the origin of a body, m."""
    joints = [np.linalg.norm(joint.placement[:3, 3]) for joint in model.joint_list
              if body.name in (joint.parent, joint.child)]
    center = 0.0 if body.inertia is None else np.linalg.norm(body.inertia.center_of_mass)
    return float(max([center, *joints]))


def _plain(scene: SceneApi, name: str, visual: Visual, opacity: float | None) -> Any:
    color, size = rgb(visual.color), visual.size.tolist()
    if visual.shape == 'box':
        return scene.add_box(name, color, tuple(size), opacity=opacity)
    if visual.shape == 'cylinder':
        return scene.add_cylinder(name, size[0], size[1], color, opacity=opacity)
    return scene.add_icosphere(name, size[0], color, opacity=opacity)
