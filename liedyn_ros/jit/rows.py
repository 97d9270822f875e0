# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Rows of tables, declared once: kernels and Python read and write them by name.

A table is a float64 array (rows, columns), or (rows, columns, LANES) for LANES states at once. A
`Row` names the entries of a row, in order, each by its kind: WHOLE, NUMBER, or tuples of numbers
as the kernels of liedyn_ros.lie take them. In a kernel

    link = Link(model, i)
    r, p = link.placement
    link.wrench = m, f
    link.plus.wrench = m, f

read, write and add to entries of row i of the table `model`; of a table of states numbers are
Lanes. Whole numbers stand among the floats as int64 bits, in tables of one state only. All offsets
are constants to the compiler. A row is a pointer without a reference, so it stays in the kernels
that a kernel calls. Only LIEDYN_CHECK=1 checks that a table has this row, and its width.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.errors import LiedynError, NameSetError
from liedyn_ros.jit.decorators import build, check_index, errors, row_types, types
from liedyn_ros.jit.kinds import NUMBER, ROTATION, TRIPLE, WHOLE
from liedyn_ros.jit.simd import LANES

SINE_COSINE = f'({2 * NUMBER})'  # of an angle
RIGID_POSE = f'({ROTATION}{TRIPLE})'  # (r, p): rotation row by row, position
TWO_VECTORS = f'({2 * TRIPLE})'  # two vectors: of a motion, or of a wrench
SYMMETRIC = f'({6 * NUMBER})'  # six numbers, as of a symmetric 3 by 3 matrix
RIGID_INERTIA = f'({NUMBER}{TRIPLE}{SYMMETRIC})'  # m, h = m c, J
ARTICULATED_INERTIA = f'({SYMMETRIC}{ROTATION}{SYMMETRIC})'  # A, B, C of [A B; B^T C]


class Row:
    """The names and kinds of the entries of a row; calls of it in kernels return rows."""

    def __init__(self, name: str, width: int = 0, **kinds: Any) -> None:
        """
        Name the row and its entries, side by side from the first column on.

        width: columns of its table, where it has more. An entry may also have its first column
        before its kind, as `Other.entry('pose')`: it stands in the same columns as there.
        """
        self.name, self.columns, self._kinds, needed = name, {}, {}, 0
        for entry, given in kinds.items():
            at, kind = given if isinstance(given, tuple) else (needed, given)
            end = at + kind.count('d') + kind.count('q')
            self.columns[entry], self._kinds[entry] = range(at, end), kind
            needed = max(needed, end)
        self.width = width or needed
        if self.width < needed:
            raise LiedynError(f'{name}: expected a width of {needed} or more, got {width}')

    def __repr__(self) -> str:
        """Return the name, and the columns and kinds of the entries."""
        entries = ', '.join(f'{name}: {self.columns[name].start} {kind}'
                            for name, kind in self._kinds.items())
        return f'{self.name}({entries}; {self.width})'

    def extended(self, name: str, **kinds: Any) -> 'Row':
        """Return a row with these entries, and more behind them."""
        return Row(name, 0, **{each: self.entry(each) for each in self._kinds}, **kinds)

    def __call__(self, table: Any, row: Any) -> Any:
        """Raise LiedynError: Python reads rows by `of`."""
        raise LiedynError(f'{self.name}: expected a call by kernels alone; Python calls `of`')

    def entry(self, name: str) -> tuple[int, str]:
        """Return first column and kind of an entry, for another row with the same one."""
        return self._known(name).start, self._kinds[name]

    def column(self, name: str) -> int:
        """Return the column of a number, or the first one of an entry."""
        return self._known(name).start

    def of(self, rows: NDArray[np.float64], name: str) -> NDArray[Any]:
        """
        Return an entry of rows of a table (..., width), in the same memory.

        A number or whole number takes no axis, another entry one. `Link.of(table, 'pitch')[1]` is
        the pitch of row 1.
        """
        columns = self._known(name)
        if self._kinds[name] == WHOLE:
            return rows.view(np.int64)[..., columns.start]
        single = self._kinds[name] == NUMBER
        return rows[..., columns.start if single else slice(columns.start, columns.stop)]

    def table(self, count: int) -> NDArray[np.float64]:
        """Return a table of so many rows of zeros."""
        return np.zeros((count, self.width))

    def _known(self, name: str) -> range:
        if name not in self.columns:
            raise NameSetError(f'{self.name}: expected one of {sorted(self.columns)}, got {name}')
        return self.columns[name]

    @cached_property
    def _function(self) -> Any:
        """Return the function that generates a row of a table."""
        def row_of(typing: Any, table: Any, row: Any) -> Any:
            if not (isinstance(table, types.Array) and table.dtype == types.float64
                    and table.ndim in (2, 3) and table.layout == 'C'):
                raise errors.TypingError(
                    f'{self.name}: expected a table, contiguous, of float64, got {table}')
            lanes = LANES if table.ndim == 3 else 1

            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                array = context.make_array(sig.args[0])(context, builder, args[0])
                height, width = (builder.extract_value(array.shape, axis) for axis in (0, 1))
                number = width.type
                check_index(context, builder, args[1], height, 0)
                surplus = builder.sub(number(self.width), width)
                check_index(context, builder, surplus, number(1), 1)  # equal
                return builder.gep(
                    array.data, [builder.mul(args[1], number(self.width * lanes))])

            return row_types.RowType(self, lanes)(table, types.intp), generate

        return row_of

    @property
    def _numba_type_(self) -> Any:
        return build.type_of_intrinsic(self._function)
