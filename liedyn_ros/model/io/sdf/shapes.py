# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Mass properties of the links of SDF, as given or, where they say auto, from their shapes."""

from importlib.util import find_spec
import math
from pathlib import Path

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.meshes import surfaces
from liedyn_ros.common.packages import candidates
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.io.sdf.nesting import is_true, pose_of, text_of
from liedyn_ros.model.io.xml_parts import inertia_in, MOMENTS, Remarks
from liedyn_ros.model.parts.inertia import SpatialInertia

DENSITY = 1000.0  # kg/m^3, by default
_MESHES = '.stl', '.obj', '.ply', '.glb', '.gltf', '.off'
Solid = tuple[float, Array, Array]  # volume (m^3), its centre (3,), second moments over density


def inertia_of(link: Element, folder: Path | None, strict: bool, remarks: Remarks
               ) -> SpatialInertia:
    """
    Return the inertia of a link; what a file does not say is 1 kg and 1 kg m^2, as in Gazebo.

    folder is that of the file, for meshes whose masses are computed.
    """
    inertial, name = link.optional('inertial'), link.text('name')
    if inertial is None:
        remarks.add('link', 'without an inertial, so of 1 kg and 1 kg m^2 as in Gazebo', name)
        return SpatialInertia(1.0, [0.0, 0.0, 0.0], np.eye(3))
    if is_true(inertial, 'auto'):
        return _computed(link, inertial, folder)
    inertia = inertial.optional('inertia')
    moments = [float(key[1] == key[2]) if inertia is None else inertia.number(
        key, float(key[1] == key[2])) for key in MOMENTS]
    relative, at = pose_of(inertial)
    if relative not in ('', name):
        inertial.fail(f'a pose in the frame of its link, {name}', repr(relative))
    return inertia_in(inertial, name, inertial.number('mass', 1.0), moments, at, strict, remarks)


def _computed(link: Element, inertial: Element, folder: Path | None) -> SpatialInertia:
    """
    Return the inertia of the solids of a link's collisions, each by its density.

    Where the inertial says a mass, all is scaled to it. Raises DescriptionError for a link without
    collisions with a volume, for shapes that are no solid, and for meshes that cannot be read.
    """
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    density = inertial.number('density', DENSITY)
    for collision in link.each('collision'):
        volume, center, moments = _solid(collision.take('geometry'), folder)
        weight = collision.number('density', density) * volume
        relative, placement = pose_of(collision)
        if relative not in ('', link.text('name')):
            collision.fail('a pose in the frame of its link, for an inertial that is auto',
                           repr(relative))
        turn, at = placement[:3, :3], placement[:3, :3] @ center + placement[:3, 3]
        mass += weight
        first += weight * at
        about = turn @ (weight / volume * moments) @ turn.T if volume else np.zeros((3, 3))
        second += about + weight * (at @ at * np.eye(3) - np.outer(at, at))
    if not mass > 0.0:
        link.fail('collisions with a volume, for an inertial that is auto', 'none')
    center = first / mass
    about = second - mass * (center @ center * np.eye(3) - np.outer(center, center))
    scale = inertial.number('mass', mass) / mass
    return SpatialInertia(scale * mass, center, scale * 0.5 * (about + about.T))


def _solid(geometry: Element, folder: Path | None) -> Solid:
    """Return the solid of a shape."""
    shape = next((Element(xml, f'/{xml.tag}', geometry) for xml in geometry.value), geometry)
    kind = shape.value.tag
    if kind == 'mesh':
        return _mesh(shape, folder)
    radius, length = (shape.number(tag, 1.0) for tag in ('radius', 'length'))
    if kind in ('box', 'ellipsoid', 'sphere'):
        size = np.array(3 * [radius] if kind == 'sphere' else shape.numbers(
            'size' if kind == 'box' else 'radii', 3, (1.0, 1.0, 1.0))) * (
                0.5 if kind == 'box' else 1.0)
        square = np.square(size)
        factor, part = (8.0, 3.0) if kind == 'box' else (4.0 * math.pi / 3.0, 5.0)
        volume = factor * float(np.prod(size))
        return volume, np.zeros(3), volume / part * np.diag(square.sum() - square)
    around, across = np.array((0.25, 0.25, 0.5)) * radius**2, np.array((1.0, 1.0, 0.0))
    column = math.pi * radius**2 * length
    if kind == 'cylinder':
        return column, np.zeros(3), column * np.diag(around + across * length**2 / 12.0)
    if kind == 'cone':  # its centre is at a quarter of the height
        volume = column / 3.0
        return volume, np.array((0.0, 0.0, -0.25 * length)), volume * np.diag(
            0.6 * around + across * 0.0375 * length**2)
    if kind == 'capsule':  # both halves of a ball, 3/8 of the radius beyond the ends
        ball = 4.0 * math.pi / 3.0 * radius**3
        ends = 0.4 * radius**2 + across * (0.25 * length**2 + 0.375 * radius * length)
        return column + ball, np.zeros(3), np.diag(
            column * (around + across * length**2 / 12.0) + ball * ends)
    return geometry.fail('a solid, for an inertial that is auto', repr(kind))


def _mesh(mesh: Element, folder: Path | None) -> Solid:
    """Return the solid in a closed surface, as trimesh has it."""
    if find_spec('trimesh') is None:
        mesh.fail(f'the package trimesh, as masses come from meshes: {remedy_of("meshes")}',
                  'none')
    import trimesh

    uri = text_of(mesh, 'uri')
    path = next((each for each in candidates(uri, folder) if each.is_file()), None)
    if path is None or path.suffix.lower() not in _MESHES:
        mesh.fail(f'a file of {" ".join(_MESHES)} beside the file or in a known package',
                  repr(uri))
    with mesh.context():
        corners = np.concatenate([each.corners[each.faces] for each in surfaces(path)])
    corners = corners * np.array(mesh.numbers('scale', 3, (1.0, 1.0, 1.0)))
    whole = trimesh.Trimesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    volume, center, moments = whole.volume, whole.center_mass, whole.moment_inertia
    if not volume > 0.0 or not np.isfinite(moments).all():
        mesh.fail('a mesh with a volume, its faces outwards', f'{volume:.6g} m^3')
    return float(volume), np.array(center), np.array(moments)
