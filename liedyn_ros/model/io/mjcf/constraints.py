# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Equality constraints of MJCF: closures between bodies, couplings of joints and of tendons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.mjcf.document import Document, moving_content

_UNREAD = 'write it as a closure or a coupling with annotate'
_AS_FUNCTION = 'give ConstrainedDynamics the functions of mjcf_functions'
_Value = TypeVar('_Value')
Place = tuple[str | None, Array]  # a body, None for the ground, and a pose in it
_Sum = tuple[dict[str, float], float]  # factors of joints, and the value where the file has them


class Polynomial(NamedTuple):
    """
    A relation of joints that is no coupling: y - y0 = a + b (x - x0) + ... + e (x - x0)^4.

    of and by are y and x, sums of joints by name, with y0 and x0. by is empty where y is held
    still. terms are a to e.
    """

    name: str
    of: _Sum
    by: _Sum
    terms: tuple[float, ...]


@dataclass
class Machine:
    """
    What a document names: initial poses of its bodies, sites, initial positions of joints.

    polynomials are its relations of joints that no coupling describes.
    """

    poses: dict[str | None, Array]
    sites: dict[str, Place]
    joints: dict[str, float]
    polynomials: list[Polynomial]


def add_equalities(document: Document, builder: ModelBuilder, machine: Machine) -> None:
    """Add the constraints of a document; what is not read has a warning."""
    number = 0
    for equality in document.root.each('equality'):
        for each in moving_content(equality):
            name = each.value.get('name') or f'{each.value.tag}_{number}'
            number += 1
            constraint = document.with_defaults(each, None, 'equality')
            if not document.flag(constraint, 'active', True):
                builder.add_warning(f'equality {name}: not active, left out')
            elif each.value.tag in ('connect', 'weld'):
                _add_closure(document, builder, machine, name, constraint)
            elif each.value.tag in ('joint', 'tendon'):
                _add_coupling(document, builder, machine, name, constraint)
            else:
                builder.add_warning(f'equality {name} of type {each.value.tag}: not read: '
                                    f'{_UNREAD}')


def _add_closure(document: Document, builder: ModelBuilder, machine: Machine, name: str,
                 each: Element) -> None:
    """
    Add a connect or a weld; MuJoCo closes it where the bodies are in the file.

    A weld whose torquescale is zero holds its point alone.
    """
    weld = each.value.tag == 'weld'
    if 'site1' in each.value.attrib:
        (body_a, frame_a), (body_b, frame_b) = (
            _named(each, side, machine.sites) for side in ('site1', 'site2'))
    else:
        body_a = _body(each, 'body1', machine)
        body_b = _body(each, 'body2', machine) if 'body2' in each.value.attrib else None
        between = np.linalg.inv(machine.poses[body_b]) @ machine.poses[body_a]
        point = np.eye(4)
        point[:3, 3] = each.numbers('anchor', 3, *(((0.0, 0.0, 0.0),) if weld else ()))
        if not weld:
            frame_a, frame_b = point, between @ point
        else:
            frame_a, frame_b = np.linalg.inv(between) @ point, point
            relative = each.numbers('relpose', 7, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            if any(relative[3:]):  # the pose of body 2 in body 1; zeros for that of the file
                quaternion = np.roll(relative[3:], -1) / np.linalg.norm(relative[3:])
                frame_a = se3.from_rotation_translation(
                    so3.from_quaternion(quaternion), np.array(relative[:3]))
    turns = not weld or each.number('torquescale', 1.0) == 0.0
    with each.context():
        builder.add_closure(name, 'spherical' if turns else 'weld', body_a, body_b,
                            placement_a=frame_a, placement_b=frame_b)


def _add_coupling(document: Document, builder: ModelBuilder, machine: Machine, name: str,
                  each: Element) -> None:
    """
    Add a relation of two joints or two fixed tendons where it is linear.

    y - y0 = a + b (x - x0), where y0 and x0 are their values in the pose of the file.
    """
    terms = [0.0, 1.0, 0.0, 0.0, 0.0]
    given = each.value.get('polycoef')
    if given is not None:
        numbers = each.numbers('polycoef', len(given.split()))
        terms[:len(numbers)] = numbers
    sums = _joints(each, machine) if each.value.tag == 'joint' else _tendons(
        document, each, machine)
    if sums is None:
        builder.add_warning(f'equality {name} of type {each.value.tag}: not a sum of joints, '
                            f'not read: {_UNREAD}')
        return
    if any(terms[2:]):
        machine.polynomials.append(Polynomial(name, *sums, tuple(terms)))
        builder.add_warning(f'equality {name} of type {each.value.tag}: not linear in joints, '
                            f'not read: {_AS_FUNCTION}')
        return
    (first, y0), (second, x0) = sums
    factors = {joint: -factor for joint, factor in first.items()}
    for joint, factor in second.items():
        factors[joint] = factors.get(joint, 0.0) + terms[1] * factor
    follower = next((joint for joint in first if factors[joint] != 0.0), None)
    leaders = {joint: factor for joint, factor in factors.items()
               if joint != follower and factor != 0.0}
    if follower is None or not leaders:
        machine.polynomials.append(Polynomial(name, *sums, tuple(terms)))
        builder.add_warning(f'equality {name}: it holds one joint still, not read: lock the joint '
                            f'with ModelBuilder.lock_joint, or {_AS_FUNCTION}')
        return
    scale = -1.0 / factors[follower]
    (leader, factor), *further = leaders.items()
    with each.context():
        builder.add_coupling(follower, leader, scale * factor,
                             scale * (y0 + terms[0] - terms[1] * x0),
                             {joint: scale * factor for joint, factor in further})


def _joints(each: Element, machine: Machine) -> tuple[_Sum, _Sum]:
    first = each.text('joint1')
    y0 = _named(each, 'joint1', machine.joints)
    if 'joint2' not in each.value.attrib:
        return ({first: 1.0}, y0), ({}, 0.0)
    return ({first: 1.0}, y0), ({each.text('joint2'): 1.0}, _named(each, 'joint2', machine.joints))


def _tendons(document: Document, each: Element, machine: Machine) -> tuple[_Sum, _Sum] | None:
    """Return the joints of two fixed tendons, or None where one is not fixed."""
    fixed = {tendon.text('name'): tendon for group in document.root.each('tendon')
             for tendon in group.each('fixed') if tendon.value.get('name')}
    sums: list[_Sum] = []
    for side in ('tendon1', 'tendon2'):
        if side == 'tendon2' and side not in each.value.attrib:
            sums.append(({}, 0.0))
            continue
        if each.text(side) not in fixed:
            return None
        factors: dict[str, float] = {}
        value = 0.0
        for joint in fixed[each.text(side)].each('joint'):
            factor = joint.number('coef')
            value += factor * _named(joint, 'joint', machine.joints)
            factors[joint.text('joint')] = factors.get(joint.text('joint'), 0.0) + factor
        sums.append((factors, value))
    return sums[0], sums[1]


def _body(each: Element, attribute: str, machine: Machine) -> str | None:
    name = each.text(attribute)
    if name == 'world':
        return None
    _named(each, attribute, machine.poses)
    return name


def _named(each: Element, attribute: str, table: Mapping[Any, _Value]) -> _Value:
    name = each.text(attribute)
    if name not in table:
        each.fail(f'a name of {sorted(key for key in table if key)}', repr(name))
    return table[name]
