# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files of meshes as triangles with colours; trimesh reads them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
import struct
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import remedy_of

if TYPE_CHECKING:
    import trimesh

LARGEST = 100e6  # bytes of a file


class Surface(NamedTuple):
    """Triangles of one colour: corners (n, 3), m, faces (k, 3) of them, color (4,) if any."""

    corners: Array
    faces: Array
    color: Array | None


@lru_cache(maxsize=512)
def surfaces(file: Path) -> tuple[Surface, ...]:
    """
    Return the surfaces of a file. Raises DescriptionError naming it where it has none.

    A COLLADA file is in its own unit. Its axis that points up is not heeded, as in RViz.
    """
    if file.stat().st_size > LARGEST:
        raise DescriptionError(f'{file}: expected at most {LARGEST:g} bytes, got '
                               f'{file.stat().st_size}')
    try:
        import trimesh  # a fifth of the view's modules, and most machines have no such file
        scene = trimesh.load_scene(file)
        found = tuple(_surface(each, _unit(scene)) for each in scene.dump()
                      if isinstance(each, trimesh.Trimesh) and len(each.faces))
    except ImportError as error:
        raise DescriptionError(f'{file}: expected the package that reads {file.suffix} '
                               f'({remedy_of("view")}), got {error}') from error
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError,
            NotImplementedError, struct.error) as error:
        raise DescriptionError(f'{file}: expected a mesh, got {type(error).__name__}: '
                               f'{error}') from error
    if not found or not all(np.isfinite(each.corners).all() for each in found):
        raise DescriptionError(f'{file}: expected triangles of finite numbers, got others')
    return found


def _unit(scene: Any) -> float:
    """Return the metres of a unit, which trimesh writes as in '0.01 * meters'."""
    number, times, unit = (scene.units or '').partition(' * ')
    return float(number) if times and unit == 'meters' else 1.0


def _surface(mesh: trimesh.Trimesh, unit: float) -> Surface:
    visual = mesh.visual
    color = None
    if visual.defined:
        material = getattr(visual, 'material', None)
        rgba = visual.main_color if material is None else material.main_color
        color = np.asarray(rgba, dtype=float) / 255.0
    return Surface(unit * np.asarray(mesh.vertices), np.asarray(mesh.faces), color)
