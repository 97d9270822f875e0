# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables are written as the module csv writes them."""

import csv

import numpy as np

from liedyn_ros.commands.bags.tables import table_writer

TEXTS = '', 'plain', 'a, b', 'say "so"', 'two\nlines', 'ä'
NUMBERS = (0.0, -0.0, 1e-300, 1e22, 0.1, float('nan'), float('inf'), 1, -2**63, np.float64(0.1),
           None)


def test_rows_are_those_of_the_module_csv(tmp_path):
    rows = [[number, text, 1.5] for number in NUMBERS for text in TEXTS]
    columns = ['a [m]', 'b, c', 'd']
    with table_writer(tmp_path / 'ours.csv', columns) as write:
        for row in rows:
            write(row)
    with (tmp_path / 'theirs.csv').open('w', newline='', encoding='utf-8') as stream:
        csv.writer(stream, lineterminator='\n').writerows([columns, *rows])
    assert (tmp_path / 'ours.csv').read_bytes() == (tmp_path / 'theirs.csv').read_bytes()


def test_a_carriage_return_is_read_back(tmp_path):
    with table_writer(tmp_path / 'table.csv', ['reason', 'a']) as write:
        write(['first\rsecond', 1.0])
    with (tmp_path / 'table.csv').open(newline='', encoding='utf-8') as stream:
        assert [*csv.reader(stream)] == [['reason', 'a'], ['first\rsecond', '1.0']]
