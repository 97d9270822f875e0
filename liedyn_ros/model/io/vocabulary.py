# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Elements and attributes of URDF and SDF: read, without effect on the dynamics, or named."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element as XML

from liedyn_ros.common.checks import listed
from liedyn_ros.common.description import parse_number, abbreviate

_WORDS = Path(__file__).with_name('vocabulary.txt')
_OFF = '', 'false', 'none'
_FREE = 'param', 'plugin', 'hardware'  # of a block: each driver has its own words there
# Elements whose names a message says.
_OWNERS = 'link', 'joint', 'model', 'frame', 'robot', 'world', 'gazebo'
_NAMES = ('name', 'link', *(f'{kind}{i}' for kind in ('body', 'joint', 'site', 'tendon')
                            for i in (1, 2)))  # attributes that name parts of a machine


class Vocabulary:
    """
    The words of a format by the element that holds them, from vocabulary.txt, which explains them.

    Words of `read` are read or named elsewhere. Those of `quiet` have no effect on the dynamics,
    nor has what is in them. `block` has those that have none at any depth of an element, by their
    last part, small and without underscores. All others are named, with the `advice` for some.
    """

    def __init__(self, form: str) -> None:
        """Read the tables of a format."""
        self.read, self.quiet, self._block, advice = (_table(f'{form} {kind}') for kind in (
            'read', 'quiet', 'block', 'advice'))
        self._advice = {word: ' '.join(text) for word, text in advice.items()}

    def is_known(self, element: str, word: str, text: str = '') -> bool:
        """Return whether a word of an element, with a text, is in read or quiet."""
        words = (*self.read.get(element, ()), *self.quiet.get(element, ()))
        plain = 'true' if text == '1' else text.lower()
        return any(each in words for each in (
            word, f'{word.partition(":")[0]}:*', f'{word}={plain or "true"}'))

    def unread(self, *roots: XML) -> Iterator[str]:
        """Yield a warning for words in no table that are not off, with the owners of each."""
        found: dict[tuple[str, str, str, str], list[str]] = {}
        for root in roots:
            self._visit(root, ('', ''), found)
        groups: dict[tuple[str, str, tuple[str, ...]], list[tuple[str, str]]] = {}
        for (owner, element, word, named), names in found.items():
            groups.setdefault((owner, element, tuple(dict.fromkeys(names))), []).append(
                (word, named))
        for (owner, element, owners), words in groups.items():
            place = '' if element == owner else f' of {element}'
            what = [f'{word}{named}' for word, named in words]
            keys = ((f'{element}/{word}', word, f'{word.partition(":")[0]}:*', element)
                    for word, _ in words)
            advice = dict.fromkeys(text for each in keys if (text := next(
                (self._advice[key] for key in each if key in self._advice), '')))
            yield (f'{owner}s {listed(owners)}: {what[0] if len(what) == 1 else listed(what)}'
                   f'{place} not read' + ''.join(f': {each}' for each in advice))

    def _visit(self, xml: XML, owner: tuple[str, str],
               found: dict[tuple[str, str, str, str], list[str]]) -> None:
        tag = plain(xml.tag)
        if tag in _OWNERS:
            owner = tag, said(xml, 'name' if 'name' in xml.attrib else 'reference')
        inside = {plain(inner.tag) for inner in xml}
        for key, text in xml.attrib.items():
            if not (is_off(text) or plain(key) in inside or self.is_known(
                    tag, f'@{plain(key)}', text)):
                found.setdefault((owner[0], tag, plain(key), ''), []).append(owner[1])
        for inner in xml:
            word, text = plain(inner.tag), (inner.text or '').strip()
            if word in self._block:
                for i, each in enumerate(dict.fromkeys(_beyond(inner, self._block[word]))):
                    found.setdefault((word, word, each, '' if i else _named(inner)), []).append(
                        said(inner))
            elif word in self.read.get(tag, ()):
                if word in self.read:
                    self._visit(inner, owner, found)
            elif not self.is_known(tag, word, text) and _is_on(inner, f'{word}=true' in
                                                               self.quiet.get(tag, ())):
                found.setdefault((owner[0], tag, word, _named(inner)), []).append(owner[1])


def _table(section: str) -> dict[str, tuple[str, ...]]:
    """Return the lines `element: word word` of a section; indented lines go on."""
    _, begin, text = _WORDS.read_text(encoding='utf-8').partition(f'[{section}]\n')
    lines = text.partition('\n[')[0].strip().replace('\n    ', ' ').splitlines() if begin else []
    return {element: tuple(words.split()) for element, _, words in (
        line.partition(':') for line in lines)}


def _beyond(xml: XML, words: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of attributes and elements at any depth that are on and not in words."""
    for key, text in xml.attrib.items():
        if _bare(key) not in words and not is_off(text):
            yield plain(key)
    for inner in xml:
        if _bare(inner.tag) not in words:
            if _is_on(inner, False):
                yield plain(inner.tag)
        elif _bare(inner.tag) not in _FREE:
            yield from _beyond(inner, words)


def _bare(tag: str) -> str:
    return plain(tag).rpartition(':')[2].replace('_', '').lower()


def plain(tag: str) -> str:
    """Return a name; that of an address of Drake or Gazebo has its prefix, as in `drake:mimic`."""
    address, brace, name = tag.rpartition('}')
    prefix = next((each for each in ('drake', 'xacro', 'gazebo') if each in address),
                  address.strip('{').rpartition('/')[2])
    return f'{prefix}:{name}' if brace else name


def is_off(text: str | None) -> bool:
    """Return whether a text is not there, empty, false or the number zero."""
    given = (text or '').strip()
    return given.lower() in _OFF or parse_number(given) == 0.0


def _is_on(xml: XML, by_default: bool) -> bool:
    """Return whether an element says something: a text or attribute in it, or that it is there."""
    said = [each for part in xml.iter() for each in (*part.attrib.values(), part.text or '')
            if each.strip()]
    return by_default or not said or not all(map(is_off, said))


def said(xml: XML, attribute: str = 'name') -> str:
    """Return an attribute for a message, whatever it is."""
    return abbreviate(xml.get(attribute, 'without a name')).strip('\'"')


def _named(xml: XML) -> str:
    """Return the name of an element, and those of what it joins, for a message."""
    names = [each.get(key) for each in xml.iter() for key in _NAMES
             if each.get(key) and not (each is xml and key == 'name')]
    names += [text for side in ('parent', 'child')
              if (text := (xml.findtext(side) or '').strip())]
    return (f' {said(xml)}' if xml.get('name') else '') + (
        f' between {listed([str(name) for name in names])}' if names else '')
