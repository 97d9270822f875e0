# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables on a terminal."""

from collections.abc import Sequence
from typing import Any


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows under a header; the first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    cells = [row + [''] * (len(header) - len(row)) for row in cells]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    cells.insert(1, ['-' * width for width in widths])
    for first, *others in cells:
        line = [first.ljust(widths[0])]
        line += [cell.rjust(width) for cell, width in zip(others, widths[1:])]
        print('  ' + '  '.join(line).rstrip())
