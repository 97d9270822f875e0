# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The package's own model format, and loops beside a URDF; docs/model_format.md has the keys."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
import os
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.yaml_reader import Node, read, read_text, write_text
from liedyn_ros.lie import so3
from liedyn_ros.model.builder import ModelBuilder, STANDARD_GRAVITY
from liedyn_ros.model.io.loops import DYNAMICS_TAGS
from liedyn_ros.model.io.xml_parts import changes, model_of_file, moments_of, reading
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import SHAPES, SpatialInertia, Visual
from liedyn_ros.model.parts.constraints import CLOSURE_TYPES
from liedyn_ros.model.parts.geometry import IDENTITY, pose
from liedyn_ros.model.parts.joints import Limits
from liedyn_ros.model.parts.rotors import Rotor

FORMAT = 1
_CONSTRAINT_TYPES = {'3d': 'spherical', '6d': 'weld'}


def load_yaml(path: str | os.PathLike[str]) -> Model:
    """
    Return the model that a YAML file describes.

    Args:
        path: of the file.

    Returns:
        the model.

    Raises:
        DescriptionError: naming the file, the place in it, the expected and the given value.

    >>> load_yaml(config_file('four_bar.yaml')).joints
    ('crank_joint', 'coupler_joint', 'rocker_joint')
    """
    return model_of_file(str(path), lambda: _model(read(path, 'model')))


def _model(root: Node) -> Model:
    if (version := root.take('format')).integer() != FORMAT:
        version.fail(FORMAT)
    gravity = root.take('gravity', list(STANDARD_GRAVITY))
    builder = ModelBuilder(root.take('name').text(), gravity.numbers(3))
    for name, body in root.take('bodies').items():
        builder.add_body(name, _inertia(body), _visuals(body))
        body.finish()
    for name, joint in root.take('joints').items():
        parent = joint.take('parent')  # asked for, so that none stands on the ground by mistake
        builder.add_joint(
            name, joint.take('type').text(), None if parent.value is None else parent.text(),
            joint.take('child').text(), **joint.options(_JOINT_OPTIONS))
    for name, rotor in root.take('rotors', {}).items():
        builder.add_rotor(Rotor(
            name, rotor.take('body').text(), _placement(rotor.take('placement', [])),
            force_coefficient=rotor.take('force_coefficient').number(),
            moment_coefficient=rotor.take('moment_coefficient').number(),
            spin=rotor.take('spin').integer(), min_speed=rotor.take('min_speed', 0.0).number(),
            max_speed=rotor.take('max_speed').number(), visuals=_visuals(rotor)))
        rotor.finish()
    return _built(builder, root)


def annotate(model: Model, path: str | os.PathLike[str]) -> Model:
    """
    Return a model with the closures, couplings and passive joints that a YAML file adds to it.

    `closures` and `couplings` are as in a model file; `passive` lists the joints that no actuator
    drives. A robot.yaml of example-parallel-robots is recognised by its key closed_loop. It names
    pairs of links that coincide (6d) or whose origins do (3d), the motors, and joints of types
    that URDF lacks.

    Args:
        model: the model of a URDF, SDF or MJCF file.
        path: of the YAML file.

    Returns:
        the model with them.

    Raises:
        DescriptionError: naming the file, the place in it, the expected and the given value.

    >>> leg = ld.load_model(config_file('linkage_leg.urdf'))
    >>> loops = annotate(leg, config_file('linkage_leg_loops.yaml'))
    >>> len(leg.closures), len(loops.closures)
    (0, 1)
    """
    with reading(path):
        root, builder = read(path, 'loops'), ModelBuilder.of(model)
        if root.optional('closed_loop') is not None:
            return _with_pairs(model, builder, root)
        if (version := root.take('format')).integer() != FORMAT:
            version.fail(FORMAT)
        for joint in root.take('passive', []).sequence():
            builder.make_passive(joint.text())
        return _built(builder, root)


def _built(builder: ModelBuilder, root: Node) -> Model:
    """Return the model with the closures and couplings of a document, which has nothing else."""
    for name, closure in root.take('closures', {}).items():
        bodies = [closure.take(key) for key in ('body_a', 'body_b')]  # null for the ground
        with closure.context():
            builder.add_closure(
                name, closure.take('type').text(),
                *(None if body.value is None else body.text() for body in bodies),
                **closure.options(_CLOSURE_OPTIONS))
    for name, coupling in root.take('couplings', {}).items():  # of a joint to a leader
        builder.add_coupling(
            name, coupling.take('leader').text(), coupling.take('multiplier', 1.0).number(),
            coupling.take('offset', 0.0).number(), {
                other: value.number() for other, value in coupling.take('further', {}).items()})
        coupling.finish()
    root.finish()
    return builder.build()


def _with_pairs(model: Model, builder: ModelBuilder, root: Node) -> Model:
    """Return a model with the entries of a robot.yaml of example-parallel-robots."""
    replaced = [node.text() for node in root.take('joint_name', []).sequence()]
    for name, node in zip(replaced, root.take('joint_type', []).sequence(len(replaced))):
        kind, _, axes = node.text().upper().partition('_')
        if kind in ('SPHERICAL', 'FIXED'):
            builder.replace_joint(name, kind.lower())
        elif kind == 'UJOINT' and len(axes) == 2 and set(axes) <= set('XYZ'):
            first, second = (np.eye(3)['XYZ'.index(each)] for each in axes)
            builder.replace_joint(name, 'universal', axis=first, second_axis=second)
        else:
            node.fail('SPHERICAL, FIXED or UJOINT_ with two of X, Y and Z')
    motors = root.optional('name_mot')
    if motors is not None:
        for joint in set(model.joints).difference(map(Node.text, motors.sequence())):
            builder.make_passive(joint)
    moved = {joint.name: joint.child for joint in model.joint_list}  # a joint names its frame
    pairs = root.take('closed_loop').sequence()
    for pair, node in zip(pairs, root.take('type').sequence(len(pairs))):
        kind = node.text().lower()
        if kind not in _CONSTRAINT_TYPES:
            node.fail(f'a type of {list(_CONSTRAINT_TYPES)}')
        names = [each.text() for each in pair.sequence(2)]
        builder.add_closure('='.join(names), _CONSTRAINT_TYPES[kind], *(
            name if name in model.bodies else moved.get(name, name) for name in names))
    return builder.build()


def updated_yaml(text: str, before: Model, after: Model) -> str:
    """
    Return the text of a YAML model with what differs between two models of it.

    It is as updated_urdf, and has frames, lengths and tolerances of closures. Comments are lost.

    Args:
        text: the YAML.
        before: the model of the text.
        after: the model that it is to describe.

    Returns:
        the text.

    Raises:
        DescriptionError: for parts that the text does not have.

    >>> text = config_file('four_bar.yaml').read_text()
    >>> updated_yaml(text, linkage.model, scale_masses(linkage.model, 2.0)) != text
    True
    """
    content: dict[str, Any] = read_text(text, 'model').value
    for kind, part, new in changes(before, after):
        if kind == 'bodies':
            new = {'mass': float(part.inertia.mass),
                   'center_of_mass': part.inertia.center_of_mass.tolist(), 'inertia': {
                       key[1:]: value for key, value in moments_of(part.inertia).items()}}
        elif kind == 'joints':
            new = {key: _steps(value) if key == 'placement' else
                   value.tolist() if len(value) > 1 else float(value[0])
                   for key, value in new.items()}
        else:
            spec = CLOSURE_TYPES[part.type_name]
            new = {2: {'axis': [1.0, 0.0, 0.0], 'second_axis': [0.0, 1.0, 0.0]},
                   1: {'axis': [0.0, 0.0, 1.0]}}.get(spec.axes, {}) | {
                'placement_a': _steps(part.frame_a), 'placement_b': _steps(part.frame_b)} | (
                    {'length': part.length} if spec.has_length else {}) | (
                    {'tolerance': part.tolerance} if part.tolerance else {})
        content[kind][part.name] = content[kind][part.name] | new  # an alias may share the old
    return write_text(content)


def _steps(placement: Array) -> list[dict[str, list[float]]]:
    return [{'xyz': placement[:3, 3].tolist()}, {'rpy': so3.to_rpy(placement[:3, :3]).tolist()}]


def _inertia(body: Node) -> SpatialInertia | None:
    mass = body.take('mass').number()
    if mass == 0.0:
        return None
    center = body.take('center_of_mass', [0.0, 0.0, 0.0]).numbers(3)
    inertia = body.take('inertia')
    xx, yy, zz = inertia.take_numbers(('xx', 'yy', 'zz'))
    xy, xz, yz = inertia.take_numbers(('xy', 'xz', 'yz'), 0.0)
    inertia.finish()
    with body.context():
        return SpatialInertia(mass, center, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _visuals(owner: Node) -> list[Visual]:
    visuals = list[Visual]()
    for node in owner.take('visuals', []).sequence():
        shape = node.take('shape').text()
        if shape not in SHAPES:
            node.take('shape').fail(f'one of {list(SHAPES)}')
        size = [node.take(key).number() for key in SHAPES[shape]]
        color = node.optional('color')
        with node.context():
            visuals.append(Visual(shape, size, _placement(node.take('placement', [])),
                                  *([color.numbers(4)] if color else [])))
        node.finish()
    return visuals


def _placement(steps: Node) -> Array:
    """Return the product of the steps of a placement, each in the frame the ones before made."""
    result = IDENTITY
    for step in steps.sequence():
        (key, value), *more = step.items() or [('', step)]
        if more or key not in ('x', 'y', 'z', 'rx', 'ry', 'rz', 'xyz', 'rpy'):
            step.fail('one of x, y, z, rx, ry, rz, xyz, rpy with a value')
        axis = np.eye(3)['xyz'.find(key[-1])]
        if key[0] == 'r':
            moved = pose(rpy=value.angles(3) if key == 'rpy' else value.angle() * axis)
        else:
            moved = pose(value.numbers(3) if key == 'xyz' else value.number() * axis)
        result = moved if result is IDENTITY else result @ moved
    return result


_triple = partial(Node.numbers, length=3)
_BOUNDS: dict[str, Callable[[Node], Any]] = dict.fromkeys(
    (field.name for field in fields(Limits)), partial(Node.number_or_numbers, infinite=True))
_JOINT_OPTIONS: dict[str, Callable[[Node], Any]] = {
    'placement': _placement, 'axis': _triple, 'second_axis': _triple, 'pitch': Node.number,
    'limits': partial(Node.options, readers=_BOUNDS),
    **dict.fromkeys(DYNAMICS_TAGS, Node.number_or_numbers), 'actuated': Node.truth}
_CLOSURE_OPTIONS: dict[str, Callable[[Node], Any]] = {
    'placement_a': _placement, 'placement_b': _placement, 'axis': _triple,
    'second_axis': _triple, 'pitch': Node.number, 'length': Node.number,
    'tolerance': Node.number}
