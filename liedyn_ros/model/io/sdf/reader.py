# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""SDF, the description format of Gazebo; masses are as given or, where it says auto, of shapes."""

from collections.abc import Sequence
from heapq import heappop, heappush
import math
import os
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element as XML

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.meshes import surfaces
from liedyn_ros.common.resources import found_file
from liedyn_ros.common.xml_reader import Element, is_document, read
from liedyn_ros.lie import se3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.loops import add_plugins, CLOSURE_NAMES
from liedyn_ros.model.io.sdf.nesting import (
    is_true, MODEL_FRAME, NamedFramePoses, Nesting, placed, pose_of, SDF_WORDS, text_of, upgraded,
    WORLD_FRAME)
from liedyn_ros.model.io.sdf_writer import DYNAMICS_OF_SDF, SDF_TYPES
from liedyn_ros.model.io.xml_parts import (
    given_limits, inertia_in, is_off, model_of_file, MOMENT_TAGS, name_degrees, Remarks, shapes_of,
    unused)
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import SpatialInertia
from liedyn_ros.model.parts.geometry import IDENTITY
from liedyn_ros.model.replacement import inertia_of as inertia_of_parameters

_NO_LIMIT = 1e16  # SDF writes such numbers for no limit
_GRAVITY: tuple[float, ...] = (0.0, 0.0, -9.8)  # of a world that does not say it
_DEFAULT_PITCH = 1.0  # m a turn, by default
_PLACE_TOLERANCE = 1e-6  # m, from which on a frame is elsewhere
_AXIS_TAGS = 'axis', 'axis2'
_LIMIT_TAGS = {'lower': -np.inf, 'upper': np.inf, 'velocity': np.inf, 'effort': np.inf}


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

    Args:
        source: path of the file, or its text.
        floating: whether the first link floats; by default where no joint holds it.
        strict: whether mass properties that no rigid body has are refused.
        gravity: acceleration (3,) in the ground, m/s^2; by default the world's.
        sdf_model: name of one of several models.

    Returns:
        the model.

    Raises:
        DescriptionError: naming the file, the element, the expected and the given value.

    >>> load_sdf(to_sdf(linkage.model, closed)).nv
    3
    """
    root = read(source, 'SDF', 'sdf', 'gazebo')  # gazebo to version 1.2
    folder = None if is_document(source) else Path(source).parent
    reader = _Reader(root, folder, strict)
    return model_of_file(root, lambda: reader.model(floating, gravity, sdf_model),
                         lambda body: shapes_of(reader.links[body], folder,
                                                lambda each: pose_of(each)[1]), reader.links)


class _Reader:
    """Reads the one model of a document."""

    def __init__(self, root: Element, folder: Path | None, strict: bool) -> None:
        self._root, self._folder, self._strict = root, folder, strict
        self._remarks, self.links = Remarks(), dict[str, Element]()
        self._held, self._swapped = set[str](), set[str]()  # links, and joints read backwards
        self._kinds = dict[str, str]()  # of joints, by name

    def model(self, floating: bool | None, gravity: ArrayLike | None, name: str | None) -> Model:
        nesting, given = Nesting(self._folder), _GRAVITY
        world = upgraded(self._root, nesting.remarks).optional('world')
        holder = self._root if world is None else world
        self._model, self._floating = nesting.one(holder, name), floating
        frames, name = NamedFramePoses(holder, IDENTITY), self._model.text('name')
        if world is not None:
            given = world.numbers('gravity', 3, _GRAVITY)
            beside = XML('world', world.value.attrib)
            beside.extend(each for each in world.value
                          if each.tag not in ('model', 'include', 'physics'))
            nesting.remarks += SDF_WORDS.unread(beside)
            if world.value.find('physics/gravity') is not None:
                nesting.remarks.append(
                    'gravity of physics not read: from SDF 1.6 on it is of the world')
        self._builder = ModelBuilder(name, given if gravity is None else gravity)
        to, at = placed(self._model)
        self._frames = NamedFramePoses(self._model, frames[to or MODEL_FRAME] @ at)
        self.links.update((link.text('name'), link) for link in self._model.each('link'))
        if not self.links:
            self._model.fail('at least one element link', 'none')
        for link in self.links.values():
            self._builder.add_body(link.text('name'), inertia_of(
                link, self._folder, self._strict, self._remarks))
        joints = [each for each in self._model.each('joint')
                  if each.value.get('type', '').strip() != 'gearbox']
        for joint in joints:
            kind = self._kinds[joint.text('name')] = joint.text('type').strip()
            if kind not in SDF_TYPES:
                joint.fail(f'a type of {listed(list(SDF_TYPES))}', repr(kind))
        self._remarks.add(
            'joint', 'the model is static, so that Gazebo does not move them: they move here', *(
                each.text('name') for each in joints
                if is_true(self._model, 'static') and self._kinds[each.text('name')] != 'fixed'))
        ends = [self._ends(joint) for joint in joints]
        backwards = _tree(list(self.links), ends)
        for i in sorted(range(len(joints)), key=lambda i: i not in backwards):
            joint, sides = joints[i], ends[i]
            if i in backwards:
                self._add_joint(joint, sides[::-1] if backwards[i] else sides, backwards[i])
            else:
                self._add_closure(joint, *sides)
        self._add_roots()
        self._add_couplings()
        add_plugins([plugin for each in (self._model, world) if each is not None
                     for plugin in each.each('plugin')], self._builder, list(self.links), name)
        name_degrees('link', self.links.values(), self._remarks)
        name_degrees('joint', joints, self._remarks)
        self._builder.add_warning(
            *self._remarks, *dict.fromkeys(nesting.remarks), *SDF_WORDS.unread(self._model.value))
        return self._builder.build()

    def _ends(self, joint: Element) -> tuple[str | None, str | None]:
        """Return the links that a joint is between, parent and child, None for the ground."""
        parent, child = (self._frames.link(text_of(joint, side), self.links)
                         for side in ('parent', 'child'))
        if child is None or parent == child:
            joint.fail('a child that is a link other than the parent',
                       repr(text_of(joint, 'child')))
        return parent, child

    def _add_joint(self, joint: Element, ends: tuple[str | None, str | None], backwards: bool
                   ) -> None:
        """
        Add a joint, at its frame, and the link behind it where that is elsewhere.

        ends are the links before and behind it; one that is backwards has its child before it.
        """
        name, kind, (base, link) = joint.text('name'), self._kinds[joint.text('name')], ends
        at = self._frames[name]
        away = float(np.linalg.norm((self._frames[text_of(joint, 'parent')] - at)[:3, 3]))
        if away > _PLACE_TOLERANCE and text_of(joint, 'parent') not in (*self.links, WORLD_FRAME):
            self._builder.add_warning(
                f'joint {name}: its parent, the frame {text_of(joint, "parent")}, is {away:.6g} m '
                'from it where the links are drawn; SDF places a joint by its child alone')
        behind = self._frames[str(link)]
        held = se3.inverse(at) @ behind
        beside = not np.allclose(held, IDENTITY, atol=1e-12) and kind != 'fixed'
        placement = (
            se3.inverse(self._frames[base or WORLD_FRAME]) @ (behind if kind == 'fixed' else at))
        body = unused(f'{link}/{name}', self.links) if beside else str(link)
        if beside:
            self._builder.add_body(body, None)
            self._builder.add_joint(unused(f'{name}/link', self._kinds), 'fixed', body, str(link),
                                    placement=held)
        self._held.add(str(link))
        if kind != 'fixed':
            self._name_lost(joint, kind, _tags(kind))
        if backwards:
            self._swapped.add(name)
        with joint.context():
            self._builder.add_joint(
                name, SDF_TYPES[kind], base, body, placement=placement,
                actuated=all(joint.value.find(f'{tag}/mimic') is None for tag in _AXIS_TAGS),
                **self._axes(joint, kind, backwards), **self._forces(joint, kind, backwards))

    def _forces(self, joint: Element, kind: str, backwards: bool) -> dict[str, Any]:
        """Return the limits, friction, damping and spring of a joint, one each for each axis."""
        name, values, limits = joint.text('name'), dict[str, list[float]](), []
        keys = tuple(_LIMIT_TAGS)[2 * (kind == 'continuous'):]
        for tag in _tags(kind)[::-1 if backwards else 1]:
            axis = joint.take(tag)
            limit, dynamics = axis.optional('limit'), axis.optional('dynamics')
            bounds = {} if limit is None else {
                key: value for key in _LIMIT_TAGS
                if abs(value := limit.number(key, np.inf, infinite=True)) < _NO_LIMIT and not (
                    key in ('velocity', 'effort') and value < 0.0)}
            limits += [_LIMIT_TAGS | given_limits(
                name, bounds, self._remarks, kind == 'continuous')]
            for key, own in DYNAMICS_OF_SDF.items():
                values.setdefault(key, []).append(
                    0.0 if dynamics is None else dynamics.number(own, 0.0))
        if len(limits) == 1:  # the inertia of a rotor, as Drake has it
            values['armature'] = [joint.number('drake:rotor_inertia', 0.0)
                                  * joint.number('drake:gear_ratio', 1.0)**2]
        return {**values, 'limits': {
            key: [each[key] for each in limits] for key in keys} if limits else {}}

    def _axes(self, joint: Element, kind: str, backwards: bool = False) -> dict[str, Any]:
        """Return the axes of a joint, in its frame, and its pitch, by the names of the builder."""
        turn, sign = self._frames[joint.text('name')][:3, :3].T, -1.0 if backwards else 1.0
        axes: dict[str, Any] = {name: sign * turn @ self._direction(joint, tag) for tag, name in
                                zip(_tags(kind)[::int(sign)], ('axis', 'second_axis'))}
        if kind == 'screw':
            old = joint.number('thread_pitch', 0.0)  # rad/m, in the other sense; or m a turn
            axes['pitch'] = (
                -1.0 / old if old and 'screw_thread_pitch' not in joint.value.attrib else
                joint.number('screw_thread_pitch', _DEFAULT_PITCH) / (2.0 * np.pi))
        return axes

    def _add_closure(self, joint: Element, parent: str | None, child: str | None) -> None:
        """Add a joint that holds a link for the second time."""
        name, kind = joint.text('name'), self._kinds[joint.text('name')]
        a, b = (se3.inverse(self._frames[link or WORLD_FRAME]) @ self._frames[name]
                for link in (parent, child))
        with joint.context():
            self._builder.add_closure(
                name, CLOSURE_NAMES[kind], parent, child, placement_a=a, placement_b=b,
                **self._axes(joint, kind))
        self._name_lost(joint, 'closure')
        self._builder.add_warning(f'joint {name}: {child} is held twice, so it is a closure')

    def _name_lost(self, joint: Element, kind: str, tags: Sequence[str] = ()) -> None:
        """Name the forces and limits of a joint beside those of the axes that are read."""
        lost = [tag for tag in ('dynamics', 'limit') if any(
            not is_off(each.text) for axis in set(_AXIS_TAGS).difference(tags)
            for part in joint.value.findall(f'{axis}/{tag}') for each in part.iter())]
        rotor = len(tags) != 1 and joint.number('drake:rotor_inertia', 0.0)
        if lost := lost + ['drake:rotor_inertia'] * bool(rotor):
            self._remarks.add('joint', f'{listed(lost)} not read, which a {kind} has not',
                              joint.text('name'))

    def _add_roots(self) -> None:
        """Hold the links that no joint holds, or let them float."""
        free = not is_true(self._model, 'static')
        for i, name in enumerate(each for each in self.links if each not in self._held):
            floats = free if self._floating is None or i else self._floating
            self._builder.add_joint(
                unused(f'{name}/root_joint' if i else 'root_joint', self._kinds),
                'free' if floats else 'fixed', None, name, placement=self._frames[name])

    def _add_couplings(self) -> None:
        """Add mimic axes and gearboxes."""
        def coordinate(name: str, axis: str) -> str:
            second = (axis == 'axis2') != (name in self._swapped)
            return f'{name}/{"second" if second else "first"}' if SDF_TYPES.get(
                self._kinds.get(name, '')) == 'universal' else name

        for joint in self._model.each('joint'):
            if joint.text('name') not in self._kinds:
                self._add_gearbox(joint)
            for tag, mimic in ((key, each) for key in _AXIS_TAGS for axis in joint.each(key)
                               for each in axis.each('mimic')):
                multiplier = mimic.number('multiplier', 1.0)
                offset = mimic.number('offset', 0.0) - multiplier * mimic.number('reference', 0.0)
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
        other = 'axis' if gearbox.value.find('axis2') is None else 'axis2'
        for side, tag in (('parent', 'axis'), ('child', other)):
            along, ends = self._direction(gearbox, tag), {reference, text_of(gearbox, side)}
            turns += [
                (joint.text('name'), float(np.sign(along @ self._direction(joint, 'axis'))) * (
                    1.0 if text_of(joint, 'parent') == reference else -1.0))
                for joint in self._model.each('joint')
                if self._kinds.get(joint.text('name')) in ('revolute', 'continuous')
                and {text_of(joint, 'parent'), text_of(joint, 'child')} == ends][:1]
        if len(turns) != 2 or not all(sign for _, sign in turns):
            self._builder.add_warning(
                f'joint {name}: gearbox without a revolute joint of each of its links on '
                f'{reference or "a reference body"}, along its axes: not read: add a coupling by '
                'annotate')
            return
        self._name_lost(gearbox, 'gearbox')
        (leader, first), (follower, second) = turns
        with gearbox.context():
            self._builder.add_coupling(follower, leader, -ratio * first * second, 0.0)

    def _direction(self, joint: Element, tag: str) -> Array:
        """Return an axis of a joint in the ground, as drawn."""
        axis = joint.take(tag)
        frame = axis.take('xyz').value.get('expressed_in', '').strip() or joint.text('name')
        return self._frames[frame][:3, :3] @ np.array(axis.numbers('xyz', 3, (0.0, 0.0, 1.0)))


def _tree(links: list[str], ends: list[tuple[str | None, str | None]]) -> dict[int, bool]:
    """
    Return the joints that make a tree of links, by number, each with whether it is backwards.

    ends are the parent and child of each, None the ground. From the ground, and then from links
    that nothing moves, the first joint of a link comes before others of it, and these before those
    that would be backwards; what is left closes loops.
    """
    first, at = dict[str | None, int](), dict[str | None, list[tuple[int, int, str | None]]]()
    for i, (parent, child) in enumerate(ends):
        late = int(first.setdefault(child, i) != i)
        at.setdefault(parent, []).append((late, i, child))
        at.setdefault(child, []).append((2, i, parent))
    roots = [None, *(each for each in links if each not in first), *links]
    waiting = [(3, i, root) for i, root in enumerate(roots)]
    tree, reached = dict[int, bool](), set[str | None]()
    while waiting:
        rank, i, link = heappop(waiting)
        if link not in reached:
            reached.add(link)
            tree |= {i: rank == 2} if rank < 3 else {}
            for each in at.get(link, ()):
                heappush(waiting, each)
    return tree


def _tags(kind: str) -> tuple[str, ...]:
    return () if kind in ('fixed', 'ball') else (
        _AXIS_TAGS if SDF_TYPES[kind] == 'universal' else _AXIS_TAGS[:1])


DENSITY = 1000.0  # kg/m^3, by default
_MESH_FILES = '.stl', '.obj', '.ply', '.glb', '.gltf', '.off'


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
    if is_true(inertial, 'auto'):  # of collisions by their densities, scaled to a mass it says
        total, density = np.zeros(10), inertial.number('density', DENSITY)
        for each in link.each('collision'):
            total += each.number('density', density) * _solid(
                each.take('geometry'), folder).parameters(_pose_in(link, each))
        if not total[0] > 0.0:
            link.fail('collisions with a volume, for an inertial that is auto', 'none')
        return inertia_of_parameters(inertial.number('mass', float(total[0])) / total[0] * total)
    inertia = inertial.optional('inertia') or Element(XML('inertia'), '/inertia', inertial)
    moments = [inertia.number(key, float(key[1] == key[2])) for key in MOMENT_TAGS]
    return inertia_in(inertial, name, inertial.number('mass', 1.0), moments,
                      _pose_in(link, inertial), strict, remarks)


def _pose_in(link: Element, part: Element) -> Array:
    """Return the pose (4, 4) of a part of a link, which must be in the frame of that."""
    relative, at = pose_of(part)
    if relative not in ('', link.text('name')):
        part.fail(f'a pose in the frame of its link, {link.text("name")}', repr(relative))
    return at


def _solid(geometry: Element, folder: Path | None) -> SpatialInertia:
    """Return the inertia of a shape of 1 kg/m^3."""
    shape = next((Element(xml, f'/{xml.tag}', geometry) for xml in geometry.value), geometry)
    kind = shape.value.tag
    if kind == 'mesh':
        return _mesh(shape, folder)
    r, h = (shape.number(tag, 1.0) for tag in ('radius', 'length'))
    size, radii = (np.array(shape.numbers(tag, 3, (1.0, 1.0, 1.0))) for tag in ('size', 'radii'))
    ball, rod = 4.0 * math.pi / 3.0 * r**3, math.pi * r**2 * h
    round_, long = np.array((r, r, 0.0))**2, np.array((0.0, 0.0, h))**2
    ends = 0.2 * r**2 + 0.25 * long + (0.0, 0.0, 0.375 * r * h)  # halves of a ball beyond them
    solids: dict[str, tuple[float, Array]] = {  # the volume, and the means of x^2, y^2 and z^2
        'box': (float(np.prod(size)), size**2 / 12.0),
        'ellipsoid': (4.0 * math.pi / 3.0 * float(np.prod(radii)), radii**2 / 5.0),
        'sphere': (ball, np.full(3, 0.2 * r**2)), 'cylinder': (rod, round_ / 4.0 + long / 12.0),
        'cone': (rod / 3.0, 0.15 * round_ + 0.0375 * long),
        'capsule': (rod + ball, (rod * (round_ / 4.0 + long / 12.0) + ball * ends) / (rod + ball))}
    if kind not in solids:
        geometry.fail('a solid, for an inertial that is auto', repr(kind))
    volume, squares = solids[kind]
    center = (0.0, 0.0, -0.25 * h if kind == 'cone' else 0.0)  # at a quarter of its height
    return SpatialInertia(volume, center, volume * np.diag(squares.sum() - squares),
                          physical=False)


def _mesh(mesh: Element, folder: Path | None) -> SpatialInertia:
    """Return the inertia of a closed surface with 1 kg/m^3 in it, as trimesh has it."""
    uri = text_of(mesh, 'uri')
    path = found_file(uri, folder)
    if path is None or path.suffix.lower() not in _MESH_FILES:
        mesh.fail(f'a file of {" ".join(_MESH_FILES)} beside the file or in a known package',
                  repr(uri))
    with mesh.context():  # where trimesh is not installed, too
        corners = np.concatenate([each.corners[each.faces] for each in surfaces(path)])
    import trimesh

    corners = corners * np.array(mesh.numbers('scale', 3, (1.0, 1.0, 1.0)))
    whole = trimesh.Trimesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    volume, center, moments = whole.volume, whole.center_mass, whole.moment_inertia
    if not volume > 0.0 or not np.isfinite(moments).all():
        mesh.fail('a mesh with a volume, its faces outwards', f'{volume:.6g} m^3')
    return SpatialInertia(float(volume), center, moments, physical=False)
