# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Entries: how Python calls a kernel on the tables of one object in 40 ns.

Numba's dispatcher looks up the type of each argument, and each array takes 45 ns, the tables
too. An entry is a C function for the types of one call. It reads where each array lies from
numpy's object, and has read the tables when it was made. Arguments of any other type go to a
function of Python instead. So do all for which the kernel returns another code than the wanted
one, if one is wanted. No exception begins in an entry.
"""

from collections.abc import Callable
import ctypes
from typing import Any, NamedTuple

from llvmlite import binding, ir
import numba
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
import numpy as np

from liedyn_ros.jit.first_call import apart

NAME = 'liedyn_entry'
# Words of the record of an entry, an array of numpy. They are the addresses of the kernel and of
# the other function, the wanted code, and whether one is wanted. The tables follow.
KERNEL, OTHERWISE, WANTED, CHOOSES, TABLES = range(5)

# Bytes from the begin of an array of numpy to its fields, which numpy's C interface fixes.
HEADER = object.__basicsize__
DATA, DIMENSIONS, LENGTHS, DTYPE, FLAGS = (HEADER + part for part in (0, 8, 16, 40, 48))
TYPE = HEADER - 8  # of any object
PLAIN = 0x0001 | 0x0100 | 0x0400  # the flags of C order, of alignment, and of writable memory
KINDS = PLAIN | 0x0002  # and of Fortran order: what numba tells arrays of one dtype apart by
ITEM = 8  # bytes of a number; a truth value has one
NUMBER = HEADER  # of a float

_BYTE, _HALF, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_OBJECT = _BYTE.as_pointer()
_FASTCALL = 0x0080  # of Python's C interface: a function of an object, arguments, their number


class _Definition(ctypes.Structure):
    """PyMethodDef of Python's C interface."""

    _fields_ = [('name', ctypes.c_char_p), ('function', ctypes.c_void_p),
                ('flags', ctypes.c_int), ('doc', ctypes.c_char_p)]


_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
_code: dict[Any, tuple[Any, int]] = {}  # the machine code for the types of a call, its address


class _Call(NamedTuple):
    """What calls of one kernel on values of the same types share."""

    given: tuple[Any, ...]
    result: Any
    address: int
    has_entry: bool
    code: dict[int, tuple[Any, int]]  # by number of tables


_calls: dict[Any, _Call] = {}  # by kernel and kinds of values: numba's types take 15 us an array


def _call_of(compiled: Any, values: tuple[Any, ...]) -> _Call:
    key = compiled, *map(_kind_of, values)
    call = _calls.get(key)
    if call is None:
        given = tuple(map(numba.typeof, values))
        result = compiled.overloads[given]
        call = _calls[key] = _Call(
            given, result, result.library.get_pointer_to_function(result.fndesc.llvm_func_name),
            (not compiled.targetoptions.get('nogil') and all(map(_is_readable, given))
             and isinstance(result.signature.return_type, types.Integer | types.Boolean)), {})
    return call


def _kind_of(value: Any) -> Any:
    """Return what values of the same type of numba's, and of no other, have in common."""
    if type(value) is np.ndarray:
        return value.dtype, value.ndim, value.flags.num & KINDS
    return float if type(value) is float else numba.typeof(value)


def has_entry(compiled: Any, tables: tuple[Any, ...], arguments: tuple[Any, ...]) -> bool:
    """Return whether `entry` takes a kernel that has run on such arguments."""
    return _call_of(compiled, (*tables, *arguments)).has_entry


def entry(compiled: Any, tables: tuple[Any, ...], arguments: tuple[Any, ...], wanted: int | None,
          otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return a function that runs a compiled kernel on tables and arguments like these.

    It returns None, or what otherwise returns; where no code is wanted, the code. Raises TypeError
    for a kernel that others call without Python's lock, and for arguments that it cannot read.
    """
    if compiled.targetoptions.get('nogil'):
        raise TypeError(f'{compiled.__name__}: expected a kernel that keeps the lock of Python')
    call = _call_of(compiled, (*tables, *arguments))
    made = call.code.get(len(tables))
    if made is None:
        key = call.given, call.result.signature.return_type, len(tables)
        made = call.code[len(tables)] = _code.get(key) or _make(key)
    words = [call.address, id(otherwise), int(wanted or 0), int(wanted is not None)]
    for table in tables:
        words += [0, 0, table.size, table.itemsize, table.__array_interface__['data'][0],
                  *table.shape, *table.strides]
    record = np.array(words, dtype=np.int64)
    definition = _Definition(NAME.encode(), made[1], _FASTCALL, None)
    # The last argument is what the function keeps alive, beside the record.
    held = definition, made, call, tables, otherwise
    return _new_function(ctypes.addressof(definition), record, held)


def _is_readable(kind: Any) -> bool:
    if isinstance(kind, types.Array):
        return kind.layout == 'C' and kind.mutable
    return kind in (types.boolean, types.int64, types.float64)


@global_compiler_lock
def _compiled(key: Any) -> tuple[Any, int]:
    module = ir.Module(NAME)
    _Writer(module, *key)
    machine = binding.Target.from_default_triple().create_target_machine(opt=1)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(str(module)), machine)
    engine.finalize_object()
    _code[key] = engine, engine.get_function_address(NAME)
    return _code[key]


_make = apart(_compiled)


class _Writer:
    """Writes the instructions of an entry."""

    def __init__(self, module: Any, given: tuple[Any, ...], result: Any, tables: int) -> None:
        """Take the types of the tables and arguments, and of the kernel's code."""
        form = ir.FunctionType(_OBJECT, [_OBJECT, _OBJECT.as_pointer(), _WORD])
        self._function = ir.Function(module, form, NAME)
        self._build = build = ir.IRBuilder(self._function.append_basic_block())
        self._other = self._function.append_basic_block()
        record, arguments, count = self._function.args
        self._words = build.bitcast(self._at(record, DATA, _OBJECT), _WORD.as_pointer())
        called = cpu_target.target_context.call_conv.get_function_type(result, given)
        room = [build.alloca(pointer.pointee) for pointer in called.args[:2]]
        self._overflow = build.alloca(_HALF)
        lengths = [5 + 2 * table.ndim for table in given[:tables]]
        values = [self._word(TABLES + k) for k in range(sum(lengths))]
        self._require(build.icmp_signed('==', count, _WORD(len(given) - tables)))
        for k, kind in enumerate(given[tables:]):
            values += self._read(kind, build.load(build.gep(arguments, [_WORD(k)])))
        kernel = build.inttoptr(self._word(KERNEL), called.as_pointer())
        failed = build.call(kernel, room + [self._cast(*pair) for pair in zip(
            values, called.args[2:], strict=True)])
        self._require(build.icmp_signed('==', failed, _HALF(0)))
        code = self._cast(build.load(room[0]), _WORD)
        self._return_where_none_is_wanted(code)
        self._require(build.icmp_signed('==', code, self._word(WANTED)))
        none = self._of(None)
        build.call(self._c('Py_IncRef', ir.VoidType(), _OBJECT), [none])
        build.ret(none)
        build.position_at_end(self._other)
        other = build.inttoptr(self._word(OTHERWISE), _OBJECT)
        form = self._c('PyObject_Vectorcall', _OBJECT, _OBJECT, _OBJECT.as_pointer(), _WORD,
                       _OBJECT)
        build.ret(build.call(form, [other, arguments, count, _OBJECT(None)]))

    def _return_where_none_is_wanted(self, code: Any) -> None:
        build = self._build
        returned, further = (self._function.append_basic_block() for _ in range(2))
        build.cbranch(build.icmp_signed('==', self._word(CHOOSES), _WORD(0)), returned, further)
        build.position_at_end(returned)
        build.ret(build.call(self._c('PyLong_FromLongLong', _OBJECT, _WORD), [code]))
        build.position_at_end(further)

    def _read(self, kind: Any, value: Any) -> list[Any]:
        """Return the numbers that a kernel takes for an object of Python, of one type alone."""
        if not _is_readable(kind):
            raise TypeError(f'expected numbers, truth values and contiguous arrays, got {kind}')
        if kind == types.boolean:
            return [self._read_truth(value)]
        if kind == types.int64:
            return [self._read_whole(value)]
        if kind == types.float64:
            self._require_type(value, float)
            return [self._at(value, NUMBER, ir.DoubleType())]
        return self._read_array(kind, value)

    def _read_array(self, kind: Any, value: Any) -> list[Any]:
        build, dtype = self._build, np.dtype(str(kind.dtype))
        self._require_type(value, np.ndarray)
        flags = build.and_(self._at(value, FLAGS, _HALF), _HALF(PLAIN))
        for got, wanted in ((self._at(value, DTYPE, _WORD), _WORD(id(dtype))),
                            (self._at(value, DIMENSIONS, _HALF), _HALF(kind.ndim)),
                            (flags, _HALF(PLAIN))):
            self._require(build.icmp_signed('==', got, wanted))
        lengths = build.bitcast(self._at(value, LENGTHS, _OBJECT), _WORD.as_pointer())
        shape = [build.load(build.gep(lengths, [_WORD(axis)])) for axis in range(kind.ndim)]
        size: Any = _WORD(1)
        strides: list[Any] = []
        for length in reversed(shape):
            strides.insert(0, build.mul(size, _WORD(dtype.itemsize)))
            size = build.mul(size, length)
        owners = [_WORD(0), _WORD(0)]
        return [*owners, size, _WORD(dtype.itemsize), self._at(value, DATA, _WORD), *shape,
                *strides]

    def _read_truth(self, value: Any) -> Any:
        build = self._build
        true, false = (build.icmp_unsigned('==', value, self._of(each)) for each in (True, False))
        self._require(build.or_(true, false))
        return true

    def _read_whole(self, value: Any) -> Any:
        build = self._build
        self._require_type(value, int)
        read = self._c('PyLong_AsLongLongAndOverflow', _WORD, _OBJECT, _HALF.as_pointer())
        number = build.call(read, [value, self._overflow])
        self._require(build.icmp_signed('==', build.load(self._overflow), _HALF(0)))
        return number

    def _require_type(self, value: Any, kind: type) -> None:
        self._require(self._build.icmp_unsigned(
            '==', self._at(value, TYPE, _OBJECT), self._of(kind)))

    def _require(self, condition: Any) -> None:
        """Go on where a condition holds, or call the other function."""
        further = self._function.append_basic_block()
        self._build.cbranch(condition, further, self._other)
        self._build.position_at_end(further)

    def _of(self, value: object) -> Any:
        """Return an object that outlives the process's code."""
        return self._build.inttoptr(_WORD(id(value)), _OBJECT)

    def _at(self, base: Any, offset: int, kind: Any) -> Any:
        place = self._build.gep(base, [_WORD(offset)])
        return self._build.load(self._build.bitcast(place, kind.as_pointer()))

    def _word(self, place: int) -> Any:
        return self._build.load(self._build.gep(self._words, [_WORD(place)]))

    def _cast(self, value: Any, kind: Any) -> Any:
        """Return a number as an address, or at the width that is wanted."""
        if value.type == kind:
            return value
        if isinstance(kind, ir.PointerType):
            return self._build.inttoptr(value, kind)
        return self._build.zext(value, kind)

    def _c(self, name: str, result: Any, *arguments: Any) -> Any:
        """Return a function of Python's C interface."""
        return self._function.module.globals.get(name) or ir.Function(
            self._function.module, ir.FunctionType(result, arguments), name)
