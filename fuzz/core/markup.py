# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Texts of others on a page and in a report: no tag and no mark of Markdown may come of one."""

from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
import re

from fuzz.target import PropertyError, Run, Target

from liedyn_ros.commands.reports import ReportPage
from liedyn_ros.common.errors import spelled
from liedyn_ros.common.markup import as_text

# Characters that begin or end a mark; `&` only where it begins no reference to a character.
MARKS = re.compile(r'[*`\[\]<>!|~\\{}"\'\n\r\t]|&(?!#\d+;)|^#|^[-+=]|^\d+[.)] ')
LONGEST = 500  # of a text that is shown whole


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, page: str) -> None:
        """Read a page."""
        super().__init__()
        self.found: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.found.append(tag)


def make() -> Run:
    """Return what shows a text on a page and in a report."""
    def tags_of(text: str) -> list[str]:
        page = ReportPage(text)
        page.table([text], [[text]])
        page.text(text, text)
        return Tags(page.html()).found
    plain = tags_of('plain')

    def run(data: bytes) -> bool:
        text = data.decode(errors='replace')
        shown = as_text(text)
        if MARKS.search(shown):
            raise PropertyError(f'expected no mark, got {shown!r} of {text!r}')
        back = unescape(shown).replace('\N{WORD JOINER}', '')
        if len(text) < LONGEST and back != spelled(text).strip():
            raise PropertyError(f'expected the text, got {back!r} of {text!r}')
        if tags_of(text) != plain:
            raise PropertyError(f'expected no tag of a text, got {text!r}')
        return True
    return run


def seeds() -> Iterator[bytes]:
    """Return texts that are code where a page takes them for markup."""
    yield b'<script>hacked=1</script>'
    yield b'![](http://a.example/b) [c](javascript:d) **e** `f` | g'
    yield b'1. a\n# b &lt; &#60; </style> " onload=c x="'


TARGET = Target(make, seeds)
