# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Files of meshes as triangles with colours; trimesh reads them.

A faulty file makes it and what it calls raise any error, run for minutes or take all memory, so
they work in a process of their own with limits. This module is also that process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
import os
from pathlib import Path
import sys
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import bounded, DescriptionError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.processes import answer_of, failure_text, ProcessLimits, taken_request
from liedyn_ros.common.untrusted_files import open_regular

if TYPE_CHECKING:
    import trimesh

MAX_MESH_BYTES = 100e6  # bytes of a file
MAX_FACES = 2_000_000  # triangles of a file: those of an STL file of that size
MESH_LIMITS = ProcessLimits(processor_time=60, time=120, memory=4 * 2**30)
READING = 'of a mesh that is read'


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
    found = _ahead.pop(file, None)
    if found is None:
        found, = _in_process([file])
    if isinstance(found, str):
        raise DescriptionError(f'{file}: expected {found}')
    return found


def read_ahead(files: Sequence[Path]) -> None:
    """Read files for `surfaces` in one process: it takes longer to begin than a file does."""
    _ahead.clear()
    wanted = list(dict.fromkeys(files))[:512]
    with suppress(DescriptionError):  # one of them holds the others: each is read alone
        _ahead.update(zip(wanted, _in_process(wanted)))


_ahead: dict[Path, tuple[Surface, ...] | str] = {}


def _in_process(files: Sequence[Path]) -> list[tuple[Surface, ...] | str]:
    """Return the surfaces of each file, or what was expected of it; raise DescriptionError."""
    if not files:
        return []
    try:
        answer = answer_of(__name__, [str(each) for each in files], MESH_LIMITS, READING)
    except DescriptionError as error:
        raise DescriptionError(f'{", ".join(map(str, files[:3]))}: {error}') from error
    with np.load(BytesIO(answer), allow_pickle=False) as arrays:
        return [str(arrays[f'{k}_fault']) or tuple(Surface(
            arrays[f'{k}_{n}_corners'], arrays[f'{k}_{n}_faces'],
            arrays[f'{k}_{n}_color'] if f'{k}_{n}_color' in arrays else None)
            for n in range(int(arrays[f'{k}_count']))) for k in range(len(files))]


def main() -> None:
    """Read the files that the standard input names, and write their arrays or faults."""
    files, limits = taken_request()
    output, sys.stdout = sys.stdout, sys.stderr
    arrays: dict[str, Any] = {}
    for k, found in enumerate(answers([Path(each) for each in files], limits)):
        fault = isinstance(found, str)
        arrays |= {f'{k}_fault': found if fault else '', f'{k}_count': 0 if fault else len(found)}
        for n, each in enumerate(() if isinstance(found, str) else found):
            arrays |= {f'{k}_{n}_corners': each.corners, f'{k}_{n}_faces': each.faces}
            if each.color is not None:
                arrays[f'{k}_{n}_color'] = each.color
    packed = BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    output.buffer.write(packed.getbuffer())
    output.buffer.flush()
    os._exit(0)  # what was read is not taken apart


def answers(files: Sequence[Path],
            limits: ProcessLimits = MESH_LIMITS) -> Iterator[Sequence[Surface] | str]:
    """Yield the surfaces of each file, or what was expected of it, in this process."""
    for file in files:
        try:
            yield _read(file)
        except ImportError as error:
            extra = 'meshes' if error.name == 'trimesh' else 'view'
            yield f'the package that reads {file.suffix} ({remedy_of(extra)}), got {error}'
        except DescriptionError as error:
            yield str(error).removeprefix('expected ')
        except Exception as error:  # a faulty file makes trimesh raise any
            yield bounded(failure_text(error, limits, READING))


def _read(file: Path) -> Sequence[Surface]:
    """Return the surfaces of a file; raises any error."""
    with open_regular(file) as opened:
        size = os.fstat(opened.fileno()).st_size
    if size > MAX_MESH_BYTES:
        raise DescriptionError(f'expected at most {MAX_MESH_BYTES:g} bytes, got {size}')
    import trimesh  # a fifth of the view's modules, and most machines have no such file
    scene = trimesh.load_scene(file)
    meshes = [each for each in scene.dump()
              if isinstance(each, trimesh.Trimesh) and len(each.faces)]
    if sum(len(each.faces) for each in meshes) > MAX_FACES:
        raise ValueError(f'expected at most {MAX_FACES} triangles, got more')
    found = [_surface(each, _unit(scene)) for each in meshes
             if 0 <= each.faces.min() <= each.faces.max() < len(each.vertices)]
    if not found or len(found) < len(meshes) or not all(
            np.isfinite(each.corners).all() for each in found):
        raise ValueError('expected triangles of finite corners, got others')
    return found


def _unit(scene: Any) -> float:
    """Return the metres of a unit, which trimesh writes as in '0.01 * meters'."""
    number, times, unit = (scene.units or '').partition(' * ')
    return float(number) if times and unit == 'meters' else 1.0


def _surface(mesh: trimesh.Trimesh, unit: float) -> Surface:
    """Return triangles with the corners that they have: a file may have any number of others."""
    visual = mesh.visual
    color = None
    if visual.defined:
        material = getattr(visual, 'material', None)
        rgba = visual.main_color if material is None else material.main_color
        color = np.asarray(rgba, dtype=float) / 255.0
    corners, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    if len(corners) > 3 * len(faces):
        used, places = np.unique(faces, return_inverse=True)
        corners, faces = corners[used], places.reshape(-1, 3)
    return Surface(unit * corners, faces, color)


if __name__ == '__main__':
    main()
