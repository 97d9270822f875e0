# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables on a terminal, and texts of others in pages and reports, which are never markup."""

from collections.abc import Sequence
from html import escape
import re
from typing import Any, TextIO

from liedyn_ros.common.errors import bounded, spelled

# What begins a list, ends a word by an underscore, or is neither a letter nor harmless.
_MEANT = re.compile(r'^[-+=]|^\d+[.)](?= )|(?<![^\W_])_|_(?![^\W_])|:(?! |$)|'
                    r'[^\w .,;:/()?%+=-]')
_LINK = re.compile(r'(?i)(https?&#58;|\bwww(?=\.)|&#64;)')  # which viewers make one without a mark
_JOINER = '&#8288;'  # cannot be seen


def as_text(text: object) -> str:
    """
    Return a text of others as it is shown by HTML and by Markdown, in one line.

    Characters that have a meaning there become references, such as `&#60;`; those that cannot be
    seen, and line ends, are spelled out. Of a long text the middle is left out.
    """
    seen = spelled(bounded(str(text))).strip()
    return _LINK.sub(rf'\1{_JOINER}', _MEANT.sub(_reference, seen))


def as_html(text: str) -> str:
    """Return a text of others as HTML shows it, also within an attribute."""
    return escape(spelled(text))


class Terminal:
    """A stream of text whose characters can be seen: a terminal obeys others."""

    def __init__(self, stream: TextIO) -> None:
        """Take the stream beneath."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; tabs, line ends, and a return at its begin stay."""
        back = '\r' * text.startswith('\r')
        lines = ('\t'.join(map(spelled, line.split('\t')))
                 for line in text[len(back):].split('\n'))
        return self._stream.write(back + '\n'.join(lines))

    def isatty(self) -> bool:
        """Return False: nothing shall send it codes of colours."""
        return False

    def __getattr__(self, name: str) -> Any:
        """Return another attribute of the stream."""
        return getattr(self._stream, name)


def _reference(found: re.Match[str]) -> str:
    return f'{found[0][:-1]}&#{ord(found[0][-1])};'


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows under a header; the first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    cells = [row + [''] * (len(header) - len(row)) for row in cells]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    cells.insert(1, ['-' * width for width in widths])
    for first, *others in cells:
        line = [first.ljust(widths[0])]
        line += [cell.rjust(width) for cell, width in zip(others, widths[1:])]
        print('  ' + '  '.join(line).rstrip())
