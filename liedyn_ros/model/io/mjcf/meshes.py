# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Volume and inertia of the meshes of MJCF; trimesh reads their files."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from pathlib import PurePosixPath
import struct
from typing import Any

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.lie import so3
from liedyn_ros.model.io.mjcf.document import Document
from liedyn_ros.model.io.mjcf.obj import first_object

_READER = f'the package trimesh, as masses come from meshes: {remedy_of("meshes")}'
_INERTIAS = 'legacy', 'exact', 'convex', 'shell'
_LARGEST = 1e9  # m: trimesh counts in 1e-8 m, in 64 bits
_FILES = '.stl', '.obj'
Solid = tuple[float, Array, Array]  # volume or area, its centre (3,), its inertia (3, 3) about it


def mesh_solid(document: Document, geom: Element) -> Solid:
    """
    Return volume (m^3), centre (m) and inertia over density (m^5) of the mesh of a shape.

    They are in the frame of its file. Its attribute inertia names the rule: `exact`, `convex` for
    its hull, `shell` for a thin one, whose area is returned, or MuJoCo's default `legacy`.
    """
    name = geom.text('mesh')
    asset = document.meshes.get(name)
    if asset is None:
        geom.fail(f'a mesh of {sorted(document.meshes)}', repr(name))
    rule = 'shell' if document.flag(geom, 'shellinertia', False) else asset.value.get(
        'inertia', _INERTIAS[0])
    if rule not in _INERTIAS:
        asset.fail(f'an inertia of {list(_INERTIAS)}', repr(rule))
    corners = _corners(document, asset, rule)
    corners = corners - np.array(asset.numbers('refpos', 3, (0.0, 0.0, 0.0)))
    turn = np.array(asset.numbers('refquat', 4, (1.0, 0.0, 0.0, 0.0)))
    if not turn.any():
        asset.fail('a quaternion other than zero as refquat', 'zero')
    corners = corners @ so3.from_quaternion(np.roll(turn / np.linalg.norm(turn), -1))
    corners = corners * np.array(asset.numbers('scale', 3, (1.0, 1.0, 1.0)))
    with asset.context():
        return solid_of_triangles(corners, rule)


def solid_of_triangles(corners: Array, rule: str) -> Solid:
    """
    Return volume, centre and inertia of a surface, corners (n, 3, 3): triangle, corner, axis.

    Each triangle spans a tetrahedron with the mean point of the surface. `legacy` adds volumes
    without sign, which is too much where the surface is not convex; the others add them signed.
    """
    normal: Array = np.asarray(
        0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), dtype=float)
    area = np.linalg.norm(normal, axis=1)
    if not area.any():
        raise DescriptionError('expected a mesh with an area, got none')
    middle = area @ corners.mean(axis=1) / area.sum()
    edges = corners - middle
    weight, points = _weights(edges, normal, area, rule)
    center = weight @ edges.sum(axis=1) / (points * weight.sum())
    if rule == 'legacy':  # volumes without sign depend on the point: MuJoCo goes on from this one
        middle, center = middle + center, np.zeros(3)
    edges = corners - middle
    weight, points = _weights(edges, normal, area, rule)
    volume, total = float(weight.sum()), edges.sum(axis=1)
    second = (np.einsum('i,ikx,iky->xy', weight, edges, edges)
              + np.einsum('i,ix,iy->xy', weight, total, total)) / (points * (points + 1))
    second -= volume * np.outer(center, center)
    return volume, middle + center, np.trace(second) * np.eye(3) - second


def _weights(edges: Array, normal: Array, area: Array, rule: str) -> tuple[Array, int]:
    """Return the sizes (n,) that triangles span with the origin, and the corners of each."""
    if rule == 'shell':
        return area, 3
    weight = np.einsum('ij,ij->i', normal, edges[:, 0]) / 3.0
    if rule in ('legacy', 'convex'):  # a hull has its middle inside
        weight = abs(weight)
    if not weight.sum() > 0.0:
        raise DescriptionError(f'expected a mesh of a volume above 0, got {weight.sum():.6g} m^3: '
                               'its faces must have their outside outwards')
    return weight, 4


def _corners(document: Document, asset: Element, rule: str) -> Array:
    """Return the triangles (n, 3, 3) of a mesh as its file has them, of its hull if convex."""
    if 'builtin' in asset.value.attrib:
        asset.fail('a mesh of a file, or of vertices and faces, to take a mass from', 'a built-in')
    if find_spec('trimesh') is None:
        asset.fail(_READER, 'none')
    import trimesh

    if 'file' in asset.value.attrib:
        name = asset.text('file')
        kind = PurePosixPath(name).suffix.lower()
        if kind not in _FILES:
            asset.fail(f'a file {" or ".join(_FILES)} to take a mass from', repr(name))
        content = document.read_mesh(asset)
        try:
            mesh = _obj(asset, content, rule) if kind == '.obj' else trimesh.load(
                BytesIO(content), kind[1:], force='mesh')
        except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError,
                struct.error) as error:
            asset.fail(f'a mesh in {name}', f'{type(error).__name__}: {error}')
    else:
        vertices = _triples(asset, 'vertex')
        mesh = _hull(asset, vertices) if 'face' not in asset.value.attrib else (
            trimesh.Trimesh(vertices, _faces(asset, len(vertices))))
    if not len(mesh.faces) or not (abs(mesh.triangles) < _LARGEST).all():
        asset.fail(f'a mesh of triangles with coordinates below {_LARGEST:g} m',
                   f'{len(mesh.faces)} triangles')
    if rule == 'exact' and not (mesh.is_watertight and mesh.is_winding_consistent):
        asset.fail('a closed surface whose faces turn one way, for inertia exact', 'another')
    return np.array((_hull(asset, mesh.vertices) if rule == 'convex' else mesh).triangles)


def _obj(asset: Element, content: bytes, rule: str) -> Any:
    """Return the mesh of a file .obj, of its hull if convex: that is one of all its corners."""
    import trimesh

    corners, faces = first_object(content)
    return _hull(asset, corners) if rule == 'convex' else trimesh.Trimesh(corners, faces)


def _hull(asset: Element, vertices: Array) -> Any:
    """Return the convex hull of points (n, 3) as a mesh of trimesh."""
    import trimesh

    try:
        return trimesh.convex.convex_hull(vertices)
    except (RuntimeError, ValueError) as error:  # QhullError is one of both, by scipy's version
        asset.fail('points that span a volume, for a convex hull', str(error).split('\n')[0])


def _faces(asset: Element, count: int) -> Array:
    faces = _triples(asset, 'face')
    if (faces != faces.round()).any() or faces.min() < 0.0 or faces.max() >= count:
        asset.fail(f'numbers of vertices, 0 to {count - 1}, as face', 'others')
    return faces.astype(int)


def _triples(asset: Element, attribute: str) -> Array:
    """Return an attribute as rows (n, 3), n at least 1."""
    count = len(asset.value.get(attribute, '').split())
    if count == 0 or count % 3:
        asset.fail(f'triples of numbers as {attribute}', f'{count} numbers')
    return np.array(asset.numbers(attribute, count)).reshape(-1, 3)
