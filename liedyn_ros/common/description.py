# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Base of the readers of files: numbers as text, errors that name a place."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
import gc
import math
import re
import reprlib
from typing import Any, NoReturn

from liedyn_ros.common.errors import DescriptionError, LiedynError

MAX_DIGITS = 400  # characters of a number; every double has an exact form with fewer or is rounded

_NUMBER = re.compile(r'[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?', re.ASCII)
_SHORT = reprlib.Repr()  # longer values are shortened in messages
_SHORT.maxlevel = 1
_SHORT.maxstring = _SHORT.maxother = 80


class Place:
    """A value of a document and the path to it, for messages."""

    __slots__ = ('_key', '_parent', 'value')

    def __init__(self, value: Any, key: str, parent: 'Place | None' = None) -> None:
        """Wrap a value; the key is what its path adds to that of the parent."""
        self.value, self._key, self._parent = value, key, parent

    @property
    def path(self) -> str:
        """Return the keys from the root to this value."""
        parts, place = [], self
        while place._parent is not None:
            parts.append(place._key)
            place = place._parent
        return place._key + ''.join(reversed(parts))

    def fail(self, expected: object, got: object = None) -> NoReturn:
        """Raise DescriptionError for this value; `got` is a text, by default the value, short."""
        raise DescriptionError(
            f'{self.path}: expected {expected}, '
            f'got {abbreviate(self.value) if got is None else got}')

    def context(self) -> '_Context':
        """Put the path before the message of any error of the package."""
        return _Context(self)


class _Context:
    """The result of Place.context; as a generator it would take a tenth of a reader's time."""

    __slots__ = ('_place',)

    def __init__(self, place: Place) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        root = self._place
        while root._parent is not None:
            root = root._parent
        if isinstance(error, LiedynError) and not str(error).startswith(root._key):
            raise DescriptionError(f'{self._place.path}: {error}') from error


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """
    Pause the search for garbage while a file is read.

    A reader keeps all that it makes; repeated searches through it take a fifth of its time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def abbreviate(value: object) -> str:
    """Return a value as a message shows it."""
    return _SHORT.repr(value)


def parse_number(text: str) -> float | None:
    """
    Return the finite number that a text spells in decimal, or None where it spells none.

    None as well for a number too large for a double, and for one so small that it becomes zero.
    """
    return None if len(text) > MAX_DIGITS else _parse_short(text)


@lru_cache(maxsize=4096)
def _parse_short(text: str) -> float | None:
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    if value == 0.0:
        return value if not text.lower().partition('e')[0].strip('+-0.') else None
    return value if math.isfinite(value) else None


def is_name(text: str) -> bool:
    """Return whether a text can be a name: not empty, and every character can be shown."""
    return text.isprintable() and bool(text.strip())
