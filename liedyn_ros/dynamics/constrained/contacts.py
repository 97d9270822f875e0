# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Contacts with the ground that come and go: each set of them is a machine with closures.

Contacts are rigid and do not slip while they hold. The forces tell what lets go or slips;
the caller decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_number, require_kind, unknown_name
from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.solver.solution import ConstrainedSolution, ConstraintStatus
from liedyn_ros.model import Closure, Model
from liedyn_ros.model.parts.geometry import axis_frame, IDENTITY, perpendicular, unit_axis

POINT, LINE, SURFACE, SLIDING = 'point', 'line', 'surface', 'sliding'
_CLOSURES = {POINT: 'spherical', LINE: 'revolute', SURFACE: 'weld', SLIDING: 'point_on_plane'}
_UP, _ACROSS = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


class Contact(NamedTuple):
    """
    A place of a machine that can touch the ground.

    frame is a body or a frame of it. POINT holds the origin of the frame, LINE all but a turn
    about axis (3,) of the frame, SURFACE the whole frame. SLIDING holds the origin on the plane
    normal to normal (3,), which is in the ground frame and points off the ground. friction is the
    coefficient by which a force slips.
    """

    frame: str
    kind: str = POINT
    normal: ArrayLike = _UP
    axis: ArrayLike = _ACROSS
    friction: float = math.inf


class ContactForce(NamedTuple):
    """
    What the ground applies to a machine at a contact, in the axes of the ground.

    force (3,) and moment (3,) about the origin of the frame, N and N m. normal is the force along
    the normal: below zero the contact would pull. slip is the tangential force over friction times
    the normal one: above 1 it would slip. holds says that neither is so.
    """

    force: Array
    moment: Array
    normal: float
    slip: float
    holds: bool


class Impact(NamedTuple):
    """The velocity v (nv,) after an impact, and the impulses, N s and N m s, by contact."""

    v: Array
    impulses: dict[str, ContactForce]
    status: ConstraintStatus


class _Place(NamedTuple):
    """A contact with its unit normal, and its frame (4, 4) in the named frame."""

    contact: Contact
    normal: Array
    turned: Array


class Contacts:
    """
    A machine whose contacts come and go, each set a ConstrainedDynamics that is made once.

    The closures of the model always hold. A set is laid out when it is first asked for, in
    milliseconds; `prepare` does it ahead. Afterwards a change takes microseconds and compiles
    nothing. The contacts of a set move where they touch: what `holding` returned before for the
    same set is the same object. An object is for one thread.
    """

    def __init__(self, model: Model, contacts: Mapping[str, Contact], *,
                 dissipation: bool = True) -> None:
        """Take a model and its contacts by name; raises ModelError for a wrong one."""
        require_kind('model', model, Model, 'as load_model returns')
        self.model, self._dissipation = model, dissipation
        used = {closure.name for closure in model.closures}
        self._places = {name: _checked(model, name, each, used)
                        for name, each in contacts.items()}
        self._sets: dict[tuple[str, ...], ConstrainedDynamics] = {}
        self._written: dict[tuple[str, ...], dict[str, Array]] = {}
        self._held: dict[str, Array] = {}
        self.free = ConstrainedDynamics(model, dissipation=dissipation)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all contacts."""
        return tuple(self._places)

    def prepare(self, *sets: Iterable[str]) -> None:
        """Lay out sets of contacts, and find what depends on none of their states."""
        for names in sets:
            dynamics = self._of(self._ordered(names))
            if dynamics.m:
                dynamics.mobility  # noqa: B018

    def holding(self, names: Iterable[str], q: ArrayLike) -> ConstrainedDynamics:
        """
        Return the machine with these contacts, at a configuration (nq,).

        Contacts that held in the call before stay where they are; others touch the ground where q
        has them. Raises ModelError for an unknown name, and the errors of a configuration.
        """
        chosen, q = self._ordered(names), self.model.check_configuration(q)
        kept = {name: self._held[name] for name in chosen if name in self._held}
        self._held = {name: kept[name] if name in kept else self._touching(name, q)
                      for name in chosen}
        dynamics, written = self._of(chosen), self._written.get(chosen, {})
        moved = {name: place for name, place in self._held.items()
                 if written.get(name) is not place}
        if moved:
            dynamics.move_closures(moved)
            self._written[chosen] = self._held
        return dynamics

    def forces(self, dynamics: ConstrainedDynamics, q: ArrayLike, solution: ConstrainedSolution
               ) -> dict[str, ContactForce]:
        """
        Return what the ground applies at each contact of a machine that `holding` returned.

        solution is that of a call with q (nq,); of one with derivatives, order zero counts.
        """
        wrenches = np.reshape(solution.wrenches, (-1, len(dynamics.model.closures), 6))[0]
        found = {}
        for closure, wrench in zip(dynamics.model.closures, wrenches):
            place = self._places.get(closure.name)
            if place is None:
                continue
            if closure.body_b is None:  # it acts on the ground, in the frame there
                turn, sign = closure.frame_b[:3, :3], -1.0
            else:
                turn, sign = self.free.frames.pose(q, place.contact.frame)[:3, :3], 1.0
            found[closure.name] = _judged(place, sign * turn @ wrench[3:],
                                          sign * turn @ wrench[:3])
        return found

    def impact(self, dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike,
               restitution: float = 0.0) -> Impact:
        """
        Return the velocity after an impact of the contacts of a machine, and the impulses.

        restitution is from 0, where the contacts stay, to 1, where no energy is lost: each speed
        against a contact comes back by that part. The speeds of loops vanish before and after. The
        impulse of a contact that leaves the ground at once counts too: choose the set. Raises
        LimitError for a restitution beyond these, and the errors of dynamics.forward.
        """
        part = as_number('restitution', restitution)
        if not 0.0 <= part <= 1.0:
            raise LimitError(f'restitution: expected 0 to 1, got {part}')
        rest, v = np.zeros(self.model.nv), as_array('v', v, (self.model.nv,))
        momentum = dynamics.tree.inverse(q, rest, v)  # with the forces at rest (12.58)
        found = dynamics.forward(q, rest, momentum)
        scaled = found._replace(wrenches=(1.0 + part) * found.wrenches)
        return Impact(found.a + part * (found.a - v), self.forces(dynamics, q, scaled),
                      found.status)

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        chosen = set(names)
        for name in chosen:
            if name not in self._places:
                raise unknown_name(ModelError, 'contact', self._places, name)
        return tuple(name for name in self._places if name in chosen)

    def _of(self, names: tuple[str, ...]) -> ConstrainedDynamics:
        """Return the machine with these contacts, somewhere."""
        if not names:
            return self.free
        if names not in self._sets:
            closures = tuple(self._closure(name) for name in names)
            self._sets[names] = ConstrainedDynamics(
                replace(self.model, closures=(*self.model.closures, *closures)),
                dissipation=self._dissipation)
        return self._sets[names]

    def _closure(self, name: str) -> Closure:
        """Return the closure of a contact, touching where the neutral configuration has it."""
        contact, _, turned = self._places[name]
        body, placement = self.model.place(contact.frame)
        ground, frame = self._touching(name, self.model.neutral()), placement @ turned
        kind = _CLOSURES[contact.kind]
        return (Closure(name, kind, None, body, ground, frame) if contact.kind == SLIDING
                else Closure(name, kind, body, None, frame, ground))

    def _touching(self, name: str, q: Array) -> Array:
        """Return the ground frame (4, 4) of a contact that touches at q (nq,)."""
        contact, normal, turned = self._places[name]
        pose = self.free.frames.pose(q, contact.frame) @ turned
        if contact.kind == SLIDING:
            pose[:3, :3] = axis_frame(normal, perpendicular(normal))
        return pose


def _checked(model: Model, name: str, contact: Contact, used: set[str]) -> _Place:
    """Return a contact with its directions, or raise ModelError."""
    where = f'contact {name}'
    require_kind(where, contact, Contact, 'as Contact(frame) is')
    if name in used:
        raise ModelError(f'{where}: expected a name that no closure has, got it twice')
    if contact.kind not in _CLOSURES:
        raise unknown_name(ModelError, where, _CLOSURES, contact.kind, 'a kind')
    if model.place(contact.frame)[0] is None:
        raise ModelError(f'{where}: expected a frame that moves, got {contact.frame}')
    if not contact.friction >= 0.0:
        raise LimitError(f'{where}: expected a friction of 0 or more, got {contact.friction}')
    turned = IDENTITY
    if contact.kind == LINE:
        axis, turned = unit_axis(f'{where}: axis', contact.axis), np.eye(4)
        turned[:3, :3] = axis_frame(axis, perpendicular(axis))
    return _Place(contact, unit_axis(f'{where}: normal', contact.normal), turned)


def _judged(place: _Place, force: Array, moment: Array) -> ContactForce:
    """Return a force (3,) and a moment (3,) with what they say about the contact."""
    normal = float(force @ place.normal)
    tangential = float(np.linalg.norm(force - normal * place.normal))
    most = place.contact.friction * normal if tangential else math.inf
    slip = tangential / most if most > 0.0 else math.inf
    return ContactForce(force, moment, normal, slip, normal >= 0.0 and slip <= 1.0)
