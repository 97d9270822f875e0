# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""YAML read strictly, every value by type and every key known; and written to be read so."""

from collections.abc import Callable, Mapping
import math
import os
import re
from typing import Any, NoReturn

import yaml

from liedyn_ros.common.description import abbreviate, is_name, parse_number, Place
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning, warn
from liedyn_ros.common.untrusted_files import read_file

MAX_YAML_DEPTH = 50  # of nested lists and mappings
MAX_YAML_VALUES = 1_000_000  # keys and values, those that an alias repeats counted each time

_NEEDED = object()
_INTEGER = re.compile(r'[+-]?(?:0|[1-9]\d{0,17})', re.ASCII)
_LEADING_ZERO = re.compile(r'[+-]?0\d', re.ASCII)
_COMMON = re.compile(r'-?(?:0|[1-9]\d{0,9})\.\d{1,20}', re.ASCII)  # a double whatever its digits
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
            self.fail(f'a key {key}', abbreviate(list(mapping)))
        return Node(value, f'/{key}', self)

    def take_numbers(self, keys: tuple[str, ...], default: Any = _NEEDED) -> list[float]:
        """Return the values of keys as finite numbers, or the default for those not given."""
        mapping = self.value
        if type(mapping) is dict:
            values = _finite([mapping.get(key, default) for key in keys])
            if values is not None:
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

    def options(self, readers: 'Mapping[str, Callable[[Node], Any]]') -> dict[str, Any]:
        """Return the values of those keys that are there, each as its reader does; then finish."""
        self._taken += readers
        self.finish()
        mapping = self._mapping()
        return {key: read(Node(mapping[key], f'/{key}', self))
                for key, read in readers.items() if key in mapping}

    def finish(self) -> None:
        """Refuse the keys of a mapping that were not asked for."""
        mapping = self._mapping()
        if mapping.keys() - self._taken:
            unknown = [key for key in mapping if key not in self._taken]
            self.fail(f'keys of {sorted(set(self._taken))}', abbreviate(unknown))

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
        values = _finite(self._list(length))
        if values is not None:
            return values
        return [element.number(infinite) for element in self.sequence(length)]

    def number_or_numbers(self, infinite: bool = False) -> float | list[float]:
        """Return a number, or a list of numbers."""
        if isinstance(self.value, list):
            return self.numbers(infinite=infinite)
        return self.number(infinite)

    def angle(self, infinite: bool = False) -> float:
        """
        Return an angle in rad; a text such as '25 deg' is in degrees.

        infinite: whether it may be, as a limit, of which nothing is asked. Of others it warns, by
        DescriptionWarning, where they look like degrees: more than half a turn or a whole number
        from 2 on.
        """
        if isinstance(self.value, str):
            number, _, unit = self.value.partition(' ')
            degrees = None if _LEADING_ZERO.match(number) else parse_number(number)
            if unit != 'deg' or degrees is None:
                self.fail("a number in rad or a text such as '25 deg'")
            return math.radians(degrees)
        angle = self.number(infinite)
        size = abs(angle)
        if not infinite and (size > math.pi or (size >= 2.0 and size.is_integer())):
            warn(f"{self.path}: {angle:g} rad looks like degrees, which are written '{angle:g} "
                 "deg'", DescriptionWarning)
        return angle

    def angles(self, length: int, infinite: bool = False) -> list[float]:
        """Return a list of angles in rad, as `angle` does."""
        return [element.angle(infinite) for element in self.sequence(length)]

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
    try:
        return read_text(read_file(path).decode(), name)
    except UnicodeDecodeError as error:
        raise DescriptionError(f'expected text in UTF-8, got {error}') from error


def read_text(text: str, name: str) -> Node:
    """Return the root of a YAML document, as read of a file. Raises DescriptionError."""
    try:
        return Node(_compose(text), name)
    except yaml.YAMLError as error:
        raise DescriptionError(f'expected YAML, got {error}') from error


def write_text(content: dict[str, Any]) -> str:
    """Return values as YAML that read gives back, every text and number as it was."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120)


def _compose(text: str) -> Any:
    """Return the one document of a text, None where it is empty."""
    loader = _LOADER(text)
    try:
        return _Composer(loader.get_event).document()
    finally:
        loader.dispose()


class _Composer:
    """
    Puts the one document of a stream of events together as mappings, lists and plain values.

    It refuses what would grow without bound.
    """

    def __init__(self, get_event: Callable[[], Any]) -> None:
        """Begin with a source of events, which gives None after the last one."""
        self._get_event = get_event
        self._anchors: dict[str, tuple[Any, int]] = {}  # values, and how many are in each
        self._plain = _Plain()
        self._count = 0
        self._depth = 0

    def document(self) -> Any:
        """Return the document, None where the stream is empty."""
        found: list[Any] = []
        for event in iter(self._get_event, None):
            if type(event) is yaml.DocumentStartEvent:
                if found:
                    _refuse(event, 'one document', 'a second')
                found.append(self._value(self._get_event()))
        return found[0] if found else None

    def _value(self, event: Any) -> Any:
        """Return the value that begins with an event."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            return self._scalar(event)
        if kind is yaml.AliasEvent:
            return self._repeated(event)
        if event.tag is not None:
            _refuse(event, 'a value without a tag', event.tag)
        if self._depth == MAX_YAML_DEPTH:
            _refuse(event, f'at most {MAX_YAML_DEPTH} nested lists and mappings', 'more')
        before = self._count
        self._depth += 1
        value = self._mapping() if kind is yaml.MappingStartEvent else self._sequence()
        self._depth -= 1
        if event.anchor is not None:
            self._anchors[event.anchor] = value, self._count - before
        return value

    # Most events are scalars: the two loops take those without tag and anchor without a call.

    def _mapping(self) -> dict[str, Any]:
        get_event, plain, scalar = self._get_event, self._plain, yaml.ScalarEvent
        result: dict[str, Any] = {}
        while True:
            event = get_event()
            if type(event) is not scalar:
                if type(event) is yaml.MappingEndEvent:
                    return result
                _refuse(event, 'each key once and a text', 'a list, a mapping or an alias')
            simple = event.implicit[0] and event.anchor is None
            key = plain[event.value] if simple else self._scalar(event)
            if type(key) is not str or key == '<<' or key in result:
                _refuse(event, 'each key once and a text', abbreviate(key))
            self._add(2, event)
            event = get_event()
            if type(event) is scalar and event.implicit[0] and event.anchor is None:
                result[key] = plain[event.value]
            else:
                result[key] = self._value(event)

    def _sequence(self) -> list[Any]:
        get_event, plain, scalar = self._get_event, self._plain, yaml.ScalarEvent
        result: list[Any] = []
        while True:
            event = get_event()
            if type(event) is yaml.SequenceEndEvent:
                return result
            self._add(1, event)
            if type(event) is scalar and event.implicit[0] and event.anchor is None:
                result.append(plain[event.value])
            else:
                result.append(self._value(event))

    def _scalar(self, event: Any) -> Any:
        """Return a plain value or a text, and keep the value of an anchor."""
        if event.tag is not None:
            _refuse(event, 'a value without a tag', event.tag)
        value = self._plain[event.value] if event.implicit[0] else event.value  # not in quotes
        if event.anchor is not None:
            self._anchors[event.anchor] = value, 0
        return value

    def _repeated(self, event: Any) -> Any:
        """Return the value of an alias; those in it count, itself as an entry of what holds it."""
        if event.anchor not in self._anchors:
            _refuse(event, 'an alias of a value before it', f'*{event.anchor}')
        value, size = self._anchors[event.anchor]
        self._add(size, event)
        return value

    def _add(self, count: int, event: Any) -> None:
        """Count keys and values of the document before they are kept."""
        self._count += count
        if self._count > MAX_YAML_VALUES:
            _refuse(event, f'at most {MAX_YAML_VALUES} keys and values', 'more')


class _Dumper(yaml.SafeDumper):
    """Quotes a text that YAML 1.1 takes for one, and the reader here for a number or a word."""


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None if _resolve(text) is text else "'"
    return dumper.represent_scalar('tag:yaml.org,2002:str', text, style)


_Dumper.add_representer(str, _represent_text)


class _Plain(dict[str, Any]):
    """The values of texts without quotes, each resolved once."""

    def __missing__(self, text: str) -> Any:
        """Resolve a text."""
        value = self[text] = _resolve(text)
        return value


def _finite(values: list[Any]) -> list[float] | None:
    """Return values as floats where all are finite numbers, as most lists of them are."""
    for value in values:
        kind = type(value)
        if (kind is not float and kind is not int) or not math.isfinite(value):
            return None
    return list(map(float, values))


def _resolve(text: str) -> Any:
    """Return the value of a text without quotes: a number, a word such as true, or the text."""
    if _COMMON.fullmatch(text):
        return float(text)
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
