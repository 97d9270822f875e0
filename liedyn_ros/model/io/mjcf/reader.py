# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MJCF, the model format of MuJoCo, with its equality constraints."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.lie import se3
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.mjcf.compiler import Compiled, compiled, Document, placed
from liedyn_ros.model.io.xml_parts import mesh_reach, model_of_file, unused
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import SpatialInertia
from liedyn_ros.model.parts.geometry import axis_frame, perpendicular, pose
from liedyn_ros.model.plausibility import Shape

_JOINT_TYPES = 'free', 'spherical', 'prismatic', 'revolute'  # by MuJoCo's numbers
_NOT_READ = 'not read: write it as a closure or a coupling with annotate'
_LENGTH_TOLERANCE = 1e-9  # m: what numbers written in full may differ by
_Sum = tuple[dict[str, float], float]  # factors of joints, and the value where the file has them
_FIRST_AXIAL_TYPE = 2  # joints from this number on have one axis: slide, hinge
_TENDON_FORCES = {  # what a tendon may have, what it is, and the flags that turn it off
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

    Args:
        source: path of the file, or its text.
        gravity: acceleration (3,) in the ground, m/s^2; by default the file's.

    Returns:
        the model.

    Raises:
        DescriptionError: naming the file, with MuJoCo's words for what it refuses, and where the
            package mujoco is not installed.

    >>> text = '<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>'
    >>> load_mjcf(text).nv
    1
    """
    document = Document(source)
    there = compiled(document)
    return model_of_file(document.root, lambda: _Reader(there, document, gravity).model(),
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
        self._motors = defaultdict[tuple[str, int], float](float)
        self._beyond = list[bool]()  # for each actuator, whether it adds to other things
        for i in range(len(there.actuator_trntype)):
            way = compiled.moved_by(i)
            self._driven.update(joint for joint, _ in way)
            given = {key: np.ravel(getattr(there, f'actuator_{key}')[i])  # none in MuJoCo 3.3
                     for key in ('armature', 'damping') if hasattr(there, f'actuator_{key}')}
            axial = len(way) == 1 and there.jnt_type[way[0][0]] >= _FIRST_AXIAL_TYPE
            for key, values in given.items() if axial else ():
                (joint, gear), = way
                self._motors[key, joint] += gear**2 * float(values[0])
            self._beyond.append(not axial and any(values.any() for values in given.values()))
        self.polynomials: list[Polynomial] = []

    def model(self) -> Model:
        there, builder = self._there.model, self._builder
        for i, name in enumerate(self._there.bodies):
            if name is not None:
                mass, moments = float(there.body_mass[i]), there.body_inertia[i]
                at = placed(there.body_ipos[i], there.body_iquat[i])
                about = at[:3, :3] @ np.diag(moments) @ at[:3, :3].T
                # boundinertia gives moments without mass, too
                builder.add_body(name, SpatialInertia(
                    mass, at[:3, 3], 0.5 * (about + about.T), physical=False)
                    if mass or moments.any() else None)
                self._move(i, name)
        self._add_equalities()
        builder.add_warning(*_unread(self._there, self._beyond))
        model = builder.build()
        for i in range(there.nsite):
            name = self._there.name('SITE', i)
            if name:
                used = model.frames, model.joints
                model = model.with_frame(unused(
                    f'{name}/site' if any(name in each for each in used) else name, *used),
                    *self._there.site(i))
        return replace(model, configurations=_configurations(self._there, model))

    def _move(self, number: int, body: str) -> None:
        """Add the joints of a body, with massless bodies between them."""
        there, builder = self._there.model, self._builder
        parent = self._there.bodies[there.body_parentid[number]]
        placement = placed(there.body_pos[number], there.body_quat[number])
        first, count = there.body_jntadr[number], there.body_jntnum[number]
        for i in range(first, first + count):
            name, kind = self._there.joints[i], _JOINT_TYPES[there.jnt_type[i]]
            if kind == 'free':
                self._add_joint(i, None, body, np.eye(4))
                return
            offset = pose(there.jnt_pos[i] * (kind != 'prismatic'))
            last = i == first + count - 1 and not offset[:3, 3].any()
            child = body if last else unused(f'{body}/{name}', self._there.bodies)
            self._add_joint(i, parent, child, placement @ offset)
            if last:
                return
            builder.add_body(child, None)
            parent, placement = child, se3.inverse(offset)
        builder.add_joint(unused(f'{body}/fixed', self._there.joints), 'fixed', parent, body,
                          placement=placement)

    def _add_joint(self, i: int, parent: str | None, child: str, placement: Array) -> None:
        """Add a joint; its coordinate is ref where the file draws it."""
        there, name, kind = self._there.model, self._there.joints[i], _JOINT_TYPES[
            self._there.model.jnt_type[i]]
        at, reference = there.jnt_dofadr[i], there.qpos0[there.jnt_qposadr[i]]
        forces = {'friction': 0.0 if self._there.is_off('FRICTIONLOSS', 'CONSTRAINT')
                  else float(there.dof_frictionloss[at]),
                  'damping': 0.0 if self._there.is_off('DAMPER', 'PASSIVE')
                  else float(there.dof_damping[at]) + self._motors['damping', i]}
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
            spring = {'armature': float(there.dof_armature[at] + self._motors['armature', i])}
            if not self._there.is_off('SPRING', 'PASSIVE'):
                spring |= {'stiffness': float(there.jnt_stiffness[i]),
                           'rest': float(there.qpos_spring[there.jnt_qposadr[i]])}
        self._builder.add_joint(
            name, kind, parent, child, placement=placement, axis=axis, limits=limits,
            actuated=i in self._driven if self._beyond else None, **forces, **spring)

    def _add_equalities(self) -> None:
        """Add the equality constraints; unread ones have a warning."""
        there = self._there.model
        if there.neq and self._there.is_off('EQUALITY', 'CONSTRAINT'):
            self._builder.add_warning('option flag equality: constraints are off, left out')
            return
        for i in range(there.neq):
            kind = self._there.lib.mjtEq(there.eq_type[i]).name.removeprefix('mjEQ_').lower()
            name, terms = self._there.name('EQUALITY', i) or f'{kind}_{i}', there.eq_data[i, :5]
            pair = int(there.eq_obj1id[i]), int(there.eq_obj2id[i])
            left: str | None = _NOT_READ
            if not there.eq_active0[i]:
                left = 'not active, left out'
            elif kind in ('connect', 'weld'):
                left = self._add_closure(i, name, kind == 'weld', pair)
            elif kind in ('joint', 'tendon'):
                of, by = (self._sum(each, kind == 'tendon') for each in pair)
                left = self._add_distance(name, terms.tolist(), pair) if (
                    of is None or by is None) else self._add_coupling(name, terms.tolist(), of, by)
            if left:
                self._builder.add_warning(f'equality {name} of type {kind}: {left}')

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
        """Add a relation of two sums of joints, as a Polynomial has it, where it is linear."""
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
                    ) + 'give ConstrainedDynamics the functions of mjcf_functions'
        scale = -1.0 / factors[follower]
        (leader, factor), *further = leaders
        self._builder.add_coupling(follower, leader, scale * factor,
                                   scale * (y0 + terms[0] - terms[1] * x0),
                                   {joint: scale * factor for joint, factor in further})
        return None

    def _sum(self, number: int, tendon: bool) -> _Sum | None:
        """Return the joints of a fixed tendon, or one joint; None for another tendon."""
        factors, value, there = dict[str, float](), 0.0, self._there
        parts = [] if number < 0 else there.sum_of(number) if tendon else [(number, 1.0)]
        for joint, factor in parts or []:
            name = there.joints[joint]
            factors[name] = factors.get(name, 0.0) + factor
            value += factor * float(there.model.qpos0[there.model.jnt_qposadr[joint]])
        return None if parts is None else (factors, value)

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
            f'no sum of joints and no distance of two bodies, {_NOT_READ}')
        ends, others = map(self._ends, pair)
        if len(ends) != 2 or any(terms[2:]):
            return left
        (body_a, frame_a), (body_b, frame_b) = ends
        length = float(lengths[pair[0]] + terms[0])
        if body_a == body_b or not length > 0.0:
            return left
        kind = 'rod' if pair[1] < 0 else 'point_on_plane'
        if kind == 'point_on_plane':
            if [each for each, _ in others] != [body_a, body_b] or terms[1] != 1.0 or (
                    abs(length - lengths[pair[1]]) > _LENGTH_TOLERANCE
                    or abs((others[1][1] - frame_b)[:3, 3]).max() > _LENGTH_TOLERANCE):
                return left
            above, below = frame_a[:3, 3], others[0][1][:3, 3]
            normal = (above - below) / np.linalg.norm(above - below)
            frame_a, frame_b = pose(0.5 * (above + below)), pose(frame_b[:3, 3])
            frame_a[:3, :3] = axis_frame(normal, perpendicular(normal))
        self._builder.add_closure(name, kind, body_a, body_b, placement_a=frame_a,
                                  placement_b=frame_b, length=length * (kind == 'rod'))
        return None


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
        at = placed(there.geom_pos[i], there.geom_quat[i]) @ se3.inverse(
            placed(there.mesh_pos[mesh], there.mesh_quat[mesh]))
        with suppress(DescriptionError):
            yield at[:3, 3], mesh_reach(document.path(file, folder), there.mesh_scale[mesh])


def _configurations(compiled: Compiled, model: Model) -> dict[str, Array]:
    """Return the named configurations (nq,) of a file, and the one in which it is drawn."""
    there, order = compiled.model, np.arange(model.nq)
    for at in model.link_table.quaternions:  # w first in MuJoCo
        order[at:at + 4] = np.roll(order[at:at + 4], -1)
    found = {'qpos0': there.qpos0[order], **{
        compiled.name('KEY', i) or f'key_{i}': there.key_qpos[i][order]
        for i in range(there.nkey)}}
    for q in found.values():
        q.setflags(write=False)
    return found


def _unread(compiled: Compiled, beyond: list[bool]) -> Iterator[str]:
    """Yield a warning for each unread part that would change the dynamics, with a remedy."""
    there, named = compiled.model, compiled.named
    yield from (f'MuJoCo: {" ".join(each.split())}' for each in compiled.remarks)
    several = there.jnt_type < _FIRST_AXIAL_TYPE

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
            ('joint', there.jnt_actfrclimited * (there.jnt_actfrcrange.sum(axis=1) != 0.0),
             'actuatorfrcrange of two sizes: the larger is the limit of effort both ways'),
            ('joint', several & (there.jnt_limited != 0),
             'the range of a ball joint is not read'),
            *(('body', there.body_gravcomp == value,
               f'gravcomp {value:g} not read: gravity acts on them')
              for value in sorted(set(there.body_gravcomp) - {0.0})),
            ('body', there.body_mocapid >= 0, 'mocap not read: they stay where they are'),
            *(('tendon', getattr(there, f'tendon_{key}', ()),
               f'{force} not read: add it to the efforts')
              for each, (force, *flags) in _TENDON_FORCES.items() if not compiled.is_off(*flags)
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
    kinds = {*zip(there.geom_contype.tolist(), there.geom_conaffinity.tolist())}
    touch = len(set(there.geom_bodyid)) > 1 and any(a[0] & b[1] for a in kinds for b in kinds)
    if (touch or there.npair) and not compiled.is_off('CONTACT', 'CONSTRAINT'):
        left.append('contacts (see docs/guides/contacts.md)')
    if there.neq and not compiled.is_off('EQUALITY', 'CONSTRAINT'):
        left.append('softness of equality constraints, which are exact here')
    if left:
        yield f'not read: {"; ".join(left)}'
