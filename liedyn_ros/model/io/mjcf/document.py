# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The document of an MJCF file: included files, classes of defaults, settings of the compiler."""

from __future__ import annotations

from collections.abc import Iterator
import math
import os
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.xml_reader import Element, read
from liedyn_ros.lie import so3
from liedyn_ros.model.parts.geometry import axis_frame, perpendicular, unit_axis

MAX_FILES = 100  # that a document includes
MAX_DEPTH = 200  # of bodies, frames and classes in each other
_TURNS = 'quat', 'axisangle', 'euler', 'xyaxes', 'zaxis'
_TRUTHS = {'true': True, 'false': False}


class Document:
    """
    An MJCF document with all that it includes.

    root is its element mujoco. Attributes come from an element, else from its class of defaults,
    else from the class around it (childclass), else from the main class.
    """

    def __init__(self, source: str | os.PathLike[str]) -> None:
        """Read the files. Raises DescriptionError."""
        self.root = read(source, 'MJCF')
        if self.root.value.tag != 'mujoco':
            self.root.fail('a root element mujoco', self.root.value.tag)
        is_text = isinstance(source, str) and source.lstrip().startswith(('<', '\ufeff'))
        self._folder = None if is_text else Path(source).parent
        self._included: set[Path] = set()
        self._beside: dict[ElementTree.Element, Path] = {}  # folders of meshes of included files
        self._include(self.root, self._folder)
        compiler: dict[str, str] = {}
        for each in self.root.each('compiler'):
            compiler |= each.value.attrib
        self.compiler = Element(ElementTree.Element('compiler', compiler), '/compiler', self.root)
        self._in_degrees = compiler.get('angle', 'degree') == 'degree'
        self._sequence = compiler.get('eulerseq', 'xyz')
        if len(self._sequence) != 3 or set(self._sequence) - set('xyzXYZ'):
            self.compiler.fail('three of x, y, z, X, Y, Z as eulerseq', repr(self._sequence))
        self._classes: dict[str, dict[str, dict[str, str]]] = {'main': {}}
        for each in self.root.each('default'):
            self._add_class(each, 'main', {}, 0)
        own = {_asset_name(each): each for group in self.root.each('asset')
               for each in group.each('mesh')}
        self.meshes = {name: self.with_defaults(each, None) for name, each in own.items()}
        self._folders = {name: self._beside.get(each.value) for name, each in own.items()}

    def read_mesh(self, mesh: Element) -> bytes:
        """Return the content of the file of a mesh."""
        compiler, file = self.compiler.value, Path(mesh.text('file'))
        if self.flag(self.compiler, 'strippath', False):
            file = Path(file.name)
        folder = Path(compiler.get('meshdir', compiler.get('assetdir', '')))
        if self._folder is None and not (folder / file).is_absolute():
            mesh.fail('an MJCF file, not a text, where masses come from files of meshes',
                      str(file))
        path = (self._folder or Path()) / folder / file
        beside = self._folders.get(_asset_name(mesh))
        if beside is not None and not path.exists():
            path = beside / file
        with mesh.context():
            try:
                return read_file(path)
            except DescriptionError as error:
                raise DescriptionError(f'{path}: {error}') from error

    def flag(self, element: Element, attribute: str, default: bool) -> bool:
        """Return an attribute true or false."""
        text = element.value.get(attribute)
        if text is None:
            return default
        if text not in _TRUTHS:
            element.fail(f'true or false as {attribute}', repr(text))
        return _TRUTHS[text]

    def angle(self, value: float) -> float:
        """Return an angle of the document in rad."""
        return math.radians(value) if self._in_degrees else value

    def with_defaults(self, element: Element, around: str | None, kind: str | None = None
                      ) -> Element:
        """
        Return an element with the attributes of its class; around is the class around it.

        kind is the tag of its defaults where that is not its own.
        """
        name = element.value.get('class', around or 'main')
        if name not in self._classes:
            element.fail(f'a class of {sorted(self._classes)}', repr(name))
        inherited = self._classes[name].get(kind or element.value.tag, {})
        own = element.value.attrib
        if any(turn in own for turn in _TURNS):
            inherited = {key: text for key, text in inherited.items() if key not in _TURNS}
        return Element(ElementTree.Element(element.value.tag, {**inherited, **own}), '', element)

    def placement(self, element: Element) -> Array:
        """Return the pose (4, 4) that an element's attributes of place and turn say."""
        pose = np.eye(4)
        pose[:3, 3] = element.numbers('pos', 3, (0.0, 0.0, 0.0))
        pose[:3, :3] = self.rotation(element)
        return pose

    def rotation(self, element: Element) -> Array:
        """Return the rotation of an element (3, 3), by default the identity."""
        given = [turn for turn in _TURNS if turn in element.value.attrib]
        if len(given) > 1:
            element.fail(f'one of {list(_TURNS)}', str(given))
        with element.context():
            if not given:
                return np.eye(3)
            if given == ['quat']:
                quaternion = np.array(element.numbers('quat', 4))
                if not quaternion.any():
                    element.fail('a quaternion other than zero', 'zero')
                return so3.from_quaternion(np.roll(quaternion / np.linalg.norm(quaternion), -1))
            if given == ['axisangle']:
                *along, angle = element.numbers('axisangle', 4)
                return so3.exp(self.angle(angle) * unit_axis('axisangle', along))
            if given == ['zaxis']:
                axis = unit_axis('zaxis', element.numbers('zaxis', 3))
                return axis_frame(axis, perpendicular(axis))
            if given == ['xyaxes']:
                return _of_axes(np.array(element.numbers('xyaxes', 6)))
            return self._euler(element.numbers('euler', 3))

    def _euler(self, angles: tuple[float, ...]) -> Array:
        """Return the turns of eulerseq: about moved axes where lower case, fixed where upper."""
        rotation = np.eye(3)
        for letter, angle in zip(self._sequence, angles):
            turn = so3.exp(self.angle(angle) * np.eye(3)['xyz'.index(letter.lower())])
            rotation = rotation @ turn if letter.islower() else turn @ rotation
        return rotation

    def _include(self, element: Element, folder: Path | None, depth: int = 0) -> None:
        """Replace elements include by the content of their files; folder is the element's."""
        if depth > MAX_DEPTH:
            element.fail(f'at most {MAX_DEPTH} elements in each other', 'more')
        content = []
        for xml in list(element.value):
            inner = Element(xml, f'/{xml.tag}', element)
            if xml.tag != 'include':
                self._include(inner, folder, depth + 1)
                content.append(xml)
                continue
            path = self._file(inner, folder)
            root = read(path, 'MJCF')
            self._include(root, path.parent, depth + 1)
            for mesh in root.value.iter('mesh'):
                self._beside.setdefault(mesh, path.parent)
            content += list(root.value)
        element.value[:] = content

    def _file(self, include: Element, folder: Path | None) -> Path:
        """Return the file beside the whole machine's, or else beside the one that includes it."""
        name = include.text('file')
        if self._folder is None or folder is None:
            include.fail('a file, not a text, where another is included', name)
        path = (self._folder / name).resolve()
        if not path.exists():
            path = (folder / name).resolve()
        if path in self._included or len(self._included) >= MAX_FILES:
            include.fail(f'each file once, and at most {MAX_FILES}', name)
        self._included.add(path)
        return path

    def _add_class(self, element: Element, name: str, above: dict[str, dict[str, str]],
                   depth: int) -> None:
        """Add a class of defaults and the classes in it, which inherit its settings."""
        if depth > MAX_DEPTH:
            element.fail(f'at most {MAX_DEPTH} classes in each other', 'more')
        name = element.value.get('class', name) if depth == 0 else element.text('class')
        settings = self._classes.setdefault(name, {})
        for tag, values in above.items():
            settings[tag] = {**values, **settings.get(tag, {})}
        for xml in element.value:
            if xml.tag != 'default':
                settings[xml.tag] = {**settings.get(xml.tag, {}), **xml.attrib}
        for inner in element.each('default'):
            self._add_class(inner, name, settings, depth + 1)


def _asset_name(asset: Element) -> str:
    """Return the name of a mesh, by default that of its file."""
    name = asset.value.get('name')
    return name if name else Path(asset.text('file')).stem


def _of_axes(numbers: Array) -> Array:
    """Return the rotation of an x axis and a y axis, the second made perpendicular."""
    x = unit_axis('xyaxes', numbers[:3])
    y = unit_axis('xyaxes', numbers[3:] - (numbers[3:] @ x) * x)
    return np.column_stack((x, y, np.cross(x, y)))


def moving_content(element: Element) -> Iterator[Element]:
    """Return the elements in an element, in their order."""
    for i, xml in enumerate(element.value):
        yield Element(xml, f'/{xml.tag}[{xml.get("name", i)}]', element)
