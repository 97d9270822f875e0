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

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
import math
import os
from pathlib import Path
import reprlib
from typing import Any, NoReturn

import yaml

from liedyn_ros.common.errors import DescriptionError, LiedynError

_NEEDED = object()
_SHORT = reprlib.Repr()  # a message has no room for a document
_SHORT.maxlevel = 1
_SHORT.maxstring = _SHORT.maxother = 80


class Node:
    """A value of a YAML document and its path, for messages; a mapping knows what was taken."""

    def __init__(self, value: Any, path: str) -> None:
        """Wrap a value."""
        self.value = value
        self.path = path
        self._taken: list[str] = []

    def fail(self, expected: object) -> NoReturn:
        """Raise DescriptionError for this value."""
        raise DescriptionError(f'{self.path}: expected {expected}, got {_SHORT.repr(self.value)}')

    @contextmanager
    def context(self) -> Iterator[None]:
        """Put the path before the message of any error of the package."""
        try:
            yield
        except LiedynError as error:
            raise DescriptionError(f'{self.path}: {error}') from error

    def items(self) -> list[tuple[str, 'Node']]:
        """Return the keys and values of a mapping."""
        return [(key, Node(value, f'{self.path}/{key}')) for key, value in self._mapping().items()]

    def take(self, key: str, default: Any = _NEEDED) -> 'Node':
        """Return the value of a key, or the default if one is given."""
        self._taken.append(key)
        if key in self._mapping():
            return Node(self.value[key], f'{self.path}/{key}')
        if default is _NEEDED:
            raise DescriptionError(
                f'{self.path}: expected a key {key}, got {_SHORT.repr(list(self.value))}')
        return Node(default, f'{self.path}/{key}')

    def optional(self, key: str) -> 'Node | None':
        """Return the value of a key, or None if it is absent."""
        node = self.take(key, None)
        return node if key in self.value else None

    def finish(self) -> None:
        """Refuse the keys of a mapping that were not asked for."""
        unknown = [key for key in self._mapping() if key not in self._taken]
        if unknown:
            raise DescriptionError(
                f'{self.path}: expected keys of {sorted(set(self._taken))}, got {unknown}')

    def sequence(self, length: int | None = None) -> list['Node']:
        """Return the elements of a list."""
        if not isinstance(self.value, list) or length not in (None, len(self.value)):
            self.fail('a list' if length is None else f'a list of {length}')
        return [Node(value, f'{self.path}[{i}]') for i, value in enumerate(self.value)]

    def text(self) -> str:
        """Return a text that is not empty."""
        if not isinstance(self.value, str) or not self.value:
            self.fail('a text')
        return self.value

    def integer(self) -> int:
        """Return an integer."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.fail('an integer')
        return self.value

    def number(self, infinite: bool = False) -> float:
        """Return a number, a finite one unless infinity is allowed."""
        value = self.value
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            # YAML 1.1 reads 1e-5 as a text.
            self.fail('a number (with a point if it has an exponent, as 1.0e-5)')
        if math.isnan(value) or (math.isinf(value) and not infinite):
            self.fail('a number' if infinite else 'a finite number')
        return float(value)

    def numbers(self, length: int | None = None, infinite: bool = False) -> list[float]:
        """Return a list of numbers."""
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
        try:
            degrees = float(number)
        except ValueError:
            degrees = math.nan
        if unit != 'deg' or not math.isfinite(degrees):
            self.fail("a number in rad or a text such as '25 deg'")
        return math.radians(degrees)

    def _mapping(self) -> Mapping[str, Any]:
        if not isinstance(self.value, dict):
            self.fail('a mapping')
        return self.value


def read(path: str | os.PathLike[str], name: str) -> Node:
    """
    Return the root of a YAML file; its name begins the paths in messages.

    Raises DescriptionError, with line and column where the file is no YAML.
    """
    try:
        text = Path(path).read_text(encoding='utf-8')
    except (OSError, ValueError) as error:  # also of a path or a text that is none
        raise DescriptionError(f'expected a readable text file, got {error}') from error
    try:
        return Node(yaml.load(text, Loader=_UniqueKeys), name)
    except yaml.YAMLError as error:
        raise DescriptionError(f'expected YAML, got {error}') from error


class _UniqueKeys(yaml.SafeLoader):
    """A safe loader that refuses what PyYAML lets pass: a key given twice, or not a text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping."""
        seen = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if not isinstance(name, str) or name in seen:
                raise yaml.constructor.ConstructorError(
                    'while reading a mapping', node.start_mark,
                    f'expected each key once and a text, got {name!r}', key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)
