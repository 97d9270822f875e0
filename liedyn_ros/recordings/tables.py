# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recordings in CSV and Parquet files: columns by the names of joints, with units."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import csv
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
import re
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array, listed, require_known
from liedyn_ros.common.errors import DescriptionError, NameSetError, StampError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.common.untrusted_files import open_regular, text_lines
from liedyn_ros.recordings.samples import (
    JointSamples, require_seconds, samples_of, stamps_of_seconds)
from liedyn_ros.recordings.units import factor_of

TABLE_SUFFIXES = '.csv', '.tsv', '.txt', '.parquet'
MAX_TABLE_COLUMNS = 10_000  # of a table; the log of a humanoid has some hundred
MAX_TABLE_NUMBERS = 2**28  # that are read of a table, 2 GiB
ROWS_PER_CHECK = 2**16  # rows, between looks at how many there are
COLUMN_WORDS = {'position': ('position', 'pos', 'q', 'angle'),
                'velocity': ('velocity', 'vel', 'v', 'dq', 'qd'),
                'effort': ('effort', 'torque', 'tau', 'force')}
TIMES = 'time', 't', 'stamp', 'timestamp', '__time', 'time_s', 'log_time'
_LAST_UNIT = re.compile(  # of a name such as q_deg or time_ms; a single letter may be a name's
    r'[_ ]((?:rad|deg|mm|m)[_/]s|rad|deg|mm|rev|rpm|Nm|kN|ms|us|ns)$')
DELIMITERS = ',', ';', '\t', '|'


@dataclass(frozen=True)
class Columns:
    """
    Columns of a table to read, in units as its header has them, else in SI.

    time is the name of its column, None for the one of TIMES. rate (Hz) takes its place where a
    table has none. position, velocity and effort are patterns such as '{joint}_pos', or
    'position.{index}' with the joint's place among the names, from 0 on, or the columns of all
    joints in the order of the names, such as '2,3,4': names, or
    numbers from 1 on. None is for the column
    that has the joint's name and one of COLUMN_WORDS, or else for arrays of a JointState as `mcap
    cat` writes them. units are of time, position, velocity and effort. scale has the effort for
    each recorded unit, by joint, such as N m/A.

    >>> Columns(position='{joint}_pos', units={'position': 'deg'}).units
    {'position': 'deg'}
    """

    time: str | None = None
    rate: float | None = None
    position: str | None = None
    velocity: str | None = None
    effort: str | None = None
    units: Mapping[str, str] | None = None
    scale: Mapping[str, float] | None = None


def table_samples(paths: Sequence[str | Path], names: Sequence[str],
                  columns: Columns = Columns()) -> JointSamples:
    r"""
    Return the samples of named joints in tables whose rows belong together.

    Args:
        paths: of CSV or Parquet files.
        names: of joints.
        columns: where they have other names or units.

    Returns:
        the samples; SI.

    Raises:
        DescriptionError: for files that cannot be read.
        NameSetError: for columns that are missing or fit twice, and for units and scales that do
            not fit.

    >>> table = folder / 'arm.csv'
    >>> _ = table.write_text('time,elbow_pos [deg]\n0.0,180\n0.1,180\n')
    >>> named = Columns(position='{joint}_pos')
    >>> table_samples([table], ['elbow'], named).position.round(3).tolist()
    [[3.142], [3.142]]
    """
    _require_names(columns, names)
    tables = [Path(each) for each in paths]
    where = ', '.join(str(each) for each in tables)
    headers = [header_of(each) for each in tables]
    notes = list[str]()
    chosen = {(kind, name): found for kind in COLUMN_WORDS for name in names
              if (found := _column(where, headers, columns, kind, name, names)) is not None}
    if not chosen:
        chosen = _of_arrays(tables, headers, names, notes)
    _require_columns(where, names, headers, chosen)
    times = [_time(where, header, columns) for header in headers]
    read = [read_columns(path, {column for at, column in chosen.values() if at == k}
                         | {each for each in times[k:k + 1] if each is not None}, notes)
            for k, path in enumerate(tables)]
    count = _count(where, tables, read)
    stamps = stamps_of_seconds(where, _stamps(where, tables, read, times, columns, count))
    blocks: dict[str, Array | None] = {}
    for kind in COLUMN_WORDS:
        blocks[kind] = np.column_stack([
            _factor(where, columns, kind, name, chosen[kind, name][1])
            * read[chosen[kind, name][0]][chosen[kind, name][1]] for name in names]) if (
                kind, names[0]) in chosen else None
    position = blocks['position']
    if position is None:
        raise NameSetError(f'{where}: expected names of joints, got none')
    asked = [kind for kind in COLUMN_WORDS if getattr(columns, kind) is not None]
    return replace(
        samples_of(where, names, stamps, position, blocks['velocity'], blocks['effort'], notes,
                   asked),
        factors=tuple(_factor(where, columns, 'position', name, chosen['position', name][1])
                      for name in names))


def _require_columns(where: str, names: Sequence[str], headers: Sequence[Sequence[str]],
                     chosen: Container[tuple[str, str]]) -> None:
    """Refuse tables without a position of each joint, or with velocities or efforts of some."""
    for kind in COLUMN_WORDS:
        missing = [name for name in names if (kind, name) not in chosen]
        if missing and (kind == 'position' or len(missing) < len(names)):
            raise NameSetError(
                f'{where}: expected a column with the {kind} of {listed(missing)}, got '
                f'{listed([column for header in headers for column in header])}: name it so in '
                f'the header, as {missing[0]}.{kind}, or to a command with such an option by a '
                "pattern, as 'motor_{index}' or '{joint}_x', or all columns, as 2,3,4",
                names=tuple(missing))


def in_units(samples: JointSamples, columns: Columns) -> JointSamples:
    """Return samples of a bag in SI, whose units and scales columns has. Raises NameSetError."""
    _require_names(columns, samples.names)
    units, scale = columns.units or {}, columns.scale or {}

    def factors(kind: str) -> Array:
        factor = factor_of(units[kind], kind, kind) if kind in units else 1.0
        return np.array([scale.get(name, factor) if kind == 'effort' else factor
                         for name in samples.names])
    return replace(
        samples, position=factors('position') * samples.position,
        velocity=None if samples.velocity is None else factors('velocity') * samples.velocity,
        effort=None if samples.effort is None else factors('effort') * samples.effort)


def _require_names(columns: Columns, names: Sequence[str]) -> None:
    """Raise NameSetError for units of no quantity and scales of no joint, as misspelt ones are."""
    require_known(NameSetError, 'unit', ('time', *COLUMN_WORDS), columns.units or (), 'kinds')
    require_known(NameSetError, 'scale', names, columns.scale or (), 'joints')


def _column(where: str, headers: Sequence[list[str]], columns: Columns, kind: str, name: str,
            names: Sequence[str]) -> tuple[int, str] | None:
    """Return table and column of a quantity of a joint."""
    pattern = getattr(columns, kind)
    if pattern is not None:
        at, each = list(names).index(name), pattern.split(',')
        if len(each) > 1 and len(each) != len(names):
            raise NameSetError(f'{where}: expected a column with the {kind} of each of '
                               f'{listed(list(names))}, got {len(each)}: {pattern}')
        wanted = (each[at] if len(each) > 1 else
                  pattern.replace('{joint}', name).replace('{index}', str(at)))
        found = [(k, each) for k, header in enumerate(headers) for each in header
                 if wanted in (each, split_unit(each)[0])] or _by_number(headers, wanted)
    else:
        found = [(k, each) for k, header in enumerate(headers) for each in header
                 if _is(each, kind, name, names)]
        if not found and kind == 'position':  # its name alone, as in a table of poses
            found = [(k, each) for k, header in enumerate(headers) for each in header
                     if split_unit(each)[0] == name]
    if len(found) > 1:
        raise NameSetError(f'{where}: expected one column with the {kind} of {name}, got '
                           f'{listed([each for _, each in found])}')
    return found[0] if found else None


def _by_number(headers: Sequence[list[str]], text: str) -> list[tuple[int, str]]:
    """Return the column of a number, from 1 on, in the only table."""
    at = int(text) - 1 if text.isdecimal() and len(text) < 6 and len(headers) == 1 else -1
    return [(0, headers[0][at])] if 0 <= at < len(headers[0]) else []


def _of_arrays(tables: Sequence[Path], headers: Sequence[list[str]], names: Sequence[str],
               notes: list[str]) -> dict[tuple[str, str], tuple[int, str]]:
    """
    Return the columns `position.0`, `position.1` of a JointState by the places of the joints.

    Columns `name.0`, `name.1` say which joint is where; without them as many as joints are in
    their order.
    """
    for k, header in enumerate(headers):
        found = {kind: [(int(match[1]), each) for each in header if (match := re.fullmatch(
            rf'(?:.*[./])?{kind}[.\[](\d{{1,4}})\]?', each))] for kind in ('name', *COLUMN_WORDS)}
        arrays = {kind: [each for _, each in sorted(places)] for kind, places in found.items()}
        if not arrays['position']:
            continue
        order = list(names)
        if arrays['name']:
            first = next((row for n, row in enumerate(_rows(tables[k])) if n), [])
            order = [first[header.index(each)] if header.index(each) < len(first) else ''
                     for each in arrays['name']]
        elif len(arrays['position']) != len(order):
            continue
        else:
            notes.append(f'{listed(arrays["position"])} taken for {listed(order)}, in this order')
        return {(kind, name): (k, arrays[kind][order.index(name)]) for kind in COLUMN_WORDS
                for name in names if name in order and len(arrays[kind]) == len(order)}
    return {}


def _is(column: str, kind: str, name: str, names: Sequence[str]) -> bool:
    """Return whether a column has the name of a joint, of no longer one, and a word of a kind."""
    text = split_unit(column)[0]
    owner = max((each for each in names if _within(each, text)), key=len, default=None)
    if owner != name:
        return False
    rest = whole_name(name).sub(' ', text, count=1)
    words = re.split(r'[^a-z]+', rest.lower())
    return any(word in COLUMN_WORDS[kind] for word in words)


def _within(name: str, text: str) -> bool:
    return whole_name(name).search(text) is not None


def whole_name(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that is no part of a longer one, as arm_1 is of arm_1_2."""
    return re.compile(rf'(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9]|[^A-Za-z0-9]\d)')


def split_unit(column: str) -> tuple[str, str | None]:
    """Return name and unit of a column, in time that grows with its length alone."""
    text = column.strip()
    for begin, end in ('[]', '()'):
        name, found, unit = text[:-1].rpartition(begin)
        if found and text.endswith(end) and end not in unit and not (
                begin == '[' and unit.isdecimal()):  # the number of an entry
            return name.strip(), unit
    if last := _LAST_UNIT.search(text[-10:]):
        return text[:-len(last[0])], last[1].replace('_', '/')
    return text, None


def _factor(where: str, columns: Columns, kind: str, name: str, column: str) -> float:
    scale = (columns.scale or {}).get(name) if kind == 'effort' else None
    if scale is not None:
        return float(scale)
    unit = split_unit(column)[1] or (columns.units or {}).get(kind)
    return 1.0 if unit is None else factor_of(unit, kind, f'{where}: {column}')


def _time(where: str, header: list[str], columns: Columns) -> str | None:
    found = [each for each in header if (
        split_unit(each)[0].lower() in TIMES if columns.time is None
        else columns.time in (each, split_unit(each)[0]))] or [
            each for _, each in _by_number([header], columns.time or '')]
    if len(found) > 1:
        raise NameSetError(f'{where}: expected one column of time, got {listed(found)}')
    if columns.rate is not None:
        return None
    if not found:
        raise NameSetError(f'{where}: expected a column of time such as {listed(TIMES)}, or a '
                           f'rate, got {listed(header)}')
    return found[0]


def _stamps(where: str, tables: Sequence[Path], read: Sequence[dict[str, Array]],
            times: Sequence[str | None], columns: Columns, count: int) -> Array:
    if columns.rate is not None:
        if not columns.rate > 0.0:
            raise StampError(f'{where}: expected a rate above 0 Hz, got {columns.rate}')
        return np.arange(count) / columns.rate
    has_unit = (columns.units or {}).get('time') or any(
        column is not None and split_unit(column)[1] for column in times)
    found = [_factor(where, columns, 'time', '', column) * table[column]
             for column, table in zip(times, read) if column is not None]
    for path, each in zip(tables[1:], found[1:]):
        if not np.array_equal(each, found[0]):
            at = int(np.argmax(each != found[0]))
            raise StampError(f'{path}: expected the times of {tables[0]}, got {each[at]} for '
                             f'{found[0][at]} in row {at + 1}')
    if not has_unit:
        require_seconds(where, np.asarray(found[0]))
    return np.asarray(found[0])


def _count(where: str, tables: Sequence[Path], read: Sequence[dict[str, Array]]) -> int:
    counts = [len(next(iter(each.values()))) for each in read if each]
    if len(set(counts)) != 1 or len(counts) != len(tables):
        raise DescriptionError(f'{where}: expected tables with columns of these joints and equal '
                               f'numbers of rows, got {counts}')
    return counts[0]


def is_table(path: str | Path) -> bool:
    """Return whether a file is a table, by its suffix."""
    return Path(path).suffix.lower() in TABLE_SUFFIXES


def header_of(path: Path) -> list[str]:
    """
    Return the names of the columns: their numbers, from 1, where the first line has numbers.

    Raises DescriptionError.
    """
    if not is_table(path):
        raise DescriptionError(f'{path}: expected a file {" or ".join(TABLE_SUFFIXES)}')
    if path.suffix.lower() == '.parquet':
        with _parquet(path) as table:
            header = list(table.schema_arrow.names)
    else:
        header = next(_rows(path), [])
        if _is_headless(header):
            header = _numbered(header)
    if not header:
        raise DescriptionError(f'{path}: expected a header with names of columns, got an empty '
                               'file')
    if len(header) > MAX_TABLE_COLUMNS:
        raise DescriptionError(f'{path}: expected at most {MAX_TABLE_COLUMNS} columns, got '
                               f'{len(header)}')
    return header


def read_columns(path: Path, wanted: set[str], notes: list[str] | None = None
                 ) -> dict[str, Array]:
    """Return columns of a table; a last row that is cut is left out, and notes."""
    if path.suffix.lower() == '.parquet':
        with _parquet(path, wanted) as file:
            _require_numbers(path, file.metadata.num_rows, wanted)
            table = file.read(sorted(wanted))
            return {name: np.asarray(table[name], dtype=float) for name in wanted}
    rows = _rows(path)
    header = first = next(rows)
    if _is_headless(first):
        header, rows = _numbered(first), chain([first], rows)
    widths = {len(header), len(header) - (not header[-1])}  # a comma may end header or row
    at, row = {name: header.index(name) for name in wanted}, list[str]()
    found = {name: array('d') for name in wanted}
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        if number % ROWS_PER_CHECK == 0:
            _require_numbers(path, number, wanted)
        cells = [row[place] if place < len(row) else '' for place in at.values()]
        numbers = [_number(each) if each.strip() else np.nan for each in cells]
        fits = len(row) in widths or len(row) - (not row[-1]) in widths
        if (not fits or None in numbers) and notes is not None and next(rows, None) is None and (
                _is_cut(path)):
            notes.append(f'{path}: the last row is cut, left out: {",".join(row)!r}')
            break
        if not fits:
            raise DescriptionError(f'{path}:{number}: expected {len(header)} cells, got '
                                   f'{len(row)}: {",".join(row)!r}')
        for values, value in zip(found.values(), numbers):
            if value is None:
                raise DescriptionError(f'{path}:{number}: expected {len(header)} numbers, got '
                                       f'{",".join(row)!r}')
            values.append(value)
    if row and not row[-1] and len(row) == len(header) and notes is not None and _is_cut(path):
        notes.append(f'{path}: the last row is cut, left out: {",".join(row)!r}')
        return {name: np.array(values[:-1]) for name, values in found.items()}
    return {name: np.array(values) for name, values in found.items()}


def _is_headless(first: list[str]) -> bool:
    """Return whether the first line of a table has numbers, and so no names."""
    return bool(first) and all(_number(each) is not None for each in (
        first if first[-1] or len(first) == 1 else first[:-1]))


def _numbered(first: list[str]) -> list[str]:
    """Return the numbers of columns as their names; a comma may end a row."""
    return [str(k) if cell else '' for k, cell in enumerate(first, 1)]


def _number(text: str) -> float | None:
    """Return a number, with a point or a comma, or None."""
    try:
        return float(text if '.' in text else text.replace(',', '.', 1))
    except ValueError:
        return None


def _is_cut(path: Path) -> bool:
    """Return whether a file ends within a line."""
    with open_regular(path) as file:
        file.seek(-1, 2)
        return file.read() != b'\n'


def _require_numbers(path: Path, rows: int, wanted: set[str]) -> None:
    if rows * len(wanted) > MAX_TABLE_NUMBERS:
        raise DescriptionError(f'{path}: expected at most {MAX_TABLE_NUMBERS} numbers in '
                               f'{len(wanted)} '
                               f'columns, got {rows} rows')


def _rows(path: Path) -> Iterator[list[str]]:
    """Yield the cells of each line; what separates them is what its first line has most of."""
    try:
        lines = text_lines(path)
        first, note = next(lines, ''), ''
        while first.startswith(('#', '%', 'sep=')):  # the last of them may be the header
            note, first = first.strip('#% '), next(lines, '')
        if note and _is_headless(re.split(r'[,;|\s]+', first.strip())):
            lines, first = chain([first], lines), note
        found = max(DELIMITERS, key=first.count)
        yield from csv.reader(chain([first] if first else [], lines), skipinitialspace=True,
                              delimiter=found if found in first else ' ')
    except (OSError, DescriptionError, csv.Error) as error:
        raise DescriptionError(f'{path}: expected a CSV file, got {error}') from error


@contextmanager
def _parquet(path: Path, wanted: Iterable[str] = ()) -> Iterator[Any]:
    """Open a file whose wanted columns are of numbers: a text may unfold without bound."""
    require_extra('parquet', 'pyarrow')
    import pyarrow
    from pyarrow import parquet, types
    try:
        with parquet.ParquetFile(open_regular(path)) as file:
            for each in map(file.schema_arrow.field, wanted):
                if not any(kind(each.type) for kind in (
                        types.is_primitive, types.is_decimal, types.is_null)):
                    raise DescriptionError(f'numbers in {each.name}, got {each.type}')
            yield file
    except DescriptionError as error:
        raise DescriptionError(f'{path}: expected {error}') from error
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise DescriptionError(f'{path}: expected a Parquet file, got {error}') from error
