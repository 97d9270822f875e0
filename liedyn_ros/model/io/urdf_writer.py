# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model written as URDF, so that robot_state_publisher and RViz can show it."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np

from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.model.io.loops import FORCES, write_loops
from liedyn_ros.model.io.urdf_reader import URDF_TYPES
from liedyn_ros.model.io.xml_parts import (
    add, add_origin, add_shape, document, Remarks, warn_of_lost, write_inertial)
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import Body, Visual
from liedyn_ros.model.parts.constraints import Coupling
from liedyn_ros.model.parts.geometry import perpendicular
from liedyn_ros.model.parts.joints import GROUND, Joint

_TYPES = {ours: theirs for theirs, ours in URDF_TYPES.items()}
_NO_LIMIT = 1e308  # URDF has no infinity


def to_urdf(model: Model) -> str:
    """
    Return a model as the text of a URDF, with simple visuals.

    A single root that is free, or fixed at the origin, becomes the root link, and an element
    virtual_joint says which. Otherwise there is a root link world. Frames become links without
    mass, closures elements loop, as URDF+ has them. Gravity, rotors, and limits and forces of
    planar and floating joints are left out; couplings to several leaders, or of a joint's
    coordinate, with a DescriptionWarning. Raises DescriptionError for joints that URDF lacks, and
    closures between the ground and a base that floats, LiedynError for anything but a Model.
    """
    require_kind('model', model, Model, 'as load_model returns')
    robot = Element('robot', name=model.name)
    roots = [joint for joint in model.joint_list if joint.parent is None]
    grounded = len(roots) > 1 or roots[0].type_name not in ('free', 'fixed') or (
        roots[0].placement != np.eye(4)).any()
    if grounded:
        if GROUND in model.bodies:
            raise DescriptionError(f'expected no body {GROUND}, the root link in URDF, got one')
        add(robot, 'link', name=GROUND)
    for body in model.body_list:
        _add_link(robot, body, [
            (rotor.placement @ visual.placement, visual)
            for rotor in model.rotors if rotor.body == body.name for visual in rotor.visuals])
    couplings = {each.joint: each for each in model.couplings if not each.further
                 and {each.joint, each.leader} <= set(model.joints)}
    lost = Remarks()
    lost.add('joint', 'couplings not written: URDF couples one joint to one other', *(
        each.joint for each in model.couplings if couplings.get(each.joint) is not each))
    warn_of_lost(model, lost)
    for joint in model.joint_list if grounded else [
            each for each in model.joint_list if each.parent is not None]:
        element = _add_joint(robot, joint, couplings.get(joint.name))
        if model.closures and not joint.actuated:
            element.set('independent', 'false')
    ground = GROUND if grounded else None if roots[0].type_name == 'free' else roots[0].child
    write_loops(robot, model.closures, ground)
    for frame in model.frame_list:
        parent = ground if frame.body is None else frame.body
        if parent is None:
            raise DescriptionError(f'frame {frame.name}: expected one on a body, as URDF has no '
                                   'ground beside a floating base, got one on the ground')
        add(robot, 'link', name=frame.name)
        _start_joint(robot, f'{frame.name}_frame', 'fixed', frame.placement, parent, frame.name)
    if not grounded:  # other URDF readers ignore this element
        add(robot, 'virtual_joint', name=roots[0].name, type=_TYPES[roots[0].type_name],
                   parent_frame=GROUND, child_link=roots[0].child)
    return document(robot)


def _add_link(robot: Element, body: Body, extra: Sequence[tuple[Array, Visual]]) -> None:
    link = add(robot, 'link', name=body.name)
    if body.inertia is not None:
        write_inertial(link, body.inertia)
    shapes = [*((visual.placement, visual) for visual in body.visuals), *extra]
    for i, (placement, visual) in enumerate(shapes):
        element = add(link, 'visual')
        add_origin(element, placement)
        add_shape(element, visual, nested=False)
        # A material's name is global: a unique name keeps each colour.
        add(add(element, 'material', name=f'{body.name}_{i}'), 'color', rgba=visual.color)


def _start_joint(robot: Element, name: str, kind: str, placement: Array, parent: str, child: str
                 ) -> Element:
    element = add(robot, 'joint', name=name, type=kind)
    add_origin(element, placement)
    add(element, 'parent', link=parent)
    add(element, 'child', link=child)
    return element


def _add_joint(robot: Element, joint: Joint, coupling: Coupling | None) -> Element:
    """Add a joint and return its element."""
    if joint.type_name not in _TYPES:
        raise DescriptionError(f'joint {joint.name}: expected one of the types of URDF, '
                               f'{list(_TYPES)}, got {joint.type_name}')
    element = _start_joint(robot, joint.name, _TYPES[joint.type_name], joint.placement,
                           joint.parent or GROUND, joint.child)
    if joint.type_name in ('fixed', 'free'):
        return element
    add(element, 'axis', xyz=joint.axis)
    if joint.type_name == 'planar':
        if not np.allclose(joint.second_axis, perpendicular(joint.axis), rtol=0.0, atol=1e-12):
            raise DescriptionError(f'joint {joint.name}: expected the default second axis, the '
                                   f'only one URDF has, got {joint.second_axis}')
        return element
    bounds = joint.limits
    limits = {'effort': bounds.effort, 'velocity': bounds.velocity, **{
        key: getattr(bounds, key) for key in ('acceleration', 'jerk')
        if np.isfinite(getattr(bounds, key)).all()}}
    if joint.type_name != 'continuous':
        limits = {'lower': bounds.lower, 'upper': bounds.upper, **limits}
    add(element, 'limit', **{
        key: np.clip(value[0], -_NO_LIMIT, _NO_LIMIT) for key, value in limits.items()})
    forces = {name: float(getattr(joint, name)[0]) for name in FORCES}
    add(element, 'dynamics', **{name: value for name, value in forces.items()
                                if value != 0.0 or name in ('damping', 'friction')})
    if coupling is not None:
        add(element, 'mimic', joint=coupling.leader, multiplier=coupling.multiplier,
            offset=coupling.offset)
    return element
