# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The call of an entry on words: its arguments as 64-bit words, its results as others.

So calls.c calls entries from Python, and kernels call those that have an object of their own. An
array is its address and its lengths, a tuple its entries, None no word.
"""

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

PREFIX = 'liedyn_exported_'  # of names of entries, before they are those of a kind of processor
WORD = ir.IntType(64)
_FUNCTION = ir.FunctionType(WORD, [WORD.as_pointer()] * 2)  # arguments, results; zero: it is done
_BYTES = 8  # of a word


def entry_function(module: Any, name: str) -> Any:
    """Return the function of an entry on words, declared in a module if it is not there."""
    return cgutils.get_or_insert_function(module, _FUNCTION, PREFIX + name)


def call_entry(context: Any, builder: Any, sig: Any, args: Any, name: str) -> Any:
    """Generate the call of an entry by its name; the caller fails where it fails."""
    sizes = sum(map(_size, sig.args)), _size(sig.return_type)
    given, found = (builder.bitcast(cgutils.alloca_once(
        builder, ir.ArrayType(WORD, max(size, 1))), WORD.as_pointer()) for size in sizes)
    at = 0
    for of, value in zip(sig.args, args):
        at = to_words(context, builder, of, value, given, at)
    failed = builder.call(entry_function(builder.module, name), [given, found])
    with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, failed)):
        builder.ret(builder.function.function_type.return_type(-1))
    return from_words(context, builder, sig.return_type, found, 0)[0]


def called_entries(bitcode: bytes) -> set[str]:
    """Return the names of entries that a module calls and does not have."""
    return {function.name.removeprefix(PREFIX)
            for function in binding.parse_bitcode(bitcode).functions
            if function.is_declaration and function.name.startswith(PREFIX)}


def _size(of: Any) -> int:
    """Return how many words a value of a type has."""
    if isinstance(of, types.BaseTuple):
        return sum(map(_size, of.types))
    if isinstance(of, types.Array):
        return 1 + of.ndim
    return 0 if of == types.none else 1


def from_words(context: Any, builder: Any, of: Any, words: Any, at: int) -> tuple[Any, int]:
    """Return the value of a type at a place among words, and the place behind it."""
    def word(place: int) -> Any:
        return builder.load(builder.gep(words, [WORD(place)]), align=_BYTES)

    if isinstance(of, types.Array):
        array, shape = context.make_array(of)(context, builder), [
            word(at + 1 + axis) for axis in range(of.ndim)]
        itemsize = WORD(of.dtype.bitwidth // 8 if of.dtype != types.boolean else 1)
        strides = [itemsize]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        populate_array(array, data=builder.inttoptr(word(at), array.data.type), shape=shape,
                       strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue(), at + 1 + of.ndim
    if isinstance(of, types.BaseTuple):
        parts = []
        for each in of.types:
            value, at = from_words(context, builder, each, words, at)
            parts.append(value)
        return context.make_tuple(builder, of, parts), at
    if of == types.none:
        return context.get_dummy_value(), at
    if of == types.boolean:
        return builder.icmp_unsigned('!=', word(at), WORD(0)), at + 1
    if of == types.float64:
        return builder.bitcast(word(at), ir.DoubleType()), at + 1
    if of == types.complex128:
        number = context.make_complex(builder, of)
        number.real, number.imag = (
            builder.bitcast(word(at + k), ir.DoubleType()) for k in range(2))
        return number._getvalue(), at + 2
    return word(at), at + 1


def to_words(context: Any, builder: Any, of: Any, value: Any, words: Any, at: int) -> int:
    """Write a value of a type to a place among words; return the place behind it."""
    def put(each: Any, place: int) -> None:
        builder.store(each, builder.gep(words, [WORD(place)]), align=_BYTES)

    if of == types.none:
        return at
    if isinstance(of, types.Array):
        array = context.make_array(of)(context, builder, value)
        put(builder.ptrtoint(array.data, WORD), at)
        for axis in range(of.ndim):
            put(builder.extract_value(array.shape, axis), at + 1 + axis)
        return at + 1 + of.ndim
    if isinstance(of, types.BaseTuple):
        for k, each in enumerate(of.types):
            at = to_words(context, builder, each, builder.extract_value(value, k), words, at)
        return at
    if of == types.float64:
        value = builder.bitcast(value, WORD)
    elif value.type != WORD:
        value = (builder.sext if getattr(of, 'signed', False) else builder.zext)(value, WORD)
    put(value, at)
    return at + 1
