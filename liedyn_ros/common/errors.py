# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The errors of the package: each message names what was expected and what came."""

from ast import literal_eval
from collections.abc import Iterable
import re
import sys
from typing import Any
import warnings

SPACE = '\N{NO-BREAK SPACE}'
MAX_MESSAGE = 1000  # characters; an input that a message quotes may have any number

_FORM = re.compile(r'(?:(?P<name>[^\n]+?)(?P<indices>\[[\d, ]+\])?: )?expected (?P<expected>.+?)'
                   r'(?:,? got:?\s(?P<got>.+?))?(?:; .*)?', re.DOTALL)
_NUMBER = re.compile(r'(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?!\.?\w)')
_LIST = re.compile(r'[\[(][-+\de., \[\]()]*[\])]')
_TEXT = re.compile(r"'([^'\\]*)'")


class LiedynError(ValueError):
    """
    Any input the package refuses.

    A message that is too long loses its middle, and characters that cannot be seen, which a
    terminal may obey, are spelled as in Python. What it says in words is in attributes, where the
    input has it; each is empty or None elsewhere. names: arguments, joints, bodies or actuators
    that are at fault. expected and got: shapes, names or numbers, SI units. indices: of the first
    wrong entry, or the order. Where a raise gives no attribute, they come from its message:
    numbers and lists, or its words.
    """

    def __init__(self, message: object = '', *, names: Iterable[str] = (), expected: Any = None,
                 got: Any = None, indices: Iterable[int] = ()) -> None:
        """Take a message, what was expected and what came, and its parts."""
        super().__init__(bounded(str(message)))
        self.names, self.indices = tuple(names), tuple(map(int, indices))
        self.expected, self.got = expected, got
        if not self.names and not self.indices and expected is None and got is None:
            self._read(str(self))

    def _read(self, message: str) -> None:
        """Take the attributes from a message 'name[index]: expected this, got that; advice'."""
        found = _FORM.fullmatch(message)
        if found is None:
            return
        name, indices = found['name'], found['indices']
        self.names = () if name is None else (name.rsplit(': ', 1)[-1],)
        self.indices = () if indices is None else tuple(map(int, indices[1:-1].split(',')))
        self.expected, self.got = _value(found['expected']), _value(found['got'])


def _value(text: str | None) -> Any:
    """Return the name that a text is, its only list of numbers or number, or the text."""
    if text is None:
        return None
    whole = _TEXT.fullmatch(text)
    if whole is not None:
        return whole[1]
    among = _LIST.search(text)
    if among is not None and not _NUMBER.search(text[:among.start()] + text[among.end():]):
        try:
            return literal_eval(among[0])
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return text
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1:
        return text
    return int(numbers[0]) if numbers[0].lstrip('+-').isdecimal() else float(numbers[0])


def bounded(text: str) -> str:
    """
    Return a text as a message shows it: all is seen, but for the middle of a long one.

    Args:
        text: of any length.

    Returns:
        the text.

    >>> len(bounded('x' * 5000)) < 1100
    True
    """
    half = MAX_MESSAGE // 2
    text = text if len(text) <= MAX_MESSAGE else f'{text[:half]} ... {text[-half:]}'
    return '\n'.join(map(spelled, text.split('\n')))


def spelled(text: str) -> str:
    r"""
    Return a text in one line whose characters can be seen: others are spelled as in Python.

    Args:
        text: of any characters.

    Returns:
        the text.

    >>> spelled('a\x1b[2J')
    'a\\x1b[2J'
    """
    return text if text.isprintable() else ''.join(
        each if each.isprintable() or each == SPACE else each.encode('unicode_escape').decode()
        for each in text)


class ShapeError(LiedynError):
    """An array of the wrong shape or a list of the wrong length."""


class NotFiniteError(LiedynError):
    """A NaN or an infinity where a number is needed."""


class NotInGroupError(LiedynError):
    """A matrix or quaternion that is not a rotation or pose."""


class NameSetError(LiedynError):
    """Names that are unknown, missing or given twice."""


class GeometryError(LiedynError):
    """A platform geometry that cannot be built or is not described."""


class LimitError(LiedynError):
    """A value outside its allowed range."""


class StampError(LiedynError):
    """An invalid or out-of-order time stamp."""


class SilenceError(LiedynError):
    """Input that is expected and does not come, or is refused each time."""


class InertiaError(LiedynError):
    """Mass properties that no rigid body has."""


class ModelError(LiedynError):
    """A robot model that cannot be built, or a name that is not in it."""


class DescriptionError(ModelError):
    """A file or text that does not describe a model or platform, or that has unknown parts."""


class DescriptionWarning(UserWarning):
    """A questionable part of a description, used as it is or corrected."""


class QuaternionWarning(UserWarning):
    """Quaternions whose norm is 1 only as far as few digits go; they are scaled to 1."""


class ProjectionWarning(UserWarning):
    """A configuration so far off the constraints that another one on them may be nearer."""


class SingularError(LiedynError):
    """A joint with a given force that moves no inertia."""


class ConvergenceError(LiedynError):
    """An iteration that did not converge."""


class BudgetError(LiedynError):
    """A computation that takes more work than it may, or whose result nobody waits for."""


def warn(text: str, kind: type[Warning]) -> None:
    """
    Warn at the line outside the package whose call led here.

    Args:
        text: of the warning.
        kind: such as DescriptionWarning.

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter('ignore')
    ...     warn('joint elbow: no limits', DescriptionWarning)
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals['__name__'].startswith('liedyn_ros.'):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)
