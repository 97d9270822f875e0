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

from liedyn_ros.build.compiler import all_called
from liedyn_ros.build.words import entry_function, from_words, PREFIX, to_words, WORD
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.jit.rooms import VARIABLE

ENVIRONMENT = {
    'NUMBA_OPT': '0', 'NUMBA_CPU_NAME': 'generic', 'NUMBA_CPU_FEATURES': '', 'LIEDYN_CHECK': '0',
    VARIABLE: '1'}
FAILED = -99  # what a function returns where numba would raise an exception
RESHAPE = 'numba_attempt_nocopy_reshape'
_CODE = ir.IntType(32)


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
    linked = library._final_module  # not optimized: that is done for each kind of processor
    for each in all_called(library._linking_libraries):
        linked.link_in(each._get_module_for_linking(), preserve=True)
    return linked.as_bitcode(), results


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
    function = entry_function(module, source.name)
    builder = ir.IRBuilder(function.append_basic_block())
    given, found = function.args
    at, arguments = 0, []
    for each in source.types:
        value, at = from_words(context, builder, each, given, at)
        arguments.append(value)
    status, result = _call(context, builder, name, of, source.types, arguments)
    with builder.if_then(status.is_ok):
        to_words(context, builder, of, result, found, 0)
    builder.ret(builder.select(status.is_ok, WORD(0), WORD(1)))


def _call(context: Any, builder: Any, name: str, of: Any, given: Any, arguments: Any) -> Any:
    callee = ir.Function(
        builder.module, context.call_conv.get_function_type(of, given), name)
    return context.call_conv.call_function(builder, callee, of, given, arguments)


def add_reshape(module: Any) -> None:
    """
    Write the function that numba calls to reshape an array, as kernels use it: a contiguous one.

    It writes the strides of the new shape and returns success. LLVM then puts it in each place.
    """
    pointer = WORD.as_pointer()
    function = ir.Function(module, ir.FunctionType(_CODE, [
        WORD, pointer, pointer, WORD, pointer, pointer, WORD, _CODE]), RESHAPE)
    _, _, _, axes, lengths, strides, itemsize, _ = function.args
    start, loop, end = (function.append_basic_block(name) for name in ('start', 'loop', 'end'))
    builder = ir.IRBuilder(start)
    builder.cbranch(builder.icmp_signed('>', axes, WORD(0)), loop, end)
    builder.position_at_end(loop)
    left, stride = builder.phi(WORD), builder.phi(WORD)
    axis = builder.sub(left, WORD(1))
    builder.store(stride, builder.gep(strides, [axis]))
    following = builder.mul(stride, builder.load(builder.gep(lengths, [axis])))
    for number, first, then in ((left, axes, axis), (stride, itemsize, following)):
        number.add_incoming(first, start)
        number.add_incoming(then, loop)
    builder.cbranch(builder.icmp_signed('>', axis, WORD(0)), loop, end)
    builder.position_at_end(end)
    builder.ret(_CODE(1))
