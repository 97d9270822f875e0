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
from dataclasses import dataclass, replace
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import (
    Array, as_array, as_number, as_numbers, require_kind, unknown_name)
from liedyn_ros.common.errors import ConvergenceError, LimitError, ModelError
from liedyn_ros.dynamics.constrained.constraints.rank import independent_columns
from liedyn_ros.dynamics.constrained.constraints.singular_mass import mass_factor
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.contact_programs import (
    admissible_multipliers, carried_forces, Cone, CONTACT_TOLERANCE, ContactForce, least_efforts,
    normal_and_tangential, restored_impulses, sliding_impulses)
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.solver.inputs import LEAST_FORCE
from liedyn_ros.dynamics.constrained.solver.solution import ConstraintStatus, Solved
from liedyn_ros.model import Closure, Model
from liedyn_ros.model.parts.geometry import axis_frame, IDENTITY, perpendicular, unit_axis

POINT_CONTACT, LINE_CONTACT, SURFACE_CONTACT, SLIDING_CONTACT = (
    'point', 'line', 'surface', 'sliding')
_CLOSURES = {POINT_CONTACT: 'spherical', LINE_CONTACT: 'revolute', SURFACE_CONTACT: 'weld',
             SLIDING_CONTACT: 'point_on_plane'}
MAX_HELD_SPEED = 1e-6  # of the largest before an impact: what slides faster does not hold
_UP, _ACROSS = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Contact:
    """
    A place of a machine that can touch the ground.

    frame is a body or a frame of it. POINT_CONTACT holds the origin of the frame, LINE_CONTACT all
    but a turn about axis (3,) of the frame, SURFACE_CONTACT the whole frame. SLIDING_CONTACT holds
    the origin on the plane normal to normal (3,), which is in the ground frame and points off the
    ground. friction is the coefficient by which a force slips. Raises ModelError for another kind,
    LimitError for a friction below 0, and the errors of a direction.

    >>> foot = Contact('tool', 'surface', friction=0.6)
    >>> Contacts(model, {'foot': foot}).names
    ('foot',)
    """

    frame: str
    kind: str = POINT_CONTACT
    normal: ArrayLike = _UP
    axis: ArrayLike = _ACROSS
    friction: float = math.inf

    def __post_init__(self) -> None:
        """Refuse kinds, frictions and directions that no contact has."""
        where = f'contact of {self.frame}'
        if self.kind not in _CLOSURES:
            raise unknown_name(ModelError, where, _CLOSURES, self.kind, 'a kind')
        friction = as_numbers(f'{where}: friction', self.friction)
        if friction.ndim or not friction >= 0.0:
            raise LimitError(f'{where}: expected a friction of 0 or more, got {self.friction}',
                             names=[self.frame], expected=0.0, got=self.friction)
        for name in ('normal', 'axis'):
            object.__setattr__(self, name, unit_axis(f'{where}: {name}', getattr(self, name)))


class Impact(NamedTuple):
    """
    The velocity v (nv,) after an impact, and the impulses, N s and N m s, by contact.

    status concerns the constraints that take the impact.

    >>> contacts, bent = Contacts(model, {'tip': Contact('tool')}), q + 0.5
    >>> impact = contacts.impact(contacts.holding(['tip'], bent), bent, v)
    >>> impact.status.name, impact.impulses['tip'].force.shape
    ('REGULAR', (3,))
    """

    v: Array
    impulses: dict[str, ContactForce]
    status: ConstraintStatus


class Carried(NamedTuple):
    """
    Joint forces tau (nv,), N m and N, with the forces of the ground by contact.

    >>> contacts = Contacts(model, {'tip': Contact('tool')})
    >>> contacts.inverse(contacts.free, q, v, 0.0 * v).forces
    {}
    """

    tau: Array
    forces: dict[str, ContactForce]


class _Place(NamedTuple):
    """A contact, and its frame (4, 4) in the named frame."""

    contact: Contact
    turned: Array


class _Set(NamedTuple):
    """A machine with contacts, and where these are; nowhere, if nobody has it yet."""

    dynamics: ConstrainedDynamics
    places: dict[str, Array]


class Contacts:
    """
    A machine whose contacts come and go, each set a ConstrainedDynamics that is made once.

    The closures of the model always hold. A set is laid out when it is first asked for, in
    milliseconds; `prepare` does it ahead. What `holding` returns stays as it is; with move=True
    it is moved, which takes microseconds and compiles nothing. An object is for one thread.

    >>> contacts = Contacts(model, {'tip': Contact('tool')})
    >>> contacts.holding(['tip'], q + 0.5).m  # a point is three constraints
    3
    """

    def __init__(self, model: Model, contacts: Mapping[str, Contact], *,
                 dissipation: bool = True) -> None:
        """
        Take a model and its contacts by name.

        Args:
            model: a Model.
            contacts: a Contact by name.
            dissipation: whether damping and friction of the joints act.

        Raises:
            ModelError: for a contact on an unknown body or frame.
        """
        require_kind('model', model, Model, 'as load_model returns')
        require_kind('contacts', contacts, Mapping,  # type: ignore[type-abstract]
                     'such as a dict of Contact by name')
        self.model, self._dissipation = model, dissipation
        used = {closure.name for closure in model.closures}
        self._places = {name: _checked(model, name, each, used)
                        for name, each in contacts.items()}
        self._sets: dict[tuple[str, ...], _Set] = {}
        self._held: dict[str, Array] = {}
        self.free = ConstrainedDynamics(model, dissipation=dissipation)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all contacts."""
        return tuple(self._places)

    def prepare(self, *sets: Iterable[str]) -> None:
        """
        Lay out sets of contacts, and find what depends on none of their states.

        Args:
            sets: names of contacts.

        Raises:
            ModelError: for an unknown name.

        >>> Contacts(model, {'tip': Contact('tool')}).prepare(['tip'])
        """
        laid = (self._of(chosen).dynamics for chosen in map(self._ordered, sets) if chosen)
        for dynamics in (self.free, *laid):
            if dynamics.m:
                dynamics.mobility  # noqa: B018

    def holding(self, names: Iterable[str], q: ArrayLike, *, move: bool = False
                ) -> ConstrainedDynamics:
        """
        Return the machine with some of its contacts, at a configuration.

        Contacts that held in the call before stay where they are; others touch the ground where q
        has them. Where they touch elsewhere than in an earlier call with this set, a new object is
        laid out.

        Args:
            names: of the contacts that hold.
            q: configuration (nq,); rad and m.
            move: whether the object of an earlier call is moved instead, which takes microseconds:
                for a caller who keeps none.

        Returns:
            a ConstrainedDynamics.

        Raises:
            ModelError: for an unknown name.
            LiedynError: for a wrong configuration.

        >>> contacts = ld.Contacts(model, {'tip': ld.Contact('tool', 'point')})
        >>> contacts.holding(['tip'], q).forward(q, np.zeros(6), np.zeros(6)).shape
        (6,)
        """
        chosen, q = self._ordered(names), self.model.check_configuration(q)
        kept = {name: self._held[name] for name in chosen if name in self._held}
        self._held = {name: kept[name] if name in kept else self._touching(name, q)
                      for name in chosen}
        if not chosen:
            return self.free
        own = self._of(chosen)
        moved = {name: place for name, place in self._held.items()
                 if own.places.get(name) is not place}
        if moved:
            if own.places and not move:
                own = self._sets[chosen] = _Set(own.dynamics.twin(), {})
                moved = self._held
            own.dynamics.move_closures(moved)
            self._sets[chosen] = own._replace(places=self._held)
        return own.dynamics

    def forces(self, dynamics: ConstrainedDynamics, q: ArrayLike, solution: Solved,
               *, admissible: bool = False) -> dict[str, ContactForce]:
        """
        Return the force of the ground at each contact of a machine that `holding` returned.

        Where contacts are redundant, as four points of a box are, the forces are those of least
        norm, which can pull although the contacts hold.

        Args:
            dynamics: what `holding` returned.
            q: configuration (nq,); rad and m.
            solution: of a call with q; of one with derivatives, order zero counts.
            admissible: take forces that all contacts can apply, if there are any, by a conic
                program (12.61); needs the extra `contacts`.

        Returns:
            forces by contact.

        Raises:
            ModelError: for a machine of other contacts, or of none that `holding` did not return.

        >>> contacts, bent = Contacts(model, {'tip': Contact('tool')}), q + 0.5
        >>> held = contacts.holding(['tip'], bent)
        >>> contacts.forces(held, bent, held.forward(bent, 0.0 * v, tau))['tip'].force.shape
        (3,)
        """
        cones = self._cones(dynamics)
        multipliers = np.reshape(solution.multipliers, (-1, dynamics.m))[0] if dynamics.m else (
            np.zeros(0))
        unique = self._decide(dynamics, solution.rank)
        found = self._forces(cones, multipliers, unique)
        if unique or not admissible or all(each.holds for each in found.values()):
            return found
        other = admissible_multipliers(
            dynamics.jacobian(q), solution.rank, multipliers, list(cones.values()))
        if other is None:
            return {name: each._replace(unique=True) for name, each in found.items()}
        return {name: each._replace(holds=True) for name, each in self._forces(
            cones, other, False).items()}

    def inverse(self, dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                external: ArrayLike | None = None, *, actuated: ArrayLike | None = None
                ) -> Carried:
        """
        Return the least joint forces of a motion for which all contacts push and none slips.

        They are the least squares of joint forces with contact forces in their cones (12.61).
        These may be at the limit of friction: leave a margin in the coefficients. Needs the extra
        `contacts`.

        Args:
            dynamics: what `holding` returned.
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,); rad/s^2 and m/s^2.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            actuated: names of joints, or a mask (nv,); by default the actuated ones of the model.

        Returns:
            tau (nv,), and forces by contact.

        Raises:
            LimitError: where no forces that motors and contacts can apply have the motion.
            ModelError: for a machine of other contacts.

        >>> contacts, bent = Contacts(model, {'tip': Contact('tool')}), q + 0.5
        >>> contacts.inverse(contacts.holding([], bent), bent, 0.0 * v, 0.0 * v).tau.shape
        (6,)
        """
        cones, driven = self._cones(dynamics), self.model.actuated if actuated is None else (
            dynamics.names.mask('actuated', actuated))
        alone: Array = np.asarray(dynamics.inverse(  # as if all joints had motors
            q, v, a, external, actuated=np.ones_like(driven), redundancy=LEAST_FORCE))
        rows = dynamics.jacobian(q)
        moving = driven | idle_spins(dynamics, driven)
        multipliers = carried_forces(rows, moving, alone, self.model.coordinate_names)
        tau = np.where(moving, alone - rows.T @ multipliers, 0.0)
        least = least_efforts(rows, driven, multipliers, tau, list(cones.values()))
        if least is None:
            raise LimitError('a: expected a motion with forces that push and do not slip, got '
                             f'none at {list(cones)}', names=list(cones))
        tau -= np.where(driven, rows.T @ (least - multipliers), 0.0)
        forces = self._forces(cones, least, self._decide(dynamics, independent_columns(rows.T)[0]))
        return Carried(tau, {name: each._replace(holds=True) for name, each in forces.items()})

    def impact(self, dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike,
               restitution: float = 0.0, *, sliding: bool = False) -> Impact:
        """
        Return the velocity after an impact of the contacts of a machine, and the impulses.

        Without friction a normal speed comes back by the part restitution. Tangential and angular
        speeds that a contact or a loop constrains vanish. A contact that leaves the ground at once
        counts too: choose the set.

        Args:
            dynamics: what `holding` returned; of no contact, its loops alone act.
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            restitution: part of the normal impulse of each contact that comes back, from 0, where
                the contacts stay, to 1 (12.63). It is no part of speeds: of several contacts some
                may move on into the ground, but with sliding.
            sliding: contacts choose by themselves: they only push, and slip where the impulse
                exceeds their friction (12.62); moments stay. holds then says which neither slide
                nor leave but for the restitution. Needs the extra `contacts`.

        Returns:
            v (nv,), and impulses by contact, N s and N m s.

        Raises:
            LimitError: for a restitution beyond 0 to 1, or a friction without limit where contacts
                may slide.
            ModelError: for a machine of other contacts, or of none that `holding` did not return.

        >>> contacts, bent = Contacts(model, {'tip': Contact('tool')}), q + 0.5
        >>> held = contacts.holding(['tip'], bent)
        >>> after = contacts.impact(held, bent, v).v
        >>> bool(np.abs(robot.frames.twist(bent, after, 'tool')[3:]).max() < 1e-9)
        True
        """
        part = as_number('restitution', restitution)
        if not 0.0 <= part <= 1.0:
            raise LimitError(f'restitution: expected 0 to 1, got {part}', names=['restitution'],
                             expected=(0.0, 1.0), got=part)
        cones, tree = self._cones(dynamics), dynamics.tree
        if not cones and dynamics is not self.free:
            raise ModelError('dynamics: expected a machine whose contacts hold, as holding '
                             f'returns it, got {dynamics.model.name} without contacts',
                             names=[dynamics.model.name], expected=self.names, got=())
        rest, v = np.zeros(self.model.nv), as_array('v', v, (self.model.nv,))
        found = dynamics.forward(q, rest, tree.inverse(q, rest, v))  # forces at rest (12.58)
        if not cones or not (part or sliding):
            return Impact(found.a, self.forces(dynamics, q, found), found.status)
        mass, rows = tree.mass_matrix(q), dynamics.jacobian(q)
        impulses = sliding_impulses(mass, rows, v, cones, part) if sliding else (
            restored_impulses(mass, rows, found.multipliers, list(cones.values()), part))
        factor = mass_factor(mass)
        after = v + np.linalg.solve(factor.T, np.linalg.solve(factor, rows.T @ impulses))
        forces = self._forces(cones, impulses, self._decide(dynamics, found.rank))
        slowest = MAX_HELD_SPEED * np.abs(rows @ v).max(initial=0.0)
        for name, cone in cones.items() if sliding else ():
            leaves, slides = normal_and_tangential(
                cone.matrix @ (rows @ after)[cone.rows], cone.normal)
            forces[name] = forces[name]._replace(
                holds=slides <= slowest and (part > 0.0 or leaves <= slowest))
        return Impact(after, forces, found.status)

    def _cones(self, dynamics: ConstrainedDynamics) -> dict[str, Cone]:
        """Return by contact the cone of its multipliers, or raise for another machine."""
        require_kind('dynamics', dynamics, ConstrainedDynamics, 'as holding returns')
        model, found, first = dynamics.model, dict[str, Cone](), 0
        if model.joints != self.model.joints or model.nv != self.model.nv:
            raise ModelError(
                f'dynamics: expected the machine {self.model.name} of these contacts, got '
                f'{model.name}, which has other joints', names=[model.name],
                expected=self.model.name, got=model.name)
        for closure in model.closures:
            end = first + closure.rows
            if closure.name in self._places:
                contact = self._places[closure.name].contact
                normal = np.asarray(contact.normal)
                axes = -closure.frame_b[:3, :3]  # the closure acts on the ground
                found[closure.name] = (
                    Cone(slice(first, end), normal[:, None], normal, 0.0, slice(0, 0), axes)
                    if contact.kind == SLIDING_CONTACT else
                    Cone(slice(end - 3, end), axes, normal, contact.friction,
                         slice(first, end - 3), axes))
            first = end
        return found

    def _forces(self, cones: Mapping[str, Cone], multipliers: Array, unique: bool
                ) -> dict[str, ContactForce]:
        found, rounding = {}, CONTACT_TOLERANCE * float(np.abs(multipliers).max(initial=0.0))
        for name, cone in cones.items():
            moment, moments = np.zeros(3), multipliers[cone.turning]
            moment[:len(moments)] = moments  # about x, y and z, or the first two
            found[name] = _judged(
                self._places[name].contact, cone.matrix @ multipliers[cone.rows],
                cone.axes @ moment, unique, rounding)
        return found

    def _decide(self, dynamics: ConstrainedDynamics, rank: int) -> bool:
        """Return whether a rank leaves one choice of the contacts' forces, whatever loops do."""
        if rank == dynamics.m or not self.free.m:
            return rank == dynamics.m
        try:
            return rank - self.free.mobility.rank == dynamics.m - self.free.m
        except ConvergenceError:  # nothing says how many constraints of the loops are redundant
            return False

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        chosen = {names} if isinstance(names, str) else set(names)
        for name in chosen:
            if name not in self._places:
                raise unknown_name(ModelError, 'contact', self._places, name)
        return tuple(name for name in self._places if name in chosen)

    def _of(self, names: tuple[str, ...]) -> _Set:
        """Return the machine with these contacts, somewhere."""
        if names not in self._sets:
            closures = tuple(self._closure(name) for name in names)
            self._sets[names] = _Set(ConstrainedDynamics(
                replace(self.model, closures=(*self.model.closures, *closures)),
                dissipation=self._dissipation), {})
        return self._sets[names]

    def _closure(self, name: str) -> Closure:
        """Return the closure of a contact, touching where the neutral configuration has it."""
        contact, turned = self._places[name]
        body, placement = self.model.place(contact.frame)
        ground, frame = self._touching(name, self.model.neutral()), placement @ turned
        kind = _CLOSURES[contact.kind]
        return (Closure(name, kind, None, body, ground, frame) if contact.kind == SLIDING_CONTACT
                else Closure(name, kind, body, None, frame, ground))

    def _touching(self, name: str, q: Array) -> Array:
        """Return the ground frame (4, 4) of a contact that touches at q (nq,)."""
        contact, turned = self._places[name]
        pose = self.free.frames.pose(q, contact.frame) @ turned
        if contact.kind == SLIDING_CONTACT:
            normal = np.asarray(contact.normal)
            pose[:3, :3] = axis_frame(normal, perpendicular(normal))
        return pose


def _checked(model: Model, name: str, contact: Contact, used: set[str]) -> _Place:
    """Return a contact with its directions, or raise ModelError."""
    where = f'contact {name}'
    require_kind(where, contact, Contact, 'as Contact(frame) is')
    if name in used:
        raise ModelError(f'{where}: expected a name that no closure has, got it twice')
    if model.place(contact.frame)[0] is None:
        raise ModelError(f'{where}: expected a frame that moves, got {contact.frame}')
    turned = IDENTITY
    if contact.kind == LINE_CONTACT:
        axis, turned = np.asarray(contact.axis), np.eye(4)
        turned[:3, :3] = axis_frame(axis, perpendicular(axis))
    return _Place(contact, turned)


def _judged(contact: Contact, force: Array, moment: Array, unique: bool, rounding: float
            ) -> ContactForce:
    """Return a force (3,) and a moment (3,) with what they say about the contact."""
    normal, tangential = normal_and_tangential(force, np.asarray(contact.normal))
    most = contact.friction * normal if tangential > rounding else math.inf
    slip = tangential / most if most > 0.0 else math.inf
    return ContactForce(force, moment, normal, slip, normal >= -rounding and slip <= 1.0, unique)
