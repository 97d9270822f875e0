# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables that would take time or memory without end are refused by name, within a second."""

import os
from pathlib import Path
import random
import time

import pytest

from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.recordings import tables
from liedyn_ros.recordings.pose_tables import pose_table


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to('/dev/zero')


def one_line(path: Path) -> None:
    """Write a line of 4 GB that takes no space on the disk."""
    path.write_text('time,')
    os.truncate(path, 2**32)


def wide(path: Path) -> None:
    path.write_text('time,' + ','.join(f'x{k}.position' for k in range(100_000)) + '\n')


def no_text(path: Path) -> None:
    path.write_bytes(b'time,\xff\xfe\n')


@pytest.mark.parametrize('text', ['[', '(', ' ', ' [', '[ ', '.', '_', 'a'])
def test_long_names_of_columns_take_no_time(tmp_path: Path, text: str) -> None:
    """100 000 brackets held the reader for 99 s: a unit was looked for behind each."""
    path, begin = tmp_path / 'table.csv', time.process_time()
    path.write_text(f'time,x{100_000 * text}]x\n0.0,1.0\n')
    with pytest.raises(LiedynError):
        tables.table_samples([path], ['x1'])
    with pytest.raises(LiedynError):
        pose_table(path, ['x1'])
    assert time.process_time() - begin < 5.0


@pytest.mark.parametrize('suffix', tables.TABLE_SUFFIXES)
@pytest.mark.parametrize('make', [pipe, endless, one_line, wide, no_text])
def test_a_hostile_table_is_refused(tmp_path: Path, make, suffix: str) -> None:
    if suffix == '.parquet':
        pytest.importorskip('pyarrow')
    path = tmp_path / f'table{suffix}'
    make(path)
    begin = time.process_time()
    with pytest.raises(DescriptionError) as caught:
        tables.table_samples([path], ['x1'])
    assert str(path) in str(caught.value)
    assert time.process_time() - begin < 5.0  # 300 000 columns took longer than 8 s


def test_columns_of_parquet_are_bounded(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip('pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    path = tmp_path / 'wide.parquet'
    parquet.write_table(pyarrow.table({f'x{k}': [0.0] for k in range(10_001)}), path)
    with pytest.raises(DescriptionError) as caught:
        tables.header_of(path)
    assert '10001' in str(caught.value)


@pytest.mark.parametrize('suffix', tables.TABLE_SUFFIXES)
def test_numbers_of_a_table_are_bounded(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setattr(tables, 'MAX_TABLE_NUMBERS', 1000)
    monkeypatch.setattr(tables, 'ROWS_PER_CHECK', 100)
    path = tmp_path / f'long{suffix}'
    if suffix != '.parquet':
        path.write_text('t,x\n' + '0.0,1.0\n' * 2000)
    else:
        pyarrow = pytest.importorskip('pyarrow')
        pytest.importorskip('pyarrow.parquet').write_table(
            pyarrow.table({'t': [0.0] * 2000, 'x': [1.0] * 2000}), path)
    with pytest.raises(DescriptionError) as caught:
        tables.read_columns(path, {'x'})
    assert str(path) in str(caught.value)


def texts(pyarrow, count):
    """Return so many texts of 1 MiB, which take a few bytes in the file."""
    return pyarrow.DictionaryArray.from_arrays([0] * count, ['1' * 2**20])


@pytest.mark.parametrize('column', [
    lambda pyarrow, count: ['x'] * count, lambda pyarrow, count: [[1.0]] * count,
    lambda pyarrow, count: [{'a': 1.0}] * count, texts], ids=['text', 'lists', 'parts', 'bomb'])
def test_columns_of_parquet_that_are_no_numbers_are_refused(tmp_path: Path, column) -> None:
    pyarrow = pytest.importorskip('pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    path, times = tmp_path / 'run.parquet', [0.01 * k for k in range(2000)]
    parquet.write_table(pyarrow.table({
        'time': times, 'a.position': column(pyarrow, len(times))}), path)
    begin = time.process_time()
    with pytest.raises(DescriptionError) as caught:
        tables.table_samples([path], ['a'])
    assert caught.value.expected == 'numbers in a.position'
    assert time.process_time() - begin < 1.0  # 2 GB of text took 1.4 s, more take more


@pytest.mark.parametrize('seed', range(3))
def test_a_damaged_file_of_parquet_is_refused_by_name(tmp_path: Path, seed: int) -> None:
    pyarrow = pytest.importorskip('pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    path, chance = tmp_path / 'run.parquet', random.Random(seed)
    columns = {name: [0.01 * k for k in range(50)] for name in ('time', 'a.position')}
    parquet.write_table(pyarrow.table(columns), path, compression='zstd')
    good = path.read_bytes()
    for _ in range(100):
        damaged = bytearray(good)
        for _ in range(3):
            damaged[chance.randrange(len(good))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            tables.table_samples([path], ['a'])
        except LiedynError as error:
            assert str(path) in str(error)
