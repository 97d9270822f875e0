# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""SDF, the description format of Gazebo; masses are as given or, where it says auto, of shapes."""

from collections.abc import Iterator
from importlib.util import find_spec
import math
import os
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element as XML

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.meshes import surfaces
from liedyn_ros.common.packages import candidates
from liedyn_ros.common.xml_reader import Element, is_document, read
from liedyn_ros.lie import se3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.loops import add_plugins
from liedyn_ros.model.io.sdf.nesting import (
    is_true, MODEL, NamedFramePoses, Nesting, pose_of, text_of, upgraded, WORLD)
from liedyn_ros.model.io.sdf_writer import CLOSURES, TYPES
from liedyn_ros.model.io.xml_parts import (
    DRAKE, inertia_in, model_of_file, MOMENTS, plausible_limits, Remarks, shapes_of, Vocabulary)
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.geometry import IDENTITY
from liedyn_ros.model.parts.inertia import SpatialInertia
from liedyn_ros.model.plausibility import Shape
from liedyn_ros.model.replacement import inertia_of as inertia_of_parameters

_UNLIMITED = 1e16  # SDF writes such numbers for no limit
_GRAVITY: tuple[float, ...] = (0.0, 0.0, -9.8)  # of a world that does not say it
_NO_PITCH = 1.0  # m a turn, by default
_AWAY = 1e-6  # m, from which on a frame is elsewhere
_AXES = 'axis', 'axis2'
_BOUNDS = {'lower': -np.inf, 'upper': np.inf, 'velocity': np.inf, 'effort': np.inf}
NEWEST = 1, 12  # version of the format
WORDS = Vocabulary('sdf')


def load_sdf(source: str | os.PathLike[str], *, floating: bool | None = None,
             strict: bool = False, gravity: ArrayLike | None = None,
             sdf_model: str | None = None) -> Model:
    """
    Return the model that an SDF file, or a text that starts with '<', describes.

    Of several, in a world, sdf_model names one; by default it is the only one that is not static.
    Models in it belong to it, with links named `arm::link`. Links that no joint holds float unless
    the model is static; floating says so for the first. A joint whose frame is not that of its
    child moves a massless body link/joint. Where joints hold a link twice the later one becomes a
    closure, as plugins that close loops do, mimic joints and gearboxes couplings. gravity (3,) is
    that of the world by default. Whatever else would change the dynamics has a DescriptionWarning,
    and so have mass properties that no rigid body has, which strict refuses.

    Raises DescriptionError naming the file, the element, the expected and the given value.
    """
    root = read(source, 'SDF')
    reader = _Reader(root, None if is_document(source) else Path(source).parent, strict)
    return model_of_file(root.path.removesuffix(f': {root.value.tag}'),
                         lambda: reader.model(floating, gravity, sdf_model), reader.shapes)


class _Reader:
    """Reads the one model of a document."""

    def __init__(self, root: Element, folder: Path | None, strict: bool) -> None:
        if root.value.tag not in ('sdf', 'gazebo'):  # gazebo to version 1.2
            root.fail('a root element sdf', root.value.tag)
        self._root, self._folder, self._strict = root, folder, strict
        self._remarks, self._links = Remarks(), dict[str, Element]()
        self._bodies: dict[str, str] = {}  # the joint that holds each

    def shapes(self, body: str) -> Iterator[Shape]:
        """Yield the shapes of a link."""
        return shapes_of(self._links[body], self._folder, lambda each: pose_of(each)[1])

    def model(self, floating: bool | None, gravity: ArrayLike | None, name: str | None) -> Model:
        world = upgraded(self._root).optional('world')
        nesting, given, unread = Nesting(self._folder), _GRAVITY, list[str]()
        holder, version = self._root if world is None else world, self._root.version('1.6')
        if version > NEWEST:
            unread.append(f'SDF {self._root.value.get("version")}: read as {NEWEST[0]}.'
                          f'{NEWEST[1]}, the newest known here')
        self._model, self._floating = nesting.one(holder, name), floating
        frames, name = NamedFramePoses(holder, IDENTITY), self._model.text('name')
        if world is not None:
            given = world.numbers('gravity', 3, _GRAVITY)
            beside = XML('world', world.value.attrib)
            beside.extend(each for each in world.value
                          if each.tag not in ('model', 'include', 'physics'))
            unread += WORDS.unread(beside)
        self._builder = ModelBuilder(name, given if gravity is None else gravity)
        at, placed = frames.at(self._model), self._model.value.get('placement_frame')
        if placed:  # the pose is of this frame, not of the model
            at = at @ se3.inverse(NamedFramePoses(self._model, IDENTITY)[placed])
        self._frames = NamedFramePoses(self._model, at)
        self._links.update((link.text('name'), link) for link in self._model.each('link'))
        if not self._links:
            self._model.fail('at least one element link', 'none')
        for link in self._links.values():
            self._builder.add_body(link.text('name'), inertia_of(
                link, self._folder, self._strict, self._remarks))
        joints = [each for each in self._model.each('joint')
                  if each.value.get('type') != 'gearbox']
        if is_true(self._model, 'static'):
            self._remarks.add('joint', 'the model is static, so that Gazebo does not move them: '
                              'they move here', *(each.text('name') for each in joints
                                                  if each.value.get('type') != 'fixed'))
        followers = {joint.text('name') for joint in joints
                     for tag in _AXES if joint.value.find(f'{tag}/mimic') is not None}
        later = []
        for joint in joints:
            parent, child = (self._frames.link(text_of(joint, side), self._links)
                             for side in ('parent', 'child'))
            if child is None or parent == child:
                joint.fail('a child that is a link other than the parent',
                           repr(text_of(joint, 'child')))
            if child in self._bodies or self._holds(parent, child):
                later.append((joint, parent, child))
            else:
                self._bodies[child] = parent or ''
                self._add_joint(joint, parent, child, joint.text('name') not in followers)
        for joint, parent, child in later:
            self._add_closure(joint, parent, child)
        self._add_roots()
        self._add_couplings()
        add_plugins(self._model.each('plugin'), self._builder, list(self._links), name)
        self._builder.add_warning(
            *self._remarks, *nesting.remarks, *unread, *WORDS.unread(self._model.value))
        return self._builder.build()

    def _holds(self, link: str | None, other: str) -> bool:
        """Return whether a link is held, over others, by the other."""
        while link:
            if link == other:
                return True
            link = self._bodies.get(link)
        return False

    def _add_joint(self, joint: Element, parent: str | None, child: str, actuated: bool) -> None:
        """Add a joint, at its frame, and the link behind it where that is elsewhere."""
        name, kind = joint.text('name'), text_type(joint)
        at = self._frames[name]
        away = float(np.linalg.norm((self._frames[text_of(joint, 'parent')] - at)[:3, 3]))
        if away > _AWAY and text_of(joint, 'parent') not in (*self._links, WORLD):
            self._builder.add_warning(
                f'joint {name}: its parent, the frame {text_of(joint, "parent")}, is {away:.6g} m '
                'from it where the links are drawn; SDF places a joint by its child alone')
        held = se3.compose(se3.inverse(at), self._frames[child])
        beside = not np.allclose(held, IDENTITY, atol=1e-12) and kind != 'fixed'
        base = IDENTITY if parent is None else self._frames[parent]
        placement = se3.compose(se3.inverse(base), self._frames[child] if kind == 'fixed' else at)
        body = f'{child}/{name}' if beside else child
        if beside:
            self._builder.add_body(body, None)
            self._builder.add_joint(f'{name}/link', 'fixed', body, child, placement=held)
        with joint.context():
            self._builder.add_joint(
                name, TYPES[kind], parent, body, placement=placement, actuated=actuated,
                pitch=self._pitch(joint) if kind == 'screw' else 0.0,
                **self._axes(joint, kind), **self._forces(joint, kind), **_armature(joint, kind))

    def _forces(self, joint: Element, kind: str) -> dict[str, Any]:
        """Return the limits, friction, damping and spring of a joint, one each for each axis."""
        name, values, limits = joint.text('name'), dict[str, list[float]](), []
        for tag in _tags(kind):
            axis = joint.take(tag)
            limit, dynamics = axis.optional('limit'), axis.optional('dynamics')
            bounds = {} if limit is None else {
                key: value for key in _BOUNDS
                if abs(value := limit.number(key, np.inf, infinite=True)) < _UNLIMITED and not (
                    key in ('velocity', 'effort') and value < 0.0)}
            if kind == 'continuous':
                bounds = {key: bounds[key] for key in ('velocity', 'effort') if key in bounds}
            limits += [_BOUNDS | plausible_limits(name, kind, bounds, self._remarks)]
            for key, own in (('damping', 'damping'), ('friction', 'friction'),
                             ('stiffness', 'spring_stiffness'), ('rest', 'spring_reference')):
                values.setdefault(key, []).append(
                    0.0 if dynamics is None else dynamics.number(own, 0.0))
        return {**values, 'limits': {
            key: [each[key] for each in limits] for key in _BOUNDS
            if kind != 'continuous' or key in ('velocity', 'effort')} if limits else {}}

    def _axes(self, joint: Element, kind: str) -> dict[str, Any]:
        """Return the axes of a joint, in its frame, by the names of the builder."""
        turn, tags = self._frames[joint.text('name')][:3, :3].T, _tags(kind)
        return {name: turn @ self._direction(joint, tag)
                for tag, name in zip(tags, ('axis', 'second_axis'))}

    def _pitch(self, joint: Element) -> float:
        """Return the travel of a screw, m/rad: screw_thread_pitch is m a turn."""
        old = joint.number('thread_pitch', 0.0)  # rad/m, in the other sense
        if old and 'screw_thread_pitch' not in joint.value.attrib:
            return -1.0 / old
        return joint.number('screw_thread_pitch', _NO_PITCH) / (2.0 * np.pi)

    def _add_closure(self, joint: Element, parent: str | None, child: str) -> None:
        """Add a joint that holds a link for the second time."""
        name, kind = joint.text('name'), text_type(joint)
        at, sides = self._frames[name], (parent, child)
        placements = [at if link is None else se3.compose(se3.inverse(self._frames[link]), at)
                      for link in sides]
        with joint.context():
            self._builder.add_closure(
                name, CLOSURES.get(kind, TYPES[kind]), *sides, placement_a=placements[0],
                placement_b=placements[1], pitch=self._pitch(joint) if kind == 'screw' else 0.0,
                **self._axes(joint, kind))
        lost = [tag for tag in ('dynamics', 'limit')
                if joint.value.find(f'axis/{tag}') is not None]
        self._builder.add_warning(
            f'joint {name}: {child} is held twice, so this joint is a closure'
            f'{f"; its {listed(lost)} are not read" if lost else ""}')

    def _add_roots(self) -> None:
        """Hold the links that no joint holds, or let them float."""
        free = not is_true(self._model, 'static')
        for i, name in enumerate(each for each in self._links if each not in self._bodies):
            floats = free if self._floating is None or i else self._floating
            self._builder.add_joint(
                f'{name}/root_joint' if i else 'root_joint', 'free' if floats else 'fixed', None,
                name, placement=self._frames[name])

    def _add_couplings(self) -> None:
        """Add mimic axes and gearboxes."""
        kinds = {joint.text('name'): joint.text('type') for joint in self._model.each('joint')}

        def coordinate(name: str, axis: str) -> str:
            return f'{name}/{"second" if axis == "axis2" else "first"}' if TYPES.get(
                kinds.get(name, '')) == 'universal' else name

        for joint in self._model.each('joint'):
            if joint.value.get('type') == 'gearbox':
                self._add_gearbox(joint)
            for tag in _AXES:
                axis = joint.optional(tag)
                mimic = None if axis is None else axis.optional('mimic')
                if mimic is None:
                    continue
                multiplier = mimic.number('multiplier', 1.0)
                offset = mimic.number('offset', 0.0) - multiplier * mimic.number(
                    'reference', 0.0)
                with mimic.context():
                    self._builder.add_coupling(
                        coordinate(joint.text('name'), tag),
                        coordinate(mimic.text('joint'), mimic.value.get('axis', 'axis')),
                        multiplier, offset)

    def _add_gearbox(self, gearbox: Element) -> None:
        """
        Couple the joints of parent and child on the reference body: child = -ratio * parent.

        Angles are about axis and axis2 of the gearbox.
        """
        name, reference = gearbox.text('name'), text_of(gearbox, 'gearbox_reference_body', '')
        ratio, turns = gearbox.number('gearbox_ratio', 1.0), list[tuple[str, float]]()
        both = gearbox.value.find('axis2') is not None
        for side, tag in (('parent', 'axis'), ('child', 'axis2' if both else 'axis')):
            along = self._direction(gearbox, tag)
            for joint in self._model.each('joint'):
                ends = [text_of(joint, end) for end in ('parent', 'child')]
                if joint.value.get('type') in ('revolute', 'continuous') and sorted(
                        ends) == sorted((reference, text_of(gearbox, side))):
                    sign = along @ self._direction(joint, 'axis')
                    turns.append((joint.text('name'), float(np.sign(sign)) * (
                        1.0 if ends[0] == reference else -1.0)))
                    break
        if len(turns) != 2 or not all(sign for _, sign in turns):
            self._builder.add_warning(
                f'joint {name}: gearbox without a revolute joint of each of its links on '
                f'{reference or "a reference body"}, along its axes: not read: add a coupling by '
                'annotate')
            return
        (leader, first), (follower, second) = turns
        with gearbox.context():
            self._builder.add_coupling(follower, leader, -ratio * first * second, 0.0)

    def _direction(self, joint: Element, tag: str) -> Array:
        """Return an axis of a joint in the ground, as drawn."""
        axis = joint.take(tag)
        xyz = axis.value.find('xyz')
        frame = '' if xyz is None else xyz.get('expressed_in', '').strip()
        if is_true(axis, 'use_parent_model_frame'):
            frame = MODEL
        along = axis.numbers('xyz', 3, (0.0, 0.0, 1.0))
        return self._frames[frame or joint.text('name')][:3, :3] @ np.array(along)


def text_type(joint: Element) -> str:
    """Return the type of a joint, one of TYPES."""
    kind = joint.text('type')
    if kind not in TYPES:
        joint.fail(f'a type of {listed(list(TYPES))}', repr(kind))
    return kind


def _tags(kind: str) -> tuple[str, ...]:
    return () if kind in ('fixed', 'ball') else _AXES if TYPES[kind] == 'universal' else _AXES[:1]


def _armature(joint: Element, kind: str) -> dict[str, Any]:
    """Return the inertia of a rotor behind its gear, as Drake has them in SDF."""
    if f'{DRAKE}rotor_inertia' not in joint.value.attrib or TYPES[kind] not in (
            'revolute', 'continuous', 'prismatic'):
        return {}
    gear = joint.number(f'{DRAKE}gear_ratio', 1.0)
    return {'armature': joint.number(f'{DRAKE}rotor_inertia') * gear**2}


DENSITY = 1000.0  # kg/m^3, by default
_MESHES = '.stl', '.obj', '.ply', '.glb', '.gltf', '.off'


def inertia_of(link: Element, folder: Path | None, strict: bool, remarks: Remarks
               ) -> SpatialInertia:
    """
    Return the inertia of a link; what a file does not say is 1 kg and 1 kg m^2, as in Gazebo.

    folder is that of the file, for meshes whose masses are computed.
    """
    inertial, name = link.optional('inertial'), link.text('name')
    if inertial is None:
        remarks.add('link', 'without an inertial, so of 1 kg and 1 kg m^2 as in Gazebo', name)
        return SpatialInertia(1.0, [0.0, 0.0, 0.0], np.eye(3))
    if is_true(inertial, 'auto'):
        return _computed(link, inertial, folder)
    inertia = inertial.optional('inertia')
    moments = [float(key[1] == key[2]) if inertia is None else inertia.number(
        key, float(key[1] == key[2])) for key in MOMENTS]
    relative, at = pose_of(inertial)
    if relative not in ('', name):
        inertial.fail(f'a pose in the frame of its link, {name}', repr(relative))
    return inertia_in(inertial, name, inertial.number('mass', 1.0), moments, at, strict, remarks)


def _computed(link: Element, inertial: Element, folder: Path | None) -> SpatialInertia:
    """
    Return the inertia of the solids of a link's collisions, each by its density.

    Where the inertial says a mass, all is scaled to it. Raises DescriptionError for a link without
    collisions with a volume, for shapes that are no solid, and for meshes that cannot be read.
    """
    total, density = np.zeros(10), inertial.number('density', DENSITY)
    for collision in link.each('collision'):
        relative, placement = pose_of(collision)
        if relative not in ('', link.text('name')):
            collision.fail('a pose in the frame of its link, for an inertial that is auto',
                           repr(relative))
        total += collision.number('density', density) * _solid(
            collision.take('geometry'), folder).parameters(placement)
    if not total[0] > 0.0:
        link.fail('collisions with a volume, for an inertial that is auto', 'none')
    return inertia_of_parameters(inertial.number('mass', float(total[0])) / total[0] * total)


def _solid(geometry: Element, folder: Path | None) -> SpatialInertia:
    """Return the inertia of a shape of 1 kg/m^3."""
    shape = next((Element(xml, f'/{xml.tag}', geometry) for xml in geometry.value), geometry)
    kind, center = shape.value.tag, (0.0, 0.0, 0.0)
    if kind == 'mesh':
        return _mesh(shape, folder)
    radius, length = (shape.number(tag, 1.0) for tag in ('radius', 'length'))
    around, across = np.array((0.25, 0.25, 0.5)) * radius**2, np.array((1.0, 1.0, 0.0))
    about: Array = around + across * length**2 / 12.0
    volume = math.pi * radius**2 * length
    if kind in ('box', 'ellipsoid', 'sphere'):
        size = np.array(3 * [radius] if kind == 'sphere' else shape.numbers(
            'size' if kind == 'box' else 'radii', 3, (1.0, 1.0, 1.0)))
        square = np.square(size) / (12.0 if kind == 'box' else 5.0)
        volume = float(np.prod(size)) * (1.0 if kind == 'box' else 4.0 * math.pi / 3.0)
        about = square.sum() - square
    elif kind == 'cone':  # its centre is at a quarter of the height
        volume, center = volume / 3.0, (0.0, 0.0, -0.25 * length)
        about = 0.6 * around + across * 0.0375 * length**2
    elif kind == 'capsule':  # both halves of a ball, 3/8 of the radius beyond the ends
        ball = 4.0 * math.pi / 3.0 * radius**3
        ends = 0.4 * radius**2 + across * (0.25 * length**2 + 0.375 * radius * length)
        volume, about = volume + ball, (volume * about + ball * ends) / (volume + ball)
    elif kind != 'cylinder':
        geometry.fail('a solid, for an inertial that is auto', repr(kind))
    return SpatialInertia(volume, center, volume * np.diag(about), physical=False)


def _mesh(mesh: Element, folder: Path | None) -> SpatialInertia:
    """Return the inertia of a closed surface with 1 kg/m^3 in it, as trimesh has it."""
    if find_spec('trimesh') is None:
        mesh.fail(f'the package trimesh, as masses come from meshes: {remedy_of("meshes")}',
                  'none')
    import trimesh

    uri = text_of(mesh, 'uri')
    path = next((each for each in candidates(uri, folder) if each.is_file()), None)
    if path is None or path.suffix.lower() not in _MESHES:
        mesh.fail(f'a file of {" ".join(_MESHES)} beside the file or in a known package',
                  repr(uri))
    with mesh.context():
        corners = np.concatenate([each.corners[each.faces] for each in surfaces(path)])
    corners = corners * np.array(mesh.numbers('scale', 3, (1.0, 1.0, 1.0)))
    whole = trimesh.Trimesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    volume, center, moments = whole.volume, whole.center_mass, whole.moment_inertia
    if not volume > 0.0 or not np.isfinite(moments).all():
        mesh.fail('a mesh with a volume, its faces outwards', f'{volume:.6g} m^3')
    return SpatialInertia(float(volume), center, moments, physical=False)
