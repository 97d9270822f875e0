# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rows of numbers as CSV and Parquet, with names and units; a file is there when it is whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.common.whole_files import whole_file

WRITTEN_SUFFIXES = '.csv', '.parquet'
_GROUP = 20_000  # rows of a Parquet file that are in memory
_QUOTED = frozenset('",\r\n')  # characters that a text without quotes cannot have
Cell = float | int | str | None


class RowWriter(Protocol):
    """Writer of a row of a table: an empty cell is None."""

    def __call__(self, row: Sequence[Cell]) -> None:
        """Write a row, in the order of the columns."""


@contextmanager
def table_writer(path: Path, columns: Sequence[str], texts: Sequence[str] = (),
                 integers: Sequence[str] = ()) -> Iterator[RowWriter]:
    """
    Yield a writer of the rows of a table, of the format of its suffix; numbers keep all digits.

    texts and integers are the columns of these types. The file gets its name when all rows are
    written, so that an older one stays until then. Raises DescriptionError for other suffixes, and
    OSError.
    """
    if path.suffix not in WRITTEN_SUFFIXES:
        raise DescriptionError(f'{path}: expected a file {" or ".join(WRITTEN_SUFFIXES)}')
    with whole_file(path) as part:
        if path.suffix == '.csv':
            with part.open('w', newline='', encoding='utf-8') as stream:
                def write(row: Sequence[Cell]) -> None:
                    stream.write(','.join([
                        repr(each) if type(each) is float else _text(each) for each in row]))
                    stream.write('\n')

                write(columns)
                yield write
        else:
            with _ParquetRows(part, columns, texts, integers) as writer:
                yield writer.write


def _text(cell: Cell) -> str:
    """Return a cell of CSV as the module csv writes it, which takes half as long again a row."""
    if not isinstance(cell, str):
        return '' if cell is None else str(cell)
    if _QUOTED.isdisjoint(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


class _ParquetRows:
    """Collects rows to groups, which it writes."""

    def __init__(self, path: Path, columns: Sequence[str], texts: Sequence[str],
                 integers: Sequence[str]) -> None:
        require_extra('parquet', 'pyarrow')
        import pyarrow
        from pyarrow import parquet
        kinds = {**dict.fromkeys(texts, pyarrow.string()), **dict.fromkeys(
            integers, pyarrow.int64())}
        self._schema = pyarrow.schema([(name, kinds.get(name, pyarrow.float64()))
                                       for name in columns])
        self._table, self._rows = pyarrow.table, list[Sequence[Cell]]()
        self._writer: Any = parquet.ParquetWriter(path, self._schema)

    def __enter__(self) -> _ParquetRows:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._flush()
        finally:
            self._writer.close()

    def write(self, row: Sequence[Cell]) -> None:
        """Take a row."""
        self._rows.append(row)
        if len(self._rows) >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            columns = zip(*self._rows)
            self._writer.write_table(self._table(
                dict(zip(self._schema.names, map(list, columns))), schema=self._schema))
            self._rows.clear()
