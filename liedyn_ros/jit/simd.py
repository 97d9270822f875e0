# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The numbers that the recursions run on: one float64, or eight or four side by side.

A table is a float64 array (rows, columns), or (rows, columns, LANES) for LANES states at once.
get and put move one entry: a float, or Lanes, a vector register that has +, -, * and / with its
like and with floats. So one source serves single states and batches. get_int reads
a whole number, which a table of single states may hold among its floats, as an int64.
Within one state, eight entries of a row of a table can be side by side as well. get_lanes and
put_lanes move them, and lanes_at reads those of a vector. spread and total go from a number to
Lanes and back; transposed turns eight rows into their columns.
Four entries move by get_quad and put_quad. quad_of, joined and filled make four Lanes of numbers;
parts takes them apart.
Only LIEDYN_CHECK=1 checks indices: the owner of a table makes it large enough.
"""

from typing import Any

from liedyn_ros.jit.decorators import check_index, intrinsic, ir, lane_types, types

LANES, QUAD = 8, 4


def in_each_lane(builder: Any, value: Any, count: int = LANES) -> Any:
    """Return a vector of a number, or the vector that it is."""
    if isinstance(value.type, ir.VectorType):
        return value
    index, empty = ir.IntType(32), ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    one = builder.insert_element(empty, value, index(0))
    return builder.shuffle_vector(one, empty, ir.Constant(
        ir.VectorType(index, count), [0] * count))


def in_some_lanes(builder: Any, comparison: str, value: Any, lane: Any, number: Any) -> Any:
    """Return a vector with a number in those of its lanes that compare so with a lane."""
    count = value.type.count
    places = ir.Constant(ir.VectorType(lane.type, count), list(range(count)))
    mine = builder.icmp_signed(comparison, places, in_each_lane(builder, lane, count))
    return builder.select(mine, in_each_lane(builder, number, count), value)


def _place(context: Any, builder: Any, table_type: Any, table: Any, row: Any, column: Any,
           lane: Any = None, *, count: int = 1) -> Any:
    """Return a pointer to a place of a table, or to one lane of it; count: entries read there."""
    array = context.make_array(table_type)(context, builder, table)
    height, width = (builder.extract_value(array.shape, axis) for axis in (0, 1))
    number = width.type
    check_index(context, builder, row, height, 0)
    check_index(context, builder, column, width, 1)
    if count > 1:
        check_index(context, builder, builder.add(column, number(count - 1)), width, 1)
    index = builder.add(builder.mul(row, width), column)
    lanes_here = LANES if table_type.ndim == 3 else 1
    if lanes_here > 1:
        index = builder.mul(index, number(lanes_here))
    if lane is not None:
        check_index(context, builder, lane, number(lanes_here), 2)
        index = builder.add(index, lane)
    return builder.gep(array.data, [index])


def _held(table: Any) -> Any:
    """Return the type of an entry of a table."""
    return lane_types.lanes if table.ndim == 3 else types.float64


@intrinsic
def get(typing: Any, table: Any, row: Any, column: Any) -> Any:
    """Return the float, or Lanes, in a place of a table."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = _place(context, builder, sig.args[0], *args)
        if table.ndim == 3:
            at = builder.bitcast(at, lane_types.VECTOR.as_pointer())
        return builder.load(at, align=8)

    return _held(table)(table, types.intp, types.intp), generate


@intrinsic
def get_int(typing: Any, table: Any, row: Any, column: Any) -> Any:
    """Return the whole number that stands in a place of a table."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = _place(context, builder, sig.args[0], *args)
        return builder.load(builder.bitcast(at, ir.IntType(64).as_pointer()), align=8)

    return types.int64(table, types.intp, types.intp), generate


@intrinsic
def zero_like(typing: Any, table: Any) -> Any:
    """Return zero as it would stand in a place of a table."""
    held = _held(table)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if held == lane_types.lanes:
            return ir.Constant(lane_types.VECTOR, [0.0] * LANES)
        return ir.Constant(lane_types.NUMBER, 0.0)

    return held(table), generate


@intrinsic
def put(typing: Any, table: Any, row: Any, column: Any, value: Any) -> Any:
    """Write a float, or Lanes, into a place of a table."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at, value = _place(context, builder, sig.args[0], *args[:3]), args[3]
        if table.ndim == 3:
            at = builder.bitcast(at, lane_types.VECTOR.as_pointer())
            value = in_each_lane(builder, value)
        builder.store(value, at, align=8)
        return context.get_dummy_value()

    held = lane_types.lanes if value == lane_types.lanes else types.float64
    return types.void(table, types.intp, types.intp, held), generate


@intrinsic
def of_width(typing: Any, table: Any, width: Any) -> Any:
    """Return a table with rows of a width that is a constant to the compiler, not one to read."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        given = builder.extract_value(array.shape, 1)
        check_index(context, builder, builder.sub(args[1], given), given.type(1), 1)  # equal
        array.shape = builder.insert_value(array.shape, args[1], 1)
        return array._getvalue()

    return table(table, types.intp), generate


@intrinsic
def lanes_of(typing: Any, table: Any) -> Any:
    """Return how many states a table has, as a constant: LANES, or one."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(ir.IntType(64), LANES if table.ndim == 3 else 1)

    return types.int64(table), generate


@intrinsic
def get_lane(typing: Any, table: Any, row: Any, column: Any, lane: Any) -> Any:
    """Return the float of one state; a table of one state has lane 0."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, sig.args[0], *args), align=8)

    return types.float64(table, types.intp, types.intp, types.intp), generate


@intrinsic
def put_lane(typing: Any, table: Any, row: Any, column: Any, lane: Any, value: Any) -> Any:
    """Write the float of one state; a table of one state has lane 0."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[4], _place(context, builder, sig.args[0], *args[:4]), align=8)
        return context.get_dummy_value()

    return types.void(table, types.intp, types.intp, types.intp, types.float64), generate


@intrinsic
def get_lanes(typing: Any, table: Any, row: Any, column: Any) -> Any:
    """Return eight entries of a row of a table of floats, from a column on."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = _place(context, builder, sig.args[0], *args, count=LANES)
        return builder.load(builder.bitcast(at, lane_types.VECTOR.as_pointer()), align=8)

    return lane_types.lanes(table, types.intp, types.intp), generate


@intrinsic
def lanes_at(typing: Any, vector: Any, at: Any) -> Any:
    """Return eight entries of a vector of floats, from an index on."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        length = builder.extract_value(array.shape, 0)
        check_index(context, builder, args[1], length, 0)
        check_index(context, builder, builder.add(args[1], length.type(LANES - 1)), length, 0)
        place = builder.gep(array.data, [args[1]])
        return builder.load(builder.bitcast(place, lane_types.VECTOR.as_pointer()), align=8)

    return lane_types.lanes(vector, types.intp), generate


@intrinsic
def put_lanes(typing: Any, table: Any, row: Any, column: Any, value: Any) -> Any:
    """Write eight entries of a row of a table of floats, from a column on."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = _place(context, builder, sig.args[0], *args[:3], count=LANES)
        builder.store(args[3], builder.bitcast(at, lane_types.VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(table, types.intp, types.intp, lane_types.lanes), generate


@intrinsic
def get_quad(typing: Any, table: Any, row: Any, column: Any) -> Any:
    """Return four entries of a row of a table of floats, from a column on."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = _place(context, builder, sig.args[0], *args, count=QUAD)
        return builder.load(builder.bitcast(at, lane_types.quad.vector.as_pointer()), align=8)

    return lane_types.quad(table, types.intp, types.intp), generate


@intrinsic
def put_quad(typing: Any, table: Any, row: Any, column: Any, value: Any) -> Any:
    """Write four entries of a row of a table of floats, from a column on."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = _place(context, builder, sig.args[0], *args[:3], count=QUAD)
        builder.store(args[3], builder.bitcast(at, lane_types.quad.vector.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(table, types.intp, types.intp, lane_types.quad), generate


@intrinsic
def broadcast(typing: Any, number: Any) -> Any:
    """Return Lanes of one number."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return in_each_lane(builder, args[0])

    return lane_types.lanes(types.float64), generate


@intrinsic
def align_stack(typing: Any) -> Any:
    """
    Let Lanes on the stack of a kernel begin where lines of the cache do.

    LLVM does so only for a variable with an alignment. Registers that it stores on the stack have
    none, and each would be read and written in two lines.
    """
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            place = builder.alloca(lane_types.VECTOR)
        place.align = 8 * LANES
        builder.asm(ir.FunctionType(ir.VoidType(), [place.type]), '', 'r', [place], True)
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def total(typing: Any, value: Any) -> Any:
    """Return the sum of Lanes."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        part, index = args[0], ir.IntType(32)
        for width in (4, 2, 1):  # halves add up
            halves = [builder.shuffle_vector(
                part, ir.Constant(part.type, ir.Undefined),
                ir.Constant(ir.VectorType(index, width), list(range(first, first + width))))
                for first in (0, width)]
            part = builder.fadd(*halves)
        return builder.extract_element(part, index(0))

    return types.float64(lane_types.lanes), generate


@intrinsic
def transposed(typing: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any,
               h: Any) -> Any:
    """Return the columns of eight rows of eight numbers, all of them Lanes."""
    found = types.UniTuple(lane_types.lanes, LANES)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        index, part = ir.IntType(32), list(args)
        for step in (1, 2, 4):  # blocks of this size change places across the diagonal
            for row in range(LANES):
                if not row & step:
                    pair = part[row], part[row + step]
                    part[row], part[row + step] = (builder.shuffle_vector(
                        *pair, ir.Constant(ir.VectorType(index, LANES), [
                            (LANES + c - step if c & step else c) + side
                            for c in range(LANES)])) for side in (0, step))
        return context.make_tuple(builder, found, part)

    return found(a, b, c, d, e, f, g, h), generate


@intrinsic
def quad_of(typing: Any, number: Any) -> Any:
    """Return four Lanes of one number."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return in_each_lane(builder, args[0], QUAD)

    return lane_types.quad(types.float64), generate


@intrinsic
def joined(typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return four numbers side by side."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = ir.Constant(lane_types.quad.vector, ir.Undefined)
        for lane, number in enumerate(args):
            value = builder.insert_element(value, number, ir.IntType(32)(lane))
        return value

    return lane_types.quad(*[types.float64] * QUAD), generate


@intrinsic
def filled(typing: Any, value: Any, lane: Any, number: Any) -> Any:
    """Return four Lanes with a number in those from a lane on."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return in_some_lanes(builder, '>=', *args)

    return lane_types.quad(lane_types.quad, types.int64, types.float64), generate


@intrinsic
def parts(typing: Any, value: Any) -> Any:
    """Return the numbers of four Lanes."""
    found = types.UniTuple(types.float64, QUAD)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_tuple(builder, found, [
            builder.extract_element(args[0], ir.IntType(32)(k)) for k in range(QUAD)])

    return found(lane_types.quad), generate


def _shuffled(builder: Any, value: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(
        value, ir.Constant(lane_types.quad.vector, ir.Undefined),
        ir.Constant(ir.VectorType(ir.IntType(32), QUAD), order))


@intrinsic
def rolled(typing: Any, value: Any) -> Any:
    """Return four Lanes with the first three in the order second, third, first."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _shuffled(builder, args[0], [1, 2, 0, 3])

    return lane_types.quad(lane_types.quad), generate


@intrinsic
def swapped(typing: Any, value: Any) -> Any:
    """Return four Lanes with the two of each half exchanged."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _shuffled(builder, args[0], [1, 0, 3, 2])

    return lane_types.quad(lane_types.quad), generate


@intrinsic
def by_bit(typing: Any, number: Any, bit: Any, if_zero: Any, if_one: Any) -> Any:
    """
    Return one of two numbers by a bit of a third, lane by lane if they are Lanes.

    Bits count from 0, the last one of the mantissa.
    """
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = ir.IntType(64)
        mask = builder.shl(word(1), args[1])
        if isinstance(number, lane_types.Lanes):
            mask = in_each_lane(builder, mask, number.vector.count)
        bits = builder.bitcast(args[0], mask.type)
        zero = builder.icmp_signed('==', builder.and_(bits, mask), ir.Constant(mask.type, None))
        return builder.select(zero, args[2], args[3])

    return number(number, types.int64, number, number), generate


@intrinsic
def with_lane(typing: Any, value: Any, lane: Any, number: Any) -> Any:
    """Return Lanes with a number in one of them."""
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return in_some_lanes(builder, '==', *args)

    return lane_types.lanes(lane_types.lanes, types.int64, types.float64), generate
