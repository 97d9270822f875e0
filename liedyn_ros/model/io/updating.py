# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Model files with new masses, inertias and joint forces; everything else stays as it was."""

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.yaml_reader import read_text, write_text
from liedyn_ros.model.io.loops import write_loop
from liedyn_ros.model.io.xml_parts import (
    add, add_origin, document, moments_of, rpy, write_inertial)
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.constraints import CLOSURE_TYPES
from liedyn_ros.model.parts.inertia import SpatialInertia

FORCES = 'damping', 'friction', 'armature'  # of joints, that recordings tell
_CLOSURE = 'length', 'tolerance', 'frame_a', 'frame_b'


def updated_urdf(text: str, before: Model, after: Model) -> str:
    """
    Return the text of a URDF with what differs between two models of it.

    That is masses, centres and inertias of links, placements of joints, and their forces in
    FORCES, and frames of loops. Meshes, limits and all other elements stay. Raises
    DescriptionError for links, joints and loops that the text does not have, and for joints of
    several coordinates.
    """
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    robot = ElementTree.fromstring(text, parser)
    for name, inertia in _changed_bodies(before, after).items():
        write_inertial(_found(robot, 'link', name), inertia)
    for name, new in _changed_joints(before, after).items():
        joint = _found(robot, 'joint', name)
        if 'placement' in new:
            add_origin(joint, new.pop('placement'))
        for key, values in new.items():
            if len(values) != 1:
                raise DescriptionError(f'joint {name}: expected one coordinate, as URDF has '
                                       f'forces for, got {len(values)}')
            dynamics = joint.find('dynamics')
            (add(joint, 'dynamics') if dynamics is None else dynamics).set(
                key, repr(float(values[0])))
    for old, closure in zip(before.closures, after.closures):
        if _differ(old, closure, _CLOSURE):
            write_loop(_found(robot, 'loop', closure.name), closure)
    return document(robot)


def updated_yaml(text: str, before: Model, after: Model) -> str:
    """
    Return the text of a YAML model with what differs, as updated_urdf; comments are lost.

    Frames, lengths and tolerances of closures are new too.
    """
    content: dict[str, Any] = read_text(text, 'model').value
    bodies, joints = content['bodies'], content['joints']
    for name, inertia in _changed_bodies(before, after).items():
        bodies[name] = {  # a new one: an alias may share the old
            **bodies[name], 'mass': float(inertia.mass),
            'center_of_mass': inertia.center_of_mass.tolist(),
            'inertia': {key[1:]: value for key, value in moments_of(inertia).items()}}
    for name, new in _changed_joints(before, after).items():
        joints[name] = joints[name] | {
            key: _steps(value) if key == 'placement' else
            value.tolist() if len(value) > 1 else float(value[0]) for key, value in new.items()}
    for old, closure in zip(before.closures, after.closures):
        if _differ(old, closure, _CLOSURE):
            spec, found = CLOSURE_TYPES[closure.type_name], content['closures']
            axes = {2: {'axis': [1.0, 0.0, 0.0], 'second_axis': [0.0, 1.0, 0.0]},
                    1: {'axis': [0.0, 0.0, 1.0]}}.get(spec.axes, {})
            found[closure.name] = found[closure.name] | axes | {
                'placement_a': _steps(closure.frame_a), 'placement_b': _steps(closure.frame_b)} | (
                    {'length': closure.length} if spec.has_length else {}) | (
                    {'tolerance': closure.tolerance} if closure.tolerance else {})
    return write_text(content)


def _differ(old: Any, new: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the attributes of a part that are others than in an old one."""
    return {key: getattr(new, key) for key in keys
            if not np.array_equal(getattr(old, key), getattr(new, key))}


def _changed_bodies(before: Model, after: Model) -> dict[str, SpatialInertia]:
    """Return the inertias that differ."""
    pairs = {name: (before.body(name).inertia, after.body(name).inertia) for name in after.bodies}
    return {name: new for name, (old, new) in pairs.items() if new is not None and (
        old is None or not np.array_equal(old.parameters(), new.parameters()))}


def _changed_joints(before: Model, after: Model) -> dict[str, dict[str, Any]]:
    return {joint.name: new for joint in after.joint_list
            if (new := _differ(before.joint(joint.name), joint, (*FORCES, 'placement')))}


def _steps(placement: Array) -> list[dict[str, list[float]]]:
    return [{'xyz': placement[:3, 3].tolist()}, {'rpy': rpy(placement[:3, :3]).tolist()}]


def _found(robot: Element, tag: str, name: str) -> Element:
    for element in robot.findall(tag):
        if element.get('name') == name:
            return element
    raise DescriptionError(f'URDF: expected a {tag} {name}, got none')
