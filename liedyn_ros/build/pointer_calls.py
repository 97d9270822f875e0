# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The call of a function of the C library by pointers and numbers alone: sizes are the model's.

Words that C writes and a function copies at once would wait for each other, for 15 ns a call. LLVM
puts the function on words into this one.
"""

from collections.abc import Iterable
from typing import Any

from llvmlite import binding, ir

from liedyn_ros.build.c_entries import Entry
from liedyn_ros.build.lowering import FAILED
from liedyn_ros.build.words import entry_function, PREFIX, WORD
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.export.kernels.interface import Argument, ROWS

_BYTES = 8


def add_pointer_calls(bitcode: bytes, entries: Iterable[Entry]) -> bytes:
    """Return bitcode of functions on words with the calls by pointers in their place."""
    module = binding.parse_bitcode(bitcode)
    made = ir.Module(name='pointer_calls')
    made.triple, made.data_layout = module.triple, module.data_layout
    for entry in entries:
        module.get_function(PREFIX + entry.name).name = f'{PREFIX}words_{entry.name}'
        _add_call(made, entry)
    module.link_in(binding.parse_assembly(str(made)))
    for entry in entries:
        of_words = module.get_function(f'{PREFIX}words_{entry.name}')
        of_words.name = f'words_{entry.name}'  # which is not exported
    found: bytes = module.as_bitcode()
    return found


def _add_call(module: Any, entry: Entry) -> None:
    """Write a function that fills words and calls the function on them."""
    numbers = [not kind[1:] for kind in entry.kinds]
    function = ir.Function(module, ir.FunctionType(WORD, [
        WORD if number else WORD.as_pointer() for number in numbers]), PREFIX + entry.name)
    given = dict(zip(entry.names, function.args))
    builder = ir.IRBuilder(function.append_basic_block())

    def size(name: str | int) -> Any:
        if not isinstance(name, str):
            return WORD(name)
        if name == ROWS:
            return builder.add(given['order'], WORD(1))
        if name in ('tasks', 'size'):
            return given[name]
        at = builder.gep(given['model'], [WORD(tables.Tree.column(name))])
        return builder.load(at, align=_BYTES)

    words: list[Any] = []
    for name, kind in zip(entry.names, entry.kinds):
        value = given[name]
        words.append(value if value.type == WORD else builder.ptrtoint(value, WORD))
        words += _lengths(builder, name, kind, words[-1], size)
    places = [builder.bitcast(builder.alloca(ir.ArrayType(WORD, count)), WORD.as_pointer())
              for count in (len(words), 1)]
    for k, word in enumerate(words):
        builder.store(word, builder.gep(places[0], [WORD(k)]), align=_BYTES)
    failed = builder.call(entry_function(module, f'words_{entry.name}'), places)
    result = builder.load(places[1], align=_BYTES)
    builder.ret(builder.select(builder.icmp_signed('==', failed, WORD(0)), result, WORD(FAILED)))


def _lengths(builder: Any, name: str, kind: Argument, address: Any, size: Any) -> list[Any]:
    """Return the lengths of an argument; what is optional and NULL has no rows."""
    of_machine = {'model': (1, tables.MODEL_WIDTH), 'work': (1,)}
    if name == 'links':
        return [WORD(3), builder.sub(size('links'), WORD(1))]
    lengths = [size(each) for each in of_machine.get(name, kind.shape)]
    if kind.optional:
        is_null = builder.icmp_unsigned('==', address, WORD(0))
        lengths[0] = builder.select(is_null, WORD(0), lengths[0])
    return lengths
