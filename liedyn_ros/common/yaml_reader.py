# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""YAML read strictly: every value is asked for by type, every key must be known."""

from collections.abc import Callable, Mapping
import math
import os
import re
from typing import Any, NoReturn

import yaml

from liedyn_ros.common.description import is_name, parse_number, Place, read_file, short
from liedyn_ros.common.errors import DescriptionError

MAX_DEPTH = 50  # of nested lists and mappings
MAX_VALUES = 10_000_000  # of a document, those that an alias repeats counted each time

_NEEDED = object()
_INTEGER = re.compile(r'[+-]?(?:0|[1-9]\d{0,17})', re.ASCII)
_LEADING_ZERO = re.compile(r'[+-]?0\d', re.ASCII)
_WORDS: dict[str, Any] = {
    '': None, '~': None, 'null': None, 'true': True, 'false': False,
    '.inf': math.inf, '+.inf': math.inf, '-.inf': -math.inf, '.nan': math.nan}
_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # the same events, sooner


class Node(Place):
    """A value of a YAML document; a mapping knows which of its keys were taken."""

    __slots__ = ('_taken',)

    def __init__(self, value: Any, key: str, parent: Place | None = None) -> None:
        """Wrap a value."""
        self.value = value
        self._key = key
        self._parent = parent
        self._taken: list[str] = []

    def items(self) -> list[tuple[str, 'Node']]:
        """Return the keys and values of a mapping."""
        return [(key, Node(value, f'/{key}', self)) for key, value in self._mapping().items()]

    def take(self, key: str, default: Any = _NEEDED) -> 'Node':
        """Return the value of a key, or the default if one is given."""
        self._taken.append(key)
        mapping = self.value
        value = (mapping if type(mapping) is dict else self._mapping()).get(key, default)
        if value is _NEEDED:
            self.fail(f'a key {key}', short(list(mapping)))
        return Node(value, f'/{key}', self)

    def take_numbers(self, keys: tuple[str, ...], default: Any = _NEEDED) -> list[float]:
        """Return the values of keys as finite numbers, or the default for those not given."""
        mapping = self.value
        if type(mapping) is dict:
            values = [mapping.get(key, default) for key in keys]
            if _are_floats(values):
                self._taken += keys
                return values
        return [self.take(key, default).number() for key in keys]

    def optional(self, key: str) -> 'Node | None':
        """Return the value of a key, or None if it is absent."""
        self._taken.append(key)
        mapping = self.value
        if key not in (mapping if type(mapping) is dict else self._mapping()):
            return None
        return Node(mapping[key], f'/{key}', self)

    def finish(self) -> None:
        """Refuse the keys of a mapping that were not asked for."""
        unknown = [key for key in self._mapping() if key not in self._taken]
        if unknown:
            self.fail(f'keys of {sorted(set(self._taken))}', short(unknown))

    def text(self) -> str:
        """Return a text of one line, not empty."""
        if not isinstance(self.value, str) or not is_name(self.value):
            self.fail('a text')
        return self.value

    def integer(self) -> int:
        """Return an integer."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.fail('an integer')
        return self.value

    def truth(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.fail('true or false')
        return bool(self.value)

    def sequence(self, length: int | None = None) -> list['Node']:
        """Return the elements of a list, which has a length if one is given."""
        return [Node(element, f'[{i}]', self) for i, element in enumerate(self._list(length))]

    def number(self, infinite: bool = False) -> float:
        """Return a number, a finite one unless infinity is allowed."""
        value = self.value
        if type(value) is float and math.isfinite(value):
            return value
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            self.fail('a number in decimal, without zeros before it')
        if not math.isfinite(value) and (math.isnan(value) or not infinite):
            self.fail('a number' if infinite else 'a finite number')
        return float(value)

    def numbers(self, length: int | None = None, infinite: bool = False) -> list[float]:
        """Return a list of numbers."""
        values = self._list(length)
        if _are_floats(values):
            return list(values)
        return [element.number(infinite) for element in self.sequence(length)]

    def number_or_numbers(self, infinite: bool = False) -> float | list[float]:
        """Return a number, or a list of numbers."""
        if isinstance(self.value, list):
            return self.numbers(infinite=infinite)
        return self.number(infinite)

    def angle(self) -> float:
        """Return an angle in rad; a text such as '25 deg' is in degrees."""
        if not isinstance(self.value, str):
            return self.number()
        number, _, unit = self.value.partition(' ')
        degrees = None if _LEADING_ZERO.match(number) else parse_number(number)
        if unit != 'deg' or degrees is None:
            self.fail("a number in rad or a text such as '25 deg'")
        return math.radians(degrees)

    def angles(self, length: int) -> list[float]:
        """Return a list of angles in rad."""
        values = self._list(length)
        if _are_floats(values):
            return list(values)
        return [element.angle() for element in self.sequence(length)]

    def _mapping(self) -> Mapping[str, Any]:
        if not isinstance(self.value, dict):
            self.fail('a mapping')
        return self.value

    def _list(self, length: int | None) -> list[Any]:
        if not isinstance(self.value, list) or length not in (None, len(self.value)):
            self.fail(f'a list of {length} entries' if length is not None else 'a list')
        return self.value


def read(path: str | os.PathLike[str], name: str) -> Node:
    """
    Return the root of a YAML file; its name begins the paths in messages.

    Numbers are decimal, true and false are the truth values, null and ~ stand for nothing. All
    else is text: no octal or base 60 numbers, no dates, no yes and no. Aliases repeat a value;
    tags, merge keys and a second document are refused. Raises DescriptionError, with line and
    column where the file is no such YAML.
    """
    content = read_file(path)
    try:
        return Node(_compose(content.decode()), name)
    except UnicodeDecodeError as error:
        raise DescriptionError(f'expected text in UTF-8, got {error}') from error
    except yaml.YAMLError as error:
        raise DescriptionError(f'expected YAML, got {error}') from error


def _compose(text: str) -> Any:
    """Return the one document of a text, None where it is empty."""
    loader = _LOADER(text)
    try:
        return _Composer().compose(loader.get_event)
    finally:
        loader.dispose()


class _Composer:
    """
    Puts the one document of a stream of events together as mappings, lists and plain values.

    It does not recur, and it refuses what would grow without bound.
    """

    def __init__(self) -> None:
        """Begin without a value."""
        self._top = _Container([], None, 0)  # the container that is open; the first holds ...
        self._below: list[_Container] = []  # ... the document
        self._anchors: dict[str, tuple[Any, int]] = {}  # values, and how many each counts for
        self._plain = _Plain()
        self._count = 0

    def compose(self, get_event: Callable[[], Any]) -> Any:
        """Return the document, None where the stream is empty."""
        handlers: dict[type, Callable[[Any], None]] = {
            yaml.AliasEvent: self._alias,
            yaml.MappingStartEvent: self._start, yaml.SequenceStartEvent: self._start,
            yaml.MappingEndEvent: self._end, yaml.SequenceEndEvent: self._end,
            yaml.DocumentStartEvent: self._document, yaml.DocumentEndEvent: _ignore,
            yaml.StreamStartEvent: _ignore, yaml.StreamEndEvent: _ignore}
        scalar, plain = yaml.ScalarEvent, self._plain
        for event in iter(get_event, None):
            if type(event) is not scalar:
                handlers[type(event)](event)
                continue
            # Most events are scalars, so that each call saved here is a part of the time of all.
            value = plain[event.value] if event.implicit[0] else event.value  # not in quotes
            if event.tag is not None or event.anchor is not None:
                self._mark(event, value)
            top = self._top
            if top.key is not None or type(top.value) is list:
                self._add(event, value, 1)
            elif type(value) is str and value != '<<' and value not in top.value:
                top.key = value
            else:
                _refuse(event, 'each key once and a text', short(value))
        document: list[Any] = self._top.value
        return document[0] if document else None

    def _document(self, event: Any) -> None:
        if self._top.value:
            _refuse(event, 'one document', 'a second')

    def _mark(self, event: Any, value: Any) -> None:
        """Keep the value of an anchor, refuse a tag."""
        if event.tag is not None:
            _refuse(event, 'a value without a tag', event.tag)
        self._anchors[event.anchor] = value, 1

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            _refuse(event, 'an alias of a value before it', f'*{event.anchor}')
        self._require_place(event)
        self._add(event, *self._anchors[event.anchor])

    def _start(self, event: Any) -> None:
        if event.tag is not None:
            _refuse(event, 'a value without a tag', event.tag)
        if len(self._below) == MAX_DEPTH:
            _refuse(event, f'at most {MAX_DEPTH} nested lists and mappings', 'more')
        self._require_place(event)
        self._below.append(self._top)
        value: Any = {} if type(event) is yaml.MappingStartEvent else []
        self._top = _Container(value, event.anchor, self._count)

    def _end(self, event: Any) -> None:
        closed, self._top = self._top, self._below.pop()
        if closed.anchor is not None:
            self._anchors[closed.anchor] = closed.value, self._count - closed.start + 1
        self._add(event, closed.value, 1)

    def _require_place(self, event: Any) -> None:
        """Refuse a key that is not a text."""
        if type(self._top.value) is dict and self._top.key is None:
            _refuse(event, 'each key once and a text', 'a list, a mapping or an alias')

    def _add(self, event: Any, value: Any, size: int) -> None:
        """Put a value, which counts for a number of them, into the container that is open."""
        self._count += size
        if self._count > MAX_VALUES:
            _refuse(event, f'at most {MAX_VALUES} values', 'more')
        top = self._top
        if top.key is None:
            top.value.append(value)
        else:
            top.value[top.key] = value
            top.key = None


class _Container:
    """A list or mapping that is being read."""

    __slots__ = ('anchor', 'key', 'start', 'value')

    def __init__(self, value: Any, anchor: str | None, start: int) -> None:
        """Begin; `start` values were counted before it."""
        self.value, self.anchor, self.start = value, anchor, start
        self.key: str | None = None  # of a mapping, whose value comes next


class _Plain(dict[str, Any]):
    """What texts without quotes stand for, each resolved once."""

    def __missing__(self, text: str) -> Any:
        """Resolve a text."""
        value = self[text] = _resolve(text)
        return value


def _ignore(_: Any) -> None:
    """Take nothing from an event."""


def _are_floats(values: list[Any]) -> bool:
    """Return whether all are finite floats, as most lists of numbers hold."""
    return set(map(type, values)) <= {float} and all(map(math.isfinite, values))


def _resolve(text: str) -> Any:
    """Return what a text without quotes stands for; what looks like a number is one or a text."""
    if text[:1] in '+-.0123456789' and text:
        if _INTEGER.fullmatch(text):
            return int(text)
        number = None if _LEADING_ZERO.match(text) else parse_number(text)
        if number is not None:
            return number
    return _WORDS.get(text.lower(), text)


def _refuse(event: Any, expected: str, got: str) -> NoReturn:
    mark = event.start_mark
    raise DescriptionError(
        f'expected {expected}, got {got} at line {mark.line + 1}, column {mark.column + 1}')
