# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Elements and attributes of URDF and SDF: read, without effect on the dynamics, or named."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element as XML

from liedyn_ros.common.checks import listed
from liedyn_ros.common.description import parse_number, short

_OFF = '', 'false', 'none'
# Elements whose names a message says.
_OWNERS = 'link', 'joint', 'model', 'frame', 'robot', 'world', 'gazebo'


class Vocabulary:
    """
    Tables of words by the element that holds them: `@name` is an attribute, others are elements.

    A table is a text of lines `element: word word`; indented lines go on. Words of `read` are read
    or named elsewhere. Those of `quiet` have no effect on the dynamics, nor has what is in them.
    """

    def __init__(self, read: str, quiet: str) -> None:
        """Parse the tables."""
        self.read, self.quiet = _parsed(read), _parsed(quiet)

    def is_known(self, element: str, word: str) -> bool:
        """Return whether a word of an element is in one of the tables; `drake:*` is any of it."""
        words = self.read.get(element, frozenset()) | self.quiet.get(element, frozenset())
        return word in words or f'{word.partition(":")[0]}:*' in words

    def unread(self, *roots: XML) -> Iterator[str]:
        """Yield a warning for words in no table that are not off, with the owners of each."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for root in roots:
            self._visit(root, ('', ''), found)
        groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
        for (owner, element, word), names in found.items():
            groups.setdefault((owner, element, tuple(dict.fromkeys(names))), []).append(word)
        for (owner, element, owners), words in groups.items():
            place = '' if element == owner else f' of {element}'
            what = words[0] if len(words) == 1 else listed(words)
            yield f'{owner}s {listed(owners)}: {what}{place} not read'

    def _visit(self, xml: XML, owner: tuple[str, str],
               found: dict[tuple[str, str, str], list[str]]) -> None:
        tag = _plain(xml.tag)
        if tag in _OWNERS:
            name = xml.get('name') or xml.get('reference') or 'without a name'
            owner = tag, short(name).strip('\'"')
        for key, text in xml.attrib.items():
            if not _is_off(text) and not self.is_known(tag, f'@{_plain(key)}'):
                found.setdefault((owner[0], tag, _plain(key)), []).append(owner[1])
        for inner in xml:
            word = _plain(inner.tag)
            if word in self.read.get(tag, ()):
                if word in self.read:
                    self._visit(inner, owner, found)
            elif not self.is_known(tag, word) and (
                    len(inner) or inner.attrib or not _is_off(inner.text or 'given')):
                found.setdefault((owner[0], tag, word), []).append(owner[1])


def _parsed(table: str) -> dict[str, frozenset[str]]:
    return {element: frozenset(words.split()) for element, _, words in (
        line.partition(':') for line in table.strip().replace('\n    ', ' ').splitlines())}


def _plain(tag: str) -> str:
    """Return a name; that of an address of Drake or Gazebo has its prefix, as in `drake:mimic`."""
    address, brace, name = tag.rpartition('}')
    prefix = next((each for each in ('drake', 'xacro', 'gazebo') if each in address),
                  address.strip('{').rpartition('/')[2])
    return f'{prefix}:{name}' if brace else name


def _is_off(text: str) -> bool:
    """Return whether a text is empty, false or the number zero."""
    return text.strip().lower() in _OFF or parse_number(text.strip()) == 0.0
