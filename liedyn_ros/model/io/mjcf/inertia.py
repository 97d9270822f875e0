# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Mass properties of MJCF: those of an element inertial, or of the shapes of a body."""

from __future__ import annotations

import math

import numpy as np

from liedyn_ros.common.checks import Array, require_finite
from liedyn_ros.common.errors import InertiaError
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.io.mjcf.document import Document
from liedyn_ros.model.io.mjcf.meshes import mesh_solid
from liedyn_ros.model.parts.geometry import axis_frame, perpendicular, unit_axis
from liedyn_ros.model.parts.inertia import SpatialInertia, stacked_parameters, unphysical

_FULL = 'fullinertia'  # xx, yy, zz, xy, xz, yz
_SIZES = {'sphere': 1, 'capsule': 2, 'cylinder': 2, 'ellipsoid': 3, 'box': 3}
_WITHOUT_VOLUME = 'plane', 'hfield'
_DENSITY = 1000.0  # kg/m^3, MuJoCo's default


def given_inertia(document: Document, inertial: Element, strict: bool
                  ) -> tuple[SpatialInertia | None, str | None]:
    """Return the inertia of an element inertial, and the fault of one that no rigid body has."""
    mass, frame = inertial.number('mass'), document.placement(inertial)
    if _FULL in inertial.value.attrib:
        xx, yy, zz, xy, xz, yz = inertial.numbers(_FULL, 6)
        inertia = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    else:
        inertia = np.diag(inertial.numbers('diaginertia', 3, (0.0, 0.0, 0.0)))
    mass, inertia = _bounded(document, mass, inertia)
    if mass == 0.0 and not inertia.any():
        return None, None
    inertia = frame[:3, :3] @ inertia @ frame[:3, :3].T
    inertia = 0.5 * inertia + 0.5 * inertia.T
    with inertial.context():
        require_finite('inertia', inertia)
        fault = unphysical(mass, inertia)
        if fault is not None and (strict or mass < 0.0):
            raise InertiaError(fault)
        body = SpatialInertia(mass, frame[:3, 3], inertia, physical=False)
    return body, None if fault is None else fault.partition(', got')[0]


class Shapes:
    """The shapes of one body, whose masses add up."""

    def __init__(self) -> None:
        """Start without a shape."""
        self._inertias: list[SpatialInertia] = []
        self._poses: list[Array] = []

    def add(self, document: Document, geom: Element, around: Array) -> None:
        """Add an element geom, with its defaults; around is the pose of the frame around it."""
        low, high = (int(each) for each in document.compiler.numbers(
            'inertiagrouprange', 2, (0.0, 5.0)))
        if not low <= geom.number('group', 0.0) <= high:
            return
        kind = geom.value.get('type', 'sphere')
        mass = geom.number('mass') if 'mass' in geom.value.attrib else None
        density = geom.number('density', _DENSITY)
        if kind in _WITHOUT_VOLUME or (density if mass is None else mass) == 0.0:
            return
        center: Array
        if kind == 'mesh':
            size, center, inertia = mesh_solid(document, geom)
            pose = document.placement(geom)
        else:
            _require_solid(document, geom, kind)
            sizes, pose = _size_and_pose(document, geom, kind)
            size, moments = solid(kind, sizes)
            center, inertia = np.zeros(3), size * np.diag(moments)
        if size <= 0.0:
            geom.fail('a shape of a volume above 0 m^3', str(size))
        mass = density * size if mass is None else mass
        with geom.context():
            self._inertias.append(SpatialInertia(mass, center, mass / size * inertia))
        self._poses.append(around @ pose)

    def total(self, document: Document) -> SpatialInertia | None:
        """Return the inertia of all shapes, within the compiler's bounds, or None for no mass."""
        if not self._inertias:
            mass, about = _bounded(document, 0.0, np.zeros((3, 3)))
            return None if mass == 0.0 and not about.any() else SpatialInertia(
                mass, np.zeros(3), about, physical=False)
        mass, x, y, z, xx, xy, xz, yy, yz, zz = stacked_parameters(
            self._inertias, np.array(self._poses)).sum(axis=0)
        center = np.array((x, y, z)) / mass
        about = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        about -= mass * (center @ center * np.eye(3) - np.outer(center, center))
        mass, about = _bounded(document, mass, about)
        return SpatialInertia(mass, center, about, physical=False)


def _bounded(document: Document, mass: float, inertia: Array) -> tuple[float, Array]:
    """Return mass and inertia (3, 3) as boundmass, boundinertia and balanceinertia change them."""
    compiler = document.compiler
    least, balance = (compiler.number('boundinertia', 0.0),
                      document.flag(compiler, 'balanceinertia', False))
    if (least > 0.0 or balance) and np.isfinite(inertia).all():
        moments, axes = np.linalg.eigh(0.5 * inertia + 0.5 * inertia.T)
        if moments[0] < least:
            inertia = axes @ np.diag(np.maximum(moments, least)) @ axes.T
            moments = np.maximum(moments, least)
        if balance and moments[0] + moments[1] < moments[2]:
            inertia = moments.mean() * np.eye(3)
    return max(mass, compiler.number('boundmass', 0.0)), inertia


def _require_solid(document: Document, geom: Element, kind: str) -> None:
    """Refuse shapes whose masses are not read."""
    if kind not in _SIZES:
        geom.fail(f'an element inertial in its body, or a shape of {sorted((*_SIZES, "mesh"))}',
                  repr(kind))
    if 'mesh' in geom.value.attrib and document.flag(document.compiler, 'fitaabb', False):
        geom.fail('an element inertial in its body, or a shape with sizes of its own',
                  f'a {kind} fitted to the bounds of the mesh {geom.value.get("mesh")}')
    if document.flag(geom, 'shellinertia', False):
        geom.fail('an element inertial in its body, or a shape that is solid', 'a shell')


def _size_and_pose(document: Document, geom: Element, kind: str) -> tuple[list[float], Array]:
    """Return the sizes of a shape and its pose in the frame around it."""
    if 'mesh' in geom.value.attrib:
        return _fitted(document, geom, kind)
    count = _SIZES[kind]
    if 'fromto' not in geom.value.attrib or kind == 'sphere':
        size = _sizes(geom, count)
        return size, document.placement(geom)
    ends = np.array(geom.numbers('fromto', 6))
    start, end = ends[:3], ends[3:]
    pose = np.eye(4)
    with geom.context():
        axis = unit_axis('fromto', start - end)
    pose[:3, :3], pose[:3, 3] = axis_frame(axis, perpendicular(axis)), 0.5 * (start + end)
    radius, half = _sizes(geom, 1)[0], 0.5 * float(np.linalg.norm(end - start))
    return [radius, half] if count == 2 else [radius, radius, half], pose


def _fitted(document: Document, geom: Element, kind: str) -> tuple[list[float], Array]:
    """Return size and pose by the box that has the inertia of a mesh, as MuJoCo fits shapes."""
    volume, center, inertia = mesh_solid(document, geom)
    moments, axes = np.linalg.eigh(inertia / volume)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes[:, ::-1], center  # the largest moment first: z is the longest
    if np.linalg.det(axes) > 0.0:
        pose[:3, 0] *= -1.0
    box = np.sqrt(np.maximum(1.5 * (moments.sum() - 2.0 * moments[::-1]), 0.0))
    width = 0.5 * (box[0] + box[1])
    sizes = {'sphere': [box.mean()], 'capsule': [width, max(box[2] - 0.5 * width, 0.0)],
             'cylinder': [width, box[2]]}.get(kind, box.tolist())
    scale = geom.number('fitscale', 1.0)
    return [scale * float(size) for size in sizes], document.placement(geom) @ pose


def _sizes(geom: Element, count: int) -> list[float]:
    """Return the first sizes of a shape; files may give more."""
    given = len(geom.value.get('size', '').split())
    if given < count:
        geom.fail(f'{count} numbers as size', geom.value.get('size', 'none'))
    size = list(geom.numbers('size', given))[:count]
    if min(size) <= 0.0:
        geom.fail('sizes above 0 m', str(size))
    return size


def solid(kind: str, size: list[float]) -> tuple[float, Array]:
    """Return the volume (m^3) of a solid and its principal moments (3,) over its mass (m^2)."""
    if kind == 'sphere':
        size = 3 * size
    if kind in ('sphere', 'ellipsoid', 'box'):
        square = np.square(size)
        by_volume, by_moment = (8.0, 3.0) if kind == 'box' else (4.0 * math.pi / 3.0, 5.0)
        return by_volume * math.prod(size), (square.sum() - square) / by_moment
    radius, half = size
    around = np.array((0.25, 0.25, 0.5)) * radius**2
    rod = around + np.array((1.0, 1.0, 0.0)) * half**2 / 3.0
    column = 2.0 * math.pi * radius**2 * half
    if kind == 'cylinder':
        return column, rod
    balls = 4.0 * math.pi * radius**3 / 3.0  # both halves, each 3/8 of the radius beyond its end
    ends = 0.4 * radius**2 + np.array((1.0, 1.0, 0.0)) * (half**2 + 0.75 * radius * half)
    return column + balls, (column * rod + balls * ends) / (column + balls)
