# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Lanes in another order, and the choice between numbers by a bit of another."""

from typing import Any

from liedyn_ros.jit.compiler import intrinsic, ir, lane_types, types
from liedyn_ros.jit.simd import in_each_lane, in_some_lanes, QUAD


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
