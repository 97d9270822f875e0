# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MJCF, the model format of MuJoCo."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.description import no_garbage_collection
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import so3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.mjcf.constraints import add_equalities, Machine, Polynomial
from liedyn_ros.model.io.mjcf.document import Document, MAX_DEPTH, moving_content
from liedyn_ros.model.io.mjcf.inertia import given_inertia, Shapes
from liedyn_ros.model.io.mjcf.unread import actuated_joints, add_unread, refuse_unread
from liedyn_ros.model.io.of_file import model_of_file
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.geometry import unit_axis
from liedyn_ros.model.parts.inertia import SpatialInertia

_TYPES = {'hinge': 'revolute', 'slide': 'prismatic', 'ball': 'spherical', 'free': 'free'}
_GRAVITY = 0.0, 0.0, -9.81


def load_mjcf(source: str | os.PathLike[str], *, strict: bool = False,
              gravity: ArrayLike | None = None) -> Model:
    """
    Return the model that an MJCF file, or a text that starts with '<', describes.

    Bodies, joints and sites keep names and places, coordinates their zero. A joint beside the
    origin of its body, or one of several, moves a massless body named body/joint. Without a name
    they are body_N and joint_N, by MuJoCo's numbers. Equality constraints become closures and
    couplings, sites frames. gravity (3,) is that of the file by default. Whatever else would
    change the dynamics has a DescriptionWarning. Mass properties that no rigid body has are used
    as they are, with a DescriptionWarning; strict refuses them. Masses that come from meshes need
    the package trimesh.

    Raises DescriptionError naming the file, the element, the expected and the given value.
    """
    with no_garbage_collection():
        document = Document(source)
        name = document.root.path.removesuffix(': mujoco')
        return model_of_file(name, lambda: _Reader(document, strict, gravity).model())


def polynomials_of(source: str | os.PathLike[str]) -> tuple[Polynomial, ...]:
    """Return the relations of joints of an MJCF file or text that no coupling describes."""
    with no_garbage_collection():
        reader = _Reader(Document(source), False, None)
        reader.model()
        return tuple(reader.machine.polynomials)


class _Reader:
    """Reads the bodies of one document in MuJoCo's order."""

    def __init__(self, document: Document, strict: bool, gravity: ArrayLike | None) -> None:
        self._document, self._strict = document, strict
        refuse_unread(document)
        self._builder = ModelBuilder(document.root.value.get('model') or 'MuJoCo Model',
                                     _gravity(document) if gravity is None else gravity)
        self.machine = Machine({None: np.eye(4)}, {}, {}, [])
        self._driven = actuated_joints(document)
        self._bodies = self._joints = 0  # so far, as MuJoCo numbers them
        self._faults: dict[str, list[str]] = {}
        self._inertias: dict[str, SpatialInertia | None] = {}
        self._names = {('joint' if xml.tag == 'freejoint' else xml.tag, xml.get('name'))
                       for xml in document.root.value.iter()}

    def model(self) -> Model:
        for world in self._document.root.each('worldbody'):
            self._content(world, None, np.eye(4), world.value.get('childclass'), None, 0)
        if not self._bodies:
            self._document.root.fail('at least one body', 'none')
        for fault, names in self._faults.items():
            self._builder.add_warning(
                f'bodies {listed(names)}: {fault}; their mass properties, which no rigid body '
                'has, are used as they are (strict refuses them)')
        for name, inertia in self._scaled().items():
            self._builder.add_body(name, inertia)
        add_equalities(self._document, self._builder, self.machine)
        add_unread(self._document, self._builder)
        model = self._builder.build()
        for name, (body, placement) in self.machine.sites.items():
            used = name in model.frames or name in model.joints
            model = model.with_frame(f'{name}/site' if used else name, body, placement)
        return model

    def _content(self, element: Element, body: str | None, around: Array, cls: str | None,
                 shapes: Shapes | None, depth: int) -> None:
        """Read shapes, sites, frames and bodies; around is the pose of the frame around them."""
        document = self._document
        if depth > MAX_DEPTH:
            element.fail(f'at most {MAX_DEPTH} bodies in each other', 'more')
        for each in moving_content(element):
            tag = each.value.tag
            if tag == 'geom' and shapes is not None:
                shapes.add(document, document.with_defaults(each, cls), around)
            elif tag == 'site' and each.value.get('name'):
                site = document.with_defaults(each, cls)
                self.machine.sites[each.text('name')] = (
                    body, around @ document.placement(site))
            elif tag == 'frame':
                self._content(each, body, around @ document.placement(each),
                              each.value.get('childclass', cls), shapes, depth + 1)
            elif tag == 'body':
                self._body(each, body, around @ document.placement(each),
                           each.value.get('childclass', cls), depth + 1)

    def _body(self, element: Element, parent: str | None, placement: Array, cls: str | None,
              depth: int) -> None:
        self._bodies += 1
        name = self._name(element, f'body_{self._bodies}')
        if name in self._inertias:
            element.fail('each name of a body once', repr(name))
        self.machine.poses[name] = self.machine.poses[parent] @ placement
        joints = [each if each.value.tag == 'freejoint'
                  else self._document.with_defaults(each, cls)
                  for each in moving_content(element) if each.value.tag in ('joint', 'freejoint')]
        with element.context():
            self._move(joints, parent, name, placement)
        rule = self._document.compiler.value.get('inertiafromgeom', 'auto')
        inertial = None if rule == 'true' else element.optional('inertial')
        shapes = Shapes() if rule != 'false' and inertial is None else None
        self._inertias[name] = None  # first, as bodies stand in the order of the file
        self._content(element, name, np.eye(4), cls, shapes, depth)
        if inertial is None:
            self._inertias[name] = (shapes or Shapes()).total(self._document)
        else:
            self._inertias[name], fault = given_inertia(self._document, inertial, self._strict)
            if fault is not None:
                self._faults.setdefault(fault, []).append(name)

    def _name(self, element: Element, otherwise: str, group: str = 'body') -> str:
        """Return the name of a body or a joint, of its own if it has none."""
        name = element.value.get('name')
        if name:
            return element.text('name')
        while (group, otherwise) in self._names:
            otherwise += '_'
        return otherwise

    def _scaled(self) -> dict[str, SpatialInertia | None]:
        """Return the inertias of all bodies, scaled to the total mass that the compiler sets."""
        total = self._document.compiler.number('settotalmass', -1.0)
        given = sum(each.mass for each in self._inertias.values() if each is not None)
        if total <= 0.0:
            return self._inertias
        if given == 0.0:
            self._document.compiler.fail('bodies with mass, for settotalmass', 'none')
        factor = total / given
        return {name: None if each is None else SpatialInertia(
            factor * each.mass, each.center_of_mass, factor * each.inertia_about_com,
            physical=False) for name, each in self._inertias.items()}

    def _move(self, joints: list[Element], parent: str | None, body: str, placement: Array
              ) -> None:
        """Add the joints of a body, with massless bodies between them."""
        if not joints:
            self._builder.add_joint(f'{body}/fixed', 'fixed', parent, body, placement=placement)
        for i, joint in enumerate(joints):
            name = self._name(joint, f'joint_{self._joints}', 'joint')
            self._joints += 1
            free = joint.value.tag == 'freejoint' or joint.value.get('type') == 'free'
            if free and (parent is not None or len(joints) > 1):
                joint.fail('a free joint alone, in a body of the world', 'another place')
            if free:
                _add_free(self._builder, joint, name, body, self._is_driven(name))
                return
            offset, kind = np.eye(4), joint.value.get('type', 'hinge')
            if kind not in _TYPES:
                joint.fail(f'a type of {list(_TYPES)}', repr(kind))
            offset[:3, 3] = joint.numbers('pos', 3, (0.0, 0.0, 0.0))
            last = i == len(joints) - 1 and (kind == 'slide' or not offset[:3, 3].any())
            child = body if last else f'{body}/{name}'
            self._add_joint(joint, name, parent, child, placement @ (
                np.eye(4) if kind == 'slide' else offset))
            if not last:
                self._builder.add_body(child, None)
                parent = child
            if kind != 'slide':
                offset[:3, 3] *= -1.0
            placement = np.eye(4) if kind == 'slide' else offset
            if not last and i == len(joints) - 1:
                self._builder.add_joint(f'{body}/fixed', 'fixed', parent, body,
                                        placement=placement)

    def _add_joint(self, joint: Element, name: str, parent: str | None, child: str,
                   placement: Array) -> None:
        """Add a hinge, slide or ball; its coordinate is ref where the file draws it."""
        kind, angle = joint.value.get('type', 'hinge'), self._document.angle
        axis, reference, limits = None, 0.0, {}
        if kind != 'ball':
            axis = unit_axis(f'joint {name}: axis', joint.numbers('axis', 3, (0.0, 0.0, 1.0)))
            reference = joint.number('ref', 0.0)
            reference = angle(reference) if kind == 'hinge' else reference
            limits = self._limits(joint, kind)
        back = np.eye(4)
        if kind == 'hinge':
            back[:3, :3] = so3.exp(-reference * np.asarray(axis))
        elif kind == 'slide':
            back[:3, 3] = -reference * np.asarray(axis)
        self.machine.joints[name] = reference
        limited = 'lower' in limits or kind != 'hinge'
        self._builder.add_joint(
            name, _TYPES[kind] if limited else 'continuous', parent, child,
            placement=placement @ back, axis=axis, limits=limits,
            damping=_first(joint, 'damping'), friction=_first(joint, 'frictionloss'),
            actuated=self._is_driven(name), **self._spring(joint, kind))

    def _spring(self, joint: Element, kind: str) -> dict[str, float]:
        """Return spring and armature of a hinge or slide; those of others have a warning."""
        if kind == 'ball':
            return {}
        rest = joint.number('springref', 0.0)
        return {'stiffness': _first(joint, 'stiffness'), 'armature': joint.number('armature', 0.0),
                'rest': self._document.angle(rest) if kind == 'hinge' else rest}

    def _limits(self, joint: Element, kind: str) -> dict[str, ArrayLike]:
        limits: dict[str, ArrayLike] = {}
        if self._is_limited(joint, 'limited', 'range'):
            lower, upper = joint.numbers('range', 2, (0.0, 0.0))
            turn = self._document.angle if kind == 'hinge' else float
            limits |= {'lower': turn(lower), 'upper': turn(upper)}
        if self._is_limited(joint, 'actuatorfrclimited', 'actuatorfrcrange'):
            limits['effort'] = max(map(abs, joint.numbers('actuatorfrcrange', 2)))
        return limits

    def _is_limited(self, joint: Element, flag: str, bounds: str) -> bool:
        """Return whether bounds hold: by themselves where autolimits says so, as by default."""
        if joint.value.get(flag, 'auto') != 'auto':
            return self._document.flag(joint, flag, False)
        compiler = self._document.compiler
        return bounds in joint.value.attrib and self._document.flag(compiler, 'autolimits', True)

    def _is_driven(self, name: str) -> bool:
        return self._driven is None or name in self._driven


def _gravity(document: Document) -> tuple[float, ...]:
    """Return the gravity of a document, zero where a flag turns it off."""
    gravity: tuple[float, ...] = _GRAVITY
    for option in document.root.each('option'):
        gravity = option.numbers('gravity', 3, gravity)
    for option in document.root.each('option'):
        if any(flag.value.get('gravity') == 'disable' for flag in option.each('flag')):
            return 0.0, 0.0, 0.0
    return gravity


def _add_free(builder: ModelBuilder, joint: Element, name: str, body: str, driven: bool) -> None:
    damping, friction = (0.0, 0.0) if joint.value.tag == 'freejoint' else (
        _first(joint, 'damping'), _first(joint, 'frictionloss'))
    builder.add_joint(name, 'free', None, body, damping=damping, friction=friction,
                      actuated=driven)


def _first(joint: Element, attribute: str) -> float:
    """Return the first of the numbers of an attribute, 0 by default."""
    given = joint.value.get(attribute)
    return 0.0 if given is None else joint.numbers(attribute, max(1, len(given.split())))[0]
