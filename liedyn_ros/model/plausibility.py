# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Numbers of a machine that are hardly in kg and m, each named with what they come to."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
import math

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.model.configuration import body_poses
from liedyn_ros.model.model import Model

Shape = tuple[Array, float]  # a place (3,) in the frame of a body, and the reach around it, m
DENSEST = 22590.0  # kg/m^3, osmium
_ELSEWHERE = 'in kg mm^2, or about another point than the centre of mass?'
LIGHTEST = 1e-5  # kg/m^3, mass per cube of the size: a machine all in mm has 1e-9 of its own
# A wrong unit of length is a factor of 1000; more than halfway to it, by factors, is in doubt.
DENSITY_FACTOR = math.sqrt(1000.0)
MAX_MESHES = 20  # bodies whose meshes are read, which takes time
UNLIMITED_VALUE = 1000.0  # of an angle, from which on a number says that there is none
MAX_JOINT_TURNS = 4  # of a joint, beyond which its limits are taken for degrees
_SEEN = 1e-6  # of mass times size squared: below, six digits of a file show nothing


def implausible(model: Model, shapes: Callable[[str], Iterable[Shape]] = lambda body: (),
                drawn: Container[str] = ()) -> Iterator[tuple[str, str, str]]:
    """
    Name masses, inertias and centres of mass that are far from what the lengths allow.

    Models of files have these as warnings. The lengths are the distances between joints at zero,
    and the sizes of visuals.

    Args:
        model: to judge.
        shapes: of a body, by its name. It is asked where a centre of mass is beyond its joints,
            and off by half of what is between all joints: meshes take a process to read.
        drawn: names of bodies that have shapes beside their visuals here.

    Returns:
        the kind of a part, a text and the part's name, for each that is found; the first and last
        are empty for the whole machine.

    >>> list(implausible(model))
    []
    """
    spans, arms, wide = _lengths(model)
    size = wide + max(spans.values(), default=0.0)
    yield from _limits(model, size)
    yield from _massless(model, drawn)
    if not size > 0.0:
        return
    stated = f'mass of {model.mass:.6g} kg in a machine of {size:.3g} m between its joints'
    if model.mass > DENSEST * size**3:
        yield '', f'{stated}: denser than any metal; masses in g, or lengths not in m?', ''
    asked, dense, ratios = 0, 0.0, list[float]()
    for body in model.body_list:
        name, inertia, span = body.name, body.inertia, spans.get(body.name, 0.0)
        if inertia is None or not inertia.mass > 0.0:
            continue
        away = float(np.linalg.norm(inertia.center_of_mass))
        if away > size:
            yield ('centres of mass of', f'farther out than the machine is wide, {size:.3g} m; '
                   'in mm?', f'{name} ({away:.3g} m from the frame of its body)')
        elif asked < MAX_MESHES and away > max(0.5 * wide, span, arms.get(name, 0.0)):
            asked += 1
            yield from _beyond_shapes(name, inertia.center_of_mass, shapes(name))
        if np.trace(inertia.inertia_about_com) < _least_trace(inertia.mass):
            dense += inertia.mass
        moment = float(np.linalg.eigvalsh(inertia.inertia_about_com)[-1])
        radius = math.sqrt(max(0.0, moment / inertia.mass))
        if radius > size and moment > _SEEN * model.mass * size**2:
            yield 'inertias of', f'wider than the machine, {size:.3g} m; {_ELSEWHERE}', (
                f'{name} ({moment:.3g} kg m^2 for {inertia.mass:.3g} kg: on average {radius:.3g} '
                'm from its centre)')
        if moment > 0.0 and span > 0.0:
            ratios.append(radius / span)
    yield from _out_of_proportion(model.mass, size, stated, dense, ratios)


def _out_of_proportion(mass: float, size: float, stated: str, dense: float, ratios: list[float]
                       ) -> Iterator[tuple[str, str, str]]:
    """Yield doubts about a mass, lengths and inertias that do not fit together."""
    if dense > 0.5 * mass:
        yield '', (f'masses: {dense:.6g} kg of {mass:.6g} kg are in bodies whose inertias '
                   'make them denser than any metal: masses in g, or inertias made up?'), ''
    if ratios and float(np.median(ratios)) < 1.0 / DENSITY_FACTOR:
        yield '', (f'lengths of {size:.3g} m with inertias of bodies that are '
                   f'{1.0 / float(np.median(ratios)):.3g} times smaller, by the median: lengths '
                   'in mm, or inertias made up?'), ''
    elif 0.0 < mass < LIGHTEST * size**3:
        yield '', f'{stated}: lighter than any machine of that size; lengths in mm?', ''


def _massless(model: Model, drawn: Container[str]) -> Iterator[tuple[str, str, str]]:
    """Name links that move and have shapes, without a mass on them or on what is fixed to them."""
    if model.nv and not model.mass:
        yield '', 'no link has a mass: the efforts of gravity and of motion are all 0', ''
        return
    held: dict[str, str | None] = {}  # by body, the one that it is fixed to; None for the ground
    for joint in model.joint_list:
        held[joint.child] = joint.child if joint.type_name != 'fixed' else (
            None if joint.parent is None else held[joint.parent])
    heavy = {held[body.name] for body in model.body_list
             if body.inertia is not None and body.inertia.mass} | {None}
    for body in model.body_list:
        if held[body.name] not in heavy and (body.visuals or body.name in drawn):
            yield 'link', ('no mass, though a joint moves them and they have shapes (visual or '
                           'collision geometry); their weight is missing'), body.name


def _least_trace(mass: float) -> float:
    """Return the least trace of an inertia of a mass, kg: that of a ball of the densest metal."""
    return 1.2 * mass * (0.75 * mass / (math.pi * DENSEST))**(2.0 / 3.0)


def _beyond_shapes(name: str, center: Array, shapes: Iterable[Shape]
                   ) -> Iterator[tuple[str, str, str]]:
    """Name a centre of mass (3,) that is far from each shape of its body."""
    there = [(float(np.linalg.norm(center - at)), reach) for at, reach in shapes if reach > 0.0]
    if there and all(apart > 2.0 * reach for apart, reach in there):
        apart, reach = min(there)
        yield 'centres of mass of', (
            'more than twice as far out as the farthest point of each shape of the body; '
            'in the frame of another body?'
            ), f'{name} ({apart:.3g} m from a shape that ends at {reach:.3g} m)'


def _limits(model: Model, size: float) -> Iterator[tuple[str, str, str]]:
    """Name limits of one coordinate that look like degrees or mm, and those of one position."""
    bodies = {body.name for body in model.body_list if body.inertia is not None}
    for joint in model.joint_list:
        if joint.type_name in ('revolute', 'prismatic'):
            lower, upper = float(joint.limits.lower[0]), float(joint.limits.upper[0])
            if lower == upper:
                yield 'joint', (
                    'a range of one position in limit, used as it is: they cannot move in it; in '
                    'URDF 1.0 and 1.1 lower and upper are 0 where not given'), joint.name
            elif joint.type_name == 'revolute' and any(
                    MAX_JOINT_TURNS * 2.0 * math.pi < abs(each) < UNLIMITED_VALUE
                    for each in (lower, upper)):
                yield 'joint', (f'limits beyond {MAX_JOINT_TURNS} turns; they are in rad, and '
                                f'these '
                                'look like degrees'), joint.name
            elif joint.type_name == 'prismatic' and joint.parent in bodies and (
                    0.0 < DENSITY_FACTOR * size < upper - lower < math.inf):
                yield 'joint', (f'a travel of more than {DENSITY_FACTOR:.0f} times the size of '
                                f'the machine, {size:.3g} m; in mm?'
                                ), f'{joint.name} ({upper - lower:.3g} m)'


def _lengths(model: Model) -> tuple[dict[str, float], dict[str, float], float]:
    """
    Return the lengths of a machine, m, by body where there are some.

    They are the distance to the farthest joint on a body or end of a visual; that from the joint
    before to a body's own; and the diagonal of what is between all joints at zero.
    """
    spans, arms = dict[str, float](), dict[str, float]()
    for joint in model.joint_list:
        if joint.parent is not None:
            reach = float(np.linalg.norm(joint.placement[:3, 3]))
            spans[joint.parent] = max(spans.get(joint.parent, 0.0), reach)
            arms[joint.child] = reach
    for body in model.body_list:
        for each in body.visuals:
            spans[body.name] = max(spans.get(body.name, 0.0), float(
                np.linalg.norm(each.placement[:3, 3]) + np.linalg.norm(each.size)))
    places = np.array([pose[:3, 3] for name, pose in body_poses(model.joint_list).items() if name])
    return spans, arms, float(np.linalg.norm(np.ptp(places, axis=0)))
