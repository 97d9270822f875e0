# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
From kernels to LLVM's bitcode for any processor: numba's front end, without wrappers for Python.

Numba reads its level of optimization and the processor when it is imported. So this runs in a
process of its own with ENVIRONMENT. There, modules of kernels are not yet optimized for the host,
whose vectors would stay in them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
import os
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.compiler import compile_extra, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.arrayobj import populate_array

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.jit.rooms import VARIABLE

ENVIRONMENT = {
    'NUMBA_OPT': '0', 'NUMBA_CPU_NAME': 'generic', 'NUMBA_CPU_FEATURES': '', 'LIEDYN_CHECK': '0',
    VARIABLE: '1'}
FAILED = -99  # what a function returns where numba would raise an exception
PREFIX = 'liedyn_exported_'
RESHAPE = 'numba_attempt_nocopy_reshape'
_WORD, _CODE = ir.IntType(64), ir.IntType(32)
_BYTES = 8  # of a word


@dataclass(frozen=True)
class Source:
    """
    A function to lower: by its name in C, the types of its arguments, and how it is called.

    words: called by calls.c, on the words of its arguments and of its results; else as in C.
    """

    name: str
    function: Callable[..., Any]
    types: tuple[Any, ...]
    words: bool


@global_compiler_lock
def lowered(sources: Iterable[Source]) -> tuple[bytes, dict[str, Any]]:
    """
    Return one module of bitcode with PREFIX and each name as its functions, and their results.

    Raises LiedynError in a process without ENVIRONMENT.
    """
    for name, value in ENVIRONMENT.items():
        if os.environ.get(name) != value:
            raise LiedynError(f'{name}: expected {value!r} when numba is imported, '
                              f'got {os.environ.get(name)!r}')
    context, results = cpu_target.target_context.with_aot_codegen('liedyn'), {}
    library = context.codegen().create_library('liedyn')
    for source in sources:
        compiled = compile_extra(
            cpu_target.typing_context, context, source.function, source.types, None,
            _flags(), {}, library=library)
        module = ir.Module(name=source.name)
        results[source.name] = of = types.unliteral(compiled.signature.return_type)
        write = _add_call_on_words if source.words else _add_function
        write(context, module, source, of, compiled.fndesc.llvm_func_name)
        library.add_ir_module(module)
    module = ir.Module(name=RESHAPE)
    add_reshape(module)
    library.add_ir_module(module)
    library.finalize()
    bitcode: bytes = library.emit_bitcode()
    return bitcode, results


def _flags() -> Any:
    """Return the flags of jit.decorators, and those that leave out all wrappers."""
    flags = Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model, flags.nrt = 'numpy', False
    return flags


def _add_function(context: Any, module: Any, source: Source, of: Any, name: str) -> None:
    """Write the C function that calls a compiled one: numba returns a status and a result."""
    kind = context.get_value_type(of)
    function = ir.Function(module, ir.FunctionType(
        kind, [context.get_value_type(each) for each in source.types]), PREFIX + source.name)
    builder = ir.IRBuilder(function.append_basic_block())
    status, result = _call(context, builder, name, of, source.types, function.args)
    builder.ret(builder.select(status.is_ok, result, kind(FAILED)))


def _add_call_on_words(context: Any, module: Any, source: Source, of: Any, name: str) -> None:
    """Write the function that reads a kernel's arguments from words, and writes its results."""
    pointer = _WORD.as_pointer()
    function = ir.Function(module, ir.FunctionType(_WORD, [pointer, pointer]),
                           PREFIX + source.name)
    builder = ir.IRBuilder(function.append_basic_block())
    given, found = function.args
    at, arguments = 0, []
    for each in source.types:
        value, at = _from_words(context, builder, each, given, at)
        arguments.append(value)
    status, result = _call(context, builder, name, of, source.types, arguments)
    with builder.if_then(status.is_ok):
        _to_words(builder, of, result, found, 0)
    builder.ret(builder.select(status.is_ok, _WORD(0), _WORD(1)))


def _call(context: Any, builder: Any, name: str, of: Any, given: Any, arguments: Any) -> Any:
    callee = ir.Function(
        builder.module, context.call_conv.get_function_type(of, given), name)
    return context.call_conv.call_function(builder, callee, of, given, arguments)


def _from_words(context: Any, builder: Any, of: Any, words: Any, at: int) -> tuple[Any, int]:
    """Return the value of a type at a place among words, and the place behind it."""
    def word(place: int) -> Any:
        return builder.load(builder.gep(words, [_WORD(place)]), align=_BYTES)

    if isinstance(of, types.Array):
        array, shape = context.make_array(of)(context, builder), [
            word(at + 1 + axis) for axis in range(of.ndim)]
        itemsize = _WORD(of.dtype.bitwidth // 8 if of.dtype != types.boolean else 1)
        strides = [itemsize]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        populate_array(array, data=builder.inttoptr(word(at), array.data.type), shape=shape,
                       strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue(), at + 1 + of.ndim
    if isinstance(of, types.BaseTuple):
        parts = []
        for each in of.types:
            value, at = _from_words(context, builder, each, words, at)
            parts.append(value)
        return context.make_tuple(builder, of, parts), at
    if of == types.none:
        return context.get_dummy_value(), at
    if of == types.boolean:
        return builder.icmp_unsigned('!=', word(at), _WORD(0)), at + 1
    if of == types.float64:
        return builder.bitcast(word(at), ir.DoubleType()), at + 1
    if of == types.complex128:
        number = context.make_complex(builder, of)
        number.real, number.imag = (
            builder.bitcast(word(at + k), ir.DoubleType()) for k in range(2))
        return number._getvalue(), at + 2
    return word(at), at + 1


def _to_words(builder: Any, of: Any, value: Any, words: Any, at: int) -> int:
    """Write a value of a type to a place among words; return the place behind it."""
    if of == types.none:
        return at
    if isinstance(of, types.BaseTuple):
        for k, each in enumerate(of.types):
            at = _to_words(builder, each, builder.extract_value(value, k), words, at)
        return at
    if of == types.float64:
        value = builder.bitcast(value, _WORD)
    elif value.type != _WORD:
        value = (builder.sext if getattr(of, 'signed', False) else builder.zext)(value, _WORD)
    builder.store(value, builder.gep(words, [_WORD(at)]), align=_BYTES)
    return at + 1


def add_reshape(module: Any) -> None:
    """
    Write the function that numba calls to reshape an array, as kernels use it: a contiguous one.

    It writes the strides of the new shape and returns success. LLVM then puts it in each place.
    """
    pointer = _WORD.as_pointer()
    function = ir.Function(module, ir.FunctionType(_CODE, [
        _WORD, pointer, pointer, _WORD, pointer, pointer, _WORD, _CODE]), RESHAPE)
    _, _, _, axes, lengths, strides, itemsize, _ = function.args
    start, loop, end = (function.append_basic_block(name) for name in ('start', 'loop', 'end'))
    builder = ir.IRBuilder(start)
    builder.cbranch(builder.icmp_signed('>', axes, _WORD(0)), loop, end)
    builder.position_at_end(loop)
    left, stride = builder.phi(_WORD), builder.phi(_WORD)
    axis = builder.sub(left, _WORD(1))
    builder.store(stride, builder.gep(strides, [axis]))
    following = builder.mul(stride, builder.load(builder.gep(lengths, [axis])))
    for number, first, then in ((left, axes, axis), (stride, itemsize, following)):
        number.add_incoming(first, start)
        number.add_incoming(then, loop)
    builder.cbranch(builder.icmp_signed('>', axis, _WORD(0)), loop, end)
    builder.position_at_end(end)
    builder.ret(_CODE(1))
