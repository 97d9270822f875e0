# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One body of a model, its visuals, and frames on it, such as a tool centre."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, unknown_name
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model.parts.geometry import checked_pose, IDENTITY
from liedyn_ros.model.parts.inertia import SpatialInertia

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
