# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Model files with new masses, inertias and joint forces; everything else stays as it was."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.yaml_reader import read_text, write_text
from liedyn_ros.model.io.urdf_loops import write_loop
from liedyn_ros.model.io.xml_parts import (
    add, add_origin, document, moments_of, rpy, write_inertial)
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.constraints import Closure, CLOSURE_TYPES
from liedyn_ros.model.parts.inertia import SpatialInertia

FORCES = 'damping', 'friction', 'armature'  # of joints, that recordings tell


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
    for name, forces in _changed_joints(before, after).items():
        joint = _found(robot, 'joint', name)
        dynamics = joint.find('dynamics')
        dynamics = add(joint, 'dynamics') if dynamics is None else dynamics
        for key, values in forces.items():
            dynamics.set(key, repr(_one(name, values)))
    for name, placement in _moved_joints(before, after).items():
        add_origin(_found(robot, 'joint', name), placement)
    for closure in _moved_closures(before, after):
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
    for name, forces in _changed_joints(before, after).items():
        joints[name] = {**joints[name], **{
            key: values.tolist() if len(values) > 1 else float(values[0])
            for key, values in forces.items()}}
    for name, placement in _moved_joints(before, after).items():
        joints[name] = {**joints[name], 'placement': _steps(placement)}
    for closure in _moved_closures(before, after):
        content['closures'][closure.name] = {
            **content['closures'][closure.name], **_of_closure(closure)}
    return write_text(content)


def _changed_bodies(before: Model, after: Model) -> dict[str, SpatialInertia]:
    """Return the inertias that differ."""
    found = {}
    for name in after.bodies:
        old, new = before.body(name).inertia, after.body(name).inertia
        if new is not None and (
                old is None or not np.array_equal(old.parameters(), new.parameters())):
            found[name] = new
    return found


def _changed_joints(before: Model, after: Model) -> dict[str, dict[str, Any]]:
    """Return the forces that differ, by joint."""
    found: dict[str, dict[str, Any]] = {}
    for joint in after.joint_list:
        old = before.joint(joint.name)
        different: dict[str, Any] = {
            key: getattr(joint, key) for key in FORCES
            if not np.array_equal(getattr(old, key), getattr(joint, key))}
        if different:
            found[joint.name] = different
    return found


def _steps(placement: Array) -> list[dict[str, list[float]]]:
    return [{'xyz': placement[:3, 3].tolist()},
            {'rpy': rpy(placement[:3, :3]).tolist()}]


def _moved_joints(before: Model, after: Model) -> dict[str, Array]:
    """Return the placements that differ, by joint."""
    return {joint.name: joint.placement for joint in after.joint_list
            if not np.array_equal(before.joint(joint.name).placement, joint.placement)}


def _moved_closures(before: Model, after: Model) -> list[Closure]:
    """Return the closures whose frames, length or tolerance differ."""
    return [new for old, new in zip(before.closures, after.closures)
            if (old.length, old.tolerance) != (new.length, new.tolerance)
            or not np.array_equal(old.frame_a, new.frame_a)
            or not np.array_equal(old.frame_b, new.frame_b)]


def _of_closure(closure: Closure) -> dict[str, Any]:
    """Return frames, their axes, length and tolerance of a closure, as a YAML file has them."""
    spec = CLOSURE_TYPES[closure.type_name]
    found: dict[str, Any] = {
        'placement_a': _steps(closure.frame_a), 'placement_b': _steps(closure.frame_b)}
    if spec.axes:
        found['axis'] = [1.0, 0.0, 0.0] if spec.axes == 2 else [0.0, 0.0, 1.0]
    if spec.axes == 2:
        found['second_axis'] = [0.0, 1.0, 0.0]
    if spec.has_length:
        found['length'] = closure.length
    if closure.tolerance:
        found['tolerance'] = closure.tolerance
    return found


def _found(robot: Element, tag: str, name: str) -> Element:
    for element in robot.findall(tag):
        if element.get('name') == name:
            return element
    raise DescriptionError(f'URDF: expected a {tag} {name}, got none')


def _one(name: str, values: Any) -> float:
    if len(values) != 1:
        raise DescriptionError(f'joint {name}: expected one coordinate, as URDF has forces for, '
                               f'got {len(values)}')
    return float(values[0])
