# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables whose rows are poses at which a platform stood: readings of legs and measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
import re

import numpy as np

from liedyn_ros.common.checks import Array, listed, require_known, unknown_name
from liedyn_ros.common.errors import LimitError, NameSetError
from liedyn_ros.recordings.pose_samples import checked, PoseSamples
from liedyn_ros.recordings.tables import (
    header_of, read_columns, split_unit, TIMES, whole_name)
from liedyn_ros.recordings.units import UNIT_FACTORS

READINGS = 'length', 'reading', 'position', 'pos', 'q', 'angle'
QUATERNION = 'q', 'quat', 'quaternion', 'orientation', 'rotation'
RATE_WORDS = 'angular', 'linear', 'twist', 'velocity', 'acceleration'  # that are no positions
ROLL_PITCH_YAW = 'roll', 'pitch', 'yaw'
FITTING = {'reading': ('m', 'mm', 'rad', 'deg', 'rev'), 'position': ('m', 'mm'),
           'orientation': ('rad', 'deg', 'rev')}
Chosen = dict[str, list[str]]  # columns, by what they are


@dataclass(frozen=True)
class PoseColumns:
    """
    Columns of a table to read, in units as its header has them, else in SI.

    readings: the columns of the legs in their order; None for those that have the legs' names.
    points: the positions to take, by the part of a column's name before x, y or z; None for all.
    units: of reading, position and orientation. measured: the columns of each measurement, in
    place of those that have names of coordinates: x, y and z, with roll, pitch and yaw or a
    quaternion x, y, z and w after them, or one column, a distance. Columns of a table without a
    header have numbers for names, from 1 on.

    >>> PoseColumns(readings=['1', '2'], measured=[['3', '4', '5']]).measured
    [['3', '4', '5']]
    """

    readings: Sequence[str] | None = None
    points: Sequence[str] | None = None
    units: Mapping[str, str] | None = None
    measured: Sequence[Sequence[str]] = ()


def pose_table(
        path: str | Path, names: Sequence[str], columns: PoseColumns = PoseColumns()
        ) -> PoseSamples:
    r"""
    Return the rows of a table as samples of named legs.

    A leg's column has its name. x, y and z are a position, tip.x, tip.y and tip.z that of a point
    tip. roll, pitch and yaw are an orientation, or qx, qy, qz and qw.

    Args:
        path: of the file.
        names: of the legs.
        columns: where they have other names or units.

    Returns:
        the samples.

    Raises:
        DescriptionError: for files that cannot be read.
        NameSetError: for columns that are missing or come twice, and for units of no quantity.
        LimitError: for angles that look like degrees.

    >>> table = folder / 'poses.csv'
    >>> _ = table.write_text('a,b,x,y,z\n0.5,0.5,0,0,1\n0.6,0.5,0,0,1\n')
    >>> pose_table(table, ('a', 'b')).readings
    array([[0.5, 0.5],
           [0.6, 0.5]])
    """
    require_known(NameSetError, 'unit', FITTING, columns.units or (), 'kinds')
    file = Path(path)
    header, where = header_of(file), str(file)
    twice = sorted({each for each in header if header.count(each) > 1})
    if twice:
        raise NameSetError(f'{where}: expected each column once, got {listed(twice)} more than '
                           'once', names=tuple(twice))
    legs = _legs(where, header, names, columns.readings)
    points, angles, quaternion = (
        _given(where, header, columns.measured) if columns.measured else
        _measured(where, header, set(legs), columns.points))
    read = read_columns(file, {*legs, *angles, *quaternion,
                               *(column for each in points.values() for column in each)})

    def block(kind: str, chosen: Sequence[str]) -> Array:
        return np.column_stack([
            _factor(where, columns, kind, column) * read[column] for column in chosen])
    samples = checked(where, PoseSamples(
        tuple(names), block('reading', legs),
        {name: block('position', each) for name, each in points.items()},
        block('orientation', angles) if angles else None,
        np.column_stack([read[column] for column in quaternion]) if quaternion else None,
        factors=tuple(_factor(where, columns, 'reading', column) for column in legs)))
    _require_radians(where, samples.angles)
    return samples


def _legs(where: str, header: Sequence[str], names: Sequence[str],
          readings: Sequence[str] | None) -> list[str]:
    """Return the column of each leg."""
    if readings is not None:
        chosen = _chosen(where, header, readings)
        if len(readings) != len(names):
            raise NameSetError(f'{where}: expected a column for each of {listed(list(names))}, '
                               f'got {listed(list(readings))}', names=tuple(readings))
        return chosen
    found = {name: [each for each in header if _is_leg(each, name, names)] for name in names}
    for name, columns in found.items():
        if len(columns) > 1:
            raise NameSetError(f'{where}: expected one column of {name}, got {listed(columns)}',
                               names=(name,))
    missing = [name for name in names if not found[name]]
    if missing:
        raise NameSetError(f'{where}: expected a column for each reading, got none of '
                           f'{listed(missing)} among {listed(list(header))}',
                           names=tuple(missing))
    return [found[name][0] for name in names]


def _chosen(where: str, header: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return columns by their names, with or without units."""
    by_name = {key: each for each in header for key in (each, split_unit(each)[0])}
    for each in wanted:
        if each not in by_name:
            raise unknown_name(NameSetError, f'{where}: column', header, each)
    return [by_name[each] for each in wanted]


def _given(where: str, header: Sequence[str], measured: Sequence[Sequence[str]]
           ) -> tuple[Chosen, list[str], list[str]]:
    """Return given columns: of points, of roll, pitch and yaw, and of a quaternion."""
    points, turns = Chosen(), list[str]()
    for k, each in enumerate(measured, 1):
        if len(each) not in (1, 3, 6, 7):
            raise NameSetError(
                f'{where}: expected columns of x, y, z, with roll, pitch, yaw or a quaternion '
                f'after them, or of a distance, got {listed(list(each))}')
        found = _chosen(where, header, each)
        points[str(k)], turns = found[:3], turns + found[3:]
    return (points, turns, []) if len(turns) == 3 else (points, [], turns)


def _is_leg(column: str, name: str, names: Sequence[str]) -> bool:
    """Return whether a column has the name of a leg, of no longer one, and a word of READINGS."""
    text = split_unit(column)[0]
    owner = max((each for each in names if whole_name(each).search(text)), key=len, default=None)
    if owner != name:
        return False
    rest = re.split(r'[^a-z]+', whole_name(name).sub(' ', text, count=1).lower())
    return not any(rest) or any(word in READINGS for word in rest)


def _measured(where: str, header: Sequence[str], legs: set[str], wanted: Sequence[str] | None
              ) -> tuple[Chosen, list[str], list[str]]:
    """Return the columns of points by name, of roll, pitch and yaw, and of a quaternion."""
    parts: dict[str, dict[str, str]] = {}
    for name, axis, column in _coordinates(header, legs):
        if axis in parts.setdefault(name, {}):
            raise NameSetError(f'{where}: expected one {axis} of {name or "the position"}, got '
                               f'{listed([parts[name][axis], column])}')
        parts[name][axis] = column
    angles = parts.pop('roll pitch yaw', {})
    turns = [name for name in parts if _last_word(name) in QUATERNION]
    if len(turns) > 1:
        raise NameSetError(f'{where}: expected one quaternion, got {listed(turns)}')
    quaternion = parts.pop(turns[0]) if turns else {}
    if wanted is not None:
        for name in wanted:
            if name not in parts:
                raise unknown_name(NameSetError, f'{where}: position', parts, name)
        parts = {name: parts[name] for name in wanted}
    return ({name: _all_of(where, name, 'xyz', each) for name, each in parts.items()},
            _all_of(where, '', ROLL_PITCH_YAW, angles),
            _all_of(where, 'quaternion', 'xyzw', quaternion))


def _coordinates(header: Sequence[str], legs: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield of each column that is a coordinate of something its name, the axis and itself."""
    for column in header:
        text, unit = split_unit(column)
        if column in legs or text.lower() in TIMES or '/' in (unit or ''):
            continue
        if _last_word(text) in ROLL_PITCH_YAW:
            yield 'roll pitch yaw', _last_word(text), column
            continue
        name, axis = text[:-1].rstrip(' ._/-'), text[-1:].lower()
        apart = name != text[:-1] or not name or name.lower() == 'q' or name[-1].isdigit()
        if axis in ('x', 'y', 'z', 'w') and apart and not {*_words(name)} & {*RATE_WORDS}:
            yield name, axis, column


def _all_of(where: str, name: str, axes: Sequence[str], found: Mapping[str, str]) -> list[str]:
    """Return the columns in the order of the axes; none where none is there."""
    missing = [axis for axis in axes if axis not in found]
    if found and missing:
        raise NameSetError(
            f'{where}: expected {", ".join(axes)}{" of " * bool(name)}{name}, got '
            f'{listed(list(found.values()))} without {", ".join(missing)}', names=tuple(missing))
    return [found[axis] for axis in axes] if found else []


def _words(text: str) -> list[str]:
    return [word for word in re.split(r'[^a-z0-9]+', text.lower()) if word]


def _last_word(text: str) -> str:
    return (_words(text) or [''])[-1]


def _factor(where: str, columns: PoseColumns, kind: str, column: str) -> float:
    """Return the factor of a column to SI."""
    unit = split_unit(column)[1] or (columns.units or {}).get(kind)
    if unit is None:
        return 1.0
    if unit not in FITTING[kind]:
        raise unknown_name(NameSetError, f'{where}: unit of {column}', FITTING[kind], unit)
    return UNIT_FACTORS[unit][0]


def _require_radians(where: str, angles: Array | None) -> None:
    if angles is not None and np.abs(angles).max() > 2.0 * math.pi:
        raise LimitError(
            f'{where}: expected roll, pitch and yaw in rad, within 2 pi, got up to '
            f'{np.abs(angles).max():.4g}: degrees? Name the unit, as in "yaw [deg]"')
