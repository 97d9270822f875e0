# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Forces of closures of which limits tell: of cables, rods and contacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array, unknown_name
from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.contacts import Contact, SLIDING_CONTACT
from liedyn_ros.dynamics.constrained.solver.solution import ConstrainedSolutions
from liedyn_ros.model.parts.geometry import perpendicular, unit_axis
from liedyn_ros.retiming.limits import ClosureLimits, Machine


class ClosureForce(NamedTuple):
    """
    A force of a closure: along (6,) of the wrench of closure `at`, or else multiplier `at`.

    Both are linear in z, as torques are (15.19).
    """

    limits: ClosureLimits
    at: int
    along: Array | None

    def of(self, found: ConstrainedSolutions) -> Array:
        """Return the force and its rate (K, 2) of solutions of order 1, N or N m."""
        if self.along is None:
            return found.multipliers[:, :, self.at]
        return np.asarray(found.wrenches[:, :, self.at] @ self.along)


def closure_force(dynamics: Machine, limits: ClosureLimits) -> ClosureForce:
    """
    Return the force of limits in a machine.

    Raises ModelError for a tree, an unknown closure or row, and where a row is to be chosen.
    """
    if not isinstance(dynamics, ConstrainedDynamics):
        raise ModelError(f'closures[{limits.closure}]: expected a ConstrainedDynamics, whose '
                         'closures carry forces, got the Dynamics of a tree')
    names = [closure.name for closure in dynamics.model.closures]
    if limits.closure not in names:
        raise unknown_name(ModelError, 'closures', names, limits.closure)
    at = names.index(limits.closure)
    if limits.along is not None and not isinstance(limits.along, str):
        return ClosureForce(limits, at, np.asarray(limits.along))
    first = sum(closure.rows for closure in dynamics.model.closures[:at])
    rows = dynamics.constraint_names[first:first + dynamics.model.closures[at].rows]
    known = [name.removeprefix(f'{limits.closure}/') for name in rows]
    if limits.along is None and len(known) > 1:
        raise ModelError(f'closures[{limits.closure}].along: expected one of {known}, or a '
                         'direction (6,), as it holds more than one force, got None')
    row = known[0] if limits.along is None else limits.along
    if row not in known:
        raise unknown_name(ModelError, f'closures[{limits.closure}].along', known, row)
    return ClosureForce(limits, first + known.index(row), None)


def contact_limits(dynamics: ConstrainedDynamics, contacts: Mapping[str, Contact], *,
                   least: float = 0.0, sides: int = 8) -> list[ClosureLimits]:
    """
    Return the limits within which contacts with the ground push and do not slip.

    Args:
        dynamics: the result of Contacts.holding, with the contacts that hold.
        contacts: all that Contacts was given.
        least: of the normal force; N.
        sides: of the pyramid inside the cone of a finite friction, 3 or more.

    Returns:
        a limit of each contact that holds.

    Raises:
        LimitError: for less than 3 sides.

    >>> from liedyn_ros.dynamics.constrained import Contact, Contacts
    >>> places = {'tip': Contact('tool', friction=0.5)}
    >>> held = Contacts(model, places).holding(['tip'], q + 0.5)
    >>> len(contact_limits(held, places))
    9
    """
    if sides < 3:
        raise LimitError(f'sides: expected 3 or more, got {sides}')
    result = []
    for closure in dynamics.model.closures:
        contact = contacts.get(closure.name)
        if contact is None:
            continue
        if contact.kind == SLIDING_CONTACT:
            result.append(ClosureLimits(closure.name, least=least))
            continue
        normal = unit_axis(f'contact {closure.name}: normal', contact.normal)
        side = perpendicular(normal)
        angles = 2.0 * np.pi * np.arange(sides) / sides
        across = np.outer(np.cos(angles), side) + np.outer(np.sin(angles), np.cross(normal, side))
        directions = [(normal, least)]
        if np.isfinite(contact.friction):
            most = contact.friction * np.cos(np.pi / sides)
            directions += [(most * normal - each, 0.0) for each in across]
        for direction, bound in directions:  # the closure acts on the ground, in frame_b there
            along = np.concatenate([np.zeros(3), -closure.frame_b[:3, :3].T @ direction])
            result.append(ClosureLimits(closure.name, least=bound, along=along))
    return result
