# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""XML read strictly: every element and attribute is asked for by type."""

from collections.abc import Callable, Iterator
import os
from pathlib import Path
import re
from typing import cast
from xml.etree import ElementTree
from xml.parsers import expat

from liedyn_ros.common.description import (
    abbreviate, is_name, no_garbage_collection, parse_number, Place)
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.untrusted_files import MAX_DESCRIPTION_BYTES, read_file

_INFINITE = {f'{sign}{word}': float(f'{sign}inf')
             for sign in ('', '+', '-') for word in ('inf', 'infinity')}
MAX_NODES = 500_000  # elements and attributes of a document; a large humanoid has some 20 000
_ENTITY = re.compile('&([^#;&\\s][^;&\\s]*);')
BYTE_ORDER_MARK = '\ufeff'  # which may stand before any text


class Element(Place):
    """An XML element; its value is the element of the standard library."""

    __slots__ = ()
    value: ElementTree.Element

    def each(self, tag: str) -> Iterator['Element']:
        """Return the elements of a tag."""
        for i, xml in enumerate(self.value.findall(tag)):
            yield Element(xml, f'/{tag}[{xml.get("name", i)}]', self)

    def take(self, tag: str) -> 'Element':
        """Return the element of a tag, which must be there."""
        found = self.optional(tag)
        return self.fail(f'an element {tag}', 'none') if found is None else found

    def optional(self, tag: str) -> 'Element | None':
        """Return the element of a tag, or None."""
        found = self.value.findall(tag)
        if len(found) > 1:
            self.fail(f'at most one element {tag}', str(len(found)))
        return Element(found[0], f'/{tag}', self) if found else None

    def text(self, attribute: str) -> str:
        """Return an attribute, which must be there, of one line and not empty."""
        value = self.value.get(attribute)
        if value is None or not is_name(value):
            self.fail(f'an attribute {attribute}', abbreviate(value))
        return value

    def version(self, default: str, newest: str = '', warn: Callable[[str], object] = str
                ) -> tuple[int, ...]:
        """Return two numbers of the attribute version, and warn of those beyond the newest."""
        text = self.value.get('version', default)
        numbers = text.strip().split('.')
        if not all(number.isdecimal() and len(number) < 5 for number in numbers):
            self.fail(f'a version such as {default}', repr(text))
        version = tuple(map(int, numbers[:2]))
        if newest and version > tuple(map(int, newest.split('.'))):
            warn(f'version {text}: read as {newest}, the newest known here')
        return version

    def number(self, attribute: str, default: float | None = None, *, infinite: bool = False
               ) -> float:
        """Return an attribute as one finite number, or as an infinite one where these are."""
        text = self.value.get(attribute)
        if infinite and text is not None and text.strip().lower() in _INFINITE:
            return _INFINITE[text.strip().lower()]
        if text is None:
            if default is not None:
                return default
        elif (value := parse_number(text)) is not None:
            return value
        return self.numbers(attribute, 1)[0]

    def numbers(self, attribute: str, count: int,
                default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return an attribute as finite numbers."""
        text = self.value.get(attribute)
        if text is None:
            if default is not None:
                return default
            self.fail(f'an attribute {attribute}', 'none')
        values = tuple(map(parse_number, text.split(maxsplit=count)))
        if len(values) != count or None in values:
            self.fail(f'{count} finite number{"s" * (count > 1)} as {attribute}', abbreviate(text))
        return cast(tuple[float, ...], values)


class _Builder(ElementTree.TreeBuilder):
    """
    Builds the tree; refuses too many elements and attributes before they take memory.

    A name may have a prefix, as in `drake:mimic`, which need not be declared, as in the libraries
    of URDF, SDF and MJCF. One for an address of Drake, Gazebo or xacro is that word. Names of a
    default namespace, of xmlns="...", are as without it.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._count, self._prefixes = name, 0, dict[str, str]()

    def _own(self, tag: str) -> str:
        prefix, colon, name = tag.partition(':')
        return f'{self._prefixes.get(prefix, prefix)}:{name}' if colon else tag

    def end(self, tag: str, /) -> ElementTree.Element:
        """End an element."""
        return super().end(self._own(tag))

    def start(self, tag: str, attributes: dict[str, str], /) -> ElementTree.Element:
        """Begin an element."""
        self._count += 1 + len(attributes)
        if self._count > MAX_NODES:
            raise DescriptionError(f'{self._name}: expected at most {MAX_NODES} elements and '
                                   'attributes, got more')
        names = f'{tag} {" ".join(attributes)}'
        if ':' not in names and 'xmlns' not in attributes:  # nearly all
            return super().start(tag, attributes)
        for key in [key for key in attributes if key == 'xmlns' or key.startswith('xmlns:')]:
            address, prefix = attributes.pop(key), key.partition(':')[2]
            self._prefixes[prefix] = next((each for each in (
                'drake', 'xacro', 'gazebo') if each in address), prefix)
        return super().start(self._own(tag), {
            self._own(key): text for key, text in attributes.items()})


def read(source: str | os.PathLike[str], kind: str, *tags: str) -> Element:
    """
    Return the root of an XML file, or of a text that starts with '<'; paths begin with its name.

    Blank lines before the declaration, as a text in triple quotes has, are skipped. Comments with
    two hyphens in them are read, as other libraries do. kind names the format in messages, tags
    those that its root may have; any where none are given. Raises DescriptionError, with line and
    column where the source is no XML.
    """
    name, content = _content(source, kind)
    try:
        with no_garbage_collection():
            try:
                root = _parsed(name, content)
            except expat.ExpatError:
                text = _without_comments(_plain(content))
                root = _parsed(name, text if isinstance(content, str) else text.encode('latin-1'))
    except DescriptionError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # or of its encoding
        raise DescriptionError(f'{name}: expected well-formed XML, got {error}') from error
    found = Element(root, f'{name}: {root.tag}')
    return found if root.tag in (tags or root.tag) else found.fail(
        f'a root element {tags[0]}', root.tag)


def _parsed(name: str, content: str | bytes) -> ElementTree.Element:
    """Return the root of a document; ElementTree's own parser asks for declared prefixes."""
    def skipped(entity: str, is_parameter: bool) -> None:
        raise ValueError(f'undefined entity {entity}')

    def declare(entity: str, is_parameter: bool, *_: object) -> None:
        (elsewhere if is_parameter else declared).add(entity)

    def is_not_alone() -> int:
        elsewhere.add('')
        return 1

    parser, builder = expat.ParserCreate(), _Builder(name)
    declared, elsewhere = {'amp', 'lt', 'gt', 'apos', 'quot'}, set[str]()
    parser.buffer_text = True
    parser.EntityDeclHandler, parser.NotStandaloneHandler = declare, is_not_alone
    parser.ExternalEntityRefHandler = lambda *_: 0  # an error: no other file is opened
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler, parser.SkippedEntityHandler = builder.data, skipped
    parser.Parse(content, True)
    if elsewhere:  # declarations that are not read: expat drops their entities in attributes
        text = _without_comments(_plain(content))
        for entity in _ENTITY.findall(text.replace('\0', '')):  # of UTF-16
            if entity not in declared:
                skipped(entity, False)
    return builder.close()


def _plain(content: str | bytes) -> str:
    """Return a document as a text, in which letters beyond ASCII may be others."""
    return content if isinstance(content, str) else content.decode('latin-1')


def _without_comments(text: str) -> str:
    """Return a document in which comments are as many empty lines."""
    parts, at = list[str](), 0
    while (begin := text.find('<!--', at)) >= 0 and (end := text.find('-->', begin + 4)) >= 0:
        parts += [text[at:begin], '\n' * text.count('\n', begin, end)]
        at = end + 3
    return ''.join([*parts, text[at:]])


def text_of(path: Path) -> str:
    """Return the text of an XML file, in the encoding that it says. Raises DescriptionError."""
    try:
        return read_file(path).decode('utf-8-sig')
    except UnicodeDecodeError:
        return ElementTree.tostring(with_prefixes(read(path, 'XML').value), encoding='unicode')


def with_prefixes(root: ElementTree.Element) -> ElementTree.Element:
    """Return a root that declares all prefixes in it, as strict readers ask for."""
    names = {name for xml in root.iter() for name in (xml.tag, *xml.attrib) if ':' in name}
    root.attrib |= {f'xmlns:{prefix}': prefix for prefix in sorted({
        name.partition(':')[0] for name in names} - {'xml'})}  # which is always declared
    return root


def is_document(source: object) -> bool:
    """Return whether a source is the text of a document, not the path of one."""
    return (isinstance(source, str)
            and source.removeprefix(BYTE_ORDER_MARK).lstrip().startswith('<'))


def _content(source: str | os.PathLike[str], kind: str) -> tuple[str, str | bytes]:
    """Return a name for messages and the text of the document."""
    if is_document(source):
        text = str(source).removeprefix(BYTE_ORDER_MARK)
        if len(text) > MAX_DESCRIPTION_BYTES:
            raise DescriptionError(f'{kind} text: expected at most {MAX_DESCRIPTION_BYTES} '
                                   f'characters, '
                                   f'got {len(text)}')
        return f'{kind} text', text.lstrip()
    if not isinstance(source, (str, os.PathLike)) or not str(source).strip():
        raise DescriptionError(
            f"{kind}: expected a path or a text that starts with '<', got {abbreviate(source)}")
    name = str(source) if str(source).isprintable() else repr(str(source))
    try:
        return name, read_file(source).removeprefix(BYTE_ORDER_MARK.encode()).lstrip()
    except DescriptionError as error:
        raise DescriptionError(f'{name}: {error}') from error
