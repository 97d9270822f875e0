# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model written as MJCF, so that MuJoCo can simulate it."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.configuration import body_poses, carriers, children_of
from liedyn_ros.model.io.xml_parts import add, document, drawn, joined, Remarks
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import Body, SpatialInertia, unphysical
from liedyn_ros.model.parts.constraints import Closure
from liedyn_ros.model.parts.geometry import IDENTITY, pose
from liedyn_ros.model.parts.joints import GROUND, Joint, JOINT_TYPES
from liedyn_ros.model.replacement import inertia_of

LEAST_MOMENT = 1e-9  # kg m^2, of a body that has none: that of a gram within a millimetre
PLACEMENT_ROUNDING = 1e-9
_LINEAR_COORDINATES = 'x', 'y', 'travel'  # coordinates of joints
_FORCE_ATTRIBUTES = {'damping': 'damping', 'friction': 'frictionloss', 'stiffness': 'stiffness',
                     'rest': 'springref', 'armature': 'armature'}
_O, _X, _Y, _Z = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_COMMON_POINTS = {  # of both frames of a closure that coincide, by its type
    'spherical': (_O,), 'revolute': (_O, _Z), 'universal': (_O,)}
_ON_LINE = (_O, _X), (_O, _Y)
_ALONG_AXIS = (*_ON_LINE, (_Z, _X), (_Z, _Y))
_POINTS_IN_PLANES = {  # points of frame b in planes of frame a through its origin, with normals
    'universal': ((_Y, _X),), 'point_on_plane': ((_O, _Z),), 'point_on_line': _ON_LINE,
    'cylindrical': _ALONG_AXIS, 'prismatic': (*_ALONG_AXIS, (_X, _Y)),
    'planar': ((_O, _Z), (_X, _Z), (_Y, _Z))}


def to_mjcf(model: Model, nearest: bool = False) -> str:
    """
    Return a model as the text of an MJCF document, with simple visuals that touch nothing.

    Joints of several axes become several of MuJoCo's, with our names of their coordinates. A body
    without mass whose one child moves becomes one more joint of that child, as MuJoCo wants mass
    in all that moves; moments that no body has are written as part of a body that is fixed to it,
    or left out where it stands on the ground. With nearest, others are written as the nearest ones
    that a body has, with a DescriptionWarning. Closures become equality constraints of sites; a
    rod is a tendon of constant length, a point in a plane has tendons of equal length to a site
    above and one below it. Couplings become those of joints or fixed tendons. Where joints are
    passive, the others get motors. The coordinates of a free joint are its pose in the ground.
    Limits of velocity and rotors are left out, other things that MJCF lacks with a
    DescriptionWarning.

    Args:
        model: a Model.
        nearest: write the nearest inertia that MuJoCo takes, where a body has another one.

    Returns:
        the text.

    Raises:
        DescriptionError: for a free joint on a body, helical closures, and bodies without mass
            that move, of moments not above zero, or named world.
        LiedynError: for anything but a Model.

    >>> to_mjcf(model)[:7]
    '<mujoco'
    """
    require_kind('model', model, Model, 'as load_model returns')
    return _Writer(model, nearest).text()


class _Writer:
    """Writes one model."""

    def __init__(self, model: Model, nearest: bool) -> None:
        self._model, self._lost = model, Remarks()
        self._root = Element('mujoco', model=model.name)
        add(self._root, 'compiler', angle='radian')
        add(self._root, 'option', gravity=model.gravity)
        self._elements: dict[str | None, Element] = {None: add(self._root, 'worldbody')}
        self._at: dict[str | None, Array] = {None: IDENTITY}  # of a body in its element
        self._drawn = body_poses(model.joint_list)
        self._inertias = _inertias(model, self._lost if nearest else None)
        self._tendons, self._equalities = add(self._root, 'tendon'), add(self._root, 'equality')

    def text(self) -> str:
        model, children = self._model, children_of(self._model.joint_list)
        held: list[Joint] = []  # joints that wait for the body with mass that they move
        used = {*(each.body for each in model.frame_list), *(each.body for each in model.rotors),
                *(body for each in model.closures for body in (each.body_a, each.body_b))}
        for joint, body in zip(model.joint_list, model.body_list):
            after = children.get(body.name, [])
            held.append(joint)
            if body.inertia is None and len(after) == 1 and JOINT_TYPES[joint.type_name].nv and (
                    'free' not in (joint.type_name, after[0].type_name)
                    and not body.visuals and body.name not in used):
                continue
            self._add_body(held, body, after)
            held = []
        for frame in model.frame_list:
            self._add_site(frame.name, frame.body, frame.placement)
        for closure in model.closures:
            self._add_closure(closure)
        self._add_couplings()
        self._add_motors()
        self._lost.warn(model.name)
        return document(self._root)

    def _add_body(self, joints: Sequence[Joint], body: Body, after: Sequence[Joint]) -> None:
        """Add a body with the joints that move it, each where it is at zero."""
        parent, last = joints[0].parent, joints[-1]
        around, placement = self._elements[parent], self._at[parent]
        for joint in joints:
            placement = placement @ joint.placement
        if body.name == GROUND:
            if parent is not None or last.type_name != 'fixed':
                raise DescriptionError(f'expected no body {GROUND} that moves, as it is the '
                                       'ground in MJCF, got one')
            self._elements[GROUND], self._at[GROUND] = around, placement
            self._draw(around, body, placement)
            return
        element = add(around, 'body', name=body.name, **_place(placement))
        self._elements[body.name], self._at[body.name] = element, IDENTITY
        moves, behind = list[Element](), IDENTITY  # the frame of a joint in that of the body
        for joint in reversed(joints):
            moves = [*self._joint(joint, behind), *moves]
            behind = behind @ se3.inverse(joint.placement)
        element.extend(moves)
        if (inertia := self._inertias[body.name]) is not None:
            add(element, 'inertial', pos=inertia.center_of_mass, mass=inertia.mass,
                fullinertia=inertia.inertia_about_com[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        elif moves and not any(
                each.type_name == 'fixed' and self._inertias[each.child] is not None
                for each in after):
            raise DescriptionError(f'body {body.name}: expected mass in all that moves, as MuJoCo '
                                   'asks for, got none')
        self._draw(element, body, IDENTITY)

    def _draw(self, element: Element, body: Body, at: Array) -> None:
        """Add the visuals of a body, and of its rotors, as shapes without mass or contact."""
        for placement, visual in drawn(self._model, body):
            halves = {'box': 0.5, 'cylinder': (1.0, 0.5)}.get(visual.shape, 1.0)
            add(element, 'geom', type=visual.shape, size=visual.size * np.array(halves),
                rgba=visual.color, mass='0', contype='0', conaffinity='0', group='1',
                **_place(at @ placement))

    def _joint(self, joint: Joint, at: Array) -> list[Element]:
        """Return the joints of MuJoCo that a joint here is, at a place in the body that moves."""
        kind, spec, name = joint.type_name, JOINT_TYPES[joint.type_name], joint.name
        if kind == 'free' and joint.parent is not None:
            raise DescriptionError(f'joint {name}: expected a free joint on the ground, as MuJoCo '
                                   f'has them, got one on {joint.parent}')
        axes: dict[str, Array] = {'z': joint.axis, 'x': joint.second_axis,
                                  'y': np.asarray(np.cross(joint.axis, joint.second_axis))}
        moves: list[tuple[str, str, Array | None]] = []
        for each, coordinate, (_, letter) in zip(
                joint.coordinate_names, spec.coordinates, spec.links):
            slides = kind == 'prismatic' or coordinate in _LINEAR_COORDINATES
            moves.append((each, 'slide' if slides else 'hinge', axes[letter]))
        if spec.nq > spec.nv:
            moves = [(name, 'free' if kind == 'free' else 'ball', None)]
        elif kind == 'helical':  # a hinge and a slide, which a constraint makes a screw
            moves.append((f'{name}/travel', 'slide', joint.axis))
            add(self._equalities, 'joint', joint1=f'{name}/travel', joint2=name,
                polycoef=(0.0, joint.pitch, 0.0, 0.0, 0.0))
        found = []
        for i, (each, type_name, axis) in enumerate(moves):
            element = Element('joint', name=each, type=type_name)
            if axis is not None:
                element.set('axis', joined(at[:3, :3] @ axis))
            if type_name in ('hinge', 'ball') and at[:3, 3].any():
                element.set('pos', joined(at[:3, 3]))
            if i < spec.nv:
                self._add_numbers(element, joint, i)
            found.append(element)
        return found

    def _add_numbers(self, element: Element, joint: Joint, i: int) -> None:
        """Add the limits and forces of a coordinate, or forces of one that turns about a point."""
        bounds, name, turns = joint.limits, element.get('name', ''), 'axis' not in element.attrib
        lower, upper, effort = (
            float(each[i]) for each in (bounds.lower, bounds.upper, bounds.effort))
        if not lower < upper:
            self._lost.add('joint', 'limits not written: MuJoCo asks for a range between them',
                           name)
        elif np.isfinite((lower, upper)).any():
            element.set('range', joined((lower, upper)))
        if 0.0 < effort < np.inf and not turns:
            element.set('actuatorfrcrange', joined((-effort, effort)))
        for ours, theirs in _FORCE_ATTRIBUTES.items():
            values = getattr(joint, ours)
            if turns and (values != values[0]).any():
                self._lost.add('joint', f'{ours} not written: MuJoCo has one for all coordinates '
                               'of a joint', name)
            elif values[i]:
                element.set(theirs, repr(float(values[i])))
        if joint.stop_stiffness[i]:
            self._lost.add('joint', 'end stops not written: MuJoCo has its own at limits', name)

    def _add_closure(self, closure: Closure) -> None:
        """Add a closure as equality constraints of sites and of tendons between them."""
        name, kind = closure.name, closure.type_name
        if kind == 'weld':
            add(self._equalities, 'weld', name=name, **self._sides(closure, name, _O, _O))
        elif kind == 'rod':
            length = self._tendon(closure, name, _O, _O)
            add(self._equalities, 'tendon', name=name, tendon1=name,
                polycoef=(closure.length - length, 0.0, 0.0, 0.0, 0.0))
        elif kind not in {*_COMMON_POINTS, *_POINTS_IN_PLANES}:
            raise DescriptionError(f'closure {name}: expected one of another type, as MJCF has '
                                   f'none that is {kind}')
        for i, point in enumerate(_COMMON_POINTS.get(kind, ())):
            label = f'{name}/{i + 1}' if i else name
            add(self._equalities, 'connect', name=label,
                **self._sides(closure, label, point, point))
        for i, (point, normal) in enumerate(_POINTS_IN_PLANES.get(kind, ()), 1):
            # As far from a point above the plane as from its image below.
            label, above = f'{name}/plane{i}', np.array(normal)
            first, second = (self._tendon(closure, f'{label}{side}', sign * above, point)
                             for side, sign in (('+', 1.0), ('-', -1.0)))
            add(self._equalities, 'tendon', name=label, tendon1=f'{label}+',
                tendon2=f'{label}-', polycoef=(second - first, 1.0, 0.0, 0.0, 0.0))

    def _sides(self, closure: Closure, label: str, point_a: ArrayLike, point_b: ArrayLike
               ) -> dict[str, str]:
        """Add a site on each body of a closure, at a point of its frame; return their names."""
        self._add_site(f'{label}/a', closure.body_a, closure.frame_a @ pose(point_a))
        self._add_site(f'{label}/b', closure.body_b, closure.frame_b @ pose(point_b))
        return {'site1': f'{label}/a', 'site2': f'{label}/b'}

    def _tendon(self, closure: Closure, label: str, point_a: ArrayLike, point_b: ArrayLike
                ) -> float:
        """Add a tendon between points of both frames; return its length as drawn, at zero."""
        spatial = add(self._tendons, 'spatial', name=label)
        for name in self._sides(closure, label, point_a, point_b).values():
            add(spatial, 'site', site=name)
        a = self._drawn[closure.body_a] @ closure.frame_a @ pose(point_a)
        b = self._drawn[closure.body_b] @ closure.frame_b @ pose(point_b)
        return float(np.linalg.norm((b - a)[:3, 3]))

    def _add_couplings(self) -> None:
        for each in self._model.couplings:
            if not each.further:
                add(self._equalities, 'joint', joint1=each.joint, joint2=each.leader,
                    polycoef=(each.offset, each.multiplier, 0.0, 0.0, 0.0))
                continue
            name = f'{each.joint}/coupling'
            fixed = add(self._tendons, 'fixed', name=name)
            for joint, factor in ((each.joint, -1.0), *each.terms):
                add(fixed, 'joint', joint=joint, coef=-factor)
            add(self._equalities, 'tendon', tendon1=name, polycoef=(each.offset, 0, 0, 0, 0))

    def _add_motors(self) -> None:
        """Add motors where some joints have none, as a file without any drives all."""
        moving = [joint for joint in self._model.joint_list if JOINT_TYPES[joint.type_name].nv]
        if all(joint.actuated != (joint.type_name == 'free') for joint in moving):
            return
        actuator = add(self._root, 'actuator')
        for joint in (each for each in moving if each.actuated):
            spec = JOINT_TYPES[joint.type_name]
            for name, gear in [(name, (1.0,)) for name in joint.coordinate_names] if (
                    spec.nq == spec.nv) else [(joint.name, row) for row in np.eye(6)[:spec.nv]]:
                add(actuator, 'motor', joint=name, gear=gear)

    def _add_site(self, name: str, body: str | None, placement: Array) -> None:
        add(self._elements[body], 'site', name=name, group='4',
            **_place(self._at[body] @ placement))


def _is_proper(inertia: SpatialInertia) -> bool:
    """Return whether MuJoCo takes it: that of a body, with moments above zero."""
    about = inertia.inertia_about_com
    return bool(about.any()) and unphysical(inertia.mass, about) is None


def _inertias(model: Model, nearest: Remarks | None) -> dict[str, SpatialInertia | None]:
    """
    Return the inertia of each body, improper ones as part of the heaviest on fixed joints.

    Those of the ground are none. For others DescriptionError is raised or, with remarks for them,
    the nearest one is returned that a body has.
    """
    at, found = carriers(model.joint_list), {body.name: body.inertia for body in model.body_list}
    proper = {name: each for name, each in found.items() if each is not None and _is_proper(each)}
    for name, inertia in list(found.items()):
        carrier, place = at[name]
        if inertia is None or name in proper:
            continue
        about, both = inertia.inertia_about_com, inertia
        keeps = max((each for each in proper if at[each][0] == carrier),
                    key=lambda each: proper[each].mass, default='')
        if keeps:
            both = inertia_of(proper[keeps].parameters() + inertia.parameters(
                se3.inverse(at[keeps][1]) @ place), physical=False)
        if carrier is None:
            found[name] = None  # it never moves
        elif _is_proper(both):
            found |= {keeps: both, name: None}
            proper[keeps] = both
        elif nearest is None:
            raise DescriptionError(f'body {name}: expected moments that a body has, as MuJoCo '
                                   f'asks for, got {about.tolist()} kg m^2')
        else:
            nearest.add('body', 'moments that no body has: written as the nearest that one has',
                        name)
            moments, turn = np.linalg.eigh(about)
            moments = np.maximum(moments, LEAST_MOMENT)
            moments[:2] += 0.5 * max(moments[2] * (1.0 + PLACEMENT_ROUNDING) - moments[0] -
                                     moments[1], 0.0)
            found[name] = SpatialInertia(inertia.mass, inertia.center_of_mass,
                                         turn * moments @ turn.T, physical=False)
    return found


def _place(placement: Array) -> dict[str, Array]:
    """Return the attributes of place and turn that are not zero."""
    place = {'pos': placement[:3, 3],
             'quat': np.roll(so3.to_quaternion(placement[:3, :3]), 1)}
    return {key: value for key, value in place.items() if value[-3:].any()}
