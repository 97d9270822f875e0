# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rows of tables as a type of numba: a pointer, whose attributes are entries by their kinds."""

from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import (
    lower_cast, lower_getattr_generic, lower_setattr_generic, models, register_model)

from liedyn_ros.build.kinds import type_of
from liedyn_ros.build.lanes import lanes
from liedyn_ros.jit.simd import in_each_lane

_WORD = ir.IntType(64)


class RowType(types.Type):
    """The type of a row in a kernel, of a table of one state or of as many as Lanes have."""

    def __init__(self, row: Any, states: int, adds: bool = False) -> None:
        """Name the type; states: of its table; adds: whether what is written is added."""
        super().__init__(name=f'{row!r} of {states}{" plus" if adds else ""}')
        self.row, self.states, self.adds = row, states, adds


@register_model(RowType)
class _RowModel(models.PrimitiveModel):
    """A row is a pointer to its first number."""

    def __init__(self, manager: Any, of: Any) -> None:
        """Name the LLVM type."""
        super().__init__(manager, of, ir.DoubleType().as_pointer())


@infer_getattr
class _Entries(AttributeTemplate):
    """The entries are attributes, and `plus` is the row to add to."""

    key = RowType

    def generic_resolve(self, of: Any, name: str) -> Any:
        """Return the type of an entry, or of the row to add to."""
        if name in of.row.columns:
            return _kind(of, name)
        return RowType(of.row, of.states, True) if name == 'plus' else None


def _kind(of: Any, name: str) -> Any:
    """Return the type of an entry."""
    found = type_of(of.row.entry(name)[1])
    return found if of.states == 1 else _of_lanes(found, name)


def _of_lanes(of: Any, name: str) -> Any:
    """Return the type of an entry with Lanes in place of numbers."""
    if isinstance(of, types.BaseTuple):
        return types.Tuple.from_types(tuple(_of_lanes(each, name) for each in of.types))
    if of != types.float64:
        raise TypingError(f'{name}: expected a number in a table of many states, got {of}')
    return lanes


def _numbers(builder: Any, of: Any, value: Any) -> Iterator[Any]:
    """Yield the numbers of a value."""
    if isinstance(of, types.BaseTuple):
        for each, part in zip(of.types, cgutils.unpack_tuple(builder, value)):
            yield from _numbers(builder, each, part)
    else:
        yield value


def _place(builder: Any, of: Any, pointer: Any, column: int, held: Any) -> Any:
    """Return a pointer to a column of a row, which holds a type."""
    at = builder.gep(pointer, [_WORD(column * of.states)])
    return builder.bitcast(at, held.as_pointer())


def _loaded(context: Any, builder: Any, of: Any, pointer: Any, column: int, kind: Any
            ) -> tuple[Any, int]:
    """Return an entry from a column on, and the column behind it."""
    if not isinstance(kind, types.BaseTuple):
        held = context.get_value_type(kind)
        return builder.load(_place(builder, of, pointer, column, held), align=8), column + 1
    values = []
    for each in kind.types:
        value, column = _loaded(context, builder, of, pointer, column, each)
        values.append(value)
    return context.make_tuple(builder, kind, values), column


@lower_getattr_generic(RowType)
def _get(context: Any, builder: Any, of: Any, pointer: Any, name: str) -> Any:
    if name not in of.row.columns:  # plus
        return pointer
    return _loaded(context, builder, of, pointer, of.row.column(name), _kind(of, name))[0]


@lower_setattr_generic(RowType)
def _set(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    of, kind = sig.args
    for column, value in enumerate(_numbers(builder, kind, args[1]), of.row.column(name)):
        at = _place(builder, of, args[0], column, value.type)
        if of.adds:
            value = builder.fadd(builder.load(at, align=8), value)
        builder.store(value, at, align=8)


@lower_cast(types.float64, lanes)
def _in_each_lane(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return in_each_lane(builder, value)
