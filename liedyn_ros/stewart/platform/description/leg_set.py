# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Legs of platforms of any number of them: joints, leg types, limits of drive coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import se3
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.description.leg_types import (
    Crank, LegType, OffsetStrut, Rail, row, Stage, Strut)
from liedyn_ros.stewart.platform.kernels.leg_rows import ENDS, PITCH, ROW, SHIFT, TURN
from liedyn_ros.stewart.platform.kernels.leg_types import write_leg_ends


class LegSet:
    """
    n legs, each from a base joint to a platform joint; immutable.

    Its subclasses are dataclasses that say how many, and check them.
    """

    leg_names: tuple[str, ...]
    base_joints: Array
    platform_joints: Array
    length_limits: Array
    name: str
    leg_types: tuple[LegType, ...]

    def __repr__(self) -> str:
        """Return the name and the number of legs: the arrays are long."""
        return f'<{type(self).__name__} {self.name}: {len(self.leg_names)} legs>'

    def __eq__(self, other: object) -> bool:
        """Return whether another geometry has the same parts."""
        if not isinstance(other, LegSet) or type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(mine, others) for mine, others in zip(
            self._parts(), other._parts()))

    def __hash__(self) -> int:
        """Return a hash of name and joints."""
        return hash((self.name, self.leg_names, self.base_joints.tobytes(),
                     self.platform_joints.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by building again: the arrays of the copy are read-only too."""
        return type(self), self._parts()

    def _parts(self) -> tuple[Any, ...]:
        """Return the arguments of the geometry."""
        parts: Any = self
        return tuple(getattr(self, part.name) for part in fields(parts) if part.init)

    def _freeze(self, values: Mapping[str, Any]) -> None:
        """Set the checked parts; arrays are copied and read-only."""
        for key, value in values.items():
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.setflags(write=False)
            object.__setattr__(self, key, value)

    @property
    def plain(self) -> bool:
        """Return whether all legs are struts between joints whose axes meet."""
        return all(isinstance(leg, Strut) for leg in self.leg_types)

    @property
    def signed(self) -> bool:
        """Return whether there are drive coordinates that may be zero."""
        return not all(leg.positive for leg in self.leg_types)

    @property
    def drive_scales(self) -> Array:
        """Return the distance (n,), m, that one unit of a reading moves the end of the drive."""
        return np.array([leg.radius if isinstance(leg, Crank) else 1.0 for leg in self.leg_types])

    def require_values(self, values: Array) -> Array:
        """Return drive coordinates (..., n); raise LimitError where a strut's is not positive."""
        lengths = np.array([leg.positive for leg in self.leg_types])
        bad = np.argwhere((values <= 0.0) & lengths)
        if len(bad):
            where = tuple(int(i) for i in bad[0])
            raise LimitError(f'lengths{list(where)}: expected a positive length in m, '
                             f'got {values[where]}', names=(self.leg_names[where[-1]],),
                             expected=0.0, got=float(values[where]), indices=where)
        return values

    def within_limits(self, lengths: ArrayLike) -> NDArray[np.bool_]:
        """Return for each drive coordinate (..., n), m or rad, whether it is within its limits."""
        lengths = checks.as_numbers('lengths', lengths)
        return (self.length_limits[:, 0] <= lengths) & (lengths <= self.length_limits[:, 1])

    def require_within_limits(self, lengths: Array) -> None:
        """Raise LimitError naming the first leg whose drive coordinate is beyond its limits."""
        within = self.within_limits(lengths)
        if not within.all():
            leg = int(np.argmin(within))
            least, most = self.length_limits[leg]
            leg_type = self.leg_types[leg]
            driven = {Rail: 'position', Stage: 'position', Crank: 'angle'}
            what = driven.get(type(leg_type), 'length')
            raise LimitError(f'{what} of {self.leg_names[leg]}: expected {least} to {most} '
                             f'{leg_type.unit}, got {lengths[leg]}',
                             names=(self.leg_names[leg],), expected=(float(least), float(most)),
                             got=float(lengths[leg]), indices=(leg,))


def table_of(
        base: Array, platform: Array, leg_types: Sequence[LegType], unit: float,
        plain: bool, home: Array | None = None) -> Array:
    """
    Return the kernels' table of six legs with joints (6, 3), m, lengths in a unit (m).

    plain: whether to leave out the rows of the legs, which struts alone do without. home: (4, 4),
    m, about whose turn screws are counted, so that no length jumps by a lead near it.
    """
    ends = np.concatenate((base, platform)).ravel() / unit
    if plain:
        return ends
    rows = [row(*leg, unit) for leg in zip(leg_types, base, platform)]
    table = np.concatenate((ends, *rows))
    if home is not None and any(isinstance(leg, OffsetStrut) and leg.lead for leg in leg_types):
        write_leg_ends(table, *split(np.array(
            se3.from_rotation_translation(home[:3, :3], home[:3, 3] / unit))))
        for screw in table[ENDS:].reshape(-1, ROW):
            if screw[PITCH]:
                screw[TURN] = -screw[SHIFT] / screw[PITCH]
    return table
