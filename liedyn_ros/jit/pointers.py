# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Arrays on pointers, of a C program too, and where the arrays of a call lie in memory."""

from typing import Any, TYPE_CHECKING

from liedyn_ros.jit.decorators import (
    arrays, cgutils, check_index, errors, inlined, intrinsic, types)

if TYPE_CHECKING:
    from typing import TypeAlias
    NUMBERS: TypeAlias = Any
    WHOLES: TypeAlias = Any
    FLAGS: TypeAlias = Any
    COUNT: TypeAlias = Any
else:
    NUMBERS, WHOLES, FLAGS, COUNT = 'd*', 'q*', 'b*', 'q'
LINE = 8  # numbers in a cache line: parts of a work area begin with one


def _array(context: Any, builder: Any, of: Any, pointer: Any, shape: Any) -> Any:
    """Return a contiguous array on a pointer, without a copy or an owner."""
    array = context.make_array(of)(context, builder)
    itemsize = context.get_constant(types.intp, 1 if of.dtype == types.boolean else 8)
    strides = [itemsize]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    arrays.populate_array(array, data=builder.bitcast(pointer, array.data.type), shape=shape,
                          strides=strides, itemsize=itemsize, meminfo=None)
    return array._getvalue()


@intrinsic
def vector(typing: Any, pointer: Any, length: Any) -> Any:
    """Return an array (length,) on a pointer."""
    made = types.Array(pointer.dtype, 1, 'C')

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _array(context, builder, made, args[0], args[1:])

    return made(pointer, types.intp), generate


@intrinsic
def table(typing: Any, pointer: Any, rows: Any, width: Any) -> Any:
    """Return an array (rows, width) on a pointer."""
    made = types.Array(pointer.dtype, 2, 'C')

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _array(context, builder, made, args[0], args[1:])

    return made(pointer, types.intp, types.intp), generate


@intrinsic
def cube(typing: Any, pointer: Any, count: Any, rows: Any, width: Any) -> Any:
    """Return an array (count, rows, width) on a pointer."""
    made = types.Array(pointer.dtype, 3, 'C')

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _array(context, builder, made, args[0], args[1:])

    return made(pointer, types.intp, types.intp, types.intp), generate


@intrinsic
def after(typing: Any, pointer: Any, count: Any) -> Any:
    """Return the pointer to what stands a number of entries later."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.intp), generate


@intrinsic
def as_wholes(typing: Any, pointer: Any) -> Any:
    """Return a pointer to the same memory as whole numbers."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.CPointer(types.int64)))

    return types.CPointer(types.int64)(pointer), generate


@intrinsic
def as_flags(typing: Any, pointer: Any) -> Any:
    """Return a pointer to the same memory as bytes, each zero or one."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.CPointer(types.boolean)))

    return types.CPointer(types.boolean)(pointer), generate


@intrinsic
def as_pointer(typing: Any, pointer: Any) -> Any:
    """Return whether a pointer is not NULL."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.icmp_unsigned('!=', args[0], args[0].type(None))

    return types.boolean(pointer), generate


@intrinsic
def pointer_of(typing: Any, array: Any) -> Any:
    """Return the pointer to the first entry of an array."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_array(sig.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def part(typing: Any, work: Any, at: Any, rows: Any, width: Any) -> Any:
    """Return a table (rows, width) of a work area, from an entry on; its length does not count."""
    made = types.Array(work.dtype, 2, 'C')

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first = context.make_array(sig.args[0])(context, builder, args[0]).data
        return _array(context, builder, made, builder.gep(first, [args[1]]), args[2:])

    return made(work, types.intp, types.intp, types.intp), generate


@intrinsic
def or_part(typing: Any, given: Any, work: Any, at: Any, length: Any) -> Any:
    """Return an array if it has entries, else that of a length from an entry of a work area on."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array, area = (context.make_array(kind)(context, builder, value)
                       for kind, value in zip(sig.args[:2], args[:2]))
        empty = builder.icmp_signed('==', array.nitems, array.nitems.type(0))
        place = builder.select(empty, builder.gep(area.data, [args[2]]), array.data)
        return _array(context, builder, sig.return_type, place, args[3:])

    return given(given, work, types.intp, types.intp), generate


@intrinsic
def alone(typing: Any, number: Any) -> Any:
    """Return an array of one whole number."""
    made = types.Array(types.int64, 1, 'C')

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = cgutils.alloca_once_value(builder, args[0])
        return _array(context, builder, made, place, [context.get_constant(types.intp, 1)])

    return made(types.int64), generate


@intrinsic
def address(typing: Any, array: Any) -> Any:
    """Return the address of the first entry of an array."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.intp))

    return types.intp(array), generate


@intrinsic
def rows_of(typing: Any, array: Any, first: Any, rows: Any, width: Any) -> Any:
    """
    Return a table (rows, width) of the entries of a contiguous array from one on.

    Only the mode of `index_checks` checks its end. Numba's reshape would call a function of C,
    which takes as long as a small link.
    """
    if array.layout != 'C':
        raise errors.TypingError(f'expected a contiguous array, got {array}')
    table = types.Array(array.dtype, 2, 'C')

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        old, new = (context.make_array(kind)(context, builder, *given) for kind, given in (
            (sig.args[0], args[:1]), (table, ())))
        end = builder.add(args[1], builder.mul(args[2], args[3]))
        after = builder.add(old.nitems, old.nitems.type(1))
        check_index(context, builder, end, after, 0)
        arrays.populate_array(
            new, data=builder.gep(old.data, [args[1]]), shape=args[2:], meminfo=None,
            strides=[builder.mul(args[3], old.itemsize), old.itemsize], itemsize=old.itemsize)
        return new._getvalue()

    return table(array, types.intp, types.intp, types.intp), generate


@inlined
def overlap(x: Any, y: Any) -> Any:
    """Return whether two contiguous arrays of 8-byte numbers share memory."""
    start_x, start_y = address(x), address(y)
    return start_x < start_y + 8 * y.size and start_y < start_x + 8 * x.size
