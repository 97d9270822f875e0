# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A tree or a machine with loops in the scene: bodies as described, joints, forces, path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from viser import SceneApi

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, spelled
from liedyn_ros.common.meshes import read_ahead, surfaces
from liedyn_ros.dynamics import Dynamics, FloatingBase
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import Body, Closure, Joint, JOINT_TYPES, Model, Rotor, Visual
from liedyn_ros.model.followers import Followers
from liedyn_ros.model.kernels import kinds
from liedyn_ros.view.platforms.scene import PathLine
from liedyn_ros.view.shapes import Arrows, place, rgb, solid_box
from liedyn_ros.view.trees.urdf_shapes import DEFAULT_COLOR, Mesh, Shape, shapes_of
from liedyn_ros.view_state import Description, ViewInput

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


# Of efforts, by elementary link.
EFFORT_UNITS = [('N m',) * turns + ('N',) * (nv - turns)
                for turns, nv in zip(kinds.TURNS_OF_KIND, kinds.NV_OF_KIND)]
EFFORT_COLOR, CENTER, THRUST, LOOP = (230, 120, 20), (220, 30, 30), (40, 140, 220), (150, 60, 190)


class TreeScene:
    """
    A tree as it is heard.

    closures: whether the forces of its closures at rest are drawn. faults are sentences on shapes
    of its description that cannot be shown. units are those of efforts, of joints of one
    coordinate, by name.
    """

    def __init__(self, scene: SceneApi, model: Model, path_time: float,
                 description: Description | None = None) -> None:
        """Make the scene; until a state comes the machine is at its neutral configuration."""
        self.shapes, faults = shapes_of(description)
        read_ahead([each.file for shapes in self.shapes.values() for each in shapes
                    if isinstance(each, Mesh)])
        self.figure = TreeFigure(scene, model.name, model, self.shapes)
        self.faults = [*faults, *self.figure.faults]
        self._model, self.q = model, model.neutral()
        self._followers, self._heard = Followers(model), set[str]()
        self._single = [each for each in model.joint_list if JOINT_TYPES[each.type_name].nv == 1]
        units = units_of(model)
        self.units = {joint.name: units[joint.vi] for joint in self._single}
        self._names = {*self.units, *model.coordinate_names}
        floats = any(joint.type_name == 'free' for joint in model.joint_list[:1])
        self._base = FloatingBase(model) if floats else None
        self._path = PathLine(scene, path_time)
        self.figure.move(self.q)
        rotors = [self._pose(rotor.body) @ rotor.placement for rotor in model.rotors]
        self.size = size_of(np.array([*self.figure.poses, *rotors]))
        self._center = scene.add_icosphere(
            '/Centre of mass', 0.02 * self.size, CENTER, visible=model.mass > 0.0)
        self._efforts, self._thrusts, self._pulls = (
            Arrows(scene, name, self.size, color) for name, color in (
                ('/Joint efforts', EFFORT_COLOR), ('/Thrusts', THRUST), ('/Loop forces', LOOP)))
        self.looped: ConstrainedDynamics | None = None
        self._place_center()

    def show(self, seen: ViewInput, now: float) -> None:
        """Show the tree as heard at a time, s; joints never named follow leaders, or stay."""
        for joint in self._single:
            if joint.name in seen.positions:
                self.q[joint.qi] = seen.positions[joint.name]
                self._heard.add(joint.name)
        moved = self._followers.positions(self.q)
        for joint in self._single:
            if joint.name not in self._heard:
                self.q[joint.qi] = moved[joint.qi]
        if self._base is not None and seen.pose is not None:
            self.q[:7] = self._base.coordinates(seen.pose)
            self._path.add(now, seen.pose[:3, 3])
        self.figure.move(self.q)
        self._place_center()
        self._efforts.show(*self._efforts_of(seen.efforts))
        self._thrusts.show(*self._thrusts_of(seen.rotor_speeds))
        self._pulls.show(*self._pulls_of(self._model.closures))

    def own(self, seen: ViewInput) -> ViewInput:
        """Return the part of this machine: its joints' efforts; a fixed base has no position."""
        return replace(seen, pose=seen.pose if self.floats else None, efforts={
            name: value for name, value in seen.efforts.items() if name in self._names})

    @property
    def floats(self) -> bool:
        """Return whether it has a floating base, which goes where it wants."""
        return self._base is not None

    @property
    def middle(self) -> Array:
        """Return the mean (3,) of the origins of the bodies, m."""
        middle: Array = self.figure.poses[:, :3, 3].mean(axis=0)
        return middle

    def _place_center(self) -> None:
        if self._model.mass > 0.0 and self._model.nv:
            self._center.position = self.figure.dynamics.center_of_mass(self.q)

    def _efforts_of(self, efforts: Mapping[str, float]) -> tuple[Array, Array]:
        """Return where joints are and their efforts along their axes, N m or N, (n, 3) both."""
        joints: list[Joint] = [each for each in self._single if each.name in efforts]
        poses = [self._pose(joint.child) for joint in joints]
        return _arrays([(pose[:3, 3], efforts[joint.name] * pose[:3, :3] @ joint.axis)
                        for joint, pose in zip(joints, poses)])

    def _thrusts_of(self, speeds: Mapping[str, float]) -> tuple[Array, Array]:
        """Return where rotors are and their thrusts, N, (n, 3) both."""
        rotors: list[Rotor] = [each for each in self._model.rotors if each.name in speeds]
        poses = [self._pose(rotor.body) @ rotor.placement for rotor in rotors]
        return _arrays([
            (pose[:3, 3], rotor.force_coefficient * speeds[rotor.name] ** 2 * pose[:3, 2])
            for rotor, pose in zip(rotors, poses)])

    def _pulls_of(self, closures: Sequence[Closure]) -> tuple[Array, Array]:
        """Return where closures are and the forces on their bodies b at rest, N, (n, 3) both."""
        if self.looped is None:
            return _arrays([])
        rest = np.zeros(self._model.nv)
        try:
            wrenches = self.looped.inverse(self.q, rest, rest).wrenches
        except LiedynError:  # open loops, as between two states that are heard
            return _arrays([])
        poses = [self._pose(closure.body_b) @ closure.frame_b for closure in closures]
        return _arrays([(pose[:3, 3], pose[:3, :3] @ wrench[3:])
                        for pose, wrench in zip(poses, wrenches)])

    def _pose(self, body: str | None) -> Array:
        return np.eye(4) if body is None else self.figure.poses[self._model.body_index(body)]


def units_of(model: Model) -> list[str]:
    """Return the unit of the effort of each coordinate (nv)."""
    return [unit for joint in model.joint_list for link, _ in JOINT_TYPES[joint.type_name].links
            for unit in EFFORT_UNITS[link]]


def size_of(poses: Array) -> float:
    """Return the longest extent of the origins of bodies (n, 4, 4), m, 0.1 m at least."""
    if not len(poses):
        return 0.1
    return max(0.1, float(np.ptp(poses[:, :3, 3], axis=0).max()))


def _arrays(rows: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the points (n, 3) and the vectors (n, 3) of pairs."""
    both = np.reshape(np.array(rows), (-1, 2, 3))
    return both[:, 0], both[:, 1]
