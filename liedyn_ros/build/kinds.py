# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kinds of arguments, as texts of liedyn_ros.jit.kinds, and the types of numba for them."""

from typing import Any

from numba import types

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.jit.kinds import fields_of, text_of

SCALARS = {'d': types.float64, 'q': types.int64, 'b': types.boolean,
           'z': types.complex128}


def type_of(kind: Any) -> Any:
    """Return the type of a kind."""
    if isinstance(kind, type) and issubclass(kind, tuple):
        return types.NamedTuple(tuple(map(type_of, fields_of(kind))), kind)
    text = text_of(kind)
    found, rest = _read(text)
    if rest or len(found) != 1:
        raise LiedynError(f'kind: expected one of liedyn_ros.jit.kinds, got {text!r}')
    return found[0]


def _read(kinds: str) -> tuple[tuple[Any, ...], str]:
    """Return the types up to the end of the text or of a tuple, and what follows."""
    found: list[Any] = []
    while kinds and kinds[0] != ')':
        letter, kinds = kinds[0], kinds[1:]
        if letter == '(':
            inner, rest = _read(kinds)
            found.append(types.Tuple.from_types(inner))
            kinds = rest[1:]
        elif letter == 'n':
            found.append(types.none)
        elif kinds[:1].isdigit():
            found.append(types.Array(SCALARS[letter], int(kinds[0]), 'C'))
            kinds = kinds[1:]
        elif kinds[:1] == '*':
            found.append(types.CPointer(SCALARS[letter]))
            kinds = kinds[1:]
        else:
            found.append(SCALARS[letter])
    return tuple(found), kinds


def text_of_result(of: Any) -> str:
    """Return the text of a type that a kernel returns, or raise LiedynError."""
    of = types.unliteral(of)
    if of == types.none:
        return ''
    if isinstance(of, types.BaseTuple):
        return f'({"".join(map(text_of_result, of.types))})'
    if of == types.boolean:
        return 'b'
    if isinstance(of, types.Integer):
        return 'q'
    if of == types.float64:
        return 'd'
    raise LiedynError(f'result: expected numbers, truth values or tuples of them, got {of}')
