# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Constraints of a model: loop closures and couplings of coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_number, unknown_name
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model.kernels import kinds as kinds
from liedyn_ros.model.parts.geometry import axis_frame, checked_pose, perpendicular, unit_axis

_MOMENTS = (kinds.MOMENT_X, kinds.MOMENT_Y, kinds.MOMENT_Z)
_FORCES = (kinds.FORCE_X, kinds.FORCE_Y, kinds.FORCE_Z)
_PERPENDICULAR = 1e-9


@dataclass(frozen=True)
class ClosureType:
    """
    A type of closure: its constraint rows and its axes.

    rows are its constraints, each one multiplier. axes says how many axes a description may give.
    One is the z axis of both closure frames; two are x of frame a and y of frame b.
    """

    kind: int
    rows: tuple[int, ...]
    axes: int = 0
    has_pitch: bool = False
    has_length: bool = False


CLOSURE_TYPES: dict[str, ClosureType] = {
    'weld': ClosureType(kinds.WELD_CLOSURE, _MOMENTS + _FORCES),
    'revolute': ClosureType(kinds.REVOLUTE_CLOSURE, _MOMENTS[:2] + _FORCES, axes=1),
    'prismatic': ClosureType(kinds.PRISMATIC_CLOSURE, _MOMENTS + _FORCES[:2], axes=1),
    'helical': ClosureType(kinds.HELICAL_CLOSURE, (*_MOMENTS[:2], *_FORCES[:2], kinds.SCREW),
                           axes=1, has_pitch=True),
    'cylindrical': ClosureType(kinds.CYLINDRICAL_CLOSURE, _MOMENTS[:2] + _FORCES[:2], axes=1),
    'planar': ClosureType(kinds.PLANAR_CLOSURE, (*_MOMENTS[:2], kinds.FORCE_Z), axes=1),
    'universal': ClosureType(kinds.UNIVERSAL_CLOSURE, (kinds.MOMENT_CROSS, *_FORCES), axes=2),
    'spherical': ClosureType(kinds.SPHERICAL_CLOSURE, _FORCES),
    'point_on_line': ClosureType(kinds.LINE_CLOSURE, (kinds.ACROSS_X, kinds.ACROSS_Y), axes=1),
    'point_on_plane': ClosureType(kinds.PLANE_CLOSURE, (kinds.ACROSS_Z,), axes=1),
    'rod': ClosureType(kinds.ROD_CLOSURE, (kinds.ALONG_ROD,), has_length=True),
}


@dataclass(frozen=True, eq=False)
class Closure:
    """
    A joint that closes a loop. Its type_name, a key of CLOSURE_TYPES, decides what it leaves free.

    name is that of its constraints: 'tip/force_x'.
    frame_a (4, 4) is fixed to body_a and frame_b (4, 4) to body_b, each seen from the frame of its
    body. A body None is the ground. At zero of the closing joint the two coincide. z of the frames
    is the axis of rotation, of travel, or the normal of a plane. A universal closure turns about x
    of frame a and y of frame b. point_on_line and point_on_plane hold the origin of frame b on the
    z axis, or in the x-y plane, of frame a. rod holds the origins length (m) apart, both ends
    free. pitch is in m/rad. The wrench of a closure acts on body_b, in frame_b.

    tolerance (m) is the gap accepted where redundant rows contradict each other, as rounded
    numbers make them; 0 accepts none. held are the kinds of rows that are enforced, None for all
    rows of the type. ConstrainedDynamics leaves out the others where such a gap is.

    >>> closure, = linkage.model.closures
    >>> closure.type_name, closure.body_a, closure.body_b
    ('revolute', 'coupler', 'rocker')
    """

    name: str
    type_name: str
    body_a: str | None
    body_b: str | None
    frame_a: Array
    frame_b: Array
    pitch: float = 0.0
    length: float = 0.0
    tolerance: float = 0.0
    held: tuple[int, ...] | None = None

    @property
    def row_kinds(self) -> tuple[int, ...]:
        """Return the kinds of its constraints."""
        return CLOSURE_TYPES[self.type_name].rows if self.held is None else self.held

    @property
    def rows(self) -> int:
        """Return the number of its constraints, and of its multipliers."""
        return len(self.row_kinds)


@dataclass(frozen=True)
class Coupling:
    """
    A mimic joint or a gear: q_joint = multiplier * q_leader + offset.

    joint and leader are names of coordinates about or along one axis. further holds other leaders
    with their multipliers, as a differential has them.

    >>> finger = Coupling('right_finger', 'left_finger', multiplier=-1.0, offset=0.0)
    >>> finger.leader
    'left_finger'
    """

    joint: str
    leader: str
    multiplier: float
    offset: float
    further: tuple[tuple[str, float], ...] = ()

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """Return all leaders with their multipliers."""
        return ((self.leader, self.multiplier), *self.further)


def make_closure(name: str, type_name: str, body_a: str | None, body_b: str | None, *,
                 placement_a: ArrayLike | None, placement_b: ArrayLike | None,
                 axis: ArrayLike | None, second_axis: ArrayLike | None, pitch: float,
                 length: float, tolerance: float) -> Closure:
    """Return the closure of ModelBuilder.add_closure, with its arguments and errors."""
    where = f'closure {name}'
    if type_name not in CLOSURE_TYPES:
        raise unknown_name(ModelError, where, CLOSURE_TYPES, type_name, 'a type')
    spec = CLOSURE_TYPES[type_name]
    if body_a == body_b:
        raise ModelError(f'{where}: expected two different bodies, got {body_a!r} twice')
    pitch, length = as_number(f'{where}: pitch', pitch), as_number(f'{where}: length', length)
    if pitch != 0.0 and not spec.has_pitch:
        raise ModelError(f'{where}: expected no pitch for type {type_name}, got {pitch}')
    if spec.has_pitch and pitch == 0.0:
        raise ModelError(f'{where}: expected a pitch other than 0 for type {type_name}; '
                         'without one it is revolute')
    if spec.has_length != (length > 0.0) or length < 0.0:
        raise ModelError(f'{where}: expected {"a length above 0" if spec.has_length else "none"} '
                         f'for type {type_name}, got a length of {length}')
    tolerance = as_number(f'{where}: tolerance', tolerance)
    if tolerance < 0.0:
        raise ModelError(f'{where}: expected a tolerance of 0 m or more, got {tolerance}')
    rotation = _rotation(where, type_name, spec, axis, second_axis)
    return Closure(name, type_name, body_a, body_b,
                   _frame(f'{where}: placement_a', placement_a, rotation),
                   _frame(f'{where}: placement_b', placement_b, rotation), pitch, length,
                   tolerance)


def _rotation(where: str, type_name: str, spec: ClosureType, axis: ArrayLike | None,
              second_axis: ArrayLike | None) -> Array:
    """Return the rotation from the axes of a closure type to those of a description."""
    given = sum(each is not None for each in (axis, second_axis))
    if given > spec.axes or (second_axis is not None and axis is None) or 0 < given < spec.axes:
        raise ModelError(f'{where}: expected {spec.axes or "no"} axes or their default for type '
                         f'{type_name}, got {axis!r} and {second_axis!r}')
    if axis is None:
        return np.eye(3)
    first = unit_axis(f'{where}: axis', axis)
    if second_axis is None:
        return axis_frame(first, perpendicular(first))
    second = unit_axis(f'{where}: second axis', second_axis)
    if abs(first @ second) > _PERPENDICULAR:
        raise ModelError(f'{where}: expected perpendicular axes, got {first} and {second}')
    return np.column_stack((first, second, np.cross(first, second)))


def _frame(name: str, placement: ArrayLike | None, rotation: Array) -> Array:
    pose = np.array(checked_pose(name, np.eye(4) if placement is None else placement))
    pose[:3, :3] = pose[:3, :3] @ rotation
    pose.setflags(write=False)
    return pose
