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

from collections.abc import Iterable
import logging
import os
from typing import Any

from llvmlite import ir
from numba.core.compiler import compile_extra, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.export.entries import Entry
from liedyn_ros.jit.cache.folder import LOG

ENVIRONMENT = {
    'NUMBA_OPT': '0', 'NUMBA_CPU_NAME': 'generic', 'NUMBA_CPU_FEATURES': '', 'LIEDYN_CHECK': '0',
    'LIEDYN_QUIET': '1'}
FAILED = -99  # what a function returns where numba would raise an exception
PREFIX = 'liedyn_exported_'
RESHAPE = 'numba_attempt_nocopy_reshape'
_WORD, _CODE = ir.IntType(64), ir.IntType(32)


@global_compiler_lock
def lowered(entries: Iterable[Entry]) -> bytes:
    """
    Return one module of bitcode with PREFIX and the name of each entry as its C functions.

    Raises LiedynError in a process without ENVIRONMENT.
    """
    for name, value in ENVIRONMENT.items():
        if os.environ.get(name) != value:
            raise LiedynError(f'{name}: expected {value!r} when numba is imported, '
                              f'got {os.environ.get(name)!r}')
    LOG.setLevel(logging.ERROR)  # kernels without optimization are not kept
    context = cpu_target.target_context.with_aot_codegen('liedyn')
    library = context.codegen().create_library('liedyn')
    for entry in entries:
        compiled = compile_extra(
            cpu_target.typing_context, context, entry.function, entry.types, entry.returns,
            _flags(), {}, library=library)
        module = ir.Module(name=entry.name)
        _add_function(context, module, entry, compiled.fndesc.llvm_func_name)
        library.add_ir_module(module)
    module = ir.Module(name=RESHAPE)
    add_reshape(module)
    library.add_ir_module(module)
    library.finalize()
    bitcode: bytes = library.emit_bitcode()
    return bitcode


def _flags() -> Any:
    """Return the flags of jit.decorators, and those that leave out all wrappers."""
    flags = Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model, flags.nrt = 'numpy', False
    return flags


def _add_function(context: Any, module: Any, entry: Entry, name: str) -> None:
    """Write the C function that calls a compiled one: numba returns a status and a result."""
    kind = context.get_value_type(entry.returns)
    function = ir.Function(module, ir.FunctionType(
        kind, [context.get_value_type(of) for of in entry.types]), PREFIX + entry.name)
    builder = ir.IRBuilder(function.append_basic_block())
    callee = ir.Function(
        module, context.call_conv.get_function_type(entry.returns, entry.types), name)
    status, result = context.call_conv.call_function(
        builder, callee, entry.returns, entry.types, function.args)
    builder.ret(builder.select(status.is_ok, result, kind(FAILED)))


def add_reshape(module: Any) -> None:
    """
    Write what numba calls for the reshape of an array, as kernels use it: of contiguous ones.

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
