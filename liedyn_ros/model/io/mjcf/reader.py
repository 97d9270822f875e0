# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MJCF, the model format of MuJoCo, with its equality constraints."""

from collections.abc import Iterator
from dataclasses import replace
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.lie import se3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.mjcf.compiler import Compiled, compiled, Document, placed
from liedyn_ros.model.io.xml_parts import mesh_reach, model_of_file
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.geometry import axis_frame, perpendicular, pose
from liedyn_ros.model.parts.inertia import SpatialInertia
from liedyn_ros.model.plausibility import Shape

_TYPES = 'free', 'spherical', 'prismatic', 'revolute'  # by MuJoCo's numbers
_SIZES = (7, 6), (4, 3), (1, 1), (1, 1)  # in q and in v
_START = 'qpos0'
_UNREAD = 'not read: write it as a closure or a coupling with annotate'
_AS_FUNCTION = 'give ConstrainedDynamics the functions of mjcf_functions'
_SAME = 1e-9  # m: what numbers written in full may differ by
_Sum = tuple[dict[str, float], float]  # factors of joints, and the value where the file has them
_NONE: _Sum = {}, 0.0
_AXIAL = 2  # joints from this number on have one axis: slide, hinge
_TENDON = {  # what a tendon may have, what it is, and the flags that turn it off
    'stiffness': ('spring', 'SPRING', 'PASSIVE'), 'damping': ('damper', 'DAMPER', 'PASSIVE'),
    'frictionloss': ('friction', 'FRICTIONLOSS', 'CONSTRAINT'), 'armature': ('inertia',),
    'limited': ('range', 'LIMIT', 'CONSTRAINT')}


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


def load_mjcf(source: str | os.PathLike[str], *, gravity: ArrayLike | None = None) -> Model:
    """
    Return the model that an MJCF file, or a text that starts with '<', describes.

    MuJoCo compiles it. A joint beside the origin of its body, or one of several, moves a massless
    body named body/joint. Parts without a name are body_N and joint_N, by MuJoCo's numbers.
    Equality constraints become closures and couplings, sites frames, keyframes and `qpos0`
    `configurations`. gravity (3,) is that of the file by default. Whatever else would change the
    dynamics has a DescriptionWarning.

    Raises DescriptionError naming the file, with MuJoCo's words for what it refuses, and where
    the package mujoco is not installed.
    """
    document = Document(source)
    there = compiled(document)
    return model_of_file(document.name, lambda: _Reader(there, document, gravity).model(),
                         lambda body: _shapes(there, document, body))


def polynomials_of(source: str | os.PathLike[str]) -> tuple[Polynomial, ...]:
    """Return the relations of joints of an MJCF file or text that no coupling describes."""
    document = Document(source)
    reader = _Reader(compiled(document), document, None)
    reader.model()
    return tuple(reader.polynomials)


class _Reader:
    """Reads one compiled model; polynomials are relations of joints that no coupling describes."""

    def __init__(self, compiled: Compiled, document: Document, gravity: ArrayLike | None) -> None:
        self._there, there = compiled, compiled.model
        if there.nbody < 2:
            document.root.fail('at least one body', 'none')
        if gravity is None:
            gravity = np.zeros(3) if compiled.is_off('GRAVITY') else there.opt.gravity
        self._builder = ModelBuilder(document.root.value.get('model') or 'MuJoCo Model', gravity)
        # Joints that actuators drive, and what those add to joints of one axis, by gear squared.
        self._driven = set[int]()
        self._motors: dict[tuple[str, int], float] = {}
        self._beyond = list[bool]()  # for each actuator, whether it adds to other things
        for i in range(len(there.actuator_trntype)):
            way = compiled.moved_by(i)
            self._driven.update(joint for joint, _ in way)
            given = {key: np.ravel(getattr(there, f'actuator_{key}')[i])  # none in MuJoCo 3.3
                     for key in ('armature', 'damping') if hasattr(there, f'actuator_{key}')}
            axial = len(way) == 1 and there.jnt_type[way[0][0]] >= _AXIAL
            for key, values in given.items() if axial else ():
                (joint, gear), = way
                self._motors[key, joint] = self._motors.get(
                    (key, joint), 0.0) + gear**2 * float(values[0])
            self._beyond.append(not axial and any(values.any() for values in given.values()))
        self.polynomials: list[Polynomial] = []

    def model(self) -> Model:
        there, builder = self._there.model, self._builder
        for i, name in enumerate(self._there.bodies):
            if name is not None:
                builder.add_body(name, _inertia(there, i))
                self._move(i, name)
        self._add_equalities()
        builder.add_warning(*_unread(self._there, self._beyond))
        model = builder.build()
        for i in range(there.nsite):
            name = self._there.name('SITE', i)
            if name:
                used = name in model.frames or name in model.joints
                model = model.with_frame(
                    f'{name}/site' if used else name, *self._there.site(i))
        return replace(model, configurations=_configurations(self._there))

    def _move(self, number: int, body: str) -> None:
        """Add the joints of a body, with massless bodies between them."""
        there, builder = self._there.model, self._builder
        parent = self._there.bodies[there.body_parentid[number]]
        placement = placed(there.body_pos[number], there.body_quat[number])
        first, count = there.body_jntadr[number], there.body_jntnum[number]
        for i in range(first, first + count):
            name, kind = self._there.joints[i], _TYPES[there.jnt_type[i]]
            if kind == 'free':
                self._add_joint(i, None, body, np.eye(4))
                return
            offset = pose(there.jnt_pos[i] * (kind != 'prismatic'))
            last = i == first + count - 1 and not offset[:3, 3].any()
            child = body if last else f'{body}/{name}'
            self._add_joint(i, parent, child, placement @ offset)
            if last:
                return
            builder.add_body(child, None)
            parent, placement = child, se3.inverse(offset)
        builder.add_joint(f'{body}/fixed', 'fixed', parent, body, placement=placement)

    def _add_joint(self, i: int, parent: str | None, child: str, placement: Array) -> None:
        """Add a joint; its coordinate is ref where the file draws it."""
        there, name, kind = self._there.model, self._there.joints[i], _TYPES[
            self._there.model.jnt_type[i]]
        at, reference = there.jnt_dofadr[i], there.qpos0[there.jnt_qposadr[i]]
        forces = {'friction': 0.0 if self._there.is_off('FRICTIONLOSS', 'CONSTRAINT')
                  else float(there.dof_frictionloss[at]),
                  'damping': 0.0 if self._there.is_off('DAMPER', 'PASSIVE')
                  else float(there.dof_damping[at]) + self._motors.get(('damping', i), 0.0)}
        axis, limits, spring = None, dict[str, float](), dict[str, float]()
        if kind in ('revolute', 'prismatic'):
            axis = np.array(there.jnt_axis[i])
            half = -0.5 * reference
            placement = placement @ (pose(-reference * axis) if kind == 'prismatic' else placed(
                np.zeros(3), np.array((np.cos(half), *(np.sin(half) * axis)))))
            if there.jnt_limited[i] and np.isfinite(there.jnt_range[i]).any():
                limits = dict(zip(('lower', 'upper'), there.jnt_range[i].tolist()))
            elif kind == 'revolute':
                kind = 'continuous'
            if there.jnt_actfrclimited[i]:
                limits['effort'] = float(abs(there.jnt_actfrcrange[i]).max())
            spring = {'armature': float(
                there.dof_armature[at] + self._motors.get(('armature', i), 0.0))}
            if not self._there.is_off('SPRING', 'PASSIVE'):
                spring |= {'stiffness': float(there.jnt_stiffness[i]),
                           'rest': float(there.qpos_spring[there.jnt_qposadr[i]])}
        self._builder.add_joint(
            name, kind, parent, child, placement=placement, axis=axis, limits=limits,
            actuated=not self._beyond or i in self._driven, **forces, **spring)

    def _add_equalities(self) -> None:
        """Add the equality constraints; unread ones have a warning."""
        there = self._there.model
        if there.neq and self._there.is_off('EQUALITY', 'CONSTRAINT'):
            self._builder.add_warning('option flag equality: constraints are off, left out')
            return
        for i in range(there.neq):
            kind = self._there.lib.mjtEq(there.eq_type[i]).name.removeprefix('mjEQ_').lower()
            name = self._there.name('EQUALITY', i) or f'{kind}_{i}'
            left = self._read(i, kind, name) if there.eq_active0[i] else 'not active, left out'
            if left:
                self._builder.add_warning(f'equality {name} of type {kind}: {left}')

    def _read(self, i: int, kind: str, name: str) -> str | None:
        """Add a constraint, or return why it is left out."""
        there = self._there.model
        pair, terms = (int(there.eq_obj1id[i]), int(there.eq_obj2id[i])), there.eq_data[i, :5]
        if kind in ('connect', 'weld'):
            return self._add_closure(i, name, kind == 'weld', pair)
        if kind not in ('joint', 'tendon'):
            return _UNREAD
        of, by = map(self._joint if kind == 'joint' else self._tendon, pair)
        if of is None or by is None:
            return self._add_distance(name, terms.tolist(), pair)
        return self._add_coupling(name, terms.tolist(), of, by)

    def _add_closure(self, i: int, name: str, weld: bool, pair: tuple[int, int]) -> str | None:
        """Add a connect or a weld; a weld whose torquescale is zero holds its point alone."""
        there, data = self._there.model, self._there.model.eq_data[i]
        if int(there.eq_objtype[i]) == self._there.lib.mjtObj.mjOBJ_SITE:
            (body_a, frame_a), (body_b, frame_b) = map(self._there.site, pair)
        else:
            body_a, body_b = (self._there.bodies[each] for each in pair)
            frame_a, frame_b = pose(data[:3]), pose(data[3:6])
            if weld:  # the anchor is of body 2, the pose of body 2 is in body 1
                frame_a, frame_b[:3, 3] = placed(data[3:6], data[6:10]), data[:3]
        if body_a == body_b:
            return 'between two points of one body, left out'
        self._builder.add_closure(
            name, 'weld' if weld and data[10] != 0.0 else 'spherical', body_a, body_b,
            placement_a=frame_a, placement_b=frame_b)
        return None

    def _add_coupling(self, name: str, terms: list[float], of: _Sum, by: _Sum) -> str | None:
        """
        Add a relation of two sums of joints where it is linear.

        y - y0 = a + b (x - x0), where y0 and x0 are their values in the pose of the file.
        """
        (first, y0), (second, x0) = of, by
        factors = {joint: -factor for joint, factor in first.items()}
        for joint, factor in second.items():
            factors[joint] = factors.get(joint, 0.0) + terms[1] * factor
        follower = next((joint for joint in first if factors[joint] != 0.0), '')
        leaders = [(joint, factor) for joint, factor in factors.items()
                   if joint != follower and factor != 0.0]
        if any(terms[2:]) or not follower or not leaders:
            self.polynomials.append(Polynomial(name, of, by, tuple(terms)))
            return ('not linear in joints, not read: ' if any(terms[2:]) else 'it holds one joint '
                    'still, not read: lock the joint with ModelBuilder.lock_joint, or '
                    ) + _AS_FUNCTION
        scale = -1.0 / factors[follower]
        (leader, factor), *further = leaders
        self._builder.add_coupling(follower, leader, scale * factor,
                                   scale * (y0 + terms[0] - terms[1] * x0),
                                   {joint: scale * factor for joint, factor in further})
        return None

    def _joint(self, number: int) -> _Sum:
        there = self._there.model
        return _NONE if number < 0 else (
            {self._there.joints[number]: 1.0}, float(there.qpos0[there.jnt_qposadr[number]]))

    def _tendon(self, number: int) -> _Sum | None:
        """Return the joints of a fixed tendon, or None for another."""
        parts = self._there.sum_of(number) if number >= 0 else []
        if not parts:
            return None if parts is None else _NONE
        factors: dict[str, float] = {}
        for joint, factor in parts:
            name = self._there.joints[joint]
            factors[name] = factors.get(name, 0.0) + factor
        return factors, float(self._there.model.tendon_length0[number])

    def _ends(self, number: int) -> list[tuple[str | None, Array]]:
        """Return the two sites of a tendon between two, none for another."""
        there = self._there.model
        first, count = int(there.tendon_adr[number]), int(there.tendon_num[number])
        wraps = range(first, first + count) if number >= 0 and count == 2 else ()
        return [self._there.site(there.wrap_objid[i]) for i in wraps
                if int(there.wrap_type[i]) == self._there.lib.mjtWrap.mjWRAP_SITE]

    def _add_distance(self, name: str, terms: list[float], pair: tuple[int, int]) -> str | None:
        """Add a rod, or a point as far from one site as from another: a point on a plane."""
        lengths, left = self._there.model.tendon_length0, (
            f'no sum of joints and no distance of two bodies, {_UNREAD}')
        ends, others = map(self._ends, pair)
        if len(ends) != 2 or any(terms[2:]):
            return left
        (body_a, frame_a), (body_b, frame_b) = ends
        length = float(lengths[pair[0]] + terms[0])
        if body_a == body_b or not length > 0.0:
            return left
        if pair[1] < 0:
            self._builder.add_closure(name, 'rod', body_a, body_b, placement_a=frame_a,
                                      placement_b=frame_b, length=length)
            return None
        if len(others) != 2 or terms[1] != 1.0 or abs(length - lengths[pair[1]]) > _SAME:
            return left
        (again_a, image), (again_b, same) = others
        if (body_a, body_b) != (again_a, again_b) or abs((same - frame_b)[:3, 3]).max() > _SAME:
            return left
        normal = frame_a[:3, 3] - image[:3, 3]
        normal = normal / np.linalg.norm(normal)
        plane = pose(0.5 * (frame_a[:3, 3] + image[:3, 3]))
        plane[:3, :3] = axis_frame(normal, perpendicular(normal))
        self._builder.add_closure(name, 'point_on_plane', body_a, body_b, placement_a=plane,
                                  placement_b=pose(frame_b[:3, 3]))
        return None


def _inertia(there: Any, number: int) -> SpatialInertia | None:
    """Return the inertia of a body, from its principal moments."""
    mass = float(there.body_mass[number])
    if not (mass or there.body_inertia[number].any()):  # boundinertia gives one without mass, too
        return None
    at = placed(there.body_ipos[number], there.body_iquat[number])
    about = at[:3, :3] @ np.diag(there.body_inertia[number]) @ at[:3, :3].T
    return SpatialInertia(mass, at[:3, 3], 0.5 * (about + about.T), physical=False)


def _shapes(compiled: Compiled, document: Document, body: str) -> Iterator[Shape]:
    """Yield the shapes of a body; meshes that give no mass are read for it where they are."""
    there = compiled.model
    for i in np.flatnonzero(there.geom_bodyid == (
            compiled.bodies.index(body) if body in compiled.bodies else -1)):
        mesh = int(there.geom_dataid[i])
        name = compiled.name('MESH', mesh) if mesh >= 0 else ''
        if name not in compiled.unread:
            yield np.array(there.geom_pos[i]), float(there.geom_rbound[i])
            continue
        file, folder = compiled.unread[name]
        try:
            reach = mesh_reach(document.path(file, folder), there.mesh_scale[mesh])
        except DescriptionError:
            continue
        at = placed(there.geom_pos[i], there.geom_quat[i]) @ se3.inverse(
            placed(there.mesh_pos[mesh], there.mesh_quat[mesh]))
        yield at[:3, 3], reach


def _configurations(compiled: Compiled) -> dict[str, Array]:
    """Return the named configurations (nq,) of a file, and the one in which it is drawn."""
    there = compiled.model
    rows = {_START: there.qpos0, **{compiled.name('KEY', i) or f'key_{i}': there.key_qpos[i]
                                    for i in range(there.nkey)}}
    found = {}
    for name, row in rows.items():
        q = np.array(row)
        for kind, at in zip(there.jnt_type, there.jnt_qposadr):
            end = at + _SIZES[kind][0]
            if end - at > 1:  # a quaternion, w first
                turn = np.roll(q[end - 4:end], -1)
                q[end - 4:end] = turn / np.linalg.norm(turn)
        q.setflags(write=False)
        found[name] = q
    return found


def _unread(compiled: Compiled, beyond: list[bool]) -> Iterator[str]:
    """Yield a warning for each unread part that would change the dynamics, with a remedy."""
    there, named = compiled.model, compiled.named
    yield from (f'MuJoCo: {" ".join(each.split())}' for each in compiled.remarks)
    several = there.jnt_type < _AXIAL

    def of_joint(rows: Array) -> list[bool]:
        return [bool(np.any(rows[there.dof_jntid == i])) for i in range(there.njnt)]

    for kind, chosen, text in (
            ('joint', several * of_joint(there.dof_armature),
             'armature of a ball or free joint not read: add it to the mass matrix'),
            ('joint', several & there.jnt_stiffness.astype(bool),
             'stiffness of a ball or free joint not read: add the spring to the efforts'),
            ('joint', of_joint(getattr(there, 'dof_dampingpoly', there.dof_damping * 0)),
             'damping beyond its first number not read'),
            ('joint', getattr(there, 'jnt_stiffnesspoly', ()),
             'stiffness beyond its first number not read'),
            ('joint', several & (there.jnt_limited != 0),
             'the range of a ball joint is not read'),
            *(('body', there.body_gravcomp == value,
               f'gravcomp {value:g} not read: gravity acts on them')
              for value in sorted(set(there.body_gravcomp) - {0.0})),
            ('body', there.body_mocapid >= 0, 'mocap not read: they stay where they are'),
            *(('tendon', getattr(there, f'tendon_{key}', ()),
               f'{force} not read: add it to the efforts')
              for each, (force, *flags) in _TENDON.items() if not compiled.is_off(*flags)
              for key in (each, f'{each}poly')),
            ('actuator', getattr(there, 'actuator_dampingpoly', ()),
             'damping beyond its first number not read'),
            ('actuator', beyond,
             'armature and damping not read: add them to the mass matrix and to the efforts')):
        if np.any(chosen):
            plural = 'bodies' if kind == 'body' else f'{kind}s'
            yield f'{plural} {named(kind.upper(), chosen)}: {text}'
    fluid = [key for key in ('density', 'viscosity', 'wind') if np.any(getattr(there.opt, key))]
    yield from (text for count, text in (
        (fluid, f'option {listed(fluid)} not read: no medium resists the motion'),
        (there.nplugin, f'plugins {named("PLUGIN", range(1, there.nplugin + 1))} not read: their '
         'forces are missing'),
        (there.nflex, 'flexes not read: the forces between their bodies are missing')) if count)
    laws = there.actuator_biastype
    left = [f'laws of actuators {named("ACTUATOR", laws)} (add their efforts to tau)'
            ] if np.any(laws) else []
    if not compiled.is_off('CONTACT', 'CONSTRAINT') and _touch(there):
        left.append('contacts (see docs/guides/contacts.md)')
    if there.neq and not compiled.is_off('EQUALITY', 'CONSTRAINT'):
        left.append('softness of equality constraints, which are exact here')
    if left:
        yield f'not read: {"; ".join(left)}'


def _touch(there: Any) -> bool:
    """Return whether two shapes of different bodies may touch."""
    kinds = {(int(a), int(b)) for a, b in zip(there.geom_contype, there.geom_conaffinity)}
    return len(set(there.geom_bodyid)) > 1 and any(
        a[0] & b[1] or b[0] & a[1] for a in kinds for b in kinds)
