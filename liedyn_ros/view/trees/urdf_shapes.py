# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The elements visual of a URDF: what the links of a robot look like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import DescriptionError, LiedynError
from liedyn_ros.common.resources import candidates
from liedyn_ros.common.xml_reader import Element, read
from liedyn_ros.model import Visual
from liedyn_ros.model.io.xml_parts import origin
from liedyn_ros.view_state import Description

DEFAULT_COLOR = (0.75, 0.77, 0.8, 1.0)  # of a shape that says no colour
MESHES = ('.stl', '.obj', '.dae', '.ply', '.glb', '.gltf')


class Mesh(NamedTuple):
    """A file of a mesh: scale (3,), placement (4, 4) in the body, color (4,) if there is one."""

    file: Path
    scale: Array
    placement: Array
    color: Array | None


Shape = Visual | Mesh


def shapes_of(description: Description | None) -> tuple[Mapping[str, list[Shape]], list[str]]:
    """
    Return the shapes of each link, and sentences on those that cannot be shown.

    A description without visuals, such as one of MJCF, has none.
    """
    if description is None:
        return {}, []
    robot = read(description.source, 'URDF')
    materials = {each.value.get('name'): each for each in robot.each('material')}
    shapes: dict[str, list[Shape]] = {}
    faults = []
    for link in robot.each('link'):
        for visual in link.each('visual'):
            try:
                shapes.setdefault(link.text('name'), []).append(
                    _shape(visual, materials, description.folder))
            except LiedynError as error:
                faults.append(str(error))
    return shapes, faults


def _shape(visual: Element, materials: Mapping[str | None, Element], folder: Path | None) -> Shape:
    color, placement = _color(visual, materials), origin(visual)
    geometry = visual.take('geometry')
    mesh = geometry.optional('mesh')
    if mesh is not None:
        with mesh.context():
            file = mesh_file(mesh.text('filename'), folder)
        return Mesh(file, np.array(mesh.numbers('scale', 3, (1.0, 1.0, 1.0))), placement, color)
    plain = DEFAULT_COLOR if color is None else color
    for name, attributes in (('box', ()), ('cylinder', ('radius', 'length')),
                             ('sphere', ('radius',))):
        shape = geometry.optional(name)
        if shape is not None:
            size = [shape.number(each) for each in attributes] or shape.numbers('size', 3)
            return Visual(name, size, placement, plain)
    return geometry.fail('a mesh, box, cylinder or sphere', 'another')


def _color(visual: Element, materials: Mapping[str | None, Element]) -> Array | None:
    material = visual.optional('material')
    if material is None:
        return None
    for each in (material, materials.get(material.value.get('name'))):
        color = None if each is None else each.optional('color')
        if color is not None:
            return np.clip(color.numbers('rgba', 4), 0.0, 1.0)
    return None


def mesh_file(uri: str, folder: Path | None) -> Path:
    """
    Return the file that a URDF names, by a path, a file:// or a package:// address.

    A package is looked for among those of ROS, and around the folder of the description. Raises
    DescriptionError naming where the file was looked for.
    """
    if Path(uri).suffix.lower() not in MESHES:
        raise DescriptionError(f'expected a mesh of {" ".join(MESHES)}, got {uri!r}')
    tried = list(candidates(uri, folder))
    for place in tried:
        if place.is_file():
            return place
    raise DescriptionError(f'expected the file {uri!r}, found it nowhere; looked at '
                           f'{listed([str(each) for each in tried])}')
