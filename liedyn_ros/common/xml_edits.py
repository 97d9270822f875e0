# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Edits of a document's text in place: what is not edited stays as it was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import html
import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element as XML

from liedyn_ros.common.errors import DescriptionError

_QUOTED = r'"[^"]*"|\'[^\']*\''
_TOKEN = re.compile(  # a comment, a text, an instruction, a document type, or a tag
    r'<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!(?:[^>\[]|\[.*?\])*>'
    rf'|<(/?)([^\s/>]+)((?:[^>"\'/]|/(?!>)|{_QUOTED})*)(/?)>', re.DOTALL)


@dataclass
class Placed:
    """An element from begin to end in a text; its content ends at close."""

    tag: str
    name: str | None
    begin: int
    attributes: tuple[int, int] = 0, 0  # begin and end
    close: int = 0
    end: int = 0
    parts: list[Placed] = field(default_factory=list)

    def find(self, tag: str, name: str | None = None) -> Placed | None:
        """Return the first element of a tag in this one, and of a name unless that is None."""
        return next((each for each in self.parts
                     if each.tag == tag and name in (None, each.name)), None)


class Edits:
    """Edits of a well-formed document of so many elements, as a reader counts them."""

    def __init__(self, text: str, count: int) -> None:
        """Find the elements. Raises DescriptionError where a document type makes some."""
        self.text, top = text, Placed('', None, 0)
        self._edits, stack, found = list[tuple[int, int, str]](), [top], 0
        for token in _TOKEN.finditer(text):
            closing, tag, attributes, alone = token.groups()
            if tag and not closing:
                name = re.search(rf'(?:^|\s)name\s*=\s*({_QUOTED})', attributes)
                stack[-1].parts.append(Placed(
                    tag, html.unescape(name[1][1:-1]) if name else None, token.start(),
                    token.span(3)))
                stack.append(stack[-1].parts[-1])
                found += 1
            if (closing or alone) and len(stack) > 1:
                last = stack.pop()
                last.close, last.end = token.start(), token.end()
        if found != count or len(stack) > 1:
            raise DescriptionError(f'expected {count} elements to edit in place, found {found}: '
                                   'write out what the document type declares')
        self.root = top.parts[0]

    def put(self, parent: Placed, element: XML) -> None:
        """Write an element in place of the first of its tag in a parent, or at its end."""
        found = parent.find(element.tag)
        if found is not None:
            self._edits.append((found.begin, found.end, _lines(
                element, self._indentation(found.begin))))
            return
        before = self._indentation(parent.begin)
        inner = self._indentation(parent.parts[-1].begin) if parent.parts else (
            f'{before}  ' if before else '')
        new = f'{inner}{_lines(element, inner)}'
        if self.text[:parent.end].endswith('/>'):
            self._edits.append((parent.end - 2, parent.end, f'>{new}{before}</{parent.tag}>'))
        else:
            at = len(self.text[:parent.close].rstrip()) if inner else parent.close
            self._edits.append((at, at, new))

    def remove(self, found: Placed) -> None:
        """Leave an element out, with the line that it begins."""
        self._edits.append((found.begin - len(self._indentation(found.begin)), found.end, ''))

    def update(self, found: Placed, attributes: Mapping[str, str]) -> None:
        """Write attributes of an element, its others as they were."""
        begin, end = found.attributes
        new = self.text[begin:end]
        for key, value in attributes.items():
            new, count = re.subn(rf'(^|\s){key}\s*=\s*(?:{_QUOTED})', rf'\g<1>{key}="{value}"',
                                 new)
            new = new if count else f'{new.rstrip()} {key}="{value}"'
        self._edits.append((begin, end, new))

    def write(self, parent: Placed, tag: str, attributes: Mapping[str, str]) -> None:
        """Write attributes of the first element of a tag in a parent, or a new element."""
        found = parent.find(tag)
        if found is None:
            self.put(parent, XML(tag, dict(attributes)))
        else:
            self.update(found, attributes)

    def __str__(self) -> str:
        """Return the text with all edits."""
        parts, at = list[str](), 0
        for begin, end, new in sorted(self._edits):
            parts += [self.text[at:begin], new]
            at = end
        return ''.join([*parts, self.text[at:]])

    def _indentation(self, at: int) -> str:
        """Return a new line as far in as an element that begins one, or nothing."""
        line = self.text[self.text.rfind('\n', 0, at) + 1:at]
        return f'\n{line}' if not line.strip() and '\n' in self.text[:at] else ''


def _lines(element: XML, begin: str) -> str:
    """Return the text of an element whose lines begin so, or one line where they do not."""
    if begin:
        ElementTree.indent(element)
    return ElementTree.tostring(element, encoding='unicode').strip().replace('\n', begin)
