# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The document of an MJCF file: its text with all that it includes, and files that it names."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
from xml.etree import ElementTree

from liedyn_ros.common.description import parse_number
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.common.xml_reader import Element, is_document, MAX_NODES, read

MAX_FILES = 1000  # that a document includes or names
MAX_TOTAL = 2**29  # bytes of all files
MAX_DEPTH = 200  # of elements in each other, which MuJoCo reads by recursion
_COUNTS = 'count', 'params', 'cellcount'  # of elements that make others
_IDLE = 'size', 'custom', 'sensor', 'visual', 'statistic'  # of the root; some take memory
_SIZES = 'actdim', 'nsample'  # of an actuator
_LOOKS = {'texture', 'skin', 'hfield'}


class Document:
    """
    An MJCF document: one element mujoco, in which elements include are replaced.

    MuJoCo opens no file by itself: includes, models that others attach, and meshes come through
    here. They must be in the folder of the file or in the one that holds it. Pictures are left
    out.
    """

    def __init__(self, source: str | os.PathLike[str]) -> None:
        """Read the files of XML. Raises DescriptionError."""
        self.root = read(source, 'MJCF')
        if self.root.value.tag != 'mujoco':
            self.root.fail('a root element mujoco', self.root.value.tag)
        self.name = self.root.path.removesuffix(': mujoco')
        self._folders = [] if is_document(source) else [Path(source).absolute().parent]
        self._files, self._bytes, self._nodes = set[Path](), 0, 0
        self.models: dict[str, bytes] = {}  # files of models that are attached
        self._prepare(self.root, self._folders, 0)

    @property
    def text(self) -> str:
        """Return the text of the whole document."""
        return ElementTree.tostring(self.root.value, encoding='unicode')

    def read(self, name: str, folder: str = '') -> bytes:
        """Return the content of a file that the document names; folder is that of its kind."""
        return read_file(self._find(self.root, os.path.join(folder, name), name, self._folders))

    def _prepare(self, element: Element, folders: list[Path], depth: int, copies: int = 1) -> None:
        """Include files, refuse what grows beyond bounds, and leave out what is for the screen."""
        if depth > MAX_DEPTH:
            element.fail(f'at most {MAX_DEPTH} elements in each other', 'more')
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self.root.fail(f'at most {MAX_NODES} elements', 'more')
        content = []
        for xml in list(element.value):
            inner = Element(xml, f'/{xml.tag}', element)
            if xml.tag == 'include':
                path = self._find(inner, inner.text('file'), '', folders, once=True)
                root = read(path, 'MJCF')
                around = [*folders[:1], path.parent]
                self._folders += [path.parent]
                self._prepare(root, around, depth + 1, copies)
                content += list(root.value)
                continue
            made = copies * _copies(inner)
            if made > MAX_NODES:
                inner.fail(f'at most {MAX_NODES} elements made', 'more')
            if xml.tag == 'model' and 'file' in xml.attrib:
                self._attach(inner, folders, depth)
            elif xml.tag == 'flexcomp' and 'file' in xml.attrib:
                inner.fail('a flexcomp without a file', repr(xml.get('file')))
            elif any((parse_number(xml.get(key, '0')) or 0.0) > MAX_FILES for key in _SIZES):
                inner.fail(f'at most {MAX_FILES} as {" and ".join(_SIZES)}', 'more')
            elif xml.tag in _IDLE and element.value.tag == 'mujoco':
                continue
            elif xml.tag in _LOOKS and element.value.tag in ('asset', 'deformable'):
                content += _looks(xml)
                continue
            self._prepare(inner, folders, depth + 1, made)
            content.append(xml)
        element.value[:] = content

    def _attach(self, model: Element, folders: list[Path], depth: int) -> None:
        """Read a file of MJCF, or of URDF, whose model another attaches."""
        name = model.text('file')
        path = self._find(model, name, '', folders)
        if name in self.models:
            return
        root = read(path, 'MJCF')
        self._folders += [path.parent]
        self._prepare(root, [path.parent], depth + 1)
        self.models[name] = ElementTree.tostring(root.value)

    def _find(self, element: Element, name: str, beside: str, folders: list[Path],
              once: bool = False) -> Path:
        """
        Return the path of a file: in the document's folder, or else beside the one that names it.

        beside is its name there.
        """
        if not folders:
            element.fail('an MJCF file, not a text, where it names another', name)
        tried = [Path(os.path.normpath(place / each)) for place, each in (
            (folders[0], name), *((place, beside or name) for place in folders[1:]))]
        path = next((each for each in tried if each.exists()), tried[0])
        allowed = self._folders[0].parent
        if not path.is_relative_to(allowed):
            element.fail(f'a file in {allowed} or below (copy it there)', str(path))
        if once and path in self._files:
            element.fail('each file included once', name)
        if path not in self._files:
            self._files.add(path)
            self._bytes += path.stat().st_size if path.exists() else 0
        if len(self._files) > MAX_FILES or self._bytes > MAX_TOTAL:
            element.fail(f'at most {MAX_FILES} files of {MAX_TOTAL} bytes in all', 'more')
        return path


def _copies(element: Element) -> int:
    """Return how many elements one makes."""
    made = 1.0
    for key in _COUNTS:
        for text in element.value.get(key, '').split():
            made *= max(1.0, parse_number(text) or 1.0)
    return int(min(made, MAX_NODES + 1.0))


def _looks(xml: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Replace assets for the screen and for contacts, which need files, by the least."""
    name = xml.get('name') or Path(xml.get('file', '')).stem
    if name and xml.tag == 'texture':
        yield ElementTree.Element('texture', {
            'name': name, 'type': '2d', 'builtin': 'flat', 'width': '1', 'height': '1'})
    elif name and xml.tag == 'hfield':
        yield ElementTree.Element('hfield', {
            'name': name, 'nrow': '2', 'ncol': '2', 'size': xml.get('size', '1 1 1 1')})
