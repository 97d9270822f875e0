# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One body of a model: its mass, centre and inertia, its visuals, and frames on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_number, as_triple, unknown_name
from liedyn_ros.common.errors import InertiaError, ModelError
from liedyn_ros.model.parts.geometry import checked_pose, IDENTITY


# Relative slack for files that round their numbers.
_TRIANGLE_TOLERANCE = 1e-6
_SYMMETRY_TOLERANCE = 1e-9
_MARGIN = 1e-6  # of a minor over the product of its diagonal: what rounding cannot hide


@dataclass(frozen=True, eq=False, init=False)
class SpatialInertia:
    """
    The inertia of a rigid body with mass; a body without mass has None instead.

    mass (kg); center_of_mass (3,) (m) in the body frame; inertia_about_com (3, 3) (kg m^2) about
    the centre of mass in body axes (1.17). An inertia of exact zeros stands for a point mass.
    physical=False does not ask for mass, positive definiteness and the triangle inequality. Files
    and unconstrained fits that describe impossible bodies can then be computed with as they are.

    Raises InertiaError, ShapeError or NotFiniteError.

    >>> SpatialInertia(2.0, [0.0, 0.0, 0.1], 0.01 * np.eye(3)).mass
    2.0
    """

    mass: float
    center_of_mass: Array
    inertia_about_com: Array

    def __init__(self, mass: float, center_of_mass: ArrayLike, inertia_about_com: ArrayLike,
                 physical: bool = True) -> None:
        """
        Check the ten numbers and make them read-only.

        Args:
            mass: kg.
            center_of_mass: (3,), m, in the body frame.
            inertia_about_com: (3, 3), kg m^2, in the axes of the body.
            physical: whether impossible numbers are refused.

        Raises:
            InertiaError, ShapeError, NotFiniteError.
        """
        mass = as_number('mass', mass)
        center = np.array(as_triple('center_of_mass', center_of_mass))
        inertia = np.array(as_array('inertia_about_com', inertia_about_com, (3, 3)))
        (_, xy, xz), (yx, _, yz), (zx, zy, _) = inertia.tolist()
        if (xy, xz, yz) != (yx, zx, zy) and (
                abs(inertia - inertia.T).max() > _SYMMETRY_TOLERANCE * abs(inertia).max()):
            raise InertiaError(
                f'inertia_about_com: expected a symmetric matrix, got {inertia.tolist()}')
        fault = unphysical(mass, inertia) if physical else None
        if fault is not None:
            raise InertiaError(fault)
        center.setflags(write=False)
        inertia.setflags(write=False)
        vars(self).update(mass=mass, center_of_mass=center, inertia_about_com=inertia)

    def parameters(self, pose: ArrayLike | None = None) -> Array:
        """
        Return the ten parameters of the inertia (1.17), (1.5).

        They add up for bodies that are joined.

        Args:
            pose: pose (4, 4) of the body in the frame that is wanted, m; by default the frame is
                the body's own.

        Returns:
            (10,): m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the origin of the frame; kg, kg
            m, kg m^2.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.SpatialInertia(2.0, [0.0, 0.0, 0.1], np.zeros((3, 3))).parameters()[:4]
        array([2. , 0. , 0. , 0.2])
        """
        pose = np.eye(4) if pose is None else as_array('pose', pose, (4, 4))
        return stacked_parameters([self], pose[None])[0]


def stacked_parameters(inertias: Sequence[SpatialInertia], poses: Array) -> Array:
    """Return the parameters (n, 10) of n inertias, each in a pose (n, 4, 4)."""
    if not inertias:
        return np.zeros((0, 10))
    mass = np.array([each.mass for each in inertias])
    center = np.array([each.center_of_mass for each in inertias])
    about_com = np.array([each.inertia_about_com for each in inertias])
    rotation = poses[:, :3, :3]
    c = (rotation @ center[:, :, None])[:, :, 0] + poses[:, :3, 3]
    square = (c * c).sum(axis=1)
    inertia = rotation @ about_com @ rotation.transpose(0, 2, 1) + mass[:, None, None] * (
        square[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :])  # m [c]^T [c] (1.17)
    row, column = np.triu_indices(3)
    return np.column_stack((mass, mass[:, None] * c, inertia[:, row, column]))


def unphysical(mass: float, inertia: Array) -> str | None:
    """
    Return why no rigid body has a mass and an inertia (3, 3) about its centre of mass, or None.

    The moments must be positive and none above the sum of the other two; all zeros are a point.
    """
    if mass <= 0.0:
        return f'mass: expected more than 0 kg, got {mass}'
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tolist()
    half = 0.5 * (xx + yy + zz)  # half - I has the moments (b + c - a) / 2, of the inequality
    if _positive(xx, yy, zz, xy, xz, yz) and _positive(
            half - xx, half - yy, half - zz, -xy, -xz, -yz):
        return None
    if not inertia.any():
        return None
    moments = np.linalg.eigvalsh(inertia).tolist()
    if moments[0] <= 0.0:
        return ('inertia_about_com: expected a positive definite matrix, '
                f'got principal moments {_short(moments)} kg m^2')
    if moments[0] + moments[1] < moments[2] * (1.0 - _TRIANGLE_TOLERANCE):
        return ('inertia_about_com: expected no principal moment above the sum of the '
                f'other two, got {_short(moments)} kg m^2')
    return None


def _positive(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> bool:
    """Return whether a symmetric matrix is positive definite by a margin; False if in doubt."""
    minor = xx * yy - xy * xy
    determinant = zz * minor - xx * yz * yz + xz * (2.0 * xy * yz - yy * xz)
    return (xx > 0.0 and minor > _MARGIN * xx * yy
            and determinant > _MARGIN * xx * yy * abs(zz))


def _short(numbers: Iterable[float]) -> str:
    return ', '.join(f'{x:.6g}' for x in numbers)


# Sizes of each shape, m; a cylinder stands along z.
SHAPES = {'box': ('x', 'y', 'z'), 'cylinder': ('radius', 'length'), 'sphere': ('radius',)}
_GREY = (0.6, 0.6, 0.6, 1.0)


@dataclass(frozen=True, eq=False, init=False)
class Visual:
    """
    A simple shape that shows a part of a body.

    shape is a key of SHAPES and size holds its sizes (m). placement (4, 4) is the pose of its
    centre in the frame of the body. color (4,) is red, green, blue, opacity, each from 0 to 1.

    >>> Visual('box', [0.1, 0.2, 0.3]).color.shape
    (4,)
    """

    shape: str
    size: Array
    placement: Array
    color: Array

    def __init__(self, shape: str, size: ArrayLike, placement: ArrayLike | None = None,
                 color: ArrayLike = _GREY) -> None:
        """
        Check the shape.

        Args:
            shape: a key of SHAPES.
            size: its sizes, m.
            placement: (4, 4) of its centre in the body.
            color: (4,) red, green, blue, opacity, 0 to 1.

        Raises:
            ModelError, ShapeError, NotFiniteError, NotInGroupError.
        """
        if shape not in SHAPES:
            raise unknown_name(ModelError, 'visual', SHAPES, shape, 'a shape')
        size = np.array(as_array(f'visual {shape} size', size, (len(SHAPES[shape]),)))
        if not (size > 0.0).all():
            raise ModelError(f'visual {shape}: expected sizes above 0 m, got {size.tolist()}')
        color = np.array(as_array('visual color', color, (4,)))
        if not ((color >= 0.0) & (color <= 1.0)).all():
            raise ModelError(f'visual color: expected numbers of 0 to 1, got {color.tolist()}')
        placement = checked_pose('visual placement', np.eye(4) if placement is None else placement)
        object.__setattr__(self, 'shape', shape)
        for name, value in (('size', size), ('placement', placement), ('color', color)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Body:
    """
    A rigid body: its name, its inertia (None for a massless body) and its visuals.

    >>> model.body('forearm').inertia.mass > 0.0
    True
    """

    name: str
    inertia: SpatialInertia | None
    visuals: tuple[Visual, ...] = ()


@dataclass(frozen=True, eq=False, init=False)
class Frame:
    """
    A frame that stays at its place on a body, by its name.

    body is None for a frame on the ground. placement (4, 4) is the pose of the frame in that of
    its body.

    >>> model.with_frame('camera', 'tool', ld.pose([0.05, 0.0, 0.1])).frame_list[-1].body
    'tool'
    """

    name: str
    body: str | None
    placement: Array

    def __init__(self, name: str, body: str | None, placement: ArrayLike | None = None) -> None:
        """
        Check the placement.

        Args:
            name: of the frame.
            body: that carries it; None for the ground.
            placement: (4, 4) in the body, m; the body's own by default.

        Raises:
            ShapeError, NotFiniteError, NotInGroupError: of the placement.
        """
        object.__setattr__(self, 'name', name)
        object.__setattr__(self, 'body', body)
        object.__setattr__(self, 'placement', IDENTITY if placement is None else checked_pose(
            f'frame {name}: placement', placement))
